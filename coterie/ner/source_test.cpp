// Tests source training on tiny random encoders. Compares LibTorch's pass with our own, and gradients with finite
// differences.
// Also tests that losses fall, that types separate, training with interruptions, and input that is not valid.

#include "coterie/ner/source.hpp"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "coterie/deep/word_encoder.hpp"
#include "coterie/ner/adapt.hpp"
#include "coterie/ner/encoder.hpp"
#include "coterie/ner/internal/source_training.hpp"
#include "coterie/ner/scoring.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_samples.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::WordBatch;
using coterie::internal::WordEncoder;
using coterie::testing::contents;
using coterie::testing::Folder;
using coterie::testing::has;

std::string tiny(const std::string& kind) {
    const char* const root = std::getenv("COTERIE_SOURCE");
    return std::string(root != nullptr ? root : ".") + "/tests/ner/" + kind;
}

// Sentences of 3 to 12 words. Only the word determines whether it is a mention, and of which type.
Corpus source_corpus(int sentences, std::uint64_t seed, const std::string& first_type, const std::string& second_type) {
    RandomStream random(seed, "test.source");
    const std::vector<std::string> words = {"un", "words", "stop", "unaffable", "playing", "cafe", "plain", "text"};
    std::string file;
    for (int s = 0; s < sentences; ++s) {
        const auto count = 3 + random.below(10);
        for (std::uint64_t w = 0; w < count; ++w) {
            const auto which = random.below(words.size());
            file += words[which] +
                    (which == 6   ? "\tB-" + first_type
                     : which == 7 ? "\tB-" + second_type
                                  : "\tO") +
                    "\n";
        }
        file += "plain\tB-" + first_type + "\n\n";
    }
    return parse_corpus(file, first_type + ".conll");
}

// Three words are of type FIRST, and two of type SECOND; or one word per type. Each type occurs once per sentence.
Corpus corpus_of_kinds(int sentences, std::uint64_t seed, bool one_word_per_type) {
    RandomStream random(seed, "test.source.kinds");
    std::string file;
    const auto add = [&](const std::vector<std::string>& words, const char* tag) {
        file += words[random.below(words.size())] + "\t" + tag + "\n";
    };
    const auto outside = [&] {
        for (auto count = 1 + random.below(3); count > 0; --count) add({"words", "un", "unaffable"}, "O");
    };
    for (int s = 0; s < sentences; ++s) {
        outside();
        add(one_word_per_type ? std::vector<std::string>{"plain"} : std::vector<std::string>{"plain", "cafe", "stop"},
            "B-FIRST");
        outside();
        add(one_word_per_type ? std::vector<std::string>{"text"} : std::vector<std::string>{"text", "playing"},
            "B-SECOND");
        outside();
        file += "\n";
    }
    return parse_corpus(file, "kinds.conll");
}

// F1, on other sentences, of a tagger that uses the nearest words of a support, with the last layer.
double f1_of_nearest_words(const std::string& folder, const Corpus& support, const Corpus& gold) {
    const Encoder encoder(folder);
    const coterie::Run run(0, 2);
    const auto vectors = [&](const Corpus& corpus) { return encoder.encode(corpus, encoder.layers(), run); };
    const Tagger tagger = adapt(support, PointsView(vectors(support)), {}, {.method = Adaptation::nearest_word}, run);
    Corpus found = gold;
    tagger.tag(found, PointsView(vectors(gold)), {}, run);
    return score_mentions(gold, found).micro.f1();
}

// The tiny encoder with random values, as at the start of training. With the values in the repository, all words have
// nearly the same vector in the last layer.
std::string fresh(const std::string& kind, const Folder& place) {
    const internal::EncoderFolder from(tiny(kind));
    RandomStream random(11, "test.source.fresh");
    std::vector<std::vector<float>> values;
    for (const auto& parameter : from.parameters()) {
        values.emplace_back(static_cast<std::size_t>(parameter.rows * parameter.columns));
        for (float& value : values.back())
            value = !parameter.vector                    ? static_cast<float>(0.2 * random.normal())
                    : parameter.key.ends_with(".weight") ? 1.0F
                                                         : 0.0F;
    }
    const std::string out = place / ("fresh-" + kind);
    from.write_trained(out, values);
    std::filesystem::copy_file(tiny(kind) + "/config.json", out + "/config.json",
                               std::filesystem::copy_options::overwrite_existing);
    return out;
}

