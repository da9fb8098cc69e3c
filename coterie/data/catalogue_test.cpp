#include "coterie/data/catalogue.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "coterie/io/sha256.hpp"

namespace coterie {
namespace {

namespace fs = std::filesystem;

// Sets (or, without a value, unsets) an environment variable for the life of the object.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        had_ = std::getenv(name) != nullptr;
        value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;
    ~Environment() { had_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }

private:
    const char* name_;
    std::string before_;
    bool had_ = false;
};

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "coterie-test-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    fs::path path;
};

void write(const fs::path& path, const std::string& content) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
}

std::string content_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

std::string sum_of(const std::string& content) {
    Sha256 sum;
    sum.update(content.data(), content.size());
    return sum.hex();
}

// The message of the exception of type E that f throws.
template <class E, class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const E& error) {
        return error.message();
    } catch (const std::exception& error) {
        return std::string("another exception: ") + error.what();
    }
    return "no exception";
}

#define EXPECT_SAYS(message, words) \
    EXPECT_NE((message).find(words), std::string::npos) << "the message was: " << (message)

// ---- the list

TEST(Catalogue, EveryEntryIsComplete) {
    std::set<std::string> names;
    for (const CatalogueEntry& entry : catalogue()) {
        SCOPED_TRACE(entry.name);
        EXPECT_TRUE(names.insert(entry.name).second);
        EXPECT_FALSE(entry.title.empty());
        EXPECT_FALSE(entry.licence.empty());
        EXPECT_FALSE(entry.citation.empty());
        EXPECT_EQ(entry.homepage.rfind("https://", 0), 0u);
        EXPECT_FALSE(entry.folder.empty());
        EXPECT_GT(entry.rows, 0);
        EXPECT_GT(entry.columns, 0);
        EXPECT_GT(entry.classes, 1);
        ASSERT_FALSE(entry.files.empty());
        for (const CatalogueFile& file : entry.files) {
            EXPECT_EQ(file.name.find('/'), std::string::npos);
            ASSERT_FALSE(file.sha256.empty());
            for (const std::string& sum : file.sha256) {
                EXPECT_EQ(sum.size(), 64u);
                EXPECT_EQ(sum.find_first_not_of("0123456789abcdef"), std::string::npos);
            }
            if (!file.url.empty()) {
                EXPECT_EQ(file.url.rfind("https://", 0), 0u);
                EXPECT_FALSE(entry.shipped);
            } else {
                EXPECT_TRUE(entry.shipped || !entry.by_hand.empty());
            }
        }
    }
    for (const char* name : {"digits", "iris", "wine", "breast-cancer", "penguins", "moons", "clouds", "rings", "mnist",
                             "usps", "coil-20", "coil-100"})
        EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Catalogue, UnknownNameListsTheNames) {
    const std::string message = message_of<BadArgument>([] { find_data("digitz"); });
    EXPECT_SAYS(message, "digitz");
    for (const CatalogueEntry& entry : catalogue()) EXPECT_SAYS(message, entry.name);
}

TEST(Catalogue, ShippedFilesMatchTheirChecksums) {
    for (const CatalogueEntry& entry : catalogue()) {
        if (!entry.shipped) continue;
        SCOPED_TRACE(entry.name);
        const fs::path folder = locate_data(entry);
        ASSERT_FALSE(folder.empty());
        for (const CatalogueFile& file : entry.files) {
            EXPECT_EQ(sha256_of_file(folder / file.name), file.sha256.front());
            EXPECT_EQ(fs::file_size(folder / file.name), file.bytes);
        }
    }
}

TEST(Catalogue, OrderOfDataFolders) {
    TemporaryFolder temporary;
    fs::create_directories(temporary.path / "share" / "data");
    const Environment data("COTERIE_DATA", (temporary.path / "mine").c_str());
    const Environment cache("XDG_CACHE_HOME", (temporary.path / "cache").c_str());
    const Environment share("COTERIE_SHARE", (temporary.path / "share").c_str());
    const std::vector<fs::path> folders = data_folders();
    ASSERT_GE(folders.size(), 3u);
    EXPECT_EQ(folders[0], temporary.path / "mine");
    EXPECT_EQ(folders[1], temporary.path / "cache" / "coterie");
    EXPECT_EQ(folders[2], temporary.path / "share" / "data");
}

TEST(Catalogue, CacheIsBelowHomeWithoutXdg) {
    const Environment cache("XDG_CACHE_HOME", nullptr);
    {
        const Environment home("HOME", "/nobody");
        EXPECT_EQ(cache_folder(), fs::path("/nobody/.cache/coterie"));
    }
    const Environment home("HOME", nullptr);
    EXPECT_TRUE(cache_folder().empty());
}

