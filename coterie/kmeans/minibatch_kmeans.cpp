// Sculley's mini-batches. A row moves its nearest centroid at the rate 1 / (number of rows the centroid has had), so
// the centroid is the running mean of these rows. Rows are drawn with replacement, by weight.
// The start is k-means of a sample. In many columns, a centroid that starts on a single row is as far from every other
// row as the rows are from each other. It may get no row of any batch and then never moves. For the same reason, a
// starved centroid takes over some rows of a busy one instead of moving onto a row. Every process computes the whole
// batch, because it is small.

#include "coterie/kmeans/minibatch_kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/internal/lloyd.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {
namespace {

using internal::at;

// The sample has at least kSampleBatches batches, and kSampleRows rows per cluster. Its k-means stops after
// kSampleIterations iterations.
constexpr Index kSampleBatches = 3;
constexpr Index kSampleRows = 30;
constexpr int kSampleIterations = 10;
// A starved centroid moves next to a busy one, by this fraction of the way towards a row of the busy one's cluster.
constexpr double kSplit = 1.0 / 16;

template <class T>
struct Start {
    Matrix<T> centroids;
    std::vector<double> had;  // number of rows each centroid has had
    int distinct = 0;         // number of distinct rows that seeding found
};

template <class T>
class Batches {
public:
    Batches(PointsView points, const MinibatchKMeansOptions& options, const Problem& problem, const Run& run)
        : points_(points),
          options_(options),
          run_(run),
          weights_(problem.weights),
          size_(std::min<Index>(options.batch_size, points.rows())),
          total_weight_(static_cast<double>(points.rows())) {
        if (weights_.empty()) return;
        std::partial_sum(weights_.begin(), weights_.end(), std::back_inserter(cumulative_));
        total_weight_ = cumulative_.back();
    }

    // k-means of a sample, or the given centroids.
    Start<T> start(const Problem& problem, int restart) const {
        const Index k = options_.clusters;
        Start<T> out{{}, std::vector<double>(at(k), 0.0), options_.clusters};
        if (!problem.initial_centroids.empty()) {
            out.centroids = to_matrix<T>(problem.initial_centroids);
            return out;
        }
        const auto number = static_cast<std::uint64_t>(restart);
        const SeedingOptions seeding{options_.seeding, options_.seeding_candidates};
        const Index n = points_.rows();
        const Index wanted = std::max(kSampleBatches * size_, kSampleRows * k);
        if (wanted < n) {
            Draws random(run_.random("minibatch-kmeans.sample", number));
            std::vector<Index> rows(at(wanted));
            for (Index& row : rows) row = draw(random);
            std::sort(rows.begin(), rows.end());
            const Points sample = internal::gather_rows(points_, rows, run_);
            internal::together(run_.communicator(), [&] { cluster(sample, {}, seeding, number, run_.alone(), out); });
            if (out.distinct == k) return out;
            // The rows outside the sample may contain more distinct rows.
            const SeedingResult seeds = seed_centroids(points_, options_.clusters, seeding, weights_, number, run_);
            return {to_matrix<T>(seeds.centroids), std::vector<double>(at(k), 0.0), seeds.distinct};
        }
        cluster(points_, weights_, seeding, number, run_, out);
        for (double& each : out.had) each *= static_cast<double>(n) / total_weight_;
        return out;
    }

