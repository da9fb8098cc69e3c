#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/random.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/column_hints.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {
namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();
using Words = std::vector<std::vector<std::string>>;

Matrix<double> with_gaps(Index rows, Index columns, std::uint64_t seed) {
    RandomStream random(seed, "test.gaps");
    Matrix<double> out(rows, columns);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j)
            out(i, j) = random.below(5) == 0   ? gap
                        : random.below(2) == 0 ? std::round(random.normal() * 3)
                                               : random.normal() * std::pow(10.0, static_cast<double>(j) - 2);
    return out;
}

// The replacements for missing values, read from a row with no value.
std::vector<double> fills(const ColumnCoding& coding, Index columns) {
    Matrix<double> row(1, columns);
    row.setConstant(gap);
    std::vector<Message> said;
    const Points filled = coding.apply(Points(std::move(row)), {}, {}, coterie::Run(), said);
    std::vector<double> out;
    for (Index j = 0; j < columns; ++j) out.push_back(filled.view().at(0, j));
    return out;
}

TEST(ColumnCoding, MediansAgreeWithSorting) {
    for (const Index rows : {1, 2, 3, 10, 11, 5000}) {
        Matrix<double> points = with_gaps(rows, 4, static_cast<std::uint64_t>(rows));
        for (Index j = 0; j < 4; ++j) points(0, j) = -0.5;
        std::vector<double> expected;
        for (Index j = 0; j < 4; ++j) {
            std::vector<double> values;
            for (Index i = 0; i < rows; ++i)
                if (!std::isnan(points(i, j))) values.push_back(points(i, j));
            std::sort(values.begin(), values.end());
            const std::size_t n = values.size();
            expected.push_back((values[(n - 1) / 2] + values[n / 2]) / 2);
        }
        for (const int threads : {1, 2, 8}) {
            const auto coding =
                ColumnCoding::fit(points, {}, {}, {}, {.missing = Missing::median}, coterie::Run(0, threads));
            EXPECT_EQ(fills(coding, 4), expected) << rows;
        }
    }
}

TEST(ColumnCoding, WeightsActAsCopies) {
    const Matrix<double> points = with_gaps(60, 3, 7);
    std::vector<double> weights;
    std::vector<Index> copies;
    RandomStream random(8, "test.weights");
    for (Index i = 0; i < 60; ++i) {
        weights.push_back(static_cast<double>(random.below(4)));
        copies.insert(copies.end(), static_cast<std::size_t>(weights.back()), i);
    }
    const Points repeated = rows_of(points, copies);
    for (const Missing missing : {Missing::mean, Missing::median}) {
        const auto weighted =
            fills(ColumnCoding::fit(points, {}, {}, {}, {.missing = missing}, coterie::Run(), weights), 3);
        const auto copied = fills(ColumnCoding::fit(repeated, {}, {}, {}, {.missing = missing}, coterie::Run()), 3);
        for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(weighted[j], copied[j], 1e-12);
    }
}

TEST(ColumnCoding, CategoriesAreMatchedByName) {
    Matrix<double> points(4, 2);
    points << 0, 5, 2, 6, 1, 7, 2, 8;
    const auto coding = ColumnCoding::fit(points, {}, Words{{"blue", "green", "red"}, {}}, {"colour", "x"},
                                          {.categorical = Categorical::one_hot}, coterie::Run());
    EXPECT_EQ(coding.names_out({"colour", "x"}),
              (std::vector<std::string>{"colour=blue", "colour=green", "colour=red", "x"}));
    // Another file has other words: red is number 0 there, and one word is new.
    Matrix<double> rows(2, 2);
    rows << 0, 1, 1, 2;
    std::vector<Message> said;
    const Points coded =
        coding.apply(Points(std::move(rows)), Words{{"red", "violet"}, {}}, {"colour", "x"}, coterie::Run(), said);
    const double one = std::sqrt(0.5);
    Matrix<double> expected(2, 4);
    expected << 0, 0, one, 1, 0, 0, 0, 2;
    EXPECT_EQ(to_matrix<double>(coded), expected);
    ASSERT_EQ(said.size(), 1u);
    EXPECT_EQ(said[0].code, Code::unknown_category);
    EXPECT_EQ(said[0].problem, "1 value was not in the training data and is ignored (column 1 (colour): 1): 'violet'");
    EXPECT_THROW(coding.apply(Points(Matrix<double>(1, 2)), {}, {}, coterie::Run(), said), BadData);
}

