// Scores use the products of linalg/, in blocks of rows. Decoding takes one sentence at a time. Every method of
// adaptation gives prototypes in a linear space or a linear function, so a tagger is one file with a few matrices.

#include "coterie/ner/tagger.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/checks.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/row_products.hpp"
#include "coterie/ner/internal/calibration.hpp"
#include "coterie/ner/readers.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::at;
using coterie::internal::filled;

constexpr Index block_rows = 256;
constexpr double tau = 0.05;
constexpr double least_probability = 1e-6;

// log softmax of a row.
Vector<double> log_softmax(const Matrix<double>& scores, Index row) {
    Vector<double> out = scores.row(row).transpose();
    const double largest = out.maxCoeff();
    double sum = 0;
    for (Index t = 0; t < out.size(); ++t) sum += std::exp(out[t] - largest);
    for (Index t = 0; t < out.size(); ++t) out[t] -= largest + std::log(sum);
    return out;
}

Labels viterbi(const Matrix<double>& scores, Index first, Index words, const Matrix<double>& transitions) {
    const Index tags = scores.cols();
    Matrix<double> best(words, tags);
    Matrix<double> from = Matrix<double>::Zero(words, tags);
    best.row(0) = log_softmax(scores, first).transpose() + transitions.row(tags);
    for (Index w = 1; w < words; ++w) {
        const Vector<double> emission = log_softmax(scores, first + w);
        for (Index t = 0; t < tags; ++t) {
            Index before = 0;
            const double value = (best.row(w - 1).transpose() + transitions.col(t).head(tags)).maxCoeff(&before);
            best(w, t) = value + emission[t];
            from(w, t) = static_cast<double>(before);
        }
    }
    Labels out(at(words));
    Index tag = 0;
    best.row(words - 1).maxCoeff(&tag);
    for (Index w = words; w-- > 0; tag = static_cast<Index>(from(w, tag))) {
        out[at(w)] = static_cast<std::int32_t>(tag);
        if (w == 0) break;
    }
    return out;
}

}  // namespace

const OptionSet& TagOptions::described() {
    static const OptionSet set = OptionSetFor<TagOptions>().choice(
        "decoding", &TagOptions::decoding, {"nearest", "viterbi"},
        "nearest: tag each word by its own scores; viterbi: find the most probable tags of the whole sentence");
    return set;
}

Transitions Transitions::of(const Corpus& corpus) {
    Transitions out;
    const Labels tags = corpus.tags();
    const std::vector<Index> first = corpus.first_words();
    for (std::size_t s = 0; s < corpus.sentences.size(); ++s) {
        if (!corpus.sentences[s].annotated) continue;
        std::int32_t before = -1;
        for (Index i = first[s]; i < first[s + 1]; ++i) {
            const std::int32_t tag = tags[at(i)];
            double& count = before < 0    ? (tag == 0 ? out.start_outside : out.start_type)
                            : before == 0 ? (tag == 0 ? out.outside_outside : out.outside_type)
                            : tag == 0    ? out.type_outside
                                          : (tag == before ? out.type_same : out.type_other);
            count += 1;
            before = tag;
        }
    }
    return out;
}

Matrix<double> Transitions::logarithms(Index tags) const {
    const double types = static_cast<double>(tags - 1);
    Matrix<double> out(tags + 1, tags);
    for (Index from = 0; from <= tags; ++from)
        for (Index to = 0; to < tags; ++to)
            out(from, to) = from == tags ? (to == 0 ? start_outside : start_type / types)
                            : from == 0  ? (to == 0 ? outside_outside : outside_type / types)
                            : to == 0    ? type_outside
                            : to == from ? type_same
                                         : type_other / std::max(types - 1, 1.0);
    for (Index from = 0; from <= tags; ++from) {
        double sum = out.row(from).sum();
        if (!(sum > 0)) {  // the support has no such transitions: all are equally likely
            out.row(from).setOnes();
            sum = static_cast<double>(tags);
        }
        double raised = 0;
        for (Index to = 0; to < tags; ++to) raised += out(from, to) = std::pow(out(from, to) / sum, tau);
        for (Index to = 0; to < tags; ++to)
            out(from, to) = std::log(std::max(out(from, to) / raised, least_probability));
    }
    return out;
}

