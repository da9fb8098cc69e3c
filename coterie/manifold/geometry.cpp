// Inradii are computed by enumerating the vertices of polar polytopes. This is exact, but its cost limits the number of
// dimensions. The dual direction comes from the solver of representations. The geometry of each row is computed
// separately: threads compute rows in waves, and the caller may stop between waves.

#include "coterie/manifold/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <Eigen/LU>

#include "coterie/base/checks.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/model/model.hpp"

namespace coterie {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kTie = 1e-9;         // relative tolerance of a radius for points on the same sphere
constexpr double kDependent = 1e-11;  // smallest accepted fraction of a vector's length outside the span of the others
constexpr double kFeasible = 1e-10;
constexpr double kMostNumber = 1e100;
constexpr double kLeastWeight = 1e-200;  // for weights of sum 1
constexpr double kMostVertices = 1048576;
constexpr Index kWave = 64;  // number of rows between two calls of throw_if_stopped()

using internal::at;
using internal::filled;

// A message about a row, or about the new sample y if `row` is negative. Rows are counted from 1.
Message about(Index row) {
    if (row < 0) return {.option = "y"};
    return {.option = "points", .row = row + 1};
}

// Rows of length 1 that span the same space as the rows. `noise`: rounding error of a row.
Matrix<double> orthonormal_span(const Matrix<double>& rows, double noise) {
    Matrix<double> out(std::min(rows.rows(), rows.cols()), rows.cols());
    Index rank = 0;
    for (Index j = 0; j < rows.rows() && rank < out.rows(); ++j) {
        const double length = rows.row(j).norm();
        if (!(length > noise)) continue;
        out.row(rank) = rows.row(j) / length;
        rank += internal::orthonormalize(out, rank, std::max(kDependent, noise / length)) ? 1 : 0;
    }
    return out.topRows(rank);
}

// Finds the farthest vertex v of the polar body (see inradius_within) with <g_j, v> = +-1 for the chosen generators, by
// trying 2^(k-1) choices of signs. A v with |<g, v>| > 1 for another generator is not a vertex.
struct Vertices {
    const Matrix<double>& generators;  // m x k
    bool all_tight;                    // all generators are chosen, so every v is a vertex
    double farthest = 0;               // squared

    // solved: columns h_j with v = sum s_j h_j.
    void visit(const Matrix<double>& solved, Index j, const Vector<double>& v) {
        if (j == solved.cols()) {
            const double square = v.squaredNorm();
            if (square <= farthest) return;
            if (all_tight || (generators * v).cwiseAbs().maxCoeff() <= 1 + kFeasible) farthest = square;
            return;
        }
        visit(solved, j + 1, v + solved.col(j));
        if (j > 0) visit(solved, j + 1, v - solved.col(j));  // v and -v have the same length
    }
};

double binomial(Index m, Index k) {
    double out = 1;
    for (Index i = 1; i <= k; ++i) out = out * static_cast<double>(m - k + i) / static_cast<double>(i);
    return out;
}

// The polar body of conv(+-g_j) is {v: |<g_j, v>| <= 1}. The inradius of conv(+-g_j) is 1 / (length of the polar body's
// farthest vertex). At a vertex, k independent conditions hold with equality.
double inradius_within(const Matrix<double>& generators) {
    const Index m = generators.rows();
    const Index k = generators.cols();
    const double candidates = binomial(m, k) * std::ldexp(1.0, static_cast<int>(std::min<Index>(k, 2000)) - 1);
    if (candidates > kMostVertices)
        throw BadArgument(
            Code::limit_exceeded,
            filled("the inradius of {} generators in {} dimensions has {} candidates; at most {} are supported", m, k,
                   to_text(candidates), to_text(kMostVertices)),
            "Use a smaller dimension");
    Vertices vertices{generators, m == k};
    std::vector<char> chosen(at(m), 0);
    std::fill(chosen.begin(), chosen.begin() + k, 1);
    do {
        Matrix<double> tight(k, k);
        Index row = 0;
        for (Index j = 0; j < m; ++j)
            if (chosen[at(j)] != 0) tight.row(row++) = generators.row(j);
        Matrix<double> directions = tight;
        directions.rowwise().normalize();
        if (m > k && orthonormal_span(directions, 0).rows() < k) continue;
        vertices.visit(tight.fullPivLu().inverse(), 0, Vector<double>::Zero(k));
    } while (std::prev_permutation(chosen.begin(), chosen.end()));
    return 1 / std::sqrt(vertices.farthest);
}

void check(PointsView points, const Labels& labels, const GeometryOptions& options, const Run& run) {
    check_options(options);
    if (options.curvature > 0 && options.dim != 1)
        throw BadArgument(Code::conflict, filled("Lemma 2 holds only for curves, not with `dim={}`", options.dim),
                          "Use `dim=1`, or leave `curvature` out", {.option = "curvature"});
    if (static_cast<Index>(labels.size()) != points.rows())
        throw BadArgument(Code::wrong_shape,
                          counted(static_cast<Index>(labels.size()), "label") + " for " + counted(points.rows(), "row"),
                          "Give one label per row", {.option = "labels"});
    const double largest = check_points(points, given_points(), run);
    if (options.dim > points.columns())
        throw refused_option("dim", std::int64_t{options.dim},
                             filled("at most the number of columns, {}", points.columns()));
    if (largest > kMostNumber)
        throw BadData(
            Code::too_large,
            filled("the largest magnitude is {}; at most {} is accepted", to_text(largest), to_text(kMostNumber)),
            "Rescale the columns",
            {.option = "points", .value = to_text(largest), .accepted = "magnitudes up to " + to_text(kMostNumber)});
    for (std::size_t j = 0; j < labels.size(); ++j)
        if (labels[j] < 0)
            throw BadData(Code::missing_value, "the row has no label", "Give the row a label or leave it out",
                          {.option = "labels", .row = static_cast<std::int64_t>(j) + 1});
}

void require_row(Index row, PointsView points, const char* option) {
    if (row < 0 || row >= points.rows())
        throw BadArgument(Code::out_of_range, filled("{} is not from 0 to {}", row, points.rows() - 1), "",
                          {.option = option, .value = std::to_string(row)});
}

double upper_end(double separation, double inradius, double distance) {
    if (inradius == 0 || separation == 0) return 0;
    return distance > 0 ? separation / (inradius * distance) : std::copysign(kInfinity, separation);
}
double lower_end(double norm, double inradius, double distance) {
    const double reach = inradius * (norm - distance);
    return reach > 0 ? 1 / reach : kInfinity;
}

// The points in the form that the later steps use.
struct Sample {
    PointsView points;
    const Labels& labels;
    Matrix<double> x;      // n x (d + 1), homogenised
    Vector<double> norms;  // of its rows
    const GeometryOptions& options;

