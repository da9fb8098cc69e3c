#include "coterie/selection/holdout.hpp"

#include <gtest/gtest.h>

#include "coterie/kmeans/kmeans.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

struct Sample {
    Matrix<double> points;
    Labels truth;
};

// Three groups. The third column is constant, and the first is in large units.
Sample sample() {
    Sample out{Matrix<double>(90, 3), {}};
    RandomStream random(1, "test.holdout");
    for (Index i = 0; i < 90; ++i) {
        const int group = static_cast<int>(i % 3);
        out.points.row(i) << 1000 * (group + 0.25 * random.normal()), (group == 1 ? 3 : 0) + random.normal(), 7;
        out.truth.push_back(group);
    }
    return out;
}

Contender kmeans_contender(bool common_start) {
    Contender::Grid grid{"kmeans", {}, {{"clusters", {std::int64_t{3}}}}};
    grid.common_start = common_start;
    return {"k-means", {grid}};
}

// The protocol, written out for one run.
TEST(Holdout, FollowsTheProtocol) {
    const Sample data = sample();
    HoldoutOptions options;
    options.runs = 3;
    options.scale = Scale::minmax;
    coterie::Run run(5, 2);
    const auto outcomes = repeated_holdout(with(data.points), data.truth, 3, {kmeans_contender(true)}, options, run);
    ASSERT_EQ(outcomes.size(), 1U);
    ASSERT_EQ(outcomes[0].size(), 3U);
    for (std::uint64_t r = 0; r < 3; ++r) {
        coterie::Run own(5 + r, 1);
        const auto parts = split_folds(90, 3, own);
        std::vector<char> is_unseen(90, 0);
        for (const Index i : parts[0]) is_unseen[static_cast<std::size_t>(i)] = 1;
        std::vector<Index> seen_rows;
        for (Index i = 0; i < 90; ++i)
            if (!is_unseen[static_cast<std::size_t>(i)]) seen_rows.push_back(i);
        Points seen = rows_of(data.points, seen_rows);
        PreparationOptions scaling;
        scaling.scale = Scale::minmax;
        const auto preprocessing = Preparation::fit(seen, scaling, own);
        seen = preprocessing.apply(seen, own);
        KMeansOptions plain;
        plain.clusters = 3;
        const KMeansModel model = fit_kmeans(seen, plain, own);
        Labels truth;
        for (const Index i : parts[0]) truth.push_back(data.truth[static_cast<std::size_t>(i)]);
        const Points unseen = preprocessing.apply(rows_of(data.points, parts[0]), own);
        EXPECT_DOUBLE_EQ(outcomes[0][r].unseen.acc, accuracy(model.predict(unseen, own), truth));
        EXPECT_EQ(outcomes[0][r].method, "kmeans");
    }
}

TEST(Holdout, ChoosesAmongAllGrids) {
    const Sample data = sample();
    Contender both = kmeans_contender(false);
    both.grids[0].axes[0].values = {std::int64_t{1}};  // one cluster: the worst choice
    both.grids.push_back(kmeans_contender(true).grids[0]);
    HoldoutOptions options;
    options.runs = 2;
    options.scale = Scale::zscore;
    coterie::Run run;
    const auto outcomes =
        repeated_holdout(with(data.points), data.truth, 3, {both, kmeans_contender(true)}, options, run);
    for (std::size_t r = 0; r < 2; ++r) {
        EXPECT_EQ(std::get<std::int64_t>(outcomes[0][r].options.at("clusters")), 3);
        EXPECT_EQ(outcomes[0][r].unseen.acc, outcomes[1][r].unseen.acc);
    }
}

TEST(Holdout, SameAtAnyNumberOfThreads) {
    const Sample data = sample();
    HoldoutOptions options;
    options.runs = 4;
    const auto scores = [&](int threads) {
        coterie::Run run(0, threads);
        const auto outcomes =
            repeated_holdout(with(data.points), data.truth, 3, {kmeans_contender(false)}, options, run);
        std::vector<double> out;
        for (const auto& outcome : outcomes[0]) out.push_back(outcome.unseen.nmi);
        return out;
    };
    EXPECT_EQ(scores(1), scores(2));
    EXPECT_EQ(scores(1), scores(8));
}

TEST(Holdout, BadArguments) {
    const Sample data = sample();
    coterie::Run run;
    const auto message = [&](int runs, std::size_t labels) {
        HoldoutOptions options;
        options.runs = runs;
        return test::message_of([&] {
            repeated_holdout(with(data.points), LabelSpan(data.truth).first(labels), 3, {kmeans_contender(true)},
                             options, run);
        });
    };
    EXPECT_NE(message(1, 90).find("runs"), std::string::npos);
    EXPECT_NE(message(2, 80).find("truth has 80 labels, but the data have 90 rows"), std::string::npos);
    const auto without_grids = [&] {
        repeated_holdout(with(data.points), data.truth, 3, {{"nothing", {}}}, HoldoutOptions(), run);
    };
    EXPECT_NE(test::message_of(without_grids).find("nothing has no grid"), std::string::npos);
    run.should_stop = [] { return true; };
    HoldoutOptions options;
    EXPECT_THROW(repeated_holdout(with(data.points), data.truth, 3, {kmeans_contender(true)}, options, run), Cancelled);
}

}  // namespace
}  // namespace coterie
