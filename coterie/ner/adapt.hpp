#pragma once
// Adapting a tagger to a domain from a few annotated sentences (the support) and many words that are not annotated
// (Hammal, Uthayasooriyar and Corro 2025), beside the baselines of the field.
//
//     k-means         constrained k-means with joint subspace selection (coterie/subspace/) over the words of both: 10
//                     prototypes for O, as many as it has words where they are fewer, one per type; 3 rounds
//     support-space   the same in the space of the support's discriminant analysis
//     discriminant    linear discriminant analysis of the support: one mean per tag, OAS shrinkage
//     logistic        logistic regression on the support, 1/2 || V ||^2 + sum_i loss_i (C = 1)
//     prototypes      nearest mean of a tag's words (Proto: Snell et al. 2017)
//     nearest-word    nearest word of the support (NNShot; with Viterbi StructShot: Yang and Katiyar 2020)
//
// Which of the first four is best depends on the domain: many types and little O ask for the support alone. So the
// automatic choice leaves out one sentence of the support after the other, adapts to the others (its words are not
// annotated then), and counts the mentions of the sentences left out; those of types that no other sentence has do not
// count. Taken is the first of the four whose F1 is not below the largest by more than one standard error of their
// difference (jackknife over the sentences): with a few dozen mentions a larger difference than that is needed to leave
// what is best as a rule. At most 10,000 of the other words take part in it. The scores of the words left out also make
// the tagger's probabilities; where a method is asked for, it alone is adapted once per sentence.

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
    /// The share of O among all words: "0.95", "0.9:0.97" (an interval), "none", or "auto": the share that logistic
    /// regression finds among the words that are not annotated where every type has 5 mentions, else none. The
    /// support's own share is no guide: its sentences were looked for because of their mentions. A share a little above
    /// the truth does less harm than one below.
    std::string outside_share = "auto";
    Assignment assignment = Assignment::hard;  // of k-means

    static const OptionSet& described();
};

struct AdaptReport {
    Adaptation method = Adaptation::kmeans;  // the one taken
    std::string chosen_because;              // in words
    /// Mentions of the sentences left out; empty where nothing was to be chosen or could be compared.
    std::vector<std::pair<Adaptation, MentionCounts>> compared;
    /// low, high; none where no share was used.
    std::optional<std::pair<double, double>> outside_share;
    std::string share_origin;  // in words
    /// Words of left-out sentences from which the tagger's sharpness is; 0: no sentence can be left out.
    Index calibrated_on = 0;
    std::vector<std::string> warnings;
};

/// The support: annotated sentences with n_s word vectors (n_s x d) in their order; other: n_u x d vectors of words
/// that are not annotated, or none. BadData where a sentence is not annotated, a type has no mention, there is no
/// mention or no word outside one, or vectors do not fit; BadArgument on options.
COTERIE_API Tagger adapt(const Corpus& support, PointsView support_vectors, PointsView other,
                         const AdaptOptions& options, const Run& run, AdaptReport* report = nullptr);

}  // namespace coterie::ner
