// Three solvers: EM as in the paper; Newton's method on the dual; Newton on y itself, for comparison. The dual has only
// K - 1 variables, so a step costs one pass over the rows, and the solver reaches the optimum up to rounding.
// Predictions are packed in tiles of 16 rows, so that a SIMD vector holds numbers of several rows for one cluster. Sums
// are in double, over fixed blocks in a fixed order. The dual is a function of differences of multipliers. If
// predictions are saturated, the solver first solves for smoothed predictions, and then reduces the smoothing.

#include "coterie/entropy/label_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <Eigen/Cholesky>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/entropy/internal/kernels.hpp"
#include "coterie/linalg/products.hpp"

namespace coterie {
namespace {

using entropy::internal::label_kernels;
using entropy::internal::of_type;
using entropy::internal::tile_rows;
using internal::at;
using internal::filled;

// A smaller prediction changes no sum. For a prediction above this, y = sigma / (mu - a) is still exact enough.
template <class T>
constexpr T least_prediction = std::is_same_v<T, float> ? T(1e-30) : T(1e-20);

constexpr Index most_blocks = 256;       // number of partial sums
constexpr double rounding_floor = 1e-9;  // for gradients: below it, rounding may prevent any progress

template <class T>
void check_input(const Matrix<T>& predictions, const LabelSettings& settings, const FixedLabels<T>& fixed) {
    const Index n = predictions.rows();
    const Index k = predictions.cols();
    if (n < 1 || k < 1)
        throw BadArgument(Code::empty, counted(n, "row") + " of " + counted(k, "cluster"),
                          "Give at least one row and one cluster", {.option = "predictions"});
    if (!(settings.lambda > 0 && settings.lambda <= 1e6))
        throw refused_option("lambda", settings.lambda, "a number above 0, at most 1e6");
    for (const auto& [option, rounds] : {std::pair("rounds", settings.rounds), std::pair("steps", settings.steps)})
        if (rounds < 1) throw refused_option(option, std::int64_t{rounds}, "a whole number, at least 1");
    if (!(settings.tolerance >= 0)) throw refused_option("tolerance", settings.tolerance, "a number of at least 0");
    if (static_cast<Index>(fixed.rows.size()) != fixed.labels.rows() ||
        (!fixed.rows.empty() && fixed.labels.cols() != k))
        throw BadArgument(
            Code::wrong_shape,
            filled("{}, but labels of {} x {}", counted(static_cast<Index>(fixed.rows.size()), "fixed row"),
                   fixed.labels.rows(), fixed.labels.cols()),
            "Give " + counted(k, "number") + " for each fixed row", {.option = "fixed"});
    for (std::size_t i = 0; i < fixed.rows.size(); ++i)
        if (fixed.rows[i] < 0 || fixed.rows[i] >= n || (i > 0 && fixed.rows[i] <= fixed.rows[i - 1]))
            throw BadArgument(Code::out_of_range,
                              filled("the fixed rows are not ascending numbers from 0 to {}", n - 1), "",
                              {.option = "fixed"});
}

// Rows with free labels, in tiles.
template <class T>
class FreeRows {
public:
    FreeRows(const Matrix<T>& predictions, const FixedLabels<T>& fixed)
        : predictions_(predictions), count_(predictions.rows() - static_cast<Index>(fixed.rows.size())) {
        if (fixed.rows.empty()) return;
        rows_.reserve(at(count_));
        auto next = fixed.rows.begin();
        for (Index i = 0; i < predictions.rows(); ++i) {
            if (next != fixed.rows.end() && *next == i)
                ++next;
            else
                rows_.push_back(i);
        }
    }

    Index count() const { return count_; }
    Index tiles() const { return (count_ + tile_rows - 1) / tile_rows; }
    Index row(Index j) const { return rows_.empty() ? j : rows_[at(j)]; }
    /// Number of rows in a tile; the last one may not be full.
    Index rows_of(Index tile) const { return std::min(tile_rows, count_ - tile * tile_rows); }