std::unique_ptr<WordEncoder> loaded(const internal::EncoderFolder& folder,
                                    const std::vector<std::pair<Index, Index>>& beside = {}) {
    auto out = std::make_unique<WordEncoder>(folder.shape, beside, 2);
    for (std::size_t p = 0; p < folder.parameters().size(); ++p) {
        const Matrix<float> values = folder.matrix(p);
        out->set_parameter(static_cast<int>(p), values.data(), static_cast<std::size_t>(values.size()));
    }
    return out;
}

WordBatch batch_of(const Corpus& corpus, const internal::EncoderFolder& folder) {
    WordBatch out;
    for (const internal::Chunk& chunk :
         internal::chunks_of(corpus, folder.vocabulary, folder.shape.positions - folder.shape.first_position)) {
        const std::int64_t start = out.starts.back();
        for (const auto& [first, last] : chunk.words) {
            out.words.push_back(start + first);
            out.words.push_back(start + last);
        }
        out.pieces.insert(out.pieces.end(), chunk.pieces.begin(), chunk.pieces.end());
        out.starts.push_back(start + static_cast<std::int64_t>(chunk.pieces.size()));
    }
    return out;
}

void expect_same_vectors(const std::string& place) {
    const internal::EncoderFolder folder(place);
    const Corpus corpus = source_corpus(20, 1, "A", "B");
    const Encoder encoder(place);
    const Matrix<float> own = encoder.encode(corpus, encoder.layers(), coterie::Run(0, 2));
    const Matrix<float> theirs = loaded(folder)->forward(batch_of(corpus, folder), 0);
    ASSERT_EQ(own.rows(), theirs.rows());
    EXPECT_LT((own - theirs).cwiseAbs().maxCoeff(), 1e-4) << place;
}

TEST(NerSource, LibTorchVectorsEqualThoseOfTheEncoder) {
    COTERIE_NEEDS_NETWORKS;
    for (const char* const kind : {"bert", "distilbert", "mpnet"}) expect_same_vectors(tiny(kind));
}

TEST(NerSource, GradientsAgreeWithFiniteDifferences) {
    COTERIE_NEEDS_NETWORKS;
    for (const char* const kind : {"bert", "distilbert", "mpnet"}) {
        const internal::EncoderFolder folder(tiny(kind));
        const Corpus corpus = source_corpus(6, 2, "A", "B");
        const Labels tags = corpus.tags();
        const WordBatch batch = batch_of(corpus, folder);
        const auto network = loaded(folder, {{3, folder.shape.hidden}});
        const auto own = static_cast<int>(folder.parameters().size());
        RandomStream random(3, "test.source.prototypes");
        std::vector<float> prototypes(static_cast<std::size_t>(3 * folder.shape.hidden));
        for (float& value : prototypes) value = static_cast<float>(0.3 * random.normal());
        network->set_parameter(own, prototypes.data(), prototypes.size());
        const auto loss = [&] {
            const std::vector<float> flat = network->parameter(own);
            return internal::prototype_loss(
                network->forward(batch, 77), tags,
                Eigen::Map<const eigen::Matrix<float>>(flat.data(), 3, folder.shape.hidden));
        };
        const internal::PrototypeLoss here = loss();
        network->add_gradient(own, here.by_prototypes);
        network->backward(here.by_vectors);
        for (int p = 0; p <= own; ++p) {
            const std::vector<float> gradient = network->gradient(p);
            const std::vector<float> start = network->parameter(p);
            double norm = 0;
            for (const float g : gradient) norm += static_cast<double>(g) * static_cast<double>(g);
            norm = std::sqrt(norm);
            const std::string what =
                std::string(kind) + " " +
                (p < own ? folder.parameters()[static_cast<std::size_t>(p)].key : std::string("prototypes"));
            // The bias is the same for all keys, so it does not change the attention.
            if (what.find(".k.bias") != std::string::npos || what.find("k_lin.bias") != std::string::npos ||
                what.find("key.bias") != std::string::npos) {
                EXPECT_LT(norm, 1e-2) << what;
                continue;
            }
            ASSERT_GT(norm, 1e-2) << what;
            const auto moved = [&](double by) {
                std::vector<float> values = start;
                for (std::size_t i = 0; i < values.size(); ++i)
                    values[i] += static_cast<float>(by * static_cast<double>(gradient[i]) / norm);
                network->set_parameter(p, values.data(), values.size());
                return loss().sum;
            };
            const double step = 2e-3;
            EXPECT_NEAR((moved(step) - moved(-step)) / (2 * step), norm, 0.02 * norm) << what;
            network->set_parameter(p, start.data(), start.size());
        }
    }
}

