#include "coterie/kmeans/ward.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>

#include "tests/support/test_support.hpp"
#include "tests/support/variant_fixtures.hpp"

namespace coterie {
namespace {

using test::with;

using namespace fixtures;

// Replays the merges: each must have, up to rounding, the least rise of all pairs. This defines greedy agglomeration
// for any order of ties.
void expect_greedy(const Matrix<double>& points, const std::vector<double>& weights, const Dendrogram& tree) {
    struct Cluster {
        Vector<double> mean;
        double weight;
        Index number;
        Index size;
    };
    std::vector<Cluster> clusters;
    for (std::size_t l = 0; l < tree.leaves.size(); ++l) {
        const Index row = tree.leaves[l];
        clusters.push_back({points.row(row).transpose(), weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)],
                            static_cast<Index>(l), 1});
    }
    const auto leaves = static_cast<Index>(clusters.size());
    ASSERT_EQ(static_cast<Index>(tree.merges.size()), leaves - 1);
    const auto height = [](const Cluster& a, const Cluster& b) {
        return std::sqrt(2 * a.weight * b.weight / (a.weight + b.weight) * (a.mean - b.mean).squaredNorm());
    };
    double before = 0;
    for (std::size_t t = 0; t < tree.merges.size(); ++t) {
        const Merge& merge = tree.merges[t];
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t a = 0; a < clusters.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) least = std::min(least, height(clusters[a], clusters[b]));
        const auto find = [&](Index number) {
            return std::find_if(clusters.begin(), clusters.end(), [&](const Cluster& c) { return c.number == number; });
        };
        ASSERT_LT(merge.left, merge.right);
        const auto left = find(merge.left);
        const auto right = find(merge.right);
        ASSERT_TRUE(left != clusters.end() && right != clusters.end())
            << "merge " << t << " takes a cluster that is not there";
        ASSERT_NEAR(merge.height, height(*left, *right), 1e-9) << "merge " << t;
        ASSERT_LE(merge.height, least + 1e-9) << "merge " << t << " is not the nearest pair";
        ASSERT_GE(merge.height, before);
        before = merge.height;
        Cluster sum{(left->weight * left->mean + right->weight * right->mean) / (left->weight + right->weight),
                    left->weight + right->weight, leaves + static_cast<Index>(t), left->size + right->size};
        ASSERT_EQ(merge.size, sum.size);
        std::erase_if(clusters, [&](const Cluster& c) { return c.number == merge.left || c.number == merge.right; });
        clusters.push_back(sum);
    }
    EXPECT_EQ(clusters.size(), 1u);
}

TEST(Ward, FourPointsByHand) {
    // 0, 1 at distance 1; 5, 7 at distance 2; means 0.5 and 6 of two points each: rise 2 * 2 / 4 * 5.5^2 = 30.25.
    Matrix<double> points(4, 1);
    points << 7, 0, 5, 1;
    const Dendrogram tree = ward_linkage(points, {}, coterie::Run(0, 1));
    ASSERT_EQ(tree.merges.size(), 3u);
    EXPECT_EQ(tree.merges[0].left, 1);
    EXPECT_EQ(tree.merges[0].right, 3);
    EXPECT_DOUBLE_EQ(tree.merges[0].height, 1);
    EXPECT_EQ(tree.merges[1].left, 0);
    EXPECT_EQ(tree.merges[1].right, 2);
    EXPECT_DOUBLE_EQ(tree.merges[1].height, 2);
    EXPECT_EQ(tree.merges[2].left, 4);
    EXPECT_EQ(tree.merges[2].right, 5);
    EXPECT_DOUBLE_EQ(tree.merges[2].height, std::sqrt(2 * 30.25));
    EXPECT_EQ(tree.merges[2].size, 4);
    EXPECT_EQ(cut(tree, 1), (Labels{0, 0, 0, 0}));
    EXPECT_EQ(cut(tree, 2), (Labels{0, 1, 0, 1}));
    EXPECT_EQ(cut(tree, 3), (Labels{0, 1, 2, 1}));
    EXPECT_EQ(cut(tree, 4), (Labels{0, 1, 2, 3}));
    expect_error<BadArgument>([&] { cut(tree, 5); }, {"5", "4"});
    expect_error<BadArgument>([&] { cut(tree, 0); }, {"0", "4"});
}

