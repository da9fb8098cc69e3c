#pragma once
// Internal: partial labels, label shares, size bounds and pairs of rows, checked and converted into the form that
// assignments use. Notation of the paper: Z_ij = 1 where point i may go to cluster j; phi(j) is the label of cluster j.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/constraints/linked_rows.hpp"
#include "coterie/model/model.hpp"

namespace coterie::internal {

struct Constraints {
    Index points = 0;                    // n
    Labels labels;                       // n, -1: unknown; empty: no labels
    std::vector<std::string> names;      // L
    std::vector<std::int32_t> label_of;  // k: phi(j), ascending; -1 (last): a free cluster, without a label
    std::vector<Index> labelled;         // L: number of points with each label

    /// Groups of clusters whose sizes are bounded. With shares: one group per label with a share, and a last one for
    /// the remaining clusters, if any. With size bounds: one group per cluster.
    std::vector<std::int32_t> group_of;       // k: 0..G-1
    std::vector<Index> low, high;             // G: numbers of points, for hard assignments
    std::vector<double> low_mass, high_mass;  // G: the same before rounding, for soft assignments
    bool bounded = false;                     // whether the bounds of some group are tighter than 0 and n

    std::shared_ptr<const LinkedRows> links;  // pairs of rows; null if there are none

    int clusters() const { return static_cast<int>(label_of.size()); }
    int groups() const { return static_cast<int>(low.size()); }
    bool any() const { return bounded || !labels.empty() || links; }
    std::int32_t label(Index i) const { return labels.empty() ? -1 : labels[at(i)]; }
    /// Row i may go to clusters begin..end-1.
    std::pair<int, int> allowed(Index i) const {
        const std::int32_t known = label(i);
        return known < 0 ? std::pair(0, clusters()) : clusters_of(known);
    }
    /// Clusters begin..end-1 have this label; they are consecutive.
    std::pair<int, int> clusters_of(std::int32_t label) const;
    /// For the model; empty without labels.
    ClusterLabels cluster_labels() const { return labels.empty() ? ClusterLabels{} : ClusterLabels{names, label_of}; }
};

/// Checks and converts the constraints of `problem`. `clusters` automatic: the number that the labels have in total.
/// `soft`: shares are of summed probabilities, so they need not be whole numbers of points. Throws BadArgument and
/// BadData, which name the option, the label, the value and the accepted values. If shares or sizes cannot be met, the
/// message gives the possible interval.
Constraints compile_constraints(Index points, std::optional<int> clusters, const Problem& problem,
                                ShareRounding rounding, bool soft = false);

}  // namespace coterie::internal
