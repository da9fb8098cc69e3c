// Works on four vectors at a time, so that the matrix and the basis are read once for all four. Sums over rows add at
// most 64 chunks, which depend on n alone, in order, so the bits are the same for any number of threads. Residuals
// under a filter are converted to residuals of M by the filter's least slope; the residuals of the result are measured.

#include "coterie/spectral/internal/sparse_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/spectral/internal/lanczos_kernels.hpp"

namespace coterie::spectral::internal {
namespace {

constexpr Index kBlock = sparse_eigen_block;
constexpr int kRestarts = 300;
constexpr int kPatience = 60;  // number of restarts after which kLenience times the tolerance is sufficient
constexpr double kLenience = 1e3;
constexpr double kNear = 1e-6;  // eigenvalues within this distance of the last required one count as equal to it
constexpr int kFilters = 2;     // the second filter has a better cutoff than the first; further ones gain nothing
constexpr double kGrowth = 6;   // ln of a filter's ratio between its value at 1 and below the cutoff
constexpr double kShare = 8;    // limits a filter's degree, in columns of the basis per entry of a row; see
                                // begin_sharper

// The matrix in the format of the products: 12 bytes per entry instead of 16.
class Operator {
public:
    explicit Operator(const SparseMatrix& m) : starts_(at(m.rows()) + 1, 0) {
        columns_.reserve(at(m.nonZeros()));
        values_.reserve(at(m.nonZeros()));
        for (Index i = 0; i < m.rows(); ++i) {
            for (SparseMatrix::InnerIterator entry(m, i); entry; ++entry) {
                columns_.push_back(static_cast<std::int32_t>(entry.col()));
                values_.push_back(entry.value());
            }
            starts_[at(i) + 1] = static_cast<std::int64_t>(columns_.size());
        }
    }

    Index rows() const { return static_cast<Index>(starts_.size()) - 1; }
    // The mean, rounded up.
    Index entries_per_row() const { return (static_cast<Index>(values_.size()) + rows() - 1) / rows(); }

    // to = scale (M - shift I) x + keep to, for rows begin..end-1; both are n x kBlock, row by row.
    void multiply(const double* x, Index begin, Index end, double scale, double shift, double keep, double* to) const {
        lanczos_kernels().multiply(starts_.data(), columns_.data(), values_.data(), begin, end, x, scale, shift, keep,
                                   to);
    }

private:
    std::vector<std::int64_t> starts_;
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
};

// p(x) = T(t) / T(t(1)), t = (x - centre) / half, T the Chebyshev polynomial of the given degree. |p| is at most 1 /
// T(t(1)) for x from -1 to the cutoff; above, p grows to 1 at x = 1. Degree 1 is x itself.
class Filter {
public:
    Filter() = default;
    Filter(double cutoff, int degree)
        : degree_(degree), centre_((cutoff - 1) / 2), half_((cutoff + 1) / 2), top_(chebyshev(1)) {}

    int degree() const { return degree_; }
    double centre() const { return centre_; }
    double half() const { return half_; }
    double top() const { return top_; }  // T(t(1))

    // For x at or above the cutoff.
    double at(double x) const { return degree_ == 1 ? x : chebyshev(x) / top_; }
    // The x at or above the cutoff with p(x) = value; the cutoff for smaller values.
    double inverse(double value) const {
        if (degree_ == 1) return value;
        return centre_ + half_ * std::cosh(std::acosh(std::max(1.0, value * top_)) / degree_);
    }
    // The least (p(x) - p(y)) / (x - y) over eigenvalues y. p is convex above the cutoff, so it occurs at y = -1.
    double least_slope(double x) const {
        return degree_ == 1 ? 1 : std::max(at(x) - 1 / top_, std::numeric_limits<double>::min()) / (1 + x);
    }

private:
    double chebyshev(double x) const { return std::cosh(degree_ * std::acosh(std::max(1.0, (x - centre_) / half_))); }

