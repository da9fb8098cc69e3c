#include "coterie/deep/network.hpp"

#include <cmath>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_layers.hpp"
#include "tests/support/test_samples.hpp"

namespace coterie {
namespace {

using internal::Architecture;
using internal::Network;
using internal::NetworkOptimizer;
using testing::message_of;

Matrix<float> normal_matrix(Index n, Index d, std::uint64_t seed) {
    RandomStream random(seed, "test.network");
    Matrix<float> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<float>(random.normal());
    return out;
}

std::vector<std::int64_t> first_rows(Index count) {
    std::vector<std::int64_t> out;
    for (Index i = 0; i < count; ++i) out.push_back(i);
    return out;
}

using internal::Parameters;

// Dense layers in double, from the stored parameters.
Matrix<double> plain_dense(const Matrix<double>& x, const std::vector<internal::Layer>& layers, const Parameters& all,
                           std::size_t first) {
    Matrix<double> y = x;
    for (std::size_t l = 0; l < layers.size(); ++l) {
        const auto& plan = layers[l].plan;
        const Eigen::Map<const eigen::Matrix<float>> weight(all[first + 2 * l].data(), plan.out, plan.in);
        const Eigen::Map<const eigen::Vector<float>> bias(all[first + 2 * l + 1].data(), plan.out);
        y = (y * weight.cast<double>().transpose()).rowwise() + bias.cast<double>().transpose();
        if (plan.activation == COTERIE_RELU) y = y.cwiseMax(0);
    }
    return y;
}

TEST(Network, DenseLayersAgreeWithTheirDefinition) {
    COTERIE_NEEDS_NETWORKS;
    Network network(internal::dense_autoencoder(7, {6, 5}, 3), "cpu", 2, false);
    network.initialize(coterie::Run(3), "test");
    Parameters parameters = network.parameters();
    for (auto& values : parameters)  // biases too
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.3F * std::sin(static_cast<float>(i + 1));
    network.set_parameters(parameters);
    EXPECT_EQ(network.parameters(), parameters);
    const Matrix<float> x = normal_matrix(11, 7, 1);
    network.set_points(x);
    const Matrix<double> h = plain_dense(x.cast<double>(), network.architecture().encoder, parameters, 0);
    EXPECT_LE((network.encode_all(coterie::Run()).cast<double>() - h).cwiseAbs().maxCoeff(), 1e-5);
    const Matrix<double> back = plain_dense(h, network.architecture().decoder, parameters, 6);
    EXPECT_LE((network.decode(h.cast<float>()).cast<double>() - back).cwiseAbs().maxCoeff(), 1e-4);
    EXPECT_EQ(network.encode({4, 2}).row(0), network.encode({4}).row(0));
}

TEST(Network, ConvolutionsAgreeWithTheirDefinition) {
    COTERIE_NEEDS_NETWORKS;
    for (const internal::ImageShape shape : {internal::ImageShape{1, 28, 28}, {2, 16, 8}, {1, 12, 20}}) {
        const Architecture architecture = internal::convolutional_autoencoder(shape, 4);
        Network network(architecture, "cpu", 1, false);
        network.initialize(coterie::Run(5), "test");
        const Parameters parameters = network.parameters();
        const Matrix<float> x = normal_matrix(2, shape.items(), 2);
        network.set_points(x);
        const Matrix<float> h = network.encode({0, 1});
        const Matrix<float> made = network.decode(h);
        ASSERT_EQ(made.cols(), shape.items());
        for (Index image = 0; image < 2; ++image) {
            std::vector<double> y(x.row(image).data(), x.row(image).data() + x.cols());
            int rows = shape.rows, columns = shape.columns;
            std::size_t next = 0;
            for (std::size_t l = 0; l < 3; ++l, next += 2)
                y = test::plain_convolution(y, rows, columns, architecture.encoder[l].plan, parameters[next],
                                            parameters[next + 1], rows, columns);
            EXPECT_EQ(rows, shape.rows / 8);
            const Matrix<double> flat =
                Eigen::Map<const eigen::Matrix<double>>(y.data(), 1, static_cast<Index>(y.size()));
            Matrix<double> z = plain_dense(flat, {architecture.encoder[3]}, parameters, next);
            EXPECT_LE((h.row(image).cast<double>() - z).cwiseAbs().maxCoeff(), 1e-4);
            next += 2;
            z = plain_dense(z, {architecture.decoder[0]}, parameters, next);
            next += 2;
            y.assign(z.data(), z.data() + z.size());
            for (std::size_t l = 2; l < 5; ++l, next += 2)
                y = test::plain_convolution(y, rows, columns, architecture.decoder[l].plan, parameters[next],
                                            parameters[next + 1], rows, columns);
            EXPECT_EQ(rows, shape.rows);
            for (std::size_t p = 0; p < y.size(); ++p) EXPECT_NEAR(made(image, static_cast<Index>(p)), y[p], 1e-4);
        }
    }
}

// A step of SGD without momentum moves parameters by -rate times their gradients. The test compares these gradients
// with finite differences of the loss in double.
TEST(Network, GradientsAgreeWithFiniteDifferences) {
    COTERIE_NEEDS_NETWORKS;
    const Architecture architecture = internal::dense_autoencoder(5, {4}, 2);
    Network network(architecture, "cpu", 1, false);
    network.initialize(coterie::Run(7), "test");
    Parameters parameters = network.parameters();
    for (auto& values : parameters)
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = 0.4F * std::cos(static_cast<float>(3 * i + values.size()));
    network.set_parameters(parameters);
    const Matrix<float> x = normal_matrix(6, 5, 3);
    network.set_points(x);
    const Matrix<float> slope = normal_matrix(6, 2, 4);
    constexpr double weight = 2.5;
    network.set_optimizers({{.kind = NetworkOptimizer::Kind::sgd, .learning_rate = 1}});
    network.begin(first_rows(6));
    const double error = network.reconstruct(weight);
    network.backward(slope);
    network.step();
    const Parameters moved = network.parameters();
    const auto loss = [&](const Parameters& of, double* reconstruction) {
        const Matrix<double> h = plain_dense(x.cast<double>(), architecture.encoder, of, 0);
        const Matrix<double> back = plain_dense(h, architecture.decoder, of, 4);
        const double mean = (back - x.cast<double>()).squaredNorm() / 30;
        if (reconstruction) *reconstruction = mean;
        return weight * mean + h.cwiseProduct(slope.cast<double>()).sum();
    };
    double expected = 0;
    loss(parameters, &expected);
    EXPECT_NEAR(error, expected, 1e-5);
    for (std::size_t p = 0; p < parameters.size(); ++p)
        for (std::size_t i = 0; i < parameters[p].size(); ++i) {
            constexpr float h = 1.0F / 256;
            Parameters up = parameters, down = parameters;
            up[p][i] += h;
            down[p][i] -= h;
            const double gradient = (loss(up, nullptr) - loss(down, nullptr)) / (2 * h);
            EXPECT_NEAR(parameters[p][i] - moved[p][i], gradient, 2e-3 * (1 + std::abs(gradient))) << p << " " << i;
        }
}

TEST(Network, InputGradientsAgreeWithFiniteDifferences) {
    COTERIE_NEEDS_NETWORKS;
    const Architecture architecture = internal::dense_autoencoder(4, {6}, 3);
    Network network(architecture, "cpu", 1, false);
    network.initialize(coterie::Run(7), "test");
    Parameters parameters = network.parameters();
    for (auto& values : parameters)
        for (float& value : values) value *= 10;
    network.set_parameters(parameters);
    const Matrix<float> x = normal_matrix(3, 4, 5);
    network.set_points(x);
    const Matrix<float> slope = normal_matrix(3, 3, 6);
    network.begin({0, 1, 2}, {}, Network::Pass::probing);
    const Matrix<float> gradient = network.input_gradient(slope);
    network.backward(slope);
    for (Index i = 0; i < x.size(); ++i) {
        constexpr double h = 1e-4;
        Matrix<double> up = x.cast<double>(), down = up;
        up.data()[i] += h;
        down.data()[i] -= h;
        const auto value = [&](const Matrix<double>& at) {
            return plain_dense(at, architecture.encoder, parameters, 0).cwiseProduct(slope.cast<double>()).sum();
        };
        EXPECT_NEAR(gradient.data()[i], (value(up) - value(down)) / (2 * h), 1e-4);
    }
    network.begin({0});
    EXPECT_THROW(network.input_gradient(slope), ResourceError);
}

// A convolution, a batch norm of channels, a batch norm of single positions, a residual block with another batch norm,
// and a dense layer, on two blocks of items. All are smooth, so finite differences in double are accurate enough.
TEST(Network, BatchNormGradientsAgreeWithFiniteDifferences) {
    COTERIE_NEEDS_NETWORKS;
    const internal::ImageShape shape{1, 3, 4};
    const auto layer = [](int kind, int in, int out) {
        internal::Layer of;
        of.plan.kind = kind;
        of.plan.in = in;
        of.plan.out = out;
        of.plan.kernel = of.plan.stride = 1;
        of.plan.bias = 1;
        return of;
    };
    Architecture architecture;
    architecture.input = shape;
    architecture.outputs = 2;
    architecture.encoder = {layer(COTERIE_CONVOLUTION, 1, 2), layer(COTERIE_BATCH_NORM, 2, 0),
                            layer(COTERIE_RESIDUAL, 0, 2),    layer(COTERIE_CONVOLUTION, 2, 2),
                            layer(COTERIE_BATCH_NORM, 2, 0),  layer(COTERIE_AVERAGE, 0, 0),
                            layer(COTERIE_BATCH_NORM, 2, 0),  layer(COTERIE_DENSE, 2, 2)};
    architecture.encoder[0].plan.kernel = 3;
    architecture.encoder[0].plan.pad_before = architecture.encoder[0].plan.pad_after = 1;
    architecture.encoder[0].plan.bias = 0;
    constexpr Index count = 40;
    const Matrix<float> x = normal_matrix(count, shape.items(), 11).array() + 3, slope = normal_matrix(count, 2, 12);
    Network network(architecture, "cpu", 2, false);
    network.initialize(coterie::Run(7), "test");
    Parameters parameters = network.parameters();
    for (auto& values : parameters)
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.4F * std::cos(static_cast<float>(3 * i + 1));
    network.set_parameters(parameters);
    network.set_points(x);
    network.set_optimizers({{.kind = NetworkOptimizer::Kind::sgd, .learning_rate = 1}});
    const auto loss = [&](const Parameters& with, const Matrix<double>& at) {
        Parameters moved = with;  // running means change
        test::Images images{shape.channels, shape.rows, shape.columns, {}};
        for (Index i = 0; i < count; ++i) images.pixels.emplace_back(at.row(i).data(), at.row(i).data() + at.cols());
        const test::Images found = test::PlainNetwork(architecture.encoder, moved, true)(images);
        double value = 0;
        for (Index i = 0; i < count; ++i)
            for (Index j = 0; j < 2; ++j)
                value += found.pixels[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] *
                         static_cast<double>(slope(i, j));
        return value;
    };
    const Matrix<double> points = x.cast<double>();

    network.begin(first_rows(count), {}, Network::Pass::probing);
    const Matrix<float> by_input = network.input_gradient(slope);
    EXPECT_EQ(network.parameters(), parameters);  // running means do not change
    for (Index i = 0; i < points.size(); i += 7) {
        constexpr double h = 1e-5;
        Matrix<double> up = points, down = points;
        up.data()[i] += h;
        down.data()[i] -= h;
        const double gradient = (loss(parameters, up) - loss(parameters, down)) / (2 * h);
        EXPECT_NEAR(by_input.data()[i], gradient, 1e-4 * (1 + std::abs(gradient))) << i;
    }
    // The pass is still kept: it gives the gradients with respect to the parameters, and so does another pass.
    for (const bool again : {false, true}) {
        if (again) {
            network.set_parameters(parameters);
            network.begin(first_rows(count));
        }
        network.backward(slope);
        network.step();
        const Parameters moved = network.parameters();
        std::size_t p = 0;
        for (const internal::Layer& of : architecture.encoder) {
            const std::size_t tensors = internal::parameter_sizes(of.plan).size();
            const std::size_t trained = of.plan.kind == COTERIE_BATCH_NORM ? 2 : tensors;  // running moments follow
            for (std::size_t t = 0; t < trained; ++t)
                for (std::size_t i = 0; i < parameters[p + t].size(); ++i) {
                    constexpr float h = 1.0F / 256;
                    Parameters up = parameters, down = parameters;
                    up[p + t][i] += h;
                    down[p + t][i] -= h;
                    const double gradient =
                        (loss(up, points) - loss(down, points)) / (static_cast<double>(up[p + t][i]) - down[p + t][i]);
                    EXPECT_NEAR(parameters[p + t][i] - moved[p + t][i], gradient, 2e-3 * (1 + std::abs(gradient)))
                        << p + t << " " << i;
                }
            p += tensors;
        }
    }
}

// Adam by its equations (Kingma and Ba 2015), two steps.
TEST(Network, AdamAgreesWithItsDefinition) {
    COTERIE_NEEDS_NETWORKS;
    Architecture architecture = internal::dense_autoencoder(3, {4}, 2);
    Network network(architecture, "cpu", 1, false);
    Network plain(architecture, "cpu", 1, false);
    const Matrix<float> x = normal_matrix(5, 3, 8);
    for (Network* of : {&network, &plain}) {
        of->initialize(coterie::Run(1), "test");
        of->set_points(x);
    }
    constexpr double rate = 0.01, decay = 0.1;
    network.set_optimizers({{.learning_rate = rate, .weight_decay = decay}});
    plain.set_optimizers({{.kind = NetworkOptimizer::Kind::sgd, .learning_rate = 1}});
    std::vector<std::vector<double>> m, v;
    for (int step = 1; step <= 2; ++step) {
        const Parameters before = network.parameters();
        plain.set_parameters(before);
        for (Network* of : {&network, &plain}) {
            of->begin(first_rows(5));
            of->reconstruct(1);
            of->backward({});
            of->step();
        }
        const Parameters after = network.parameters();
        const Parameters revealed = plain.parameters();
        m.resize(before.size()), v.resize(before.size());
        for (std::size_t p = 0; p < before.size(); ++p) {
            m[p].resize(before[p].size()), v[p].resize(before[p].size());
            for (std::size_t i = 0; i < before[p].size(); ++i) {
                const double g = static_cast<double>(before[p][i]) - revealed[p][i] + decay * before[p][i];
                m[p][i] = 0.9 * m[p][i] + 0.1 * g;
                v[p][i] = 0.999 * v[p][i] + 0.001 * g * g;
                const double expected = before[p][i] - rate * (m[p][i] / (1 - std::pow(0.9, step))) /
                                                           (std::sqrt(v[p][i] / (1 - std::pow(0.999, step))) + 1e-8);
                // A gradient that is only a rounding error has an arbitrary sign.
                if (std::abs(g) > 1e-5) {
                    EXPECT_NEAR(after[p][i], expected, 1e-5) << p << " " << i;
                }
            }
        }
    }
}

TEST(Network, PartialOptimizersKeepOtherParameters) {
    COTERIE_NEEDS_NETWORKS;
    Network network(internal::dense_autoencoder(3, {4}, 2), "cpu", 1, false);
    network.initialize(coterie::Run(1), "test");
    network.set_points(normal_matrix(5, 3, 9));
    const Parameters before = network.parameters();
    network.set_optimizers({{.part = NetworkOptimizer::Part::encoder}});
    network.begin(first_rows(5));
    network.reconstruct(1);
    network.backward({});
    network.step();
    const Parameters after = network.parameters();
    for (std::size_t p = 0; p < before.size(); ++p) EXPECT_EQ(before[p] == after[p], p >= 4) << p;
}

TEST(Network, OptimizerStateReproducesNextSteps) {
    COTERIE_NEEDS_NETWORKS;
    const Architecture architecture = internal::convolutional_autoencoder({1, 8, 8}, 3);
    const Matrix<float> x = normal_matrix(20, 64, 10);
    const auto train = [&](Network& network, int steps) {
        for (int step = 0; step < steps; ++step) {
            network.begin(first_rows(20));
            network.reconstruct(1);
            network.backward({});
            network.step();
        }
    };
    Network whole(architecture, "cpu", 2, false), part(architecture, "cpu", 2, false),
        rest(architecture, "cpu", 2, false);
    for (Network* network : {&whole, &part, &rest}) {
        network->initialize(coterie::Run(2), "test");
        network->set_points(x);
        network->set_optimizers({{}});
    }
    train(whole, 5);
    train(part, 2);
    rest.set_parameters(part.parameters());
    rest.set_memory(part.memory());
    train(rest, 3);
    EXPECT_EQ(rest.parameters(), whole.parameters());
    EXPECT_EQ(rest.memory(), whole.memory());
    EXPECT_THROW(rest.set_memory({1, 2, 3}), BadData);
}

// Outputs, gradients with respect to the input, and parameters after two steps.
TEST(Network, SameBitsAtAnyNumberOfThreads) {
    COTERIE_NEEDS_NETWORKS;
    const Matrix<float> points = normal_matrix(32, 192, 3);
    for (const Architecture& architecture :
         {internal::dense_autoencoder(192, {70, 50}, 4), internal::dense_classifier(192, {70, 50}, 4),
          internal::convolutional_autoencoder({3, 8, 8}, 4), internal::vgg4({3, 8, 8}, 3, 4),
          internal::resnet18({3, 8, 8}, 4)})
        for (const bool half : {false, true}) {
            if (half && !internal::has_half("cpu")) continue;
            std::optional<std::vector<Matrix<float>>> expected;
            Parameters parameters;
            for (const int threads : {1, 2, 8}) {
                Network network(architecture, "cpu", threads, half);
                network.initialize(coterie::Run(7), "test");
                network.set_points(points);
                network.set_optimizers({{.learning_rate = 0.01}});
                std::vector<Matrix<float>> found;
                for (int step = 0; step < 2; ++step) {
                    found.push_back(network.begin(first_rows(32), {}, Network::Pass::probing));
                    found.push_back(network.input_gradient(found.back()));
                    found.push_back(network.begin(first_rows(32)));
                    if (!architecture.decoder.empty())
                        found.push_back(Matrix<float>::Constant(1, 1, static_cast<float>(network.reconstruct(2))));
                    network.backward(found[2]);
                    network.step();
                }
                found.push_back(network.encode(first_rows(32)));
                if (!expected) {
                    expected = found;
                    parameters = network.parameters();
                    continue;
                }
                for (std::size_t f = 0; f < found.size(); ++f)
                    EXPECT_EQ(found[f], (*expected)[f]) << threads << " threads, " << architecture.encoder.size()
                                                        << " layers, half " << half << ", " << f;
                EXPECT_EQ(network.parameters(), parameters);
            }
        }
}

// The same for processes. There are three blocks of items, so some processes have more blocks than others, or none.
TEST(Network, SameBitsInAnyNumberOfProcesses) {
    COTERIE_NEEDS_NETWORKS;
    const Matrix<float> points = normal_matrix(70, 128, 3), slope = normal_matrix(70, 4, 4);
    for (const Architecture& architecture :
         {internal::convolutional_autoencoder({1, 8, 16}, 4), internal::resnet18({1, 8, 16}, 4)})
        for (const bool half : {false, true}) {
            if (half && !internal::has_half("cpu")) continue;
            std::optional<std::pair<std::vector<Matrix<float>>, Parameters>> expected;
            for (const int processes : {1, 2, 3, 5})
                test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
                    coterie::Run run(7, 1);
                    run.set_communicator(communicator);
                    Network network(architecture, "cpu", 1, half);
                    network.initialize(run, "test");
                    network.set_points(PointsView(points), run);
                    network.set_optimizers({{.learning_rate = 0.01}});
                    std::vector<Matrix<float>> found;
                    found.push_back(network.begin(first_rows(70), {}, Network::Pass::probing));
                    found.push_back(network.input_gradient(slope));
                    found.push_back(network.begin(first_rows(70)));
                    if (!architecture.decoder.empty())
                        found.push_back(Matrix<float>::Constant(1, 1, static_cast<float>(network.reconstruct(2))));
                    network.backward(slope);
                    network.step();
                    if (processes == 1) {
                        expected = {std::move(found), network.parameters()};
                        return;
                    }
                    for (std::size_t f = 0; f < found.size(); ++f)
                        EXPECT_EQ(found[f], expected->first[f])
                            << processes << " processes, " << architecture.encoder.size() << " layers, half " << half
                            << ", " << f;
                    EXPECT_EQ(network.parameters(), expected->second);
                });
        }
}

