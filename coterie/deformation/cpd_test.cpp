#include "coterie/deformation/cpd.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "coterie/io/reader.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

struct Moons {
    Matrix<double> points;
    Labels truth;
};

// Two half circles of n / 2 points each, one inside the other's opening.
Moons moons(Index n, double noise, std::uint64_t seed) {
    RandomStream random(seed, "test.moons");
    Moons out{Matrix<double>(n, 2), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        const bool second = i >= n / 2;
        const double angle =
            std::numbers::pi * static_cast<double>(second ? i - n / 2 : i) / static_cast<double>(n / 2);
        out.points(i, 0) = (second ? 1 - std::cos(angle) : std::cos(angle)) + noise * random.normal();
        out.points(i, 1) = (second ? 0.5 - std::sin(angle) : std::sin(angle)) + noise * random.normal();
        out.truth[static_cast<std::size_t>(i)] = second ? 1 : 0;
    }
    return out;
}

CpdOptions recipe() {
    CpdOptions options;
    options.clusters = 2;
    options.damping = 0.5;
    options.assignments_per_round = 1;
    return options;
}

CpdModel fit(const Matrix<double>& points, const CpdOptions& options, std::uint64_t seed = 0, int threads = 2) {
    coterie::Run run(seed, threads);
    return fit_cpd(points, options, run);
}

double number(const FitReport& report, const std::string& name) {
    for (const auto& [key, value] : report.details)
        if (key == name) return std::get<double>(value);
    throw std::runtime_error("no detail " + name);
}

TEST(Cpd, SeparatesTwoMoons) {
    for (const double noise : {0.05, 0.1})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const Moons sample = moons(200, noise, seed);
            coterie::Run run(seed);
            KMeansOptions plain;
            plain.clusters = 2;
            EXPECT_LT(accuracy(fit_kmeans(sample.points, plain, run).labels(), sample.truth), 0.85);
            const CpdModel model = fit(sample.points, recipe(), seed);
            EXPECT_GE(accuracy(model.labels(), sample.truth), 0.99) << noise << " " << seed;
            const Moons other = moons(200, noise, seed + 1000);
            EXPECT_GE(accuracy(model.predict(other.points), other.truth), 0.97) << noise << " " << seed;
            EXPECT_LT(number(model.fit_report(), "within_share"), number(model.fit_report(), "within_share_before"));
        }
}

TEST(Cpd, DoesNotDependOnScale) {
    const Moons sample = moons(200, 0.08, 3);
    const CpdModel one = fit(sample.points, recipe());
    const CpdModel ten = fit(sample.points * 8.0, recipe());
    EXPECT_EQ(one.labels(), ten.labels());
    EXPECT_NEAR(number(one.fit_report(), "moved"), number(ten.fit_report(), "moved"), 1e-9);
    Matrix<double> far = sample.points;
    far.array() += 1e4;
    EXPECT_EQ(fit(far, recipe()).labels(), one.labels());
}

TEST(Cpd, ObjectiveNeverRisesWhereGuaranteed) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const Matrix<double> points = test::blob_points<double>(150, 6, 4, 1.0, seed);
        for (const CpdIndicator indicator : {CpdIndicator::discrete, CpdIndicator::relaxed})
            for (const double lambda : {1.0, 100.0, 1e4})
                for (const int assignments : {0, 1}) {
                    CpdOptions options;
                    options.clusters = 4;
                    options.lambda = lambda;
                    options.sigma = 2.0;
                    options.indicator = indicator;
                    if (assignments > 0) options.assignments_per_round = assignments;
                    options.tolerance = 0;
                    options.max_iterations = 25;
                    const CpdModel model = fit(points, options, seed);
                    const auto& history = model.fit_report().objective_per_iteration;
                    for (std::size_t t = 1; t < history.size(); ++t)
                        EXPECT_LE(history[t], history[t - 1] + 1e-10 * history[0])
                            << seed << " " << lambda << " round " << t;
                }
    }
}

