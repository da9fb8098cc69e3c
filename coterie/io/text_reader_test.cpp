#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "coterie/base/random.hpp"
#include "coterie/io/formats.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using formats::parse_table;
using formats::parse_table_labels;
using testing::has;
using testing::message_of;

formats::Bytes borrowed(std::string_view text) { return {std::as_bytes(std::span(text.data(), text.size())), nullptr}; }

PointsFile parse(std::string_view text, const ReadOptions& options = {}, int threads = 1) {
    return parse_table({"file.csv", borrowed(text)}, options, threads);
}
LabelColumn labels(std::string_view text, const std::string& column = {}, bool blank = false) {
    return parse_table_labels({"file.csv", borrowed(text)}, column, blank, 1);
}
std::vector<double> row(const PointsFile& file, Index i) {
    std::vector<double> out;
    for (Index j = 0; j < file.points.columns(); ++j) out.push_back(file.points.view().at(i, j));
    return out;
}
using Row = std::vector<double>;
using Names = std::vector<std::string>;

TEST(Text, SeparatorsAreGuessed) {
    for (const char* text :
         {"1,2,3\n4,5,6\n", "1;2;3\n4;5;6", "1\t2\t3\r\n4\t5\t6\r\n", "1 2 3\n4 5 6\n", "  1   2 \t3\n4 5 6  \n\n\n",
          "1, 2, 3\n4, 5, 6\n", "1 , 2 , 3\n4 , 5 , 6\n",
          "\xef\xbb\xbf"
          "1,2,3\n4,5,6\n",
          "\n\n1,2,3\n\n4,5,6\n", "\"1\",\"2\",3\n4,\" 5 \",6\n", "+1,2.,3e0\n.4e1,5,+6.0\n", "1,2,3\n\n   \n4,5,6"}) {
        const PointsFile file = parse(text);
        ASSERT_EQ(file.points.rows(), 2) << text;
        EXPECT_EQ(row(file, 0), (Row{1, 2, 3})) << text;
        EXPECT_EQ(row(file, 1), (Row{4, 5, 6})) << text;
        EXPECT_TRUE(file.column_names.empty()) << text;
        EXPECT_EQ(file.points.scalar(), ScalarType::float64);
    }
}

TEST(Text, RunsOfBlanksTakePrecedenceOverOneTab) {
    ReadOptions options;
    options.columns = {"1-3"};
    const PointsFile file = parse("18.0   8   307.0\t\"chevrolet malibu\"\n15.0   8   350.0\t\"buick 320\"\n", options);
    EXPECT_EQ(row(file, 1), (Row{15, 8, 350}));
}

TEST(Text, Header) {
    EXPECT_EQ(parse("a,b\n1,2\n").column_names, (Names{"a", "b"}));
    EXPECT_EQ(parse("\"a, \"\"one\"\"\",\"b\nc\"\n1,2\n").column_names, (Names{"a, \"one\"", "b\nc"}));
    EXPECT_EQ(parse("sepal length (cm)\tsepal width (cm)\n1\t2\n").column_names,
              (Names{"sepal length (cm)", "sepal width (cm)"}));
    EXPECT_EQ(parse("id,0,1\n5,6,7\n").column_names, (Names{"id", "0", "1"}));
    ReadOptions yes;
    yes.header = Header::yes;
    EXPECT_EQ(parse("1,2\n3,4\n", yes).points.rows(), 1);
    ReadOptions no;
    no.header = Header::no;
    EXPECT_TRUE(has(message_of<BadData>([&] { parse("a,b\n1,2\n", no); }), "column 1, line 1: 'a' is not a number"));
    // A first row with a missing value is not a header.
    EXPECT_TRUE(has(message_of<BadData>([&] { parse("1,NA\n1,2\n"); }), "column 2, line 1: 'NA'"));
}

