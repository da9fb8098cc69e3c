// The method of multipliers handles the constraint on the sum, so that the lasso's active set solves the problem. A
// linear system on the support then removes the rounding error of the penalty, if the result has a smaller violation.
// Sums of distances from all points use products in float, except for the distances of the neighbours, which are exact.

#include "coterie/manifold/smce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <Eigen/LU>

#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/neighbors.hpp"
#include "coterie/manifold/internal/columns.hpp"
#include "coterie/manifold/internal/reduced_lasso.hpp"
#include "coterie/model/model.hpp"

namespace coterie {
namespace {

using manifold::internal::Columns;
using manifold::internal::SparseRow;

constexpr Index kQueries = 128;
constexpr double kPenalty = 30;  // rho: the error of the sum shrinks at least by this factor in every round
constexpr double kSum = 1e-13;   // accepted error of the sum
constexpr int kRounds = 100;

using internal::at;

struct Scratch {
    std::vector<float> queries;
    std::vector<float> product;
    std::vector<float> squared;
    std::vector<float> key;
    std::vector<double> packed;
    manifold::internal::ReducedLasso lasso;
};

// Sums of the distances of queries begin..end-1 from all columns, scaled. Near 0, a distance in float would be the
// square root of a rounding error. So distances of neighbours are exact, and a point's distance from itself is 0.
std::vector<double> distance_sums(const Columns& x, PointsView queries, bool among_themselves, const Neighbors& near,
                                  Index begin, Index end, Scratch& s) {
    const Index d = x.dimensions;
    const auto& scans = manifold::internal::column_scans();
    s.queries.resize(at(kQueries * d));
    s.product.resize(at(kQueries * Columns::kTile));
    s.squared.resize(at(Columns::kTile));
    s.key.resize(at(Columns::kTile));
    s.packed.resize(at(d + 1));
    std::vector<manifold::internal::QueryTerms> terms(at(end - begin));
    std::vector<double> sums(at(end - begin), 0.0);
    for (Index i = begin; i < end; ++i) {
        float* const z = s.queries.data() + (i - begin) * d;
        x.pack(queries, i, s.packed.data());
        x.centre(s.packed.data(), z);
        double squared = 0;
        for (Index p = 0; p < d; ++p) squared += static_cast<double>(z[p]) * static_cast<double>(z[p]);
        terms[at(i - begin)] = {.squared = static_cast<float>(squared), .least = std::numeric_limits<float>::min()};
    }
    for (Index tile = 0; tile < x.tiles(); ++tile) {
        const Index first = tile * Columns::kTile;
        const Index size = x.size_of(tile);
        x.tile_products(tile, s.queries.data(), end - begin, s.product.data());
        for (Index i = 0; i < end - begin; ++i) {
            scans.keys(manifold::internal::WeightKind::linear, s.product.data() + i * Columns::kTile,
                       x.squared.data() + first, x.norms.data() + first, x.along.data() + first, size, terms[at(i)],
                       s.squared.data(), s.key.data());
            if (among_themselves && begin + i >= first && begin + i < first + size)
                s.squared[at(begin + i - first)] = 0;
            for (Index m = 0; m < near.count; ++m) {
                const std::size_t place = at((begin + i) * near.count + m);
                const Index j = near.indices[place];
                if (j < first || j >= first + size) continue;
                s.squared[at(j - first)] = static_cast<float>(near.squared[place] * x.scale * x.scale);
            }
            sums[at(i)] += scans.sum_of_roots(s.squared.data(), size);
        }
    }
    return sums;
}

struct Solved {
    Vector<double> coefficients;
    double violation = 0;
    double sum_error = 0;
};

// Measures how far c and mu are from optimal.
void certify(const Matrix<double>& gram, const Vector<double>& thresholds, double mu, Solved& solved) {
    const Vector<double> g = gram * solved.coefficients;
    solved.violation = 0;
    solved.sum_error = std::abs(1 - solved.coefficients.sum());
    for (Index j = 0; j < g.size(); ++j) {
        const double c = solved.coefficients[j];
        const double t = thresholds[j];
        solved.violation = std::max(
            solved.violation, c == 0 ? (std::abs(mu - g[j]) - t) / t : std::abs(mu - g[j] - (c < 0 ? -t : t)) / t);
    }
}

Solved solve(const Matrix<double>& directions, const Vector<double>& thresholds,
             manifold::internal::ReducedLasso& lasso) {
    const Index m = directions.rows();
    const Matrix<double> gram = directions * directions.transpose();
    const Matrix<double> penalised = gram.array() + kPenalty;
    Solved out;
    out.coefficients = Vector<double>::Zero(m);
    double missed = 0;
    for (int round = 0; round < kRounds; ++round) {
        const Vector<double> correlations = Vector<double>::Constant(m, kPenalty * (1 + missed));
        lasso.solve({penalised.data(), m, m, correlations.data(), thresholds.data(), 0.0}, out.coefficients.data());
        const double error = 1 - out.coefficients.sum();
        missed += error;
        if (std::abs(error) <= kSum) break;
    }
    certify(gram, thresholds, kPenalty * missed, out);
    // c contains the rounding error of rho. On the support, the conditions are a linear system without rho: g_j + t_j
    // sign(c_j) - mu = 0 and sum c = 1.
    const std::vector<std::int32_t>& support = lasso.support();
    const auto size = static_cast<Index>(support.size());
    Eigen::MatrixXd system = Eigen::MatrixXd::Zero(size + 1, size + 1);
    Vector<double> right(size + 1);
    for (Index i = 0; i < size; ++i) {
        const Index own = support[at(i)];
        for (Index j = 0; j < size; ++j) system(i, j) = gram(own, support[at(j)]);
        system(i, size) = -1;
        system(size, i) = 1;
        right[i] = out.coefficients[own] < 0 ? thresholds[own] : -thresholds[own];
    }
    right[size] = 1;
    const Eigen::PartialPivLU<Eigen::MatrixXd> factor(system);
    Vector<double> solution = factor.solve(right);
    solution += factor.solve(right - system * solution);
    if (!solution.allFinite()) return out;
    Solved refined;
    refined.coefficients = Vector<double>::Zero(m);
    for (Index i = 0; i < size; ++i) {
        if (!(solution[i] * out.coefficients[support[at(i)]] > 0)) return out;
        refined.coefficients[support[at(i)]] = solution[i];
    }
    certify(gram, thresholds, solution[size], refined);
    return refined.violation < out.violation ? refined : out;
}

SmceRepresentation represent_all(PointsView points, PointsView queries, bool among_themselves, double gamma,
                                 Index neighbors, const Run& run) {
    if (!(gamma > 0) || !std::isfinite(gamma)) throw refused_option("gamma", gamma, "a finite number above 0");
    const Index most = points.rows() - (among_themselves ? 1 : 0);
    if (neighbors < 1 || neighbors > most)
        throw BadArgument(Code::not_accepted,
                          internal::filled("{} is not accepted with {}", neighbors, counted(points.rows(), "row")),
                          "Use from 1 to " + std::to_string(most),
                          {.option = "neighbors",
                           .value = std::to_string(neighbors),
                           .accepted = "from 1 to " + std::to_string(most)});
    SmceRepresentation out;
    const Index count = queries.rows();
    out.coefficients = SparseMatrix(count, points.rows());
    if (count == 0) return out;
    const Columns x = manifold::internal::columns_of(points, 0.0, run);
    const Neighbors near = among_themselves ? nearest_neighbors(points, neighbors, run)
                                            : nearest_neighbors(points, queries, neighbors, run);
    const Index d = points.columns();
    const double least = (x.least > 0 ? x.least : 1.0) / x.scale;
    std::vector<SparseRow> found(at(count));
    std::vector<double> violation(at(count));
    std::vector<double> sum_error(at(count));
    std::vector<Scratch> scratch(at(std::max(run.threads, 1)));
    const RowBlocks blocks{count, kQueries};
    for_each_block(blocks.count(), run, {"representations"}, [&](Index block, int worker) {
        Scratch& s = scratch[at(worker)];
        const Index begin = blocks.begin(block);
        const std::vector<double> sums = distance_sums(x, queries, among_themselves, near, begin, blocks.end(block), s);
        Matrix<double> directions(neighbors, d);
        Vector<double> weights(neighbors);
        for (Index i = begin; i < blocks.end(block); ++i) {
            const double sum = std::max(sums[at(i - begin)] / x.scale, least);
            for (Index m = 0; m < neighbors; ++m) {
                const Index j = near.indices[at(i * neighbors + m)];
                const double distance = std::sqrt(near.squared[at(i * neighbors + m)]);
                for (Index p = 0; p < d; ++p)
                    directions(m, p) = distance > 0 ? (points.at(j, p) - queries.at(i, p)) / distance : 0.0;
                weights[m] = std::max(distance, least) / sum;
            }
            const Solved solved = solve(directions, gamma * weights, s.lasso);
            violation[at(i)] = solved.violation;
            sum_error[at(i)] = solved.sum_error;
            for (Index m = 0; m < neighbors; ++m)
                if (solved.coefficients[m] != 0)
                    found[at(i)].push_back({near.indices[at(i * neighbors + m)], {solved.coefficients[m], weights[m]}});
            std::sort(found[at(i)].begin(), found[at(i)].end());
        }
    });
    manifold::internal::write_rows(found, out.coefficients, out.weights);
    for (const double each : violation) out.worst_violation = std::max(out.worst_violation, each);
    for (const double each : sum_error) out.worst_sum = std::max(out.worst_sum, each);
    return out;
}

}  // namespace

SmceRepresentation smce_represent(PointsView points, double gamma, Index neighbors, const Run& run) {
    return represent_all(points, points, true, gamma, neighbors, run);
}

SmceRepresentation smce_represent(PointsView points, PointsView queries, double gamma, Index neighbors,
                                  const Run& run) {
    manifold::internal::check_columns(points, queries);
    return represent_all(points, queries, false, gamma, neighbors, run);
}

}  // namespace coterie
