#include "coterie/manifold/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::message_of;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

Matrix<double> normals(Index rows, Index columns, RandomStream& random) {
    Matrix<double> out(rows, columns);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
    return out;
}

// A matrix with orthonormal columns.
Matrix<double> rotation(Index d, RandomStream& random) {
    return Eigen::MatrixXd(normals(d, d, random)).householderQr().householderQ() * Eigen::MatrixXd::Identity(d, d);
}

// ---------------------------------------------------------------- the inradius

TEST(Inradius, CrossPolytopesInClosedForm) {
    RandomStream random(1, "test.inradius");
    for (const Index m : {1, 2, 3, 5, 9, 14}) {
        const Matrix<double> turned = rotation(m + 3, random).topRows(m);
        EXPECT_NEAR(symmetric_inradius(turned), 1 / std::sqrt(static_cast<double>(m)), 1e-13) << m;
        // Orthogonal generators of lengths a_j: the facet with all signs + is at 1 / sqrt(sum 1 / a_j^2).
        Vector<double> lengths(m);
        for (Index j = 0; j < m; ++j) lengths[j] = std::exp(3 * random.normal());
        EXPECT_NEAR(symmetric_inradius(lengths.asDiagonal() * turned) * lengths.cwiseInverse().norm(), 1, 1e-12);
    }
}

TEST(Inradius, RegularPolygons) {
    for (const Index m : {2, 3, 4, 7, 30}) {
        Matrix<double> half(m, 2);
        for (Index j = 0; j < m; ++j) {
            const double angle = std::numbers::pi * static_cast<double>(j) / static_cast<double>(m);
            half.row(j) << 2 * std::cos(angle), 2 * std::sin(angle);
        }
        EXPECT_NEAR(symmetric_inradius(half), 2 * std::cos(std::numbers::pi / 2 / static_cast<double>(m)), 1e-12) << m;
    }
}

// min over unit u of max_j |<g_j, u>|, over a fine net of directions in two and three dimensions. It must be close to
// r, and not below r.
TEST(Inradius, IsTheLeastWidthOverDirections) {
    RandomStream random(2, "test.inradius");
    for (int round = 0; round < 60; ++round) {
        const Index k = 2 + round % 2;
        const Index m = k + round % 4;
        const Matrix<double> generators = normals(m, k, random);
        const double r = symmetric_inradius(generators);
        double least = kInfinity;
        const int steps = k == 2 ? 20000 : 400;
        for (int a = 0; a < steps; ++a) {
            const double angle = std::numbers::pi * a / steps;
            for (int b = 0; b < (k == 2 ? 1 : steps); ++b) {
                Vector<double> u(k);
                if (k == 2) {
                    u << std::cos(angle), std::sin(angle);
                } else {
                    const double height = -1 + 2.0 * b / steps;
                    const double ring = std::sqrt(1 - height * height);
                    u << ring * std::cos(angle), ring * std::sin(angle), height;
                }
                least = std::min(least, (generators * u).cwiseAbs().maxCoeff());
            }
        }
        EXPECT_GE(least, r * (1 - 1e-12));
        // A net misses a direction by at most half a step: 1e-4 in the plane, 0.01 in space.
        EXPECT_LE(least, r + (k == 2 ? 1e-4 : 0.012) * generators.rowwise().norm().maxCoeff());
    }
}

TEST(Inradius, GeneratorsInASubspace) {
    RandomStream random(3, "test.inradius");
    const Matrix<double> plane = normals(2, 6, random);
    Matrix<double> more(5, 6);
    more << plane, plane.row(0), -plane.row(1), Matrix<double>::Zero(1, 6);
    EXPECT_NEAR(symmetric_inradius(more), symmetric_inradius(plane), 1e-12);
    // A generator inside the body changes nothing; one outside makes it larger.
    Matrix<double> third(3, 6);
    third << plane, 0.4 * plane.row(0) + 0.5 * plane.row(1);
    EXPECT_NEAR(symmetric_inradius(third), symmetric_inradius(plane), 1e-12);
    EXPECT_EQ(symmetric_inradius(Matrix<double>::Zero(3, 4)), 0);
    EXPECT_NE(message_of([] { symmetric_inradius(Matrix<double>::Identity(30, 30)); }).find("30 generators"),
              std::string::npos);
    EXPECT_THROW(symmetric_inradius(Matrix<double>::Constant(2, 2, kInfinity)), BadArgument);
}

// ---------------------------------------------------------------- all quantities, by definition

struct Case {
    Matrix<double> points;
    Labels labels;
    GeometryOptions options;
};

