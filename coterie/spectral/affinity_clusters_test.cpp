#include "coterie/spectral/affinity_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "coterie/linalg/eigen.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_graphs.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::Edges;
using test::graph;
using test::message_of;

AffinityClusters clusters_of(const SparseMatrix& affinity, int clusters, int threads = 2, std::uint64_t seed = 0) {
    AffinityClusterOptions options;
    options.clusters = clusters;
    return cluster_affinity(affinity, options, coterie::Run(seed, threads));
}

// L by definition.
Matrix<double> laplacian_of(const SparseMatrix& affinity) {
    Matrix<double> a = Matrix<double>(affinity);
    a.diagonal().setZero();
    const Vector<double> degrees = a.rowwise().sum();
    const Vector<double> scale = degrees.unaryExpr([](double d) { return d > 0 ? 1 / std::sqrt(d) : 0.0; });
    return Matrix<double>::Identity(a.rows(), a.cols()) - scale.asDiagonal() * a * scale.asDiagonal();
}

void expect_like_dense(const SparseMatrix& affinity, const std::vector<int>& clusters) {
    const EigenPairs dense = symmetric_eigen(laplacian_of(affinity));
    for (const int k : clusters) {
        const AffinityClusters found = cluster_affinity(affinity, {.clusters = k, .restarts = 1}, coterie::Run(0, 2));
        for (Index i = 0; i < k; ++i) EXPECT_NEAR(found.eigenvalues[i], std::max(0.0, dense.values[i]), 1e-10) << i;
        EXPECT_LT(found.eigen_residual, 1e-9);
    }
}

TEST(AffinityClusters, SpectraAgreeWithClosedForms) {
    // Small: dense. Large: Lanczos. Path of n points: 1 - cos(pi i / (n - 1)).
    for (const Index n : {7, 800}) {
        const AffinityClusters path = clusters_of(test::path(n), 4);
        for (Index i = 0; i < 4; ++i)
            EXPECT_NEAR(path.eigenvalues[i],
                        1 - std::cos(std::numbers::pi * static_cast<double>(i) / static_cast<double>(n - 1)), 1e-12);
        EXPECT_LT(path.eigen_residual, 1e-6);  // eigenvalues of the long path are 1e-5 apart
        // Cycle: 1 - cos(2 pi i / n), each twice except the first.
        const AffinityClusters cycle = clusters_of(test::cycle(n), 5);
        for (Index i = 0; i < 5; ++i)
            EXPECT_NEAR(cycle.eigenvalues[i],
                        1 - std::cos(2 * std::numbers::pi * static_cast<double>((i + 1) / 2) / static_cast<double>(n)),
                        1e-12);
        // Complete: 0, then n / (n - 1) for all others.
        const AffinityClusters complete = clusters_of(test::complete(n), 3);
        EXPECT_NEAR(complete.eigenvalues[0], 0, 1e-12);
        for (Index i = 1; i < 3; ++i)
            EXPECT_NEAR(complete.eigenvalues[i], static_cast<double>(n) / static_cast<double>(n - 1), 1e-12);
        // Star: 0, then 1 for all except one, then 2.
        const AffinityClusters star = clusters_of(test::star(n), 4);
        EXPECT_NEAR(star.eigenvalues[0], 0, 1e-12);
        for (Index i = 1; i < 4; ++i) EXPECT_NEAR(star.eigenvalues[i], 1, 1e-12);
    }
}

// Equal rings of `points` around a hub that touches all of them: ten rings give nine copies of an eigenvalue. With
// `random`: blobs of random weights instead of rings; their eigenvalues are nearly equal.
SparseMatrix around_a_hub(Index parts, Index points, bool random) {
    Edges edges;
    RandomStream stream(5, "test.hub");
    for (Index p = 0; p < parts; ++p) {
        for (Index i = 0; i < points; ++i)
            for (Index step = 1; step <= (random ? points / 2 - 1 : 3); ++step)
                if (!random || stream.uniform() < 0.3)
                    edges.push_back(
                        {p * points + i, p * points + (i + step) % points, random ? stream.uniform() : 1.0});
        edges.push_back({parts * points, p * points, random ? 0.01 : 1.0});
    }
    return graph(parts * points + 1, edges);
}

