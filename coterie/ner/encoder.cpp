// A matrix has the sentences one after another, one row per piece. Dense layers take a few hundred rows at a time,
// attention one sentence and one head. There is no padding, so there are no masks.

#include "coterie/ner/encoder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <unsupported/Eigen/SpecialFunctions>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/ner/encoder_folder.hpp"

namespace coterie::ner {

using coterie::internal::at;
using internal::Chunk;
using MatrixF = Matrix<float>;

constexpr Index pieces_together = 256;  // minimum number of rows for dense layers, if there are that many

struct Encoder::Network {
    struct Dense {
        MatrixF weight;  // out x in
        Vector<float> bias;

        void apply(const MatrixF& in, MatrixF& out) const;
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

    internal::EncoderShape shape;
    internal::WordPieces vocabulary;
    MatrixF pieces;  // one row per piece of the vocabulary, x hidden
    MatrixF places;  // positions x hidden; includes the row of the token type
    Normalisation of_embeddings;
    MatrixF relative;  // buckets x heads; empty except for MPNet
    std::vector<Layer> layers;

    explicit Network(const std::string& path);
    void encode(const Chunk* chunks, Index count, int layer, MatrixF& out) const;

private:
    void normalise(MatrixF& rows, const Normalisation& by) const;
    void activate(MatrixF& rows) const;
    void attend(const std::vector<Index>& starts, const MatrixF& query, const MatrixF& key, const MatrixF& value,
                MatrixF& out) const;
};

Encoder::Network::Network(const std::string& path) {
    internal::EncoderFolder folder(path);
    shape = folder.shape;
    std::size_t next = 0;
    const auto matrix = [&] { return folder.matrix(next++); };
    const auto vector = [&] { return Vector<float>(folder.matrix(next++).row(0).transpose()); };
    // Braces are evaluated from left to right, so the tensors are read in their order.
    const auto dense = [&] { return Dense{matrix(), vector()}; };
    const auto normal = [&] { return Normalisation{vector(), vector()}; };
    pieces = matrix();
    places = matrix();
    of_embeddings = normal();
    if (shape.buckets > 0) relative = matrix();
    for (Index l = 0; l < shape.layers; ++l)
        layers.push_back({dense(), dense(), dense(), dense(), normal(), dense(), dense(), normal()});
    vocabulary = std::move(folder.vocabulary);
}

void Encoder::Network::Dense::apply(const MatrixF& in, MatrixF& out) const {
    out.resize(in.rows(), weight.rows());
    coterie::internal::products().float32.rows_by_rows(in.data(), in.rows(), in.cols(), weight.data(), weight.rows(),
                                                       weight.cols(), in.cols(), out.data(), out.cols());
    out.rowwise() += bias.transpose();
}

namespace {

// The bucket of a relative position, key minus query (Raffel et al. 2020). Each side has half of the buckets. Near
// positions have one bucket each; farther positions, up to 128, share buckets on a logarithmic scale.
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
    const auto epsilon = static_cast<float>(shape.epsilon);
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
    switch (shape.activation) {
        case internal::gelu: x = 0.5F * x * (1 + (x * std::sqrt(0.5F)).erf()); break;
        case internal::gelu_tanh: x = 0.5F * x * (1 + (0.7978845608F * (x + 0.044715F * x * x * x)).tanh()); break;
        case internal::relu: x = x.max(0.0F); break;
    }
}

void Encoder::Network::attend(const std::vector<Index>& starts, const MatrixF& query, const MatrixF& key,
                              const MatrixF& value, MatrixF& out) const {
    const auto& product = coterie::internal::products().float32;
    const Index hidden = shape.hidden;
    const Index width = hidden / shape.heads;
    const float scale = 1 / std::sqrt(static_cast<float>(width));
    out.resize(query.rows(), hidden);
    MatrixF scores;
    MatrixF turned;              // values of a head, width x n
    std::vector<Index> buckets;  // by key minus query
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        const Index first = starts[s];
        const Index n = starts[s + 1] - first;
        scores.resize(n, n);
        if (relative.size() > 0) {
            buckets.resize(at(2 * n));
            for (Index r = -n + 1; r < n; ++r) buckets[at(r + n)] = bucket_of(r, relative.rows());
        }
        for (Index head = 0; head < shape.heads; ++head) {
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
    MatrixF x(starts.back(), shape.hidden);
    for (Index c = 0; c < count; ++c)
        for (std::size_t p = 0; p < chunks[c].pieces.size(); ++p)
            x.row(starts[at(c)] + static_cast<Index>(p)) =
                pieces.row(chunks[c].pieces[p]) + places.row(shape.first_position + static_cast<Index>(p));
    normalise(x, of_embeddings);
    MatrixF query, key, value, mixed, wide;
    for (int l = 0; l < layer; ++l) {
        const Layer& here = layers[static_cast<std::size_t>(l)];
        here.query.apply(x, query);
        here.key.apply(x, key);
        here.value.apply(x, value);
        attend(starts, query, key, value, mixed);
        here.output.apply(mixed, query);
        x += query;
        normalise(x, here.after_attention);
        here.inner.apply(x, wide);
        activate(wide);
        here.outer.apply(wide, query);
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

Index Encoder::dimensions() const { return network_->shape.hidden; }
int Encoder::layers() const { return static_cast<int>(network_->layers.size()); }

int Encoder::layer_of(const std::string& text) const {
    if (text == "last") return layers();
    if (text == "auto") return network_->shape.trained_on_tags ? layers() : layers() / 2;
    if (text == "middle") return layers() / 2;
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0 || number > layers())
        throw refused_option("layer", text, "auto, last, middle, or a number from 0 to " + std::to_string(layers()));
    return number;
}

Matrix<float> Encoder::encode(const Corpus& corpus, int layer, const Run& run) const {
    const std::vector<Chunk> chunks =
        internal::chunks_of(corpus, network_->vocabulary, network_->shape.positions - network_->shape.first_position);
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
    if (!out.allFinite())
        throw BadData(Code::not_finite, "the encoder gives vectors that are not finite",
                      "Use another `layer` or another encoder");
    return out;
}

}  // namespace coterie::ner
