#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <limits>

#include "coterie/base/checks.hpp"
#include "coterie/io/formats.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using testing::contents;
using testing::data_file;
using testing::Folder;
using testing::has;
using testing::idx;
using testing::message_of;
using testing::npy;
using testing::raw;
using Names = std::vector<std::string>;

std::vector<double> all(PointsView points) {
    std::vector<double> out;
    for (Index i = 0; i < points.rows(); ++i)
        for (Index j = 0; j < points.columns(); ++j) out.push_back(points.at(i, j));
    return out;
}
using Numbers = std::vector<double>;

PointsFile read(const std::string& path, Precision precision = Precision::automatic) {
    ReadOptions options;
    options.precision = precision;
    return read_points_file(path, options, coterie::Run(0, 2));
}

void gzip(const std::string& path, std::string_view content) {
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
    gzclose(file);
}

TEST(Npy, EveryType) {
    const Folder folder;
    const auto check = [&](const char* descr, const std::string& data, ScalarType scalar) {
        for (const int version : {1, 2, 3}) {
            const PointsFile file = read(folder.file("x.npy", npy(descr, "(2, 3)", data, false, version)));
            EXPECT_EQ(all(file.points), (Numbers{1, 2, 3, 4, 5, 6})) << descr;
            EXPECT_EQ(file.points.scalar(), scalar) << descr;
            EXPECT_EQ(file.format, "npy");
        }
    };
    check("<f8", raw<double>({1, 2, 3, 4, 5, 6}), ScalarType::float64);
    check("<f4", raw<float>({1, 2, 3, 4, 5, 6}), ScalarType::float32);
    check("<f2", raw<std::uint16_t>({0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}), ScalarType::float32);
    check("|i1", raw<std::int8_t>({1, 2, 3, 4, 5, 6}), ScalarType::float32);
    check("|u1", raw<std::uint8_t>({1, 2, 3, 4, 5, 6}), ScalarType::float32);
    check("<i2", raw<std::int16_t>({1, 2, 3, 4, 5, 6}), ScalarType::float32);
    check("<u2", raw<std::uint16_t>({1, 2, 3, 4, 5, 6}), ScalarType::float32);
    check("<i4", raw<std::int32_t>({1, 2, 3, 4, 5, 6}), ScalarType::float64);
    check("<u4", raw<std::uint32_t>({1, 2, 3, 4, 5, 6}), ScalarType::float64);
    check("<i8", raw<std::int64_t>({1, 2, 3, 4, 5, 6}), ScalarType::float64);
    check("<u8", raw<std::uint64_t>({1, 2, 3, 4, 5, 6}), ScalarType::float64);
    check(">i2", std::string("\0\1\0\2\0\3\0\4\0\5\0\6", 12), ScalarType::float32);
    EXPECT_EQ(all(read(folder.file("b.npy", npy("|b1", "(2, 2)", std::string("\1\0\0\1", 4)))).points),
              (Numbers{1, 0, 0, 1}));
}

TEST(Npy, RowAndColumnOrder) {
    const Folder folder;
    EXPECT_EQ(all(read(folder.file("f.npy", npy("<f4", "(2, 3)", raw<float>({1, 4, 2, 5, 3, 6}), true))).points),
              (Numbers{1, 2, 3, 4, 5, 6}));
    // 2 x 2 x 2, element (i, j, k) = 100 i + 10 j + k, first index fastest. Rows are flattened with the last index
    // fastest.
    const std::string cube = raw<double>({0, 100, 10, 110, 1, 101, 11, 111});
    EXPECT_EQ(all(read(folder.file("c.npy", npy("<f8", "(2, 2, 2)", cube, true))).points),
              (Numbers{0, 1, 10, 11, 100, 101, 110, 111}));
    const PointsFile column = read(folder.file("v.npy", npy("<f8", "(3,)", raw<double>({1, 2, 3}))));
    EXPECT_EQ(column.points.rows(), 3);
    EXPECT_EQ(column.points.columns(), 1);
}

