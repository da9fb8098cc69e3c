#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "coterie/constraints/group_multipliers.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::group_shares_of_row;
using internal::GroupMultipliers;
using internal::GroupSolver;
using internal::solve_group_multipliers;
using test::infinity;

Matrix<double> random_table(Index n, Index groups, double scale, double labelled, RandomStream& random) {
    Matrix<double> out(n, groups);
    for (Index i = 0; i < n; ++i) {
        const auto label = static_cast<Index>(random.below(static_cast<std::uint64_t>(groups)));
        const bool known = random.uniform() < labelled;
        for (Index g = 0; g < groups; ++g) {
            const double here = scale * random.normal();
            out(i, g) = known && g != label ? -infinity : here;
        }
    }
    return out;
}

// Checks the bounds and optimality: a multiplier is 0, or its group is at the bound that belongs to its sign. If only
// differences count (`held`), signs are arbitrary.
void expect_solved(const Matrix<double>& table, const std::vector<double>& low, const std::vector<double>& high,
                   const GroupMultipliers& found, double tolerance) {
    const Index groups = table.cols();
    const auto n = static_cast<double>(table.rows());
    std::vector<long double> mass(at(groups), 0);
    std::vector<double> shares(at(groups));
    for (Index i = 0; i < table.rows(); ++i) {
        group_shares_of_row(table.data() + i * groups, found.log_theta, shares.data());
        double sum = 0;
        for (Index g = 0; g < groups; ++g) {
            ASSERT_GE(shares[at(g)], 0) << "row " << i;
            if (table(i, g) == -infinity) {
                ASSERT_EQ(shares[at(g)], 0);
            }
            mass[at(g)] += shares[at(g)];
            sum += shares[at(g)];
        }
        ASSERT_NEAR(sum, 1, 1e-12);
    }
    double residual = 0;
    for (std::size_t g = 0; g < mass.size(); ++g) {
        const auto here = static_cast<double>(mass[g]);
        EXPECT_NEAR(found.mass[g], here, 1e-12 * n);
        EXPECT_GE(here, low[g] - tolerance * n) << "group " << g;
        EXPECT_LE(here, high[g] + tolerance * n) << "group " << g;
        residual = std::max({residual, low[g] - here, here - high[g]});
        EXPECT_FALSE(std::isnan(found.log_theta[g]));
        if (std::isinf(found.log_theta[g]) || low[g] == high[g]) continue;
        if (found.log_theta[g] > 0) {
            EXPECT_NEAR(here, low[g], tolerance * n) << "group " << g;
        }
        if (found.log_theta[g] < 0) {
            EXPECT_NEAR(here, high[g], tolerance * n) << "group " << g;
        }
    }
    EXPECT_NEAR(found.residual, residual, 1e-12 * n);
    EXPECT_TRUE(found.converged);
}

// The solution by bisection in long double.
double bisected(const Matrix<double>& table, Index group, double target) {
    std::vector<long double> difference;
    long double forced = 0;
    for (Index i = 0; i < table.rows(); ++i) {
        long double others = 0;
        long double largest = -infinity;
        for (Index g = 0; g < table.cols(); ++g)
            if (g != group) largest = std::max(largest, static_cast<long double>(table(i, g)));
        if (largest == -infinity) {
            forced += 1;
            continue;
        }
        for (Index g = 0; g < table.cols(); ++g)
            if (g != group) others += std::exp(static_cast<long double>(table(i, g)) - largest);
        if (table(i, group) > -infinity) difference.push_back(table(i, group) - largest - std::log(others));
    }
    long double from = -1e6L;
    long double to = 1e6L;
    for (int round = 0; round < 200; ++round) {
        const long double middle = (from + to) / 2;
        long double mass = forced;
        for (const long double d : difference) mass += 1 / (1 + std::exp(-d - middle));
        (mass < target ? from : to) = middle;
    }
    return static_cast<double>((from + to) / 2);
}

