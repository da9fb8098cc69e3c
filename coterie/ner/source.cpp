// The encoder's passes are LibTorch's (deep/internal/word_encoder.hpp); the loss and its gradient by the words' vectors
// and the prototypes stand here, in closed form: with g = p - y, they are sum_t g_t c_t and sum_i g_it (x_i - c_t). The
// order of an epoch follows from its number, and what is dropped from the batch's: a checkpoint needs the parameters,
// what the optimizer remembers, and how far the epoch is.

#include "coterie/ner/source.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <optional>

#include "coterie/base/error.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/deep/internal/word_encoder.hpp"
#include "coterie/io/internal/sha256.hpp"
#include "coterie/model/internal/checkpoint.hpp"
#include "coterie/ner/encoder.hpp"
#include "coterie/ner/internal/encoder_folder.hpp"
#include "coterie/ner/internal/source_training.hpp"

namespace coterie::ner {

namespace internal {

coterie_encoder_plan plan_of(const EncoderShape& shape) {
    coterie_encoder_plan out{};
    out.pieces = shape.words;
    out.positions = shape.positions;
    out.first_position = shape.first_position;
    out.hidden = shape.hidden;
    out.heads = shape.heads;
    out.inner = shape.inner;
    out.layers = shape.layers;
    out.buckets = shape.buckets;
    out.activation = static_cast<std::int32_t>(shape.activation);
    out.epsilon = shape.epsilon;
    out.dropout = shape.dropout;
    out.dropout_of_attention = shape.dropout_of_attention;
    out.dropout_of_mixed = shape.dropout_of_mixed;
    return out;
}

PrototypeLoss prototype_loss(const Matrix<float>& vectors, const std::vector<std::int32_t>& tags,
                             const Matrix<float>& prototypes) {
    // || x ||^2 is the same for all tags.
    const Matrix<double> x = vectors.cast<double>();
    const Matrix<double> c = prototypes.cast<double>();
    Matrix<double> scores = x * c.transpose();
    scores.rowwise() -= 0.5 * c.rowwise().squaredNorm().transpose();
    PrototypeLoss out;
    for (Index i = 0; i < scores.rows(); ++i) {
        const auto tag = static_cast<Index>(tags[static_cast<std::size_t>(i)]);
        auto row = scores.row(i);
        const double largest = row.maxCoeff();
        const double own = row(tag) - largest;
        row = (row.array() - largest).exp().matrix();
        const double total = row.sum();
        out.sum += std::log(total) - own;
        row /= total;
        row(tag) -= 1;
    }
    out.by_vectors = (scores * c).cast<float>();
    Matrix<double> by_prototypes = scores.transpose() * x;
    by_prototypes -= scores.colwise().sum().transpose().asDiagonal() * c;
    out.by_prototypes = by_prototypes.cast<float>();
    return out;
}

}  // namespace internal

namespace {

using coterie::internal::at;
using coterie::internal::Checkpoint;
using coterie::internal::WordBatch;
using coterie::internal::WordEncoder;

constexpr Index words_of_a_batch = 512;
constexpr double warm_up = 0.1;

// What is trained on: sentences as pieces, and tags of their words among those of the corpus that have a word.
struct Source {
    struct Sentence {
        std::size_t corpus = 0;
        internal::Chunk chunk;
    };
    std::vector<Sentence> sentences;
    std::vector<Labels> tags;  // of each corpus, by word
    std::vector<Index> count;  // of its tags
    Index words = 0;
};

Source source_of(const std::vector<Corpus>& corpora, const internal::EncoderFolder& folder) {
    if (corpora.empty()) throw BadArgument("training an encoder needs at least one corpus");
    Source out;
    for (std::size_t c = 0; c < corpora.size(); ++c) {
        const Corpus& corpus = corpora[c];
        bool mentions = false;
        for (std::size_t s = 0; s < corpus.sentences.size(); ++s) {
            if (!corpus.sentences[s].annotated)
                throw BadData(corpus.place_of(s) + ": the sentence is not annotated; every sentence of a source is",
                              {.file = corpus.source, .row = corpus.sentences[s].line});
            mentions = mentions || !corpus.sentences[s].mentions.empty();
        }
        if (!mentions)
            throw BadData(corpus.source + ": the corpus has no mention to train on", {.file = corpus.source});
        Labels tags = corpus.tags();
        std::vector<std::int32_t> number(corpus.types.size() + 1, -1);
        Index count = 0;
        for (const std::int32_t tag : tags)
            if (number[at(tag)] < 0) number[at(tag)] = static_cast<std::int32_t>(count++);
        for (std::int32_t& tag : tags) tag = number[at(tag)];
        for (internal::Chunk& chunk :
             internal::chunks_of(corpus, folder.vocabulary, folder.shape.positions - folder.shape.first_position))
            out.sentences.push_back({c, std::move(chunk)});
        out.words += static_cast<Index>(tags.size());
        out.tags.push_back(std::move(tags));
        out.count.push_back(count);
    }
    return out;
}

// Everything that the training's result depends on but options and seed.
std::string fingerprint_of(const std::string& encoder, const std::vector<Corpus>& corpora) {
    Sha256 sum;
    const auto add = [&](std::string_view text) {
        const auto size = static_cast<std::uint64_t>(text.size());
        sum.update(&size, sizeof size);
        sum.update(text.data(), text.size());
    };
    for (const char* const name : {"config.json", "vocab.txt", "model.safetensors"})
        add(sha256_of_file(std::filesystem::path(encoder) / name));
    for (const Corpus& corpus : corpora) {
        const Labels tags = corpus.tags();
        add(std::to_string(corpus.sentences.size()));
        for (const Sentence& sentence : corpus.sentences) {
            add(std::to_string(sentence.words.size()));
            for (const Word& word : sentence.words) add(corpus.text_of(sentence, word));
        }
        sum.update(tags.data(), tags.size() * sizeof tags[0]);
    }
    return sum.hex();
}

Matrix<float> means_of_tags(const Matrix<float>& vectors, const Labels& tags, Index count) {
    Matrix<double> sums = Matrix<double>::Zero(count, vectors.cols());
    std::vector<double> words(at(count), 0);
    for (std::size_t i = 0; i < tags.size(); ++i) {
        sums.row(tags[i]) += vectors.row(static_cast<Index>(i)).cast<double>();
        ++words[at(tags[i])];
    }
    for (Index t = 0; t < count; ++t) sums.row(t) /= words[at(t)];
    return sums.cast<float>();
}

class Training {
public:
    Training(const std::string& encoder, const std::vector<Corpus>& corpora, const SourceOptions& options,
             const Run& run)
        : options_(options),
          run_(run),
          folder_(encoder),
          source_(source_of(corpora, folder_)),
          checkpoint_(run, "ner-source", SourceOptions::described().values(&options),
                      run.checkpoint.empty() ? std::string() : fingerprint_of(encoder, corpora)) {
        double numbers = 0;
        for (const auto& parameter : folder_.parameters())
            numbers += static_cast<double>(parameter.rows) * static_cast<double>(parameter.columns);
        require_memory(4 * sizeof(float) * numbers, "the encoder, its gradient and what the optimizer remembers");
        std::vector<std::pair<Index, Index>> beside;
        for (const Index count : source_.count) beside.emplace_back(count, folder_.shape.hidden);
        network_.emplace(internal::plan_of(folder_.shape), beside, run.threads);
        own_ = static_cast<int>(folder_.parameters().size());
        if (network_->parameters() != own_ + static_cast<int>(beside.size()))
            throw InternalError("encoder: other parameters");
        if (const auto found = checkpoint_.found()) {
            resume(*found);
            return;
        }
        for (int p = 0; p < own_; ++p) set(p, folder_.matrix(static_cast<std::size_t>(p)));
        const Encoder start(encoder);
        for (std::size_t c = 0; c < corpora.size(); ++c)
            set(own_ + static_cast<int>(c),
                means_of_tags(start.encode(corpora[c], start.layers(), run), source_.tags[c], source_.count[c]));
    }

