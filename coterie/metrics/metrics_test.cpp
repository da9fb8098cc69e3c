#include "coterie/metrics/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "tests/support/same_bits.hpp"

namespace coterie {
namespace {
Labels random_labels(Index n, int clusters, RandomStream& random) {
    Labels labels(static_cast<std::size_t>(n));
    for (auto& label : labels) label = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(clusters)));
    return labels;
}

// The best sum over all one-to-one matches, from every permutation of the larger side.
double best_by_permutations(const Matrix<double>& gain) {
    const Matrix<double> wide = gain.rows() <= gain.cols() ? gain : Matrix<double>(gain.transpose());
    std::vector<Index> order(static_cast<std::size_t>(wide.cols()));
    std::iota(order.begin(), order.end(), Index{0});
    double best = -std::numeric_limits<double>::infinity();
    do {
        double sum = 0;
        for (Index i = 0; i < wide.rows(); ++i) sum += wide(i, order[static_cast<std::size_t>(i)]);
        best = std::max(best, sum);
    } while (std::next_permutation(order.begin(), order.end()));
    return best;
}

TEST(Contingency, CountsByHand) {
    const Labels labels = {7, 7, -2, 7, -2, 100};
    const Labels truth = {1, 1, 1, 3, 3, 3};
    const ContingencyTable table = contingency_table(labels, truth);
    EXPECT_EQ(table.clusters, (std::vector<std::int32_t>{-2, 7, 100}));
    EXPECT_EQ(table.classes, (std::vector<std::int32_t>{1, 3}));
    Matrix<std::int64_t> expected(3, 2);
    expected << 1, 1, 2, 1, 0, 1;
    EXPECT_EQ(table.counts, expected);
}

TEST(Scores, ByHand) {
    // Table {{2, 0}, {1, 3}}: n = 6.
    const Labels labels = {0, 0, 1, 1, 1, 1};
    const Labels truth = {0, 0, 0, 1, 1, 1};
    const Scores scores = score(labels, truth);
    EXPECT_DOUBLE_EQ(scores.acc, 5.0 / 6);
    EXPECT_DOUBLE_EQ(scores.purity, 5.0 / 6);
    const double information = 2.0 / 6 * std::log(2.0 * 6 / (2 * 3)) + 1.0 / 6 * std::log(1.0 * 6 / (4 * 3)) +
                               3.0 / 6 * std::log(3.0 * 6 / (4 * 3));
    const double of_labels = -(2.0 / 6 * std::log(2.0 / 6) + 4.0 / 6 * std::log(4.0 / 6));
    const double of_truth = std::log(2.0);
    EXPECT_NEAR(scores.homogeneity, information / of_truth, 1e-15);
    EXPECT_NEAR(scores.completeness, information / of_labels, 1e-15);
    EXPECT_NEAR(scores.nmi, 2 * information / (of_labels + of_truth), 1e-15);
    EXPECT_NEAR(normalized_mutual_information(labels, truth, Normalization::minimum), information / of_labels, 1e-15);
    EXPECT_NEAR(normalized_mutual_information(labels, truth, Normalization::maximum), information / of_truth, 1e-15);
    // Pairs together in both: 1 + 3 = 4; in the labels: 1 + 6 = 7; in the truth: 3 + 3 = 6; all: 15.
    EXPECT_NEAR(scores.ari, (4 - 7.0 * 6 / 15) / (0.5 * (7 + 6) - 7.0 * 6 / 15), 1e-15);
}

TEST(Scores, PerfectForAnyLabelNumbers) {
    const Labels truth = {4, 4, 9, 9, 9, 1};
    const Labels labels = {std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max(), 0, 0, 0,
                           std::numeric_limits<std::int32_t>::min()};
    const Scores scores = score(labels, truth);
    for (const double value :
         {scores.acc, scores.nmi, scores.ari, scores.purity, scores.homogeneity, scores.completeness})
        EXPECT_EQ(value, 1.0);
    EXPECT_EQ(aligned_labels(labels, truth), truth);
}

