#include "coterie/entropy/entropy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "coterie/entropy/internal/lbfgs.hpp"
#include "coterie/entropy/losses.hpp"
#include "coterie/entropy/max_margin.hpp"
#include "coterie/entropy/training.hpp"
#include "coterie/methods.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

using test::message_of;

struct Sample {
    Matrix<double> points;
    Labels truth;
};

// n points around k distant centres, centred at the origin.
Sample blobs(Index n, Index d, int k, double distance, std::uint64_t seed) {
    RandomStream random(seed, "test.entropy");
    Sample out{Matrix<double>(n, d), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        const auto j = static_cast<int>(i % k);
        out.truth[static_cast<std::size_t>(i)] = j;
        for (Index p = 0; p < d; ++p) out.points(i, p) = 0.1 * random.normal();
        const double angle = 2 * std::numbers::pi * j / k;
        out.points(i, 0) += distance * std::cos(angle);
        out.points(i, 1) += distance * std::sin(angle);
    }
    return out;
}

template <class T>
Matrix<T> normal(Index n, Index d, std::uint64_t seed) {
    RandomStream random(seed, "test.normal");
    Matrix<T> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = static_cast<T>(random.normal());
    return out;
}

template <class T>
std::vector<const T*> pointers(const Matrix<T>& x) {
    std::vector<const T*> out;
    for (Index i = 0; i < x.rows(); ++i) out.push_back(x.data() + i * x.cols());
    return out;
}

bool has_detail(const FitReport& report, const std::string& name) {
    return std::any_of(report.details.begin(), report.details.end(),
                       [&](const auto& detail) { return detail.first == name; });
}

double number(const FitReport& report, const std::string& name) {
    for (const auto& [key, value] : report.details)
        if (key == name) return std::get<double>(value);
    throw std::runtime_error("no detail " + name);
}

bool warns(const FitReport& report, const std::string& part) {
    return std::any_of(report.warnings.begin(), report.warnings.end(),
                       [&](const Message& each) { return each.text().find(part) != std::string::npos; });
}

// ---- the linear model

template <class T>
void check_products(T tolerance) {
    for (const Index k : {1, 2, 10, 17, 40})
        for (const Index d : {1, 3, 32, 85, 300})
            for (const Index n : {1, 7, 130, 1100}) {
                const Matrix<T> x = normal<T>(n, d, 1);
                const LinearSoftmax<T> model{normal<T>(k, d, 2), normal<T>(k, 1, 3)};
                const Matrix<T> out = logits(Rows<T>{x.data(), n, d, d}, model, 1);
                const Matrix<T> plain = (x * model.weights.transpose()).rowwise() + model.bias.transpose();
                const T size = std::sqrt(static_cast<T>(d)) + 1;
                EXPECT_LT((out - plain).cwiseAbs().maxCoeff(), tolerance * size * 5) << k << " " << d << " " << n;
                // A single row gives the same bits.
                const Matrix<T> last = x.bottomRows(1);
                EXPECT_EQ(logits(Rows<T>{last.data(), 1, d, d}, model, 1), out.bottomRows(1));
                const Matrix<T> g = normal<T>(n, k, 4);
                const Matrix<double> gradient = weight_gradient(pointers(x), g, d, 1);
                const Matrix<double> expected = g.template cast<double>().transpose() * x.template cast<double>();
                EXPECT_LT((gradient - expected).cwiseAbs().maxCoeff(),
                          static_cast<double>(tolerance) * std::sqrt(static_cast<double>(n)) * 20)
                    << k << " " << d << " " << n;
            }
}

TEST(LinearSoftmax, ProductsEqualMatrixProducts) {
    check_products<double>(1e-14);
    check_products<float>(1e-6f);
}

TEST(LinearSoftmax, GradientStepByHand) {
    Matrix<double> x(2, 1);
    x << 2, 3;
    Matrix<double> g(2, 2);
    g << 0.5, -0.5, -0.25, 0.25;
    LinearSoftmax<double> model{Matrix<double>(2, 1), Vector<double>(2)};
    model.weights << 1, -1;
    model.bias << 10, 20;
    Descent<double> descent(model, {}, 1, 0.1, 0.5, 0.25, 1);
    descent.step(pointers(x), g);
    // gradient of v_1: 0.5 * 2 - 0.25 * 3 + 2 * 0.25 * 1 = 0.75; of b_1: 0.25, without gamma
    EXPECT_NEAR(model.weights(0, 0), 1 - 0.075, 1e-15);
    EXPECT_NEAR(model.bias[0], 10 - 0.025, 1e-14);
    EXPECT_NEAR(model.bias[1], 20 + 0.025, 1e-14);
    descent.step(pointers(x), g);
    const double second = 0.5 * 0.75 + 0.25 + 0.5 * (1 - 0.075);
    EXPECT_NEAR(model.weights(0, 0), 1 - 0.075 - 0.1 * second, 1e-15);
}

// With W = 4 V and x / 4: the gradient of w_1 is (0.5 * 2 - 0.25 * 3) / 4 + 2 * 0.25 * 4 = 2.0625.
TEST(LinearSoftmax, ScaledGradientStepByHand) {
    Matrix<double> x(2, 1);
    x << 2, 3;
    Matrix<double> g(2, 2);
    g << 0.5, -0.5, -0.25, 0.25;
    LinearSoftmax<double> model{Matrix<double>(2, 1), Vector<double>::Zero(2)};
    model.weights << 1, -1;
    Descent<double> descent(model, {}, 4, 0.1, 0.5, 0.25, 1);
    descent.step(pointers(x), g);
    EXPECT_NEAR(model.weights(0, 0), (4 - 0.20625) / 4, 1e-15);
    EXPECT_NEAR(model.bias[0], -0.025, 1e-15);
}

TEST(LinearSoftmax, BiasHasItsOwnStep) {
    Matrix<double> x(1, 1);
    x << 2;
    Matrix<double> g(1, 2);
    g << 0.5, -0.5;
    LinearSoftmax<double> model{Matrix<double>::Zero(2, 1), Vector<double>::Zero(2)};
    Descent<double>(model, {}, 1, 0.1, 0, 0, 1, 0.25).step(pointers(x), g);
    EXPECT_NEAR(model.weights(0, 0), -0.1, 1e-16);
    EXPECT_NEAR(model.bias[0], -0.0125, 1e-16);
}

