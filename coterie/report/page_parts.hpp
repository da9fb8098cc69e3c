#pragma once
// Internal: what every page of coterie is made of. Texts are escaped, but for bodies, styles and scripts.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/selection/cluster_choice.hpp"

namespace coterie::page_parts {

/// Up to the first section: title, style, the heading and the line below it. `own_style`: CSS of this kind of page.
std::string begin(const std::string& title, const std::string& heading, const std::string& below,
                  std::string_view own_style = {});
/// A number with its name, to stand in <div class="tiles">.
std::string tile(const std::string& value, const std::string& name);
/// How many points there are, and how many rows beside them were left out.
std::string points_tiles(Index points, const std::string& name, Index left_out);
/// `kind`: a class of the section.
std::string section(const std::string& heading, const std::string& body, const char* kind = "");
/// A field of a table; `kind`: its class, "n" for numbers.
std::string cell(const std::string& text, const char* kind = "");
std::string fact_table(const std::vector<std::pair<std::string, std::string>>& rows);
/// `right`: columns of numbers.
std::string table_html(const std::string& id, const std::vector<std::string>& header,
                       const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& right);
/// Empty where there are none.
std::string warnings_section(const std::vector<std::string>& warnings);
/// What each criterion says of each k, and what is recommended.
std::string choice_section(const ClusterChoice& choice);
/// From the last section on: how and when the page was made, where that is known, and its scripts.
std::string end(const std::string& command, const std::string& date, const std::string& scripts);

}  // namespace coterie::page_parts
