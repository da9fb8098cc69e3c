#include "coterie/constraints/constraints.hpp"
#include "coterie/kmeans/starting_prototypes.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "coterie/constraints/constrained_assignment.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::internal {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

constexpr double infinity = std::numeric_limits<double>::infinity();

using test::message_of;
using test::with;

struct Known {
    Labels labels;
    std::vector<std::string> names;
    Problem side() const {
        Problem out;
        out.partial_labels = labels;
        out.label_names = names;
        return out;
    }
};

TEST(Constraints, ClustersFollowLabelOrderWithFreeOnesLast) {
    const Known known{{1, -1, 0, -1, -1, -1, -1}, {"O", "PER"}};
    Problem side = known.side();
    side.clusters_per_label = {{"O", 3}};
    const Constraints exact = compile_constraints(7, std::nullopt, side, ShareRounding::floor);
    EXPECT_EQ(exact.label_of, (std::vector<std::int32_t>{0, 0, 0, 1}));
    const Constraints more = compile_constraints(7, 6, side, ShareRounding::floor);
    EXPECT_EQ(more.label_of, (std::vector<std::int32_t>{0, 0, 0, 1, -1, -1}));
    EXPECT_EQ(more.clusters_of(0), std::pair(0, 3));
    EXPECT_EQ(more.clusters_of(1), std::pair(3, 4));
    EXPECT_EQ(more.clusters_of(-1), std::pair(4, 6));
    EXPECT_EQ(more.allowed(1), std::pair(0, 6));
    EXPECT_EQ(more.allowed(2), std::pair(0, 3));
    EXPECT_FALSE(more.bounded);
    EXPECT_TRUE(more.any());
}