Matrix<double> Tagger::scores(PointsView vectors, const Run& run) const {
    if (vectors.columns() != dimensions())
        throw BadData(Code::wrong_shape,
                      filled("{}, but the tagger needs {}", counted(vectors.columns(), "column"), dimensions()),
                      "Use the source of vectors with which the tagger was adapted", {.option = "vectors"});
    check_points(vectors, {.option = "vectors"}, run);
    const bool projects = directions.size() > 0;
    const coterie::internal::RowProducts project(directions);
    const coterie::internal::RowProducts products(prototypes);
    const coterie::internal::SquaredDistances distances(prototypes);
    Matrix<double> out(vectors.rows(), tags());
    out.setConstant(-std::numeric_limits<double>::infinity());
    const RowBlocks blocks{vectors.rows(), block_rows};
    for_each_block(blocks.count(), run, {"scoring words"}, [&](Index block, int) {
        const Index begin = blocks.begin(block);
        Matrix<double> x;
        Matrix<double> y;
        std::vector<const double*> pointers;
        coterie::internal::RowProducts::Scratch scratch;
        vectors.with_scalar(
            [&]<class T>() { coterie::internal::centred_rows(vectors.as<T>(), begin, blocks.end(block), origin, x); });
        if (projects) {
            coterie::internal::row_pointers(x, pointers);
            project(pointers, y, scratch);
            x.swap(y);
        }
        if (linear) {
            coterie::internal::row_pointers(x, pointers);
            products(pointers, y, scratch);
        } else {
            distances(x, y, pointers, scratch);
        }
        for (Index i = 0; i < y.rows(); ++i)
            for (Index j = 0; j < y.cols(); ++j) {
                double& score = out(begin + i, tag_of[at(j)]);
                score = std::max(score, linear ? y(i, j) + bias[j] : -factor * y(i, j));
            }
    });
    return out;
}

void Tagger::tag(Corpus& corpus, PointsView vectors, const TagOptions& options, const Run& run) const {
    internal::require_row_per_word(vectors, corpus);
    const Matrix<double> all = scores(vectors, run);
    const Matrix<double> steps = transitions.logarithms(tags());
    const std::vector<Index> first = corpus.first_words();
    corpus.types = types;
    for (std::size_t s = 0; s < corpus.sentences.size(); ++s) {
        const Index words = first[s + 1] - first[s];
        corpus.set_mentions(s, options.decoding == Decoding::viterbi
                                   ? viterbi(all, first[s], words, steps)
                                   : internal::best_tags(all.middleRows(first[s], words)));
        for (Mention& mention : corpus.sentences[s].mentions) {
            mention.margin = std::numeric_limits<double>::infinity();
            mention.probability = sharpness > 0 ? 1 : 0;
            for (std::size_t w = mention.begin; w < mention.end; ++w) {
                double others = -std::numeric_limits<double>::infinity();
                const Index row = first[s] + static_cast<Index>(w);
                for (Index t = 0; t < all.cols(); ++t)
                    if (t != 1 + mention.type) others = std::max(others, all(row, t));
                mention.margin = std::min(mention.margin, all(row, 1 + mention.type) - others);
                if (sharpness > 0)
                    mention.probability = std::min(
                        mention.probability, internal::probability(all.row(row).data(), all.cols(), 1 + mention.type,
                                                                   sharpness, outside_shift));
            }
        }
    }
}

