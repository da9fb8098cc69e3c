// The fits label all rows, so every pair is counted R times and has evidence. The linkage stores for each row its
// nearest later row (Anderberg 1973) and searches again only where a merge changed it.

#include "coterie/selection/consensus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/sample.hpp"
#include "coterie/base/text.hpp"
#include "coterie/model/result_warnings.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/left_out.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "coterie/selection/prepared_points.hpp"

namespace coterie {
namespace {

constexpr Index most_rows_of_matrix = 3000;
constexpr double share_of_a_fit = 0.8;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Labels labels_of_fit(const Method& method, const ConsensusOptions& options, const internal::PreparedPoints& prepared,
                     const std::vector<Index>& sample, Index part, const Run& run, std::vector<Message>& warnings) {
    RandomStream random = run.random("selection.part");
    std::vector<Index> rows;
    for (const Index i : sample_rows(static_cast<Index>(sample.size()), part, random)) rows.push_back(sample[at(i)]);
    Problem problem{.points = rows_of(prepared.points, rows)};
    for (const Index row : rows) problem.row_numbers.push_back(internal::number_among_all(row, prepared.left_out));
    OptionValues values;
    if (takes_clusters(method)) values["clusters"] = std::int64_t{options.clusters};
    const auto model = method.fit(problem, values, run);
    if (model->fit_report().stopped == StopReason::interrupted) throw Cancelled::during("a fit of the consensus");
    warnings = model->fit_report().warnings;
    return model->predict(prepared.points, run);
}

// Fits of different rows give the same warning with different numbers. Each kind is shown once, with the numbers of the
// first fit that gave it and the number of fits that did.
std::vector<Message> merged(const std::vector<std::vector<Message>>& fits) {
    std::vector<std::pair<Message, std::size_t>> kinds;
    for (const auto& warnings : fits) {
        std::set<std::pair<Code, std::string>> of_this;
        for (const Message& warning : warnings) {
            if (!of_this.emplace(warning.code, warning.option).second) continue;
            auto place = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) {
                return each.first.code == warning.code && each.first.option == warning.option;
            });
            if (place == kinds.end()) place = kinds.insert(kinds.end(), {warning, 0});
            ++place->second;
        }
    }
    std::vector<Message> out;
    for (auto& [warning, count] : kinds) {
        warning.context =
            std::to_string(count) + " of " + std::to_string(fits.size()) + (count == 1 ? " fits warns" : " fits warn");
        out.push_back(std::move(warning));
    }
    return out;
}

// How many rows of each cluster of S have each label of one fit: label x cluster. Noise (-1) is not counted.
Matrix<double> counts_of(const Labels& of_fit, const std::vector<Index>& sample, const Labels& clusters, Index k) {
    const std::int32_t highest = *std::max_element(of_fit.begin(), of_fit.end());
    Matrix<double> out = Matrix<double>::Zero(std::max<Index>(highest, 0) + 1, k);
    for (std::size_t s = 0; s < sample.size(); ++s)
        if (of_fit[at(sample[s])] >= 0) out(of_fit[at(sample[s])], clusters[s]) += 1.0;
    return out;
}

}  // namespace

const OptionSet& ConsensusOptions::described() {
    static const OptionSet set =
        OptionSetFor<ConsensusOptions>()
            .integer("clusters", &ConsensusOptions::clusters, at_least(1),
                     "number of clusters k of every fit and of the consensus")
            .letter('k')
            .integer("fits", &ConsensusOptions::fits, between(2, 10000),
                     "number of fits, each on a random 80 % of the rows; confidences are multiples of 1 / `fits`");
    return set;
}