TEST(Constraints, SharesBecomeCounts) {
    Known known;
    known.labels.assign(100, -1);
    known.labels[0] = 0;
    known.labels[1] = 1;
    known.labels[2] = 2;
    Problem side = known.side();
    side.label_shares = {{"0", 0.29, 0.29}};  // 0.29 * 100 is 28.999999999999996
    Constraints made = compile_constraints(100, std::nullopt, side, ShareRounding::floor);
    EXPECT_EQ(made.low, (std::vector<Index>{29, 0}));
    EXPECT_EQ(made.high, (std::vector<Index>{29, 100}));
    side.label_shares = {{"1", 0.508, 0.508}};
    made = compile_constraints(100, std::nullopt, side, ShareRounding::floor);
    EXPECT_EQ(made.high[0], 50);
    EXPECT_EQ(made.group_of, (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_DOUBLE_EQ(made.low_mass[0], 50.8);
    EXPECT_EQ(compile_constraints(100, std::nullopt, side, ShareRounding::nearest).high[0], 51);
    side.label_shares = {{"1", 0.502, 0.518}};
    made = compile_constraints(100, std::nullopt, side, ShareRounding::floor);
    EXPECT_EQ(made.low[0], 51);
    EXPECT_EQ(made.high[0], 51);
    // Thirds: floor gives 33 each; the remaining point goes to the largest remainder (ties: the first).
    side.label_shares = {{"0", 1.0 / 3, 1.0 / 3}, {"1", 1.0 / 3, 1.0 / 3}, {"2", 1.0 / 3, 1.0 / 3}};
    made = compile_constraints(100, std::nullopt, side, ShareRounding::floor);
    EXPECT_EQ(made.low, (std::vector<Index>{34, 33, 33}));
    EXPECT_EQ(made.high, made.low);
    // True shares as a user computes them.
    side.label_shares = {{"0", 0.505, 0.505}, {"1", 0.255, 0.255}, {"2", 0.24, 0.24}};
    made = compile_constraints(100, std::nullopt, side, ShareRounding::nearest);
    EXPECT_EQ(std::accumulate(made.low.begin(), made.low.end(), Index{0}), 100);
    EXPECT_EQ(made.high, made.low);
}

TEST(Constraints, InfeasibleConstraintsAreErrorsWithFeasibleRange) {
    Known known{Labels(100, -1), {"O", "PER"}};
    for (std::size_t i = 0; i < 20; ++i) known.labels[i] = i < 15 ? 0 : 1;
    const auto message = [&](auto change, std::optional<int> clusters = {}) {
        Problem side = known.side();
        change(side);
        return message_of([&] { compile_constraints(100, clusters, side, ShareRounding::floor); });
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(message([](auto& s) { s.label_shares = {{"O", 0.1, 0.1}}; }), "Use shares from 0.15 to 0.95 (15 to 95 rows)");
    has(message([](auto& s) {
            s.label_shares = {{"O", 0.97, 0.98}};
        }),
        "O=0.97:0.98 asks for between 97 and 98 of 100 rows");
    has(message([](auto& s) { s.label_shares = {{"O", 0.5, 0.4}}; }), "LOW:HIGH with LOW <= HIGH");
    has(message([](auto& s) { s.label_shares = {{"O", 0.5, 1.2}}; }), "O=0.5:1.2 is not accepted");
    has(message([](auto& s) { s.label_shares = {{"O", NAN, NAN}}; }), "is not accepted");
    has(message([](auto& s) {
            s.label_shares = {{"0", 0.5, 0.6}};
        }),
        "no row has the label '0'. Labels, nearest first: O, PER");
    has(message([](auto& s) { s.label_shares = {{"O", 0.5, 0.6}, {"O", 0.5, 0.6}}; }), "named twice");
    has(message([](auto& s) { s.label_shares = {{"O", 0.7, 0.7}, {"PER", 0.5, 0.5}}; }), "add up to at least 1.2");
    has(message([](auto& s) {
            s.label_shares = {{"O", 0.4, 0.4}, {"PER", 0.5, 0.5}};
        }),
        "so that they can add up to 1");
    has(message([](auto& s) { s.clusters_per_label = {{"PRE", 2}}; }), "nearest first: PER");
    has(message([](auto& s) { s.clusters_per_label = {{"PER", 0}}; }), "PER=0 is not accepted");
    has(message([](auto& s) { s.clusters_per_label = {{"PER", 1}, {"PER", 2}}; }), "named twice");
    has(message([](auto& s) { s.clusters_per_label = {{"PER", 200}}; }), "the labels have 201 clusters for 100 rows");
    has(message(
            [](auto& s) {
                s.clusters_per_label = {{"PER", 4}};
            },
            3),
        "3 clusters requested, but the labels need 5");
    has(message([](auto& s) { s.sizes = SizeBounds{51, 60}; }), "minimum of at most 50");
    has(message([](auto& s) { s.sizes = SizeBounds{10, 49}; }), "maximum of at least 50");
    has(message([](auto& s) { s.sizes = SizeBounds{60, 49}; }), "is not accepted");
    has(message(
            [](auto& s) {
                s.sizes = SizeBounds{0, 14};
            },
            10),
        "15 rows have the label 'O', but its 1 cluster can hold at most 14 rows");
    has(message([](auto& s) {
            s.sizes = SizeBounds{10, 90};
            s.label_shares = {{"O", 0.5, 0.6}};
        }),
        "sizes cannot be combined with label_share");
    has(message([](auto& s) { s.partial_labels.resize(99); }), "99 labels for 100 rows");
    has(message([](auto& s) { s.label_names = {"O"}; }), "row 16: label 1 is not from 0 to 0");
    has(message([](auto& s) { s.label_names = {"O", "O"}; }), "two labels have the name 'O'");
    has(message([](auto& s) { s = {}; }), "at least 1");
    has(message(
            [](auto& s) {
                s = {};
                s.label_shares = {{"O", 0.5, 0.6}};
            },
            3),
        "needs partial_labels");
    has(message(
            [](auto& s) {
                s = {};
                s.clusters_per_label = {{"O", 2}};
            },
            3),
        "needs partial_labels");
    const Labels blank(100, -1);
    has(message([&](auto& s) { s.partial_labels = blank; }), "all labels are blank");
    has(message([](auto& s) { s.label_shares = {{"O", 0.411, 0.419}}; }), "of 100 rows contains no whole number");
    has(message([](auto& s) {
            s.label_shares = {{"O", 0.4985, 0.68}, {"PER", 0.5008, 0.81}};
        }),
        "the shares together need 101 rows, but there are 100. Lower the minimum of a share");
    has(message([](auto& s) {
            s.label_shares = {{"O", 0.4, 0.4985}, {"PER", 0.4, 0.5018}};
        }),
        "the shares allow only 99 of 100 rows. Raise the maximum of a share");
    EXPECT_EQ(message([](auto& s) { s.label_shares = {{"O", 0.15, 0.15}}; }), "nothing was thrown");
    EXPECT_EQ(message([](auto& s) { s.label_shares = {{"O", 0.95, 0.95}}; }), "nothing was thrown");
    EXPECT_EQ(message([](auto& s) { s.label_shares = {{"O", 0.4, 0.6}, {"PER", 0.3, 0.5}}; }), "nothing was thrown");
}

// Every set of shares of two or three labels on a grid of tenths, exact and intervals, compared with all possible
// counts: accepted shares keep every interval and can be met, and shares that can be met are accepted.
TEST(Constraints, CountsOfSharesAgreeWithBruteForce) {
    std::vector<LabelShare> shares;
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{{0, 1},
                                                                          {0.49, 0.68},
                                                                          {0.51, 0.81},
                                                                          {0.3, 0.3},
                                                                          {0.4, 0.4},
                                                                          {0.5, 0.5},
                                                                          {0, 0.34},
                                                                          {0.21, 0.21},
                                                                          {0.34, 0.41},
                                                                          {0.29, 0.29}})
        shares.push_back({"", low, high});
    Index met = 0, refused = 0;
    for (Index n = 3; n <= 9; ++n)
        for (const std::size_t labels : {std::size_t{2}, std::size_t{3}})
            for (const bool rest : {false, true})
                for (Index first = 1; first + static_cast<Index>(labels) - 1 <= n; first += 2)
                    for (const ShareRounding rounding : {ShareRounding::floor, ShareRounding::nearest})
                        for (std::size_t set = 0; set < (labels == 2 ? 100u : 1000u); ++set) {
                            Known known{Labels(at(n), -1), {"a", "b", "c"}};
                            known.names.resize(labels);
                            std::vector<Index> labelled(labels, 1);
                            labelled[0] = first;
                            Index row = 0;
                            for (std::size_t l = 0; l < labels; ++l)
                                for (Index i = 0; i < labelled[l]; ++i) known.labels[at(row++)] = static_cast<int>(l);
                            Problem side = known.side();
                            for (std::size_t l = 0, code = set; l < labels; ++l, code /= 10) {
                                side.label_shares.push_back(shares[code % 10]);
                                side.label_shares.back().label = known.names[l];
                            }
                            const int clusters = static_cast<int>(labels) + rest;
                            if (clusters > n) continue;
                            // Are there counts that meet all shares? An exact share may be rounded up or down.
                            const auto allows = [&](const LabelShare& share, Index count) {
                                const double low = share.low * static_cast<double>(n);
                                const double high = share.high * static_cast<double>(n);
                                const bool exact = share.low == share.high;
                                return static_cast<double>(count) >= (exact ? std::floor(low + 1e-9) : low - 1e-9) &&
                                       static_cast<double>(count) <= (exact ? std::ceil(high - 1e-9) : high + 1e-9);
                            };
                            bool possible = false;
                            double least = 0;
                            for (const auto& share : side.label_shares) least += share.low;
                            std::vector<Index> counts(labels, 0);
                            for (std::size_t l = 0; l < labels && !possible;) {
                                bool good = true;
                                for (std::size_t m = 0; m < labels; ++m)
                                    good = good && counts[m] >= labelled[m] && allows(side.label_shares[m], counts[m]);
                                const Index sum = std::accumulate(counts.begin(), counts.end(), Index{0});
                                possible = good && (rest ? sum <= n : sum == n);
                                for (l = 0; l < labels && ++counts[l] > n; ++l) counts[l] = 0;
                            }
                            const bool named = least <= 1 + 1e-9;
                            double largest = 0;
                            for (const auto& share : side.label_shares) largest += share.high;
                            possible = possible && named && (rest || largest >= 1 - 1e-9);
                            std::optional<Constraints> made;
                            try {
                                made = compile_constraints(n, clusters, side, rounding);
                            } catch (const BadArgument&) {
                            }
                            ASSERT_EQ(made.has_value(), possible) << "n " << n << ", set " << set << ", rest " << rest;
                            ++(possible ? met : refused);
                            if (!made) continue;
                            Index low = 0, high = rest ? n : 0;
                            for (std::size_t l = 0; l < labels; ++l) {
                                ASSERT_LE(made->low[l], made->high[l]);
                                ASSERT_TRUE(allows(side.label_shares[l], made->low[l])) << n << ", " << set;
                                ASSERT_TRUE(allows(side.label_shares[l], made->high[l])) << n << ", " << set;
                                low += std::max(made->low[l], labelled[l]);
                                high += made->high[l];
                            }
                            ASSERT_LE(low, n) << set;
                            ASSERT_GE(high, n) << set;
                        }
    EXPECT_GT(met, 10000);
    EXPECT_GT(refused, 10000);
}

// ---- the assignment compared with all possible assignments

struct Case {
    Matrix<double> points;
    Matrix<double> prototypes;
    Known known;
    Problem side;
    int clusters = 0;
    std::vector<std::int32_t> label_of;
};

// Few points, on a small grid (ties) or anywhere, some labelled, with any shares and sizes, feasible or not.
Case random_case(RandomStream& random, bool with_sizes) {
    Case out;
    const auto n = static_cast<Index>(2 + random.below(6));
    const auto labels = static_cast<int>(1 + random.below(3));
    const bool grid = random.below(2) == 0;
    const auto draw = [&] { return grid ? static_cast<double>(random.below(3)) : random.normal(); };
    out.points.resize(n, 2);
    for (Index i = 0; i < out.points.size(); ++i) out.points.data()[i] = draw();
    out.known.labels.assign(at(n), -1);
    for (int l = 0; l < labels; ++l) {
        out.known.names.push_back(std::string(1, static_cast<char>('a' + l)));
        out.known.labels[at(static_cast<Index>(random.below(static_cast<std::uint64_t>(n))))] = l;
    }
    for (auto& label : out.known.labels)
        if (random.below(4) == 0) label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(labels)));
    out.side = out.known.side();
    for (int l = 0; l < labels; ++l) {
        const int own = random.below(3) == 0 ? 2 : 1;
        if (own > 1) out.side.clusters_per_label.push_back({out.known.names[at(l)], own});
        out.label_of.insert(out.label_of.end(), at(own), l);
    }
    if (random.below(3) == 0) out.label_of.push_back(-1);
    out.clusters = static_cast<int>(out.label_of.size());
    if (out.clusters > n) return random_case(random, with_sizes);
    out.prototypes.resize(out.clusters, 2);
    for (Index j = 0; j < out.prototypes.size(); ++j) out.prototypes.data()[j] = draw();
    const auto count = [&] { return static_cast<Index>(random.below(static_cast<std::uint64_t>(n + 1))); };
    if (with_sizes) {
        const Index a = count();
        const Index b = count();
        out.side.sizes = SizeBounds{std::min(a, b) / 2, std::max(a, b)};
        return out;
    }
    for (int l = 0; l < labels; ++l) {
        if (random.below(2) == 0) continue;
        Index a = count();
        Index b = random.below(2) == 0 ? a : count();
        if (a > b) std::swap(a, b);
        out.side.label_shares.push_back({out.known.names[at(l)], static_cast<double>(a) / static_cast<double>(n),
                                         static_cast<double>(b) / static_cast<double>(n)});
    }
    return out;
}

