#include "coterie/deformation/fme.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

FmeModel fit(const Matrix<double>& points, const FmeOptions& options, std::uint64_t seed = 0) {
    coterie::Run run(seed, 2);
    return fit_fme(points, options, run);
}

// The normalised Laplacian by definition: all distances, sorted.
Eigen::MatrixXd laplacian_of(const Matrix<double>& points, int neighbors) {
    const Index n = points.rows();
    Eigen::MatrixXd graph = Eigen::MatrixXd::Zero(n, n);
    for (Index i = 0; i < n; ++i) {
        std::vector<std::pair<double, Index>> others;
        for (Index j = 0; j < n; ++j)
            if (j != i) others.emplace_back((points.row(i) - points.row(j)).squaredNorm(), j);
        std::sort(others.begin(), others.end());
        for (int j = 0; j < neighbors; ++j) graph(i, others[static_cast<std::size_t>(j)].second) = 1;
    }
    graph = (0.5 * (graph + graph.transpose())).eval();
    const Eigen::VectorXd scale = graph.rowwise().sum().cwiseSqrt().cwiseInverse();
    return Eigen::MatrixXd::Identity(n, n) - Eigen::MatrixXd(scale.asDiagonal() * graph * scale.asDiagonal());
}

// J with the best b, by definition.
double objective(const Eigen::MatrixXd& laplacian, const Eigen::MatrixXd& x, const Eigen::MatrixXd& f,
                 const Eigen::MatrixXd& w, double mu, double gamma) {
    const Eigen::RowVectorXd b = (f - x * w).colwise().mean();
    const Eigen::MatrixXd residual = ((x * w).rowwise() + b) - f;
    return (f.transpose() * laplacian * f).trace() + mu * (w.squaredNorm() + gamma * residual.squaredNorm());
}

struct Case {
    Matrix<double> points = test::blob_points<double>(60, 4, 3, 2.0, 3);
    FmeOptions options;
    Case() {
        options.clusters = 4;
        options.neighbors = 6;
        options.mu = 0.3;
        options.gamma = 0.05;
    }
};