TEST(Scores, EdgeCases) {
    const Labels one = {3, 3, 3, 3};
    const Labels two = {0, 0, 1, 1};
    const Labels each = {0, 1, 2, 3};
    for (const auto mean :
         {Normalization::arithmetic, Normalization::geometric, Normalization::minimum, Normalization::maximum}) {
        EXPECT_EQ(normalized_mutual_information(one, one, mean), 1.0);
        EXPECT_EQ(normalized_mutual_information(one, two, mean), 0.0);
        EXPECT_EQ(normalized_mutual_information(two, one, mean), 0.0);
        EXPECT_EQ(normalized_mutual_information(each, each, mean), 1.0);
    }
    EXPECT_EQ(adjusted_rand_index(one, one), 1.0);
    EXPECT_EQ(adjusted_rand_index(each, each), 1.0);
    EXPECT_EQ(adjusted_rand_index(one, each), 0.0);
    EXPECT_EQ(adjusted_rand_index(each, two), 0.0);
    EXPECT_EQ(homogeneity(two, one), 1.0);
    EXPECT_EQ(homogeneity(one, two), 0.0);
    EXPECT_EQ(homogeneity(each, two), 1.0);
    EXPECT_EQ(completeness(one, two), 1.0);
    EXPECT_EQ(completeness(two, one), 0.0);
    EXPECT_EQ(accuracy(each, one), 0.25);
    EXPECT_EQ(purity(each, two), 1.0);
    const Labels single = {5};
    EXPECT_EQ(score(single, single).nmi, 1.0);
    EXPECT_EQ(score(single, single).ari, 1.0);
}

TEST(Scores, RejectWrongInput) {
    const Labels none;
    const Labels two = {0, 1};
    const Labels three = {0, 1, 2};
    EXPECT_THROW(score(none, none), BadArgument);
    EXPECT_THROW(score(two, three), BadArgument);
    EXPECT_THROW(accuracy(two, three), BadArgument);
    EXPECT_THROW(purity(none, none), BadArgument);
    EXPECT_THROW(align(two, three), BadArgument);
    EXPECT_THROW(contingency_table(none, none), BadArgument);
}

TEST(Scores, InRangeAndIndependentOfLabelNumbers) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        RandomStream random(seed, "test.scores");
        const auto n = static_cast<Index>(1 + random.below(40));
        const Labels labels = random_labels(n, static_cast<int>(1 + random.below(8)), random);
        const Labels truth = random_labels(n, static_cast<int>(1 + random.below(8)), random);
        const Scores scores = score(labels, truth);
        for (const double value : {scores.acc, scores.nmi, scores.purity, scores.homogeneity, scores.completeness}) {
            EXPECT_GE(value, 0.0);
            EXPECT_LE(value, 1.0);
        }
        EXPECT_GE(scores.ari, -0.5 - 1e-12);
        EXPECT_LE(scores.ari, 1.0);
        EXPECT_GE(scores.purity, scores.acc);
        Labels renamed = labels;
        for (auto& label : renamed) label = 1000003 * (3 - label);
        const Scores again = score(renamed, truth);
        EXPECT_EQ(again.acc, scores.acc);
        EXPECT_EQ(again.ari, scores.ari);
        EXPECT_EQ(again.purity, scores.purity);
        EXPECT_NEAR(again.nmi, scores.nmi, 1e-14);
        const Scores swapped = score(truth, labels);
        EXPECT_NEAR(swapped.nmi, scores.nmi, 1e-14);
        EXPECT_NEAR(swapped.ari, scores.ari, 1e-14);
        EXPECT_EQ(swapped.acc, scores.acc);
        EXPECT_NEAR(swapped.homogeneity, scores.completeness, 1e-14);
    }
}

