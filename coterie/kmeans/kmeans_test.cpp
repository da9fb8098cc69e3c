#include "coterie/kmeans/kmeans.hpp"
#include "coterie/pipeline/pipeline.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <set>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "coterie/kmeans/internal/lloyd.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

using test::blob_points;
using test::plain_lloyd;

Matrix<double> first_rows(const Matrix<double>& x, int k) { return x.topRows(k); }

bool same_bits(const KMeansModel& a, const KMeansModel& b) {
    return a.labels() == b.labels() && a.inertia() == b.inertia() &&
           to_matrix<double>(a.centroids()) == to_matrix<double>(b.centroids()) &&
           a.fit_report().objective_per_iteration == b.fit_report().objective_per_iteration;
}

TEST(KMeans, HandComputed) {
    Matrix<double> x(5, 1);
    x << 0, 1, 2, 10, 12;
    Matrix<double> start(2, 1);
    start << 0, 1;
    KMeansOptions options{.clusters = 2, .tolerance = 0};
    Problem side;
    side.initial_centroids = Points::borrow(start);
    coterie::Run run;
    const auto model = fit_kmeans(with(x, side), options, run);
    // {0} {1,2,10,12}: means 0, 6.25; then {0,1,2} {10,12}: means 1, 11, which is stable.
    EXPECT_EQ(model.labels(), (Labels{0, 0, 0, 1, 1}));
    EXPECT_EQ(model.centroids().view().at(0, 0), 1.0);
    EXPECT_EQ(model.centroids().view().at(1, 0), 11.0);
    EXPECT_EQ(model.inertia(), 1 + 0 + 1 + 1 + 1);
    EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
    EXPECT_EQ(model.fit_report().iterations, 3);
    EXPECT_EQ(model.fit_report().sizes, (std::vector<Index>{3, 2}));
    EXPECT_DOUBLE_EQ(model.fit_report().objective_per_iteration.front(),
                     0 + 5.25 * 5.25 + 4.25 * 4.25 + 3.75 * 3.75 + 5.75 * 5.75);
    EXPECT_EQ(model.predict(Matrix<double>(Matrix<double>::Constant(1, 1, 5.9)))[0], 0);
    EXPECT_EQ(model.predict(Matrix<double>(Matrix<double>::Constant(1, 1, 6.1)))[0], 1);
}

// A row that encodes "no value" moves the mean of the centroids far from all other rows. The remaining float digits
// must still distinguish these rows.
template <class T>
void expect_nearest_beside_a_far_row(double far, double tolerance) {
    Matrix<double> blobs = blob_points<double>(400, 16, 8, 10, 3);
    Matrix<T> points(401, 16);
    points.topRows(400) = blobs.cast<T>();
    points.row(400).setConstant(static_cast<T>(far));
    coterie::Run run(1, 2);
    const auto model = fit_kmeans(with(points), {.clusters = 9, .restarts = 20}, run);
    EXPECT_EQ(std::count(model.labels().begin(), model.labels().end(), model.labels()[400]), 1);
    double inertia = 0;
    const Matrix<double> centroids = to_matrix<double>(model.centroids());
    EXPECT_EQ(model.predict(points), model.labels());
    for (Index i = 0; i < 401; ++i) {
        const auto to = (centroids.rowwise() - points.row(i).template cast<double>()).rowwise().squaredNorm();
        const double own = to[model.labels()[static_cast<std::size_t>(i)]];
        EXPECT_LE(own, to.minCoeff() * (1 + tolerance)) << "row " << i + 1;
        inertia += own;
    }
    EXPECT_NEAR(model.inertia(), inertia, tolerance * inertia);
}

TEST(KMeans, FarRowDoesNotReduceAccuracy) {
    expect_nearest_beside_a_far_row<float>(1e6, 1e-4);
    expect_nearest_beside_a_far_row<float>(-99999, 1e-4);
    expect_nearest_beside_a_far_row<double>(-999999999, 1e-9);
    expect_nearest_beside_a_far_row<double>(1e12, 1e-9);
}