Labels average_linkage(Matrix<double> distances, int clusters) {
    const Index n = distances.rows();
    if (distances.cols() != n || clusters < 1 || clusters > n)
        throw BadArgument({.code = Code::wrong_shape,
                           .problem = "average linkage cannot make " + counted(clusters, "cluster") +
                                      " from distances of " + std::to_string(n) + " x " +
                                      std::to_string(distances.cols())});
    Matrix<double>& d = distances;
    std::vector<double> size(at(n), 1.0);
    std::vector<Index> active(at(n)), root(at(n)), nearest(at(n), -1);
    std::iota(active.begin(), active.end(), Index{0});
    std::iota(root.begin(), root.end(), Index{0});
    const auto find_nearest = [&](Index i) {
        nearest[at(i)] = -1;
        for (auto j = std::upper_bound(active.begin(), active.end(), i); j != active.end(); ++j)
            if (nearest[at(i)] < 0 || d(i, *j) < d(i, nearest[at(i)])) nearest[at(i)] = *j;
    };
    for (Index i = 0; i < n; ++i) find_nearest(i);
    while (static_cast<int>(active.size()) > clusters) {
        Index a = -1;
        for (const Index i : active)
            if (nearest[at(i)] >= 0 && (a < 0 || d(i, nearest[at(i)]) < d(a, nearest[at(a)]))) a = i;
        const Index b = nearest[at(a)];
        for (const Index c : active) {
            if (c == a || c == b) continue;
            d(a, c) = d(c, a) = (size[at(a)] * d(a, c) + size[at(b)] * d(b, c)) / (size[at(a)] + size[at(b)]);
        }
        size[at(a)] += size[at(b)];
        root[at(b)] = a;
        active.erase(std::lower_bound(active.begin(), active.end(), b));
        for (const Index i : active) {
            if (i > b) break;  // later rows look only at rows after them
            if (i == a || nearest[at(i)] == a || nearest[at(i)] == b) {
                find_nearest(i);
            } else if (i < a &&
                       (d(i, a) < d(i, nearest[at(i)]) || (d(i, a) == d(i, nearest[at(i)]) && a < nearest[at(i)]))) {
                nearest[at(i)] = a;
            }
        }
    }
    Labels labels(at(n));
    std::vector<std::int32_t> number(at(n), -1);
    std::int32_t next = 0;
    for (Index i = 0; i < n; ++i) {
        Index top = i;
        while (root[at(top)] != top) top = root[at(top)];
        if (number[at(top)] < 0) number[at(top)] = next++;
        labels[at(i)] = number[at(top)];
    }
    return labels;
}