TEST(Catalogue, FileOfAnotherSizeIsNotTheShippedOne) {
    TemporaryFolder temporary;
    write(temporary.path / "wine" / "wine.csv", "14.23,1.71,1\n");
    const Environment data("COTERIE_DATA", temporary.path.c_str());
    const fs::path found = locate_data(find_data("wine"));
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found, temporary.path / "wine");
}

TEST(Catalogue, MissingSetSaysHowToGetIt) {
    TemporaryFolder temporary;
    const Environment data("COTERIE_DATA", temporary.path.c_str());
    const Environment cache("XDG_CACHE_HOME", temporary.path.c_str());
    if (!locate_data(find_data("fashion-mnist")).empty())
        GTEST_SKIP() << "fashion-mnist is in one of the other folders";
    EXPECT_SAYS(message_of<BadData>([] { read_data("fashion-mnist", {}, coterie::Run()); }),
                "coterie data get fashion-mnist");
}

TEST(Catalogue, ManualSetIsNotDownloaded) {
    TemporaryFolder temporary;
    const std::string message =
        message_of<ResourceError>([&] { get_data(find_data("coil-100"), temporary.path, coterie::Run()); });
    EXPECT_SAYS(message, "by hand");
    EXPECT_SAYS(message, "cs.columbia.edu");
    EXPECT_SAYS(message, "coil100_x.npy");
}

// ---- reading

void expect_as_stated(const CatalogueEntry& entry) {
    SCOPED_TRACE(entry.name);
    const PointsFile read = read_data(entry.name, {}, coterie::Run());
    EXPECT_EQ(read.points.rows(), entry.rows);
    EXPECT_EQ(read.points.columns(), entry.columns);
    ASSERT_TRUE(read.labels.has_value());
    EXPECT_EQ(static_cast<Index>(read.labels->labels.size()), entry.rows);
    EXPECT_EQ(static_cast<int>(read.labels->names.size()), entry.classes);
    const std::set<std::int32_t> distinct(read.labels->labels.begin(), read.labels->labels.end());
    EXPECT_EQ(static_cast<int>(distinct.size()), entry.classes);
    EXPECT_EQ(*distinct.begin(), 0);
}

std::map<std::string, int> class_counts(const PointsFile& read) {
    std::map<std::string, int> out;
    for (const std::int32_t label : read.labels.value().labels)
        ++out[read.labels->names.at(static_cast<std::size_t>(label))];
    return out;
}

TEST(Catalogue, ShippedSetsMatchTheirEntries) {
    for (const CatalogueEntry& entry : catalogue())
        if (entry.shipped) expect_as_stated(entry);
    const PointsFile iris = read_data("iris", {}, coterie::Run());
    EXPECT_EQ(class_counts(iris), (std::map<std::string, int>{{"setosa", 50}, {"versicolor", 50}, {"virginica", 50}}));
    EXPECT_EQ(iris.column_names.front(), "sepal_length");
    // The two rows in which UCI's copy differs from Fisher's table.
    EXPECT_DOUBLE_EQ(iris.points.view().at(34, 3), 0.2);
    EXPECT_DOUBLE_EQ(iris.points.view().at(37, 1), 3.6);
    EXPECT_EQ(class_counts(read_data("breast-cancer", {}, coterie::Run())),
              (std::map<std::string, int>{{"malignant", 212}, {"benign", 357}}));
    EXPECT_EQ(class_counts(read_data("penguins", {}, coterie::Run())),
              (std::map<std::string, int>{{"Adelie", 151}, {"Chinstrap", 68}, {"Gentoo", 123}}));
    EXPECT_EQ(class_counts(read_data("clouds", {}, coterie::Run())),
              (std::map<std::string, int>{{"wide", 200}, {"upper", 200}, {"lower", 200}}));
    EXPECT_EQ(class_counts(read_data("digits", {}, coterie::Run())).at("3"), 183);
}

TEST(Catalogue, OtherSetsMatchTheirEntriesIfPresent) {
    int found = 0;
    for (const CatalogueEntry& entry : catalogue()) {
        if (entry.shipped || locate_data(entry).empty()) continue;
        ++found;
        try {
            expect_as_stated(entry);
        } catch (const BadArgument& error) {  // a format that needs a library which this build lacks
            EXPECT_SAYS(std::string(error.message()), "this build does not have");
        }
    }
    if (found == 0) GTEST_SKIP() << "none of the larger sets is on this machine";
}