bool meets(const Case& c, const std::vector<int>& assigned) {
    const auto n = static_cast<double>(assigned.size());
    for (std::size_t i = 0; i < assigned.size(); ++i) {
        const auto known = c.known.labels[i];
        if (known >= 0 && c.label_of[at(assigned[i])] != known) return false;
    }
    for (const auto& share : c.side.label_shares) {
        double count = 0;
        for (const int j : assigned)
            count += c.label_of[at(j)] >= 0 && c.known.names[at(c.label_of[at(j)])] == share.label;
        if (count < n * share.low - 1e-6 || count > n * share.high + 1e-6) return false;
    }
    if (c.side.sizes)
        for (int j = 0; j < c.clusters; ++j) {
            const auto count = std::count(assigned.begin(), assigned.end(), j);
            if (count < c.side.sizes->low || count > c.side.sizes->high) return false;
        }
    return true;
}

// Returns infinity if no assignment meets the constraints.
double brute_force(const Case& c) {
    const auto n = at(c.points.rows());
    std::vector<int> assigned(n, 0);
    double best = infinity;
    while (true) {
        if (meets(c, assigned)) {
            double sum = 0;
            for (std::size_t i = 0; i < n; ++i)
                sum += (c.points.row(static_cast<Index>(i)) - c.prototypes.row(assigned[i])).squaredNorm();
            best = std::min(best, sum);
        }
        std::size_t i = 0;
        while (i < n && ++assigned[i] == c.clusters) assigned[i++] = 0;
        if (i == n) return best;
    }
}

