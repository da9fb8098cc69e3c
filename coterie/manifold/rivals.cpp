#include "coterie/manifold/rivals.hpp"

#include <algorithm>

#include "coterie/manifold/matching_pursuit.hpp"
#include "coterie/manifold/smce.hpp"
#include "coterie/manifold/wmc.hpp"

namespace coterie {
namespace {

// How each method represents queries over points; without queries, the points over each other.

RepresentationOptions equal_weights(double multiple, double eta, double l1_share, int max_rounds, double tolerance) {
    RepresentationOptions out;
    out.weights = RepresentationWeights::equal;
    out.multiple = multiple;
    out.eta = eta;
    out.l1_share = l1_share;
    out.max_rounds = max_rounds;
    out.tolerance = tolerance;
    out.start = 100;
    return out;
}

Represented represent_by(const RepresentationOptions& options, PointsView points, const PointsView* queries,
                         const Run& run) {
    return internal::represented_by(
        queries == nullptr ? represent(points, options, run) : represent(points, *queries, options, run),
        options.multiple, options.eta, options.tolerance);
}

Represented represent_by(const SscOptions& o, PointsView points, const PointsView* queries, const Run& run) {
    return represent_by(equal_weights(o.lambda, o.eta, 1, o.max_rounds, o.tolerance), points, queries, run);
}

Represented represent_by(const EnscOptions& o, PointsView points, const PointsView* queries, const Run& run) {
    return represent_by(equal_weights(o.lambda, o.eta, o.l1_share, o.max_rounds, o.tolerance), points, queries, run);
}

Represented represent_by(const SscOmpOptions& o, PointsView points, const PointsView* queries, const Run& run) {
    const MatchingPursuitOptions options{.nonzeros = o.nonzeros, .tolerance = o.residual, .eta = o.eta};
    MatchingPursuit found = queries == nullptr ? match(points, options, run) : match(points, *queries, options, run);
    Represented out;
    out.coefficients = std::move(found.coefficients);
    out.rounds = o.nonzeros;
    out.details = {{"mean_residual", found.mean_residual}};
    return out;
}

Represented represent_by(const SmceOptions& o, PointsView points, const PointsView* queries, const Run& run) {
    SmceRepresentation found = queries == nullptr ? smce_represent(points, o.gamma, o.neighbors, run)
                                                  : smce_represent(points, *queries, o.gamma, o.neighbors, run);
    Represented out;
    out.coefficients = std::move(found.coefficients);
    out.weights = std::move(found.weights);
    out.details = {{"kkt_residual", found.worst_violation}, {"sum_error", found.worst_sum}};
    return out;
}

RowNorms automatic_for(const SmceOptions&) { return RowNorms::none; }
template <class Options>
RowNorms automatic_for(const Options&) {
    return RowNorms::unit;
}

template <class Options>
OptionSetFor<Options>& describe_clusters(OptionSetFor<Options>& set) {
    return set.template integer<int>("clusters", &Options::clusters, at_least(1), "number of clusters k").letter('k');
}

template <class Options>
OptionSetFor<Options>& describe_solver(OptionSetFor<Options>& set) {
    return set.integer("max_rounds", &Options::max_rounds, at_least(1), "checks of all columns a point takes at most")
        .real("tolerance", &Options::tolerance, between(1e-10, 1e-3),
              "violation of a point's optimality conditions that is let pass, in units of the weight");
}

const char* const eta_meaning = "square of the coordinate added to every row; 0: none";
const char* const lambda_meaning = "fidelity, as a multiple of each point's smallest that takes any other point";
const char* const unit_rows_meaning = "unit rows";

}  // namespace

const OptionSet& SscOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<SscOptions> out;
        describe_clusters(out)
            .real("lambda", &SscOptions::lambda, above(0), lambda_meaning)
            .real("eta", &SscOptions::eta, at_least(0), eta_meaning);
        return describe_solver(describe_manifold(out, unit_rows_meaning));
    }();
    return set;
}

