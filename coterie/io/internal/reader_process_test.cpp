// Reads HDF5 and MATLAB files with coterie-read: intact files, damaged files, and programs in place of coterie-read
// that crash, stall, send wrong data or do not exist. In every case, no child process and no open file remains.

#include "coterie/io/internal/reader_process.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <random>

#include "coterie/io/internal/reader_messages.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using formats::Array;
using formats::Purpose;
using io::internal::AnswerPart;
using io::internal::read_apart;
using testing::contents;
using testing::Folder;
using testing::has;
using testing::message_of;
using testing::raw;

// A MATLAB 5 file of full matrices of doubles, uncompressed.
struct Variable {
    std::string name;
    std::int32_t rows, columns;
    std::string data;
};
std::string element(std::int32_t type, std::string data) {
    std::string out = raw<std::int32_t>({type, static_cast<std::int32_t>(data.size())});
    data.resize((data.size() + 7) / 8 * 8);
    return out + data;
}
std::string matlab(const std::vector<Variable>& variables) {
    std::string out = "MATLAB 5.0 MAT-file, made by a test";
    out.resize(124, ' ');
    out += std::string("\0\1IM", 4);
    for (const Variable& each : variables)
        out += element(14, element(6, raw<std::int32_t>({6, 0})) +
                               element(5, raw<std::int32_t>({each.rows, each.columns})) + element(1, each.name) +
                               element(9, each.data));
    return out;
}
const std::string points_3x2 = raw<double>({1, 2, 3, 4, 5, 6});

class Reader : public ::testing::Test {
protected:
    void SetUp() override { open_ = open_files(); }
    void TearDown() override {
        EXPECT_EQ(open_files(), open_);
        EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
    }
    static std::ptrdiff_t open_files() {
        return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                             std::filesystem::directory_iterator());
    }

    std::string program(const std::string& body) const {
        const std::string path = folder.file("program", "#!/bin/sh\n" + body + "\n");
        ::chmod(path.c_str(), 0755);
        return path;
    }
    // The message about x.mat, an intact file, if `program` reads it.
    template <class E>
    std::string says(const io::internal::ReaderProgram& program, const coterie::Run& run = coterie::Run()) const {
        const std::string path = folder.file("x.mat", matlab({{"X", 3, 2, points_3x2}}));
        const std::string said =
            message_of<E>([&] { read_apart("mat", path, "", Purpose::points, path, run, program); });
        EXPECT_TRUE(said.starts_with(path)) << said;
        return said;
    }
    // A program that sends these bytes as its answer.
    std::string answer(const std::string& bytes) const {
        folder.file("answer", bytes);
        return program("cat '" + (folder / "answer") + "'");
    }

    const Folder folder;

private:
    std::ptrdiff_t open_ = 0;
};

std::string message(AnswerPart kind, std::uint32_t detail, const std::string& text, std::uint64_t more = 0) {
    const io::internal::MessageHead head{kind, detail, text.size() + more};
    return std::string(reinterpret_cast<const char*>(&head), sizeof head) + text;
}
// An array of float64 with two dimensions.
std::string described(std::int64_t rows, std::int64_t columns) {
    return message(AnswerPart::array, 2 | 2U << 16, raw<std::int64_t>({rows, columns}) + "X" + '\0');
}

TEST_F(Reader, MatlabByHand) {
    const std::string path =
        folder.file("x.mat", matlab({{"X", 3, 2, points_3x2}, {"Y", 3, 1, raw<double>({7, 8, 7})}}));
    const PointsFile file = read_points_file(path);
    EXPECT_EQ(file.points.view().as<double>().matrix()(2, 1), 6);
    ASSERT_EQ(file.notes.size(), 1u);
    EXPECT_EQ(file.notes[0].text(), path + ": the array X (3 x 2) was used; the file also holds Y (3 x 1)");
    EXPECT_TRUE(read_points_file(path + ":X").notes.empty());
    EXPECT_EQ(read_labels_file(path).labels, (Labels{0, 1, 0}));
    EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path + ":Q"); }),
                    "the file has no array 'Q'. Choose among: X (3 x 2), Y (3 x 1)"));
}

TEST_F(Reader, OneColumnGivesANote) {
    const std::string path = folder.file("y.mat", matlab({{"Y", 3, 1, raw<double>({7, 8, 7})}}));
    const PointsFile file = read_points_file(path);
    EXPECT_EQ(file.points.rows(), 3);
    ASSERT_EQ(file.notes.size(), 1u);
    EXPECT_EQ(file.notes[0].text(), path + ": the array Y (3 x 1) was used, which is a single column");
}