TEST(AffinityClusters, FindsEigenvaluesRepeatedBeyondTheBlockSize) {
    for (const Index parts : {6, 10, 13})
        for (const bool random : {false, true}) {
            const Index points = 60 * 10 / parts + 20;
            const SparseMatrix affinity = around_a_hub(parts, points, random);
            const AffinityClusters found = clusters_of(affinity, static_cast<int>(parts));
            expect_like_dense(affinity, {static_cast<int>(parts)});
            Labels truth;
            for (Index i = 0; i < parts * points; ++i) truth.push_back(static_cast<std::int32_t>(i / points));
            EXPECT_GT(accuracy(Labels(found.labels.begin(), found.labels.end() - 1), truth), 0.99) << parts;
        }
}

TEST(AffinityClusters, FindsEigenvaluesOfHighMultiplicity) {
    // The hypercube of 1024 corners: 2 i / 10, binomial(10, i) times.
    Edges edges;
    for (Index i = 0; i < 1024; ++i)
        for (int bit = 0; bit < 10; ++bit)
            if ((i >> bit & 1) == 0) edges.push_back({i, i | Index{1} << bit, 1});
    const AffinityClusters found = clusters_of(graph(1024, edges), 13);
    EXPECT_NEAR(found.eigenvalues[0], 0, 1e-12);
    for (Index i = 1; i <= 10; ++i) EXPECT_NEAR(found.eigenvalues[i], 0.2, 1e-9) << i;
    for (Index i = 11; i < 13; ++i) EXPECT_NEAR(found.eigenvalues[i], 0.4, 1e-9) << i;
}

TEST(AffinityClusters, AgreesWithTheDenseSolutionOnRandomGraphs) {
    for (const std::uint64_t seed : {1, 2, 3})
        for (const Index n : {40, 700}) {
            const SparseMatrix affinity = test::random_graph(n, 4 * n, seed);
            expect_like_dense(affinity, {1, 2, 9, 30});
        }
    const SparseMatrix small = test::random_graph(12, 30, 4);
    expect_like_dense(small, {12});  // k = n
    const SparseMatrix large = test::random_graph(600, 3000, 5);
    expect_like_dense(large, {210});  // too many for Lanczos
}

TEST(AffinityClusters, HasOrthonormalVectorsAndUnitRows) {
    const SparseMatrix affinity = test::random_graph(900, 5000, 7);
    const AffinityClusters found = clusters_of(affinity, 6);
    ASSERT_EQ(found.components, 1);
    const EigenPairs dense = smallest_symmetric_eigen(laplacian_of(affinity), 6);
    for (Index i = 0; i < 900; ++i) {
        EXPECT_NEAR(found.embedding.row(i).norm(), 1, 1e-12);
        // The eigenvalues are separated here, so the vectors, including signs, are the same too.
        EXPECT_LT((found.embedding.row(i) - dense.vectors.row(i) / dense.vectors.row(i).norm()).norm(), 1e-6) << i;
    }
}