    /// (1 - smoothing) sigma + smoothing / K, at least least_prediction. Rows after the last are copies of it.
    template <class To>
    void pack(Index tile, double smoothing, To* out) const {
        const Index k = predictions_.cols();
        const T keep = static_cast<T>(1 - smoothing);
        const T more = static_cast<T>(smoothing / static_cast<double>(k));
        const Index here = rows_of(tile);
        for (Index r = 0; r < tile_rows; ++r) {
            const T* const from = predictions_.data() + row(tile * tile_rows + std::min(r, here - 1)) * k;
            for (Index c = 0; c < k; ++c)
                out[c * tile_rows + r] = static_cast<To>(std::max(keep * from[c] + more, least_prediction<T>));
        }
    }
    void unpack(Index tile, const T* in, Matrix<T>& out) const {
        const Index k = predictions_.cols();
        for (Index r = 0; r < rows_of(tile); ++r) {
            T* const to = out.data() + row(tile * tile_rows + r) * k;
            for (Index c = 0; c < k; ++c) to[c] = in[c * tile_rows + r];
        }
    }

private:
    const Matrix<T>& predictions_;
    Index count_;
    std::vector<Index> rows_;  // empty: all rows
};

// Blocks of tiles that fit into the cache, with a limited number of partial sums.
RowBlocks tile_blocks(Index tiles, Index clusters) {
    const Index cached = std::max<Index>(1, 8192 / (clusters * tile_rows));
    return {tiles, std::max(cached * 4, (tiles + most_blocks - 1) / most_blocks)};
}

int threads_of(Index rows, Index clusters, int threads) {
    return threads_for(static_cast<double>(rows) * static_cast<double>(clusters) * 4, threads);
}

Vector<double> add_up(const std::vector<Vector<double>>& partial, Vector<double> start) {
    for (const auto& each : partial) start += each;
    return start;
}

template <class T>
Vector<double> sums_of(const FixedLabels<T>& fixed, Index clusters) {
    if (fixed.rows.empty()) return Vector<double>::Zero(clusters);
    return fixed.labels.template cast<double>().colwise().sum().transpose();
}

template <class T>
void copy_fixed(const FixedLabels<T>& fixed, Matrix<T>& labels) {
    for (std::size_t i = 0; i < fixed.rows.size(); ++i) labels.row(fixed.rows[i]) = fixed.labels.row(at(i));
}

// ---- EM, equations 45 and 46

template <class T>
LabelSolution<T> solve_em(const Matrix<T>& predictions, const LabelSettings& settings, const std::vector<double>& prior,
                          int threads, const FixedLabels<T>& fixed) {
    const Index k = predictions.cols();
    const auto n = static_cast<double>(predictions.rows());
    const FreeRows<T> rows(predictions, fixed);
    const Index tile_size = k * tile_rows;
    require_memory(sizeof(T) * (2.0 * static_cast<double>(rows.tiles() * tile_size) + n * static_cast<double>(k)),
                   "the label solver");
    std::vector<T> sigma(at(rows.tiles() * tile_size));
    std::vector<T> y(sigma.size());
    const RowBlocks blocks = tile_blocks(rows.tiles(), k);
    const int workers = threads_of(rows.count(), k, threads);
    const Vector<double> known = sums_of(fixed, k);
    std::vector<Vector<double>> partial(at(blocks.count()), Vector<double>::Zero(k));

    for_each_block(blocks.count(), workers, [&](Index block, int) {
        for (Index tile = blocks.begin(block); tile < blocks.end(block); ++tile) {
            T* const packed = sigma.data() + tile * tile_size;
            rows.pack(tile, 0.0, packed);
            // In a tile that is not full, rows of zeros remain zero and add nothing.
            for (Index c = 0; c < k; ++c) {
                for (Index r = rows.rows_of(tile); r < tile_rows; ++r) packed[c * tile_rows + r] = T(0);
                for (Index r = 0; r < tile_rows; ++r)
                    partial[at(block)][c] += static_cast<double>(packed[c * tile_rows + r]);
            }
            std::copy(packed, packed + tile_size, y.data() + tile * tile_size);
        }
    });
    Vector<double> sums = add_up(partial, known);

    LabelSolution<T> out;
    out.gradient = std::numeric_limits<double>::infinity();
    std::vector<T> factor(at(k));
    std::vector<std::vector<T>> lanes(at(std::max(1, workers)), std::vector<T>(at(tile_size)));
    // Number of tiles that a lane sums in T before the sum is added to one in double.
    constexpr Index tiles_a_call = 64;
    while (out.rounds < settings.rounds && !out.converged) {
        for (Index c = 0; c < k; ++c) factor[at(c)] = static_cast<T>(settings.lambda * n * prior[at(c)] / sums[c]);
        for_each_block(blocks.count(), workers, [&](Index block, int worker) {
            std::vector<T>& lane = lanes[at(worker)];
            Vector<double>& sum = partial[at(block)];
            sum.setZero();
            for (Index tile = blocks.begin(block); tile < blocks.end(block); tile += tiles_a_call) {
                const Index end = std::min(tile + tiles_a_call, blocks.end(block));
                std::fill(lane.begin(), lane.end(), T(0));
                of_type<T>(label_kernels())
                    .round(sigma.data() + tile * tile_size, y.data() + tile * tile_size, end - tile, k, factor.data(),
                           lane.data());
                for (Index c = 0; c < k; ++c)
                    for (Index r = 0; r < tile_rows; ++r) sum[c] += static_cast<double>(lane[at(c * tile_rows + r)]);
            }
        });
        Vector<double> next = add_up(partial, known);
        ++out.rounds;
        out.converged = settings.tolerance > 0 && (next - sums).cwiseAbs().maxCoeff() <= settings.tolerance * n;
        sums = std::move(next);
    }

    out.labels.resize(predictions.rows(), k);
    for_each_block(blocks.count(), workers, [&](Index block, int) {
        for (Index tile = blocks.begin(block); tile < blocks.end(block); ++tile)
            rows.unpack(tile, y.data() + tile * tile_size, out.labels);
    });
    copy_fixed(fixed, out.labels);
    return out;
}

// ---- the dual

// The root B of sum_k lambda u_k / (B + c_k) = 1. If multipliers c are known up to a constant, B is the best constant:
// a = B + c has sum_k a_k ybar_k = lambda.
double best_shift(double lambda, const std::vector<double>& prior, const Vector<double>& c) {
    double low = 0;
    for (Index k = 0; k < c.size(); ++k) low = std::max(low, lambda * prior[at(k)] - c[k]);
    double root = low;
    for (int iteration = 0; iteration < 100; ++iteration) {
        double sum = 0;
        double slope = 0;
        for (Index k = 0; k < c.size(); ++k) {
            const double term = lambda * prior[at(k)] / (root + c[k]);
            sum += term;
            slope += term / (root + c[k]);
        }
        const double next = std::max(root + (sum - 1) * sum / slope, low);
        const bool settled = std::abs(next - root) <= 1e-9 * next;
        root = next;
        if (settled) break;
    }
    return root;
}

// Solves L x = g with x_ground = 0. L is the Laplacian with the given off-diagonal entries; its rows sum to 0. The
// diagonal is computed from the other entries. This keeps small differences of nearly equal columns exact. The system
// is scaled by the diagonal.
Vector<double> solve_laplacian(const Matrix<double>& laplacian, const Vector<double>& g, Index ground) {
    const Index k = g.size();
    std::vector<Index> free;
    for (Index i = 0; i < k; ++i)
        if (i != ground) free.push_back(i);
    Vector<double> scale(k - 1);
    for (Index i = 0; i < k - 1; ++i) {
        double diagonal = 0;
        for (Index j = 0; j < k; ++j)
            if (j != free[at(i)]) diagonal -= laplacian(free[at(i)], j);
        scale[i] = 1 / std::sqrt(diagonal);
    }
    Matrix<double> scaled(k - 1, k - 1);
    Vector<double> right(k - 1);
    for (Index i = 0; i < k - 1; ++i) {
        for (Index j = 0; j < k - 1; ++j)
            scaled(i, j) = i == j ? 1.0 : laplacian(free[at(i)], free[at(j)]) * scale[i] * scale[j];
        right[i] = g[free[at(i)]] * scale[i];
    }
    Vector<double> x = Vector<double>::Zero(k);
    // Rounding may make a nearly singular matrix indefinite. A ridge corrects this; any ascent is sufficient.
    for (double ridge = 0; ridge < 1; ridge = std::max(1e-14, ridge * 100)) {
        Matrix<double> factored = scaled;
        factored.diagonal().array() += ridge;
        const Eigen::LLT<eigen::Matrix<double>> llt(factored);
        if (llt.info() != Eigen::Success) continue;
        const Vector<double> solved = llt.solve(right).cwiseProduct(scale);
        for (Index i = 0; i < k - 1; ++i) x[free[at(i)]] = solved[i];
        break;
    }
    return x;
}

constexpr Index most_packed = Index{1} << 20;

// The dual as a function of c = max a - a >= 0. Adding a number to every a_k changes no label, and the best such number
// is known (best_shift), so K - 1 multipliers are free. In these terms mu_i - a_k = t_i + c_k, a sum of two
// non-negative numbers. This sum keeps differences that are far below the rounding of a itself.
template <class T>
class Dual {
public:
    Dual(const Matrix<T>& predictions, const LabelSettings& settings, const std::vector<double>& prior, int threads,
         const FixedLabels<T>& fixed)
        : settings_(settings),
          prior_(prior),
          rows_(predictions, fixed),
          n_(static_cast<double>(predictions.rows())),
          k_(predictions.cols()),
          known_(sums_of(fixed, k_)),
          blocks_(tile_blocks(rows_.tiles(), k_)),
          workers_(threads_of(rows_.count(), k_ * 10, threads)),
          roots_(at(rows_.tiles() * tile_rows), 1.0),
          scratch_(at(std::max(1, workers_)), std::vector<double>(at(2 * k_ * tile_rows))),
          partial_(at(blocks_.count())) {
        require_memory(8.0 * static_cast<double>(k_ * k_) * (static_cast<double>(chunks().count()) + workers_ + 4),
                       "the label solver");
        const Index size = rows_.tiles() * k_ * tile_rows;
        if (size <= most_packed) {
            packed_.resize(at(size));
            for (Index tile = 0; tile < rows_.tiles(); ++tile)
                rows_.pack(tile, 0, packed_.data() + tile * k_ * tile_rows);
        }
    }

