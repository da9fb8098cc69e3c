#include "coterie/kmeans/kernel_kmeans.hpp"

#include "coterie/kmeans/kmeans.hpp"
#include "tests/support/test_support.hpp"
#include "tests/support/variant_fixtures.hpp"

namespace coterie {
namespace {

using test::with;

using namespace fixtures;

Matrix<double> rings(Index n, std::uint64_t seed = 1) {
    RandomStream random(seed, "rings");
    Matrix<double> out(n, 2);
    for (Index i = 0; i < n; ++i) {
        const double angle = 6.283185307179586 * static_cast<double>(i) / static_cast<double>(n);
        const double radius = (i % 2 == 0 ? 0.2 : 5.0) + 0.05 * random.normal();
        out(i, 0) = radius * std::cos(angle);
        out(i, 1) = radius * std::sin(angle);
    }
    return out;
}

Matrix<double> rbf_matrix(const Matrix<double>& a, const Matrix<double>& b, double width) {
    Matrix<double> out(a.rows(), b.rows());
    for (Index i = 0; i < a.rows(); ++i)
        for (Index j = 0; j < b.rows(); ++j)
            out(i, j) = std::exp(-(a.row(i) - b.row(j)).squaredNorm() / (2 * width * width));
    return out;
}

// Textbook Lloyd's algorithm from given centroids.
Labels plain_lloyd(const Matrix<double>& points, Matrix<double> centroids) {
    Labels labels(static_cast<std::size_t>(points.rows()), -1);
    for (bool changed = true; changed;) {
        changed = false;
        for (Index i = 0; i < points.rows(); ++i) {
            Index best = 0;
            for (Index j = 1; j < centroids.rows(); ++j)
                if ((points.row(i) - centroids.row(j)).squaredNorm() <
                    (points.row(i) - centroids.row(best)).squaredNorm())
                    best = j;
            changed = changed || labels[static_cast<std::size_t>(i)] != static_cast<int>(best);
            labels[static_cast<std::size_t>(i)] = static_cast<int>(best);
        }
        for (Index j = 0; j < centroids.rows(); ++j) {
            Vector<double> sum = Vector<double>::Zero(points.cols());
            int count = 0;
            for (Index i = 0; i < points.rows(); ++i)
                if (labels[static_cast<std::size_t>(i)] == static_cast<int>(j)) {
                    sum += points.row(i).transpose();
                    ++count;
                }
            if (count > 0) centroids.row(j) = sum.transpose() / count;
        }
    }
    return labels;
}

TEST(KernelKMeans, LinearKernelEqualsKMeans) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        SCOPED_TRACE(seed);
        Matrix<double> points = blobs(300, 4, 5, 6.0, seed);
        points.array() += 1000;  // far from the origin
        const Matrix<double> start = points.topRows(5);
        const Labels plain = plain_lloyd(points, start);
        coterie::Run run(0, 2);
        const auto model = fit_kernel_kmeans(with(points, {.initial_centroids = Points::borrow(start)}),
                                             {.clusters = 5, .kernel = KernelFunction::linear}, run);
        EXPECT_EQ(model.labels(), plain);
        EXPECT_NEAR(model.fit_report().objective, plain_inertia(points, plain, 5), 1e-9 * model.fit_report().objective);
        EXPECT_EQ(model.predict(points), plain);
        EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
    }
}

TEST(KernelKMeans, ObjectiveAgreesWithTheDefinition) {
    const Matrix<double> points = blobs(40, 3, 3, 4.0, 2);
    const auto weights = whole_weights(40, 2);
    coterie::Run run(0, 1);
    const auto model = fit_kernel_kmeans(with(points, {.weights = weights, .initial_centroids = {}}),
                                         {.clusters = 3, .width = 5}, run);
    const Matrix<double> kernel = rbf_matrix(points, points, 5);
    double total = 0;
    for (int j = 0; j < 3; ++j) {
        double mass = 0;
        double within = 0;
        for (Index i = 0; i < 40; ++i)
            if (model.labels()[static_cast<std::size_t>(i)] == j) {
                mass += weights[static_cast<std::size_t>(i)];
                total += weights[static_cast<std::size_t>(i)] * kernel(i, i);
                for (Index l = 0; l < 40; ++l)
                    if (model.labels()[static_cast<std::size_t>(l)] == j)
                        within +=
                            weights[static_cast<std::size_t>(i)] * weights[static_cast<std::size_t>(l)] * kernel(i, l);
            }
        total -= within / mass;
    }
    EXPECT_NEAR(model.fit_report().objective, total, 1e-10 * total);
}

