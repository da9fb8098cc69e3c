#pragma once
// A tagger: scores of tags for word vectors, and from them the mentions of sentences.
//
//     x     d        vector of a word
//     tags  0..L-1   0 is O, 1 + t the type t (the IO scheme)
//     s     L        scores of the tags, larger is better:
//                    prototypes   s_t = -1/2 min_j || U(x - m) - c_j ||^2 over the prototypes j of tag t (the paper's
//                                 equation 2); of nearest words without the 1/2
//                    linear       s_t = v_t'x + b_t
//
// A word's tag is that of its largest score (ties: the lowest), or by Viterbi's algorithm the tags of a sentence are
// those of largest sum of log softmax(s) and log transitions. Transitions are of seven kinds (Yang and Katiyar 2020):
// start to O, start to a type, O to O, O to a type, a type to O, to itself, to another; their shares among the
// support's words are spread over the types, raised to the power tau = 0.05, and rows sum to 1 again; logarithms are of
// 1e-6 at least.
//
// The margin of a word is the score of its tag less the largest of the others; of a mention the least of its words. It
// ranks mentions by how sure they are; it is no probability, and negative where transitions decided.
//
// The probability of a word's tag is softmax(a s + b [O]), without transitions; of a mention that of its least sure
// word. The sharpness a is that of largest likelihood for words of the support when their sentence is left out
// (adapt.hpp): it holds as far as the words to tag are like those of the support. Where their share of O is known, the
// shift b makes up for the support's own, whose sentences were chosen for their mentions.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/ner/corpus.hpp"

namespace coterie::ner {

enum class Decoding { nearest, viterbi };

struct COTERIE_API TagOptions {
    Decoding decoding = Decoding::nearest;

    static const OptionSet& described();
};

/// Counts of the seven kinds of transitions.
struct COTERIE_API Transitions {
    double start_outside = 0, start_type = 0;
    double outside_outside = 0, outside_type = 0;
    double type_outside = 0, type_same = 0, type_other = 0;

    /// Of the IO tags of the annotated sentences.
    static Transitions of(const Corpus& corpus);
    /// (L + 1) x L log transitions between the tags, the last row from the start.
    Matrix<double> logarithms(Index tags) const;
};

struct COTERIE_API Tagger {
    std::string method;              // how it was adapted: adapt.hpp
    std::vector<std::string> types;  // T = L - 1
    bool linear = false;
    double factor = 0.5;               // of squared distances
    Vector<double> origin;             // m, d
    Matrix<double> directions;         // U, p x d; 0 x 0: U = I, p = d
    Matrix<double> prototypes;         // c or v: k x p, k x d where linear
    Vector<double> bias;               // b, k; only where linear
    std::vector<std::int32_t> tag_of;  // k, in 0..L-1
    double sharpness = 0;              // a, in units of the scores; 0: not known, there are no probabilities
    double outside_shift = 0;          // b; 0 where the share of O is not known
    double support_outside_share = 0;  // of O among the words of the support
    /// low, high: of O among all words, given or estimated; none: not known.
    std::optional<std::pair<double, double>> outside_share;
    Transitions transitions;
    std::string encoder;  // where the vectors of words were from, and which layer: vectors.hpp
    std::string layer;

    Index dimensions() const { return origin.size(); }
    Index tags() const { return static_cast<Index>(types.size()) + 1; }

    /// n x L. A tag without a prototype scores -infinity. BadData where vectors are not finite or have not d columns.
    Matrix<double> scores(PointsView vectors, const Run& run) const;
    /// Replaces the types and mentions of the corpus by those found; row i of the vectors is word i. BadData where
    /// there is not one row per word.
    void tag(Corpus& corpus, PointsView vectors, const TagOptions& options, const Run& run) const;

    Archive archive() const;
    /// Whole or not at all, in the format of models (model/archive.hpp).
    void save(const std::string& path) const;
    /// BadData, naming the file, on what is no sound tagger.
    static Tagger load(const std::string& path);
    static Tagger from(const Archive& archive, const std::string& path);
};

}  // namespace coterie::ner
