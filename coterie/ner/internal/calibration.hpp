#pragma once
// Internal: from scores of tags to probabilities. P(t | x) = exp(a s_t) / sum_u exp(a s_u), one number a for all tags.

#include "coterie/base/points.hpp"

namespace coterie::ner::internal {

/// The a of largest likelihood for words that the tagger has not seen, at least 0. scores: n x L, larger is better,
/// -infinity where a tag cannot be; tags: n, of finite scores. As Platt (1999) does, the tag of a word counts for
/// 1 - 1 / (n + 2), the rest goes to the others in equal parts: words that are all right, by whatever margin, do not
/// make a grow without bound. 0 where there is no word, or the scores do not tell.
double sharpness_of(const Matrix<double>& scores, const Labels& tags);

/// P(t | x) of one word's scores, for tag `tag`.
double probability(const double* scores, Index tags, Index tag, double sharpness);

}  // namespace coterie::ner::internal
