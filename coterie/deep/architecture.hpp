#pragma once
// Internal: networks as lists of layers, and the initial values of their parameters.

#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/deep/network_abi.h"

namespace coterie::internal {

/// Shape of the image in a row of the points, which holds channel after channel, each row by row.
struct ImageShape {
    int channels = 0;
    int rows = 1;
    int columns = 1;

    Index items() const { return Index{channels} * rows * columns; }
    bool operator==(const ImageShape&) const = default;
};

enum class Start {
    none,     // no parameters, or fixed initial values (batch norm)
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

/// d - widths - embedding with ReLU, and its mirror. All layers start as `uniform`.
Architecture dense_autoencoder(Index dimensions, const std::vector<int>& widths, int embedding);
/// Convolutions 5 x 5 (32 channels), 5 x 5 (64) and 3 x 3 (128) with stride 2 and ReLU, then a dense layer. The decoder
/// mirrors this with transposed convolutions. Padding is `same`, except in the third convolution if a side is not a
/// multiple of 8. The encoder's convolutions start as `uniform`, all other layers as `glorot`. Throws BadArgument
/// unless both sides are multiples of 8, or both are 4 more than a multiple of 8 (12, 20, 28, ...).
Architecture convolutional_autoencoder(ImageShape input, int embedding);

// Classifiers: k logits. The last layer, the head, is dense and starts as `root`; the others start as `he`. "norm"
// means batch norm followed by ReLU.

/// d - each of the widths with norm - k.
Architecture dense_classifier(Index dimensions, const std::vector<int>& widths, int clusters);
/// Convolutions to 64, 128, 256 and 512 channels, kernel x kernel (odd), without bias, with norm. Sides stay.
/// A 2 x 2 max pool follows each but the last; then the head. Throws BadArgument for sides below 8 or an even kernel.
Architecture vgg4(ImageShape input, int kernel, int clusters);
/// ResNet-18 (He et al. 2016). Sides up to 64 start with 3 x 3, stride 1 (as for CIFAR). Larger ones start with 7 x 7,
/// stride 2, and a 3 x 3 max pool, stride 2. Then come four pairs of blocks with 64, 128, 256 and 512 channels, means
/// over the positions, and the head. Throws BadArgument for sides below 8.
Architecture resnet18(ImageShape input, int clusters);
/// The same network without its last layer; its outputs are the features.
Architecture without_head(Architecture classifier);

/// Sizes of the layer's tensors, in the order of network_abi.h.
std::vector<Index> parameter_sizes(const coterie_layer& plan);
/// The output shape of each layer for one item: first of the encoder's layers, then of the decoder's.
std::vector<ImageShape> output_shapes(const Architecture& architecture);
/// Number of single-precision numbers that a pass keeps for one item until its gradient is computed: the item and the
/// outputs of the layers.
Index numbers_kept(const Architecture& architecture);
/// Number of inputs and of outputs of a layer, as Glorot counts them.
Index fan_in(const coterie_layer& plan);
Index fan_out(const coterie_layer& plan);

}  // namespace coterie::internal
