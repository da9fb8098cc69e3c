// Tests for AML, RPCA-OM and FME: models that project points and take the nearest centroid.

#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <Eigen/QR>

#include "coterie/deformation/aml.hpp"
#include "coterie/deformation/fme.hpp"
#include "coterie/deformation/rpca_om.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

struct AmlTraits {
    using Options = AmlOptions;
    using Model = AmlModel;
    using Fits = AmlFits;
    static constexpr const char* name = "aml";
    static constexpr auto fit = fit_aml;
};
struct RpcaOmTraits {
    using Options = RpcaOmOptions;
    using Model = RpcaOmModel;
    using Fits = RpcaOmFits;
    static constexpr const char* name = "rpca-om";
    static constexpr auto fit = fit_rpca_om;
};
struct FmeTraits {
    using Options = FmeOptions;
    using Model = FmeModel;
    using Fits = FmeFits;
    static constexpr const char* name = "fme";
    static constexpr auto fit = fit_fme;
};

template <class Traits>
class Baselines : public testing::Test {
public:
    static typename Traits::Model fit(const Matrix<double>& points, const typename Traits::Options& options,
                                      int threads = 2, const Problem& side = {}) {
        coterie::Run run(3, threads);
        return Traits::fit(with(points, side), options, run);
    }
    static typename Traits::Options options(int clusters, SpaceKernel kernel = SpaceKernel::none) {
        typename Traits::Options out;
        out.clusters = clusters;
        out.kernel = kernel;
        return out;
    }
};
using Methods = testing::Types<AmlTraits, RpcaOmTraits, FmeTraits>;
TYPED_TEST_SUITE(Baselines, Methods);

TYPED_TEST(Baselines, PredictTrainingPointsAndRoundTrip) {
    const Matrix<double> points = test::blob_points<double>(150, 6, 4, 3.0, 1);
    const Matrix<double> fresh = test::blob_points<double>(40, 6, 4, 3.0, 1);
    for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf}) {
        const auto model = TestFixture::fit(points, TestFixture::options(4, kernel));
        EXPECT_EQ(model.method(), TypeParam::name);
        EXPECT_EQ(model.predict(points), model.labels());
        EXPECT_EQ(model.fit_report().clusters_found, 4);
        EXPECT_EQ(model.transform(fresh, coterie::Run()).cols(), 3);
        Archive archive{TypeParam::name};
        model.store(archive);
        const std::string bytes = archive.to_bytes();
        const auto again =
            TypeParam::Model::from(Archive::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "test"));
        EXPECT_EQ(again.dimensions(), 6);
        EXPECT_EQ(again.clusters(), 4);
        EXPECT_EQ(again.predict(fresh), model.predict(fresh));
        for (const char* part : {"directions", "centroids"}) {
            Archive broken{TypeParam::name};
            model.store(broken);
            broken.set_points(part, Matrix<double>(Matrix<double>::Ones(3, 2)));
            EXPECT_THROW(TypeParam::Model::from(broken), BadData) << part;
        }
    }
}

TYPED_TEST(Baselines, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> points = test::blob_points<double>(400, 8, 5, 1.5, 8);
    for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf}) {
        const auto one = TestFixture::fit(points, TestFixture::options(5, kernel), 1);
        for (const int threads : {2, 8}) {
            const auto more = TestFixture::fit(points, TestFixture::options(5, kernel), threads);
            EXPECT_EQ(more.labels(), one.labels());
            EXPECT_EQ(more.fit_report().objective, one.fit_report().objective);
            EXPECT_EQ(more.directions(), one.directions());
            EXPECT_EQ(more.centroids(), one.centroids());
        }
    }
}

TYPED_TEST(Baselines, DoNotDependOnScaleAndOffset) {
    const Matrix<double> points = test::blob_points<double>(160, 5, 4, 3.0, 5);
    for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf}) {
        const auto options = TestFixture::options(4, kernel);
        const Labels labels = TestFixture::fit(points, options).labels();
        EXPECT_EQ(TestFixture::fit(points * 64.0, options).labels(), labels);
        Matrix<double> far = points;
        far.array() += 1024.0;
        EXPECT_EQ(TestFixture::fit(far, options).labels(), labels);
    }
}