    SourceReport train(const std::string& out) {
        SourceReport report;
        const double all = static_cast<double>(source_.words) * options_.epochs;
        const Stopwatch watch;
        bool stopped = false;
        while (epoch_ < options_.epochs && !stopped) {
            std::vector<std::size_t> order(source_.sentences.size());
            std::iota(order.begin(), order.end(), 0);
            RandomStream random = run_.random("ner.source.order", static_cast<std::uint64_t>(epoch_));
            shuffle(order, random);
            while (next_ < order.size()) {
                std::vector<const Source::Sentence*> batch;
                Index words = 0;
                while (next_ < order.size() && words < words_of_a_batch) {
                    batch.push_back(&source_.sentences[order[next_++]]);
                    words += static_cast<Index>(batch.back()->chunk.words.size());
                }
                const double before = static_cast<double>(source_.words) * epoch_ + static_cast<double>(words_);
                const double done = (before + 0.5 * static_cast<double>(words)) / all;
                sum_ +=
                    step(batch, words, options_.learning_rate * std::min(done / warm_up, (1 - done) / (1 - warm_up)));
                words_ += words;
                report.words_trained += words;
                run_.report({.stage = "training",
                             .fraction = (before + static_cast<double>(words)) / all,
                             .objective = sum_ / static_cast<double>(words_),
                             .iteration = static_cast<int>(batches_)});
                if (next_ == order.size()) break;
                if (checkpoint_.due()) checkpoint_.write(snapshot());
                stopped = run_.stop_requested();
                if (stopped) break;
            }
            if (stopped) break;
            losses_.push_back(sum_ / static_cast<double>(words_));
            ++epoch_;
            next_ = 0;
            words_ = 0;
            sum_ = 0;
            stopped = epoch_ < options_.epochs && run_.stop_requested();
        }
        report.seconds = watch.seconds();
        report.interrupted = stopped;
        if (stopped && checkpoint_.wanted()) {
            checkpoint_.write(snapshot());
            throw Cancelled("interrupted during training" + checkpoint_.what_is_left());
        }
        std::vector<std::vector<float>> values;
        for (int p = 0; p < own_; ++p) {
            values.push_back(network_->parameter(p));
            for (const float value : values.back())
                if (!std::isfinite(value)) refuse_divergence();
        }
        folder_.write_trained(out, values);
        report.loss_per_epoch = losses_;
        report.words = source_.words;
        FitReport told;
        checkpoint_.warn(told);
        report.warnings = told.warnings;
        return report;
    }

private:
    [[noreturn]] void refuse_divergence() const {
        throw BadArgument("training diverged in epoch " + std::to_string(epoch_ + 1) + ": lower `learning_rate`",
                          {.option = "learning_rate", .value = to_text(options_.learning_rate)});
    }
    void set(int number, const Matrix<float>& values) {
        network_->set_parameter(number, values.data(), static_cast<std::size_t>(values.size()));
    }

