#include "coterie/selection/choose_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>
#include <Eigen/SVD>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/metrics/criteria.hpp"
#include "coterie/selection/tune.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

// k groups in a row, `apart` standard deviations from each other.
Matrix<double> groups(Index n, int k, double apart, std::uint64_t seed = 1) {
    RandomStream random(seed, "test.groups");
    Matrix<double> out(n, 3);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < 3; ++j) out(i, j) = (j == 0 ? apart * static_cast<double>(i % k) : 0.0) + random.normal();
    return out;
}

ClusterChoice choose(const Matrix<double>& x, std::vector<int> ks = {}, int threads = 2) {
    ChooseOptions options;
    options.clusters = std::move(ks);
    return choose_clusters(with(x), {find_method("kmeans"), {}}, options, {}, coterie::Run(3, threads));
}

const CriterionCurve& curve(const ClusterChoice& choice, ClusterCriterion criterion) {
    return choice.curves.at(static_cast<std::size_t>(criterion));
}

Labels kmeans_labels(const Matrix<double>& x, int k, const coterie::Run& run) {
    KMeansOptions options;
    options.clusters = k;
    return fit_kmeans(x, options, run).labels();
}

// The plain sum of squares about the cluster means.
double plain_scatter(const Matrix<double>& x, const Labels& labels, int k) {
    double sum = 0;
    for (int c = 0; c < k; ++c) {
        Eigen::VectorXd mean = Eigen::VectorXd::Zero(x.cols());
        int count = 0;
        for (Index i = 0; i < x.rows(); ++i)
            if (labels[static_cast<std::size_t>(i)] == c) {
                mean += x.row(i).transpose();
                ++count;
            }
        mean /= count;
        for (Index i = 0; i < x.rows(); ++i)
            if (labels[static_cast<std::size_t>(i)] == c) sum += (x.row(i).transpose() - mean).squaredNorm();
    }
    return sum;
}

// The formulas of R's cluster::clusGap with spaceH0 = "scaledPCA" and d.power = 2, with the standard deviation divided
// by B as in the paper.
TEST(ChooseClusters, GapAgreesWithThePaper) {
    const Matrix<double> x = groups(60, 3, 5);
    const coterie::Run run(3, 2);
    const ClusterChoice choice = choose(x, {1, 2, 3, 4});
    const int count = choice.references;
    const Eigen::RowVectorXd mean = x.colwise().mean();
    const Eigen::MatrixXd centred = x.rowwise() - mean;
    Eigen::MatrixXd axes = Eigen::JacobiSVD<Eigen::MatrixXd>(centred, Eigen::ComputeThinV).matrixV();
    for (Index c = 0; c < axes.cols(); ++c) {  // the sign that the box uses
        Index largest = 0;
        axes.col(c).cwiseAbs().maxCoeff(&largest);
        if (axes(largest, c) < 0) axes.col(c) *= -1;
    }
    const Eigen::MatrixXd along = centred * axes;
    Matrix<double> logs(count, 4);
    for (int b = 0; b < count; ++b) {
        coterie::Run part = run.child("selection.reference", static_cast<std::uint64_t>(b));
        RandomStream random = part.random("selection.reference");
        Eigen::MatrixXd drawn(60, 3);
        for (Index i = 0; i < 60; ++i)
            for (Index c = 0; c < 3; ++c) {
                const double low = along.col(c).minCoeff();
                drawn(i, c) = low + (along.col(c).maxCoeff() - low) * random.uniform();
            }
        Matrix<double> reference = drawn * axes.transpose();
        reference.rowwise() += mean;
        for (int k = 1; k <= 4; ++k)
            logs(b, k - 1) =
                std::log(plain_scatter(reference, k == 1 ? Labels(60, 0) : kmeans_labels(reference, k, part), k));
    }
    for (int k = 1; k <= 4; ++k) {
        const double here =
            std::log(plain_scatter(x, k == 1 ? Labels(60, 0) : kmeans_labels(x, k, coterie::Run(3, 1)), k));
        const double expected = logs.col(k - 1).mean();
        const double deviation = std::sqrt((logs.col(k - 1).array() - expected).square().mean());
        const auto at = static_cast<std::size_t>(k - 1);
        EXPECT_NEAR(curve(choice, ClusterCriterion::gap).values[at], expected - here, 1e-10);
        EXPECT_NEAR(curve(choice, ClusterCriterion::gap).spreads[at], deviation * std::sqrt(1 + 1.0 / count), 1e-10);
    }
}

