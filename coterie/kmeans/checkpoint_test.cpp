// Fits that are cut off again and again and go on from their checkpoint: the bits of one that was never cut off.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "coterie/base/internal/processes_in_threads.hpp"
#include "coterie/base/internal/read_rows.hpp"
#include "coterie/base/internal/test_support.hpp"
#include "coterie/base/internal/together.hpp"
#include "coterie/io/internal/test_files.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/minibatch_kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/kmeans/spherical_kmeans.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {
namespace {

struct Outcome {
    Labels labels;
    std::vector<double> numbers;
    bool operator==(const Outcome&) const = default;
};

template <class Model>
Outcome outcome_of(const Model& model, Communicator& communicator) {
    Outcome out{internal::gather(communicator, model.labels()), {}};
    const FitReport& report = model.fit_report();
    const Matrix<double> centroids = to_matrix<double>(model.centroids());
    out.numbers.assign(centroids.data(), centroids.data() + centroids.size());
    out.numbers.insert(out.numbers.end(), report.objective_per_iteration.begin(), report.objective_per_iteration.end());
    for (const auto& [name, value] : report.details) {
        if (name == "best_restart") out.numbers.push_back(static_cast<double>(std::get<std::int64_t>(value)));
        if (name != "objective_per_restart") continue;
        const auto& objectives = std::get<std::vector<double>>(value);
        out.numbers.insert(out.numbers.end(), objectives.begin(), objectives.end());
    }
    for (const double figure :
         {report.objective, static_cast<double>(report.iterations), static_cast<double>(report.empty_clusters_repaired),
          static_cast<double>(report.stopped), static_cast<double>(report.warnings.size())})
        out.numbers.push_back(figure);
    return out;
}

// Stops the fit at one question or read later every time, by turns in memory and read, on one and two threads, in one
// process and in three, until it is through. Returns how often a checkpoint was gone on from.
template <class Fitting, class Options>
int goes_on(const Fitting& fit, const Options& options, const Problem& problem) {
    Communicator alone;
    const Outcome whole = outcome_of(fit(problem, options, coterie::Run(7, 1)), alone);
    const testing::Folder folder;
    const std::string path = folder / "fit.checkpoint";
    int gone_on = 0;
    for (int attempt = 0; attempt < 1000; ++attempt) {
        const bool found = std::filesystem::exists(path);
        const int processes = attempt % 5 == 3 ? 3 : 1;
        const int patience = 14 + attempt / 4;
        bool through = false;
        test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
            bool stop = false;
            int events = 0;
            Problem mine = problem;
            if (attempt % 2 == 1)
                mine.points = test::read_rows(problem.points, [&](Index) {
                    if (stop || ++events <= patience) return;
                    stop = true;
                    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // a loop asks every 50
                });
            coterie::Run run(7, attempt % 2 == 1 ? 1 : 1 + attempt / 2 % 2);
            run.checkpoint = path;
            if (communicator->rank() == 0) run.should_stop = [&] { return stop = stop || ++events > patience; };
            run.set_communicator(communicator);
            try {
                const auto model = fit(mine, options, run);
                if (model.fit_report().stopped == StopReason::interrupted) return;
                const Outcome found_out = outcome_of(model, *communicator);
                EXPECT_TRUE(found_out == whole) << "attempt " << attempt << ", " << processes << " processes";
                if (communicator->rank() == 0) through = true;
            } catch (const Cancelled& stopped) {
                EXPECT_TRUE(found || std::string(stopped.what()).find("holds its state") == std::string::npos);
            }
        });
        if (found) ++gone_on;
        if (through) return gone_on;
    }
    ADD_FAILURE() << "never through";
    return gone_on;
}

Problem with_repairs(Index n) {
    Problem out{.points = Points(test::blob_points<float>(n, 5, 4, 2, 11))};
    for (Index i = 0; i < n; ++i) out.weights.push_back(static_cast<double>(i % 4) * 0.37);
    Matrix<float> start = Matrix<float>::Constant(6, 5, 1e3f);
    start.row(0).setConstant(0.5f);
    out.initial_centroids = Points(std::move(start));
    return out;
}

