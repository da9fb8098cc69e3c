#pragma once
// Kernel principal component analysis (Schoelkopf, Smola and Mueller 1998) with a Gaussian kernel, centred in feature
// space: the coordinates in which a method for points becomes its kernel form (Zhang et al. 2010). With all components
// the distances between rows are those of the centred images of the points in feature space.

#include <memory>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/parts.hpp"

namespace coterie {

class Landmarks;  // internal/kernel_factor.hpp

class COTERIE_API KernelPca {
public:
    KernelPca() = default;
    /// n x d points, width above 0 (k(x, y) = exp(-||x - y||^2 / (2 width^2))). Keeps the `components` leading
    /// components, or (automatic) all whose eigenvalue is above 1e-10 times the largest; none where the width is so
    /// large that the kernel is the same for all points but for rounding. Memory 4 n^2 numbers (ResourceError
    /// beforehand), time n^3. With landmarks (above 0: at most so many) the kernel is its Nystroem form by them: memory
    /// 4 n landmarks, time n landmarks^2.
    KernelPca(PointsView points, double width, std::optional<int> components, Index landmarks, const Run& run);

    double width() const { return width_; }
    /// p: components kept.
    Index components() const { return coefficients_.cols(); }
    Index dimensions() const { return origin_.size(); }
    /// Of the fitted points, n x p: U sqrt(eigenvalues).
    const Matrix<double>& scores() const { return scores_; }
    /// m x p for new points (m x d).
    Matrix<double> transform(PointsView points, const Run& run) const;

    /// p components of d columns.
    void parts(Parts& parts);

private:
    void from_kernel(std::optional<int> components, const Run& run);
    void from_landmarks(std::optional<int> components, Index landmarks, const Run& run);

    Matrix<double> points_;  // n x d, less origin; without landmarks
    Vector<double> origin_;
    double width_ = 0;
    std::shared_ptr<const Landmarks> landmarks_;
    Matrix<double> coefficients_;  // n x p: U / sqrt(eigenvalues), centred; with landmarks m x p: axes of their rows
    Vector<double> offset_;        // p: what centring takes off every new row
    Matrix<double> scores_;
};

}  // namespace coterie