// The share of points that differ under the best permutation.
double plain_disagreement(const Labels& a, const Labels& b, int k) {
    std::vector<int> renamed(static_cast<std::size_t>(k));
    std::iota(renamed.begin(), renamed.end(), 0);
    double least = 1;
    do {
        double differ = 0;
        for (std::size_t i = 0; i < a.size(); ++i) differ += renamed[static_cast<std::size_t>(a[i])] != b[i];
        least = std::min(least, differ / static_cast<double>(a.size()));
    } while (std::next_permutation(renamed.begin(), renamed.end()));
    return least;
}

// Counts like fpc's prediction.strength: the pairs of a cluster that the other half's fit puts together.
double plain_strength(const Labels& labels, const Labels& predicted, int k) {
    double least = 1;
    for (int c = 0; c < k; ++c) {
        double together = 0, pairs = 0;
        for (std::size_t i = 0; i < labels.size(); ++i)
            for (std::size_t j = 0; j < labels.size(); ++j) {
                if (i == j || labels[i] != c || labels[j] != c) continue;
                ++pairs;
                together += predicted[i] == predicted[j];
            }
        if (pairs > 0) least = std::min(least, together / pairs);
    }
    return least;
}

TEST(ChooseClusters, StabilityAndPredictionStrengthAgreeWithThePapers) {
    const Matrix<double> x = groups(41, 3, 3);
    const coterie::Run run(3, 2);
    const ClusterChoice choice = choose(x, {1, 2, 3, 4});
    const int count = choice.halvings;
    for (int k = 2; k <= 4; ++k) {
        double differ = 0, chance = 0, strength = 0;
        for (int s = 0; s < count; ++s) {
            const coterie::Run part = run.child("selection.halves", static_cast<std::uint64_t>(s));
            RandomStream random = part.random("selection.halves");
            std::vector<Index> order(41);
            std::iota(order.begin(), order.end(), Index{0});
            shuffle(order, random);
            std::sort(order.begin(), order.begin() + 20);
            std::sort(order.begin() + 20, order.end());
            Matrix<double> half[2] = {Matrix<double>(20, 3), Matrix<double>(21, 3)};
            for (Index i = 0; i < 41; ++i)
                half[i < 20 ? 0 : 1].row(i < 20 ? i : i - 20) = x.row(order[static_cast<std::size_t>(i)]);
            KMeansOptions options;
            options.clusters = k;
            const KMeansModel models[2] = {fit_kmeans(half[0], options, part), fit_kmeans(half[1], options, part)};
            for (const int h : {0, 1}) {
                // The nearest centroid of the other half.
                const Matrix<double> centroids = to_matrix<double>(models[1 - h].centroids());
                Labels predicted;
                for (Index i = 0; i < half[h].rows(); ++i) {
                    Index best = 0;
                    (centroids.rowwise() - half[h].row(i)).rowwise().squaredNorm().minCoeff(&best);
                    predicted.push_back(static_cast<std::int32_t>(best));
                }
                differ += plain_disagreement(predicted, models[h].labels(), k);
                strength += plain_strength(models[h].labels(), predicted, k);
                RandomStream draw = part.random("selection.chance", static_cast<std::uint64_t>(2 * k + h));
                Labels one, other;
                for (Index i = 0; i < half[h].rows(); ++i) {
                    one.push_back(static_cast<std::int32_t>(draw.below(static_cast<std::uint64_t>(k))));
                    other.push_back(static_cast<std::int32_t>(draw.below(static_cast<std::uint64_t>(k))));
                }
                chance += plain_disagreement(one, other, k);
            }
        }
        const auto at = static_cast<std::size_t>(k - 1);
        EXPECT_NEAR(curve(choice, ClusterCriterion::stability).values[at], differ / chance, 1e-10);
        EXPECT_NEAR(curve(choice, ClusterCriterion::prediction_strength).values[at], strength / (2 * count), 1e-10);
    }
    EXPECT_EQ(curve(choice, ClusterCriterion::prediction_strength).values[0], 1.0);
    EXPECT_TRUE(std::isnan(curve(choice, ClusterCriterion::stability).values[0]));
}

