// Training on targets is entropy clustering with given labels: start, steps, losses and code are the same. Targets are
// first checked row by row. There may be more classes than points.

#include "coterie/entropy/soft_targets.hpp"

#include <cmath>

#include "coterie/base/text.hpp"
#include "coterie/entropy/training.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/centroid_model.hpp"

namespace coterie {

const OptionSet& SoftTargetOptions::described() {
    static const OptionSet set = internal::describe_training<SoftTargetOptions>().choice(
        "cross_entropy", &SoftTargetOptions::cross_entropy, {"reverse", "forward"},
        "which side has the logarithm: the targets (reverse) or the predictions (forward)");
    return set;
}

template <class T>
SoftTargetFit<T> fit_soft_targets(const Rows<T>& points, const Matrix<double>& targets,
                                  const SoftTargetOptions& options, const Run& run) {
    check_options(options);
    SoftTargetOptions used = options;
    used.clusters = static_cast<int>(targets.cols());
    if (targets.rows() != points.rows || targets.cols() < 1)
        throw BadArgument(Code::wrong_shape,
                          internal::filled("{} of {} for data with {}", counted(targets.rows(), "row"),
                                           counted(targets.cols(), "column"), counted(points.rows, "row")),
                          "Give one row of targets per row of the data, and at least one column",
                          {.option = "targets"});
    for (Index i = 0; i < targets.rows(); ++i)
        if (!(targets.row(i).minCoeff() >= 0) || !(std::abs(targets.row(i).sum() - 1) <= 1e-6))
            throw BadArgument(Code::not_accepted, "the row is not a distribution",
                              "Use numbers of at least 0 that add up to 1", {.option = "targets", .row = i + 1});
    check_clustering_input(points, 1, {}, run);
    const internal::Constraints constraints =
        internal::compile_constraints(points.rows, used.clusters, {}, ShareRounding::floor, true);
    internal::Criterion criterion;
    criterion.rule = internal::LabelRule::given;
    criterion.prior = checked_prior({}, targets.cols());
    criterion.targets = &targets;
    criterion.cross_entropy = options.cross_entropy;
    const Run within = run.within();
    internal::Checkpoint none(within, {}, {}, {});
    internal::Trained<T> trained = internal::train<T>(points, used, criterion, constraints, none, within);
    trained.report.empty_cluster_policy = "an empty class stays empty";
    internal::finish_report(trained.report, points, trained.labels, *used.clusters, *used.clusters, run);
    return {std::move(trained.model), std::move(trained.labels), std::move(trained.report)};
}

Matrix<double> smoothed_targets(const Labels& labels, Index classes, double noise) {
    if (!(noise >= 0 && noise <= 1) || classes < 1)
        throw BadArgument(Code::not_accepted,
                          internal::filled("noise of {} with {} classes is not accepted", to_text(noise), classes),
                          "Use noise from 0 to 1 and at least one class", {.option = "noise", .value = to_text(noise)});
    Matrix<double> out =
        Matrix<double>::Constant(static_cast<Index>(labels.size()), classes, noise / static_cast<double>(classes));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] < 0 || labels[i] >= classes)
            throw BadArgument(
                Code::out_of_range, internal::filled("label {} is not from 0 to {}", labels[i], classes - 1), "",
                {.option = "labels", .value = std::to_string(labels[i]), .row = static_cast<std::int64_t>(i) + 1});
        out(static_cast<Index>(i), labels[i]) += 1 - noise;
    }
    return out;
}

#define COTERIE_INSTANTIATE(T)                                                                                  \
    template SoftTargetFit<T> fit_soft_targets(const Rows<T>&, const Matrix<double>&, const SoftTargetOptions&, \
                                               const Run&);
COTERIE_INSTANTIATE(float)
COTERIE_INSTANTIATE(double)
#undef COTERIE_INSTANTIATE

}  // namespace coterie
