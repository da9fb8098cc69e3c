// Finds the depth and the number of values in one scan, before the parser allocates memory for the values. Brackets and
// commas within strings do not count.

#include "coterie/io/json_text.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"

namespace coterie::formats {

std::string json_limit_exceeded(std::string_view text) {
    const auto limit = [](std::size_t most, const char* of) {
        return filled("exceeds the limit of {} {} in JSON", most, of);
    };
    if (text.size() > longest_json) return limit(longest_json, "bytes");
    std::size_t depth = 0, values = 1;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') quoted = !quoted;
        if (c == '\\' && quoted) ++i;
        if (quoted) continue;
        if (c == '[' || c == '{') {
            if (++depth > deepest_json) return limit(deepest_json, "nested levels");
            ++values;
        } else if (c == ']' || c == '}') {
            depth -= std::min<std::size_t>(depth, 1);
        } else if (c == ',') {
            ++values;
        }
        if (values > most_json_values) return limit(most_json_values, "values");
    }
    return {};
}

}  // namespace coterie::formats
