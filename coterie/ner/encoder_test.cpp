// Compares encoders and pieces with the results of Hugging Face's programs (tests/ner/make_golden.py).
// Also tests long sentences, folders with contradictions, and the other sources of vectors.

#include "coterie/ner/encoder.hpp"

#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coterie/io/reader.hpp"
#include "coterie/ner/internal/word_pieces.hpp"
#include "coterie/ner/vectors.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::ner {
namespace {

using coterie::testing::contents;
using coterie::testing::Folder;
using coterie::testing::has;

std::string golden(const std::string& name) {
    const char* const root = std::getenv("COTERIE_SOURCE");
    return std::string(root != nullptr ? root : ".") + "/tests/ner/" + name;
}

Corpus corpus_of_words(const std::vector<std::string>& words) {
    std::string file;
    for (const std::string& word : words) file += word + "\n";
    return parse_corpus(file, "words.conll");
}

TEST(NerWordPieces, AgreeWithHuggingFaceTokenizers) {
    const auto known = nlohmann::json::parse(contents(golden("pieces.json")));
    ASSERT_GT(known.size(), 80u);
    const std::string vocabulary = contents(golden("vocab.txt"));
    for (const auto& one : known) {
        const bool lower = one["lower_case"];
        const internal::WordPieces pieces(vocabulary, "vocab.txt", {lower, lower, true}, "[UNK]", "[CLS]", "[SEP]");
        const std::string text = one["text"];
        EXPECT_EQ(pieces.pieces_of(text), one["pieces"].get<std::vector<std::int32_t>>())
            << one["text"].dump(-1, ' ', true) << (lower ? " in lower case" : "");
    }
}

TEST(NerEncoder, StatesAgreeWithTransformers) {
    for (const char* const name : {"bert", "distilbert", "mpnet"}) {
        const Encoder encoder(golden(name));
        const auto sentence = nlohmann::json::parse(contents(golden(name) + "/sentence.json"));
        const Corpus corpus = corpus_of_words(sentence["words"]);
        const Matrix<double> states = to_matrix<double>(read_points_file(golden(name) + "/states.npy").points);
        Index all = 2;
        for (const auto& word : sentence["pieces"]) all += static_cast<Index>(word.size());
        ASSERT_EQ(states.rows(), all * (encoder.layers() + 1)) << name;
        for (int layer = 0; layer <= encoder.layers(); ++layer) {
            const Matrix<float> found = encoder.encode(corpus, layer, coterie::Run(0, 2));
            ASSERT_EQ(found.rows(), corpus.words());
            Index piece = layer * all + 1;
            for (std::size_t w = 0; w < sentence["words"].size(); ++w) {
                const auto count = static_cast<Index>(sentence["pieces"][w].size());
                const Matrix<double> meant = 0.5 * (states.row(piece) + states.row(piece + count - 1));
                EXPECT_LT((found.row(static_cast<Index>(w)).cast<double>() - meant).cwiseAbs().maxCoeff(), 2e-5)
                    << name << " layer " << layer << " word " << w;
                piece += count;
            }
        }
    }
}

TEST(NerEncoder, SelectsLayers) {
    const Encoder encoder(golden("bert"));
    EXPECT_EQ(encoder.layer_of("last"), 3);
    EXPECT_EQ(encoder.layer_of("auto"), 1);
    EXPECT_EQ(encoder.layer_of("0"), 0);
    for (const char* const bad : {"4", "-1", "x", ""})
        EXPECT_TRUE(has(coterie::test::message_of([&] { encoder.layer_of(bad); }), "from 0 to 3")) << bad;
}

TEST(NerEncoder, LongSentencesAndOddWords) {
    const Encoder encoder(golden("bert"));  // 78 pieces between [CLS] and [SEP]
    std::vector<std::string> words(10'000, "stop");
    words[5] = std::string(500, '.');  // more pieces than the encoder has positions
    words[6] = "\xe2\x80\x8b";         // cleaning leaves nothing of it
    words[7] = std::string(2000, 'x');
    const Corpus corpus = corpus_of_words(words);
    const Matrix<float> all = encoder.encode(corpus, 3, coterie::Run(0, 1));
    EXPECT_TRUE(all.allFinite());
    EXPECT_GT(all.rowwise().squaredNorm().minCoeff(), 0);
    for (const int threads : {2, 8}) EXPECT_EQ(all, encoder.encode(corpus, 3, coterie::Run(0, threads)));
    // The words after that word begin a new chunk, like a sentence of 78 words.
    const Matrix<float> alone =
        encoder.encode(corpus_of_words(std::vector<std::string>(78, "stop")), 3, coterie::Run(0, 1));
    EXPECT_LT((all.middleRows(8 + 76, 78) - alone).cwiseAbs().maxCoeff(), 1e-4);
}

TEST(NerEncoder, InconsistentFoldersAreErrors) {
    const Folder folder;
    const auto copy = [&](const std::string& name) {
        const std::string place = folder / name;
        std::filesystem::copy(golden("bert"), place);
        return place;
    };
    const auto message = [&](const std::string& place) {
        return coterie::test::message_of([&] { const Encoder encoder(place); });
    };
    const auto with = [&](const std::string& key, const nlohmann::json& value, const std::string& words) {
        static int number = 0;
        const std::string place = copy("c" + std::to_string(number++));
        auto config = nlohmann::json::parse(contents(place + "/config.json"));
        config[key] = value;
        std::ofstream(place + "/config.json") << config;
        const std::string said = message(place);
        EXPECT_TRUE(has(said, words)) << key << ": " << said;
        EXPECT_TRUE(has(said, place)) << said;
    };
    with("model_type", "gpt2", "model_type is \"gpt2\", but must be bert, distilbert or mpnet");
    with("hidden_size", 48, "config.json says 60 x 48");
    with("hidden_size", -1, "must be from 1");
    with("hidden_size", "24", "a whole number");
    with("num_attention_heads", 5, "a divisor of the 24 dimensions");
    with("num_hidden_layers", 4, "tensor encoder.layer.3.attention.self.query.weight is missing");
    with("intermediate_size", 41, "config.json says 41 x 24");
    with("hidden_act", "swish", "gelu");
    with("vocab_size", 59, "60 pieces, but config.json says vocab_size 59");
    with("max_position_embeddings", 512, "position_embeddings");
    for (const char* const file : {"config.json", "vocab.txt", "tokenizer_config.json", "model.safetensors"}) {
        const std::string place = copy(std::string("without-") + file);
        std::filesystem::remove(place + "/" + file);
        EXPECT_TRUE(has(message(place), file)) << file;
    }
    const std::string place = copy("damaged");
    std::string bytes = contents(place + "/model.safetensors");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(bytes.data() + bytes.size() - sizeof nan, &nan, sizeof nan);
    std::ofstream(place + "/model.safetensors", std::ios::binary) << bytes;
    EXPECT_TRUE(has(message(place), "not finite")) << message(place);
    std::ofstream(place + "/model.safetensors", std::ios::binary) << bytes.substr(0, 900);
    EXPECT_TRUE(has(message(place), "model.safetensors"));
    std::ofstream(place + "/vocab.txt") << "[UNK]\n[CLS]\na\na\n[SEP]\n";
    EXPECT_TRUE(has(message(place), "line 4: piece 'a' occurs twice"));
    std::ofstream(place + "/vocab.txt") << "[UNK]\n[CLS]\n";
    EXPECT_TRUE(has(message(place), "no piece [SEP]"));
}

TEST(NerVectors, StaticVectorsAndFiles) {
    const Folder folder;
    const Corpus corpus = parse_corpus("Paris\nsaw\nnobody\n", "a.conll");
    const auto rows = [&](const std::string& source) {
        return to_matrix<double>(word_vectors(source, corpus, {}, coterie::Run(0, 1)).vectors);
    };
    const Matrix<double> meant = {{1, 2}, {3, 4}, {2, 3}};
    EXPECT_EQ(rows(folder.file("glove.txt", "paris 1 2\nsaw 3 4\n")), meant);
    EXPECT_EQ(rows(folder.file("vec.txt", "2 2\nparis 1 2\nsaw 3 4\n")), meant);
    EXPECT_EQ(rows(folder.file(
                  "a.npy", coterie::testing::npy("<f4", "(3, 2)", coterie::testing::raw<float>({1, 2, 3, 4, 2, 3})))),
              meant);
    const WordVectors found = word_vectors(folder / "glove.txt", corpus, {}, coterie::Run(0, 1));
    EXPECT_EQ(found.notes.at(0).text(), "a.conll: 1 of 3 words have no vector and get the mean of all vectors");
    const auto message = [&](const std::string& source, const std::string& layer = "auto") {
        return coterie::test::message_of([&] { word_vectors(source, corpus, {layer}, coterie::Run(0, 1)); });
    };
    EXPECT_TRUE(
        has(message(folder.file("b.txt", "a 1 2\nb 1\n")), "b.txt: line 2: 1 number, but the lines before have 2"));
    EXPECT_TRUE(has(message(folder.file("c.txt", "a 1 x\n")), "c.txt: line 1: 'x' is not a number"));
    EXPECT_TRUE(has(message(folder.file("d.txt", "")), "d.txt: the file has no vectors"));
    EXPECT_TRUE(
        has(message(folder.file("e.npy", coterie::testing::npy("<f4", "(1, 2)", coterie::testing::raw<float>({1, 2})))),
            "e.npy: 1 row for the 3 words of a.conll"));
    EXPECT_TRUE(has(message(folder / "glove.txt", "last"), "layer"));
    EXPECT_TRUE(has(message(folder / "nothing"), "nothing: there is no such file or folder"));
    EXPECT_TRUE(has(message(folder / ""), "has neither config.json"));
    const WordVectors encoded = word_vectors(golden("bert"), corpus, {"last"}, coterie::Run(0, 1));
    EXPECT_EQ(encoded.layer, "3");
    EXPECT_EQ(encoded.vectors.columns(), 24);
}

}  // namespace
}  // namespace coterie::ner