TEST(KernelKMeans, RbfSeparatesRingsThatKMeansCannot) {
    const Matrix<double> points = rings(300);
    Labels truth;
    for (int i = 0; i < 300; ++i) truth.push_back(i % 2);
    coterie::Run run(3, 2);
    const auto plain = fit_kmeans(points, {.clusters = 2, .restarts = 10}, run);
    EXPECT_FALSE(same_partition(plain.labels(), truth));
    const auto model = fit_kernel_kmeans(points, {.clusters = 2, .width = 2.5, .restarts = 20}, run);
    EXPECT_TRUE(same_partition(model.labels(), truth));
    EXPECT_EQ(model.predict(points), model.labels());
    expect_sound_report(model, 300, 2, 2, run);
    const Matrix<double> fresh = rings(300, 77);
    EXPECT_TRUE(same_partition(model.predict(fresh), truth));
}

TEST(KernelKMeans, PrecomputedKernelGivesTheSameResult) {
    const Matrix<double> points = blobs(120, 3, 4, 3.0, 4);
    const Matrix<double> fresh = blobs(50, 3, 4, 3.0, 4);
    const auto weights = whole_weights(120, 4);
    for (const bool weighted : {false, true}) {
        Problem side;
        if (weighted) side.weights = weights;
        coterie::Run run(9, 2);
        const auto direct = fit_kernel_kmeans(with(points, side), {.clusters = 4, .width = 8}, run);
        const auto given = fit_kernel_kmeans(with(rbf_matrix(points, points, 8), side),
                                             {.clusters = 4, .kernel = KernelFunction::precomputed}, run);
        EXPECT_EQ(given.labels(), direct.labels());
        EXPECT_NEAR(given.fit_report().objective, direct.fit_report().objective, 1e-9);
        EXPECT_EQ(given.dimensions(), 120);
        EXPECT_EQ(given.predict(rbf_matrix(fresh, points, 8)), direct.predict(fresh));
        EXPECT_EQ(given.predict(rbf_matrix(points, points, 8)), given.labels());
    }
}

TEST(KernelKMeans, ObjectiveNeverRises) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        SCOPED_TRACE(seed);
        const Matrix<double> points = seed % 2 == 0 ? blobs(250, 3, 6, 8.0, seed) : lattice(250, 2, 6, seed);
        const auto weights = whole_weights(250, seed);
        for (const auto kernel : {KernelFunction::rbf, KernelFunction::polynomial, KernelFunction::linear}) {
            coterie::Run run(seed, 1);
            const auto model = fit_kernel_kmeans(with(points, {.weights = weights, .initial_centroids = {}}),
                                                 {.clusters = 7, .kernel = kernel, .degree = 2}, run);
            expect_sound_report(model, 250, points.cols(), 7, run);
            expect_falling(model.fit_report().objective_per_iteration, 0);
            EXPECT_GE(model.fit_report().objective, 0);
            EXPECT_EQ(static_cast<int>(model.fit_report().objective_per_iteration.size()),
                      model.fit_report().iterations);
        }
    }
}

TEST(KernelKMeans, IndefiniteMatrixTerminates) {
    RandomStream random(5, "indefinite");
    Matrix<double> kernel(60, 60);
    for (Index i = 0; i < 60; ++i)
        for (Index j = 0; j <= i; ++j) kernel(i, j) = kernel(j, i) = i == j ? 1.0 : random.normal();
    coterie::Run run(0, 1);
    const auto model = fit_kernel_kmeans(kernel, {.clusters = 4, .kernel = KernelFunction::precomputed}, run);
    expect_falling(model.fit_report().objective_per_iteration, 0);
    EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
}

TEST(KernelKMeans, WeightActsAsCopies) {
    const Matrix<double> points = blobs(60, 3, 4, 3.0, 6);
    const auto weights = whole_weights(60, 6);
    std::vector<Index> source;
    const Matrix<double> expanded = copies(points, weights, source);
    const Matrix<double> start = points.topRows(4);
    for (const auto kernel : {KernelFunction::rbf, KernelFunction::polynomial}) {
        const KernelKMeansOptions options{.clusters = 4, .kernel = kernel, .width = 9, .gamma = 0.01, .degree = 2};
        coterie::Run run(0, 1);
        const auto weighted = fit_kernel_kmeans(
            with(points, {.weights = weights, .initial_centroids = Points::borrow(start)}), options, run);
        const auto copied =
            fit_kernel_kmeans(with(expanded, {.initial_centroids = Points::borrow(start)}), options, run);
        for (std::size_t i = 0; i < source.size(); ++i)
            EXPECT_EQ(copied.labels()[i], weighted.labels()[static_cast<std::size_t>(source[i])]);
        EXPECT_NEAR(copied.fit_report().objective, weighted.fit_report().objective,
                    1e-9 * copied.fit_report().objective);
    }
}

