#pragma once
// Choices of k, comparisons and consensus as text for people and as JSON for programs. docs/choosing-k.md and
// docs/compare.md describe the keys.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/selection/cluster_choice.hpp"
#include "coterie/selection/compare_methods.hpp"
#include "coterie/selection/consensus.hpp"

namespace coterie {

/// Lines of text: the curves as a table, the votes, the recommendation.
COTERIE_API std::string text_document(const ClusterChoice& choice);
/// The same keys as "choice" in the document of a fit.
COTERIE_API std::string json_document(const ClusterChoice& choice);
COTERIE_API std::string text_document(const Comparison& comparison, const std::string& source);
COTERIE_API std::string json_document(const Comparison& comparison, const std::string& source);
COTERIE_API std::string text_document(const Consensus& result, const std::string& source);
COTERIE_API std::string json_document(const Consensus& result, const std::string& source);

}  // namespace coterie
