// Rounds of assignments, centroids and projection. The objective after a move of the centroids is computed from the
// move, without another pass over the points. Hard assignments update the sums only for labels that changed; soft
// assignments pass A on while it is computed. The prices and multipliers of an assignment are the start of the next
// one. The fit ignores an interrupted pass. A checkpoint holds the state between two rounds, including the accumulated
// rounding errors of sums and moments.

#include "coterie/subspace/subspace.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "coterie/base/idle_option.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/text.hpp"
#include "coterie/constraints/constrained_assignment.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/moving_sums.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/kmeans/starting_prototypes.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/model/checkpoint.hpp"
#include "coterie/subspace/internal/discriminant.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;
using internal::PrototypeDistances;

subspace::internal::Shrinkage parse_shrinkage(const std::string& text) {
    using Kind = subspace::internal::Shrinkage::Kind;
    if (text == "oas") return {Kind::oas, 0};
    if (text == "none") return {Kind::none, 0};
    double value = -1;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || !(value >= 0 && value <= 1))
        throw refused_option("shrinkage", text, "oas, none, or a number from 0 to 1");
    if (value == 0) return {Kind::none, 0};
    return {Kind::fixed, value};
}

class Rounds {
public:
    Rounds(PointsView points, const SubspaceOptions& options, const internal::Constraints& constraints,
           const Problem& problem, const Run& run)
        : points_(points),
          options_(options),
          constraints_(constraints),
          problem_(problem),
          run_(run),
          checkpoint_(run, std::string(SubspaceMethod::name), SubspaceOptions::described().values(&options),
                      internal::fingerprint_of(problem, run)),
          found_(checkpoint_.found()) {}

    SubspaceModel operator()() {
        report_.seconds = {{"scatter", 0}, {"seeding", 0}, {"assignments", 0}, {"prototypes", 0}, {"subspace", 0}};
        Stopwatch watch;
        prepare();
        seconds("scatter") = watch.restart();
        distinct_ = constraints_.clusters();
        if (problem_.initial_centroids.empty() && constraints_.labels.empty())
            report_.details.emplace_back("seeding", std::string("k-means++ (no labels were given)"));
        if (found_)
            go_on();
        else
            prototypes_ = start();
        seconds("seeding") = watch.restart();
        run_rounds();

        report_.empty_cluster_policy = "an empty cluster keeps its centroid";
        checkpoint_.warn(report_);
        if (!optimal_)
            report_.warnings.push_back(
                {.code = Code::not_optimal, .problem = std::string(internal::linked_too_densely)});
        internal::finish_report(report_, points_, labels_, constraints_.clusters(), distinct_, run_);
        add_details();
        return SubspaceModel(std::move(prototypes_), std::move(subspace_.directions), std::move(origin_),
                             constraints_.cluster_labels(), std::move(labels_), std::move(report_), options_);
    }

private:
    double& seconds(std::string_view stage) {
        return std::find_if(report_.seconds.begin(), report_.seconds.end(),
                            [&](const auto& each) { return each.first == stage; })
            ->second;
    }
    bool soft() const { return options_.assignment == Assignment::soft; }
    bool joint() const { return options_.projection == Projection::joint; }

    void prepare() {
        const int k = constraints_.clusters();
        const int dimensions =
            options_.subspace_dim.value_or(static_cast<int>(std::min<Index>(std::max(k - 1, 1), points_.columns())));
        if (!joint()) {
            origin_ = mean(points_, run_);
            return;
        }
        discriminant_.emplace(points_, k, dimensions, options_.normalization, parse_shrinkage(options_.shrinkage),
                              soft(), run_);
        origin_ = discriminant_->mean();
    }

    Matrix<double> start() {
        if (!problem_.initial_centroids.empty()) return to_matrix<double>(problem_.initial_centroids);
        if (!constraints_.labels.empty()) return starting_prototypes(points_, constraints_, {}, run_);
        const SeedingResult seeds = seed_centroids(points_, constraints_.clusters(), {}, {}, 0, run_);
        distinct_ = seeds.distinct;
        return to_matrix<double>(seeds.centroids);
    }

