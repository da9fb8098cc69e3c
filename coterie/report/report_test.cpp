// Pictures and the page: whole, with every point in its place, and safe whatever the data are called.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "coterie/report/page.hpp"
#include "coterie/report/picture.hpp"

namespace coterie {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t out = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++out;
    return out;
}

TEST(LinesPicture, LeavesOutWhatIsNotFinite) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const std::string picture = lines_picture({{"a", {1, 2, 3}, {1, none, 3}}}, "x", "y");
    EXPECT_EQ(picture.find("nan"), std::string::npos);
    EXPECT_EQ(count(picture, "h0"), 2u) << "a mark for each of the two points";
    EXPECT_TRUE(picture.ends_with("</svg>\n"));
    EXPECT_EQ(lines_picture({{"a", {1}, {none}}}, "x", "y"), "");
    EXPECT_EQ(line_picture({none, 4, 5}, "x", "y"), lines_picture({{"", {1, 2}, {4, 5}}}, "x", "y"));
}

TEST(ScatterPicture, DrawsEveryPointInItsClustersColour) {
    Matrix<double> points(5, 2);
    points << 0, 0, 0, 1, 1, 0, 9, 9, 9, 8;
    const std::string picture =
        scatter_picture(points, {0, 0, 0, 1, 1}, {3, 2}, {"<a> & 'b'", ""}, {"x<y", ""}, coterie::Run(0, 1));
    EXPECT_EQ(count(picture, "h0"), 5u + 2u) << "five points and a key of two";
    EXPECT_NE(picture.find("&lt;a&gt; &amp; &#39;b&#39;"), std::string::npos);
    EXPECT_EQ(picture.find("x<y"), std::string::npos);
    EXPECT_NE(picture.find("All 5 points drawn."), std::string::npos);
}

TEST(Page, HoldsTheFitAndEscapesItsNames) {
    Matrix<double> points(4, 2);
    points << 0, 0, 0, 1, 9, 9, 9, 8;
    const Problem problem{.points = Points::borrow(points)};
    const OptionValues given = {{"clusters", std::int64_t{2}}};
    const Method& method = find_method("kmeans");
    const Pipeline pipeline = Pipeline::fit(method, given, problem, {}, coterie::Run(1, 1));
    const FitResult result = fit_result(pipeline, pipeline.model().labels(), method, given, problem, "<script>");
    const std::string picture = fit_picture(pipeline, result, coterie::Run(1, 1));
    const std::string whole = page(result, picture);
    EXPECT_EQ(whole.find("<script>"), std::string::npos);
    EXPECT_NE(whole.find("<h1>kmeans on &lt;script&gt;</h1>"), std::string::npos);
    EXPECT_NE(whole.find(picture), std::string::npos);
    EXPECT_NE(whole.find("<th>max_iterations</th>"), std::string::npos);
    EXPECT_TRUE(whole.ends_with("</html>\n"));
    const auto shouted = [](std::string_view name) { return "OPTION " + std::string(name); };
    EXPECT_NE(page(result, "", shouted).find("<th>OPTION max_iterations</th>"), std::string::npos);
}

}  // namespace
}  // namespace coterie
