// The fits label all rows, so every pair of rows is compared in all R fits. The linkage stores for each row its nearest
// later row (Anderberg 1973), and searches again only if a merge changed it.

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
#include "coterie/base/text.hpp"
#include "coterie/model/result_warnings.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/left_out.hpp"
#include "coterie/pipeline/prepared_problem.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "coterie/selection/internal/many_fits.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

constexpr Index most_rows_of_matrix = 3000;
constexpr double share_of_a_fit = 0.8;

Labels labels_of_fit(const Method& method, int clusters, const PreparedProblem& prepared,
                     const std::vector<Index>& sample, Index part, const Run& run, std::vector<Message>& warnings) {
    RandomStream random = run.random("selection.part");
    std::vector<Index> rows;
    for (const Index i : sample_rows(static_cast<Index>(sample.size()), part, random)) rows.push_back(sample[at(i)]);
    Problem problem{.points = rows_of(prepared.problem.points, rows)};
    for (const Index row : rows) problem.row_numbers.push_back(internal::number_among_all(row, prepared.left_out));
    OptionValues values;
    if (takes_clusters(method)) values["clusters"] = std::int64_t{clusters};
    const auto model = method.fit(problem, values, run);
    if (model->fit_report().stopped == StopReason::interrupted) throw Cancelled::during("a fit of the consensus");
    warnings = model->fit_report().warnings;
    return model->predict(prepared.problem.points, run);
}

// Fits of different rows give the same warning with different numbers. Each kind of warning is shown once, with the
// numbers of the first fit that gave it and the number of fits that gave it.
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
        warning.context = filled("{} of {}{}", count, fits.size(), count == 1 ? " fits warns" : " fits warn");
        out.push_back(std::move(warning));
    }
    return out;
}

// The number of rows of S with a label of one fit and in a cluster: label x cluster. Noise (-1) is not counted.
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
                     "number of fits, each on a random 80 % of the rows; similarities are multiples of 1 / `fits`");
    return set;
}

Labels average_linkage(Matrix<double> distances, int clusters) {
    const Index n = distances.rows();
    if (distances.cols() != n || clusters < 1 || clusters > n)
        throw BadArgument(Code::wrong_shape, filled("average linkage cannot make {} from distances of {} x {}",
                                                    counted(clusters, "cluster"), n, distances.cols()));
    Matrix<double>& d = distances;
    std::vector<double> size(at(n), 1.0);
    std::vector<Index> active(at(n)), nearest(at(n), -1);
    std::iota(active.begin(), active.end(), Index{0});
    std::vector<Index> root = active;
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

namespace {

std::vector<const Method*> methods_of(const ConsensusOptions& options) {
    check_options(options);
    if (options.methods.empty())
        throw BadArgument(Code::missing_argument, "no method is named", "Name at least one method",
                          {.option = "methods"});
    std::vector<const Method*> out;
    for (const auto& name : options.methods) out.push_back(&find_method(name));
    return out;
}

// All fits, and the rows S for which they are compared.
class ConsensusFits {
public:
    ConsensusFits(const PreparedProblem& prepared, const ConsensusOptions& options, const Run& run)
        : prepared_(prepared), options_(options), run_(run), n_(prepared.problem.rows()), k_(options.clusters) {
        if (k_ > n_) throw refused_option("clusters", std::int64_t{k_}, filled("at most the number of rows, {}", n_));
        RandomStream random = run.random("selection.sample");
        sample_ = sample_rows(n_, most_rows_of_matrix, random);
        const auto size = static_cast<Index>(sample_.size());
        if (k_ > size)
            throw refused_option("clusters", std::int64_t{k_}, filled("at most {} for this many rows", size));
        require_memory(internal::double_product(8, size, size) + internal::double_product(4, n_, options.fits),
                       filled("a consensus of {} fits", options.fits));
        part_ = std::clamp(static_cast<Index>(std::ceil(share_of_a_fit * static_cast<double>(size))), k_, size);
    }

    const std::vector<Index>& sample() const { return sample_; }
    Index part() const { return part_; }

    std::vector<Message> fit(const std::vector<const Method*>& methods) {
        of_fit_.resize(at(options_.fits));
        std::vector<std::vector<Message>> warnings(of_fit_.size());
        const auto fit_r = [&](Index r, const Run& own) {
            of_fit_[at(r)] = labels_of_fit(*methods[at(r) % methods.size()], options_.clusters, prepared_, sample_,
                                           part_, own, warnings[at(r)]);
        };
        const Stage stage{.name = "fits", .begin = 0, .end = 0.8};
        const bool network = std::ranges::any_of(methods, [](const Method* method) { return method->takes.device; });
        if (network) {  // LibTorch has its own threads
            for (Index r = 0; r < options_.fits; ++r) {
                run_.throw_if_stopped(stage.name);
                fit_r(r, run_.child("selection.consensus", static_cast<std::uint64_t>(r)));
                run_.report({.stage = stage.name, .fraction = 0.8 * static_cast<double>(r + 1) / options_.fits});
            }
        } else {
            for_each_block(options_.fits, run_, stage, [&](Index r, int) {
                fit_r(r, selection::internal::part_of(run_, "selection.consensus", r));
            });
        }
        return merged(warnings);
    }

    // 1 - c_ij over S.
    Matrix<double> distances() const {
        const auto size = static_cast<Index>(sample_.size());
        Matrix<double> out(size, size);
        for_each_block(size, run_, {.name = "co-association", .begin = 0.8, .end = 0.9}, [&](Index i, int) {
            for (Index j = 0; j < size; ++j) {
                int together = 0;
                for (const Labels& labels : of_fit_)
                    together +=
                        labels[at(sample_[at(i)])] >= 0 && labels[at(sample_[at(i)])] == labels[at(sample_[at(j)])];
                out(i, j) = i == j ? 0.0 : 1.0 - static_cast<double>(together) / options_.fits;
            }
        });
        return out;
    }

    // Labels and confidence of all rows, from c_iC. `clusters`: labels of S; `members`: the rows of S in each cluster.
    void label_all(const Labels& clusters, const std::vector<double>& members, Labels& labels,
                   std::vector<double>& confidence) const {
        std::vector<Matrix<double>> counts;
        for (const Labels& of : of_fit_) counts.push_back(counts_of(of, sample_, clusters, k_));
        std::vector<std::int32_t> own_cluster(at(n_), -1);
        for (std::size_t s = 0; s < sample_.size(); ++s) own_cluster[at(sample_[s])] = clusters[s];
        labels.resize(at(n_));
        confidence.resize(at(n_));
        const RowBlocks blocks{n_, 1024};
        for_each_block(blocks.count(), run_, {.name = "confidence", .begin = 0.9, .end = 1.0}, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const std::int32_t own = own_cluster[at(i)];
                const Vector<double> mean = mean_of_row(i, own, counts, members);
                Index best = own;
                if (own < 0) mean.maxCoeff(&best);
                double next = 0.0;
                for (Index c = 0; c < k_; ++c)
                    if (c != best) next = std::max(next, mean[c]);
                labels[at(i)] = static_cast<std::int32_t>(best);
                confidence[at(i)] = mean[best] - next;
            }
        });
    }

private:
    // c_iC of a row for each cluster; for its own cluster, without the row itself.
    Vector<double> mean_of_row(Index i, std::int32_t own, const std::vector<Matrix<double>>& counts,
                               const std::vector<double>& members) const {
        Vector<double> mean = Vector<double>::Zero(k_);
        for (std::size_t r = 0; r < of_fit_.size(); ++r)
            if (of_fit_[r][at(i)] >= 0) mean += counts[r].row(of_fit_[r][at(i)]).transpose();
        mean /= static_cast<double>(options_.fits);  // the sum of c_ij over each cluster; divided by its size below
        for (Index c = 0; c < k_; ++c) {
            if (c != own) {
                mean[c] /= members[at(c)];
                continue;
            }
            int itself = 0;
            for (const Labels& of : of_fit_) itself += of[at(i)] >= 0;
            mean[c] = members[at(c)] > 1.0
                          ? (mean[c] - static_cast<double>(itself) / options_.fits) / (members[at(c)] - 1.0)
                          : 1.0;
        }
        return mean;
    }

    const PreparedProblem& prepared_;
    const ConsensusOptions& options_;
    const Run& run_;
    Index n_, k_;
    std::vector<Index> sample_;
    Index part_ = 0;
    std::vector<Labels> of_fit_;
};

