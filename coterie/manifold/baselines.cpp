// The solvers of the baselines. ssc and ensc use the solver of wmc with equal weights; ssc-omp and smce have their own.
// All share the code for affinity, clusters and new points in manifold_model.hpp.

#include "coterie/manifold/baselines.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"
#include "coterie/manifold/internal/described.hpp"
#include "coterie/manifold/matching_pursuit.hpp"
#include "coterie/manifold/smce.hpp"

namespace coterie {
namespace {

using namespace manifold::internal;

RepresentationOptions equal_weights(double multiple, double eta, double l1_share, int max_rounds, double tolerance) {
    return {.weights = RepresentationWeights::equal,
            .multiple = multiple,
            .eta = eta,
            .l1_share = l1_share,
            .start = 100,
            .max_rounds = max_rounds,
            .tolerance = tolerance};
}

const char* const eta_meaning = "square of a constant column that is added to the rows; 0: no such column";

}  // namespace

const OptionSet& SscOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<SscOptions> out;
        describe_clusters(out)
            .real("lambda", &SscOptions::lambda, above(0), lambda_meaning)
            .real("eta", &SscOptions::eta, at_least(0), eta_meaning);
        return describe_solver(describe_manifold(out, "unit"));
    }();
    return set;
}

const OptionSet& EnscOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<EnscOptions> out;
        describe_clusters(out)
            .real("lambda", &EnscOptions::lambda, above(0), lambda_meaning)
            .real("l1_share", &EnscOptions::l1_share, {.low = 0, .high = 1, .low_open = true},
                  "weight tau of ||c||_1 in the penalty; that of ||c||^2 / 2 is 1 - tau; 1: the penalty of ssc")
            .real("eta", &EnscOptions::eta, at_least(0), eta_meaning);
        return describe_solver(describe_manifold(out, "unit"));
    }();
    return set;
}

const OptionSet& SscOmpOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<SscOmpOptions> out;
        describe_clusters(out)
            .integer("nonzeros", &SscOmpOptions::nonzeros, at_least(1),
                     "maximum number of other rows in the representation of a row")
            .real("residual", &SscOmpOptions::residual, at_least(0),
                  "stop when the error of a representation is at most this share of the row's length")
            .real("eta", &SscOmpOptions::eta, at_least(0), eta_meaning);
        return describe_manifold(out, "unit");
    }();
    return set;
}

const OptionSet& SmceOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<SmceOptions> out;
        describe_clusters(out)
            .real("gamma", &SmceOptions::gamma, above(0),
                  "cost of distant rows, compared with the error of a representation; larger values prefer nearer rows")
            .integer("neighbors", &SmceOptions::neighbors, at_least(1),
                     "number of nearest neighbours that a representation may use");
        return describe_manifold(out, "none");
    }();
    return set;
}

Represented SscOptions::represent(PointsView points, const PointsView* queries, const Run& run) const {
    return represent_by(equal_weights(lambda, eta, 1, max_rounds, tolerance), points, queries, run);
}
std::string SscOptions::remedy() const { return lambda_remedy(lambda); }

Represented EnscOptions::represent(PointsView points, const PointsView* queries, const Run& run) const {
    return represent_by(equal_weights(lambda, eta, l1_share, max_rounds, tolerance), points, queries, run);
}
std::string EnscOptions::remedy() const { return lambda_remedy(lambda); }

Represented SscOmpOptions::represent(PointsView points, const PointsView* queries, const Run& run) const {
    const MatchingPursuitOptions options{.nonzeros = nonzeros, .tolerance = residual, .eta = eta};
    MatchingPursuit found = queries == nullptr ? match(points, options, run) : match(points, *queries, options, run);
    Represented out;
    out.coefficients = std::move(found.coefficients);
    out.rounds = nonzeros;
    out.details = {{"mean_residual", found.mean_residual}};
    return out;
}
std::string SscOmpOptions::remedy() const { return filled("`nonzeros` ({})", nonzeros); }

Represented SmceOptions::represent(PointsView points, const PointsView* queries, const Run& run) const {
    const Index most = points.rows() - (queries == nullptr ? 1 : 0);
    const Index used = std::min<Index>(neighbors, most);
    SmceRepresentation found = queries == nullptr ? smce_represent(points, gamma, used, run)
                                                  : smce_represent(points, *queries, gamma, used, run);
    Represented out;
    if (used < neighbors)
        out.warnings.push_back(
            {.code = Code::value_reduced,
             .problem = filled("{} requested, but {} used, because there are no more rows", neighbors, used),
             .option = "neighbors",
             .value = std::to_string(neighbors)});
    out.coefficients = std::move(found.coefficients);
    out.weights = std::move(found.weights);
    out.details = {{"kkt_residual", found.worst_violation}, {"sum_error", found.worst_sum}};
    return out;
}
std::string SmceOptions::remedy() const { return filled("`neighbors` ({})", neighbors); }

}  // namespace coterie