    struct Point {
        Vector<double> c;         // K; the smallest is 0
        Vector<double> a;         // K
        Vector<double> gradient;  // lambda u / a - ybar(a)
        double norm = std::numeric_limits<double>::infinity();
    };

    Point evaluate(Vector<double> c, double smoothing) {
        Point out;
        out.c = c.array() - c.minCoeff();
        const Vector<double> below = out.c.maxCoeff() - out.c.array();
        out.a = below.array() + best_shift(settings_.lambda, prior_, below);
        for_each_tile(smoothing, out.c, [&](Index block, Index tile, const double*, const double* y) {
            const Index here = rows_.rows_of(tile);
            for (Index k = 0; k < k_; ++k)
                for (Index r = 0; r < here; ++r) partial_[at(block)][k] += y[k * tile_rows + r];
        });
        out.gradient = Vector<double>(k_);
        const Vector<double> sums = add_up(partial_, known_);
        for (Index k = 0; k < k_; ++k) out.gradient[k] = settings_.lambda * prior_[at(k)] / out.a[k] - sums[k] / n_;
        out.norm = out.gradient.cwiseAbs().maxCoeff();
        if (!std::isfinite(out.norm)) out.norm = std::numeric_limits<double>::infinity();
        return out;
    }

    // Newton's step of a from the last evaluated point.
    Vector<double> step(const Point& point, double smoothing) {
        const RowBlocks cut = chunks();
        std::vector<Matrix<double>> parts(at(cut.count()));
        constexpr Index together = 16;  // tiles per product
        constexpr Index stride = together * tile_rows + 8;
        std::vector<Matrix<double>> columns(at(std::max(1, workers_)), Matrix<double>(k_, stride));
        std::vector<Matrix<double>> products(at(std::max(1, workers_)), Matrix<double>(k_, k_));
        for_each_block(cut.count(), workers_, [&](Index chunk, int worker) {
            Matrix<double>& own = parts[at(chunk)];
            Matrix<double>& e = columns[at(worker)];
            own = Matrix<double>::Zero(k_, k_);
            double* const scratch = scratch_[at(worker)].data();
            for (Index first = cut.begin(chunk); first < cut.end(chunk); first += together) {
                const Index last = std::min(first + together, cut.end(chunk));
                for (Index tile = first; tile < last; ++tile) {
                    const double* const sigma = tile_of(tile, smoothing, scratch);
                    double* const to = e.data() + (tile - first) * tile_rows;
                    label_kernels().curvature(sigma, k_, point.c.data(), roots_.data() + tile * tile_rows, to, stride);
                    for (Index k = 0; k < k_; ++k)
                        for (Index r = rows_.rows_of(tile); r < tile_rows; ++r) to[k * stride + r] = 0;
                }
                internal::products().float64.rows_by_rows(e.data(), k_, stride, e.data(), k_, stride,
                                                          (last - first) * tile_rows, products[at(worker)].data(), k_);
                own -= products[at(worker)];
            }
        });
        Matrix<double> laplacian = Matrix<double>::Zero(k_, k_);
        for (const auto& part : parts) laplacian += part;
        laplacian /= n_;
        // The term of the prior is like one more row, with predictions lambda u and labels lambda u / a.
        Vector<double> own(k_);
        for (Index k = 0; k < k_; ++k) own[k] = settings_.lambda * prior_[at(k)] / (point.a[k] * point.a[k]);
        laplacian.noalias() -= own * own.transpose() / own.sum();
        Index ground = 0;
        point.c.minCoeff(&ground);
        return solve_laplacian(laplacian, point.gradient, ground);
    }

