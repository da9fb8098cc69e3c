#pragma once
// Internal: second moments of clusters about a common origin o,  M_j = sum_i A_ij (x_i - o)(x_i - o)',  kept up to date
// by the entries of A that change: what does not change costs nothing.

#include <cstdint>
#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/linalg/outer_products.hpp"

namespace coterie::internal {

class ClusterMoments {
public:
    struct Entry {
        std::int32_t cluster = 0;
        Index row = 0;
        double weight = 1.0;  // what is added to A(row, cluster); may be negative
    };

    /// All M_j = 0. Memory: k d (d + 192) / 2 numbers of double at most: tiles of the upper triangles.
    ClusterMoments(int clusters, Vector<double> origin);

    /// Adds the entries, which must be sorted by cluster. Rows about the origin, and products of at most 256 of them,
    /// are in the points' scalar type, all else in double; the same bits at any number of threads. Cost: entries * d^2
    /// / 2 multiplications, and two passes over M_j of every cluster that has an entry.
    void add(PointsView points, std::span<const Entry> entries, int threads);
    /// M_j = 0.
    void clear(int cluster);

    int clusters() const { return clusters_; }
    const Vector<double>& origin() const { return origin_; }
    /// M_j, d x d, both triangles.
    Matrix<double> moment(int cluster) const;
    /// sum_j factor_j M_j, d x d, both triangles.
    Matrix<double> sum(std::span<const double> factors) const;
    /// trace of  M_j - a c c'  and its squared Frobenius norm, c = centroid - origin (d), a = sum_i A_ij: those of the
    /// scatter of the cluster about its own mean.
    struct Norms {
        double trace = 0;
        double squared_frobenius = 0;
    };
    Norms scatter_norms(int cluster, const Vector<double>& centroid, double mass) const;

private:
    double* moment_of(Index cluster) { return moments_.data() + cluster * float64_.numbers(); }
    const double* moment_of(Index cluster) const { return moments_.data() + cluster * float64_.numbers(); }

    int clusters_;
    Vector<double> origin_;
    OuterProducts<double> float64_;
    OuterProducts<float> float32_;
    CacheLineVector<double> moments_;
};

}  // namespace coterie::internal