TEST(KMeans, EveryIterationAgreesWithReference) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        RandomStream random(seed, "test.shapes");
        const auto n = static_cast<Index>(50 + random.below(400));
        const auto d = static_cast<Index>(1 + random.below(20));
        const auto k = static_cast<int>(1 + random.below(12));
        const auto x = blob_points<double>(n, d, 6, 2, seed);
        std::vector<double> weights;
        if (seed % 2 == 1)
            for (Index i = 0; i < n; ++i) weights.push_back(0.1 + random.uniform());
        for (const int iterations : {1, 2, 5, 100}) {
            const Matrix<double> start = first_rows(x, k);
            const auto expected = plain_lloyd(x, start, iterations, weights);
            for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
                coterie::Run run(1, 2);
                Problem side;
                side.initial_centroids = Points::borrow(start);
                side.weights = weights;
                const auto model = fit_kmeans(
                    with(x, side),
                    {.clusters = k, .max_iterations = iterations, .tolerance = 0, .algorithm = algorithm}, run);
                ASSERT_EQ(model.labels(), expected.labels) << "seed " << seed << ", iterations " << iterations;
                ASSERT_LT((to_matrix<double>(model.centroids()) - expected.centroids).cwiseAbs().maxCoeff(), 1e-10);
                ASSERT_NEAR(model.inertia(), expected.inertia, 1e-10 * (1 + expected.inertia));
            }
        }
    }
}

// Shapes with one and many groups, ties, duplicates, offsets, weights with zeros, and both scalar types.
template <class T>
void bounds_change_nothing(std::uint64_t seed) {
    RandomStream random(seed, "test.shapes");
    const auto n = static_cast<Index>(20 + random.below(3000));
    const auto d = static_cast<Index>(1 + random.below(seed % 3 == 0 ? 3 : 80));
    const auto k = static_cast<int>(
        2 + random.below(std::min<std::uint64_t>(18 + 20 * (seed % 8), static_cast<std::uint64_t>(n) - 2)));
    const double offset = seed % 5 == 0 ? 1000.0 : 0.0;
    Matrix<T> x = blob_points<T>(n, d, 10, seed % 4 == 0 ? 10.0 : 1.0, seed, offset);
    if (seed % 6 == 0) x = x.array().round().matrix();  // many equal points and exact ties
    std::vector<double> weights;
    if (seed % 3 == 1)
        for (Index i = 0; i < n; ++i) weights.push_back(i % 7 == 0 && i > 8 * k ? 0.0 : random.uniform() + 0.01);
    if (seed % 9 == 4)
        for (auto& w : weights) w *= std::pow(10.0, std::floor(20 * random.uniform()));  // sums lose small terms
    Problem side;
    side.weights = weights;
    KMeansOptions options{.clusters = k, .max_iterations = 40, .tolerance = seed % 2 == 0 ? 1e-3 : 0.0};
    options.seeding = seed % 2 == 0 ? Seeding::random : Seeding::automatic;
    coterie::Run one(seed, 1);
    options.algorithm = KMeansAlgorithm::lloyd;
    const auto plain = fit_kmeans(with(x, side), options, one);
    for (const int threads : {1, 2, 8}) {
        coterie::Run run(seed, threads);
        for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
            options.algorithm = algorithm;
            ASSERT_TRUE(same_bits(plain, fit_kmeans(with(x, side), options, run)))
                << "seed " << seed << ", n " << n << ", d " << d << ", k " << k << ", threads " << threads;
        }
    }
    ASSERT_EQ(plain.labels(), plain.predict(x, one));
    for (const double value : plain.fit_report().objective_per_iteration) ASSERT_TRUE(std::isfinite(value));
}

TEST(KMeans, BoundsAndThreadsChangeNoBit) {
    for (std::uint64_t seed = 0; seed < 48; ++seed) {
        bounds_change_nothing<float>(seed);
        bounds_change_nothing<double>(seed);
    }
}

TEST(KMeans, InertiaNeverRises) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto x = blob_points<double>(2000, 8, 5, 1, seed);
        coterie::Run run(seed, 2);
        const auto model = fit_kmeans(x, {.clusters = 12, .tolerance = 0}, run);
        const auto& history = model.fit_report().objective_per_iteration;
        for (std::size_t i = 1; i < history.size(); ++i) EXPECT_LE(history[i], history[i - 1] * (1 + 1e-12));
        EXPECT_NEAR(history.back(), model.inertia(), 1e-9 * model.inertia());
    }
}

