// EM for a mixture of spherical Gaussians of equal weight; their variance in each column is half the temperature.
// Memberships are a softmax of distances minus the smallest distance, so no exponential overflows and at least one is
// not 0. One pass computes sums, masses and the free energy, which never rises. All values per row are double.

#include "coterie/kmeans/soft_kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/linalg/row_products.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {
namespace {

using internal::at;

constexpr Index rows_at_once = 240;

// The contribution of a row to the free energy and to the distortion, sum_j A_ij D_ij.
struct Terms {
    double free_energy;
    double distortion;
};

// Replaces the distances of a row to the k centroids by its probabilities.
Terms soften(double* row, Index k, double temperature) {
    double least = std::numeric_limits<double>::infinity();
    for (Index j = 0; j < k; ++j) least = std::min(least, row[j]);
    // The nearest centroid's term is exp(0) = 1, so the sum neither vanishes nor overflows.
    double sum = 0, distortion = 0;
    for (Index j = 0; j < k; ++j) {
        const double above = row[j] - least;
        row[j] = std::exp(-above / temperature);
        distortion += row[j] * above;
        sum += row[j];
    }
    for (Index j = 0; j < k; ++j) row[j] /= sum;
    return {least - temperature * std::log(sum), least + distortion / sum};
}

// Probabilities of blocks of rows. Subtracting an origin keeps products small.
class Assigner {
public:
    Assigner(const Matrix<double>& centroids, const Vector<double>& origin, double temperature)
        : origin_(origin), temperature_(temperature), distances_(centroids.rowwise() - origin.transpose()) {}

    struct Scratch {
        Matrix<double> rows;  // centred
        Matrix<double> probabilities;
        std::vector<const double*> pointers;
        internal::RowProducts::Scratch panel;
    };

    /// s.probabilities(i - begin, j) = A_ij for rows begin..end-1. Calls on_row(i, Terms) for each row.
    template <class T, class OnRow>
    void operator()(const Rows<T>& points, Index begin, Index end, Scratch& s, OnRow&& on_row) const {
        internal::centred_rows(points, begin, end, origin_, s.rows);
        distances_(s.rows, s.probabilities, s.pointers, s.panel);
        const Index k = distances_.count();
        for (Index i = 0; i < end - begin; ++i)
            on_row(begin + i, soften(s.probabilities.data() + i * k, k, temperature_));
    }

private:
    Vector<double> origin_;
    double temperature_;
    internal::SquaredDistances distances_;
};

// The same for sparse rows, whose values are double.
class SparseAssigner {
public:
    SparseAssigner(const Matrix<double>& centroids, const Vector<double>& origin, double temperature)
        : centroids_(centroids),
          origin_(origin),
          origin_norm_(internal::squared_norm(origin.data(), origin.size())),
          temperature_(temperature) {
        panels_.pack({centroids_.data(), centroids_.rows(), centroids_.cols(), centroids_.cols()}, origin);
        for (Index j = 0; j < centroids_.rows(); ++j) {
            norms_.push_back(internal::squared_norm(centroids_.data() + j * centroids_.cols(), centroids_.cols()));
            centred_.push_back((centroids_.row(j).transpose() - origin).squaredNorm());
        }
    }