TEST(NerSource, TrainsOnCorporaOfDifferentTypes) {
    COTERIE_NEEDS_NETWORKS;
    const Folder folder;
    const std::vector<Corpus> corpora = {source_corpus(150, 3, "PER", "LOC"), source_corpus(90, 4, "SHIP", "PORT")};
    const SourceOptions options{.epochs = 12, .learning_rate = 3e-3};
    for (const char* const kind : {"bert", "distilbert", "mpnet"}) {
        const std::string out = folder / kind;
        const SourceReport report = train_source(fresh(kind, folder), corpora, out, options, coterie::Run(1, 2));
        ASSERT_EQ(report.loss_per_epoch.size(), 12u);
        EXPECT_LT(report.loss_per_epoch.back(), 0.5 * report.loss_per_epoch.front()) << kind;
        EXPECT_EQ(report.words, corpora[0].words() + corpora[1].words());
        EXPECT_EQ(report.words_trained, 12 * report.words);
        EXPECT_FALSE(report.interrupted);
        EXPECT_EQ(Encoder(out).layer_of("auto"), Encoder(out).layers());
        EXPECT_NE(Encoder(tiny(kind)).layer_of("auto"), Encoder(tiny(kind)).layers());
        expect_same_vectors(out);
        const auto before = nlohmann::json::parse(contents(tiny(kind) + "/config.json"));
        auto after = nlohmann::json::parse(contents(out + "/config.json"));
        EXPECT_EQ(after["coterie_trained_on_tags"], true);
        after.erase("coterie_trained_on_tags");
        EXPECT_EQ(before, after);
        EXPECT_FALSE(std::filesystem::exists(out + ".part"));
    }
    EXPECT_NE(contents(folder / "bert/model.safetensors"), contents(tiny("bert") + "/model.safetensors"));
    // Positions are written without the token type that was added to them. So without training, nothing changes.
    const SourceReport still =
        train_source(tiny("bert"), corpora, folder / "still", {.learning_rate = 1e-30}, coterie::Run(1, 2));
    EXPECT_GT(still.loss_per_epoch.at(0), 0);
    const Corpus corpus = source_corpus(10, 5, "A", "B");
    EXPECT_LT((Encoder(folder / "still").encode(corpus, 3, coterie::Run(0, 1)) -
               Encoder(tiny("bert")).encode(corpus, 3, coterie::Run(0, 1)))
                  .cwiseAbs()
                  .maxCoeff(),
              1e-4);
}

// Trains without interruption, and with a stop after every two batches and a checkpoint in the file "state".
void expect_same_bits_in_pieces(const std::string& encoder, const std::vector<Corpus>& corpora,
                                const SourceOptions& options, const Folder& folder) {
    train_source(encoder, corpora, folder / "whole", options, coterie::Run(5, 2));
    train_source(encoder, corpora, folder / "again", options, coterie::Run(5, 2));
    train_source(encoder, corpora, folder / "other", options, coterie::Run(6, 2));
    const std::string whole = contents(folder / "whole/model.safetensors");
    EXPECT_EQ(whole, contents(folder / "again/model.safetensors"));
    EXPECT_NE(whole, contents(folder / "other/model.safetensors"));
    int stopped = 0;
    for (bool through = false; !through && stopped < 200;) {
        coterie::Run run(5, 2);
        run.checkpoint = folder / "state";
        int batches = 0;
        run.on_progress = [&](const Progress& progress) { batches += progress.stage == "training"; };
        run.should_stop = [&] { return batches >= 2; };
        try {
            train_source(encoder, corpora, folder / "pieces", options, run);
            through = true;
        } catch (const Cancelled&) {
            EXPECT_FALSE(std::filesystem::exists(folder / "pieces"));
            ++stopped;
        }
    }
    EXPECT_GE(stopped, 2);
    EXPECT_EQ(whole, contents(folder / "pieces/model.safetensors"));
    const std::string projection = std::string("/") + internal::Projection::file;
    ASSERT_EQ(std::filesystem::exists(folder / "whole" + projection), options.objective != SourceObjective::prototypes);
    EXPECT_EQ(contents(folder / "whole" + projection), contents(folder / "pieces" + projection));
}

