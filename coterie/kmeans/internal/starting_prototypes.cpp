// Labels with one cluster start from the mean of their points: the estimate of few-shot learning. A label with several
// is cut by Ward's agglomeration, which draws no random number and sees every one of the few labelled points; what is
// left to chance are clusters without a label, seeded by greedy k-means++ beside those that are there.

#include "coterie/kmeans/internal/starting_prototypes.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "coterie/kmeans/ward.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie::internal {
namespace {

// Draws clusters one by one with probability proportional to the squared distance from the prototypes there are, the
// best of several candidates each time.
void draw_free_prototypes(PointsView points, const Constraints& constraints, Matrix<double>& prototypes, Index from,
                          std::span<const double> weights, RandomStream random, const Run& run) {
    const auto squared_to = [&](const Matrix<double>& centroids) {
        return points.visit([&]<class T>(const Rows<T>& rows) {
            const Matrix<T> own = centroids.cast<T>();
            return nearest_centroids(rows, own, run.threads, NearestWants::distances).squared;
        });
    };
    // Labelled points cannot come to a free cluster: they count for nothing here.
    const auto weight = [&](std::size_t i) {
        return constraints.label(static_cast<Index>(i)) >= 0 ? 0.0 : weights.empty() ? 1.0 : weights[i];
    };
    std::vector<double> closest;
    if (from > 0) {
        closest = squared_to(prototypes.topRows(from));
    } else {
        closest.assign(at(points.rows()), 1.0);
    }
    const int candidates = 2 + static_cast<int>(2 * std::log(static_cast<double>(prototypes.rows())));
    for (Index j = from; j < prototypes.rows(); ++j) {
        run.throw_if_stopped("seeding");
        double total = 0;
        for (std::size_t i = 0; i < closest.size(); ++i) total += weight(i) * closest[i];
        double best_total = std::numeric_limits<double>::infinity();
        std::vector<double> best;
        for (int candidate = 0; candidate < candidates; ++candidate) {
            double left = random.uniform() * total;
            std::size_t drawn = 0;
            for (std::size_t i = 0; i < closest.size(); ++i) {
                const double share = weight(i) * closest[i];
                if (share <= 0) continue;
                drawn = i;
                if (left < share) break;
                left -= share;
            }
            Matrix<double> row(1, points.columns());
            points.visit([&](const auto& rows) {
                for (Index p = 0; p < rows.columns; ++p)
                    row(0, p) = static_cast<double>(rows.row(static_cast<Index>(drawn))[p]);
            });
            std::vector<double> now = squared_to(row);
            double now_total = 0;
            for (std::size_t i = 0; i < now.size(); ++i) {
                if (j > 0) now[i] = std::min(now[i], closest[i]);
                now_total += weight(i) * now[i];
            }
            if (now_total < best_total) {
                best_total = now_total;
                best = std::move(now);
                prototypes.row(j) = row;
            }
        }
        closest = std::move(best);
    }
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
    for (std::size_t label = 0; label < members.size(); ++label) {
        const auto [begin, end] = constraints.clusters_of(static_cast<std::int32_t>(label));
        const int own = end - begin;
        const auto& rows_of_label = members[label];
        if (static_cast<int>(rows_of_label.size()) < own)
            throw BadData(
                "partial labels: label '" + constraints.names[label] + "' has " + std::to_string(rows_of_label.size()) +
                    " labelled points" + (weights.empty() ? "" : " of a weight above 0") + " and " +
                    std::to_string(own) + (own == 1 ? " cluster" : " clusters") +
                    "; at least one point per cluster is needed (`clusters_per_label` says how many clusters)",
                {.option = "clusters_per_label", .value = constraints.names[label]});
        Matrix<double> own_points(static_cast<Index>(rows_of_label.size()), points.columns());
        std::vector<double> own_weights;
        points.visit([&](const auto& rows) {
            for (std::size_t r = 0; r < rows_of_label.size(); ++r)
                for (Index p = 0; p < rows.columns; ++p)
                    own_points(static_cast<Index>(r), p) = static_cast<double>(rows.row(rows_of_label[r])[p]);
        });
        if (!weights.empty())
            for (const Index i : rows_of_label) own_weights.push_back(weights[at(i)]);
        if (own == 1) {
            out.row(begin) = mean(own_points, run, own_weights).transpose();
            continue;
        }
        const Dendrogram dendrogram = ward_linkage(own_points, own_weights, run);
        out.middleRows(begin, own) =
            to_matrix<double>(cluster_means(own_points, cut(dendrogram, own), own, own_weights, run));
    }
    const auto [free_begin, free_end] = constraints.clusters_of(-1);
    if (free_begin < free_end)
        draw_free_prototypes(points, constraints, out, free_begin, weights, run.random("free prototypes", repetition),
                             run);
    return out;
}

}  // namespace coterie::internal
