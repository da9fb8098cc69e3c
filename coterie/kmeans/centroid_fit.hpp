#pragma once
// Internal: code that all fits of centroid models share: starting centroids, restarts, sums over clusters, the report.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/model/checkpoint.hpp"
#include "coterie/model/fit_report.hpp"

namespace coterie::internal {

/// The points in this scalar type, borrowed if they have it already. Throws BadData for a value that is infinite in it.
Points in_scalar(PointsView points, ScalarType scalar, const Run& run);

/// Throws BadData if the largest magnitude of the points is so small that squared distances vanish; `where` ends the
/// first part of the message.
void require_squares(double largest, double least, const std::string& where);

/// Accepts an empty view, or k x d finite centroids with restarts = 1. Throws BadArgument or BadData otherwise.
void check_initial_centroids(PointsView centroids, PointsView points, int clusters, int restarts, const Run& run);

/// The weighted mean of the points, and the mean over the columns of their variances.
struct Spread {
    Vector<double> mean;
    double mean_variance = 0;
    double total_weight = 0;
};
Spread spread_of(PointsView points, std::span<const double> weights, const Run& run);

/// sum_i w_i x_i and sum_i w_i over the rows of each label. `labels` holds the labels of this process' rows.
struct ClusterSums {
    Matrix<double> sums;
    std::vector<double> mass;
};
ClusterSums cluster_sums(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                         const Run& run);

/// A row and its cost under its current label.
struct Costly {
    double cost;
    Index row;  // among all rows
    std::int32_t label;
};
/// The `wanted` rows of all processes with the highest cost, highest first; ties go to the lowest row. `cost` and
/// `labels` describe this process' rows, which start at row `first`.
std::vector<Costly> costliest(const std::vector<double>& cost, const Labels& labels, Index first, std::size_t wanted,
                              Communicator& communicator);

/// For every cluster without members, in order, calls move(row, from, to) for the costliest row left whose cluster
/// keeps another one. Rows of cost 0 do not move. Updates `members`, the number of rows per cluster; returns the number
/// of moves. `order`: by descending cost, and enough rows: one per empty cluster and one per cluster.
int move_to_empty(std::vector<Index>& members, const std::vector<Costly>& order,
                  FunctionRef<void(Index row, std::int32_t from, std::int32_t to)> move);

/// Does this for clusters that have no row of positive weight. `labels` and costs() describe this process' rows, whose
/// numbers among all rows are `own`. costs() is called only if a cluster is empty. Returns the number of clusters
/// filled.
int fill_empty_clusters(Labels& labels, int clusters, std::span<const double> weights, Range own,
                        FunctionRef<std::vector<double>()> costs, Communicator& communicator);

/// The mean of the points of each cluster. An empty cluster keeps its row of `before`.
Matrix<double> means_of(const Matrix<double>& points, const Labels& labels, const Matrix<double>& before, int threads);

/// Numbers for a part of a checkpoint.
template <class... Numbers>
std::vector<double> as_doubles(Numbers... numbers) {
    return {static_cast<double>(numbers)...};
}

/// The first row from begin to end - 1 at which the sum of the shares exceeds `left`, from which the sum before the row
/// is subtracted. Rounding may leave a remainder: then the last row with a share. -1 without shares.
template <class Share>
Index row_at_share(Index begin, Index end, double& left, const Share& share) {
    Index row = -1;
    for (Index i = begin; i < end; ++i) {
        const double here = share(i);
        if (!(here > 0)) continue;
        row = i;
        if (left < here) break;
        left -= here;
    }
    return row;
}

/// The result of one restart.
template <class T>
struct Fitted {
    Matrix<T> centroids;
    double objective = 0;
    std::vector<double> objectives;
    int iterations = 0, repaired = 0;
    StopReason stopped = StopReason::iteration_limit;
};
/// Stores the best restart so far in a checkpoint.
template <class T>
void store_fitted(Archive& archive, const Fitted<T>& best) {
    archive.set_points("best", best.centroids);
    archive.set_vector("best_objectives", best.objectives);
    archive.set_vector("best_figures",
                       as_doubles(best.objective, best.iterations, best.repaired, static_cast<int>(best.stopped)));
}
template <class T>
void load_fitted(const Archive& archive, Fitted<T>& best) {
    best.centroids = to_matrix<T>(archive.points("best"));
    best.objectives = archive.vector("best_objectives");
    const auto figures = archive.vector("best_figures", 4);
    best.objective = figures[0];
    best.iterations = static_cast<int>(figures[1]);
    best.repaired = static_cast<int>(figures[2]);
    best.stopped = static_cast<StopReason>(static_cast<int>(figures[3]));
}

/// Saves the state of a fit with restarts in a checkpoint, and resumes from an existing one.
class KeptFit {
public:
    /// Opens run.checkpoint for this method and problem. With an empty path, nothing is saved or found. `by_row`: some
    /// of the state is per row, and each process holds it for its own rows.
    KeptFit(std::string_view method, const OptionValues& options, const Problem& problem, const Run& run,
            bool by_row = false);

