#pragma once
// Constraints as people write them. `labels`: the names of the partial labels. All throw BadArgument that names the
// option and what is accepted.

#include <string>
#include <vector>

#include "coterie/base/problem.hpp"

namespace coterie {

/// "LOW:HIGH", where either end may be missing, or one number for both.
SizeBounds read_size_bounds(const std::string& text);
/// "LABEL=N,LABEL=N".
std::vector<ClustersOfLabel> read_clusters_per_label(const std::string& text, const std::vector<std::string>& labels);
/// "LABEL=SHARE,LABEL=LOW:HIGH"; either end of an interval may be missing.
std::vector<LabelShare> read_label_shares(const std::string& text, const std::vector<std::string>& labels);

}  // namespace coterie
