#pragma once
// Internal: the only place where coterie parses JSON. Before it parses a text, it limits depth and number of values,
// because nlohmann copies and prints values recursively and memory is finite.

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

/// The limit that the text exceeds, as a message; empty if it exceeds none.
std::string json_limit_exceeded(std::string_view text);

/// Parses the text. If the text exceeds a limit or is not JSON, calls refuse(reason), which must throw. `check`:
/// nlohmann's callback.
template <class Json = nlohmann::json, class Refuse>
Json parse_json(std::string_view text, Refuse&& refuse, const typename Json::parser_callback_t& check = nullptr) {
    if (const std::string reason = json_limit_exceeded(text); !reason.empty()) refuse(reason);
    try {
        return Json::parse(text.begin(), text.end(), check);
    } catch (const typename Json::exception& error) {
        refuse("is not valid JSON: " + shown(error.what()));
    }
    throw InternalError("a JSON text was refused without an error");
}

}  // namespace coterie::formats