TEST(Npy, IsNotCopied) {
    const Folder folder;
    const formats::Bytes bytes =
        formats::read_bytes(folder.file("x.npy", npy("<f8", "(2, 2)", raw<double>({1, 2, 3, 4}))));
    const formats::Array array = formats::parse_npy(bytes, "x.npy");
    const Points same = formats::to_points(array, Precision::automatic, -1, "x.npy", 1);
    EXPECT_EQ(same.view().data(), static_cast<const void*>(array.data.data()));
    EXPECT_EQ(formats::to_points(array, Precision::automatic, 1, "x.npy", 1).rows(), 1);
    const Points narrow = formats::to_points(array, Precision::float32, -1, "x.npy", 1);
    EXPECT_EQ(narrow.scalar(), ScalarType::float32);
    // The points outlive the file.
    Points kept = read(folder / "x.npy").points;
    std::filesystem::remove(folder / "x.npy");
    EXPECT_EQ(all(kept), (Numbers{1, 2, 3, 4}));
}

TEST(Npy, Float32Overflow) {
    const Folder folder;
    const std::string path = folder.file("x.npy", npy("<f8", "(2, 2)", raw<double>({1, 2, 1e300, 4})));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(path, Precision::float32); }),
                    "column 1, row 2: 1e+300 is too large for float32"));
}

TEST(Npy, LabelsAndNumbers) {
    const Folder folder;
    EXPECT_EQ(read_labels_file(folder.file("l.npy", npy("<i8", "(4,)", raw<std::int64_t>({7, -1, 7, 3})))).names,
              (Names{"-1", "3", "7"}));
    EXPECT_EQ(read_labels_file(folder / "l.npy", {}, true).labels, (Labels{1, -1, 1, 0}));
    EXPECT_EQ(read_labels_file(folder.file("c.npy", npy("<f8", "(2, 1)", raw<double>({2.5, 1})))).names,
              (Names{"1", "2.5"}));
    EXPECT_EQ(
        read_labels_file(folder.file("s.npy", npy("|S3", "(3,)", std::string("cat\0\0\0dog", 9))), {}, true).labels,
        (Labels{0, -1, 1}));
    EXPECT_EQ(read_labels_file(folder.file("u.npy", npy("<U2", "(2,)", raw<std::uint32_t>({0xe9, 0, 'a', 'b'})))).names,
              (Names{"\xc3\xa9", "ab"}));
    EXPECT_EQ(read_numbers(folder.file("n.npy", npy("<f4", "(2,)", raw<float>({0.5, 2})))), (Numbers{0.5, 2}));
    EXPECT_EQ(read_numbers(folder.file("n.csv", "weight\n0.5\n2\n")), (Numbers{0.5, 2}));
}

TEST(Idx, Types) {
    const Folder folder;
    const std::string images = idx(8, {2, 2, 2}, std::string("\0\1\2\3\4\5\6\xff", 8));
    const PointsFile file = read(folder.file("train-images-idx3-ubyte", images));
    EXPECT_EQ(all(file.points), (Numbers{0, 1, 2, 3, 4, 5, 6, 255}));
    EXPECT_EQ(file.points.rows(), 2);
    EXPECT_EQ(file.points.scalar(), ScalarType::float32);
    gzip(folder / "t10k-images.idx3-ubyte.gz", images);
    EXPECT_EQ(all(read(folder / "t10k-images.idx3-ubyte.gz").points), all(file.points));
    EXPECT_EQ(all(read(folder.file("x.idx", idx(0x0e, {1, 1}, std::string("\x3f\xf8\0\0\0\0\0\0", 8)))).points),
              (Numbers{1.5}));
    EXPECT_EQ(all(read(folder.file("y.idx", idx(0x0b, {2}, std::string("\xff\xff\0\2", 4)))).points), (Numbers{-1, 2}));
    EXPECT_EQ(read_labels_file(folder.file("a-idx1-ubyte", idx(8, {3}, "\5\1\5"))).labels, (Labels{1, 0, 1}));
}