    // Writes the state between two rounds. Process 0 writes; all processes must call.
    void keep(bool now) {
        checkpoint_.write_parts(now, [&](Archive* archive) {
            if (soft())
                internal::store_labels(archive, "labels", labels_, run_.communicator());
            else
                sums_->store(archive);
            if (discriminant_) discriminant_->store(archive);
            if (archive == nullptr) return;
            archive->set_points("prototypes", prototypes_);
            archive->set_points("directions", subspace_.directions);
            archive->set_vector("mass", {mass_.data(), static_cast<std::size_t>(mass_.size())});
            archive->set_vector("prices", prices_);
            archive->set_vector("multipliers", finite_multipliers());
            archive->set_vector("objectives", report_.objective_per_iteration);
            archive->set_vector("after_assignments", after_assignments_);
            archive->set_vector("after_prototypes", after_prototypes_);
            archive->set_vector("distinct", internal::as_doubles(distinct_));
        });
    }
    void go_on() {
        const int k = constraints_.clusters();
        const internal::Range own = internal::own_rows(points_, run_);
        if (soft()) {
            labels_ = internal::own_labels(*found_, "labels", points_.rows(), own);
        } else {
            sums_.emplace(points_, k, std::span<const double>{}, run_);
            sums_->load(*found_);
            labels_ = sums_->labels();
        }
        if (discriminant_) discriminant_->load(*found_, labels_);
        prototypes_ = to_matrix<double>(found_->points("prototypes", k, points_.columns()));
        subspace_.directions = to_matrix<double>(found_->points("directions"));
        const std::vector<double> mass = found_->vector("mass", k);
        mass_ = Eigen::Map<const eigen::Vector<double>>(mass.data(), k);
        prices_ = found_->vector("prices");
        groups_.log_theta = found_->vector("multipliers");
        report_.objective_per_iteration = found_->vector("objectives");
        report_.iterations = static_cast<int>(report_.objective_per_iteration.size());
        report_.objective = report_.objective_per_iteration.back();
        after_assignments_ = found_->vector("after_assignments");
        after_prototypes_ = found_->vector("after_prototypes");
        distinct_ = static_cast<int>(found_->vector("distinct", 1)[0]);
    }

    // One A step and one C step. Returns the objective after A and after C.
    std::pair<double, double> pass(bool last) {
        Stopwatch watch;
        const PrototypeDistances distances(prototypes_, origin_, subspace_.directions);
        Matrix<double> moved = prototypes_;
        double after_assignment = 0;
        if (soft()) {
            const internal::SoftSettings settings{options_.temperature,
                                                  options_.soft_solver == SoftSolver::newton
                                                      ? internal::GroupSolver::newton
                                                      : internal::GroupSolver::bregman,
                                                  options_.bregman_rounds.value_or(0)};
            std::function<void(Index, const Matrix<double>&)> on_rows;
            if (discriminant_ && last)
                on_rows = [&](Index begin, const Matrix<double>& rows) { discriminant_->assign(begin, rows); };
            internal::SoftAssignment assignment =
                assign_soft(points_, distances, constraints_, settings, finite_multipliers(), run_, on_rows);
            changed_ = mass_.size() == 0 ? points_.rows() : count_changes(assignment.labels);
            mass_ = std::move(assignment.mass);
            for (Index j = 0; j < mass_.size(); ++j)
                if (mass_[j] > 0) moved.row(j) = origin_.transpose() + assignment.sums.row(j) / mass_[j];
            after_assignment = assignment.distortion + options_.temperature * assignment.negentropy;
            entropy_ = -assignment.negentropy / static_cast<double>(points_.rows());
            labels_ = std::move(assignment.labels);
            groups_ = std::move(assignment.groups);
            seconds("assignments") += watch.restart();
        } else {
            internal::HardAssignment assignment = assign_hard(points_, distances, constraints_, {}, prices_, run_);
            seconds("assignments") += watch.restart();
            if (!sums_) sums_.emplace(points_, constraints_.clusters(), std::span<const double>{}, run_);
            changed_ = sums_->assign(assignment.labels);
            moved = sums_->means(prototypes_);
            mass_ = Eigen::Map<const eigen::Vector<double>>(sums_->mass().data(), moved.rows());
            after_assignment = assignment.objective;
            labels_ = std::move(assignment.labels);
            optimal_ = assignment.optimal;
            seconds("prototypes") += watch.restart();
        }
        // Moving c_j to the mean lowers sum_i A_ij D_ij by a_j || U'(new c_j - c_j) ||^2 exactly.
        const Matrix<double> step = moved - prototypes_;
        const Matrix<double> projected =
            subspace_.directions.size() > 0 ? Matrix<double>(step * subspace_.directions.transpose()) : step;
        const double gain = (projected.rowwise().squaredNorm().array() * mass_.array()).sum();
        prototypes_ = moved;
        return {after_assignment, after_assignment - gain};
    }