    Sample(PointsView points_, const Labels& labels_, const GeometryOptions& options_)
        : points(points_), labels(labels_), x(points.rows(), points.columns() + 1), options(options_) {
        x.leftCols(points.columns()) = to_matrix<double>(points);
        x.rightCols(1).setConstant(std::sqrt(options.eta));
        norms = x.rowwise().norm();
    }
    PointGeometry around(const Vector<double>& y, std::int32_t label, Index self) const {
        PointGeometry out;
        Vector<double> own(y.size() + 1);
        own << y, std::sqrt(options.eta);
        out.norm = own.norm();
        find_neighbors(own, label, self, out);
        Vector<double> weights = representation_weights(points, y, self, options.weights);
        // Equal weights of sum 1 would all be 1 / n. In the paper all are 1 (W = I).
        if (options.weights == RepresentationWeights::equal)
            weights *= static_cast<double>(x.rows() - (self < 0 ? 0 : 1));
        if (weights.minCoeff() < kLeastWeight)
            throw BadData(Code::overflow,
                          filled("the smallest weight is {} times the sum of the weights, which is too small",
                                 to_text(weights.minCoeff())),
                          "Scale the columns down", about(self));

        const auto m = static_cast<Index>(out.neighbors.size());
        Matrix<double> neighbors(m, x.cols());
        Vector<double> neighbor_weights(m);
        for (Index i = 0; i < m; ++i) {
            neighbors.row(i) = x.row(out.neighbors[at(i)]);
            neighbor_weights[i] = weights[out.neighbors[at(i)]];
        }
        const double noise = 4 * kEpsilon * std::max(out.norm, neighbors.rowwise().norm().maxCoeff());
        const Matrix<double> span = orthonormal_span(neighbors, 0);
        out.rank = span.rows();
        out.full_rank = out.rank == options.dim + 1;
        if (out.rank > 0) {
            const Matrix<double> generators = neighbor_weights.cwiseInverse().asDiagonal() * neighbors;
            out.inradius = inradius_within(generators * span.transpose());
        }
        const Matrix<double> along = orthonormal_span(neighbors.bottomRows(m - 1).rowwise() - neighbors.row(0), noise);
        Vector<double> across = own - neighbors.row(0).transpose();
        for (int twice = 0; twice < 2; ++twice) across -= along.transpose() * (along * across);
        out.distance = across.norm();
        if (out.distance <= 4 * noise) out.distance = 0;

        out.lambda_0 = smallest_lambda(points, y, weights, options.eta);
        out.interval.lower = lower_end(out.norm, out.inradius, out.distance);
        const double unit = options.unit == LambdaUnit::lambda_l ? out.interval.lower : out.lambda_0;
        out.lambda = options.lambda.value_or(options.multiple * unit);
        out.solved = std::isfinite(out.lambda);
        if (!out.solved) return out;

        const Matrix<double> reduced = neighbors.leftCols(points.columns());
        const PointRepresentation dual = represent_point(reduced, y, neighbor_weights, out.lambda, options.eta);
        out.dual = dual.dual;
        separate(weights, span, label, self, out);
        out.interval.upper = upper_end(out.separation, out.inradius, out.distance);

        out.violation = dual.violation;
        double all = dual.coefficients.cwiseAbs().sum();
        double foreign = 0;
        // If all other conditions hold strictly, nu* is feasible for the whole problem. Its solution is then c* for the
        // neighbours and 0 for all other points.
        if (!(out.own_reach < 1 && out.foreign_reach < 1)) {
            const PointRepresentation whole = represent_point(points, y, weights, out.lambda, options.eta);
            out.violation = std::max(dual.violation, whole.violation);
            all = whole.coefficients.cwiseAbs().sum();
            for (Index j = 0; j < x.rows(); ++j)
                if (labels[at(j)] != label) foreign += std::abs(whole.coefficients[j]);
        }
        out.nonzero = all > 0;
        out.preserving = foreign == 0;
        out.foreign_share = out.nonzero ? foreign / all : 0.0;

        if (options.curvature > 0) {
            const double reach = options.reach > 0 ? options.reach : 1 / options.curvature;
            if (out.radius <= reach && options.curvature * out.radius <= 1) {
                const double bound = curvature_bound(options.curvature, out.radius);
                out.distance_bound = bound;
                out.curvature_interval = {lower_end(out.norm, out.inradius, bound),
                                          upper_end(out.separation, out.inradius, bound)};
            }
        }
        return out;
    }

private:
    void find_neighbors(const Vector<double>& own, std::int32_t label, Index self, PointGeometry& out) const {
        const Vector<double> distances = (x.rowwise() - own.transpose()).rowwise().norm();
        std::vector<std::pair<double, Index>> same;
        for (Index j = 0; j < x.rows(); ++j)
            if (j != self && labels[at(j)] == label) same.emplace_back(distances[j], j);
        const auto wanted = static_cast<std::size_t>(options.dim) + 1;
        if (same.size() < wanted)
            throw BadData(Code::too_few_rows,
                          filled("{} with the same label; `dim={}` needs {}",
                                 counted(static_cast<Index>(same.size()), "other row"), options.dim, wanted),
                          "Use a smaller `dim`, or add rows with this label", about(self));
        std::sort(same.begin(), same.end());
        out.radius = same[wanted - 1].first;
        const double limit = out.radius * (1 + kTie);
        for (const auto& [distance, j] : same)
            if (distance <= limit) out.neighbors.push_back(j);
        for (Index j = 0; j < x.rows(); ++j)
            out.others_in_ball += labels[at(j)] != label && distances[j] <= limit ? 1 : 0;
    }

