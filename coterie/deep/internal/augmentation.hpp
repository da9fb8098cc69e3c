#pragma once
// Internal: random changes of points that do not change what they show.
//
// (x, y) is a position in pixels from the centre, y downwards. The new image at (x, y) has the value of the old one at
//
//     F R(-angle) ((x, y) - shift) / zoom        R(t): clockwise by t as seen;  F: x -> -x, or nothing
//
// with bilinear interpolation and 0 outside. So the old image is mirrored, turned by the angle, magnified, and then
// moved. Then every channel is multiplied by a factor, a number is added to it, and normal noise is added everywhere.

#include "coterie/base/random.hpp"
#include "coterie/deep/network.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

/// Strengths; 0 leaves the points unchanged.
struct Augmentation {
    bool flip = false;    // mirrored with probability 1/2
    double rotation = 0;  // angle uniform on +- this, degrees
    double shift = 0;     // uniform on +- this, share of each side
    double zoom = 0;      // the logarithm of zoom is uniform on +- ln(1 + this)
    double colour =
        0;  // factor uniform on 1 +- this; added number uniform on +- this times the standard deviation of the points
    double noise = 0;  // standard deviation of the noise, as a share of each column's

    bool any() const { return flip || rotation > 0 || shift > 0 || zoom > 0 || colour > 0 || noise > 0; }
    bool moves() const { return flip || rotation > 0 || shift > 0 || zoom > 0; }
};

/// The geometric change of one image.
struct Movement {
    bool flip = false;
    double angle = 0;            // degrees, clockwise
    double right = 0, down = 0;  // shift, pixels
    double zoom = 1;
};
/// The 2 x 3 matrix for forward() of network_abi.h.
Eigen::Matrix<double, 2, 3> affine_of(const Movement& movement, ImageShape image);

/// Draws the changes of a batch.
class Augmenter {
public:
    /// `points`, n x d, give the standard deviations.
    Augmenter(const Augmentation& strengths, ImageShape image, PointsView points, const Run& run);
    /// Draws changes for a batch of `count` rows. Only the rows changed[0], changed[1], ... change.
    Changes draw(Index count, const std::vector<Index>& changed, RandomStream& random) const;

private:
    Augmentation strengths_;
    ImageShape image_;
    double deviation_ = 0;       // of all numbers
    Vector<double> deviations_;  // d
};

}  // namespace coterie::deep::internal