TEST(Text, BlocksOfRowsEqualTheWholeTable) {
    // Several pieces of a megabyte that contain words, quotes, doubled quotes and empty lines.
    RandomStream random(3, "test.text");
    std::string header = "x,kind,y\n";
    std::string first, second;
    for (int i = 0; i < 120000; ++i) {
        std::string& text = i < 100000 ? first : second;
        text += std::to_string(random.normal()) + "," +
                (i % 3 == 0   ? "\"a \"\"b\"\"\""
                 : i % 3 == 1 ? "oak"
                              : "7") +
                "," + std::to_string(random.uniform()) + (i % 1000 == 0 ? "\n\n" : "\n");
    }
    ReadOptions options;
    options.label_column = "kind";
    const std::string whole_text = header + first + second;
    const PointsFile whole = parse(whole_text, options);
    ASSERT_EQ(whole.points.rows(), 120000);
    const std::string parts[] = {header + first, header + second};
    for (const bool single : {false, true})
        for (const int threads : {1, 2}) {
            options.precision = single ? Precision::float32 : Precision::automatic;
            std::vector<formats::TableSource> sources;
            for (const auto& part : parts) sources.push_back({"part.csv", borrowed(part), false});
            Index announced = 0, taken = 0;
            int calls = 0;
            const PointsFile read = formats::parse_tables(
                sources, options, coterie::Run(0, threads),
                [&](Index rows, Index columns, ScalarType scalar) {
                    announced = rows;
                    EXPECT_EQ(columns, 2);
                    EXPECT_EQ(scalar, single ? ScalarType::float32 : ScalarType::float64);
                },
                [&](PointsView rows) {
                    for (Index i = 0; i < rows.rows(); ++i, ++taken)
                        for (Index j = 0; j < 2; ++j) {
                            const double expected = whole.points.view().at(taken, j);
                            EXPECT_EQ(rows.at(i, j), single ? static_cast<float>(expected) : expected);
                        }
                    ++calls;
                });
            EXPECT_EQ(announced, 120000);
            EXPECT_EQ(taken, 120000);
            EXPECT_GE(calls, 2);
            EXPECT_EQ(read.column_names, (Names{"x", "y"}));
            EXPECT_EQ(read.labels->labels, whole.labels->labels);
            EXPECT_EQ(read.labels->names, whole.labels->names);
        }
}

TEST(Text, FilesReadTogetherMustAgree) {
    const auto refused = [](std::string_view first, std::string_view second) {
        const formats::TableSource sources[] = {{"a.csv", borrowed(first), false}, {"b.csv", borrowed(second), false}};
        return message_of<BadData>([&] {
            formats::parse_tables(
                sources, {}, coterie::Run(0, 1), [](Index, Index, ScalarType) {}, [](PointsView) {});
        });
    };
    EXPECT_EQ(refused("1,2\n", "1,2,3\n"),
              "b.csv: 3 columns, but a.csv has 2. Files that are read as one need the same columns.");
    EXPECT_EQ(
        refused("x,y\n1,2\n", "x,z\n1,2\n"),
        "b.csv: the columns x, z, but a.csv has the columns x, y. Files that are read as one need the same columns.");
    EXPECT_EQ(
        refused("x,y\n1,2\n", "3,4\n1,2\n"),
        "b.csv: no header line, but a.csv has the columns x, y. Files that are read as one need the same columns.");
    EXPECT_TRUE(has(refused("1,2\n", "1,2\n3,oak\n"), "b.csv: column 2, line 2: 'oak' is not a number"));
}

TEST(Text, ColumnsByNameNumberAndRange) {
    ReadOptions options;
    options.columns = {"d", "2-3", "1"};
    const PointsFile file = parse("a,b,c,d\n1,2,3,4\n", options);
    EXPECT_EQ(row(file, 0), (Row{4, 2, 3, 1}));
    EXPECT_EQ(file.column_names, (Names{"d", "b", "c", "a"}));
    options.columns = {"-1"};
    EXPECT_EQ(row(parse("1,x,3\n4,y,6\n", options), 1), (Row{6}));
    options.columns = {"2--1"};
    EXPECT_EQ(row(parse("1,2,3\n4,5,6\n", options), 1), (Row{5, 6}));
}

