// What every method refuses in the same words, and what its errors know.

#include "coterie/model/method.hpp"

#include <gtest/gtest.h>

#include "coterie/base/internal/processes_in_threads.hpp"
#include "coterie/base/internal/test_support.hpp"
#include "coterie/model/model.hpp"

namespace coterie {
namespace {

template <class F>
ErrorFields fields_of(F&& act) {
    try {
        act();
    } catch (const BadArgument& error) {
        return error.fields();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(Method, APartThatIsNotTakenIsNamedAsTheProblemsField) {
    const auto refused = [](const Problem& problem) {
        return fields_of([&] { internal::admit("plain", Takes{}, problem, coterie::Run()); }).option;
    };
    EXPECT_EQ(refused({.graph = std::make_shared<SparseMatrix>(2, 2)}), "graph");
    EXPECT_EQ(refused({.weights = {1, 2}}), "weights");
    const double zero = 0;
    EXPECT_EQ(refused({.initial_centroids = Points::borrow(PointsView(&zero, 1, 1))}), "initial_centroids");
    EXPECT_EQ(refused({.partial_labels = {0, -1}}), "partial_labels");
    EXPECT_EQ(refused({.clusters_per_label = {{"a", 2}}}), "clusters_per_label");
    EXPECT_EQ(refused({.group_shares = {{"a", 0.5, 0.5}}}), "group_share");
    EXPECT_EQ(refused({.sizes = SizeBounds{1, 2}}), "sizes");
    EXPECT_NO_THROW(internal::admit("plain", Takes{}, Problem{}, coterie::Run()));
    coterie::Run run;
    run.device = "cuda";
    EXPECT_EQ(fields_of([&] { internal::admit("plain", Takes{}, Problem{}, run); }).option, "device");
    EXPECT_NO_THROW(internal::admit("network", Takes{.device = true}, Problem{}, run));
    run = coterie::Run();
    run.checkpoint = "state";
    EXPECT_EQ(fields_of([&] { internal::admit("plain", Takes{}, run); }).option, "checkpoint");
    EXPECT_NO_THROW(internal::admit("network", Takes{.checkpoint = true}, Problem{}, run));
}

TEST(Method, ConstraintsInBlocksAreTakenWhereTheMethodSaysSo) {
    const Problem plain;
    const Problem labelled{.partial_labels = {0, -1}};
    const Problem bounded{.sizes = SizeBounds{1, 2}};
    const Takes points{.blocks = true};
    EXPECT_TRUE(internal::in_blocks(points, plain));
    EXPECT_FALSE(internal::in_blocks(points, labelled));
    EXPECT_FALSE(internal::in_blocks(points, bounded));
    for (const Problem& problem : {plain, labelled, bounded}) {
        EXPECT_FALSE(internal::in_blocks(Takes{}, problem));
        EXPECT_TRUE(internal::in_blocks(Takes{.blocks = true, .constraints_in_blocks = true}, problem));
    }
    const Takes takes{.blocks = true, .labels = true};
    for (const auto& error : test::run_processes(2, [&](std::shared_ptr<Communicator> communicator) {
             coterie::Run run;
             run.set_communicator(std::move(communicator));
             internal::admit("plain", takes, plain, run);
             internal::admit("plain", takes, labelled, run);
         }))
        EXPECT_EQ(test::message_of([&] { std::rethrow_exception(error); }),
                  "method plain works in one process where there are partial labels or bounds, not in 2");
}

TEST(Method, AWeightThatIsRefusedHasItsRow) {
    const std::vector<double> weights = {1, 1, -3};
    const ErrorFields fields = fields_of([&] { check_weights(weights, 3); });
    EXPECT_EQ(fields.option, "weights");
    EXPECT_EQ(fields.value, "-3");
    EXPECT_EQ(fields.row, 3);
}

}  // namespace
}  // namespace coterie