TEST(LinearSoftmax, StartIsACombinationOfRows) {
    Matrix<double> x = normal<double>(50, 6, 27);
    x.col(4).setZero();
    const Vector<double> mean = x.colwise().mean().transpose();
    const coterie::Run run(5, 1);
    const auto start = random_linear_softmax<double>(pointers(x), mean, 3, 0.2, run);
    const Matrix<double> first = logits(pointers(x), start, 1);
    EXPECT_NEAR(std::sqrt(first.squaredNorm() / 150), 0.2, 1e-12) << "the root mean square that is asked for";
    EXPECT_LT((start.weights * mean + start.bias).norm(), 1e-14) << "no cluster is preferred at the mean";
    EXPECT_TRUE(start.weights.col(4).isZero(0)) << "a column of zeros takes no weight";
    // Reversing the columns reverses the weights; removing the column of zeros leaves the others unchanged.
    Matrix<double> turned = x.rowwise().reverse();
    const auto of_turned = random_linear_softmax<double>(pointers(turned), mean.reverse(), 3, 0.2, run);
    EXPECT_LT((of_turned.weights.rowwise().reverse() - start.weights).norm(), 1e-13);
    Matrix<double> without(50, 5);
    without << x.leftCols(4), x.rightCols(1);
    const Vector<double> its_mean = without.colwise().mean().transpose();
    const auto of_without = random_linear_softmax<double>(pointers(without), its_mean, 3, 0.2, run);
    EXPECT_LT((of_without.weights.leftCols(4) - start.weights.leftCols(4)).norm(), 1e-13);
    // Scaling the points scales the weights inversely.
    const Matrix<double> large = 1024 * x;
    const auto of_large = random_linear_softmax<double>(pointers(large), Vector<double>(1024 * mean), 3, 0.2, run);
    EXPECT_EQ(Matrix<double>(1024 * of_large.weights), start.weights);
}