TEST(Scores, TenMillionPointsDoNotOverflow) {
    const std::size_t n = 10'000'000;
    Labels labels(n);
    Labels truth(n);
    for (std::size_t i = 0; i < n; ++i) {
        labels[i] = i < n / 2 ? 0 : 1;
        truth[i] = i < n / 2 + n / 10 ? 0 : 1;
    }
    const Scores scores = score(labels, truth);
    EXPECT_DOUBLE_EQ(scores.acc, 0.9);
    // Table {{5, 0}, {1, 4}} million: the closed form with pairs counted in long double.
    const auto pairs = [](long double m) { return m * (m - 1) / 2; };
    const long double together = pairs(5e6L) + pairs(1e6L) + pairs(4e6L);
    const long double a = 2 * pairs(5e6L);
    const long double b = pairs(6e6L) + pairs(4e6L);
    const long double expected = a * b / pairs(1e7L);
    EXPECT_NEAR(scores.ari, static_cast<double>((together - expected) / (0.5L * (a + b) - expected)), 1e-15);
}

TEST(Scores, ManyLabelsNeedNoSquareTable) {
    const Index n = 300'000;
    RandomStream random(4, "test.many");
    Labels labels(static_cast<std::size_t>(n));
    std::iota(labels.begin(), labels.end(), 0);
    Labels truth = labels;
    shuffle(truth, random);
    EXPECT_EQ(score(labels, truth).acc, 1.0);
    EXPECT_EQ(score(labels, truth).nmi, 1.0);
    const Labels ten = random_labels(n, 10, random);
    EXPECT_DOUBLE_EQ(accuracy(labels, ten), 10.0 / static_cast<double>(n));
    EXPECT_DOUBLE_EQ(accuracy(ten, labels), 10.0 / static_cast<double>(n));
    EXPECT_EQ(homogeneity(labels, ten), 1.0);
    labels.resize(3'000'000);
    std::iota(labels.begin(), labels.end(), 0);
    EXPECT_THROW(contingency_table(labels, labels), ResourceError);  // 72 TB
}

