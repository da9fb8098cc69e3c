// Scores of labels (coterie/metrics/metrics.hpp).

#include "core.hpp"

#include "coterie/metrics/criteria.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie::python {
namespace {

nb::object matrix_of(const Matrix<std::int64_t>& counts) {
    std::vector<std::int64_t> values(counts.data(), counts.data() + counts.size());
    return owned_array(std::move(values),
                       {static_cast<std::size_t>(counts.rows()), static_cast<std::size_t>(counts.cols())});
}

nb::tuple tuple_of(const ContingencyTable& table) {
    return nb::make_tuple(owned_array(Labels(table.classes)), owned_array(Labels(table.clusters)),
                          matrix_of(table.counts));
}

Normalization mean_named(const std::string& name) {
    const std::pair<const char*, Normalization> means[] = {{"arithmetic", Normalization::arithmetic},
                                                           {"geometric", Normalization::geometric},
                                                           {"min", Normalization::minimum},
                                                           {"max", Normalization::maximum}};
    for (const auto& [each, mean] : means)
        if (name == each) return mean;
    throw refused_option("average_method", name, "one of arithmetic, geometric, min, max");
}

template <class F>
double of_points(nb::handle points, std::uint64_t seed, int threads, F&& score_of) {
    Host host;
    Run run(seed, threads);
    host.attach(run);
    const Points rows = points_of(points);
    const double out = host.work([&] { return score_of(rows.view(), run); });
    run.throw_if_stopped("score");
    return out;
}

}  // namespace

nb::dict dict_of(const Scores& scores) {
    nb::dict out;
    out["accuracy"] = scores.acc;
    out["normalized_mutual_information"] = scores.nmi;
    out["adjusted_rand_index"] = scores.ari;
    out["purity"] = scores.purity;
    out["homogeneity"] = scores.homogeneity;
    out["completeness"] = scores.completeness;
    return out;
}

void add_scores(nb::module_& module) {
    using namespace nb::literals;
    const auto of_labels = [&module](const char* name, double (*f)(LabelSpan, LabelSpan)) {
        module.def(
            name, [f](const Labels1& labels, const Labels1& truth) { return f(span_of(labels), span_of(truth)); },
            "labels"_a, "truth"_a);
    };
    of_labels("accuracy", &accuracy);
    of_labels("adjusted_rand_index", &adjusted_rand_index);
    of_labels("purity", &purity);
    of_labels("homogeneity", &homogeneity);
    of_labels("completeness", &completeness);
    of_labels("prediction_strength", &prediction_strength);
    module.def(
        "scores",
        [](const Labels1& labels, const Labels1& truth) { return dict_of(score(span_of(labels), span_of(truth))); },
        "labels"_a, "truth"_a);
    module.def(
        "normalized_mutual_information",
        [](const Labels1& labels, const Labels1& truth, const std::string& mean) {
            return normalized_mutual_information(span_of(labels), span_of(truth), mean_named(mean));
        },
        "labels"_a, "truth"_a, "mean"_a);
    module.def(
        "aligned_labels",
        [](const Labels1& labels, const Labels1& truth) {
            return owned_array(aligned_labels(span_of(labels), span_of(truth)));
        },
        "labels"_a, "truth"_a);
    module.def(
        "confusion_table",
        [](const Labels1& labels, const Labels1& truth) {
            return tuple_of(confusion_table(span_of(labels), span_of(truth)));
        },
        "labels"_a, "truth"_a);
    module.def(
        "silhouette",
        [](nb::handle points, const Labels1& labels, std::int64_t sample, std::uint64_t seed, int threads) {
            return of_points(points, seed, threads, [&](PointsView rows, const Run& run) {
                return silhouette(rows, span_of(labels), run, sample);
            });
        },
        "points"_a, "labels"_a, "sample"_a, "seed"_a, "threads"_a);
    const auto of_partition = [&module](const char* name, double (*f)(PointsView, LabelSpan, const Run&)) {
        module.def(
            name,
            [f](nb::handle points, const Labels1& labels, int threads) {
                return of_points(points, 0, threads,
                                 [&](PointsView rows, const Run& run) { return f(rows, span_of(labels), run); });
            },
            "points"_a, "labels"_a, "threads"_a);
    };
    of_partition("scatter_ratio", &scatter_ratio);
    of_partition("calinski_harabasz", &calinski_harabasz);
    of_partition("davies_bouldin", &davies_bouldin);
    of_partition("spherical_mixture_bic", &spherical_mixture_bic);
}

}  // namespace coterie::python
