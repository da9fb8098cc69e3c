#pragma once
// Options are described once, next to their struct. The range check, the command's flags and help, the keys of model
// files and JSON, the Python keywords and the tables in docs/ all come from this description.
//
//   struct KMeansOptions { int clusters = 8; double tolerance = 1e-4; static const OptionSet& described(); };
//   const OptionSet& KMeansOptions::described() {
//       static const OptionSet set = OptionSetFor<KMeansOptions>()
//           .integer("clusters", &KMeansOptions::clusters, at_least(1), "number of clusters k").letter('k')
//           .real("tolerance", &KMeansOptions::tolerance, at_least(0), "...");
//       return set;
//   }

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/export.hpp"

namespace coterie {

enum class OptionKind { flag, integer, real, choice, text, integers, reals };

/// The method chooses the value from the data. std::nullopt in the struct, auto in the command, null in JSON.
struct Automatic {
    friend auto operator<=>(const Automatic&, const Automatic&) = default;
};

/// flag: bool; integer: int64; real: double; choice and text: string; integers and reals: lists of them. Automatic if
/// the option allows it.
using OptionValue =
    std::variant<bool, std::int64_t, double, std::string, Automatic, std::vector<std::int64_t>, std::vector<double>>;
using OptionValues = std::map<std::string, OptionValue>;

/// Accepted numbers: low <= value <= high. If an end is open, its limit is excluded.
struct COTERIE_API OptionRange {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_open = false;
    bool high_open = false;
    bool contains(double value) const;
    bool contains(std::int64_t value) const;  // compares exactly: 2^53 + 1, which no double represents, is above 2^53
    /// "at least 1", "above 0", "from 0 to 1", "any number".
    std::string text() const;
};
inline OptionRange any_number() { return {}; }
inline OptionRange at_least(double low) { return {.low = low}; }
inline OptionRange above(double low) { return {.low = low, .low_open = true}; }
inline OptionRange between(double low, double high) { return {.low = low, .high = high}; }

struct COTERIE_API Option {
    std::string name;     // whole words joined by '_': "max_iterations"; the command's flag has hyphens instead
    char letter = 0;      // one-letter flag, 0: none
    std::string meaning;  // one sentence
    OptionKind kind = OptionKind::flag;
    /// How the method chooses when the value is Automatic. Empty: Automatic is not accepted.
    std::string automatic;
    OptionRange range;                 // for numbers, and for each number of a list
    std::vector<std::string> choices;  // for kind choice
    OptionValue default_value;
    std::function<OptionValue(const void*)> get;
    std::function<void(void*, const OptionValue&)> set;