TEST(ChooseClusters, OtherCriteriaAgreeWithTheFits) {
    const Matrix<double> x = groups(60, 3, 5);
    const ClusterChoice choice = choose(x, {2, 3, 5});
    const coterie::Run run(3, 2);
    for (std::size_t at = 0; at < 3; ++at) {
        const Labels labels = kmeans_labels(x, choice.clusters[at], run);
        EXPECT_EQ(curve(choice, ClusterCriterion::silhouette).values[at], silhouette(x, labels, run));
        EXPECT_EQ(curve(choice, ClusterCriterion::calinski_harabasz).values[at], calinski_harabasz(x, labels, run));
        EXPECT_EQ(curve(choice, ClusterCriterion::davies_bouldin).values[at], davies_bouldin(x, labels, run));
        EXPECT_EQ(curve(choice, ClusterCriterion::bic).values[at], spherical_mixture_bic(x, labels, run));
    }
}

TEST(ChooseClusters, FindsClustersOnlyIfPresent) {
    const ClusterChoice four = choose(groups(200, 4, 9));
    EXPECT_EQ(four.clusters.back(), 14);
    EXPECT_EQ(four.recommended, 4);
    EXPECT_EQ(four.sureness, Sureness::sure);
    EXPECT_EQ(four.fits, 13 * (1 + four.references + 2 * four.halvings));
    EXPECT_EQ(votes_text(four).substr(0, 14), "4: silhouette,");
    const ClusterChoice none = choose(groups(200, 1, 0));
    EXPECT_EQ(none.recommended, 1);
    EXPECT_EQ(curve(none, ClusterCriterion::gap).chosen, 1);
}

TEST(ChooseClusters, SameAtAnyNumberOfThreads) {
    const Matrix<double> x = groups(100, 3, 4);
    const ClusterChoice once = choose(x, {}, 1);
    for (const int threads : {2, 8}) {
        const ClusterChoice again = choose(x, {}, threads);
        for (std::size_t c = 0; c < once.curves.size(); ++c)
            for (std::size_t at = 0; at < once.clusters.size(); ++at) {
                const double a = once.curves[c].values[at], b = again.curves[c].values[at];
                EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)));
            }
        EXPECT_EQ(again.recommended, once.recommended);
    }
}

CriterionCurve made(ClusterCriterion criterion, std::vector<double> values, std::vector<double> spreads = {}) {
    return {criterion, std::move(values), std::move(spreads)};
}