// A curved patch around 0 that contains y, and another manifold near it.
Case random_case(std::uint64_t number) {
    RandomStream random(number, "test.geometry");
    Case out;
    out.options.dim = 1 + static_cast<int>(number % 3);
    const Index d1 = out.options.dim;
    const Index d = d1 + 1 + static_cast<Index>(random.below(4));
    const Index own = d1 + 2 + static_cast<Index>(random.below(8));
    const Index other = 1 + static_cast<Index>(random.below(6));
    const double bend = random.uniform() < 0.3 ? 0 : 0.4 * random.uniform();
    const double apart = 0.2 + 4 * random.uniform();
    const Matrix<double> turn = rotation(d, random);
    out.points = Matrix<double>::Zero(own + other, d);
    for (Index i = 0; i < own; ++i) {
        Vector<double> x = Vector<double>::Zero(d);
        if (i > 0)
            for (Index p = 0; p < d1; ++p) x[p] = random.normal();
        x[d1] = bend * x.squaredNorm();
        out.points.row(i) = turn * x;
    }
    for (Index i = own; i < own + other; ++i) {
        Vector<double> x(d);
        for (double& each : x) each = random.normal();
        x[d1] = apart + 0.2 * x[d1];
        out.points.row(i) = turn * x;
    }
    Vector<double> place(d);
    for (double& each : place) each = random.normal();
    out.points.rowwise() += place.transpose();
    out.labels.assign(at(own + other), 0);
    std::fill(out.labels.begin() + own, out.labels.end(), 1);
    out.options.weights = static_cast<RepresentationWeights>(number / 3 % 3);
    out.options.eta = std::pow(10, -1 + 3 * random.uniform());
    out.options.unit = number % 4 == 0 ? LambdaUnit::lambda_0 : LambdaUnit::lambda_l;
    out.options.multiple = std::pow(10, -0.3 + 2 * random.uniform());
    return out;
}

// The solution of min sum w_j |c_j| + lambda/2 |y - Bc|^2, from all supports and signs. Columns must be independent.
Vector<double> all_signs_residual(const Matrix<double>& columns, const Vector<double>& w, const Vector<double>& y,
                                  double lambda) {
    const auto m = static_cast<int>(columns.cols());
    double best = 0.5 * lambda * y.squaredNorm();
    Vector<double> residual = y;
    int choices = 1;
    for (int j = 0; j < m; ++j) choices *= 3;
    for (int choice = 1; choice < choices; ++choice) {
        std::vector<Index> support;
        std::vector<double> signs;
        for (int j = 0, rest = choice; j < m; ++j, rest /= 3)
            if (rest % 3 != 0) {
                support.push_back(j);
                signs.push_back(rest % 3 == 1 ? 1.0 : -1.0);
            }
        const auto k = static_cast<Index>(support.size());
        Eigen::MatrixXd part(columns.rows(), k);
        Eigen::VectorXd pull(k);
        for (Index i = 0; i < k; ++i) {
            part.col(i) = columns.col(support[at(i)]);
            pull[i] = w[support[at(i)]] * signs[at(i)] / lambda;
        }
        const Eigen::VectorXd c = (part.transpose() * part).fullPivLu().solve(part.transpose() * y - pull);
        const Vector<double> r = y - part * c;
        double objective = 0.5 * lambda * r.squaredNorm();
        for (Index i = 0; i < k; ++i) objective += w[support[at(i)]] * std::abs(c[i]);
        if (objective < best) {
            best = objective;
            residual = r;
        }
    }
    return residual;
}

