#pragma once
// Internal: the parts of every page. Texts are escaped, except bodies, styles and scripts.

#include "coterie/report/result_text.hpp"
#include "coterie/selection/cluster_choice.hpp"

namespace coterie::page_parts {

/// The page up to the first section: title, style, heading and the line below it. `own_style`: CSS of this kind of
/// page.
std::string begin(const std::string& title, const std::string& heading, const std::string& below,
                  std::string_view own_style = {});
/// A number with its name, for <div class="tiles">.
std::string tile(const std::string& value, const std::string& name);
/// The number of points, and the number of rows left out.
std::string points_tiles(Index points, const std::string& name, Index left_out);
/// `kind`: CSS class of the section.
std::string section(const std::string& heading, const std::string& body, const char* kind = "");
/// A field of a table. `kind`: its CSS class, "n" for numbers.
std::string cell(const std::string& text, const char* kind = "");
std::string fact_table(const internal::Facts& rows);
/// "<p>and 5 more moves</p>" below a list of which only the first `most` are shown; else empty. `what`: " moves".
std::string more_text(std::size_t all, std::size_t most, const std::string& what);
/// `start`: the tag <table>. `right`: columns of numbers, aligned right.
std::string table_html(const std::string& start, const std::vector<std::string>& header, const internal::TextRows& rows,
                       const std::vector<std::size_t>& right);
/// Empty if there are no warnings.
std::string warnings_section(const std::vector<Message>& warnings);
/// The values of each criterion for each k, and the recommendation.
std::string choice_section(const ClusterChoice& choice);
/// The end of the page after the last section: how and when the page was made, if known, and its scripts.
std::string end(const std::string& command, const std::string& date, const std::string& scripts);

}  // namespace coterie::page_parts