TEST(Text, LabelColumn) {
    ReadOptions options;
    options.label_column = "-1";
    PointsFile file = parse("1,2,cat\n3,4,\"dog, big\"\n5,6,cat\n", options);
    EXPECT_EQ(file.points.columns(), 2);
    EXPECT_EQ(file.labels->labels, (Labels{0, 1, 0}));
    EXPECT_EQ(file.labels->names, (Names{"cat", "dog, big"}));
    options.label_column = "kind";
    file = parse("kind,x\n10,1\n9,2\n10.0,3\n", options);
    EXPECT_EQ(file.labels->labels, (Labels{1, 0, 1}));
    EXPECT_EQ(file.labels->names, (Names{"9", "10"}));
    EXPECT_EQ(file.column_names, (Names{"x"}));
    EXPECT_EQ(parse("kind,x\na,1\n ,2\nb,3\n\"\",4\n", options).labels->labels, (Labels{0, -1, 1, -1}));
}

TEST(Text, LabelFiles) {
    EXPECT_EQ(labels("label\n3\n1\n3\n").labels, (Labels{1, 0, 1}));
    EXPECT_EQ(labels("3\n1\n3").names, (Names{"1", "3"}));
    EXPECT_EQ(labels("b\na\nb\n").names, (Names{"b", "a"}));
    EXPECT_EQ(labels("New York\nLos Angeles\nNew York\n").labels, (Labels{0, 1, 0}));
    EXPECT_EQ(labels("label\nb\na\n").labels, (Labels{0, 1}));
    EXPECT_EQ(labels("id,label\n1,x\n2,y\n").names, (Names{"x", "y"}));
    EXPECT_EQ(labels("1,x\n2,y\n", "2").names, (Names{"x", "y"}));
    EXPECT_EQ(labels("-1\n+1\n1\n").labels, (Labels{0, 1, 1}));
    EXPECT_EQ(labels("label\n0\n\n1\n\"\"\n\n", {}, true).labels, (Labels{0, -1, 1, -1, -1}));
    EXPECT_EQ(labels("9007199254740993\n9007199254740992\n").labels, (Labels{1, 0}));
    EXPECT_EQ(labels("\"say \"\"hi\"\"\"\nx\n").names, (Names{"say \"hi\"", "x"}));
    EXPECT_TRUE(has(message_of<BadData>([] { labels("0\n\n1\n"); }), "column 1, line 2"));
    EXPECT_TRUE(has(message_of<BadArgument>([] { labels("1,2\n3,4\n"); }), "2 columns"));
}

TEST(Text, MaxRows) {
    ReadOptions options;
    options.max_rows = 2;
    EXPECT_EQ(parse("a\n1\n2\nbroken\n", options).points.rows(), 2);
    options.max_rows = 7;
    EXPECT_EQ(parse("1\n2\n3", options).points.rows(), 3);
}

TEST(Text, Float32IsRoundedOnce) {
    ReadOptions options;
    options.precision = Precision::float32;
    // Just above the middle of two floats. Rounding through double would give the even float below.
    const PointsFile file = parse("1.00000005960464477540,1\n", options);
    EXPECT_EQ(file.points.view().as<float>().data[0], 1.00000012f);
    EXPECT_TRUE(has(message_of<BadData>([&] { parse("1,1e39\n", options); }),
                    "column 2, line 1: '1e39' is too large for float32"));
    EXPECT_EQ(row(parse("1e-60,-1e-60\n", options), 0), (Row{0, 0}));
}

TEST(Text, RowNumbersAreLineNumbers) {
    EXPECT_EQ(message_of<BadData>([] { parse("a,\"b\nb\"\n\n1,2\n3,\"x\"\n"); }),
              "file.csv: column 'b?b', line 5: 'x' is not a number. Write a number such as 3, -0.5 or 1e-3.");
}

