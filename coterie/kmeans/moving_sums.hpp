#pragma once
// Internal: sums of the rows of each cluster, updated by the rows that change their cluster.

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
    /// `weights`: n, or empty; they and the points must outlive this object. Requests to stop are ignored, so that the
    /// sums are always complete.
    MovingSums(PointsView points, int clusters, std::span<const double> weights, const Run& run);

    /// `labels`: of this process' rows, in 0..k-1. Returns the number of rows, over all processes, whose label changed
    /// since the last call (n in the first call).
    Index assign(const Labels& labels);

    /// k: sum_i w_i over the rows of each cluster.
    const std::vector<double>& mass() const { return mass_; }
    /// Weighted means, k x d; a cluster without weight keeps its row of `before`.
    Matrix<double> means(const Matrix<double>& before) const;
    /// The last assigned labels, of this process' rows.
    const Labels& labels() const { return labels_; }

    /// Store and load the sums in a checkpoint, because new sums would have different rounding errors. Every process
    /// must call them; `archive` is nullptr on all processes but process 0.
    void store(Archive* archive) const;
    void load(const Archive& archive);

private:
    PointsView points_;
    std::span<const double> weights_;
    Run run_;
    Index k_;
    RowBlocks grid_ = grid_of(points_);
    Range own_ = own_rows(grid_, run_.communicator());
    ClusterSumLayout layout_{k_, points_.columns(), k_};  // the extra numbers: change of each cluster's number of rows
    BlockSums changes_ = layout_.block_sums();
    Labels labels_ = Labels(at(own_.count()), -1);  // of this process' rows
    Matrix<double> sums_ = Matrix<double>::Zero(k_, points_.columns());
    std::vector<double> mass_ = std::vector<double>(at(k_), 0.0);
    std::vector<double> counts_ = mass_;  // rows of positive weight
};

}  // namespace coterie::internal
