#include "coterie/selection/consensus.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

ConsensusOptions asked(int clusters, int fits, std::vector<std::string> methods = {"kmeans"}) {
    ConsensusOptions options;
    options.clusters = clusters;
    options.fits = fits;
    options.methods = std::move(methods);
    return options;
}

// Greedy search over all pairs of clusters; distances are means over pairs of points.
Labels plain_average_linkage(const Matrix<double>& d, int clusters) {
    std::vector<std::vector<Index>> groups;
    for (Index i = 0; i < d.rows(); ++i) groups.push_back({i});
    while (static_cast<int>(groups.size()) > clusters) {
        double least = test::infinity;
        std::size_t a = 0, b = 0;
        for (std::size_t p = 0; p < groups.size(); ++p)
            for (std::size_t q = p + 1; q < groups.size(); ++q) {
                double sum = 0;
                for (const Index i : groups[p])
                    for (const Index j : groups[q]) sum += d(i, j);
                sum /= static_cast<double>(groups[p].size() * groups[q].size());
                if (sum < least) {
                    least = sum;
                    a = p;
                    b = q;
                }
            }
        groups[a].insert(groups[a].end(), groups[b].begin(), groups[b].end());
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(b));
    }
    Labels out(static_cast<std::size_t>(d.rows()));
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const Index i : groups[g]) out[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(g);
    return out;
}

TEST(AverageLinkage, AgreesWithBruteForce) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Matrix<double> x = test::normal_points(25, 2, seed);
        Matrix<double> d(25, 25);
        for (Index i = 0; i < 25; ++i)
            for (Index j = 0; j < 25; ++j) d(i, j) = (x.row(i) - x.row(j)).norm();
        for (const int k : {1, 2, 3, 7, 24, 25}) EXPECT_EQ(average_linkage(d, k), plain_average_linkage(d, k)) << seed;
    }
    EXPECT_THROW(average_linkage(Matrix<double>::Zero(3, 3), 4), BadArgument);
    EXPECT_THROW(average_linkage(Matrix<double>::Zero(3, 2), 1), BadArgument);
    EXPECT_EQ(average_linkage(Matrix<double>::Zero(3, 3), 2), (Labels{0, 0, 1}));
}

// The definition, written out.
TEST(Consensus, AgreesWithTheDefinition) {
    const Matrix<double> x = test::blob_points<double>(50, 2, 3, 2.5, 4);
    const coterie::Run run(7, 2);
    const Consensus found = consensus(with(x), asked(3, 12), {}, run);
    EXPECT_EQ(found.part, 40);
    std::vector<Labels> fits;
    for (std::uint64_t r = 0; r < 12; ++r) {
        const coterie::Run part = run.child("selection.consensus", r);
        RandomStream random = part.random("selection.part");
        const auto rows = sample_rows(50, 40, random);
        KMeansOptions options;
        options.clusters = 3;
        fits.push_back(fit_kmeans(rows_of(x, rows), options, part).predict(x, part));
    }
    Matrix<double> c(50, 50);
    for (Index i = 0; i < 50; ++i)
        for (Index j = 0; j < 50; ++j) {
            c(i, j) = 0;
            for (const Labels& labels : fits)
                c(i, j) += (labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(j)]) / 12.0;
        }
    EXPECT_EQ(found.labels, average_linkage(Matrix<double>(1.0 - c.array()), 3));
    for (Index i = 0; i < 50; ++i) {
        double sum[3] = {}, count[3] = {};
        for (Index j = 0; j < 50; ++j) {
            if (j == i) continue;
            sum[found.labels[static_cast<std::size_t>(j)]] += c(i, j);
            ++count[found.labels[static_cast<std::size_t>(j)]];
        }
        const int own = found.labels[static_cast<std::size_t>(i)];
        const double inside = count[own] > 0 ? sum[own] / count[own] : 1.0;
        double next = 0;
        for (int other = 0; other < 3; ++other)
            if (other != own) next = std::max(next, sum[other] / count[other]);
        EXPECT_NEAR(found.confidence[static_cast<std::size_t>(i)], inside - next, 1e-12);
    }
}