    int degree_ = 1;
    double centre_ = 0, half_ = 1, top_ = 1;
};

class Lanczos {
public:
    // known: n x m, orthonormal columns; eigenvectors to exclude. purpose: selects the stream of the random starts.
    Lanczos(const Operator& m, Index count, double tolerance, const Matrix<double>& known, std::uint64_t purpose,
            const Run& run, const Filter& filter = {})
        : operator_(m),
          filter_(filter),
          count_(count),
          tolerance_(tolerance),
          run_(run),
          known_(known.cols()),
          rest_(m.rows(), kBlock),
          draws_(purpose << 32) {
        static_assert(kBlock == lanczos_block);
        basis_.leftCols(known_) = known;
    }

    SparseEigenPairs operator()() {
        SparseEigenPairs out;
        begin();
        Index checked_at = 0;
        for (int restart = 0; restart < kRestarts;) {
            run_.throw_if_stopped("eigenvectors");
            expand(out.blocks);
            const bool full = width_ + kBlock > capacity_;
            // A check costs p^3, so it is rare.
            const Index patience = filter_.degree() > 1 ? kBlock : 4 * kBlock;
            if (full || (ritz_columns() >= count_ + kBlock && width_ - checked_at >= std::max(patience, width_ / 8))) {
                checked_at = width_;
                const EigenPairs ritz = symmetric_eigen(projected_);
                const double worst = worst_residual(ritz);
                out.converged = worst <= (restart < kPatience ? tolerance_ : kLenience * tolerance_);
                if (out.converged || full) {
                    ++restart;
                    if (out.converged || restart == kRestarts) {
                        cut(ritz, count_);
                        break;
                    }
                    // Keep half of the columns beyond the required ones: nearly converged vectors speed up the rest.
                    if (!begin_sharper(ritz)) cut(ritz, count_ + (ritz_columns() - count_) / 2);
                    checked_at = width_;
                    run_.report({.stage = "eigenvectors",
                                 .fraction = std::clamp(std::log(worst) / std::log(tolerance_), 0.0, 1.0),
                                 .objective = std::numeric_limits<double>::quiet_NaN(),
                                 .iteration = restart});
                }
            }
            append();
        }
        out.vectors = basis_.middleCols(known_, count_);
        measure(out);
        out.filter_degree = filter_.degree();
        return out;
    }

    const Filter& filter() const { return filter_; }

    // Whether M has an eigenvalue above `value`, apart from those of the known vectors.
    // The largest Ritz value approaches the largest eigenvalue from below. It counts as close if its residual is a
    // tenth of the gap to `value`, or within kNear. A filter makes all residuals small, first those of the suppressed
    // vectors. Therefore the check waits if there is a filter: an eigenvector above `value` starts with the part 1 /
    // sqrt(n) of a random vector, and must first grow to a thousand times the part of the others.
    bool anything_above(double value, std::int64_t& blocks) {
        const double bound = filter_.at(value);
        const double near = kNear * std::min(1.0, filter_.least_slope(value));
        const double growth = std::log(std::max(1.2, filter_.at(value) * filter_.top()));
        const double wanted = std::log(1e3 * std::sqrt(static_cast<double>(rest_.rows()))) / growth;
        const Index least = filter_.degree() > 1 ? 1 + static_cast<Index>(std::ceil(wanted)) : 0;
        begin();
        Index checked_at = 0;
        Index expanded = 0;
        for (int restart = 0; restart < kRestarts;) {
            run_.throw_if_stopped("eigenvectors");
            expand(blocks);
            ++expanded;
            const bool full = width_ + kBlock > capacity_;
            if (full || width_ - checked_at >= 2 * kBlock) {
                checked_at = width_;
                const EigenPairs ritz = symmetric_eigen(projected_);
                const double top = ritz.values[ritz_columns() - 1];
                if (top > bound + 10 * tolerance_) return true;
                if (expanded >= least && residual(ritz, 0) <= std::max(0.1 * (bound - top), near)) return false;
                if (full) {
                    ++restart;
                    cut(ritz, ritz_columns() / 2);
                    checked_at = width_;
                }
            }
            append();
        }
        return false;
    }

private:
    void begin() {
        for (Index c = 0; c < kBlock; ++c) draw(c);
        begin_from_rest();
        append();
    }

