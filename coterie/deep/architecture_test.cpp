#include "coterie/deep/architecture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "coterie/base/error.hpp"
#include "tests/support/test_layers.hpp"
#include "tests/support/test_samples.hpp"

namespace coterie {
namespace {

using internal::Architecture;
using internal::ImageShape;
using internal::Network;
using internal::Parameters;

Index trained_parameters(const Architecture& architecture) {
    Index sum = 0;
    for (const auto& layer : architecture.encoder) {
        const auto sizes = internal::parameter_sizes(layer.plan);
        for (std::size_t s = 0; s < std::min<std::size_t>(2, sizes.size()); ++s) sum += sizes[s];
    }
    return sum;
}

// The parameter counts in publications about these networks.
TEST(Architecture, ParameterCountsMatchPublishedOnes) {
    EXPECT_EQ(trained_parameters(internal::resnet18({3, 32, 32}, 10)), 11173962);
    EXPECT_EQ(trained_parameters(internal::resnet18({3, 224, 224}, 1000)), 11689512);
    // Convolutions, two numbers per channel of a norm, the head of 512 x 3 x 3.
    EXPECT_EQ(trained_parameters(internal::vgg4({1, 28, 28}, 3, 10)),
              9 * (64 + 64 * 128 + 128 * 256 + 256 * 512) + 2 * (64 + 128 + 256 + 512) + 10 * (512 * 9 + 1));
    EXPECT_EQ(trained_parameters(internal::dense_classifier(7, {5, 4}, 3)), 7 * 5 + 10 + 5 * 4 + 8 + 4 * 3 + 3);
    EXPECT_EQ(internal::without_head(internal::vgg4({3, 96, 96}, 5, 10)).outputs, 512 * 12 * 12);
    EXPECT_EQ(internal::without_head(internal::resnet18({3, 96, 96}, 10)).outputs, 512);
}

TEST(Architecture, OutputShapesOfLayers) {
    const auto shape_at = [](const Architecture& of, std::size_t from_behind) {
        const auto shapes = internal::output_shapes(of);
        return shapes[shapes.size() - 1 - from_behind];
    };
    // Shapes before the means and the head: as in the paper, and for small images.
    EXPECT_EQ(shape_at(internal::resnet18({3, 224, 224}, 10), 2), (ImageShape{512, 7, 7}));
    EXPECT_EQ(shape_at(internal::resnet18({3, 32, 32}, 10), 2), (ImageShape{512, 4, 4}));
    EXPECT_EQ(shape_at(internal::vgg4({1, 28, 28}, 3, 10), 1), (ImageShape{512, 3, 3}));
    // Autoencoders map an embedding to the shape of the input.
    for (const ImageShape image : {ImageShape{1, 28, 28}, ImageShape{3, 32, 16}, ImageShape{2, 12, 20}})
        EXPECT_EQ(shape_at(internal::convolutional_autoencoder(image, 5), 0), image);
    // d, widths, embedding, and back.
    EXPECT_EQ(internal::numbers_kept(internal::dense_autoencoder(7, {5, 4}, 2)), 7 + 5 + 4 + 2 + 4 + 5 + 7);
    // The image; a convolution and its norm; 4 x 4 maxima and their positions; ...; the head.
    EXPECT_EQ(internal::numbers_kept(internal::vgg4({1, 8, 8}, 3, 10)),
              64 + 2 * 64 * 64 + 3 * 64 * 16 + 2 * 128 * 16 + 3 * 128 * 4 + 2 * 256 * 4 + 3 * 256 + 2 * 512 + 10);
}

test::Images images(const Matrix<float>& points, ImageShape shape) {
    test::Images out{shape.channels, shape.rows, shape.columns, {}};
    for (Index i = 0; i < points.rows(); ++i)
        out.pixels.emplace_back(points.row(i).data(), points.row(i).data() + points.cols());
    return out;
}

double difference(const Matrix<float>& found, const test::Images& expected) {
    double out = 0;
    for (Index i = 0; i < found.rows(); ++i)
        for (Index k = 0; k < found.cols(); ++k)
            out = std::max(out, std::abs(static_cast<double>(found(i, k)) -
                                         expected.pixels[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)]));
    return out;
}

// Training passes use the batch's means and update the running means; predictions use the running means.
void agrees_with_definition(const Architecture& architecture, Index count) {
    Network network(architecture, "cpu", 1, false);
    network.initialize(coterie::Run(3), "test");
    Parameters parameters = network.parameters();
    for (auto& values : parameters)  // norms and biases that are not 1 and 0
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] == 0 || values[i] == 1) values[i] += 0.2F * std::sin(static_cast<float>(i + 1));
    network.set_parameters(parameters);
    RandomStream random(1, "test.architecture");
    Matrix<float> x(count, architecture.input.items());
    for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(random.normal());
    network.set_points(x);
    std::vector<std::int64_t> rows;
    for (Index i = 0; i < count; ++i) rows.push_back(i);
    Parameters expected = parameters;
    EXPECT_LE(difference(network.begin(rows),
                         test::PlainNetwork(architecture.encoder, expected, true)(images(x, architecture.input))),
              2e-4);
    const Parameters moved = network.parameters();
    for (std::size_t p = 0; p < expected.size(); ++p)
        for (std::size_t i = 0; i < expected[p].size(); ++i) EXPECT_NEAR(moved[p][i], expected[p][i], 1e-4);
    EXPECT_LE(difference(network.encode(rows),
                         test::PlainNetwork(architecture.encoder, expected, false)(images(x, architecture.input))),
              2e-4);
}

