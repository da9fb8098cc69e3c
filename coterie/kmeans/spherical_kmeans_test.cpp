#include "coterie/kmeans/spherical_kmeans.hpp"

#include "tests/support/test_support.hpp"
#include "tests/support/variant_fixtures.hpp"

namespace coterie {
namespace {

using test::with;

using namespace fixtures;

// Rows of many lengths around k directions.
template <class T = double>
Matrix<T> fans(Index n, Index d, int k, double spread, std::uint64_t seed = 1) {
    Matrix<double> out = blobs(n, d, k, spread, seed);
    RandomStream random(seed, "lengths");
    for (Index i = 0; i < n; ++i) out.row(i) *= std::exp(3 * random.normal());
    return out.cast<T>();
}

double plain_objective(const Matrix<double>& points, const Matrix<double>& centroids, const Labels& labels,
                       const std::vector<double>& weights = {}) {
    double sum = 0;
    for (Index i = 0; i < points.rows(); ++i)
        sum += (weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]) *
               (1 - points.row(i).dot(centroids.row(labels[static_cast<std::size_t>(i)])) / points.row(i).norm());
    return sum;
}

TEST(SphericalKMeans, OneIterationFollowsTheFormulas) {
    const Matrix<double> points = fans(500, 4, 3, 5.0);
    const auto weights = whole_weights(500, 4);
    const Matrix<double> start = points.topRows(3);
    coterie::Run run(0, 2);
    const auto model =
        fit_spherical_kmeans(with(points, {.weights = weights, .initial_centroids = Points::borrow(start)}),
                             {.clusters = 3, .max_iterations = 1}, run);
    Matrix<double> sums = Matrix<double>::Zero(3, 4);
    for (Index i = 0; i < 500; ++i) {
        Index best = 0;
        ((start.rowwise().normalized()) * points.row(i).transpose()).maxCoeff(&best);
        sums.row(best) += weights[static_cast<std::size_t>(i)] * points.row(i).normalized();
    }
    const Matrix<double> centroids = to_matrix<double>(model.centroids());
    EXPECT_LE((centroids - sums.rowwise().normalized()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(model.fit_report().objective, plain_objective(points, centroids, model.labels(), weights), 1e-9);
}

TEST(SphericalKMeans, ObjectiveNeverRisesAndCentroidsHaveUnitLength) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        Matrix<double> points = seed % 2 == 0 ? fans(300, 4, 5, 7.0, seed) : lattice(300, 3, 3, seed);
        points.col(0).array() += seed % 2 == 0 ? 0.0 : 1.0;  // no row of zeros
        const auto weights = whole_weights(300, seed);
        coterie::Run run(seed, 1);
        const auto model = fit_spherical_kmeans(with(points, {.weights = weights, .initial_centroids = {}}),
                                                {.clusters = 7, .restarts = 2}, run);
        expect_sound_report(model, 300, points.cols(), 7, run);
        expect_falling(model.fit_report().objective_per_iteration, 1e-12);
        EXPECT_LE(model.fit_report().objective, model.fit_report().objective_per_iteration.back() + 1e-9);
        const Matrix<double> centroids = to_matrix<double>(model.centroids());
        EXPECT_LE((centroids.rowwise().norm().array() - 1).abs().maxCoeff(), 1e-12);
        EXPECT_EQ(model.predict(points), model.labels());
        EXPECT_NEAR(model.fit_report().objective, plain_objective(points, centroids, model.labels(), weights), 1e-9);
    }
}

TEST(SphericalKMeans, RowLengthsDoNotMatter) {
    const Matrix<double> points = blobs(200, 5, 4, 0.5, 3);
    Labels truth;
    for (int i = 0; i < 200; ++i) truth.push_back(i % 4);
    Matrix<double> scaled = points;
    for (Index i = 0; i < 200; ++i) scaled.row(i) *= std::ldexp(1.0, static_cast<int>(i % 60) - 30);
    scaled.row(7) *= std::ldexp(1.0, -900);  // squares underflow
    coterie::Run run(2, 1);
    const auto a = fit_spherical_kmeans(points, {.clusters = 4}, run);
    const auto b = fit_spherical_kmeans(scaled, {.clusters = 4}, run);
    EXPECT_TRUE(same_partition(a.labels(), truth));
    EXPECT_EQ(a.labels(), b.labels());
    expect_same_bits(a.centroids(), b.centroids());
}

TEST(SphericalKMeans, ZeroRowErrorsNameTheRow) {
    Matrix<double> points = fans(20, 3, 2, 1.0);
    coterie::Run run(0, 2);
    const auto model = fit_spherical_kmeans(points, {.clusters = 2}, run);
    points.row(12).setZero();
    expect_error<BadData>([&] { fit_spherical_kmeans(points, {.clusters = 2}, run); }, {"row 13", "all values are 0"});
    expect_error<BadData>([&] { model.predict(points); }, {"row 13", "all values are 0"});
    const Matrix<double> start = Matrix<double>::Zero(2, 3);
    expect_error<BadData>(
        [&] {
            fit_spherical_kmeans(with(fans(20, 3, 2, 1.0), {.initial_centroids = Points::borrow(start)}),
                                 {.clusters = 2}, run);
        },
        {"initial_centroids", "row 1"});
}

TEST(SphericalKMeans, RowsThatCancelOut) {
    Matrix<double> points(4, 2);
    points << 1, 0, -1, 0, 0, 1, 0, -1;
    coterie::Run run(0, 1);
    const auto model = fit_spherical_kmeans(points, {.clusters = 1}, run);
    EXPECT_TRUE(to_matrix<double>(model.centroids()).allFinite());
    EXPECT_NEAR(model.fit_report().objective, 4, 1e-12);
}

TEST(SphericalKMeans, WeightsActAsCopies) {
    expect_weights_act_as_copies(
        [](const Matrix<double>& points, const coterie::Run& run, const Problem& side) {
            return fit_spherical_kmeans(with(points, side), {.clusters = 4}, run);
        },
        1e-9);
}

TEST(SphericalKMeans, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = fans<float>(3000, 7, 5, 6.0, 7);
    expect_same_bits_at_any_threads(
        [&](const coterie::Run& run) { return fit_spherical_kmeans(points, {.clusters = 5, .restarts = 2}, run); });
}

TEST(SphericalKMeans, FloatAgreesWithDouble) {
    const Matrix<double> points = fans(500, 5, 4, 1.0, 8);
    coterie::Run run(2, 1);
    const auto a = fit_spherical_kmeans(points, {.clusters = 4}, run);
    const auto b = fit_spherical_kmeans(points.cast<float>().eval(), {.clusters = 4}, run);
    EXPECT_TRUE(same_partition(a.labels(), b.labels()));
    EXPECT_NEAR(a.fit_report().objective, b.fit_report().objective, 1e-4 * a.fit_report().objective);
    EXPECT_EQ(b.centroids().scalar(), ScalarType::float32);
}

TEST(SphericalKMeans, EmptyClustersAreReported) {
    expect_empty_clusters_reported([](const Matrix<double>& points, const coterie::Run& run) {
        return fit_spherical_kmeans(points, {.clusters = 3}, run);
    });
}

TEST(SphericalKMeans, EmptyClusterTakesTheFarthestPoint) {
    Matrix<double> points(5, 2);
    points << 1, 0, 1, 0.1, 1, 0.2, 0.1, 1, 0, 1;
    Matrix<double> start(2, 2);
    start << 1, 1, -1, -1;  // no row is nearest to the second
    coterie::Run run(0, 1);
    const auto model =
        fit_spherical_kmeans(with(points, {.initial_centroids = Points::borrow(start)}), {.clusters = 2}, run);
    EXPECT_TRUE(same_partition(model.labels(), {0, 0, 0, 1, 1}));
    EXPECT_EQ(model.fit_report().empty_clusters_repaired, 1);
}

// The centroids are the directions of the clusters given by the labels; in k-means they are the means.
TEST(SphericalKMeans, StopsWhenAsked) {
    const auto [points, model] = expect_stops(
        [](const Matrix<double>& rows, const coterie::Run& run) {
            return fit_spherical_kmeans(rows, {.clusters = 8, .tolerance = 0}, run);
        },
        false);
    Matrix<double> sums = Matrix<double>::Zero(8, 3);
    for (Index i = 0; i < points.rows(); ++i)
        sums.row(model.labels()[static_cast<std::size_t>(i)]) += points.row(i).normalized();
    const Matrix<double> centroids = to_matrix<double>(model.centroids());
    EXPECT_LE((centroids - sums.rowwise().normalized()).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_NEAR(model.fit_report().objective, plain_objective(points, centroids, model.labels()), 1e-9);
}

TEST(SphericalKMeans, RejectsBadArguments) { expect_usual_refusals("spherical-kmeans"); }

TEST(SphericalKMeans, RoundTrip) {
    const Matrix<float> points = fans<float>(80, 3, 4, 3.0);
    coterie::Run run(0, 1);
    const auto model = fit_spherical_kmeans(points, {.clusters = 4}, run);
    const auto loaded = round_trip(model);
    EXPECT_EQ(loaded->predict(points), model.predict(points));
    EXPECT_EQ(loaded->predict(points.cast<double>().eval()), model.predict(points));
    expect_same_bits(dynamic_cast<const SphericalKMeansModel&>(*loaded).centroids(), model.centroids());
}

}  // namespace
}  // namespace coterie