Consensus consensus(const Problem& problem, const ConsensusOptions& options, const Run& run) {
    Stopwatch watch;
    check_options(options);
    if (options.methods.empty())
        throw BadArgument({.code = Code::missing_argument,
                           .problem = "no method is named",
                           .remedy = "Name at least one method",
                           .option = "methods"});
    std::vector<const Method*> chosen;
    bool network = false;
    for (const auto& name : options.methods) {
        chosen.push_back(&find_method(name));
        network = network || chosen.back()->takes.device;
    }
    internal::require_points_alone("a consensus", problem, run);
    const internal::PreparedPoints prepared =
        internal::prepared_points(problem, options.preparation, options.columns, run);
    const Points& points = prepared.points;
    if (!points.resident())
        throw BadArgument({.code = Code::not_supported,
                           .problem = "a consensus needs rows in memory, but these are read in blocks",
                           .option = "points"});
    check_points(points, points_of_fit(), run);
    const Index n = points.rows();
    const Index k = options.clusters;
    if (k > n) throw refused_option("clusters", std::int64_t{k}, "at most the number of rows, " + std::to_string(n));
    RandomStream random = run.random("selection.sample");
    const std::vector<Index> sample = sample_rows(n, most_rows_of_matrix, random);
    const auto size = static_cast<Index>(sample.size());
    if (k > size)
        throw refused_option("clusters", std::int64_t{k}, "at most " + std::to_string(size) + " for this many rows");
    require_memory(
        8.0 * static_cast<double>(size) * static_cast<double>(size) + 4.0 * static_cast<double>(n) * options.fits,
        "a consensus of " + std::to_string(options.fits) + " fits");

    Consensus out;
    out.methods = options.methods;
    out.fits = options.fits;
    out.warnings = prepared.warnings;
    out.part = std::clamp(static_cast<Index>(std::ceil(share_of_a_fit * static_cast<double>(size))), k, size);
    if (size < n) out.sample = size;

    std::vector<Labels> of_fit(static_cast<std::size_t>(options.fits));
    std::vector<std::vector<Message>> warnings(of_fit.size());
    const auto fit = [&](Index r, const Run& own) {
        of_fit[at(r)] =
            labels_of_fit(*chosen[at(r) % chosen.size()], options, prepared, sample, out.part, own, warnings[at(r)]);
    };
    const Stage stage{.name = "fits", .begin = 0, .end = 0.8};
    if (network) {  // LibTorch has its own threads
        for (Index r = 0; r < options.fits; ++r) {
            run.throw_if_stopped(stage.name);
            Run own = run.child("selection.consensus", static_cast<std::uint64_t>(r));
            fit(r, own);
            run.report({.stage = stage.name, .fraction = 0.8 * static_cast<double>(r + 1) / options.fits});
        }
    } else {
        for_each_block(options.fits, run, stage,
                       [&](Index r, int) { fit(r, internal::part_of(run, "selection.consensus", r)); });
    }

    for (Message& warning : merged(warnings)) out.warnings.push_back(std::move(warning));

    Matrix<double> distance(size, size);
    for_each_block(size, run, {.name = "co-association", .begin = 0.8, .end = 0.9}, [&](Index i, int) {
        for (Index j = 0; j < size; ++j) {
            int together = 0;
            for (const Labels& labels : of_fit)
                together += labels[at(sample[at(i)])] >= 0 && labels[at(sample[at(i)])] == labels[at(sample[at(j)])];
            distance(i, j) = i == j ? 0.0 : 1.0 - static_cast<double>(together) / options.fits;
        }
    });
    run.throw_if_stopped("linkage");
    const Labels clusters = average_linkage(distance, options.clusters);

    std::vector<double> members(at(k), 0.0);
    for (const auto cluster : clusters) members[at(cluster)] += 1.0;
    out.cohesion.assign(at(k), 0.0);
    for (Index i = 0; i < size; ++i)
        for (Index j = 0; j < i; ++j)
            if (clusters[at(i)] == clusters[at(j)]) out.cohesion[at(clusters[at(i)])] += 1.0 - distance(i, j);
    for (std::size_t c = 0; c < at(k); ++c)
        out.cohesion[c] = members[c] > 1.0 ? out.cohesion[c] / (0.5 * members[c] * (members[c] - 1.0)) : 1.0;

    // c_iC for all rows.
    std::vector<Matrix<double>> counts;
    for (const Labels& labels : of_fit) counts.push_back(counts_of(labels, sample, clusters, k));
    std::vector<std::int32_t> own_cluster(at(n), -1);
    for (std::size_t s = 0; s < sample.size(); ++s) own_cluster[at(sample[s])] = clusters[s];
    Labels labels(at(n));
    std::vector<double> confidence(at(n));
    const RowBlocks blocks{n, 1024};
    for_each_block(blocks.count(), run, {.name = "confidence", .begin = 0.9, .end = 1.0}, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            Vector<double> mean = Vector<double>::Zero(k);
            for (std::size_t r = 0; r < of_fit.size(); ++r)
                if (of_fit[r][at(i)] >= 0) mean += counts[r].row(of_fit[r][at(i)]).transpose();
            mean /= static_cast<double>(options.fits);  // the sum of c_ij over each cluster; divided by its size below
            const std::int32_t own = own_cluster[at(i)];
            for (Index c = 0; c < k; ++c) {
                if (c != own) {
                    mean[c] /= members[at(c)];
                } else {
                    int itself = 0;
                    for (const Labels& of : of_fit) itself += of[at(i)] >= 0;
                    mean[c] = members[at(c)] > 1.0
                                  ? (mean[c] - static_cast<double>(itself) / options.fits) / (members[at(c)] - 1.0)
                                  : 1.0;
                }
            }
            Index best = own;
            if (own < 0) mean.maxCoeff(&best);
            double next = 0.0;
            for (Index c = 0; c < k; ++c)
                if (c != best) next = std::max(next, mean[c]);
            labels[at(i)] = static_cast<std::int32_t>(best);
            confidence[at(i)] = mean[best] - next;
        }
    });

    out.sizes = cluster_sizes(labels, options.clusters);
    for (Message& warning : internal::size_warnings(out.sizes, problem)) out.warnings.push_back(std::move(warning));
    out.confidence_of_cluster.assign(at(k), 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i)
        out.confidence_of_cluster[at(labels[i])] += confidence[i] / static_cast<double>(out.sizes[at(labels[i])]);
    out.rows_left_out = static_cast<Index>(prepared.left_out.size());
    out.labels.assign(at(problem.rows()), -1);
    out.confidence.assign(at(problem.rows()), 0.0);
    for (Index i = 0; i < n; ++i) {
        const Index row = internal::number_among_all(i, prepared.left_out);
        out.labels[at(row)] = labels[at(i)];
        out.confidence[at(row)] = confidence[at(i)];
    }
    out.seconds = watch.seconds();
    return out;
}

}  // namespace coterie
