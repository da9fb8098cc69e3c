#pragma once
// Internal: the subspace step. Given assignments A (n x k) and centroids C, the projection U (d x p) that minimises
// tr(U' S_w U) subject to U' S_t U = I (the paper's equations 13 to 15), with shrunk covariances:
//
//     S_t = (1 - rho_t) T + rho_t mu_t I           T   = sum_i (x_i - m)(x_i - m)' / n
//     S_w = sum_j pi_j ((1 - rho_j) W_j + rho_j mu_j I)
//                                                  W_j = sum_i A_ij (x_i - c_j)(x_i - c_j)' / a_j,  a_j = sum_i A_ij,
//                                                  pi_j = a_j / n,  mu = the mean of the diagonal
//
// Columns of U are generalised eigenvectors of (S_w, S_t) for its p smallest eigenvalues (within-shares), equivalently
// of (S_t - S_w, S_w) for the largest. Rows of A must sum to 1 and centroids be the means for that A.
//
// Cost. T once: n d^2, and its whitening: d^3. Without shrinkage S_t - S_w = sum_j pi_j (c_j - m)(c_j - m)' has rank
// k - 1 at most, and U comes from a k x k eigenproblem after whitening: d^2 k a round. A fixed shrinkage needs no more
// of the points, but a d x d eigenproblem. With rho_j by OAS,  S_w = T - S_b - sum_j pi_j rho_j (W_j - mu_j I):  the
// W_j enter only weighted with rho_j and through their traces and Frobenius norms; they are kept up to date by the
// entries of A that change: n d^2 for every cluster whose probabilities all do.
//
// Passes are in blocks. With several processes each takes the assignments of its own rows and all solve alike; with OAS
// they exchange k d^2 / 2 numbers a round, and keep twice as many.

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/subspace/internal/cluster_moments.hpp"

namespace coterie::internal {

enum class Normalization {
    within,  // U' S_w U = I: every direction has variance 1 within clusters
    total    // U' S_t U = I: every direction has total variance 1
};

struct Shrinkage {
    enum class Kind { oas, none, fixed } kind = Kind::oas;
    double value = 0.0;  // fixed: rho_t = rho_j = value, 0 to 1
};

struct Subspace {
    Matrix<double> directions;       // p x d: the rows are the columns of U, by ascending within-share; the entry of
                                     // largest magnitude of each is positive
    Vector<double> within_shares;    // p: u' S_w u / u' S_t u, at least 0; at most 1 but for OAS, whose S_t - S_w need
                                     // not be positive semidefinite
    bool tied = false;               // the last direction ties with one left out: chosen by the between-scatter
    int floored = 0;                 // directions whose within-share was below least_within_share and taken as that
    Index total_rank = 0;            // rank of S_t; below d directions are sought in its range (its columns scaled to
                                     // variance 1); those of the p past the rank are 0, with within-share 1
    double total_shrinkage = 0;      // rho_t
    std::vector<double> shrinkages;  // k: rho_j; 0 for clusters without mass
};

/// Scaling to U' S_w U = I would grow without bound where a direction's within-share tends to 0.
inline constexpr double least_within_share = 1e-6;

class Discriminant {
public:
    /// Computes m, T and what of it never changes. `soft`: assignments come as rows of A instead of labels. The points
    /// must outlive it.
    Discriminant(PointsView points, int clusters, int dimensions, Normalization normalization, Shrinkage shrinkage,
                 bool soft, const Run& run);

    const Vector<double>& mean() const { return mean_; }

    /// Takes hard assignments (labels of this process' rows, in 0..k-1): only the rows whose label changed since the
    /// last call cost anything, and that only with OAS.
    void assign(const Labels& labels);
    /// Takes rows begin.. of A, as many as there are, k columns; any number of this process' rows at a time, from any
    /// thread. With OAS an entry that
    /// changed by too little since it was last added to a moment is kept as it was: by less than what changes S_w by
    /// 1e-9 tr(S_w) altogether (float points: 1e-7, and A is kept in float), were every entry off by that much, all in
    /// the same direction, with 4 times the rho_j of the last solve(); before the first by less than 1e-12 (float
    /// points: 1e-10).
    void assign(Index begin, const Matrix<double>& rows);

    /// centroids k x d, mass a_j (k): those of the assignments taken last. A cluster without mass does not count.
    ///
    /// Without shrinkage directions past the rank of S_b (fewer clusters with mass, duplicate centroids, p >= k) have
    /// within-share 1 and are arbitrary: taken are those of largest total variance (of the standardised columns) that
    /// are uncorrelated to the ones before.
    Subspace solve(const Matrix<double>& centroids, const Vector<double>& mass);

    /// In a checkpoint, what the last solve() has left; then the next assignments go on from it. `labels`: of this
    /// process' rows, the last hard assignments. To be called on every process; `archive` is there on the first alone.
    void store(Archive* archive) const;
    void load(const Archive& archive, const Labels& labels);

private:
    // W, r x d: W S_t W' = I.
    void whiten(Matrix<double> total, double precision);
    // Directions (in whitened coordinates, p x r) and within-shares.
    struct Whitened {
        Matrix<double> directions;
        Vector<double> within_shares;
        bool tied = false;
    };
    Whitened leading_of_between(const Matrix<double>& between) const;
    // within r x r, between r x k (S_b = between between'), both whitened.
    Whitened smallest_of(const Matrix<double>& within, const Matrix<double>& between) const;
    Matrix<double> oas_within(const Matrix<double>& deviations, const Vector<double>& mass, Subspace& result);
    // Of W_j a_j.
    std::vector<ClusterMoments::Norms> norms_of(const ClusterMoments& moments, const Matrix<double>& deviations,
                                                const Vector<double>& mass) const;
    template <class Scalar>
    bool is_change(Scalar now, Scalar before, Index cluster) const;
    void update_moments();
    // Of all rows.
    const ClusterMoments& moments();

    PointsView points_;
    int clusters_;
    int dimensions_;
    Normalization normalization_;
    Shrinkage shrinkage_;
    bool soft_;
    Run run_;
    RowBlocks grid_;
    Range own_;  // this process' rows
    Vector<double> mean_;
    double total_trace_ = 0.0;
    double total_shrinkage_ = 0.0;
    Matrix<double> whitening_;       // by descending variance
    Matrix<double> whitening_gram_;  // W W', r x r: fixed shrinkage only

    // OAS only.
    Matrix<double> total_;                       // T
    std::optional<ClusterMoments> moments_;      // of what this process added
    std::optional<ClusterMoments> all_moments_;  // where there are several
    Labels labels_;                              // hard: added to the moments

    // And soft assignments.
    template <class T>
    struct Shares {
        Matrix<T> given;  // A
        Matrix<T> added;  // to the moments
    };
    std::variant<Shares<float>, Shares<double>> shares_;  // of the points' scalar type
    std::vector<double> thresholds_;                      // k
};

}  // namespace coterie::internal
