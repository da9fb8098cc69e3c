#pragma once
// Internal: results of searches and comparisons as tables of text, which the command prints and the page shows.

#include "coterie/report/result_text.hpp"
#include "coterie/selection/compare_methods.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie::internal {

struct TextTable {
    std::vector<std::string> header = {};
    TextRows rows = {};
    std::vector<std::size_t> right;  // columns of numbers
};

/// "clusters=3, restarts=5".
std::string options_text(const OptionValues& options);
/// "the largest silhouette", "the rule of gap".
std::string criterion_text(Criterion criterion);
/// Positions of at most `most` cells, in the order they were run. If there are more cells, those of the best ones.
std::vector<std::size_t> cells_to_show(const TuneOptions& asked, const TuneResult& found, std::size_t most);
/// One row per cell; the chosen cell has a star.
TextTable cells_table(const TuneOptions& asked, const TuneResult& found, const std::vector<std::size_t>& cells);

/// One row per method.
TextTable methods_table(const Comparison& comparison);
/// The methods that were not compared, grouped by the reason: "cpd, fme", "...".
Facts left_out_by_reason(const Comparison& comparison);

}  // namespace coterie::internal
