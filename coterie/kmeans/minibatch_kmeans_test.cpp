#include "coterie/kmeans/minibatch_kmeans.hpp"

#include "coterie/kmeans/kmeans.hpp"
#include "tests/support/test_support.hpp"
#include "tests/support/variant_fixtures.hpp"

namespace coterie {
namespace {

using test::with;

using namespace fixtures;

TEST(MinibatchKMeans, FirstBatchGivesTheMeanOfItsRows) {
    // With one cluster and one batch, the centroid is the mean of the drawn rows, wherever it started.
    const Matrix<double> points = blobs(50, 2, 1, 1.0);
    coterie::Run run(7, 1);
    const Matrix<double> start = Matrix<double>::Constant(1, 2, 1e3);
    const auto model = fit_minibatch_kmeans(with(points, {.initial_centroids = Points::borrow(start)}),
                                            {.clusters = 1, .batch_size = 50, .max_epochs = 1}, run);
    RandomStream random = run.random("minibatch-kmeans.batches", 0);
    Vector<double> mean = Vector<double>::Zero(2);
    for (int r = 0; r < 50; ++r) mean += points.row(static_cast<Index>(random.uniform() * 50)).transpose() / 50;
    EXPECT_LE((to_matrix<double>(model.centroids()).row(0).transpose() - mean).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_EQ(model.fit_report().iterations, 1);
    EXPECT_EQ(model.fit_report().stopped, StopReason::iteration_limit);
}

TEST(MinibatchKMeans, InertiaIsCloseToThatOfKMeans) {
    const Matrix<double> points = blobs(20000, 8, 10, 4.0, 3);
    coterie::Run run(5, 2);
    const auto full = fit_kmeans(points, {.clusters = 10}, run);
    const auto model = fit_minibatch_kmeans(points, {.clusters = 10}, run);
    expect_sound_report(model, 20000, 8, 10, run);
    EXPECT_LE(model.inertia(), 1.05 * full.inertia());
    EXPECT_EQ(model.predict(points), model.labels());
    EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
    EXPECT_EQ(static_cast<int>(model.fit_report().objective_per_iteration.size()), model.fit_report().iterations);
    double direct = 0;
    const Matrix<double> centroids = to_matrix<double>(model.centroids());
    for (Index i = 0; i < points.rows(); ++i)
        direct += (points.row(i) - centroids.row(model.labels()[static_cast<std::size_t>(i)])).squaredNorm();
    EXPECT_NEAR(model.inertia(), direct, 1e-9 * direct);
    EXPECT_NEAR(model.fit_report().objective_per_iteration.back(), direct, 0.1 * direct);  // the batches' estimate
}

// In many columns a row is as far from all others as they are from each other: a centroid that starts on a row stays
// there.
TEST(MinibatchKMeans, CentroidsMoveOffRowsInManyColumns) {
    const int k = 40;
    RandomStream random(7, "many columns");
    Matrix<double> centers(k, 128), points(20000, 128);
    for (Index i = 0; i < centers.size(); ++i) centers.data()[i] = 0.3 * random.normal();
    for (Index i = 0; i < points.rows(); ++i)
        for (Index p = 0; p < 128; ++p) points(i, p) = centers(i % k, p) + random.normal();
    coterie::Run run(1, 2);
    const auto full = fit_kmeans(points, {.clusters = k}, run);
    const auto model = fit_minibatch_kmeans(points, {.clusters = k}, run);
    EXPECT_LE(model.inertia(), 1.03 * full.inertia());
    std::vector<int> sizes(k, 0);
    for (const auto label : model.labels()) ++sizes[static_cast<std::size_t>(label)];
    EXPECT_GE(*std::min_element(sizes.begin(), sizes.end()), 20);
}

TEST(MinibatchKMeans, FewDistinctRowsInTheSample) {
    Matrix<double> points = Matrix<double>::Zero(100000, 2);
    points(99999, 0) = 1;
    points(5, 1) = 1;
    const auto model = fit_minibatch_kmeans(points, {.clusters = 3, .batch_size = 10}, coterie::Run(1, 1));
    EXPECT_TRUE(model.fit_report().warnings.empty());
    EXPECT_EQ(model.inertia(), 0);
}

TEST(MinibatchKMeans, FindsSeparatedClusters) {
    const Matrix<double> points = blobs(3000, 5, 6, 0.5, 4);
    Labels truth;
    for (int i = 0; i < 3000; ++i) truth.push_back(i % 6);
    coterie::Run run(1, 1);
    EXPECT_TRUE(same_partition(
        fit_minibatch_kmeans(points, {.clusters = 6, .batch_size = 200, .restarts = 3}, run).labels(), truth));
}

TEST(MinibatchKMeans, StarvedCentroidsAreReassigned) {
    const Matrix<double> points = blobs(2000, 3, 4, 0.3, 2);
    Matrix<double> start(4, 3);
    for (Index j = 0; j < 3; ++j) start.row(j) = points.row(j);
    start.row(3).setConstant(1e4);  // no point is nearest to it
    Labels truth;
    for (int i = 0; i < 2000; ++i) truth.push_back(i % 4);
    coterie::Run run(3, 1);
    const MinibatchKMeansOptions options{.clusters = 4, .batch_size = 100};
    const auto model = fit_minibatch_kmeans(with(points, {.initial_centroids = Points::borrow(start)}), options, run);
    EXPECT_GE(model.fit_report().empty_clusters_repaired, 1);
    EXPECT_TRUE(same_partition(model.labels(), truth));
    MinibatchKMeansOptions never = options;
    never.reassignment_share = 0;
    const auto starved = fit_minibatch_kmeans(with(points, {.initial_centroids = Points::borrow(start)}), never, run);
    EXPECT_EQ(starved.fit_report().empty_clusters_repaired, 0);
    EXPECT_EQ(starved.fit_report().clusters_found, 3);
    ASSERT_EQ(starved.fit_report().warnings.size(), 1u);
    EXPECT_NE(starved.fit_report().warnings[0].text().find("1 of 4 clusters are empty"), std::string::npos);
}

TEST(MinibatchKMeans, StopsByPatienceOrEpochs) {
    const Matrix<double> points = blobs(1000, 3, 4, 3.0, 2);
    coterie::Run run(3, 1);
    const auto all =
        fit_minibatch_kmeans(points, {.clusters = 4, .batch_size = 100, .max_epochs = 7, .patience = 0}, run);
    EXPECT_EQ(all.fit_report().iterations, 70);
    EXPECT_EQ(all.fit_report().stopped, StopReason::iteration_limit);
    const auto patient =
        fit_minibatch_kmeans(points, {.clusters = 4, .batch_size = 100, .max_epochs = 1000, .patience = 3}, run);
    EXPECT_EQ(patient.fit_report().stopped, StopReason::converged);
    EXPECT_LT(patient.fit_report().iterations, 10000);
    const auto& history = patient.fit_report().objective_per_iteration;
    const auto lowest = std::min_element(history.begin(), history.end());
    EXPECT_EQ(history.end() - lowest, 4);  // a minimum, then three batches without a new one
}

TEST(MinibatchKMeans, WeightsActAsCopies) {
    // Batches as large as the number of copies, so that both fits draw the same number of rows. The same uniform number
    // u selects a row or one of its copies.
    const Matrix<double> points = blobs(80, 3, 4, 3.0, 6);
    const auto weights = whole_weights(80, 6);
    std::vector<Index> source;
    const Matrix<double> expanded = copies(points, weights, source);
    const Matrix<double> start = points.topRows(4);
    coterie::Run run(4, 1);
    const MinibatchKMeansOptions options{.clusters = 4, .batch_size = 50, .max_epochs = 1000, .patience = 20};
    const auto weighted = fit_minibatch_kmeans(
        with(points, {.weights = weights, .initial_centroids = Points::borrow(start)}), options, run);
    const auto copied =
        fit_minibatch_kmeans(with(expanded, {.initial_centroids = Points::borrow(start)}), options, run);
    for (std::size_t i = 0; i < source.size(); ++i)
        EXPECT_EQ(copied.labels()[i], weighted.labels()[static_cast<std::size_t>(source[i])]);
    EXPECT_NEAR(copied.inertia(), weighted.inertia(), 0.05 * copied.inertia());
    for (std::size_t t = 0; t < 3; ++t)  // the first batches are the same rows; only the smoothing depends on n
        EXPECT_NEAR(copied.fit_report().objective_per_iteration[0], weighted.fit_report().objective_per_iteration[0],
                    1e-9 * copied.inertia());
}

TEST(MinibatchKMeans, RowsOfWeightZeroAreNeverDrawn) {
    Matrix<double> points = blobs(100, 2, 2, 0.1, 5);
    std::vector<double> weights(100, 1.0);
    points.row(0).setConstant(1e5);
    points.row(99).setConstant(-1e5);
    weights[0] = weights[99] = 0;
    coterie::Run run(4, 1);
    const auto model =
        fit_minibatch_kmeans(with(points, {.weights = weights, .initial_centroids = {}}), {.clusters = 2}, run);
    EXPECT_LT(to_matrix<double>(model.centroids()).cwiseAbs().maxCoeff(), 100);
    EXPECT_LT(model.inertia(), 10);
}

TEST(MinibatchKMeans, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = blobs<float>(5000, 7, 5, 6.0, 7);
    expect_same_bits_at_any_threads([&](const coterie::Run& run) {
        return fit_minibatch_kmeans(points, {.clusters = 5, .max_epochs = 10, .restarts = 2}, run);
    });
}

TEST(MinibatchKMeans, FloatAgreesWithDouble) {
    const Matrix<double> points = blobs(2000, 5, 4, 1.0, 8);
    coterie::Run run(2, 1);
    const auto a = fit_minibatch_kmeans(points, {.clusters = 4}, run);
    const auto b = fit_minibatch_kmeans(points.cast<float>().eval(), {.clusters = 4}, run);
    EXPECT_TRUE(same_partition(a.labels(), b.labels()));
    EXPECT_NEAR(a.inertia(), b.inertia(), 1e-2 * a.inertia());
    EXPECT_EQ(b.centroids().scalar(), ScalarType::float32);
}

TEST(MinibatchKMeans, EmptyClustersAreReported) {
    expect_empty_clusters_reported([](const Matrix<double>& points, const coterie::Run& run) {
        return fit_minibatch_kmeans(points, {.clusters = 3}, run);
    });
}

TEST(MinibatchKMeans, StopsWhenAsked) {
    expect_stops([](const Matrix<double>& points, const coterie::Run& run) {
        return fit_minibatch_kmeans(points, {.clusters = 8}, run);
    });
}

TEST(MinibatchKMeans, RejectsBadArguments) {
    expect_usual_refusals("minibatch-kmeans");
    coterie::Run run(0, 1);
    const Matrix<double> points = blobs(6, 2, 2, 1.0);
    expect_error<BadArgument>([&] { fit_minibatch_kmeans(points, {.clusters = 2, .batch_size = 0}, run); },
                              {"batch_size", "0"});
    expect_error<BadArgument>([&] { fit_minibatch_kmeans(points, {.clusters = 2, .reassignment_share = 2}, run); },
                              {"reassignment_share", "2"});
}

TEST(MinibatchKMeans, RoundTrip) {
    const Matrix<float> points = blobs<float>(80, 3, 4, 3.0);
    coterie::Run run(0, 1);
    const auto model = fit_minibatch_kmeans(points, {.clusters = 4}, run);
    const auto loaded = round_trip(model);
    EXPECT_EQ(loaded->predict(points), model.predict(points));
    expect_same_bits(dynamic_cast<const MinibatchKMeansModel&>(*loaded).centroids(), model.centroids());
}

}  // namespace
}  // namespace coterie
