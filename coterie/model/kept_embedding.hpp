#pragma once
// A model that stores the embedding of its training data, because to compute it again is as expensive as the fit.

#include "coterie/base/export.hpp"
#include "coterie/base/matrix.hpp"

namespace coterie {

class COTERIE_API KeepsEmbedding {
public:
    virtual ~KeepsEmbedding() = default;
    /// n x p: Output::embedding of the training data.
    virtual Matrix<double> kept_embedding() const = 0;
};

}  // namespace coterie