TEST(Geometry, AgreesWithTheDefinitions) {
    for (std::uint64_t number = 0; number < 300; ++number) {
        const Case one = random_case(number);
        const PointGeometry found = point_geometry(one.points, one.labels, 0, one.options);
        const Index n = one.points.rows();
        const Index d = one.points.cols();
        const double tail = std::sqrt(one.options.eta);
        Eigen::MatrixXd x(d + 1, n);
        x.topRows(d) = one.points.transpose();
        x.row(d).setConstant(tail);
        const Eigen::VectorXd y = x.col(0);
        Vector<double> w(n);
        for (Index j = 0; j < n; ++j) {
            const double distance = (x.col(j) - y).norm();
            w[j] = one.options.weights == RepresentationWeights::linear        ? distance
                   : one.options.weights == RepresentationWeights::exponential ? std::exp(2 * distance)
                                                                               : 1.0;
        }
        if (one.options.weights != RepresentationWeights::equal) w /= w.tail(n - 1).sum();
        std::vector<std::pair<double, Index>> own;
        for (Index j = 1; j < n; ++j)
            if (one.labels[at(j)] == 0) own.emplace_back((x.col(j) - y).norm(), j);
        std::sort(own.begin(), own.end());
        const Index m = one.options.dim + 1;
        ASSERT_EQ(static_cast<Index>(found.neighbors.size()), m);
        Eigen::MatrixXd near(d + 1, m);
        Vector<double> near_w(m);
        for (Index j = 0; j < m; ++j) {
            EXPECT_EQ(found.neighbors[at(j)], own[at(j)].second);
            near.col(j) = x.col(own[at(j)].second);
            near_w[j] = w[own[at(j)].second];
        }
        EXPECT_NEAR(found.radius, own[at(m - 1)].first, 1e-13);
        EXPECT_EQ(found.rank, m);
        Index inside = 0;
        for (Index j = 0; j < n; ++j)
            inside += one.labels[at(j)] == 1 && (x.col(j) - y).norm() <= own[at(m - 1)].first ? 1 : 0;
        EXPECT_EQ(found.others_in_ball, inside);
        EXPECT_NEAR(found.norm, y.norm(), 1e-12);
        // r_W by the formula of the notes.
        const Eigen::MatrixXd generators = near * near_w.cwiseInverse().asDiagonal();
        const Eigen::MatrixXd inverse = (generators.transpose() * generators).inverse();
        double most = 0;
        for (int signs = 0; signs < 1 << m; ++signs) {
            Eigen::VectorXd s(m);
            for (Index j = 0; j < m; ++j) s[j] = (signs >> j & 1) != 0 ? 1 : -1;
            most = std::max(most, s.dot(inverse * s));
        }
        const double r = 1 / std::sqrt(most);
        EXPECT_NEAR(found.inradius / r, 1, 1e-7) << number;
        // dist: least squares over affine combinations.
        const Eigen::MatrixXd edges = near.rightCols(m - 1).colwise() - near.col(0);
        const Eigen::VectorXd offset = y - near.col(0);
        const Eigen::VectorXd coordinates = edges.jacobiSvd(Eigen::ComputeThinU | Eigen::ComputeThinV).solve(offset);
        const double dist = (offset - edges * coordinates).norm();
        EXPECT_NEAR(found.distance, dist, 1e-11);
        const double lower = 1 / (r * (y.norm() - dist));
        if (dist < y.norm()) {
            EXPECT_NEAR(found.interval.lower / lower, 1, 1e-7);
        }
        if (!found.solved) continue;
        const bool of_0 = one.options.unit == LambdaUnit::lambda_0;
        EXPECT_NEAR(found.lambda / one.options.multiple / (of_0 ? found.lambda_0 : found.interval.lower), 1, 1e-12);
        const Vector<double> dual = found.lambda * all_signs_residual(near, near_w, y, found.lambda);
        EXPECT_LT((found.dual - dual).norm(), 1e-6 * dual.norm()) << number;
        const Eigen::VectorXd shadow =
            near * near.jacobiSvd(Eigen::ComputeThinU | Eigen::ComputeThinV).solve(Eigen::VectorXd(found.dual));
        double gamma = kInfinity;
        double mu = 0;
        double own_reach = 0;
        double foreign_reach = 0;
        double lambda_0 = kInfinity;
        for (Index j = 1; j < n; ++j) {
            lambda_0 = std::min(lambda_0, w[j] / std::abs(x.col(j).dot(y)));
            const double reach = std::abs(x.col(j).dot(found.dual)) / w[j];
            if (one.labels[at(j)] == 0) {
                if (std::none_of(own.begin(), own.begin() + m, [&](const auto& each) { return each.second == j; }))
                    own_reach = std::max(own_reach, reach);
                continue;
            }
            foreign_reach = std::max(foreign_reach, reach);
            const double along = std::abs(x.col(j).dot(shadow)) / shadow.norm();
            mu = std::max(mu, along);
            gamma = std::min(gamma, (w[j] * r - along) / x.col(j).norm());
        }
        EXPECT_NEAR(found.lambda_0 / lambda_0, 1, 1e-10);
        EXPECT_NEAR(found.separation, gamma, 1e-6 * (1 + std::abs(gamma))) << number;
        EXPECT_NEAR(found.coherence, mu, 1e-6 * (1 + mu));
        EXPECT_NEAR(found.own_reach, own_reach, 1e-9 * (1 + own_reach));
        EXPECT_NEAR(found.foreign_reach, foreign_reach, 1e-9 * (1 + foreign_reach));
        EXPECT_EQ(found.separated, found.separation > 0);
        // The two conditions of Lemma 1(a) mean that the interval is not empty.
        if (found.separated) {
            if (found.distance > 0)
                EXPECT_NEAR(found.interval.upper * r * dist, gamma, 1e-5 * (1 + std::abs(gamma)));
            else
                EXPECT_EQ(found.interval.upper, kInfinity);
        }
        EXPECT_EQ(found.separated && found.near, !found.interval.empty()) << number;
        EXPECT_LT(found.violation, 1e-8);
    }
}