TEST(Ward, EveryMergeHasTheLeastRise) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        const Index n = 2 + static_cast<Index>(seed % 29);
        const Matrix<double> smooth = blobs(n, 1 + static_cast<Index>(seed % 4), 3, 5.0, seed);
        expect_greedy(smooth, {}, ward_linkage(smooth, {}, coterie::Run(0, 1)));
        const Matrix<double> tied = lattice(n, 2, 3, seed);  // duplicates and ties
        expect_greedy(tied, {}, ward_linkage(tied, {}, coterie::Run(0, 1)));
        const auto weights = whole_weights(n, seed);
        expect_greedy(smooth, weights, ward_linkage(smooth, weights, coterie::Run(0, 1)));
        expect_greedy(tied, weights, ward_linkage(tied, weights, coterie::Run(0, 1)));
    }
}

TEST(Ward, SumOfRisesIsTheTotalScatter) {
    const Matrix<double> points = blobs(300, 5, 4, 2.0);
    double sum = 0;
    for (const Merge& merge : ward_linkage(points, {}, coterie::Run(0, 1)).merges)
        sum += merge.height * merge.height / 2;
    const double total = plain_inertia(points, Labels(300, 0), 1);
    EXPECT_NEAR(sum, total, 1e-9 * total);
}

TEST(Ward, AgreesWithScipy) {
    const std::string python = "/usr/bin/python3";
    if (std::system((python + " -c 'import scipy.cluster.hierarchy' >/dev/null 2>&1").c_str()) != 0)
        GTEST_SKIP() << "no " << python << " with SciPy here";
    const Matrix<double> points = blobs(400, 6, 5, 6.0);
    const std::string stem =
        ::testing::TempDir() + "coterie_ward_" + std::to_string(reinterpret_cast<std::uintptr_t>(&points));
    {
        std::ofstream file(stem + ".in");
        file << std::setprecision(17);
        for (Index i = 0; i < points.rows(); ++i)
            for (Index p = 0; p < points.cols(); ++p) file << points(i, p) << (p + 1 < points.cols() ? ' ' : '\n');
    }
    const std::string program =
        "import sys, numpy as np; from scipy.cluster.hierarchy import linkage; "
        "np.savetxt(sys.argv[2], linkage(np.loadtxt(sys.argv[1]), method=\"ward\"), fmt=\"%.17g\")";
    ASSERT_EQ(std::system((python + " -c '" + program + "' " + stem + ".in " + stem + ".out").c_str()), 0);
    const Dendrogram tree = ward_linkage(points, {}, coterie::Run(0, 2));
    std::ifstream file(stem + ".out");
    for (std::size_t t = 0; t < tree.merges.size(); ++t) {
        double left, right, height, size;
        ASSERT_TRUE(file >> left >> right >> height >> size) << "row " << t;
        ASSERT_EQ(static_cast<double>(tree.merges[t].left), std::min(left, right)) << "row " << t;
        ASSERT_EQ(static_cast<double>(tree.merges[t].right), std::max(left, right)) << "row " << t;
        ASSERT_NEAR(tree.merges[t].height, height, 1e-9 * (1 + height)) << "row " << t;
        ASSERT_EQ(static_cast<double>(tree.merges[t].size), size) << "row " << t;
    }
    std::remove((stem + ".in").c_str());
    std::remove((stem + ".out").c_str());
}

