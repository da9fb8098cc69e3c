// Queries are solved in blocks of 128, so that one step of a block is one product in float with each tile of columns.
// Columns that, within rounding, may have the largest correlation are measured in double, in ascending order: if equal,
// the lowest is chosen. The Cholesky factor of the least-squares fit grows by a row per step.

#include "coterie/manifold/matching_pursuit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"
#include "coterie/manifold/internal/columns.hpp"

namespace coterie {
namespace {

using manifold::internal::Columns;

constexpr Index kQueries = 128;
constexpr double kNothing = 1e-12;  // relative to |x| |y|; a smaller correlation is a rounding error

using internal::at;

struct Candidate {
    float most;  // upper bound of its correlation
    std::int32_t column;
};

struct Query {
    Index self = -1;
    double norm = 0;  // |y~|
    double residual_norm = 0;
    std::vector<std::int32_t> chosen;
    Matrix<double> rows;    // the chosen columns, packed
    Matrix<double> factor;  // L L' = their Gram matrix
    Vector<double> coefficients;
    std::vector<double> y;
    std::vector<double> r;
};

struct Scratch {
    std::vector<float> product;
    std::vector<float> residual_rows;
    std::vector<std::int32_t> hits;
};

class Matching {
public:
    Matching(const Columns& columns, PointsView queries, bool among_themselves, const MatchingPursuitOptions& options)
        : x_(columns), queries_(queries), among_themselves_(among_themselves), options_(options) {}

    std::vector<Query> block(Index begin, Index end, Scratch& s) const {
        const Index width = x_.dimensions + 1;
        std::vector<Query> state(at(end - begin));
        std::vector<Index> open;
        for (Index row = 0; row < end - begin; ++row) {
            Query& query = state[at(row)];
            query.self = among_themselves_ ? begin + row : -1;
            query.y.resize(at(width));
            x_.pack(queries_, begin + row, query.y.data());
            query.r = query.y;
            for (const double value : query.y) query.norm += value * value;
            query.norm = std::sqrt(query.norm);
            query.residual_norm = query.norm;
            query.rows.resize(options_.nonzeros, width);
            query.factor.resize(options_.nonzeros, options_.nonzeros);
            if (query.norm > 0) open.push_back(row);
        }
        for (int step = 0; step < options_.nonzeros && !open.empty(); ++step) {
            std::vector<std::vector<Candidate>> candidates = look(open, state, s);
            std::vector<Index> left;
            for (std::size_t i = 0; i < open.size(); ++i) {
                Query& query = state[at(open[i])];
                if (extend(query, candidates[i]) && query.residual_norm > options_.tolerance * query.norm)
                    left.push_back(open[i]);
            }
            open = std::move(left);
        }
        return state;
    }

private:
    // Finds the columns that may have the largest correlation.
    std::vector<std::vector<Candidate>> look(const std::vector<Index>& open, const std::vector<Query>& state,
                                             Scratch& s) const {
        const Index d = x_.dimensions;
        const auto rows = static_cast<Index>(open.size());
        const double rounding = manifold::internal::product_rounding(d);
        s.product.resize(at(kQueries * Columns::kTile));
        s.residual_rows.resize(at(kQueries * d));
        s.hits.resize(at(Columns::kTile));
        std::vector<manifold::internal::ResidualTerms> terms(at(rows));
        std::vector<std::vector<Candidate>> candidates(at(rows));
        for (Index i = 0; i < rows; ++i) {
            const Query& query = state[at(open[at(i)])];
            double constant = x_.tail * query.r[at(d)];
            double squared = 0;
            for (Index p = 0; p < d; ++p) {
                s.residual_rows[at(i * d + p)] = static_cast<float>(query.r[at(p)]);
                constant += x_.center[p] * query.r[at(p)];
                squared += query.r[at(p)] * query.r[at(p)];
            }
            terms[at(i)] = {.constant = static_cast<float>(constant),
                            .slope = static_cast<float>(rounding * std::sqrt(squared)),
                            .rest = static_cast<float>(1e-6 * std::abs(constant)) + 1e-36F,
                            .factor = -std::numeric_limits<float>::infinity()};  // any column is better
        }
        for (Index tile = 0; tile < x_.tiles(); ++tile) {
            const Index first = tile * Columns::kTile;
            const Index size = x_.size_of(tile);
            const float* const norms = x_.norms.data() + first;
            x_.tile_products(tile, s.residual_rows.data(), rows, s.product.data());
            for (Index i = 0; i < rows; ++i) {
                const Query& query = state[at(open[at(i)])];
                manifold::internal::ResidualTerms& t = terms[at(i)];
                float* const product = s.product.data() + i * Columns::kTile;
                const auto leave_out = [&](Index column) {
                    if (column >= first && column < first + size) product[column - first] = -t.constant;
                };
                leave_out(query.self);
                for (const std::int32_t column : query.chosen) leave_out(column);
                t.factor = std::max(t.factor, scans_.largest(product, norms, size, t));
                std::int64_t screened = 0;
                const Index hits = scans_.reaching(manifold::internal::WeightKind::equal, product, norms, product, size,
                                                   t, s.hits.data(), &screened);
                for (Index h = 0; h < hits; ++h) {
                    const std::int32_t j = s.hits[at(h)];
                    const float most = std::abs(product[j] + t.constant) + t.slope * norms[j] + t.rest;
                    candidates[at(i)].push_back({most, static_cast<std::int32_t>(first + j)});
                }
            }
        }
        for (Index i = 0; i < rows; ++i)
            std::erase_if(candidates[at(i)],
                          [&](const Candidate& candidate) { return candidate.most < terms[at(i)].factor; });
        return candidates;
    }

