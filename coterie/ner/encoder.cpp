// The pass in plain loops over the products of linalg/: sentences lie one behind the other as rows of a matrix, dense
// layers take some hundred rows at once, and attention goes sentence by sentence and head by head. Nothing is padded,
// so nothing is masked.

#include "coterie/ner/encoder.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>
#include <unsupported/Eigen/SpecialFunctions>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/io/internal/formats.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/ner/internal/unicode.hpp"
#include "coterie/ner/internal/word_pieces.hpp"

namespace coterie::ner {

// Parts of Encoder::Network, which is known outside this source by its name.
namespace network {

enum class Activation { gelu, gelu_tanh, relu };

struct Dense {
    Matrix<float> weight;  // out x in
    Vector<float> bias;
};
struct Normalisation {
    Vector<float> weight, bias;
};
struct Layer {
    Dense query, key, value, output;
    Normalisation after_attention;
    Dense inner, outer;
    Normalisation after_dense;
};

/// Pieces of consecutive words of a sentence, between [CLS] and [SEP].
struct Chunk {
    Index first_word = 0;  // in the corpus
    std::vector<std::int32_t> pieces;
    std::vector<std::pair<Index, Index>> words;  // first and last piece of each
};

}  // namespace network
namespace {

using coterie::internal::at;
using Json = nlohmann::json;
using namespace network;

constexpr Index pieces_together = 256;  // dense layers take at least so many rows where there are

/// A file of JSON, or what of it is asked for.
class Config {
public:
    explicit Config(const std::string& path) : path_(path) {
        const formats::Bytes bytes = formats::read_bytes(path);
        json_ = Json::parse(bytes.text(), bytes.text() + bytes.size(), nullptr, false);
        if (!json_.is_object()) throw BadData(path + ": is no JSON object", {.file = path});
    }
    bool has(const char* key) const { return json_.contains(key) && !json_[key].is_null(); }
    std::string text(const char* key) const {
        require(has(key) && json_[key].is_string(), key, "a text");
        return json_[key].get<std::string>();
    }
    Index count(const char* key) const {
        require(has(key) && json_[key].is_number_integer(), key, "a whole number");
        const auto value = json_[key].get<std::int64_t>();
        require(value >= 1 && value <= 10'000'000, key, "from 1 to 10,000,000");
        return static_cast<Index>(value);
    }
    double number(const char* key, double otherwise) const {
        if (!has(key)) return otherwise;
        require(json_[key].is_number(), key, "a number");
        return json_[key].get<double>();
    }
    bool flag(const char* key, bool otherwise) const {
        if (!has(key)) return otherwise;
        require(json_[key].is_boolean(), key, "true or false");
        return json_[key].get<bool>();
    }
    std::string text(const char* key, const std::string& otherwise) const { return has(key) ? text(key) : otherwise; }
    [[noreturn]] void refuse(const char* key, const std::string& accepted) const {
        throw BadData(path_ + ": " + key + " is " +
                          (json_.contains(key) ? formats::shown(json_[key].dump(-1, ' ', true)) : "missing") +
                          "; accepted is " + accepted,
                      {.accepted = accepted, .file = path_});
    }

private:
    void require(bool holds, const char* key, const std::string& accepted) const {
        if (!holds) refuse(key, accepted);
    }
    std::string path_;
    Json json_;
};

/// The tensors of a file, by name without the prefix that some programs write.
class Tensors {
public:
    Tensors(const std::string& path, const std::string& prefix) : path_(path), bytes_(formats::read_bytes(path)) {
        for (const auto& entry : formats::parse_safetensors_table(bytes_.data, path).tensors) {
            std::string key = entry.name;
            if (key.starts_with(prefix)) key.erase(0, prefix.size());
            entries_.emplace(std::move(key), entry);
        }
    }
    Matrix<float> matrix(const std::string& key, Index rows, Index columns) const {
        Matrix<float> out(rows, columns);
        read(key, {rows, columns}, out.data());
        return out;
    }
    Vector<float> vector(const std::string& key, Index size) const {
        Vector<float> out(size);
        read(key, {size}, out.data());
        return out;
    }
    Dense dense(const std::string& key, Index out, Index in) const {
        return {matrix(key + ".weight", out, in), vector(key + ".bias", out)};
    }
    Normalisation normalisation(const std::string& key, Index size) const {
        const bool old = entries_.contains(key + ".gamma");  // as TensorFlow called them
        return {vector(key + (old ? ".gamma" : ".weight"), size), vector(key + (old ? ".beta" : ".bias"), size)};
    }

private:
    void read(const std::string& key, const std::vector<std::int64_t>& shape, float* to) const {
        const auto found = entries_.find(key);
        const auto refuse = [&](const std::string& text) {
            throw BadData(path_ + ": tensor " + key + " " + text, {.file = path_});
        };
        if (found == entries_.end()) refuse("is missing");
        const auto& entry = found->second;
        if (entry.dtype != "F32") refuse("is " + formats::shown(entry.dtype) + "; F32 is accepted");
        if (entry.shape != shape)
            refuse("is " + formats::shape_text(entry.shape) + "; config.json says " + formats::shape_text(shape));
        std::memcpy(to, entry.data.data(), entry.data.size());
        for (std::size_t i = 0; i < entry.data.size() / sizeof(float); ++i)
            if (!std::isfinite(to[i])) refuse("holds numbers that are not finite");
    }