void compare_with_brute_force(bool with_sizes, int cases, std::uint64_t seed, int& met, int& infeasible) {
    RandomStream random(seed, "test.constraints");
    for (int t = 0; t < cases; ++t) {
        const Case c = random_case(random, with_sizes);
        const double best = brute_force(c);
        std::optional<Constraints> constraints;
        try {
            constraints = compile_constraints(c.points.rows(), c.clusters, c.side, ShareRounding::floor);
        } catch (const BadArgument&) {
        }
        ASSERT_EQ(constraints.has_value(), best < infinity) << t;
        if (!constraints) {
            ++infeasible;
            continue;
        }
        ++met;
        std::vector<double> prices;
        const PrototypeDistances distances(c.prototypes, Vector<double>::Zero(2), {});
        const Rows<double> rows{c.points.data(), c.points.rows(), 2, 2};
        const HardAssignment found = assign_hard(rows, distances, *constraints, {}, prices, coterie::Run());
        ASSERT_NEAR(found.objective, best, 1e-12 * (1 + best)) << t;
        std::vector<int> assigned(found.labels.begin(), found.labels.end());
        ASSERT_TRUE(meets(c, assigned)) << t;
    }
}

TEST(ConstrainedAssignment, HardAgreesWithBruteForceForLabelsAndShares) {
    int met = 0;
    int infeasible = 0;
    compare_with_brute_force(false, 4000, 1, met, infeasible);
    EXPECT_GT(met, 1000);
    EXPECT_GT(infeasible, 300);
}

TEST(ConstrainedAssignment, HardAgreesWithBruteForceForLabelsAndSizes) {
    int met = 0;
    int infeasible = 0;
    compare_with_brute_force(true, 4000, 2, met, infeasible);
    EXPECT_GT(met, 1000);
    EXPECT_GT(infeasible, 300);
}

TEST(ConstrainedAssignment, TiesGoToTheLowestCentroidAndPoint) {
    // All points have the same distance to all centroids.
    Matrix<double> points = Matrix<double>::Zero(6, 1);
    Matrix<double> prototypes(3, 1);
    prototypes << 1, 1, -1;
    Known known{{-1, -1, -1, 2, -1, -1}, {"a", "b", "c"}};
    Problem side = known.side();
    const Rows<double> rows{points.data(), 6, 1, 1};
    const PrototypeDistances distances(prototypes, Vector<double>::Zero(1), {});
    std::vector<double> prices;
    const auto labels = [&] {
        return assign_hard(rows, distances, compile_constraints(6, std::nullopt, side, ShareRounding::floor), {},
                           prices, coterie::Run())
            .labels;
    };
    EXPECT_EQ(labels(), (Labels{0, 0, 0, 2, 0, 0}));
    side.label_shares = {{"b", 0.5, 0.5}};
    EXPECT_EQ(labels(), (Labels{1, 1, 1, 2, 0, 0}));
    side.label_shares = {{"c", 0.5, 0.5}};
    EXPECT_EQ(labels(), (Labels{2, 2, 0, 2, 0, 0}));
}