// ---------------------------------------------------------------- Lemma 1

TEST(Lemma1, HoldsWithTheMissingCondition) {
    int guaranteed = 0;
    int not_preserving_without = 0;
    int not_preserving_outside = 0;
    int zero_below = 0;
    int condition_fails = 0;
    for (std::uint64_t number = 0; number < 24000; ++number) {
        const Case one = random_case(100000 + number);
        const PointGeometry found = point_geometry(one.points, one.labels, 0, one.options);
        if (!found.solved) continue;
        if (found.guaranteed()) {
            ++guaranteed;
            EXPECT_TRUE(found.preserving) << number;
            EXPECT_TRUE(found.nonzero) << number;
            // Uses the solver of the whole problem, which does not use neighbours.
            const Index n = one.points.rows();
            Vector<double> w =
                representation_weights(one.points, one.points.row(0).transpose(), 0, one.options.weights);
            if (one.options.weights == RepresentationWeights::equal) w.setOnes();
            w[0] = kInfinity;
            const PointRepresentation whole =
                represent_point(one.points, one.points.row(0).transpose(), w, found.lambda, one.options.eta);
            EXPECT_LT(whole.violation, 1e-8);
            EXPECT_GT(whole.coefficients.norm(), 0) << number;
            for (Index j = 0; j < n; ++j)
                if (one.labels[at(j)] == 1) {
                    EXPECT_EQ(whole.coefficients[j], 0) << number;
                }
            EXPECT_EQ(found.foreign_share, 0);
            EXPECT_LT(found.foreign_reach, 1) << number;
        } else if (found.inside()) {
            ++condition_fails;
            not_preserving_without += found.preserving ? 0 : 1;
        } else {
            not_preserving_outside += found.preserving ? 0 : 1;
            zero_below += found.nonzero ? 0 : 1;
        }
    }
    EXPECT_GT(guaranteed, 1000);
    EXPECT_GT(not_preserving_outside, 500);
    EXPECT_GT(zero_below, 10);
    // The condition excludes some cases.
    EXPECT_GT(condition_fails, 20);
    EXPECT_GT(not_preserving_without, 0);
}

TEST(Lemma1, IsFalseAsPrinted) {
    const Vector<double> y = Eigen::Vector2d(0.14875582, 0.74256197);
    Matrix<double> points(4, 2);
    points << 0.23336263, -0.2424423, 0.38982272, -0.41533977, -0.93035195, -0.58160102, -0.58130409, -1.27650942;
    points.rowwise() += y.transpose();
    GeometryOptions options;
    options.eta = 0.1;
    options.lambda = 5.18546266;
    const PointGeometry found = point_geometry(points, {0, 0, 0, 1}, y, 0, options);
    EXPECT_NEAR(found.interval.lower, 1.409, 5e-4);
    EXPECT_NEAR(found.interval.upper, 39.86, 5e-3);
    EXPECT_TRUE(found.inside());
    EXPECT_TRUE(found.separated && found.near);
    EXPECT_FALSE(found.own_condition());
    EXPECT_FALSE(found.guaranteed());
    EXPECT_LT(found.foreign_reach, 1);
    EXPECT_FALSE(found.preserving);
    const Vector<double> w = representation_weights(points, y, -1, RepresentationWeights::linear);
    EXPECT_NEAR(represent_point(points, y, w, *options.lambda, options.eta).coefficients[3], -0.01197, 5e-6);
}

