// Fits that are interrupted repeatedly and resume give the bits of an uninterrupted fit.

#include <gtest/gtest.h>

#include "coterie/entropy/entropy.hpp"
#include "tests/support/goes_on.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

template <class T>
Problem checkpoint_problem(bool labelled = false) {
    Problem out{.points = Points(test::blob_points<T>(400, 6, 4, 2, 3, 5))};
    if (labelled)
        for (Index i = 0; i < 400; ++i)
            out.partial_labels.push_back(i % 9 == 0 ? static_cast<std::int32_t>(i % 4) : -1);
    return out;
}

template <class Options>
Options five_epochs() {
    Options out;
    out.clusters = 4;
    out.epochs = 5;
    out.batch_size = 100;
    return out;
}

template <class T>
class EntropyCheckpoint : public ::testing::Test {};
using CheckpointScalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(EntropyCheckpoint, CheckpointScalars);

TYPED_TEST(EntropyCheckpoint, EveryMethodResumesBitForBit) {
    const Problem problem = checkpoint_problem<TypeParam>();
    EXPECT_GT(test::goes_on(fit_entropy, five_epochs<EntropyOptions>(), problem), 3);
    EXPECT_GT(test::goes_on(fit_mi, five_epochs<MiOptions>(), problem), 3);
    EXPECT_GT(test::goes_on(fit_sela, five_epochs<SelaOptions>(), problem), 3);
    EXPECT_GT(test::goes_on(fit_miadm, five_epochs<MiadmOptions>(), problem), 3);
}

TYPED_TEST(EntropyCheckpoint, PartialLabelsAndLabelsPerEpoch) {
    const Problem problem = checkpoint_problem<TypeParam>(true);
    auto options = five_epochs<EntropyOptions>();
    EXPECT_GT(test::goes_on(fit_entropy, options, problem), 3);
    options.labels_per = LabelsPer::epoch;
    options.origin = TrainingOrigin::zero;
    EXPECT_GT(test::goes_on(fit_entropy, options, problem), 3);
}

TYPED_TEST(EntropyCheckpoint, Lbfgs) {
    auto options = five_epochs<EntropyOptions>();
    options.optimizer = Optimizer::lbfgs;
    options.gamma_start = 1.0;
    EXPECT_GT(test::goes_on(fit_entropy, options, checkpoint_problem<TypeParam>(true)), 1);
    auto information = five_epochs<MiOptions>();
    information.optimizer = Optimizer::lbfgs;
    information.gamma_start = 1.0;
    EXPECT_GT(test::goes_on(fit_mi, information, checkpoint_problem<TypeParam>()), 1);
}

TEST(EntropyRestarts, ResumeBitForBit) {
    auto options = five_epochs<MiOptions>();
    options.epochs = 3;
    options.restarts = 4;
    EXPECT_GT(test::goes_on(fit_mi, options, checkpoint_problem<float>()), 8);
}

TEST(EntropyRestarts, KeepTheStateOfTheBest) {
    const Problem problem = checkpoint_problem<double>();
    auto options = five_epochs<MiOptions>();
    options.restarts = 4;
    Communicator alone;
    coterie::Run run(3, 1);
    const MiModel plain = fit_mi(problem, options, run);
    const test::Outcome whole = test::outcome_of(plain, alone);
    const coterie::testing::Folder folder;
    run.checkpoint = folder / "fit.checkpoint";
    EXPECT_TRUE(test::outcome_of(fit_mi(problem, options, run), alone) == whole);
    EXPECT_EQ(folder.entries(), 2U) << "the criteria, and the best start's state";
    EXPECT_EQ(Archive::load(run.checkpoint).vector("criteria").size(), 4U);
    EXPECT_TRUE(test::outcome_of(fit_mi(problem, options, run), alone) == whole) << "after the end";
    EXPECT_EQ(folder.entries(), 2U);
    for (const auto& [name, value] : plain.fit_report().details)
        if (name == "best_restart")
            std::filesystem::remove(run.checkpoint + ".start-" + std::to_string(std::get<std::int64_t>(value)));
    EXPECT_EQ(folder.entries(), 1U);
    EXPECT_TRUE(test::outcome_of(fit_mi(problem, options, run), alone) == whole) << "without that state";
    options.restarts = 5;
    EXPECT_NE(test::message_of([&] { fit_mi(problem, options, run); }).find("restarts=4"), std::string::npos);
}

}  // namespace
}  // namespace coterie
