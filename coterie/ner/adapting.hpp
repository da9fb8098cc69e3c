#pragma once
// Internal: adapts by one method, without the comparison and without leaving out sentences. So the tagger gives no
// probabilities. For the tables of the papers.

#include "coterie/ner/adapt.hpp"

namespace coterie::ner::internal {

struct Way {
    Adaptation method = Adaptation::kmeans;  // not automatic
    Assignment assignment = Assignment::hard;
    bool subspace = true;              // for k-means; false: no subspace, in the space of the vectors
    std::optional<double> share = {};  // share of O among all words; none: no share
    bool estimated = false;            // uses the share that logistic regression finds, with any number of mentions
};

/// Adapts as adapt() does. The support must be valid.
Tagger adapted_once(const Corpus& support, const Matrix<float>& support_vectors, const Matrix<float>& other,
                    const Way& way, const Run& run);

}  // namespace coterie::ner::internal