    // Returns the sum of the loss over the batch's words, before the step.
    double step(const std::vector<const Source::Sentence*>& sentences, Index words, double rate) {
        WordBatch batch;
        struct Rows {
            std::vector<Index> rows;
            std::vector<std::int32_t> tags;
        };
        std::vector<Rows> of(source_.count.size());  // each corpus' words in the batch
        for (const Source::Sentence* const sentence : sentences) {
            const internal::Chunk& chunk = sentence->chunk;
            const std::int64_t start = batch.starts.back();
            Rows& own = of[sentence->corpus];
            for (std::size_t w = 0; w < chunk.words.size(); ++w) {
                own.rows.push_back(batch.count());
                own.tags.push_back(source_.tags[sentence->corpus][at(chunk.first_word + static_cast<Index>(w))]);
                batch.words.push_back(start + chunk.words[w].first);
                batch.words.push_back(start + chunk.words[w].second);
            }
            batch.pieces.insert(batch.pieces.end(), chunk.pieces.begin(), chunk.pieces.end());
            batch.starts.push_back(start + static_cast<std::int64_t>(chunk.pieces.size()));
        }
        const std::uint64_t drop = run_.random("ner.source.drop", batches_).next64() | 1;  // 0 would be none
        const Matrix<float> vectors = network_->forward(batch, drop);
        Matrix<float> gradient(vectors.rows(), vectors.cols());
        const auto scale = static_cast<float>(1 / static_cast<double>(words));
        double sum = 0;
        for (std::size_t c = 0; c < of.size(); ++c) {
            if (of[c].rows.empty()) continue;
            const int number = own_ + static_cast<int>(c);
            const std::vector<float> flat = network_->parameter(number);
            const Matrix<float> prototypes =
                Eigen::Map<const eigen::Matrix<float>>(flat.data(), source_.count[c], vectors.cols());
            Matrix<float> own(static_cast<Index>(of[c].rows.size()), vectors.cols());
            for (Index i = 0; i < own.rows(); ++i) own.row(i) = vectors.row(of[c].rows[at(i)]);
            const internal::PrototypeLoss loss = internal::prototype_loss(own, of[c].tags, prototypes);
            sum += loss.sum;
            for (Index i = 0; i < own.rows(); ++i) gradient.row(of[c].rows[at(i)]) = scale * loss.by_vectors.row(i);
            network_->add_gradient(number, scale * loss.by_prototypes);
        }
        if (!std::isfinite(sum)) refuse_divergence();
        network_->backward(gradient);
        network_->step({rate, 0.9, 0.999, 1e-6, 0.01, 1.0});
        ++batches_;
        return sum;
    }

