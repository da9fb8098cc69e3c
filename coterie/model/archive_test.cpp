#include "coterie/model/archive.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "coterie/base/random.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/io/sha256.hpp"
#include "tests/support/test_files.hpp"

namespace coterie {
namespace {

using testing::contents;
using testing::Folder;
using testing::has;
using testing::message_of;

enum class Colour { red, green };
struct Settings {
    int clusters = 8;
    double tolerance = 1e-4;
    bool fast = false;
    Colour colour = Colour::red;
    std::string note;
    std::optional<int> rounds;
    std::vector<double> shares;
    std::vector<int> sides = {1};
    static const OptionSet& described() {
        static const OptionSet set = OptionSetFor<Settings>()
                                         .integer("clusters", &Settings::clusters, at_least(1), "number of clusters")
                                         .real("tolerance", &Settings::tolerance, at_least(0), "tolerance")
                                         .flag("fast", &Settings::fast, "whether to hurry")
                                         .choice("colour", &Settings::colour, {"red", "green"}, "colour")
                                         .text("note", &Settings::note, "anything")
                                         .integer("rounds", &Settings::rounds, at_least(1), "rounds", "all")
                                         .reals("shares", &Settings::shares, above(0), "shares", "equal")
                                         .integers("sides", &Settings::sides, at_least(1), "sides");
        return set;
    }
};

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}
Archive parsed(const std::string& text) { return Archive::from_bytes(bytes_of(text), "m.model"); }

Archive sample() {
    Archive archive("kmeans");
    Settings settings;
    settings.clusters = 3;
    settings.tolerance = 2;
    settings.fast = true;
    settings.colour = Colour::green;
    settings.note = "a \"quoted\" \xc3\xa9 \\ \n text";
    settings.shares = {0.5, 2};
    settings.sides = {28, 28};
    archive.set_options(Settings::described().values(&settings));
    archive.set_text("scale", "minmax");
    archive.set_text("sha256", "\"sha256\":\"");
    Matrix<float> centroids(2, 3);
    centroids << 1, 2, 3, 4, 5, 6.5;
    archive.set_points("centroids", centroids);
    archive.set_points("basis", PointsView(centroids.data(), 2, 2, 3));
    archive.set_vector("weights", std::vector<double>{0.25, -1e300});
    archive.set_vector("empty", {});
    archive.set_labels("labels", Labels{0, -1, 1});
    return archive;
}

TEST(Archive, RoundTrip) {
    const Folder folder;
    const std::string path = folder / "m.model";
    sample().save(path);
    EXPECT_EQ(folder.entries(), 1u);
    const Archive archive = Archive::load(path);
    EXPECT_EQ(archive.method(), "kmeans");
    const auto settings = archive.options_as<Settings>();
    EXPECT_EQ(settings.clusters, 3);
    EXPECT_EQ(settings.tolerance, 2.0);
    EXPECT_TRUE(settings.fast);
    EXPECT_EQ(settings.colour, Colour::green);
    EXPECT_EQ(settings.rounds, std::nullopt);
    EXPECT_EQ(settings.shares, (std::vector<double>{0.5, 2}));
    EXPECT_EQ(settings.sides, (std::vector<int>{28, 28}));
    EXPECT_EQ(settings.note, "a \"quoted\" \xc3\xa9 \\ \n text");
    EXPECT_EQ(archive.text("scale"), "minmax");
    const Points centroids = archive.points("centroids", 2, 3);
    EXPECT_EQ(centroids.scalar(), ScalarType::float32);
    EXPECT_EQ(centroids.view().at(1, 2), 6.5);
    EXPECT_EQ(archive.points("basis", -1, 2).view().at(1, 0), 4.0);
    EXPECT_EQ(archive.vector("weights", 2), (std::vector<double>{0.25, -1e300}));
    EXPECT_TRUE(archive.vector("empty").empty());
    EXPECT_EQ(archive.labels("labels"), (Labels{0, -1, 1}));
    EXPECT_EQ(archive.to_bytes(), contents(path));
    // Points can be read from a model like from any safetensors file.
    std::filesystem::copy_file(path, folder / "m.safetensors");
    EXPECT_EQ(read_points_file(folder / "m.safetensors:centroids").points.view().at(0, 1), 2.0);
    EXPECT_EQ(read_labels_file(folder / "m.safetensors:labels", {}, true).labels, (Labels{0, -1, 1}));
}

TEST(Archive, RejectsWrongNamesShapesAndTypes) {
    const Archive archive = parsed(sample().to_bytes());
    EXPECT_TRUE(has(message_of<BadData>([&] { archive.points("none"); }), "has no tensor 'none'"));
    EXPECT_TRUE(has(message_of<BadData>([&] { archive.points("centroids", 2, 4); }), "is 2 x 3; 2 x 4 is needed"));
    EXPECT_THROW(archive.points("weights"), BadData);
    EXPECT_THROW(archive.vector("labels"), BadData);
    EXPECT_THROW(archive.labels("weights"), BadData);
    EXPECT_THROW(archive.text("none"), BadData);
    Archive bad("kmeans");
    bad.set_options({{"clusters", 0}});
    EXPECT_TRUE(has(message_of<BadData>([&] { parsed(bad.to_bytes()).options_as<Settings>(); }),
                    "clusters does not fit: 0 is not accepted"));
    bad.set_options({{"colours", std::string("red")}});
    EXPECT_THROW(parsed(bad.to_bytes()).options_as<Settings>(), BadData);
    bad.set_options({{"tolerance", std::numeric_limits<double>::quiet_NaN()}});
    EXPECT_THROW(bad.to_bytes(), BadArgument);
    EXPECT_THROW(bad.set_vector("__metadata__", {}), BadArgument);
    Archive nan("kmeans");
    nan.set_vector("v", std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()});
    EXPECT_THROW(parsed(nan.to_bytes()).vector("v"), BadData);
}