TEST(ChooseClusters, RulesByHand) {
    const double none = std::nan("");
    const std::vector<int> ks = {1, 2, 3, 4};
    using enum ClusterCriterion;
    EXPECT_EQ(made(silhouette, {none, 0.2, 0.5, 0.5}).choose(ks), 3);
    EXPECT_EQ(made(davies_bouldin, {none, 0.2, 0.5, 0.1}).choose(ks), 4);
    EXPECT_EQ(made(bic, {-5, -7, -7, 3}).choose(ks), 2);
    EXPECT_EQ(made(stability, {none, 0.0, 0.0, 0.3}).choose(ks), 3);
    EXPECT_EQ(made(prediction_strength, {1, 0.79, 0.8, 0.3}).choose(ks), 3);
    EXPECT_EQ(made(prediction_strength, {1, 0.7, 0.7, 0.3}).choose(ks), 1);
    EXPECT_EQ(made(gap, {0.1, 0.5, 0.55, 0.5}, {0, 0.01, 0.1, 0.1}).choose(ks), 2);
    EXPECT_EQ(made(gap, {0.1, 0.5, 0.9, 1.5}, {0, 0.01, 0.1, 0.1}).choose(ks), 4);
    EXPECT_EQ(made(gap, {0.5, 0.4, 0.9, 1.5}, {0, 0.01, 0.1, 0.1}).choose(ks), 1);
    EXPECT_EQ(made(silhouette, {none, none, none, none}).choose(ks), std::nullopt);
}

// The votes of seven criteria, in their order; 0: no vote.
ClusterChoice opinions(const std::vector<int>& chosen) {
    ClusterChoice out;
    out.clusters = {1, 2, 3, 4};
    for (std::size_t c = 0; c < chosen.size(); ++c) {
        out.curves.push_back({static_cast<ClusterCriterion>(c), {}});
        if (chosen[c] > 0) out.curves.back().chosen = chosen[c];
    }
    out.recommend();
    return out;
}

TEST(ChooseClusters, RecommendationsFromVotes) {
    const auto expect = [](const std::vector<int>& chosen, int k, Sureness sureness) {
        const ClusterChoice out = opinions(chosen);
        EXPECT_EQ(out.recommended, k);
        EXPECT_EQ(out.sureness, sureness);
    };
    expect({3, 3, 3, 3, 3, 3, 3}, 3, Sureness::sure);
    expect({3, 3, 3, 1, 3, 3, 3}, 3, Sureness::sure);
    expect({3, 3, 3, 1, 4, 3, 3}, 3, Sureness::likely);
    expect({3, 3, 3, 1, 4, 4, 4}, 4, Sureness::unsure);  // a tie of 3 and 4 goes to prediction strength
    expect({2, 2, 2, 1, 3, 2, 1}, 1, Sureness::likely);  // gap and prediction strength can vote for one cluster
    expect({2, 2, 4, 1, 1, 2, 1}, 1, Sureness::sure);
    expect({2, 2, 2, 0, 3, 0, 0}, 2, Sureness::unsure);  // a network has four criteria
    expect({2, 2, 2, 0, 2, 0, 0}, 2, Sureness::likely);
    expect({0, 0, 0, 0, 0, 0, 0}, 1, Sureness::unsure);
    EXPECT_EQ(votes_text(opinions({3, 3, 3, 1, 4, 4, 4})),
              "4: bic, stability, prediction-strength; 3: silhouette, calinski-harabasz, davies-bouldin; 1: gap");
}

TEST(ChooseClusters, DegeneratePoints) {
    for (const Index n : {1, 2, 3, 5, 8}) {
        const ClusterChoice equal = choose(Matrix<double>::Ones(n, 2));
        EXPECT_EQ(equal.recommended, 1) << n;
        if (equal.clusters.size() > 1) {
            EXPECT_NE(equal.errors[1].find("only 1 cluster"), std::string::npos);
        }
        EXPECT_GE(choose(groups(n, 2, 5)).recommended, 1);
    }
    Matrix<double> two = Matrix<double>::Zero(40, 2);
    two.bottomRows(20).setConstant(7);
    EXPECT_EQ(choose(two).recommended, 2);
    // A k above the number of rows is recorded.
    const ClusterChoice few = choose(groups(10, 2, 9), {2, 11});
    EXPECT_EQ(few.recommended, 2);
    EXPECT_NE(few.errors[1].find("11"), std::string::npos);
    EXPECT_NE(test::message_of([] { choose(groups(10, 2, 9), {11, 12}); }).find("11"), std::string::npos);
    Matrix<double> infinite = groups(10, 2, 9);
    infinite(3, 1) = test::infinity;
    EXPECT_THROW(choose(infinite), BadData);
}

