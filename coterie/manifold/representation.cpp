// A block of queries needs one product with all columns, tile by tile. This product gives the distances, correlations
// and start columns of each query. The reduced problem of a query is solved in double. The next product, with the
// residuals of the unfinished queries, finds further columns that violate their condition. All distances, weights and
// correlations in the result are measured in double; float only selects candidates.

#include "coterie/manifold/representation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/manifold/internal/columns.hpp"
#include "coterie/manifold/internal/reduced_lasso.hpp"

// Screening. A column reaches its threshold only if |<x~_j, r~>| >= t_j, r~ = y~ - sum c x~. With z_j = x_j - m and
// <x~_j, r~> = <z_j, r> + k, k = <m, r> + sqrt(eta) r_tail, the Cauchy-Schwarz inequality gives |<x~_j, r~>| <= |z_j|
// |r| + |k|. If this is below t_j, column j is skipped for this r. The largest |z_j| and the smallest t_j of a tile can
// exclude the whole tile. The test is repeated for each r, so |r| may also rise.

namespace coterie {
namespace {

using manifold::internal::Columns;
using manifold::internal::QueryTerms;
using manifold::internal::ReducedLasso;
using manifold::internal::ReducedProblem;
using manifold::internal::ResidualTerms;
using manifold::internal::SparseRow;
using manifold::internal::WeightKind;

constexpr Index kQueries = 128;  // per block
constexpr Index kPiece = 256;    // columns examined before there is a limit on keys
constexpr double kRate = 2;      // w = exp(2 d)
constexpr double kNear = 0.7;    // a column below this fraction of its threshold leaves the reduced problem
constexpr double kMostWeight = 1e300;
constexpr std::size_t kMeasured = 64;  // columns measured before the next check for a violation

using internal::at;

struct Candidate {
    float key;
    std::int32_t column;
    bool operator<(const Candidate& other) const {  // the best one first
        return key > other.key || (key == other.key && column < other.column);
    }
};

// If there are more than `most` candidates, keeps only the `wanted` best. Keys below `limit` cannot be among the best.
void keep_best(std::vector<Candidate>& candidates, std::size_t wanted, std::size_t most, float& limit) {
    if (candidates.size() <= most) return;
    std::nth_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(wanted) - 1,
                     candidates.end());
    candidates.resize(wanted);
    limit = candidates.back().key;
}

// The state of a query between rounds.
struct Query {
    Index self = -1;
    double square_norm = 0;  // |s y|^2
    double norm = 0;         // |z_y|
    double reference = 0;    // distance at which an exponential weight is 1
    double lambda = 0;       // in units of the scaled points and of weights relative to the reference
    double ridge = 0;
    float next_key = 0;  // no key outside the start columns is larger
    double violation = 0;
    bool done = false;
    int rounds = 0;
    std::vector<std::int32_t> columns;  // those of the reduced problem
    std::vector<double> coefficients;   // of `columns`
    std::vector<double> thresholds;
};

struct Scratch {
    std::vector<float> lower;        // queries x n: lower bounds of squared distances, or given weights
    std::vector<float> lower_tiles;  // queries x tiles: the smallest of each
    std::vector<float> product;      // queries x tile
    std::vector<float> key;
    std::vector<std::int32_t> hits;
    std::vector<float> queries;          // z_y
    std::vector<double> packed_queries;  // queries x (d + 1)
    std::vector<double> residuals;       // queries x (d + 1)
    std::vector<float> residual_rows;    // the first d coordinates of the residuals of unfinished queries
    std::vector<std::vector<Candidate>> candidates;
    std::vector<Query> state;
    std::vector<double> packed;
    std::vector<double> gram;
    std::vector<double> correlations;
    std::vector<double> given;
    std::vector<std::int32_t> position;  // n: position in the reduced problem of the current query, or -1
    ReducedLasso lasso;
};

// Numbers of pairs of a column and a residual.
struct Pairs {
    double all = 0;
    double computed = 0;
    double screened = 0;
};

class Representing {
public:
    Representing(const Columns& columns, PointsView queries, bool among_themselves,
                 const RepresentationOptions& options)
        : x_(columns), queries_(queries), among_themselves_(among_themselves), options_(options) {
        if (options.given)
            kind_ = WeightKind::given;
        else if (options.weights == RepresentationWeights::exponential)
            kind_ = WeightKind::exponential;
        else if (options.weights == RepresentationWeights::equal || x_.least == 0)
            kind_ = WeightKind::equal;
        else
            kind_ = WeightKind::linear;
    }

