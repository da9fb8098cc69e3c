#pragma once
// Internal: the one way from text to JSON. A text is measured before it is parsed, so that no input makes deep
// recursion (nlohmann copies and prints values recursively) or values out of proportion to any file coterie reads.

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "coterie/base/error.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {

inline constexpr std::size_t deepest_json = 64;
inline constexpr std::size_t most_json_values = 5'000'000;
inline constexpr std::size_t longest_json = std::size_t{256} << 20;  // bytes

/// Why a text exceeds one of the limits above; empty where it does not.
std::string json_limit_exceeded(std::string_view text);

/// Calls refuse(reason) where the text exceeds a limit or is not JSON; refuse throws. `check` is nlohmann's callback.
template <class Json = nlohmann::json, class Refuse>
Json parse_json(std::string_view text, Refuse&& refuse, const typename Json::parser_callback_t& check = nullptr) {
    if (const std::string reason = json_limit_exceeded(text); !reason.empty()) refuse(reason);
    try {
        return Json::parse(text.begin(), text.end(), check);
    } catch (const typename Json::exception& error) {
        refuse("is not sound JSON: " + shown(error.what()));
    }
    throw InternalError("a JSON text was refused without an error");
}

}  // namespace coterie::formats
