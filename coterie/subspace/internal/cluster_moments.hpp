#pragma once
// Internal: second moments of clusters about a common origin o,  M_j = sum_i A_ij (x_i - o)(x_i - o)',  kept up to date
// by the entries of A that change: what does not change costs nothing. Sums are exact but for the rounding of few rows
// at a time (outer_products.hpp), so that several processes can each add some entries and add up their moments.

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/linalg/outer_products.hpp"
#include "coterie/model/archive.hpp"

namespace coterie::internal {

class ClusterMoments {
public:
    struct Entry {
        std::int32_t cluster = 0;
        Index row = 0;
        double weight = 1.0;  // what is added to A(row, cluster); may be negative
    };

    /// All M_j = 0. `squares`: sum_i (x_ip - o_p)^2 of each column over all rows; A is between 0 and 1. Memory: k d (d
    /// + 192) / 2 numbers of double at most: tiles of the upper triangles.
    ClusterMoments(int clusters, Vector<double> origin, const Vector<double>& squares);

    /// Adds the entries, which must be sorted by cluster. Rows about the origin, and products of a few hundred of them,
    /// are in the points' scalar type, all else in double; the same bits at any number of threads, and in whatever
    /// order calls come. Cost: entries * d^2 / 2 multiplications, and two passes over M_j of every cluster that has an
    /// entry.
    void add(PointsView points, std::span<const Entry> entries, int threads);
    /// Adds the changes, `changes` altogether, of the rows of all processes that share `run`. changes_of(begin, end,
    /// change) calls change() for those of rows begin..end-1 of this process, in the order of the rows, which count
    /// among all. Batches of rows, whatever the number of processes, are added each by the process of its first row,
    /// which is lent the rows that change of what other processes have of it.
    using ChangesOf = FunctionRef<void(Index begin, Index end, FunctionRef<void(const Entry&)> change)>;
    void add_changes(PointsView points, Index changes, ChangesOf changes_of, const Run& run);
    /// M_j = 0.
    void clear(int cluster);
    /// Adds the other processes' moments.
    void add_up(Communicator& communicator) { add_up_exact(communicator, moments_); }

    /// In a checkpoint: the sums over all processes, and then what the first process has, the others having nothing.
    /// To be called on every process; `archive` is there on the first alone.
    void store(Archive* archive, Communicator& communicator) const;
    void load(const Archive& archive, Communicator& communicator);

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
    template <class T>
    struct Term {
        std::int32_t cluster;
        const T* row;
        double weight;
    };
    template <class T>
    void add_terms(std::vector<Term<T>>& terms, int threads);
    template <class T>
    void add_changes_of(PointsView points, Index changes, ChangesOf changes_of, const Run& run);
    template <class T>
    const OuterProducts<T>& products() const {
        if constexpr (std::is_same_v<T, float>)
            return float32_;
        else
            return float64_;
    }
    double* moment_of(Index cluster) { return moments_.data() + cluster * float64_.numbers(); }
    const double* moment_of(Index cluster) const { return moments_.data() + cluster * float64_.numbers(); }

    int clusters_;
    Vector<double> origin_;
    OuterProducts<double> float64_;
    OuterProducts<float> float32_;
    CacheLineVector<double> moments_;
};

}  // namespace coterie::internal
