#pragma once
// Internal: the text of data/catalogue.json, in a source that CMake generates.

#include <string_view>

namespace coterie::internal {

extern const std::string_view catalogue_json;

}  // namespace coterie::internal
