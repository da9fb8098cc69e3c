#include "coterie/entropy/losses.hpp"

#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const std::vector<double> prior = {0.5, 0.3, 0.15, 0.05};

template <class T = double>
Matrix<T> normal(Index n, Index k, double deviation, std::uint64_t seed) {
    RandomStream random(seed, "test.logits");
    Matrix<T> out(n, k);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<T>(deviation * random.normal());
    return out;
}

// The losses as in the paper, from the probabilities themselves.
using Table = Matrix<double>;
double entropy(const Eigen::RowVectorXd& p) { return -(p.array() * p.array().log()).sum(); }
double mean_renyi(const Table& p, double order) {
    double out = 0;
    for (Index i = 0; i < p.rows(); ++i)
        out += order == 1          ? entropy(p.row(i))
               : std::isinf(order) ? -std::log(p.row(i).maxCoeff())
                                   : std::log(p.row(i).array().pow(order).sum()) / (1 - order);
    return out / static_cast<double>(p.rows());
}
double fairness(const Table& p, Fairness kind) {
    double out = 0;
    for (Index k = 0; k < p.cols(); ++k) {
        const double mean = p.col(k).mean();
        const double u = prior[static_cast<std::size_t>(k)];
        out += kind == Fairness::reverse ? mean * std::log(mean / u) : u * std::log(u / mean);
    }
    return out;
}
double cross_entropy(const Table& p, const Table& y, CrossEntropy kind) {
    const Table terms =
        kind == CrossEntropy::reverse ? Table(p.array() * y.array().log()) : Table(y.array() * p.array().log());
    return -terms.sum() / static_cast<double>(p.rows());
}

struct Term {
    std::string name;
    std::function<double(const Softmax<double>&, Matrix<double>&)> add;
    std::function<double(const Table&)> plain;
};

std::vector<Term> terms(const Table& y) {
    std::vector<Term> out;
    for (const double order : {0.1, 0.5, 0.999999, 1.0, 1.0000001, 1.3, 2.0, 5.0, 50.0, infinity})
        out.push_back({"renyi " + std::to_string(order),
                       [order](const auto& s, auto& g) { return add_decisiveness(s, order, 1.0, g, 1); },
                       [order](const Table& p) { return mean_renyi(p, order); }});
    for (const Fairness kind : {Fairness::reverse, Fairness::forward})
        out.push_back({"fairness " + std::to_string(static_cast<int>(kind)),
                       [kind](const auto& s, auto& g) { return add_fairness(s, prior, kind, 1.0, g, 1); },
                       [kind](const Table& p) { return fairness(p, kind); }});
    for (const CrossEntropy kind : {CrossEntropy::reverse, CrossEntropy::forward})
        out.push_back({"cross-entropy " + std::to_string(static_cast<int>(kind)),
                       [kind, y](const auto& s, auto& g) { return add_cross_entropy(s, y, kind, 1.0, g, 1); },
                       [kind, y](const Table& p) { return cross_entropy(p, y, kind); }});
    return out;
}

TEST(Losses, SoftmaxOfModerateAndHugeLogits) {
    Matrix<double> x(2, 3);
    x << 0, std::log(2.0), std::log(3.0), 1e4, -1e4, 0;
    const Softmax<double> s = softmax(x, 1);
    EXPECT_NEAR(s.probability(0, 1), 2.0 / 6, 1e-15);
    EXPECT_NEAR(s.logarithm(0, 2), std::log(0.5), 1e-15);
    EXPECT_EQ(s.probability(1, 0), 1.0);
    EXPECT_EQ(s.probability(1, 1), 0.0);
    EXPECT_EQ(s.logarithm(1, 1), -2e4);
}

TEST(Losses, ValuesAgreeWithThePaper) {
    const Table x = normal(23, 4, 1.5, 1);
    const Table y = softmax(normal(23, 4, 1, 2), 1).probability;
    const Softmax<double> s = softmax(x, 1);
    for (const Term& term : terms(y)) {
        Matrix<double> gradient = Matrix<double>::Zero(23, 4);
        // Near order 1 the formula of the paper loses digits, because it divides by 1 - order.
        EXPECT_NEAR(term.add(s, gradient), term.plain(s.probability), 1e-8) << term.name;
    }
}

TEST(Losses, GradientsAgreeWithFiniteDifferences) {
    const Table x = normal(9, 4, 2, 3);
    const Table y = softmax(normal(9, 4, 1, 4), 1).probability;
    for (const Term& term : terms(y)) {
        Matrix<double> gradient = Matrix<double>::Zero(9, 4);
        Matrix<double> unused = gradient;
        term.add(softmax(x, 1), gradient);
        for (Index i = 0; i < x.size(); ++i) {
            const double h = 1e-5;
            Table up = x;
            Table down = x;
            up.data()[i] += h;
            down.data()[i] -= h;
            const double slope = (term.add(softmax(up, 1), unused) - term.add(softmax(down, 1), unused)) / (2 * h);
            EXPECT_NEAR(gradient.data()[i], slope, 1e-9) << term.name << " " << i;
        }
    }
}