TEST(Accuracy, FiveThousandClustersInSeconds) {
    RandomStream random(1, "test.five_thousand");
    const Labels labels = random_labels(100'000, 5000, random);
    Labels truth = random_labels(100'000, 5000, random);
    const double by_chance = accuracy(labels, truth);
    EXPECT_GT(by_chance, 0.05);
    for (std::size_t i = 0; i < truth.size(); i += 2) truth[i] = labels[i];
    EXPECT_GT(accuracy(labels, truth), 0.5);
}

TEST(Assignment, AgreesWithAllPermutations) {
    for (std::uint64_t seed = 0; seed < 4000; ++seed) {
        RandomStream random(seed, "test.assignment");
        const auto rows = static_cast<Index>(1 + random.below(6));
        const auto columns = static_cast<Index>(1 + random.below(6));
        const bool integers = random.below(2) == 0;
        Matrix<double> cost(rows, columns);
        for (Index i = 0; i < rows; ++i)
            for (Index j = 0; j < columns; ++j)
                cost(i, j) = integers ? static_cast<double>(random.below(5)) - 2.0 : random.normal();
        const std::vector<Index> assigned = minimum_cost_assignment(cost);
        ASSERT_EQ(static_cast<Index>(assigned.size()), rows);
        std::vector<bool> taken(static_cast<std::size_t>(columns), false);
        double sum = 0;
        Index matched = 0;
        for (Index i = 0; i < rows; ++i) {
            const Index j = assigned[static_cast<std::size_t>(i)];
            if (j < 0) continue;
            ASSERT_LT(j, columns);
            ASSERT_FALSE(taken[static_cast<std::size_t>(j)]);
            taken[static_cast<std::size_t>(j)] = true;
            sum += cost(i, j);
            ++matched;
        }
        EXPECT_EQ(matched, std::min(rows, columns));
        EXPECT_NEAR(sum, -best_by_permutations(-cost), 1e-12);
    }
}

TEST(Assignment, DegenerateTables) {
    EXPECT_TRUE(minimum_cost_assignment(Matrix<double>(0, 3)).empty());
    EXPECT_EQ(minimum_cost_assignment(Matrix<double>(2, 0)), (std::vector<Index>{-1, -1}));
    Matrix<double> cost = Matrix<double>::Zero(3, 3);
    EXPECT_EQ(minimum_cost_assignment(cost), (std::vector<Index>{0, 1, 2}));
    cost(1, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(minimum_cost_assignment(cost), BadArgument);
}

TEST(Accuracy, AgreesWithAllPermutationsForUnequalNumbers) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        RandomStream random(seed, "test.accuracy");
        const auto n = static_cast<Index>(1 + random.below(30));
        const Labels labels = random_labels(n, static_cast<int>(1 + random.below(6)), random);
        const Labels truth = random_labels(n, static_cast<int>(1 + random.below(6)), random);
        const ContingencyTable table = contingency_table(labels, truth);
        const double best = best_by_permutations(table.counts.cast<double>());
        EXPECT_DOUBLE_EQ(accuracy(labels, truth), best / static_cast<double>(n));
        const Alignment alignment = align(labels, truth);
        EXPECT_EQ(static_cast<double>(alignment.agreeing), best);
        EXPECT_EQ(std::count(alignment.matched.begin(), alignment.matched.end(), true),
                  static_cast<std::ptrdiff_t>(std::min(table.clusters.size(), table.classes.size())));
        const Labels renamed = aligned_labels(labels, truth);
        std::int64_t agreeing = 0;
        for (std::size_t i = 0; i < renamed.size(); ++i) agreeing += renamed[i] == truth[i] ? 1 : 0;
        EXPECT_EQ(agreeing, alignment.agreeing);
        EXPECT_EQ(adjusted_rand_index(labels, renamed), 1.0);  // renaming merges nothing
        const ContingencyTable confusion = confusion_table(labels, truth);
        EXPECT_EQ(confusion.counts.rows(), table.counts.cols());
        EXPECT_EQ(confusion.counts.sum(), n);
        EXPECT_EQ(confusion.counts.diagonal().sum(), alignment.agreeing);
    }
}

// The list of cells and the full table must give the same optimum. Many clusters with few points each use the list.
TEST(Accuracy, SparseTablesAgreeWithTheFullOne) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomStream random(seed, "test.sparse");
        const int clusters = static_cast<int>(70 + random.below(80));
        const int classes = static_cast<int>(70 + random.below(80));
        const auto n = static_cast<Index>(100 + random.below(1200));
        const Labels labels = random_labels(n, clusters, random);
        const Labels truth = random_labels(n, classes, random);
        const Matrix<double> gain = contingency_table(labels, truth).counts.cast<double>();
        const std::vector<Index> assigned = minimum_cost_assignment(-gain);
        double best = 0;
        for (Index i = 0; i < gain.rows(); ++i)
            if (assigned[static_cast<std::size_t>(i)] >= 0) best += gain(i, assigned[static_cast<std::size_t>(i)]);
        EXPECT_EQ(static_cast<double>(align(labels, truth).agreeing), best) << "seed " << seed;
    }
}

TEST(Alignment, UnmatchedClustersAndClasses) {
    const Labels labels = {0, 0, 1, 1, 2};
    const Labels truth = {5, 5, 8, 8, 8};
    const Alignment alignment = align(labels, truth);
    EXPECT_EQ(alignment.matched_class, (std::vector<std::int32_t>{5, 8, -1}));
    EXPECT_EQ(alignment.matched, (std::vector<bool>{true, true, false}));
    EXPECT_EQ(aligned_labels(labels, truth), (Labels{5, 5, 8, 8, 9}));
    const ContingencyTable confusion = confusion_table(truth, labels);  // classes 0, 1, 2; clusters 5, 8
    EXPECT_EQ(confusion.classes, (std::vector<std::int32_t>{0, 1, 2}));
    EXPECT_EQ(confusion.clusters, (std::vector<std::int32_t>{5, 8}));
    const Labels high = {0, 0, 1};
    const Labels top(3, std::numeric_limits<std::int32_t>::max());
    EXPECT_THROW(aligned_labels(high, top), BadArgument);
}

TEST(Silhouette, ByHand) {
    Matrix<double> points(4, 1);
    points << 0, 1, 5, 7;
    const Labels labels = {3, 3, 8, 8};
    const coterie::Run run(1, 1);
    const double expected = ((6 - 1) / 6.0 + (5 - 1) / 5.0 + (4.5 - 2) / 4.5 + (6.5 - 2) / 6.5) / 4;
    EXPECT_NEAR(silhouette(points, labels, run), expected, 1e-15);
    const Labels alone = {0, 0, 1, 2};  // the last two count 0
    EXPECT_NEAR(silhouette(points, alone, run), ((5 - 1) / 5.0 + (4 - 1) / 4.0) / 4, 1e-15);
}