    void run_rounds() {
        report_.stopped = StopReason::iteration_limit;
        const int begun = report_.iterations;
        double before = begun > 0 ? report_.objective : std::numeric_limits<double>::infinity();
        for (int round = begun; round < options_.max_iterations; ++round) {
            Index changed = 0;
            const std::vector<double> prices = prices_;
            bool stopped = false;
            for (int p = 0; p < options_.passes && !stopped; ++p) {
                try {
                    run_.throw_if_stopped("subspace");
                    const auto [assigned, moved] = pass(p + 1 == options_.passes);
                    after_assignments_.push_back(assigned);
                    after_prototypes_.push_back(moved);
                } catch (const Cancelled&) {
                    if (after_assignments_.empty()) throw;
                    if (p == 0 && round > 0) {  // nothing else has changed since the last round
                        prices_ = prices;
                        keep(true);
                    }
                    if (found_ && round == begun)
                        throw Cancelled(Code::cancelled, "interrupted" + checkpoint_.what_is_left());
                    stopped = true;  // the result of the previous passes stands
                    break;
                }
                changed += changed_;
                if (!soft() && changed_ == 0) break;  // the next pass would change nothing either
            }
            if (stopped) report_.stopped = StopReason::interrupted;
            report_.objective = after_prototypes_.back();
            if (stopped) break;
            report_.objective_per_iteration.push_back(report_.objective);
            ++report_.iterations;
            if (discriminant_) {
                Stopwatch watch;
                if (!soft()) discriminant_->assign(labels_);
                subspace_ = discriminant_->solve(prototypes_, mass_);
                seconds("subspace") += watch.seconds();
            }
            run_.report({.stage = "rounds",
                         .fraction = static_cast<double>(report_.iterations) / options_.max_iterations,
                         .objective = report_.objective,
                         .iteration = report_.iterations});
            const double change = std::abs(before - report_.objective);
            if (changed == 0 && change <= options_.tolerance * std::abs(report_.objective)) {
                report_.stopped = StopReason::converged;
                break;
            }
            before = report_.objective;
            if (round + 1 < options_.max_iterations) keep(false);
        }
        report_.details.emplace_back("objective_after_assignments", std::move(after_assignments_));
        report_.details.emplace_back("objective_after_prototypes", std::move(after_prototypes_));
    }

    // The start of Newton's search. It is empty for a fixed number of Bregman projections, which have no start.
    std::span<const double> finite_multipliers() const {
        const std::vector<double>& found = groups_.log_theta;
        const bool finite = std::all_of(found.begin(), found.end(), [](double value) { return std::isfinite(value); });
        if (options_.soft_solver == SoftSolver::bregman || !finite) return {};
        return found;
    }

    Index count_changes(const Labels& labels) const {
        Index out = 0;
        for (std::size_t i = 0; i < labels.size(); ++i) out += labels[i] != labels_[i] ? 1 : 0;
        return internal::add_up(run_.communicator(), {out}).front();
    }

