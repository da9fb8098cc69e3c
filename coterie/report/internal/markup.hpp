#pragma once
// Text inside SVG and HTML.

#include <string>

namespace coterie::internal {

std::string escape_markup(const std::string& text);

}  // namespace coterie::internal