TEST(ChooseClusters, RejectsBadArguments) {
    const Matrix<double> x = groups(20, 2, 5);
    const auto message = [&](const Problem& problem, std::vector<int> ks = {}, const OptionValues& fixed = {}) {
        return test::message_of([&] {
            ChooseOptions options;
            options.clusters = std::move(ks);
            choose_clusters(problem, {find_method("kmeans"), fixed}, options, {}, coterie::Run());
        });
    };
    EXPECT_NE(message(with(x, {.weights = std::vector<double>(20, 2.0)})).find("weights"), std::string::npos);
    EXPECT_NE(message(with(x, {.partial_labels = Labels(20, 0)})).find("partial_labels"), std::string::npos);
    EXPECT_NE(message(with(x, {.sizes = SizeBounds{1, 20}})).find("sizes"), std::string::npos);
    EXPECT_NE(message(with(x, {.must_links = {{0, 1}}})).find("combined with pairs"), std::string::npos);
    EXPECT_NE(message(with(x), {0, 1}).find("clusters: 0"), std::string::npos);
    EXPECT_NE(message(with(x), {3, 3}).find("ascending"), std::string::npos);
    EXPECT_NE(message(with(x), {}, {{"restarts", 0}}).find("restarts"), std::string::npos);
    coterie::Run run;
    run.should_stop = [] { return true; };
    EXPECT_THROW(choose_clusters(with(x), {find_method("kmeans"), {}}, {}, {}, run), Cancelled);
}

TEST(ChooseClusters, SamplesManyRows) {
    const Matrix<double> x = groups(2500, 3, 9);
    const ClusterChoice choice = choose(x, {2, 3});
    EXPECT_EQ(choice.sample, 2000);
    EXPECT_EQ(choice.points, 2500);
    EXPECT_EQ(choice.recommended, 3);
}

TEST(ChooseClusters, TuneSelectsByRules) {
    const Matrix<double> x = groups(120, 3, 9);
    TuneOptions options;
    options.grid = {{"clusters", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}}}};
    for (const Criterion select :
         {Criterion::gap, Criterion::stability, Criterion::prediction_strength, Criterion::recommended}) {
        options.select = select;
        const TuneResult result = tune(with(x), {find_method("kmeans"), {}}, options, {}, coterie::Run(3));
        ASSERT_TRUE(result.choice);
        EXPECT_EQ(result.best, 2U) << name(select);
        EXPECT_EQ(std::get<std::int64_t>(result.best_options.at("clusters")), 3);
        EXPECT_EQ(result.cells.size(), 4U);
    }
    EXPECT_EQ(tune(with(x), {find_method("kmeans"), {}}, options, {}, coterie::Run(3)).cells[2].criterion, 7.0);
    options.grid.front().values = {std::int64_t{2}, std::int64_t{3}, std::int64_t{4}};
    for (const Criterion select : {Criterion::calinski_harabasz, Criterion::davies_bouldin, Criterion::bic}) {
        options.select = select;
        const TuneResult result = tune(with(x), {find_method("kmeans"), {}}, options, {}, coterie::Run(3));
        EXPECT_FALSE(result.choice);
        EXPECT_EQ(result.best, 1U) << name(select);
    }
    options.select = Criterion::gap;
    options.folds = 2;
    const auto message = [&] {
        return test::message_of([&] { tune(with(x), {find_method("kmeans"), {}}, options, {}, coterie::Run()); });
    };
    EXPECT_NE(message().find("folds"), std::string::npos);
    options.folds = 0;
    options.grid.push_back({"restarts", {std::int64_t{1}}});
    EXPECT_NE(message().find("clusters on the grid and nothing else"), std::string::npos);
}

}  // namespace
}  // namespace coterie