    void add_details() {
        auto& details = report_.details;
        const auto warn = [&](Code code, std::string problem, std::string remedy = {}) {
            report_.warnings.push_back({.code = code, .problem = std::move(problem), .remedy = std::move(remedy)});
        };
        const auto list = [](const Vector<double>& values) {
            return std::vector<double>(values.data(), values.data() + values.size());
        };
        if (soft()) {
            details.emplace_back("masses", list(mass_));
            details.emplace_back("entropy", entropy_);
        }
        if (soft() && constraints_.bounded) {
            details.emplace_back("group_masses", groups_.mass);
            details.emplace_back("group_log_multipliers", groups_.log_theta);
            details.emplace_back("group_residual", groups_.residual);
            const bool newton = options_.soft_solver == SoftSolver::newton;
            if (!groups_.converged)
                warn(Code::not_converged,
                     filled("the label shares are violated by up to {} rows, because the {} solver stopped after {}",
                            to_text(groups_.residual), newton ? "newton" : "bregman", counted(groups_.rounds, "round")),
                     newton ? "" : "Use `soft_solver=newton`");
        }
        if (!discriminant_) return;
        details.emplace_back("subspace_dim", static_cast<std::int64_t>(subspace_.directions.rows()));
        details.emplace_back("within_shares", list(subspace_.within_shares));
        details.emplace_back("total_rank", static_cast<std::int64_t>(subspace_.total_rank));
        details.emplace_back("total_shrinkage", subspace_.total_shrinkage);
        details.emplace_back("shrinkages", subspace_.shrinkages);
        if (subspace_.total_rank < points_.columns())
            warn(Code::ill_conditioned, filled("the rows span only {} of {}, so the subspace lies within these",
                                               subspace_.total_rank, counted(points_.columns(), "dimension")));
        if (subspace_.tied)
            warn(
                Code::ill_conditioned,
                "several directions are equally good, because the covariances are shrunk fully; those with the largest "
                "scatter between clusters were used",
                "Use a smaller `shrinkage`, or more rows");
        if (subspace_.floored > 0)
            warn(Code::ill_conditioned,
                 filled("{} {} almost no variance within clusters; to limit the scale, a share of {} is assumed",
                        counted(subspace_.floored, "direction"), subspace_.floored == 1 ? "has" : "have",
                        to_text(subspace::internal::least_within_share)));
    }

    PointsView points_;
    const SubspaceOptions& options_;
    const internal::Constraints& constraints_;
    const Problem& problem_;
    const Run& run_;
    internal::Checkpoint checkpoint_;
    std::optional<Archive> found_;

    int distinct_ = 0;
    std::optional<subspace::internal::Discriminant> discriminant_;
    Vector<double> origin_;
    Matrix<double> prototypes_;
    Vector<double> mass_;
    subspace::internal::Subspace subspace_;
    Labels labels_;
    Index changed_ = 0;
    std::vector<double> prices_;
    std::optional<internal::MovingSums> sums_;
    internal::GroupMultipliers groups_;
    double entropy_ = 0;
    bool optimal_ = true;  // whether the labels are a proven minimum under the pairs of rows
    std::vector<double> after_assignments_;
    std::vector<double> after_prototypes_;
    FitReport report_;
};

}  // namespace