// The paper's iteration on the whole n x k matrix, as in Appendix B with the sign corrected, run to convergence.
Matrix<double> bregman(const Case& c, double temperature,
                       const std::vector<std::pair<std::vector<int>, double>>& groups) {
    const Index n = c.points.rows();
    Matrix<double> a(n, c.clusters);
    for (Index i = 0; i < n; ++i)
        for (int j = 0; j < c.clusters; ++j) {
            const auto known = c.known.labels[at(i)];
            const bool allowed = known < 0 || c.label_of[at(j)] == known;
            a(i, j) = allowed ? std::exp(-(c.points.row(i) - c.prototypes.row(j)).squaredNorm() / temperature) : 0.0;
        }
    for (int round = 0; round < 200000; ++round) {
        for (Index i = 0; i < n; ++i) a.row(i) /= a.row(i).sum();
        double worst = 0;
        for (const auto& [members, mass] : groups) {
            double sum = 0;
            for (const int j : members) sum += a.col(j).sum();
            worst = std::max(worst, std::abs(sum - mass));
            for (const int j : members) a.col(j) *= mass / sum;
        }
        if (worst < 1e-14) break;
    }
    for (Index i = 0; i < n; ++i) a.row(i) /= a.row(i).sum();
    return a;
}

TEST(ConstrainedAssignment, SoftMeetsSharesAndEqualsLimitOfBregman) {
    RandomStream random(3, "test.constraints.soft");
    int compared = 0;
    for (int t = 0; t < 600; ++t) {
        Case c = random_case(random, false);
        std::vector<std::pair<std::vector<int>, double>> groups;
        const auto n = static_cast<double>(c.points.rows());
        // Shares strictly inside the possible range, not whole numbers: the labelled points and some of the free ones.
        const auto free_points = static_cast<double>(std::count(c.known.labels.begin(), c.known.labels.end(), -1));
        c.side.label_shares.clear();
        double left = free_points;
        for (std::size_t l = 0; l < c.known.names.size(); ++l) {
            if (random.below(2) == 0) continue;
            const double extra = left * (0.1 + 0.7 * random.uniform());
            left -= extra;
            const auto forced = static_cast<double>(
                std::count(c.known.labels.begin(), c.known.labels.end(), static_cast<std::int32_t>(l)));
            const double mass = forced + extra;
            c.side.label_shares.push_back({c.known.names[l], mass / n, mass / n});
            std::vector<int> members;
            for (int j = 0; j < c.clusters; ++j)
                if (c.label_of[at(j)] == static_cast<std::int32_t>(l)) members.push_back(j);
            groups.emplace_back(members, mass);
        }
        // Some cluster without a share must take the remaining points.
        if (groups.size() == c.known.names.size() && c.label_of.back() >= 0) continue;
        if (free_points == 0) continue;
        const double temperature = 0.5 + random.uniform();
        const Constraints constraints = compile_constraints(c.points.rows(), c.clusters, c.side, ShareRounding::floor);
        const Rows<double> rows{c.points.data(), c.points.rows(), 2, 2};
        const PrototypeDistances distances(c.prototypes, Vector<double>::Zero(2), {});
        const Matrix<double> expected = bregman(c, temperature, groups);
        for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman}) {
            Matrix<double> a;
            const SoftAssignment found = assign_soft(rows, distances, constraints, {temperature, solver, 0}, {},
                                                     coterie::Run(), [&](Index begin, const Matrix<double>& part) {
                                                         ASSERT_EQ(begin, 0);
                                                         a = part;
                                                     });
            for (Index i = 0; i < a.rows(); ++i) ASSERT_NEAR(a.row(i).sum(), 1.0, 1e-14);
            for (const auto& [members, mass] : groups) {
                double sum = 0;
                for (const int j : members) sum += a.col(j).sum();
                ASSERT_NEAR(sum, mass, 1e-10) << t;
            }
            ASSERT_LT((a - expected).cwiseAbs().maxCoeff(), 1e-9) << t;
            ASSERT_LT((a.transpose() * c.points - found.sums).cwiseAbs().maxCoeff(), 1e-12);
            ASSERT_NEAR(found.mass.sum(), n, 1e-10);
        }
        ++compared;
    }
    EXPECT_GT(compared, 200);
}