TEST(LabelShares, TiersByHand) {
    std::vector<double> shares(3);
    const auto expect = [&](std::vector<double> row, std::vector<double> multipliers, std::vector<double> expected) {
        group_shares_of_row(row.data(), multipliers, shares.data());
        for (std::size_t g = 0; g < 3; ++g) EXPECT_NEAR(shares[g], expected[g], 1e-15);
    };
    const double two = std::log(2);
    expect({0, 0, 0}, {0, 0, 0}, {1. / 3, 1. / 3, 1. / 3});
    expect({0, two, 0}, {two, 0, 0}, {0.4, 0.4, 0.2});
    expect({-1e5, -2e5, -infinity}, {0, 1e5, 7}, {0.5, 0.5, 0});
    expect({0, two, 0}, {-infinity, 0, 0}, {0, 2. / 3, 1. / 3});
    expect({0, two, 0}, {infinity, 9, -infinity}, {1, 0, 0});
    expect({0, two, 0}, {infinity, infinity, 0}, {1. / 3, 2. / 3, 0});
    expect({0, two, -infinity}, {-infinity, -infinity, 0}, {1. / 3, 2. / 3, 0});
    expect({-infinity, -800, -800}, {infinity, 0, -infinity}, {0, 1, 0});
}

TEST(GroupMultipliers, OneGroupByHand) {
    // Two rows with odds 1 and 4: theta / (theta + 1) + 4 theta / (4 theta + 1) = 1 at theta = 1 / 2.
    Matrix<double> table(2, 2);
    table << 0, 0, std::log(4), 0;
    const std::vector<double> low{1, 0};
    const std::vector<double> high{1, 2};
    const auto found = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, coterie::Run(0, 1));
    EXPECT_NEAR(found.log_theta[0], -std::log(2), 1e-15);
    EXPECT_EQ(found.log_theta[1], 0);
    EXPECT_LT(found.residual, 1e-15);
}

TEST(GroupMultipliers, OneGroupAgreesWithBisection) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        SCOPED_TRACE(seed);
        RandomStream random(seed, "test.one_group");
        const Index n = 200;
        const Index groups = 2 + static_cast<Index>(seed % 3);
        const double scale = std::pow(10.0, static_cast<double>(seed % 5) - 2);
        const Matrix<double> table = random_table(n, groups, scale, seed % 2 == 0 ? 0.3 : 0, random);
        const auto group = static_cast<Index>(seed) % groups;
        double forced = 0;
        double allowed = 0;
        for (Index i = 0; i < n; ++i) {
            const Index open = (table.row(i).array() > -infinity).count();
            allowed += table(i, group) > -infinity;
            forced += open == 1 && table(i, group) > -infinity;
        }
        const double target = forced + (allowed - forced) * random.uniform();
        std::vector<double> low(at(groups), 0);
        std::vector<double> high(at(groups), static_cast<double>(n));
        low[at(group)] = high[at(group)] = target;
        const auto found = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, coterie::Run(0, 1));
        expect_solved(table, low, high, found, 2e-15 * std::max(1.0, scale));
        const double expected = bisected(table, group, target);
        EXPECT_NEAR(found.log_theta[at(group)], expected, 1e-9 * std::max(1.0, std::abs(expected)));
        for (Index g = 0; g < groups; ++g)
            if (g != group) {
                EXPECT_EQ(found.log_theta[at(g)], 0);
            }
        // From any start.
        std::vector<double> start(at(groups), 0);
        start[at(group)] = seed % 2 == 0 ? -40 : 1e4;
        const auto again = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, coterie::Run(0, 1), start);
        expect_solved(table, low, high, again, 2e-15 * std::max(1.0, scale));
        EXPECT_LT(found.rounds, 200);
    }
}

