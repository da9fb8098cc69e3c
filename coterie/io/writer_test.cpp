#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coterie/base/random.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/io/writer.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using testing::contents;
using testing::Folder;
using testing::has;
using testing::message_of;

TEST(Writer, PointsReadBackBitEqual) {
    const Folder folder;
    RandomStream random(1, "test.writer");
    Matrix<double> matrix(500, 7);
    for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.normal() * (i % 2 ? 1e-200 : 1e9);
    const Matrix<float> narrow = matrix.cast<float>();
    for (const char* name : {"x.csv", "x.npy", "x.CSV", "x.NPY"}) {
        write_points(folder / name, matrix);
        const Points back = read_points_file(folder / name).points;
        EXPECT_EQ(back.view().as<double>().matrix(), matrix) << name;
        write_points(folder / name, narrow);
        ReadOptions options;
        options.precision = Precision::float32;
        EXPECT_EQ(read_points_file(folder / name, options, coterie::Run()).points.view().as<float>().matrix(), narrow)
            << name;
    }
    EXPECT_EQ(read_points_file(folder / "x.npy").points.scalar(), ScalarType::float32);
    // Rows with a stride; names that need quotes.
    write_points(folder / "x.csv", PointsView(matrix.data(), 500, 2, 7), {"a,b", "say \"hi\""});
    const PointsFile file = read_points_file(folder / "x.csv");
    EXPECT_EQ(file.column_names, (std::vector<std::string>{"a,b", "say \"hi\""}));
    EXPECT_EQ(file.points.view().as<double>().matrix(), matrix.leftCols(2));
    EXPECT_THROW(write_points(folder / "x.csv", matrix, {"a"}), BadArgument);
    EXPECT_THROW(write_points(folder / "x.txt", matrix), BadArgument);
    EXPECT_EQ(folder.entries(), 4u);
}

TEST(Writer, LabelsReadBack) {
    const Folder folder;
    const Labels labels{2, 0, 1, 2};
    write_labels(folder / "l.csv", labels);
    EXPECT_EQ(contents(folder / "l.csv"), "label\n2\n0\n1\n2\n");
    EXPECT_EQ(read_labels_file(folder / "l.csv").labels, labels);
    write_labels(folder / "l.npy", labels);
    EXPECT_EQ(read_labels_file(folder / "l.npy").labels, labels);
    write_labels(folder / "n.csv", Labels{1, -1, 0}, {"big, dog", "cat"});
    EXPECT_EQ(contents(folder / "n.csv"), "label\ncat\n\"\"\n\"big, dog\"\n");
    EXPECT_EQ(read_labels_file(folder / "n.csv", {}, true).labels, (Labels{0, -1, 1}));
    EXPECT_THROW(write_labels(folder / "n.csv", Labels{2}, {"a"}), BadArgument);
    EXPECT_EQ(folder.entries(), 3u);
}

TEST(Writer, WritingInPiecesGivesTheSameFile) {
    const Folder folder;
    Matrix<double> matrix(10, 2);
    for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = 0.5 * static_cast<double>(i);
    const Labels labels{2, 0, 1, 2, -1};
    const std::vector<std::string> names{"a", "b,c", "d"};
    for (const std::string ending : {".csv", ".npy"}) {
        write_points(folder / ("whole" + ending), matrix, {"x", "y"});
        PointsWriter points(folder / ("pieces" + ending), 10, 2, ScalarType::float64, {"x", "y"});
        for (const auto& [begin, rows] : {std::pair<Index, Index>{0, 3}, {3, 0}, {3, 7}})
            points.write(PointsView(matrix.data() + 2 * begin, rows, 2));
        points.commit();
        EXPECT_EQ(contents(folder / ("pieces" + ending)), contents(folder / ("whole" + ending)));
        write_labels(folder / ("labels" + ending), labels, names);
        LabelsWriter writer(folder / ("labels in pieces" + ending), 5, names);
        writer.write(std::span(labels).first(2));
        writer.write(std::span(labels).subspan(2));
        writer.commit();
        EXPECT_EQ(contents(folder / ("labels in pieces" + ending)), contents(folder / ("labels" + ending)));
    }
    // With fewer or more rows than announced, no file appears.
    {
        LabelsWriter few(folder / "few.npy", 6);
        few.write(labels);
        EXPECT_THROW(few.commit(), InternalError);
        EXPECT_THROW(LabelsWriter(folder / "more.npy", 4).write(labels), InternalError);
        few = LabelsWriter(folder / "other.npy", 0);
        EXPECT_THROW(PointsWriter(folder / "more.npy", 10, 3, ScalarType::float64).write(matrix), InternalError);
    }
    EXPECT_EQ(folder.entries(), 8u);
}