    std::string path_;
    formats::Bytes bytes_;
    std::map<std::string, formats::SafetensorsFile::Entry> entries_;
};

using MatrixF = Matrix<float>;

}  // namespace

struct Encoder::Network {
    Index hidden = 0, heads = 0, inner = 0, positions = 0;
    Index first_position = 0;
    float epsilon = 0;
    Activation activation = Activation::gelu;
    internal::WordPieces vocabulary;
    Matrix<float> pieces;  // of the vocabulary, x hidden
    Matrix<float> places;  // positions x hidden; the token type's row is in it
    Normalisation of_embeddings;
    Matrix<float> relative;  // buckets x heads; empty but for MPNet
    std::vector<Layer> layers;

    explicit Network(const std::string& folder);
    std::vector<Chunk> chunks_of(const Corpus& corpus) const;
    void encode(const Chunk* chunks, Index count, int layer, MatrixF& out) const;

private:
    void normalise(MatrixF& rows, const Normalisation& by) const;
    void activate(MatrixF& rows) const;
    void attend(const std::vector<Index>& starts, const MatrixF& query, const MatrixF& key, const MatrixF& value,
                MatrixF& out) const;
};

Encoder::Network::Network(const std::string& folder) {
    const std::filesystem::path place(folder);
    const auto file = [&](const char* name) { return (place / name).string(); };
    const Config config(file("config.json"));
    const std::string kind = config.text("model_type");
    const bool distil = kind == "distilbert";
    const bool mpnet = kind == "mpnet";
    if (kind != "bert" && !distil && !mpnet) config.refuse("model_type", "bert, distilbert or mpnet");
    hidden = config.count(distil ? "dim" : "hidden_size");
    heads = config.count(distil ? "n_heads" : "num_attention_heads");
    inner = config.count(distil ? "hidden_dim" : "intermediate_size");
    const Index depth = config.count(distil ? "n_layers" : "num_hidden_layers");
    const Index all_positions = config.count("max_position_embeddings");
    const Index words = config.count("vocab_size");
    if (hidden % heads != 0)
        config.refuse(distil ? "n_heads" : "num_attention_heads",
                      "a divisor of the " + std::to_string(hidden) + " dimensions");
    epsilon = static_cast<float>(config.number("layer_norm_eps", 1e-12));
    if (!(epsilon >= 0)) config.refuse("layer_norm_eps", "a number, at least 0");
    if (config.text("position_embedding_type", "absolute") != "absolute")
        config.refuse("position_embedding_type", "absolute");
    const char* const activation_key = distil ? "activation" : "hidden_act";
    const std::string shape = config.text(activation_key, "gelu");
    if (shape == "gelu")
        activation = Activation::gelu;
    else if (shape == "gelu_new" || shape == "gelu_pytorch_tanh")
        activation = Activation::gelu_tanh;
    else if (shape == "relu")
        activation = Activation::relu;
    else
        config.refuse(activation_key, "gelu, gelu_new or relu");
    // MPNet numbers positions from the padding's on.
    first_position = mpnet ? static_cast<Index>(config.number("pad_token_id", 1)) + 1 : 0;
    positions = all_positions - first_position;
    if (positions < 4) config.refuse("max_position_embeddings", "at least 4 more than the first position");

    const Config tokens(file("tokenizer_config.json"));
    const bool lower = tokens.flag("do_lower_case", true);
    const formats::Bytes vocab = formats::read_bytes(file("vocab.txt"));
    const std::string_view vocab_text(vocab.text(), vocab.size());
    if (internal::broken_utf8(vocab_text) != std::string_view::npos)
        throw BadData(file("vocab.txt") + ": is no UTF-8", {.file = file("vocab.txt")});
    vocabulary =
        internal::WordPieces(vocab_text, file("vocab.txt"),
                             {lower, tokens.flag("strip_accents", lower), tokens.flag("tokenize_chinese_chars", true)},
                             "[UNK]", mpnet ? "<s>" : "[CLS]", mpnet ? "</s>" : "[SEP]");
    if (vocabulary.size() > words)
        throw BadData(file("vocab.txt") + ": " + std::to_string(vocabulary.size()) +
                          " pieces; config.json says vocab_size " + std::to_string(words),
                      {.file = file("vocab.txt")});

    const Tensors tensors(file("model.safetensors"), kind + ".");
    pieces = tensors.matrix("embeddings.word_embeddings.weight", words, hidden);
    places = tensors.matrix("embeddings.position_embeddings.weight", all_positions, hidden);
    if (kind == "bert")
        places.rowwise() +=
            tensors.matrix("embeddings.token_type_embeddings.weight", config.count("type_vocab_size"), hidden).row(0);
    of_embeddings = tensors.normalisation("embeddings.LayerNorm", hidden);
    if (mpnet)
        relative = tensors.matrix(
            "encoder.relative_attention_bias.weight",
            config.has("relative_attention_num_buckets") ? config.count("relative_attention_num_buckets") : 32, heads);
    for (Index l = 0; l < depth; ++l) {
        const std::string layer = (distil ? "transformer.layer." : "encoder.layer.") + std::to_string(l) + ".";
        const auto dense = [&](const char* key, Index out, Index in) { return tensors.dense(layer + key, out, in); };
        const auto normal = [&](const char* key) { return tensors.normalisation(layer + key, hidden); };
        if (distil)
            layers.push_back({dense("attention.q_lin", hidden, hidden), dense("attention.k_lin", hidden, hidden),
                              dense("attention.v_lin", hidden, hidden), dense("attention.out_lin", hidden, hidden),
                              normal("sa_layer_norm"), dense("ffn.lin1", inner, hidden),
                              dense("ffn.lin2", hidden, inner), normal("output_layer_norm")});
        else if (mpnet)
            layers.push_back({dense("attention.attn.q", hidden, hidden), dense("attention.attn.k", hidden, hidden),
                              dense("attention.attn.v", hidden, hidden), dense("attention.attn.o", hidden, hidden),
                              normal("attention.LayerNorm"), dense("intermediate.dense", inner, hidden),
                              dense("output.dense", hidden, inner), normal("output.LayerNorm")});
        else
            layers.push_back(
                {dense("attention.self.query", hidden, hidden), dense("attention.self.key", hidden, hidden),
                 dense("attention.self.value", hidden, hidden), dense("attention.output.dense", hidden, hidden),
                 normal("attention.output.LayerNorm"), dense("intermediate.dense", inner, hidden),
                 dense("output.dense", hidden, inner), normal("output.LayerNorm")});
    }
}

std::vector<Chunk> Encoder::Network::chunks_of(const Corpus& corpus) const {
    const auto most = static_cast<std::size_t>(positions - 2);
    std::vector<Chunk> out;
    Index number = 0;
    for (const Sentence& sentence : corpus.sentences) {
        bool open = false;
        for (const Word& word : sentence.words) {
            std::vector<std::int32_t> own = vocabulary.pieces_of(corpus.text_of(sentence, word));
            if (own.empty()) own = {vocabulary.unknown()};  // a word of nothing but control characters
            if (own.size() > most) own.erase(own.begin() + static_cast<std::ptrdiff_t>(most) - 1, own.end() - 1);
            if (!open || out.back().pieces.size() - 1 + own.size() > most) {
                if (open) out.back().pieces.push_back(vocabulary.end());
                out.push_back({number, {vocabulary.begin()}, {}});
                open = true;
            }
            Chunk& chunk = out.back();
            const auto first = static_cast<Index>(chunk.pieces.size());
            chunk.pieces.insert(chunk.pieces.end(), own.begin(), own.end());
            chunk.words.emplace_back(first, static_cast<Index>(chunk.pieces.size()) - 1);
            ++number;
        }
        out.back().pieces.push_back(vocabulary.end());
    }
    return out;
}

namespace {

void apply(const Dense& dense, const MatrixF& in, MatrixF& out) {
    out.resize(in.rows(), dense.weight.rows());
    coterie::internal::products().float32.rows_by_rows(in.data(), in.rows(), in.cols(), dense.weight.data(),
                                                       dense.weight.rows(), dense.weight.cols(), in.cols(), out.data(),
                                                       out.cols());
    out.rowwise() += dense.bias.transpose();
}

// The bucket of a relative position, key less query (Raffel et al. 2020): half of them for each side, near ones exact,
// others by their logarithm up to 128.
Index bucket_of(Index relative, Index buckets) {
    const Index half = buckets / 2;
    const Index exact = half / 2;
    const Index far = std::abs(relative);
    Index bucket = far;
    if (far >= exact) {
        const float scaled = std::log(static_cast<float>(far) / static_cast<float>(exact)) /
                             static_cast<float>(std::log(128.0 / static_cast<double>(exact))) *
                             static_cast<float>(half - exact);
        bucket = std::min(exact + static_cast<Index>(scaled), half - 1);
    }
    return bucket + (relative > 0 ? half : 0);
}

}  // namespace

void Encoder::Network::normalise(MatrixF& rows, const Normalisation& by) const {
    for (Index i = 0; i < rows.rows(); ++i) {
        auto row = rows.row(i);
        row.array() -= row.mean();
        const float variance = row.squaredNorm() / static_cast<float>(row.size());
        row = (row.array() * (1 / std::sqrt(variance + epsilon)) * by.weight.transpose().array() +
               by.bias.transpose().array())
                  .matrix();
    }
}

void Encoder::Network::activate(MatrixF& rows) const {
    auto x = rows.array();
    switch (activation) {
        case Activation::gelu: x = 0.5F * x * (1 + (x * std::sqrt(0.5F)).erf()); break;
        case Activation::gelu_tanh: x = 0.5F * x * (1 + (0.7978845608F * (x + 0.044715F * x * x * x)).tanh()); break;
        case Activation::relu: x = x.max(0.0F); break;
    }
}

void Encoder::Network::attend(const std::vector<Index>& starts, const MatrixF& query, const MatrixF& key,
                              const MatrixF& value, MatrixF& out) const {
    const auto& product = coterie::internal::products().float32;
    const Index width = hidden / heads;
    const float scale = 1 / std::sqrt(static_cast<float>(width));
    out.resize(query.rows(), hidden);
    MatrixF scores;
    MatrixF turned;              // values of a head, width x n
    std::vector<Index> buckets;  // by key less query
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        const Index first = starts[s];
        const Index n = starts[s + 1] - first;
        scores.resize(n, n);
        if (relative.size() > 0) {
            buckets.resize(at(2 * n));
            for (Index r = -n + 1; r < n; ++r) buckets[at(r + n)] = bucket_of(r, relative.rows());
        }
        for (Index head = 0; head < heads; ++head) {
            const Index column = head * width;
            const auto part = [&](const MatrixF& of) { return of.data() + first * hidden + column; };
            product.rows_by_rows(part(query), n, hidden, part(key), n, hidden, width, scores.data(), n);
            scores *= scale;
            if (relative.size() > 0)
                for (Index i = 0; i < n; ++i)
                    for (Index j = 0; j < n; ++j) scores(i, j) += relative(buckets[at(j - i + n)], head);
            for (Index i = 0; i < n; ++i) {
                auto row = scores.row(i);
                row = (row.array() - row.maxCoeff()).exp().matrix();
                row /= row.sum();
            }
            turned = value.block(first, column, n, width).transpose();
            product.rows_by_rows(scores.data(), n, n, turned.data(), width, n, n, out.data() + first * hidden + column,
                                 hidden);
        }
    }
}

