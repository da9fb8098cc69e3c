#pragma once
// What a fit tells about itself. Not converging is a result, not an error.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

enum class StopReason {
    converged,        // nothing changed any more, or the tolerance was met
    iteration_limit,  // max_iterations reached first
    completed,        // every planned pass was made; the method has no other end
    interrupted,      // the caller asked to stop
    collapsed,        // clusters were lost, or training diverged; what comes back is from before
    exact             // the method has no iterations
};
COTERIE_API std::string_view name(StopReason reason);

/// A method's own figure: a number, a count, a word, or a list of numbers.
using Detail = std::variant<double, std::int64_t, std::string, std::vector<double>>;

struct FitReport {
    Index points = 0;            // n
    Index dimensions = 0;        // d
    int clusters_requested = 0;  // k
    int clusters_found = 0;      // non-empty clusters among the labels
    std::vector<Index> sizes;    // points per cluster, k entries
    double objective = 0.0;      // the method's objective at the end
    std::vector<double> objective_per_iteration;
    int iterations = 0;  // of the restart that was kept
    StopReason stopped = StopReason::exact;
    int empty_clusters_repaired = 0;                      // how often a cluster ran empty and was given a point
    std::string empty_cluster_policy;                     // what was done about them, in words; empty: does not apply
    std::vector<std::pair<std::string, double>> seconds;  // wall-clock seconds per stage, in order
    std::uint64_t seed = 0;
    int threads = 1;
    std::vector<std::string> warnings;
    std::vector<std::pair<std::string, Detail>> details;
};

/// Fills sizes, clusters_found and clusters_requested from the labels of this process' rows and those of the others.
COTERIE_API void count_clusters(FitReport& report, const Labels& labels, int clusters, const Run& run = Run(0, 1));

}  // namespace coterie
