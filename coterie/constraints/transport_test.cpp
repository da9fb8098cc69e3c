#include "coterie/constraints/transport.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using internal::assign_groups;
using internal::at;
using internal::Transport;
using internal::transport;
using test::infinity;

std::vector<Index> sizes_of(const Labels& columns, Index count) {
    std::vector<Index> sizes(at(count), 0);
    for (const std::int32_t g : columns) ++sizes[at(g)];
    return sizes;
}

double cost_of(const Matrix<double>& costs, const Labels& columns) {
    double sum = 0;
    for (Index i = 0; i < costs.rows(); ++i) sum += costs(i, columns[at(i)]);
    return sum;
}

Labels nearest(const Matrix<double>& costs) {
    Labels out;
    for (Index i = 0; i < costs.rows(); ++i) {
        Index best = 0;
        costs.row(i).minCoeff(&best);
        out.push_back(static_cast<std::int32_t>(best));
    }
    return out;
}

// The least cost over all assignments; infinity if no assignment meets the bounds.
double least_cost(const Matrix<double>& costs, const std::vector<Index>& low, const std::vector<Index>& high) {
    Labels columns(at(costs.rows()), 0);
    double best = infinity;
    while (true) {
        const std::vector<Index> sizes = sizes_of(columns, costs.cols());
        bool met = true;
        for (std::size_t g = 0; g < sizes.size(); ++g) met = met && low[g] <= sizes[g] && sizes[g] <= high[g];
        if (met) best = std::min(best, cost_of(costs, columns));
        std::size_t i = 0;
        while (i < columns.size() && ++columns[i] == costs.cols()) columns[i++] = 0;
        if (i == columns.size()) return best;
    }
}

// Any prices give a lower bound,  sum_i min_g (cost + u_g) - sum_g (high_g u_g where u_g > 0, low_g u_g where u_g < 0).
// It equals the cost only at the optimum, where each condition below holds.
void expect_optimal(const Matrix<double>& costs, const std::vector<Index>& low, const std::vector<Index>& high,
                    const Labels& columns, const std::vector<double>& prices) {
    const Index n = costs.rows();
    double scale = 0;
    for (Index e = 0; e < costs.size(); ++e)
        if (std::isfinite(costs.data()[e])) scale = std::max(scale, std::abs(costs.data()[e]));
    ASSERT_EQ(static_cast<Index>(columns.size()), n);
    ASSERT_EQ(static_cast<Index>(prices.size()), costs.cols());
    const std::vector<Index> sizes = sizes_of(columns, costs.cols());
    long double dual = 0;
    for (std::size_t g = 0; g < sizes.size(); ++g) {
        ASSERT_TRUE(std::isfinite(prices[g]));
        EXPECT_GE(sizes[g], low[g]);
        EXPECT_LE(sizes[g], high[g]);
        if (prices[g] > 0) {
            EXPECT_EQ(sizes[g], high[g]);
            dual -= static_cast<long double>(high[g]) * prices[g];
        }
        if (prices[g] < 0) {
            EXPECT_EQ(sizes[g], low[g]);
            dual -= static_cast<long double>(low[g]) * prices[g];
        }
    }
    for (Index i = 0; i < n; ++i) {
        double best = infinity;
        for (Index g = 0; g < costs.cols(); ++g) best = std::min(best, costs(i, g) + prices[at(g)]);
        const auto own = columns[at(i)];
        EXPECT_LE(costs(i, own) + prices[at(own)], best + 1e-12 * scale) << "point " << i;
        dual += best;
    }
    EXPECT_NEAR(static_cast<double>(dual), cost_of(costs, columns), 1e-12 * scale * static_cast<double>(n));
}

struct Problem {
    Matrix<double> costs;
    std::vector<Index> low;
    std::vector<Index> high;
};