TEST(KMeans, WeightsActAsCopies) {
    const auto x = blob_points<double>(300, 4, 4, 2, 3);
    std::vector<double> weights;
    std::vector<Index> copies;
    for (Index i = 0; i < 300; ++i) {
        weights.push_back(static_cast<double>(i % 4));
        copies.insert(copies.end(), static_cast<std::size_t>(i % 4), i);
    }
    Matrix<double> repeated(static_cast<Index>(copies.size()), 4);
    for (std::size_t r = 0; r < copies.size(); ++r) repeated.row(static_cast<Index>(r)) = x.row(copies[r]);
    const Matrix<double> start = x.middleRows(1, 5);
    Problem side;
    side.initial_centroids = Points::borrow(start);
    coterie::Run run;
    const auto copied = fit_kmeans(with(repeated, side), {.clusters = 5, .tolerance = 0}, run);
    side.weights = weights;
    const auto weighted = fit_kmeans(with(x, side), {.clusters = 5, .tolerance = 0}, run);
    EXPECT_NEAR(weighted.inertia(), copied.inertia(), 1e-9 * copied.inertia());
    EXPECT_LT((to_matrix<double>(weighted.centroids()) - to_matrix<double>(copied.centroids())).cwiseAbs().maxCoeff(),
              1e-10);
    for (std::size_t r = 0; r < copies.size(); ++r)
        EXPECT_EQ(copied.labels()[r], weighted.labels()[static_cast<std::size_t>(copies[r])]);
}

TEST(KMeans, PermutingRowsPermutesLabels) {
    const auto x = blob_points<float>(500, 6, 5, 2, 9);
    Matrix<float> reversed = x.colwise().reverse();
    const Matrix<float> start = x.topRows(7);
    Problem side;
    side.initial_centroids = Points::borrow(start);
    coterie::Run run;
    auto forward = fit_kmeans(with(x, side), {.clusters = 7}, run).labels();
    const auto backward = fit_kmeans(with(reversed, side), {.clusters = 7}, run).labels();
    std::reverse(forward.begin(), forward.end());
    EXPECT_EQ(forward, backward);
}

TEST(KMeans, FloatAgreesWithDouble) {
    const auto x = blob_points<double>(4000, 10, 8, 5, 4);
    const Matrix<float> narrow = x.cast<float>();
    coterie::Run run(3);
    const Matrix<double> start = first_rows(x, 8);
    Problem side;
    side.initial_centroids = Points::borrow(start);
    const auto in_double = fit_kmeans(with(x, side), {.clusters = 8}, run);
    const auto in_float = fit_kmeans(with(narrow, side), {.clusters = 8}, run);
    EXPECT_EQ(in_double.labels(), in_float.labels());
    EXPECT_NEAR(in_float.inertia(), in_double.inertia(), 1e-5 * in_double.inertia());
    EXPECT_EQ(in_float.centroids().scalar(), ScalarType::float32);
    EXPECT_EQ(in_float.predict(x), in_double.predict(x));
}

TEST(KMeans, WarmStartFromItsResultDoesNotMove) {
    const auto x = blob_points<double>(1000, 5, 6, 3, 8);
    coterie::Run run(1);
    const auto cold = fit_kmeans(x, {.clusters = 6, .tolerance = 0}, run);
    Problem side;
    side.initial_centroids = Points::borrow(cold.centroids());
    const auto warm = fit_kmeans(with(x, side), {.clusters = 6, .tolerance = 0}, run);
    EXPECT_EQ(warm.labels(), cold.labels());
    EXPECT_LE(warm.fit_report().iterations, 2);
}

TEST(KMeans, RestartsKeepTheLeastInertia) {
    const auto x = blob_points<double>(400, 2, 12, 6, 21);
    coterie::Run run(5);
    KMeansOptions options{.clusters = 12, .restarts = 8, .seeding = Seeding::random};
    const auto best = fit_kmeans(x, options, run);
    std::vector<double> inertias;
    for (const auto& [name, value] : best.fit_report().details)
        if (name == "objective_per_restart") inertias = std::get<std::vector<double>>(value);
    ASSERT_EQ(inertias.size(), 8u);
    EXPECT_EQ(best.inertia(), *std::min_element(inertias.begin(), inertias.end()));
    EXPECT_GT(std::set<double>(inertias.begin(), inertias.end()).size(), 1u);
    options.restarts = 1;
    EXPECT_EQ(fit_kmeans(x, options, run).inertia(), inertias.front());
}