TEST(GroupMultipliers, NewtonAgreesWithTheLimitOfBregman) {
    int inequality_met = 0;
    for (std::uint64_t seed = 0; seed < 240; ++seed) {
        SCOPED_TRACE(seed);
        RandomStream random(seed, "test.bregman");
        const Index n = 60;
        const Index groups = 2 + static_cast<Index>(seed % 4);
        const Matrix<double> table = random_table(n, groups, 1, seed % 2 == 0 ? 0.2 : 0, random);
        std::vector<double> low(at(groups), 0);
        std::vector<double> high(at(groups), static_cast<double>(n));
        const int kind = static_cast<int>(seed / 4) % 4;
        double left = static_cast<double>(n);
        for (Index g = 0; g < groups; ++g) {
            const double share = static_cast<double>(n) / static_cast<double>(groups) * (0.5 + 0.5 * random.uniform());
            if (kind == 0 && g == 0) low[0] = high[0] = share;                  // one
            if (kind == 1 && g + 1 < groups) low[at(g)] = high[at(g)] = share;  // all but one
            if (kind == 2) {                                                    // every one
                low[at(g)] = high[at(g)] = g + 1 == groups ? left : share;
                left -= share;
            }
            if (kind == 3) {  // intervals
                const double middle = static_cast<double>(n) / static_cast<double>(groups);
                low[at(g)] = random.uniform() < 0.5 ? 0 : middle * (0.7 + 0.3 * random.uniform());
                high[at(g)] = random.uniform() < 0.3 ? infinity : middle * (1.0 + 0.3 * random.uniform());
            }
        }
        const auto newton = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, coterie::Run(0, 1));
        expect_solved(table, low, high, newton, 1e-13);
        EXPECT_LT(newton.rounds, 40);
        const auto bregman = solve_group_multipliers(table, low, high, GroupSolver::bregman, 0, coterie::Run(0, 1));
        expect_solved(table, low, high, bregman, 2e-12);
        if (kind == 3)
            for (const double each : newton.log_theta) inequality_met += each != 0;
        for (Index g = 0; g < groups; ++g) EXPECT_NEAR(bregman.log_theta[at(g)], newton.log_theta[at(g)], 1e-10);
        if (HasFailure()) return;
    }
    EXPECT_GT(inequality_met, 20);
}

TEST(GroupMultipliers, BregmanRoundsFollowThePaper) {
    RandomStream random(1, "test.rounds");
    const Index n = 40;
    const Matrix<double> table = random_table(n, 3, 1.5, 0.2, random);
    const std::vector<double> low{18, 9, 0};
    const std::vector<double> high{18, 9, 40};
    Matrix<double> plan = table.array().exp();
    const auto rows = [&] {
        for (Index i = 0; i < n; ++i) plan.row(i) /= plan.row(i).sum();
    };
    rows();
    for (int rounds = 1; rounds <= 10; ++rounds) {
        plan.col(0) *= 18 / plan.col(0).sum();
        plan.col(1) *= 9 / plan.col(1).sum();
        rows();
        const auto found = solve_group_multipliers(table, low, high, GroupSolver::bregman, rounds, coterie::Run(0, 1));
        EXPECT_EQ(found.rounds, rounds);
        EXPECT_FALSE(found.converged);
        EXPECT_NEAR(found.residual, std::max(std::abs(plan.col(0).sum() - 18), std::abs(plan.col(1).sum() - 9)), 1e-12);
        std::vector<double> shares(3);
        for (Index i = 0; i < n; ++i) {
            group_shares_of_row(table.data() + 3 * i, found.log_theta, shares.data());
            for (Index g = 0; g < 3; ++g) ASSERT_NEAR(shares[at(g)], plan(i, g), 1e-13);
        }
    }
}

