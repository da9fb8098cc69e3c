#pragma once
// Kernel principal component analysis (Schoelkopf, Smola and Mueller 1998) with a Gaussian kernel, centred in feature
// space. A method applied to these coordinates is the kernel form of the method (Zhang et al. 2010). With all
// components, distances between rows are those of the centred images of the points in feature space.

#include <memory>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/parts.hpp"

namespace coterie {

namespace deformation::internal {
class Landmarks;  // internal/kernel_factor.hpp
}

class COTERIE_API KernelPca {
public:
    KernelPca() = default;
    /// n x d points, width above 0 (k(x, y) = exp(-||x - y||^2 / (2 width^2))). Keeps the `components` leading
    /// components, or (automatic) all with an eigenvalue above 1e-10 times the largest. If the width is so large that
    /// all kernel values are equal up to rounding, there are no components.
    /// Memory 4 n^2 numbers, time n^3; throws ResourceError before it starts if they exceed the memory limit.
    /// `landmarks` above 0: the kernel is its Nystroem form with at most this many landmarks: memory 4 n landmarks,
    /// time n landmarks^2.
    KernelPca(PointsView points, double width, std::optional<int> components, Index landmarks, const Run& run);

    /// p: number of components.
    Index components() const { return coefficients_.cols(); }
    Index dimensions() const { return origin_.size(); }
    /// The training points, n x p: U sqrt(eigenvalues).
    const Matrix<double>& scores() const { return scores_; }
    /// m x p, for new points (m x d).
    Matrix<double> transform(PointsView points, const Run& run) const;

    /// p components of d columns.
    void parts(Parts& parts);

private:
    void from_kernel(std::optional<int> components, const Run& run);
    void from_landmarks(std::optional<int> components, Index landmarks, const Run& run);

    Matrix<double> points_;  // n x d, minus origin; without landmarks
    Vector<double> origin_;
    double width_ = 0;
    std::shared_ptr<const deformation::internal::Landmarks> landmarks_;
    Matrix<double> coefficients_;  // n x p: U / sqrt(eigenvalues), centred; with landmarks m x p: axes of their rows
    Vector<double> offset_;        // p: centring subtracts it from every new row
    Matrix<double> scores_;
};

}  // namespace coterie
