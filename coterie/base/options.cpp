#include "coterie/base/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace coterie {
namespace {

std::string number_text(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    char text[32];
    const auto result = std::to_chars(text, text + sizeof text, value);
    return {text, result.ptr};
}

std::string join(const std::vector<std::string>& words) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
    return out;
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
    if (!text.empty() && text.front() == '+') text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// Whole numbers may be written 1e6 as well.
bool parse_integer(std::string_view text, std::int64_t& value) {
    if (parse_number(text, value)) return true;
    double real = 0;
    if (!parse_number(text, real) || real != std::floor(real) || std::abs(real) > 0x1p53) return false;
    value = static_cast<std::int64_t>(real);
    return true;
}

}  // namespace

bool Range::contains(double value) const {
    if (std::isnan(value)) return false;
    const bool above_low = low_open ? value > low : value >= low;
    const bool below_high = high_open ? value < high : value <= high;
    return above_low && below_high && std::isfinite(value);
}

std::string Range::text() const {
    // Ends that only the integer type imposes are not worth a word.
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

std::string to_text(const OptionValue& value) {
    struct Visitor {
        std::string operator()(bool v) const { return v ? "true" : "false"; }
        std::string operator()(std::int64_t v) const { return std::to_string(v); }
        std::string operator()(double v) const { return number_text(v); }
        std::string operator()(const std::string& v) const { return v; }
    };
    return std::visit(Visitor{}, value);
}

BadArgument refused_option(const std::string& name, const OptionValue& value, const std::string& accepted) {
    const std::string text = to_text(value);
    const std::string quote = std::holds_alternative<std::string>(value) ? "'" : "";
    return BadArgument("option `" + name + "`: " + quote + text + quote + " is not accepted; " + accepted,
                       {.option = name, .value = text, .accepted = accepted});
}

std::string Option::accepted() const {
    const std::string limits = range.text();
    const std::string tail = limits.empty() ? "" : ", " + limits;
    switch (kind) {
        case OptionKind::flag: return "true or false";
        case OptionKind::integer: return "a whole number" + tail;
        case OptionKind::real: return "a number" + tail;
        case OptionKind::choice: return "one of " + join(choices);
        case OptionKind::text: return "text";
    }
    throw InternalError("unknown option kind");
}

void Option::check(const OptionValue& value) const {
    const auto refuse = [&] {
        throw BadArgument("option `" + name + "`: " + to_text(value) + " is not accepted; it takes " + accepted(),
                          {.option = name, .value = to_text(value), .accepted = accepted()});
    };
    switch (kind) {
        case OptionKind::flag:
            if (!std::holds_alternative<bool>(value)) refuse();
            return;
        case OptionKind::integer:
            if (!std::holds_alternative<std::int64_t>(value) ||
                !range.contains(static_cast<double>(std::get<std::int64_t>(value))))
                refuse();
            return;
        case OptionKind::real:
            if (!std::holds_alternative<double>(value) || !range.contains(std::get<double>(value))) refuse();
            return;
        case OptionKind::choice:
            if (!std::holds_alternative<std::string>(value) ||
                std::find(choices.begin(), choices.end(), std::get<std::string>(value)) == choices.end())
                refuse();
            return;
        case OptionKind::text:
            if (!std::holds_alternative<std::string>(value)) refuse();
            return;
    }
}

OptionValue Option::parse(std::string_view text) const {
    OptionValue value = std::string(text);
    if (kind == OptionKind::flag) {
        if (text == "true" || text == "1" || text == "yes") value = true;
        if (text == "false" || text == "0" || text == "no") value = false;
    } else if (kind == OptionKind::integer) {
        if (std::int64_t number = 0; parse_integer(text, number)) value = number;
    } else if (kind == OptionKind::real) {
        if (double number = 0; parse_number(text, number)) value = number;
    }
    check(value);  // a text that is no number is still a string here, and refused
    return value;
}

const Option* OptionSet::find(std::string_view name) const {
    for (const auto& option : options_)
        if (option.name == name) return &option;
    return nullptr;
}

const Option& OptionSet::at(std::string_view name) const {
    if (const Option* option = find(name)) return *option;
    std::vector<std::string> names;
    for (const auto& option : options_) names.push_back(option.name);
    throw BadArgument("there is no option '" + std::string(name) + "' here; there are: " + join(names),
                      {.option = std::string(name), .accepted = join(names)});
}

void OptionSet::assign(void* options, const OptionValues& values) const {
    for (const auto& [name, value] : values) {
        const Option& option = at(name);
        OptionValue accepted = value;
        // 3 is as good a real as 3.0, whoever wrote it.
        if (option.kind == OptionKind::real && std::holds_alternative<std::int64_t>(value))
            accepted = static_cast<double>(std::get<std::int64_t>(value));
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