    /// The checkpoint that was found; nullptr if the fit starts from the beginning.
    const Archive* found() const { return found_ ? &*found_ : nullptr; }
    /// The same, but only if the checkpoint was written within a restart; nullptr after after_restart().
    const Archive* found_iterations() const { return going_on_ ? found() : nullptr; }
    /// Sets the function that stores the state of the restarts. An empty function removes it.
    void tell_restarts(std::function<void(Archive*)> store) { restarts_ = std::move(store); }

    /// To be called after every iteration: `store` adds its state. The file is written when it is due.
    void after_iteration(FunctionRef<void(Archive&)> store, const char* stage = "iterations");
    /// The same for a state by row; with `now`, the file is written in any case. `store` is called on every process,
    /// with the archive on process 0 and nullptr on the others.
    void at_iteration(bool now, FunctionRef<void(Archive*)> store, const char* stage = "iterations");
    void after_restart();
    /// To be called when the fit is interrupted: writes the last state of after_iteration() or after_restart().
    void write();

    /// Store and load the labels of the best earlier restart if the state is by row; otherwise they do nothing.
    void store_labels_by_row(Archive* archive, const std::string& name, const Labels& own) const;
    void load_labels_by_row(const std::string& name, Labels& own) const;

    Checkpoint& checkpoint() { return checkpoint_; }
    /// Values that a restart computes for later restarts.
    std::map<std::string, double> facts;
    /// One of them: the number of distinct rows that the last seeding chose; `clusters` before the first seeding.
    double& distinct(int clusters) { return facts.try_emplace("distinct", clusters).first->second; }

private:
    void begin(Archive& archive, const char* stage) const;

    bool by_row_;
    Index rows_;
    Range own_;
    Communicator& communicator_;
    Checkpoint checkpoint_;
    std::optional<Archive> found_;
    bool going_on_;
    std::function<void(Archive*)> restarts_;
    std::optional<Archive> last_;  // only if the state is not by row
};

/// One of the restarts of a fit.
struct Restart {
    int number = 0;
    int count = 1;
    KeptFit* kept = nullptr;  // saves its state