// The mean c_ij within each cluster of S.
std::vector<double> cohesion_of(const Matrix<double>& distance, const Labels& clusters,
                                const std::vector<double>& members) {
    std::vector<double> out(members.size(), 0.0);
    for (Index i = 0; i < distance.rows(); ++i)
        for (Index j = 0; j < i; ++j)
            if (clusters[at(i)] == clusters[at(j)]) out[at(clusters[at(i)])] += 1.0 - distance(i, j);
    for (std::size_t c = 0; c < members.size(); ++c)
        out[c] = members[c] > 1.0 ? out[c] / (0.5 * members[c] * (members[c] - 1.0)) : 1.0;
    return out;
}

}  // namespace

Consensus consensus(const Problem& problem, const ConsensusOptions& options, const Settings& settings, const Run& run) {
    Stopwatch watch;
    const std::vector<const Method*> methods = methods_of(options);
    selection::internal::require_points_alone("a consensus", problem, run);
    const PreparedProblem prepared = PreparedProblem::of(problem, settings, run);
    if (!prepared.problem.points.resident())
        throw BadArgument(Code::not_supported, "a consensus needs rows in memory, but these are read in blocks", "",
                          {.option = "points"});
    check_points(prepared.problem.points, points_of_fit(), run);
    ConsensusFits fits(prepared, options, run);
    const auto size = static_cast<Index>(fits.sample().size());

    Consensus out;
    out.methods = options.methods;
    out.fits = options.fits;
    out.warnings = prepared.warnings;
    out.part = fits.part();
    if (size < prepared.problem.rows()) out.sample = size;
    for (Message& warning : fits.fit(methods)) out.warnings.push_back(std::move(warning));
    const Matrix<double> distance = fits.distances();
    run.throw_if_stopped("linkage");
    const Labels clusters = average_linkage(distance, options.clusters);
    std::vector<double> members(at(options.clusters), 0.0);
    for (const auto cluster : clusters) members[at(cluster)] += 1.0;
    out.cohesion = cohesion_of(distance, clusters, members);
    Labels labels;
    std::vector<double> confidence;
    fits.label_all(clusters, members, labels, confidence);

    out.sizes = cluster_sizes(labels, options.clusters);
    for (Message& warning : internal::size_warnings(out.sizes, prepared.problem))
        out.warnings.push_back(std::move(warning));
    out.confidence_of_cluster.assign(at(options.clusters), 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i)
        out.confidence_of_cluster[at(labels[i])] += confidence[i] / static_cast<double>(out.sizes[at(labels[i])]);
    out.rows_left_out = static_cast<Index>(prepared.left_out.size());
    out.labels.assign(at(prepared.all_rows()), -1);
    out.confidence.assign(at(prepared.all_rows()), 0.0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const Index row = internal::number_among_all(static_cast<Index>(i), prepared.left_out);
        out.labels[at(row)] = labels[i];
        out.confidence[at(row)] = confidence[i];
    }
    out.seconds = watch.seconds();
    return out;
}

}  // namespace coterie