TEST(KMeansCheckpoint, GoesOnBitForBit) {
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

TEST(KMeansCheckpoint, MinibatchKMeansGoesOnBitForBit) {
    const MinibatchKMeansOptions options{.clusters = 9, .batch_size = 64, .max_epochs = 2, .restarts = 2};
    const Problem problem{.points = Points(test::blob_points<float>(1500, 6, 8, 1, 3, 5))};
    EXPECT_GT(goes_on(fit_minibatch_kmeans, options, problem), 5);
    const MinibatchKMeansOptions from_start{
        .clusters = 6, .batch_size = 64, .patience = 5, .reassignment_share = 0.2, .restarts = 1};
    EXPECT_GT(goes_on(fit_minibatch_kmeans, from_start, with_repairs(1000)), 3);
}

TEST(KMeansCheckpoint, SoftAndSphericalKMeansGoOnBitForBit) {
    const Problem problem{.points = Points(test::blob_points<double>(1500, 6, 4, 2, 3, 5))};
    EXPECT_GT(goes_on(fit_soft_kmeans, SoftKMeansOptions{.clusters = 4, .restarts = 2, .max_iterations = 12}, problem),
              3);
    EXPECT_GT(goes_on(fit_spherical_kmeans, SphericalKMeansOptions{.clusters = 5, .restarts = 2}, problem), 5);
    const SphericalKMeansOptions from_start{.clusters = 6, .restarts = 1, .tolerance = 0};
    EXPECT_GT(goes_on(fit_spherical_kmeans, from_start, with_repairs(1000)), 3);
}

TEST(KMeansCheckpoint, IsWrittenAtFirstAndServesAfterTheEnd) {
    const Problem problem{.points = Points(test::blob_points<float>(1500, 6, 8, 1, 3))};
    const KMeansOptions options{.clusters = 9, .restarts = 2};
    const testing::Folder folder;
    Communicator alone;
    coterie::Run run(7, 1);
    const Outcome whole = outcome_of(fit_kmeans(problem, options, run), alone);
    run.checkpoint = folder / "fit.checkpoint";
    EXPECT_TRUE(outcome_of(fit_kmeans(problem, options, run), alone) == whole);
    // A fit of less than five seconds writes its first iteration alone.
    EXPECT_EQ(Archive::load(run.checkpoint).vector("objectives").size(), 1u);
    EXPECT_TRUE(outcome_of(fit_kmeans(problem, options, run), alone) == whole);
}

TEST(KMeansCheckpoint, IsOfOneFit) {
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
    names(refused({.points = Points::borrow(other)}, options, run), "a fit with other points");
    Matrix<float> turned = x.colwise().reverse();
    names(refused({.points = Points::borrow(turned)}, options, run), "a fit with other points");
    names(refused({.points = Points(to_matrix<double>(PointsView(x)))}, options, run), "a fit with other points");
    Problem weighted = problem;
    weighted.weights.assign(300, 1.0);
    names(refused(weighted, options, run), "other weights");
    names(refused(problem, {.clusters = 4, .restarts = 5}, run), "`restarts=");
    names(refused(problem, {.clusters = 5}, run), "`clusters=4`");
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

TEST(KMeansCheckpoint, WhereNoneCanBeWrittenTheFitDoesNotBegin) {
    const auto x = test::blob_points<float>(300, 3, 4, 2, 5);
    const testing::Folder folder;
    coterie::Run run(7, 1);
    run.checkpoint = folder / "no-folder/fit.checkpoint";
    EXPECT_THROW(fit_kmeans(x, {.clusters = 4}, run), ResourceError);
    run.checkpoint = "-";
    EXPECT_THROW(fit_kmeans(x, {.clusters = 4}, run), BadArgument);
    // One that cannot be written later is a warning.
    const std::filesystem::path gone = folder / "gone";
    std::filesystem::create_directory(gone);
    run.checkpoint = (gone / "fit.checkpoint").string();
    run.on_progress = [&](const Progress& progress) {
        if (progress.stage == "iterations") std::filesystem::remove_all(gone);
    };
    const auto model = fit_kmeans(x, {.clusters = 4}, run);
    ASSERT_EQ(model.fit_report().warnings.size(), 1u);
    EXPECT_NE(model.fit_report().warnings.front().find("a checkpoint could not be written"), std::string::npos);
    run.on_progress = nullptr;
    run.checkpoint = folder / "fit.checkpoint";
    EXPECT_NE(test::message_of([&] {
                  fit_kmeans(Problem{.points = Points::borrow(x), .sizes = SizeBounds{60, 90}}, {.clusters = 4}, run);
              }).find("keeps no checkpoint"),
              std::string::npos);
}

}  // namespace
}  // namespace coterie