    // Represents the queries begin..end-1.
    Pairs block(Index begin, Index end, Scratch& s, std::vector<SparseRow>& found, Representation& out) const {
        Pairs pairs;
        start(begin, end, s);
        std::vector<Index> open;
        for (Index row = 0; row < end - begin; ++row) {
            Query& query = s.state[at(row)];
            for (const Candidate& candidate : s.candidates[at(row)]) query.columns.push_back(candidate.column);
            std::sort(query.columns.begin(), query.columns.end());
            if (kind_ == WeightKind::given) options_.given(begin + row, s.given);
            reduce(row, s, true);
            if (!query.done) open.push_back(row);
        }
        while (!open.empty()) check(begin, open, s, pairs);

        for (Index row = 0; row < end - begin; ++row) {
            const Query& query = s.state[at(row)];
            const auto& c = query.coefficients;
            const bool finite = std::all_of(c.begin(), c.end(), [](double each) { return std::isfinite(each); });
            SparseRow& entries = found[at(begin + row)];
            for (std::size_t j = 0; j < c.size() && finite; ++j)
                if (c[j] != 0)
                    entries.push_back(
                        {query.columns[j],
                         {c[j], raw_weight(query, query.thresholds[j] * query.lambda / options_.l1_share)}});
            std::sort(entries.begin(), entries.end());
            const double square = x_.scale * x_.scale;
            out.lambda[at(begin + row)] = raw_weight(query, query.lambda * square);
            out.violation[at(begin + row)] = finite ? query.violation : std::numeric_limits<double>::infinity();
            out.rounds[at(begin + row)] = query.rounds;
        }
        return pairs;
    }

private:
    double weight(const Query& query, double distance, std::int32_t column, const Scratch& s) const {
        switch (kind_) {
            case WeightKind::linear: return std::max(distance, x_.least) / x_.scale;
            case WeightKind::exponential: return std::exp(kRate / x_.scale * (distance - query.reference));
            case WeightKind::equal: break;
            case WeightKind::given: return s.given[static_cast<std::size_t>(column)];
        }
        return 1.0;
    }

    // The weight as the header defines it.
    double raw_weight(const Query& query, double weight) const {
        if (kind_ != WeightKind::exponential || std::isinf(weight)) return weight;
        return std::min(kMostWeight, weight * std::exp(kRate / x_.scale * query.reference));
    }

    void start(Index begin, Index end, Scratch& s) const {
        const Index n = x_.count;
        const Index d = x_.dimensions;
        const Index rows = end - begin;
        s.state.assign(at(rows), {});
        s.lower.resize(at(kQueries * n));
        s.lower_tiles.resize(at(kQueries * x_.tiles()));
        s.product.resize(at(kQueries * Columns::kTile));
        s.key.resize(at(Columns::kTile));
        s.hits.resize(at(std::max(n, Columns::kTile)));
        s.packed_queries.resize(at(kQueries * (d + 1)));
        s.residuals.resize(at(kQueries * (d + 1)));
        s.residual_rows.resize(at(kQueries * d));
        s.queries.resize(at(kQueries * d));
        s.candidates.resize(at(kQueries));
        s.position.resize(at(n), -1);

        const auto rounding = static_cast<float>(manifold::internal::product_rounding(d));
        std::vector<QueryTerms> terms(at(rows));
        for (Index row = 0; row < rows; ++row) {
            double* const packed = s.packed_queries.data() + row * (d + 1);
            float* const z = s.queries.data() + row * d;
            x_.pack(queries_, begin + row, packed);
            x_.centre(packed, z);
            Query& query = s.state[at(row)];
            query.self = among_themselves_ ? begin + row : -1;
            double squared = 0;
            double along = 0;
            for (Index p = 0; p < d; ++p) {
                query.square_norm += packed[p] * packed[p];
                squared += static_cast<double>(z[p]) * static_cast<double>(z[p]);
                along += packed[p] * x_.center[p];
            }
            query.norm = std::sqrt(squared);
            terms[at(row)] = {.squared = static_cast<float>(squared),
                              .norm = static_cast<float>(query.norm * 1.000001),
                              .constant = static_cast<float>(along + x_.tail * x_.tail),
                              .slope = rounding,
                              .rest = static_cast<float>(4e-7 * (std::abs(along) + x_.tail * x_.tail +
                                                                 x_.largest_norm * x_.center.norm())) +
                                      1e-36F,
                              .rate = static_cast<float>(kRate / x_.scale),
                              .least = static_cast<float>(x_.least * x_.least)};
            s.candidates[at(row)].clear();
            if (kind_ == WeightKind::given) {
                s.given.resize(at(n));
                options_.given(begin + row, s.given);
                for (Index j = 0; j < n; ++j) {
                    const double value = s.given[at(j)];
                    if (!(value > 0))
                        throw BadArgument(Code::not_accepted,
                                          internal::filled("the weight of column {} for query {} is {}", j, begin + row,
                                                           to_text(value)),
                                          "Use weights above 0", {.option = "given", .value = to_text(value)});
                    s.lower[at(row * n + j)] = static_cast<float>(std::min(value, 1e38) * 0.9999999);
                }
            }
        }
        const auto wanted = static_cast<std::size_t>(std::min<Index>(options_.start, n));
        std::vector<float> limit(at(rows), -std::numeric_limits<float>::infinity());
        for (Index tile = 0; tile < x_.tiles(); ++tile) {
            internal::stop_if_asked();
            const Index first = tile * Columns::kTile;
            const Index size = x_.size_of(tile);
            x_.tile_products(tile, s.queries.data(), rows, s.product.data());
            for (Index row = 0; row < rows; ++row) {
                s.lower_tiles[at(row * x_.tiles() + tile)] = scans_.keys(
                    kind_, s.product.data() + row * Columns::kTile, x_.squared.data() + first, x_.norms.data() + first,
                    x_.along.data() + first, size, terms[at(row)], s.lower.data() + row * n + first, s.key.data());
                // Uses small pieces while there is no limit, because then every column is a candidate.
                for (Index done = 0; done < size;) {
                    const bool last = tile + 1 == x_.tiles();
                    const Index piece = tile == 0 ? std::min(kPiece, size - done) : size - done;
                    const Index hits = scans_.above(s.key.data() + done, piece, limit[at(row)], s.hits.data());
                    for (Index h = 0; h < hits; ++h) {
                        const Index j = done + s.hits[at(h)];
                        if (first + j == s.state[at(row)].self) continue;
                        s.candidates[at(row)].push_back({s.key[at(j)], static_cast<std::int32_t>(first + j)});
                    }
                    done += piece;
                    keep_best(s.candidates[at(row)], wanted, last && done == size ? wanted : 2 * wanted,
                              limit[at(row)]);
                }
            }
        }
        for (Index row = 0; row < rows; ++row) s.state[at(row)].next_key = limit[at(row)];
    }