    /// For rows begin..end-1: writes A_i to row i - begin of `probabilities`, and the terms of row i to terms[i -
    /// begin].
    void operator()(const SparsePoints& points, Index begin, Index end, double* probabilities, Terms* terms) const {
        const Index k = centroids_.rows();
        std::vector<SparseRow<double>> rows;
        for (Index i = begin; i < end; ++i) rows.push_back(points.row<double>(i));
        std::vector<double> scores;
        for (const auto& panel : panels_.panels()) {
            const Index width = panels_.width(panel);
            scores.resize(rows.size() * at(width));
            panels_.scores(panel, rows.data(), end - begin, scores.data());
            for (std::size_t r = 0; r < rows.size(); ++r)
                std::copy_n(scores.data() + r * at(width), panel.centroids,
                            probabilities + static_cast<Index>(r) * k + panel.first);
        }
        for (std::size_t r = 0; r < rows.size(); ++r) {
            double* const row = probabilities + static_cast<Index>(r) * k;
            const double norm = internal::squared_distance(rows[r], origin_.data(), origin_norm_);
            for (Index j = 0; j < k; ++j) {
                const double squared = norm + 2 * row[j];
                // If the terms nearly cancel, a sum of differences is more accurate.
                row[j] =
                    squared > 1e-6 * (norm + centred_[at(j)])
                        ? squared
                        : internal::squared_distance(rows[r], centroids_.data() + j * centroids_.cols(), norms_[at(j)]);
            }
            terms[r] = soften(row, k, temperature_);
        }
    }

private:
    Matrix<double> centroids_;
    Vector<double> origin_;
    double origin_norm_;
    double temperature_;
    internal::CentroidPanels<double> panels_;
    std::vector<double> norms_;    // || c_j ||^2
    std::vector<double> centred_;  // || c_j - origin ||^2
};

// One pass over the points: sums of w_i A_ij (x_i - origin) and of w_i A_ij, the free energy and the distortion.
struct Pass {
    Matrix<double> sums;
    Vector<double> mass;
    double free_energy = 0, distortion = 0;
};

template <class T>
Pass pass_over(PointsView points, const Assigner& assigner, Index k, std::span<const double> weights, const Run& run,
               const Stage& stage) {
    const Index d = points.columns();
    using Sums = Eigen::Map<eigen::Matrix<double>>;
    using Mass = Eigen::Map<eigen::Vector<double>>;
    std::vector<Assigner::Scratch> scratch(at(std::max(1, run.threads)));
    std::vector<double> total = internal::sum_blocks<T>(
        points, k * d + k + 2, run, stage, [&](const internal::RowBlock<T>& block, int worker, double* to) {
            Assigner::Scratch& s = scratch[at(worker)];
            Sums sums(to, k, d);
            Mass mass(to + k * d, k);
            double* const terms_sum = to + k * d + k;
            for (Index begin = 0; begin < block.rows.rows; begin += rows_at_once) {
                const Index end = std::min(begin + rows_at_once, block.rows.rows);
                assigner(block.rows, begin, end, s, [&](Index r, const Terms& terms) {
                    const double w = internal::weight_of(weights, block.first + r);
                    terms_sum[0] += w * terms.free_energy;
                    terms_sum[1] += w * terms.distortion;
                    s.probabilities.row(r - begin) *= w;
                    mass += s.probabilities.row(r - begin).transpose();
                });
                sums.noalias() += s.probabilities.transpose() * s.rows;
            }
        });
    const double* const terms = total.data() + k * d + k;
    return {Sums(total.data(), k, d), Mass(total.data() + k * d, k), terms[0], terms[1]};
}

// The same for sparse points: computes the probabilities of a chunk of rows, then adds them to the sums of a few
// clusters at a time. Each sum belongs to one thread, which adds the rows in their order. Memory: k d numbers in
// addition to the entries.
Pass pass_over(const SparsePoints& points, const SparseAssigner& assigner, const Vector<double>& origin, Index k,
               std::span<const double> weights, const Run& run, const Stage& stage) {
    constexpr Index group = 8;  // number of clusters whose values in one column fill a cache line
    const Index d = points.columns();
    const RowBlocks groups{k, group};
    const RowBlocks chunks{points.rows(), 4096};
    std::vector<double> sums(at(groups.count() * group * d), 0.0);
    Pass out{Matrix<double>(k, d), Vector<double>::Zero(k)};
    Matrix<double> probabilities(std::min(chunks.size, points.rows()), k);
    std::vector<Terms> terms(at(probabilities.rows()));
    for (Index chunk = 0; chunk < chunks.count(); ++chunk) {
        const Index begin = chunks.begin(chunk), end = chunks.end(chunk);
        const double share = (stage.end - stage.begin) / static_cast<double>(chunks.count());
        Stage part = stage;
        part.begin = stage.begin + share * static_cast<double>(chunk);
        part.end = part.begin + share;
        part.operations = stage.operations / static_cast<double>(chunks.count());
        const RowBlocks some{end - begin, 128};
        for_each_block(some.count(), run, part, [&](Index block, int) {
            assigner(points, begin + some.begin(block), begin + some.end(block),
                     probabilities.data() + some.begin(block) * k, terms.data() + some.begin(block));
        });
        const auto weight = [&](Index i) { return internal::weight_of(weights, i); };
        for (Index i = begin; i < end; ++i) {
            out.free_energy += weight(i) * terms[at(i - begin)].free_energy;
            out.distortion += weight(i) * terms[at(i - begin)].distortion;
        }
        part.begin = part.end;
        for_each_block(groups.count(), run, part, [&](Index g, int) {
            double* const sum = sums.data() + g * group * d;
            const Index here = groups.end(g) - groups.begin(g);
            for (Index i = begin; i < end; ++i) {
                double share_of[group] = {};
                for (Index j = 0; j < here; ++j) {
                    share_of[j] = weight(i) * probabilities(i - begin, groups.begin(g) + j);
                    out.mass[groups.begin(g) + j] += share_of[j];
                }
                const SparseRow<double> row = points.row<double>(i);
                for (Index e = 0; e < row.count; ++e) {
                    double* const to = sum + row.column(e) * group;
                    for (Index j = 0; j < group; ++j) to[j] += row.values[e] * share_of[j];
                }
            }
        });
    }
    for (Index j = 0; j < k; ++j)
        for (Index p = 0; p < d; ++p)
            out.sums(j, p) = sums[at((j / group * d + p) * group + j % group)] - out.mass[j] * origin[p];
    return out;
}

template <class T>
double automatic_temperature(PointsView points, const Matrix<T>& start, const internal::Spread& spread,
                             std::span<const double> weights, const Run& run) {
    Run quiet = run;
    quiet.on_progress = nullptr;
    const bool bounds = kmeans::internal::bounds_pay(points.rows(), points.columns(), static_cast<int>(start.rows()));
    const double inertia = kmeans::internal::lloyd({points, weights, {20, 1e-4, bounds}, quiet}, start).objective;
    const double temperature = 2 * inertia / (spread.total_weight * static_cast<double>(points.columns()));
    if (temperature > 0) return temperature;
    // Every point lies on a centroid: any temperature far below the squared distances between centroids is suitable.
    return spread.mean_variance > 0 ? 1e-6 * spread.mean_variance : 1.0;
}

template <class T>
SoftKMeansModel fit_rows(const SoftKMeansOptions& options, const Run& run, const Problem& problem) {
    const PointsView points = problem.points;
    SoftKMeansOptions used = options;
    const Index k = options.clusters;
    const internal::Spread spread = internal::spread_of(points, problem.weights, run);
    const double threshold = options.tolerance * spread.mean_variance;
    const double operations = 2.0 * static_cast<double>(points.rows() * points.columns()) * static_cast<double>(k);
    std::optional<SparsePoints> sparse;  // values in double
    if (const SparsePoints* given = as_sparse(points)) sparse = internal::values_as<double>(*given);
    const auto evaluate = [&](const Matrix<double>& centroids, const Run& evaluating, Stage stage) {
        stage.operations = operations;
        if (sparse)
            return pass_over(*sparse, SparseAssigner(centroids, spread.mean, *used.temperature), spread.mean, k,
                             problem.weights, evaluating, stage);
        return pass_over<T>(points, Assigner(centroids, spread.mean, *used.temperature), k, problem.weights, evaluating,
                            stage);
    };
    internal::KeptFit kept(SoftKMeansMethod::name, SoftKMeansOptions::described().values(&options), problem, run);
    if (const auto found = kept.facts.find("temperature"); found != kept.facts.end()) used.temperature = found->second;
    FitReport report;
    const double& distinct = kept.distinct(options.clusters);
    auto best = internal::best_of(
        options.restarts, report, kept,
        internal::starting_centroids<T>(points, options.clusters, {options.seeding, options.seeding_candidates},
                                        problem, run, kept),
        [&](const Matrix<T>& start, const internal::Restart& restart) {
            internal::Fitted<T> out;
            Matrix<double> centroids = start.template cast<double>();
            if (const Archive* from = kept.found_iterations()) {
                centroids = to_matrix<double>(from->points("centroids", k, points.columns()));
                out.objectives = from->vector("objectives");
                out.iterations = static_cast<int>(out.objectives.size());
                if (from->vector("converged", 1)[0] != 0) out.stopped = StopReason::converged;
            } else if (!used.temperature) {
                used.temperature = automatic_temperature(points, start, spread, problem.weights, run);
            }
            kept.facts["temperature"] = *used.temperature;
            const auto fraction = [&](int done) { return restart.fraction(done, options.max_iterations); };
            Pass pass =
                evaluate(centroids, run,
                         {.name = "iterations", .begin = fraction(out.iterations), .end = fraction(out.iterations)});
            out.objective = pass.free_energy;
            while (out.stopped != StopReason::converged) {
                if (run.stop_requested()) {
                    out.stopped = StopReason::interrupted;
                    break;
                }
                if (out.iterations == options.max_iterations) break;
                double movement = 0;
                for (Index j = 0; j < k; ++j) {
                    if (!(pass.mass[j] > 0)) continue;
                    const Vector<double> moved = spread.mean + pass.sums.row(j).transpose() / pass.mass[j];
                    movement += (moved - centroids.row(j).transpose()).squaredNorm();
                    centroids.row(j) = moved.transpose();
                }
                try {
                    pass = evaluate(centroids, run,
                                    {.name = "iterations",
                                     .begin = fraction(out.iterations),
                                     .end = fraction(out.iterations + 1),
                                     .iteration = out.iterations,
                                     .objective = out.objective});
                } catch (const Cancelled&) {
                    out.stopped = StopReason::interrupted;
                    break;
                }
                ++out.iterations;
                out.objective = pass.free_energy;
                out.objectives.push_back(pass.free_energy);
                restart.report(run, out.iterations, options.max_iterations, pass.free_energy);
                if (movement <= threshold) out.stopped = StopReason::converged;
                kept.after_iteration([&](Archive& archive) {
                    archive.set_points("centroids", centroids);
                    archive.set_vector("objectives", out.objectives);
                    archive.set_vector("converged", internal::as_doubles(out.stopped == StopReason::converged));
                });
            }
            out.centroids = centroids.template cast<T>();
            return out;
        });
    Stopwatch watch;
    const Run finishing = run.unstopped();
    const Pass last = evaluate(best.centroids.template cast<double>(), finishing, {.name = "labels"});
    report.objective = last.free_energy;
    Points centroids(std::move(best.centroids));
    Labels labels = nearest_centroids(points, centroids, finishing).labels;
    report.seconds.emplace_back("labels", watch.seconds());
    report.empty_cluster_policy = "a cluster whose probability is 0 for every row keeps its centroid";
    internal::finish_report(report, points, labels, options.clusters, static_cast<Index>(distinct), run);
    const double entropy = (last.distortion - last.free_energy) / *used.temperature / spread.total_weight;
    report.details.insert(
        report.details.end(),
        {{"temperature", *used.temperature}, {"distortion", last.distortion}, {"entropy", std::max(0.0, entropy)}});
    return SoftKMeansModel(std::move(centroids), std::move(labels), std::move(report), used);
}

}  // namespace