TEST(KMeans, EmptyClusterTakesTheCostliestPoint) {
    Matrix<double> x(6, 1);
    x << 0, 1, 2, 3, 4, 50;
    Matrix<double> start(3, 1);
    start << 1, 1000, 3;
    Problem side;
    side.initial_centroids = Points::borrow(start);
    coterie::Run run;
    for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
        const auto model = fit_kmeans(with(x, side), {.clusters = 3, .tolerance = 0, .algorithm = algorithm}, run);
        EXPECT_EQ(model.fit_report().empty_clusters_repaired, 1);
        EXPECT_EQ(model.fit_report().clusters_found, 3);
        EXPECT_EQ(model.labels()[5], 1);
        EXPECT_EQ(model.centroids().view().at(1, 0), 50);
        EXPECT_TRUE(model.fit_report().warnings.empty());
    }
}

TEST(KMeans, FewerDistinctPointsThanClustersGivesAWarning) {
    for (const int distinct : {1, 3}) {
        Matrix<float> x(40, 3);
        for (Index i = 0; i < 40; ++i) x.row(i).setConstant(static_cast<float>(i % distinct) * 7 + 0.1f);
        for (const auto seeding : {Seeding::kmeans_plus_plus, Seeding::parallel, Seeding::random})
            for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
                coterie::Run run(2);
                const auto model = fit_kmeans(x, {.clusters = 5, .seeding = seeding, .algorithm = algorithm}, run);
                EXPECT_EQ(model.inertia(), 0);
                EXPECT_EQ(model.fit_report().clusters_found, distinct);
                ASSERT_EQ(model.fit_report().warnings.size(), 1u);
                EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
                EXPECT_TRUE(to_matrix<double>(model.centroids()).allFinite());
            }
    }
}

TEST(KMeans, EqualPointsConvergeAtOnceWhateverTheirValue) {
    for (const double value : {0.1, 3.7, -1e5}) {
        const Matrix<double> x = Matrix<double>::Constant(50, 2, value);
        coterie::Run run;
        const auto model = fit_kmeans(x, {.clusters = 2}, run);
        EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
        EXPECT_LE(model.fit_report().iterations, 3);
        EXPECT_EQ(model.fit_report().clusters_found, 1);
    }
}

// Heavy points enter the light cluster and leave it again: the sums must not keep their rounding error.
TEST(KMeans, LightPointsKeepAccuracyNextToHeavyOnes) {
    for (const double heavy : {1e6, 1e12, 1e15, 1e16, 1e20, 1e28}) {
        Matrix<double> x(16, 1);
        x << 1.0, 1.0, 1.1, 1.2, 1.2, 1.3, 1.3, 1.4, 1.5, 1.5, 5, -5, 7, 7.1, -7, -7.1;
        std::vector<double> weights(16, 1.0);
        weights[10] = weights[11] = heavy;
        Matrix<double> start(3, 1);
        start << 0, 11, -11;
        Problem side;
        side.weights = weights;
        side.initial_centroids = Points::borrow(start);
        for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
            coterie::Run run;
            const auto model = fit_kmeans(with(x, side), {.clusters = 3, .tolerance = 0, .algorithm = algorithm}, run);
            EXPECT_NEAR(model.centroids().view().at(0, 0), 1.25, 1e-12) << heavy;
        }
    }
}

TEST(KMeans, ExtremeWeightsAndValuesStayFinite) {
    for (const double scale : {1e-90, 1e-20, 1e20, 1e99})
        for (const double weight : {1e-30, 1.0, 1e30}) {
            const Matrix<double> x = blob_points<double>(300, 3, 3, 8, 2) * scale * 0.01;
            const std::vector<double> weights(300, weight);
            Problem side;
            coterie::Run run(1);
            const auto plain = fit_kmeans(with(x, side), {.clusters = 3}, run);
            side.weights = weights;
            const auto model = fit_kmeans(with(x, side), {.clusters = 3}, run);
            EXPECT_TRUE(std::isfinite(model.inertia()));
            EXPECT_EQ(model.fit_report().clusters_found, 3);
            EXPECT_EQ(model.fit_report().sizes.size(), plain.fit_report().sizes.size());
        }
}

