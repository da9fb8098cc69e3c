#pragma once
// Internal: second moments of clusters about a common origin o,  M_j = sum_i A_ij (x_i - o)(x_i - o)'.  Only the
// entries of A that change update the moments. Sums are exact except for the rounding of a few rows at a time
// (outer_products.hpp). Several processes can therefore each add some entries, and then sum their moments.

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/linalg/outer_products.hpp"
#include "coterie/model/archive.hpp"

namespace coterie::subspace::internal {

using namespace coterie::internal;

class ClusterMoments {
public:
    struct Entry {
        std::int32_t cluster = 0;
        Index row = 0;
        double weight = 1.0;  // added to A(row, cluster); may be negative
    };

    /// Starts with all M_j = 0. `squares`: sum_i (x_ip - o_p)^2 of each column over all rows; A is between 0 and 1.
    /// Memory: at most k d (d + 192) / 2 doubles, in tiles of the upper triangles.
    ClusterMoments(int clusters, Vector<double> origin, const Vector<double>& squares);

    /// Rows relative to the origin, and products of a few hundred of them, are in the points' scalar type; all else is
    /// double. The bits are the same for any number of threads and any order of calls. Cost: entries * d^2 / 2
    /// multiplications, and two passes over M_j of every cluster that has an entry.
    /// Adds the changes of the rows of all processes that share `run`; `changes` is their total number.
    /// changes_of(begin, end, change) calls change() for the changes of rows begin..end-1 of this process, in the order
    /// of the rows; row numbers are those among all rows. The batches in which rows are added do not depend on the
    /// number of processes. The process that holds a batch's first row adds the batch; other processes send it their
    /// changed rows of the batch.
    using ChangesOf = FunctionRef<void(Index begin, Index end, FunctionRef<void(const Entry&)> change)>;
    void add_changes(PointsView points, Index changes, ChangesOf changes_of, const Run& run);
    /// Sets M_j = 0.
    void clear(int cluster);
    /// Adds the other processes' moments.
    void add_up(Communicator& communicator) { add_up_exact(communicator, moments_); }

    /// Store and load the moments in a checkpoint. The file holds the sums over all processes; after load(), process 0
    /// holds these sums and the others hold 0. Every process must call them; `archive` is nullptr on all processes but
    /// process 0.
    void store(Archive* archive, Communicator& communicator) const;
    void load(const Archive& archive, Communicator& communicator);

    /// sum_j factor_j M_j, d x d, both triangles.
    Matrix<double> sum(std::span<const double> factors) const;
    /// Trace and squared Frobenius norm of  M_j - a c c',  c = centroid - origin (d), a = sum_i A_ij: the cluster's
    /// scatter about its own mean.
    struct Norms {
        double trace = 0, squared_frobenius = 0;
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

}  // namespace coterie::subspace::internal
