// Pictures and the page are complete, show every point in its place, and are safe whatever names the data have.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "coterie/report/map.hpp"
#include "coterie/report/page.hpp"
#include "coterie/report/picture.hpp"

namespace coterie {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
    return out;
}

TEST(LinesPicture, OmitsNonFiniteValues) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const std::string picture = lines_picture({{"a", {1, 2, 3}, {1, none, 3}}}, "x", "y");
    EXPECT_EQ(picture.find("nan"), std::string::npos);
    EXPECT_EQ(count(picture, "h0"), 2u) << "a mark for each of the two points";
    EXPECT_TRUE(picture.ends_with("</svg>\n"));
    EXPECT_EQ(lines_picture({{"a", {1}, {none}}}, "x", "y"), "");
    EXPECT_EQ(line_picture({none, 4, 5}, "x", "y"), lines_picture({{"", {1, 2}, {4, 5}}}, "x", "y"));
}

TEST(ScatterPicture, DrawsEveryPointInItsClusterColour) {
    Matrix<double> points(5, 2);
    points << 0, 0, 0, 1, 1, 0, 9, 9, 9, 8;
    const std::string picture =
        scatter_picture(points, {0, 0, 0, 1, 1}, {3, 2}, {"<a> & 'b'", ""}, {"x<y", ""}, coterie::Run(0, 1));
    EXPECT_EQ(count(picture, "h0"), 5u + 2u) << "five points and a key of two";
    EXPECT_NE(picture.find("&lt;a&gt; &amp; &#39;b&#39;"), std::string::npos);
    EXPECT_EQ(picture.find("x<y"), std::string::npos);
    EXPECT_NE(picture.find("All 5 rows drawn."), std::string::npos);
}

TEST(Page, ContainsTheFitAndEscapesNames) {
    Matrix<double> points(4, 2);
    points << 0, 0, 0, 1, 9, 9, 9, 8;
    const Problem problem{.points = Points::borrow(points)};
    const OptionValues given = {{"clusters", 2}};
    const Method& method = find_method("kmeans");
    const Pipeline pipeline = Pipeline::fit(problem, {method, given}, {}, coterie::Run(1, 1));
    const FitResult result = fit_result(pipeline, pipeline.model().labels(), method, given, problem, "<script>");
    const std::string picture = fit_picture(pipeline, result, coterie::Run(1, 1));
    const std::string whole = html_document(result, picture);
    EXPECT_EQ(whole.find("<script>"), std::string::npos);
    EXPECT_NE(whole.find("<h1>kmeans on &lt;script&gt;</h1>"), std::string::npos);
    EXPECT_NE(whole.find(picture), std::string::npos);
    EXPECT_NE(whole.find("<th>max_iterations</th>"), std::string::npos);
    EXPECT_TRUE(whole.ends_with("</html>\n"));
    const auto shouted = [](std::string_view name) { return "OPTION " + std::string(name); };
    EXPECT_NE(html_document(result, "", shouted).find("<th>OPTION max_iterations</th>"), std::string::npos);
}

// Two pairs of points, far from each other.
Matrix<double> two_pairs() {
    Matrix<double> points(4, 2);
    points << 0, 0, 0, 1, 9, 9, 9, 8;
    return points;
}

TEST(Page, FiguresThatAreNotFiniteAreDashes) {
    const Matrix<double> points = two_pairs();
    const Problem problem{.points = Points::borrow(points)};
    const OptionValues given = {{"clusters", std::int64_t{2}}};
    const Method& method = find_method("kmeans");
    const Pipeline pipeline = Pipeline::fit(problem, {method, given}, {}, coterie::Run(1, 1));
    FitResult result = fit_result(pipeline, pipeline.model().labels(), method, given, problem, "x");
    constexpr double infinity = std::numeric_limits<double>::infinity();
    result.report.details = {{"residual", infinity}, {"values", std::vector<double>{1, -infinity, 2}}};
    const std::string whole = html_document(result, "");
    EXPECT_NE(whole.find("<tr><th>residual</th><td>-</td></tr>"), std::string::npos);
    EXPECT_NE(whole.find("<tr><th>values</th><td>1 - 2</td></tr>"), std::string::npos);
}