TEST(Network, RejectsBadShapesAndDevices) {
    EXPECT_THROW(internal::convolutional_autoencoder({1, 28, 32}, 4), BadArgument);
    EXPECT_THROW(internal::convolutional_autoencoder({1, 30, 30}, 4), BadArgument);
    EXPECT_THROW(internal::convolutional_autoencoder({1, 4, 4}, 4), BadArgument);
    COTERIE_NEEDS_NETWORKS;
    EXPECT_THROW(internal::check_device("gpu"), BadArgument);
}

TEST(Network, TooMuchMemoryIsAnError) {
    COTERIE_NEEDS_NETWORKS;
    EXPECT_NE(message_of<ResourceError>([] {
                  Network(internal::dense_autoencoder(10, {999999, 999999}, 2), "cpu", 1, false);
              }).find("the network needs about"),
              std::string::npos);
    Network network(internal::vgg4({3, 96, 96}, 3, 10), "cpu", 1, false);
    network.initialize(coterie::Run(1), "test");
    network.set_points(Matrix<float>::Zero(1, 3 * 96 * 96));
    EXPECT_NE(message_of<ResourceError>([&] {
                  network.begin(std::vector<std::int64_t>(1000000, 0));
              }).find("a batch of 1000000 items"),
              std::string::npos);
    EXPECT_EQ(network.begin({0, 0}).rows(), 2);
}

