// Reads the files of fuzz/corpus/arrow, which pyarrow 26 wrote.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "coterie/base/random.hpp"
#include "coterie/io/formats.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using testing::has;
using testing::message_of;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

std::string arrow_file(const std::string& name) {
    const char* source = std::getenv("COTERIE_SOURCE");
    return (source == nullptr ? "" : std::string(source) + "/") + "fuzz/corpus/arrow/" + name;
}
PointsFile read_arrow(const std::string& name, const ReadOptions& options = {}, int threads = 1) {
    return read_points_file(arrow_file(name), options, coterie::Run(0, threads));
}
void expect_column(const PointsFile& file, Index column, const std::vector<double>& values) {
    ASSERT_EQ(file.points.rows(), static_cast<Index>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double value = file.points.view().at(static_cast<Index>(i), column);
        if (std::isnan(values[i]))
            EXPECT_TRUE(std::isnan(value)) << column << ", " << i;
        else
            EXPECT_EQ(value, values[i]) << column << ", " << i;
    }
}
PointsFile parse_arrow(std::string_view bytes, const ReadOptions& options = {}) {
    return formats::parse_table(
        {"x.arrow", {std::as_bytes(std::span(bytes.data(), bytes.size())), nullptr}, false, true}, options, 1);
}

TEST(Arrow, NumbersOfEveryType) {
    ReadOptions options;
    options.columns = {"i8", "u16", "i64", "f16", "f32", "flag", "price"};
    options.missing = true;
    for (const int threads : {1, 2}) {
        const PointsFile file = read_arrow("types.arrow", options, threads);
        EXPECT_EQ(file.format, "arrow");
        EXPECT_EQ(file.column_names, options.columns);
        EXPECT_EQ(file.points.scalar(), ScalarType::float64);
        expect_column(file, 0, {1, -2, 3, 4, absent});
        expect_column(file, 1, {1, 2, 3, 4, 65535});
        expect_column(file, 2, {1, 2, 3, 4, -5e9});
        expect_column(file, 3, {0.5, 1, 1.5, 2, -0.25});
        expect_column(file, 4, {0.1f, 0.2f, absent, 0.4f, 0.5f});
        expect_column(file, 5, {1, 0, absent, 1, 0});
        expect_column(file, 6, {1.5, -0.05, absent, 12345.67, 0});
    }
}

TEST(Arrow, NarrowTypesGiveFloat32) {
    ReadOptions options;
    options.id_column = "id";
    const PointsFile file = read_arrow("stream.arrows", options);
    EXPECT_EQ(file.points.scalar(), ScalarType::float32);
    expect_column(file, 0, {0.5, 1.5, -2.25, 4});
    expect_column(file, 1, {1, 2, 3, 4});
    options.precision = Precision::float64;
    EXPECT_EQ(read_arrow("stream.arrows", options).points.scalar(), ScalarType::float64);
    options.precision = Precision::automatic;
    expect_column(read_arrow("zstd.arrow", options), 0, {0.5, 1.5, -2.25, 4});
}

TEST(Arrow, WordsAndDatesAreReadLikeText) {
    ReadOptions options;
    options.columns = {"kind", "text", "day", "moment"};
    options.missing = options.dates = true;
    options.words = WordColumns::categories;
    const PointsFile file = read_arrow("types.arrow", options);
    EXPECT_EQ(file.kinds, (std::vector<ColumnKind>{ColumnKind::category, ColumnKind::category, ColumnKind::date,
                                                   ColumnKind::date}));
    EXPECT_EQ(file.categories[0], (std::vector<std::string>{"ash, grey", "elm", "oak"}));
    EXPECT_EQ(file.categories[1], (std::vector<std::string>{"a", "b", "say \"c\""}));
    expect_column(file, 0, {2, 1, 2, absent, 0});
    expect_column(file, 1, {0, absent, 1, absent, 2});
    expect_column(file, 2, {0, 20780, -1, absent, 11016});
    expect_column(file, 3, {20780.5, -0.25, absent, 1, 11016 + 86399 / 86400.0});
}

TEST(Arrow, RowsAndLabels) {
    ReadOptions options;
    options.columns = {"u16"};
    options.id_column = "moment";
    options.label_column = "kind";
    options.keep_rows = true;
    const PointsFile file = read_arrow("types.arrow", options);
    EXPECT_EQ(file.labels->labels, (Labels{0, 1, 0, -1, 2}));
    EXPECT_EQ(file.labels->names, (std::vector<std::string>{"oak", "elm", "ash, grey"}));
    EXPECT_EQ(file.rows->id_column(), 11);
    const auto rows = file.rows->from_start();
    std::vector<std::string> fields;
    ASSERT_TRUE(rows->next(fields));
    EXPECT_EQ(fields, (std::vector<std::string>{"1", "1", "1", "0.5", "0.1", "0.1", "true", "oak", "a", "1.5",
                                                "1970-01-01", "2026-11-23 12:00:00", "1.50", ""}));
    int more = 0;
    while (rows->next(fields)) ++more;
    EXPECT_EQ(more, 4);
    EXPECT_EQ(fields,
              (std::vector<std::string>{"", "65535", "-5000000000", "-0.25", "0.5", "-0.5", "false", "ash, grey",
                                        "say \"c\"", "x", "2000-02-29", "2000-02-29 23:59:59", "0.00", ""}));
    EXPECT_EQ(read_labels_file(arrow_file("types.arrow"), "kind", true).labels, file.labels->labels);
    EXPECT_EQ(read_numbers(arrow_file("stream.arrows"), "y"), (std::vector<double>{1, 2, 3, 4}));
}