TEST(Writer, NumpyReadsTheFiles) {
    if (testing::python("numpy").empty()) GTEST_SKIP() << "no Python with NumPy here";
    const Folder folder;
    Matrix<float> matrix(2, 3);
    matrix << 1, 2, 3, 4, 5, 6;
    write_points(folder / "x.npy", matrix);
    write_labels(folder / "l.npy", Labels{3, -1});
    EXPECT_TRUE(testing::run_python(folder, R"(
import sys, numpy as np
x, l = (np.load(sys.argv[1] + name) for name in ('/x.npy', '/l.npy'))
assert x.dtype == np.float32 and x.tolist() == [[1, 2, 3], [4, 5, 6]] and l.dtype == np.int32 and l.tolist() == [3, -1]
)",
                                    folder / ""));
}

TEST(OutputFile, IsCompleteOrAbsent) {
    const Folder folder;
    const std::string path = folder.file("x", "before");
    {
        OutputFile file(path);
        file.write(std::string(1000000, 'y'));
        EXPECT_EQ(contents(path), "before");
    }
    EXPECT_EQ(contents(path), "before");
    EXPECT_EQ(folder.entries(), 1u);
    write_file(path, "after");
    EXPECT_EQ(contents(path), "after");
    EXPECT_EQ(folder.entries(), 1u);
    // Writing to a link replaces its target, not the link.
    std::filesystem::create_symlink("x", folder / "link");
    write_file(folder / "link", "through");
    EXPECT_EQ(contents(path), "through");
    EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
    write_file("/dev/null", "nothing");
}