TEST(LinearSoftmax, StepsWithOriginEqualStepsOnShiftedPoints) {
    const Matrix<double> x = normal<double>(20, 5, 22);
    const Vector<double> origin = Vector<double>::LinSpaced(5, -3.0, 4.0);
    const Matrix<double> shifted = x.rowwise() + origin.transpose();
    LinearSoftmax<double> one{normal<double>(3, 5, 23), normal<double>(3, 1, 24)};
    LinearSoftmax<double> other = one;
    other.bias -= one.weights * origin;
    Descent<double> plain(one, {}, 2, 0.1, 0.9, 0.01, 1);
    Descent<double> moved(other, origin, 2, 0.1, 0.9, 0.01, 1);
    for (int step = 0; step < 5; ++step) {
        const Matrix<double> g = normal<double>(20, 3, 25 + static_cast<std::uint64_t>(step));
        plain.step(pointers(x), g);
        moved.step(pointers(shifted), g);
        EXPECT_LT((one.weights - other.weights).cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_LT((logits(pointers(x), one, 1) - logits(pointers(shifted), other, 1)).cwiseAbs().maxCoeff(), 1e-11);
    }
}

TEST(LinearSoftmax, LossGradientAgreesWithFiniteDifferences) {
    const Matrix<double> x = normal<double>(30, 4, 5);
    const std::vector<double> prior = {0.2, 0.3, 0.5};
    const auto f = [&](const LinearSoftmax<double>& model, Matrix<double>& g) {
        g = Matrix<double>::Zero(30, 3);
        const auto sigma = softmax(logits(pointers(x), model, 1), 1);
        return add_decisiveness(sigma, 2.0, 1.0, g, 1) + add_fairness(sigma, prior, Fairness::reverse, 1.3, g, 1);
    };
    LinearSoftmax<double> model{normal<double>(3, 4, 6), normal<double>(3, 1, 7)};
    Matrix<double> g;
    Matrix<double> unused;
    f(model, g);
    const Matrix<double> gradient = weight_gradient(pointers(x), g, 4, 1);
    for (Index i = 0; i < 12; ++i) {
        LinearSoftmax<double> up = model;
        LinearSoftmax<double> down = model;
        up.weights.data()[i] += 1e-5;
        down.weights.data()[i] -= 1e-5;
        EXPECT_NEAR(gradient.data()[i], (f(up, unused) - f(down, unused)) / 2e-5, 1e-9);
    }
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksFunction) {
    Vector<double> x(10);
    x.setConstant(-1.2);
    double before = 1e300;
    const auto result = entropy::internal::minimize_lbfgs(
        [](const Vector<double>& at, Vector<double>& gradient) {
            double value = 0;
            gradient.setZero();
            for (Index i = 0; i + 1 < at.size(); ++i) {
                const double a = at[i + 1] - at[i] * at[i];
                const double b = 1 - at[i];
                value += 100 * a * a + b * b;
                gradient[i] += -400 * a * at[i] - 2 * b;
                gradient[i + 1] += 200 * a;
            }
            return value;
        },
        x, {.iterations = 500},
        [&](double value) {
            EXPECT_LT(value, before);
            before = value;
            return true;
        });
    EXPECT_TRUE(result.converged);
    EXPECT_LT((x.array() - 1).abs().maxCoeff(), 1e-6);
}

// ---- label rules of the baselines

TEST(LabelRules, AlternatingByHand) {
    Matrix<double> sigma(2, 2);
    sigma << 0.9, 0.1, 0.7, 0.3;
    const Matrix<double> y = internal::alternating_labels(sigma);
    const double a = 0.9 / std::sqrt(1.6);
    const double b = 0.1 / std::sqrt(0.4);
    EXPECT_NEAR(y(0, 0), a / (a + b), 1e-15);
    EXPECT_NEAR(y.row(1).sum(), 1, 1e-15);
}

TEST(LabelRules, TransportIsBalanced) {
    // All rows prefer the first cluster, the first rows most strongly. So the last rows move to the second cluster.
    Matrix<double> x(100, 2);
    for (Index i = 0; i < 100; ++i) x.row(i) << 3.0 - 0.01 * static_cast<double>(i), 0;
    const Matrix<double> y = internal::transport_labels(softmax(x, 1).logarithm, {0.7, 0.3}, 200.0, 1);
    for (Index i = 0; i < 100; ++i) EXPECT_EQ(y(i, 0), i < 70 ? 1 : 0) << i;
    const Matrix<double> wild = softmax(Matrix<double>(1e4 * normal<double>(25000, 5, 8)), 1).logarithm;
    const Matrix<double> hard = internal::transport_labels(wild, std::vector<double>(5, 0.2), 25.0, 2);
    for (Index k = 0; k < 5; ++k) EXPECT_NEAR(hard.col(k).mean(), 0.2, 0.01);
    EXPECT_EQ(internal::transport_labels(wild, std::vector<double>(5, 0.2), 25.0, 1), hard);
}

// Labels of 100 rows, the first 30 of which are known to be of the first cluster, for any predictions.
struct KnownRows {
    Softmax<double> sigma = softmax(normal<double>(100, 2, 30), 1);
    FixedLabels<double> fixed;
    internal::Criterion criterion;
    KnownRows() {
        for (Index i = 0; i < 30; ++i) fixed.rows.push_back(i);
        fixed.labels = Matrix<double>::Zero(30, 2);
        fixed.labels.col(0).setOnes();
        criterion.prior = {0.5, 0.5};
    }
};

TEST(LabelRules, TransportFillsThePriorAfterKnownRows) {
    KnownRows k;
    k.criterion.rule = internal::LabelRule::transport;
    const auto labels = [&] { return internal::labels_of(k.criterion, k.sigma, k.fixed, 1).labels; };
    const Matrix<double> y = labels();
    EXPECT_EQ(y.topRows(30), k.fixed.labels);
    EXPECT_EQ(y.bottomRows(70).rowwise().sum(), Vector<double>::Ones(70));
    EXPECT_NEAR(y.col(0).mean(), 0.5, 0.02);
    k.criterion.prior = {0.2, 0.8};  // the known rows already exceed the first cluster's share
    EXPECT_LE(labels().col(0).sum(), 31);
    k.fixed.rows.clear();
    for (Index i = 0; i < 100; ++i) k.fixed.rows.push_back(i);
    k.fixed.labels = k.sigma.probability;
    EXPECT_EQ(labels(), k.fixed.labels);
}

TEST(LabelRules, AlternatingCountsKnownRows) {
    KnownRows k;
    k.criterion.rule = internal::LabelRule::alternating;
    const Matrix<double> y = internal::labels_of(k.criterion, k.sigma, k.fixed, 1).labels;
    EXPECT_EQ(y.topRows(30), k.fixed.labels);
    const Eigen::RowVectorXd sums = k.fixed.labels.colwise().sum() + k.sigma.probability.bottomRows(70).colwise().sum();
    const Eigen::RowVectorXd last = k.sigma.probability.row(99).array() / sums.array().sqrt();
    EXPECT_LT((y.row(99) - last / last.sum()).cwiseAbs().maxCoeff(), 1e-14);
}

// ---- what a report contains about solved labels

TEST(LabelReport, ReportsSolutionsForSharpPredictions) {
    const Softmax<double> sigma = softmax(Matrix<double>(100 * normal<double>(300, 10, 31)), 1);
    LabelSettings settings;
    settings.solver = LabelSolver::dual;
    FitReport solved;
    internal::describe_labels(sigma.probability, solve_labels(sigma.probability, settings, 1), settings, {}, solved, 1);
    EXPECT_LT(number(solved, "label_gradient"), 1e-9);
    EXPECT_GE(number(solved, "label_gap"), 0);
    EXPECT_LT(number(solved, "label_gap"), 1e-6);
    EXPECT_TRUE(solved.warnings.empty());
    settings.steps = 10;
    FitReport stopped;
    internal::describe_labels(sigma.probability, solve_labels(sigma.probability, settings, 1), settings, {}, stopped,
                              1);
    EXPECT_GT(number(stopped, "label_gradient"), 1e-8);
    EXPECT_TRUE(warns(stopped, "the dual solver stopped after 10 steps"));
}

// ---- the fits

TEST(Entropy, OneStepAgreesWithReference) {
    const Matrix<double> x = normal<double>(40, 3, 9);
    EntropyOptions options;
    options.origin = TrainingOrigin::zero;
    options.clusters = 4;
    options.epochs = 1;
    options.batch_size = 40;
    options.gamma = 0.05;
    options.learning_rate = 0.7;
    for (const EntropyLoss loss : {EntropyLoss::self_label, EntropyLoss::mi}) {
        options.loss = loss;
        options.lambda = loss == EntropyLoss::self_label ? 20 : EntropyOptions().lambda;
        coterie::Run run(3);
        const EntropyModel model = fit_entropy(x, options, run);
        const Vector<double> centre = x.colwise().mean().transpose();
        const double unit = std::sqrt((x.rowwise() - centre.transpose()).squaredNorm() / 40 / (2.5 * 4));
        auto start = random_linear_softmax<double>(pointers(x), centre, 4, options.start_scale, run);
        start.bias.setZero();  // for points about 0
        Matrix<double> sigma(40, 4);
        for (Index i = 0; i < 40; ++i) {
            const Vector<double> e = (start.weights * x.row(i).transpose() + start.bias).array().exp();
            sigma.row(i) = (e / e.sum()).transpose();
        }
        Matrix<double> slope(40, 4);  // derivatives of the loss with respect to sigma
        const Eigen::RowVectorXd mean = sigma.colwise().mean();
        double value = options.gamma * unit * unit * start.weights.squaredNorm();
        if (loss == EntropyLoss::self_label) {
            LabelSettings settings;
            settings.lambda = 20;
            const Matrix<double> y = solve_labels(sigma, settings, 1).labels;
            slope = -y.array().log() / 40;
            value -= (sigma.array() * y.array().log()).sum() / 40;
            for (Index k = 0; k < 4; ++k) value += 20 * 0.25 * std::log(0.25 / y.col(k).mean());
        } else {
            slope = -sigma.array().log() / 40;
            slope.rowwise() += Eigen::RowVectorXd(mean.array().log() / 40);
            value +=
                -(sigma.array() * sigma.array().log()).sum() / 40 + (mean.array() * (4 * mean.array()).log()).sum();
        }
        Matrix<double> g(40, 4);
        for (Index i = 0; i < 40; ++i)
            for (Index k = 0; k < 4; ++k) g(i, k) = sigma(i, k) * (slope(i, k) - sigma.row(i).dot(slope.row(i)));
        const Matrix<double> slope_of_weights = g.transpose() * x / unit + 0.1 * unit * start.weights;
        const Matrix<double> weights = start.weights - 0.7 / unit * slope_of_weights;
        const auto& linear = std::get<LinearSoftmax<double>>(model.linear());
        EXPECT_LT((linear.weights - weights).cwiseAbs().maxCoeff(), 1e-12);
        EXPECT_LT(
            (linear.bias - start.bias + 0.7 * 10 / (7.25 * 7.25) * g.colwise().sum().transpose()).cwiseAbs().maxCoeff(),
            1e-14);
        EXPECT_NEAR(model.fit_report().objective, value, 1e-12);
    }
}

// Every method through the list of methods, as the command does.
std::unique_ptr<Model> fit_by_name(const std::string& name, PointsView points, OptionValues values,
                                   const Problem& side = {}, std::uint64_t seed = 0, int threads = 2) {
    coterie::Run run(seed, threads);
    return find_method(name).fit(with(points, side), values, run);
}

struct Case {
    std::string method;
    OptionValues values;
};

std::vector<Case> cases() {
    std::vector<Case> out;
    for (const std::string optimizer : {"sgd", "lbfgs"})
        for (const std::string name : {"entropy", "mi", "sela", "miadm"}) {
            OptionValues values = {{"optimizer", optimizer}, {"clusters", 3}, {"epochs", 30}, {"batch_size", 50}};
            out.push_back({name, values});
            const OptionValues plain = values;
            if (name == "entropy" || (name != "mi" && optimizer == "sgd")) {
                values["labels_per"] = std::string(name == "entropy" ? "epoch" : "batch");
                out.push_back({name, values});
            }
            if (name == "entropy") {
                values["label_solver"] = std::string("dual");
                out.push_back({name, values});
                for (const double alpha : {0.0, 0.5, 2.0}) {
                    values = plain;
                    values["loss"] = std::string("renyi");
                    values["alpha"] = alpha;
                    out.push_back({name, values});
                }
            }
        }
    return out;
}

std::string text(const Case& each) {
    std::string out = each.method;
    for (const auto& [name, value] : each.values) out += " " + name + "=" + to_text(value);
    return out;
}

TEST(EntropyMethods, FindBlobsPredictAndRoundTrip) {
    const Sample sample = blobs(300, 4, 3, 3.0, 10);
    const Sample other = blobs(90, 4, 3, 3.0, 11);
    const Matrix<float> narrow = sample.points.cast<float>();
    for (const Case& each : cases()) {
        // The labels of miadm have no fairness term that would move the model away from a bad start.
        double best = 0;
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
            const auto model = fit_by_name(each.method, sample.points, each.values, {}, seed);
            const FitReport& report = model->fit_report();
            for (const double value : report.objective_per_iteration) EXPECT_TRUE(std::isfinite(value)) << text(each);
            EXPECT_EQ(model->predict(sample.points), model->labels()) << text(each);
            EXPECT_GT(number(report, "decisiveness"), -1e-12);
            best = std::max(best, accuracy(model->predict(other.points), other.truth));
            Archive archive{each.method};
            model->store(archive);
            const std::string bytes = archive.to_bytes();
            const auto again =
                model_of(Archive::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "test"));
            EXPECT_EQ(again->predict(sample.points), model->labels());
            EXPECT_EQ(again->output(Output::memberships, other.points, coterie::Run()),
                      model->output(Output::memberships, other.points, coterie::Run()));
            EXPECT_EQ(again->dimensions(), 4);
        }
        if (each.method != "miadm") {
            EXPECT_GE(best, 0.99) << text(each);
        }
        const auto model = fit_by_name(each.method, narrow, each.values);
        EXPECT_EQ(model->predict(narrow), model->labels()) << text(each);
    }
}

