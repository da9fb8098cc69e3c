// The mean of a label's points is the usual estimate of few-shot learning. Ward's method divides the points of a label
// with several clusters, because it draws no random numbers and uses every labelled point.

#include "coterie/kmeans/starting_prototypes.hpp"

#include <vector>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/kmeans/ward.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie::internal {
namespace {

// Greedy k-means++ in addition to the existing centroids, if any.
Matrix<double> free_prototypes(PointsView points, int count, const Constraints& constraints,
                               const Matrix<double>& existing, std::span<const double> weights,
                               std::uint64_t repetition, const Run& run) {
    // Labelled points cannot join a free cluster, so they have weight 0 here, unless fewer than `count` other points
    // remain.
    std::vector<double> own(at(points.rows()));
    Index usable = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
        own[i] = constraints.label(static_cast<Index>(i)) >= 0 ? 0.0 : weights.empty() ? 1.0 : weights[i];
        usable += own[i] > 0 ? 1 : 0;
    }
    const SeedingOptions options{.seeding = Seeding::kmeans_plus_plus};
    return points.with_scalar([&]<class T>() {
        const Matrix<T> there = existing.cast<T>();
        return to_matrix<double>(seed_centroids(points, count, options, usable < count ? weights : own, repetition, run,
                                                there.rows() > 0 ? PointsView(there) : PointsView())
                                     .centroids);
    });
}

}  // namespace

Matrix<double> starting_prototypes(PointsView points, const Constraints& constraints, std::span<const double> weights,
                                   const Run& run, std::uint64_t repetition) {
    Matrix<double> out = Matrix<double>::Zero(constraints.clusters(), points.columns());
    std::vector<std::vector<Index>> members(constraints.names.size());
    for (Index i = 0; i < points.rows(); ++i) {
        const std::int32_t label = constraints.label(i);
        if (label >= 0 && (weights.empty() || weights[at(i)] > 0)) members[at(label)].push_back(i);
    }
    const Run alone = run.alone();
    for (std::size_t label = 0; label < members.size(); ++label) {
        const std::pair<int, int> clusters = constraints.clusters_of(static_cast<std::int32_t>(label));
        const int begin = clusters.first;
        const int own = clusters.second - begin;
        const auto& rows_of_label = members[label];
        if (static_cast<int>(rows_of_label.size()) < own)
            throw BadData(Code::too_few_rows,
                          filled("label '{}' has only {}{} for {}", constraints.names[label],
                                 counted(static_cast<Index>(rows_of_label.size()), "labelled row"),
                                 weights.empty() ? "" : " with a weight above 0", counted(own, "cluster")),
                          "Label at least one row per cluster, or give the label fewer clusters",
                          {.option = "clusters_per_label", .value = constraints.names[label]});
        const auto own_points = to_matrix<double>(gather_rows(points, rows_of_label, run));
        std::vector<double> own_weights;
        if (!weights.empty())
            for (const Index i : rows_of_label) own_weights.push_back(weights[at(i)]);
        together(run.communicator(), [&] {
            if (own == 1) {
                out.row(begin) = mean(own_points, alone, own_weights).transpose();
                return;
            }
            const Dendrogram dendrogram = ward_linkage(own_points, own_weights, alone);
            out.middleRows(begin, own) =
                to_matrix<double>(cluster_means(own_points, cut(dendrogram, own), own, own_weights, alone));
        });
    }
    const auto [free_begin, free_end] = constraints.clusters_of(-1);
    if (free_begin < free_end)
        out.middleRows(free_begin, free_end - free_begin) = free_prototypes(
            points, free_end - free_begin, constraints, out.topRows(free_begin), weights, repetition, run);
    return out;
}

}  // namespace coterie::internal