TEST(NerSource, ResumesBitForBit) {
    COTERIE_NEEDS_NETWORKS;
    const Folder folder;
    const std::vector<Corpus> corpora = {source_corpus(200, 3, "PER", "LOC")};
    const SourceOptions options{.epochs = 2, .learning_rate = 1e-3};
    expect_same_bits_in_pieces(tiny("bert"), corpora, options, folder);
    coterie::Run other(5, 2);
    other.checkpoint = folder / "state";
    EXPECT_TRUE(has(coterie::test::message_of([&] {
                        train_source(tiny("bert"), {source_corpus(200, 9, "PER", "LOC")}, folder / "x", options, other);
                    }),
                    "state"));
    EXPECT_TRUE(has(coterie::test::message_of([&] {
                        train_source(tiny("bert"), corpora, folder / "x",
                                     {SourceObjective::contrastive, options.epochs, options.learning_rate}, other);
                    }),
                    "state"));
}

TEST(NerSource, ContrastiveTrainingResumesBitForBit) {
    COTERIE_NEEDS_NETWORKS;
    const Folder folder;
    expect_same_bits_in_pieces(fresh("bert", folder),
                               {source_corpus(150, 3, "PER", "LOC"), source_corpus(90, 4, "SHIP", "PORT")},
                               {.objective = SourceObjective::contrastive, .epochs = 2, .learning_rate = 1e-3}, folder);
    const Folder second;  // continues from the encoder in the first folder, on a support
    expect_same_bits_in_pieces(folder / "whole", {source_corpus(12, 8, "A", "B")},
                               {.objective = SourceObjective::support, .learning_rate = 1e-3}, second);
}

TEST(NerSource, ContrastiveTrainingSeparatesTypes) {
    COTERIE_NEEDS_NETWORKS;
    const Folder folder;
    const std::string start = fresh("bert", folder);
    const Corpus support = corpus_of_kinds(6, 21, true);
    const Corpus gold = corpus_of_kinds(80, 22, false);
    const SourceReport report = train_source(
        start, {corpus_of_kinds(200, 20, false)}, folder / "contrasted",
        {.objective = SourceObjective::contrastive, .epochs = 12, .learning_rate = 3e-3}, coterie::Run(1, 2));
    ASSERT_EQ(report.loss_per_epoch.size(), 12u);
    EXPECT_LT(report.loss_per_epoch.back(), report.loss_per_epoch.front() - 0.5);
    EXPECT_EQ(report.distance, "divergence of Gaussians");
    EXPECT_EQ(Encoder(folder / "contrasted").layer_of("auto"), 3);
    EXPECT_LT(f1_of_nearest_words(start, support, gold), 0.5);
    EXPECT_GT(f1_of_nearest_words(folder / "contrasted", support, gold), 0.9);
    // Other objectives save no projection.
    train_source(folder / "contrasted", {gold}, folder / "prototypes", {}, coterie::Run(1, 2));
    EXPECT_FALSE(std::filesystem::exists(folder / "prototypes/projection.coterie"));
}

TEST(NerSource, SupportTrainingStopsWhenTheLossRises) {
    COTERIE_NEEDS_NETWORKS;
    const Folder folder;
    train_source(fresh("bert", folder), {corpus_of_kinds(60, 20, false)}, folder / "contrasted",
                 {.objective = SourceObjective::contrastive, .learning_rate = 1e-3}, coterie::Run(1, 2));
    const SourceOptions options{.objective = SourceObjective::support, .learning_rate = 1e-3};
    const SourceReport many = train_source(folder / "contrasted", {corpus_of_kinds(6, 21, false)}, folder / "many",
                                           options, coterie::Run(1, 2));
    EXPECT_EQ(many.distance, "divergence of Gaussians");
    const std::vector<double>& losses = many.loss_per_epoch;
    ASSERT_GE(losses.size(), 2u);
    ASSERT_LT(losses.size(), 100u);
    EXPECT_GT(losses.back(), losses.end()[-2]);
    for (std::size_t e = 1; e + 1 < losses.size(); ++e) EXPECT_LE(losses[e], losses[e - 1]);
    EXPECT_NE(contents(folder / "many/projection.coterie"), contents(folder / "contrasted/projection.coterie"));
    const SourceReport one = train_source(folder / "contrasted", {corpus_of_kinds(1, 21, false)}, folder / "one",
                                          options, coterie::Run(1, 2));
    EXPECT_EQ(one.distance, "between directions of means: type FIRST has one mention");
}