TEST(EntropyMethods, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> points = normal<float>(1500, 120, 12);  // large enough for several threads
    for (Case each : cases()) {
        each.values["clusters"] = std::int64_t{12};
        each.values["epochs"] = std::int64_t{1};
        each.values["batch_size"] = std::int64_t{1500};
        const auto one = fit_by_name(each.method, points, each.values, {}, 1, 1);
        for (const int threads : {2, 8}) {
            const auto more = fit_by_name(each.method, points, each.values, {}, 1, threads);
            EXPECT_EQ(more->labels(), one->labels()) << text(each);
            EXPECT_EQ(more->fit_report().objective, one->fit_report().objective) << text(each);
        }
    }
}

TEST(Entropy, DualObjectiveNeverRisesWithLbfgs) {
    const Matrix<double> points = normal<double>(200, 5, 13);
    EntropyOptions options;
    options.clusters = 3;
    options.optimizer = Optimizer::lbfgs;
    options.label_solver = LabelSolver::dual;
    options.epochs = 12;
    coterie::Run run;
    const EntropyModel model = fit_entropy(points, options, run);
    const auto& history = model.fit_report().objective_per_iteration;
    for (std::size_t t = 1; t < history.size(); ++t) EXPECT_LE(history[t], history[t - 1] + 1e-9);
}

// Starts use rows by number. So another order of the rows gives another start, but the same clusters if they are clear.
TEST(Entropy, PermutedRowsGiveTheSameClusters) {
    const Sample sample = blobs(120, 3, 3, 1.0, 14);
    const Matrix<double> reversed = sample.points.colwise().reverse();
    const OptionValues values = {{"optimizer", std::string("lbfgs")}, {"clusters", 3}};
    Labels back = fit_by_name("mi", reversed, values)->labels();
    std::reverse(back.begin(), back.end());
    EXPECT_EQ(adjusted_rand_index(back, fit_by_name("mi", sample.points, values)->labels()), 1);
}

TEST(Entropy, ColumnOrderAndZeroColumnsDoNotMatter) {
    const Sample sample = blobs(200, 4, 3, 1.0, 14);
    Matrix<double> other = Matrix<double>::Zero(200, 5);
    other.leftCols(2) = sample.points.rightCols(2);
    other.rightCols(2) = sample.points.leftCols(2);
    for (const std::string method : {"entropy", "mi", "sela", "miadm"}) {
        const auto model = fit_by_name(method, sample.points, {{"clusters", 3}});
        const auto turned = fit_by_name(method, other, {{"clusters", 3}});
        EXPECT_EQ(turned->labels(), model->labels()) << method;
        EXPECT_NEAR(turned->fit_report().objective, model->fit_report().objective, 1e-9) << method;
    }
}

TEST(Entropy, OffsetDoesNotMatter) {
    const Sample sample = blobs(120, 3, 3, 1.0, 26);
    const Matrix<double> far = sample.points.array() + 64;  // exact: the shift loses no relevant bit
    for (const std::string optimizer : {"sgd", "lbfgs"}) {
        const OptionValues values = {{"optimizer", optimizer}, {"clusters", 3}};
        EXPECT_EQ(fit_by_name("mi", far, values)->labels(), fit_by_name("mi", sample.points, values)->labels());
    }
}