TEST_F(Reader, SizeIsCheckedBeforeAllocation) {
    const std::string path = folder.file("x.mat", matlab({{"X", 2147483647, 1000000, points_3x2}}));
    EXPECT_TRUE(has(message_of<ResourceError>([&] { read_points_file(path); }),
                    "x.mat: array 'X' needs about 1.6e+07 GiB of memory"));
    // The program's claims are checked as well.
    EXPECT_TRUE(has(says<ResourceError>({answer(described(std::int64_t{1} << 40, 1000))}), "needs about 8.19e+06 GiB"));
    EXPECT_TRUE(has(says<BadData>({answer(described(std::int64_t{1} << 40, std::int64_t{1} << 40))}),
                    "is not possible for an array"));
    EXPECT_TRUE(has(says<BadData>({answer(described(-1, 4))}), "is not possible for an array"));
}

TEST_F(Reader, ProgramCrashes) {
    EXPECT_TRUE(has(says<BadData>({program("kill -SEGV $$")}),
                    "is damaged: reading it ended with signal 11 (Segmentation fault)"));
    EXPECT_TRUE(has(says<BadData>({program("kill -ABRT $$")}), "signal 6"));
    EXPECT_TRUE(has(says<BadData>({program("kill -XCPU $$")}), "reading took more than 10 seconds of processor time"));
    EXPECT_TRUE(has(says<ResourceError>({program("kill -KILL $$")}), "was ended from outside by signal 9"));
    EXPECT_TRUE(has(says<BadData>({program("exit 3")}), "exit status 3"));
    EXPECT_TRUE(
        has(says<BadData>({answer(described(3, 2) + message(AnswerPart::data, 0, points_3x2.substr(0, 40), 8))}),
            "exit status 0"));
}

TEST_F(Reader, ProgramSendsInvalidMessages) {
    const std::string whole = message(AnswerPart::data, 0, points_3x2);
    for (const std::string& bytes :
         {std::string("no message, but a text that is longer than one"), message(AnswerPart::end, 0, ""), whole,
          described(3, 2) + message(AnswerPart::end, 0, ""), described(3, 2) + described(3, 2),
          described(3, 2) + message(AnswerPart::data, 0, points_3x2 + points_3x2),
          described(3, 2) + whole + message(AnswerPart::data, 0, "1"),
          message(AnswerPart::refusal, 1, coterie::Message{.file = "another"}.packed()),
          message(AnswerPart::refusal, 1, "", std::uint64_t{1} << 50),
          message(AnswerPart::array, 2 | 2U << 16, "short"),
          message(AnswerPart::array, 99 | 1U << 16, raw<std::int64_t>({3}) + "X" + '\0'),
          message(AnswerPart::array, 2 | 1U << 16, raw<std::int64_t>({3}) + "no end")})
        EXPECT_TRUE(has(says<BadData>({answer(bytes)}), "answered with")) << bytes;
    // The same messages in the right order are an array.
    const Array array = read_apart("mat", folder / "x.mat", "", Purpose::points, folder / "x.mat", coterie::Run(),
                                   {answer(described(3, 2) + whole + message(AnswerPart::end, 0, ""))});
    EXPECT_EQ(std::memcmp(array.data.data(), points_3x2.data(), 48), 0);
}

TEST_F(Reader, StalledProgramIsEnded) {
    const Stopwatch watch;
    EXPECT_TRUE(has(says<BadData>({program("sleep 60"), 0.05}), "the file could not be read in"));
    EXPECT_LT(watch.seconds(), 20);
}

TEST_F(Reader, StopsWhenAsked) {
    const Stopwatch watch;
    coterie::Run run;
    run.should_stop = [&] { return watch.seconds() > 0.2; };
    const std::string path = folder.file("x.mat", matlab({{"X", 3, 2, points_3x2}}));
    EXPECT_THROW(read_apart("mat", path, "", Purpose::points, path, run, {program("sleep 60")}), Cancelled);
    EXPECT_LT(watch.seconds(), 20);
}

TEST_F(Reader, MissingProgram) {
    EXPECT_TRUE(has(says<ResourceError>({folder / "none"}), "cannot be started: No such file"));
}

TEST_F(Reader, OnlyRegularFiles) {
    ASSERT_EQ(::mkfifo((folder / "pipe.h5").c_str(), 0600), 0);
    EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(folder / "pipe.h5"); }), "is not a regular file"));
}

