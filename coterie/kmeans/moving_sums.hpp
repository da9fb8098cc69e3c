#pragma once
// Internal: sums of the rows of each cluster, kept up to date by the rows that change their cluster.

#include <span>
#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/cluster_sums.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"

namespace coterie::internal {

class MovingSums {
public:
    /// `weights`: n, or empty; they and the points must outlive this. Nobody stops it: sums are whole or not there.
    MovingSums(PointsView points, int clusters, std::span<const double> weights, const Run& run);

    /// Labels of this process' rows, in 0..k-1. Returns how many of all rows changed since the last call (n in the
    /// first).
    Index assign(const Labels& labels);

    /// sum_i w_i of a cluster's rows, k.
    const std::vector<double>& mass() const { return mass_; }
    /// Weighted means, k x d; a cluster without weight keeps its row of `before`.
    Matrix<double> means(const Matrix<double>& before) const;
    /// Of this process' rows, as assigned last.
    const Labels& labels() const { return labels_; }

    /// In a checkpoint, from which the same sums go on: they hold the rounding errors of all that was added to them and
    /// taken off. To be called on every process; `archive` is there on the first alone.
    void store(Archive* archive) const;
    void load(const Archive& archive);

private:
    PointsView points_;
    std::span<const double> weights_;
    Run run_;
    RowBlocks grid_;
    Range own_;
    Index k_;
    ClusterSumLayout layout_;
    BlockSums changes_;
    Labels labels_;  // of this process' rows
    Matrix<double> sums_;
    std::vector<double> mass_;
    std::vector<double> counts_;  // rows that weigh something
};

}  // namespace coterie::internal
