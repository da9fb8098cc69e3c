// Compares the loss of CONTaiNER with the divergence from the textbook, with an integral and with plain loops. Compares
// its gradients with finite differences. Also tests the file of the projection.

#include "coterie/ner/contrast.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "coterie/model/archive.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::ner::internal {
namespace {

using coterie::testing::contents;
using coterie::testing::Folder;
using coterie::testing::has;

struct Gaussians {
    Matrix<double> means;
    Matrix<double> variances;
    std::vector<std::int32_t> tags;
};

// Only one word has the last tag.
Gaussians drawn_gaussians(Index words, Index dimensions, std::uint64_t seed) {
    RandomStream random(seed, "test.contrast");
    Gaussians out{Matrix<double>(words, dimensions), Matrix<double>(words, dimensions), {}};
    for (Index i = 0; i < words; ++i) {
        for (Index j = 0; j < dimensions; ++j) {
            out.means(i, j) = random.normal();
            out.variances(i, j) = 0.2 + 2 * random.uniform();
        }
        out.tags.push_back(i == 0 ? 3 : static_cast<std::int32_t>(random.below(3)));
    }
    return out;
}

// KL(p || q) from the textbook. Its logarithms cancel in the sum of both directions.
double divergence(const Gaussians& words, Index p, Index q) {
    double out = 0;
    for (Index j = 0; j < words.means.cols(); ++j) {
        const double apart = words.means(p, j) - words.means(q, j);
        out += 0.5 * (std::log(words.variances(q, j) / words.variances(p, j)) - 1 +
                      (words.variances(p, j) + apart * apart) / words.variances(q, j));
    }
    return out;
}

double plain_distance(const Gaussians& words, Index p, Index q, ContrastDistance distance) {
    if (distance == ContrastDistance::divergence) return 0.5 * (divergence(words, p, q) + divergence(words, q, p));
    double norms[2] = {0, 0};
    for (Index j = 0; j < words.means.cols(); ++j) {
        norms[0] += words.means(p, j) * words.means(p, j);
        norms[1] += words.means(q, j) * words.means(q, j);
    }
    double out = 0;
    for (Index j = 0; j < words.means.cols(); ++j) {
        const double apart = words.means(p, j) / std::sqrt(norms[0]) - words.means(q, j) / std::sqrt(norms[1]);
        out += apart * apart;
    }
    return out;
}

constexpr ContrastDistance both[] = {ContrastDistance::divergence, ContrastDistance::directions};

TEST(NerContrast, DivergenceAgreesWithTheIntegral) {
    Gaussians pair{Matrix<double>(2, 1), Matrix<double>(2, 1), {}};
    pair.means << 0.3, -0.9;
    pair.variances << 0.7, 1.9;
    const auto density = [&](Index i, double x) {
        const double apart = x - pair.means(i, 0);
        return std::exp(-apart * apart / (2 * pair.variances(i, 0))) / std::sqrt(2 * M_PI * pair.variances(i, 0));
    };
    double integral = 0;  // of (p - q) ln(p / q) / 2
    const double step = 1e-3;
    for (double x = -15; x < 15; x += step)
        integral += step * 0.5 * (density(0, x) - density(1, x)) * std::log(density(0, x) / density(1, x));
    EXPECT_NEAR(contrast_distances(pair.means, pair.variances, ContrastDistance::divergence)(0, 1), integral, 1e-9);
}

TEST(NerContrast, DistancesAndLossAgreeWithPlainLoops) {
    const Gaussians words = drawn_gaussians(17, 5, 1);
    for (const ContrastDistance distance : both) {
        const Matrix<double> found = contrast_distances(words.means, words.variances, distance);
        double sum = 0;
        Index counted = 0;
        for (Index p = 0; p < 17; ++p) {
            double same = 0;
            double all = 0;
            double others = 0;
            for (Index q = 0; q < 17; ++q) {
                const double apart = plain_distance(words, p, q, distance);
                EXPECT_NEAR(found(p, q), apart, 1e-12);
                if (q == p) continue;
                all += std::exp(-apart);
                if (words.tags[static_cast<std::size_t>(p)] != words.tags[static_cast<std::size_t>(q)]) continue;
                same += std::exp(-apart);
                ++others;
            }
            if (others == 0) continue;
            sum -= std::log(same / others / all);
            ++counted;
        }
        const ContrastLoss loss = contrast_loss(words.means, words.variances, words.tags, distance);
        EXPECT_EQ(loss.words, counted);
        EXPECT_EQ(counted, 16);
        EXPECT_NEAR(loss.sum, sum, 1e-10 * sum);
    }
}

TEST(NerContrast, GradientsAgreeWithFiniteDifferences) {
    const double step = 1e-5;
    for (const ContrastDistance distance : both) {
        Gaussians words = drawn_gaussians(11, 4, 2);
        const ContrastLoss loss = contrast_loss(words.means, words.variances, words.tags, distance);
        for (const bool of_means : {true, false}) {
            Matrix<double>& moved = of_means ? words.means : words.variances;
            const Matrix<double>& gradient = of_means ? loss.by_means : loss.by_variances;
            for (Index i = 0; i < moved.rows(); ++i)
                for (Index j = 0; j < moved.cols(); ++j) {
                    const double start = moved(i, j);
                    const auto sum_at = [&](double value) {
                        moved(i, j) = value;
                        return contrast_loss(words.means, words.variances, words.tags, distance).sum;
                    };
                    const double slope = (sum_at(start + step) - sum_at(start - step)) / (2 * step);
                    moved(i, j) = start;
                    EXPECT_NEAR(gradient(i, j), slope, 1e-7) << of_means << " " << i << " " << j;
                }
        }
    }
}

TEST(NerContrast, OnlyWordOfATagHasNoLoss) {
    const Gaussians words = drawn_gaussians(4, 3, 3);
    for (const ContrastDistance distance : both) {
        const ContrastLoss loss = contrast_loss(words.means, words.variances, {0, 1, 2, 3}, distance);
        EXPECT_EQ(loss.sum, 0);
        EXPECT_EQ(loss.words, 0);
        EXPECT_EQ(loss.by_means.cwiseAbs().maxCoeff(), 0);
        EXPECT_EQ(loss.by_variances.cwiseAbs().maxCoeff(), 0);
    }
}

TEST(NerContrast, DistantWordsGiveFiniteLosses) {
    Gaussians words = drawn_gaussians(12, 3, 4);
    words.means *= 1e4;
    words.variances *= 1e-4;
    const ContrastLoss loss = contrast_loss(words.means, words.variances, words.tags, ContrastDistance::divergence);
    EXPECT_TRUE(std::isfinite(loss.sum));
    EXPECT_TRUE(loss.by_means.allFinite() && loss.by_variances.allFinite());
}

// Vectors and projection are floats, so only the slope along the gradient is checked: it is the norm of the gradient.
TEST(NerContrast, ProjectionGradientsAgreeWithFiniteDifferences) {
    RandomStream random(5, "test.contrast.projection");
    Matrix<float> vectors(13, 6);
    std::vector<std::int32_t> tags;
    for (Index i = 0; i < vectors.rows(); ++i) {
        for (Index j = 0; j < vectors.cols(); ++j) vectors(i, j) = static_cast<float>(random.normal());
        tags.push_back(static_cast<std::int32_t>(i % 3));
    }
    Projection projection = Projection::drawn(6, RandomStream(6, "test.contrast.start"));
    for (Matrix<float>& each : projection.parameters)
        for (Index i = 0; i < each.size(); ++i) each.data()[i] += static_cast<float>(0.2 * random.normal());
    for (const ContrastDistance distance : both) {
        const ProjectedLoss here = projected_loss(vectors, tags, projection, distance);
        const auto check = [&](Matrix<float>& moved, const Matrix<float>& gradient, const char* what) {
            const Matrix<float> start = moved;
            const double norm = gradient.cast<double>().norm();
            ASSERT_GT(norm, 1e-3) << what;
            const auto sum_at = [&](double by) {
                moved = (start.cast<double>() + by / norm * gradient.cast<double>()).cast<float>();
                return projected_loss(vectors, tags, projection, distance).sum;
            };
            const double step = 2e-3;
            EXPECT_NEAR((sum_at(step) - sum_at(-step)) / (2 * step), norm, 1e-3 * norm) << what;
            moved = start;
        };
        check(vectors, here.by_vectors, "vectors");
        check(projection.parameters[0], here.by_parameters[0], "mean");
        if (distance == ContrastDistance::directions) {
            check(projection.parameters[1], here.by_parameters[1], "mean_bias");
            EXPECT_EQ(here.by_parameters[2].cwiseAbs().maxCoeff(), 0);
            continue;
        }
        EXPECT_LT(here.by_parameters[1].cwiseAbs().maxCoeff(), 1e-9);  // moving all means changes no distance
        check(projection.parameters[2], here.by_parameters[2], "variance");
        check(projection.parameters[3], here.by_parameters[3], "variance_bias");
    }
}

TEST(NerContrast, ProjectionRoundTrip) {
    const Folder folder;
    const Projection projection = Projection::drawn(6, RandomStream(7, "test.contrast.start"));
    const std::string path = folder / "projection.coterie";
    projection.save(path);
    const Projection loaded = Projection::load(path, 6);
    for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(loaded.parameters[p], projection.parameters[p]);
    const auto message = [](const std::string& file, Index dimensions) {
        return coterie::test::message_of([&] { Projection::load(file, dimensions); });
    };
    EXPECT_TRUE(has(message(path, 7), "projection.coterie"));
    EXPECT_TRUE(has(message(path, 7), "mean"));
    const std::string other = folder / "other.coterie";
    Archive("kmeans").save(other);
    EXPECT_TRUE(has(message(other, 6), "other.coterie: the file is a model of kmeans"));
    const std::string cut = folder.file("cut.coterie", contents(path).substr(0, 3000));
    EXPECT_TRUE(has(message(cut, 6), "cut.coterie"));
}

}  // namespace
}  // namespace coterie::ner::internal