    /// The checkpoint from which the restart resumes, or nullptr.
    const Archive* found() const { return kept != nullptr ? kept->found_iterations() : nullptr; }
    /// The part of all restarts that is completed after `done` of at most `most` iterations.
    double fraction(double done, double most) const { return (number + done / most) / count; }
    void report(const Run& run, int done, double most, double objective) const {
        run.report(
            {.stage = "iterations", .fraction = fraction(done, most), .objective = objective, .iteration = done});
    }
};

/// Adds the options of the seeding to a method's description.
template <class Options>
OptionSetFor<Options>& describe_seeding(OptionSetFor<Options>& set) {
    return set
        .choice("seeding", &Options::seeding, {"auto", "kmeans++", "kmeans-parallel", "random"},
                "starting centroids: kmeans++ (greedy k-means++), kmeans-parallel (k-means||) or random (rows drawn at "
                "random); auto: kmeans-parallel from 1000 clusters on, else kmeans++")
        .integer("seeding_candidates", &Options::seeding_candidates, between(1, 10000),
                 "number of candidates that each step of greedy k-means++ compares; 1 is plain k-means++",
                 "2 + 2 ln k");
}

/// The start of each restart: the given centroids or, without them, seeds; kept.distinct() receives the number of
/// distinct ones. The arguments must outlive the result.
template <class T>
auto starting_centroids(PointsView points, int clusters, const SeedingOptions& options, const Problem& problem,
                        const Run& run, KeptFit& kept) {
    return [=, &problem, &run, &kept](int restart) -> Matrix<T> {
        if (!problem.initial_centroids.empty()) return to_matrix<T>(problem.initial_centroids);
        const SeedingResult seeds =
            seed_centroids(points, clusters, options, problem.weights, static_cast<std::uint64_t>(restart), run);
        kept.distinct(clusters) = seeds.distinct;
        return to_matrix<T>(seeds.centroids);
    };
}

/// Calls iterate(start(number), Restart) for every restart and returns the result with the lowest objective; ties go to
/// the first. A result has the members of Fitted. Adds objective, iterations, stopped, seconds and details to the
/// report. Throws Cancelled if the caller stops the fit before there is a result. `kept` saves the state if the result
/// is a Fitted. A restart that resumes from kept.found_iterations() gets an empty start.
template <class Start, class Iterate>
auto best_of(int restarts, FitReport& report, KeptFit& kept, Start&& start, Iterate&& iterate) {
    using From = std::invoke_result_t<Start&, int>;
    using Result = std::invoke_result_t<Iterate&, From, const Restart&>;
    Result best;
    int best_restart = -1;
    double seeding_seconds = 0, iteration_seconds = 0;
    std::vector<double> objectives;
    Stopwatch watch;
    int restart = 0;
    constexpr bool has_labels = requires { best.labels; };
    if constexpr (requires(Archive & archive) { store_fitted(archive, best); }) {
        if (const Archive* const found = kept.found()) {
            const auto figures = found->vector("restarts", 5);
            restart = static_cast<int>(figures[0]);
            best_restart = static_cast<int>(figures[1]);
            report.empty_clusters_repaired = static_cast<int>(figures[2]);
            seeding_seconds = figures[3];
            iteration_seconds = figures[4];
            objectives = found->vector("objective_per_restart");
            if (best_restart >= 0) load_fitted(*found, best);
            if constexpr (has_labels)
                if (best_restart >= 0) kept.load_labels_by_row("best_labels", best.labels);
        }
        kept.tell_restarts([&](Archive* archive) {
            if constexpr (has_labels)
                if (best_restart >= 0) kept.store_labels_by_row(archive, "best_labels", best.labels);
            if (archive == nullptr) return;
            archive->set_vector("restarts", as_doubles(restart, best_restart, report.empty_clusters_repaired,
                                                       seeding_seconds, iteration_seconds + watch.seconds()));
            archive->set_vector("objective_per_restart", objectives);
            if (best_restart >= 0) store_fitted(*archive, best);
        });
    }
    while (restart < restarts) {
        std::optional<Result> found;
        try {
            From from{};
            if (kept.found_iterations() == nullptr) from = start(restart);
            seeding_seconds += watch.restart();
            found = iterate(std::move(from), Restart{restart, restarts, &kept});
            iteration_seconds += watch.restart();
        } catch (const Cancelled&) {
            kept.write();
            if (best_restart < 0) {
                if (kept.found() == nullptr) throw;
                throw Cancelled(Code::cancelled, "interrupted" + kept.checkpoint().what_is_left());
            }
            best.stopped = StopReason::interrupted;  // an earlier restart has a result
            break;
        }
        Result& result = *found;
        objectives.push_back(result.objective);
        report.empty_clusters_repaired += result.repaired;
        const bool interrupted = result.stopped == StopReason::interrupted;
        if (best_restart < 0 || result.objective < best.objective) {
            best = std::move(result);
            best_restart = restart;
        }
        if (interrupted) {
            kept.write();
            best.stopped = StopReason::interrupted;
            break;
        }
        ++restart;
        kept.after_restart();
    }
    kept.tell_restarts(nullptr);
    kept.checkpoint().warn(report);
    report.objective = best.objective;
    report.objective_per_iteration = best.objectives;
    report.iterations = best.iterations;
    report.stopped = best.stopped;
    report.seconds.emplace_back("seeding", seeding_seconds);
    report.seconds.emplace_back("iterations", iteration_seconds);
    report.details.emplace_back("best_restart", static_cast<std::int64_t>(best_restart));
    report.details.emplace_back("objective_per_restart", objectives);
    return best;
}

/// Adds the objective of an iteration, of at most `most`, to the report, and reports progress.
void add_iteration(FitReport& report, double objective, int most, std::string_view stage, const Run& run);
/// Whether the caller asked to stop; the report then says so. Throws Cancelled if there was no iteration yet.
bool stopped_between_iterations(FitReport& report, std::string_view stage, const Run& run);

/// Adds the size of the data, the sizes of the clusters, seed and threads.
void describe_fit(FitReport& report, Index points, Index dimensions, const Labels& labels, int clusters,
                  const Run& run);
/// The same, and a warning about empty clusters.
void finish_report(FitReport& report, PointsView points, const Labels& labels, int clusters, Index distinct,
                   const Run& run);

}  // namespace coterie::internal
