#include "coterie/deep/internal/augmentation.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/test_samples.hpp"

namespace coterie {
namespace {

using deep::internal::Augmentation;
using deep::internal::Movement;
using internal::Changes;
using internal::ImageShape;
using internal::Network;

constexpr ImageShape two_channels{2, 4, 6};

Matrix<float> normal(Index n, Index d) {
    RandomStream random(1, "test.augmentation");
    Matrix<float> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<float>(random.normal());
    return out;
}

// The changed points, as returned by a network that outputs its input.
Matrix<float> seen(ImageShape image, const Matrix<float>& points, const Changes& changes) {
    internal::Architecture architecture =
        internal::dense_classifier(image.items(), {}, static_cast<int>(image.items()));
    architecture.input = image;
    Network network(architecture, "cpu", 1, false);
    internal::Parameters parameters = network.parameters();
    for (Index i = 0; i < image.items(); ++i) parameters[0][static_cast<std::size_t>(i * image.items() + i)] = 1;
    network.set_parameters(parameters);
    network.set_points(points);
    std::vector<std::int64_t> rows;
    for (Index i = 0; i < points.rows(); ++i) rows.push_back(i);
    return network.begin(rows, changes);
}

Matrix<float> moved(ImageShape image, const Matrix<float>& points, const Movement& movement) {
    Changes changes;
    changes.affine.resize(points.rows(), 6);
    const auto affine = deep::internal::affine_of(movement, image);
    for (Index i = 0; i < points.rows(); ++i)
        for (Index c = 0; c < 6; ++c) changes.affine(i, c) = static_cast<float>(affine(c / 3, c % 3));
    return seen(image, points, changes);
}

// from(r, c) returns the old position of a new position, or a position outside the image.
template <class From>
void expect_moved(ImageShape image, const Movement& movement, From&& from) {
    const Matrix<float> x = normal(2, image.items());
    const Matrix<float> y = moved(image, x, movement);
    for (Index i = 0; i < 2; ++i)
        for (int channel = 0; channel < image.channels; ++channel)
            for (int r = 0; r < image.rows; ++r)
                for (int c = 0; c < image.columns; ++c) {
                    const auto [down, right] = from(r, c);
                    const bool inside = down >= 0 && down < image.rows && right >= 0 && right < image.columns;
                    const float expected = inside ? x(i, (channel * image.rows + down) * image.columns + right) : 0.0F;
                    EXPECT_NEAR(y(i, (channel * image.rows + r) * image.columns + c), expected, 2e-5) << r << " " << c;
                }
}

TEST(Augmentation, MovesPixelsExactly) {
    COTERIE_NEEDS_NETWORKS;
    expect_moved(two_channels, {}, [](int r, int c) { return std::pair(r, c); });
    expect_moved(two_channels, {.flip = true}, [](int r, int c) { return std::pair(r, 5 - c); });
    expect_moved(two_channels, {.right = 2, .down = -1}, [](int r, int c) { return std::pair(r + 1, c - 2); });
    expect_moved(two_channels, {.angle = 180}, [](int r, int c) { return std::pair(3 - r, 5 - c); });
    // A quarter turn clockwise: the left column becomes the top row.
    expect_moved({1, 5, 5}, {.angle = 90}, [](int r, int c) { return std::pair(4 - c, r); });
    expect_moved({1, 5, 5}, {.flip = true, .angle = 90, .right = 1},
                 [](int r, int c) { return c < 1 ? std::pair(-1, -1) : std::pair(4 - (c - 1), 4 - r); });
    // A quarter turn of a wide image about its centre: positions more than half the height to the side come from
    // outside.
    expect_moved({1, 4, 6}, {.angle = 90}, [](int r, int c) { return std::pair(4 - c, r + 1); });
    // Magnified by 2 about the centre pixel: every second pixel is an old pixel.
    const Matrix<float> x = normal(1, 25);
    const Matrix<float> y = moved({1, 5, 5}, x, {.zoom = 2});
    for (int r = 0; r < 5; r += 2)
        for (int c = 0; c < 5; c += 2) EXPECT_NEAR(y(0, r * 5 + c), x(0, (1 + r / 2) * 5 + 1 + c / 2), 2e-5);
}

TEST(Augmentation, ZeroStrengthsAndUnchangedRowsKeepThePoints) {
    COTERIE_NEEDS_NETWORKS;
    const Matrix<float> x = normal(5, two_channels.items());
    RandomStream random(1, "test.draw");
    const Changes none =
        deep::internal::Augmenter({}, two_channels, x, coterie::Run()).draw(5, {0, 1, 2, 3, 4}, random);
    EXPECT_EQ(none.affine.size() + none.colour.size() + none.noise.size(), 0);
    const Augmentation all{.flip = true, .rotation = 30, .shift = 0.2, .zoom = 0.3, .colour = 0.4, .noise = 0.5};
    const Matrix<float> y =
        seen(two_channels, x, deep::internal::Augmenter(all, two_channels, x, coterie::Run()).draw(5, {1, 4}, random));
    for (const Index i : {0, 2, 3}) EXPECT_LE((x.row(i) - y.row(i)).cwiseAbs().maxCoeff(), 2e-5) << i;
    for (const Index i : {1, 4}) EXPECT_GE((x.row(i) - y.row(i)).cwiseAbs().maxCoeff(), 0.1) << i;
}

TEST(Augmentation, DrawsWithinItsStrengths) {
    const Matrix<float> x = normal(400, 8);
    const ImageShape image{2, 2, 2};
    std::vector<Index> rows;
    for (Index i = 0; i < 4000; ++i) rows.push_back(i);
    RandomStream random(1, "test.draw"), again(1, "test.draw");
    const deep::internal::Augmenter augmenter({.flip = true, .rotation = 20, .zoom = 0.5, .colour = 0.3, .noise = 2},
                                              image, x, coterie::Run());
    const Changes drawn = augmenter.draw(4000, rows, random);
    EXPECT_EQ(drawn.affine, augmenter.draw(4000, rows, again).affine);
    double mirrored = 0, widest = 0, largest = 0, smallest = 9, factor = 0;
    for (Index i = 0; i < 4000; ++i) {
        const double a = drawn.affine(i, 0), b = drawn.affine(i, 1), c = drawn.affine(i, 3), e = drawn.affine(i, 4);
        const double determinant = a * e - b * c;
        if (determinant < 0) ++mirrored;
        const double zoom = 1 / std::sqrt(std::abs(determinant));
        largest = std::max(largest, zoom), smallest = std::min(smallest, zoom);
        widest = std::max(widest, std::abs(std::atan2(-c, e)) * 180 / 3.14159265358979);
        factor = std::max(factor, std::abs(static_cast<double>(drawn.colour(i, 0)) - 1));
    }
    EXPECT_NEAR(mirrored / 4000, 0.5, 0.05);
    EXPECT_LE(widest, 20.001);
    EXPECT_GE(widest, 19.5);
    EXPECT_LE(largest, 1.5001);
    EXPECT_GE(largest, 1.48);
    EXPECT_GE(smallest, 1 / 1.5001);
    EXPECT_LE(smallest, 1 / 1.48);
    EXPECT_LE(factor, 0.3001);
    EXPECT_GE(factor, 0.29);
    double added = 0;
    for (Index i = 0; i < 4000; ++i)
        for (const int c : {1, 3}) added = std::max(added, std::abs(static_cast<double>(drawn.colour(i, c))));
    const Matrix<double> all = x.cast<double>();
    const double deviation = std::sqrt((all.array() - all.mean()).square().mean());
    EXPECT_LE(added, 0.3001 * deviation);
    EXPECT_GE(added, 0.295 * deviation);
    // Only shifts: they are shares of the sides, in both directions, in units of half a side.
    const Changes shifted =
        deep::internal::Augmenter({.shift = 0.2}, {1, 2, 4}, x, coterie::Run()).draw(4000, rows, random);
    for (const int c : {2, 5}) {
        EXPECT_NEAR(shifted.affine.col(c).maxCoeff(), 0.4, 0.005) << c;
        EXPECT_NEAR(shifted.affine.col(c).minCoeff(), -0.4, 0.005) << c;
        EXPECT_LE(shifted.affine.col(c).cwiseAbs().maxCoeff(), 0.4001) << c;
    }
    // The columns have about unit standard deviation.
    EXPECT_NEAR(std::sqrt(drawn.noise.cast<double>().squaredNorm() / 32000), 2, 0.1);
}

}  // namespace
}  // namespace coterie