// y in the linear span of its neighbours and w = 1: by (2.10) any lambda above 1 / r is sufficient.
TEST(Corollary1, HoldsOnTheUnitSphere) {
    int conditions = 0;
    for (std::uint64_t number = 0; number < 400; ++number) {
        RandomStream random(number, "test.corollary");
        const Index d = 6;
        const bool linear = number % 2 == 0;
        const double eta = linear ? 0.0 : 0.36;
        const int dim = 1 + static_cast<int>(number / 2 % 2);
        const Matrix<double> turn = rotation(d, random);
        const Index own = 12;
        Matrix<double> points(own + 3, d);
        for (Index i = 0; i < own + 3; ++i) {
            Vector<double> x = Vector<double>::Zero(d);
            for (Index p = 0; p <= dim; ++p) x[i < own ? p : d - 1 - p] = random.normal();
            if (i >= own && random.uniform() < 0.5) x[0] = 0.5 * random.normal();
            points.row(i) = std::sqrt(1 - eta) * (turn * x).normalized();
        }
        Labels labels(at(own + 3), 0);
        std::fill(labels.begin() + own, labels.end(), 1);
        GeometryOptions options;
        options.dim = dim;
        options.weights = RepresentationWeights::equal;
        options.eta = eta;
        options.unit = LambdaUnit::lambda_l;
        options.multiple = 1.0 + random.uniform();
        const PointGeometry found = point_geometry(points, labels, 0, options);
        const double r = found.inradius;
        EXPECT_NEAR(found.norm, 1, 1e-12);
        if (!found.solved) continue;
        EXPECT_NEAR(found.separation, r - found.coherence, 1e-12);
        EXPECT_NEAR(found.interval.lower, 1 / (r * (1 - found.distance)), 1e-9 * found.interval.lower);
        const double gap = r - found.coherence;
        const bool printed = found.coherence < r && found.distance < gap / (1 + gap);
        EXPECT_EQ(printed, !found.interval.empty());
        if (!printed) continue;
        ++conditions;
        EXPECT_NEAR(found.interval.upper * r * found.distance, gap, 1e-9);
        if (found.guaranteed()) {
            EXPECT_TRUE(found.preserving && found.nonzero);
        }
    }
    EXPECT_GT(conditions, 20);
}

// y on the line of its neighbours: dist 0, and the interval has no upper end.
TEST(Lemma1, HasNoUpperBoundOnLines) {
    Matrix<double> points(6, 3);
    points << 0, 0, 0, 1, 0, 0, -2, 0, 0, 3, 0, 0, 0, 5, 9, 0, 6, 9;
    GeometryOptions options;
    options.unit = LambdaUnit::lambda_l;
    options.multiple = 1e6;
    const PointGeometry found = point_geometry(points, {0, 0, 0, 0, 1, 1}, 0, options);
    EXPECT_EQ(found.distance, 0);
    EXPECT_EQ(found.rank, 2);
    EXPECT_TRUE(found.separated && found.near);
    EXPECT_EQ(found.interval.upper, kInfinity);
    EXPECT_TRUE(found.guaranteed() && found.preserving && found.nonzero);
}

// ---------------------------------------------------------------- Lemmas 2 and 3

TEST(Lemma2, HoldsOnCirclesForAnyTwoNeighbours) {
    RandomStream random(9, "test.circle");
    int checked = 0;
    for (int round = 0; round < 500; ++round) {
        const double radius = 0.2 + 3 * random.uniform();
        const Index n = 6 + static_cast<Index>(random.below(30));
        Matrix<double> points(n + 1, 3);
        Labels labels(at(n + 1), 0);
        for (Index i = 0; i < n; ++i) {
            const double angle = 2 * std::numbers::pi * random.uniform();
            points.row(i) << radius * std::cos(angle) + 4, radius * std::sin(angle) - 1, 2;
        }
        points.row(n) << 0, 0, 9;
        labels.back() = 1;
        GeometryOptions options;
        options.curvature = 1 / radius;
        const PointGeometry found = point_geometry(points, labels, 0, options);
        EXPECT_EQ(found.distance_bound.has_value(), found.radius <= radius * (1 + 1e-15));
        if (!found.distance_bound) continue;
        ++checked;
        EXPECT_LE(found.distance, *found.distance_bound * (1 + 1e-9) + 1e-12);
        EXPECT_NEAR(*found.distance_bound, radius - std::sqrt(radius * radius - found.radius * found.radius),
                    1e-9 * radius);
        // Lemma 3's interval lies within Lemma 1's.
        EXPECT_GE(found.curvature_interval->lower, found.interval.lower * (1 - 1e-9));
        if (found.separated) {
            EXPECT_LE(found.curvature_interval->upper, found.interval.upper * (1 + 1e-6));
        }
    }
    EXPECT_GT(checked, 400);
}

// The curvature of an ellipse is largest at the ends of its long axis: a / b^2.
TEST(Lemma3, HoldsOnEllipses) {
    int promised = 0;
    for (std::uint64_t number = 0; number < 300; ++number) {
        RandomStream random(number, "test.ellipse");
        const double a = 2;
        const double b = 1 + random.uniform();
        const Index n = 60;
        Matrix<double> points(n + 4, 2);
        Labels labels(at(n + 4), 0);
        for (Index i = 0; i < n; ++i) {
            const double angle = 2 * std::numbers::pi * (static_cast<double>(i) + 0.3 * random.uniform()) / n;
            points.row(i) << a * std::cos(angle), b * std::sin(angle);
        }
        for (Index i = n; i < n + 4; ++i) {
            points.row(i) << 12 + random.normal(), 12 + random.normal();
            labels[at(i)] = 1;
        }
        GeometryOptions options;
        options.curvature = a / (b * b);
        options.eta = 4;
        options.unit = LambdaUnit::lambda_l;
        options.multiple = 1.5 + 2 * random.uniform();
        const auto row = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
        const PointGeometry found = point_geometry(points, labels, row, options);
        ASSERT_TRUE(found.distance_bound);
        EXPECT_LE(found.distance, *found.distance_bound);
        if (!found.curvature_interval->contains(found.lambda)) continue;
        EXPECT_TRUE(found.inside());
        if (!found.own_condition()) continue;
        ++promised;
        EXPECT_TRUE(found.preserving && found.nonzero);
    }
    EXPECT_GT(promised, 50);
}

