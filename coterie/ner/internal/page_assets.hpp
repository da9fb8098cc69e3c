#pragma once
// Internal: style and script of the page of mentions. CMake copies them from mentions.css and mentions.js.

#include <string_view>

namespace coterie::ner::internal {

extern const std::string_view page_style;
extern const std::string_view page_script;

}  // namespace coterie::ner::internal