TEST(Libsvm, DenseRows) {
    const Folder folder;
    const std::string text = "# made by hand\n+1 1:0.5 3:-2 # end\n-1 qid:7 2:1e1\n\n+1\n";
    const PointsFile file = read(folder.file("x.svm", text));
    EXPECT_EQ(all(file.points), (Numbers{0.5, 0, -2, 0, 10, 0, 0, 0, 0}));
    EXPECT_EQ(file.labels->labels, (Labels{1, 0, 1}));
    EXPECT_EQ(file.labels->names, (Names{"-1", "1"}));
    gzip(folder / "x.libsvm.gz", text);
    EXPECT_EQ(all(read(folder / "x.libsvm.gz").points), all(file.points));
    EXPECT_EQ(read_labels_file(folder / "x.svm").labels, (Labels{1, 0, 1}));
    ReadOptions first;
    first.max_rows = 1;
    EXPECT_EQ(read_points_file(folder / "x.svm", first, coterie::Run(0, 1)).points.rows(), 1);
    // A small file whose dense matrix would take terabytes.
    std::string wide = "1 2147483647:1\n";
    for (int i = 0; i < 2000; ++i) wide += "1 1:1\n";
    EXPECT_TRUE(has(message_of<ResourceError>([&] { read(folder.file("wide.svm", wide)); }),
                    "dense matrix of 2001 x 2147483647"));
}

TEST(Gzip, SeveralMembersAndText) {
    const Folder folder;
    gzip(folder / "a", "1,2\n");
    gzip(folder / "b", "3,4\n");
    folder.file("x.csv.gz", contents(folder / "a") + contents(folder / "b"));
    EXPECT_EQ(all(read(folder / "x.csv.gz").points), (Numbers{1, 2, 3, 4}));
}

