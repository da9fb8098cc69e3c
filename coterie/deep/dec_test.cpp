#include "coterie/deep/dec.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "coterie/deep/internal/dec_step.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/goes_on.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_samples.hpp"

namespace coterie {
namespace {

Matrix<double> normal(Index n, Index d, std::uint64_t seed) {
    RandomStream random(seed, "test.dec");
    Matrix<double> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
    return out;
}

TEST(Dec, SoftAssignmentsAndTargetsByHand) {
    Matrix<double> z(2, 1), m(2, 1);
    z << 0, 1;
    m << 0, 2;
    const Matrix<double> q = deep::internal::soft_assignments(z, m, 1);  // 1 : 1/5, 1/2 : 1/2
    Matrix<double> expected(2, 2);
    expected << 5.0 / 6, 1.0 / 6, 0.5, 0.5;
    EXPECT_LE((q - expected).cwiseAbs().maxCoeff(), 1e-15);
    const Matrix<double> p = deep::internal::sharpened(q);  // columns sum to 4/3 and 2/3
    const double a = 25.0 / 36 / (4.0 / 3), b = 1.0 / 36 / (2.0 / 3);
    EXPECT_NEAR(p(0, 0), a / (a + b), 1e-15);
    EXPECT_NEAR(p(1, 0), (1.0 / 3), 1e-15);
    EXPECT_EQ(deep::internal::mean_divergence(q, q), 0);
}

TEST(Dec, GradientsAgreeWithFiniteDifferences) {
    const Matrix<double> z = normal(6, 3, 1), m = normal(4, 3, 2);
    const Matrix<double> p = deep::internal::sharpened(deep::internal::soft_assignments(normal(6, 3, 3), m, 1));
    const auto found = deep::internal::soft_loss(z, m, p);
    const auto value = [&](const Matrix<double>& at, const Matrix<double>& of) {
        return deep::internal::mean_divergence(p, deep::internal::soft_assignments(at, of, 1));
    };
    EXPECT_NEAR(found.value, value(z, m), 1e-15);
    for (Index i = 0; i < z.size(); ++i) {
        Matrix<double> up = z, down = z;
        up.data()[i] += 1e-6, down.data()[i] -= 1e-6;
        EXPECT_NEAR(found.by_embedding.data()[i], (value(up, m) - value(down, m)) / 2e-6, 1e-8);
    }
    for (Index i = 0; i < m.size(); ++i) {
        Matrix<double> up = m, down = m;
        up.data()[i] += 1e-6, down.data()[i] -= 1e-6;
        EXPECT_NEAR(found.by_centroids.data()[i], (value(z, up) - value(z, down)) / 2e-6, 1e-8);
    }
}

// The fit finds blobs. A fit that is interrupted anywhere ends like an uninterrupted fit.
template <class Method>
void finds_and_goes_on(const RestartedFit<Method>& fit) {
    using Options = typename Method::Options;
    using Model = typename Method::Model;
    const test::Sample sample = test::blobs(300, 8, 4, 3);
    const coterie::testing::Folder folder;
    Options options;
    test::make_small(options);
    options.pretrain_epochs = 20;
    options.update_interval = 4;
    options.max_iterations = 16;
    coterie::Run run(2);
    const Model whole = fit(sample.points, options, run);
    EXPECT_GE(accuracy(whole.labels(), sample.truth), 0.9);
    EXPECT_EQ(whole.predict(sample.points), whole.labels());
    run.checkpoint = folder / "fit.checkpoint";
    // Interrupts in pre-training, then among the batches of an interval (which are computed again), and after them.
    int clustering = 0;
    for (const int stop_after : {0, 1, 2, 1, 2, 1, 2}) {
        int told = 0, asked = 0;  // reports of clustering; stop requests since then
        coterie::Run cut = run;
        cut.on_progress = [&](const Progress& progress) { told += progress.stage == "clustering" ? 1 : 0; };
        cut.should_stop = [&] {
            if (stop_after == 0) return ++asked > 7;
            if (told < stop_after) return false;
            return stop_after == 2 || ++asked > 2;
        };
        try {
            const auto model = fit(sample.points, options, cut);
            if (model.fit_report().stopped != StopReason::interrupted) break;
            ++clustering;
        } catch (const Cancelled&) {
            EXPECT_EQ(stop_after, 0);
        }
    }
    EXPECT_GE(clustering, 4);
    const Model resumed = fit(sample.points, options, run);
    EXPECT_EQ(resumed.labels(), whole.labels());
    EXPECT_EQ(resumed.state().parameters, whole.state().parameters);
    EXPECT_EQ(resumed.state().centroids, whole.state().centroids);
}

TEST(Dec, FindsBlobsAndResumes) {
    COTERIE_NEEDS_NETWORKS;
    finds_and_goes_on(fit_dec);
}
TEST(Idec, FindsBlobsAndResumes) {
    COTERIE_NEEDS_NETWORKS;
    finds_and_goes_on(fit_idec);
}
TEST(Dcn, FindsBlobsAndResumes) {
    COTERIE_NEEDS_NETWORKS;
    finds_and_goes_on(fit_dcn);
}

// One start has an embedding that is a line. It has lost the clusters, but its k-means objective is small. So the
// objective prefers this start, and within_share does not.
TEST(DeepRestarts, WithinShareDetectsAStartThatLostTheClusters) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample s = test::blobs(400, 12, 10, 5);
    AeKMeansOptions options;
    options.clusters = 10;
    options.widths = {24};
    options.pretrain_batch_size = 32;
    options.kmeans_restarts = 10;
    for (const std::uint64_t seed : {1, 2, 3}) {
        options.embedding = 8;
        options.pretrain_epochs = 30;
        const auto good = fit_ae_kmeans(s.points, options, coterie::Run(seed, 1));
        options.embedding = 1;
        options.pretrain_epochs = 2;
        const auto bad = fit_ae_kmeans(s.points, options, coterie::Run(seed, 1));
        ASSERT_LT(accuracy(bad.labels(), s.truth) + 0.2, accuracy(good.labels(), s.truth));
        EXPECT_LT(bad.fit_report().objective, good.fit_report().objective) << seed;
        EXPECT_LT(good.restart_criterion(), bad.restart_criterion());
        double within = 0;
        double total = 0;
        const Eigen::RowVectorXd mean = s.points.colwise().mean();
        Matrix<double> means = Matrix<double>::Zero(10, 12);
        Vector<double> sizes = Vector<double>::Zero(10);
        const auto own = [&](Index i) { return bad.labels()[static_cast<std::size_t>(i)]; };
        for (Index i = 0; i < 400; ++i) {
            means.row(own(i)) += s.points.row(i);
            ++sizes[own(i)];
        }
        for (Index i = 0; i < 400; ++i) {
            within += (s.points.row(i) - means.row(own(i)) / sizes[own(i)]).squaredNorm();
            total += (s.points.row(i) - mean).squaredNorm();
        }
        EXPECT_NEAR(bad.restart_criterion(), within / total, 1e-12);
    }
}

TEST(DeepRestarts, ResumeBitForBit) {
    COTERIE_NEEDS_NETWORKS;
    DecOptions options;
    test::make_small(options);
    options.pretrain_epochs = 2;
    options.restarts = 2;
    EXPECT_GT(test::goes_on(fit_dec, options, {.points = Points(test::blobs(300, 6, 4, 3).points)}), 3);
}

}  // namespace
}  // namespace coterie