TEST(NerSource, StoppedTrainingWritesTheEncoder) {
    COTERIE_NEEDS_NETWORKS;
    const Folder folder;
    coterie::Run run(0, 1);
    int batches = 0;
    run.on_progress = [&](const Progress& progress) { batches += progress.stage == "training"; };
    run.should_stop = [&] { return batches >= 1; };
    const SourceReport report =
        train_source(tiny("bert"), {source_corpus(300, 3, "PER", "LOC")}, folder / "out", {}, run);
    EXPECT_TRUE(report.interrupted);
    EXPECT_LT(report.words_trained, report.words);
    EXPECT_EQ(Encoder(folder / "out").layers(), 3);
}

TEST(NerSource, RejectsBadInput) {
    const Folder folder;
    const Corpus sound = source_corpus(20, 3, "PER", "LOC");
    const auto message = [&](const std::vector<Corpus>& corpora, const SourceOptions& options = {},
                             const std::string& encoder = tiny("bert"), const std::string& out = "new") {
        const std::string said = coterie::test::message_of(
            [&] { train_source(encoder, corpora, folder / out, options, coterie::Run(0, 1)); });
        EXPECT_FALSE(std::filesystem::exists(folder / "new")) << said;
        return said;
    };
    EXPECT_TRUE(has(message({}), "at least one corpus"));
    EXPECT_TRUE(has(message({sound, parse_corpus("a\tO\nb\tO\n", "bare.conll")}), "bare.conll: there are no mentions"));
    EXPECT_TRUE(
        has(message({sound, parse_corpus("a\nb\n", "plain.conll")}), "plain.conll: line 1: the sentence is not"));
    EXPECT_TRUE(has(message({sound}, {.epochs = 0}), "epochs"));
    EXPECT_TRUE(has(message({sound}, {.learning_rate = 0}), "learning_rate"));
    const SourceOptions on_support{.objective = SourceObjective::support};
    EXPECT_TRUE(has(message({sound}, on_support), "projection.coterie: the file does not exist"));
    EXPECT_TRUE(has(message({sound, sound}, on_support), "objective: 'support' needs one corpus"));
    EXPECT_TRUE(has(message({sound}, {SourceObjective::support, 2}), "epochs: 2 is not accepted"));
    EXPECT_TRUE(has(message({parse_corpus("a\tO\nb\tB-X\n", "two.conll")}, {SourceObjective::contrastive}),
                    "two.conll: no two words have the same tag"));
    EXPECT_TRUE(has(message({sound}, {}, folder / "nowhere"), "config.json"));
    folder.file("full", "here");
    EXPECT_TRUE(has(message({sound}, {}, tiny("bert"), "full"), "already exists"));
    const std::string lies = folder / "lies";
    std::filesystem::copy(tiny("bert"), lies);
    auto config = nlohmann::json::parse(contents(lies + "/config.json"));
    config["hidden_dropout_prob"] = 1.5;
    std::ofstream(lies + "/config.json") << config;
    EXPECT_TRUE(has(message({sound}, {}, lies), "hidden_dropout_prob is 1.5, but must be a share"));
    const std::string foreign = folder / "foreign";
    std::filesystem::copy(tiny("bert"), foreign);
    internal::Projection::drawn(7, RandomStream(0, "test.source.foreign")).save(foreign + "/projection.coterie");
    EXPECT_TRUE(has(message({sound}, on_support, foreign), "projection.coterie"));
    COTERIE_NEEDS_NETWORKS;
    EXPECT_TRUE(has(message({sound, source_corpus(300, 1, "A", "B")}, {.epochs = 1, .learning_rate = 1e38}),
                    "training diverged in epoch 1"));
}

}  // namespace
}  // namespace coterie::ner
