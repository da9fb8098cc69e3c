#pragma once
// Means, scatter matrices and principal axes. All sums are in double; the bits do not depend on threads and processes.

#include <span>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Weighted mean, d numbers; empty weights: 1 each.
Vector<double> mean(PointsView points, const Run& run, std::span<const double> weights = {});
/// Mean and variance (divided by n, or the sum of weights) of each column.
struct ColumnMoments {
    Vector<double> mean;
    Vector<double> variance;
};
ColumnMoments column_moments(PointsView points, const Run& run, std::span<const double> weights = {});

/// S_t = sum_i w_i (x_i - m)(x_i - m)', d x d. One n d^2 product, in blocks.
Matrix<double> total_scatter(PointsView points, const Run& run, std::span<const double> weights = {});
/// The same, with known moments of the columns (for these weights).
Matrix<double> total_scatter(PointsView points, const ColumnMoments& moments, const Run& run,
                             std::span<const double> weights = {});
/// S_w = sum_i w_i (x_i - c_{a_i})(x_i - c_{a_i})' about the clusters' means, S_b = S_t - S_w = sum_j w_j (c_j - m)(c_j
/// - m)'.
struct ScatterPair {
    Matrix<double> within;
    Matrix<double> between;
};
/// `labels`: of this process's rows, in 0..clusters-1.
ScatterPair class_scatter(PointsView points, const Labels& labels, int clusters, const Run& run,
                          std::span<const double> weights = {});

struct PrincipalAxes {
    Vector<double> mean;       // d
    Matrix<double> axes;       // count x d, orthonormal rows; each row's entry of largest magnitude is positive
    Vector<double> variances;  // count, descending, divided by n
};
PrincipalAxes principal_axes(PointsView points, int count, const Run& run);
/// (x - mean) axes', n x count.
Matrix<double> project(PointsView points, const PrincipalAxes& axes, const Run& run);

}  // namespace coterie