    internal::Fitted<T> operator()(Start<T> start, const internal::Restart& restart) const {
        internal::Fitted<T> out;
        Draws random(run_.random("minibatch-kmeans.batches", static_cast<std::uint64_t>(restart.number)));
        const Index k = options_.clusters;
        const double limit = std::ceil(static_cast<double>(options_.max_epochs) * static_cast<double>(points_.rows()) /
                                       static_cast<double>(size_));
        // Smooths over about one pass over the points.
        const double share =
            std::min(1.0, 2.0 * static_cast<double>(size_) / (static_cast<double>(points_.rows()) + 1));
        Matrix<double> centroids = start.centroids.template cast<double>();
        std::vector<double> had = std::move(start.had);
        std::vector<Index> rows(at(size_));
        Matrix<T> current = std::move(start.centroids);
        double smoothed = 0;
        double lowest = std::numeric_limits<double>::infinity();
        int without_progress = 0;
        double since_reassignment = 0;
        if (const Archive* from = restart.found()) {
            centroids = to_matrix<double>(from->points("centroids", k, points_.columns()));
            current = centroids.template cast<T>();
            had = from->vector("had", k);
            out.objectives = from->vector("objectives");
            out.iterations = static_cast<int>(out.objectives.size());
            smoothed = out.objectives.back();
            const auto figures = from->vector("figures", 6);
            lowest = figures[0];
            without_progress = static_cast<int>(figures[1]);
            since_reassignment = figures[2];
            out.repaired = static_cast<int>(figures[3]);
            random.skip(static_cast<std::int64_t>(figures[4]));
            if (figures[5] != 0) out.stopped = StopReason::converged;
        }
        while (out.stopped != StopReason::converged) {
            if (run_.stop_requested()) {
                out.stopped = StopReason::interrupted;
                break;
            }
            if (out.iterations >= limit) break;
            for (Index& row : rows) row = draw(random);
            const Matrix<T> batch = to_matrix<T>(internal::gather_rows(points_, rows, run_));
            const Nearest near = nearest_centroids(batch, current, run_.threads, NearestWants::distances);
            const double inertia = std::accumulate(near.squared.begin(), near.squared.end(), 0.0) *
                                   (total_weight_ / static_cast<double>(size_));
            for (Index r = 0; r < size_; ++r) {
                const auto j = near.labels[at(r)];
                const double rate = 1 / ++had[at(j)];
                for (Index p = 0; p < points_.columns(); ++p)
                    centroids(j, p) += rate * (static_cast<double>(batch(r, p)) - centroids(j, p));
            }
            since_reassignment += static_cast<double>(size_);
            if (options_.reassignment_share > 0 && since_reassignment >= 10.0 * static_cast<double>(k)) {
                since_reassignment = 0;
                out.repaired += reassign(batch, near, random, centroids, had);
            }
            current = centroids.template cast<T>();
            ++out.iterations;
            smoothed = out.iterations == 1 ? inertia : smoothed + share * (inertia - smoothed);
            out.objectives.push_back(smoothed);
            restart.report(run_, out.iterations, limit, smoothed);
            if (smoothed < lowest) {
                lowest = smoothed;
                without_progress = 0;
            } else if (options_.patience > 0 && ++without_progress >= options_.patience) {
                out.stopped = StopReason::converged;
            }
            restart.kept->after_iteration([&](Archive& archive) {
                archive.set_points("centroids", centroids);
                archive.set_vector("had", had);
                archive.set_vector("objectives", out.objectives);
                archive.set_vector("figures",
                                   internal::as_doubles(lowest, without_progress, since_reassignment, out.repaired,
                                                        random.count(), out.stopped == StopReason::converged));
            });
        }
        out.objective = nearest_centroids(points_, current, run_.unstopped(), NearestWants::inertia, weights_).inertia;
        out.centroids = std::move(current);
        return out;
    }

private:
    // Uniform numbers with a counter: a resumed fit skips the numbers already drawn.
    class Draws {
    public:
        explicit Draws(RandomStream stream) : stream_(stream) {}
        double uniform() {
            ++count_;
            return stream_.uniform();
        }
        std::int64_t count() const { return count_; }
        void skip(std::int64_t count) {
            while (count_ < count) uniform();
        }

    private:
        RandomStream stream_;
        std::int64_t count_ = 0;
    };

    // k-means of few rows.
    void cluster(PointsView points, std::span<const double> weights, const SeedingOptions& seeding,
                 std::uint64_t number, const Run& run, Start<T>& out) const {
        const SeedingResult seeds = seed_centroids(points, options_.clusters, seeding, weights, number, run);
        Run quiet = run;
        quiet.on_progress = nullptr;
        const bool bounds = kmeans::internal::bounds_pay(points.rows(), points.columns(), options_.clusters);
        auto found = kmeans::internal::lloyd<T>(
            {points, weights, {.max_iterations = kSampleIterations, .bounds = bounds}, quiet},
            to_matrix<T>(seeds.centroids));
        out.had = internal::cluster_sums(points, found.labels, options_.clusters, weights, run.unstopped()).mass;
        out.centroids = std::move(found.centroids);
        out.distinct = seeds.distinct;
    }

