#pragma once
// What a caller knows besides the points. Every method takes it; one that cannot honour a part refuses it by name.

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/points.hpp"

namespace coterie {

/// How many clusters belong to a label.
struct ClustersOfLabel {
    std::string label;
    int clusters = 1;  // at least 1
};

/// The share of all points, labelled ones included, that the clusters of a label take together: low <= share <= high,
/// fractions of 1. Equal ends: exactly that share (of n points, hard assignments take floor(n share)).
struct GroupShare {
    std::string label;
    double low = 0.0;
    double high = 1.0;
};

/// How a share of n points that is no whole number of them becomes one, for hard assignments.
enum class ShareRounding { floor, nearest };

/// Every cluster takes at least `low` and at most `high` points.
struct SizeBounds {
    Index low = 0;
    Index high = std::numeric_limits<Index>::max();
};

struct SideInformation {
    /// n weights, each 0 or from 1e-30 to 1e30, not all 0; empty: every point weighs 1. Weight w acts as w copies of
    /// the point.
    std::span<const double> weights = {};
    /// k x d starting centroids (a warm start); empty: the method seeds itself.
    PointsView initial_centroids = {};

    /// Partial labels: n entries, the number of the point's label in 0..L-1, or -1: not known. A labelled point goes to
    /// a cluster of its label, whatever the distances; the other points to any cluster. Empty: nothing is known.
    std::span<const std::int32_t> partial_labels = {};
    /// L words; empty: "0", "1", ... up to the largest in partial_labels. Clusters come in the order of their labels.
    std::vector<std::string> label_names = {};
    /// Labels that are not named here have one cluster.
    std::vector<ClustersOfLabel> clusters_per_label = {};
    /// At most one a label.
    std::vector<GroupShare> group_shares = {};
    std::optional<SizeBounds> sizes = {};
};

/// BadArgument naming the method when partial labels, clusters per label, group shares or size bounds are given: what a
/// method that cannot honour them calls first.
void refuse_constraints(const SideInformation& side, std::string_view method);

}  // namespace coterie
