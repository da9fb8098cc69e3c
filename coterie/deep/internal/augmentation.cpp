// All movements of an image form one affine map, so there is one interpolation instead of one per change. Numbers are
// drawn in a fixed order from the batch's stream, row by row. So the changes of a batch depend only on its number.

#include "coterie/deep/internal/augmentation.hpp"

#include <cmath>
#include <numbers>

#include "coterie/linalg/scatter.hpp"

namespace coterie::deep::internal {

Eigen::Matrix<double, 2, 3> affine_of(const Movement& movement, ImageShape image) {
    // Maps positions of the new image to positions of the old one, in pixels.
    const double angle = movement.angle * std::numbers::pi / 180;
    Eigen::Matrix2d back;
    back << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
    if (movement.flip) back.row(0) *= -1;
    back /= movement.zoom;
    const Eigen::Vector2d shift(movement.right, movement.down);
    // In units of half a side, from -1 to 1.
    const Eigen::Vector2d half(image.columns / 2.0, image.rows / 2.0);
    Eigen::Matrix<double, 2, 3> out;
    out.leftCols<2>() = half.cwiseInverse().asDiagonal() * back * half.asDiagonal();
    out.col(2) = -(half.cwiseInverse().asDiagonal() * back * shift);
    return out;
}

Augmenter::Augmenter(const Augmentation& strengths, ImageShape image, PointsView points, const Run& run)
    : strengths_(strengths), image_(image) {
    if (!strengths.any()) return;
    const ColumnMoments moments = column_moments(points, run);
    deviations_ = moments.variance.cwiseSqrt();
    const double mean = moments.mean.mean();
    deviation_ = std::sqrt(std::max(0.0, (moments.variance + moments.mean.cwiseAbs2()).mean() - mean * mean));
}

Changes Augmenter::draw(Index count, const std::vector<Index>& changed, RandomStream& random) const {
    const auto within = [&](double width) { return width * (2 * random.uniform() - 1); };
    Changes out;
    if (strengths_.moves()) {
        out.affine.resize(count, 6);
        const auto set = [&](Index row, const Movement& movement) {
            const Eigen::Matrix<double, 2, 3> affine = affine_of(movement, image_);
            for (Index c = 0; c < 6; ++c) out.affine(row, c) = static_cast<float>(affine(c / 3, c % 3));
        };
        for (Index row = 0; row < count; ++row) set(row, {});
        for (const Index row : changed) {
            Movement movement;
            if (strengths_.flip) movement.flip = random.uniform() < 0.5;
            movement.angle = within(strengths_.rotation);
            movement.right = within(strengths_.shift) * image_.columns;
            movement.down = within(strengths_.shift) * image_.rows;
            movement.zoom = std::exp(within(std::log1p(strengths_.zoom)));
            set(row, movement);
        }
    }
    if (strengths_.colour > 0) {
        const Index channels = image_.channels;
        out.colour.resize(count, 2 * channels);
        for (Index c = 0; c < channels; ++c) {
            out.colour.col(2 * c).setOnes();
            out.colour.col(2 * c + 1).setZero();
        }
        for (const Index row : changed)
            for (Index c = 0; c < channels; ++c) {
                out.colour(row, 2 * c) = static_cast<float>(1 + within(strengths_.colour));
                out.colour(row, 2 * c + 1) = static_cast<float>(within(strengths_.colour) * deviation_);
            }
    }
    if (strengths_.noise > 0) {
        out.noise = Matrix<float>::Zero(count, deviations_.size());
        for (const Index row : changed)
            for (Index p = 0; p < deviations_.size(); ++p)
                out.noise(row, p) = static_cast<float>(strengths_.noise * deviations_[p] * random.normal());
    }
    return out;
}

}  // namespace coterie::deep::internal