template <class Scalar>
double naive_silhouette(const Matrix<Scalar>& points, const Labels& labels) {
    const Index n = points.rows();
    const int clusters = *std::max_element(labels.begin(), labels.end()) + 1;
    double total = 0;
    for (Index i = 0; i < n; ++i) {
        std::vector<double> sum(static_cast<std::size_t>(clusters), 0.0);
        std::vector<double> size(static_cast<std::size_t>(clusters), 0.0);
        for (Index j = 0; j < n; ++j) {
            const auto cluster = static_cast<std::size_t>(labels[static_cast<std::size_t>(j)]);
            sum[cluster] += (points.row(i).template cast<double>() - points.row(j).template cast<double>()).norm();
            size[cluster] += 1;
        }
        const auto own = static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]);
        if (size[own] == 1) continue;
        double b = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < sum.size(); ++c)
            if (c != own && size[c] > 0) b = std::min(b, sum[c] / size[c]);
        const double a = sum[own] / (size[own] - 1);
        if (std::max(a, b) > 0) total += (b - a) / std::max(a, b);
    }
    return total / static_cast<double>(n);
}

template <class Scalar>
Matrix<Scalar> random_points(Index n, Index d, std::uint64_t seed, double offset = 0.0) {
    RandomStream random(seed, "test.points");
    Matrix<Scalar> points(n, d);
    for (Index i = 0; i < n; ++i)
        for (Index p = 0; p < d; ++p) points(i, p) = static_cast<Scalar>(offset + random.normal());
    return points;
}

TEST(Silhouette, AgreesWithTheDefinition) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        RandomStream random(seed, "test.silhouette");
        const auto n = static_cast<Index>(20 + random.below(700));
        const auto d = static_cast<Index>(1 + random.below(20));
        const Labels labels = random_labels(n, static_cast<int>(2 + random.below(15)), random);
        const coterie::Run run(0, 2);
        const Matrix<double> points = random_points<double>(n, d, seed);
        EXPECT_NEAR(silhouette(points, labels, run), naive_silhouette(points, labels), 1e-12);
        const Matrix<float> narrow = points.cast<float>();
        EXPECT_NEAR(silhouette(narrow, labels, run), naive_silhouette(narrow, labels), 1e-12);
    }
}

