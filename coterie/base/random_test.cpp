#include "coterie/base/random.hpp"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/run.hpp"

namespace coterie {
namespace {

TEST(RandomStream, SameNameSameNumbers) {
    RandomStream a(7, "seeding", 3);
    RandomStream b(7, "seeding", 3);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(a.next64(), b.next64());
}

TEST(RandomStream, SeedPurposeAndIndexGiveDifferentStreams) {
    const std::uint64_t base = RandomStream(7, "seeding", 3).next64();
    EXPECT_NE(base, RandomStream(8, "seeding", 3).next64());
    EXPECT_NE(base, RandomStream(7ull << 32 | 7, "seeding", 3).next64());
    EXPECT_NE(base, RandomStream(7, "batches", 3).next64());
    EXPECT_NE(base, RandomStream(7, "seeding", 4).next64());
    EXPECT_NE(base, RandomStream(7, "seeding", 3ull << 32).next64());
}

TEST(RandomStream, UniformHasTheRightMoments) {
    RandomStream stream(1, "moments");
    const int n = 200000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < n; ++i) {
        const double u = stream.uniform();
        ASSERT_GE(u, 0.0);
        ASSERT_LT(u, 1.0);
        sum += u;
        squares += u * u;
    }
    EXPECT_NEAR(sum / n, 0.5, 5 * std::sqrt(1.0 / 12 / n));
    EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(RandomStream, NormalHasTheRightMoments) {
    RandomStream stream(2, "moments");
    const int n = 200000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < n; ++i) {
        const double z = stream.normal();
        sum += z;
        squares += z * z;
    }
    EXPECT_NEAR(sum / n, 0.0, 5 / std::sqrt(static_cast<double>(n)));
    EXPECT_NEAR(squares / n, 1.0, 5 * std::sqrt(2.0 / n));
}

TEST(RandomStream, BelowIsUnbiased) {
    RandomStream stream(3, "below");
    std::vector<int> counts(7);
    const int n = 70000;
    for (int i = 0; i < n; ++i) ++counts[stream.below(7)];
    double chi_squared = 0;
    for (const int count : counts) chi_squared += (count - 10000.0) * (count - 10000.0) / 10000.0;
    EXPECT_LT(chi_squared, 22.5);  // 99.9 % point with 6 degrees of freedom
}

TEST(RandomStream, ShufflesUniformly) {
    RandomStream stream(4, "orders");
    std::map<std::vector<int>, int> counts;
    const int n = 24000;
    for (int i = 0; i < n; ++i) {
        std::vector<int> items = {0, 1, 2, 3};
        shuffle(items, stream);
        ++counts[items];
    }
    ASSERT_EQ(counts.size(), 24u);
    double chi_squared = 0;
    for (const auto& [order, count] : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000.0;
    EXPECT_LT(chi_squared, 49.7);  // 99.9 % point with 23 degrees of freedom
}

TEST(Run, ChildHasItsOwnSeedAndKeepsSettings) {
    coterie::Run run(7, 3);
    run.device = "cuda";
    run.checkpoint = "state";
    run.on_progress = [](const Progress&) {};
    run.should_stop = [] { return true; };
    const coterie::Run child = run.child("folds", 2);
    EXPECT_EQ(child.seed, run.child("folds", 2).seed);
    std::set<std::uint64_t> seeds = {run.seed,
                                     child.seed,
                                     run.child("folds", 1).seed,
                                     run.child("starts", 2).seed,
                                     child.child("folds", 2).seed,
                                     coterie::Run(8).child("folds", 2).seed};
    EXPECT_EQ(seeds.size(), 6u);
    EXPECT_EQ(child.threads, 3);
    EXPECT_EQ(child.device, "cuda");
    EXPECT_EQ(child.checkpoint, "");
    EXPECT_FALSE(child.on_progress);
    EXPECT_TRUE(child.stop_requested());
}

}  // namespace
}  // namespace coterie
