// Pairs of rows compared with brute force over every assignment of few rows to few clusters.

#include "coterie/constraints/linked_rows.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::internal {
namespace {

struct Case {
    Problem problem;
    int clusters = 0;
    std::vector<std::pair<int, int>> allowed;  // for every row
    std::pair<int, int> of(Index row) const { return allowed[at(row)]; }
};

Case random_case(RandomStream& random, Index rows, int clusters, int must, int cannot, bool labelled) {
    Case out;
    out.problem.points = Points(Matrix<double>(Matrix<double>::Zero(rows, 1)));
    out.clusters = clusters;
    const auto draw = [&] { return static_cast<Index>(random.below(static_cast<std::uint64_t>(rows))); };
    for (int i = 0; i < must; ++i) out.problem.must_links.push_back({draw(), draw()});
    for (int i = 0; i < cannot; ++i) out.problem.cannot_links.push_back({draw(), draw()});
    for (Index i = 0; i < rows; ++i)
        out.allowed.push_back(labelled && i % 4 == 0 ? std::pair(0, std::max(1, clusters / 2))
                                                     : std::pair(0, clusters));
    return out;
}

// The least cost over all assignments; nothing if no assignment keeps the pairs.
std::optional<double> brute_force(const Case& given, const Matrix<double>& costs) {
    const Index n = given.problem.rows();
    std::vector<int> chosen(at(n), 0);
    std::optional<double> best;
    while (true) {
        bool sound = true;
        double cost = 0;
        for (Index i = 0; i < n; ++i) {
            const auto [first, last] = given.of(i);
            sound = sound && chosen[at(i)] >= first && chosen[at(i)] < last;
            cost += costs(i, chosen[at(i)]);
        }
        for (const RowPair& pair : given.problem.must_links)
            sound = sound && chosen[at(pair.first)] == chosen[at(pair.second)];
        for (const RowPair& pair : given.problem.cannot_links)
            sound = sound && chosen[at(pair.first)] != chosen[at(pair.second)];
        if (sound && (!best || cost < *best)) best = cost;
        Index i = 0;
        while (i < n && ++chosen[at(i)] == given.clusters) chosen[at(i++)] = 0;
        if (i == n) return best;
    }
}

TEST(LinkedRows, AgreesWithBruteForce) {
    RandomStream random(3, "test.linked");
    int feasible = 0, infeasible = 0;
    for (int repetition = 0; repetition < 400; ++repetition) {
        const Index n = 5 + repetition % 4;
        const int k = 2 + repetition % 3;
        const Case given = random_case(random, n, k, repetition % 3, 1 + repetition % 9, repetition % 2 == 0);
        Matrix<double> costs(n, k);
        for (Index i = 0; i < n; ++i)
            for (int j = 0; j < k; ++j) costs(i, j) = random.uniform();
        const std::optional<double> expected = brute_force(given, costs);
        std::optional<LinkedRows> links;
        try {
            links.emplace(given.problem, k, [&](Index row) { return given.of(row); });
        } catch (const BadData&) {
            EXPECT_FALSE(expected) << repetition;
            ++infeasible;
            continue;
        }
        ASSERT_TRUE(expected) << repetition;
        ++feasible;
        Matrix<double> own(static_cast<Index>(links->rows().size()), k);
        double others = 0;
        for (Index i = 0; i < n; ++i) {
            const auto place = std::find(links->rows().begin(), links->rows().end(), i);
            const auto [first, last] = given.of(i);
            if (place != links->rows().end())
                own.row(place - links->rows().begin()) = costs.row(i);
            else
                others += costs.row(i).segment(first, last - first).minCoeff();
        }
        const LinkedRows::Solution found = links->assign(own);
        EXPECT_TRUE(found.optimal);
        EXPECT_NEAR(found.cost + others, *expected, 1e-12) << repetition;
        double cost = 0;
        for (std::size_t i = 0; i < found.labels.size(); ++i) {
            const auto [first, last] = given.of(links->rows()[i]);
            EXPECT_TRUE(found.labels[i] >= first && found.labels[i] < last);
            cost += own(static_cast<Index>(i), found.labels[i]);
        }
        EXPECT_NEAR(cost, found.cost, 1e-12);
    }
    EXPECT_GT(feasible, 100);
    EXPECT_GT(infeasible, 50);
}

std::string refusal(std::vector<RowPair> must, std::vector<RowPair> cannot, int clusters,
                    std::vector<std::pair<int, int>> allowed = {}) {
    Problem problem{.points = Points(Matrix<double>(Matrix<double>::Zero(9, 1)))};
    problem.must_links = std::move(must);
    problem.cannot_links = std::move(cannot);
    return test::message_of([&] {
        LinkedRows(problem, clusters,
                   [&](Index row) { return allowed.empty() ? std::pair(0, clusters) : allowed[at(row)]; });
    });
}

TEST(LinkedRows, NamesConflictingPairs) {
    EXPECT_NE(refusal({{0, 4}, {4, 7}, {2, 7}}, {{1, 3}, {2, 0}}, 3)
                  .find("rows 3 and 1 must be apart, but must-links join them: rows 3, 8, 5, 1"),
              std::string::npos);
    EXPECT_NE(refusal({}, {{5, 5}}, 3).find("row 6 cannot be apart from itself"), std::string::npos);
    EXPECT_NE(refusal({}, {{0, 1}, {1, 2}, {0, 2}, {7, 8}}, 2)
                  .find("rows 1, 2, 3 must all be apart, which needs 3 clusters; there are 2"),
              std::string::npos);
    // A cycle of five needs three clusters although no three of its rows must all be apart.
    EXPECT_NE(refusal({}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 2)
                  .find("rows 1, 2, 3, 4, 5 cannot be put into 2 clusters"),
              std::string::npos);
    EXPECT_EQ(refusal({}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 3), "nothing was thrown");
    std::vector<std::pair<int, int>> allowed(9, {0, 2});
    allowed[0] = {0, 1};
    allowed[2] = {1, 2};
    EXPECT_NE(refusal({{0, 1}, {1, 2}}, {}, 2, allowed)
                  .find("rows 1 and 3 have different labels, but must-links join them: rows 1, 2, 3"),
              std::string::npos);
    EXPECT_NE(refusal({{0, 9}}, {}, 2).find("must_links: row 1: the pair names row 10, but the data have rows 1 to 9"),
              std::string::npos);
    EXPECT_NE(refusal({}, {{0, 1}, {-1, 3}}, 2).find("cannot_links: row 2: the pair names row 0, but"),
              std::string::npos);
}

TEST(LinkedRows, ManyCannotLinksGiveAPermutation) {
    // All pairs of 30 rows, 30 clusters: a permutation, here the identity.
    Problem problem{.points = Points(Matrix<double>(Matrix<double>::Zero(30, 1)))};
    for (Index i = 0; i < 30; ++i)
        for (Index j = 0; j < i; ++j) problem.cannot_links.push_back({i, j});
    const LinkedRows links(problem, 30, [](Index) { return std::pair(0, 30); });
    Matrix<double> costs(30, 30);
    for (Index i = 0; i < 30; ++i)
        for (Index j = 0; j < 30; ++j) costs(i, j) = static_cast<double>((i - j) * (i - j));
    const LinkedRows::Solution found = links.assign(costs);
    EXPECT_TRUE(found.optimal);
    EXPECT_EQ(found.cost, 0.0);
    for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(found.labels[i], static_cast<std::int32_t>(i));
}

TEST(LinkedRows, LongChainsInAnyOrderOfPairs) {
    // A chain of 3,000 rows between two clusters: they alternate, for any order of the pairs.
    Problem problem{.points = Points(Matrix<double>(Matrix<double>::Zero(3000, 1)))};
    for (Index i = 0; i + 1 < 3000; ++i) problem.cannot_links.push_back({i, i + 1});
    Matrix<double> costs(3000, 2);
    for (Index i = 0; i < 3000; ++i) costs.row(i) << 1.0, 1.0 + (i == 10 ? 0.5 : 0.0);
    const auto solve = [&] { return LinkedRows(problem, 2, [](Index) { return std::pair(0, 2); }).assign(costs); };
    const LinkedRows::Solution found = solve();
    EXPECT_TRUE(found.optimal);
    EXPECT_EQ(found.cost, 3000.0);
    for (std::size_t i = 0; i < 3000; ++i) EXPECT_EQ(found.labels[i], static_cast<std::int32_t>(i % 2));
    std::reverse(problem.cannot_links.begin(), problem.cannot_links.end());
    for (RowPair& pair : problem.cannot_links) std::swap(pair.first, pair.second);
    EXPECT_EQ(solve().labels, found.labels);
}

}  // namespace
}  // namespace coterie::internal