TEST(ColumnCoding, OmittedRowsKeepTheirPositions) {
    const Matrix<double> whole = [] {
        Matrix<double> out(9, 2);
        out << gap, 1, 0, 0, 0, 1, 1, gap, gap, gap, 9, 9, 9, 8, 8, 9, 3, gap;
        return out;
    }();
    const auto fitted = Pipeline::fit({.points = Points::borrow(whole)}, {find_method("kmeans"), {{"clusters", 2}}},
                                      {.columns = {.missing = Missing::drop}}, coterie::Run());
    EXPECT_EQ(fitted.left_out(), (std::vector<Index>{0, 3, 4, 8}));
    ASSERT_EQ(fitted.labels().size(), 9u);
    for (const std::size_t i : {0, 3, 4, 8}) EXPECT_EQ(fitted.labels()[i], -1);
    EXPECT_EQ(fitted.fit_report().points, 5);
    const std::string bytes = fitted.archive().to_bytes();
    const Pipeline loaded = Pipeline::from(Archive::from_bytes(std::as_bytes(std::span(bytes)), "bytes"));
    const PreparedRows rows = loaded.prepare(Points::borrow(whole));
    EXPECT_EQ(loaded.predict(rows), fitted.labels());
    const Matrix<double> distances = loaded.output(Output::distances, rows);
    Labels in_blocks;
    Index next = 0;
    loaded.apply(rows, {.outputs = {Output::distances}}, coterie::Run(), [&](const RowResults& some) {
        EXPECT_EQ(some.first, next);
        next += static_cast<Index>(some.labels.size());
        in_blocks.insert(in_blocks.end(), some.labels.begin(), some.labels.end());
    });
    EXPECT_EQ(in_blocks, fitted.labels());
    for (Index i = 0; i < 9; ++i)
        EXPECT_EQ(std::isnan(distances(i, 0)), fitted.labels()[static_cast<std::size_t>(i)] < 0);
}

TEST(ColumnCoding, RejectsBadInput) {
    Matrix<double> points(2, 2);
    points << 1, gap, 2, gap;
    EXPECT_THROW(ColumnCoding::fit(points, {}, {}, {}, {.missing = Missing::mean}, coterie::Run()), BadData);
    EXPECT_THROW(Pipeline::fit({.points = Points::borrow(points)}, {find_method("kmeans"), {}},
                               {.columns = {.missing = Missing::drop}}, coterie::Run()),
                 BadData);
    EXPECT_THROW(ColumnCoding::fit(points, {}, Words{{}, {"a"}}, {}, {}, coterie::Run()), BadData);
    Matrix<double> sound(4, 1);
    sound << 1, 2, 9, gap;
    const auto fitted = Pipeline::fit({.points = Points::borrow(sound)}, {find_method("kmeans"), {{"clusters", 2}}},
                                      {.columns = {.missing = Missing::mean}}, coterie::Run());
    for (
        const char* damaged :
        {"", "[]", "{}", R"({"missing":"mean","categorical":"refuse","dates":false,"columns":[]})",
         R"({"missing":"mean","categorical":"refuse","dates":false,"columns":[{"kind":"number"}]})",
         R"({"missing":"mean","categorical":"refuse","dates":false,"columns":[{"kind":"number","fill":1e999}]})",
         R"({"missing":"none","categorical":"refuse","dates":false,"columns":[{"kind":"number","fill":1}]})",
         R"({"missing":"mean","categorical":"refuse","dates":false,"columns":[{"kind":"category","fill":0}]})",
         R"({"missing":"mean","categorical":"refuse","dates":0,"columns":[{"kind":"number","fill":1}]})",
         R"({"missing":"refuse","categorical":"one-hot","dates":false,"columns":[{"kind":"category","words":["a","b"]}]})"}) {
        Archive archive = fitted.archive();
        archive.set_text("columns", damaged);
        EXPECT_THROW(Pipeline::from(archive), BadData) << damaged;
    }
}

