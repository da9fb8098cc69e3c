#pragma once
// Weighted manifold clustering: L-WMC (linear weights) and E-WMC (exponential weights).
//
//     c_i = argmin  ||W c||_1 + lambda / 2 || x~_i - sum_{j != i} c_j x~_j ||^2,    x~ = (x, sqrt(eta)),
//     w_j = || x_j - x_i ||  or  exp(2 || x_j - x_i ||),    lambda = a lambda_0 of the point; a is the option lambda
//
// c_i is exact (coterie/manifold/representation.hpp). The affinity and clusters follow
// (coterie/manifold/manifold_model.hpp).
//
// Time: representations need 2 to 5 products of n x n x d in float, and a lasso of a few hundred columns per point.
// Then come the eigenvectors of a sparse matrix. Memory: two copies of the points, the entries of C and 5 n k numbers.

#include "coterie/manifold/manifold_model.hpp"

namespace coterie {

enum class WmcWeighting { exponential, linear };

struct COTERIE_API WmcOptions : ManifoldOptions {
    WmcWeighting weighting = WmcWeighting::exponential;
    double lambda = 50;  // a
    std::optional<double> eta =
        {};  // automatic: 1 (exponential) or 0.2 (linear) times the mean squared norm of the rows
    int max_rounds = 30;
    double tolerance = 1e-7;

    static constexpr std::string_view method = "wmc";
    static constexpr bool about_the_origin = true;
    static const OptionSet& described();
    RowNorms norms() const;
    void settle(PointsView rows);
    Represented represent(PointsView points, const PointsView* queries, const Run& run) const;
    std::string remedy() const;
};

using WmcModel = ManifoldModelOf<WmcOptions>;

/// n x d points, 2 <= n, 1 <= clusters <= n. The same seed gives the same result for any number of threads.
/// Throws BadArgument (options, constraints), BadData (not finite), ResourceError, Cancelled.
/// The report's objective is the inertia of k-means in the embedding. Its iterations are the largest number of rounds
/// of any point. `stopped` is iteration_limit if a point has a violation above the tolerance after max_rounds. Details:
/// "lambda" (a), "eta", "mean_rounds", "kkt_residual" (the worst violation of a point's optimality
/// conditions, in units of the weight), "screened" (fraction of the pairs checked), "products" (number of n x n x d
/// products), "unrepresented" (points with c = 0), "nonzeros_per_point", "affinity_entries_per_point", "symmetrised",
/// "components", "isolated", "eigenvalues", "eigen_residual".
struct COTERIE_API WmcMethod : internal::ManifoldMethod<WmcOptions> {
    static constexpr std::string_view summary =
        "weighted manifold clustering: each row is a combination of few other rows; near rows cost less";
};
inline constexpr Fit<WmcMethod> fit_wmc{};

}  // namespace coterie
