#pragma once
// Internal: exact quartiles of columns within clusters, for points in memory or read in blocks, by one or several
// processes.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::pipeline::internal {

/// The values of one column in the rows of one cluster.
struct ColumnOfCluster {
    Index cluster = 0;
    Index column = 0;
    double mean = 0;
    double deviation = 0;  // rough standard deviation; like the mean, only a hint where to search first
    double weight = 0;     // W
};

/// Lower quartile, median and upper quartile of each of `wanted`, whose clusters have rows of weight above 0. They lie
/// at positions (W - 1) p of the sorted copies (W: the sum of the weights), counted from 0 and interpolated between
/// neighbours (definition 7 of Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician
/// 1996; NumPy's default). labels: of this process's rows. weights: of all rows, or empty.
std::vector<std::array<double, 3>> quartiles(PointsView points, std::span<const std::int32_t> labels, Index clusters,
                                             std::span<const double> weights,
                                             const std::vector<ColumnOfCluster>& wanted, const Run& run);

}  // namespace coterie::pipeline::internal