TEST(Archive, InvalidUtf8IsReplaced) {
    Archive archive("kmeans");
    archive.set_text("path", "caf\xe9");
    EXPECT_EQ(parsed(archive.to_bytes()).text("path"), "caf\xef\xbf\xbd");
}

TEST(Archive, DetectsEveryFlippedByte) {
    const std::string good = sample().to_bytes();
    ASSERT_NO_THROW(parsed(good));
    for (std::size_t at = 0; at < good.size(); ++at)
        for (const int flip : {1, 0x20, 0x80, 0xff}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            EXPECT_THROW(parsed(bad), BadData) << at;
        }
}

TEST(Archive, DetectsEveryTruncation) {
    const std::string good = sample().to_bytes();
    for (std::size_t size = 0; size < good.size(); ++size) EXPECT_THROW(parsed(good.substr(0, size)), BadData) << size;
    EXPECT_THROW(parsed(good + '\0'), BadData);
}

// A safetensors file with the given header and data. "SHA" in the header becomes the correct checksum.
std::string handmade(std::string header, const std::string& data = {}) {
    const std::size_t at = header.find("SHA");
    if (at != std::string::npos) header.replace(at, 3, std::string(64, '0'));
    while (header.size() % 8 != 0) header += ' ';
    const std::uint64_t length = header.size();
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 8);
    out += header + data;
    if (at != std::string::npos) {
        Sha256 hash;
        hash.update(out.data(), out.size());
        out.replace(8 + at, 64, hash.hex());
    }
    return out;
}
std::string facts(const std::string& version = "1", const std::string& options = "{}") {
    return R"("__metadata__":{"coterie_version":"0.1.0","format":"coterie-model","format_version":")" + version +
           R"(","method":"m","options":")" + options + R"(","sha256":"SHA"})";
}

