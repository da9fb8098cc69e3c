#pragma once
// Internal: one way of adapting by itself, for the papers' tables: nothing is compared, no sentence is left out, so the
// tagger gives no probabilities.

#include <optional>

#include "coterie/ner/adapt.hpp"

namespace coterie::ner::internal {

struct Way {
    Adaptation method = Adaptation::kmeans;  // not automatic
    Assignment assignment = Assignment::hard;
    bool subspace = true;              // of k-means; false: in the space of the vectors
    std::optional<double> share = {};  // of O among all words; none: no share
    bool estimated = false;            // the share that logistic regression gives, however few the mentions
};

/// As adapt() makes it of a sound support.
Tagger adapted_once(const Corpus& support, const Matrix<float>& support_vectors, const Matrix<float>& other,
                    const Way& way, const Run& run);

}  // namespace coterie::ner::internal
