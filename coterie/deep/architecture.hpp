#pragma once
// Internal: networks as lists of layers, and how their parameters begin.

#include <string>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/deep/network_abi.h"

namespace coterie::internal {

/// Images of a row of points: channel by channel, each row by row.
struct ImageShape {
    int channels = 0;
    int rows = 1;
    int columns = 1;

    Index items() const { return Index{channels} * rows * columns; }
    bool operator==(const ImageShape&) const = default;
};

enum class Start {
    none,     // no parameters, or those that it has (batch norm)
    uniform,  // uniform on +-0.05, biases 0
    glorot,   // uniform on +-sqrt(6 / (inputs + outputs)), biases 0
    he,       // normal of variance 2 / inputs, biases 0
    root      // uniform on +-1 / sqrt(inputs), biases 0
};

struct Layer {
    coterie_layer plan{};
    Start start = Start::none;
};

struct Architecture {
    ImageShape input;
    Index outputs = 0;  // of the encoder
    std::vector<Layer> encoder;
    std::vector<Layer> decoder;  // may be empty
};

/// d - widths - embedding with ReLU, and its mirror; every layer starts uniform.
Architecture dense_autoencoder(Index dimensions, const std::vector<int>& widths, int embedding);
/// Convolutions 5 x 5 (32), 5 x 5 (64) and 3 x 3 (128) with stride 2 and ReLU, dense; mirrored by transposed
/// convolutions. Same padding, but for the third where a side is no multiple of 8. Convolutions of the encoder start
/// uniform, the rest as Glorot. BadArgument for sides that are no multiple of 4 or below 8.
Architecture convolutional_autoencoder(ImageShape input, int embedding);

// Classifiers: k logits; the last layer, the head, is dense and starts by the root of its inputs, the others as He.
// norm: batch norm with ReLU after it.

/// d - each width with norm - k.
Architecture dense_classifier(Index dimensions, const std::vector<int>& widths, int clusters);
/// Convolutions to 64, 128, 256 and 512 channels, kernel x kernel (odd), without bias, with norm, sides kept; after
/// each but the last a maximum over 2 x 2; then k. BadArgument for sides below 8.
Architecture vgg4(ImageShape input, int kernel, int clusters);
/// ResNet-18 (He et al. 2016). Sides up to 64: first 3 x 3, stride 1 (as for CIFAR); larger ones: 7 x 7, stride 2, and
/// a maximum over 3 x 3, stride 2. Four pairs of blocks of 64, 128, 256 and 512 channels, means over the places, then
/// k. BadArgument for sides below 8.
Architecture resnet18(ImageShape input, int clusters);
/// The same up to the layer before the last: its features.
Architecture without_head(Architecture classifier);

/// Of the layer's tensors, in the order of network_abi.h.
std::vector<Index> parameter_sizes(const coterie_layer& plan);
/// What comes out of each layer for one item, encoder, then decoder (from the encoder's outputs).
std::vector<ImageShape> output_shapes(const Architecture& architecture);
/// Single-precision numbers that a pass keeps for one item until its gradient is known: the item, the layers' outputs.
Index numbers_kept(const Architecture& architecture);
/// inputs and outputs of a layer as Glorot counts them.
Index fan_in(const coterie_layer& plan);
Index fan_out(const coterie_layer& plan);

}  // namespace coterie::internal