// Reads damaged copies of a good file (changed bytes, a piece cut out, a large number). Each must give an array or an
// error. The time limit starts at half a second of processor time.
void expect_sound_or_refused(const Folder& folder, const std::string& name, const std::string& format, int trials) {
    const std::string good = contents(folder / name);
    ASSERT_FALSE(good.empty());
    std::mt19937 random(20261122);
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    int read = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::string bad = good;
        for (std::size_t change = 0; change < 1 + below(4); ++change) {
            const std::size_t at = below(bad.size());
            switch (below(4)) {
                case 0: bad[at] = static_cast<char>(random()); break;
                case 1: bad[at] = static_cast<char>(bad[at] ^ (1 << below(8))); break;
                case 2: bad.replace(at, 4, 4, static_cast<char>(below(2) == 0 ? 0xff : 0x7f)); break;
                default: bad.erase(at, 1 + below(16));
            }
            if (bad.empty()) bad = "x";
        }
        const std::string path = folder.file("bad-" + name, bad);
        try {
            const Array array = read_apart(format, path, "", trial % 2 == 0 ? Purpose::points : Purpose::labels, path,
                                           coterie::Run(), {"", 0.5});
            EXPECT_EQ(array.data.size(), formats::checked_bytes(array.shape, array.item_bytes, path));
            ++read;
        } catch (const BadData& error) {
            EXPECT_TRUE(has(error.message(), path)) << error.message();
        } catch (const ResourceError& error) {
            EXPECT_TRUE(has(error.message(), path)) << error.message();
        }
    }
    EXPECT_LT(read, trials);
}

TEST_F(Reader, DamagedMatlabFiles) {
    folder.file("x.mat", matlab({{"X", 3, 2, points_3x2}, {"Y", 3, 1, raw<double>({7, 8, 7})}}));
    expect_sound_or_refused(folder, "x.mat", "mat", 150);
    if (testing::python("numpy, scipy.io").empty()) GTEST_SKIP() << "no Python with NumPy and SciPy here";
    ASSERT_TRUE(testing::run_python(folder, R"(
import sys, numpy as np, scipy.io
views = np.empty((1, 2), dtype=object)
views[0, 0], views[0, 1] = np.arange(12.0).reshape(4, 3), np.arange(8, dtype=np.uint8).reshape(4, 2)
for name, packed in (('cells.mat', False), ('packed.mat', True)):
    scipy.io.savemat(sys.argv[1] + '/' + name, {'X': views, 'y': np.array([[1], [2], [1], [2]])}, do_compression=packed)
)",
                                    folder / ""));
    for (const char* name : {"cells.mat", "packed.mat"}) expect_sound_or_refused(folder, name, "mat", 100);
}

TEST_F(Reader, DamagedHdf5Files) {
    if (testing::python("h5py").empty()) GTEST_SKIP() << "no Python with h5py here";
    ASSERT_TRUE(testing::run_python(folder, R"(
import sys, h5py, numpy as np
for name, version in (('old.h5', 'earliest'), ('new.h5', 'latest')):
    with h5py.File(sys.argv[1] + '/' + name, 'w', libver=version) as file:
        file.create_dataset('group/points', data=np.arange(40.0).reshape(10, 4), chunks=(3, 4), compression='gzip', shuffle=True)
        file['labels'] = np.arange(10) % 3
)",
                                    folder / ""));
    for (const char* name : {"old.h5", "new.h5"}) expect_sound_or_refused(folder, name, "hdf5", 150);
}

TEST_F(Reader, CellsOfViews) {
    if (testing::python("numpy, scipy.io").empty()) GTEST_SKIP() << "no Python with NumPy and SciPy here";
    ASSERT_TRUE(testing::run_python(folder, R"(
import sys, numpy as np, scipy.io
views = np.empty((1, 3), dtype=object)
views[0, 0], views[0, 1], views[0, 2] = np.arange(12.0).reshape(4, 3), np.arange(8, dtype=np.uint8).reshape(4, 2), 'words'
words = np.array(['a', 'b'], dtype=object)
for name, packed in (('cells.mat', False), ('packed.mat', True)):
    scipy.io.savemat(sys.argv[1] + '/' + name, {'X': views, 'W': words, 'y': np.array([[5], [2], [5], [2]])}, do_compression=packed)
)",
                                    folder / ""));
    for (const char* name : {"cells.mat", "packed.mat"}) {
        const std::string path = folder / name;
        EXPECT_EQ(read_points_file(path + ":X{1}").points.view().at(3, 2), 11) << name;
        EXPECT_EQ(read_points_file(path + ":X{2}").points.view().at(2, 1), 5) << name;
        EXPECT_EQ(read_labels_file(path + ":y").labels, (Labels{1, 0, 1, 0}));
        EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path); }), "which array is meant"));
        EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path); }), "X{1} (4 x 3), X{2} (4 x 2)"));
        EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path + ":X"); }),
                        "'X' is a cell array. Name one of its matrices"));
        EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path + ":X{3}"); }), "has no array 'X{3}'"));
        EXPECT_TRUE(
            has(message_of<BadData>([&] { read_points_file(path + ":W"); }), "but a matrix of numbers is needed"));
    }
}