TEST(GroupMultipliers, SeveralGroupsHardAndSoft) {
    for (const double scale : {0.0, 1e-3, 1.0, 10.0, 100.0, 1000.0})
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            SCOPED_TRACE("scale " + std::to_string(scale) + ", seed " + std::to_string(seed));
            RandomStream random(seed, "test.several");
            const Index n = 100 + static_cast<Index>(random.below(200));
            const Index groups = 3 + static_cast<Index>(random.below(6));
            const Matrix<double> table = random_table(n, groups, scale, seed % 2 == 0 ? 0.2 : 0, random);
            std::vector<double> low(at(groups), 0);
            std::vector<double> high(at(groups), static_cast<double>(n));
            const double middle = static_cast<double>(n) / static_cast<double>(groups);
            for (Index g = 0; g + 1 < groups; ++g) {
                low[at(g)] = middle * (0.6 + 0.4 * random.uniform());
                high[at(g)] = seed % 4 < 2 ? low[at(g)] : middle * (1.0 + 0.2 * random.uniform());
            }
            const auto found = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, coterie::Run(0, 1));
            expect_solved(table, low, high, found, scale > 50 ? 1e-12 : 1e-13);
            if (HasFailure()) return;
        }
}

TEST(GroupMultipliers, EveryGroupHasAnExactSize) {
    RandomStream random(3, "test.held");
    const Index n = 90;
    const Matrix<double> table = random_table(n, 3, 2, 0.1, random);
    const coterie::Run run(0, 1);
    const std::vector<double> each{50, 30, 10};
    const auto found = solve_group_multipliers(table, each, each, GroupSolver::newton, 0, run);
    expect_solved(table, each, each, found, 1e-14);
    EXPECT_EQ(found.log_theta[2], 0);
    // Bounds of one kind that add up to n fix every group too, and their signs count.
    const std::vector<double> none(3, 0);
    const std::vector<double> all(3, infinity);
    for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman}) {
        const auto least = solve_group_multipliers(table, each, all, solver, 0, run);
        expect_solved(table, each, all, least, 2e-12);
        EXPECT_EQ(*std::min_element(least.log_theta.begin(), least.log_theta.end()), 0);
        const auto most = solve_group_multipliers(table, none, each, solver, 0, run);
        expect_solved(table, none, each, most, 2e-12);
        EXPECT_EQ(*std::max_element(most.log_theta.begin(), most.log_theta.end()), 0);
        for (std::size_t g = 0; g < 2; ++g) {
            EXPECT_NEAR(least.log_theta[g] - least.log_theta[2], found.log_theta[g], 1e-10);
            EXPECT_NEAR(most.log_theta[g] - most.log_theta[2], found.log_theta[g], 1e-10);
        }
    }
}

TEST(GroupMultipliers, NoActiveBounds) {
    RandomStream random(4, "test.loose");
    const Matrix<double> table = random_table(50, 4, 1, 0.2, random);
    const std::vector<double> low(4, 0.0);
    const std::vector<double> high(4, infinity);
    for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman}) {
        const std::vector<double> start{1, 2, 3, 4};
        const auto found = solve_group_multipliers(table, low, high, solver, 0, coterie::Run(0, 1), start);
        EXPECT_EQ(found.log_theta, std::vector<double>(4, 0.0));
        EXPECT_EQ(found.residual, 0);
        EXPECT_TRUE(found.converged);
    }
}

TEST(GroupMultipliers, BoundsAtAndNearTheFeasibleLimits) {
    RandomStream random(5, "test.ends");
    const Index n = 100;
    for (const Index groups : {2, 3}) {
        const Matrix<double> table = random_table(n, groups, 2, 0.4, random);
        double forced = 0;
        double allowed = 0;
        for (Index i = 0; i < n; ++i) {
            allowed += table(i, 0) > -infinity;
            forced += table(i, 0) > -infinity && table(i, 1) == -infinity;
        }
        for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman}) {
            const auto solve = [&](double mass) {
                std::vector<double> low(at(groups), 0);
                std::vector<double> high(at(groups), static_cast<double>(n));
                low[0] = high[0] = mass;
                const auto found = solve_group_multipliers(table, low, high, solver, 0, coterie::Run(0, 1));
                expect_solved(table, low, high, found, solver == GroupSolver::newton ? 1e-15 : 2e-12);
                return found.log_theta;
            };
            std::vector<double> expected(at(groups), 0);
            expected[0] = -infinity;
            EXPECT_EQ(solve(forced), expected);
            expected[0] = infinity;
            EXPECT_EQ(solve(allowed), expected);
            for (const double near : {1e-3, 1e-6, 1e-9, 1e-12}) {
                if (solver == GroupSolver::bregman) continue;  // makes almost no progress there
                const double below = solve(forced + near)[0];
                EXPECT_LT(below, std::log(near) + 10);
                EXPECT_GT(solve(allowed - near)[0], -std::log(near) - 10);
            }
            EXPECT_THROW(solve(forced - 1e-3), BadArgument);
            EXPECT_THROW(solve(allowed + 1e-3), BadArgument);
        }
    }
}