TEST(Lemma2, FailsOnTheSphere) {
    // y at the pole of the unit sphere; three neighbours within 0.1 of it, almost on one great circle next to it.
    const auto on_sphere = [](double east, double north) {
        return Eigen::RowVector3d(east, north, std::sqrt(1 - east * east - north * north));
    };
    Matrix<double> points(5, 3);
    points << on_sphere(0, 0), on_sphere(0.05, 0.08), on_sphere(0.0501, 0.0), on_sphere(0.05, -0.08), 0, 0, 9;
    GeometryOptions options;
    options.dim = 2;
    const PointGeometry found = point_geometry(points, {0, 0, 0, 0, 1}, 0, options);
    const double bound = curvature_bound(1, found.radius);
    EXPECT_LT(found.radius, 0.1);
    EXPECT_GT(found.distance, 5 * bound);
    // So `curvature` is an error for surfaces.
    options.curvature = 1;
    EXPECT_NE(message_of([&] {
                  point_geometry(points, {0, 0, 0, 0, 1}, 0, options);
              }).find("only for curves"),
              std::string::npos);
}

TEST(Lemma2, BoundInClosedForm) {
    EXPECT_EQ(curvature_bound(0, 3), 0);
    EXPECT_EQ(curvature_bound(2, 0), 0);
    EXPECT_NEAR(curvature_bound(1, 1), 1, 1e-15);
    EXPECT_NEAR(curvature_bound(0.5, 1), 2 - std::sqrt(3), 1e-15);
    EXPECT_NEAR(curvature_bound(1e-9, 1) / 5e-10, 1, 1e-12);
    EXPECT_THROW(curvature_bound(1, 1.01), BadArgument);
    EXPECT_THROW(curvature_bound(-1, 1), BadArgument);
    EXPECT_THROW(curvature_bound(std::nan(""), 1), BadArgument);
}

// ---------------------------------------------------------------- invariances

TEST(Geometry, IsInvariantToRotationAndOrder) {
    for (std::uint64_t number = 0; number < 60; ++number) {
        const Case one = random_case(5000 + number);
        const PointGeometry found = point_geometry(one.points, one.labels, 0, one.options);
        RandomStream random(number, "test.turn");
        const Index n = one.points.rows();
        const Index d = one.points.cols();
        // In more dimensions, as in the paper's embeddings.
        const Matrix<double> wider = one.points * rotation(d + 5, random).topRows(d);
        const PointGeometry turned = point_geometry(wider, one.labels, 0, one.options);
        std::vector<Index> order(at(n));
        std::iota(order.begin(), order.end(), Index{0});
        for (Index i = n - 1; i > 0; --i)
            std::swap(order[at(i)], order[at(static_cast<Index>(random.below(static_cast<std::uint64_t>(i + 1))))]);
        Matrix<double> shuffled(n, d);
        Labels labels(at(n));
        Index own = 0;
        for (Index i = 0; i < n; ++i) {
            shuffled.row(i) = one.points.row(order[at(i)]);
            labels[at(i)] = 7 - one.labels[at(order[at(i)])];
            if (order[at(i)] == 0) own = i;
        }
        const PointGeometry permuted = point_geometry(shuffled, labels, own, one.options);
        for (const PointGeometry& other : {turned, permuted}) {
            EXPECT_NEAR(other.inradius / found.inradius, 1, 1e-6);
            EXPECT_NEAR(other.distance, found.distance, 1e-10);
            EXPECT_NEAR(other.lambda_0 / found.lambda_0, 1, 1e-9);
            ASSERT_EQ(other.solved, found.solved);
            if (!found.solved) continue;
            EXPECT_NEAR(other.separation, found.separation, 1e-5 * (1 + std::abs(found.separation)));
            EXPECT_EQ(other.preserving, found.preserving);
            EXPECT_EQ(other.nonzero, found.nonzero);
        }
        // The same point as a new sample gives the same result.
        const Matrix<double> rest = one.points.bottomRows(n - 1);
        const PointGeometry fresh = point_geometry(rest, Labels(one.labels.begin() + 1, one.labels.end()),
                                                   one.points.row(0).transpose(), one.labels[0], one.options);
        EXPECT_NEAR(fresh.inradius / found.inradius, 1, 1e-9);
        EXPECT_NEAR(fresh.interval.lower / found.interval.lower,
                    found.solved ? 1 : fresh.interval.lower / found.interval.lower, 1e-9);
        EXPECT_EQ(fresh.preserving, found.preserving);
    }
}