TEST(Archive, RejectsInvalidHeaders) {
    const std::string eight(8, '\0');
    ASSERT_NO_THROW(parsed(handmade("{" + facts() + "}")));
    ASSERT_NO_THROW(
        parsed(handmade("{" + facts() + R"(,"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", eight)));
    const struct {
        std::string header, data, message;
    } cases[] = {
        {"{" + facts("2") + "}", "", "format version '2'"},
        {"{" + facts("1", "[1]") + "}", "", "not a JSON object"},
        {"{" + facts("1", "{") + "}", "", "not valid JSON"},
        {"{" + facts("1", R"({\"a\":{}})") + "}", "", "option 'a'"},
        {"{" + facts("1", R"({\"a\":[1,null]})") + "}", "", "option 'a'"},
        {"{" + facts("1", R"({\"a\":[1,\"b\"]})") + "}", "", "option 'a'"},
        {"{" + facts("1", R"({\"a\":18446744073709551615})") + "}", "", "too large"},
        {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})", eight, "not a model of coterie"},
        {R"({"__metadata__":{"format":"pt"}})", "", "its format is 'pt'"},
        {R"({"__metadata__":{"format":1}})", "", "is not text"},
        {R"({"__metadata__":[]})", "", "not an object"},
        {"{" + facts() + "," + facts() + "}", "", "twice"},
        {"{" + facts() + R"(,"a":{"dtype":"U8","dtype":"I8","shape":[8],"data_offsets":[0,8]}})", eight, "twice"},
        {"{" + facts() +
             R"(,"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[6],"data_offsets":[2,8]}})",
         eight, "overlaps"},
        {"{" + facts() +
             R"(,"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}})",
         eight, "gap"},
        {"{" + facts() + R"(,"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", eight, "belong to no tensor"},
        {"{" + facts() + R"(,"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", eight, "outside"},
        {"{" + facts() + R"(,"a":{"dtype":"U8","shape":[8],"data_offsets":[8,0]}})", eight, "outside"},
        {"{" + facts() + R"(,"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", eight, "do not match"},
        {"{" + facts() + R"(,"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", eight,
         "shape"},
        {"{" + facts() + R"(,"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,8]}})", eight, "not a whole number"},
        {"{" + facts() + R"(,"a":{"dtype":"F64","shape":[1.0],"data_offsets":[0,8]}})", eight, "not a whole number"},
        {"{" + facts() + R"(,"a":{"dtype":"Q64","shape":[1],"data_offsets":[0,8]}})", eight, "unknown type"},
        {"{" + facts() + R"(,"a":{"dtype":"U16","shape":[4],"data_offsets":[0,8]}})", eight, "no model has"},
        {"{" + facts() + R"(,"a":{"shape":[4],"data_offsets":[0,8]}})", eight, "has no dtype"},
        {"{" + facts() + R"(,"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8],"x":1}})", eight, "other than"},
        {"{" + facts() + R"(,"a":{"dtype":"U8","shape":[8],"data_offsets":[0]}})", eight, "has the wrong type"},
        {"[]", "", "not JSON"},
        {"{" + std::string(100000, '['), "", "JSON"},
        {R"({"a":)" + std::string(1000, '[') + std::string(1000, ']') + "}", "", "nested"},
    };
    for (const auto& bad : cases) {
        const std::string message = message_of<BadData>([&] { parsed(handmade(bad.header, bad.data)); });
        EXPECT_TRUE(has(message, bad.message)) << bad.header.substr(0, 300) << "\n" << message;
        EXPECT_TRUE(has(message, "m.model")) << message;
    }
    std::string lying = handmade("{}");
    std::memset(lying.data(), 0xff, 8);
    EXPECT_THROW(parsed(lying), BadData);
}

TEST(Archive, PythonReadsIt) {
    if (testing::python("json").empty()) GTEST_SKIP() << "no Python here";
    const Folder folder;
    sample().save(folder / "m.model");
    EXPECT_TRUE(testing::run_python(folder, R"(
import sys, json, struct, hashlib
b = open(sys.argv[1], 'rb').read()
n = struct.unpack('<Q', b[:8])[0]
assert n % 8 == 0
h = json.loads(b[8:8 + n]); meta = h.pop('__metadata__')
assert all(isinstance(v, str) for v in meta.values())
assert meta['format'] == 'coterie-model' and meta['format_version'] == '1' and meta['method'] == 'kmeans'
assert json.loads(meta['options'])['clusters'] == 3 and meta['text.scale'] == 'minmax'
end = 0
for name, t in sorted(h.items(), key=lambda item: item[1]['data_offsets']):
    assert t['data_offsets'][0] == end; end = t['data_offsets'][1]
    assert t['data_offsets'][0] % {'F64': 8, 'F32': 4, 'I32': 4}[t['dtype']] == 0
assert 8 + n + end == len(b)
t = h['centroids']; assert t['dtype'] == 'F32' and t['shape'] == [2, 3]
o = 8 + n + t['data_offsets'][0]; assert struct.unpack('<6f', b[o:o + 24]) == (1, 2, 3, 4, 5, 6.5)
assert hashlib.sha256(b.replace(meta['sha256'].encode(), b'0' * 64)).hexdigest() == meta['sha256']
)",
                                    folder / "m.model"));
}

TEST(Sha256, KnownAnswers) {
    const auto of = [](const std::string& text) {
        Sha256 hash;
        hash.update(text.data(), text.size());
        return hash.hex();
    };
    EXPECT_EQ(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    // The same text, hashed in pieces of every size.
    const std::string text(300, 'x');
    for (std::size_t piece = 1; piece < 130; ++piece) {
        Sha256 hash;
        for (std::size_t at = 0; at < text.size(); at += piece)
            hash.update(text.data() + at, std::min(piece, text.size() - at));
        EXPECT_EQ(hash.hex(), of(text));
    }
    const Folder folder;
    EXPECT_EQ(sha256_of_file(folder.file("abc", "abc")), of("abc"));
    EXPECT_THROW(sha256_of_file(folder / "none"), ResourceError);
}

}  // namespace
}  // namespace coterie
