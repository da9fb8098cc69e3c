// Errors that all methods share.

#include "coterie/model/method.hpp"
#include "coterie/base/checks.hpp"

#include <gtest/gtest.h>

#include "coterie/model/model.hpp"

namespace coterie {
namespace {

template <class F>
Message fields_of(F&& act) {
    try {
        act();
    } catch (const BadArgument& error) {
        return error.fields();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST(Method, UnsupportedFieldIsNamed) {
    const auto refused = [](const Problem& problem) {
        return fields_of([&] { internal::admit("plain", Takes{}, problem, coterie::Run()); }).option;
    };
    EXPECT_EQ(refused({.graph = std::make_shared<SparseMatrix>(2, 2)}), "graph");
    EXPECT_EQ(refused({.weights = {1, 2}}), "weights");
    const double zero = 0;
    EXPECT_EQ(refused({.initial_centroids = Points::borrow(PointsView(&zero, 1, 1))}), "initial_centroids");
    EXPECT_EQ(refused({.partial_labels = {0, -1}}), "partial_labels");
    EXPECT_EQ(refused({.clusters_per_label = {{"a", 2}}}), "clusters_per_label");
    EXPECT_EQ(refused({.label_shares = {{"a", 0.5, 0.5}}}), "label_share");
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

TEST(Method, BadWeightErrorHasItsRow) {
    const std::vector<double> weights = {1, 1, -3};
    const Message fields = fields_of([&] { check_weights(weights, 3); });
    EXPECT_EQ(fields.option, "weights");
    EXPECT_EQ(fields.value, "-3");
    EXPECT_EQ(fields.row, 3);
}

}  // namespace
}  // namespace coterie
