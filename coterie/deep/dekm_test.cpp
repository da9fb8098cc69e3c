#include "coterie/deep/dekm.hpp"

#include <cmath>
#include <filesystem>
#include <optional>

#include <gtest/gtest.h>

#include "coterie/base/error.hpp"
#include "coterie/deep/internal/deep_fit.hpp"
#include "coterie/deep/internal/dekm_step.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_samples.hpp"

namespace coterie {
namespace {

using testing::message_of;

using test::blobs;
using test::Sample;

DekmOptions small() {
    DekmOptions options;
    test::make_small(options);
    return options;
}

TEST(Dekm, TargetsAgreeWithTheirDefinition) {
    const Sample sample = blobs(40, 5, 3, 1);
    const coterie::Run run;
    const auto greedy = deep::internal::greedy_targets(sample.points, sample.truth, 3, DekmMove::last, run);
    Matrix<double> means = Matrix<double>::Zero(3, 5);
    Vector<double> sizes = Vector<double>::Zero(3);
    for (Index i = 0; i < 40; ++i) {
        means.row(i % 3) += sample.points.row(i);
        ++sizes[i % 3];
    }
    for (Index c = 0; c < 3; ++c) means.row(c) /= sizes[c];
    Matrix<double> within = Matrix<double>::Zero(5, 5);
    for (Index i = 0; i < 40; ++i) {
        const Vector<double> from = (sample.points.row(i) - means.row(i % 3)).transpose();
        within += from * from.transpose();
    }
    const Matrix<double>& v = greedy.rotation;
    EXPECT_LE((greedy.means - means).cwiseAbs().maxCoeff(), 1e-12);
    EXPECT_LE((v * v.transpose() - Matrix<double>::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-12);
    for (Index j = 0; j < 5; ++j) {
        EXPECT_LE((within * v.row(j).transpose() - greedy.spreads[j] * v.row(j).transpose()).norm(), 1e-9);
        if (j > 0) {
            EXPECT_LE(greedy.spreads[j - 1], greedy.spreads[j]);
        }
    }
    // The target differs from the embedding only in the last direction, in which it equals the mean.
    for (Index i = 0; i < 40; ++i) {
        const Vector<double> y = v * sample.points.row(i).transpose();
        for (Index j = 0; j < 4; ++j) EXPECT_NEAR(greedy.targets(i, j), y[j], 1e-12);
        EXPECT_NEAR(greedy.targets(i, 4), v.row(4).dot(means.row(i % 3)), 1e-12);
    }
    const auto all = deep::internal::greedy_targets(sample.points, sample.truth, 3, DekmMove::all, run);
    for (Index i = 0; i < 40; ++i)
        EXPECT_LE((all.targets.row(i) - means.row(i % 3) * v.transpose()).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Dekm, LossAndItsGradient) {
    const Sample sample = blobs(30, 4, 3, 2);
    const auto greedy = deep::internal::greedy_targets(sample.points, sample.truth, 3, DekmMove::last, coterie::Run());
    const std::vector<std::int64_t> rows = {3, 17, 8, 29};
    Matrix<float> f(4, 4);
    for (Index r = 0; r < 4; ++r) f.row(r) = (0.9 * sample.points.row(rows[static_cast<std::size_t>(r)])).cast<float>();
    const auto value = [&](const Matrix<double>& at) {
        double sum = 0;
        for (Index r = 0; r < 4; ++r)
            sum += (greedy.rotation * at.row(r).transpose() -
                    greedy.targets.row(rows[static_cast<std::size_t>(r)]).transpose())
                       .squaredNorm();
        return sum / 16;
    };
    const auto loss = deep::internal::greedy_loss(f, greedy, rows);
    EXPECT_NEAR(loss.value, value(f.cast<double>()), 1e-12);
    for (Index i = 0; i < f.size(); ++i) {
        Matrix<double> up = f.cast<double>(), down = up;
        up.data()[i] += 1e-5;
        down.data()[i] -= 1e-5;
        EXPECT_NEAR(loss.gradient.data()[i], (value(up) - value(down)) / 2e-5, 1e-6);
    }
    // At the embedding itself, the gradient is 0 except in the last direction.
    Matrix<float> at(4, 4);
    for (Index r = 0; r < 4; ++r) at.row(r) = sample.points.row(rows[static_cast<std::size_t>(r)]).cast<float>();
    const Matrix<double> pull =
        deep::internal::greedy_loss(at, greedy, rows).gradient.cast<double>() * greedy.rotation.transpose();
    EXPECT_LE(pull.leftCols(3).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_GE(pull.col(3).cwiseAbs().maxCoeff(), 1e-3);
}

TEST(Dekm, FindsBlobsPredictsAndRoundTrips) {
    COTERIE_NEEDS_NETWORKS;
    const Sample sample = blobs(400, 8, 4, 3);
    DekmOptions options = small();
    options.pretrain_epochs = 60;
    options.max_iterations = 200;
    options.tolerance = 0.005;
    coterie::Run run(1);
    const DekmModel model = fit_dekm(sample.points, options, run);
    EXPECT_GE(accuracy(model.labels(), sample.truth), 0.95);
    EXPECT_EQ(model.fit_report().stopped, StopReason::converged);
    const Labels again = model.predict(sample.points);
    EXPECT_GE(accuracy(again, model.labels()), 0.999);
    const testing::Folder folder;
    Pipeline(model).save(folder / "dekm.coterie");
    const auto pipeline = Pipeline::load(folder / "dekm.coterie");
    const Model* read = &pipeline.model();
    EXPECT_EQ(read->predict(sample.points), again);
    EXPECT_EQ(read->transform(sample.points, run).cols(), 3);
}

TEST(Dekm, StopsBelowTheToleratedShareOfChanges) {
    COTERIE_NEEDS_NETWORKS;
    const Sample sample = blobs(300, 8, 4, 4);
    DekmOptions options = small();
    options.max_iterations = 60;
    coterie::Run run(1);
    const auto changes = [&](const DekmModel& model) {
        for (const auto& [name, value] : model.fit_report().details)
            if (name == "changed_per_update") return std::get<std::vector<double>>(value);
        return std::vector<double>();
    };
    const std::vector<double> all = changes(fit_dekm(sample.points, options, run));
    ASSERT_EQ(all.size(), 20U);
    options.tolerance = 0.02;
    const DekmModel stopped = fit_dekm(sample.points, options, run);
    std::size_t expected = 0;
    while (expected < all.size() && !(all[expected] < options.tolerance)) ++expected;
    ASSERT_LT(expected, all.size());
    EXPECT_EQ(changes(stopped).size(), expected + 1);
    EXPECT_EQ(stopped.fit_report().iterations, static_cast<int>(3 * (expected + 1)));
}

// A fit that is interrupted at any possible place ends like an uninterrupted fit.
TEST(Dekm, ResumesBitForBit) {
    COTERIE_NEEDS_NETWORKS;
    const Sample sample = blobs(200, 6, 4, 5);
    const testing::Folder folder;
    DekmOptions options = small();
    coterie::Run run(2);
    const DekmModel whole = fit_dekm(sample.points, options, run);
    run.checkpoint = folder / "fit.checkpoint";
    int stops = 0;
    for (int limit = 1; limit < 400; limit += 3) {
        int asked = 0;
        coterie::Run cut = run;
        cut.should_stop = [&] { return ++asked > limit; };
        bool done = false;
        try {
            done = fit_dekm(sample.points, options, cut).fit_report().stopped != StopReason::interrupted;
        } catch (const Cancelled&) {
        }
        if (done) break;
        ++stops;
    }
    EXPECT_GE(stops, 2);
    const DekmModel resumed = fit_dekm(sample.points, options, run);
    // The seconds include pre-training, which was complete before this fit continued.
    const auto& seconds = resumed.fit_report().seconds;
    ASSERT_EQ(seconds.front().first, "pretraining");
    EXPECT_EQ(seconds.front().second, Archive::load(run.checkpoint).vector("seconds", 2)[0]);
    EXPECT_EQ(resumed.labels(), whole.labels());
    EXPECT_EQ(resumed.state().parameters, whole.state().parameters);
    EXPECT_EQ(resumed.fit_report().objective_per_iteration, whole.fit_report().objective_per_iteration);
    options.learning_rate *= 2;
    EXPECT_NE(message_of<BadData>([&] { fit_dekm(sample.points, options, run); }).find("other options"),
              std::string::npos);
}

// If clusters collapse, the model is from an update before that, even if the fit was interrupted at every update.
TEST(Dekm, ReturnsTheModelBeforeACollapse) {
    COTERIE_NEEDS_NETWORKS;
    const Sample sample = blobs(200, 6, 4, 8);
    const testing::Folder folder;
    DekmOptions options = small();
    options.move = DekmMove::all;
    options.learning_rate = 0.3;
    options.max_iterations = 45;
    std::uint64_t seed = 0;
    std::optional<DekmModel> whole;
    do {
        coterie::Run run(++seed);
        whole = fit_dekm(sample.points, options, run);
        ASSERT_LE(seed, 20U) << "no fit collapses";
    } while (whole->fit_report().warnings.empty());
    ASSERT_NE(whole->fit_report().warnings[0].text().find("collapsed"), std::string::npos);
    for (int update = 0; update < 40; ++update) {
        coterie::Run cut = test::stopped_after_batches(seed);
        cut.checkpoint = folder / "fit.checkpoint";
        const DekmModel part = fit_dekm(sample.points, options, cut);
        if (part.fit_report().stopped == StopReason::interrupted) continue;
        EXPECT_EQ(part.labels(), whole->labels());
        EXPECT_EQ(part.state().parameters, whole->state().parameters);
        EXPECT_EQ(part.fit_report().warnings, whole->fit_report().warnings);
        return;
    }
    ADD_FAILURE() << "the fit did not end";
}

TEST(Dekm, CheckpointBelongsToOneAutoencoder) {
    COTERIE_NEEDS_NETWORKS;
    const Sample sample = blobs(200, 6, 4, 6);
    const testing::Folder folder;
    AeKMeansOptions plain;
    static_cast<AutoencoderOptions&>(plain) = small();
    const auto train = [&](std::uint64_t seed) {
        coterie::Run run(seed);
        Pipeline(fit_ae_kmeans(sample.points, plain, run)).save(folder / "ae.coterie");
    };
    train(3);
    DekmOptions options = small();
    options.pretrained = folder / "ae.coterie";
    coterie::Run cut = test::stopped_after_batches(3);
    cut.checkpoint = folder / "fit.checkpoint";
    EXPECT_EQ(fit_dekm(sample.points, options, cut).fit_report().stopped, StopReason::interrupted);
    train(4);
    coterie::Run run(3);
    run.checkpoint = cut.checkpoint;
    EXPECT_NE(message_of<BadData>([&] { fit_dekm(sample.points, options, run); }).find("other data"),
              std::string::npos);
    // The same file in another place, with a name that is not valid text.
    train(3);
    std::filesystem::rename(folder / "ae.coterie", folder / "ae\xff.coterie");
    options.pretrained = folder / "ae\xff.coterie";
    const DekmModel moved = fit_dekm(sample.points, options, run);
    run.checkpoint.clear();
    EXPECT_EQ(moved.state().parameters, fit_dekm(sample.points, options, run).state().parameters);
    // A stop before the first clusters does not lose the pre-training.
    DekmOptions whole = small();
    coterie::Run during(3);
    during.checkpoint = folder / "whole.checkpoint";
    bool trained = false;
    during.on_progress = [&](const Progress& progress) {
        trained |= progress.stage == "pretraining" && progress.iteration == whole.pretrain_epochs;
    };
    during.should_stop = [&] { return trained; };
    try {
        fit_dekm(sample.points, whole, during);
    } catch (const Cancelled&) {
    }
    bool again = false;
    coterie::Run later(3);
    later.checkpoint = during.checkpoint;
    later.on_progress = [&](const Progress& progress) { again |= progress.stage == "pretraining"; };
    const DekmModel resumed = fit_dekm(sample.points, whole, later);
    EXPECT_FALSE(again);
    EXPECT_EQ(resumed.state().parameters, fit_dekm(sample.points, whole, run).state().parameters);
}

TEST(Dekm, BaselinesShareAPretrainedAutoencoder) {
    COTERIE_NEEDS_NETWORKS;
    const Sample sample = blobs(200, 6, 4, 6);
    const testing::Folder folder;
    AeKMeansOptions plain;
    static_cast<AutoencoderOptions&>(plain) = small();
    coterie::Run run(3);
    const AeKMeansModel first = fit_ae_kmeans(sample.points, plain, run);
    Pipeline(first).save(folder / "ae.coterie");
    plain.pretrained = folder / "ae.coterie";
    plain.pretrain_epochs = 0;
    const AeKMeansModel second = fit_ae_kmeans(sample.points, plain, run);
    EXPECT_EQ(first.state().parameters, second.state().parameters);
    EXPECT_EQ(first.labels(), second.labels());
    plain.embedding = 4;
    EXPECT_NE(message_of<BadData>([&] { fit_ae_kmeans(sample.points, plain, run); }).find("another shape"),
              std::string::npos);
}

TEST(Dekm, RejectsBadArguments) {
    const Sample sample = blobs(20, 6, 4, 7);
    coterie::Run run;
    const auto refused = [&](auto change) {
        DekmOptions options = small();
        change(options);
        return message_of<BadArgument>([&] { fit_dekm(sample.points, options, run); });
    };
    EXPECT_NE(refused([](auto& o) { o.clusters = 21; }).find("21"), std::string::npos);
    COTERIE_NEEDS_NETWORKS;
    EXPECT_NE(refused([](auto& o) { o.image = {3, 3}; }).find("6 columns"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.image = {6}; }).find("image"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.widths = {5, 0}; }).find("widths"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.network = AutoencoderNetwork::convolutional; }).find("image"), std::string::npos);
    run.device = "tpu";
    EXPECT_NE(refused([](auto&) {}).find("cpu, cuda or mps"), std::string::npos);
    run.device = "cpu";
    EXPECT_NE(refused([](auto& o) { o.pretrain_rate = 1e30; }).find("pretrain_rate"), std::string::npos);
}

}  // namespace
}  // namespace coterie