    void begin_from_rest() {
        width_ = known_;
        since_restart_ = 0;
        projected_ = Matrix<double>::Zero(0, 0);
        take_off_basis(0);
    }

    // Starts a new basis from sums of the best Ritz vectors, with a filter whose cutoff is below the required
    // eigenvalues. Returns false if the filter would not be sharper than the current one.
    bool begin_sharper(const EigenPairs& ritz) {
        const Index p = ritz_columns();
        const Index kept = count_ + (p - count_) / 4;
        const double cutoff = filter_.inverse(ritz.values[p - 1 - kept]);
        if (filters_ == kFilters || !(cutoff > -0.9 && cutoff < 1 - 1e-9)) return false;
        // The products of a filter with M may cost a fixed multiple of the orthogonalisation.
        const double balanced =
            kShare * static_cast<double>(p) / static_cast<double>(std::max<Index>(1, operator_.entries_per_row()));
        const double degree = std::floor(std::min(balanced, kGrowth / std::acosh((3 - cutoff) / (1 + cutoff))));
        if (degree < 2) return false;
        const Matrix<double> best = ritz.vectors.rightCols(kept);
        Matrix<double> rows = Matrix<double>::Zero(kBlock, p);
        for (Index i = 0; i < kept; ++i) rows.row(i % kBlock) += best.col(i).transpose();
        for_chunks(p, [&](Index, Index begin, Index end) {
            products().float64.rows_by_rows(basis_.data() + begin * basis_.cols() + known_, end - begin, basis_.cols(),
                                            rows.data(), kBlock, p, p, rest_.data() + begin * kBlock, kBlock);
        });
        filter_ = Filter(cutoff, static_cast<int>(degree));
        ++filters_;
        begin_from_rest();
        return true;
    }

    Index ritz_columns() const { return width_ - known_; }

    // Fills a column with independent normal numbers.
    void draw(Index column) {
        RandomStream random = run_.random("eigenvectors", draws_++);
        for (Index i = 0; i < rest_.rows(); ++i) rest_(i, column) = random.normal();
    }

    // columns: multiplications per number of a block's row.
    template <class Body>
    void for_chunks(Index columns, const Body& body) {
        for_each_block(chunks_.count(), threads_for(8.0 * static_cast<double>(columns * rest_.rows()), run_.threads),
                       [&](Index chunk, int) { body(chunk, chunks_.begin(chunk), chunks_.end(chunk)); });
    }

    // Sums the `count` numbers of `body` over the chunks, in their order.
    template <class Body>
    std::vector<double> sum_of_chunks(Index count, const Body& body) {
        std::vector<std::vector<double>> partial(at(chunks_.count()));
        for_chunks(count / kBlock, [&](Index chunk, Index begin, Index end) {
            partial[at(chunk)].assign(at(count), 0);
            body(begin, end, partial[at(chunk)].data());
        });
        std::vector<double> sum = std::move(partial.front());
        for (std::size_t c = 1; c < partial.size(); ++c)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += partial[c][i];
        return sum;
    }

    // rest_'rest_.
    Matrix<double> gram() {
        return Eigen::Map<const eigen::Matrix<double>>(
            sum_of_chunks(kBlock * kBlock,
                          [&](Index begin, Index end, double* to) {
                              kernels_.add_gram(rest_.data() + begin * kBlock, end - begin, to);
                          })
                .data(),
            kBlock, kBlock);
    }

    static Index padded(Index columns) { return (columns + lanczos_padding - 1) / lanczos_padding * lanczos_padding; }