    // The largest |b_j| / w_j of all columns; `largest` is that of the start columns. Measures the other columns that,
    // within rounding, may have a larger one.
    double largest_ratio(Index row, double largest, const Scratch& s) const {
        const Query& query = s.state[at(row)];
        const double rate = kRate / x_.scale;
        double key = largest;
        if (kind_ == WeightKind::linear)
            key = largest / x_.scale * (largest / x_.scale) * (1 - 1e-5);
        else if (kind_ == WeightKind::exponential)
            key = std::log(largest) - rate * query.reference -
                  1e-5 * (1 + std::abs(std::log(largest)) + rate * (x_.largest_norm + query.norm));
        else
            key *= 1 - 1e-5;
        if (key >= static_cast<double>(query.next_key)) return largest;
        const double* const y = s.packed_queries.data() + row * (x_.dimensions + 1);
        const double length = std::sqrt(query.square_norm);
        for (Index j = 0; j < x_.count; ++j) {
            if (j == query.self) continue;
            const double most = std::sqrt(x_.square_norms[at(j)]) * length + x_.tail * x_.tail;
            const double low = static_cast<double>(s.lower[at(row * x_.count + j)]);
            const double distance = std::sqrt(low) * (1 - 1e-6);
            const double least =
                kind_ == WeightKind::given ? low : weight(query, distance, static_cast<std::int32_t>(j), s);
            if (!(most > largest * least)) continue;
            double both[2];
            x_.products(j, y, y, both);
            const double exact = std::sqrt(x_.squared_distance(j, y, both[0], query.square_norm));
            largest = std::max(
                largest, std::abs(both[0] + x_.tail * x_.tail) / weight(query, exact, static_cast<std::int32_t>(j), s));
        }
        return largest;
    }