TEST(Cpd, PredictsTrainingPointsAndRoundTrips) {
    const Moons sample = moons(160, 0.08, 5);
    for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf})
        for (const CpdLabels labels_from : {CpdLabels::moved, CpdLabels::embedding})
            for (const auto& [indicator, landmarks] :
                 {std::pair(CpdIndicator::discrete, 0), {CpdIndicator::discrete, 30}, {CpdIndicator::relaxed, 0}}) {
                CpdOptions options = recipe();
                options.kernel = kernel;
                if (landmarks > 0) options.landmarks = landmarks;
                options.labels_from = labels_from;
                options.indicator = indicator;
                if (kernel == SpaceKernel::rbf) options.components = 20;
                const CpdModel model = fit(sample.points, options);
                EXPECT_EQ(model.predict(sample.points), model.labels());
                Archive archive{"cpd"};
                model.store(archive);
                const std::string bytes = archive.to_bytes();
                const CpdModel again =
                    CpdModel::from(Archive::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "test"));
                EXPECT_EQ(again.predict(sample.points), model.labels());
                EXPECT_EQ(again.dimensions(), 2);
                Archive broken{"cpd"};
                model.store(broken);
                broken.set_points("coefficients", Matrix<double>(Matrix<double>::Ones(3, 2)));
                EXPECT_THROW(CpdModel::from(broken), BadData);
            }
}

TEST(Cpd, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> points = test::blob_points<double>(400, 8, 5, 1.5, 8);
    for (const auto& [kernel, landmarks] :
         {std::pair(SpaceKernel::none, 0), {SpaceKernel::rbf, 0}, {SpaceKernel::rbf, 50}}) {
        CpdOptions options;
        options.clusters = 5;
        options.kernel = kernel;
        if (landmarks > 0) options.landmarks = landmarks;
        options.max_iterations = 5;
        const CpdModel one = fit(points, options, 1, 1);
        for (const int threads : {2, 8}) {
            const CpdModel more = fit(points, options, 1, threads);
            EXPECT_EQ(more.labels(), one.labels());
            EXPECT_EQ(more.fit_report().objective, one.fit_report().objective);
        }
    }
}

TEST(Cpd, LandmarksApproximateTheFullKernel) {
    const Moons sample = moons(400, 0.08, 12);
    const CpdModel whole = fit(sample.points, recipe());
    CpdOptions options = recipe();
    options.landmarks = 40;
    const CpdModel by_landmarks = fit(sample.points, options);
    EXPECT_GE(accuracy(by_landmarks.labels(), whole.labels()), 0.995);
    EXPECT_LT(number(by_landmarks.fit_report(), "kernel_residual"), 1e-3);
    const Matrix<double> moved = whole.transform(sample.points, coterie::Run());
    const Matrix<double> moved_by_landmarks = by_landmarks.transform(sample.points, coterie::Run());
    EXPECT_LT((moved - moved_by_landmarks).norm(), 0.05 * moved.norm());
}

// A fit has the same bits as a separate fit, whatever was fitted before.
TEST(Cpd, SharedFitsEqualSeparateFits) {
    const Matrix<double> points = test::blob_points<double>(120, 4, 3, 1.5, 14);
    coterie::Run run(3, 2);
    const Problem problem = with(points);
    CpdFits fits(problem, run);
    CpdOptions options;
    options.clusters = 3;
    options.max_iterations = 5;
    const auto expect_same = [&] {
        const CpdModel shared = fits.fit(options);
        const CpdModel own = fit_cpd(problem, options, run);
        EXPECT_EQ(shared.labels(), own.labels());
        EXPECT_EQ(shared.fit_report().objective_per_iteration, own.fit_report().objective_per_iteration);
        EXPECT_EQ(shared.transform(points, run), own.transform(points, run));
    };
    expect_same();
    options.lambda = 3;
    expect_same();
    options.sigma = 2;
    expect_same();
    options.kernel = SpaceKernel::rbf;
    expect_same();
    options.kernel_width = 4;
    expect_same();
    options.landmarks = 20;
    expect_same();
    options.clusters = 4;
    expect_same();
    options.origin = CpdOrigin::zero;
    options.kernel = SpaceKernel::none;
    expect_same();
}

TEST(Cpd, KernelFormStartsFromInitialCentroids) {
    Matrix<double> points(80, 2);
    RandomStream random(15, "test.points");
    for (Index i = 0; i < 80; ++i) {
        points(i, 0) = (i < 40 ? -3 : 3) + 0.3 * random.normal();
        points(i, 1) = 0.3 * random.normal();
    }
    CpdOptions options;
    options.clusters = 2;
    options.kernel = SpaceKernel::rbf;
    Matrix<double> centroids(2, 2);
    centroids << 3, 0, -3, 0;
    Problem side;
    side.initial_centroids = Points::borrow(centroids);
    coterie::Run run;
    const CpdModel model = fit_cpd(with(points, side), options, run);
    for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(model.labels()[i], i < 40 ? 1 : 0);
}