// exp(-t) is 1 - t for small t, so the kernel's leading components are the principal components of the points, up to a
// factor.
TYPED_TEST(Baselines, VeryWideKernelEqualsLinearForm) {
    const Matrix<double> points = test::blob_points<double>(150, 3, 4, 3.0, 7);
    const auto linear = TestFixture::fit(points, TestFixture::options(4));
    auto options = TestFixture::options(4, SpaceKernel::rbf);
    options.kernel_width = 1e3;
    options.components = 3;
    const auto wide = TestFixture::fit(points, options);
    EXPECT_EQ(adjusted_rand_index(wide.labels(), linear.labels()), 1.0);
}

// Rotating the points into a space with more columns than rows changes no distance, and therefore no result.
TYPED_TEST(Baselines, MoreColumnsThanRows) {
    const Matrix<double> points = test::blob_points<double>(40, 6, 3, 6.0, 8);
    const Matrix<double> later = test::blob_points<double>(100, 6, 3, 6.0, 8);
    const Eigen::MatrixXd any = test::blob_points<double>(90, 6, 1, 1.0, 9);
    const Matrix<double> axes =
        (Eigen::HouseholderQR<Eigen::MatrixXd>(any).householderQ() * Eigen::MatrixXd::Identity(90, 6)).transpose();
    auto options = TestFixture::options(3);
    // The automatic ridges are in units of the mean variance, which depends on the number of columns.
    if constexpr (requires { options.lambda; }) options.lambda = 2.0;
    if constexpr (requires { options.gamma; }) options.gamma = 0.5;
    const auto narrow = TestFixture::fit(points, options);
    const auto wide = TestFixture::fit(points * axes, options);
    EXPECT_EQ(wide.labels(), narrow.labels());
    EXPECT_NEAR(wide.fit_report().objective, narrow.fit_report().objective,
                1e-9 * std::abs(narrow.fit_report().objective));
    const Matrix<double> later_wide = later * axes;
    EXPECT_EQ(wide.predict(later_wide, coterie::Run()), narrow.predict(later, coterie::Run()));
    const Matrix<double> near = narrow.transform(later, coterie::Run());
    EXPECT_LE((wide.transform(later_wide, coterie::Run()).cwiseAbs() - near.cwiseAbs()).norm(), 1e-8 * near.norm());
    // As many directions as columns is more than the rows span.
    if constexpr (std::is_same_v<TypeParam, RpcaOmTraits>) {
        options.dimensions = 90;
        EXPECT_EQ(TestFixture::fit(points * axes, options).labels(), narrow.labels());
    }
}

TYPED_TEST(Baselines, ConstantColumnsDuplicatesAndFewDistinctPoints) {
    Matrix<double> points = Matrix<double>::Zero(60, 4);
    for (Index i = 0; i < 60; ++i) points.row(i) << static_cast<double>(i % 3), 5.0, i % 3 == 1 ? 2.0 : 0.0, -1.0;
    for (const SpaceKernel kernel : {SpaceKernel::none, SpaceKernel::rbf}) {
        const auto three = TestFixture::fit(points, TestFixture::options(3, kernel));
        Labels truth;
        for (int i = 0; i < 60; ++i) truth.push_back(i % 3);
        EXPECT_EQ(accuracy(three.labels(), truth), 1.0);
        const auto five = TestFixture::fit(points, TestFixture::options(5, kernel));
        EXPECT_EQ(five.fit_report().clusters_found, 3);
        ASSERT_FALSE(five.fit_report().warnings.empty());
        EXPECT_NE(five.fit_report().warnings.back().text().find("2 of 5 clusters are empty"), std::string::npos);
        EXPECT_TRUE(std::isfinite(five.fit_report().objective));
        EXPECT_TRUE(five.centroids().allFinite());
        EXPECT_TRUE(five.transform(points, coterie::Run()).allFinite());
        const auto one = TestFixture::fit(points, TestFixture::options(1, kernel));
        EXPECT_EQ(one.labels(), Labels(60, 0));
    }
}

TYPED_TEST(Baselines, StartFromInitialCentroids) {
    const Matrix<double> points = test::blob_points<double>(120, 4, 3, 6.0, 11);
    const auto seeded = TestFixture::fit(points, TestFixture::options(3));
    // The means of the clusters found, in another order: the same clusters in that order.
    Matrix<double> start = Matrix<double>::Zero(3, 4);
    std::vector<double> counts(3, 0);
    for (Index i = 0; i < 120; ++i) {
        const int other = (seeded.labels()[static_cast<std::size_t>(i)] + 1) % 3;
        start.row(other) += points.row(i);
        counts[static_cast<std::size_t>(other)] += 1;
    }
    for (Index j = 0; j < 3; ++j) start.row(j) /= counts[static_cast<std::size_t>(j)];
    Problem side;
    side.initial_centroids = Points::borrow(start);
    const auto warm = TestFixture::fit(points, TestFixture::options(3), 2, side);
    for (std::size_t i = 0; i < 120; ++i) EXPECT_EQ(warm.labels()[i], (seeded.labels()[i] + 1) % 3);
    // The kernel form starts from the same clusters.
    auto options = TestFixture::options(3);
    options.kernel = SpaceKernel::rbf;
    const auto of_kernel = TestFixture::fit(points, options, 2, side);
    int same = 0;
    for (std::size_t i = 0; i < 120; ++i) same += of_kernel.labels()[i] == (seeded.labels()[i] + 1) % 3;
    EXPECT_GE(same, 100);
}