TEST(Text, DecimalsReadBackBitEqual) {
    RandomStream random(7, "test.decimals");
    std::string text;
    std::vector<double> numbers;
    for (int i = 0; i < 20000; ++i) {
        std::uint64_t bits = random.next64();
        double value = 0;
        std::memcpy(&value, &bits, 8);
        if (!(std::abs(value) <= 1e100)) value = random.normal();  // points may not be larger
        if (i % 4 == 0) value = std::floor(random.normal() * 1e6) / 1000.0;
        if (i % 4 == 1) value = random.normal();
        if (i % 1000 == 0) value = std::numeric_limits<double>::denorm_min() * (1 + i);
        numbers.push_back(value);
        char buffer[64];
        std::snprintf(buffer, sizeof buffer, i % 3 == 0 ? "%.17g" : i % 3 == 1 ? "%.20e" : "%.17G", value);
        text += buffer;
        text += i % 8 == 7 ? '\n' : ',';
    }
    const PointsFile file = parse(text);
    ASSERT_EQ(file.points.rows() * 8, 20000);
    const double* data = file.points.view().as<double>().data;
    for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(std::memcmp(&data[i], &numbers[i], 8), 0) << numbers[i];
}

TEST(Text, RandomDecimalsAgreeWithTheStandardLibrary) {
    RandomStream random(8, "test.decimals");
    for (int i = 0; i < 200000; ++i) {
        std::string text = random.below(2) ? "-" : "";
        const auto digits = [&](std::uint64_t most) {
            for (std::uint64_t k = random.below(most); k > 0; --k) text += static_cast<char>('0' + random.below(10));
        };
        digits(random.below(4) ? 6 : 25);
        text += static_cast<char>('0' + random.below(10));
        if (random.below(2)) {
            text += '.';
            digits(random.below(4) ? 9 : 25);
        }
        if (random.below(3) == 0) text += "e" + std::to_string(static_cast<int>(random.below(60)) - 30);
        double value = 0;
        float small = 0;
        bool overflow = false;
        ASSERT_TRUE(formats::parse_field(text, value, overflow)) << text;
        ASSERT_EQ(value, std::strtod(text.c_str(), nullptr)) << text;
        if (formats::parse_field(text, small, overflow)) {
            ASSERT_EQ(small, std::strtof(text.c_str(), nullptr)) << text;
        } else {
            ASSERT_TRUE(overflow) << text;
        }
    }
}

// Decimals exactly halfway between two neighbours, with all digits, and one digit above and below. Fast parsers fail on
// these first.
template <class Scalar>
void expect_halfway_cases(double (*standard)(const char*), std::uint64_t seed, int digits) {
    RandomStream random(seed, "test.halfway");
    std::vector<char> buffer(static_cast<std::size_t>(digits) + 32);
    for (int i = 0; i < 3000; ++i) {
        Scalar low = 0;
        const std::uint64_t bits = i % 3 == 0 ? random.next64() >> (12 + random.below(50)) : random.next64() >> 1;
        std::memcpy(&low, reinterpret_cast<const char*>(&bits) + (8 - sizeof(Scalar)) * (i % 3 != 0), sizeof(Scalar));
        const Scalar high = std::nextafter(low, std::numeric_limits<Scalar>::infinity());
        if (!std::isfinite(high)) continue;
        const auto halfway = static_cast<long double>(low) / 2 + static_cast<long double>(high) / 2;
        std::snprintf(buffer.data(), buffer.size(), "%.*Le", digits, halfway);  // exact: the value has fewer digits
        const std::string text(buffer.data());
        const std::size_t exponent = text.find('e');
        const std::string mantissa = text.substr(0, exponent - 1);
        for (const char last : {'0', '1', '9'}) {
            std::string there = mantissa + last + text.substr(exponent);
            if (last == '9') {  // just below: decrements the last digit that is not 0
                std::size_t at = mantissa.find_last_not_of("0.");
                there = mantissa + text.substr(exponent);
                if (at == std::string::npos) continue;
                --there[at];
                for (++at; at < mantissa.size(); ++at)
                    if (there[at] != '.') there[at] = '9';
            }
            Scalar value = 0;
            bool overflow = false;
            ASSERT_TRUE(formats::parse_field(there, value, overflow)) << there;
            const auto expected = static_cast<Scalar>(standard(there.c_str()));
            ASSERT_EQ(std::memcmp(&value, &expected, sizeof(Scalar)), 0) << there;
        }
    }
}

