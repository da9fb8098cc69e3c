// Sums are moved by the rows that change their cluster, or taken anew where more than half of them do: moving a row
// costs two additions. A cluster that loses its last row is set to 0, not to what rounding has left.

#include "coterie/kmeans/internal/moving_sums.hpp"

#include "coterie/base/parallel.hpp"
#include "coterie/kmeans/internal/centroid_fit.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie::internal {

MovingSums::MovingSums(PointsView points, int clusters, std::span<const double> weights, int threads)
    : points_(points),
      weights_(weights),
      threads_(threads),
      sums_(clusters, points.columns()),
      mass_(at(clusters), 0.0),
      counts_(at(clusters), 0) {}

Index MovingSums::assign(const Labels& labels) {
    const Index n = points_.rows();
    const auto k = static_cast<Index>(mass_.size());
    std::vector<Index> moved;
    if (!labels_.empty())
        for (Index i = 0; i < n; ++i)
            if (labels[at(i)] != labels_[at(i)]) moved.push_back(i);
    if (labels_.empty() || 2 * static_cast<Index>(moved.size()) > n) {
        const Index changed = labels_.empty() ? n : static_cast<Index>(moved.size());
        ClusterSums all = cluster_sums(points_, labels, static_cast<int>(k), weights_, Run(0, threads_));
        sums_ = std::move(all.sums);
        mass_ = std::move(all.mass);
        counts_.assign(at(k), 0);
        for (Index i = 0; i < n; ++i) counts_[at(labels[at(i)])] += weighs(i) ? 1 : 0;
        labels_ = labels;
        return changed;
    }
    // Cluster by cluster, each in the order of the rows: the same bits at any number of threads.
    const double operations = 4.0 * static_cast<double>(moved.size()) * static_cast<double>(points_.columns());
    points_.visit([&]<class T>(const Rows<T>& rows) {
        const Kernels<T>& kernel = kernels<T>();
        for_each_block(k, threads_for(operations, threads_), [&](Index j, int) {
            for (const Index i : moved) {
                const int change = (labels[at(i)] == j ? 1 : 0) - (labels_[at(i)] == j ? 1 : 0);
                if (change == 0 || !weighs(i)) continue;
                const double w = change * (weights_.empty() ? 1.0 : weights_[at(i)]);
                kernel.add_scaled(sums_.data() + j * rows.columns, rows.row(i), w, rows.columns);
                mass_[at(j)] += w;
                counts_[at(j)] += change;
            }
            if (counts_[at(j)] > 0) return;
            sums_.row(j).setZero();  // not what rounding has left
            mass_[at(j)] = 0;
        });
    });
    labels_ = labels;
    return static_cast<Index>(moved.size());
}

Matrix<double> MovingSums::means(const Matrix<double>& before) const {
    Matrix<double> out = before;
    for (Index j = 0; j < out.rows(); ++j)
        if (mass_[at(j)] > 0) out.row(j) = sums_.row(j) / mass_[at(j)];
    return out;
}

}  // namespace coterie::internal