TEST(Silhouette, OffsetAndDuplicates) {
    const coterie::Run run(0, 2);
    RandomStream random(3, "test.offset");
    const Labels labels = random_labels(400, 3, random);
    const Matrix<double> points = random_points<double>(400, 5, 9, 1e8);
    EXPECT_NEAR(silhouette(points, labels, run), naive_silhouette(points, labels), 1e-12);
    Matrix<double> duplicates = random_points<double>(400, 5, 9);
    for (Index i = 0; i < 400; ++i) duplicates.row(i) = duplicates.row(i % 7) * (1.0 / 3.0);
    EXPECT_NEAR(silhouette(duplicates, labels, run), naive_silhouette(duplicates, labels), 1e-12);
    const Matrix<double> equal = Matrix<double>::Constant(10, 2, 0.1);
    EXPECT_EQ(silhouette(equal, Labels{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, run), 0.0);
}

TEST(Silhouette, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = random_points<float>(1500, 12, 5);
    RandomStream random(5, "test.threads");
    const Labels labels = random_labels(1500, 6, random);
    for (const Index sample : {Index{0}, Index{700}}) {
        const double one = silhouette(points, labels, coterie::Run(7, 1), sample);
        EXPECT_EQ(silhouette(points, labels, coterie::Run(7, 2), sample), one);
        EXPECT_EQ(silhouette(points, labels, coterie::Run(7, 8), sample), one);
    }
}

TEST(Scores, SameBitsInBlocksAndProcesses) {
    const Matrix<float> points = random_points<float>(1700, 5, 5);
    RandomStream random(5, "test.processes");
    Labels labels = random_labels(1700, 6, random);
    std::fill_n(labels.begin(), 400, 9);  // a cluster that only the first blocks have
    test::expect_same_bits({.points = Points::borrow(points)},
                           [&](const Problem& problem, const coterie::Run& run) {
                               const auto own = internal::own_rows(problem.points, run);
                               test::Bits out;
                               out.labels.assign(labels.begin() + own.begin, labels.begin() + own.end);
                               out.numbers = {silhouette(problem.points, out.labels, run),
                                              silhouette(problem.points, out.labels, run, 300),
                                              scatter_ratio(problem.points, out.labels, run)};
                               return out;
                           },
                           {1, 2, 3});
}

TEST(Silhouette, PointsInBlocksMustFitIntoMemory) {
    class Many : public RowSource {
    public:
        Index rows() const override { return Index{1} << 21; }
        Index columns() const override { return Index{1} << 21; }
        ScalarType scalar() const override { return ScalarType::float32; }
        void read(Index, Index, void*) const override { throw BadData({.problem = "nobody reads these"}); }
    };
    const Many many;
    const Labels labels(static_cast<std::size_t>(many.rows()), 0);
    try {
        silhouette(PointsView(many), labels, coterie::Run(0, 1));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const ResourceError& error) {
        EXPECT_EQ(std::string(error.message()).find("the silhouette of 2097152 rows, all in memory, needs about 1.6"),
                  0u)
            << error.message();
    }
}

TEST(Silhouette, SampleDependsOnTheSeedAndIsClose) {
    Matrix<double> points = random_points<double>(2000, 3, 6);
    Labels labels(2000);
    for (Index i = 0; i < 2000; ++i) {
        labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 4);
        points(i, 0) += 6.0 * static_cast<double>(i % 4);
    }
    const double whole = silhouette(points, labels, coterie::Run(1, 2));
    const double sampled = silhouette(points, labels, coterie::Run(1, 2), 500);
    EXPECT_NEAR(sampled, whole, 0.05);
    EXPECT_EQ(silhouette(points, labels, coterie::Run(1, 1), 500), sampled);
    EXPECT_NE(silhouette(points, labels, coterie::Run(2, 1), 500), sampled);
    EXPECT_EQ(silhouette(points, labels, coterie::Run(1, 2), 5000), whole);
}

TEST(Silhouette, RejectsUndefinedCases) {
    const Matrix<double> points = random_points<double>(4, 2, 1);
    const coterie::Run run(0, 1);
    EXPECT_THROW(silhouette(points, Labels{0, 0, 0, 0}, run), BadArgument);
    EXPECT_THROW(silhouette(points, Labels{0, 1, 2, 3}, run), BadArgument);
    EXPECT_THROW(silhouette(points, Labels{0, 1, 2}, run), BadArgument);
    EXPECT_THROW(silhouette(points, Labels{0, 1, 1, 0}, run, -1), BadArgument);
    EXPECT_THROW(silhouette(Matrix<double>(0, 2), Labels{}, run), BadArgument);
    coterie::Run stopped(0, 1);
    stopped.should_stop = [] { return true; };
    EXPECT_THROW(silhouette(points, Labels{0, 1, 1, 0}, stopped), Cancelled);
}

TEST(PairedTest, ByHand) {
    // One degree of freedom is the Cauchy distribution: p = 1 - 2 atan(|t|) / pi.
    const std::vector<double> a = {3, 5};
    const std::vector<double> b = {1, 1};
    const PairedTest test = paired_t_test(a, b);
    EXPECT_EQ(test.degrees_of_freedom, 1);
    EXPECT_DOUBLE_EQ(test.mean_difference, 3.0);
    EXPECT_DOUBLE_EQ(test.statistic, 3.0);
    EXPECT_NEAR(test.p_value, 1 - 2 * std::atan(3.0) / M_PI, 1e-15);
    // Two: p = 1 - |t| / sqrt(2 + t^2).
    const std::vector<double> c = {1, 2, 6};
    const std::vector<double> zero = {0, 0, 0};
    const PairedTest second = paired_t_test(c, zero);
    EXPECT_DOUBLE_EQ(second.statistic, 3.0 / std::sqrt(7.0 / 3.0));
    EXPECT_NEAR(second.p_value, 1 - second.statistic / std::sqrt(2 + second.statistic * second.statistic), 1e-14);
}