TEST(AffinityClusters, FindsTheNullSpaceOfDisconnectedGraphs) {
    // Rings of 3, 700, 5, 700 and 40 points, and two isolated points, shuffled.
    const std::vector<Index> rings{3, 700, 5, 700, 40};
    const Index n = 1450;
    Edges edges;
    std::vector<Index> ring_of(static_cast<std::size_t>(n), -1);
    Index first = 0;
    const auto shuffled = [n](Index i) { return (i * 37 + 11) % n; };
    for (std::size_t r = 0; r < rings.size(); ++r) {
        for (Index i = 0; i < rings[r]; ++i) {
            edges.push_back({shuffled(first + i), shuffled(first + (i + 1) % rings[r]), 2});
            ring_of[static_cast<std::size_t>(shuffled(first + i))] = static_cast<Index>(r);
        }
        first += rings[r];
    }
    const SparseMatrix affinity = graph(n, edges);
    for (const int k : {1, 2, 5}) {
        const AffinityClusters found = clusters_of(affinity, k);
        EXPECT_EQ(found.components, 7);
        EXPECT_EQ(found.isolated, 2);
        EXPECT_LT(found.eigen_residual, 1e-12);
        EXPECT_EQ(found.eigenvalues, Vector<double>::Zero(k));
        EXPECT_NEAR(found.inertia, 0, 1e-20);
        // Of the two rings with 700 points, the one with the lowest point comes first.
        const auto lowest = std::find_if(ring_of.begin(), ring_of.end(), [](Index r) { return r == 1 || r == 3; });
        const std::vector<Index> by_size{*lowest, 4 - *lowest, 4, 2, 0};
        std::set<Index> reached(by_size.begin(), by_size.begin() + k);
        Index unreached = 0;
        for (Index i = 0; i < n; ++i) {
            const bool is_reached = reached.count(ring_of[static_cast<std::size_t>(i)]) > 0;
            ASSERT_NEAR(found.embedding.row(i).norm(), is_reached ? 1 : 0, 1e-12) << i;
            unreached += is_reached ? 0 : 1;
        }
        EXPECT_EQ(found.unreached, unreached);
        // Each reached ring is a cluster; unreached points are with one of the two largest.
        std::map<Index, std::set<std::int32_t>> labels;
        for (Index i = 0; i < n; ++i)
            labels[ring_of[static_cast<std::size_t>(i)]].insert(found.labels[static_cast<std::size_t>(i)]);
        std::set<std::int32_t> taken;
        for (const Index r : reached) {
            ASSERT_EQ(labels[r].size(), 1U);
            EXPECT_TRUE(taken.insert(*labels[r].begin()).second);
        }
        ASSERT_EQ(labels[-1].size(), 1U);
        const auto rest = *labels[-1].begin();
        EXPECT_TRUE(rest == *labels[by_size[0]].begin() || (k > 1 && rest == *labels[by_size[1]].begin()));
    }
    // The third cluster is a half of the first large ring (700 / 3 points) rather than the ring of 40; the fourth then
    // is a half of the other one.
    for (const int k : {3, 4}) {
        const AffinityClusters shared = clusters_of(affinity, k);
        for (Index i = 0; i < k; ++i)
            EXPECT_NEAR(shared.eigenvalues[i], i < 2 ? 0 : 1 - std::cos(2 * std::numbers::pi / 700), 1e-9) << k;
        EXPECT_EQ(shared.unreached, 50);
        std::map<Index, std::set<std::int32_t>> labels;
        for (Index i = 0; i < n; ++i)
            if (!shared.embedding.row(i).isZero(0))
                labels[ring_of[static_cast<std::size_t>(i)]].insert(shared.labels[static_cast<std::size_t>(i)]);
        EXPECT_EQ(labels.size(), 2U);
        EXPECT_EQ(labels[1].size() + labels[3].size(), static_cast<std::size_t>(k));
    }
    // More pairs than components: the rings of 700 points have the same eigenvalues, each of them twice.
    const AffinityClusters more = clusters_of(affinity, 12);
    for (Index i = 0; i < 5; ++i) EXPECT_EQ(more.eigenvalues[i], 0);
    for (Index i = 5; i < 12; ++i)
        EXPECT_NEAR(more.eigenvalues[i], 1 - std::cos(2 * std::numbers::pi * (i < 9 ? 1 : 2) / 700), 1e-11) << i;
    EXPECT_EQ(more.unreached, 2);
}

TEST(AffinityClusters, OutliersGetNoClusterOnRequest) {
    // Rings of 300, 100, 40, 8 and 2 points; six clusters of 75 in the mean.
    const std::vector<Index> rings{300, 100, 40, 8, 2};
    Edges edges;
    Labels ring_of;
    for (std::size_t r = 0; r < rings.size(); ++r) {
        const auto first = static_cast<Index>(ring_of.size());
        for (Index i = 0; i < rings[r]; ++i)
            if (i + 1 < rings[r] || rings[r] > 2) edges.push_back({first + i, first + (i + 1) % rings[r], 1});
        ring_of.insert(ring_of.end(), static_cast<std::size_t>(rings[r]), static_cast<std::int32_t>(r));
    }
    const SparseMatrix affinity = graph(450, edges);
    const auto clusters_in = [&](const AffinityClusters& found) {
        std::vector<std::set<std::int32_t>> out(rings.size());
        for (std::size_t i = 0; i < ring_of.size(); ++i)
            if (!found.embedding.row(static_cast<Index>(i)).isZero(0))
                out[static_cast<std::size_t>(ring_of[i])].insert(found.labels[i]);
        std::vector<std::size_t> sizes;
        for (const auto& set : out) sizes.push_back(set.size());
        return sizes;
    };
    using Sizes = std::vector<std::size_t>;
    EXPECT_EQ(clusters_of(affinity, 6).unreached, 0);
    AffinityClusterOptions options{.clusters = 6, .outliers = true};
    const AffinityClusters shared = cluster_affinity(affinity, options, coterie::Run(0, 2));
    EXPECT_EQ(clusters_in(shared), (Sizes{4, 1, 1, 0, 0}));  // claims 600, 200, 100, 80 (40 points doubled), 60, 43 ...
    EXPECT_EQ(shared.unreached, 10);
    options.clusters = 5;  // as many as components
    EXPECT_EQ(clusters_in(cluster_affinity(affinity, options, coterie::Run(0, 2))), (Sizes{1, 1, 1, 1, 1}));
    options.clusters = 4;  // fewer
    EXPECT_EQ(clusters_in(cluster_affinity(affinity, options, coterie::Run(0, 2))), (Sizes{3, 1, 0, 0, 0}));
    // More clusters than connected points: nothing to share.
    const SparseMatrix few = graph(9, {{0, 1, 1}, {2, 3, 1}});
    options.clusters = 7;
    EXPECT_EQ(cluster_affinity(few, options, coterie::Run(0, 1)).eigenvalues.size(), 7);
}