TEST(KMeans, OneClusterAndOneClusterPerPoint) {
    const auto x = blob_points<double>(60, 3, 3, 2, 5);
    coterie::Run run;
    const auto one = fit_kmeans(x, {.clusters = 1}, run);
    EXPECT_LT((to_matrix<double>(one.centroids()).row(0) - x.colwise().mean()).cwiseAbs().maxCoeff(), 1e-12);
    const auto all = fit_kmeans(x, {.clusters = 60}, run);
    EXPECT_EQ(all.inertia(), 0);
    EXPECT_EQ(all.fit_report().clusters_found, 60);
}

TEST(KMeans, ConstantColumnsAndLargeOffsets) {
    auto x = blob_points<double>(500, 4, 3, 8, 6);
    coterie::Run run(1);
    const auto near = fit_kmeans(x, {.clusters = 3, .restarts = 5}, run);
    x.array() += 1e6;
    x.col(2).setConstant(5);
    const auto far = fit_kmeans(x, {.clusters = 3, .restarts = 5}, run);
    std::set<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < 500; ++i) pairs.emplace(near.labels()[i], far.labels()[i]);
    EXPECT_EQ(pairs.size(), 3u);
}

TEST(KMeans, InterruptedFitReturnsResultSoFar) {
    const auto x = blob_points<float>(20000, 16, 40, 1, 7);
    coterie::Run run(1);
    int iterations = 0;
    run.on_progress = [&](const Progress& progress) { iterations = std::max(iterations, progress.iteration); };
    run.should_stop = [&] { return iterations >= 3; };
    const auto model = fit_kmeans(x, {.clusters = 40, .restarts = 100, .tolerance = 0}, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_EQ(model.fit_report().iterations, 3);
    // Its centroids are the means of its clusters.
    Matrix<double> sums = Matrix<double>::Zero(40, 16);
    for (Index i = 0; i < 20000; ++i)
        sums.row(model.labels().at(static_cast<std::size_t>(i))) += x.row(i).cast<double>();
    for (Index j = 0; j < 40; ++j) {
        const auto size = static_cast<double>(model.fit_report().sizes.at(static_cast<std::size_t>(j)));
        EXPECT_LT((sums.row(j) / size - to_matrix<double>(model.centroids()).row(j)).norm(), 1e-5);
    }
    run.should_stop = [] { return true; };
    EXPECT_THROW(fit_kmeans(x, {.clusters = 40}, run), Cancelled);
}

// Stops the fit at every third request or read: between rows, in a repair, in sums computed from scratch, in the last
// pass.
TEST(KMeans, StopAnywhereReturnsAFinishedIteration) {
    const Index n = 1000;
    const int k = 6;
    const auto x = blob_points<float>(n, 6, 5, 2, 7);
    std::vector<double> weights;
    for (Index i = 0; i < n; ++i) weights.push_back(static_cast<double>(i % 3));
    Matrix<float> start = Matrix<float>::Constant(k, 6, 1e3f);  // far from all points: must be repaired
    start.row(0).setZero();
    for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
        const KMeansOptions options{.clusters = k, .restarts = 1, .tolerance = 0, .algorithm = algorithm};
        const Problem known{.weights = weights, .initial_centroids = Points::borrow(start)};
        const auto whole = fit_kmeans(with(x, known), options, coterie::Run(1, 1));
        EXPECT_GT(whole.fit_report().empty_clusters_repaired, 0);
        std::atomic<int> before_a_result = 0;
        std::atomic<int> interrupted = 0;
        // Stops the fit at the first event after `patience` events. Returns whether the fit finished before.
        const auto stopped_after = [&](int patience) {
            int events = 0;
            bool stop = false;
            int finished = 0;
            coterie::Run run(1, 1);
            run.should_stop = [&] { return stop = stop || ++events > patience; };
            run.on_progress = [&](const Progress& progress) {
                if (progress.stage == "iterations") finished = std::max(finished, progress.iteration);
            };
            Problem problem = known;
            problem.points = test::read_rows(x, [&](Index) {
                if (stop || ++events <= patience) return;
                stop = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(60));  // a loop checks for a stop every 50 ms
            });
            std::optional<KMeansModel> found;
            try {
                found = fit_kmeans(problem, options, run);
            } catch (const Cancelled&) {
                EXPECT_EQ(finished, 0);
                ++before_a_result;
                return false;
            }
            const FitReport& report = found->fit_report();
            if (report.stopped != StopReason::interrupted) {
                EXPECT_EQ(found->labels(), whole.labels());
                return !stop;  // otherwise the stop came in the last pass
            }
            ++interrupted;
            EXPECT_EQ(report.iterations, finished);
            Matrix<double> sums = Matrix<double>::Zero(k, 6);
            std::vector<double> mass(k, 0.0);
            for (Index i = 0; i < n; ++i) {
                const double w = weights[static_cast<std::size_t>(i)];
                const auto label = found->labels().at(static_cast<std::size_t>(i));
                sums.row(label) += w * x.row(i).cast<double>();
                mass.at(static_cast<std::size_t>(label)) += w;
            }
            const auto centroids = to_matrix<double>(found->centroids());
            for (Index j = 0; j < k; ++j) {
                const double w = mass.at(static_cast<std::size_t>(j));
                EXPECT_GT(w, 0);
                EXPECT_LT((sums.row(j) / w - centroids.row(j)).norm(), 1e-5) << "stopped at " << patience;
            }
            return false;
        };
        // In parallel, because the fits sleep most of the time.
        bool whole_at_last = false;
        for (int patience = 0; !whole_at_last;) {
            std::vector<std::future<bool>> running;
            for (int i = 0; i < 16; ++i, patience += 3)
                running.push_back(std::async(std::launch::async, stopped_after, patience));
            for (auto& each : running) whole_at_last = each.get() || whole_at_last;
        }
        EXPECT_GT(before_a_result.load(), 2);
        EXPECT_GT(interrupted.load(), whole.fit_report().iterations);
    }
}