TEST(Ward, WeightActsAsCopies) {
    const Matrix<double> points = blobs(60, 3, 4, 3.0, 5);
    const auto weights = whole_weights(60, 5);
    std::vector<Index> source;
    const Matrix<double> expanded = copies(points, weights, source);
    const Dendrogram weighted = ward_linkage(points, weights, coterie::Run(0, 1));
    const Dendrogram copied = ward_linkage(expanded, {}, coterie::Run(0, 1));
    const std::size_t skip = copied.merges.size() - weighted.merges.size();
    for (std::size_t t = 0; t < skip; ++t) ASSERT_EQ(copied.merges[t].height, 0.0);
    for (std::size_t t = 0; t < weighted.merges.size(); ++t)
        ASSERT_NEAR(weighted.merges[t].height, copied.merges[t + skip].height, 1e-10 * (1 + weighted.merges[t].height));
    for (const int k : {1, 2, 4, 9}) {
        const Labels a = cut(weighted, k);
        const Labels b = cut(copied, k);
        Labels spread;
        for (const Index i : source) spread.push_back(a[static_cast<std::size_t>(i)]);
        EXPECT_TRUE(same_partition(spread, b)) << k;
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i] < 0, weights[i] == 0);
    }
}

TEST(Ward, SameBitsAtAnyNumberOfThreads) {
    const Matrix<double> points = blobs(130, 40000, 6, 8.0);  // scans have more than one block
    const Matrix<double> many_number = blobs(1500, 16, 6, 8.0);
    const Dendrogram one = ward_linkage(points, {}, coterie::Run(0, 1));
    for (const int threads : {2, 8}) {
        const Dendrogram many = ward_linkage(points, {}, coterie::Run(0, threads));
        ASSERT_EQ(many.merges.size(), one.merges.size());
        for (std::size_t t = 0; t < one.merges.size(); ++t) {
            ASSERT_EQ(many.merges[t].left, one.merges[t].left);
            ASSERT_EQ(many.merges[t].right, one.merges[t].right);
            ASSERT_EQ(many.merges[t].height, one.merges[t].height);
        }
        coterie::Run run_one(0, 1);
        coterie::Run run_many(0, threads);
        const auto a = fit_ward(many_number, {.clusters = 6}, run_one);
        const auto b = fit_ward(many_number, {.clusters = 6}, run_many);
        EXPECT_EQ(a.labels(), b.labels());
        EXPECT_EQ(a.inertia(), b.inertia());
        expect_same_bits(a.centroids(), b.centroids());
    }
}

TEST(Ward, FitFindsSeparatedClusters) {
    const Matrix<double> points = blobs(200, 4, 5, 0.5, 3);
    coterie::Run run(4, 2);
    int told = 0;
    run.on_progress = [&](const Progress& progress) {
        EXPECT_TRUE(progress.stage == "agglomeration" || progress.stage == "first neighbours");
        ++told;
    };
    const auto model = fit_ward(points, {.clusters = 5}, run);
    EXPECT_GT(told, 0);
    expect_sound_report(model, 200, 4, 5, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::exact);
    Labels truth;
    for (int i = 0; i < 200; ++i) truth.push_back(i % 5);
    EXPECT_EQ(model.labels(), truth);
    EXPECT_EQ(model.predict(points), truth);
    EXPECT_NEAR(model.inertia(), plain_inertia(points, truth, 5), 1e-9 * model.inertia());
    const Matrix<float> rounded = points.cast<float>();
    const auto single = fit_ward(rounded, {.clusters = 5}, run);
    EXPECT_EQ(single.labels(), truth);
    EXPECT_EQ(single.centroids().scalar(), ScalarType::float32);
    EXPECT_NEAR(single.inertia(), model.inertia(), 1e-5 * model.inertia());
}

TEST(Ward, PermutingRowsPermutesLabels) {
    const Matrix<double> points = blobs(150, 3, 4, 4.0, 8);
    Matrix<double> turned = points.colwise().reverse();
    coterie::Run run(0, 1);
    Labels labels = fit_ward(points, {.clusters = 7}, run).labels();
    std::reverse(labels.begin(), labels.end());
    EXPECT_TRUE(same_partition(labels, fit_ward(turned, {.clusters = 7}, run).labels()));
}

