#include "coterie/deep/internal/view_losses.hpp"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {

Matrix<double> normal_rows(Index n, Index d, std::uint64_t seed, double size = 1) {
    RandomStream random(seed, "test.views");
    Matrix<double> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = size * random.normal();
    return out;
}
Softmax<double> soft(const Matrix<double>& x) { return softmax(x, 1); }

using Value = std::function<double(const Matrix<double>&, const Matrix<double>&)>;
void expect_gradients(const Matrix<double>& x, const Matrix<double>& t, const Matrix<double>& by_first,
                      const Matrix<double>& by_second, const Value& value) {
    for (const bool first : {true, false})
        for (Index i = 0; i < x.size(); ++i) {
            Matrix<double> up = first ? x : t, down = up;
            up.data()[i] += 1e-5, down.data()[i] -= 1e-5;
            const double difference = first ? value(up, t) - value(down, t) : value(x, up) - value(x, down);
            EXPECT_NEAR((first ? by_first : by_second).data()[i], difference / 2e-5, 1e-8);
        }
}

double divergence(const Matrix<double>& p, const Matrix<double>& q) {
    double sum = 0;
    for (Index i = 0; i < p.size(); ++i) sum += p.data()[i] * std::log(p.data()[i] / q.data()[i]);
    return sum / static_cast<double>(p.rows());
}

TEST(ViewLosses, DivergenceOfViews) {
    const Matrix<double> x = normal_rows(5, 4, 1), t = normal_rows(5, 4, 2);
    const Value value = [](const Matrix<double>& a, const Matrix<double>& b) {
        const Matrix<double> p = soft(a).probability, q = soft(b).probability;
        return 0.7 * (divergence(p, q) + divergence(q, p));
    };
    Matrix<double> first = Matrix<double>::Zero(5, 4), second = first;
    EXPECT_NEAR(deep::internal::add_view_divergence(soft(x), soft(t), 0.7, first, second), value(x, t), 1e-14);
    expect_gradients(x, t, first, second, value);
    first.setZero(), second.setZero();
    EXPECT_EQ(deep::internal::add_view_divergence(soft(x), soft(x), 0.7, first, second), 0);
    EXPECT_LE(first.cwiseAbs().maxCoeff() + second.cwiseAbs().maxCoeff(), 1e-16);
}

TEST(ViewLosses, FollowingChangesOnlyTheSecondView) {
    const Matrix<double> x = normal_rows(5, 4, 3), t = normal_rows(5, 4, 4);
    const Value value = [&](const Matrix<double>&, const Matrix<double>& b) {
        return 1.3 * divergence(soft(x).probability, soft(b).probability);
    };
    Matrix<double> second = Matrix<double>::Zero(5, 4);
    EXPECT_NEAR(deep::internal::add_following(soft(x), soft(t), 1.3, second), value(x, t), 1e-14);
    expect_gradients(x, t, Matrix<double>::Zero(5, 4), second, value);
}

// Sums over pairs of clusters, from the definition of IIC.
double pair_information(const Matrix<double>& x, const Matrix<double>& t) {
    const Matrix<double> p = soft(x).probability, q = soft(t).probability;
    const Index k = x.cols(), n = x.rows();
    std::vector<std::vector<double>> joint(static_cast<std::size_t>(k),
                                           std::vector<double>(static_cast<std::size_t>(k)));
    const auto at = [&](Index a, Index b) -> double& {
        return joint[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    };
    for (Index i = 0; i < n; ++i)
        for (Index a = 0; a < k; ++a)
            for (Index b = 0; b < k; ++b)
                at(a, b) += (p(i, a) * q(i, b) + p(i, b) * q(i, a)) / (2 * static_cast<double>(n));
    double sum = 0;
    for (Index a = 0; a < k; ++a)
        for (Index b = 0; b < k; ++b) {
            double row = 0, column = 0;
            for (Index c = 0; c < k; ++c) row += at(a, c), column += at(c, b);
            sum += at(a, b) * std::log(at(a, b) / (row * column));
        }
    return sum;
}

TEST(ViewLosses, PairInformation) {
    const Matrix<double> x = normal_rows(7, 4, 5), t = normal_rows(7, 4, 6);
    const Value value = [](const Matrix<double>& a, const Matrix<double>& b) { return -pair_information(a, b); };
    Matrix<double> first = Matrix<double>::Zero(7, 4), second = first;
    EXPECT_NEAR(deep::internal::add_pair_information(soft(x), soft(t), first, second), value(x, t), 1e-13);
    expect_gradients(x, t, first, second, value);
}

// The mutual information of decisive, equal and fair views is ln k; with one cluster it is 0. Neither overflows.
TEST(ViewLosses, PairInformationAtItsExtremes) {
    Matrix<double> x = Matrix<double>::Zero(6, 3);
    for (Index i = 0; i < 6; ++i) x(i, i % 3) = 2000;
    Matrix<double> first = Matrix<double>::Zero(6, 3), second = first;
    EXPECT_NEAR(deep::internal::add_pair_information(soft(x), soft(x), first, second), -std::log(3.0), 1e-14);
    EXPECT_TRUE(first.allFinite() && second.allFinite());
    x.setZero();
    x.col(1).setConstant(2000);
    EXPECT_NEAR(deep::internal::add_pair_information(soft(x), soft(x), first, second), 0, 1e-14);
    EXPECT_TRUE(first.allFinite() && second.allFinite());
}

}  // namespace
}  // namespace coterie