    // rest -= B B'rest, first for columns from `first` on, then for all; returns B'rest. Columns beyond the width are
    // finite; their products are set to 0.
    Matrix<double> take_off_basis(Index first) {
        Matrix<double> total = Matrix<double>::Zero(width_, kBlock);
        const Index stride = basis_.cols();
        for (const Index from : {first, Index{0}}) {
            const Index used = width_ - from;
            const Index columns = padded(used);
            std::vector<double> seen = sum_of_chunks(columns * kBlock, [&](Index begin, Index end, double* to) {
                kernels_.add_seen(basis_.data() + begin * stride + from, stride, columns, rest_.data() + begin * kBlock,
                                  end - begin, to);
            });
            for (Index c = 0; c < kBlock; ++c) {
                for (Index p = 0; p < used; ++p) total(from + p, c) += seen[at(c * columns + p)];
                std::fill_n(seen.begin() + c * columns + used, columns - used, 0.0);
            }
            for_chunks(columns, [&](Index, Index begin, Index end) {
                kernels_.take_off(basis_.data() + begin * stride + from, stride, columns, seen.data(), end - begin,
                                  rest_.data() + begin * kBlock);
            });
        }
        return total;
    }

    // rest_ = p(M) block_ by T_j+1 = 2 t T_j - T_j-1; overwrites block_.
    void filtered_product() {
        const int last = filter_.degree();
        for (int degree = 1; degree <= last; ++degree) {
            const double over = degree == last ? 1 / filter_.top() : 1;
            const double scale = (degree == 1 ? 1 : 2) / filter_.half() * over;
            for_chunks(operator_.entries_per_row(), [&](Index, Index begin, Index end) {
                operator_.multiply(block_.data(), begin, end, scale, filter_.centre(), degree == 1 ? 0 : -over,
                                   rest_.data());
            });
            if (degree < last) block_.swap(rest_);
        }
    }

    // Computes M Q for the newest block Q, its projection, and in rest_ the part of it outside the basis.
    void expand(std::int64_t& blocks) {
        filtered_product();
        blocks += filter_.degree();
        // M Q has parts only along Q and the previous block, or along the vectors kept at a restart. The second pass,
        // along all columns, removes rounding errors.
        const Matrix<double> seen = take_off_basis(since_restart_ > 1 ? width_ - 2 * kBlock : 0);
        const Index p = ritz_columns();
        projected_.conservativeResize(p, p);
        projected_.rightCols(kBlock) = seen.bottomRows(p);
        projected_.bottomRows(kBlock) = seen.bottomRows(p).transpose();
        const Matrix<double> corner = projected_.bottomRightCorner(kBlock, kBlock);
        projected_.bottomRightCorner(kBlock, kBlock) = 0.5 * (corner + corner.transpose());
        rest_squared_ = gram();
    }