// By the chain rule with the whole Jacobian of the softmax, diag(sigma) - sigma sigma'.
TEST(Losses, GradientsAgreeWithTheChainRule) {
    const Table x = normal(12, 4, 1, 5);
    const Table y = softmax(normal(12, 4, 1, 6), 1).probability;
    const Softmax<double> s = softmax(x, 1);
    const Table& p = s.probability;
    const auto n = 12.0;
    const auto through = [&](const Table& slope) {
        Table out(12, 4);
        for (Index i = 0; i < 12; ++i) {
            const Vector<double> row = p.row(i).transpose();
            const Table jacobian = Table(row.asDiagonal()) - Table(row * row.transpose());
            out.row(i) = (jacobian * slope.row(i).transpose()).transpose();
        }
        return out;
    };
    const auto expect = [&](const std::string& name, const std::function<void(Matrix<double>&)>& add,
                            const Table& slope) {
        Matrix<double> gradient = Matrix<double>::Zero(12, 4);
        add(gradient);
        EXPECT_LT((gradient - through(slope)).cwiseAbs().maxCoeff(), 1e-14) << name;
    };
    expect(
        "H", [&](auto& g) { add_decisiveness(s, 1.0, 1.0, g, 1); }, Table(-(p.array().log() + 1) / n));
    Table renyi(12, 4);
    for (Index i = 0; i < 12; ++i)
        renyi.row(i) = -3 * p.row(i).array().square() / (2 * p.row(i).array().cube().sum() * n);
    expect(
        "R_3", [&](auto& g) { add_decisiveness(s, 3.0, 1.0, g, 1); }, renyi);
    Table mean = p.colwise().mean().replicate(12, 1);
    Table u(12, 4);
    for (Index k = 0; k < 4; ++k) u.col(k).setConstant(prior[static_cast<std::size_t>(k)]);
    expect(
        "KL(mean || u)", [&](auto& g) { add_fairness(s, prior, Fairness::reverse, 1.0, g, 1); },
        Table(((mean.array() / u.array()).log() + 1) / n));
    expect(
        "KL(u || mean)", [&](auto& g) { add_fairness(s, prior, Fairness::forward, 2.0, g, 1); },
        Table(-2 * u.array() / mean.array() / n));
    expect(
        "H(sigma, y)", [&](auto& g) { add_cross_entropy(s, y, CrossEntropy::reverse, 1.0, g, 1); },
        Table(-y.array().log() / n));
    expect(
        "H(y, sigma)", [&](auto& g) { add_cross_entropy(s, y, CrossEntropy::forward, 1.0, g, 1); },
        Table(-y.array() / p.array() / n));
}

TEST(Losses, ExactLimitsOfRenyi) {
    const Softmax<double> s = softmax(normal(50, 4, 3, 7), 1);
    const auto with = [&](double order) {
        Matrix<double> gradient = Matrix<double>::Zero(50, 4);
        const double value = add_decisiveness(s, order, 1.0, gradient, 1);
        return std::pair(value, gradient);
    };
    for (const double near : {1 - 1e-9, 1 + 1e-9, 1 - 1e-15, 1 + 1e-15}) {
        EXPECT_NEAR(with(near).first, with(1).first, 1e-8);
        EXPECT_LT((with(near).second - with(1).second).cwiseAbs().maxCoeff(), 1e-9);
    }
    EXPECT_NEAR(with(1e9).first, with(infinity).first, 1e-8);
    EXPECT_LT((with(1e9).second - with(infinity).second).cwiseAbs().maxCoeff(), 1e-8);
    for (const double huge : {1e15, 1e17, 1e300, 1.7e308}) {
        EXPECT_NEAR(with(huge).first, with(infinity).first, 1e-12) << huge;
        EXPECT_LT((with(huge).second - with(infinity).second).cwiseAbs().maxCoeff(), 1e-12) << huge;
    }
    EXPECT_LT(with(2).first, with(1).first);  // falls as the order rises
    EXPECT_LT(with(infinity).first, with(2).first);
}