TEST(Geometry, SameBitsAtAnyNumberOfThreads) {
    const Case one = random_case(77);
    Matrix<double> points(300, one.points.cols());
    Labels labels(300);
    RandomStream random(1, "test.threads");
    for (Index i = 0; i < 300; ++i) {
        labels[at(i)] = static_cast<std::int32_t>(i % 2);
        for (Index p = 0; p < points.cols(); ++p) points(i, p) = random.normal() + (i % 2 == 1 && p == 0 ? 9.0 : 0.0);
    }
    std::vector<Index> rows(300);
    std::iota(rows.begin(), rows.end(), Index{0});
    const auto first = geometry(points, labels, rows, one.options, coterie::Run(0, 1));
    for (const int threads : {2, 8}) {
        const auto again = geometry(points, labels, rows, one.options, coterie::Run(0, threads));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(again[i].interval.lower, first[i].interval.lower);
            EXPECT_EQ(again[i].interval.upper, first[i].interval.upper);
            EXPECT_EQ(again[i].foreign_share, first[i].foreign_share);
            EXPECT_EQ(again[i].own_reach, first[i].own_reach);
        }
    }
    const PointGeometry single = point_geometry(points, labels, 17, one.options);
    EXPECT_EQ(single.interval.upper, first[17].interval.upper);
    coterie::Run stopped(0, 1);
    stopped.should_stop = [] { return true; };
    EXPECT_THROW(geometry(points, labels, rows, one.options, stopped), Cancelled);
}

TEST(Geometry, FloatAgreesWithDouble) {
    const Case one = random_case(12);
    const Matrix<float> single = one.points.cast<float>();
    const PointGeometry a = point_geometry(one.points, one.labels, 0, one.options);
    const PointGeometry b = point_geometry(single, one.labels, 0, one.options);
    EXPECT_NEAR(b.inradius / a.inradius, 1, 1e-3);
    EXPECT_NEAR(b.distance, a.distance, 1e-4);
}

// ---------------------------------------------------------------- degenerate input

void expect_no_nan(const PointGeometry& found) {
    for (const double value : {found.radius, found.norm, found.inradius, found.distance, found.lambda_0, found.lambda,
                               found.separation, found.coherence, found.interval.lower, found.interval.upper,
                               found.own_reach, found.foreign_reach, found.foreign_share, found.violation})
        EXPECT_FALSE(std::isnan(value));
}

TEST(Geometry, DegenerateInput) {
    GeometryOptions options;
    // Copies of y at distance 0, with the lower limit of linear weights: y lies in S.
    Matrix<double> copies(6, 2);
    copies << 1, 1, 1, 1, 1, 1, 2, 1, 5, 5, 6, 5;
    PointGeometry found = point_geometry(copies, {0, 0, 0, 0, 1, 1}, 0, options);
    expect_no_nan(found);
    EXPECT_EQ(found.radius, 0);
    EXPECT_EQ(found.rank, 1);
    EXPECT_EQ(found.distance, 0);
    EXPECT_EQ(std::abs(found.interval.upper), kInfinity);
    // Neighbours on a line instead of a plane.
    options.dim = 2;
    Matrix<double> collinear(6, 3);
    collinear << 0, 0.5, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 8, 8, 8, 9, 8, 8;
    found = point_geometry(collinear, {0, 0, 0, 0, 1, 1}, 0, options);
    expect_no_nan(found);
    EXPECT_EQ(found.rank, 2);
    EXPECT_FALSE(found.full_rank);
    EXPECT_NEAR(found.distance, 0.5, 1e-12);
    // Ties: four corners of a square around y, where three are sufficient.
    Matrix<double> square(6, 3);
    square << 0, 0, 1, 1, 0, 1, -1, 0, 1, 0, 1, 1, 0, -1, 1, 9, 9, 9;
    found = point_geometry(square, {0, 0, 0, 0, 0, 1}, 0, options);
    expect_no_nan(found);
    EXPECT_EQ(found.neighbors.size(), 4U);
    EXPECT_EQ(found.rank, 3);
    EXPECT_TRUE(found.full_rank);
    EXPECT_EQ(found.distance, 0);
    // All points equal; all of them 0 without a homogenising coordinate.
    options.dim = 1;
    for (const double eta : {0.0, 1.0}) {
        options.eta = eta;
        found = point_geometry(Matrix<double>(Matrix<double>::Zero(5, 2)), {0, 0, 0, 1, 1}, 0, options);
        expect_no_nan(found);
        EXPECT_EQ(found.solved, eta > 0);
    }
    EXPECT_EQ(point_geometry(Matrix<double>(Matrix<double>::Zero(5, 2)), {0, 0, 0, 1, 1}, 0, options).rank, 1);
    // y is orthogonal to everything: its representation is 0 for every lambda.
    options.eta = 0;
    Matrix<double> orthogonal(5, 3);
    orthogonal << 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0;
    found = point_geometry(orthogonal, {0, 0, 0, 1, 1}, 0, options);
    expect_no_nan(found);
    EXPECT_EQ(found.lambda_0, kInfinity);
    EXPECT_FALSE(found.solved || found.inside() || found.guaranteed());
    options.lambda = 3;
    found = point_geometry(orthogonal, {0, 0, 0, 1, 1}, 0, options);
    expect_no_nan(found);
    EXPECT_TRUE(found.solved);
    EXPECT_FALSE(found.nonzero);
    EXPECT_TRUE(found.preserving);
    // There is only one manifold, so there is none to separate from.
    options = {};
    found = point_geometry(copies, {3, 3, 3, 3, 3, 3}, 3, options);
    EXPECT_EQ(found.separation, kInfinity);
    EXPECT_TRUE(found.separated && found.preserving);
}