TEST(Numpy, ReadsFilesOfNumpyAndScipy) {
    if (testing::python("numpy, scipy.io").empty()) GTEST_SKIP() << "no Python with NumPy and SciPy here";
    const Folder folder;
    ASSERT_TRUE(testing::run_python(folder, R"(
import sys, numpy as np, scipy.io, scipy.sparse
out = sys.argv[1] + '/'
x = np.arange(12.0).reshape(4, 3) / 8
y = np.array([3, 1, 3, 2])
np.save(out + 'f16.npy', x.astype(np.float16)); np.save(out + 'be.npy', x.astype('>f4')); np.save(out + 'fortran.npy', np.asfortranarray(x))
np.savez(out + 'stored.npz', x=x, y=y, words=np.array(['b', 'a', 'b', 'c']))
np.savez_compressed(out + 'packed.npz', points=x.astype(np.float32), y=y)
np.savez(out + 'two.npz', a=x, b=x); np.savez(out + 'object.npz', x=np.array([{}, 1], dtype=object))
np.save(out + 'object.npy', np.array([{}, 1], dtype=object)); np.save(out + 'complex.npy', x.astype(complex))
np.savetxt(out + 'x.txt', x)
scipy.io.savemat(out + 'x.mat', {'X': x, 'Y': y.reshape(-1, 1), 'S': scipy.sparse.csc_matrix(x), 'C': x * 1j, 'B': x.astype(np.uint8)})
scipy.io.savemat(out + 'packed.mat', {'X': x}, do_compression=True)
)",
                                    folder / ""));
    Numbers expected;
    for (int i = 0; i < 12; ++i) expected.push_back(i / 8.0);
    for (const char* name : {"f16.npy", "be.npy", "fortran.npy", "stored.npz:x", "stored.npz", "packed.npz",
                             "packed.npz:points", "x.txt", "x.mat:X", "packed.mat"}) {
        const PointsFile file = read(folder / name);
        EXPECT_EQ(all(file.points), expected) << name;
        EXPECT_EQ(file.points.rows(), 4) << name;
    }
    for (const char* name : {"stored.npz:y", "packed.npz", "x.mat:Y"}) {
        EXPECT_EQ(read_labels_file(folder / name).labels, (Labels{2, 0, 2, 1})) << name;
    }
    EXPECT_EQ(read_labels_file(folder / "stored.npz:words").names, (Names{"b", "a", "c"}));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "two.npz"); }), "a (4 x 3), b (4 x 3)"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "stored.npz:z"); }), "has no array 'z'"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "object.npy"); }), "pickle"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "object.npz:x"); }), "pickle"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "complex.npy"); }), "c16"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "x.mat:S"); }), "sparse"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "x.mat:C"); }), "complex"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(folder / "x.mat:Q"); }), "has no array 'Q'"));
    // The checksum or the header detects a flipped byte inside a stored or deflated member.
    for (const char* name : {"stored.npz", "packed.npz"}) {
        const std::string good = contents(folder / name);
        // Bytes of the first member; the others are not read.
        const std::size_t end = std::string(name) == "stored.npz" ? 270 : 150;
        for (std::size_t at = 60; at < end; at += 9) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ 0x10);
            folder.file("bad.npz", bad);
            EXPECT_THROW(read(folder / (std::string(name) == "stored.npz" ? "bad.npz:x" : "bad.npz:points")), BadData)
                << name << at;
        }
        for (std::size_t size = 0; size < good.size(); size += 13) {
            folder.file("bad.npz", good.substr(0, size));
            EXPECT_THROW(read(folder / "bad.npz"), BadData) << size;
        }
    }
    const std::string mat = contents(folder / "x.mat");
    for (std::size_t size = 0; size < mat.size(); size += 7) {
        folder.file("bad.mat", mat.substr(0, size));
        // If the file ends between two variables, the first variable is complete.
        try {
            EXPECT_EQ(all(read(folder / "bad.mat:X").points), expected) << size;
        } catch (const BadData&) {
        }
    }
}

TEST(Finite, NamesFirstPlaceAndCount) {
    Matrix<float> matrix = Matrix<float>::Ones(3000, 40);
    require_finite(matrix, {.file = "x"}, coterie::Run(0, 2));
    matrix(2000, 7) = std::numeric_limits<float>::infinity();
    matrix(1999, 3) = std::numeric_limits<float>::quiet_NaN();
    matrix(2999, 39) = -std::numeric_limits<float>::infinity();
    for (const int threads : {1, 2, 8}) {
        const std::string message =
            message_of<BadData>([&] { require_finite(matrix, {.file = "x"}, coterie::Run(0, threads)); });
        EXPECT_TRUE(has(message, "x: column 4, row 2000: the value is NaN, which stands for a missing value"))
            << message;
        EXPECT_TRUE(has(message, "; 2 more values are not finite")) << message;
    }
    // Rows with a stride: the numbers between them are not checked.
    require_finite(PointsView(matrix.data(), 1000, 2, 40), {.file = "x"});
    matrix(5, 3) = std::numeric_limits<float>::infinity();
    require_finite(PointsView(matrix.data(), 1000, 3, 40), {.file = "x"});
    EXPECT_THROW(require_finite(PointsView(matrix.data(), 1000, 4, 40), {.file = "x"}), BadData);
}

TEST(Data, Mnist) {
    const std::string path = data_file("mnist/train-images-idx3-ubyte.gz");
    if (path.empty()) GTEST_SKIP() << "the MNIST files are not here";
    ReadOptions options;
    options.max_rows = 10;
    const PointsFile file = read_points_file(path, options, coterie::Run(0, 2));
    EXPECT_EQ(file.points.rows(), 10);
    EXPECT_EQ(file.points.columns(), 784);
    EXPECT_EQ(file.points.view().as<float>().matrix().cast<double>().sum(), 234304.0);
    const LabelColumn labels = read_labels_file(data_file("mnist/train-labels-idx1-ubyte.gz"));
    EXPECT_EQ(labels.labels.size(), 60000u);
    EXPECT_EQ(Labels(labels.labels.begin(), labels.labels.begin() + 10), (Labels{5, 0, 4, 1, 9, 2, 1, 3, 1, 4}));
}

