#include "coterie/kmeans/soft_kmeans.hpp"

#include "coterie/kmeans/kmeans.hpp"
#include "tests/support/test_support.hpp"
#include "tests/support/variant_fixtures.hpp"

namespace coterie {
namespace {

using test::with;

using namespace fixtures;

// One step exactly as in the formulas: probabilities, free energy, new centroids.
struct PlainStep {
    Matrix<double> probabilities;
    double free_energy = 0;
    Matrix<double> centroids;
};
PlainStep plain_step(const Matrix<double>& points, const Matrix<double>& centroids, double temperature,
                     const std::vector<double>& weights = {}) {
    PlainStep out;
    out.probabilities.resize(points.rows(), centroids.rows());
    out.centroids = Matrix<double>::Zero(centroids.rows(), centroids.cols());
    Vector<double> mass = Vector<double>::Zero(centroids.rows());
    for (Index i = 0; i < points.rows(); ++i) {
        const double w = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
        for (Index j = 0; j < centroids.rows(); ++j)
            out.probabilities(i, j) = std::exp(-(points.row(i) - centroids.row(j)).squaredNorm() / temperature);
        out.probabilities.row(i) /= out.probabilities.row(i).sum();
        for (Index j = 0; j < centroids.rows(); ++j) {
            const double a = out.probabilities(i, j);
            out.free_energy += w * a * (points.row(i) - centroids.row(j)).squaredNorm();
            if (a > 0) out.free_energy += w * temperature * a * std::log(a);
            out.centroids.row(j) += w * a * points.row(i);
            mass[j] += w * a;
        }
    }
    for (Index j = 0; j < centroids.rows(); ++j) out.centroids.row(j) /= mass[j];
    return out;
}

TEST(SoftKMeans, OneIterationFollowsTheFormulas) {
    const Matrix<double> points = blobs(1000, 3, 4, 6.0, 3);
    const auto weights = whole_weights(1000, 3);
    const Matrix<double> start = points.topRows(4);
    const double temperature = 70;
    coterie::Run run(0, 2);
    const auto model = fit_soft_kmeans(with(points, {.weights = weights, .initial_centroids = Points::borrow(start)}),
                                       {.clusters = 4, .temperature = temperature, .max_iterations = 1}, run);
    const PlainStep first = plain_step(points, start, temperature, weights);
    EXPECT_LE((to_matrix<double>(model.centroids()) - first.centroids).cwiseAbs().maxCoeff(), 1e-10);
    const PlainStep second = plain_step(points, first.centroids, temperature, weights);
    EXPECT_NEAR(model.fit_report().objective, second.free_energy, 1e-10 * std::abs(second.free_energy));
    EXPECT_LE((model.output(Output::memberships, points) - second.probabilities).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_EQ(model.fit_report().stopped, StopReason::iteration_limit);
    double distortion = 0;
    double entropy = 0;
    for (const auto& [name, value] : model.fit_report().details) {
        if (name == "distortion") distortion = std::get<double>(value);
        if (name == "entropy") entropy = std::get<double>(value);
    }
    const double mass = std::accumulate(weights.begin(), weights.end(), 0.0);
    EXPECT_NEAR(distortion - temperature * mass * entropy, second.free_energy, 1e-9 * std::abs(second.free_energy));
}

TEST(SoftKMeans, FreeEnergyNeverRises) {
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        for (const std::optional<double> temperature : {std::optional<double>(), {0.5}, {50.0}, {5000.0}}) {
            SCOPED_TRACE(seed);
            const Matrix<double> points = seed % 2 == 0 ? blobs(300, 3, 5, 7.0, seed) : lattice(300, 2, 5, seed);
            const auto weights = whole_weights(300, seed);
            coterie::Run run(seed, 1);
            const auto model = fit_soft_kmeans(with(points, {.weights = weights, .initial_centroids = {}}),
                                               {.clusters = 6, .temperature = temperature}, run);
            expect_sound_report(model, 300, points.cols(), 6, run);
            expect_falling(model.fit_report().objective_per_iteration, 1e-12);
            EXPECT_EQ(model.predict(points), model.labels());
            EXPECT_GT(model.options().temperature, 0);
        }
}

TEST(SoftKMeans, LowTemperatureEqualsKMeans) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const Matrix<double> points = blobs(400, 4, 5, 6.0, seed);
        const Matrix<double> start = points.topRows(5);
        coterie::Run run(0, 1);
        const auto hard = fit_kmeans(with(points, {.initial_centroids = Points::borrow(start)}),
                                     {.clusters = 5, .tolerance = 0}, run);
        const auto soft = fit_soft_kmeans(with(points, {.initial_centroids = Points::borrow(start)}),
                                          {.clusters = 5, .temperature = 1e-9, .tolerance = 0}, run);
        EXPECT_EQ(soft.labels(), hard.labels());
        EXPECT_NEAR(soft.fit_report().objective, hard.inertia(), 1e-9 * hard.inertia());
    }
}

TEST(SoftKMeans, HighTemperatureGivesOneCluster) {
    const Matrix<double> points = blobs(200, 3, 4, 2.0);
    coterie::Run run(0, 1);
    const auto model = fit_soft_kmeans(points, {.clusters = 4, .temperature = 1e7, .tolerance = 0}, run);
    const Matrix<double> centroids = to_matrix<double>(model.centroids());
    for (Index j = 0; j < 4; ++j) EXPECT_LE((centroids.row(j) - points.colwise().mean()).cwiseAbs().maxCoeff(), 1e-3);
    EXPECT_LE((model.output(Output::memberships, points).array() - 0.25).abs().maxCoeff(), 1e-3);
}

TEST(SoftKMeans, ProbabilitiesAreValidAtAnyScale) {
    const Matrix<double> points = blobs(150, 3, 3, 1.0) * 1e60;
    coterie::Run run(0, 1);
    for (const std::optional<double> temperature : {std::optional<double>(), {1e-300}, {1e118}, {1e200}}) {
        const auto model = fit_soft_kmeans(points, {.clusters = 3, .temperature = temperature}, run);
        const Matrix<double> a = model.output(Output::memberships, points);
        ASSERT_TRUE(a.allFinite());
        EXPECT_GE(a.minCoeff(), 0);
        EXPECT_LE((a.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
        for (Index i = 0; i < 150; ++i)
            EXPECT_NEAR(a(i, model.labels()[static_cast<std::size_t>(i)]), a.row(i).maxCoeff(), 1e-9);
        EXPECT_TRUE(std::isfinite(model.fit_report().objective));
    }
}

TEST(SoftKMeans, AutomaticTemperatureIsTwiceTheVarianceWithin) {
    const Matrix<double> points = blobs(4000, 5, 4, 0.5, 9);
    coterie::Run run(1, 2);
    const auto model = fit_soft_kmeans(points, {.clusters = 4}, run);
    EXPECT_NEAR(*model.options().temperature, 2 * 0.25, 0.02);
    Labels truth;
    for (int i = 0; i < 4000; ++i) truth.push_back(i % 4);
    EXPECT_TRUE(same_partition(model.labels(), truth));
}

TEST(SoftKMeans, WeightsActAsCopies) {
    expect_weights_act_as_copies(
        [](const Matrix<double>& points, const coterie::Run& run, const Problem& side) {
            return fit_soft_kmeans(with(points, side), {.clusters = 4, .temperature = 20}, run);
        },
        1e-9);
}

TEST(SoftKMeans, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = blobs<float>(3000, 7, 5, 6.0, 7);
    expect_same_bits_at_any_threads([&](const coterie::Run& run) {
        return fit_soft_kmeans(points, {.clusters = 5, .restarts = 2, .max_iterations = 20}, run);
    });
}

TEST(SoftKMeans, FloatAgreesWithDouble) {
    const Matrix<double> points = blobs(500, 5, 4, 1.0, 8);
    coterie::Run run(2, 1);
    const auto a = fit_soft_kmeans(points, {.clusters = 4, .temperature = 3}, run);
    const auto b = fit_soft_kmeans(points.cast<float>().eval(), {.clusters = 4, .temperature = 3}, run);
    EXPECT_TRUE(same_partition(a.labels(), b.labels()));
    EXPECT_NEAR(a.fit_report().objective, b.fit_report().objective, 1e-4 * std::abs(a.fit_report().objective));
    EXPECT_EQ(b.centroids().scalar(), ScalarType::float32);
}

TEST(SoftKMeans, EmptyClustersAreReported) {
    expect_empty_clusters_reported([](const Matrix<double>& points, const coterie::Run& run) {
        return fit_soft_kmeans(points, {.clusters = 3}, run);
    });
}

TEST(SoftKMeans, StopsWhenAsked) {
    expect_stops([](const Matrix<double>& points, const coterie::Run& run) {
        return fit_soft_kmeans(points, {.clusters = 8, .tolerance = 0}, run);
    });
}

TEST(SoftKMeans, RejectsBadArguments) {
    expect_usual_refusals("soft-kmeans");
    coterie::Run run(0, 1);
    const Matrix<double> points = blobs(6, 2, 2, 1.0);
    expect_error<BadArgument>([&] { fit_soft_kmeans(points, {.clusters = 2, .temperature = -1}, run); },
                              {"temperature", "-1"});
    const Matrix<double> start = Matrix<double>::Zero(3, 2);
    expect_error<BadArgument>(
        [&] { fit_soft_kmeans(with(points, {.initial_centroids = Points::borrow(start)}), {.clusters = 2}, run); },
        {"3 rows of 2 columns for 2 clusters of data with 2 columns"});
    expect_error<BadArgument>(
        [&] {
            fit_soft_kmeans(with(points, {.initial_centroids = Points::borrow(start)}), {.clusters = 3, .restarts = 2},
                            run);
        },
        {"restarts"});
    const auto model = fit_soft_kmeans(points, {.clusters = 2}, run);
    expect_error<BadArgument>([&] { model.output(Output::memberships, start.leftCols(1).eval()); }, {"1", "2"});
}

TEST(SoftKMeans, RoundTrip) {
    const Matrix<float> points = blobs<float>(80, 3, 4, 3.0);
    coterie::Run run(0, 1);
    const auto model = fit_soft_kmeans(points, {.clusters = 4}, run);
    const auto loaded = round_trip(model);
    EXPECT_EQ(loaded->predict(points), model.predict(points));
    const auto& soft = dynamic_cast<const SoftKMeansModel&>(*loaded);
    expect_same_bits(soft.output(Output::memberships, points), model.output(Output::memberships, points));
}

}  // namespace
}  // namespace coterie
