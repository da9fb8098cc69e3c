#pragma once
// Internal: computes probabilities from scores of tags. P(t | x) = exp(a s_t + b [t = 0]) / sum_u exp(a s_u + b [u =
// 0]). The sharpness a is one number for all tags. The shift b corrects for a text whose share of O differs from that
// of the words that gave a.

#include "coterie/base/points.hpp"

namespace coterie::ner::internal {

/// The sharpness a >= 0 with the largest likelihood for words to which the tagger was not adapted. `scores` are n x L:
/// larger is better, -infinity for a tag that is not possible. `tags` are n tags with finite scores.
/// As in Platt (1999), the tag of a word counts 1 - 1 / (n + 2), and the other tags share the rest equally. So a stays
/// bounded if all words are right. Returns 0 if n = 0, or if the scores say nothing about the tags.
double sharpness_of(const Matrix<double>& scores, const Labels& tags);

/// The b of a text with this share of O (Saerens, Latinne and Decaestecker 2002, equation 4, all types together). It is
/// the log odds of `share` minus those of the share of O among the n tags. Both shares are kept at least 1 / (2 n + 2)
/// away from 0 and 1. Returns 0 if n = 0.
double shift_of(const Labels& tags, double share);

/// The tag with the largest score of each row; the first if there are several.
Labels best_tags(const Matrix<double>& scores);

/// P(t | x) for t = `tag`, from the scores of one word.
double probability(const double* scores, Index tags, Index tag, double sharpness, double shift);

}  // namespace coterie::ner::internal
