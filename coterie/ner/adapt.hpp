#pragma once
// Adapts a tagger to a domain from a few annotated sentences (the support) and many words that are not annotated
// (Hammal, Uthayasooriyar and Corro 2025). Also has the usual baselines.
//
//     k-means         constrained k-means with joint subspace selection (coterie/subspace/) over all words: 3 rounds,
//                     one prototype per type, 10 for O (fewer if the support has fewer words with tag O)
//     support-space   k-means as above, in the space of a linear discriminant analysis of the support
//     discriminant    linear discriminant analysis of the support: one mean per tag, OAS shrinkage
//     logistic        logistic regression on the support, 1/2 || V ||^2 + sum_i loss_i (C = 1)
//     prototypes      nearest mean of a tag's words (Proto: Snell et al. 2017)
//     nearest-word    nearest word of the support (NNShot; with Viterbi StructShot: Yang and Katiyar 2020)
//
// Which of the first four is best depends on the domain. With many types and few words of O, use a method that uses
// only the support: discriminant or logistic. The automatic choice compares the four by leaving out each sentence of
// the support in turn:
// - It adapts to the other sentences. The words of the sentence left out then count as not annotated.
// - It counts the mentions in the sentence left out. Mentions of types that occur in no other sentence do not count.
// - At most 10,000 of the words that are not annotated take part.
// - It takes the first of the four whose F1 is within one standard error of the largest. The standard error is that of
//   the difference of the two F1 (jackknife over the sentences). The four are in order of their usual quality; a few
//   dozen mentions cannot show a smaller difference.
//
// The scores of the words left out also give the tagger's probabilities. If a method is given, only that method is
// adapted once per sentence for this.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/scoring.hpp"
#include "coterie/ner/tagger.hpp"
#include "coterie/subspace/subspace.hpp"

namespace coterie::ner {

enum class Adaptation { automatic, kmeans, support_space, discriminant, logistic, prototypes, nearest_word };
/// "k-means", "support-space", ...
COTERIE_API std::string_view name(Adaptation method);

struct COTERIE_API AdaptOptions {
    Adaptation method = Adaptation::automatic;
    /// The share of O among all words: "0.95", "0.9:0.97" (an interval), "none" or "auto".
    /// "auto": if every type has at least 5 mentions, the share that logistic regression finds among the words that are
    /// not annotated; else none. The share in the support is biased, because its sentences were chosen for their
    /// mentions. A share that is slightly too large does less harm than one that is too small.
    std::string outside_share = "auto";
    Assignment assignment = Assignment::hard;  // for k-means

    static const OptionSet& described();
};

struct AdaptReport {
    Adaptation method = Adaptation::kmeans;  // the method that was used
    std::string chosen_because;              // in words
    /// Counts over the sentences left out. Empty if there was no choice to make, or if nothing could be compared.
    std::vector<std::pair<Adaptation, MentionCounts>> compared;
    /// Lowest and highest share of O; none if the method used no share.
    std::optional<std::pair<double, double>> outside_share;
    std::string share_origin;  // in words
    /// Number of words of left-out sentences that determined the tagger's sharpness. 0: no sentence could be left out.
    Index calibrated_on = 0;
    std::vector<Message> warnings;
};

/// The support has annotated sentences; support_vectors (n_s x d) has one row per word, in order. `other` has n_u x d
/// vectors of words that are not annotated; it may be empty.
/// Throws BadData if a sentence is not annotated, if a type has no mention, if the support has no mention or no word
/// outside mentions, or if vectors are not finite or have wrong shapes. Throws BadArgument if an option is not valid.
COTERIE_API Tagger adapt(const Corpus& support, PointsView support_vectors, PointsView other,
                         const AdaptOptions& options, const Run& run, AdaptReport* report = nullptr);

}  // namespace coterie::ner
