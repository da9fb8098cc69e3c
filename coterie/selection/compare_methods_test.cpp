#include "coterie/selection/compare_methods.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "coterie/metrics/criteria.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/report/selection_document.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

Comparison compared(const Problem& problem, std::vector<std::string> methods, LabelSpan truth = {}, int threads = 2,
                    Scale scale = Scale::none) {
    CompareOptions options;
    options.clusters = 3;
    options.methods = std::move(methods);
    return compare_methods(problem, options, {.preparation = {.scale = scale}}, coterie::Run(1, threads), truth);
}

TEST(CompareMethods, ResultsEqualSeparateFits) {
    const Matrix<double> x = test::blob_points<double>(90, 3, 3, 3, 1);
    Labels truth(90, -1);
    for (std::size_t i = 0; i < 60; ++i) truth[i] = static_cast<std::int32_t>(i % 2);
    const Comparison found = compared(with(x), {"ward", "kmeans"}, truth, 2, Scale::zscore);
    ASSERT_EQ(found.methods.size(), 2U);
    const coterie::Run run(1);
    for (const auto& method : found.methods) {
        const auto pipeline = Pipeline::fit(with(x), {find_method(method.method), {{"clusters", 3}}},
                                            {.preparation = {.scale = Scale::zscore}}, run);
        EXPECT_EQ(method.labels, pipeline.labels());
        EXPECT_EQ(method.silhouette, silhouette(pipeline.prepared(), pipeline.labels(), run));
        EXPECT_EQ(method.calinski_harabasz, calinski_harabasz(pipeline.prepared(), pipeline.labels(), run));
        EXPECT_EQ(method.davies_bouldin, davies_bouldin(pipeline.prepared(), pipeline.labels(), run));
        ASSERT_TRUE(method.scores);
        EXPECT_EQ(method.scores->ari,
                  adjusted_rand_index(LabelSpan(method.labels).first(60), LabelSpan(truth).first(60)));
    }
    EXPECT_EQ(found.agreement(0, 0), 1.0);
    EXPECT_EQ(found.agreement(0, 1), adjusted_rand_index(found.methods[0].labels, found.methods[1].labels));
    const Comparison again = compared(with(x), {"ward", "kmeans"}, truth, 8, Scale::zscore);
    EXPECT_EQ(again.methods[1].labels, found.methods[1].labels);
    EXPECT_EQ(again.methods[0].silhouette, found.methods[0].silhouette);
}

TEST(CompareMethods, FailedMethodHasAnError) {
    Matrix<double> x = test::blob_points<double>(30, 2, 3, 3, 1);
    x.row(4).setZero();  // it has no direction, so spherical k-means fails
    const Comparison found = compared(with(x), {"kernel-kmeans", "spherical-kmeans"});
    EXPECT_TRUE(found.methods[0].error.empty());
    EXPECT_FALSE(found.methods[1].error.empty());
    EXPECT_TRUE(found.methods[1].labels.empty());
    EXPECT_TRUE(std::isnan(found.agreement(0, 1)));
    const std::string text = text_document(found, "x");
    EXPECT_NE(text.find("spherical-kmeans    failed"), std::string::npos) << text;
    EXPECT_NE(text.find("spherical-kmeans failed  points: row 5: all values are 0"), std::string::npos) << text;
    EXPECT_NE(json_document(found, "x").find("\"error\": \""), std::string::npos);
}

TEST(CompareMethods, RowsWithMissingValuesAreNotCompared) {
    Matrix<double> x = test::blob_points<double>(40, 2, 3, 1, 1);
    for (Index i = 0; i < 10; ++i) x(i, 0) = std::nan("");
    CompareOptions options;
    options.clusters = 3;
    options.methods = {"kmeans", "ward"};
    const Settings settings{.columns = {.missing = Missing::drop}};
    const Comparison found = compare_methods(with(x), options, settings, coterie::Run(1), Labels(40, 0));
    const LabelSpan left(found.methods[0].labels), right(found.methods[1].labels);
    EXPECT_EQ(left[9], -1);
    EXPECT_EQ(found.agreement(0, 1), adjusted_rand_index(left.subspan(10), right.subspan(10)));
    EXPECT_EQ(found.methods[0].scores->purity, score(left.subspan(10), Labels(30, 0)).purity);
}

TEST(CompareMethods, DefaultListNamesSkippedMethods) {
    for (const Index rows : {10, 5000, 15000, 60000, 10000000}) {
        const DefaultMethods list = default_methods(rows, 10);
        EXPECT_EQ(list.methods.size() + list.left_out.size(), methods().size());
        EXPECT_EQ(list.methods.front(), "kmeans");
        for (const auto& [method, why] : list.left_out) EXPECT_FALSE(why.empty()) << method;
    }
    const auto has = [](Index rows, const std::string& name) {
        const auto list = default_methods(rows, 10).methods;
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    const auto wide = default_methods(100, 3000);
    EXPECT_EQ(std::count(wide.methods.begin(), wide.methods.end(), "subspace"), 0);
    EXPECT_EQ(std::count(wide.left_out.begin(), wide.left_out.end(),
                         std::pair<std::string, std::string>("subspace", "slow above 1,000 columns")),
              1);
    EXPECT_TRUE(has(1000, "ward"));
    EXPECT_FALSE(has(100000, "ward"));
    EXPECT_FALSE(has(1000, "minibatch-kmeans"));
    EXPECT_TRUE(has(100000, "minibatch-kmeans"));
}

TEST(CompareMethods, RejectsBadArguments) {
    const Matrix<double> x = test::normal_points(20, 2, 1);
    const Labels truth(3, 0);
    EXPECT_NE(test::message_of([&] { compared(with(x), {"kmean"}); }).find("kmeans"), std::string::npos);
    EXPECT_NE(test::message_of([&] { compared(with(x), {"ward", "ward"}); }).find("twice"), std::string::npos);
    EXPECT_NE(test::message_of([&] { compared(with(x), {"ward"}, truth); }).find("truth has 3 labels"),
              std::string::npos);
    CompareOptions none;
    none.clusters = 0;
    EXPECT_NE(test::message_of([&] { compare_methods(with(x), none, {}, coterie::Run()); }).find("clusters: 0"),
              std::string::npos);
    coterie::Run run;
    run.should_stop = [] { return true; };
    EXPECT_THROW(compare_methods(with(x), {}, {}, run), Cancelled);
}

}  // namespace
}  // namespace coterie