TEST(GroupMultipliers, SeveralGroupsAtTheirFeasibleLimits) {
    RandomStream random(6, "test.several_ends");
    const Index n = 100;
    const Matrix<double> table = random_table(n, 4, 2, 0.4, random);
    std::vector<double> forced(4, 0);
    double open = 0;
    for (Index i = 0; i < n; ++i) {
        if ((table.row(i).array() > -infinity).count() > 1) {
            open += 1;
            continue;
        }
        for (Index g = 0; g < 4; ++g) forced[at(g)] += table(i, g) > -infinity;
    }
    const coterie::Run run(0, 1);
    std::vector<double> low(4, 0);
    std::vector<double> high(4, static_cast<double>(n));
    const auto solve = [&] {
        const auto found = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, run);
        expect_solved(table, low, high, found, 1e-13);
        return found.log_theta;
    };
    // Two groups take what they must; a third takes its share of the rest.
    low[0] = high[0] = forced[0];
    high[1] = forced[1];
    low[2] = high[2] = forced[2] + 0.3 * open;
    std::vector<double> theta = solve();
    EXPECT_EQ(theta[0], -infinity);
    EXPECT_EQ(theta[1], -infinity);
    EXPECT_TRUE(std::isfinite(theta[2]));
    EXPECT_EQ(theta[3], 0);
    // Two groups share all free points, so the others get none.
    low.assign(4, 0);
    high.assign(4, static_cast<double>(n));
    low[0] = high[0] = forced[0] + 0.25 * open;
    low[1] = high[1] = forced[1] + 0.75 * open;
    theta = solve();
    EXPECT_TRUE(std::isfinite(theta[0]));
    EXPECT_TRUE(std::isfinite(theta[1]));
    EXPECT_EQ(theta[2], -infinity);
    EXPECT_EQ(theta[3], -infinity);
    // No points are left to share.
    low = high = forced;
    low[3] = high[3] = forced[3] + open;
    theta = solve();
    EXPECT_EQ(theta[3], infinity);
    // Only the sum of the bounds has one point too many.
    low[0] = high[0] = forced[0] + 1;
    high[3] = static_cast<double>(n);
    low[3] = forced[3] + open - 0.5;
    EXPECT_THROW(solve(), BadArgument);
}