TEST(Entropy, PredictsProbabilities) {
    const Sample sample = blobs(200, 3, 3, 1.0, 15);
    coterie::Run run;
    EntropyOptions options;
    options.clusters = 3;
    const EntropyModel model = fit_entropy(sample.points, options, run);
    const Matrix<double> sigma = model.output(Output::memberships, sample.points);
    EXPECT_LT((sigma.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
    for (Index i = 0; i < 200; ++i) {
        Index best = 0;
        sigma.row(i).maxCoeff(&best);
        EXPECT_EQ(best, model.labels()[static_cast<std::size_t>(i)]);
    }
    EXPECT_FALSE(model.outputs().has(Output::label_scores));
    const Matrix<double> wide = Matrix<double>::Zero(2, 4);
    EXPECT_NE(message_of([&] { model.output(Output::memberships, wide); }).find("4 columns"), std::string::npos);
    EXPECT_EQ(model.predict(sample.points.cast<float>().eval()).size(), 200u);
}

// ---- partial labels, shares

struct Known {
    Sample sample = blobs(300, 3, 3, 0.35, 16);
    Labels known = Labels(300, -1);
    Problem side;
    Known() {
        for (std::size_t i = 0; i < 30; ++i) known[i] = sample.truth[i] == 2 ? 1 : sample.truth[i];  // labels a, b, b
        side.partial_labels = known;
        side.label_names = {"a", "b"};
        side.clusters_per_label = {{"b", 2}};
    }
};

TEST(Entropy, PartialLabelsAreKept) {
    Known k;
    for (const Case& each : cases()) {
        OptionValues values = each.values;
        values["clusters"] = Automatic();
        values["label_weight"] = 5.0;
        const auto model = fit_by_name(each.method, k.sample.points, values, k.side);
        EXPECT_EQ(model->clusters(), 3);
        EXPECT_EQ(model->cluster_labels().label_of, (std::vector<std::int32_t>{0, 1, 1}));
        const Labels predicted = model->predict(k.sample.points);  // ignores partial labels
        int right = 0;
        int predicted_right = 0;
        for (std::size_t i = 0; i < 300; ++i) {
            const auto label_of = [&](const Labels& labels) {
                return model->cluster_labels().label_of[static_cast<std::size_t>(labels[i])];
            };
            if (i < 30) {
                EXPECT_EQ(label_of(model->labels()), k.known[i]) << text(each);
                predicted_right += label_of(predicted) == k.known[i];
            }
            right += label_of(model->labels()) == (k.sample.truth[i] == 0 ? 0 : 1);
        }
        EXPECT_GE(predicted_right, 28) << text(each);
        if (each.method != "miadm") {
            EXPECT_GE(right, 270) << text(each);
        }
        const Matrix<double> scores = model->output(Output::label_scores, k.sample.points, coterie::Run());
        EXPECT_EQ(scores.cols(), 2);
        EXPECT_LT((scores.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
        Archive archive{each.method};
        model->store(archive);
        EXPECT_EQ(model_of(archive)->cluster_labels().names, k.side.label_names);
    }
}

// There is one cluster more than labels, but no row that could join it.
TEST(Entropy, AllRowsLabelled) {
    Known k;
    k.side = {};
    k.side.partial_labels = k.sample.truth;
    k.side.label_names = {"a", "b", "c"};
    for (const Case& each : cases()) {
        OptionValues values = each.values;
        values["clusters"] = std::int64_t{4};
        const auto model = fit_by_name(each.method, k.sample.points, values, k.side);
        const FitReport& report = model->fit_report();
        EXPECT_LT(std::abs(report.objective), 10) << text(each);
        for (const std::string name : {"label_rounds", "label_gradient", "label_gap"})
            EXPECT_FALSE(has_detail(report, name)) << text(each);
        for (const auto& [name, value] : report.details)
            if (const double* one = std::get_if<double>(&value)) {
                EXPECT_TRUE(std::isfinite(*one)) << name << " " << text(each);
            }
    }
}

TEST(Entropy, SharesDefineThePrior) {
    Known k;
    k.side.label_shares = {{"a", 0.6, 0.6}};
    OptionValues values = {{"clusters", 3},
                           {"optimizer", std::string("lbfgs")},
                           {"loss", std::string("mi")},
                           {"fairness", 50.0},
                           {"label_weight", 0.0},
                           {"gamma", 0.01}};
    const auto means = [](const Model& model) {
        for (const auto& [key, value] : model.fit_report().details)
            if (key == "mean_probabilities") return std::get<std::vector<double>>(value);
        return std::vector<double>();
    };
    const auto shared = means(*fit_by_name("entropy", k.sample.points, values, k.side));
    EXPECT_NEAR(shared[0], 0.6, 0.01);
    EXPECT_NEAR(shared[1], 0.2, 0.01);
    values["prior"] = std::vector<double>{0.5, 0.3, 0.2};
    const auto given = means(*fit_by_name("entropy", k.sample.points, values));
    EXPECT_NEAR(given[0], 0.5, 0.01);
    EXPECT_NEAR(given[2], 0.2, 0.01);
}

// ---- errors and warnings

TEST(Entropy, BadArguments) {
    const Sample sample = blobs(30, 2, 2, 2.0, 17);
    const auto message = [&](const std::string& method, OptionValues values, const Problem& side = {}) {
        values.emplace("clusters", std::int64_t{2});
        return message_of([&] { fit_by_name(method, sample.points, values, side); });
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text << "\nlacks " << part;
    };
    for (const std::string method : {"entropy", "mi", "sela", "miadm"}) {
        has(message(method, {{"clusters", 31}}), "31 clusters requested, but there are only 30 rows");
        has(message(method, {{"gamma", -1.0}}), "gamma");
        has(message(method, {{"learning_rate", 0.0}}), "learning_rate");
        has(message(method, {{"momentum", 1.0}}), "momentum");
        has(message(method, {{"epochs", 0}}), "epochs");
        has(message(method, {{"batch_size", 0}}), "batch_size");
        has(message(method, {{"start_scale", 0.0}}), "start_scale");
        has(message(method, {{"gamma_start", 1.0}}), "optimizer=lbfgs");
        OptionValues falling = {{"gamma_start", 1e-9}, {"optimizer", std::string("lbfgs")}};
        has(message(method, falling), "gamma_start");
        falling["gamma_start"] = 1.0;
        falling["epochs"] = std::int64_t{1};
        has(message(method, falling), "gamma_start: the penalty falls over the epochs, but epochs is 1");
        falling["epochs"] = std::int64_t{5};
        falling["gamma"] = 0.0;
        has(message(method, falling), "gamma_start: the penalty falls by a factor per epoch, never to gamma=0");
        Problem side;
        side.sizes = SizeBounds{1, 20};
        has(message(method, {}, side), "size bounds");
        const std::vector<double> weights(30, 1.0);
        side = {};
        side.weights = weights;
        has(message(method, {}, side), "does not support weights");
        side = {};
        const Matrix<double> start = sample.points.topRows(2);
        side.initial_centroids = Points::borrow(start);
        has(message(method, {}, side), "does not support initial centroids");
    }
    has(message("entropy", {{"lambda", 0.0}}), "lambda");
    has(message("entropy", {{"lambda", 2e6}}), "lambda");
    has(message("entropy", {{"label_rounds", 0}}), "label_rounds");
    has(message("sela", {{"sharpness", 0.0}}), "sharpness");
    has(message("mi", {{"fairness", -1.0}}), "fairness");
    has(message("mi", {{"prior", std::string("half")}}), "prior: 'half' is not accepted. Use auto, or");
    has(message("mi", {{"prior", std::vector<double>{0.5, 0.4}}}), "prior: the shares add up to 0.9");
    has(message("mi", {{"prior", std::vector<double>{1}}}), "prior: 1 share for 2 clusters");
    has(message("mi", {{"prior", std::vector<double>{1, 0}}}), "prior: 1,0 is not accepted");
    Known k;
    k.side.label_shares = {{"a", 0.3, 0.4}};
    const auto with_labels = [&](const std::string& method, const OptionValues& values) {
        return message_of([&] { fit_by_name(method, k.sample.points, values, k.side); });
    };
    has(with_labels("entropy", {{"clusters", Automatic()}}), "label_share: entropy clustering needs one");
    // The rounding error of 1 - sum is positive for some of these shares and negative for others.
    for (const double a : {0.1, 0.3, 0.6, 0.7, 1.0 / 3}) {
        k.side.label_shares = {{"a", a, a}, {"b", 1 - a, 1 - a}};
        has(with_labels("mi", {{"clusters", 5}}),
            "label_share: the shares add up to 1 and leave nothing for 2 clusters");
        has(with_labels("mi", {{"clusters", 4}}), "leave nothing for 1 cluster without");
    }
    k.side.label_shares = {{"a", 0.0, 0.0}};
    has(with_labels("mi", {{"clusters", Automatic()}}), "label_share: ");
    k.side.label_shares = {{"a", 0.3, 0.3}};
    has(with_labels("entropy", {{"clusters", Automatic()}, {"prior", std::vector<double>{0.2, 0.3, 0.5}}}),
        "prior cannot be combined with label_share");
    has(with_labels("miadm", {{"clusters", Automatic()}}), "does not support label shares");
    k.side.label_shares = {{"c", 0.3, 0.3}};
    has(with_labels("entropy", {{"clusters", Automatic()}}), "no row has the label 'c'");
}

TEST(Entropy, OptionsWithoutEffectAreErrors) {
    const Sample sample = blobs(30, 2, 2, 2.0, 17);
    const auto refused = [&](const std::string& method, OptionValues values, const std::string& option,
                             const std::string& needs) {
        values.emplace("clusters", std::int64_t{2});
        EXPECT_NE(message_of([&] {
                      fit_by_name(method, sample.points, values);
                  }).find(option + " changes nothing without " + needs),
                  std::string::npos)
            << method << " " << option;
    };
    const std::string renyi = "renyi";
    refused("entropy", {{"alpha", 2.0}}, "alpha", "loss=renyi");
    refused("entropy", {{"alpha", 2.0}, {"loss", std::string("mi")}}, "alpha", "loss=renyi");
    refused("entropy", {{"fairness", 2.0}}, "fairness", "loss=mi or loss=renyi");
    refused("entropy", {{"lambda", 2.0}, {"loss", renyi}}, "lambda", "loss=self-label");
    refused("entropy", {{"label_solver", std::string("dual")}, {"loss", renyi}}, "label_solver", "loss=self-label");
    refused("entropy", {{"label_rounds", 3}, {"loss", renyi}}, "label_rounds", "loss=self-label");
    refused("entropy", {{"labels_per", std::string("epoch")}, {"loss", renyi}}, "labels_per", "loss=self-label");
    refused("entropy", {{"label_rounds", 3}, {"label_solver", std::string("dual")}}, "label_rounds", "label_solver=em");
    for (const std::string method : {"sela", "miadm"})
        refused(method, {{"labels_per", std::string("batch")}, {"optimizer", std::string("lbfgs")}}, "labels_per=batch",
                "optimizer=sgd");
}

TEST(Entropy, GammaDecreasesToTheRequestedValue) {
    const Sample sample = blobs(60, 2, 2, 2.0, 32);
    EntropyOptions options;
    options.clusters = 2;
    options.loss = EntropyLoss::mi;
    options.optimizer = Optimizer::lbfgs;
    options.epochs = 4;
    for (const double start : {0.1, 0.2, 0.3, 0.5, 0.7, 1.1})
        for (const double gamma : {0.001, 0.003, 0.03}) {
            options.gamma_start = start;
            options.gamma = gamma;
            coterie::Run run;
            const FitReport report = fit_entropy(sample.points, options, run).fit_report();
            EXPECT_EQ(report.stopped, StopReason::converged) << start << " " << gamma;
            EXPECT_EQ(report.iterations, 4) << start << " " << gamma;
        }
}

TEST(Entropy, TooMuchMemoryIsReportedBeforeTraining) {
    const Matrix<double> points = Vector<double>::LinSpaced(1000000, 0, 1);
    coterie::Run run;
    bool training = false;
    run.on_progress = [&](const Progress& progress) { training = progress.stage != "reading"; };
    run.should_stop = [&] { return training; };
    MiOptions descent;
    descent.clusters = 1000000;
    descent.optimizer = Optimizer::lbfgs;
    EXPECT_THROW(fit_mi(points, descent, run), ResourceError);
    EntropyOptions labels;
    labels.clusters = 1000000;
    labels.batch_size = 1;  // batches are small
    labels.labels_per = LabelsPer::epoch;
    EXPECT_THROW(fit_entropy(points, labels, run), ResourceError);
}

TEST(Entropy, DivergedTrainingIsAnError) {
    const Sample sample = blobs(60, 2, 2, 2.0, 18);
    const Matrix<float> narrow = sample.points.cast<float>();
    for (const std::string method : {"entropy", "mi", "sela", "miadm"})
        for (const PointsView points : {PointsView(sample.points), PointsView(narrow)}) {
            const OptionValues values = {{"clusters", 2}, {"gamma", 1.0}, {"learning_rate", 100.0}, {"epochs", 2000}};
            EXPECT_NE(message_of([&] { fit_by_name(method, points, values); }).find("training diverged in epoch"),
                      std::string::npos)
                << method;
        }
}

TEST(Entropy, DoesNotDependOnScale) {
    const Sample sample = blobs(200, 4, 3, 0.4, 19);  // clusters that touch
    const auto check = [&]<class T>(const Matrix<T>& points) {
        for (const Case& each : cases()) {
            OptionValues values = each.values;
            values["clusters"] = std::int64_t{3};
            const auto plain = fit_by_name(each.method, points, values);
            for (const T factor : {T(1024), T(1) / T(1048576)}) {
                const Matrix<T> scaled = factor * points;
                const auto model = fit_by_name(each.method, scaled, values);
                EXPECT_EQ(model->labels(), plain->labels()) << each.method << " " << factor;
                EXPECT_EQ(model->fit_report().objective, plain->fit_report().objective) << each.method << " " << factor;
                EXPECT_EQ(model->output(Output::memberships, scaled), plain->output(Output::memberships, points));
            }
        }
    };
    check(sample.points);
    check(Matrix<float>(sample.points.cast<float>()));
}

// Computes the criterion of each start. The result is, bit for bit, the first fit with the smallest criterion.
TEST(Entropy, RestartsKeepTheBestByItsCriterion) {
    const Sample sample = blobs(300, 4, 5, 0.5, 23);
    const OptionValues values = {{"clusters", 5}, {"epochs", 5}};
    for (const std::string method : {"entropy", "mi", "sela", "miadm"}) {
        const coterie::Run run(4, 2);
        OptionValues several = values;
        several["restarts"] = std::int64_t{4};
        const auto best = find_method(method).fit(with(sample.points), several, run);
        std::vector<std::unique_ptr<Model>> alone;
        std::vector<double> criteria;
        for (std::uint64_t r = 0; r < 4; ++r) {
            alone.push_back(
                find_method(method).fit(with(sample.points), values, r == 0 ? run : run.child("restart", r)));
            criteria.push_back(number(alone.back()->fit_report(), "decisiveness") +
                               number(alone.back()->fit_report(), "fairness"));
        }
        const auto kept = std::min_element(criteria.begin(), criteria.end()) - criteria.begin();
        EXPECT_EQ(best->labels(), alone[static_cast<std::size_t>(kept)]->labels()) << method;
        EXPECT_EQ(best->fit_report().objective, alone[static_cast<std::size_t>(kept)]->fit_report().objective);
        EXPECT_EQ(best->fit_report().seed, 4U) << "the seed that was asked for";
        bool told = false;
        for (const auto& [name, value] : best->fit_report().details) {
            if (name == "best_restart") {
                EXPECT_EQ(std::get<std::int64_t>(value), kept) << method;
            }
            if (name == "criterion_per_restart") {
                EXPECT_EQ(std::get<std::vector<double>>(value), criteria) << method;
                told = true;
            }
        }
        EXPECT_TRUE(told) << method;
        EXPECT_GT(*std::max_element(criteria.begin(), criteria.end()), criteria[static_cast<std::size_t>(kept)]);
    }
}

TEST(Entropy, StoppedRestartsKeepFinishedStarts) {
    const Sample sample = blobs(200, 2, 2, 2.0, 20);
    EntropyOptions options;
    options.clusters = 2;
    options.epochs = 2;
    options.restarts = 5;
    coterie::Run run(0, 1);
    int fits = 0;
    run.on_progress = [&](const Progress& progress) { fits += progress.stage == "epochs" && progress.iteration == 2; };
    run.should_stop = [&] { return fits >= 2; };
    const EntropyModel model = fit_entropy(sample.points, options, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_FALSE(model.labels().empty());
}

TEST(Entropy, DegeneratePoints) {
    const Matrix<double> same = Matrix<double>::Ones(20, 2);
    for (const std::string method : {"entropy", "mi", "sela", "miadm"}) {
        const auto model = fit_by_name(method, same, {{"clusters", 3}});
        EXPECT_EQ(model->fit_report().clusters_found, 1) << method;
        EXPECT_TRUE(warns(model->fit_report(), "2 of 3 clusters are empty")) << method;
        EXPECT_EQ(fit_by_name(method, same, {{"clusters", 1}})->labels(), Labels(20, 0));
        const Matrix<double> one = Matrix<double>::Ones(1, 1);
        EXPECT_EQ(fit_by_name(method, one, {{"clusters", 1}})->labels(), Labels{0});
    }
    Matrix<double> bad = Matrix<double>::Ones(20, 2);
    bad(3, 1) = std::nan("");
    EXPECT_THROW(fit_by_name("entropy", bad, {{"clusters", 2}}), BadData);
}

TEST(Entropy, StopsWhenAsked) {
    const Sample sample = blobs(200, 2, 2, 2.0, 20);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::lbfgs}) {
        EntropyOptions options;
        options.clusters = 2;
        options.optimizer = optimizer;
        coterie::Run run;
        run.should_stop = [] { return true; };
        EXPECT_THROW(fit_entropy(sample.points, options, run), Cancelled);
        int epochs = 0;
        run.on_progress = [&](const Progress&) { ++epochs; };
        run.should_stop = [&] { return epochs >= 2; };
        options.loss = EntropyLoss::self_label;
        const EntropyModel model = fit_entropy(sample.points, options, run);
        EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
        EXPECT_EQ(model.fit_report().iterations, 2);
    }
}

TEST(Entropy, StopsWithinAnEpoch) {
    const Sample sample = blobs(200, 2, 2, 0.3, 20);
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::lbfgs}) {
        EntropyOptions options;
        options.clusters = 2;
        options.optimizer = optimizer;
        options.batch_size = 20;
        coterie::Run run;
        int asked = 0;
        run.should_stop = [&] { return ++asked > 3; };
        EXPECT_THROW(fit_entropy(sample.points, options, run), Cancelled);
        EXPECT_EQ(asked, 4);
        int epochs = 0;
        asked = 0;
        run.on_progress = [&](const Progress&) { ++epochs; };
        run.should_stop = [&] { return epochs > 0 && ++asked > 3; };
        const FitReport report = fit_entropy(sample.points, options, run).fit_report();
        EXPECT_EQ(report.stopped, StopReason::interrupted);
        EXPECT_LE(asked, 5);
        EXPECT_EQ(report.iterations, optimizer == Optimizer::sgd ? 1 : 2);
        EXPECT_EQ(report.objective, report.objective_per_iteration.back());
    }
}

TEST(Entropy, CorruptedModelsAreErrors) {
    const Sample sample = blobs(60, 2, 3, 2.0, 21);
    const auto model = fit_by_name("sela", sample.points, {{"clusters", 3}});
    const auto broken = [&](const std::function<void(Archive&)>& change) {
        Archive archive{"sela"};
        model->store(archive);
        change(archive);
        return archive;
    };
    EXPECT_NO_THROW(model_of(broken([](Archive&) {})));
    EXPECT_THROW(
        model_of(broken([](Archive& a) { a.set_points("weights", Matrix<double>(Matrix<double>::Ones(2, 2))); })),
        BadData);
    EXPECT_THROW(
        model_of(broken([](Archive& a) { a.set_points("weights", Matrix<float>(Matrix<float>::Ones(3, 2))); })),
        BadData);
    EXPECT_THROW(model_of(broken([](Archive& a) { a.set_points("bias", Matrix<double>(Matrix<double>::Ones(1, 2))); })),
                 BadData);
    EXPECT_THROW(model_of(broken([](Archive& a) { a.set_options({{"clusters", 2}}); })), BadData);
    EXPECT_THROW(model_of(broken([](Archive& a) { a.set_options({{"optimizer", std::string("magic")}}); })), BadData);
    EXPECT_THROW(model_of(Archive{"sela"}), BadData);
}

// ---- theorem 3: as gamma falls, the decisive classifier tends to the one of largest margin

// The normal of the widest gap between two sets: the shortest vector between their convex hulls (Mitchell, Demyanov and
// Malozemov's algorithm).
Eigen::Vector2d widest_gap(const Matrix<double>& x, const Labels& labels) {
    std::vector<Eigen::Vector2d> differences;
    for (Index i = 0; i < x.rows(); ++i)
        for (Index j = 0; j < x.rows(); ++j)
            if (labels[static_cast<std::size_t>(i)] == 0 && labels[static_cast<std::size_t>(j)] == 1)
                differences.emplace_back((x.row(i) - x.row(j)).transpose());
    std::vector<double> share(differences.size(), 0.0);
    share[0] = 1;
    Eigen::Vector2d shortest = differences[0];
    for (int step = 0; step < 100000; ++step) {
        std::size_t low = 0;
        std::size_t high = differences.size();
        for (std::size_t i = 0; i < differences.size(); ++i) {
            if (differences[i].dot(shortest) < differences[low].dot(shortest)) low = i;
            if (share[i] > 0 &&
                (high == differences.size() || differences[i].dot(shortest) > differences[high].dot(shortest)))
                high = i;
        }
        const Eigen::Vector2d along = differences[low] - differences[high];
        const double gain = -along.dot(shortest);
        if (gain <= 1e-13) break;
        const double move = std::min(share[high], gain / along.squaredNorm());
        shortest += move * along;
        share[low] += move;
        share[high] -= move;
    }
    return shortest;
}

// 30 points on each side of a gap in a random direction; the sides alternate.
Matrix<double> two_sides(std::uint64_t seed) {
    RandomStream random(seed, "test.margin");
    Matrix<double> x(60, 2);
    const double turn = std::numbers::pi * random.uniform();
    for (Index i = 0; i < 60; ++i) {
        const double across = (i % 2 == 0 ? 1 : -1) * (0.15 + std::abs(random.normal()));
        const double along = 0.7 * random.normal();
        x(i, 0) = across * std::cos(turn) - along * std::sin(turn);
        x(i, 1) = across * std::sin(turn) + along * std::cos(turn);
    }
    return x;
}

Labels alternating(Index n, int clusters) {
    Labels out;
    for (Index i = 0; i < n; ++i) out.push_back(static_cast<std::int32_t>(i % clusters));
    return out;
}

TEST(MaxMargin, TwoClustersGiveTheDistanceOfConvexHulls) {
    const Labels labels = alternating(60, 2);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Matrix<double> x = two_sides(seed);
        const LinearSoftmax<double> best = internal::hard_margin(x, labels, 2);
        const Eigen::Vector2d shortest = widest_gap(x, labels);
        Matrix<double> between(2, 2);
        between << shortest.transpose(), -shortest.transpose();
        EXPECT_LT(internal::degrees_between(best, {between, Vector<double>::Zero(2)}), 1e-4) << seed;
        EXPECT_NEAR(internal::margin(x, best, labels), shortest.norm() / std::numbers::sqrt2, 1e-9) << seed;
    }
}