TEST(KernelKMeans, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = blobs<float>(700, 9, 5, 6.0, 7);
    coterie::Run one(11, 1);
    const KernelKMeansOptions options{.clusters = 5, .restarts = 3};
    const auto a = fit_kernel_kmeans(points, options, one);
    for (const int threads : {2, 8}) {
        coterie::Run many(11, threads);
        const auto b = fit_kernel_kmeans(points, options, many);
        EXPECT_EQ(a.labels(), b.labels());
        EXPECT_EQ(a.fit_report().objective, b.fit_report().objective);
        EXPECT_EQ(a.fit_report().objective_per_iteration, b.fit_report().objective_per_iteration);
        EXPECT_EQ(a.options().width, b.options().width);
        EXPECT_EQ(a.predict(points, one), b.predict(points, many));
    }
    EXPECT_EQ(a.predict(points), a.labels());
    const Labels whole = a.predict(points);
    for (Index i = 0; i < 700; i += 97)  // for any batch
        EXPECT_EQ(a.predict(PointsView(points.data() + i * 9, 1, 9))[0], whole[static_cast<std::size_t>(i)]);
}

TEST(KernelKMeans, FloatAgreesWithDouble) {
    const Matrix<double> points = blobs(200, 5, 4, 1.0, 8);
    const Matrix<float> rounded = points.cast<float>();
    for (const auto kernel : {KernelFunction::rbf, KernelFunction::polynomial, KernelFunction::linear}) {
        coterie::Run run(2, 1);
        const KernelKMeansOptions options{.clusters = 4, .kernel = kernel, .degree = 2};
        const auto a = fit_kernel_kmeans(points, options, run);
        const auto b = fit_kernel_kmeans(rounded, options, run);
        EXPECT_TRUE(same_partition(a.labels(), b.labels()));
        EXPECT_NEAR(a.fit_report().objective, b.fit_report().objective, 1e-3 * a.fit_report().objective);
    }
}

TEST(KernelKMeans, FewerDistinctPointsThanClusters) {
    Matrix<double> points = Matrix<double>::Constant(20, 2, 0.1);
    for (const auto kernel : {KernelFunction::rbf, KernelFunction::polynomial, KernelFunction::linear}) {
        coterie::Run run(0, 1);
        points.setConstant(0.1);
        const auto constant = fit_kernel_kmeans(points, {.clusters = 3, .kernel = kernel}, run);
        EXPECT_EQ(constant.fit_report().sizes, (std::vector<Index>{20, 0, 0}));
        EXPECT_EQ(constant.fit_report().warnings.size(), 1u);
        EXPECT_EQ(constant.predict(points), constant.labels());
        EXPECT_NEAR(constant.fit_report().objective, 0, 1e-12);
        for (Index i = 0; i < 5; ++i) points(i, 1) = 1.3;
        const auto two = fit_kernel_kmeans(points, {.clusters = 3, .kernel = kernel}, run);
        EXPECT_EQ(two.fit_report().clusters_found, 2);
        EXPECT_EQ(two.fit_report().sizes[2], 0);
        EXPECT_EQ(two.predict(points), two.labels());
        EXPECT_EQ(two.labels()[0], two.labels()[4]);
        EXPECT_NE(two.labels()[0], two.labels()[5]);
    }
}

TEST(KernelKMeans, EmptyClusterTakesTheFarthestPoint) {
    Matrix<double> points(6, 1);
    points << 0, 0.1, 0.2, 5, 5.1, 9;
    Matrix<double> start(3, 1);
    start << 0.1, 5, 1000;  // no point is nearest to the third
    coterie::Run run(0, 1);
    const auto model = fit_kernel_kmeans(with(points, {.initial_centroids = Points::borrow(start)}),
                                         {.clusters = 3, .kernel = KernelFunction::linear}, run);
    EXPECT_EQ(model.labels(), (Labels{0, 0, 0, 1, 1, 2}));
    EXPECT_EQ(model.fit_report().empty_clusters_repaired, 1);
    EXPECT_TRUE(model.fit_report().warnings.empty());
}