Problem random_problem(std::uint64_t seed, Index most_points, Index most_columns) {
    RandomStream random(seed, "test.transport");
    const Index n = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most_points)));
    const Index columns = 1 + static_cast<Index>(random.below(static_cast<std::uint64_t>(most_columns)));
    Problem out{Matrix<double>(n, columns), {}, {}};
    const bool tied = random.uniform() < 0.5;
    const double barred = random.uniform() < 0.5 ? 0 : 0.4 * random.uniform();
    for (Index i = 0; i < n; ++i) {
        const auto open = static_cast<Index>(random.below(static_cast<std::uint64_t>(columns)));
        for (Index g = 0; g < columns; ++g) {
            const double cost = tied ? static_cast<double>(random.below(4)) - 1 : random.normal();
            out.costs(i, g) = g != open && random.uniform() < barred ? infinity : cost;
        }
    }
    const bool equal = random.uniform() < 0.4;
    Index left = n;
    for (Index g = 0; g < columns; ++g) {
        if (equal) {
            const Index size = g + 1 == columns ? left : static_cast<Index>(random.below(at(left) + 1));
            left -= size;
            out.low.push_back(size);
            out.high.push_back(size);
        } else {
            out.low.push_back(static_cast<Index>(random.below(at(n / columns) + 2)));
            out.high.push_back(out.low.back() + static_cast<Index>(random.below(at(n / columns) + 2)));
        }
    }
    return out;
}

TEST(Transport, AgreesWithBruteForce) {
    int feasible = 0;
    int infeasible = 0;
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        SCOPED_TRACE(seed);
        const Problem problem = random_problem(seed, seed % 10 == 0 ? 8 : 6, 4);
        const double best = least_cost(problem.costs, problem.low, problem.high);
        const coterie::Run run(0, 1);
        std::vector<double> prices;
        if (seed % 3 == 0) prices.assign(at(problem.costs.cols()), 0.5);
        if (seed % 3 == 1)
            for (Index g = 0; g < problem.costs.cols(); ++g) prices.push_back(static_cast<double>(g % 3) - 1);
        const Labels natural = nearest(problem.costs);
        if (best == infinity) {
            ++infeasible;
            EXPECT_THROW(transport(problem.costs, problem.low, problem.high, run, prices), BadArgument);
            EXPECT_THROW(assign_groups(problem.costs, natural, problem.low, problem.high, prices, run), BadArgument);
            continue;
        }
        ++feasible;
        const Transport result = transport(problem.costs, problem.low, problem.high, run, prices);
        EXPECT_NEAR(result.cost, best, 1e-12);
        expect_optimal(problem.costs, problem.low, problem.high, result.columns, result.prices);
        const Labels groups = assign_groups(problem.costs, natural, problem.low, problem.high, prices, run);
        EXPECT_NEAR(cost_of(problem.costs, groups), best, 1e-12);
        expect_optimal(problem.costs, problem.low, problem.high, groups, prices);
        if (HasFailure()) return;
    }
    EXPECT_GT(feasible, 1000);
    EXPECT_GT(infeasible, 300);
}

TEST(Transport, FourPointsByHand) {
    // Column 0 is cheapest for all points; the two points for which column 1 costs least more go to column 1.
    Matrix<double> costs(4, 2);
    costs << 0, 5, 0, 1, 0, 3, 0, 9;
    const std::vector<Index> two(2, 2);
    const Transport result = transport(costs, two, two, coterie::Run(0, 1));
    EXPECT_EQ(result.columns, (Labels{0, 1, 1, 0}));
    EXPECT_DOUBLE_EQ(result.cost, 4);
    EXPECT_EQ(result.augmentations, 2);
    EXPECT_DOUBLE_EQ(result.prices[0] - result.prices[1], 3);
}

TEST(Transport, AgreesWithReplicatedColumns) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        RandomStream random(seed, "test.replicated");
        const Index n = 60;
        const Index columns = 4 + static_cast<Index>(seed % 3);
        Matrix<double> costs(n, columns);
        for (Index e = 0; e < costs.size(); ++e)
            costs.data()[e] = seed % 2 == 0 ? random.normal() : static_cast<double>(random.below(10));
        std::vector<Index> size(at(columns), 0);
        for (Index i = 0; i < n; ++i) ++size[static_cast<std::size_t>(random.below(at(columns)))];
        Matrix<double> replicated(n, n);
        Index filled = 0;
        for (Index g = 0; g < columns; ++g)
            for (Index c = 0; c < size[at(g)]; ++c) replicated.col(filled++) = costs.col(g);
        const std::vector<Index> match = minimum_cost_assignment(replicated);
        double best = 0;
        for (Index i = 0; i < n; ++i) best += replicated(i, match[at(i)]);
        const Transport result = transport(costs, size, size, coterie::Run(0, 1));
        EXPECT_NEAR(result.cost, best, 1e-11);
        expect_optimal(costs, size, size, result.columns, result.prices);
    }
}