const OptionSet& SoftKMeansOptions::described() {
    using Options = SoftKMeansOptions;
    static const OptionSet set = internal::describe_seeding(
        OptionSetFor<Options>()
            .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .real("temperature", &Options::temperature, OptionRange{.low = 0, .high = 1e200, .low_open = true},
                  "temperature T, in squared units of the columns; larger values spread a row over more clusters",
                  "twice the variance within the clusters of a short k-means, averaged over the columns")
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs from different starting centroids; the run with the smallest free energy is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1), "maximum number of iterations per run")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when the sum of the squared movements of the centroids is at most this number times the mean "
                  "of the columns' variances"));
    return set;
}

Matrix<double> SoftKMeansModel::output_checked(Output which, PointsView points, const Run& run) const {
    if (which == Output::distances) return CentroidModel::output_checked(which, points, run);
    Matrix<double> out(points.rows(), clusters());
    const Matrix<double> centroids = to_matrix<double>(centroids_);
    if (const SparsePoints* sparse = as_sparse(points)) {
        const SparsePoints rows = internal::values_as<double>(*sparse);
        const SparseAssigner assigner(centroids, centroids.colwise().mean().transpose(), *options_.temperature);
        const RowBlocks blocks{rows.rows(), rows_at_once};
        for_each_block(blocks.count(), run.threads, [&](Index block, int) {
            std::vector<Terms> unused(at(blocks.end(block) - blocks.begin(block)));
            assigner(rows, blocks.begin(block), blocks.end(block), out.data() + blocks.begin(block) * out.cols(),
                     unused.data());
        });
        return out;
    }
    const Assigner assigner(centroids, centroids.colwise().mean().transpose(), *options_.temperature);
    points.visit([&](const auto& rows) {
        const RowBlocks blocks{rows.rows, rows_at_once};
        std::vector<Assigner::Scratch> scratch(at(std::max(1, run.threads)));
        for_each_block(blocks.count(), run.threads, [&](Index block, int worker) {
            Assigner::Scratch& s = scratch[at(worker)];
            assigner(rows, blocks.begin(block), blocks.end(block), s, [](Index, const Terms&) {});
            out.middleRows(blocks.begin(block), s.probabilities.rows()) = s.probabilities;
        });
    });
    return out;
}

SoftKMeansModel SoftKMeansModel::from(const Archive& archive) {
    SoftKMeansModel model(archive);
    if (!model.options_.temperature) throw BadData(Code::malformed, "the model has no `temperature`");
    return model;
}

SoftKMeansModel SoftKMeansMethod::fit(const Problem& problem, const SoftKMeansOptions& options, const Run& run) {
    const PointsView points = problem.points;
    check_clustering_input(points, options.clusters, problem.weights, run);
    internal::check_initial_centroids(problem.initial_centroids, points, options.clusters, options.restarts, run);
    return points.with_scalar([&]<class T>() { return fit_rows<T>(options, run, problem); });
}

}  // namespace coterie