    // Takes steps from `start` until the gradient is at most `tolerance`, nothing improves, or `limit` steps are done.
    Point climb(Point start, double smoothing, double tolerance, int limit, bool full_steps, int& steps) {
        Point here = std::move(start);
        for (int taken = 0; taken < limit && here.norm > tolerance; ++taken) {
            const Vector<double> direction = step(here, smoothing);
            const double slope = here.gradient.dot(direction);
            ++steps;
            if (!(slope > 0)) break;
            // The dual is concave, so its slope falls along the direction. A step slightly beyond the maximum is
            // accepted if it reduces the gradient.
            double length = 1;
            Point next;
            bool taken_step = false;
            for (int trial = 0; trial < 40; ++trial) {
                next = evaluate(here.c - length * direction, smoothing);
                const double there = next.gradient.dot(direction);
                if (std::isfinite(next.norm) &&
                    (there >= -0.1 * slope || (there >= -0.5 * slope && next.norm < here.norm))) {
                    taken_step = true;
                    break;
                }
                length *= std::isfinite(there) ? std::clamp(slope / (slope - there), 0.1, 0.7) : 0.1;
            }
            // Within rounding of the optimum the slope is meaningless.
            if (!taken_step || (next.norm < rounding_floor && next.norm >= here.norm)) {
                if (taken_step) evaluate(here.c, smoothing);  // restores the roots of the current point
                break;
            }
            here = std::move(next);
            if (full_steps && length < 1) break;
        }
        return here;
    }

