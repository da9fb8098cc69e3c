// Converts options to those of the exact solver, and the certificates of the solver to the report. For inexact
// representations, a warning says what to change. ssc and ensc also use this code.

#include "coterie/manifold/wmc.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"
#include "coterie/manifold/internal/described.hpp"

namespace coterie {
namespace {

double mean_squared_norm(PointsView points) {
    double sum = 0;
    points.visit([&](auto rows) {
        for (Index i = 0; i < rows.rows; ++i)
            for (Index p = 0; p < rows.columns; ++p)
                sum += static_cast<double>(rows.row(i)[p]) * static_cast<double>(rows.row(i)[p]);
    });
    return sum / static_cast<double>(points.rows());
}

}  // namespace

namespace manifold::internal {

Represented represent_by(const RepresentationOptions& options, PointsView points, const PointsView* queries,
                         const Run& run) {
    Representation representation =
        queries == nullptr ? represent(points, options, run) : represent(points, *queries, options, run);
    Represented out;
    out.rounds = 0;
    for (const int rounds : representation.rounds) out.rounds = std::max(out.rounds, rounds);
    out.converged = representation.unfinished + representation.inexact == 0;
    const auto warn = [&](Index count, Code code, const char* reason, const char* remedy) {
        if (count > 0)
            out.warnings.push_back({.code = code,
                                    .problem = "the representations of " + counted(count, "row") +
                                               " violate the optimality conditions by more than the tolerance of " +
                                               to_text(options.tolerance) + reason,
                                    .remedy = remedy});
    };
    warn(representation.unfinished, Code::not_converged, "", "Raise `max_rounds`");
    warn(representation.inexact, Code::ill_conditioned, ", because of rounding",
         "Scale rows to lengths near 1 (`scale`, `normalize=unit`), or lower `eta` or `lambda`");
    out.details = {{"lambda", options.multiple},
                   {"eta", options.eta},
                   {"mean_rounds", representation.mean_rounds},
                   {"kkt_residual", representation.worst_violation},
                   {"screened", representation.screened},
                   {"products", representation.products},
                   {"unrepresented", static_cast<std::int64_t>(representation.empty)}};
    out.coefficients = std::move(representation.coefficients);
    out.weights = std::move(representation.weights);
    return out;
}

std::string lambda_remedy(double lambda) { return filled("`lambda` ({})", to_text(lambda)); }

}  // namespace manifold::internal

const OptionSet& WmcOptions::described() {
    using namespace manifold::internal;
    static const OptionSet set = [] {
        OptionSetFor<WmcOptions> out;
        describe_clusters(out)
            .choice("weighting", &WmcOptions::weighting, {"exponential", "linear"},
                    "cost of using another row in a representation: exp(2 distance) (exponential), or its distance "
                    "(linear)")
            .real("lambda", &WmcOptions::lambda, above(0), lambda_meaning)
            .real("eta", &WmcOptions::eta, at_least(0), "square of a constant column that is added to the rows",
                  "1 (exponential) or 0.2 (linear) times the mean squared length of the rows");
        return describe_solver(describe_manifold(out, "unit with exponential weights, none with linear ones"));
    }();
    return set;
}

RowNorms WmcOptions::norms() const {
    if (normalize != RowNorms::automatic) return normalize;
    return weighting == WmcWeighting::linear ? RowNorms::none : RowNorms::unit;
}

void WmcOptions::settle(PointsView rows) {
    if (!eta) eta = (weighting == WmcWeighting::linear ? 0.2 : 1.0) * mean_squared_norm(rows);
}

Represented WmcOptions::represent(PointsView points, const PointsView* queries, const Run& run) const {
    const bool linear = weighting == WmcWeighting::linear;
    return manifold::internal::represent_by(
        {.weights = linear ? RepresentationWeights::linear : RepresentationWeights::exponential,
         .multiple = lambda,
         .eta = *eta,
         .max_rounds = max_rounds,
         .tolerance = tolerance},
        points, queries, run);
}

std::string WmcOptions::remedy() const { return manifold::internal::lambda_remedy(lambda); }

}  // namespace coterie
