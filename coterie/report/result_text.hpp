#pragma once
// Parts of a result as text for people.

#include "coterie/base/text_format.hpp"
#include "coterie/pipeline/description.hpp"
#include "coterie/pipeline/evaluation.hpp"

namespace coterie::internal {

/// Names and values, for facts().
using Facts = std::vector<std::pair<std::string, std::string>>;
/// The rows of a table().
using TextRows = std::vector<std::vector<std::string>>;

/// "1 row", "1,797 rows": for a noun whose plural ends in s.
std::string counted_text(Index count, const std::string& noun);
/// Numbers of rows, counted from 1: "3 17 4".
std::string rows_text(const std::vector<Index>& rows);
/// "107 (4.21), 118 (3.9)"
std::string outliers_text(const std::vector<OutlierRow>& outliers);
std::string sizes_text(const std::vector<Index>& sizes, std::size_t most = 40);
/// The scores with their names for people: "ACC", "NMI", ...
std::vector<std::pair<std::string, double>> named(const Scores& scores);
std::string scores_text(const Agreement& agreement);
/// The source of the truth, and which points were compared, if not all points with a known truth.
std::string truth_text(const Agreement& agreement, const std::string& source);
/// "O 1700 in 10 clusters, PER 30; 12 in 1 free cluster". `sizes`: points per cluster.
std::string label_groups_text(const std::vector<LabelGroup>& groups, const std::vector<Index>& sizes);

}  // namespace coterie::internal
