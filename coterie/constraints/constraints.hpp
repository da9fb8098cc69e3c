#pragma once
// Internal: partial labels, label shares and size bounds, checked and brought into the form that assignments use.
// Notation of the paper: Z_ij = 1 where point i may go to cluster j; phi(j) is the label of cluster j.

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
    Labels labels;                       // n, -1: not known; empty: no label is known
    std::vector<std::string> names;      // L
    std::vector<std::int32_t> label_of;  // k: phi(j), ascending; -1 (last): a free cluster, of no label
    std::vector<Index> labelled;         // L: points known to be of each label

    /// Columns whose sizes are bounded: groups of clusters (a label with a share each, and last what remains, if
    /// anything does), or, with size bounds, the clusters themselves.
    std::vector<std::int32_t> group_of;       // k: 0..G-1
    std::vector<Index> low, high;             // G: points, for hard assignments
    std::vector<double> low_mass, high_mass;  // G: the same before rounding, for soft ones
    bool bounded = false;                     // some group's bounds are tighter than 0 and n

    std::shared_ptr<const LinkedRows> links;  // pairs of rows; none: null

    int clusters() const { return static_cast<int>(label_of.size()); }
    int groups() const { return static_cast<int>(low.size()); }
    bool any() const { return bounded || !labels.empty() || links; }
    std::int32_t label(Index i) const { return labels.empty() ? -1 : labels[static_cast<std::size_t>(i)]; }
    /// Z_ij
    bool allowed(Index i, int j) const {
        const std::int32_t known = label(i);
        return known < 0 || label_of[static_cast<std::size_t>(j)] == known;
    }
    /// Clusters begin..end-1 belong to label l (they are next to each other).
    std::pair<int, int> clusters_of(std::int32_t label) const;
    /// For the model; empty where no label is known.
    ClusterLabels cluster_labels() const { return labels.empty() ? ClusterLabels{} : ClusterLabels{names, label_of}; }
};

/// `clusters` automatic: as many as the labels have together. `soft`: shares are of summed probabilities, so they need
/// be no whole numbers of points. BadArgument and BadData name the option, the label, the value, what is accepted, and
/// for shares and sizes that cannot be met the interval that can.
Constraints compile_constraints(Index points, std::optional<int> clusters, const Problem& problem,
                                ShareRounding rounding, bool soft = false);

}  // namespace coterie::internal