    // Makes rest_ orthonormal and orthogonal to the basis, and appends it as the newest block. If a column has no
    // remainder, the basis is invariant, and a random direction continues. Uses the eigenvectors of the Gram matrix
    // repeatedly until they are the unit vectors (Stathopoulos and Wu 2002).
    void append() {
        for (int pass = 0; pass < 10; ++pass) {
            Matrix<double> squares = gram();
            bool drawn = false;
            for (Index c = 0; c < kBlock; ++c)
                if (!(squares(c, c) > kNothing * kNothing)) {
                    draw(c);
                    drawn = true;
                }
            if (drawn) {
                take_off_basis(0);
                squares = gram();
            }
            if ((squares - Matrix<double>::Identity(kBlock, kBlock)).cwiseAbs().maxCoeff() < 1e-14) break;
            const Vector<double> scale = squares.diagonal().cwiseSqrt().cwiseInverse();
            const Matrix<double> cosines = scale.asDiagonal() * squares * scale.asDiagonal();
            const EigenPairs pairs = symmetric_eigen(cosines);
            const Vector<double> lengths = pairs.values.cwiseMax(1e-15 * pairs.values[kBlock - 1]).cwiseSqrt();
            const Matrix<double> map =
                scale.asDiagonal() * pairs.vectors * lengths.cwiseInverse().asDiagonal().toDenseMatrix();
            for_chunks(kBlock, [&](Index, Index begin, Index end) {
                for (Index i = begin; i < end; ++i) {
                    double* const row = rest_.data() + i * kBlock;
                    double made[kBlock] = {};
                    for (Index c = 0; c < kBlock; ++c)
                        for (Index to = 0; to < kBlock; ++to) made[to] += row[c] * map(c, to);
                    std::copy_n(made, kBlock, row);
                }
            });
            // A short column is mostly rounding, now scaled up, and not orthogonal to the basis.
            if (lengths[0] < 1e-2 || scale.maxCoeff() > 1e3) take_off_basis(0);
        }
        block_ = rest_;
        basis_.middleCols(width_, kBlock) = block_;
        width_ += kBlock;
        ++since_restart_;
    }

    // For the pair with the i-th largest value: || (M B - B T) s || = || rest s_last ||.
    double residual(const EigenPairs& ritz, Index i) const {
        const Vector<double> last = ritz.vectors.col(ritz_columns() - 1 - i).tail(kBlock);
        return std::sqrt(std::max(0.0, last.dot(rest_squared_ * last)));
    }

    // The largest residual of the required Ritz pairs, converted to one of M.
    double worst_residual(const EigenPairs& ritz) const {
        double worst = 0;
        for (Index i = 0; i < count_; ++i)
            worst = std::max(
                worst, residual(ritz, i) / filter_.least_slope(filter_.inverse(ritz.values[ritz_columns() - 1 - i])));
        return worst;
    }

    // Reduces the basis to its `keep` best Ritz vectors, the largest first.
    void cut(const EigenPairs& ritz, Index keep) {
        const Index p = ritz_columns();
        const Matrix<double> rows = ritz.vectors.rightCols(keep).rowwise().reverse().transpose();
        for_chunks(keep * p / kBlock, [&](Index, Index begin, Index end) {
            Matrix<double> kept(end - begin, keep);
            products().float64.rows_by_rows(basis_.data() + begin * basis_.cols() + known_, end - begin, basis_.cols(),
                                            rows.data(), keep, p, p, kept.data(), keep);
            basis_.block(begin, known_, end - begin, keep) = kept;
        });
        projected_ = ritz.values.tail(keep).reverse().asDiagonal();
        width_ = known_ + keep;
        since_restart_ = 0;
    }

    // Computes the values, their order and the residual of the vectors.
    void measure(SparseEigenPairs& pairs) {
        Vector<double> values(count_), squared(count_);
        for (Index first = 0; first < count_; first += kBlock) {
            const Index columns = std::min(kBlock, count_ - first);
            block_.setZero();
            block_.leftCols(columns) = pairs.vectors.middleCols(first, columns);
            for_chunks(operator_.entries_per_row(), [&](Index, Index begin, Index end) {
                operator_.multiply(block_.data(), begin, end, 1, 0, 0, rest_.data());
            });
            for (Index c = 0; c < columns; ++c) {
                values[first + c] = block_.col(c).dot(rest_.col(c));
                squared[first + c] = (rest_.col(c) - values[first + c] * block_.col(c)).squaredNorm();
            }
        }
        std::vector<Index> order(at(count_));
        std::iota(order.begin(), order.end(), Index{0});
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return values[a] > values[b]; });
        pairs.values = values(order);
        pairs.vectors = Matrix<double>(pairs.vectors(Eigen::all, order));
        pairs.residual = std::sqrt(squared.maxCoeff());
    }

    static constexpr double kNothing = 1e-13;  // M has norm 1, so a shorter column of M Q is rounding

