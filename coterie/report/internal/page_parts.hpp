#pragma once
// Internal: what every page of coterie is made of. Texts are escaped, but for bodies, styles and scripts.

#include <string>
#include <string_view>

namespace coterie::page_parts {

/// Up to the first section: title, style, the heading and the line below it. `own_style`: CSS of this kind of page.
std::string begin(const std::string& title, const std::string& heading, const std::string& below,
                  std::string_view own_style = {});
/// A number with its name, to stand in <div class="tiles">.
std::string tile(const std::string& value, const std::string& name);
/// `kind`: a class of the section.
std::string section(const std::string& heading, const std::string& body, const char* kind = "");
/// From the last section on: how and when the page was made, where that is known, and its scripts.
std::string end(const std::string& command, const std::string& date, const std::string& scripts);

}  // namespace coterie::page_parts