    Archive snapshot() const {
        Archive out = checkpoint_.begin();
        for (int p = 0; p < network_->parameters(); ++p) {
            const std::vector<float> values = network_->parameter(p);
            out.set_points("parameter." + std::to_string(p),
                           PointsView(values.data(), 1, static_cast<Index>(values.size())));
        }
        out.set_labels("memory", network_->memory());
        out.set_vector("losses", losses_);
        out.set_vector("place", std::vector<double>{static_cast<double>(epoch_), static_cast<double>(next_),
                                                    static_cast<double>(words_), sum_, static_cast<double>(batches_)});
        return out;
    }
    void resume(const Archive& from) {
        for (int p = 0; p < network_->parameters(); ++p)
            set(p, to_matrix<float>(from.points("parameter." + std::to_string(p), 1)));
        network_->set_memory(from.labels("memory"));
        losses_ = from.vector("losses");
        const std::vector<double> place = from.vector("place", 5);
        epoch_ = static_cast<int>(place[0]);
        next_ = static_cast<std::size_t>(place[1]);
        words_ = static_cast<Index>(place[2]);
        sum_ = place[3];
        batches_ = static_cast<std::uint64_t>(place[4]);
    }

    const SourceOptions& options_;
    const Run& run_;
    internal::EncoderFolder folder_;
    Source source_;
    Checkpoint checkpoint_;
    std::optional<WordEncoder> network_;
    int own_ = 0;  // parameters of the encoder; after them prototypes of each corpus

    std::vector<double> losses_;
    int epoch_ = 0;
    std::size_t next_ = 0;  // sentence of the epoch's order
    Index words_ = 0;       // of the epoch so far
    double sum_ = 0;        // of their loss
    std::uint64_t batches_ = 0;
};

// The folder that is written must be new, so that nothing of somebody's is lost.
void check_place(const std::string& out) {
    std::error_code ignored;
    const bool there = std::filesystem::exists(out, ignored);
    if (out.empty() || (there && !std::filesystem::is_empty(out, ignored)))
        throw BadArgument("'" + out + "' " + (out.empty() ? "names no folder" : "is there already") +
                              ": the trained encoder is written to a folder that is not there yet",
                          {.option = "out", .value = out, .accepted = "a folder that is not there yet"});
}

}  // namespace

const OptionSet& SourceOptions::described() {
    static const OptionSet set =
        OptionSetFor<SourceOptions>()
            .integer("epochs", &SourceOptions::epochs, at_least(1), "passes over the corpora")
            .real("learning_rate", &SourceOptions::learning_rate, above(0), "largest learning rate of AdamW");
    return set;
}

SourceReport train_source(const std::string& encoder, const std::vector<Corpus>& corpora, const std::string& out,
                          const SourceOptions& options, const Run& run) {
    check_options(options);
    check_place(out);
    if (run.device != "cpu") throw refused_option("device", run.device, "cpu: encoders are trained on the processor");
    return Training(encoder, corpora, options, run).train(out);
}

}  // namespace coterie::ner