TEST_F(Reader, Hdf5) {
    if (testing::python("h5py").empty()) GTEST_SKIP() << "no Python with h5py here";
    ASSERT_TRUE(testing::run_python(folder, R"(
import sys, h5py, numpy as np
with h5py.File(sys.argv[1] + '/x.h5', 'w') as file:
    file['group/points'] = np.arange(12, dtype='>f4').reshape(4, 3)
    file['labels'] = np.array([3, 1, 3, 1])
    file['flags'] = np.array([True, False, True, True])
    file['cube'] = np.arange(8.0).reshape(2, 2, 2)
    file['one'] = 5.0
    file['words'] = 'text'
    file['complex'] = np.zeros((2, 2), dtype=complex)
    file.create_dataset('huge', shape=(2**40, 2**10), chunks=(1, 2**10), dtype='f8')
    # More than is read at once, in chunks that do not divide it: 80 MB.
    numbers = np.arange(16384).astype(np.uint8)
    file.create_dataset('blocks', data=np.add.outer(7 * numbers[:5000], numbers), chunks=(700, 3000))
rows = np.arange(12.0).reshape(4, 3)
rows.tofile(sys.argv[1] + '/raw.bin')
with h5py.File(sys.argv[1] + '/other.h5', 'w') as file:
    file['x'] = rows
layout = h5py.VirtualLayout(shape=(4, 3), dtype='f8')
layout[:] = h5py.VirtualSource(sys.argv[1] + '/other.h5', 'x', shape=(4, 3))
raw = [(sys.argv[1] + '/raw.bin', 0, 96)]
with h5py.File(sys.argv[1] + '/links.h5', 'w') as file:
    file['own'] = rows
    file['elink'] = file['group/elink'] = h5py.ExternalLink(sys.argv[1] + '/other.h5', '/x')
    file.create_dataset('external', shape=(4, 3), dtype='f8', external=raw)
    file.create_virtual_dataset('virtual', layout)
# MATLAB 7.3 files are HDF5 after their own header.
for name in ('elink', 'external', 'virtual'):
    path = sys.argv[1] + '/' + name + '.mat'
    with h5py.File(path, 'w', userblock_size=512) as file:
        if name == 'elink':
            file['x'] = h5py.ExternalLink(sys.argv[1] + '/other.h5', '/x')
        elif name == 'external':
            file.create_dataset('x', shape=(4, 3), dtype='f8', external=raw).attrs['MATLAB_class'] = np.bytes_('double')
        else:
            file.create_virtual_dataset('x', layout).attrs['MATLAB_class'] = np.bytes_('double')
    with open(path, 'r+b') as file:
        file.write(b'MATLAB 7.3 MAT-file'.ljust(124) + bytes([0x00, 0x02]) + b'IM')
)",
                                    folder / ""));
    const std::string path = folder / "x.h5";
    EXPECT_EQ(read_points_file(path + ":/group/points").points.view().at(3, 2), 11);
    EXPECT_EQ(read_points_file(path + ":group/points").points.scalar(), ScalarType::float32);
    EXPECT_EQ(read_points_file(path + ":cube").points.view().at(1, 3), 7);
    EXPECT_EQ(read_labels_file(path + ":labels").labels, (Labels{1, 0, 1, 0}));
    EXPECT_EQ(read_labels_file(path + ":flags").labels, (Labels{1, 0, 1, 1}));
    EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path + ":one"); }), "is a single number"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path + ":words"); }), "'/words' does not hold numbers"));
    EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(path + ":complex"); }), "does not hold numbers"));
    EXPECT_TRUE(
        has(message_of<BadData>([&] { read_points_file(path + ":none"); }), "has no array '/none'. Choose among"));
    EXPECT_TRUE(has(message_of<ResourceError>([&] { read_points_file(path + ":huge"); }),
                    "array '/huge' needs about 8.39e+06 GiB"));
    EXPECT_EQ(read_points_file(folder / "links.h5:own").points.view().at(3, 2), 11);
    for (const auto& [name, how] : {std::pair("elink", "is an external link"),
                                    {"group/elink", "is an external link"},
                                    {"external", "keeps its data in external storage"},
                                    {"virtual", "is a virtual dataset"}})
        EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(folder / "links.h5:" + name); }),
                        std::string(how) + ", but coterie reads only the file itself"))
            << name;
    for (const char* name : {"elink", "external", "virtual"})
        EXPECT_TRUE(has(message_of<BadData>([&] { read_points_file(folder / (std::string(name) + ".mat")); }),
                        "coterie reads only the file itself"))
            << name;
    const Array blocks = read_apart("hdf5", path, "blocks", Purpose::points, path, coterie::Run());
    ASSERT_EQ(blocks.data.size(), std::size_t{5000} * 16384);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 5000; ++i)
        for (std::size_t j = 0; j < 16384; ++j)
            wrong += blocks.data[i * 16384 + j] != static_cast<std::byte>(7 * i + j);
    EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace coterie
