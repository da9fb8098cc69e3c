#pragma once
// Internal: points changed at random in ways that leave what they show as it is.
//
// A place of the new image, (x, y) in pixels from the middle, y downwards, takes what the old one holds at
//
//     F R(-angle) ((x, y) - shift) / zoom        R(t): clockwise by t as seen;  F: x -> -x, or nothing
//
// bilinearly between pixels, 0 outside: the old image is mirrored, turned by the angle, magnified, then moved. Then
// every channel is multiplied with a factor, a number is added to it, and normal noise to every place.

#include <string>

#include "coterie/base/random.hpp"
#include "coterie/deep/network.hpp"

namespace coterie::internal {

/// Strengths; 0 leaves the points alone.
struct Augmentation {
    bool flip = false;    // mirrored with probability 1/2
    double rotation = 0;  // angle uniform on +- this, degrees
    double shift = 0;     // uniform on +- this, share of each side
    double zoom = 0;      // the logarithm of zoom is uniform on +- ln(1 + this)
    double colour = 0;    // factors uniform on 1 +- this, added uniform on +- this times the points' deviation
    double noise = 0;     // deviation of the noise, share of each column's

    bool any() const { return flip || rotation > 0 || shift > 0 || zoom > 0 || colour > 0 || noise > 0; }
    bool moves() const { return flip || rotation > 0 || shift > 0 || zoom > 0; }
};

/// What one image goes through.
struct Movement {
    bool flip = false;
    double angle = 0;            // degrees, clockwise
    double right = 0, down = 0;  // shift, pixels
    double zoom = 1;
};
/// The 2 x 3 matrix of network_abi.h's forward().
Eigen::Matrix<double, 2, 3> affine_of(const Movement& movement, ImageShape image);

/// Draws what a batch goes through.
class Augmenter {
public:
    /// points: n x d, for the deviations.
    Augmenter(const Augmentation& strengths, ImageShape image, PointsView points, const Run& run);
    /// For batch rows changed[0], changed[1], ...; the other rows of `count` stay as they are.
    Changes draw(Index count, const std::vector<Index>& changed, RandomStream& random) const;

private:
    Augmentation strengths_;
    ImageShape image_;
    double deviation_ = 0;       // of all numbers
    Vector<double> deviations_;  // d
};

}  // namespace coterie::internal