    std::string accepted() const;  // "a whole number, at least 1", "one of auto, lloyd, bounds"
    /// Throws BadArgument that names the option, the value and what is accepted, followed by `form`.
    void check(const OptionValue& value, std::string_view form = {}) const;
    /// Reads a value as written on the command line or in a file, and checks it. Throws BadArgument.
    OptionValue parse(std::string_view text) const;
};

/// "3", "0.0001", "true", "auto", "500,500": text that parse() reads back.
COTERIE_API std::string to_text(const OptionValue& value);

/// The error "`NAME`: VALUE is not accepted. Use ACCEPTED", with these fields. Text values are quoted.
COTERIE_API BadArgument refused_option(const std::string& name, const OptionValue& value, const std::string& accepted);

class COTERIE_API OptionSet {
public:
    const std::vector<Option>& options() const { return options_; }
    const Option* find(std::string_view name) const;
    /// Like find, but throws BadArgument that lists the existing names if `name` is not one of them.
    const Option& at(std::string_view name) const;
    /// Sets the given values in the struct at `options`. Throws BadArgument for unknown names and values out of range.
    void assign(void* options, const OptionValues& values) const;
    OptionValues values(const void* options) const;
    /// Checks the range of every member. Every fit function calls this first. Throws BadArgument.
    void check(const void* options) const;

protected:
    std::vector<Option> options_;
};

template <class Struct>
class OptionSetFor : public OptionSet {
public:
    OptionSetFor& flag(std::string name, bool Struct::*member, std::string meaning) {
        return add_value<bool>(std::move(name), OptionKind::flag, {}, std::move(meaning), member);
    }
    template <class Integer>
    OptionSetFor& integer(std::string name, Integer Struct::*member, OptionRange range, std::string meaning) {
        return add_value<std::int64_t>(std::move(name), OptionKind::integer, within<Integer>(range), std::move(meaning),
                                       member);
    }
    /// `automatic` says how the method chooses when the member is std::nullopt.
    template <class Integer>
    OptionSetFor& integer(std::string name, std::optional<Integer> Struct::*member, OptionRange range,
                          std::string meaning, std::string automatic) {
        return add_automatic<std::int64_t>(std::move(name), OptionKind::integer, within<Integer>(range),
                                           std::move(meaning), member, std::move(automatic));
    }
    OptionSetFor& real(std::string name, double Struct::*member, OptionRange range, std::string meaning) {
        return add_value<double>(std::move(name), OptionKind::real, range, std::move(meaning), member);
    }
    OptionSetFor& real(std::string name, std::optional<double> Struct::*member, OptionRange range, std::string meaning,
                       std::string automatic) {
        return add_automatic<double>(std::move(name), OptionKind::real, range, std::move(meaning), member,
                                     std::move(automatic));
    }
    /// Lists; the command writes them with commas between the numbers. `automatic` says how the method chooses if the
    /// list is empty; without this text, an empty list is an error.
    OptionSetFor& integers(std::string name, std::vector<int> Struct::*member, OptionRange range, std::string meaning,
                           std::string automatic = {}) {
        return add_list<std::int64_t>(std::move(name), OptionKind::integers, within<int>(range), std::move(meaning),
                                      member, std::move(automatic));
    }
    OptionSetFor& reals(std::string name, std::vector<double> Struct::*member, OptionRange range, std::string meaning,
                        std::string automatic = {}) {
        return add_list<double>(std::move(name), OptionKind::reals, range, std::move(meaning), member,
                                std::move(automatic));
    }
    /// An enum whose values 0, 1, 2, ... have these `names`, in order.
    template <class Enum>
    OptionSetFor& choice(std::string name, Enum Struct::*member, std::vector<std::string> names, std::string meaning) {
        add(
            std::move(name), OptionKind::choice, {}, std::move(meaning),
            [member, names](const Struct& s) -> OptionValue {
                const auto position = static_cast<std::size_t>(s.*member);
                return position < names.size() ? names[position] : "unknown value " + std::to_string(position);
            },
            [member, names](Struct& s, const OptionValue& v) {
                for (std::size_t i = 0; i < names.size(); ++i)
                    if (names[i] == std::get<std::string>(v)) s.*member = static_cast<Enum>(i);
            });
        options_.back().choices = std::move(names);
        return *this;
    }
    OptionSetFor& text(std::string name, std::string Struct::*member, std::string meaning) {
        return add_value<std::string>(std::move(name), OptionKind::text, {}, std::move(meaning), member);
    }
    /// One-letter flag of the option added last.
    OptionSetFor& letter(char letter) {
        options_.back().letter = letter;
        return *this;
    }

private:
    template <class Integer>
    static OptionRange within(OptionRange range) {
        range.low = std::max(range.low, static_cast<double>(std::numeric_limits<Integer>::min()));
        range.high = std::min(range.high, static_cast<double>(std::numeric_limits<Integer>::max()));
        return range;
    }
    template <class Value, class Member>
    OptionSetFor& add_value(std::string name, OptionKind kind, OptionRange range, std::string meaning,
                            Member Struct::*member) {
        return add(
            std::move(name), kind, range, std::move(meaning),
            [member](const Struct& s) -> OptionValue { return static_cast<Value>(s.*member); },
            [member](Struct& s, const OptionValue& v) { s.*member = static_cast<Member>(std::get<Value>(v)); });
    }
    template <class Value, class Member>
    OptionSetFor& add_automatic(std::string name, OptionKind kind, OptionRange range, std::string meaning,
                                std::optional<Member> Struct::*member, std::string automatic) {
        add(
            std::move(name), kind, range, std::move(meaning),
            [member](const Struct& s) -> OptionValue {
                if (!(s.*member)) return Automatic();
                return static_cast<Value>(*(s.*member));
            },
            [member](Struct& s, const OptionValue& v) {
                s.*member = std::nullopt;
                if (const Value* value = std::get_if<Value>(&v)) s.*member = static_cast<Member>(*value);
            });
        options_.back().automatic = std::move(automatic);
        return *this;
    }
    template <class Item, class Member>
    OptionSetFor& add_list(std::string name, OptionKind kind, OptionRange range, std::string meaning,
                           std::vector<Member> Struct::*member, std::string automatic) {
        add(
            std::move(name), kind, range, std::move(meaning),
            [member, automatic](const Struct& s) -> OptionValue {
                if ((s.*member).empty() && !automatic.empty()) return Automatic();
                return std::vector<Item>((s.*member).begin(), (s.*member).end());
            },
            [member](Struct& s, const OptionValue& v) {
                (s.*member).clear();
                if (const auto* list = std::get_if<std::vector<Item>>(&v))
                    for (const Item item : *list) (s.*member).push_back(static_cast<Member>(item));
            });
        options_.back().automatic = std::move(automatic);
        return *this;
    }
    template <class Get, class Set>
    OptionSetFor& add(std::string name, OptionKind kind, OptionRange range, std::string meaning, Get get, Set set) {
        Option option;
        option.name = std::move(name);
        option.kind = kind;
        option.range = range;
        option.meaning = std::move(meaning);
        option.default_value = get(Struct{});
        option.get = [get](const void* s) { return get(*static_cast<const Struct*>(s)); };
        option.set = [set](void* s, const OptionValue& v) { set(*static_cast<Struct*>(s), v); };
        options_.push_back(std::move(option));
        return *this;
    }
};

/// Checks the ranges in a struct of described options. Throws BadArgument.
template <class Struct>
void check_options(const Struct& options) {
    Struct::described().check(&options);
}

}  // namespace coterie