TEST(GroupMultipliers, RowsWithForbiddenGroups) {
    const coterie::Run run(0, 1);
    // A chain: each row may go to two neighbouring groups. Its end would need more than three tiers; large multipliers
    // replace them.
    for (const Index groups : {3, 4, 5, 6, 9}) {
        SCOPED_TRACE(groups);
        const Index n = 10 * (groups - 1);
        Matrix<double> chain = Matrix<double>::Constant(n, groups, -infinity);
        for (Index i = 0; i < n; ++i) chain(i, i / 10) = chain(i, i / 10 + 1) = static_cast<double>(i % 7);
        std::vector<double> each(at(groups), 10.0);
        each.back() = 0;
        expect_solved(chain, each, each, solve_group_multipliers(chain, each, each, GroupSolver::newton, 0, run),
                      1e-12);
        each.back() = 6;
        each[0] = 4;
        expect_solved(chain, each, each, solve_group_multipliers(chain, each, each, GroupSolver::newton, 0, run),
                      1e-13);
    }
    Matrix<double> chain = Matrix<double>::Constant(30, 4, -infinity);
    for (Index i = 0; i < 30; ++i) chain(i, i / 10) = chain(i, i / 10 + 1) = 0;
    // Groups 0 and 1 can together take 20 rows.
    const std::vector<double> each{10, 10.5, 5, 4.5};
    for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman})
        EXPECT_THROW(solve_group_multipliers(chain, each, each, solver, 5, run), BadArgument);

    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        RandomStream random(seed, "test.masks");
        const Index n = 40;
        const Index groups = 4;
        Matrix<double> table = random_table(n, groups, 2, 0, random);
        for (Index i = 0; i < n; ++i)
            for (Index g = 0; g < groups; ++g)
                if (g != i % groups && random.uniform() < 0.5) table(i, g) = -infinity;
        // The sizes of a random assignment, so that the bounds are feasible.
        std::vector<double> low(at(groups), 0);
        for (Index i = 0; i < n; ++i) {
            auto g = static_cast<Index>(random.below(at(groups)));
            while (table(i, g) == -infinity) g = (g + 1) % groups;
            low[at(g)] += 1;
        }
        std::vector<double> high = low;
        if (seed % 2 == 1) {
            high[0] += 2;
            high[1] += 2;
            low[2] = std::max(0.0, low[2] - 2);
        }
        const auto solved = solve_group_multipliers(table, low, high, GroupSolver::newton, 0, run);
        expect_solved(table, low, high, solved, 1e-12);
        if (HasFailure()) return;
    }
}

TEST(GroupMultipliers, ExtremeTables) {
    const coterie::Run run(0, 1);
    for (const double scale : {1e4, 1e5, 1e8})
        for (std::uint64_t seed = 0; seed < 5; ++seed) {
            SCOPED_TRACE("scale " + std::to_string(scale) + ", seed " + std::to_string(seed));
            RandomStream random(seed, "test.extreme");
            const Matrix<double> table = random_table(200, 4, scale, 0.1, random);
            // The effect of the last bit of the multipliers.
            const double tolerance = 1e-15 * scale;
            std::vector<double> low{31.25, 0, 0, 0};
            std::vector<double> high{31.25, 200, 200, 200};
            expect_solved(table, low, high, solve_group_multipliers(table, low, high, GroupSolver::newton, 0, run),
                          tolerance);
            low = {90.5, 60.25, 29.25, 20};
            expect_solved(table, low, low, solve_group_multipliers(table, low, low, GroupSolver::newton, 0, run),
                          tolerance);
            low = {90.5, 60.25, 0, 0};
            high = {120, 200, 21.5, 10.125};
            expect_solved(table, low, high, solve_group_multipliers(table, low, high, GroupSolver::newton, 0, run),
                          tolerance);
        }
    // Shares of 1e-300, in both directions.
    RandomStream random(9, "test.tiny");
    Matrix<double> tiny = random_table(100, 3, 1, 0, random);
    tiny.col(1).array() -= 690;
    tiny.col(2).array() += 690;
    const std::vector<double> each{20, 50, 30};
    expect_solved(tiny, each, each, solve_group_multipliers(tiny, each, each, GroupSolver::newton, 0, run), 1e-12);
    expect_solved(tiny, each, each, solve_group_multipliers(tiny, each, each, GroupSolver::bregman, 0, run), 2e-12);
    const std::vector<double> none(3, 0);
    const std::vector<double> capped{40, 40, 1e-6};
    const std::vector<double> loose{100, 100, 1e-6};
    EXPECT_THROW(solve_group_multipliers(tiny, none, capped, GroupSolver::newton, 0, run), BadArgument);
    expect_solved(tiny, none, loose, solve_group_multipliers(tiny, none, loose, GroupSolver::newton, 0, run), 1e-13);
}