TEST(ConstrainedAssignment, SoftSharesAtTheFeasibleLimits) {
    const Matrix<double> points = test::blob_points<double>(50, 2, 2, 1.0, 4);
    Known known{Labels(50, -1), {"a", "b"}};
    known.labels[3] = 0;
    known.labels[7] = known.labels[8] = 1;
    Problem side = known.side();
    const Rows<double> rows{points.data(), 50, 2, 2};
    const PrototypeDistances distances(points.topRows(2), Vector<double>::Zero(2), {});
    for (const auto& [share, inside] : {std::pair(1.0 / 50, 1.0), std::pair(48.0 / 50, 48.0)}) {
        side.label_shares = {{"a", share, share}};
        const SoftAssignment found =
            assign_soft(rows, distances, compile_constraints(50, std::nullopt, side, ShareRounding::floor), {}, {},
                        coterie::Run(), {});
        EXPECT_NEAR(found.mass[0], inside, 1e-12);
        EXPECT_TRUE(std::isfinite(found.distortion) && std::isfinite(found.negentropy));
    }
}

TEST(ConstrainedAssignment, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = test::blob_points<float>(3000, 5, 6, 2.0, 5);
    Known known{Labels(3000, -1), {"a", "b", "c"}};
    for (std::size_t i = 0; i < 60; ++i) known.labels[i] = static_cast<std::int32_t>(i % 3);
    Problem side = known.side();
    side.clusters_per_label = {{"a", 4}};
    side.label_shares = {{"a", 0.7, 0.7}, {"b", 0.1, 0.2}};
    const Constraints constraints = compile_constraints(3000, std::nullopt, side, ShareRounding::floor);
    const Rows<float> rows{points.data(), 3000, 5, 5};
    const Matrix<double> prototypes = points.middleRows(100, 6).cast<double>();
    const PrototypeDistances distances(prototypes, Vector<double>::Zero(5), {});
    std::vector<double> prices;
    const HardAssignment hard = assign_hard(rows, distances, constraints, {}, prices, coterie::Run(0, 1));
    const SoftAssignment soft = assign_soft(rows, distances, constraints, {}, {}, coterie::Run(0, 1), {});
    for (const int threads : {2, 8}) {
        prices.clear();
        const HardAssignment again = assign_hard(rows, distances, constraints, {}, prices, coterie::Run(0, threads));
        EXPECT_EQ(again.labels, hard.labels);
        EXPECT_EQ(again.objective, hard.objective);
        const SoftAssignment soft_again =
            assign_soft(rows, distances, constraints, {}, {}, coterie::Run(0, threads), {});
        EXPECT_EQ(soft_again.labels, soft.labels);
        EXPECT_EQ(soft_again.sums, soft.sums);
        EXPECT_EQ(soft_again.distortion, soft.distortion);
    }
}

// ---- where centroids start

TEST(InitialCentroids, AreMeansOrWardClusters) {
    Matrix<double> points(9, 1);
    points << 0, 1, 10, 11, 50, 52, 7, 8, 9;
    Known known{{0, 0, 0, 0, 1, 1, -1, -1, -1}, {"O", "PER"}};
    Problem side = known.side();
    side.clusters_per_label = {{"O", 2}};
    Matrix<double> expected(3, 1);
    expected << 0.5, 10.5, 51;
    const Constraints constraints = compile_constraints(9, std::nullopt, side, ShareRounding::floor);
    EXPECT_EQ(starting_prototypes(points, constraints, {}, coterie::Run()), expected);
    // A weight of 3 acts as three copies.
    std::vector<double> weights(9, 1.0);
    weights[4] = 3;
    expected(2, 0) = 50.5;
    EXPECT_EQ(starting_prototypes(points, constraints, weights, coterie::Run()), expected);
    side.clusters_per_label = {{"O", 5}};
    EXPECT_NE(message_of([&] {
                  starting_prototypes(points, compile_constraints(9, std::nullopt, side, ShareRounding::floor), {},
                                      coterie::Run());
              }).find("label 'O' has only 4 labelled rows for 5 clusters"),
              std::string::npos);
}

TEST(InitialCentroids, FreeCentroidsAreFarFromTheOthers) {
    Matrix<float> points = test::blob_points<float>(300, 3, 1, 0.0, 6);
    for (Index i = 200; i < 300; ++i) points.row(i).array() += 100.0f;
    Known known{Labels(300, -1), {"a"}};
    known.labels[0] = known.labels[1] = 0;
    const Constraints constraints = compile_constraints(300, 2, known.side(), ShareRounding::floor);
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        EXPECT_GT(starting_prototypes(points, constraints, {}, coterie::Run(seed))(1, 0), 50.0) << seed;
}

// ---- k-means under constraints

