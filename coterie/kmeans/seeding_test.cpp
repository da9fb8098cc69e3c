#include "coterie/kmeans/seeding.hpp"

#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "coterie/linalg/distances.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::blob_points;

// Plain k-means++ (one candidate) on six points on a line with three centroids: the probability of every ordered
// outcome is known. With `sample` below n, the same draws are accepted by rejection from outdated distances.
void follows_the_exact_distribution(std::optional<Index> sample, const std::vector<double>& weights) {
    Matrix<double> x(6, 1);
    x << 0, 1, 3, 4, 9, 10;
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; };
    std::map<std::vector<int>, double> expected;
    double total_weight = 0;
    for (Index i = 0; i < 6; ++i) total_weight += weight(i);
    const auto share = [&](const std::vector<int>& chosen, Index i) {
        double least = INFINITY;
        for (const int c : chosen) least = std::min(least, (x(i, 0) - x(c, 0)) * (x(i, 0) - x(c, 0)));
        return weight(i) * least;
    };
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < 6; ++b)
            for (int c = 0; c < 6; ++c) {
                double sum_b = 0;
                double sum_c = 0;
                for (Index i = 0; i < 6; ++i) {
                    sum_b += share({a}, i);
                    sum_c += share({a, b}, i);
                }
                const double p = weight(a) / total_weight * share({a}, b) / sum_b * share({a, b}, c) / sum_c;
                if (p > 0) expected[{a, b, c}] = p;
            }
    const int draws = 40000;
    std::map<std::vector<int>, int> seen;
    const coterie::Run run(11, 1);
    for (int repetition = 0; repetition < draws; ++repetition) {
        const auto seeds = seed_centroids(x, 3, {Seeding::kmeans_plus_plus, 1, sample}, weights,
                                          static_cast<std::uint64_t>(repetition), run);
        std::vector<int> rows;
        for (Index j = 0; j < 3; ++j)
            for (int i = 0; i < 6; ++i)
                if (x(i, 0) == seeds.centroids.view().at(j, 0)) rows.push_back(i);
        ++seen[rows];
    }
    double chi_squared = 0;
    double degrees = -1;
    for (const auto& [rows, p] : expected) {
        const double mean = p * draws;
        chi_squared += (seen[rows] - mean) * (seen[rows] - mean) / mean;
        degrees += 1;
    }
    EXPECT_EQ(seen.size(), expected.size());  // no impossible outcome
    EXPECT_LT(chi_squared, degrees + 4.5 * std::sqrt(2 * degrees));
}

TEST(Seeding, PlainPlusPlusFollowsTheExactDistribution) { follows_the_exact_distribution({}, {}); }
TEST(Seeding, PlainPlusPlusWithOutdatedDistances) { follows_the_exact_distribution(2, {}); }
TEST(Seeding, PlainPlusPlusWithWeights) { follows_the_exact_distribution({}, {1, 2, 0.5, 0, 3, 1}); }
TEST(Seeding, PlainPlusPlusWithWeightsAndOutdatedDistances) { follows_the_exact_distribution(3, {1, 2, 0.5, 0, 3, 1}); }

TEST(Seeding, GreedyStepTakesTheBestCandidate) {
    // With this many candidates, every row is almost certainly among them, so the second centroid is the best possible.
    const auto x = blob_points<double>(12, 2, 3, 3, 5);
    const coterie::Run run(3, 1);
    for (std::uint64_t repetition = 0; repetition < 20; ++repetition) {
        const auto seeds =
            to_matrix<double>(seed_centroids(x, 2, {Seeding::kmeans_plus_plus, 2000}, {}, repetition, run).centroids);
        const auto potential = [&](const Matrix<double>& c) {
            return nearest_centroids(x, c, 1, NearestWants::inertia).inertia;
        };
        double best = INFINITY;
        for (Index i = 0; i < x.rows(); ++i) {
            Matrix<double> pair(2, 2);
            pair << seeds.row(0), x.row(i);
            best = std::min(best, potential(pair));
        }
        EXPECT_NEAR(potential(seeds), best, 1e-9 * best);
    }
}

TEST(Seeding, CentroidsAreDistinctRows) {
    const auto x = blob_points<float>(5000, 6, 30, 2, 3);
    std::set<std::vector<float>> rows;
    for (Index i = 0; i < x.rows(); ++i) rows.emplace(x.row(i).begin(), x.row(i).end());
    for (const auto seeding : {Seeding::kmeans_plus_plus, Seeding::parallel, Seeding::random})
        for (const std::optional<Index> sample : {std::optional<Index>(), std::optional<Index>(500)}) {
            const auto seeds = seed_centroids(x, 100, {seeding, {}, sample}, {}, 0, coterie::Run(5));
            EXPECT_EQ(seeds.distinct, 100);
            const auto c = to_matrix<float>(seeds.centroids);
            std::set<std::vector<float>> found;
            for (Index j = 0; j < 100; ++j) found.emplace(c.row(j).begin(), c.row(j).end());
            EXPECT_EQ(found.size(), 100u);
            for (const auto& each : found) EXPECT_TRUE(rows.contains(each));
        }
}

