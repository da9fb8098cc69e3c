// Fits that are interrupted repeatedly and resume from their checkpoint give the bits of an uninterrupted fit.

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/minibatch_kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/kmeans/spherical_kmeans.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "tests/support/goes_on.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::goes_on;
using test::Outcome;
using test::outcome_of;

Problem with_repairs(Index n) {
    Problem out{.points = Points(test::blob_points<float>(n, 5, 4, 2, 11))};
    for (Index i = 0; i < n; ++i) out.weights.push_back(static_cast<double>(i % 4) * 0.37);
    Matrix<float> start = Matrix<float>::Constant(6, 5, 1e3f);
    start.row(0).setConstant(0.5f);
    out.initial_centroids = Points(std::move(start));
    return out;
}

TEST(KMeansCheckpoint, KMeansResumesBitForBit) {
    for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
        const KMeansOptions options{.clusters = 9, .restarts = 3, .tolerance = 0, .algorithm = algorithm};
        const Problem floats{.points = Points(test::blob_points<float>(1500, 6, 8, 1, 3, 5))};
        EXPECT_GT(goes_on(fit_kmeans, options, floats), 10);
        const Problem doubles{.points = Points(test::blob_points<double>(1500, 6, 8, 1, 4, 5))};
        EXPECT_GT(goes_on(fit_kmeans, options, doubles), 10);
        const KMeansOptions from_start{.clusters = 6, .restarts = 1, .tolerance = 0, .algorithm = algorithm};
        EXPECT_GT(goes_on(fit_kmeans, from_start, with_repairs(1000)), 5);
    }
}

TEST(KMeansCheckpoint, MinibatchKMeansResumesBitForBit) {
    const MinibatchKMeansOptions options{.clusters = 9, .batch_size = 64, .max_epochs = 2, .restarts = 2};
    const Problem problem{.points = Points(test::blob_points<float>(1500, 6, 8, 1, 3, 5))};
    EXPECT_GT(goes_on(fit_minibatch_kmeans, options, problem), 5);
    const MinibatchKMeansOptions from_start{
        .clusters = 6, .batch_size = 64, .patience = 5, .reassignment_share = 0.2, .restarts = 1};
    EXPECT_GT(goes_on(fit_minibatch_kmeans, from_start, with_repairs(1000)), 3);
}

TEST(KMeansCheckpoint, SoftAndSphericalKMeansResumeBitForBit) {
    const Problem problem{.points = Points(test::blob_points<double>(1500, 6, 4, 2, 3, 5))};
    EXPECT_GT(goes_on(fit_soft_kmeans, SoftKMeansOptions{.clusters = 4, .restarts = 2, .max_iterations = 12}, problem),
              3);
    EXPECT_GT(goes_on(fit_spherical_kmeans, SphericalKMeansOptions{.clusters = 5, .restarts = 2}, problem), 5);
    const SphericalKMeansOptions from_start{.clusters = 6, .restarts = 1, .tolerance = 0};
    EXPECT_GT(goes_on(fit_spherical_kmeans, from_start, with_repairs(1000)), 3);
}

TEST(KMeansCheckpoint, ConstrainedKMeansResumesBitForBit) {
    const KMeansOptions options{.clusters = 5, .restarts = 2, .tolerance = 0};
    Problem problem{.points = Points(test::blob_points<float>(600, 4, 4, 2, 3, 5))};
    problem.sizes = SizeBounds{100, 150};
    EXPECT_GT(goes_on(fit_kmeans, options, problem), 5);
    problem.sizes.reset();
    for (Index i = 0; i < 600; ++i)
        problem.partial_labels.push_back(i % 9 == 0 ? static_cast<std::int32_t>(i % 4 % 3) : -1);
    problem.label_names = {"a", "b", "c"};
    EXPECT_GT(goes_on(fit_kmeans, options, problem), 5);
    problem.must_links = {{1, 2}, {2, 590}};
    for (Index i = 20; i < 300; i += 7) problem.cannot_links.push_back({i, i + 299});
    EXPECT_GT(goes_on(fit_kmeans, options, problem), 5);
    problem.must_links.clear();
    problem.cannot_links.clear();
    problem.label_shares = {{"b", 0.2, 0.3}};
    EXPECT_GT(goes_on(fit_kmeans, options, problem), 5);
}