    // Computes everything that depends on nu*.
    void separate(const Vector<double>& weights, const Matrix<double>& span, std::int32_t label, Index self,
                  PointGeometry& out) const {
        Vector<double> direction = span.transpose() * (span * out.dual);
        const double length = direction.norm();
        // If the projection of nu* on S~ is 0, `direction` stays 0.
        if (length > 0) direction /= length;
        out.separation = kInfinity;
        for (Index j = 0; j < x.rows(); ++j) {
            if (j == self) continue;
            const double reach = std::abs(x.row(j).dot(out.dual)) / weights[j];
            if (labels[at(j)] == label) {
                if (std::find(out.neighbors.begin(), out.neighbors.end(), j) == out.neighbors.end())
                    out.own_reach = std::max(out.own_reach, reach);
                continue;
            }
            out.foreign_reach = std::max(out.foreign_reach, reach);
            const double along = std::abs(x.row(j).dot(direction));
            out.coherence = std::max(out.coherence, along);
            // A point at 0 restricts nothing.
            if (norms[j] > 0) out.separation = std::min(out.separation, (weights[j] * out.inradius - along) / norms[j]);
        }
        out.separated = out.separation > 0;
        const double share = std::isinf(out.separation) ? 1.0 : out.separation / (1 + out.separation);
        out.near = out.separated && out.distance < out.norm * share;
    }
};

}  // namespace