TEST(KernelKMeans, StopsWhenAsked) {
    const Matrix<double> points = blobs(200, 2, 5, 9.0);
    coterie::Run run(0, 1);
    run.should_stop = [] { return true; };
    EXPECT_THROW(fit_kernel_kmeans(points, {.clusters = 5}, run), Cancelled);
    int iterations = 0;
    run.on_progress = [&](const Progress& progress) { iterations += progress.stage == "iterations" ? 1 : 0; };
    run.should_stop = [&] { return iterations > 0; };
    const auto model = fit_kernel_kmeans(points, {.clusters = 5}, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    expect_sound_report(model, 200, 2, 5, run);
    coterie::Run limited(0, 1);
    const auto short_run = fit_kernel_kmeans(points, {.clusters = 5, .max_iterations = 1}, limited);
    EXPECT_EQ(short_run.fit_report().stopped, StopReason::iteration_limit);
    EXPECT_EQ(short_run.fit_report().iterations, 1);
}

TEST(KernelKMeans, RejectsBadArguments) {
    expect_usual_refusals("kernel-kmeans");
    coterie::Run run(0, 1);
    Matrix<double> points = blobs(6, 2, 2, 1.0);
    expect_error<BadArgument>(
        [&] { fit_kernel_kmeans(points, {.clusters = 2, .kernel = KernelFunction::precomputed}, run); },
        {"square", "6 x 2"});
    expect_error<BadArgument>([&] { fit_kernel_kmeans(points, {.clusters = 2, .width = -1}, run); },
                              {"width", "-1", "above 0"});
    expect_error<BadArgument>([&] { fit_kernel_kmeans(points, {.clusters = 2, .degree = 0}, run); }, {"degree", "0"});
    Matrix<double> kernel = Matrix<double>::Identity(4, 4);
    kernel(1, 3) = 0.5;
    const KernelKMeansOptions precomputed{.clusters = 2, .kernel = KernelFunction::precomputed};
    expect_error<BadData>([&] { fit_kernel_kmeans(kernel, precomputed, run); }, {"column 2, row 4", "symmetric"});
    kernel(1, 3) = 0;
    kernel(2, 2) = -1;
    expect_error<BadData>([&] { fit_kernel_kmeans(kernel, precomputed, run); }, {"column 3, row 3", "negative"});
    kernel(2, 2) = 1;
    const Matrix<double> start = Matrix<double>::Zero(2, 4);
    expect_error<BadArgument>(
        [&] { fit_kernel_kmeans(with(kernel, {.initial_centroids = Points::borrow(start)}), precomputed, run); },
        {"precomputed"});
    expect_error<BadArgument>(
        [&] { fit_kernel_kmeans(with(points, {.initial_centroids = Points::borrow(start)}), {.clusters = 2}, run); },
        {"2 rows of 4 columns", "data with 2 columns"});
    points *= 1e30;
    expect_error<BadData>(
        [&] { fit_kernel_kmeans(points, {.clusters = 2, .kernel = KernelFunction::polynomial, .degree = 50}, run); },
        {"overflow", "float64"});
}

TEST(KernelKMeans, RoundTrip) {
    const Matrix<float> points = blobs<float>(90, 3, 4, 3.0, 12);
    const Matrix<float> fresh = blobs<float>(40, 3, 4, 3.0, 12);
    auto weights = whole_weights(90, 12);
    for (const auto kernel :
         {KernelFunction::rbf, KernelFunction::polynomial, KernelFunction::linear, KernelFunction::precomputed})
        for (const bool weighted : {false, true}) {
            coterie::Run run(1, 1);
            Problem side;
            if (weighted) side.weights = weights;
            const bool precomputed = kernel == KernelFunction::precomputed;
            const Matrix<float> gram = points * points.transpose();
            const Matrix<float> rows = fresh * points.transpose();
            const auto model = fit_kernel_kmeans(with(precomputed ? gram : points, side),
                                                 {.clusters = 4, .kernel = kernel, .degree = 2}, run);
            const auto loaded = round_trip(model);
            const Matrix<float>& asked = precomputed ? rows : fresh;
            EXPECT_EQ(loaded->predict(asked), model.predict(asked));
            EXPECT_EQ(loaded->dimensions(), model.dimensions());
            EXPECT_EQ(loaded->clusters(), 4);
        }
}

TEST(KernelKMeans, InvalidModelFilesAreErrors) {
    coterie::Run run(1, 1);
    const auto model = fit_kernel_kmeans(blobs(20, 2, 2, 1.0), {.clusters = 2}, run);
    Archive archive{"kernel-kmeans"};
    model.store(archive);
    Archive broken = archive;
    broken.set_labels("members", std::vector<std::int32_t>(20, 7));
    expect_error<BadData>([&] { KernelKMeansModel::from(broken); }, {"part 'members' holds 7"});
    broken = archive;
    broken.set_vector("mass", std::vector<double>{1});
    EXPECT_THROW(KernelKMeansModel::from(broken), BadData);
    broken = archive;
    broken.set_labels("members", std::vector<std::int32_t>(19, 0));
    EXPECT_THROW(KernelKMeansModel::from(broken), BadData);
}

}  // namespace
}  // namespace coterie