Archive Tagger::archive() const {
    Archive archive("ner-tagger");
    archive.set_text("adapted_by", method);
    archive.set_text("types", std::to_string(types.size()));
    for (std::size_t t = 0; t < types.size(); ++t) archive.set_text(filled("type.{}", t), types[t]);
    archive.set_text("scores", linear ? "linear" : "prototypes");
    archive.set_text("encoder", encoder);
    archive.set_text("layer", layer);
    archive.set_vector("origin", {origin.data(), at(origin.size())});
    if (directions.size() > 0) archive.set_points("directions", directions);
    archive.set_points("prototypes", prototypes);
    if (linear) archive.set_vector("bias", {bias.data(), at(bias.size())});
    archive.set_labels("tags_of_prototypes", tag_of);
    const Transitions& t = transitions;
    const double others[] = {factor,         t.start_outside, t.start_type, t.outside_outside,
                             t.outside_type, t.type_outside,  t.type_same,  t.type_other};
    archive.set_vector("factor_and_transitions", others);
    archive.set_vector("sharpness", std::vector<double>{sharpness});
    archive.set_vector("outside_shift", std::vector<double>{outside_shift});
    archive.set_vector("support_outside_share", std::vector<double>{support_outside_share});
    if (outside_share)
        archive.set_vector("outside_share", std::vector<double>{outside_share->first, outside_share->second});
    return archive;
}

void Tagger::save(const std::string& path) const { archive().save(path); }

Tagger Tagger::load(const std::string& path) { return from(Archive::load(path), path); }

Tagger Tagger::from(const Archive& archive, const std::string& path) {
    const auto refuse = [&](std::string problem) {
        throw BadData(Code::malformed, std::move(problem), "", {.file = path});
    };
    if (archive.method() != "ner-tagger")
        throw BadData(Code::model_mismatch, filled("the file is a model of {}, not a tagger", archive.method()), "",
                      {.file = path});
    Tagger out;
    try {
        out.method = archive.text("adapted_by");
        std::size_t types = 0;
        for (const std::string key = "type."; archive.texts().contains(key + std::to_string(types)); ++types)
            out.types.push_back(archive.text(key + std::to_string(types)));
        if (types == 0 || std::to_string(types) != archive.text("types")) refuse("the types are damaged");
        out.linear = archive.text("scores") == "linear";
        out.encoder = archive.text("encoder");
        out.layer = archive.text("layer");
        const std::vector<double> origin = archive.vector("origin");
        const auto d = static_cast<Index>(origin.size());
        out.origin = Eigen::Map<const eigen::Vector<double>>(origin.data(), d);
        if (archive.has("directions")) out.directions = to_matrix<double>(archive.points("directions", -1, d));
        out.prototypes =
            to_matrix<double>(archive.points("prototypes", -1, out.directions.size() > 0 ? out.directions.rows() : d));
        const Index k = out.prototypes.rows();
        if (out.linear) {
            const std::vector<double> bias = archive.vector("bias", k);
            out.bias = Eigen::Map<const eigen::Vector<double>>(bias.data(), k);
        }
        out.tag_of = archive.labels("tags_of_prototypes", k);
        for (const std::int32_t tag : out.tag_of)
            if (tag < 0 || tag > static_cast<std::int32_t>(types)) refuse("a prototype has no tag");
        const std::vector<double> others = archive.vector("factor_and_transitions", 8);
        for (const double each : others)
            if (each < 0) refuse("a count of transitions is negative");
        out.factor = others[0];
        out.sharpness = archive.vector("sharpness", 1)[0];
        if (out.sharpness < 0) refuse("the sharpness is negative");
        out.outside_shift = archive.vector("outside_shift", 1)[0];
        const auto shares = [&](const char* name, Index numbers) {
            const std::vector<double> read = archive.vector(name, numbers);
            for (const double each : read)
                if (!(each >= 0 && each <= 1)) refuse("a share of words outside mentions is not from 0 to 1");
            return read;
        };
        out.support_outside_share = shares("support_outside_share", 1)[0];
        if (archive.has("outside_share")) {
            const std::vector<double> interval = shares("outside_share", 2);
            out.outside_share.emplace(interval[0], interval[1]);
        }
        out.transitions = {others[1], others[2], others[3], others[4], others[5], others[6], others[7]};
    } catch (BadData& error) {
        error.amend([&](Message& message) { message.file = path; });
        throw;
    }
    return out;
}

}  // namespace coterie::ner