TEST(Data, Usps) {
    const std::string path = data_file("usps/usps.h5");
    if (path.empty()) GTEST_SKIP() << "the USPS files are not here";
    const Points whole = read(data_file("usps/usps_x.npy")).points;
    const Points train = read(path + ":/train/data").points, test = read(path + ":test/data").points;
    ASSERT_EQ(train.rows() + test.rows(), whole.rows());
    EXPECT_EQ(train.view().as<float>().matrix(), whole.view().as<float>().block(0, train.rows()));
    EXPECT_EQ(test.view().as<float>().matrix(), whole.view().as<float>().block(train.rows(), whole.rows()));
    EXPECT_EQ(read_labels_file(path + ":/train/target").names.size(), 10u);
    EXPECT_TRUE(has(message_of<BadData>([&] { read(path + ":/train/none"); }), "/train/data (7291 x 256)"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read(path); }), "which array is meant"));
    EXPECT_THROW(read(path + ":/train"), BadData);
    const Folder folder;
    const std::string good = contents(path);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{7}, std::size_t{100}, std::size_t{5000}, good.size() / 2}) {
        folder.file("bad.h5", good.substr(0, size));
        EXPECT_THROW(read(folder / "bad.h5:/train/data"), BadData) << size;
    }
}

TEST(Data, Coil20) {
    const std::string path = data_file("coil-20/COIL20.mat");
    if (path.empty()) GTEST_SKIP() << "the COIL-20 files are not here";
    const Points matlab = read(path).points, numpy = read(data_file("coil-20/coil20_x.npy")).points;
    ASSERT_EQ(matlab.rows(), numpy.rows());
    EXPECT_LT((matlab.view().as<double>().matrix() - to_matrix<double>(numpy)).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_EQ(read_labels_file(path).labels, read_labels_file(data_file("coil-20/coil20_y.npy")).labels);
}

TEST(Data, Digits) {
    const std::string path = data_file("optdigits/digits.csv.gz");
    if (path.empty()) GTEST_SKIP() << "the digits file is not here";
    ReadOptions options;
    options.label_column = "-1";
    const PointsFile file = read_points_file(path, options, coterie::Run(0, 2));
    EXPECT_EQ(file.points.rows(), 1797);
    EXPECT_EQ(file.points.columns(), 64);
    EXPECT_EQ(file.labels->names, (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
    EXPECT_EQ(file.labels->labels[1], 1);
}

TEST(Data, SmallTables) {
    if (data_file("iris/iris.data").empty()) GTEST_SKIP() << "the tables are not here";
    ReadOptions options;
    options.label_column = "-1";
    EXPECT_EQ(read_points_file(data_file("iris/iris.data"), options, coterie::Run(0, 1)).labels->names.at(2),
              "Iris-virginica");
    EXPECT_EQ(read_points_file(data_file("wine/wine.csv"), options, coterie::Run(0, 1)).points.columns(), 13);
    options.columns = {"2-8"};
    EXPECT_EQ(read_points_file(data_file("ecoli/ecoli.data"), options, coterie::Run(0, 1)).points.columns(), 7);
    options.columns = {"1-3"};
    const PointsFile cars = read_points_file(data_file("auto-mpg/auto-mpg.data"), options, coterie::Run(0, 1));
    EXPECT_EQ(cars.points.rows(), 398);
    EXPECT_EQ(cars.labels->names.at(0), "chevrolet chevelle malibu");
}

}  // namespace
}  // namespace coterie