    // Solves the reduced problem of a row and computes its residual.
    void reduce(Index row, Scratch& s, bool first) const {
        internal::stop_if_asked();
        Query& query = s.state[at(row)];
        const Index width = x_.dimensions + 1;
        const auto m = static_cast<Index>(query.columns.size());
        const double* const y = s.packed_queries.data() + row * width;
        s.packed.resize(std::max(s.packed.size(), at((m + 1) * width)));
        s.gram.resize(std::max(s.gram.size(), at((m + 1) * (m + 1))));
        for (Index j = 0; j < m; ++j) x_.pack(x_.points, query.columns[at(j)], s.packed.data() + j * width);
        std::copy_n(y, width, s.packed.begin() + m * width);
        internal::block_products<double>().rows_by_rows(s.packed.data(), m + 1, width, s.packed.data(), m + 1, width,
                                                        width, s.gram.data(), m + 1);
        s.correlations.resize(at(m));
        for (Index j = 0; j < m; ++j) s.correlations[at(j)] = s.gram[at(m * (m + 1) + j)];
        query.thresholds.resize(at(m));
        for (Index j = 0; j < m; ++j) {
            const std::int32_t column = query.columns[at(j)];
            const double product = s.correlations[at(j)] - x_.tail * x_.tail;
            query.thresholds[at(j)] = std::sqrt(x_.squared_distance(column, y, product, query.square_norm));
        }
        if (first) {
            query.reference = std::numeric_limits<double>::infinity();
            for (const double distance : query.thresholds) query.reference = std::min(query.reference, distance);
        }
        for (Index j = 0; j < m; ++j)
            query.thresholds[at(j)] = weight(query, query.thresholds[at(j)], query.columns[at(j)], s);
        const double tau = options_.l1_share;
        if (first) {
            double largest = 0;
            for (Index j = 0; j < m; ++j)
                largest = std::max(largest, std::abs(s.correlations[at(j)]) / query.thresholds[at(j)]);
            largest = largest_ratio(row, largest, s);
            query.lambda = options_.multiple * tau / largest;
            const double square = x_.scale * x_.scale;
            // All weights are divided by the weight at a reference distance, so the whole objective is divided by it.
            const double at_reference = raw_weight(query, 1);
            if (options_.lambda && largest > 0) query.lambda = *options_.lambda / square / at_reference;
            query.ridge = (1 - tau) / query.lambda / at_reference;
            query.coefficients.assign(at(m), 0.0);
        }
        double* const r = residual(row, s);
        std::copy_n(y, width, r);
        if (!std::isfinite(query.lambda)) {  // all columns are orthogonal to the point
            query.done = true;
            return;
        }
        for (double& threshold : query.thresholds) threshold *= tau / query.lambda;
        const ReducedProblem problem{s.gram.data(),           m + 1,      m, s.correlations.data(),
                                     query.thresholds.data(), query.ridge};
        s.lasso.solve(problem, query.coefficients.data());
        for (const std::int32_t j : s.lasso.support()) {
            const double c = query.coefficients[static_cast<std::size_t>(j)];
            const double* const x = s.packed.data() + j * width;
            for (Index p = 0; p < width; ++p) r[p] -= c * x[p];
        }
        // Columns far from their threshold leave. If such a column violates its condition later, the next check adds
        // it.
        Index kept = 0;
        for (Index j = 0; j < m; ++j) {
            const double c = query.coefficients[at(j)];
            if (c == 0 && !(std::abs(s.lasso.gradient()[at(j)]) >= kNear * query.thresholds[at(j)])) continue;
            query.columns[at(kept)] = query.columns[at(j)];
            query.coefficients[at(kept)] = c;
            query.thresholds[at(kept)] = query.thresholds[at(j)];
            ++kept;
        }
        query.columns.resize(at(kept));
        query.coefficients.resize(at(kept));
        query.thresholds.resize(at(kept));
    }

    // Measures the columns that may violate their condition, and adds those that do to the reduced problem. If there
    // are none, the query is done.
    void measure(Index row, std::vector<Candidate>& hits, Scratch& s) const {
        Query& query = s.state[at(row)];
        const Index d = x_.dimensions;
        const double* const y = s.packed_queries.data() + row * (d + 1);
        const double* const r = residual(row, s);
        for (std::size_t j = 0; j < query.columns.size(); ++j)
            s.position[static_cast<std::size_t>(query.columns[j])] = static_cast<std::int32_t>(j);
        std::vector<std::pair<double, std::int32_t>> entering;
        query.violation = 0;
        for (std::size_t first = 0; first < hits.size() && entering.empty(); first += kMeasured) {
            const std::size_t last = std::min(hits.size(), first + kMeasured);
            if (last < hits.size())
                std::nth_element(hits.begin() + static_cast<std::ptrdiff_t>(first),
                                 hits.begin() + static_cast<std::ptrdiff_t>(last), hits.end());
            for (std::size_t h = first; h < last; ++h) {
                const std::int32_t column = hits[h].column;
                double both[2];
                x_.products(column, r, y, both);
                double gradient = both[0] + x_.tail * r[d];
                const double distance = std::sqrt(x_.squared_distance(column, y, both[1], query.square_norm));
                const double threshold = weight(query, distance, column, s) * options_.l1_share / query.lambda;
                const std::int32_t position = s.position[static_cast<std::size_t>(column)];
                const double c = position < 0 ? 0.0 : query.coefficients[static_cast<std::size_t>(position)];
                if (c != 0) {
                    gradient -= query.ridge * c;
                    const double error = std::abs(gradient - (c < 0 ? -threshold : threshold)) / threshold;
                    query.violation = std::max(query.violation, error);
                    continue;
                }
                const double excess = (std::abs(gradient) - threshold) / threshold;
                query.violation = std::max(query.violation, excess);
                if (excess > options_.tolerance && position < 0) entering.emplace_back(-excess, column);
            }
        }
        for (const std::int32_t column : query.columns) s.position[static_cast<std::size_t>(column)] = -1;
        query.done = entering.empty();
        std::sort(entering.begin(), entering.end());
        const std::size_t most = std::min(entering.size(), static_cast<std::size_t>(options_.add));
        for (std::size_t e = 0; e < most; ++e) {
            query.columns.push_back(entering[e].second);
            query.coefficients.push_back(0.0);
        }
    }