void Encoder::Network::encode(const Chunk* chunks, Index count, int layer, MatrixF& out) const {
    std::vector<Index> starts = {0};
    for (Index c = 0; c < count; ++c) starts.push_back(starts.back() + static_cast<Index>(chunks[c].pieces.size()));
    MatrixF x(starts.back(), hidden);
    for (Index c = 0; c < count; ++c)
        for (std::size_t p = 0; p < chunks[c].pieces.size(); ++p)
            x.row(starts[at(c)] + static_cast<Index>(p)) =
                pieces.row(chunks[c].pieces[p]) + places.row(first_position + static_cast<Index>(p));
    normalise(x, of_embeddings);
    MatrixF query;
    MatrixF key;
    MatrixF value;
    MatrixF mixed;
    MatrixF wide;
    for (int l = 0; l < layer; ++l) {
        const Layer& here = layers[static_cast<std::size_t>(l)];
        apply(here.query, x, query);
        apply(here.key, x, key);
        apply(here.value, x, value);
        attend(starts, query, key, value, mixed);
        apply(here.output, mixed, query);
        x += query;
        normalise(x, here.after_attention);
        apply(here.inner, x, wide);
        activate(wide);
        apply(here.outer, wide, query);
        x += query;
        normalise(x, here.after_dense);
    }
    for (Index c = 0; c < count; ++c)
        for (std::size_t w = 0; w < chunks[c].words.size(); ++w)
            out.row(chunks[c].first_word + static_cast<Index>(w)) =
                0.5F *
                (x.row(starts[at(c)] + chunks[c].words[w].first) + x.row(starts[at(c)] + chunks[c].words[w].second));
}