TEST(Text, HalfwayCasesAgreeWithTheStandardLibrary) {
    expect_halfway_cases<double>([](const char* text) { return std::strtod(text, nullptr); }, 9, 1100);
    expect_halfway_cases<float>([](const char* text) { return static_cast<double>(std::strtof(text, nullptr)); }, 10,
                                200);
}

TEST(Text, LimitsOfTheRangeAgreeWithTheStandardLibrary) {
    const auto check = [](const std::string& text) {
        double value = 0;
        bool overflow = false;
        const double expected = std::strtod(text.c_str(), nullptr);
        EXPECT_EQ(formats::parse_field(text, value, overflow), std::isfinite(expected)) << text;
        EXPECT_EQ(overflow, !std::isfinite(expected)) << text;
        if (!overflow) {
            EXPECT_EQ(std::memcmp(&value, &expected, 8), 0) << text;
        }
        float small = 0;
        overflow = false;
        const float narrow = std::strtof(text.c_str(), nullptr);
        EXPECT_EQ(formats::parse_field(text, small, overflow), std::isfinite(narrow)) << text;
        EXPECT_EQ(overflow, !std::isfinite(narrow)) << text;
        if (!overflow) {
            EXPECT_EQ(std::memcmp(&small, &narrow, 4), 0) << text;
        }
    };
    for (const std::string sign : {"", "-"})
        for (const char* text : {"1.7976931348623157e308",
                                 "1.7976931348623158079e308",
                                 "1.797693134862315808e308",
                                 "17976931348623159e292",
                                 "3.4028235e38",
                                 "3.40282356779733661637539395458142568447e38",
                                 "3.4028235677973366e38",
                                 "3.4028236e38",
                                 "4.9406564584124654e-324",
                                 "2.4703282292062327e-324",
                                 "2.4703282292062328e-324",
                                 "2.2250738585072014e-308",
                                 "2.2250738585072011e-308",
                                 "1.4012984643e-45",
                                 "7.006492321624085e-46",
                                 "7.0064923216240854e-46",
                                 "1.17549435e-38",
                                 "1.1754943e-38",
                                 "0.000e999",
                                 "0e-999",
                                 "9007199254740993",
                                 "9007199254740992.99999999",
                                 "16777217",
                                 "0.1e-9999999999999",
                                 "1e9999999999999",
                                 "00000000000000000000000000001",
                                 "1.e3",
                                 ".5"})
            check(sign + text);
    RandomStream random(11, "test.range");
    for (int i = 0; i < 20000; ++i) {
        const int from = i % 2 == 0 ? -345 : 290;  // the ends of the range of double, and of float
        check(std::to_string(random.below(1000000)) + "." + std::to_string(random.next64()) + "e" +
              std::to_string(from + static_cast<int>(random.below(30))));
        check(std::to_string(random.next64()) + "e" +
              std::to_string((i % 2 == 0 ? -66 : 16) + static_cast<int>(random.below(12))));
    }
}