    // Copies the residuals of the open rows to s.residual_rows and clears the rows' candidates. Returns what the
    // screening of each row needs.
    std::vector<ResidualTerms> residual_terms(const std::vector<Index>& open, Scratch& s) const {
        const Index d = x_.dimensions;
        const auto rows = static_cast<Index>(open.size());
        const double rounding = manifold::internal::product_rounding(d);
        std::vector<ResidualTerms> terms(at(rows));
        for (Index i = 0; i < rows; ++i) {
            const Query& query = s.state[at(open[at(i)])];
            const double* const r = residual(open[at(i)], s);
            double squared = 0;
            double constant = x_.tail * r[d];
            for (Index p = 0; p < d; ++p) {
                s.residual_rows[at(i * d + p)] = static_cast<float>(r[p]);
                squared += r[p] * r[p];
                constant += x_.center[p] * r[p];
            }
            const double norm = std::sqrt(squared);
            const double rate = kRate / x_.scale;
            // Exponents also have rounding errors: a few units of the largest possible exponent.
            const double exponents =
                kind_ == WeightKind::exponential ? 1e-6 * rate * (x_.largest_norm + query.norm + query.reference) : 0.0;
            const double unit = options_.l1_share / query.lambda * (kind_ == WeightKind::linear ? 1 / x_.scale : 1.0);
            terms[at(i)] = {.constant = static_cast<float>(constant),
                            .slope = static_cast<float>(rounding * norm),
                            .rest = static_cast<float>(1e-6 * std::abs(constant)) + 1e-36F,
                            .factor = static_cast<float>(std::min(1e37, unit * (1 - 2e-6) * std::exp(-exponents))),
                            .rate = static_cast<float>(rate),
                            .reference = static_cast<float>(rate * query.reference),
                            .least = static_cast<float>(x_.least * x_.least),
                            .norm = static_cast<float>(norm * 1.000001)};
            s.candidates[at(open[at(i)])].clear();
        }
        return terms;
    }

    // Whether some column of the tile may reach its threshold for some open row.
    bool tile_needed(Index tile, const std::vector<Index>& open, const std::vector<ResidualTerms>& terms,
                     const Scratch& s) const {
        for (std::size_t i = 0; i < open.size(); ++i) {
            const ResidualTerms& t = terms[i];
            const float weight = least_weight(t, s.lower_tiles[at(open[i] * x_.tiles() + tile)]);
            const float reach = x_.tile_norms[at(tile)] * t.norm + std::abs(t.constant) + t.rest;
            if (!(reach < t.factor * weight * 0.99999F)) return true;
        }
        return false;
    }

    // Adds the columns of the tile that may reach their threshold to the candidates of the open rows. Returns the
    // number of pairs that screening skipped.
    std::int64_t check_tile(Index tile, const std::vector<Index>& open, const std::vector<ResidualTerms>& terms,
                            Scratch& s) const {
        const Index first = tile * Columns::kTile;
        const Index size = x_.size_of(tile);
        const auto rows = static_cast<Index>(open.size());
        std::int64_t screened = 0;
        x_.tile_products(tile, s.residual_rows.data(), rows, s.product.data());
        for (Index i = 0; i < rows; ++i) {
            const Index row = open[at(i)];
            const Query& query = s.state[at(row)];
            const float* const product = s.product.data() + i * Columns::kTile;
            const float* const low = s.lower.data() + row * x_.count + first;
            const ResidualTerms& t = terms[at(i)];
            const Index hits =
                scans_.reaching(kind_, product, x_.norms.data() + first, low, size, t, s.hits.data(), &screened);
            for (Index h = 0; h < hits; ++h) {
                const std::int32_t j = s.hits[at(h)];
                if (first + j == query.self) continue;
                const float ratio = std::abs(product[j] + t.constant) / (least_weight(t, low[j]) * t.factor);
                s.candidates[at(row)].push_back({std::isnan(ratio) ? std::numeric_limits<float>::infinity() : ratio,
                                                 static_cast<std::int32_t>(first + j)});
            }
        }
        return screened;
    }

