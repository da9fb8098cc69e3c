#include "coterie/deformation/cpd.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "coterie/io/reader.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/test_support.hpp"
#include "coterie/metrics/metrics.hpp"

namespace coterie {
namespace {

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

TEST(Cpd, TheRecipeTellsTwoMoonsApart) {
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

TEST(Cpd, UnitsDoNotMatter) {
    const Moons sample = moons(200, 0.08, 3);
    const CpdModel one = fit(sample.points, recipe());
    const CpdModel ten = fit(sample.points * 8.0, recipe());
    EXPECT_EQ(one.labels(), ten.labels());
    EXPECT_NEAR(number(one.fit_report(), "moved"), number(ten.fit_report(), "moved"), 1e-9);
    Matrix<double> far = sample.points;
    far.array() += 1e4;
    EXPECT_EQ(fit(far, recipe()).labels(), one.labels());
}

TEST(Cpd, TheObjectiveNeverRisesWhereThatIsPromised) {
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
                    options.assignments_per_round = assignments;
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

TEST(Cpd, PredictsItsOwnPointsAndIsSavedAndLoaded) {
    const Moons sample = moons(160, 0.08, 5);
    for (const CpdKernel kernel : {CpdKernel::none, CpdKernel::rbf})
        for (const CpdLabels labels_from : {CpdLabels::moved, CpdLabels::embedding})
            for (const CpdIndicator indicator : {CpdIndicator::discrete, CpdIndicator::relaxed}) {
                CpdOptions options = recipe();
                options.kernel = kernel;
                options.labels_from = labels_from;
                options.indicator = indicator;
                options.components = kernel == CpdKernel::rbf ? 20 : 0;
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
    for (const CpdKernel kernel : {CpdKernel::none, CpdKernel::rbf}) {
        CpdOptions options;
        options.clusters = 5;
        options.kernel = kernel;
        options.max_iterations = 5;
        const CpdModel one = fit(points, options, 1, 1);
        for (const int threads : {2, 8}) {
            const CpdModel more = fit(points, options, 1, threads);
            EXPECT_EQ(more.labels(), one.labels());
            EXPECT_EQ(more.fit_report().objective, one.fit_report().objective);
        }
    }
}

TEST(Cpd, BadArguments) {
    const Matrix<double> points = test::blob_points<double>(30, 2, 2, 2.0, 9);
    const auto message = [&](auto change) -> std::string {
        CpdOptions options;
        options.clusters = 2;
        SideInformation side;
        change(options, side);
        coterie::Run run;
        try {
            fit_cpd(points, options, run, side);
        } catch (const Error& error) {
            return error.message();
        }
        return "nothing was thrown";
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(message([](auto& o, auto&) { o.clusters = 31; }), "31 clusters asked of 30 points");
    has(message([](auto& o, auto&) { o.lambda = -1; }), "--lambda");
    has(message([](auto& o, auto&) { o.damping = 1; }), "--damping");
    const std::vector<double> weights(30, 1.0);
    has(message([&](auto&, auto& side) { side.weights = weights; }), "takes no weights");
    const Labels known(30, 0);
    has(message([&](auto&, auto& side) { side.partial_labels = known; }), "takes no partial labels");
    const Matrix<double> start = points.topRows(2);
    has(message([&](auto& o, auto& side) {
            o.kernel = CpdKernel::rbf;
            side.initial_centroids = start;
        }),
        "no initial centroids in its kernel form");
    coterie::Run run;
    CpdOptions two;
    two.clusters = 2;
    EXPECT_THROW(fit_cpd(Matrix<double>(Matrix<double>::Ones(9, 2)), two, run), BadData);
}

// ---- kernel PCA

TEST(KernelPca, ScoresHaveTheDistancesOfTheFeatureSpace) {
    const Matrix<double> points = test::blob_points<double>(60, 3, 2, 2.0, 10);
    const KernelPca pca(points, 1.5, 0, coterie::Run());
    for (Index i = 0; i < 60; i += 7)
        for (Index j = 0; j < 60; ++j) {
            const double squared = (points.row(i) - points.row(j)).squaredNorm();
            const double expected = 2 - 2 * std::exp(-squared / (2 * 1.5 * 1.5));
            EXPECT_NEAR((pca.scores().row(i) - pca.scores().row(j)).squaredNorm(), expected, 1e-8);
        }
    EXPECT_LT(pca.scores().colwise().sum().cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((pca.transform(points, coterie::Run()) - pca.scores()).cwiseAbs().maxCoeff(), 1e-5);
    const KernelPca few(points, 1.5, 4, coterie::Run());
    EXPECT_EQ(few.components(), 4);
    EXPECT_LT((few.transform(points, coterie::Run()) - few.scores()).cwiseAbs().maxCoeff(), 1e-10);
}

}  // namespace
}  // namespace coterie
