#pragma once
// Internal: from scores of tags to probabilities. P(t | x) = exp(a s_t + b [t = 0]) / sum_u exp(a s_u + b [u = 0]): the
// sharpness a, one number for all tags, and the shift b, where the share of O is another in the text than among the
// words that a is from.

#include "coterie/base/points.hpp"

namespace coterie::ner::internal {

/// The a of largest likelihood for words that the tagger has not seen, at least 0. scores: n x L, larger is better,
/// -infinity where a tag cannot be; tags: n, of finite scores. As Platt (1999) does, the tag of a word counts for
/// 1 - 1 / (n + 2), the rest goes to the others in equal parts: words that are all right, by whatever margin, do not
/// make a grow without bound. 0 where there is no word, or the scores do not tell.
double sharpness_of(const Matrix<double>& scores, const Labels& tags);

/// The b of a text with that share of O (Saerens, Latinne and Decaestecker 2002, their equation 4 with all types
/// together): the log odds of `share` less those among the words with these tags, which are n. Neither share is taken
/// nearer to 0 or 1 than 1 / (2 n + 2). 0 where there is no word.
double shift_of(const Labels& tags, double share);

/// P(t | x) of one word's scores, for tag `tag`.
double probability(const double* scores, Index tags, Index tag, double sharpness, double shift);

}  // namespace coterie::ner::internal
