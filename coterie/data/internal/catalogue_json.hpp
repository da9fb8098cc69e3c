#pragma once
// Internal: the text of data/catalogue.json, in a source that CMake generates.

#include <string_view>

namespace coterie::data::internal {

extern const std::string_view catalogue_json;

}  // namespace coterie::data::internal