TEST(Seeding, SameBitsAtAnyNumberOfThreads) {
    const auto x = blob_points<float>(9000, 12, 30, 2, 3);
    for (const auto seeding : {Seeding::kmeans_plus_plus, Seeding::parallel, Seeding::random})
        for (const std::optional<Index> sample : {std::optional<Index>(), std::optional<Index>(700)}) {
            const auto one =
                to_matrix<float>(seed_centroids(x, 50, {seeding, {}, sample}, {}, 0, coterie::Run(5, 1)).centroids);
            for (const int threads : {2, 8})
                EXPECT_EQ(one,
                          to_matrix<float>(
                              seed_centroids(x, 50, {seeding, {}, sample}, {}, 0, coterie::Run(5, threads)).centroids));
            EXPECT_NE(one, to_matrix<float>(
                               seed_centroids(x, 50, {seeding, {}, sample}, {}, 1, coterie::Run(5, 1)).centroids));
        }
}

TEST(Seeding, GreedyBeatsPlainBeatsRandom) {
    const auto x = blob_points<float>(20000, 8, 60, 3, 3);
    const auto mean_inertia = [&](const SeedingOptions& options) {
        double sum = 0;
        for (std::uint64_t repetition = 0; repetition < 10; ++repetition)
            sum += nearest_centroids(x, seed_centroids(x, 60, options, {}, repetition, coterie::Run(1)).centroids, 2,
                                     NearestWants::inertia)
                       .inertia;
        return sum / 10;
    };
    const double greedy = mean_inertia({});
    const double sampled = mean_inertia({Seeding::kmeans_plus_plus, {}, 4000});
    const double plain = mean_inertia({Seeding::kmeans_plus_plus, 1});
    const double parallel = mean_inertia({Seeding::parallel});
    const double random = mean_inertia({Seeding::random});
    EXPECT_LT(greedy, plain);
    EXPECT_LT(sampled, plain);
    EXPECT_LT(parallel, plain);
    EXPECT_LT(plain, random);
}

TEST(Seeding, RowsOfWeightZeroAreNeverChosen) {
    const auto x = blob_points<double>(50, 2, 3, 3, 3);
    std::vector<double> weights(50, 0.0);
    for (std::size_t i = 0; i < 50; i += 5) weights[i] = 1;
    for (const auto seeding : {Seeding::kmeans_plus_plus, Seeding::parallel, Seeding::random}) {
        const auto seeds = seed_centroids(x, 10, {seeding}, weights, 0, coterie::Run(5));
        std::set<Index> rows;
        for (Index j = 0; j < 10; ++j)
            for (Index i = 0; i < 50; ++i)
                if (x(i, 0) == seeds.centroids.view().at(j, 0)) rows.insert(i);
        EXPECT_EQ(rows.size(), 10u);
        for (const Index i : rows) EXPECT_EQ(i % 5, 0);
    }
    EXPECT_THROW(seed_centroids(x, 11, {}, weights, 0, coterie::Run(5)), BadArgument);
    EXPECT_THROW(seed_centroids(x, 0, {}, {}, 0, coterie::Run(5)), BadArgument);
    EXPECT_THROW(seed_centroids(x, 2, {Seeding::kmeans_plus_plus, 0}, {}, 0, coterie::Run(5)), BadArgument);
    EXPECT_THROW(seed_centroids(x, 2, {Seeding::kmeans_plus_plus, {}, 0}, {}, 0, coterie::Run(5)), BadArgument);
}

TEST(Seeding, ProgressNeverDecreases) {
    const auto x = blob_points<float>(1000, 4, 10, 2, 7);
    for (const auto seeding : {Seeding::kmeans_plus_plus, Seeding::parallel}) {
        // Blocks are slow to read, so that passes report progress.
        const Points slow = test::read_rows(x, [](Index rows) {
            if (rows > 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        });
        coterie::Run run(1, 1);
        double last = 0;
        bool reported_again = false;  // by a pass, after the report for a centroid or a round
        run.on_progress = [&](const Progress& progress) {
            if (progress.stage != "seeding") return;
            EXPECT_GE(progress.fraction, last);
            EXPECT_LE(progress.fraction, 1);
            reported_again = reported_again || (progress.fraction == last && last > 0);
            last = progress.fraction;
        };
        seed_centroids(slow, 4, {.seeding = seeding}, {}, 0, run);
        EXPECT_GT(last, 0.7);
        EXPECT_TRUE(reported_again || seeding == Seeding::parallel);
    }
}

}  // namespace
}  // namespace coterie