// The same bits as a separate fit, whatever was fitted before.
TYPED_TEST(Baselines, SharedFitsEqualSeparateFits) {
    const Matrix<double> points = test::blob_points<double>(90, 5, 3, 1.5, 24);
    coterie::Run run(3, 2);
    const Problem problem = with(points);
    typename TypeParam::Fits fits(problem, run);
    auto options = TestFixture::options(3);
    const auto expect_same = [&] {
        const auto shared = fits.fit(options);
        const auto own = TestFixture::fit(points, options, 2);
        EXPECT_EQ(shared.labels(), own.labels());
        EXPECT_EQ(shared.fit_report().objective_per_iteration, own.fit_report().objective_per_iteration);
        EXPECT_EQ(shared.transform(points, run), own.transform(points, run));
    };
    expect_same();
    options.dimensions = 1;
    expect_same();
    options.kernel = SpaceKernel::rbf;
    expect_same();
    options.kernel_width = 4;
    expect_same();
    options.landmarks = 20;
    expect_same();
    options.clusters = 4;
    expect_same();
}

TYPED_TEST(Baselines, BadArguments) {
    const Matrix<double> points = test::blob_points<double>(30, 2, 2, 2.0, 9);
    const auto says = [&](const std::string& part, auto change) {
        auto options = TestFixture::options(2);
        Problem side;
        change(options, side);
        const std::string text = test::message_of([&] { TestFixture::fit(points, options, 1, side); });
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    const std::string name = TypeParam::name;
    says("31 clusters requested, but there are only 30 rows", [](auto& o, auto&) { o.clusters = 31; });
    says("kernel_width", [](auto& o, auto&) { o.kernel_width = -1; });
    says("dimensions: 40 is above the limit of", [](auto& o, auto&) { o.dimensions = 40; });
    const std::vector<double> weights(30, 1.0);
    says("method " + name + " does not support weights", [&](auto&, auto& side) { side.weights = weights; });
    const Labels known(30, 0);
    says("does not support partial labels", [&](auto&, auto& side) { side.partial_labels = known; });
    const Matrix<double> three = points.topRows(3);
    says("initial_centroids: 3 rows of 2 columns for 2 clusters",
         [&](auto&, auto& side) { side.initial_centroids = Points::borrow(three); });
    const auto message = [&](const Matrix<double>& bad) {
        return test::message_of([&] { TestFixture::fit(bad, TestFixture::options(2)); });
    };
    EXPECT_NE(message(Matrix<double>::Ones(19, 2)).find("all rows are equal, so " + name), std::string::npos);
    Matrix<double> holed = points;
    holed(4, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(TestFixture::fit(holed, TestFixture::options(2)), BadData);
    const auto model = TestFixture::fit(points, TestFixture::options(2));
    EXPECT_THROW(model.transform(Matrix<double>(Matrix<double>::Ones(2, 3)), coterie::Run()), BadArgument);
}

TYPED_TEST(Baselines, StopWhenAsked) {
    const Matrix<double> points = test::blob_points<double>(60, 3, 2, 2.0, 12);
    coterie::Run run;
    run.should_stop = [] { return true; };
    EXPECT_THROW(TypeParam::fit(points, TestFixture::options(2), run), Cancelled);
}

TYPED_TEST(Baselines, RejectConstantKernel) {
    Matrix<double> points(4, 1);
    points << 0, 1, 5, 6;
    for (const int landmarks : {0, 1}) {
        typename TypeParam::Options options;
        options.clusters = 2;
        options.kernel = SpaceKernel::rbf;
        options.kernel_width = 1e300;
        options.landmarks = landmarks;
        if constexpr (requires { options.neighbors; }) options.neighbors = 1;
        EXPECT_THROW(TestFixture::fit(points, options), BadArgument);
    }
}

}  // namespace
}  // namespace coterie