Matrix<double> blob_costs(Index n, Index columns, std::uint64_t seed) {
    const Matrix<double> points = test::blob_points<double>(n, 3, 7, 6, seed);
    Matrix<double> costs(n, columns);
    for (Index i = 0; i < n; ++i)
        for (Index g = 0; g < columns; ++g) costs(i, g) = test::squared_distance(points, i, points, (7 * g) % n);
    return costs;
}

TEST(Transport, PricesSatisfyTheOptimalityConditions) {
    for (const Index columns : {2, 10, 40}) {
        const Index n = 2000;
        Matrix<double> costs = blob_costs(n, columns, static_cast<std::uint64_t>(columns));
        const std::vector<Index> equal(at(columns), n / columns);
        std::vector<Index> low(at(columns), n / columns / 2);
        std::vector<Index> high(at(columns), n / columns * 3 / 2);
        for (const int kind : {0, 1, 2}) {
            SCOPED_TRACE(std::to_string(columns) + " columns, kind " + std::to_string(kind));
            if (kind == 1) costs = costs.array().round();
            if (kind == 2)
                for (Index i = 0; i < n; i += 4) {
                    for (Index g = 0; g < columns; ++g)
                        if (g != (i / 4) % columns) costs(i, g) = infinity;
                }
            const coterie::Run run(0, 1);
            const Transport same = transport(costs, equal, equal, run);
            expect_optimal(costs, equal, equal, same.columns, same.prices);
            const Transport between = transport(costs, low, high, run);
            expect_optimal(costs, low, high, between.columns, between.prices);
            EXPECT_LE(between.cost, same.cost);
            // Prices of another problem, the problem's own prices, and bad prices.
            const Transport warm = transport(costs, low, high, run, same.prices);
            expect_optimal(costs, low, high, warm.columns, warm.prices);
            EXPECT_NEAR(warm.cost, between.cost, 1e-9 * std::abs(between.cost));
            const Transport again = transport(costs, low, high, run, between.prices);
            EXPECT_NEAR(again.cost, between.cost, 1e-9 * std::abs(between.cost));
            if (kind == 0) {
                EXPECT_LE(again.augmentations, columns);
            }
            std::vector<double> bad(at(columns), std::numeric_limits<double>::quiet_NaN());
            bad[0] = 1e9;
            const Transport far = transport(costs, low, high, run, bad);
            EXPECT_NEAR(far.cost, between.cost, 1e-9 * std::abs(between.cost));
            std::vector<Index> capacity(at(columns), n / columns + 7);
            const Transport capped = transport(costs, std::vector<Index>(at(columns), 0), capacity, run);
            expect_optimal(costs, std::vector<Index>(at(columns), 0), capacity, capped.columns, capped.prices);
        }
    }
}

TEST(Transport, ManyPointsStartFromASample) {
    const Index n = 40000;
    const Index columns = 8;
    const Matrix<double> costs = blob_costs(n, columns, 3);
    const std::vector<Index> equal(at(columns), n / columns);
    const Transport result = transport(costs, equal, equal, coterie::Run(0, 2));
    expect_optimal(costs, equal, equal, result.columns, result.prices);
    EXPECT_LT(result.augmentations, n / 20);
    // A sample that cannot meet its bounds (every fourth row may go to one column only) neither helps nor harms.
    Matrix<double> barred = costs;
    for (Index i = 0; i < n; i += 4)
        for (Index g = 1; g < columns; ++g) barred(i, g) = infinity;
    std::vector<Index> low(at(columns), n / columns / 2);
    std::vector<Index> high(at(columns), n / 4);
    const Transport forced = transport(barred, low, high, coterie::Run(0, 2));
    expect_optimal(barred, low, high, forced.columns, forced.prices);
}

TEST(Transport, SameForAnyThreadsAndPermutedRows) {
    const Index n = 9000;
    const Matrix<double> costs = blob_costs(n, 12, 5);
    const std::vector<Index> equal(12, n / 12);
    const Transport one = transport(costs, equal, equal, coterie::Run(0, 1));
    for (const int threads : {2, 8}) {
        const Transport other = transport(costs, equal, equal, coterie::Run(0, threads));
        EXPECT_EQ(other.columns, one.columns);
        EXPECT_EQ(other.prices, one.prices);
        EXPECT_EQ(other.cost, one.cost);
    }
    Matrix<double> permuted(n, 12);
    for (Index i = 0; i < n; ++i) permuted.row((i * 7001 + 13) % n) = costs.row(i);
    const Transport other = transport(permuted, equal, equal, coterie::Run(0, 1));
    for (Index i = 0; i < n; ++i) ASSERT_EQ(other.columns[at((i * 7001 + 13) % n)], one.columns[at(i)]);
}