    void write_labels(const Point& point, double smoothing, Matrix<T>& labels) {
        for_each_tile(smoothing, point.c, [&](Index, Index tile, const double*, const double* y) {
            for (Index r = 0; r < rows_.rows_of(tile); ++r) {
                T* const to = labels.data() + rows_.row(tile * tile_rows + r) * k_;
                for (Index k = 0; k < k_; ++k) to[k] = static_cast<T>(y[k * tile_rows + r]);
            }
        });
    }

    // D(a), without the part of the fixed rows that is also in P.
    double value(const Point& point) {
        double sum = 0;
        std::vector<double> of_block(at(blocks_.count()), 0.0);
        for_each_tile(0, point.c, [&](Index block, Index tile, const double* sigma, const double* y) {
            for (Index r = 0; r < rows_.rows_of(tile); ++r) {
                double row = 0;
                for (Index k = 0; k < k_; ++k) {
                    const double s = sigma[k * tile_rows + r];
                    row += s - s * std::log(y[k * tile_rows + r]);
                }
                of_block[at(block)] += row - (roots_[at(tile * tile_rows + r)] + point.a.maxCoeff());
            }
        });
        for (const double each : of_block) sum += each;
        sum -= known_.dot(point.a);
        sum /= n_;
        for (Index k = 0; k < k_; ++k)
            sum += settings_.lambda * prior_[at(k)] * std::log(point.a[k] / settings_.lambda);
        return sum + settings_.lambda;
    }

private:
    // Chunks of tiles, for sums of K x K numbers.
    RowBlocks chunks() const {
        const Index most = std::clamp<Index>((Index{1} << 24) / (k_ * k_), 4, 64);
        return {rows_.tiles(), std::max<Index>(16, (rows_.tiles() + most - 1) / most)};
    }

    // Packed predictions; `scratch` has the size of one tile.
    const double* tile_of(Index tile, double smoothing, double* scratch) const {
        if (smoothing == 0 && !packed_.empty()) return packed_.data() + tile * k_ * tile_rows;
        rows_.pack(tile, smoothing, scratch);
        return scratch;
    }

    template <class OnTile>
    void for_each_tile(double smoothing, const Vector<double>& c, OnTile&& on_tile) {
        for_each_block(blocks_.count(), workers_, [&](Index block, int worker) {
            double* const scratch = scratch_[at(worker)].data();
            double* const y = scratch + k_ * tile_rows;
            partial_[at(block)] = Vector<double>::Zero(k_);
            for (Index tile = blocks_.begin(block); tile < blocks_.end(block); ++tile) {
                const double* const sigma = tile_of(tile, smoothing, scratch);
                label_kernels().roots(sigma, k_, c.data(), roots_.data() + tile * tile_rows, y);
                on_tile(block, tile, sigma, y);
            }
        });
    }

