#pragma once
// Internal: the subspace step. Given assignments A (n x k) and centroids C, it computes the projection U (d x p) that
// minimises tr(U' S_w U) subject to U' S_t U = I (the paper's equations 13 to 15), with shrunk covariances:
//
//     S_t = (1 - rho_t) T + rho_t mu_t I           T   = sum_i (x_i - m)(x_i - m)' / n
//     S_w = sum_j pi_j ((1 - rho_j) W_j + rho_j mu_j I)
//                                                  W_j = sum_i A_ij (x_i - c_j)(x_i - c_j)' / a_j,  a_j = sum_i A_ij,
//                                                  pi_j = a_j / n,  mu = the mean of the diagonal
//
// The columns of U are generalised eigenvectors of (S_w, S_t) for its p smallest eigenvalues (within-shares).
// Equivalently, they are those of (S_t - S_w, S_w) for the largest. Rows of A must sum to 1, and centroids must be the
// means for that A.
//
// Cost. T once: n d^2, and its whitening: d^3. Without shrinkage, S_t - S_w = sum_j pi_j (c_j - m)(c_j - m)' has rank
// at most k - 1, and U comes from a k x k eigenproblem after whitening: d^2 k per round. A fixed shrinkage needs no
// further pass over the points, but a d x d eigenproblem.
// With rho_j by OAS,  S_w = T - S_b - sum_j pi_j rho_j (W_j - mu_j I).  Only a sum of the W_j, their traces and their
// Frobenius norms are needed. Only the entries of A that change update the W_j: n d^2 per cluster whose probabilities
// all change.
//
// Passes run in blocks. Each process handles its own rows, and all processes solve the same problem. With OAS, they
// exchange k d^2 / 2 numbers per round and keep twice as many.

#include <optional>
#include <variant>
#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/subspace/internal/cluster_moments.hpp"
#include "coterie/subspace/subspace.hpp"

namespace coterie::subspace::internal {

using namespace coterie::internal;

using Normalization = SubspaceNormalization;

struct Shrinkage {
    enum class Kind { oas, none, fixed } kind = Kind::oas;
    double value = 0.0;  // fixed: rho_t = rho_j = value, 0 to 1
};

struct Subspace {
    Matrix<double> directions;       // p x d: the rows are the columns of U, by ascending within-share; the entry of
                                     // largest magnitude of each row is positive
    Vector<double> within_shares;    // p: u' S_w u / u' S_t u, at least 0; at most 1 except with OAS, whose S_t - S_w
                                     // need not be positive semidefinite
    bool tied = false;               // the last direction ties with an omitted direction; the between-scatter decides
    int floored = 0;                 // number of directions whose within-share was below least_within_share and was
                                     // raised to it
    Index total_rank = 0;            // rank of S_t; if it is below d, directions lie in its range (of columns scaled to
                                     // variance 1); directions beyond the rank are 0, with within-share 1
    double total_shrinkage = 0;      // rho_t
    std::vector<double> shrinkages;  // k: rho_j; 0 for clusters without mass
};

/// The scale for U' S_w U = I would grow without bound as a direction's within-share tends to 0.
inline constexpr double least_within_share = 1e-6;

class Discriminant {
public:
    /// Computes m, T and the parts of T that never change. `soft`: assignments are rows of A instead of labels. The
    /// points must outlive this object.
    Discriminant(PointsView points, int clusters, int dimensions, Normalization normalization, Shrinkage shrinkage,
                 bool soft, const Run& run);

    const Vector<double>& mean() const { return mean_; }

    /// Sets hard assignments (labels of this process' rows, in 0..k-1). With OAS, rows whose label changed since the
    /// last call cost time; other rows cost none.
    void assign(const Labels& labels);
    /// Sets rows begin.. of A, k columns: any number of this process' rows per call, from any thread.
    /// With OAS, an entry that changed too little since it was last added to a moment keeps its old value. The limit:
    /// if every entry were off by this much in the same direction, S_w would change by 1e-9 tr(S_w), computed with 4
    /// times the rho_j of the last solve(). For float points, the factor is 1e-7 and A is kept in float. Before the
    /// first solve(), the factors are 1e-12 and 1e-10.
    void assign(Index begin, const Matrix<double>& rows);

    /// centroids k x d, mass a_j (k): those of the last assignments. A cluster without mass is ignored.
    ///
    /// Without shrinkage, directions beyond the rank of S_b (fewer clusters with mass, duplicate centroids, p >= k)
    /// have within-share 1 and are arbitrary. The result contains the directions of largest total variance (of the
    /// standardised columns) that are uncorrelated with the previous directions.
    Subspace solve(const Matrix<double>& centroids, const Vector<double>& mass);

    /// Store and load the state after the last solve() in a checkpoint; the next assignments continue from it.
    /// `labels`: the last hard assignments of this process' rows. Every process must call them; `archive` is nullptr on
    /// all processes but process 0.
    void store(Archive* archive) const;
    void load(const Archive& archive, const Labels& labels);

private:
    // Computes the whitening W, r x d: W S_t W' = I.
    void whiten(Matrix<double> total, double precision);
    // Directions (in whitened coordinates, p x r) and within-shares.
    struct Whitened {
        Matrix<double> directions;
        Vector<double> within_shares;
        bool tied = false;
    };
    Whitened leading_of_between(const Matrix<double>& between) const;
    // within is r x r, between r x k (S_b = between between'); both are whitened.
    Whitened smallest_of(const Matrix<double>& within, const Matrix<double>& between) const;
    Matrix<double> oas_within(const Matrix<double>& deviations, const Vector<double>& mass, Subspace& result);
    template <class Scalar>
    bool is_change(Scalar now, Scalar before, Index cluster) const;
    void update_moments();
    // The moments of all rows.
    const ClusterMoments& moments();

    PointsView points_;
    int clusters_;
    int dimensions_;
    Normalization normalization_;
    Shrinkage shrinkage_;
    bool soft_;
    Run run_;
    Range own_ = own_rows(points_, run_);  // this process' rows
    Vector<double> mean_;
    double total_trace_ = 0.0, total_shrinkage_ = 0.0;
    Matrix<double> whitening_;       // by descending variance
    Matrix<double> whitening_gram_;  // W W', r x r: fixed shrinkage only

    // OAS only:
    Matrix<double> total_;                       // T
    std::optional<ClusterMoments> moments_;      // sums of what this process added
    std::optional<ClusterMoments> all_moments_;  // if there are several processes
    Labels labels_;                              // hard: as added to the moments

    // For soft assignments:
    template <class T>
    struct Shares {
        Matrix<T> given;  // A as given
        Matrix<T> added;  // A as added to the moments
    };
    std::variant<Shares<float>, Shares<double>> shares_;  // in the points' scalar type
    std::vector<double> thresholds_;                      // k
};

}  // namespace coterie::subspace::internal