    const LanczosKernels& kernels_ = lanczos_kernels();
    const Operator& operator_;
    Filter filter_;
    int filters_ = 0;
    Index count_;
    double tolerance_;
    const Run& run_;
    Index known_;
    Matrix<double> rest_;
    Matrix<double> block_ = Matrix<double>(rest_.rows(), kBlock);
    // Twice the required columns and 40 more: measurements show that this is enough even for few columns.
    Index capacity_ = std::min(known_ + 2 * count_ + 10 * kBlock, rest_.rows() - kBlock);
    Matrix<double> basis_ = Matrix<double>::Zero(rest_.rows(), padded(capacity_));
    RowBlocks chunks_{rest_.rows(), std::max<Index>(512, (rest_.rows() + 63) / 64)};
    Matrix<double> projected_;
    Matrix<double> rest_squared_;
    Index width_ = 0;
    Index since_restart_ = 0;  // number of blocks appended
    std::uint64_t draws_;
};

// The largest pairs of both, as many as `a` has.
SparseEigenPairs best_of(const SparseEigenPairs& a, const SparseEigenPairs& b) {
    const Index count = a.values.size();
    std::vector<std::pair<double, Index>> order;
    for (Index i = 0; i < count; ++i) order.emplace_back(-a.values[i], i);
    for (Index i = 0; i < b.values.size(); ++i) order.emplace_back(-b.values[i], count + i);
    std::sort(order.begin(), order.end());
    SparseEigenPairs out{Vector<double>(count),
                         Matrix<double>(a.vectors.rows(), count),
                         std::max(a.residual, b.residual),
                         a.blocks + b.blocks,
                         a.converged && b.converged,
                         a.filter_degree};
    for (Index i = 0; i < count; ++i) {
        const auto [negative, from] = order[at(i)];
        out.values[i] = -negative;
        out.vectors.col(i) = from < count ? a.vectors.col(from) : b.vectors.col(from - count);
    }
    return out;
}

}  // namespace

SparseEigenPairs largest_symmetric_eigen(const SparseMatrix& m, Index count, double tolerance,
                                         const Vector<double>& known, const Run& run) {
    const Index n = m.rows();
    const Index held = known.size() > 0 ? 1 : 0;
    if (n > std::numeric_limits<std::int32_t>::max())
        throw BadArgument(Code::not_supported,
                          filled("largest_symmetric_eigen: {} rows; at most 2147483647 are supported", n));
    require_memory(static_cast<double>(n) * sizeof(double) * static_cast<double>(3 * count + 14 * kBlock) +
                       12.0 * static_cast<double>(m.nonZeros()),
                   filled("the search for {} eigenvectors of {} rows", count, n));
    Matrix<double> aside(n, held);
    if (held > 0) aside.col(0) = known;
    const Operator matrix(m);
    Lanczos first(matrix, count, tolerance, aside, 0, run);
    SparseEigenPairs out = first();
    // One block finds at most kBlock copies of an eigenvalue, and hardly more nearly equal eigenvalues. The pairs found
    // are put aside, and the search is repeated until no eigenvalue is above the smallest of them.
    const Index more = std::min(kBlock, count);
    const auto put_aside = [&](const Matrix<double>& vectors) {
        const Index before = aside.cols();
        aside.conservativeResize(n, before + vectors.cols());
        aside.rightCols(vectors.cols()) = vectors;
    };
    put_aside(out.vectors);
    for (std::uint64_t again = 1; out.converged && aside.cols() + more + 3 * kBlock <= n; again += 2) {
        if (!Lanczos(matrix, 1, tolerance, aside, again, run, first.filter())
                 .anything_above(out.values[count - 1], out.blocks))
            break;
        const SparseEigenPairs missed = Lanczos(matrix, more, tolerance, aside, again + 1, run)();
        put_aside(missed.vectors);
        out = best_of(out, missed);
    }
    return out;
}

}  // namespace coterie::spectral::internal
