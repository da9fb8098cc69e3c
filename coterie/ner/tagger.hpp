#pragma once
// A tagger: computes scores of tags for word vectors, and from them the mentions of sentences.
//
//     x     d        vector of a word
//     tags  0..L-1   0 is O, 1 + t the type t (the IO scheme)
//     s     L        scores of the tags, larger is better:
//                    prototypes   s_t = -1/2 min_j || U(x - m) - c_j ||^2 over the prototypes j of tag t (equation 2 of
//                                 the paper, adapt.hpp); for nearest words without the 1/2
//                    linear       s_t = v_t'x + b_t
//
// The tag of a word is the one with the largest score (ties: the lowest tag). With Viterbi's algorithm, the tags of a
// sentence have the largest sum of log softmax(s) and log transitions. Transitions are of seven kinds (Yang and Katiyar
// 2020): start to O, start to a type, O to O, O to a type, a type to O, to itself, to another type. Their shares in the
// support are divided among the types and raised to the power tau = 0.05. Then rows are scaled to sum to 1, and shares
// below 1e-6 are set to 1e-6.
//
// The margin of a word is the score of its tag minus the largest other score. The margin of a mention is the smallest
// margin of its words. Margins order mentions by certainty, but are not probabilities. They may be negative (Viterbi).
//
// The probability of a word's tag is softmax(a s + b [O]), without transitions. The probability of a mention is the
// smallest probability of its words. The sharpness a maximises the likelihood of words of the support whose sentence
// was left out (adapt.hpp). So probabilities are valid for words similar to those of the support. If the share of O in
// the text is known, the shift b replaces the support's share, whose sentences were chosen for their mentions.

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

    /// Counts in the IO tags of the annotated sentences.
    static Transitions of(const Corpus& corpus);
    /// The log transitions between the tags, (L + 1) x L. The last row has those from the start.
    Matrix<double> logarithms(Index tags) const;
};

struct COTERIE_API Tagger {
    std::string method;              // the method of adaptation (adapt.hpp)
    std::vector<std::string> types;  // T = L - 1
    bool linear = false;
    double factor = 0.5;               // of squared distances
    Vector<double> origin;             // m, d
    Matrix<double> directions;         // U, p x d; 0 x 0: U = I, p = d
    Matrix<double> prototypes;         // c or v: k x p, k x d if linear
    Vector<double> bias;               // b, k; only if linear
    std::vector<std::int32_t> tag_of;  // k, in 0..L-1
    double sharpness = 0;              // a, for these scores; 0: not known, so there are no probabilities
    double outside_shift = 0;          // b; 0 if the share of O is not known
    double support_outside_share = 0;  // share of O among the words of the support
    /// Lowest and highest share of O among all words, given or estimated; none if not known.
    std::optional<std::pair<double, double>> outside_share;
    Transitions transitions;
    std::string encoder;  // the source of the word vectors and its layer (vectors.hpp)
    std::string layer;

    Index dimensions() const { return origin.size(); }
    Index tags() const { return static_cast<Index>(types.size()) + 1; }

    /// The scores, n x L. A tag without a prototype scores -infinity. Throws BadData if vectors are not finite or do
    /// not have d columns.
    Matrix<double> scores(PointsView vectors, const Run& run) const;
    /// Replaces the types and mentions of the corpus by those found. Row i of the vectors is word i. Throws BadData as
    /// scores() does, and if there is not one row per word.
    void tag(Corpus& corpus, PointsView vectors, const TagOptions& options, const Run& run) const;

    Archive archive() const;
    /// Writes the whole file or nothing, in the format of models (model/archive.hpp).
    void save(const std::string& path) const;
    /// Throws BadData, with the name of the file, if the file is not a valid tagger.
    static Tagger load(const std::string& path);
    static Tagger from(const Archive& archive, const std::string& path);
};

}  // namespace coterie::ner