    // One round: checks all columns against the residuals of the open rows.
    void check(Index begin, std::vector<Index>& open, Scratch& s, Pairs& pairs) const {
        const auto rows = static_cast<Index>(open.size());
        const std::vector<ResidualTerms> terms = residual_terms(open, s);
        std::int64_t screened = 0;
        for (Index tile = 0; tile < x_.tiles(); ++tile) {
            internal::stop_if_asked();
            const Index size = x_.size_of(tile);
            pairs.all += static_cast<double>(rows * size);
            if (options_.screening && !tile_needed(tile, open, terms, s)) {
                screened += rows * size;
                continue;
            }
            pairs.computed += static_cast<double>(rows * size);
            screened += check_tile(tile, open, terms, s);
        }
        pairs.screened += static_cast<double>(screened);
        std::vector<Index> left;
        for (const Index row : open) {
            Query& query = s.state[at(row)];
            if (kind_ == WeightKind::given) options_.given(begin + row, s.given);
            ++query.rounds;
            measure(row, s.candidates[at(row)], s);
            if (query.done) continue;
            if (query.rounds >= options_.max_rounds) {
                query.done = true;
                continue;
            }
            reduce(row, s, false);
            left.push_back(row);
        }
        open = std::move(left);
    }

    // The smallest weight that a lower bound allows, in the units of the terms. `low` is a lower bound of a squared
    // distance, or a given weight.
    float least_weight(const ResidualTerms& terms, float low) const {
        if (kind_ == WeightKind::linear) return std::sqrt(std::max(low, terms.least));
        if (kind_ == WeightKind::exponential)
            return std::exp(std::clamp(terms.rate * std::sqrt(low) - terms.reference, -80.0F, 80.0F));
        return kind_ == WeightKind::given ? low : 1;
    }
    double* residual(Index row, Scratch& s) const { return s.residuals.data() + row * (x_.dimensions + 1); }

    const Columns& x_;
    PointsView queries_;
    bool among_themselves_;
    const RepresentationOptions& options_;
    WeightKind kind_ = WeightKind::linear;
    const manifold::internal::ColumnScans& scans_ = manifold::internal::column_scans();
};

Representation represent_all(PointsView points, PointsView queries, bool among_themselves,
                             const RepresentationOptions& options, const Run& run) {
    check_options(options);
    if (!(options.l1_share > 0)) throw refused_option("l1_share", options.l1_share, "a number above 0, at most 1");
    if (points.rows() > std::numeric_limits<std::int32_t>::max())
        throw BadArgument(Code::limit_exceeded, counted(points.rows(), "row") + "; at most 2147483647 are supported",
                          "", {.option = "points"});
    if (points.rows() < (among_themselves ? 2 : 1))
        throw BadArgument(
            Code::too_few_rows,
            counted(points.rows(), "row") + ", but at least " + (among_themselves ? "2 are" : "1 is") + " needed", "",
            {.option = "points"});
    manifold::internal::check_columns(points, queries);
    Representation out;
    const Index count = queries.rows();
    out.coefficients = SparseMatrix(count, points.rows());
    if (count == 0) return out;
    const Columns columns = manifold::internal::columns_of(points, options.eta, run);
    if (!among_themselves) manifold::internal::check_queries(columns, queries, run);
    const RowBlocks blocks{count, kQueries};
    const int threads = std::max(1, std::min(run.threads, static_cast<int>(std::min<Index>(blocks.count(), 4096))));
    require_memory(static_cast<double>(threads) *
                       (4.0 * static_cast<double>(kQueries) * static_cast<double>(points.rows()) +
                        static_cast<double>(options.start + options.add) * 8 * static_cast<double>(points.columns())),
                   "blocks of distances");
    out.lambda.resize(at(count));
    out.violation.resize(at(count));
    out.rounds.resize(at(count));
    std::vector<SparseRow> found(at(count));
    std::vector<Pairs> pairs(at(blocks.count()));
    std::vector<Scratch> scratch(at(std::max(run.threads, 1)));
    const Representing representing(columns, queries, among_themselves, options);
    for_each_block(blocks.count(), run, {"representations"}, [&](Index block, int worker) {
        pairs[at(block)] = representing.block(blocks.begin(block), blocks.end(block), scratch[at(worker)], found, out);
    });
    manifold::internal::write_rows(found, out.coefficients, out.weights);
    Pairs sums;
    for (const Pairs& each : pairs) {
        sums.all += each.all;
        sums.computed += each.computed;
        sums.screened += each.screened;
    }
    out.products = 1 + sums.computed / (static_cast<double>(count) * static_cast<double>(points.rows()));
    out.screened = sums.all > 0 ? sums.screened / sums.all : 0.0;
    for (Index i = 0; i < count; ++i) {
        out.empty += found[at(i)].empty() ? 1 : 0;
        out.mean_rounds += out.rounds[at(i)];
        out.worst_violation = std::max(out.worst_violation, out.violation[at(i)]);
        if (!(out.violation[at(i)] <= options.tolerance))
            ++(out.rounds[at(i)] >= options.max_rounds ? out.unfinished : out.inexact);
    }
    out.mean_rounds /= static_cast<double>(count);
    return out;
}

}  // namespace