TEST(ConstrainedKMeans, MeetsConstraintsAndNeverRaisesTheInertia) {
    const Matrix<double> points = test::blob_points<double>(600, 4, 5, 3.0, 7);
    Known known{Labels(600, -1), {"a", "b", "c"}};
    for (std::size_t i = 0; i < 30; ++i) known.labels[i] = static_cast<std::int32_t>(i % 3);
    for (const bool with_sizes : {false, true}) {
        Problem side = known.side();
        if (with_sizes) {
            side.sizes = SizeBounds{110, 130};
        } else {
            side.label_shares = {{"a", 0.4, 0.4}, {"c", 0.1, 0.15}};
        }
        KMeansOptions options;
        options.clusters = 5;
        options.tolerance = 0;
        coterie::Run run;
        const KMeansModel model = fit_kmeans(with(points, side), options, run);
        const auto& report = model.fit_report();
        EXPECT_EQ(report.stopped, StopReason::converged);
        for (std::size_t t = 1; t < report.objective_per_iteration.size(); ++t)
            EXPECT_LE(report.objective_per_iteration[t], report.objective_per_iteration[t - 1] * (1 + 1e-14));
        for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(model.labels()[i], known.labels[i]);
        if (with_sizes) {
            for (const Index size : report.sizes) EXPECT_TRUE(size >= 110 && size <= 130) << size;
        } else {
            EXPECT_EQ(report.sizes[0], 240);
            EXPECT_TRUE(report.sizes[2] >= 60 && report.sizes[2] <= 90) << report.sizes[2];
        }
        EXPECT_EQ(model.cluster_labels().name_of(1), "b");
        EXPECT_EQ(model.cluster_labels().name_of(4), "cluster-4");
        // The inertia is that of labels and centroids.
        const Matrix<double> centroids = to_matrix<double>(model.centroids());
        double inertia = 0;
        for (Index i = 0; i < 600; ++i) inertia += test::squared_distance(points, i, centroids, model.labels()[at(i)]);
        EXPECT_NEAR(model.inertia(), inertia, 1e-9 * inertia);
        // Save and load keep the labels of clusters too.
        Archive archive{"kmeans"};
        model.store(archive);
        const KMeansModel again = KMeansModel::from(archive);
        EXPECT_EQ(again.cluster_labels().names, known.names);
        EXPECT_EQ(again.predict(points), model.predict(points));
    }
}

TEST(ConstrainedKMeans, InterruptedFitReturnsResultSoFar) {
    const Matrix<double> points = test::blob_points<double>(3000, 3, 8, 4.0, 10);
    Problem side;
    side.sizes = SizeBounds{360, 390};
    KMeansOptions options;
    options.clusters = 8;
    options.restarts = 50;
    options.tolerance = 0;
    // A stopped fit returns its latest result, if it has one.
    for (int patience = 40; patience < 4000; patience = patience * 3 / 2) {
        coterie::Run run(1, 1);
        int asked = 0;
        run.should_stop = [&] { return ++asked > patience; };
        try {
            const KMeansModel model = fit_kmeans(with(points, side), options, run);
            EXPECT_EQ(model.labels().size(), 3000u);
            for (const Index size : model.fit_report().sizes) EXPECT_TRUE(size >= 360 && size <= 390);
        } catch (const Cancelled&) {
            EXPECT_LT(patience, 300);
        }
    }
}

TEST(ConstrainedKMeans, ClusterWithoutWeightKeepsItsCentroid) {
    Matrix<double> points(12, 2);
    points << 5, .3, .3, .1, .2, .1, 9.7, .7, -1, 0, -1, 0, -1, 0, -1, 0, 11, 0, 11, 0, 11, 0, 11, 0;
    std::vector<double> weights{0, .1, .2, .3, 1, 1, 1, 1, 1, 1, 1, 1};
    Matrix<double> start(3, 2);
    start << 5, 0, -6, 0, 16, 0;
    Labels known(12, -1);
    known[0] = 0;
    known[4] = 1;
    known[8] = 2;
    KMeansOptions options;
    options.clusters = 3;
    Labels labels;
    for (const double factor : {1.0, 10.0}) {
        std::vector<double> scaled = weights;
        for (auto& w : scaled) w *= factor;
        Problem side;
        side.weights = scaled;
        side.partial_labels = known;
        side.initial_centroids = Points::borrow(start);
        coterie::Run run;
        const KMeansModel model = fit_kmeans(with(points, side), options, run);
        EXPECT_NEAR(model.centroids().view().at(0, 0), 4.97, 0.01);
        if (factor > 1) {
            EXPECT_EQ(model.labels(), labels);
        }
        labels = model.labels();
    }
}

TEST(ConstrainedKMeans, DistantTightClustersAreAccurate) {
    for (const double far : {1e3, 1e6, 1e8, 1e12}) {
        Matrix<double> points(8, 2);
        points << 0, 0, 0, 1, 0, .1, 0, .9, far, 0, far, 1, far, .1, far, .9;
        const Labels known{0, 1, -1, -1, 2, 3, -1, -1};
        Problem side;
        side.partial_labels = known;
        KMeansOptions options;
        options.clusters = 4;
        coterie::Run run;
        const KMeansModel model = fit_kmeans(with(points, side), options, run);
        EXPECT_EQ(model.labels(), (Labels{0, 1, 0, 1, 2, 3, 2, 3})) << far;
        EXPECT_NEAR(model.inertia(), 0.02, 1e-6) << far;
    }
}