const OptionSet& GeometryOptions::described() {
    static const OptionSet set =
        OptionSetFor<GeometryOptions>()
            .integer("dim", &GeometryOptions::dim, between(1, 20), "dimension of the manifolds, d_1")
            .choice("weights", &GeometryOptions::weights, {"linear", "exponential", "equal"},
                    "cost of using a row: its distance (linear), exp(2 distance) (exponential), or 1 (equal)")
            .real("eta", &GeometryOptions::eta, between(0, kMostNumber),
                  "square of a constant column that is added to the rows (homogenising coordinate)")
            .real("lambda", &GeometryOptions::lambda, OptionRange{.low = 0, .high = kMostNumber, .low_open = true},
                  "weight of the representation error", "`multiple` times `unit`")
            .real("multiple", &GeometryOptions::multiple, above(0), "value of `lambda` as a multiple of `unit`")
            .choice("unit", &GeometryOptions::unit, {"lambda-0", "lambda-l"},
                    "lambda-0: the smallest lambda that gives a representation other than 0; lambda-l: the lower end "
                    "of the interval of Lemma 1 (weighted manifold clustering)")
            .real("curvature", &GeometryOptions::curvature, between(0, kMostNumber),
                  "largest curvature of the curves, for Lemmas 2 and 3 (weighted manifold clustering); 0: omit them")
            .real("reach", &GeometryOptions::reach, between(0, kMostNumber),
                  "reach of the curves; 0 stands for the largest possible value, 1 / `curvature`");
    return set;
}

double curvature_bound(double curvature, double radius) {
    if (!(curvature >= 0) || !(radius >= 0) || !(curvature * radius <= 1))
        throw BadArgument(
            Code::not_accepted,
            filled("a curvature of {} with a radius of {} is not accepted", to_text(curvature), to_text(radius)),
            "Use numbers of at least 0 whose product is at most 1", {.option = "curvature"});
    // 1/kappa - sqrt(1/kappa^2 - zeta^2) without cancellation.
    const double share = curvature * radius;
    return share * radius / (1 + std::sqrt((1 - share) * (1 + share)));
}

double symmetric_inradius(const Matrix<double>& rows) {
    if (!rows.allFinite())
        throw BadArgument(Code::not_finite, "a number is infinite or NaN", "Use finite numbers", {.option = "rows"});
    const Matrix<double> span = orthonormal_span(rows, 0);
    return span.rows() > 0 ? inradius_within(rows * span.transpose()) : 0.0;
}

PointGeometry point_geometry(PointsView points, const Labels& labels, Index row, const GeometryOptions& options) {
    check(points, labels, options, Run(0, 1));
    require_row(row, points, "row");
    const Sample sample(points, labels, options);
    return sample.around(sample.x.row(row).head(points.columns()), labels[at(row)], row);
}

PointGeometry point_geometry(PointsView points, const Labels& labels, const Vector<double>& y, std::int32_t label,
                             const GeometryOptions& options) {
    check(points, labels, options, Run(0, 1));
    if (y.size() != points.columns())
        throw BadArgument(Code::wrong_shape,
                          counted(y.size(), "number") + " for data with " + counted(points.columns(), "column"),
                          "Give one number per column", {.option = "y"});
    if (!(y.cwiseAbs().maxCoeff() <= kMostNumber))
        throw BadData(y.allFinite() ? Code::too_large : Code::not_finite,
                      "a number is not finite or has a magnitude above " + to_text(kMostNumber), "Rescale the columns",
                      {.option = "y"});
    return Sample(points, labels, options).around(y, label, -1);
}

std::vector<PointGeometry> geometry(PointsView points, const Labels& labels, std::span<const Index> rows,
                                    const GeometryOptions& options, const Run& run) {
    check(points, labels, options, run);
    for (const Index row : rows) require_row(row, points, "rows");
    const Sample sample(points, labels, options);
    const auto count = static_cast<Index>(rows.size());
    std::vector<PointGeometry> out(rows.size());
    for (Index first = 0; first < count; first += kWave) {
        run.throw_if_stopped("geometry");
        const Index wave = std::min(kWave, count - first);
        for_each_block(wave, run.threads, [&](Index i, int) {
            const Index row = rows[at(first + i)];
            PointGeometry& found = out[at(first + i)];
            found = sample.around(sample.x.row(row).head(points.columns()), labels[at(row)], row);
            found.dual.resize(0);
        });
        run.report({.stage = "geometry",
                    .fraction = static_cast<double>(first + wave) / static_cast<double>(count),
                    .objective = std::numeric_limits<double>::quiet_NaN()});
    }
    return out;
}

}  // namespace coterie
