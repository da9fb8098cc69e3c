#pragma once
// What a model adds that keeps the embedding of the points it was fitted on, where computing it again costs as much as
// the fit.

#include "coterie/base/export.hpp"
#include "coterie/base/matrix.hpp"

namespace coterie {

class COTERIE_API KeepsEmbedding {
public:
    virtual ~KeepsEmbedding() = default;
    /// n x p: Output::embedding of the points of the fit.
    virtual Matrix<double> kept_embedding() const = 0;
};

}  // namespace coterie
