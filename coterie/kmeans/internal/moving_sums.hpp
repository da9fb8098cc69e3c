#pragma once
// Internal: sums of the rows of each cluster, kept up to date by the rows that change their cluster.

#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

class MovingSums {
public:
    /// `weights`: n, or empty; they and the points must outlive this.
    MovingSums(PointsView points, int clusters, std::span<const double> weights, int threads);

    /// n labels in 0..k-1. Returns how many changed since the last call (n in the first).
    Index assign(const Labels& labels);

    /// sum_i w_i of a cluster's rows, k.
    const std::vector<double>& mass() const { return mass_; }
    /// Weighted means, k x d; a cluster without weight keeps its row of `before`.
    Matrix<double> means(const Matrix<double>& before) const;

private:
    bool weighs(Index i) const { return weights_.empty() || weights_[static_cast<std::size_t>(i)] > 0; }

    PointsView points_;
    std::span<const double> weights_;
    int threads_;
    Labels labels_;
    Matrix<double> sums_;
    std::vector<double> mass_;
    std::vector<Index> counts_;  // rows that weigh something
};

}  // namespace coterie::internal