Encoder::Encoder(const std::string& folder) : network_(std::make_unique<const Network>(folder)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

Index Encoder::dimensions() const { return network_->hidden; }
int Encoder::layers() const { return static_cast<int>(network_->layers.size()); }

int Encoder::layer_of(const std::string& text) const {
    if (text == "last") return layers();
    if (text == "middle" || text == "auto") return layers() / 2;
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > layers())
        throw refused_option("layer", text,
                             "accepted are auto, last, middle and a number from 0 to " + std::to_string(layers()));
    return number;
}

Matrix<float> Encoder::encode(const Corpus& corpus, int layer, const Run& run) const {
    const std::vector<Chunk> chunks = network_->chunks_of(corpus);
    std::vector<Index> borders = {0};  // of blocks of chunks
    Index pieces = 0;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
        pieces += static_cast<Index>(chunks[c].pieces.size());
        if (pieces < pieces_together && c + 1 < chunks.size()) continue;
        borders.push_back(static_cast<Index>(c) + 1);
        pieces = 0;
    }
    Matrix<float> out(corpus.words(), dimensions());
    for_each_block(static_cast<Index>(borders.size()) - 1, run, {"encoding words"}, [&](Index block, int) {
        const Index first = borders[at(block)];
        network_->encode(chunks.data() + first, borders[at(block) + 1] - first, layer, out);
    });
    if (!out.allFinite()) throw BadData("the encoder gives vectors that are not finite");
    return out;
}

}  // namespace coterie::ner