    Index draw(Draws& random) const {
        const double u = random.uniform();
        if (weights_.empty())
            return std::min(points_.rows() - 1, static_cast<Index>(u * static_cast<double>(points_.rows())));
        auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), u * total_weight_);
        // Rounding may select the end; then take the last row of positive weight.
        if (found == cumulative_.end()) found = std::lower_bound(cumulative_.begin(), cumulative_.end(), total_weight_);
        return static_cast<Index>(found - cumulative_.begin());
    }

    // A starved centroid moves next to the centroid of a row of the batch, towards that row. It takes half of the count
    // of the busy centroid, so the two share its rows from then on. Rows are drawn by squared distance. At most max(1,
    // half the batch size) centroids move.
    int reassign(const Matrix<T>& batch, const Nearest& near, Draws& random, Matrix<double>& centroids,
                 std::vector<double>& had) const {
        const double floor = options_.reassignment_share * *std::max_element(had.begin(), had.end());
        std::vector<std::size_t> starved;
        std::vector<double> share = near.squared;
        for (std::size_t j = 0; j < had.size(); ++j)
            if (had[j] < floor) starved.push_back(j);
        // Rows of starved centroids are not drawn.
        for (Index r = 0; r < size_; ++r)
            if (had[at(near.labels[at(r)])] < floor) share[at(r)] = 0;
        // The centroids that have had the fewest rows come first.
        std::stable_sort(starved.begin(), starved.end(), [&](std::size_t a, std::size_t b) { return had[a] < had[b]; });
        starved.resize(std::min(starved.size(), std::max<std::size_t>(1, at(size_) / 2)));
        int moved = 0;
        for (const std::size_t j : starved) {
            const double total = std::accumulate(share.begin(), share.end(), 0.0);
            if (!(total > 0)) break;  // every remaining row of the batch lies on a centroid
            double left = random.uniform() * total;
            const Index row = internal::row_at_share(0, size_, left, [&](Index r) { return share[at(r)]; });
            const auto busy = near.labels[at(row)];
            centroids.row(static_cast<Index>(j)) =
                (1 - kSplit) * centroids.row(busy) + kSplit * batch.row(row).template cast<double>();
            had[j] = had[at(busy)] /= 2;
            // Copies of the row in the batch are not drawn again.
            for (Index r = 0; r < size_; ++r)
                if (batch.row(r) == batch.row(row)) share[at(r)] = 0;
            ++moved;
        }
        return moved;
    }

    PointsView points_;
    const MinibatchKMeansOptions& options_;
    const Run& run_;
    std::span<const double> weights_;
    Index size_;
    double total_weight_;
    std::vector<double> cumulative_;
};

}  // namespace

const OptionSet& MinibatchKMeansOptions::described() {
    using Options = MinibatchKMeansOptions;
    static const OptionSet set = internal::describe_seeding(
        OptionSetFor<Options>()
            .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .integer("batch_size", &Options::batch_size, at_least(1), "number of rows per batch, at most all rows")
            .integer("max_epochs", &Options::max_epochs, at_least(1),
                     "maximum number of passes over the data: at most this many times n rows are drawn")
            .integer(
                "patience", &Options::patience, at_least(0),
                "stop when the smoothed inertia has not improved for this many batches; 0: do not stop for this reason")
            .real("reassignment_share", &Options::reassignment_share, between(0, 1),
                  "move a centroid next to another one if it has had fewer rows than this share of the rows of the "
                  "busiest centroid; 0: never")
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs from different samples; the run with the smallest inertia is kept"));
    return set;
}

MinibatchKMeansModel MinibatchKMeansMethod::fit(const Problem& problem, const MinibatchKMeansOptions& options,
                                                const Run& run) {
    const PointsView points = problem.points;
    check_clustering_input(points, options.clusters, problem.weights, run);
    internal::check_initial_centroids(problem.initial_centroids, points, options.clusters, options.restarts, run);
    return points.with_scalar([&]<class T>() {
        FitReport report;
        const Batches<T> batches(points, options, problem, run);
        internal::KeptFit kept(MinibatchKMeansMethod::name, MinibatchKMeansOptions::described().values(&options),
                               problem, run);
        double& distinct = kept.distinct(options.clusters);
        auto best = internal::best_of(
            options.restarts, report, kept,
            [&](int restart) {
                auto start = batches.start(problem, restart);
                distinct = start.distinct;
                return start;
            },
            [&](Start<T> start, const internal::Restart& restart) { return batches(std::move(start), restart); });
        Stopwatch watch;
        Points centroids(std::move(best.centroids));
        Labels labels = nearest_centroids(points, centroids, run.unstopped()).labels;
        report.seconds.emplace_back("labels", watch.seconds());
        report.empty_cluster_policy = "a starved centroid moves next to the centroid of a row of the batch";
        internal::finish_report(report, points, labels, options.clusters, static_cast<Index>(distinct), run);
        return MinibatchKMeansModel(std::move(centroids), std::move(labels), std::move(report), options);
    });
}

}  // namespace coterie
