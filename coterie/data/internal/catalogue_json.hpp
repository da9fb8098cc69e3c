#pragma once
// Internal: the text of data/catalogue.json, from a source that CMake makes of it.

#include <string_view>

namespace coterie::internal {

extern const std::string_view catalogue_json;

}  // namespace coterie::internal