const OptionSet& RepresentationOptions::described() {
    static const OptionSet set =
        OptionSetFor<RepresentationOptions>()
            .choice("weights", &RepresentationOptions::weights, {"linear", "exponential", "equal"},
                    "cost of using a column: its distance (linear), exp(2 distance) (exponential), or 1 (equal)")
            .real("multiple", &RepresentationOptions::multiple, above(0), "value of `lambda` in units of lambda_0")
            .real("lambda", &RepresentationOptions::lambda, above(0), "weight of the representation error",
                  "`multiple` times lambda_0")
            .real("eta", &RepresentationOptions::eta, at_least(0),
                  "square of a constant column that is added to the rows (homogenising coordinate)")
            .real("l1_share", &RepresentationOptions::l1_share, between(0, 1),
                  "tau of the elastic net; 1: only the l1 penalty")
            .integer("start", &RepresentationOptions::start, at_least(1),
                     "number of columns of the first reduced problem")
            .integer("add", &RepresentationOptions::add, at_least(1),
                     "maximum number of columns that are added per round")
            .integer("max_rounds", &RepresentationOptions::max_rounds, at_least(1),
                     "maximum number of checks of all columns")
            .real("tolerance", &RepresentationOptions::tolerance, between(1e-10, 1e-3),
                  "accepted violation, in units of a column's weight")
            .flag("screening", &RepresentationOptions::screening,
                  "skip columns whose length proves that they are not used");
    return set;
}

Representation represent(PointsView points, const RepresentationOptions& options, const Run& run) {
    return represent_all(points, points, true, options, run);
}

Representation represent(PointsView points, PointsView queries, const RepresentationOptions& options, const Run& run) {
    return represent_all(points, queries, false, options, run);
}

// ---------------------------------------------------------------- one point, all in double

namespace {

double dot_row(PointsView points, Index j, const double* a) {
    return points.visit([&](auto rows) {
        double sum = 0;
        for (Index p = 0; p < rows.columns; ++p) sum += static_cast<double>(rows.row(j)[p]) * a[p];
        return sum;
    });
}

void check_point(PointsView points, const Vector<double>& y) {
    if (points.rows() < 1 || y.size() != points.columns())
        throw BadArgument(Code::wrong_shape,
                          counted(y.size(), "number") + " for " + counted(points.rows(), "row") + " of " +
                              counted(points.columns(), "column"),
                          "Give one number per column, and at least one row", {.option = "y"});
}

}  // namespace

Vector<double> representation_weights(PointsView points, const Vector<double>& y, Index self,
                                      RepresentationWeights weights) {
    check_point(points, y);
    const Index n = points.rows();
    const double infinity = std::numeric_limits<double>::infinity();
    Vector<double> out(n);
    if (weights == RepresentationWeights::equal) {
        out.setOnes();
    } else {
        const Matrix<double> x = to_matrix<double>(points);
        const Eigen::RowVectorXd middle = x.colwise().mean();
        const double rms = std::sqrt((x.rowwise() - middle).rowwise().squaredNorm().mean());
        out = (x.rowwise() - y.transpose()).rowwise().norm();
        if (weights == RepresentationWeights::linear) {
            if (rms > 1e-14 * middle.norm())
                out = out.cwiseMax(1e-6 * rms);
            else
                out.setOnes();
        } else {
            double nearest = infinity;
            for (Index j = 0; j < n; ++j)
                if (j != self) nearest = std::min(nearest, out[j]);
            if (std::isfinite(nearest))
                for (double& each : out) each = std::min(kMostWeight, std::exp(kRate * (each - nearest)));
        }
    }
    double sum = 0;
    for (Index j = 0; j < n; ++j)
        if (j != self) sum += out[j];
    if (sum > 0) out /= sum;
    if (self >= 0) out[self] = infinity;
    return out;
}