const OptionSet& SubspaceOptions::described() {
    using Options = SubspaceOptions;
    static const OptionSet set =
        OptionSetFor<Options>()
            .integer("clusters", &Options::clusters, at_least(1), "number of clusters k",
                     "one per label of `partial_labels` (see `clusters_per_label`)")
            .letter('k')
            .choice("assignment", &Options::assignment, {"hard", "soft"},
                    "hard: each row belongs to one cluster; soft: to every cluster with a probability")
            .real("temperature", &Options::temperature, above(0),
                  "soft assignments: the number by which squared distances in the subspace are divided; larger values "
                  "spread a row over more clusters")
            .choice("projection", &Options::projection, {"joint", "none"},
                    "joint: learn a subspace and the clusters jointly; none: cluster the rows as they are")
            .integer("subspace_dim", &Options::subspace_dim, at_least(1), "number of dimensions p of the subspace",
                     "one less than the number of clusters, at most the number of columns")
            .choice("normalization", &Options::normalization, {"within", "total"},
                    "which variance is scaled to 1 in every direction of the subspace: the variance within clusters, "
                    "or the total variance")
            .text("shrinkage", &Options::shrinkage,
                  "shrinkage of the covariances towards a multiple of the identity: oas (oracle approximating "
                  "shrinkage), none, or a number from 0 to 1; larger numbers shrink more")
            .integer("max_iterations", &Options::max_iterations, at_least(1),
                     "maximum number of rounds; each computes assignments, centroids and subspace")
            .integer("passes", &Options::passes, between(1, 100000),
                     "number of updates of assignments and centroids per round")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when no label changes and the objective changes by at most this fraction")
            .choice("soft_solver", &Options::soft_solver, {"newton", "bregman"},
                    "how soft assignments meet the label shares: Newton's method on the labels' multipliers, or "
                    "iterated Bregman projections")
            .integer("bregman_rounds", &Options::bregman_rounds, at_least(1),
                     "number of Bregman projections per assignment", "until the shares are met")
            .choice("share_rounding", &Options::share_rounding, {"floor", "nearest"},
                    "hard assignments: how a label's share of the rows becomes a whole number of rows: rounded down, "
                    "or to the nearest")
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of fits from different starts; the fit whose subspace has the smallest share of variance "
                     "within clusters is kept (`projection=none`: the fit with the smallest objective)");
    return set;
}

SubspaceModel::SubspaceModel(Matrix<double> prototypes, Matrix<double> directions, Vector<double> origin,
                             ClusterLabels cluster_labels, Labels labels, FitReport report,
                             const SubspaceOptions& options)
    : prototypes_(std::move(prototypes)), directions_(std::move(directions)), origin_(std::move(origin)) {
    options_ = options;
    cluster_labels_ = std::move(cluster_labels);
    labels_ = std::move(labels);
    report_ = std::move(report);
}

double SubspaceModel::restart_criterion() const {
    for (const auto& [name, value] : report_.details)
        if (name == "within_shares") {
            const auto& shares = std::get<std::vector<double>>(value);
            return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
        }
    return report_.objective;
}

Labels SubspaceModel::predict_checked(PointsView points, const Run& run) const {
    const PrototypeDistances distances(prototypes_, origin_, directions_);
    return nearest_prototypes(points, distances, run);
}

Matrix<double> SubspaceModel::output_checked(Output which, PointsView points, const Run& run) const {
    if (which == Output::label_scores) return scores_of_labels(points, run);
    if (which == Output::distances)
        return euclidean_distances(embed(points, run), embed(prototypes_, run), run.threads);
    return embed(points, run);
}

Matrix<double> SubspaceModel::embed(PointsView points, const Run& run) const {
    Matrix<double> out(points.rows(), directions_.size() > 0 ? directions_.rows() : dimensions());
    const RowBlocks blocks{points.rows(), internal::rows_in_cache(dimensions(), sizeof(double))};
    const internal::RowProducts project(directions_);
    points.visit([&](const auto& rows) {
        for_each_block(blocks.count(), run.threads, [&](Index block, int) {
            Matrix<double> centred;
            internal::centred_rows(rows, blocks.begin(block), blocks.end(block), origin_, centred);
            auto part = out.middleRows(blocks.begin(block), centred.rows());
            if (directions_.size() == 0) {
                part = centred;
                return;
            }
            std::vector<const double*> pointers;
            internal::RowProducts::Scratch scratch;
            Matrix<double> projected;
            internal::row_pointers(centred, pointers);
            project(pointers, projected, scratch);
            part = projected;
        });
    });
    return out;
}