    const LabelSettings& settings_;
    const std::vector<double>& prior_;
    FreeRows<T> rows_;
    double n_;
    Index k_;
    Vector<double> known_;
    RowBlocks blocks_;
    int workers_;
    std::vector<double> packed_;  // all tiles, if there are few; packing a tile costs as much as a pass over it
    std::vector<double> roots_;   // t_i; the next search for roots starts at them
    std::vector<std::vector<double>> scratch_;
    std::vector<Vector<double>> partial_;
};

template <class T>
LabelSolution<T> solve_dual(const Matrix<T>& predictions, const LabelSettings& settings,
                            const std::vector<double>& prior, int threads, const FixedLabels<T>& fixed) {
    Dual<T> dual(predictions, settings, prior, threads, fixed);
    const double tolerance = std::max(settings.tolerance, 1e-11);
    LabelSolution<T> out;
    Vector<double> c = Vector<double>::Zero(predictions.cols());
    auto point = dual.evaluate(c, 0);
    point = dual.climb(std::move(point), 0, tolerance, std::min(settings.steps, 20), true, out.rounds);
    if (point.norm > tolerance && out.rounds < settings.steps) {
        // Saturated predictions make the dual nearly piecewise linear. So its optimum is followed from that of smoothed
        // predictions.
        double rough = 0.05 / static_cast<double>(predictions.cols());
        double smoothing = 1;  // all predictions 1 / K: c = 0 except for the prior
        double factor = 0.1;
        while (out.rounds < settings.steps && factor < 0.95) {
            const bool last = smoothing * factor < static_cast<double>(least_prediction<T>);
            const double next = last ? 0 : smoothing * factor;
            const int limit = std::min(settings.steps - out.rounds, last ? settings.steps : 25);
            auto found = dual.climb(dual.evaluate(c, next), next, last ? tolerance : rough, limit, false, out.rounds);
            if (last && found.norm < point.norm) point = found;
            if (last && found.norm <= std::max(tolerance, rounding_floor)) break;
            if (!last && found.norm <= rough) {
                c = std::move(found.c);
                smoothing = next;
                factor = std::max(0.1, factor * factor);
            } else {
                // Make a smaller change, from a better start.
                factor = std::sqrt(factor);
                rough = std::max(0.1 * rough, tolerance);
                if (smoothing < 1)
                    c = dual.climb(dual.evaluate(c, smoothing), smoothing, rough,
                                   std::min(25, settings.steps - out.rounds), false, out.rounds)
                            .c;
            }
        }
    }
    if (point.norm > rounding_floor) {  // no steps are left: use the nearest point without smoothing
        auto nearest = dual.evaluate(c, 0);
        if (nearest.norm < point.norm) point = std::move(nearest);
    }
    out.gradient = point.norm;
    out.converged = point.norm <= std::max(tolerance, rounding_floor);
    out.multipliers = point.c;
    out.labels.resize(predictions.rows(), predictions.cols());
    dual.write_labels(point, 0, out.labels);
    copy_fixed(fixed, out.labels);
    return out;
}

// ---- Newton's method on y, with the logarithms as their own barrier: the paper's comparison

template <class T>
class PrimalNewton {
public:
    PrimalNewton(const Matrix<T>& predictions, const LabelSettings& settings, const std::vector<double>& prior,
                 const FixedLabels<T>& fixed)
        : settings_(settings),
          prior_(prior),
          n_(static_cast<double>(predictions.rows())),
          known_(sums_of(fixed, predictions.cols())) {
        const FreeRows<T> rows(predictions, fixed);
        require_memory(3 * 8.0 * static_cast<double>(rows.count() * predictions.cols()), "the label solver");
        sigma_.resize(rows.count(), predictions.cols());
        for (Index j = 0; j < rows.count(); ++j)
            sigma_.row(j) =
                predictions.row(rows.row(j)).template cast<double>().cwiseMax(static_cast<double>(least_prediction<T>));
        y_ = sigma_.array().colwise() / sigma_.rowwise().sum().array();
    }

    const Matrix<double>& labels() const { return y_; }