const OptionSet& EnscOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<EnscOptions> out;
        describe_clusters(out)
            .real("lambda", &EnscOptions::lambda, above(0), lambda_meaning)
            .real("l1_share", &EnscOptions::l1_share, {.low = 0, .high = 1, .low_open = true},
                  "tau, the share of ||c||_1 beside ||c||^2 / 2; 1: that of ssc")
            .real("eta", &EnscOptions::eta, at_least(0), eta_meaning);
        return describe_solver(describe_manifold(out, unit_rows_meaning));
    }();
    return set;
}

const OptionSet& SscOmpOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<SscOmpOptions> out;
        describe_clusters(out)
            .integer("nonzeros", &SscOmpOptions::nonzeros, at_least(1), "points that a point takes at most")
            .real("residual", &SscOmpOptions::residual, at_least(0),
                  "share of a point's length that may be left when its representation ends")
            .real("eta", &SscOmpOptions::eta, at_least(0), eta_meaning);
        return describe_manifold(out, unit_rows_meaning);
    }();
    return set;
}

const OptionSet& SmceOptions::described() {
    static const OptionSet set = [] {
        OptionSetFor<SmceOptions> out;
        describe_clusters(out)
            .real("gamma", &SmceOptions::gamma, above(0), "what distance costs beside the error of a representation")
            .integer("neighbors", &SmceOptions::neighbors, at_least(1), "nearest neighbours that a point may take");
        return describe_manifold(out, "as given");
    }();
    return set;
}

template <>
std::string_view RivalModel<SscOptions>::method() const {
    return "ssc";
}
template <>
std::string_view RivalModel<EnscOptions>::method() const {
    return "ensc";
}
template <>
std::string_view RivalModel<SscOmpOptions>::method() const {
    return "ssc-omp";
}
template <>
std::string_view RivalModel<SmceOptions>::method() const {
    return "smce";
}

template <>
std::string RivalModel<SscOptions>::remedy() const {
    return "--lambda (" + to_text(OptionValue(options_.lambda)) + ")";
}
template <>
std::string RivalModel<EnscOptions>::remedy() const {
    return "--lambda (" + to_text(OptionValue(options_.lambda)) + ")";
}
template <>
std::string RivalModel<SscOmpOptions>::remedy() const {
    return "--nonzeros (" + std::to_string(options_.nonzeros) + ")";
}
template <>
std::string RivalModel<SmceOptions>::remedy() const {
    return "--neighbors (" + std::to_string(options_.neighbors) + ")";
}

template <class Options>
Represented RivalModel<Options>::represent_new(PointsView queries, const Run& run) const {
    return represent_by(options_, points_, &queries, run);
}

template <class Options>
RivalModel<Options> RivalModel<Options>::fit(PointsView points, const Options& options, Run& run,
                                             const SideInformation& side) {
    check_options(options);
    RivalModel model;
    model.options_ = options;
    internal::check_manifold(points, options, model.method(), side);
    if (options.normalize == RowNorms::automatic) model.options_.normalize = automatic_for(options);
    Stopwatch watch;
    Points rows = internal::normalized_rows(points, model.unit_rows());
    const Represented represented = represent_by(model.options_, rows, nullptr, run);
    model.report_.seconds.emplace_back("representations", watch.restart());
    model.finish(std::move(rows), represented, run, watch, model.report_);
    return model;
}

template class RivalModel<SscOptions>;
template class RivalModel<EnscOptions>;
template class RivalModel<SscOmpOptions>;
template class RivalModel<SmceOptions>;

SscModel fit_ssc(PointsView points, const SscOptions& options, Run& run, const SideInformation& side) {
    return SscModel::fit(points, options, run, side);
}
EnscModel fit_ensc(PointsView points, const EnscOptions& options, Run& run, const SideInformation& side) {
    return EnscModel::fit(points, options, run, side);
}
SscOmpModel fit_ssc_omp(PointsView points, const SscOmpOptions& options, Run& run, const SideInformation& side) {
    return SscOmpModel::fit(points, options, run, side);
}
SmceModel fit_smce(PointsView points, const SmceOptions& options, Run& run, const SideInformation& side) {
    return SmceModel::fit(points, options, run, side);
}

}  // namespace coterie