TEST(Catalogue, MaxRowsLimitsASet) {
    ReadOptions options;
    options.max_rows = 7;
    options.precision = Precision::float32;
    const PointsFile read = read_data("digits", options, coterie::Run());
    EXPECT_EQ(read.points.rows(), 7);
    EXPECT_EQ(read.points.scalar(), ScalarType::float32);
    ASSERT_TRUE(read.labels.has_value());
    EXPECT_EQ(read.labels->labels.size(), 7u);
}

// A file with three rows is an error unless max_rows is set, because the catalogue gives another number of rows.
TEST(Catalogue, RowsWithUnknownValuesAreDropped) {
    TemporaryFolder temporary;
    const Environment data("COTERIE_DATA", temporary.path.c_str());
    write(temporary.path / "auto-mpg" / "auto-mpg.data",
          "18.0   8   307.0      130.0      3504.      12.0   70  1\t\"a car\"\r\n"
          "25.0   4   98.00      ?          2046.      19.0   71  1\t\"no horsepower\"\n"
          "\n"
          "24.0   4   113.0      95.00      2372.      15.0   70  3\t\"another\"\n"
          "24.0   4   113.0      many       2372.      15.0   70  3\t\"bad\"\n");
    ReadOptions options;
    options.max_rows = 2;
    const PointsFile read = read_data("auto-mpg", options, coterie::Run());
    ASSERT_EQ(read.points.rows(), 2);
    EXPECT_EQ(read.points.columns(), 7);
    EXPECT_DOUBLE_EQ(read.points.view().at(0, 4), 3504);
    EXPECT_DOUBLE_EQ(read.points.view().at(1, 3), 95);
    EXPECT_EQ(class_counts(read), (std::map<std::string, int>{{"USA", 1}, {"Japan", 1}}));
    EXPECT_EQ(read.column_names.back(), "model_year");
    const std::string message = message_of<BadData>([] { read_data("auto-mpg", {}, coterie::Run()); });
    EXPECT_SAYS(message, "column 4, line 5");
    EXPECT_SAYS(message, "many");
    options.columns = {"mpg"};
    EXPECT_SAYS(message_of<BadArgument>([&] { read_data("auto-mpg", options, coterie::Run()); }), "auto-mpg");
}

TEST(Catalogue, SetOfAnotherSizeIsAnError) {
    TemporaryFolder temporary;
    const Environment data("COTERIE_DATA", temporary.path.c_str());
    write(temporary.path / "pima-indians-diabetes" / "pima-indians-diabetes.data", "6,148,72,35,0,33.6,0.627,50,1\n");
    EXPECT_SAYS(message_of<BadData>([] { read_data("pima-indians-diabetes", {}, coterie::Run()); }), "768");
    write(temporary.path / "pima-indians-diabetes" / "pima-indians-diabetes.data", "6,148,72,35,0,33.6,0.627,50\n");
    EXPECT_SAYS(message_of<BadData>([] { read_data("pima-indians-diabetes", {}, coterie::Run()); }),
                "column 9: there is no such column");
    write(temporary.path / "pima-indians-diabetes" / "pima-indians-diabetes.data",
          "6,148,72,35,0,33.6,0.627,50,1\n\n6,148,72,?,0,33.6,0.627,50,1\n6,148,72,35,0,33.6,0.627,50,2\n");
    EXPECT_SAYS(message_of<BadData>([] { read_data("pima-indians-diabetes", {}, coterie::Run()); }),
                "pima-indians-diabetes.data: column 9, line 4: '2' is not one of the classes");
}

// ---- downloading

