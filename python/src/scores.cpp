// Scores of labels (coterie/metrics/metrics.hpp).

#include "core.hpp"

#include "coterie/metrics/criteria.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie::python {
namespace {

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
    Host host(seed, threads);
    const Points rows = points_of(points);
    const double out = host.work([&](const Run& run) { return score_of(rows.view(), run); });
    host.run.throw_if_stopped("score");
    return out;
}

}  // namespace

nb::dict dict_of(const Scores& scores) {
    return dict_with({{"accuracy", scores.acc},
                      {"normalized_mutual_information", scores.nmi},
                      {"adjusted_rand_index", scores.ari},
                      {"purity", scores.purity},
                      {"homogeneity", scores.homogeneity},
                      {"completeness", scores.completeness}});
}

void add_scores(nb::module_& module) {
    const auto of_labels = [&module](const char* name, double (*f)(LabelSpan, LabelSpan)) {
        module.def(name,
                   [f](const Labels1& labels, const Labels1& truth) { return f(span_of(labels), span_of(truth)); });
    };
    of_labels("accuracy", &accuracy);
    of_labels("adjusted_rand_index", &adjusted_rand_index);
    of_labels("purity", &purity);
    of_labels("homogeneity", &homogeneity);
    of_labels("completeness", &completeness);
    of_labels("prediction_strength", &prediction_strength);
    module.def("scores", [](const Labels1& labels, const Labels1& truth) {
        return dict_of(score(span_of(labels), span_of(truth)));
    });
    module.def("normalized_mutual_information",
               [](const Labels1& labels, const Labels1& truth, const std::string& mean) {
                   return normalized_mutual_information(span_of(labels), span_of(truth), mean_named(mean));
               });
    module.def("aligned_labels", [](const Labels1& labels, const Labels1& truth) {
        return owned_array(aligned_labels(span_of(labels), span_of(truth)));
    });
    module.def("confusion_table", [](const Labels1& labels, const Labels1& truth) {
        ContingencyTable table = confusion_table(span_of(labels), span_of(truth));
        return nb::make_tuple(owned_array(std::move(table.classes)), owned_array(std::move(table.clusters)),
                              owned_array(std::move(table.counts)));
    });
    module.def("silhouette",
               [](nb::handle points, const Labels1& labels, std::int64_t sample, std::uint64_t seed, int threads) {
                   return of_points(points, seed, threads, [&](PointsView rows, const Run& run) {
                       return silhouette(rows, span_of(labels), run, sample);
                   });
               });
    const auto of_partition = [&module](const char* name, double (*f)(PointsView, LabelSpan, const Run&)) {
        module.def(name, [f](nb::handle points, const Labels1& labels, int threads) {
            return of_points(points, 0, threads,
                             [&](PointsView rows, const Run& run) { return f(rows, span_of(labels), run); });
        });
    };
    of_partition("scatter_ratio", &scatter_ratio);
    of_partition("calinski_harabasz", &calinski_harabasz);
    of_partition("davies_bouldin", &davies_bouldin);
    of_partition("spherical_mixture_bic", &spherical_mixture_bic);
}

}  // namespace coterie::python