TEST(Page, SearchPageHasEveryCellAndTheCurve) {
    const Matrix<double> points = two_pairs();
    const Problem problem{.points = Points::borrow(points)};
    TuneOptions asked;
    asked.grid = {{"clusters", {std::int64_t{2}, std::int64_t{3}, std::int64_t{400}}},
                  {"restarts", {std::int64_t{1}, std::int64_t{2}}}};
    const TuneResult found = tune(problem, {find_method("kmeans"), {}}, asked, {}, coterie::Run(1, 1));
    ASSERT_EQ(found.best, 0u);
    const std::string part = page_search(asked, found);
    EXPECT_NE(part.find("<b>clusters=2, restarts=1</b> was chosen among 6 cells, by the largest silhouette"),
              std::string::npos);
    EXPECT_EQ(count(part, "<tr><td>"), 6u) << "a row per cell";
    EXPECT_EQ(count(part, "<tr><td>*</td><td>2</td><td>1</td>"), 1u);
    EXPECT_EQ(count(part, ">refused</td>"), 2u);
    EXPECT_NE(part.find("<th>clusters=400, restarts=2</th>"), std::string::npos) << "with its reason";
    // The best for each number of clusters; there is none for 400.
    EXPECT_NE(part.find("\"across_values\":[2,3,400],\"mark\":2}"), std::string::npos);
    EXPECT_NE(part.find(",null]"), std::string::npos);
    asked.grid.erase(asked.grid.begin());
    const TuneResult without = tune(problem, {find_method("kmeans"), {{"clusters", 2}}}, asked, {}, coterie::Run(1, 1));
    EXPECT_EQ(page_search(asked, without).find("by k"), std::string::npos) << "k does not vary";
}

// The numbers in a map's array stand for colours, its names for clusters.
TEST(ComparisonDrawings, MatchedClustersShareColours) {
    const Matrix<double> points = two_pairs();
    const Problem problem{.points = Points::borrow(points)};
    Comparison found;
    found.points = 4;
    const auto add = [&](const char* name, Labels labels, std::vector<Index> sizes) {
        ComparedMethod& method = found.methods.emplace_back();
        method.method = name;
        method.labels = std::move(labels);
        method.sizes = std::move(sizes);
    };
    add("first", {0, 1, 2, 2}, {1, 1, 2});
    add("two", {1, 1, 0, 0}, {2, 2});
    add("four", {3, 0, 1, 2}, {1, 1, 1, 1});
    const std::string map =
        comparison_drawings(found, {.problem = problem, .coded = problem.points}, "x", {}, coterie::Run(0, 1)).map;
    EXPECT_NE(map.find("\"title\":\"first\",\"names\":[\"0\",\"1\",\"2\"]"), std::string::npos);
    // Its cluster 0 matches the first's cluster 2. Its cluster 1 has one row of 0 and one row of 1.
    const bool zero = map.find("\"title\":\"two\",\"names\":[\"1\",\"\",\"0\"]") != std::string::npos;
    const bool one = map.find("\"title\":\"two\",\"names\":[\"\",\"1\",\"0\"]") != std::string::npos;
    EXPECT_TRUE(zero || one);
    // 3 and 0 match the first's 0 and 1. One of 1 and 2 matches its 2, the other takes a free colour.
    const bool low = map.find("\"title\":\"four\",\"names\":[\"3\",\"0\",\"1\",\"2\"]") != std::string::npos;
    const bool high = map.find("\"title\":\"four\",\"names\":[\"3\",\"0\",\"2\",\"1\"]") != std::string::npos;
    EXPECT_TRUE(low || high);
}

TEST(Page, ComparisonPageHasTablesAndReasons) {
    const Matrix<double> points = two_pairs();
    const Problem problem{.points = Points::borrow(points)};
    const CompareOptions options{.clusters = 2, .methods = {"kmeans", "ward", "spectral"}};
    Comparison found = compare_methods(problem, options, {}, coterie::Run(1, 1), Labels{0, 0, 1, 1});
    found.methods[2].error = "not <here>";
    found.left_out = {{"fme", "why & how"}};
    const ComparisonDrawings drawn =
        comparison_drawings(found, PreparedProblem::of(problem, {}, coterie::Run(1, 1)), "<b>",
                            Truth{{{0, 0, 1, 1}, {"a", "b"}}, "t"}, coterie::Run(1, 1));
    const std::string whole = html_document(found, "<b>", drawn.picture, drawn.map);
    EXPECT_EQ(whole.find("<h1>Methods on <b>"), std::string::npos);
    EXPECT_NE(whole.find("<tr><td>kmeans</td><td class=\"n\">2</td>"), std::string::npos);
    EXPECT_EQ(count(whole, ">1.00</td>"), 4u) << "the two that were not refused agree with each other";
    EXPECT_NE(whole.find("<th>spectral</th><td>not &lt;here&gt;</td>"), std::string::npos);
    EXPECT_NE(whole.find("<th>fme</th><td>why &amp; how</td>"), std::string::npos);
    EXPECT_NE(whole.find("\"title\":\"ward\""), std::string::npos) << "the map is coloured by it";
    EXPECT_NE(whole.find(drawn.picture), std::string::npos);
    EXPECT_TRUE(whole.ends_with("</html>\n"));
    found.methods = {found.methods[2]};
    const ComparisonDrawings none = comparison_drawings(found, {.problem = problem}, "", {}, coterie::Run(1, 1));
    EXPECT_EQ(none.picture + none.map, "") << "there is nothing to draw";
}

}  // namespace
}  // namespace coterie