TEST(Consensus, IsConfidentForSeparatedClusters) {
    Matrix<double> x = test::normal_points(60, 2, 1);
    Labels truth;
    for (Index i = 0; i < 60; ++i) {
        x(i, 0) += 40.0 * static_cast<double>(i % 3);
        truth.push_back(static_cast<std::int32_t>(i % 3));
    }
    const Consensus found = consensus(with(x), asked(3, 20, {"kmeans", "ward"}), {}, coterie::Run(1));
    EXPECT_EQ(adjusted_rand_index(found.labels, truth), 1.0);
    for (const double confidence : found.confidence) EXPECT_EQ(confidence, 1.0);
    for (const double cohesion : found.cohesion) EXPECT_EQ(cohesion, 1.0);
    // A point halfway between two groups may be in either.
    x.row(0) << 20, 0;
    const Consensus again = consensus(with(x), asked(3, 20), {}, coterie::Run(1));
    EXPECT_LT(again.confidence[0], 0.95);
}

TEST(Consensus, WarnsOfSmallClusters) {
    Matrix<double> x = test::normal_points(120, 2, 1);
    for (Index i = 0; i < 120; ++i) x(i, 0) += 40.0 * static_cast<double>(i % 3);
    const auto told = [&](int k) {
        const auto warnings = consensus(with(x), asked(k, 8), {}, coterie::Run(1, 1)).warnings;
        return std::count_if(warnings.begin(), warnings.end(), [](const Message& warning) {
            return warning.code == Code::unbalanced_clusters &&
                   warning.problem == "1 of 3 clusters has only 1 or 2 of 120 rows: outliers form their own clusters";
        });
    };
    EXPECT_EQ(told(3), 0);
    x.row(7).setConstant(1e4);
    EXPECT_EQ(told(3), 1);
}

TEST(Consensus, FitsOfManyRowsUseASample) {
    Matrix<double> x = test::normal_points(3200, 2, 1);
    Labels truth;
    for (Index i = 0; i < x.rows(); ++i) {
        x(i, 0) += 12.0 * static_cast<double>(i % 3);
        truth.push_back(static_cast<std::int32_t>(i % 3));
    }
    const Consensus found = consensus(with(x), asked(3, 5), {}, coterie::Run(1));
    EXPECT_EQ(found.sample, 3000);
    EXPECT_EQ(found.part, 2400);
    EXPECT_GT(adjusted_rand_index(found.labels, truth), 0.99);
    EXPECT_EQ(found.sizes[0] + found.sizes[1] + found.sizes[2], 3200);
}

TEST(Consensus, SameAtAnyNumberOfThreads) {
    const Matrix<double> x = test::blob_points<double>(300, 3, 4, 2, 2);
    const Consensus once = consensus(with(x), asked(4, 15), {}, coterie::Run(5, 1));
    for (const int threads : {2, 8}) {
        const Consensus again = consensus(with(x), asked(4, 15), {}, coterie::Run(5, threads));
        EXPECT_EQ(again.labels, once.labels);
        EXPECT_EQ(again.confidence, once.confidence);
    }
}

TEST(Consensus, RejectsBadArguments) {
    const Matrix<double> x = test::normal_points(20, 2, 1);
    const auto message = [&](const Problem& problem, const ConsensusOptions& options) {
        return test::message_of([&] { consensus(problem, options, {}, coterie::Run()); });
    };
    EXPECT_NE(message(with(x), asked(0, 10)).find("clusters"), std::string::npos);
    EXPECT_NE(message(with(x), asked(21, 10)).find("clusters: 21"), std::string::npos);
    EXPECT_NE(message(with(x), asked(2, 1)).find("fits"), std::string::npos);
    EXPECT_NE(message(with(x), asked(2, 10, {})).find("methods"), std::string::npos);
    EXPECT_NE(message(with(x), asked(2, 10, {"kmean"})).find("kmeans"), std::string::npos);
    EXPECT_NE(message(with(x, {.weights = std::vector<double>(20, 2.0)}), asked(2, 10)).find("weights"),
              std::string::npos);
    coterie::Run run;
    run.should_stop = [] { return true; };
    EXPECT_THROW(consensus(with(x), asked(2, 10), {}, run), Cancelled);
    const Matrix<double> row = Matrix<double>::Ones(1, 2);
    EXPECT_EQ(consensus(with(row), asked(1, 3), {}, coterie::Run()).labels, (Labels{0}));
}

}  // namespace
}  // namespace coterie
