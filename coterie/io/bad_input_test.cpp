// Files that cannot be read, and the messages about them.

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <functional>
#include <limits>

#include "coterie/io/reader.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using testing::Folder;
using testing::has;
using testing::idx;
using testing::npy;
using testing::raw;

struct Case {
    std::string name;
    std::string content;
    ErrorKind kind;
    std::string message;
    std::function<void(ReadOptions&)> with = [](ReadOptions&) {};
    std::string key = {};
};

std::string gzipped(const std::string& text) {
    const Folder folder;
    gzFile file = gzopen((folder / "x").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return testing::contents(folder / "x");
}

std::vector<Case> cases() {
    const auto data = ErrorKind::bad_data;
    const auto argument = ErrorKind::bad_argument;
    const auto column = [](const std::string& word) { return [word](ReadOptions& o) { o.columns = {word}; }; };
    const auto label = [](const std::string& word) { return [word](ReadOptions& o) { o.label_column = word; }; };
    const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
    const std::string good = npy("<f8", "(2, 2)", raw<double>({1, 2, 3, 4}));
    const std::string zipped = gzipped("1,2\n3,4\n5,6\n");
    std::string wrong_sum = zipped;
    wrong_sum[wrong_sum.size() - 6] = static_cast<char>(wrong_sum[wrong_sum.size() - 6] ^ 1);
    return {
        {"a.csv", "", data, "the file is empty"},
        {"a.csv", " \n\r\n\t\n", data, "the file is empty"},
        {"a.csv", "\xef\xbb\xbf", data, "the file is empty"},
        {"a.csv", "a,b\n", data, "the file has a header line, but no rows"},
        {"a.csv", "a,b\n\n\n", data, "the file has a header line, but no rows"},
        {"a.csv", "1,2\n3,4\n5\n", data, "line 3: 1 field, but the first row has 2"},
        {"a.csv", "1,2\n3,4,5\n", data, "line 2: 3 fields, but the first row has 2"},
        {"a.csv", "1 2\n3 4\n5\n6 7\n", data, "line 3: 1 field, but the first row has 2"},
        {"a.csv", "x,y\n1,2\n3,abc\n", data, "a.csv: column 'y', line 3: 'abc' is not a number"},
        {"a.csv", "1,2\n3,4x\n", data, "column 2, line 2: '4x' is not a number"},
        {"a.csv", "1,2\n3,\n", data, "column 2, line 2: the value is missing"},
        {"a.csv", "1,2\n,4\n", data, "column 1, line 2: the value is missing"},
        {"a.csv", "1,2\n3,NA\n", data, "'NA' stands for a missing value (1 missing value in the file)"},
        {"a.csv", "1,2\n3,?\n", data, "'?' stands for a missing value"},
        {"a.csv", "1,2\n3,nan\n", data, "'nan' stands for a missing value"},
        {"a.csv", "1,2\n1.2.2026,1\n", data,
         "'1.2.2026' is not a number. If it is a date, write it as 2026-11-23, 23.11.2026"},
        {"a.csv", "1,2\n01/02/2026,1\n", data, "write it as 2026-11-23"},
        {"a.csv", "1,2\n1.234.567,1\n", data, "Remove the thousands separator: 1234.5"},
        {"a.csv", "1,2\n3,-inf\n", data, "'-inf' is not a finite number"},
        {"a.csv", "1,2\n3,1e999\n", data, "'1e999' is too large for float64"},
        {"a.csv", "1;2\n1,5;2\n", data, "Use decimal=comma if the comma is the decimal sign",
         [](ReadOptions& o) { o.decimal = Decimal::point; }},
        {"a.csv", "1,2\n3,\"4\n", data, "line 2: the quoted field that begins with \"4? never ends"},
        {"a.csv", "1,2\n3,\"4\"5\n", data, "column 2, line 2: text follows the closing quote"},
        {"a.csv", "1,2\n3,4\n", argument, "column 'kind': there is no such column, because the columns have no names",
         label("kind")},
        {"a.csv", "x,y\n3,4\n", argument, "column 'kind': there is no such column. Choose among: x, y", label("kind")},
        {"a.csv", "1,2\n3,4\n", argument, "column 0: there is no such column. Give a number from 1 to 2", column("0")},
        {"a.csv", "1,2\n3,4\n", argument, "column 3: there is no such column", column("3")},
        {"a.csv", "1,2\n3,4\n", argument, "column -3: there is no such column", column("-3")},
        {"a.csv", "1,2,3\n3,4,5\n", argument, "the range of columns 3-1 runs backwards", column("3-1")},
        {"a.csv", "1,2\n3,4\n", argument, "column 1: the column is given twice",
         [](ReadOptions& o) {
             o.columns = {"1", "1-2"};
         }},
        {"a.csv", "x,x\n3,4\n", argument, "column 'x': 2 columns have this name", column("x")},
        {"a.csv", "1,2\n3,4\n", argument, "column 1: the column is in both columns and label_column",
         [](ReadOptions& o) { o.columns = {"1"}, o.label_column = "1"; }},
        {"a.csv", "1\n2\n", data, "the file has no column but the labels", label("1")},
        {"a.csv", "1,2\n", argument, "cannot separate", [](ReadOptions& o) { o.separator = '.'; }},
        {"a.csv", std::string("1,\0002\n", 5), data, "the file is not text"},
        {"a.csv",
         "\xff\xfe"
         "1,2",
         data, "UTF-16"},
        {"a.csv.gz", "1,2\n", data, "the file is not a gzip file"},
        {"a.csv.gz", zipped.substr(0, zipped.size() - 5), data, "truncated"},
        {"a.csv.gz", zipped.substr(0, 12), data, "truncated"},
        {"a.csv.gz", wrong_sum, data, "damaged"},
        {"a.csv.gz", zipped + "more", data, "damaged"},
        {"a.xyz", "1,2", data, "the ending '.xyz' is not known"},
        {"a.npy", "", data, "is not a .npy file"},
        {"a.npy", "1,2,3 is not an array", data, "is not a .npy file"},
        {"a.npy", good.substr(0, 9), data, "is not a .npy file"},
        {"a.npy", good.substr(0, 60), data, "the file is truncated: the header has "},
        {"a.npy", good.substr(0, good.size() - 1), data,
         "the header announces 2 x 2 of type float64, 32 bytes, but the file has 31. Check whether the file is "
         "truncated"},
        {"a.npy", good + "x", data, "the file has 33"},
        {"a.npy", "\x93NUMPY\x09" + good.substr(7), data, "format version 9"},
        {"a.npy", npy("<f8", "(1000000000, 1000000000)", ""), data, "but the file has 0. Check whether"},
        {"a.npy", npy("<f8", "(4294967296, 4294967296)", ""), data, "is not possible for an array"},
        {"a.npy", npy("<f8", "(99999999999999999999,)", ""), data, "is not possible for an array"},
        {"a.npy", npy("<f8", "(-1, 2)", ""), data, "is not possible for an array"},
        {"a.npy", npy("<f8", "(0, 2)", ""), data, "is empty (0 x 2)"},
        {"a.npy", npy("<f8", "(0, 4294967296, 4294967296)", ""), data, "is not possible for an array"},
        {"a.npy", npy("<f8", "()", raw<double>({1})), data, "a single number"},
        {"a.npy", npy("|O", "(1,)", "12345678"), data, "pickle"},
        {"a.npy", npy("|O8", "(1,)", "12345678"), data, "pickle"},
        {"a.npy", npy("<c16", "(1,)", std::string(16, '\0')), data, "'<c16' are not supported"},
        {"a.npy", npy("<f3", "(1,)", "123"), data, "'<f3' are not supported"},
        {"a.npy", npy("|S3", "(1,)", "123"), data, "holds text"},
        {"a.npy", npy("<f8", "(2, 2)", raw<double>({1, 2, 3, nan})), data,
         "column 2, row 2: the value is NaN, which stands for a missing value"},
        {"a.npy", npy("<f8", "(2, 2)", raw<double>({1, -infinity, 3, nan})), data,
         "column 2, row 1: -infinity is not a finite number; 1 more value is not finite"},
        {"a.npy", good, argument, "label_column needs text", label("1")},
        {"a.npy", good, argument, "Give a number from 1 to 2", column("name")},
        {"a.svm", "1 1:2\n", argument, "columns needs a table or a dense array, but the format of this file is libsvm",
         column("1")},
        {"a.npz", "PK no zip", data, "is not a valid .npz"},
        {"a.npz", "", data, "holds no arrays"},
        {"a.npz", "", argument, "name of an array is missing", [](ReadOptions&) {}, ":"},
        {"a.idx", "", data, "is not an idx file"},
        {"a.idx", "\1\2\3\4\5", data, "is not an idx file"},
        {"a.idx", idx(7, {1}, "1"), data, "idx type 7 is not supported"},
        {"a.idx", idx(8, {2, 2}, "123"), data, "the header announces 2 x 2, 4 bytes, but the file has 3."},
        {"a.idx", idx(8, {2, 2}, "12345"), data, "the file has 5"},
        {"a.idx", idx(8, {}, ""), data, "has no dimensions"},
        {"a.idx", idx(8, {4294967295u, 4294967295u, 4294967295u}, "1"), data, "is not possible for an array"},
        {"a.idx", idx(8, {1, 2, 3}, "").substr(0, 9), data, "truncated inside the header"},
        {"a.svm", "", data, "has no rows"},
        {"a.svm", "1\n2\n", data, "a.svm: the file has no index:value pair"},
        {"a.svm", "1:2 3:4\n", data, "line 1: the line begins with '1:2'"},
        {"a.svm", "1 1:2\n1 0:5\n", data, "line 2: index 0 is not accepted. Use indices from 1"},
        {"a.svm", "1 2:2 1:5\n", data, "index 1 follows 2. Write the indices"},
        {"a.svm", "1 2:2 2:5\n", data, "index 2 follows 2"},
        {"a.svm", "1 1:x\n", data, "column 1, line 1: 'x' is not a number"},
        {"a.svm", "1 1:nan\n", data, "'nan' is not a number"},
        {"a.svm", "1 7\n", data, "'7' is not an index:value pair"},
        {"a.svm", "1 99999999999:1\n", data, "is not accepted"},
        {"a.h5", "no HDF5", data, "is not a valid HDF5 file"},
        {"a.h5", "", data, "is not a valid HDF5 file"},
        {"a.mat", "no MATLAB", data, "is not a MATLAB 5 file"},
        {"a.mat", "", data, "is not a MATLAB 5 file"},
        {"a.safetensors", "12345678", data, "safetensors"},
        {"a.safetensors", "", data, "is not a safetensors file"},
    };
}

TEST(BadInput, GivesMessages) {
    for (const Case& bad : cases()) {
        const Folder folder;
        const std::string path = folder.file(bad.name, bad.content);
        ReadOptions options;
        bad.with(options);
        const std::string where = bad.name + " [" + bad.content.substr(0, 40) + "] wants: " + bad.message;
        for (const int threads : {1, 2}) {
            try {
                read_points_file(path + bad.key, options, coterie::Run(0, threads));
                ADD_FAILURE() << where << ": was read";
            } catch (const Error& error) {
                EXPECT_EQ(error.kind(), bad.kind) << where << ": " << error.message();
                EXPECT_TRUE(has(error.message(), bad.message)) << where << ": " << error.message();
                EXPECT_TRUE(has(error.message(), bad.name) || bad.kind == ErrorKind::bad_argument) << error.message();
            }
        }
    }
}

TEST(BadInput, MissingFile) {
    const Folder folder;
    for (const char* name : {"none.csv", "none.npy", "none.npz:x", "none.h5:/x", "none.mat:X", "none.svm", "none.idx",
                             "none.safetensors:a"}) {
        EXPECT_TRUE(has(testing::message_of<BadData>([&] { read_points_file(folder / name); }), "No such file"))
            << name;
    }
    std::filesystem::create_directory(folder / "d.csv");
    std::filesystem::create_directory(folder / "d.h5");
    EXPECT_TRUE(has(testing::message_of<BadData>([&] { read_points_file(folder / "d.csv"); }), "is a folder"));
    EXPECT_TRUE(has(testing::message_of<BadData>([&] { read_points_file(folder / "d.h5:/x"); }), "is a folder"));
    EXPECT_THROW(read_labels_file(folder / "none.csv"), BadData);
    EXPECT_THROW(read_numbers(folder / "none.csv"), BadData);
}

TEST(BadInput, LabelFiles) {
    const Folder folder;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto refuses = [&](const std::string& name, const std::string& content, const std::string& message) {
        folder.file(name, content);
        try {
            read_labels_file(folder / name);
            ADD_FAILURE() << name << " was read; wanted: " << message;
        } catch (const Error& error) {
            EXPECT_TRUE(has(error.message(), message)) << error.message();
        }
    };
    refuses("l.npy", npy("<f8", "(2,)", raw<double>({1, nan})), "column 1, row 2: nan is not a label");
    refuses("l.npy", npy("<f8", "(2, 2)", raw<double>({1, 2, 3, 4})),
            "the array is 2 x 2, but labels are one value per row");
    refuses("l.npy", npy("<u8", "(1,)", std::string(8, '\xff')), "too large for a label");
    refuses("l.npy", npy("|S1", "(2,)", std::string("a\0", 2)), "the label is empty");
    refuses("l.csv", "", "is empty");
    refuses("l.csv", "label\n", "no rows");
    refuses("l.csv", "1,2\n3,4\n", "it is not clear which one holds the labels");
    refuses("l.csv", "a\n\nb\n", "column 1, line 2: the value is empty");
    folder.file("n.csv", "1\nx\n");
    EXPECT_THROW(read_numbers(folder / "n.csv"), BadData);
    folder.file("n.npy", npy("<f8", "(2,)", raw<double>({1, nan})));
    EXPECT_THROW(read_numbers(folder / "n.npy"), BadData);
}

TEST(BadInput, DamagedNpyHeaders) {
    const Folder folder;
    const std::string good = npy("<f8", "(2, 2)", raw<double>({1, 2, 3, 4}));
    for (std::size_t size = 0; size < good.size(); ++size) {
        EXPECT_THROW(read_points_file(folder.file("x.npy", good.substr(0, size))), BadData) << size;
    }
    // A damaged header gives an error or an array, never a crash.
    for (std::size_t at = 0; at < good.size() - 32; ++at)
        for (const int flip : {1, 2, 0x10, 0x80}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            try {
                read_points_file(folder.file("x.npy", bad));
            } catch (const BadData&) {
            }
        }
}

TEST(BadInput, ErrorsHaveFileRowAndColumn) {
    const Folder folder;
    const auto fields = [&](const std::string& name, const std::string& content) -> Message {
        folder.file(name, content);
        try {
            read_points_file(folder / name);
        } catch (const BadData& error) {
            EXPECT_EQ(error.fields().file, folder / name);
            return error.fields();
        }
        ADD_FAILURE() << "nothing was thrown";
        return {};
    };
    const Message named = fields("a.csv", "x,y\n1,2\n3,abc\n");
    EXPECT_EQ(named.line, 3);
    EXPECT_EQ(named.column, "y");
    EXPECT_EQ(named.column_number, 2);
    EXPECT_EQ(named.value, "abc");
    EXPECT_EQ(named.code, Code::not_a_number);
    const Message numbered = fields("b.csv", "1,2\n3,4x\n");
    EXPECT_EQ(numbered.line, 2);
    EXPECT_EQ(numbered.column, "");
    EXPECT_EQ(numbered.column_number, 2);
    const Message narrow = fields("c.csv", "1,2\n3,4\n5\n");
    EXPECT_EQ(narrow.line, 3);
    EXPECT_EQ(narrow.accepted, "2 columns");
    const Message sparse = fields("d.svm", "1 1:2\n1 0:3\n");
    EXPECT_EQ(sparse.line, 2);
    EXPECT_EQ(sparse.value, "0:3");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Message missing = fields("e.npy", npy("<f8", "(2, 2)", raw<double>({1, 2, nan, 4})));
    EXPECT_EQ(missing.row, 2);
    EXPECT_EQ(missing.column_number, 1);
    EXPECT_EQ(missing.value, "NaN");
    EXPECT_EQ(missing.accepted, "finite numbers");
    EXPECT_FALSE(fields("f.csv", "").line.has_value());
}

}  // namespace
}  // namespace coterie