// Later changes to the points do not matter: the message names the place in the given points.
TEST(ColumnCoding, ErrorsNameMissingAndInfiniteValues) {
    const auto refused = [](double value, bool words, Missing missing, Scale scale) -> std::string {
        Matrix<double> points(6, 2);
        points << 0, 1, gap, 0, 2, value, 9, 1, 8, 0, 9.5, 1;
        if (missing == Missing::refuse) points(1, 0) = 1;
        Problem problem{.points = Points::borrow(points)};
        problem.column_names = {"x", "c"};
        if (words) {
            problem.column_kinds = {ColumnKind::number, ColumnKind::category};
            problem.categories = {{}, {"a", "b"}};
        }
        const Method& kmeans = find_method("kmeans");
        try {
            Pipeline::fit(
                problem, {kmeans, {{"clusters", 2}}},
                {.preparation = {.scale = scale},
                 .columns = {.missing = missing, .categorical = words ? Categorical::one_hot : Categorical::refuse}},
                coterie::Run(0, 1));
        } catch (const BadData& error) {
            return error.message();
        }
        return "";
    };
    const auto placed = [](const std::string& message) {
        return message.starts_with("points: column 2, row 3: ") || message.starts_with("points: column 'c', row 3: ");
    };
    constexpr double infinite = std::numeric_limits<double>::infinity();
    for (const Scale scale : {Scale::none, Scale::minmax, Scale::zscore, Scale::unit})
        for (const bool words : {false, true}) {
            const std::string missing = refused(gap, words, Missing::refuse, scale);
            EXPECT_TRUE(placed(missing)) << missing;
            EXPECT_NE(missing.find("missing=drop"), std::string::npos) << missing;
            for (const Missing how : {Missing::refuse, Missing::drop, Missing::mean, Missing::median}) {
                const std::string message = refused(-infinite, words, how, scale);
                EXPECT_TRUE(placed(message)) << message;
                EXPECT_NE(message.find("-infinity is not a finite number"), std::string::npos) << message;
            }
        }
}

TEST(ColumnHints, NameTheColumnAndTheOption) {
    Problem problem;
    Matrix<double> points(30, 4);
    RandomStream random(1, "test.hints");
    for (Index i = 0; i < 30; ++i) {
        points(i, 0) = static_cast<double>(100 + i);
        points(i, 1) = 4;
        points(i, 2) = random.normal() * 5000;
        points(i, 3) = random.normal();
    }
    problem.points = Points(Matrix<double>(points));
    problem.column_names = {"nr", "unit", "income", "age"};
    const auto hints = column_hints(problem, {});
    ASSERT_EQ(hints.size(), 3u);
    EXPECT_NE(hints[0].text().find("column 'nr': this column numbers the rows"), std::string::npos);
    EXPECT_NE(hints[0].text().find("exclude=nr"), std::string::npos);
    EXPECT_NE(hints[1].text().find("column 2 (unit) has the same value"), std::string::npos);
    EXPECT_NE(hints[2].text().find("column 'income': this column holds 100 %"), std::string::npos) << hints[2].text();
    EXPECT_EQ(column_hints(problem, {.scale = Scale::zscore}).size(), 2u);
    // Columns of words have more variance than numbers that hardly differ.
    Problem words;
    Matrix<double> mixed(40, 2);
    for (Index i = 0; i < 40; ++i) {
        mixed(i, 0) = static_cast<double>(i % 4);
        mixed(i, 1) = 0.01 + 0.001 * static_cast<double>(i % 7);
    }
    words.points = Points(std::move(mixed));
    words.column_kinds = {ColumnKind::category, ColumnKind::number};
    words.categories = {{"a", "b", "c", "d"}, {}};
    EXPECT_TRUE(column_hints(words, {}).empty());
    points(29, 0) = 7;
    points(29, 1) = 5;
    problem.points = Points(std::move(points));
    EXPECT_TRUE(column_hints(problem, {.scale = Scale::zscore}).empty());
}

}  // namespace
}  // namespace coterie