// Ends without cleanup, like after a signal that cannot be caught.
void die_while_writing(const std::string& path) {
    const pid_t child = ::fork();
    if (child == 0) {
        OutputFile file(path);
        file.write(std::string(1000000, 'y'));
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(OutputFile, KilledWriterLeavesNoFile) {
    const Folder folder;
    die_while_writing(folder / "x");
    // On some file systems a hidden file remains. Makes it old, so that the next writer of x removes it.
    for (const auto& left : std::filesystem::directory_iterator(std::filesystem::path(folder / "x").parent_path()))
        std::filesystem::last_write_time(left.path(),
                                         std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    write_file(folder / "x", "after");
    EXPECT_EQ(contents(folder / "x"), "after");
    EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, RejectsUnwritablePaths) {
    const Folder folder;
    EXPECT_TRUE(has(message_of<ResourceError>([&] { OutputFile file(folder / "none/x"); }), "No such file"));
    EXPECT_TRUE(has(message_of<ResourceError>([&] { OutputFile file(folder / ""); }), "folder"));
    EXPECT_THROW(OutputFile(""), BadArgument);
    if (std::filesystem::exists("/dev/full")) {
        EXPECT_TRUE(has(message_of<ResourceError>([] { write_file("/dev/full", "x"); }), "No space left"));
    }
    if (std::filesystem::exists("/proc/version")) {
        EXPECT_THROW(OutputFile("/proc/coterie/x"), ResourceError);
    }
}

// The rows of a file, as text.
std::vector<std::vector<std::string>> rows_of_file(const std::string& path, std::vector<FieldType>* types = nullptr) {
    ReadOptions options;
    options.keep_rows = true;
    options.columns = {"1"};
    options.missing = true;
    const PointsFile file = read_points_file(path, options);
    if (types != nullptr) *types = field_types(*file.rows);
    std::vector<std::vector<std::string>> out = {file.rows->names()};
    const auto rows = file.rows->from_start();
    for (std::vector<std::string> fields; rows->next(fields);) out.push_back(fields);
    return out;
}

TEST(Writer, ArrowRoundTrip) {
    const Folder folder;
    using enum FieldType;
    const std::vector<std::string> names = {"whole", "number", "name", "post code"};
    const std::vector<FieldType> types = {whole, number, words, words};
    const std::vector<std::vector<std::string>> rows = {{"-9223372036854775808", "0.1", "caf\u00e9 \"x\"", "00700"},
                                                        {"", "-1e-300", "a\nb", ""},
                                                        {"9223372036854775807", "inf", "NA", "12"},
                                                        {"NA", "", "", "7"}};
    for (const char* ending : {"x.arrow", "x.feather", "x.arrows"}) {
        TableWriter writer(folder / ending, names, types);
        for (const auto& row : rows) writer.write(row);
        EXPECT_FALSE(std::filesystem::exists(folder / ending)) << "whole or absent";
        writer.commit();
        const std::string bytes = contents(folder / ending);
        EXPECT_EQ(bytes.starts_with("ARROW1") && bytes.ends_with("ARROW1"), std::string(ending) != "x.arrows");
        std::vector<FieldType> back;
        auto found = rows_of_file(folder / ending, &back);
        EXPECT_EQ(found.front(), names);
        found.erase(found.begin());
        auto expected = rows;
        expected[3][0] = "";  // a missing number
        EXPECT_EQ(found, expected) << ending;
        EXPECT_EQ(back, types) << "12 and 7 are words, as the file says";
    }
    EXPECT_THROW(TableWriter(folder / "y.arrow", names), BadArgument);
    TableWriter refuses(folder / "z.arrow", {"a", "b"}, {whole, number});
    EXPECT_EQ(message_of<BadData>([&] {
                  refuses.write(std::vector<std::string>{"1.5", "2"});
              }),
              "column 'a': '1.5' cannot be written to a column of whole numbers");
}

// More rows than one batch, and text for more than one batch: every row survives at every boundary.
TEST(Writer, ArrowInSeveralBatches) {
    const Folder folder;
    constexpr Index rows = 70000;
    const std::string long_text(2000, 'x');
    TableWriter writer(folder / "x.arrow", {"n", "w"}, {FieldType::whole, FieldType::words});
    for (Index i = 0; i < rows; ++i)
        writer.write(std::vector<std::string>{std::to_string(i), i < 40000 ? long_text : "w" + std::to_string(i)});
    writer.commit();
    const auto back = rows_of_file(folder / "x.arrow");
    ASSERT_EQ(back.size(), static_cast<std::size_t>(rows + 1));
    for (std::size_t i = 0; i < rows; ++i) {
        ASSERT_EQ(back[i + 1][0], std::to_string(i));
        ASSERT_EQ(back[i + 1][1], i < 40000 ? long_text : "w" + std::to_string(i));
    }
}

TEST(Writer, FieldTypesPreserveValues) {
    const Folder folder;
    folder.file("x.csv",
                "a,whole,half,code,long,word,empty,inf\n1,-3,1,007,1,x,,1\n2,0,2.5,12,12345678901234567890,1,,inf\n"
                "3,NA,1e3,13,2,2,,-2\n");
    std::vector<FieldType> types;
    rows_of_file(folder / "x.csv", &types);
    using enum FieldType;
    EXPECT_EQ(types, (std::vector<FieldType>{whole, whole, number, words, words, words, number, number}))
        << "a column without values is of numbers that are missing";
    folder.file("z.csv", "a,id,mixed\n1,9007199254740993,9007199254740993\n2,2,0.5\n");
    rows_of_file(folder / "z.csv", &types);
    EXPECT_EQ(types, (std::vector<FieldType>{whole, whole, words})) << "no float has that value";
    folder.file("y.csv", "a;b;c\n1;1,5;1.234,5\n2;0,25;7\n");
    rows_of_file(folder / "y.csv", &types);
    EXPECT_EQ(types, (std::vector<FieldType>{whole, number, words})) << "decimals behind a comma";
}

}  // namespace
}  // namespace coterie