TEST(Geometry, RejectsBadArguments) {
    const Case one = random_case(4);
    const auto refuses = [&](const std::vector<std::string>& words, auto&& change) {
        Case bad = one;
        Index row = 0;
        change(bad, row);
        const std::string message = message_of([&] { point_geometry(bad.points, bad.labels, row, bad.options); });
        for (const auto& word : words) EXPECT_NE(message.find(word), std::string::npos) << word << " in " << message;
    };
    refuses({"dim", "0", "from 1 to 20"}, [](Case& c, Index&) { c.options.dim = 0; });
    refuses({"dim", "21"}, [](Case& c, Index&) { c.options.dim = 21; });
    refuses({"eta", "-1"}, [](Case& c, Index&) { c.options.eta = -1; });
    refuses({"lambda", "nan"}, [](Case& c, Index&) { c.options.lambda = std::nan(""); });
    refuses({"multiple", "above 0"}, [](Case& c, Index&) { c.options.multiple = 0; });
    refuses({"curvature", "-2"}, [](Case& c, Index&) { c.options.curvature = -2; });
    refuses({"labels for"}, [](Case& c, Index&) { c.labels.pop_back(); });
    refuses({"row 3: the row has no label"}, [](Case& c, Index&) { c.labels[2] = -1; });
    refuses({"row: 99 is not from 0"}, [](Case&, Index& row) { row = 99; });
    refuses({"row: -1 is not from 0"}, [](Case&, Index& row) { row = -1; });
    refuses({"dim", "20", "at most the number of columns"}, [](Case& c, Index&) { c.options.dim = 20; });
    refuses({"0 other rows with the same label", "needs"}, [](Case& c, Index& row) { c.labels[at(row)] = 99; });
    refuses({"column 2, row 2", "NaN"}, [](Case& c, Index&) { c.points(1, 1) = std::nan(""); });
    refuses({"1e+100"}, [](Case& c, Index&) { c.points(1, 1) = 1e200; });
    refuses({"Scale the columns down"}, [](Case& c, Index&) {
        c.options.weights = RepresentationWeights::exponential;
        c.points *= 1e4;
    });
    EXPECT_THROW(point_geometry(one.points, one.labels, Vector<double>::Zero(99), 0, one.options), BadArgument);
    EXPECT_THROW(point_geometry(one.points, one.labels, Vector<double>::Constant(one.points.cols(), std::nan("")), 0,
                                one.options),
                 BadData);
    EXPECT_THROW(geometry(one.points, one.labels, std::vector<Index>{0, 99}, one.options, coterie::Run(0, 1)),
                 BadArgument);
    // With ties, there may be too many generators to enumerate.
    RandomStream random(1, "test.ties");
    Matrix<double> ring = normals(60, 20, random);
    ring.rowwise().normalize();
    Matrix<double> points(62, 20);
    points << Matrix<double>::Zero(1, 20), ring, Matrix<double>::Constant(1, 20, 9);
    Labels labels(62, 0);
    labels.back() = 1;
    EXPECT_NE(message_of([&] { point_geometry(points, labels, 0, {}); }).find("Use a smaller dimension"),
              std::string::npos);
}

}  // namespace
}  // namespace coterie