TEST(MaxMargin, ThreeClustersGiveALocalMaximum) {
    const Sample sample = blobs(60, 4, 3, 0.8, 27);
    const LinearSoftmax<double> best = internal::hard_margin(sample.points, sample.truth, 3);
    const double widest = internal::margin(sample.points, best, sample.truth);
    EXPECT_GT(widest, 0);
    // The margin is quasi-concave, so a local optimum is the optimum.
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        const double size = seed % 2 == 0 ? 1e-5 : 1e-2;
        LinearSoftmax<double> other = best;
        other.weights += size * best.weights.norm() * normal<double>(3, 4, seed);
        other.bias += size * best.weights.norm() * normal<double>(3, 1, seed + 5000);
        EXPECT_LE(internal::margin(sample.points, other, sample.truth), widest * (1 + 1e-9));
    }
    Labels crossed = sample.truth;
    std::swap(crossed[0], crossed[1]);
    EXPECT_THROW(internal::hard_margin(sample.points, crossed, 3), BadData);
}

// With the losses of training, where gamma is a double.
TEST(MaxMargin, DecisiveMinimumIsStationary) {
    const Sample sample = blobs(60, 4, 3, 0.8, 28);
    for (const double decades : {4.0, 7.0}) {
        const double gamma = std::pow(10, -decades);
        const LinearSoftmax<double> start = internal::hard_margin(sample.points, sample.truth, 3);
        LinearSoftmax<double> turned = start;
        turned.weights += 0.05 * start.weights.norm() * normal<double>(3, 4, 29);
        ASSERT_GT(internal::margin(sample.points, turned, sample.truth), 0);
        const LinearSoftmax<double> found = internal::decisive_minimum(sample.points, sample.truth, turned, decades);
        Matrix<double> g = Matrix<double>::Zero(60, 3);
        add_decisiveness(softmax(logits(pointers(sample.points), found, 1), 1), 1.0, 1.0, g, 1);
        const Matrix<double> of_norm = 2 * gamma * found.weights;
        EXPECT_LT((weight_gradient(pointers(sample.points), g, 4, 1) + of_norm).norm(), 1e-7 * of_norm.norm());
        EXPECT_LT(g.colwise().sum().norm(), 1e-7 * of_norm.norm());
    }
}