TEST(KMeansCheckpoint, IsWrittenEarlyAndUsableAfterTheEnd) {
    const Problem problem{.points = Points(test::blob_points<float>(1500, 6, 8, 1, 3))};
    const KMeansOptions options{.clusters = 9, .restarts = 2};
    const testing::Folder folder;
    Communicator alone;
    coterie::Run run(7, 1);
    const Outcome whole = outcome_of(fit_kmeans(problem, options, run), alone);
    run.checkpoint = folder / "fit.checkpoint";
    EXPECT_TRUE(outcome_of(fit_kmeans(problem, options, run), alone) == whole);
    // A fit of less than five seconds writes only its first iteration.
    EXPECT_EQ(Archive::load(run.checkpoint).vector("objectives").size(), 1u);
    EXPECT_TRUE(outcome_of(fit_kmeans(problem, options, run), alone) == whole);
}

TEST(KMeansCheckpoint, BelongsToOneFit) {
    const auto x = test::blob_points<float>(300, 3, 4, 2, 5);
    const Problem problem{.points = Points::borrow(x)};
    const KMeansOptions options{.clusters = 4};
    const testing::Folder folder;
    coterie::Run run(7, 1);
    run.checkpoint = folder / "fit.checkpoint";
    fit_kmeans(problem, options, run);
    const auto refused = [&](const Problem& given, const KMeansOptions& chosen, const coterie::Run& running) {
        return test::message_of([&] { fit_kmeans(given, chosen, running); });
    };
    const auto names = [](const std::string& message, const std::string& word) {
        EXPECT_NE(message.find(word), std::string::npos) << message;
    };
    auto other = x;
    other(299, 2) += 1e-3f;
    names(refused({.points = Points::borrow(other)}, options, run), "a fit with other data");
    Matrix<float> turned = x.colwise().reverse();
    names(refused({.points = Points::borrow(turned)}, options, run), "a fit with other data");
    names(refused({.points = Points(to_matrix<double>(PointsView(x)))}, options, run), "a fit with other data");
    Problem weighted = problem;
    weighted.weights.assign(300, 1.0);
    names(refused(weighted, options, run), "weights");
    for (const double share : {0.3, 0.4}) {  // a checkpoint for one share does not match another share
        coterie::Run bounded(7, 1);
        bounded.checkpoint = folder / "bounded.checkpoint";
        Problem known = problem;
        known.partial_labels.assign(300, -1);
        known.partial_labels[5] = 0;
        known.label_shares = {{"0", share, share}};
        if (share == 0.3)
            fit_kmeans(known, options, bounded);
        else
            names(refused(known, options, bounded), "shares");
        names(refused(known, options, run), "labels");
    }
    names(refused(problem, {.clusters = 4, .restarts = 5}, run), "restarts=");
    names(refused(problem, {.clusters = 5}, run), "clusters=4");
    coterie::Run seeded = run;
    seeded.seed = 8;
    names(refused(problem, options, seeded), "other seed");
    names(test::message_of([&] { fit_soft_kmeans(problem, {.clusters = 4}, run); }), "other method (kmeans)");
    for (const auto& error : test::run_processes(3, [&](std::shared_ptr<Communicator> communicator) {
             coterie::Run shared = seeded;
             shared.set_communicator(std::move(communicator));
             fit_kmeans(problem, options, shared);
         })) {
        ASSERT_TRUE(error);
        names(test::message_of([&] { std::rethrow_exception(error); }), "other seed");
    }
    Pipeline(fit_kmeans(problem, options, coterie::Run(7, 1))).save(run.checkpoint);
    names(refused(problem, options, run), "is a model of kmeans, not a checkpoint");
    std::ofstream(run.checkpoint) << "nothing of the kind";
    EXPECT_THROW(fit_kmeans(problem, options, run), BadData);
}

TEST(KMeansCheckpoint, UnwritablePathStopsTheFitBeforeItStarts) {
    const auto x = test::blob_points<float>(300, 3, 4, 2, 5);
    const testing::Folder folder;
    coterie::Run run(7, 1);
    run.checkpoint = folder / "no-folder/fit.checkpoint";
    EXPECT_THROW(fit_kmeans(x, {.clusters = 4}, run), ResourceError);
    run.checkpoint = "-";
    EXPECT_THROW(fit_kmeans(x, {.clusters = 4}, run), BadArgument);
    // A checkpoint that cannot be written later gives a warning.
    const std::filesystem::path gone = folder / "gone";
    std::filesystem::create_directory(gone);
    run.checkpoint = (gone / "fit.checkpoint").string();
    run.on_progress = [&](const Progress& progress) {
        if (progress.stage == "iterations") std::filesystem::remove_all(gone);
    };
    const auto model = fit_kmeans(x, {.clusters = 4}, run);
    ASSERT_EQ(model.fit_report().warnings.size(), 1u);
    EXPECT_NE(model.fit_report().warnings.front().text().find("checkpoint could not be written"), std::string::npos);
}

}  // namespace
}  // namespace coterie