TEST(Architecture, ClassifiersAgreeWithTheirDefinition) {
    COTERIE_NEEDS_NETWORKS;
    agrees_with_definition(internal::dense_classifier(6, {5, 4}, 3), 9);
    agrees_with_definition(internal::vgg4({1, 8, 9}, 3, 4), 3);
    agrees_with_definition(internal::vgg4({2, 8, 8}, 5, 4), 3);
    agrees_with_definition(internal::resnet18({1, 8, 10}, 4), 3);
}
TEST(Architecture, StemForLargeImages) {
    COTERIE_NEEDS_NETWORKS;
    Architecture stem = internal::resnet18({1, 66, 8}, 4);
    stem.encoder.resize(8);  // includes the first block
    stem.outputs = 64 * 17 * 2;
    agrees_with_definition(stem, 2);
}

// There are few distinct values, so that windows have several maxima. Some windows have only minus infinity, and some
// have a NaN. Gradients go to the first maximum.
TEST(Architecture, MaxPoolingAndItsGradient) {
    COTERIE_NEEDS_NETWORKS;
    struct Window {
        int kernel, stride, pad, rows, columns;
    };
    for (const Window window : {Window{2, 2, 0, 8, 6}, Window{2, 2, 0, 7, 9}, Window{3, 2, 1, 9, 8},
                                Window{3, 1, 1, 5, 7}, Window{2, 3, 0, 9, 11}, Window{5, 2, 2, 5, 6}}) {
        const auto side = [&](int of) { return (of + 2 * window.pad - window.kernel) / window.stride + 1; };
        const int out_rows = side(window.rows), out_columns = side(window.columns);
        internal::Layer layer;
        layer.plan.kind = COTERIE_MAX_POOL;
        layer.plan.kernel = window.kernel;
        layer.plan.stride = window.stride;
        layer.plan.pad_before = layer.plan.pad_after = window.pad;
        Architecture architecture;
        architecture.input = {2, window.rows, window.columns};
        architecture.outputs = 2 * out_rows * out_columns;
        architecture.encoder = {layer};
        Network network(architecture, "cpu", 2, false);

        constexpr float infinity = std::numeric_limits<float>::infinity();
        RandomStream random(4, "test.architecture");
        Matrix<float> x(3, architecture.input.items()), slope(3, architecture.outputs);
        for (Index i = 0; i < x.size(); ++i)
            x.data()[i] = random.below(6) == 0 ? -infinity : static_cast<float>(random.below(4));
        x.row(1).head(x.cols() / 2).setConstant(-infinity);
        x(2, 3) = x(2, x.cols() - 1) = std::numeric_limits<float>::quiet_NaN();
        for (Index i = 0; i < slope.size(); ++i) slope.data()[i] = static_cast<float>(1 + random.below(9));
        network.set_points(x);
        const Matrix<float> found = network.begin({0, 1, 2}, {}, Network::Pass::probing);
        const Matrix<float> gradient = network.input_gradient(slope);

        Matrix<float> expected = Matrix<float>::Zero(3, x.cols());
        for (Index image = 0; image < 3; ++image)
            for (int place = 0; place < 2 * out_rows * out_columns; ++place) {
                const int channel = place / (out_rows * out_columns);
                const int top = place / out_columns % out_rows * window.stride - window.pad;
                const int left = place % out_columns * window.stride - window.pad;
                Index first = -1;
                for (int r = std::max(0, top); r < std::min(window.rows, top + window.kernel); ++r)
                    for (int c = std::max(0, left); c < std::min(window.columns, left + window.kernel); ++c) {
                        const Index at = (channel * window.rows + r) * window.columns + c;
                        if (first < 0 || x(image, at) > x(image, first) ||
                            (std::isnan(x(image, at)) && !std::isnan(x(image, first))))
                            first = at;
                    }
                if (std::isnan(x(image, first)))
                    EXPECT_TRUE(std::isnan(found(image, place)));
                else
                    EXPECT_EQ(found(image, place), x(image, first));
                expected(image, first) += slope(image, place);
            }
        EXPECT_EQ(gradient, expected) << window.kernel << " " << window.stride << " " << window.pad;
    }
}

