#pragma once
// Internal: options that several methods of this module have, and the exact solver with its details for the report.

#include "coterie/manifold/manifold_model.hpp"
#include "coterie/manifold/representation.hpp"

namespace coterie::manifold::internal {

using namespace coterie::internal;

template <class Options>
OptionSetFor<Options>& describe_clusters(OptionSetFor<Options>& set) {
    return set.template integer<int>("clusters", &Options::clusters, at_least(1), "number of clusters k").letter('k');
}

/// Describes the other options of ManifoldOptions. `automatic` says what normalize=auto means for the method.
template <class Options>
OptionSetFor<Options>& describe_manifold(OptionSetFor<Options>& set, const std::string& automatic) {
    return set
        .template choice<RowNorms>(
            "normalize", &Options::normalize, {"auto", "unit", "none"},
            "scale every row to length 1 (unit), or leave it as it is (none); auto: " + automatic)
        .template choice<AffinityStrategy>(
            "affinity", &Options::affinity, affinity_strategies(),
            "steps that turn representations into affinities, in order: N scales rows to length 1, S makes the "
            "matrix symmetric, K keeps the largest entries of each row")
        .template integer<int>("keep", &Options::keep, at_least(1), "number of entries per row that step K keeps")
        .template integer<int>("restarts", &Options::restarts, at_least(1),
                               "number of runs of k-means in the embedding; the best run is kept")
        .template integer<int>("max_iterations", &Options::max_iterations, at_least(1),
                               "maximum number of iterations per run of k-means")
        .template choice<NewPoints>("new_points", &Options::new_points, {"shares", "embedding"},
                                    "cluster of a new row: the one with the largest share of its representation "
                                    "(shares), or the nearest centroid in the extended embedding (embedding)");
}

inline constexpr const char* lambda_meaning =
    "weight of the representation error, as a multiple of the smallest weight at which a row uses another row; larger "
    "values use more rows";

/// Describes the limits of the exact solver.
template <class Options>
OptionSetFor<Options>& describe_solver(OptionSetFor<Options>& set) {
    return set
        .integer("max_rounds", &Options::max_rounds, at_least(1),
                 "maximum number of rounds per row; each round checks all other rows")
        .real("tolerance", &Options::tolerance, between(1e-10, 1e-3),
              "accepted violation of a row's optimality conditions, in units of the weight; smaller values are more "
              "exact");
}

/// Representations from the exact solver.
Represented represent_by(const RepresentationOptions& options, PointsView points, const PointsView* queries,
                         const Run& run);
std::string lambda_remedy(double lambda);

}  // namespace coterie::manifold::internal