TEST(KMeans, ReportsProgress) {
    const auto x = blob_points<float>(3000, 4, 10, 1, 7);
    coterie::Run run(1);
    int calls = 0;
    double last = 0;
    run.on_progress = [&](const Progress& progress) {
        ++calls;
        if (progress.stage != "iterations") return;
        EXPECT_GE(progress.fraction, last);
        EXPECT_LE(progress.fraction, 1.0);
        last = progress.fraction;
    };
    fit_kmeans(x, {.clusters = 10, .restarts = 3}, run);
    EXPECT_GT(calls, 6);
}

TEST(KMeans, SavesAndLoads) {
    const auto path =
        (std::filesystem::temp_directory_path() / ("kmeans_test_" + std::to_string(::getpid()) + ".coterie")).string();
    const auto check = [&](const auto& x) {
        coterie::Run run(4);
        const auto model = fit_kmeans(x, {.clusters = 6, .restarts = 2}, run);
        Pipeline(model).save(path);
        const auto loaded = KMeansModel::from(Archive::load(path));
        EXPECT_EQ(loaded.predict(x), model.labels());
        EXPECT_EQ(loaded.options().restarts, 2);
        EXPECT_EQ(loaded.centroids().scalar(), model.centroids().scalar());
    };
    check(blob_points<float>(700, 6, 6, 2, 1));
    check(blob_points<double>(700, 6, 6, 2, 1));
    std::filesystem::remove(path);
}