Matrix<double> SubspaceModel::scores_of_labels(PointsView points, const Run& run) const {
    const auto labels = static_cast<Index>(cluster_labels_.names.size());
    Matrix<double> out(points.rows(), labels);
    const PrototypeDistances distances(prototypes_, origin_, directions_);
    const RowBlocks blocks{points.rows(), distances.rows_at_once()};
    std::vector<PrototypeDistances::Scratch> scratch(at(std::max(1, run.threads)));
    points.visit([&](const auto& rows) {
        for_each_block(blocks.count(), run.threads, [&](Index block, int worker) {
            auto& s = scratch[at(worker)];
            const Index begin = blocks.begin(block);
            distances.centre(rows, begin, blocks.end(block), s);
            distances.measure(s);
            for (Index i = begin; i < blocks.end(block); ++i) {
                out.row(i).setConstant(-std::numeric_limits<double>::infinity());
                for (Index j = 0; j < clusters(); ++j) {
                    const std::int32_t label = cluster_labels_.label_of[at(j)];
                    if (label >= 0) out(i, label) = std::max(out(i, label), -0.5 * s.distances(i - begin, j));
                }
            }
        });
    });
    return out;
}

void SubspaceModel::parts(Parts& parts) {
    const bool joint = options_.projection == Projection::joint;
    parts.add("prototypes", prototypes_, "k x d", "the centroid of each cluster");
    parts.add("directions", directions_, joint ? "p x d" : "0 x 0",
              "the directions of the subspace, scaled; if empty, rows are compared as they are");
    parts.add("origin", origin_, "d", "the values subtracted from every row");
}

SubspaceModel SubspaceModel::from(const Archive& archive) {
    SubspaceModel model;
    parse_shrinkage(archive.options_as<SubspaceOptions>().shrinkage);
    model.read(archive);
    return model;
}

SubspaceModel SubspaceMethod::fit(const Problem& problem, const SubspaceOptions& options, const Run& run) {
    const PointsView points = problem.points;
    parse_shrinkage(options.shrinkage);
    const internal::Constraints constraints = internal::compile_constraints(
        points.rows(), options.clusters, problem, options.share_rounding, options.assignment == Assignment::soft);
    SubspaceOptions used = options;
    used.clusters = constraints.clusters();
    const double largest = check_clustering_input(points, *used.clusters, {}, run);
    // The code squares covariances, those of float points in float.
    const auto [least_accepted, most_accepted] =
        points.scalar() == ScalarType::float32 ? std::pair(1e-15, 1e15) : std::pair(1e-60, 1e60);
    if (largest > most_accepted || (largest > 0 && largest < least_accepted))
        throw BadData(
            Code::overflow,
            filled("the largest magnitude is {}, so squares of covariances are outside the range of {}",
                   to_text(largest), coterie::name(points.scalar())),
            filled("Rescale the columns to magnitudes from {} to {}", to_text(least_accepted), to_text(most_accepted)),
            {.option = "points",
             .value = to_text(largest),
             .accepted = filled("from {} to {}", to_text(least_accepted), to_text(most_accepted))});
    const ClusterLabels of_clusters = constraints.cluster_labels();
    const bool drawn = problem.initial_centroids.empty() &&
                       (of_clusters.empty() || std::find(of_clusters.label_of.begin(), of_clusters.label_of.end(),
                                                         -1) != of_clusters.label_of.end());
    internal::refuse_idle(options.restarts > 1, drawn, "restarts",
                          "clusters that start at random; labels and `initial_centroids` fix where clusters start");
    internal::check_initial_centroids(problem.initial_centroids, points, *used.clusters, 1, run);
    if (options.subspace_dim && *options.subspace_dim > points.columns())
        throw refused_option("subspace_dim", std::int64_t{*options.subspace_dim},
                             filled("at most {}, the number of columns", points.columns()));
    return Rounds(points, used, constraints, problem, run)();
}

}  // namespace coterie