TEST(Losses, HugeLogits) {
    for (const double size : {100.0, 1e4}) {
        Table x(5, 4);
        x << size, -size, 0, 0, -size, -size, -size, size, size, size, -size, 0, 0, 0, 0, 0, size, 0, -size, -size;
        const Table y = softmax(x, 1).probability.colwise().reverse();
        for (const Term& term : terms(y)) {
            Matrix<double> gradient = Matrix<double>::Zero(5, 4);
            EXPECT_TRUE(std::isfinite(term.add(softmax(x, 1), gradient))) << term.name;
            EXPECT_TRUE(gradient.allFinite()) << term.name;
            EXPECT_LT(gradient.rowwise().sum().cwiseAbs().maxCoeff(), 1e-9) << term.name;
        }
    }
    // If every prediction of a cluster is exactly 0, the gradient is still that of the paper's loss, which sums to u_k.
    Table empty = Table::Zero(3, 4);
    empty.col(0).setConstant(-1e4);
    Matrix<double> gradient = Matrix<double>::Zero(3, 4);
    EXPECT_NEAR(add_fairness(softmax(empty, 1), prior, Fairness::forward, 1.0, gradient, 1),
                0.5 * (1e4 + std::log(3.0)) + 0.5 * std::log(0.5) + 0.3 * std::log(0.3 * 3) +
                    0.15 * std::log(0.15 * 3) + 0.05 * std::log(0.05 * 3),
                1e-8);
    EXPECT_NEAR(gradient.col(0).sum(), -0.5, 1e-12);
}

TEST(Losses, FloatAgreesWithDoubleForAnyThreads) {
    const Table x = normal(30000, 4, 2, 8);
    const Table y = softmax(normal(30000, 4, 1, 9), 1).probability;
    const Matrix<float> narrow = x.cast<float>();
    const Matrix<float> narrow_y = y.cast<float>();
    const auto all = [](const auto& s, const auto& labels, auto& g, int threads) {
        return add_decisiveness(s, 2.0, 1.0, g, threads) + add_fairness(s, prior, Fairness::reverse, 2.0, g, threads) +
               add_fairness(s, prior, Fairness::forward, 0.5, g, threads) +
               add_cross_entropy(s, labels, CrossEntropy::reverse, 1.0, g, threads) +
               add_cross_entropy(s, labels, CrossEntropy::forward, 1.0, g, threads);
    };
    Matrix<double> one = Matrix<double>::Zero(30000, 4);
    const double value = all(softmax(x, 1), y, one, 1);
    for (const int threads : {2, 8}) {
        Matrix<double> more = Matrix<double>::Zero(30000, 4);
        EXPECT_EQ(all(softmax(x, threads), y, more, threads), value);
        EXPECT_EQ(more, one);
    }
    Matrix<float> rounded = Matrix<float>::Zero(30000, 4);
    EXPECT_NEAR(all(softmax(narrow, 1), narrow_y, rounded, 1), value, 1e-5);
    EXPECT_LT((rounded.cast<double>() - one).cwiseAbs().maxCoeff(), 1e-6 * one.cwiseAbs().maxCoeff() * 10);
}

TEST(Losses, CrossEntropyOfSomeRows) {
    const Table x = normal(6, 4, 1, 10);
    const Table y = softmax(normal(6, 4, 1, 11), 1).probability;
    const Softmax<double> s = softmax(x, 1);
    std::vector<bool> counts = {true, false, true, false, false, true};
    Matrix<double> gradient = Matrix<double>::Zero(6, 4);
    const double value = add_cross_entropy(s, y, CrossEntropy::reverse, 1.0, gradient, 1, counts);
    double expected = 0;
    for (const Index i : {0, 2, 5}) expected -= (s.probability.row(i).array() * y.row(i).array().log()).sum() / 6;
    EXPECT_NEAR(value, expected, 1e-14);
    EXPECT_EQ(gradient.row(1).cwiseAbs().maxCoeff(), 0.0);
    EXPECT_GT(gradient.row(2).cwiseAbs().maxCoeff(), 0.0);
}

TEST(Losses, LabelWithSeveralClusters) {
    const Table x = normal(5, 4, 1, 12);
    const std::vector<std::pair<int, int>> clusters = {{0, 2}, {0, 2}, {2, 3}, {3, 4}, {0, 4}};
    Matrix<double> gradient = Matrix<double>::Zero(5, 4);
    Matrix<double> unused = gradient;
    const double value = add_label_loss(softmax(x, 1), clusters, 2.0, gradient);
    double expected = 0;
    const Table p = softmax(x, 1).probability;
    for (Index i = 0; i < 5; ++i) {
        const auto [begin, end] = clusters[static_cast<std::size_t>(i)];
        expected -= 2.0 / 5 * std::log(p.row(i).segment(begin, end - begin).sum());
    }
    EXPECT_NEAR(value, expected, 1e-14);
    for (Index i = 0; i < x.size(); ++i) {
        Table up = x;
        Table down = x;
        up.data()[i] += 1e-5;
        down.data()[i] -= 1e-5;
        const double slope = (add_label_loss(softmax(up, 1), clusters, 2.0, unused) -
                              add_label_loss(softmax(down, 1), clusters, 2.0, unused)) /
                             2e-5;
        EXPECT_NEAR(gradient.data()[i], slope, 1e-9);
    }
    const Table far = 1e4 * x;
    EXPECT_TRUE(std::isfinite(add_label_loss(softmax(far, 1), clusters, 1.0, gradient)));
    EXPECT_TRUE(gradient.allFinite());
}

}  // namespace
}  // namespace coterie