double smallest_lambda(PointsView points, const Vector<double>& y, const Vector<double>& weights, double eta) {
    check_point(points, y);
    double largest = 0;
    for (Index j = 0; j < points.rows(); ++j)
        largest = std::max(largest, std::abs(dot_row(points, j, y.data()) + eta) / weights[j]);
    return 1 / largest;
}

PointRepresentation represent_point(PointsView points, const Vector<double>& y, const Vector<double>& weights,
                                    double lambda, double eta) {
    check_point(points, y);
    const Index n = points.rows();
    const Index d = points.columns();
    if (weights.size() != n)
        throw BadArgument(Code::wrong_shape, counted(weights.size(), "weight") + " for " + counted(n, "row"),
                          "Give one weight per row", {.option = "weights"});
    if (!(lambda > 0) || !std::isfinite(lambda)) throw refused_option("lambda", lambda, "a finite number above 0");
    if (!(eta >= 0)) throw refused_option("eta", eta, "a number of at least 0");
    for (Index j = 0; j < n; ++j)
        if (!(weights[j] > 0))
            throw BadArgument(Code::not_accepted, to_text(weights[j]) + " is not accepted", "Use weights above 0",
                              {.option = "weights", .value = to_text(weights[j]), .row = j + 1});
    constexpr double tolerance = 1e-10;
    constexpr std::size_t most = 60;
    const double tail = std::sqrt(eta);
    PointRepresentation out;
    Vector<double> own(d + 1);
    own << y, tail;
    Vector<double> r = own;
    std::vector<std::int32_t> columns;
    std::vector<double> coefficients;
    std::vector<char> chosen(at(n), 0);
    ReducedLasso lasso;
    // Every round adds columns that violate their condition. No column leaves.
    for (;;) {
        std::vector<std::pair<double, std::int32_t>> entering;
        out.violation = 0;
        for (Index j = 0; j < n; ++j) {
            if (!std::isfinite(weights[j])) continue;
            const double gradient = lambda * (dot_row(points, j, r.data()) + tail * r[d]);
            const double excess = (std::abs(gradient) - weights[j]) / weights[j];
            out.violation = std::max(out.violation, excess);
            if (excess > tolerance && chosen[at(j)] == 0) entering.emplace_back(-excess, j);
        }
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (coefficients[i] == 0) continue;
            const Index j = columns[i];
            const double gradient = lambda * (dot_row(points, j, r.data()) + tail * r[d]);
            const double wanted = coefficients[i] < 0 ? -weights[j] : weights[j];
            out.violation = std::max(out.violation, std::abs(gradient - wanted) / weights[j]);
        }
        if (entering.empty()) break;
        std::sort(entering.begin(), entering.end());
        for (std::size_t e = 0; e < std::min(most, entering.size()); ++e) {
            columns.push_back(entering[e].second);
            coefficients.push_back(0);
            chosen[static_cast<std::size_t>(entering[e].second)] = 1;
        }
        const auto m = static_cast<Index>(columns.size());
        Matrix<double> x(m, d + 1);
        Vector<double> thresholds(m);
        for (Index i = 0; i < m; ++i) {
            const Index j = columns[at(i)];
            for (Index p = 0; p < d; ++p) x(i, p) = points.at(j, p);
            x(i, d) = tail;
            thresholds[i] = weights[j] / lambda;
        }
        const Matrix<double> gram = x * x.transpose();
        const Vector<double> correlations = x * own;
        lasso.solve({gram.data(), m, m, correlations.data(), thresholds.data(), 0.0}, coefficients.data());
        r = own;
        for (const std::int32_t i : lasso.support())
            r -= coefficients[static_cast<std::size_t>(i)] * x.row(i).transpose();
    }
    out.coefficients = Vector<double>::Zero(n);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        out.coefficients[columns[i]] = coefficients[i];
        if (coefficients[i] != 0) out.objective += weights[columns[i]] * std::abs(coefficients[i]);
    }
    out.objective += 0.5 * lambda * r.squaredNorm();
    out.dual = lambda * r;
    return out;
}

}  // namespace coterie