TEST(Text, RejectsInvalidNumbers) {
    double value = 0;
    for (const char* text : {"",     " ",      ".",   "-",   "+",   "e5",  "1e",   "1e+",  "1.2.3", "0x10", "1,5",
                             "--1",  "+-1",    "nan", "inf", "1 2", "1d3", "1e5x", "-.",   "+inf",  "-inf", "infinity",
                             "-nan", "NaN(1)", "+",   "+.",  "+e1", "++1", "-+1",  "1e5e", "1e--5"}) {
        bool overflow = false;
        EXPECT_FALSE(formats::parse_field(text, value, overflow)) << text;
        EXPECT_FALSE(overflow) << text;
    }
    bool overflow = false;
    EXPECT_FALSE(formats::parse_field("1e400", value, overflow));
    EXPECT_TRUE(overflow);
    overflow = false;
    EXPECT_FALSE(formats::parse_field(std::string(400, '9'), value, overflow));
    EXPECT_TRUE(overflow);
    overflow = false;
    EXPECT_TRUE(formats::parse_field("0e99999999999999999999", value, overflow));
    EXPECT_EQ(value, 0.0);
    EXPECT_TRUE(formats::parse_field("-1e-999", value, overflow));
    EXPECT_TRUE(std::signbit(value));
    EXPECT_TRUE(formats::parse_field("0." + std::string(400, '0') + "1", value, overflow));
    EXPECT_EQ(value, 0.0);
    EXPECT_FALSE(overflow);
}

std::string random_table(std::uint64_t seed, bool quotes) {
    RandomStream random(seed, "test.table");
    std::string text = "a,b,c,label\n";
    while (text.size() < (std::size_t{5} << 20) / 2) {
        for (int j = 0; j < 3; ++j) {
            char buffer[40];
            std::snprintf(buffer, sizeof buffer, random.below(2) ? "%.17g," : "%.3f,", random.normal() * 100);
            text += buffer;
        }
        const std::string word = "w" + std::to_string(random.below(12));
        text += quotes && random.below(3) == 0 ? "\"" + word + "\n\"\"x\"" : word;
        text += random.below(5) ? "\n" : "\r\n";
        if (random.below(50) == 0) text += "\n";
    }
    return text;
}

TEST(Text, SameResultAtAnyNumberOfThreads) {
    ReadOptions options;
    options.label_column = "label";
    for (const bool quotes : {false, true}) {
        const std::string text = random_table(3, quotes);
        const PointsFile one = parse(text, options, 1);
        ASSERT_GT(one.points.rows(), 10000);
        for (const int threads : {2, 8}) {
            const PointsFile many = parse(text, options, threads);
            ASSERT_EQ(many.points.rows(), one.points.rows());
            EXPECT_EQ(std::memcmp(many.points.view().data(), one.points.view().data(),
                                  static_cast<std::size_t>(one.points.rows()) * 3 * sizeof(double)),
                      0);
            EXPECT_EQ(many.labels->labels, one.labels->labels);
            EXPECT_EQ(many.labels->names, one.labels->names);
        }
        // With two broken rows, the first is reported, for any number of threads.
        std::string broken = text;
        const std::size_t early = broken.find('\n', broken.size() / 2) + 1,
                          late = broken.rfind("\nw") == std::string::npos ? broken.size() - 200 : 0;
        broken.insert(broken.find('\n', late > 0 ? late : broken.size() - 500) + 1, "1,2,late,x\n");
        broken.insert(early, "1,early,3,x\n");
        std::string first;
        for (const int threads : {1, 2, 8}) {
            const std::string message = message_of<BadData>([&] { parse(broken, options, threads); });
            if (first.empty()) first = message;
            EXPECT_TRUE(has(message, quotes ? "line" : "'early'")) << message;
            EXPECT_EQ(message, first);
        }
    }
}

// Found by the label fuzzer: a first line without any field in a file separated by blanks.
TEST(Text, EmptyFirstLineIsABlankLabel) {
    const std::string text = "\nla 5\nla 6\nbe 7\n";
    const formats::TableSource source{"labels", {std::as_bytes(std::span(text)), nullptr}};
    EXPECT_TRUE(has(message_of<BadData>([&] { formats::parse_table_labels(source, "", true, 1); }),
                    "labels: line 2: 2 fields, but the first row has 1"));
    EXPECT_TRUE(has(message_of<BadData>([&] { formats::parse_table_labels(source, "", false, 1); }),
                    "labels: column 1, line 1: the value is empty"));
}

}  // namespace
}  // namespace coterie
