// The encoder's passes use LibTorch (deep/word_encoder.hpp). The loss and its gradients are computed here in closed
// form. For prototypes, with g = p - y, the gradients are sum_t g_t c_t and sum_i g_it (x_i - c_t). The order of an
// epoch depends only on its number, and the dropout of a batch only on the number of the batch. So a checkpoint needs
// only the parameters, the optimizer's state and the position in the epoch.

#include "coterie/ner/source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "coterie/base/error.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deep/word_encoder.hpp"
#include "coterie/io/sha256.hpp"
#include "coterie/model/checkpoint.hpp"
#include "coterie/ner/encoder.hpp"
#include "coterie/ner/encoder_folder.hpp"
#include "coterie/ner/internal/source_training.hpp"
#include "coterie/ner/readers.hpp"

namespace coterie::ner {

namespace internal {

PrototypeLoss prototype_loss(const Matrix<float>& vectors, const std::vector<std::int32_t>& tags,
                             const Matrix<float>& prototypes) {
    // || x ||^2 is the same for all tags, so it is left out.
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
using coterie::internal::filled;
using coterie::internal::WordBatch;
using coterie::internal::WordEncoder;

constexpr Index words_of_a_batch = 512;
constexpr Index words_of_a_support_batch = 2048;
constexpr int most_passes_over_a_support = 100;
constexpr double warm_up = 0.1;
constexpr std::array<std::string_view, 3> objectives = {"prototypes", "contrastive", "support"};

// The training data: sentences as pieces, and the tags of their words. Per corpus, only tags that occur are numbered.
struct Source {
    struct Sentence {
        std::size_t corpus = 0;
        internal::Chunk chunk;
    };
    std::vector<Sentence> sentences;
    std::vector<Labels> tags;  // of each corpus, by word
    std::vector<Index> count;  // number of tags of each corpus
    Index words = 0;
};

Source source_of(const std::vector<Corpus>& corpora, const internal::EncoderFolder& folder) {
    if (corpora.empty())
        throw BadArgument(Code::missing_argument, "training an encoder needs at least one corpus",
                          "Give an annotated corpus");
    Source out;
    for (std::size_t c = 0; c < corpora.size(); ++c) {
        const Corpus& corpus = corpora[c];
        internal::require_annotated(corpus, "the sentence is not annotated",
                                    "Annotate every sentence, or leave this one out");
        Labels tags = corpus.tags();
        if (std::all_of(tags.begin(), tags.end(), [](std::int32_t tag) { return tag == 0; }))
            throw BadData(Code::empty, "there are no mentions to train on", "", {.file = corpus.source});
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

std::filesystem::path projection_of(const std::string& encoder) {
    return std::filesystem::path(encoder) / internal::Projection::file;
}

// A hash of everything that determines the result of the training, except options and seed.
std::string fingerprint_of(const std::string& encoder, const std::vector<Corpus>& corpora, SourceObjective objective) {
    Sha256 sum;
    const auto add = [&](std::string_view text) {
        const auto size = static_cast<std::uint64_t>(text.size());
        sum.update(&size, sizeof size);
        sum.update(text.data(), text.size());
    };
    for (const char* const name : {"config.json", "vocab.txt", "model.safetensors"})
        add(sha256_of_file(std::filesystem::path(encoder) / name));
    if (objective == SourceObjective::support) add(sha256_of_file(projection_of(encoder)));
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

// The distance between words of a contrastive objective.
struct ContrastChoice {
    internal::ContrastDistance distance = internal::ContrastDistance::divergence;
    std::string told;
};

ContrastChoice contrast_of(const std::vector<Corpus>& corpora, SourceObjective objective) {
    if (objective == SourceObjective::prototypes) return {};
    if (objective == SourceObjective::support) {
        const Corpus& support = corpora.front();
        const std::vector<Index> mentions = support.mentions_of_types();
        for (std::size_t t = 0; t < mentions.size(); ++t)
            if (mentions[t] == 1)
                return {internal::ContrastDistance::directions,
                        filled("between directions of means: type {} has one mention", support.types[t])};
    }
    return {internal::ContrastDistance::divergence, "divergence of Gaussians"};
}

class Training {
public:
    Training(const std::string& encoder, const std::vector<Corpus>& corpora, const SourceOptions& options,
             const Run& run)
        : options_(options),
          run_(run),
          folder_(encoder),
          source_(source_of(corpora, folder_)),
          contrast_(contrast_of(corpora, options.objective)) {
        internal::Projection projection;
        if (options.objective == SourceObjective::contrastive)
            projection = internal::Projection::drawn(folder_.shape.hidden, run.random("ner.source.projection"));
        if (options.objective == SourceObjective::support) projection = kept_projection(encoder);
        checkpoint_.emplace(
            run, "ner-source", SourceOptions::described().values(&options),
            run.checkpoint.empty() ? std::string() : fingerprint_of(encoder, corpora, options.objective));
        double numbers = 0;
        for (const auto& parameter : folder_.parameters())
            numbers += static_cast<double>(parameter.rows) * static_cast<double>(parameter.columns);
        require_memory(4 * sizeof(float) * numbers, "the encoder, its gradient and the state of the optimizer");
        if (contrasts() && source_.words == std::accumulate(source_.count.begin(), source_.count.end(), Index{0}))
            throw BadData(Code::too_few_rows, "no two words have the same tag, so there is nothing to contrast",
                          "Add annotated sentences", {.file = corpora.front().source});
        if (contrasts())
            for (const Matrix<float>& each : projection.parameters) beside_.emplace_back(each.rows(), each.cols());
        else
            for (const Index count : source_.count) beside_.emplace_back(count, folder_.shape.hidden);
        network_.emplace(folder_.shape, beside_, run.threads);
        own_ = static_cast<int>(folder_.parameters().size());
        if (network_->parameters() != own_ + static_cast<int>(beside_.size()))
            throw InternalError("encoder: other parameters");
        if (const auto found = checkpoint_->found()) {
            resume(*found);
            return;
        }
        for (int p = 0; p < own_; ++p) set(p, folder_.matrix(static_cast<std::size_t>(p)));
        if (contrasts()) {
            for (std::size_t p = 0; p < beside_.size(); ++p) set(own_ + static_cast<int>(p), projection.parameters[p]);
            return;
        }
        const Encoder start(encoder);
        for (std::size_t c = 0; c < corpora.size(); ++c)
            set(own_ + static_cast<int>(c),
                means_of_tags(start.encode(corpora[c], start.layers(), run), source_.tags[c], source_.count[c]));
    }

    SourceReport train(const std::string& out) {
        SourceReport report;
        const double all = static_cast<double>(source_.words) * most_epochs();
        const Stopwatch watch;
        bool stopped = false;
        while (!ended() && !stopped) {
            std::vector<std::size_t> order(source_.sentences.size());
            std::iota(order.begin(), order.end(), 0);
            RandomStream random = run_.random("ner.source.order", static_cast<std::uint64_t>(epoch_));
            shuffle(order, random);
            while (next_ < order.size()) {
                std::vector<const Source::Sentence*> batch;
                Index words = 0;
                while (next_ < order.size() && words < (on_support() ? words_of_a_support_batch : words_of_a_batch)) {
                    batch.push_back(&source_.sentences[order[next_++]]);
                    words += static_cast<Index>(batch.back()->chunk.words.size());
                }
                const double before = static_cast<double>(source_.words) * epoch_ + static_cast<double>(words_);
                const double done = (before + 0.5 * static_cast<double>(words)) / all;
                const double part = on_support() ? 1 : std::min(done / warm_up, (1 - done) / (1 - warm_up));
                const auto [sum, counted] = step(batch, options_.learning_rate * part);
                sum_ += sum;
                counted_ += counted;
                words_ += words;
                report.words_trained += words;
                run_.report({.stage = "training",
                             .fraction = (before + static_cast<double>(words)) / all,
                             .objective = mean_loss(),
                             .iteration = static_cast<int>(batches_)});
                if (next_ == order.size()) break;
                if (checkpoint_->due()) checkpoint_->write(snapshot());
                stopped = run_.stop_requested();
                if (stopped) break;
            }
            if (stopped) break;
            losses_.push_back(mean_loss());
            ++epoch_;
            next_ = 0;
            words_ = counted_ = 0;
            sum_ = 0;
            stopped = !ended() && run_.stop_requested();
        }
        report.seconds = watch.seconds();
        report.interrupted = stopped;
        if (stopped && checkpoint_->wanted()) {
            checkpoint_->write(snapshot());
            throw Cancelled(Code::cancelled, "interrupted during training" + checkpoint_->what_is_left());
        }
        std::vector<std::vector<float>> values;
        for (int p = 0; p < network_->parameters(); ++p) {
            values.push_back(network_->parameter(p));
            for (const float value : values.back())
                if (!std::isfinite(value)) refuse_divergence();
        }
        values.resize(static_cast<std::size_t>(own_));
        folder_.write_trained(out, values, contrasts() ? std::optional(projection_now()) : std::nullopt);
        report.loss_per_epoch = losses_;
        report.distance = contrast_.told;
        report.words = source_.words;
        FitReport told;
        checkpoint_->warn(told);
        report.warnings = told.warnings;
        return report;
    }

private:
    [[noreturn]] void refuse_divergence() const {
        throw BadArgument(Code::diverged, filled("training diverged in epoch {}", epoch_ + 1),
                          "Use a smaller `learning_rate`",
                          {.option = "learning_rate", .value = to_text(options_.learning_rate)});
    }
    void set(int number, const Matrix<float>& values) {
        network_->set_parameter(number, values.data(), static_cast<std::size_t>(values.size()));
    }

    bool contrasts() const { return options_.objective != SourceObjective::prototypes; }
    bool on_support() const { return options_.objective == SourceObjective::support; }
    int most_epochs() const { return on_support() ? most_passes_over_a_support : options_.epochs; }
    bool ended() const {
        const bool rose = losses_.size() > 1 && losses_.back() > losses_.end()[-2];
        return epoch_ >= most_epochs() || (on_support() && rose);
    }
    double mean_loss() const { return counted_ > 0 ? sum_ / static_cast<double>(counted_) : 0; }

    internal::Projection kept_projection(const std::string& encoder) const {
        const std::string path = projection_of(encoder).string();
        if (!std::filesystem::exists(path))
            throw BadData(Code::not_found, "the file does not exist, but `objective=support` needs it",
                          "Use an encoder that was trained with `objective=contrastive`",
                          {.option = "objective", .value = "support", .file = path});
        return internal::Projection::load(path, folder_.shape.hidden);
    }
    Matrix<float> beside(std::size_t number) const {
        const std::vector<float> flat = network_->parameter(own_ + static_cast<int>(number));
        return Eigen::Map<const eigen::Matrix<float>>(flat.data(), beside_[number].first, beside_[number].second);
    }
    internal::Projection projection_now() const {
        internal::Projection out;
        for (std::size_t p = 0; p < out.parameters.size(); ++p) out.parameters[p] = beside(p);
        return out;
    }

    // The words of a batch that are from one corpus.
    struct Rows {
        std::vector<Index> rows;
        std::vector<std::int32_t> tags;
    };
    struct Loss {
        double sum = 0;
        Index words = 0;                    // number of words that have a loss
        Matrix<float> by_vectors;           // gradient of the sum
        std::vector<Matrix<float>> beside;  // gradients with respect to the additional parameters; may be empty
    };
    Loss loss_of(const Matrix<float>& vectors, const std::vector<Rows>& of) const {
        Loss out{0, 0, Matrix<float>(vectors.rows(), vectors.cols()), std::vector<Matrix<float>>(beside_.size())};
        internal::Projection projection;
        if (contrasts()) projection = projection_now();
        for (std::size_t c = 0; c < of.size(); ++c) {
            const auto& [rows, tags] = of[c];
            if (rows.empty()) continue;
            Matrix<float> own(static_cast<Index>(rows.size()), vectors.cols());
            for (Index i = 0; i < own.rows(); ++i) own.row(i) = vectors.row(rows[at(i)]);
            Matrix<float> by_vectors;
            if (contrasts()) {
                internal::ProjectedLoss loss = internal::projected_loss(own, tags, projection, contrast_.distance);
                out.sum += loss.sum;
                out.words += loss.words;
                by_vectors = std::move(loss.by_vectors);
                for (std::size_t p = 0; p < beside_.size(); ++p)
                    if (out.beside[p].size() == 0)
                        out.beside[p] = std::move(loss.by_parameters[p]);
                    else
                        out.beside[p] += loss.by_parameters[p];
            } else {
                internal::PrototypeLoss loss = internal::prototype_loss(own, tags, beside(c));
                out.sum += loss.sum;
                out.words += own.rows();
                by_vectors = std::move(loss.by_vectors);
                out.beside[c] = std::move(loss.by_prototypes);
            }
            for (Index i = 0; i < own.rows(); ++i) out.by_vectors.row(rows[at(i)]) = by_vectors.row(i);
        }
        return out;
    }

    // Returns the sum of the loss over the words of the batch before the step, and the number of words that have a
    // loss.
    std::pair<double, Index> step(const std::vector<const Source::Sentence*>& sentences, double rate) {
        WordBatch batch;
        std::vector<Rows> of(source_.count.size());
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
        const std::uint64_t drop = run_.random("ner.source.drop", batches_).next64() | 1;  // 0 would mean no dropout
        const Loss loss = loss_of(network_->forward(batch, drop), of);
        if (!std::isfinite(loss.sum)) refuse_divergence();
        const auto scale = static_cast<float>(loss.words > 0 ? 1 / static_cast<double>(loss.words) : 0);
        for (std::size_t b = 0; b < loss.beside.size(); ++b)
            if (loss.beside[b].size() > 0) network_->add_gradient(own_ + static_cast<int>(b), scale * loss.beside[b]);
        network_->backward(scale * loss.by_vectors);
        network_->step({rate, 0.9, 0.999, 1e-6, 0.01, 1.0});
        ++batches_;
        return {loss.sum, loss.words};
    }

    Archive snapshot() const {
        Archive out = checkpoint_->begin();
        for (int p = 0; p < network_->parameters(); ++p) {
            const std::vector<float> values = network_->parameter(p);
            out.set_points(filled("parameter.{}", p), PointsView(values.data(), 1, static_cast<Index>(values.size())));
        }
        out.set_labels("memory", network_->memory());
        out.set_vector("losses", losses_);
        out.set_vector("place", std::vector<double>{static_cast<double>(epoch_), static_cast<double>(next_),
                                                    static_cast<double>(words_), static_cast<double>(counted_), sum_,
                                                    static_cast<double>(batches_)});
        return out;
    }
    void resume(const Archive& from) {
        for (int p = 0; p < network_->parameters(); ++p)
            set(p, to_matrix<float>(from.points(filled("parameter.{}", p), 1)));
        network_->set_memory(from.labels("memory"));
        losses_ = from.vector("losses");
        const std::vector<double> place = from.vector("place", 6);
        epoch_ = static_cast<int>(place[0]);
        next_ = static_cast<std::size_t>(place[1]);
        words_ = static_cast<Index>(place[2]);
        counted_ = static_cast<Index>(place[3]);
        sum_ = place[4];
        batches_ = static_cast<std::uint64_t>(place[5]);
    }

    const SourceOptions& options_;
    const Run& run_;
    internal::EncoderFolder folder_;
    Source source_;
    ContrastChoice contrast_;
    std::optional<Checkpoint> checkpoint_;
    std::optional<WordEncoder> network_;
    int own_ = 0;  // number of the encoder's parameters; then come the prototypes of each corpus, or the projection
    std::vector<std::pair<Index, Index>> beside_;  // rows and columns of the additional parameters

    std::vector<double> losses_;
    int epoch_ = 0;
    std::size_t next_ = 0;  // position in the order of the epoch
    Index words_ = 0;       // in this epoch so far
    Index counted_ = 0;     // words with a loss in this epoch
    double sum_ = 0;        // of the loss
    std::uint64_t batches_ = 0;
};

// The output folder must be new or empty, so that nothing is overwritten.
void check_place(const std::string& out) {
    std::error_code ignored;
    if (out.empty() || (std::filesystem::exists(out, ignored) && !std::filesystem::is_empty(out, ignored)))
        throw BadArgument(out.empty() ? Code::missing_argument : Code::already_exists,
                          out.empty() ? "the name of the folder is empty" : filled("'{}' already exists", out),
                          "Use a new or empty folder for the trained encoder",
                          {.option = "out", .value = out, .accepted = "a new or empty folder"});
}

}  // namespace

const OptionSet& SourceOptions::described() {
    static const OptionSet set =
        OptionSetFor<SourceOptions>()
            .choice("objective", &SourceOptions::objective, {objectives.begin(), objectives.end()},
                    "what is learned: distances to a prototype of each tag (prototypes), or Gaussians that are similar "
                    "for words of one tag (contrastive, CONTaiNER); support: contrastive, on a support, as last step")
            .integer("epochs", &SourceOptions::epochs, at_least(1),
                     "number of passes over the corpora; with `objective=support`, training ends when the loss rises")
            .real("learning_rate", &SourceOptions::learning_rate, above(0), "largest learning rate of AdamW");
    return set;
}

SourceReport train_source(const std::string& encoder, const std::vector<Corpus>& corpora, const std::string& out,
                          const SourceOptions& options, const Run& run) {
    check_options(options);
    check_place(out);
    if (options.objective == SourceObjective::support && corpora.size() != 1)
        throw BadArgument(
            Code::conflict, filled("'support' needs one corpus, the support, but {} are given", corpora.size()),
            "Give only the support", {.option = "objective", .value = "support", .accepted = "one corpus"});
    if (options.objective == SourceObjective::support && options.epochs != 1)
        throw BadArgument(
            Code::not_accepted,
            filled("{} is not accepted with `objective=support`, where the loss ends training", options.epochs),
            "Leave it out", {.option = "epochs", .value = std::to_string(options.epochs), .accepted = "1"});
    if (run.device != "cpu")
        throw refused_option("device", run.device, "cpu, the only device on which encoders are trained");
    return Training(encoder, corpora, options, run).train(out);
}

}  // namespace coterie::ner