    // Returns the number of steps. `gradient`: the largest move of an ybar_k in the next step.
    int operator()(double& gradient) {
        gradient = std::numeric_limits<double>::infinity();
        double value = objective(y_);
        double last = gradient;
        int steps = 0;
        for (; steps < settings_.steps; ++steps) {
            const Matrix<double> direction = step(gradient);
            // Near the optimum the objective no longer distinguishes steps, but they still become shorter.
            if (gradient <= settings_.tolerance || (gradient < rounding_floor && gradient >= last)) break;
            last = gradient;
            const double furthest = (-direction.array() / y_.array()).maxCoeff();
            double length = furthest > 0.99 ? 0.99 / furthest : 1.0;
            double next = objective(y_ + length * direction);
            while (next > value + 1e-13 * std::abs(value) && length > 1e-10) {
                length /= 2;
                next = objective(y_ + length * direction);
            }
            y_ += length * direction;
            value = next;
        }
        return steps;
    }

private:
    Vector<double> mean(const Matrix<double>& y) const { return (y.colwise().sum().transpose() + known_) / n_; }

    double objective(const Matrix<double>& y) const {
        const Vector<double> means = mean(y);
        double out = -(sigma_.array() * y.array().log()).sum() / n_;
        for (Index k = 0; k < y.cols(); ++k) out -= settings_.lambda * prior_[at(k)] * std::log(means[k]);
        return out;
    }

    // With W = y^2 / sigma, the inverse of the diagonal part of the Hessian, and a = lambda u / ybar, the step is dy_ik
    // = y_ik + W_ik (p_k - nu_i). nu_i keeps the row's sum. p, the multipliers after the step, solves (L + N diag(ybar
    // / a)) p = sum of the fixed labels + sum_i W_i / sum_c W_ic,  L the Laplacian of the rows of W.
    Matrix<double> step(double& gradient) const {
        const Index k = y_.cols();
        const Vector<double> means = mean(y_);
        const Matrix<double> w = y_.array().square() / sigma_.array();
        const Vector<double> total = w.rowwise().sum();
        const Vector<double> sums = y_.rowwise().sum();
        Matrix<double> system = -(w.transpose() * (w.array().colwise() / total.array()).matrix());
        system.diagonal() += w.colwise().sum().transpose();
        Vector<double> right = (w.transpose() * (sums.array() / total.array()).matrix());
        for (Index c = 0; c < k; ++c) {
            const double a = settings_.lambda * prior_[at(c)] / means[c];
            system(c, c) += n_ * means[c] / a;
            right[c] += known_[c];
        }
        const Vector<double> p = system.ldlt().solve(right);
        Matrix<double> direction = y_;
        gradient = 0;
        for (Index i = 0; i < y_.rows(); ++i) {
            const double nu = (sums[i] + w.row(i).dot(p.transpose())) / total[i];
            direction.row(i) += (w.row(i).array() * (p.transpose().array() - nu)).matrix();
        }
        const Vector<double> moved = direction.colwise().sum().transpose() / n_;
        gradient = moved.cwiseAbs().maxCoeff();
        return direction;
    }