TEST(PairedTest, EqualDifferences) {
    const std::vector<double> a = {2, 3, 4};
    const std::vector<double> b = {1, 2, 3};
    EXPECT_EQ(paired_t_test(a, b).statistic, std::numeric_limits<double>::infinity());
    EXPECT_EQ(paired_t_test(a, b).p_value, 0.0);
    EXPECT_EQ(paired_t_test(b, a).statistic, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(paired_t_test(a, a).statistic, 0.0);
    EXPECT_EQ(paired_t_test(a, a).p_value, 1.0);
    EXPECT_THROW(paired_t_test(std::vector<double>{1}, std::vector<double>{2}), BadArgument);
    EXPECT_THROW(paired_t_test(a, std::vector<double>{2}), BadArgument);
    EXPECT_THROW(paired_t_test(a, std::vector<double>{1, 2, NAN}), BadArgument);
}

TEST(UnpairedTest, ByHand) {
    const std::vector<double> a = {1, 3};
    const std::vector<double> b = {4, 6};
    const SampleSummary of_a = summary_of(a);
    EXPECT_DOUBLE_EQ(of_a.mean, 2);
    EXPECT_DOUBLE_EQ(of_a.deviation, std::sqrt(2.0));
    EXPECT_EQ(of_a.count, 2);
    // Pooled variance 2, t = -3 / sqrt(2), two degrees of freedom: p = 1 - |t| / sqrt(2 + t^2).
    const double t = 3 / std::sqrt(2.0);
    EXPECT_NEAR(unpaired_t_test(of_a, summary_of(b)), 1 - t / std::sqrt(2 + t * t), 1e-14);
    EXPECT_EQ(unpaired_t_test(of_a, of_a), 1.0);
    const std::vector<double> flat = {0.1, 0.1, 0.1};
    EXPECT_EQ(summary_of(flat).deviation, 0.0);
    EXPECT_EQ(unpaired_t_test(summary_of(flat), summary_of(flat)), 1.0);
    EXPECT_EQ(unpaired_t_test(summary_of(flat), {0.2, 0, 3}), 0.0);
    EXPECT_EQ(summary_of(std::vector<double>{5}).mean, 5);
    EXPECT_EQ(summary_of(std::vector<double>{5}).deviation, 0);
    EXPECT_THROW(unpaired_t_test(summary_of(std::vector<double>{5}), of_a), BadArgument);
    EXPECT_THROW(summary_of(std::vector<double>{}), BadArgument);
    EXPECT_THROW(summary_of(std::vector<double>{1, NAN}), BadArgument);
    EXPECT_THROW(unpaired_t_test({1, 1, 1}, of_a), BadArgument);
}

TEST(UnpairedTest, TailsForTwoDegreesOfFreedom) {
    // Difference t, pooled variance 1: p = 1 - t / sqrt(2 + t^2), without the subtraction, which would lose all digits.
    for (double t = 1e-8; t < 1e9; t *= 1.7) {
        const double root = std::sqrt(2 + t * t);
        const double p = 2 / (root * (root + t));
        EXPECT_NEAR(unpaired_t_test({t, 1, 2}, {0, 1, 2}), p, 1e-13 * p) << t;
        EXPECT_EQ(unpaired_t_test({0, 1, 2}, {t, 1, 2}), unpaired_t_test({t, 1, 2}, {0, 1, 2})) << t;
    }
}

TEST(RankingScores, WinsCountOneAndTiesHalf) {
    const std::vector<SampleSummary> samples = {{90, 1, 20}, {90.1, 1, 20}, {80, 1, 20}};
    EXPECT_EQ(ranking_scores(samples), (std::vector<double>{1.5, 1.5, 0}));
    EXPECT_EQ(ranking_scores(std::vector<SampleSummary>{{1, 1, 20}}), std::vector<double>{0});
}

}  // namespace
}  // namespace coterie
