#include "coterie/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "coterie/base/matrix.hpp"

namespace coterie {
namespace {

TEST(SampleRows, EqualsThePrefixOfAShuffle) {
    for (const Index count : {0, 1, 5, 9, 40}) {
        RandomStream random(4, "test.sample"), again(4, "test.sample");
        const std::vector<Index> found = sample_rows(40, count, random);
        std::vector<Index> all(40);
        std::iota(all.begin(), all.end(), Index{0});
        for (Index i = 0; i < count && count < 40; ++i)
            std::swap(all[static_cast<std::size_t>(i)],
                      all[static_cast<std::size_t>(i) + again.below(static_cast<std::uint64_t>(40 - i))]);
        all.resize(static_cast<std::size_t>(count));
        std::sort(all.begin(), all.end());
        EXPECT_EQ(found, all) << count;
    }
    RandomStream random(4, "test.sample");
    EXPECT_EQ(sample_rows(3, 7, random), (std::vector<Index>{0, 1, 2}));
}

TEST(SampleRows, EverySetIsEquallyLikely) {
    // 10 sets of 2 of 5 rows, 2000 draws: each occurs 200 times, within 5 standard deviations.
    std::map<std::vector<Index>, int> counts;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        RandomStream random(seed, "test.sample");
        ++counts[sample_rows(5, 2, random)];
    }
    EXPECT_EQ(counts.size(), 10u);
    for (const auto& [rows, count] : counts) EXPECT_NEAR(count, 200, 67);
}

}  // namespace
}  // namespace coterie