    const LabelSettings& settings_;
    const std::vector<double>& prior_;
    double n_;
    Vector<double> known_;
    Matrix<double> sigma_;
    Matrix<double> y_;
};

template <class T>
LabelSolution<T> solve_newton(const Matrix<T>& predictions, const LabelSettings& settings,
                              const std::vector<double>& prior, const FixedLabels<T>& fixed) {
    PrimalNewton<T> newton(predictions, settings, prior, fixed);
    LabelSolution<T> out;
    out.rounds = newton(out.gradient);
    out.converged = out.gradient <= std::max(settings.tolerance, rounding_floor);
    out.labels.resize(predictions.rows(), predictions.cols());
    const FreeRows<T> rows(predictions, fixed);
    for (Index j = 0; j < rows.count(); ++j) out.labels.row(rows.row(j)) = newton.labels().row(j).template cast<T>();
    copy_fixed(fixed, out.labels);
    return out;
}

}  // namespace

std::vector<double> checked_prior(const std::vector<double>& prior, Index clusters, const std::string& option) {
    if (prior.empty()) return std::vector<double>(at(clusters), 1.0 / static_cast<double>(clusters));
    const auto refuse = [&](Code code, std::string problem, std::string remedy, std::string value,
                            std::string accepted) {
        throw BadArgument(code, std::move(problem), std::move(remedy),
                          {.option = option, .value = std::move(value), .accepted = std::move(accepted)});
    };
    const std::string shares = counted(static_cast<Index>(prior.size()), "share");
    if (static_cast<Index>(prior.size()) != clusters)
        refuse(Code::wrong_shape, shares + " for " + counted(clusters, "cluster"), "Give one share per cluster", shares,
               counted(clusters, "share"));
    double sum = 0;
    for (const double share : prior) {
        if (!(share > 0 && share <= 1))
            refuse(Code::not_accepted, "a share of " + to_text(share) + " is not accepted",
                   "Use shares above 0 and at most 1", to_text(share), "above 0 and at most 1");
        sum += share;
    }
    if (!(std::abs(sum - 1) <= 1e-6))
        refuse(Code::not_accepted, "the shares add up to " + to_text(sum), "Use shares that add up to 1", to_text(sum),
               "shares that add up to 1");
    std::vector<double> out = prior;
    for (double& share : out) share /= sum;
    return out;
}

template <class T>
LabelSolution<T> solve_labels(const Matrix<T>& predictions, const LabelSettings& settings, int threads,
                              const FixedLabels<T>& fixed) {
    check_input(predictions, settings, fixed);
    const std::vector<double> prior = checked_prior(settings.prior, predictions.cols());
    if (static_cast<Index>(fixed.rows.size()) == predictions.rows()) {
        LabelSolution<T> out;
        out.labels = fixed.labels;
        out.converged = true;
        return out;
    }
    switch (settings.solver) {
        case LabelSolver::em: return solve_em(predictions, settings, prior, threads, fixed);
        case LabelSolver::dual: return solve_dual(predictions, settings, prior, threads, fixed);
        case LabelSolver::newton: return solve_newton(predictions, settings, prior, fixed);
    }
    throw InternalError("unknown label solver");
}

template <class T>
LabelCertificate certify_labels(const Matrix<T>& predictions, const Matrix<T>& labels, const LabelSettings& settings,
                                int threads, const FixedLabels<T>& fixed, const Vector<double>& multipliers) {
    check_input(predictions, settings, fixed);
    if (labels.rows() != predictions.rows() || labels.cols() != predictions.cols())
        throw BadArgument(Code::wrong_shape,
                          filled("{} x {} labels for {} x {} predictions", labels.rows(), labels.cols(),
                                 predictions.rows(), predictions.cols()),
                          "Give labels in the shape of the predictions", {.option = "labels"});
    if (multipliers.size() != 0 && multipliers.size() != predictions.cols())
        throw BadArgument(Code::wrong_shape,
                          counted(multipliers.size(), "multiplier") + " for " + counted(predictions.cols(), "cluster"),
                          "Give one multiplier per cluster, or none", {.option = "multipliers"});
    const std::vector<double> prior = checked_prior(settings.prior, predictions.cols());
    const Index k = predictions.cols();
    const auto n = static_cast<double>(predictions.rows());
    LabelCertificate out;
    const FreeRows<T> rows(predictions, fixed);
    Vector<double> means = sums_of(fixed, k);
    for (Index j = 0; j < rows.count(); ++j) {
        const Index i = rows.row(j);
        for (Index c = 0; c < k; ++c) {
            const auto s = static_cast<double>(predictions(i, c));
            const auto y = static_cast<double>(std::max(labels(i, c), least_prediction<T>));
            out.objective -= s * std::log(y);
            means[c] += y;
        }
    }
    out.objective /= n;
    means /= n;
    Vector<double> a(k);
    for (Index c = 0; c < k; ++c) {
        const double share = prior[at(c)];
        out.objective += settings.lambda * share * std::log(share / means[c]);
        a[c] = settings.lambda * share / means[c];
    }
    if (rows.count() == 0) return out;
    Dual<T> dual(predictions, settings, prior, threads, fixed);
    const bool given = multipliers.size() > 0;
    const auto point = dual.evaluate(given ? multipliers : Vector<double>(a.maxCoeff() - a.array()), 0);
    out.gap = out.objective - dual.value(point);
    for (Index c = 0; c < k; ++c) {
        const double of_dual = settings.lambda * prior[at(c)] / point.a[c] - point.gradient[c];
        const double off = std::abs(given ? point.gradient[c] : means[c] - of_dual);
        // NaN proves nothing.
        if (!(off <= out.gradient)) out.gradient = std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
    }
    return out;
}

template LabelCertificate certify_labels(const Matrix<float>&, const Matrix<float>&, const LabelSettings&, int,
                                         const FixedLabels<float>&, const Vector<double>&);
template LabelCertificate certify_labels(const Matrix<double>&, const Matrix<double>&, const LabelSettings&, int,
                                         const FixedLabels<double>&, const Vector<double>&);

template LabelSolution<float> solve_labels(const Matrix<float>&, const LabelSettings&, int, const FixedLabels<float>&);
template LabelSolution<double> solve_labels(const Matrix<double>&, const LabelSettings&, int,
                                            const FixedLabels<double>&);

}  // namespace coterie