TEST(AffinityClusters, PutsIsolatedPointsIntoTheLargestCluster) {
    // Cliques of 4 and 3 points; point 3 and point 8 alone.
    Edges edges;
    const std::vector<Index> large{0, 2, 5, 7}, little{1, 4, 6};
    for (const auto& clique : {large, little})
        for (std::size_t a = 0; a < clique.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) edges.push_back({clique[a], clique[b], 1});
    const AffinityClusters found = clusters_of(graph(9, edges), 2);
    EXPECT_EQ(found.isolated, 2);
    EXPECT_EQ(found.components, 4);
    EXPECT_EQ(found.unreached, 2);
    for (const Index i : {2, 3, 5, 7, 8}) EXPECT_EQ(found.labels[static_cast<std::size_t>(i)], found.labels[0]);
    for (const Index i : {4, 6}) EXPECT_EQ(found.labels[static_cast<std::size_t>(i)], found.labels[1]);
    EXPECT_NE(found.labels[0], found.labels[1]);
    // With k = n every eigenvector is needed, also those of the isolated points (eigenvalue 1).
    expect_like_dense(graph(9, edges), {9});
    EXPECT_EQ(clusters_of(graph(9, edges), 9).unreached, 0);
}

TEST(AffinityClusters, AcceptsAGraphWithoutEdges) {
    const AffinityClusters found = clusters_of(SparseMatrix(5, 5), 2);
    EXPECT_EQ(found.isolated, 5);
    EXPECT_EQ(found.components, 5);
    EXPECT_EQ(found.eigenvalues, Vector<double>::Ones(2));
    EXPECT_EQ(found.unreached, 3);
    EXPECT_EQ(clusters_of(SparseMatrix(1, 1), 1).labels, Labels{0});
}

TEST(AffinityClusters, FindsTheSmallestNormalisedCut) {
    // Every two-way partition of small graphs with two clusters and a few bridges.
    for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
        RandomStream random(seed, "test.cut");
        Edges edges;
        const Index a = 5, n = 11;
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < i; ++j)
                if ((i < a) == (j < a)) edges.push_back({i, j, 0.5 + random.uniform()});
        edges.push_back({0, a, 0.4 * random.uniform()});
        edges.push_back({2, n - 1, 0.4 * random.uniform()});
        const SparseMatrix affinity = graph(n, edges);
        const Matrix<double> dense = Matrix<double>(affinity);
        const auto cut_of = [&](const Labels& labels) {
            double volume[2] = {}, cut = 0;
            for (Index i = 0; i < n; ++i)
                for (Index j = 0; j < n; ++j) {
                    volume[labels[static_cast<std::size_t>(i)]] += dense(i, j);
                    if (labels[static_cast<std::size_t>(i)] != labels[static_cast<std::size_t>(j)]) cut += dense(i, j);
                }
            return cut / 2 * (1 / volume[0] + 1 / volume[1]);
        };
        double best = std::numeric_limits<double>::infinity();
        for (int side = 1; side < 1 << (n - 1); ++side) {
            Labels labels;
            for (Index i = 0; i < n; ++i) labels.push_back(side >> i & 1);
            best = std::min(best, cut_of(labels));
        }
        EXPECT_DOUBLE_EQ(cut_of(clusters_of(affinity, 2).labels), best);
    }
}

TEST(AffinityClusters, FollowsAPermutationOfThePoints) {
    for (const Index n : {90, 1200}) {
        const SparseMatrix affinity = test::planted_graph(n, 3, 12, 0.5, 5);
        std::vector<Index> order(static_cast<std::size_t>(n));
        for (Index i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = (i * 7 + 3) % n;
        Edges edges;
        for (Index i = 0; i < n; ++i)
            for (SparseMatrix::InnerIterator entry(affinity, i); entry; ++entry)
                if (entry.col() < i)
                    edges.push_back({order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(entry.col())],
                                     entry.value()});
        const AffinityClusters plain = clusters_of(affinity, 3);
        const AffinityClusters permuted = clusters_of(graph(n, edges), 3);
        EXPECT_LT((plain.eigenvalues - permuted.eigenvalues).norm(), 1e-11);
        Labels moved(plain.labels.size());
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = permuted.labels[static_cast<std::size_t>(order[i])];
        EXPECT_DOUBLE_EQ(adjusted_rand_index(plain.labels, moved), 1);
    }
}