TEST(KMeans, BadArguments) {
    const auto x = blob_points<double>(20, 3, 2, 1, 1);
    const std::vector<double> short_weights(19, 1.0);
    const std::vector<double> zero_weights(20, 0.0);
    std::vector<double> negative(20, 1.0);
    negative[4] = -1;
    std::vector<double> nan(20, 1.0);
    nan[4] = NAN;
    std::vector<double> few(20, 0.0);
    few[3] = 1;
    const Matrix<double> narrow_start = Matrix<double>::Zero(2, 2);
    const Matrix<double> start = x.topRows(2);
    Matrix<double> with_nan = x;
    with_nan(7, 1) = NAN;
    Matrix<double> with_infinity = x;
    with_infinity(7, 1) = INFINITY;
    Matrix<float> huge = x.cast<float>();
    huge(3, 2) = 1e30f;

    std::vector<double> heavy(20, 1.0);
    heavy[4] = 1e31;
    const Matrix<double> tiny = x * 1e-110;
    const Matrix<float> tiny_float = (x * 1e-20).cast<float>();
    Matrix<double> vast = x;
    vast(3, 2) = 1e101;

    struct Case {
        const char* what;
        PointsView points;
        KMeansOptions options;
        Problem side;
        bool data;
        const char* message;
    };
    const Case cases[] = {
        {"k = 0", x, {.clusters = 0}, {}, false, "clusters: 0"},
        {"k < 0", x, {.clusters = -3}, {}, false, "clusters: -3"},
        {"k > n", x, {.clusters = 21}, {}, false, "21 clusters requested, but there are only 20 rows"},
        {"restarts", x, {.clusters = 2, .restarts = 0}, {}, false, "restarts: 0"},
        {"iterations", x, {.clusters = 2, .max_iterations = 0}, {}, false, "max_iterations: 0"},
        {"tolerance", x, {.clusters = 2, .tolerance = -1}, {}, false, "tolerance: -1"},
        {"tolerance nan", x, {.clusters = 2, .tolerance = NAN}, {}, false, "tolerance: nan"},
        {"candidates", x, {.clusters = 2, .seeding_candidates = -1}, {}, false, "seeding_candidates: -1"},
        {"sample", x, {.clusters = 2, .seeding_sample = -1}, {}, false, "seeding_sample: -1"},
        {"few weights",
         x,
         {.clusters = 2},
         {.weights = short_weights, .initial_centroids = {}},
         false,
         "19 weights for 20 rows"},
        {"zero weights",
         x,
         {.clusters = 2},
         {.weights = zero_weights, .initial_centroids = {}},
         false,
         "all weights are 0"},
        {"negative weight", x, {.clusters = 2}, {.weights = negative, .initial_centroids = {}}, false, "row 5: -1"},
        {"nan weight", x, {.clusters = 2}, {.weights = nan, .initial_centroids = {}}, false, "row 5: nan"},
        {"heavy weight", x, {.clusters = 2}, {.weights = heavy, .initial_centroids = {}}, false, "row 5: 1e+31"},
        {"tiny", tiny, {.clusters = 2}, {}, true, "at least 1e-100 is accepted"},
        {"tiny float", tiny_float, {.clusters = 2}, {}, true, "at least 1e-15 is accepted"},
        {"vast", vast, {.clusters = 2}, {}, true, "column 3, row 4"},
        {"candidates", x, {.clusters = 2, .seeding_candidates = 10001}, {}, false, "seeding_candidates: 10001"},
        {"k > positive weights",
         x,
         {.clusters = 2},
         {.weights = few, .initial_centroids = {}},
         false,
         "2 clusters requested, but there is only 1"},
        {"start shape",
         x,
         {.clusters = 2},
         {.weights = {}, .initial_centroids = Points::borrow(narrow_start)},
         false,
         "2 rows of 2 columns for 2 clusters of data with 3 columns"},
        {"start restarts",
         x,
         {.clusters = 2, .restarts = 3},
         {.weights = {}, .initial_centroids = Points::borrow(start)},
         false,
         "restarts"},
        {"nan", with_nan, {.clusters = 2}, {}, true, "column 2, row 8"},
        {"infinity", with_infinity, {.clusters = 2}, {}, true, "column 2, row 8"},
        {"huge", huge, {.clusters = 2}, {}, true, "column 3, row 4"},
        {"no rows", PointsView(x.data(), 0, 3), {.clusters = 1}, {}, true, "0 rows"},
        {"no columns", PointsView(x.data(), 3, 0), {.clusters = 1}, {}, true, "0 columns"},
    };
    for (const auto& each : cases) {
        SCOPED_TRACE(each.what);
        coterie::Run run;
        try {
            fit_kmeans(with(each.points, each.side), each.options, run);
            ADD_FAILURE() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), each.data ? ErrorKind::bad_data : ErrorKind::bad_argument);
            EXPECT_NE(std::string(error.message()).find(each.message), std::string::npos) << error.message();
        }
    }
    coterie::Run run;
    const auto model = fit_kmeans(x, {.clusters = 2}, run);
    EXPECT_THROW(model.predict(narrow_start), BadArgument);
    EXPECT_THROW(model.predict(with_nan), BadData);
    EXPECT_TRUE(model.predict(PointsView(x.data(), 0, 3)).empty());
}

TEST(KMeans, PartsHaveNamesAndDescriptions) {
    const Matrix<double> x{{0, 0}, {0, 1}, {5, 5}, {5, 6}};
    const auto parts = fit_kmeans(x, {.clusters = 2}).part_descriptions();
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].name, "centroids");
    EXPECT_EQ(parts[0].shape, "k x d");
    EXPECT_FALSE(parts[0].meaning.empty());
}

}  // namespace
}  // namespace coterie