// A step of SGD with rate 1 moves parameters by minus their gradients. The test compares the gradients with finite
// differences of the definition in double.
TEST(Architecture, GradientsThroughNormsAndResidualBlocks) {
    COTERIE_NEEDS_NETWORKS;
    Architecture architecture = internal::dense_classifier(4, {5, 5}, 3);
    internal::Layer residual;  // around the second dense layer and its norm
    residual.plan.kind = COTERIE_RESIDUAL;
    residual.plan.out = 2;
    residual.plan.activation = COTERIE_RELU;
    architecture.encoder.insert(architecture.encoder.begin() + 2, residual);
    Network network(architecture, "cpu", 1, false);
    network.initialize(coterie::Run(5), "test");
    const Parameters parameters = network.parameters();
    RandomStream random(2, "test.architecture");
    Matrix<float> x(6, 4), slope(6, 3);
    for (auto* of : {&x, &slope})
        for (Index i = 0; i < of->size(); ++i) of->data()[i] = static_cast<float>(random.normal());
    network.set_points(x);
    network.set_optimizers({{.kind = internal::NetworkOptimizer::Kind::sgd, .learning_rate = 1}});
    network.begin({0, 1, 2, 3, 4, 5});
    network.backward(slope);
    network.step();
    const Parameters moved = network.parameters();
    const auto value = [&](Parameters of) {
        const test::Images out = test::PlainNetwork(architecture.encoder, of, true)(images(x, architecture.input));
        double sum = 0;
        for (Index i = 0; i < 6; ++i)
            for (Index k = 0; k < 3; ++k)
                sum += slope(i, k) * out.pixels[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
        return sum;
    };
    std::size_t number = 0;
    for (const auto& layer : architecture.encoder) {
        const bool norm = layer.plan.kind == COTERIE_BATCH_NORM;
        for (std::size_t s = 0; s < internal::parameter_sizes(layer.plan).size(); ++s, ++number) {
            if (norm && s >= 2) continue;  // running means have no gradient
            for (std::size_t i = 0; i < parameters[number].size(); ++i) {
                constexpr float h = 1.0F / 1024;
                Parameters up = parameters, down = parameters;
                up[number][i] += h;
                down[number][i] -= h;
                const double gradient = (value(up) - value(down)) / (2 * h);
                EXPECT_NEAR(parameters[number][i] - moved[number][i], gradient, 5e-3 * (1 + std::abs(gradient)));
            }
        }
    }
}

TEST(Architecture, RejectsBadArguments) {
    EXPECT_THROW(internal::vgg4({1, 7, 28}, 3, 10), BadArgument);
    EXPECT_THROW(internal::vgg4({1, 28, 28}, 4, 10), BadArgument);
    EXPECT_THROW(internal::resnet18({1, 28, 7}, 10), BadArgument);
}

}  // namespace
}  // namespace coterie