// The same network on the same points in both precisions. bfloat16 has 8 significant bits, so the results must differ,
// but only by a few rounding errors of 2^-9.
TEST(Network, HalfPrecisionIsCloseToSingle) {
    COTERIE_NEEDS_NETWORKS;
    if (!internal::has_half("cpu")) {
        EXPECT_NE(message_of<BadArgument>([] {
                      Network(internal::dense_autoencoder(10, {5}, 2), "cpu", 1, true);
                  }).find("half: half precision"),
                  std::string::npos);
        GTEST_SKIP() << "this processor has no products in bfloat16 (AVX-512)";
    }
    const Matrix<float> points = normal_matrix(20, 64, 9);
    for (const Architecture& architecture :
         {internal::vgg4({1, 8, 8}, 3, 5), internal::convolutional_autoencoder({1, 8, 8}, 5)}) {
        Network single(architecture, "cpu", 1, false), half(architecture, "cpu", 1, true);
        std::vector<Matrix<float>> found, weights;
        for (Network* network : {&single, &half}) {
            network->initialize(coterie::Run(5), "test");
            network->set_points(points);
            network->set_optimizers({{.kind = internal::NetworkOptimizer::Kind::sgd, .learning_rate = 0.1}});
            const Matrix<float> output = network->begin(first_rows(20));
            if (!architecture.decoder.empty()) network->reconstruct(1);
            network->backward(output);
            const auto before = network->parameters();
            network->step();
            const auto after = network->parameters();
            found.push_back(output);
            const Eigen::Map<const eigen::Matrix<float>> one(before[0].data(), 1, static_cast<Index>(before[0].size()));
            const Eigen::Map<const eigen::Matrix<float>> other(after[0].data(), 1, static_cast<Index>(after[0].size()));
            weights.push_back(other - one);
        }
        EXPECT_LE((found[0] - found[1]).norm(), 0.03F * found[0].norm());
        EXPECT_GE((found[0] - found[1]).norm(), 1e-5F * found[0].norm());
        // The first layer's step depends on the gradients of all other layers and their batch norms.
        EXPECT_GE(weights[0].cwiseProduct(weights[1]).sum(), 0.95F * weights[0].norm() * weights[1].norm());
    }
}

}  // namespace
}  // namespace coterie