TEST(Cpd, BadArguments) {
    const Matrix<double> points = test::blob_points<double>(30, 2, 2, 2.0, 9);
    const auto message = [&](auto change) -> std::string {
        CpdOptions options;
        options.clusters = 2;
        Problem side;
        change(options, side);
        coterie::Run run;
        try {
            fit_cpd(with(points, side), options, run);
        } catch (const Error& error) {
            return error.message();
        }
        return "nothing was thrown";
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(message([](auto& o, auto&) { o.clusters = 31; }), "31 clusters requested, but there are only 30 rows");
    has(message([](auto& o, auto&) { o.lambda = -1; }), "lambda");
    has(message([](auto& o, auto&) { o.damping = 1; }), "damping");
    const std::vector<double> weights(30, 1.0);
    has(message([&](auto&, auto& side) { side.weights = weights; }), "does not support weights");
    const Labels known(30, 0);
    has(message([&](auto&, auto& side) { side.partial_labels = known; }), "does not support partial labels");
    const Matrix<double> start = points.topRows(3);
    has(message([&](auto&, auto& side) { side.initial_centroids = Points::borrow(start); }), "initial_centroids");
    coterie::Run run;
    CpdOptions two;
    two.clusters = 2;
    EXPECT_THROW(fit_cpd(Matrix<double>(Matrix<double>::Ones(9, 2)), two, run), BadData);
}

// ---- kernel PCA

TEST(Cpd, RejectsMotionWithoutEmbedding) {
    Matrix<double> points(2, 1);
    points << -1, 1;
    CpdOptions options;
    options.clusters = 1;
    options.sigma = 1e-300;
    options.lambda = 1e-300;
    options.labels_from = CpdLabels::embedding;
    coterie::Run run(1, 1);
    EXPECT_THROW(fit_cpd(points, options, run), BadArgument);
    options.lambda = 1.0;
    EXPECT_NO_THROW(fit_cpd(points, options, run));
}

TEST(Cpd, RejectsConstantKernel) {
    Matrix<double> points(4, 1);
    points << 0, 1, 5, 6;
    for (const int landmarks : {0, 2}) {
        CpdOptions options;
        options.clusters = 2;
        options.kernel = SpaceKernel::rbf;
        if (landmarks > 0) options.landmarks = landmarks;
        coterie::Run run(1, 1);
        options.kernel_width = 1e300;
        EXPECT_THROW(fit_cpd(points, options, run), BadArgument);
        options.kernel_width = 1e4;
        EXPECT_NO_THROW(fit_cpd(points, options, run));
    }
}

TEST(KernelPca, ScoresKeepFeatureSpaceDistances) {
    const Matrix<double> points = test::blob_points<double>(60, 3, 2, 2.0, 10);
    const KernelPca pca(points, 1.5, {}, 0, coterie::Run());
    for (Index i = 0; i < 60; i += 7)
        for (Index j = 0; j < 60; ++j) {
            const double squared = (points.row(i) - points.row(j)).squaredNorm();
            const double expected = 2 - 2 * std::exp(-squared / (2 * 1.5 * 1.5));
            EXPECT_NEAR((pca.scores().row(i) - pca.scores().row(j)).squaredNorm(), expected, 1e-8);
        }
    EXPECT_LT(pca.scores().colwise().sum().cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((pca.transform(points, coterie::Run()) - pca.scores()).cwiseAbs().maxCoeff(), 1e-5);
    // With enough landmarks, the kernel is exact.
    const KernelPca by_landmarks(points, 1.5, {}, points.rows(), coterie::Run());
    ASSERT_GE(by_landmarks.components(), 10);
    const Matrix<double> again = by_landmarks.transform(points, coterie::Run());
    EXPECT_LT((again - by_landmarks.scores()).cwiseAbs().maxCoeff(), 1e-6);
    for (Index i = 0; i < 5; ++i)
        for (Index j = 0; j < points.rows(); ++j)
            EXPECT_NEAR((again.row(i) - again.row(j)).norm(), (pca.scores().row(i) - pca.scores().row(j)).norm(), 1e-6);
    const KernelPca few(points, 1.5, 4, 0, coterie::Run());
    EXPECT_EQ(few.components(), 4);
    EXPECT_LT((few.transform(points, coterie::Run()) - few.scores()).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace coterie