// tests/http_server.py as a child process.
class Server {
public:
    explicit Server(const fs::path& folder, const fs::path& log) {
        const char* source = std::getenv("COTERIE_SOURCE");
        if (source == nullptr) return;
        const std::string script = (fs::path(source) / "tests" / "http_server.py").string();
        int ends[2];
        if (!fs::exists(script) || ::pipe(ends) != 0) return;
        process_ = ::fork();
        if (process_ == 0) {
            ::dup2(ends[1], 1);
            ::close(ends[0]);
            ::close(ends[1]);
            if (const int nothing = ::open("/dev/null", O_RDWR); nothing >= 0) {
                ::dup2(nothing, 0);
                ::dup2(nothing, 2);
            }
            ::execl("/usr/bin/env", "env", "python3", script.c_str(), folder.c_str(), "--log", log.c_str(), "--seconds",
                    "90", static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(ends[1]);
        std::string line;
        char c = 0;
        while (::read(ends[0], &c, 1) == 1 && c != '\n') line += c;
        ::close(ends[0]);
        if (!line.empty() && line.find_first_not_of("0123456789") == std::string::npos)
            address_ = "http://127.0.0.1:" + line;
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server() {
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
    }
    bool runs() const { return !address_.empty(); }
    std::string base(const std::string& behaviour) const { return address_ + "/" + behaviour; }

private:
    pid_t process_ = -1;
    std::string address_;
};

class Download : public ::testing::Test {
protected:
    void SetUp() override {
        // Enough bytes for several calls of the callbacks, without repetition.
        for (std::uint32_t i = 0; content.size() < 400000; ++i) content += std::to_string(i * 2654435761u) + ",";
        write(remote.path / "points.csv", content);
        write(remote.path / "labels.csv", "label\n1\n");
        entry.name = entry.folder = "test-set";
        entry.files = {{"points.csv", {}, {std::string(64, '0'), sum_of(content)}, content.size()},
                       {"labels.csv", {}, {sum_of("label\n1\n")}, 0}};
        log = remote.path / "log";
        server = std::make_unique<Server>(remote.path, log);
        if (!server->runs()) GTEST_SKIP() << "python3 or tests/http_server.py is not here: nothing to download from";
        // Uses no proxy between the test and this machine.
        proxy = std::make_unique<Environment>("no_proxy", "127.0.0.1");
        if (message_of<ResourceError>([&] { get("plain"); }).find("without libcurl") != std::string::npos)
            GTEST_SKIP() << "built without libcurl";
        fs::remove_all(local.path / "test-set");
        fs::remove(log);
    }
    fs::path get(const std::string& behaviour, const coterie::Run& run = coterie::Run()) {
        return get_data(entry, local.path, run, server->base(behaviour));
    }
    fs::path file() const { return local.path / "test-set" / "points.csv"; }
    fs::path part() const { return local.path / "test-set" / "points.csv.part"; }
    // Requests for the points, with the ranges they asked for.
    std::vector<std::string> requests() const {
        std::vector<std::string> out;
        std::istringstream lines(content_of(log));
        for (std::string line; std::getline(lines, line);)
            if (line.find("points.csv") != std::string::npos) out.push_back(line.substr(line.rfind(' ') + 1));
        return out;
    }
    void expect_whole() const {
        EXPECT_TRUE(content_of(file()) == content);
        EXPECT_FALSE(fs::exists(part()));
    }

    TemporaryFolder remote, local;
    fs::path log;
    std::string content;
    CatalogueEntry entry;
    std::unique_ptr<Server> server;
    std::unique_ptr<Environment> proxy;
};

TEST_F(Download, Fresh) {
    coterie::Run run;
    std::vector<double> fractions;
    run.on_progress = [&](const Progress& progress) {
        EXPECT_EQ(progress.stage, "downloading");
        fractions.push_back(progress.fraction);
    };
    EXPECT_EQ(get("plain", run), local.path / "test-set");
    expect_whole();
    EXPECT_EQ(content_of(local.path / "test-set" / "labels.csv"), "label\n1\n");
    EXPECT_EQ(requests(), std::vector<std::string>{"-"});
    ASSERT_FALSE(fractions.empty());
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(fractions.back(), 1.0);
    EXPECT_EQ(std::distance(fs::directory_iterator(local.path / "test-set"), fs::directory_iterator()), 2);
}

TEST_F(Download, FollowsARedirect) {
    get("moved");
    expect_whole();
}

TEST_F(Download, ResumesAPartialFile) {
    write(part(), content.substr(0, 150000));
    get("plain");
    expect_whole();
    EXPECT_EQ(requests(), std::vector<std::string>{"bytes=150000-"});
}

TEST_F(Download, ServerIgnoresTheRange) {
    write(part(), content.substr(0, 150000));
    get("norange");
    expect_whole();
    EXPECT_EQ(requests().size(), 1u);
}

TEST_F(Download, ServerSendsAnotherRange) {
    write(part(), content.substr(0, 150000));
    get("shifted");
    expect_whole();
    EXPECT_EQ(requests(), (std::vector<std::string>{"bytes=150000-", "-"}));
}

TEST_F(Download, PartialFileIsComplete) {
    write(part(), content);
    get("plain");
    expect_whole();
}

TEST_F(Download, PartOfAnotherFileIsDownloadedAgain) {
    write(part(), std::string(150000, 'x'));
    get("plain");
    expect_whole();
    EXPECT_EQ(requests(), (std::vector<std::string>{"bytes=150000-", "-"}));
}

TEST_F(Download, TooLongPartIsDownloadedAgain) {
    write(part(), content + "more");
    get("plain");
    expect_whole();
}

TEST_F(Download, BrokenConnectionIsResumed) {
    get("cut");
    expect_whole();
    EXPECT_EQ(requests(), (std::vector<std::string>{"-", "bytes=" + std::to_string(content.size() / 2) + "-"}));
}

TEST_F(Download, RepeatedlyBrokenConnectionKeepsThePart) {
    const std::string message = message_of<ResourceError>([&] { get("alwayscut"); });
    EXPECT_SAYS(message, "3 tries");
    EXPECT_SAYS(message, "/alwayscut/points.csv");
    EXPECT_FALSE(fs::exists(file()));
    ASSERT_TRUE(fs::exists(part()));
    const std::string begun = content_of(part());
    EXPECT_GT(begun.size(), content.size() / 2);
    EXPECT_TRUE(content.compare(0, begun.size(), begun) == 0);
    get("plain");
    expect_whole();
    EXPECT_EQ(requests().back(), "bytes=" + std::to_string(begun.size()) + "-");
}

TEST_F(Download, CorruptedFileIsRemoved) {
    const std::string message = message_of<ResourceError>([&] { get("corrupt"); });
    EXPECT_SAYS(message, "SHA-256");
    EXPECT_SAYS(message, "/corrupt/points.csv");
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Download, MissingFileErrorHasUrlAndStatus) {
    const std::string message = message_of<ResourceError>([&] { get("missing"); });
    EXPECT_SAYS(message, "404");
    EXPECT_SAYS(message, server->base("missing") + "/points.csv");
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_FALSE(fs::exists(part()));
}

TEST_F(Download, StopsWhenAsked) {
    coterie::Run run;
    int asked = 0;
    run.should_stop = [&] { return ++asked > 3; };
    EXPECT_SAYS(message_of<Cancelled>([&] { get("slow", run); }), "stopped");
    EXPECT_FALSE(fs::exists(file()));
    get("plain");
    expect_whole();
}

TEST_F(Download, CallbackExceptionIsThrown) {
    coterie::Run run;
    run.on_progress = [](const Progress&) { throw BadArgument({.code = Code::note, .problem = "from the callback"}); };
    EXPECT_SAYS(message_of<BadArgument>([&] { get("plain", run); }), "from the callback");
}

TEST_F(Download, ExistingFileIsNotDownloaded) {
    write(file(), content);
    get("plain");
    EXPECT_TRUE(requests().empty());
    EXPECT_TRUE(fs::exists(local.path / "test-set" / "labels.csv"));
}

TEST_F(Download, WrongExistingFileIsReplaced) {
    write(file(), "something else");
    get("plain");
    expect_whole();
}

TEST_F(Download, SetInADataFolderIsNotDownloaded) {
    write(local.path / "test-set" / "points.csv", content);
    write(local.path / "test-set" / "labels.csv", "label\n1\n");
    const Environment data("COTERIE_DATA", local.path.c_str());
    TemporaryFolder cache;
    const Environment home("XDG_CACHE_HOME", cache.path.c_str());
    EXPECT_EQ(get_data(entry, {}, coterie::Run(), server->base("plain")), local.path / "test-set");
    EXPECT_TRUE(requests().empty());
    EXPECT_TRUE(fs::is_empty(cache.path));
}

TEST_F(Download, UsesTheCacheByDefault) {
    const Environment data("COTERIE_DATA", nullptr);
    const Environment home("XDG_CACHE_HOME", local.path.c_str());
    EXPECT_EQ(get_data(entry, {}, coterie::Run(), server->base("plain")), local.path / "coterie" / "test-set");
    EXPECT_EQ(locate_data(entry), local.path / "coterie" / "test-set");
}

TEST_F(Download, UnwritableFolder) {
    write(local.path / "test-set", "a file where the folder should be");
    EXPECT_SAYS(message_of<ResourceError>([&] { get("plain"); }), "test-set");
}

TEST_F(Download, Offline) {
    // Nothing listens on port 9 (discard) of this machine.
    const std::string message =
        message_of<ResourceError>([&] { get_data(entry, local.path, coterie::Run(), "http://127.0.0.1:9/x"); });
    EXPECT_SAYS(message, "http://127.0.0.1:9/x/points.csv");
    EXPECT_FALSE(fs::exists(part()));
}

}  // namespace
}  // namespace coterie
