// Every view of a result reports the same, about the right points.

#include "coterie/report/document.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "coterie/report/result_text.hpp"

namespace coterie {
namespace {

using nlohmann::json;

// Two groups of three points. The second point of each has no truth.
struct Six {
    OptionValues given = {{"clusters", 2}};
    Problem problem;
    Truth truth{{{0, -1, 0, 1, -1, 1}, {"left", "right"}}, "a file"};
    Pipeline pipeline;
    static Matrix<double> points() {
        Matrix<double> out(6, 2);
        out << 0, 0, 0, 1, 1, 0, 9, 9, 9, 8, 8, 9;
        return out;
    }
    explicit Six(Labels partial_labels = {}, std::vector<std::string> names = {})
        : problem{.points = Points(points()),
                  .partial_labels = std::move(partial_labels),
                  .label_names = std::move(names)},
          pipeline(Pipeline::fit(problem, {find_method("kmeans"), given}, {.preparation = {.scale = Scale::zscore}},
                                 coterie::Run(1, 1))) {}
    FitResult result() const {
        return fit_result(pipeline, pipeline.model().labels(), find_method("kmeans"), given, problem, "six", truth);
    }
};

TEST(FitResult, AgreesWithModelAndTruth) {
    const Six six;
    const FitResult result = six.result();
    EXPECT_EQ(result.sizes, (std::vector<Index>{3, 3}));
    EXPECT_EQ(result.labels.labels, six.pipeline.model().labels());
    EXPECT_EQ(result.agreement->scores.acc, 1);
    EXPECT_EQ(result.agreement->scored, 4);
    ASSERT_EQ(result.warnings.size(), 1u);
    EXPECT_EQ(result.warnings.front().text(), "2 of 6 rows have no truth and are left out of the scores");
    EXPECT_EQ(result.seconds.front().first, "preprocess");
    EXPECT_EQ(result.seconds.back().first, "score");
    EXPECT_FALSE(
        fit_result(six.pipeline, six.pipeline.model().labels(), find_method("kmeans"), six.given, six.problem, "six")
            .agreement);

    const json document = json::parse(json_document(result));
    EXPECT_EQ(document["n"], 6);
    EXPECT_EQ(document["preprocessing"], "scale zscore");
    EXPECT_EQ(document["options"]["clusters"], 2);
    EXPECT_TRUE(document["options"].contains("restarts")) << "defaults, too";
    EXPECT_EQ(document["scores"]["acc"], 1);
    EXPECT_EQ(document["confusion"]["classes"], (json{"left", "right"}));
    EXPECT_EQ(result.title(), "kmeans on six: 6 rows, 2 columns, 2 clusters");
    const std::string text = text_document(result);
    EXPECT_TRUE(text.starts_with(result.title() + "\nsizes        3 3\n")) << text;
    EXPECT_NE(text.find("scores       ACC 1.0000, NMI 1.0000"), std::string::npos) << text;
}

TEST(FitResult, CountsLabelledRowsAndDoesNotScoreThem) {
    const Six six({0, -1, -1, 1, -1, -1}, {"left", "right"});
    const FitResult result = six.result();
    ASSERT_EQ(result.groups.size(), 2u);
    EXPECT_EQ(result.groups[1].points, 3);
    EXPECT_EQ(result.groups[1].labelled, 1);
    EXPECT_EQ(result.agreement->given, 2);
    EXPECT_EQ(result.agreement->label_accuracy, 1);
    EXPECT_EQ(json::parse(json_document(result))["labels"][1]["labelled"], 1);
}

TEST(AppliedResult, AgreesWithPredictions) {
    const Six six;
    const Labels clusters = six.pipeline.predict(six.pipeline.prepare(six.problem.points));
    const AppliedResult result = predict_result(six.pipeline, {3, 3}, clusters, "new", six.truth);
    EXPECT_EQ(result.sizes, (std::vector<Index>{3, 3}));
    EXPECT_EQ(result.agreement->scores.nmi, 1);
    const json document = json::parse(json_document(result));
    EXPECT_EQ(document["clusters"], 2);
    EXPECT_EQ(document["sizes"], (json{3, 3}));
    EXPECT_FALSE(document.contains("dimensions"));
}

TEST(AppliedResult, ReportsTransformedDimensions) {
    const Six six;
    PreparedRows rows;
    rows.points = Points(Matrix<double>(Matrix<double>::Zero(4, 2)));
    const AppliedResult result = transform_result(six.pipeline, rows, 1, "new");
    const json document = json::parse(json_document(result));
    EXPECT_EQ(document["n"], 4);
    EXPECT_EQ(document["d"], 2);
    EXPECT_EQ(document["dimensions"], 1);
    EXPECT_FALSE(document.contains("sizes"));
    EXPECT_NE(text_document(result).find("columns      2 to 1\n"), std::string::npos) << text_document(result);
}

// Two groups of six rows, and two distant rows that hdbscan labels as noise.
Matrix<double> two_groups_and_noise() {
    Matrix<double> out(14, 2);
    for (Index i = 0; i < 12; ++i) {
        out(i, 0) = static_cast<double>(i % 3) + (i < 6 ? 0 : 50);
        out(i, 1) = static_cast<double>(i / 3 % 2) * 1.1;
    }
    out.row(12) << 500, 400;
    out.row(13) << -700, 300;
    return out;
}

TEST(Noise, IsCountedAndScoredButNotDescribed) {
    const OptionValues given = {{"min_cluster_size", 4}, {"min_samples", 2}};
    const Problem problem{.points = Points(two_groups_and_noise())};
    const Truth truth{{{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2}, {"left", "right", "none"}}, "a file"};
    const Pipeline pipeline = Pipeline::fit(problem, {find_method("hdbscan"), given}, {}, coterie::Run(1, 1));
    ASSERT_EQ(pipeline.labels(), (Labels{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, -1, -1}));
    FitResult result =
        fit_result(pipeline, pipeline.labels(), find_method("hdbscan"), given, problem, "fourteen", truth);
    EXPECT_EQ(result.noise, 2);
    EXPECT_EQ(result.agreement->scored, 14);
    EXPECT_EQ(result.agreement->scores.ari, 1);
    EXPECT_EQ(result.agreement->confusion.clusters, (std::vector<std::string>{"0", "1", "noise"}));
    const PreparedRows rows = pipeline.fitted_rows();
    const auto profiles = profile(pipeline, rows, coterie::Run(1, 1));
    ASSERT_EQ(profiles.size(), 2u);
    EXPECT_EQ(profiles[0].rows, 6);
    EXPECT_DOUBLE_EQ(profiles[0].share, 0.5);
    result.description = describe(pipeline, rows, coterie::Run(1, 1));
    EXPECT_DOUBLE_EQ(result.description->clusters[0].columns.at(0).elsewhere.value(), 51)
        << "the mean without the noise";
    EXPECT_GT(*result.description->silhouette, 0.9);
    const json document = json::parse(json_document(result));
    EXPECT_EQ(document["sizes"], (json{6, 6}));
    EXPECT_EQ(document["noise"]["points"], 2);
    EXPECT_DOUBLE_EQ(document["noise"]["share"].get<double>(), 1.0 / 7);
    EXPECT_NE(text_document(result).find("noise      2 (14.3 %)\n"), std::string::npos) << text_document(result);

    const AppliedResult applied = predict_result(pipeline, {6, 6}, pipeline.labels(), "new", truth, 2);
    EXPECT_EQ(applied.points, 14);
    EXPECT_EQ(applied.agreement->scores.ari, 1);
    EXPECT_EQ(json::parse(json_document(applied))["noise"]["points"], 2);
}

TEST(Noise, AllRowsAreNoise) {
    const Problem problem{.points = Points(two_groups_and_noise())};
    const Truth truth{{{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2}, {}}, "a file"};
    const OptionValues given = {{"min_cluster_size", 10}};
    const Pipeline pipeline = Pipeline::fit(problem, {find_method("hdbscan"), given}, {}, coterie::Run(1, 1));
    ASSERT_EQ(pipeline.labels(), Labels(14, -1));
    const FitResult result =
        fit_result(pipeline, pipeline.labels(), find_method("hdbscan"), given, problem, "fourteen", truth);
    EXPECT_EQ(result.noise, 14);
    EXPECT_EQ(result.agreement->scores.ari, 0);
    EXPECT_TRUE(profile(pipeline, pipeline.fitted_rows(), coterie::Run(1, 1)).empty());
    EXPECT_EQ(describe(pipeline, pipeline.fitted_rows(), coterie::Run(1, 1)).warnings.at(0).text(),
              "all rows are noise");
    EXPECT_EQ(Pipeline::from(pipeline.archive()).predict(pipeline.fitted_rows()), Labels(14, -1));
    EXPECT_EQ(json::parse(json_document(result))["clusters_found"], 0);
}

TEST(Text, NumberFormats) {
    using namespace internal;
    EXPECT_EQ(count_text(-1234567), "-1,234,567");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(fixed_text(42.5, 2), "42.50");
    EXPECT_EQ(bytes_text(999), "999 bytes");
    EXPECT_EQ(bytes_text(1500), "1.5 KB");
    EXPECT_EQ(sizes_text({3, 2, 1}, 2), "3 2 ... (3 clusters)");
}

TEST(Text, ColumnsAlignByDisplayedWidth) {
    using namespace internal;
    EXPECT_EQ(table({"name", "n"}, {{"é", "10"}, {"abc", "5"}}, {1}), "name   n\né     10\nabc    5\n");
    EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
}

}  // namespace
}  // namespace coterie
