#pragma once
// The baselines of weighted manifold clustering. They have the same structure: sparse representations, affinity,
// spectral clustering (coterie/manifold/manifold_model.hpp). x~ = (x, sqrt(eta)); row i has no column i.
//
//     ssc       min ||c||_1 + lambda / 2 || x~_i - sum c_j x~_j ||^2,    lambda = a / max_j |<x~_j, x~_i>|
//               sparse subspace clustering (Elhamifar and Vidal 2013), in the form for noisy data
//     ensc      min tau ||c||_1 + (1 - tau) / 2 ||c||^2 + lambda / 2 || x~_i - sum c_j x~_j ||^2,
//               lambda = a tau / max_j |<x~_j, x~_i>|    elastic-net subspace clustering (You, Li, Robinson, Vidal
//               2016)
//     ssc-omp   orthogonal matching pursuit (You, Robinson and Vidal 2016; coterie/manifold/matching_pursuit.hpp)
//     smce      sparse manifold clustering and embedding (Elhamifar and Vidal 2011; coterie/manifold/smce.hpp)
//
// Reports have the details of wmc that apply to the method. All fits throw the same exceptions as fit_wmc.

#include "coterie/manifold/manifold_model.hpp"

namespace coterie {

struct COTERIE_API SscOptions : ManifoldOptions {
    double lambda = 20;  // a
    double eta = 0;
    int max_rounds = 100;
    double tolerance = 1e-7;

    static constexpr std::string_view method = "ssc";
    static constexpr bool about_the_origin = true;
    static const OptionSet& described();
    Represented represent(PointsView points, const PointsView* queries, const Run& run) const;
    std::string remedy() const;
};

struct COTERIE_API EnscOptions : ManifoldOptions {
    double lambda = 50;     // a
    double l1_share = 0.9;  // tau
    double eta = 0;
    int max_rounds = 100;
    double tolerance = 1e-7;

    static constexpr std::string_view method = "ensc";
    static constexpr bool about_the_origin = true;
    static const OptionSet& described();
    Represented represent(PointsView points, const PointsView* queries, const Run& run) const;
    std::string remedy() const;
};

struct COTERIE_API SscOmpOptions : ManifoldOptions {
    int nonzeros = 6;
    double residual = 1e-3;  // a representation is complete when ||r|| / ||x|| is at most this
    double eta = 0;

    static constexpr std::string_view method = "ssc-omp";
    static constexpr bool about_the_origin = true;
    static const OptionSet& described();
    Represented represent(PointsView points, const PointsView* queries, const Run& run) const;
    std::string remedy() const;
};

struct COTERIE_API SmceOptions : ManifoldOptions {
    double gamma = 10;
    int neighbors = 20;  // K

    static constexpr std::string_view method = "smce";
    static constexpr bool about_the_origin = false;
    static const OptionSet& described();
    RowNorms norms() const { return normalize == RowNorms::automatic ? RowNorms::none : normalize; }
    Represented represent(PointsView points, const PointsView* queries, const Run& run) const;
    std::string remedy() const;
};

using SscModel = ManifoldModelOf<SscOptions>;
using EnscModel = ManifoldModelOf<EnscOptions>;
using SscOmpModel = ManifoldModelOf<SscOmpOptions>;
using SmceModel = ManifoldModelOf<SmceOptions>;

struct COTERIE_API SscMethod : internal::ManifoldMethod<SscOptions> {
    static constexpr std::string_view summary =
        "sparse subspace clustering: each row is a combination of few other rows, all at the same cost";
};
struct COTERIE_API EnscMethod : internal::ManifoldMethod<EnscOptions> {
    static constexpr std::string_view summary =
        "elastic-net subspace clustering: like ssc, with a further penalty on squared coefficients";
};
struct COTERIE_API SscOmpMethod : internal::ManifoldMethod<SscOmpOptions> {
    static constexpr std::string_view summary =
        "subspace clustering by orthogonal matching pursuit: each row is a combination of a fixed number of other rows";
    static constexpr About about = {.compare = {.why_not = "it solves a problem for each row"}, .baseline = true};
};
struct COTERIE_API SmceMethod : internal::ManifoldMethod<SmceOptions> {
    static constexpr std::string_view summary =
        "sparse manifold clustering and embedding: each row is an affine combination of few of its nearest neighbours";
};
inline constexpr Fit<SscMethod> fit_ssc{};
inline constexpr Fit<EnscMethod> fit_ensc{};
inline constexpr Fit<SscOmpMethod> fit_ssc_omp{};
inline constexpr Fit<SmceMethod> fit_smce{};

}  // namespace coterie
