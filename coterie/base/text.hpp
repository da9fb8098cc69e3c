#pragma once
// Text of messages: filled patterns, counts with a noun, lists, similar spellings.

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "coterie/base/export.hpp"

namespace coterie {

namespace internal {

/// A text with a place {} for each argument. Another number of places does not compile.
template <class... Arguments>
struct Pattern {
    template <std::convertible_to<std::string_view> Text>
    consteval Pattern(const Text& written) : text(written) {
        std::size_t places = 0;
        for (std::size_t at = text.find("{}"); at != std::string_view::npos; at = text.find("{}", at + 2)) ++places;
        if (places != sizeof...(Arguments)) throw "the pattern needs one {} for each argument";
    }
    std::string_view text;
};

inline std::string_view place_text(std::string_view text) { return text; }
inline std::string place_text(std::same_as<char> auto one) { return std::string(1, one); }
template <std::integral Number>
requires(!std::same_as<Number, char> && !std::same_as<Number, bool>) std::string place_text(Number number) {
    return std::to_string(number);
}

/// Fills the places with the arguments, in order: texts as they are, integers in digits. (std::format needs GCC 13.)
template <class... Arguments>
requires(sizeof...(Arguments) > 0) std::string
    filled(Pattern<std::type_identity_t<Arguments>...> pattern, const Arguments&... arguments) {
    std::string out;
    std::string_view rest = pattern.text;
    const auto fill = [&](std::string_view argument) {
        const std::size_t at = rest.find("{}");
        out.append(rest.substr(0, at)).append(argument);
        rest.remove_prefix(at + 2);
    };
    (fill(place_text(arguments)), ...);
    return out.append(rest);
}

/// "a, b, c": text(item) of each item. After `most` items, ", ..." stands for the others.
template <class Items, class Text = std::identity>
std::string listed(const Items& items, std::size_t most = std::string::npos, const Text& text = {}) {
    std::string out;
    std::size_t shown = 0;
    for (const auto& item : items) {
        if (shown == most) return out + ", ...";
        if (shown++ > 0) out += ", ";
        out += text(item);
    }
    return out;
}

/// Number of letters to insert, delete or replace to turn one word into the other (Levenshtein).
COTERIE_API std::size_t edit_distance(std::string_view a, std::string_view b);
/// The words, most similar to `word` first.
COTERIE_API std::vector<std::string> nearest_first(std::vector<std::string> words, std::string_view word);

}  // namespace internal

/// "1 row", "2 rows": for a noun whose plural ends in s.
std::string counted(std::integral auto count, std::string_view noun) {
    return internal::filled("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace coterie
