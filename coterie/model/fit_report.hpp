#pragma once
// The report of a fit. If a fit does not converge, this is a result, not an error.

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
    converged,        // the last iteration changed nothing, or less than the tolerance
    iteration_limit,  // max_iterations was reached first
    completed,        // all planned passes were done; the method has no other stopping rule
    interrupted,      // the caller asked to stop
    collapsed,        // clusters were lost, or training diverged; the result is from before that
    exact             // the method has no iterations
};
COTERIE_API std::string_view name(StopReason reason);

/// A value that only this method reports: a number, a count, a text, or a list of numbers.
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
    int empty_clusters_repaired = 0;   // how many times an empty cluster was given a point
    std::string empty_cluster_policy;  // in words, what was done about clusters without points; "" if it does not apply
    std::vector<std::pair<std::string, double>> seconds;  // wall-clock seconds per stage, in order
    std::uint64_t seed = 0;
    int threads = 1;
    std::vector<Message> warnings;
    std::vector<std::pair<std::string, Detail>> details;
};

/// Fills sizes, clusters_found and clusters_requested from the labels of all processes. `labels`: of this process.
COTERIE_API void count_clusters(FitReport& report, const Labels& labels, int clusters, const Run& run = Run(0, 1));

}  // namespace coterie
