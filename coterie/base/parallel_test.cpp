#include "coterie/base/parallel.hpp"

#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace coterie {
namespace {

TEST(ForEachBlock, VisitsEveryBlockOnceAtAnyThreadCount) {
    for (const int threads : {1, 2, 8}) {
        std::vector<std::atomic<int>> visits(103);
        for_each_block(103, threads, [&](Index block, int worker) {
            ASSERT_GE(worker, 0);
            ASSERT_LT(worker, threads);
            ++visits[static_cast<std::size_t>(block)];
        });
        for (const auto& count : visits) EXPECT_EQ(count, 1);
    }
}

TEST(ForEachBlock, ThrowsWhatTheBodyThrew) {
    for (const int threads : {1, 2, 8}) {
        try {
            for_each_block(50, threads, [](Index block, int) {
                if (block == 17) throw BadArgument("block 17");
            });
            FAIL() << "nothing was thrown";
        } catch (const BadArgument& error) {
            EXPECT_STREQ(error.message(), "block 17");
        }
    }
}

TEST(ForEachBlock, NestedLoopsRun) {
    std::atomic<int> sum{0};
    for_each_block(4, 2,
                   [&](Index, int) { for_each_block(5, 2, [&](Index, int worker) { sum += worker == 0 ? 1 : 100; }); });
    EXPECT_EQ(sum, 20);
}

TEST(RowBlocks, CoverTheRows) {
    const RowBlocks blocks{10, 4};
    EXPECT_EQ(blocks.count(), 3);
    EXPECT_EQ(blocks.begin(2), 8);
    EXPECT_EQ(blocks.end(2), 10);
    EXPECT_EQ((RowBlocks{0, 4}.count()), 0);
}

}  // namespace
}  // namespace coterie