TEST(MaxMargin, DecisiveNormalConvergesLikeOneOverLogGamma) {
    const Labels labels = alternating(60, 2);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Matrix<double> x = two_sides(seed);
        const LinearSoftmax<double> best = internal::hard_margin(x, labels, 2);
        LinearSoftmax<double> found = best;
        double before = 0;
        for (const double decades : {30.0, 300.0, 3000.0}) {
            found = internal::decisive_minimum(x, labels, found, decades);
            const double degrees = internal::degrees_between(found, best);
            if (decades == 3000) {
                EXPECT_LT(degrees, 0.1);
                if (before > 1e-3) {
                    EXPECT_NEAR(degrees / before, 0.1, 0.05) << seed;
                }
            }
            before = degrees;
        }
    }
}

// The limit is approached like 1 / ln(1 / gamma). At gamma 1e-9, a point 10 % farther away than the nearest points
// still has a tenth of their influence on the normal. The test requires a margin close to the widest one, an angle that
// falls with gamma, and an angle below one degree on most sets.
TEST(MaxMargin, MarginOfItsLabelsIsNearlyMaximal) {
    int checked = 0;
    int within_one_degree = 0;
    double angles_before = 0;
    double angles = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Matrix<double> x = two_sides(seed);
        for (const double alpha : {0.5, 1.0, 2.0, 0.0}) {
            EntropyOptions options;
            options.clusters = 2;
            options.loss = EntropyLoss::renyi;
            options.alpha = alpha;
            options.optimizer = Optimizer::lbfgs;
            options.gamma_start = 0.1;
            options.start_scale = 1;
            // Measures the margin relative to the widest margin, and the angle between the normals.
            const auto measure = [&](double gamma, int epochs, double& share) {
                options.gamma = gamma;
                options.epochs = epochs;
                coterie::Run run(seed);
                const EntropyModel model = fit_entropy(x, options, run);
                share = -1;
                if (model.fit_report().sizes != std::vector<Index>{30, 30}) return 0.0;  // no fair labels found
                const auto& linear = std::get<LinearSoftmax<double>>(model.linear());
                const Eigen::Vector2d normal = (linear.weights.row(0) - linear.weights.row(1)).transpose();
                const double offset = linear.bias[0] - linear.bias[1];
                const Eigen::Vector2d best = widest_gap(x, model.labels());
                const Vector<double> distances = ((x * normal).array() + offset).abs() / normal.norm();
                share = 2 * distances.minCoeff() / best.norm();
                return std::acos(std::min(1.0, normal.normalized().dot(best.normalized()))) * 180 / std::numbers::pi;
            };
            double share = 0;
            const double before = measure(1e-4, 10, share);
            if (share < 0) continue;
            const double angle = measure(1e-9, 30, share);
            if (share < 0) continue;
            ++checked;
            EXPECT_GE(share, 0.9) << seed << " alpha " << alpha;
            EXPECT_LE(share, 1 + 1e-6) << seed << " alpha " << alpha;
            EXPECT_LT(angle, 5.0) << seed << " alpha " << alpha;
            within_one_degree += angle < 1 ? 1 : 0;
            angles_before += before;
            angles += angle;
        }
    }
    EXPECT_GE(checked, 40);
    EXPECT_GE(within_one_degree, checked * 6 / 10);
    EXPECT_LT(angles, 0.5 * angles_before);
    RecordProperty("checked", checked);
    RecordProperty("within_one_degree", within_one_degree);
}

}  // namespace
}  // namespace coterie