TEST(ConstrainedKMeans, InactiveConstraintsGiveKMeans) {
    const Matrix<float> points = test::blob_points<float>(500, 3, 4, 3.0, 8);
    KMeansOptions options;
    options.clusters = 4;
    coterie::Run run(3);
    Problem side;
    const KMeansModel plain = fit_kmeans(with(points, side), options, run);
    side.sizes = SizeBounds{1, 500};
    const KMeansModel bounded = fit_kmeans(with(points, side), options, run);
    EXPECT_EQ(plain.labels(), bounded.labels());
    EXPECT_NEAR(plain.inertia(), bounded.inertia(), 1e-6 * plain.inertia());
}

TEST(ConstrainedKMeans, WeightsActAsCopiesWithLabelsAndAreErrorsWithBounds) {
    const Matrix<double> points = test::blob_points<double>(80, 2, 3, 2.0, 9);
    Matrix<double> doubled(160, 2);
    doubled << points, points;
    Known known{Labels(80, -1), {"a", "b"}};
    known.labels[0] = 0;
    known.labels[1] = 1;
    Known known_twice = known;
    known_twice.labels.insert(known_twice.labels.end(), known.labels.begin(), known.labels.end());
    const std::vector<double> weights(80, 2.0);
    KMeansOptions options;
    options.clusters = std::nullopt;
    coterie::Run run;
    Problem side = known.side();
    side.weights = weights;
    const KMeansModel weighted = fit_kmeans(with(points, side), options, run);
    const KMeansModel copies = fit_kmeans(with(doubled, known_twice.side()), options, run);
    EXPECT_NEAR(weighted.inertia(), copies.inertia(), 1e-9 * copies.inertia());
    for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(weighted.labels()[i], copies.labels()[i]);
    side.label_shares = {{"a", 0.5, 0.5}};
    EXPECT_NE(message_of([&] { fit_kmeans(with(points, side), options, run); }).find("weights cannot be combined"),
              std::string::npos);
}

TEST(ConstrainedKMeans, PairsHoldAndInertiaNeverRises) {
    const Matrix<double> points = test::blob_points<double>(600, 4, 3, 3, 8);
    Problem problem{.points = Points::borrow(points)};
    RandomStream random(5, "test.pairs");
    for (int i = 0; i < 400; ++i) {
        const auto a = static_cast<Index>(random.below(600)), b = static_cast<Index>(random.below(600));
        if (a != b) (a % 3 == b % 3 ? problem.must_links : problem.cannot_links).push_back({a, b});
    }
    const KMeansModel model = fit_kmeans(problem, {.clusters = 3, .restarts = 3}, coterie::Run(3, 2));
    const Labels& labels = model.labels();
    for (const RowPair& pair : problem.must_links) EXPECT_EQ(labels[at(pair.first)], labels[at(pair.second)]);
    for (const RowPair& pair : problem.cannot_links) EXPECT_NE(labels[at(pair.first)], labels[at(pair.second)]);
    const auto& objectives = model.fit_report().objective_per_iteration;
    for (std::size_t i = 1; i < objectives.size(); ++i) EXPECT_LE(objectives[i], objectives[i - 1] * (1 + 1e-12));
    EXPECT_TRUE(model.fit_report().warnings.empty());
}

TEST(ConstrainedKMeans, PairsCanDetermineAllLabels) {
    const Matrix<double> points = test::blob_points<double>(300, 4, 3, 3, 8);
    Problem problem{.points = Points::borrow(points)};
    for (Index i = 0; i + 3 < 300; ++i) problem.must_links.push_back({i, i + 3});
    problem.cannot_links = {{0, 1}, {1, 2}, {2, 0}};
    const KMeansModel model = fit_kmeans(problem, {.clusters = 3, .restarts = 1}, coterie::Run(3, 1));
    const Labels& labels = model.labels();
    for (std::size_t i = 0; i < labels.size(); ++i) EXPECT_EQ(labels[i], labels[i % 3]);
    EXPECT_TRUE(labels[0] != labels[1] && labels[1] != labels[2] && labels[2] != labels[0]);
}

TEST(ConstrainedKMeans, InactivePairsChangeNothing) {
    const Matrix<double> points = test::blob_points<double>(300, 4, 3, 1, 8);
    Problem problem{.points = Points::borrow(points)};
    const KMeansOptions options{.clusters = 3, .restarts = 1, .tolerance = 0};
    const KMeansModel free = fit_kmeans(problem, options, coterie::Run(3, 1));
    for (Index i = 1; i < 300; i += 11)
        (free.labels()[0] == free.labels()[at(i)] ? problem.must_links : problem.cannot_links).push_back({0, i});
    const KMeansModel linked = fit_kmeans(problem, options, coterie::Run(3, 1));
    EXPECT_EQ(linked.labels(), free.labels());
    problem.sizes = SizeBounds{0, 200};
    EXPECT_NE(message_of([&] {
                  fit_kmeans(problem, options, coterie::Run(3, 1));
              }).find("pairs of rows cannot be combined with sizes"),
              std::string::npos);
}

}  // namespace
}  // namespace coterie::internal