    // Measures the candidates, adds the best one, and fits. Returns false if all are orthogonal to the residual.
    bool extend(Query& query, const std::vector<Candidate>& candidates) const {
        const Index d = x_.dimensions;
        double best = 0;
        Index column = -1;
        for (const Candidate& candidate : candidates) {
            const Index j = candidate.column;
            if (j == query.self || std::find(query.chosen.begin(), query.chosen.end(), j) != query.chosen.end())
                continue;
            double both[2];
            x_.products(j, query.r.data(), query.r.data(), both);
            const double correlation = std::abs(both[0] + x_.tail * query.r[at(d)]);
            const double length = std::sqrt(x_.square_norms[at(j)] + x_.tail * x_.tail);
            if (correlation <= kNothing * length * query.norm || correlation <= best) continue;
            best = correlation;
            column = j;
        }
        if (column < 0) return false;
        const auto size = static_cast<Index>(query.chosen.size());
        x_.pack(x_.points, column, query.rows.data() + size * (d + 1));
        Vector<double> products = query.rows.topRows(size + 1) * query.rows.row(size).transpose();
        for (Index i = 0; i < size; ++i) {
            for (Index j = 0; j < i; ++j) products[i] -= query.factor(i, j) * products[j];
            products[i] /= query.factor(i, i);
            query.factor(size, i) = products[i];
        }
        const double left = products[size] - products.head(size).squaredNorm();
        if (!(left > 1e-13 * products[size])) return false;
        query.factor(size, size) = std::sqrt(left);
        query.chosen.push_back(static_cast<std::int32_t>(column));
        const Eigen::Map<const eigen::Vector<double>> y(query.y.data(), d + 1);
        Vector<double> c = query.rows.topRows(size + 1) * y;
        const auto factor = query.factor.topLeftCorner(size + 1, size + 1);
        factor.template triangularView<Eigen::Lower>().solveInPlace(c);
        factor.transpose().template triangularView<Eigen::Upper>().solveInPlace(c);
        query.coefficients = c;
        Eigen::Map<eigen::Vector<double>> r(query.r.data(), d + 1);
        r = y - query.rows.topRows(size + 1).transpose() * c;
        query.residual_norm = r.norm();
        return true;
    }

    const Columns& x_;
    PointsView queries_;
    bool among_themselves_;
    const MatchingPursuitOptions& options_;
    const manifold::internal::ColumnScans& scans_ = manifold::internal::column_scans();
};

MatchingPursuit match_all(PointsView points, PointsView queries, bool among_themselves,
                          const MatchingPursuitOptions& options, const Run& run) {
    if (options.nonzeros < 1)
        throw refused_option("nonzeros", std::int64_t{options.nonzeros}, "a whole number, at least 1");
    for (const auto& [option, value] : {std::pair("tolerance", options.tolerance), std::pair("eta", options.eta)})
        if (!(value >= 0)) throw refused_option(option, value, "a number of at least 0");
    const Index least = among_themselves ? 2 : 1;
    if (points.rows() > std::numeric_limits<std::int32_t>::max() || points.rows() < least)
        throw BadArgument(
            points.rows() < least ? Code::too_few_rows : Code::limit_exceeded,
            internal::filled("{}; from {} to 2147483647 are supported", counted(points.rows(), "row"), least),
            {.option = "points"});
    manifold::internal::check_columns(points, queries);
    MatchingPursuit out;
    const Index count = queries.rows();
    out.coefficients = SparseMatrix(count, points.rows());
    if (count == 0) return out;
    const Columns columns = manifold::internal::columns_of(points, options.eta, run);
    if (!among_themselves) manifold::internal::check_queries(columns, queries, run);
    MatchingPursuitOptions used = options;
    used.nonzeros = static_cast<int>(std::min<Index>(options.nonzeros, points.rows()));
    const Matching matching(columns, queries, among_themselves, used);
    const RowBlocks blocks{count, kQueries};
    std::vector<std::vector<std::pair<std::int32_t, double>>> found(at(count));
    std::vector<double> residual(at(count), 0.0);
    std::vector<Scratch> scratch(at(std::max(run.threads, 1)));
    for_each_block(blocks.count(), run, {"matching pursuit"}, [&](Index block, int worker) {
        const Index begin = blocks.begin(block);
        const auto state = matching.block(begin, blocks.end(block), scratch[at(worker)]);
        for (std::size_t row = 0; row < state.size(); ++row) {
            const Query& query = state[row];
            auto& entries = found[at(begin) + row];
            for (std::size_t i = 0; i < query.chosen.size(); ++i)
                entries.emplace_back(query.chosen[i], query.coefficients[static_cast<Index>(i)]);
            std::sort(entries.begin(), entries.end());
            if (query.norm > 0) residual[at(begin) + row] = query.residual_norm / query.norm;
        }
    });
    out.coefficients = sparse_of_rows(found, out.coefficients.cols(), [](double value) { return value; });
    for (Index i = 0; i < count; ++i) out.mean_residual += residual[at(i)] / static_cast<double>(count);
    return out;
}

}  // namespace

MatchingPursuit match(PointsView points, const MatchingPursuitOptions& options, const Run& run) {
    return match_all(points, points, true, options, run);
}

MatchingPursuit match(PointsView points, PointsView queries, const MatchingPursuitOptions& options, const Run& run) {
    return match_all(points, queries, false, options, run);
}

}  // namespace coterie