TEST(AffinityClusters, IgnoresTheDiagonal) {
    eigen::SparseMatrix affinity = test::planted_graph(60, 2, 8, 0.5, 6);
    const AffinityClusters without = clusters_of(affinity, 2);
    for (Index i = 0; i < 60; ++i) affinity.coeffRef(i, i) = i % 2 == 0 ? 100 : -1;
    const AffinityClusters with = clusters_of(affinity, 2);
    EXPECT_EQ(with.labels, without.labels);
    EXPECT_EQ(with.embedding, without.embedding);
    EXPECT_EQ(with.degrees, without.degrees);
}

TEST(AffinityClusters, DoesNotDependOnScale) {
    const SparseMatrix affinity = test::planted_graph(700, 4, 10, 0.3, 8);
    const AffinityClusters plain = clusters_of(affinity, 4);
    for (const double scale : {1e-300, 1e-40, 1e200}) {
        const AffinityClusters scaled = clusters_of(affinity * scale, 4);
        EXPECT_LT((scaled.eigenvalues - plain.eigenvalues).norm(), 1e-10) << scale;
        EXPECT_EQ(scaled.labels, plain.labels) << scale;
    }
}

TEST(AffinityClusters, SameBitsAtAnyNumberOfThreads) {
    const SparseMatrix affinity = test::planted_graph(5000, 7, 12, 0.4, 9);
    const AffinityClusters one = clusters_of(affinity, 7, 1);
    for (const int threads : {2, 8}) {
        const AffinityClusters other = clusters_of(affinity, 7, threads);
        EXPECT_EQ(other.labels, one.labels);
        EXPECT_EQ(other.embedding, one.embedding);
        EXPECT_EQ(other.eigenvalues, one.eigenvalues);
        EXPECT_EQ(other.eigen_residual, one.eigen_residual);
    }
}

TEST(AffinityClusters, RejectsInvalidAffinities) {
    const auto message = [](const SparseMatrix& affinity, AffinityClusterOptions options) {
        return message_of([&] { cluster_affinity(affinity, options, coterie::Run()); });
    };
    const auto with = [](Index row, Index column, double value) {
        eigen::SparseMatrix affinity = graph(4, {{0, 1, 1}, {2, 3, 1}});
        affinity.coeffRef(row, column) = value;
        return SparseMatrix(affinity);
    };
    const AffinityClusterOptions two{.clusters = 2};
    EXPECT_EQ(message(SparseMatrix(3, 4), two), "graph: an affinity matrix must be square, not 3 x 4");
    EXPECT_EQ(message(with(1, 2, 0.5), two),
              "graph: column 3, row 2: 0.5 differs from 0 on the other side of the diagonal, but affinities are "
              "symmetric. Use the mean of the matrix and its transpose.");
    EXPECT_EQ(message(with(0, 1, -1), two),
              "graph: column 2, row 1: -1 is not accepted: affinities must not be negative");
    EXPECT_NE(message(with(0, 1, std::nan("")), two).find("is not a finite number"), std::string::npos);
    EXPECT_NE(message(with(2, 2, std::numeric_limits<double>::infinity()), two).find("is not a finite number"),
              std::string::npos);
    EXPECT_NE(message(test::complete(4) * 1e308, two).find("row 1: the sum of the affinities overflows"),
              std::string::npos);
    EXPECT_NE(message(with(0, 1, 1), {.clusters = 0}).find("clusters: 0 clusters requested"), std::string::npos);
    EXPECT_NE(message(with(0, 1, 1), {.clusters = 5}).find("5 clusters requested, but there are only 4 rows"),
              std::string::npos);
    EXPECT_NE(message(with(0, 1, 1), {.clusters = 2, .restarts = 0}).find("restarts"), std::string::npos);
}

TEST(AffinityClusters, StopsWhenAsked) {
    coterie::Run run(0, 2);
    run.should_stop = [] { return true; };
    EXPECT_THROW(cluster_affinity(test::planted_graph(900, 3, 10, 0.5, 1), {.clusters = 3}, run), Cancelled);
}

}  // namespace
}  // namespace coterie