TEST(Transport, ExtremeCosts) {
    const coterie::Run run(0, 1);
    for (const double scale : {1e-300, 1e-200, 1e-8, 1e200, 1e299}) {
        SCOPED_TRACE(scale);
        const Index n = 200;
        Matrix<double> costs = blob_costs(n, 5, 11);
        costs *= scale / costs.maxCoeff();
        const std::vector<Index> equal(5, 40);
        const Transport result = transport(costs, equal, equal, run);
        expect_optimal(costs, equal, equal, result.columns, result.prices);
    }
    // Rows of very different scales, and identical rows.
    RandomStream random(0, "test.extreme");
    Matrix<double> mixed(300, 6);
    for (Index i = 0; i < 300; ++i)
        for (Index g = 0; g < 6; ++g)
            mixed(i, g) = random.normal() * std::pow(10.0, static_cast<double>(random.below(400)) - 200);
    const std::vector<Index> equal(6, 50);
    const Transport result = transport(mixed, equal, equal, run);
    expect_optimal(mixed, equal, equal, result.columns, result.prices);
    for (const double value : {0.0, 1.0, 0.1}) {
        const Matrix<double> flat = Matrix<double>::Constant(6000, 6, value);
        const std::vector<Index> each(6, 1000);
        const Transport same = transport(flat, each, each, run);
        expect_optimal(flat, each, each, same.columns, same.prices);
    }
    // Copies of few points: many ties.
    const Matrix<double> few = blob_costs(50, 10, 2);
    Matrix<double> copies(5000, 10);
    for (Index i = 0; i < 5000; ++i) copies.row(i) = few.row(i % 50);
    const std::vector<Index> each(10, 500);
    const Transport tied = transport(copies, each, each, run);
    expect_optimal(copies, each, each, tied.columns, tied.prices);
}

template <class F>
void expect_refused(F call, const std::vector<std::string>& words) {
    try {
        call();
        ADD_FAILURE() << "not refused: " << words.front();
    } catch (const BadArgument& error) {
        for (const std::string& word : words)
            EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what() << " lacks " << word;
    }
}

TEST(Transport, RejectsInfeasibleBounds) {
    const coterie::Run run(0, 1);
    using Bounds = std::vector<Index>;
    Matrix<double> costs = Matrix<double>::Zero(5, 3);
    const auto call = [&](Bounds low, Bounds high) { return [&, low, high] { transport(costs, low, high, run); }; };
    expect_refused(call({0, 0}, {5, 5, 5}), {"3 columns", "2 lower"});
    expect_refused(call({0, 3, 0}, {5, 2, 5}), {"column 2", "3 to 2"});
    expect_refused(call({-1, 3, 0}, {5, 3, 5}), {"column 1", "-1"});
    expect_refused(call({2, 2, 2}, {5, 5, 5}), {"lower bounds sum to 6", "5 rows"});
    expect_refused(call({0, 0, 0}, {1, 1, 2}), {"upper bounds sum to 4", "5 rows"});
    expect_refused(
        [&] {
            transport(costs, Bounds{0, 0, 0}, Bounds{5, 5, 5}, run, std::vector<double>{1});
        },
        {"1 starting"});
    for (Index i = 0; i < 3; ++i) costs(i, 0) = costs(i, 1) = infinity;
    expect_refused(call({0, 0, 0}, {5, 5, 2}), {"column 3", "at least 3 rows", "upper bound is 2"});
    expect_refused(call({0, 3, 0}, {5, 5, 5}), {"column 2", "at most 2 rows", "lower bound is 3"});
    expect_refused(call({2, 1, 0}, {5, 5, 5}), {"columns 1, 2", "at most 2 rows", "lower bounds sum to 3"});
    costs(0, 2) = infinity;
    expect_refused(call({0, 0, 0}, {5, 5, 5}), {"row 1", "no column"});
    costs(0, 2) = std::numeric_limits<double>::quiet_NaN();
    expect_refused(call({0, 0, 0}, {5, 5, 5}), {"row 1", "column 3", "nan"});
    costs(0, 2) = -infinity;
    expect_refused(call({0, 0, 0}, {5, 5, 5}), {"row 1", "column 3", "-inf"});
}