TEST(GroupMultipliers, SameBitsAtAnyNumberOfThreads) {
    RandomStream random(7, "test.threads");
    const Index n = 30000;
    const Matrix<double> table = random_table(n, 5, 3, 0.1, random);
    const std::vector<double> one_low{9000.5, 0, 0, 0, 0};
    const std::vector<double> one_high{9000.5, infinity, infinity, infinity, infinity};
    const std::vector<double> several_low{9000, 5000, 0, 3000, 0};
    const std::vector<double> several_high{9000, 5000, 3000, 30000, 30000};
    for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman})
        for (const bool several : {false, true}) {
            const auto& low = several ? several_low : one_low;
            const auto& high = several ? several_high : one_high;
            const auto solve = [&](const Matrix<double>& rows, int threads) {
                return solve_group_multipliers(rows, low, high, solver, 20, coterie::Run(0, threads));
            };
            const auto one = solve(table, 1);
            for (const int threads : {2, 8}) {
                const auto other = solve(table, threads);
                EXPECT_EQ(other.log_theta, one.log_theta);
                EXPECT_EQ(other.mass, one.mass);
                EXPECT_EQ(other.residual, one.residual);
                EXPECT_EQ(other.rounds, one.rounds);
            }
            if (solver == GroupSolver::newton) expect_solved(table, low, high, one, 1e-13);
            Matrix<double> permuted(n, 5);
            for (Index i = 0; i < n; ++i) permuted.row((i * 7001 + 13) % n) = table.row(i);
            const auto other = solve(permuted, 1);
            for (std::size_t g = 0; g < 5; ++g) EXPECT_NEAR(other.log_theta[g], one.log_theta[g], 1e-11);
        }
}

TEST(GroupMultipliers, RejectsInfeasibleBounds) {
    using Bounds = std::vector<double>;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Matrix<double> table = Matrix<double>::Zero(4, 2);
    const auto expect = [&](Bounds low, Bounds high, const std::vector<std::string>& words, Bounds start = {}) {
        for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman}) {
            try {
                solve_group_multipliers(table, low, high, solver, 10, coterie::Run(0, 1), start);
                ADD_FAILURE() << "not refused: " << words.front();
            } catch (const BadArgument& error) {
                for (const std::string& word : words)
                    EXPECT_NE(std::string(error.what()).find(word), std::string::npos)
                        << error.what() << " lacks " << word;
            }
        }
    };
    expect({0}, {4, 4}, {"2 groups", "1 lower", "2 upper"});
    expect({0, 0}, {4, 4}, {"3 starting"}, {0, 0, 0});
    expect({0, -1}, {4, 4}, {"group 2", "-1"});
    expect({0, 3}, {4, 2}, {"group 2", "3", "2"});
    expect({nan, 0}, {4, 4}, {"group 1", "nan"});
    expect({3, 2}, {4, 4}, {"at least 5", "4"});
    expect({0, 0}, {1, 2}, {"at most 3", "4"});
    table(0, 0) = -infinity;
    table(1, 1) = -infinity;
    expect({0, 0}, {0.5, 4}, {"group 1", "0.5", "from 1", "to 3"});
    expect({0, 3.5}, {4, 4}, {"group 2", "3.5", "from 1", "to 3"});
    table(0, 1) = -infinity;
    expect({0, 0}, {4, 4}, {"row 1", "no group"});
    table(0, 1) = nan;
    expect({0, 0}, {4, 4}, {"row 1", "group 2", "nan"});
    table(0, 1) = infinity;
    expect({0, 0}, {4, 4}, {"row 1", "group 2", "inf"});
}

TEST(GroupMultipliers, StopsWhenAsked) {
    coterie::Run run(0, 1);
    run.should_stop = [] { return true; };
    RandomStream random(8, "test.stops");
    const Matrix<double> table = random_table(50, 3, 1, 0, random);
    const std::vector<double> each{25, 15, 10};
    for (const GroupSolver solver : {GroupSolver::newton, GroupSolver::bregman})
        EXPECT_THROW(solve_group_multipliers(table, each, each, solver, 0, run), Cancelled);
}

}  // namespace
}  // namespace coterie