TEST(Arrow, ErrorsNameRowAndColumn) {
    const auto refused = [](const std::string& column, bool dates = false) {
        ReadOptions options;
        options.columns = {column};
        options.dates = dates;
        return message_of<BadData>([&] { read_arrow("types.arrow", options); });
    };
    EXPECT_TRUE(has(refused("i8"), "column 'i8', row 5: the value is missing (1 missing value in the file)"));
    EXPECT_TRUE(has(refused("f64"), "column 'f64', row 3: "));
    EXPECT_TRUE(has(refused("text"), "column 'text', row 1: 'a' is not a number"));
    EXPECT_TRUE(has(refused("large"), "column 'large', row 5: 'x' is not a number"));
    EXPECT_TRUE(has(refused("day"), "'1970-01-01' is not a number but a date. Use dates to convert"));
    EXPECT_TRUE(has(refused("tags"), "column 'tags': Arrow's type list is not supported"));
    ReadOptions large;
    large.columns = {"f64"};
    large.missing = true;
    EXPECT_TRUE(
        has(message_of<BadData>([&] { read_arrow("types.arrow", large); }), "column 'f64', row 4: 1e+300 is so large"));
    large.columns = {"i8", "u16"};
    large.max_rows = 4;
    EXPECT_EQ(read_arrow("types.arrow", large).points.rows(), 4);
    ReadOptions text;
    text.separator = ';';
    EXPECT_TRUE(has(message_of<BadArgument>([&] { read_arrow("types.arrow", text); }), "separator is for text"));
    EXPECT_TRUE(has(message_of<BadData>([] { parse_arrow("x,y\n1,2\n"); }), "the file is not an Arrow file"));
}

TEST(Arrow, DamagedFilesAreErrors) {
    ReadOptions options;
    options.missing = options.dates = options.keep_rows = true;
    options.words = WordColumns::leave_out;
    int refused = 0, whole = 0;
    for (const char* name : {"types.arrow", "stream.arrows", "zstd.arrow", "dictionary.arrow"}) {
        const std::string bytes = testing::contents(arrow_file(name));
        ASSERT_FALSE(bytes.empty());
        const auto look = [&](const std::string& damaged) {
            try {
                const PointsFile file = parse_arrow(damaged, options);
                const auto rows = file.rows->from_start();
                std::vector<std::string> fields;
                while (rows->next(fields)) {
                }
                ++whole;
            } catch (const InternalError&) {
                throw;
            } catch (const Error&) {
                ++refused;
            }
        };
        for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 97) look(bytes.substr(0, size));
        RandomStream random(1, "damage");
        for (int k = 0; k < 600; ++k) {
            std::string damaged = bytes;
            for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips)
                damaged[random.below(damaged.size())] =
                    static_cast<char>(k % 2 == 0 ? random.below(256) : 0x7f + random.below(2) * 0x80);
            look(damaged);
        }
    }
    EXPECT_GT(refused, 400);
    EXPECT_GT(whole, 50);
    EXPECT_TRUE(has(message_of<BadData>([] { read_arrow("nulls.arrow"); }),
                    "a batch claims 1099511627776 rows, more than its bytes can hold"));
    EXPECT_TRUE(has(message_of<BadData>([] {
                        const std::string bytes = testing::contents(arrow_file("types.arrow"));
                        parse_arrow(std::string_view(bytes).substr(0, bytes.size() - 3));
                    }),
                    "the Arrow file is damaged: its end is missing"));
}

// The claimed size of a compressed buffer is checked against its bytes before memory is allocated.
TEST(Arrow, CompressedBufferWithTooLargeSizeIsAnError) {
    std::string bytes = testing::contents(arrow_file("zstd.arrow"));
    const std::size_t at = bytes.find("\x28\xb5\x2f\xfd");  // a Zstandard frame; its size is in the 8 bytes before it
    ASSERT_NE(at, std::string::npos);
    bytes[at - 3] = 1;  // 2^40
    EXPECT_TRUE(has(message_of<BadData>([&] { parse_arrow(bytes); }), "can't be decompressed to 1099511627"));
}

}  // namespace
}  // namespace coterie
