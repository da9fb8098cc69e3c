// Converts option values to text and back, and checks them. Values from the command line, from model files and from
// structs all go through this check. from_chars and to_chars read and write the numbers independently of the locale. A
// number is written as the shortest text that reads back as the same number.

#include "coterie/base/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "coterie/base/text.hpp"

namespace coterie {
namespace {

std::string number_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    const auto result = std::to_chars(text, text + sizeof text, value);
    return {text, result.ptr};
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// A list as written on the command line: commas between the items, or x, as in 28x28.
template <class Item, class Parse>
bool parse_list(std::string_view text, std::vector<Item>& items, Parse&& parse) {
    while (true) {
        const std::size_t comma = text.find_first_of(",x");
        if (!parse(text.substr(0, comma), items.emplace_back())) return false;
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
    }
}

struct ValueText {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return number_text(v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(Automatic) const { return "auto"; }
    std::string operator()(const auto& list) const {
        std::string out;
        for (const auto& item : list) out += (out.empty() ? "" : ",") + (*this)(item);
        return out;
    }
};

// Whole numbers may also be written like 1e6 if a double represents them exactly.
bool parse_integer(std::string_view text, std::int64_t& value) {
    if (parse_number(text, value)) return true;
    double real = 0;
    if (!parse_number(text, real) || real != std::floor(real) || std::abs(real) >= 0x1p53) return false;
    value = static_cast<std::int64_t>(real);
    return true;
}

}  // namespace

bool OptionRange::contains(double value) const {
    if (std::isnan(value)) return false;
    const bool above_low = low_open ? value > low : value >= low;
    const bool below_high = high_open ? value < high : value <= high;
    return above_low && below_high && std::isfinite(value);
}

bool OptionRange::contains(std::int64_t value) const {
    const auto nearest = static_cast<double>(value);
    const auto beyond = [&](double end, bool above) {
        if (nearest != end || std::abs(end) >= 0x1p63) return false;
        return above ? value > static_cast<std::int64_t>(end) : value < static_cast<std::int64_t>(end);
    };
    return contains(nearest) && !beyond(low, false) && !beyond(high, true);
}

std::string OptionRange::text() const {
    // Limits that come only from the integer type are not worth mentioning.
    const auto imposed = [](double end) {
        return std::abs(std::abs(end) - 9.223372036854775807e18) < 1e4 || std::abs(end + 0.5) == 2147483647.5;
    };
    const bool has_low = std::isfinite(low) && !imposed(low);
    const bool has_high = std::isfinite(high) && !imposed(high);
    if (has_low && has_high && !low_open && !high_open) return "from " + number_text(low) + " to " + number_text(high);
    std::string out;
    if (has_low) out = (low_open ? "above " : "at least ") + number_text(low);
    if (has_high)
        out += (out.empty() ? "" : " and ") + std::string(high_open ? "below " : "at most ") + number_text(high);
    return out;
}

std::string to_text(const OptionValue& value) { return std::visit(ValueText{}, value); }

BadArgument refused_option(const std::string& name, const OptionValue& value, const std::string& accepted) {
    const std::string text = to_text(value);
    const std::string quote = std::holds_alternative<std::string>(value) ? "'" : "";
    const std::string shown = std::holds_alternative<Automatic>(value) ? "`auto`" : quote + text + quote;
    return BadArgument(Code::not_accepted, shown + " is not accepted", "Use " + accepted,
                       {.option = name, .value = text, .accepted = accepted});
}

std::string Option::accepted() const {
    const std::string limits = range.text();
    const std::string tail = limits.empty() ? "" : ", " + limits;
    const std::string first = automatic.empty() ? "" : "`auto`, or ";
    switch (kind) {
        case OptionKind::flag: return "true or false";
        case OptionKind::integer: return first + "a whole number" + tail;
        case OptionKind::real: return first + "a number" + tail;
        case OptionKind::integers: return first + "a list of whole numbers" + tail;
        case OptionKind::reals: return first + "a list of numbers" + tail;
        case OptionKind::choice: return "one of " + internal::listed(choices);
        case OptionKind::text: return "text";
    }
    throw InternalError("unknown option kind");
}

void Option::check(const OptionValue& value, std::string_view form) const {
    const auto in_range = [&](auto number) { return range.contains(number); };
    const auto all_in_range = [&](const auto* list) {
        return list && !list->empty() && std::ranges::all_of(*list, in_range);
    };
    const auto sound = [&] {
        if (std::holds_alternative<Automatic>(value)) return !automatic.empty();
        switch (kind) {
            case OptionKind::flag: return std::holds_alternative<bool>(value);
            case OptionKind::integer:
                return std::holds_alternative<std::int64_t>(value) && in_range(std::get<std::int64_t>(value));
            case OptionKind::real: return std::holds_alternative<double>(value) && in_range(std::get<double>(value));
            case OptionKind::integers: return all_in_range(std::get_if<std::vector<std::int64_t>>(&value));
            case OptionKind::reals: return all_in_range(std::get_if<std::vector<double>>(&value));
            case OptionKind::choice:
                return std::holds_alternative<std::string>(value) &&
                       std::ranges::find(choices, std::get<std::string>(value)) != choices.end();
            case OptionKind::text: return std::holds_alternative<std::string>(value);
        }
        throw InternalError("unknown option kind");
    };
    if (!sound()) throw refused_option(name, value, accepted() + std::string(form));
}

OptionValue Option::parse(std::string_view text) const {
    OptionValue value = std::string(text);
    if (!automatic.empty() && text == "auto") {
        value = Automatic();
    } else if (kind == OptionKind::flag) {
        if (text == "true" || text == "1" || text == "yes") value = true;
        if (text == "false" || text == "0" || text == "no") value = false;
    } else if (kind == OptionKind::integer) {
        if (std::int64_t number = 0; parse_integer(text, number)) value = number;
    } else if (kind == OptionKind::real) {
        if (double number = 0; parse_number(text, number)) value = number;
    } else if (kind == OptionKind::integers) {
        if (std::vector<std::int64_t> list; parse_list(text, list, parse_integer)) value = std::move(list);
    } else if (kind == OptionKind::reals) {
        if (std::vector<double> list; parse_list(text, list, parse_number<double>)) value = std::move(list);
    }
    // Here, text that is not a number is still a string, so check() throws.
    check(value, kind == OptionKind::integers || kind == OptionKind::reals ? ", separated by commas" : "");
    return value;
}

const Option* OptionSet::find(std::string_view name) const {
    for (const auto& option : options_)
        if (option.name == name) return &option;
    return nullptr;
}

const Option& OptionSet::at(std::string_view name) const {
    if (const Option* option = find(name)) return *option;
    const std::string names =
        internal::listed(options_, std::string::npos, [](const Option& option) { return option.name; });
    throw BadArgument(Code::unknown_name, "there is no option '" + std::string(name) + "' here", "Options: " + names,
                      {.value = std::string(name), .accepted = names});
}

void OptionSet::assign(void* options, const OptionValues& values) const {
    for (const auto& [name, value] : values) {
        const Option& option = at(name);
        OptionValue accepted = value;
        // An integer is accepted where a real is expected, also in lists.
        if (const auto* integer = std::get_if<std::int64_t>(&value); integer && option.kind == OptionKind::real)
            accepted = static_cast<double>(*integer);
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value); list && option.kind == OptionKind::reals)
            accepted = std::vector<double>(list->begin(), list->end());
        option.check(accepted);
        option.set(options, accepted);
    }
}

OptionValues OptionSet::values(const void* options) const {
    OptionValues out;
    for (const auto& option : options_) out[option.name] = option.get(options);
    return out;
}

void OptionSet::check(const void* options) const {
    for (const auto& option : options_) option.check(option.get(options));
}

}  // namespace coterie