TEST(Ward, PointsOfWeightZeroGetLabels) {
    Matrix<double> points(5, 1);
    points << 0, 1, 10, 11, 9;
    const std::vector<double> weights = {1, 1, 1, 1, 0};
    coterie::Run run(0, 1);
    const auto model = fit_ward(with(points, {.weights = weights, .initial_centroids = {}}), {.clusters = 2}, run);
    EXPECT_EQ(model.labels(), (Labels{0, 0, 1, 1, 1}));
    EXPECT_DOUBLE_EQ(model.centroids().view().at(1, 0), 10.5);
    EXPECT_DOUBLE_EQ(model.inertia(), 1.0);
}

TEST(Ward, FewerDistinctPointsThanClusters) {
    Matrix<double> points = Matrix<double>::Constant(12, 2, 0.1);
    coterie::Run run(0, 1);
    const auto constant = fit_ward(points, {.clusters = 3}, run);
    EXPECT_EQ(constant.fit_report().sizes, (std::vector<Index>{12, 0, 0}));
    ASSERT_EQ(constant.fit_report().warnings.size(), 1u);
    EXPECT_NE(constant.fit_report().warnings[0].text().find("1 distinct"), std::string::npos);
    EXPECT_EQ(constant.predict(points), constant.labels());
    EXPECT_EQ(constant.inertia(), 0.0);
    for (Index i = 0; i < 12; i += 3) points(i, 1) = 0.7;
    const auto two = fit_ward(points, {.clusters = 3}, run);
    EXPECT_EQ(two.fit_report().sizes, (std::vector<Index>{4, 8, 0}));
    EXPECT_EQ(two.predict(points), two.labels());
    EXPECT_EQ(fit_ward(points, {.clusters = 2}, run).fit_report().warnings.size(), 0u);
    coterie::Run single(0, 1);
    EXPECT_EQ(fit_ward(Matrix<double>(Matrix<double>::Ones(1, 1)), {.clusters = 1}, single).labels(), Labels{0});
}

TEST(Ward, StopsWhenAsked) {
    coterie::Run run(0, 1);
    run.should_stop = [] { return true; };
    EXPECT_THROW(fit_ward(blobs(50, 2, 2, 1.0), {.clusters = 2}, run), Cancelled);
    int asked = 0;
    run.should_stop = [&] { return ++asked > 2; };  // during the merges
    EXPECT_THROW(fit_ward(blobs(2000, 2, 2, 1.0), {.clusters = 2}, run), Cancelled);
}

TEST(Ward, RejectsBadArguments) {
    expect_usual_refusals("ward");
    const Matrix<double> points = blobs(4, 2, 2, 1.0);
    expect_error<BadArgument>(
        [&] {
            cluster_means(points, {0, 1}, 2, {}, coterie::Run(0, 1));
        },
        {"2 labels", "4 rows"});
    expect_error<BadArgument>(
        [&] {
            cluster_means(points, {0, 1, 2, 0}, 2, {}, coterie::Run(0, 1));
        },
        {"label 2", "row 3"});
}

TEST(Ward, RoundTrip) {
    const Matrix<float> points = blobs<float>(80, 3, 4, 1.0);
    coterie::Run run(0, 1);
    const auto model = fit_ward(points, {.clusters = 4}, run);
    const auto loaded = round_trip(model);
    EXPECT_EQ(loaded->method(), "ward");
    EXPECT_EQ(loaded->predict(points), model.predict(points));
    EXPECT_EQ(loaded->predict(points.cast<double>().eval()), model.predict(points));
    expect_same_bits(dynamic_cast<const WardModel&>(*loaded).centroids(), model.centroids());
}

}  // namespace
}  // namespace coterie