TEST(Transport, StopsWhenAsked) {
    coterie::Run run(0, 1);
    run.should_stop = [] { return true; };
    const std::vector<Index> equal(4, 500);
    EXPECT_THROW(transport(Matrix<double>::Zero(2000, 4), equal, equal, run), Cancelled);
}

TEST(AssignGroups, KeepsFeasibleAssignments) {
    const Matrix<double> costs = blob_costs(100, 3, 1);
    Labels natural = nearest(costs);
    natural[5] = (natural[5] + 1) % 3;  // the caller's choice among ties is kept
    std::vector<double> prices{1, 2, 3};
    const std::vector<Index> none(3, 0);
    const std::vector<Index> all(3, 100);
    EXPECT_EQ(assign_groups(costs, natural, none, all, prices, coterie::Run(0, 1)), natural);
    EXPECT_EQ(prices, std::vector<double>(3, 0.0));
}

TEST(AssignGroups, TiesGoToTheLowestPoint) {
    // Differences group - other: 0, -1, 0, 0, 1, 0.
    for (const std::int32_t group : {0, 1}) {
        Matrix<double> costs = Matrix<double>::Zero(6, 2);
        costs(1, group) = -1;
        costs(4, group) = 1;
        for (Index size = 0; size <= 6; ++size) {
            std::vector<Index> low(2, 0);
            std::vector<Index> high(2, 6);
            low[at(group)] = high[at(group)] = size;
            std::vector<double> prices;
            // A natural assignment in which the group has a different size.
            const Labels natural(6, size == 0 ? group : 1 - group);
            const Labels groups = assign_groups(costs, natural, low, high, prices, coterie::Run(0, 1));
            Labels expected(6, 1 - group);
            const Index order[] = {1, 0, 2, 3, 5, 4};
            for (Index m = 0; m < size; ++m) expected[at(order[m])] = group;
            EXPECT_EQ(groups, expected) << "group " << group << " of " << size;
            expect_optimal(costs, low, high, groups, prices);
        }
    }
}

TEST(AssignGroups, SelectionAgreesWithTransport) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        SCOPED_TRACE(seed);
        RandomStream random(seed, "test.selection");
        const Index n = 300;
        Matrix<double> costs(n, 2);
        // Ties go to the lowest point, as in transport() where points are moved in.
        const bool tied = seed % 4 == 0;
        for (Index i = 0; i < n; ++i) {
            costs(i, 0) = tied ? static_cast<double>(random.below(5)) : random.normal();
            costs(i, 1) = tied ? -5 + static_cast<double>(random.below(5)) : random.normal();
            const double u = random.uniform();
            if (u < 0.2) costs(i, u < 0.1 ? 0 : 1) = infinity;
        }
        const Index size = 60 + static_cast<Index>(random.below(180));
        const std::vector<Index> low{size, 0};
        const std::vector<Index> high{size, n};
        std::vector<double> prices;
        const Labels groups = assign_groups(costs, nearest(costs), low, high, prices, coterie::Run(0, 1));
        expect_optimal(costs, low, high, groups, prices);
        EXPECT_EQ(groups, transport(costs, low, high, coterie::Run(0, 1)).columns);
        const std::vector<Index> at_least{0, n - size};
        const std::vector<Index> at_most{n, n};
        const Labels capped = assign_groups(costs, nearest(costs), at_least, at_most, prices, coterie::Run(0, 1));
        expect_optimal(costs, at_least, at_most, capped, prices);
    }
}

TEST(AssignGroups, NamesTheFeasibleInterval) {
    Matrix<double> costs = Matrix<double>::Zero(6, 2);
    costs(0, 0) = infinity;
    costs(1, 1) = costs(2, 1) = infinity;
    std::vector<double> prices;
    const coterie::Run run(0, 1);
    for (const Index size : {1, 6}) {
        const std::vector<Index> low{size, 0};
        const std::vector<Index> high{size, 6};
        expect_refused(
            [&] {
                assign_groups(costs, Labels{1, 0, 0, 0, 0, 1}, low, high, prices, run);
            },
            {"column 1", "take " + std::to_string(size) + " row", "2 (", "to 5"});
    }
    for (const Index size : {2, 5}) {
        const std::vector<Index> low{size, 0};
        const std::vector<Index> high{size, 6};
        const Labels groups = assign_groups(costs, Labels{1, 0, 0, 0, 1, 1}, low, high, prices, run);
        expect_optimal(costs, low, high, groups, prices);
    }
}

}  // namespace
}  // namespace coterie