TEST(Fme, ObjectiveEqualsDefinitionAndSmallestEigenvalues) {
    Case here;
    const FmeModel model = fit(here.points, here.options);
    const double mu = *here.options.mu;
    const double gamma = *here.options.gamma;
    const Eigen::MatrixXd x = here.points.rowwise() - here.points.colwise().mean();
    const Eigen::MatrixXd laplacian = laplacian_of(here.points, 6);
    const Eigen::MatrixXd f = model.embedding();
    const Eigen::MatrixXd w = model.directions();
    EXPECT_EQ(f.cols(), 3);
    EXPECT_LT((f.transpose() * f - Eigen::MatrixXd::Identity(3, 3)).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT(f.colwise().sum().cwiseAbs().maxCoeff(), 1e-10);
    const double least = objective(laplacian, x, f, w, mu, gamma);
    EXPECT_NEAR(model.fit_report().objective, least, 1e-10);
    // The gradient with respect to W is 0.
    EXPECT_LT((w + gamma * x.transpose() * (x * w - f)).cwiseAbs().maxCoeff(), 1e-10);
    // The dense formula of the paper, on a basis of the vectors orthogonal to 1.
    const Index n = x.rows();
    const Eigen::MatrixXd centring = Eigen::MatrixXd::Identity(n, n) - Eigen::MatrixXd::Constant(n, n, 1.0 / 60);
    const Eigen::MatrixXd inner = gamma * x.transpose() * x + Eigen::MatrixXd::Identity(4, 4);
    const Eigen::MatrixXd whole =
        laplacian + mu * gamma * centring - mu * gamma * gamma * x * inner.ldlt().solve(x.transpose());
    Eigen::MatrixXd basis(n, n);
    basis.setIdentity();
    basis.col(0).setOnes();
    basis = Eigen::MatrixXd(Eigen::HouseholderQR<Eigen::MatrixXd>(basis).householderQ()).rightCols(n - 1).eval();
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(basis.transpose() * whole * basis);
    EXPECT_NEAR(model.fit_report().objective, solver.eigenvalues().head(3).sum(), 1e-10);
}

TEST(Fme, NoOtherEmbeddingIsBetter) {
    Case here;
    const FmeModel model = fit(here.points, here.options);
    const Eigen::MatrixXd x = here.points.rowwise() - here.points.colwise().mean();
    const Eigen::MatrixXd laplacian = laplacian_of(here.points, 6);
    const Eigen::MatrixXd w = model.directions();
    RandomStream random(4, "test.perturb");
    for (const double size : {0.001, 0.01, 0.1, 10.0})
        for (int t = 0; t < 30; ++t) {
            Eigen::MatrixXd turned = model.embedding();
            for (Index i = 0; i < turned.size(); ++i) turned.data()[i] += size * random.normal();
            turned = (turned.rowwise() - turned.colwise().mean()).eval();
            const Eigen::MatrixXd other =
                Eigen::HouseholderQR<Eigen::MatrixXd>(turned).householderQ() * Eigen::MatrixXd::Identity(60, 3);
            // The best W for this embedding, and a worse W.
            const Eigen::MatrixXd ridged = x.transpose() * x + Eigen::MatrixXd::Identity(4, 4) / *here.options.gamma;
            const Eigen::MatrixXd best = ridged.ldlt().solve(x.transpose() * other);
            EXPECT_GT(objective(laplacian, x, other, best, *here.options.mu, *here.options.gamma),
                      model.fit_report().objective - 1e-12);
            EXPECT_GT(objective(laplacian, x, other, w, *here.options.mu, *here.options.gamma),
                      model.fit_report().objective - 1e-12);
        }
}

TEST(Fme, LabelsFromRegressionOrEmbedding) {
    const Matrix<double> points = test::blob_points<double>(150, 5, 4, 4.0, 21);
    FmeOptions options;
    options.clusters = 4;
    const FmeModel regression = fit(points, options);
    options.labels_from = FmeLabels::embedding;
    const FmeModel embedding = fit(points, options);
    EXPECT_EQ(regression.embedding(), embedding.embedding());
    // New points go to the nearest cluster mean of the regression's output.
    const Matrix<double> seen = embedding.transform(points, coterie::Run());
    for (int c = 0; c < 4; ++c) {
        Vector<double> mean = Vector<double>::Zero(3);
        double count = 0;
        for (Index i = 0; i < 150; ++i)
            if (embedding.labels()[static_cast<std::size_t>(i)] == c) {
                mean += seen.row(i).transpose();
                count += 1;
            }
        EXPECT_LT((embedding.centroids().row(c).transpose() - mean / count).norm(), 1e-12);
    }
    EXPECT_GT(accuracy(embedding.predict(points), embedding.labels()), 0.95);
}

// Two rings are two components of the graph: the embedding separates them although no straight line does.
TEST(Fme, EmbeddingSeparatesTwoRings) {
    Matrix<double> points(120, 2);
    Labels truth;
    for (Index i = 0; i < 120; ++i) {
        const double angle = 2 * std::acos(-1.0) * static_cast<double>(i / 2) / 60;
        const double radius = i % 2 == 0 ? 1 : 4;
        points.row(i) << radius * std::cos(angle), radius * std::sin(angle);
        truth.push_back(static_cast<std::int32_t>(i % 2));
    }
    FmeOptions options;
    options.clusters = 2;
    options.neighbors = 4;
    options.mu_rel = 0.01;
    options.labels_from = FmeLabels::embedding;
    EXPECT_EQ(accuracy(fit(points, options).labels(), truth), 1.0);
    // With a kernel the regression, and so new points, agree.
    options.kernel = SpaceKernel::rbf;
    options.labels_from = FmeLabels::regression;
    options.gamma_rel = 100;
    const FmeModel model = fit(points, options);
    EXPECT_EQ(accuracy(model.labels(), truth), 1.0);
    EXPECT_EQ(accuracy(model.predict(Matrix<double>(points * 1.02)), truth), 1.0);
}

TEST(Fme, RejectsTooSmallGamma) {
    Matrix<double> points(4, 1);
    points << 0, 1, 5, 6;
    FmeOptions options;
    options.clusters = 2;
    options.neighbors = 1;
    coterie::Run run(1, 1);
    options.gamma = 1e-300;
    EXPECT_THROW(fit_fme(points, options, run), BadArgument);
    options.gamma = 1e-60;
    EXPECT_NO_THROW(fit_fme(points, options, run));
}

TEST(Fme, RejectsTooManyNeighboursAndInfiniteWeights) {
    const Matrix<double> points = test::blob_points<double>(10, 2, 2, 2.0, 9);
    FmeOptions options;
    options.clusters = 2;
    const std::string text = test::message_of([&] { fit(points, options); });
    EXPECT_NE(text.find("neighbors: 10 is too many for 10 rows. Use from 1 to 9."), std::string::npos);
    options.neighbors = 9;
    EXPECT_EQ(fit(points, options).labels().size(), 10u);
    options.mu = 1e200;
    options.gamma = 1e200;
    const std::string large = test::message_of([&] { fit(points, options); });
    EXPECT_NE(large.find("both must be above 0 and finite"), std::string::npos) << large;
}

}  // namespace
}  // namespace coterie
