#include "coterie/manifold/wmc.hpp"

#include <algorithm>
#include <utility>

#include "coterie/linalg/distances.hpp"

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

RepresentationOptions representation_of(const WmcOptions& options) {
    RepresentationOptions out;
    out.weights =
        options.weighting == WmcWeighting::linear ? RepresentationWeights::linear : RepresentationWeights::exponential;
    out.multiple = options.lambda;
    out.eta = options.eta;
    out.max_rounds = options.max_rounds;
    out.tolerance = options.tolerance;
    return out;
}

bool same_representations(const WmcOptions& a, const WmcOptions& b) {
    return a.weighting == b.weighting && a.normalize == b.normalize && a.eta == b.eta && a.lambda == b.lambda &&
           a.max_rounds == b.max_rounds && a.tolerance == b.tolerance;
}

}  // namespace

namespace internal {

Represented represented_by(Representation representation, double multiple, double eta, double tolerance) {
    Represented out;
    out.rounds = representation.rounds.empty()
                     ? 0
                     : *std::max_element(representation.rounds.begin(), representation.rounds.end());
    out.converged = representation.unfinished == 0;
    if (!out.converged)
        out.warnings.push_back(std::to_string(representation.unfinished) +
                               " points are represented with a violation above the tolerance of " +
                               to_text(OptionValue(tolerance)) + ": raise --max-rounds");
    out.details = {{"lambda", multiple},
                   {"eta", eta},
                   {"mean_rounds", representation.mean_rounds},
                   {"kkt_residual", representation.worst_violation},
                   {"screened", representation.screened},
                   {"products", representation.products},
                   {"unrepresented", static_cast<std::int64_t>(representation.empty)}};
    out.coefficients = std::move(representation.coefficients);
    out.weights = std::move(representation.weights);
    return out;
}

}  // namespace internal

const OptionSet& WmcOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<WmcOptions> out;
        out.integer<int>("clusters", &WmcOptions::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .choice("weighting", &WmcOptions::weighting, {"exponential", "linear"},
                    "what another point costs in a representation: exp(2 distance), or its distance")
            .real("lambda", &WmcOptions::lambda, above(0),
                  "fidelity, as a multiple of each point's smallest that takes any other point")
            .real("eta", &WmcOptions::eta, at_least(0),
                  "square of the coordinate added to every row; 0: 1 (exponential) or 0.2 (linear) times the rows' "
                  "mean squared norm");
        describe_manifold(out, "unit rows with exponential weights, as given with linear ones");
        out.integer("max_rounds", &WmcOptions::max_rounds, at_least(1), "checks of all columns a point takes at most")
            .real("tolerance", &WmcOptions::tolerance, between(1e-10, 1e-3),
                  "violation of a point's optimality conditions that is let pass, in units of the weight");
        return out;
    }();
    return set;
}

WmcModel fit_wmc(PointsView points, const WmcOptions& options, Run& run, const SideInformation& side) {
    return WmcFits(points, run, side).fit(options);
}

std::vector<std::string> WmcFits::shared_options() {
    return {"normalize", "weighting", "eta", "max_rounds", "tolerance", "lambda"};
}

WmcModel WmcFits::fit(const WmcOptions& options) {
    check_options(options);
    internal::check_manifold(input_, options, "wmc", side_);
    WmcModel model;
    WmcOptions& used = model.options_;
    used = options;
    const bool linear = options.weighting == WmcWeighting::linear;
    if (used.normalize == RowNorms::automatic) used.normalize = linear ? RowNorms::none : RowNorms::unit;
    Stopwatch watch;
    if (!last_ || last_->normalize != used.normalize)
        points_ = internal::normalized_rows(input_, used.normalize == RowNorms::unit);
    if (used.eta == 0) used.eta = (linear ? 0.2 : 1.0) * mean_squared_norm(points_);
    if (!last_ || !same_representations(*last_, used))
        represented_ = internal::represented_by(represent(points_, representation_of(used), run_), used.lambda,
                                                used.eta, used.tolerance);
    last_ = used;
    model.report_.seconds.emplace_back("representations", watch.restart());
    model.finish(points_, represented_, run_, watch, model.report_);
    return model;
}

std::string WmcModel::remedy() const { return "--lambda (" + to_text(OptionValue(options_.lambda)) + ")"; }

Represented WmcModel::represent_new(PointsView queries, const Run& run) const {
    return internal::represented_by(represent(points_, queries, representation_of(options_), run), options_.lambda,
                                    options_.eta, options_.tolerance);
}

void WmcModel::store(Archive& archive) const {
    archive.set_options(WmcOptions::described().values(&options_));
    store_parts(archive);
}

WmcModel WmcModel::from(const Archive& archive) {
    WmcModel model;
    model.options_ = archive.options_as<WmcOptions>();
    if (model.options_.normalize == RowNorms::automatic) throw BadData("model: normalize must be what was used");
    model.load_parts(archive);
    return model;
}

}  // namespace coterie
