// Compares the moved rows with a search over all matchings.

#include "coterie/pipeline/model_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {

std::vector<std::string> named(int clusters, char first) {
    std::vector<std::string> out;
    for (int j = 0; j < clusters; ++j) out.emplace_back(1, static_cast<char>(first + j));
    return out;
}

TEST(ModelComparison, AsFewRowsAsPossibleMove) {
    RandomStream random = coterie::Run(7, 1).random("test");
    const auto draw = [&](int clusters) { return static_cast<std::int32_t>(random.uniform() * clusters); };
    for (int trial = 0; trial < 40; ++trial) {
        const int here = 2 + trial % 4, there = 2 + trial % 3;
        Labels own, other;
        for (int i = 0; i < 60; ++i) {
            own.push_back(i < here ? i : i % 17 == 16 ? -2 : i % 7 == 6 ? -1 : draw(here));
            other.push_back(i < there ? i : i % 19 == 18 ? -2 : i % 5 == 4 ? -1 : draw(there));
        }
        const ModelComparison comparison = compare_partitions(own, named(here, 'a'), other, named(there, 'A'));
        // Each cluster of this partition is matched to one of `wide`. Those beyond the other's clusters mean no match.
        std::vector<int> match(static_cast<std::size_t>(std::max(here, there)));
        std::iota(match.begin(), match.end(), 0);
        const auto same = [&](std::size_t i) {  // noise matches noise
            return own[i] < 0 || other[i] < 0 ? own[i] == other[i]
                                              : match[static_cast<std::size_t>(own[i])] == other[i];
        };
        const auto in_both = [&](std::size_t i) { return own[i] > -2 && other[i] > -2; };
        Index least = 1000, both = 0;
        do {
            Index moved = 0;
            for (std::size_t i = 0; i < own.size(); ++i) moved += in_both(i) && !same(i) ? 1 : 0;
            least = std::min(least, moved);
        } while (std::next_permutation(match.begin(), match.end()));
        for (std::size_t i = 0; i < own.size(); ++i) both += in_both(i) ? 1 : 0;
        EXPECT_EQ(comparison.moved, least);
        EXPECT_EQ(comparison.agreement.scored, both);
        EXPECT_EQ(std::count(comparison.has_moved.begin(), comparison.has_moved.end(), true), least);
        Index told = 0;
        for (std::size_t m = 0; m < comparison.moves.size(); ++m) {
            const ModelComparison::Move& move = comparison.moves[m];
            told += move.rows;
            if (m > 0) {
                EXPECT_LE(move.rows, comparison.moves[m - 1].rows);
            }
            EXPECT_EQ(static_cast<Index>(move.some.size()), std::min<Index>(3, move.rows));
            for (const Index row : move.some) {
                EXPECT_TRUE(comparison.has_moved[static_cast<std::size_t>(row)]);
                const auto at = static_cast<std::size_t>(row);
                EXPECT_EQ(move.to, own[at] < 0 ? "noise" : named(here, 'a')[static_cast<std::size_t>(own[at])]);
                EXPECT_EQ(move.from, other[at] < 0 ? "noise" : named(there, 'A')[static_cast<std::size_t>(other[at])]);
            }
        }
        EXPECT_EQ(told, least);
    }
}

TEST(ModelComparison, RenamedClustersDoNotMove) {
    const ModelComparison comparison = compare_partitions({0, 0, 1, 2}, named(3, 'a'), {2, 2, 0, 1}, named(3, 'A'));
    EXPECT_EQ(comparison.moved, 0);
    EXPECT_TRUE(comparison.moves.empty());
    EXPECT_EQ(comparison.agreement.confusion.classes, named(3, 'A'));
    EXPECT_EQ(comparison.agreement.confusion.clusters, (std::vector<std::string>{"b", "c", "a"}));
    EXPECT_THROW(compare_partitions({0, -2}, named(1, 'a'), {-2, 0}, named(1, 'A')), BadData);
    const ModelComparison noise = compare_partitions({0, 0, 1}, named(2, 'a'), {-1, -1, -1}, {});
    EXPECT_EQ(noise.moved, 3);
    EXPECT_EQ(noise.moves.front().from, "noise");
}

}  // namespace
}  // namespace coterie
