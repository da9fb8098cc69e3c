#include "coterie/linalg/sparse_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/products.hpp"

namespace coterie {
namespace {

constexpr Index kBlock = sparse_eigen_block;
constexpr int kRestarts = 300;
constexpr int kPatience = 60;  // restarts after which kLenience times the tolerance will do
constexpr double kLenience = 1e3;
constexpr double kNear = 1e-6;  // eigenvalues nearer than this to the last one wanted are as good as it

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// The matrix as products read it: 12 bytes an entry instead of 16.
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
            starts_[at(i) + 1] = static_cast<Index>(columns_.size());
        }
    }

    Index rows() const { return static_cast<Index>(starts_.size()) - 1; }

    // to = M x for rows begin..end-1; both n x kBlock, row after row.
    void multiply(const double* x, Index begin, Index end, double* to) const {
        for (Index i = begin; i < end; ++i) {
            double sum[kBlock] = {};
            for (Index e = starts_[at(i)]; e < starts_[at(i) + 1]; ++e) {
                const double value = values_[at(e)];
                const double* const row = x + columns_[at(e)] * kBlock;
                for (Index c = 0; c < kBlock; ++c) sum[c] += value * row[c];
            }
            std::copy_n(sum, kBlock, to + i * kBlock);
        }
    }

private:
    std::vector<Index> starts_;
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
};

class Lanczos {
public:
    // known: n x m, orthonormal columns; eigenvectors that are left out. purpose tells apart the random starts.
    Lanczos(const SparseMatrix& m, Index count, double tolerance, const Matrix<double>& known, std::uint64_t purpose,
            const Run& run)
        : operator_(m),
          count_(count),
          tolerance_(tolerance),
          run_(run),
          known_(known.cols()),
          // Room for as many again as are wanted, in whole blocks; measured, 40 more are as good as any for few.
          capacity_(std::min(known_ + 2 * count + 10 * kBlock, m.rows() - kBlock)),
          basis_(m.rows(), capacity_),
          block_(m.rows(), kBlock),
          rest_(m.rows(), kBlock),
          chunks_{m.rows(), std::max<Index>(512, (m.rows() + 63) / 64)},
          draws_(purpose << 32) {
        basis_.leftCols(known_) = known;
    }

    SparseEigenPairs operator()() {
        SparseEigenPairs out;
        begin();
        Index checked_at = 0;
        for (int restart = 0; restart < kRestarts;) {
            run_.throw_if_stopped("eigenvectors");
            expand();
            ++out.blocks;
            const bool full = width_ + kBlock > capacity_;
            // Looking costs p^3: now and then.
            if (full || (ritz_columns() >= count_ + kBlock && width_ - checked_at >= std::max<Index>(16, width_ / 8))) {
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
                    // Half of the room beyond what is wanted is kept: what is nearly found speeds the rest up.
                    cut(ritz, count_ + (ritz_columns() - count_) / 2);
                    checked_at = width_;
                    run_.report({.stage = "eigenvectors",
                                 .fraction = std::clamp(std::log(worst) / std::log(tolerance_), 0.0, 1.0),
                                 .objective = std::numeric_limits<double>::quiet_NaN(),
                                 .iteration = restart});
                }
            }
            append();
        }
        out.values = projected_.diagonal();
        out.vectors = basis_.middleCols(known_, count_);
        out.residual = measured_residual(out);
        return out;
    }

    // Whether an eigenvalue beside those of the known vectors lies above `value`. The largest Ritz value comes from
    // below to the largest eigenvalue; it is believed to have come near when its residual is a tenth of what is missing
    // to `value`, or within kNear.
    bool anything_above(double value, std::int64_t& blocks) {
        begin();
        Index checked_at = 0;
        for (int restart = 0; restart < kRestarts;) {
            run_.throw_if_stopped("eigenvectors");
            expand();
            ++blocks;
            const bool full = width_ + kBlock > capacity_;
            if (full || width_ - checked_at >= 2 * kBlock) {
                checked_at = width_;
                const EigenPairs ritz = symmetric_eigen(projected_);
                const double top = ritz.values[ritz_columns() - 1];
                if (top > value + 10 * tolerance_) return true;
                if (residual(ritz, 0) <= std::max(0.1 * (value - top), kNear)) return false;
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
        width_ = known_;
        projected_ = Matrix<double>::Zero(0, 0);
        for (Index c = 0; c < kBlock; ++c) draw(c);
        take_off_basis(0);
        append();
    }

    Index ritz_columns() const { return width_ - known_; }

    // A column of independent normal numbers.
    void draw(Index column) {
        RandomStream random = run_.random("eigenvectors", draws_++);
        for (Index i = 0; i < rest_.rows(); ++i) rest_(i, column) = random.normal();
    }

    template <class Body>
    void for_chunks(const Body& body) {
        for_each_block(chunks_.count(), threads_for(static_cast<double>(block_.size()) * 20, run_.threads),
                       [&](Index chunk, int) { body(chunk, chunks_.begin(chunk), chunks_.end(chunk)); });
    }

    // left' right for columns from..from+columns-1 of left; sums of the chunks are added in their order.
    Matrix<double> transposed_by(const Matrix<double>& left, Index from, Index columns, const Matrix<double>& right) {
        std::vector<Matrix<double>> partial(at(chunks_.count()));
        for_chunks([&](Index chunk, Index begin, Index end) {
            partial[at(chunk)] = Matrix<double>::Zero(columns, kBlock);
            internal::products().float64.add_transposed_by(left.data() + begin * left.cols() + from, columns,
                                                           left.cols(), right.data() + begin * kBlock, kBlock, kBlock,
                                                           end - begin, partial[at(chunk)].data(), kBlock);
        });
        Matrix<double> sum = std::move(partial.front());
        for (std::size_t c = 1; c < partial.size(); ++c) sum += partial[c];
        return sum;
    }

    // rest -= B B'rest, first for columns from `first` on, then for all; returns B'rest.
    Matrix<double> take_off_basis(Index first) {
        Matrix<double> total = Matrix<double>::Zero(width_, kBlock);
        for (const Index from : {first, Index{0}}) {
            const Index columns = width_ - from;
            const Matrix<double> seen = transposed_by(basis_, from, columns, rest_);
            const Matrix<double> rows = seen.transpose();
            for_chunks([&](Index, Index begin, Index end) {
                Matrix<double> along(end - begin, kBlock);
                internal::products().float64.rows_by_rows(basis_.data() + begin * basis_.cols() + from, end - begin,
                                                          basis_.cols(), rows.data(), kBlock, columns, columns,
                                                          along.data(), kBlock);
                rest_.middleRows(begin, end - begin) -= along;
            });
            total.bottomRows(columns) += seen;
        }
        return total;
    }

    // M Q for the newest block Q, its projection, and in rest_ what the basis does not hold of it.
    void expand() {
        for_chunks([&](Index, Index begin, Index end) { operator_.multiply(block_.data(), begin, end, rest_.data()); });
        // Of the basis, M Q has parts along Q and the block before it only, or what was kept at a restart; the
        // second pass, along all, takes off what rounding left.
        const Matrix<double> seen = take_off_basis(since_restart_ > 1 ? width_ - 2 * kBlock : 0);
        const Index p = ritz_columns();
        projected_.conservativeResize(p, p);
        projected_.rightCols(kBlock) = seen.bottomRows(p);
        projected_.bottomRows(kBlock) = seen.bottomRows(p).transpose();
        const Matrix<double> corner = projected_.bottomRightCorner(kBlock, kBlock);
        projected_.bottomRightCorner(kBlock, kBlock) = 0.5 * (corner + corner.transpose());
        rest_squared_ = transposed_by(rest_, 0, kBlock, rest_);
    }

    // Makes rest_ orthonormal and orthogonal to the basis, and the newest block of it. Where nothing is left of a
    // column the basis is invariant, and a random direction goes on. By the eigenvectors of the Gram matrix, again
    // until they are the unit vectors (Stathopoulos and Wu 2002).
    void append() {
        for (int pass = 0; pass < 10; ++pass) {
            Matrix<double> gram = transposed_by(rest_, 0, kBlock, rest_);
            bool drawn = false;
            for (Index c = 0; c < kBlock; ++c)
                if (!(gram(c, c) > kNothing * kNothing)) {
                    draw(c);
                    drawn = true;
                }
            if (drawn) {
                take_off_basis(0);
                gram = transposed_by(rest_, 0, kBlock, rest_);
            }
            if ((gram - Matrix<double>::Identity(kBlock, kBlock)).cwiseAbs().maxCoeff() < 1e-14) break;
            const Vector<double> scale = gram.diagonal().cwiseSqrt().cwiseInverse();
            const Matrix<double> cosines = scale.asDiagonal() * gram * scale.asDiagonal();
            const EigenPairs pairs = symmetric_eigen(cosines);
            const Vector<double> lengths = pairs.values.cwiseMax(1e-15 * pairs.values[kBlock - 1]).cwiseSqrt();
            const Matrix<double> map =
                scale.asDiagonal() * pairs.vectors * lengths.cwiseInverse().asDiagonal().toDenseMatrix();
            for_chunks([&](Index, Index begin, Index end) {
                for (Index i = begin; i < end; ++i) {
                    double* const row = rest_.data() + i * kBlock;
                    double made[kBlock] = {};
                    for (Index c = 0; c < kBlock; ++c)
                        for (Index to = 0; to < kBlock; ++to) made[to] += row[c] * map(c, to);
                    std::copy_n(made, kBlock, row);
                }
            });
            // What was short is mostly rounding, made long; that is not orthogonal to the basis.
            if (lengths[0] < 1e-2 || scale.maxCoeff() > 1e3) take_off_basis(0);
        }
        block_ = rest_;
        basis_.middleCols(width_, kBlock) = block_;
        width_ += kBlock;
        ++since_restart_;
    }

    // Of the pair with the i-th largest value: || (M B - B T) s || = || rest s_last ||.
    double residual(const EigenPairs& ritz, Index i) const {
        const Vector<double> last = ritz.vectors.col(ritz_columns() - 1 - i).tail(kBlock);
        return std::sqrt(std::max(0.0, last.dot(rest_squared_ * last)));
    }

    // The largest of the Ritz pairs wanted.
    double worst_residual(const EigenPairs& ritz) const {
        double worst = 0;
        for (Index i = 0; i < count_; ++i) worst = std::max(worst, residual(ritz, i));
        return worst;
    }

    // The basis cut down to its `keep` best Ritz vectors, the largest first.
    void cut(const EigenPairs& ritz, Index keep) {
        const Index p = ritz_columns();
        const Matrix<double> rows = ritz.vectors.rightCols(keep).rowwise().reverse().transpose();
        for_chunks([&](Index, Index begin, Index end) {
            Matrix<double> kept(end - begin, keep);
            internal::products().float64.rows_by_rows(basis_.data() + begin * basis_.cols() + known_, end - begin,
                                                      basis_.cols(), rows.data(), keep, p, p, kept.data(), keep);
            basis_.block(begin, known_, end - begin, keep) = kept;
        });
        projected_ = ritz.values.tail(keep).reverse().asDiagonal();
        width_ = known_ + keep;
        since_restart_ = 0;
    }

    double measured_residual(const SparseEigenPairs& pairs) {
        Vector<double> squared = Vector<double>::Zero(count_);
        for (Index first = 0; first < count_; first += kBlock) {
            const Index columns = std::min(kBlock, count_ - first);
            block_.setZero();
            block_.leftCols(columns) = pairs.vectors.middleCols(first, columns);
            for_chunks(
                [&](Index, Index begin, Index end) { operator_.multiply(block_.data(), begin, end, rest_.data()); });
            for (Index c = 0; c < columns; ++c)
                squared[first + c] = (rest_.col(c) - pairs.values[first + c] * block_.col(c)).squaredNorm();
        }
        return std::sqrt(squared.maxCoeff());
    }

    static constexpr double kNothing = 1e-13;  // a column of M Q shorter than this is rounding, M being of norm 1

    Operator operator_;
    Index count_;
    double tolerance_;
    const Run& run_;
    Index known_;
    Index capacity_;
    Matrix<double> basis_;
    Matrix<double> block_;
    Matrix<double> rest_;
    RowBlocks chunks_;
    Matrix<double> projected_;
    Matrix<double> rest_squared_;
    Index width_ = 0;
    Index since_restart_ = 0;  // blocks appended
    std::uint64_t draws_;
};

// As many pairs as a has, the largest of both.
SparseEigenPairs best_of(const SparseEigenPairs& a, const SparseEigenPairs& b) {
    const Index count = a.values.size();
    std::vector<std::pair<double, Index>> order;
    for (Index i = 0; i < count; ++i) order.emplace_back(-a.values[i], i);
    for (Index i = 0; i < b.values.size(); ++i) order.emplace_back(-b.values[i], count + i);
    std::sort(order.begin(), order.end());
    SparseEigenPairs out{Vector<double>(count), Matrix<double>(a.vectors.rows(), count),
                         std::max(a.residual, b.residual), a.blocks + b.blocks, a.converged && b.converged};
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
    if (m.cols() != n || (held > 0 && known.size() != n))
        throw BadArgument("largest_symmetric_eigen: the matrix must be square, and the known vector as long; given " +
                          std::to_string(n) + " x " + std::to_string(m.cols()) + " and " +
                          std::to_string(known.size()));
    if (n > std::numeric_limits<std::int32_t>::max())
        throw BadArgument("largest_symmetric_eigen: at most 2147483647 rows, given " + std::to_string(n));
    if (count < 1 || held + count + 2 * kBlock > n)
        throw BadArgument("largest_symmetric_eigen: count must be from 1 to " + std::to_string(n - held - 2 * kBlock) +
                          " for a matrix of " + std::to_string(n) + " rows, given " + std::to_string(count));
    require_memory(static_cast<double>(n) * sizeof(double) * static_cast<double>(3 * count + 14 * kBlock) +
                       12.0 * static_cast<double>(m.nonZeros()),
                   std::to_string(count) + " eigenvectors of " + std::to_string(n) + " points");
    Matrix<double> aside(n, held);
    if (held > 0) aside.col(0) = known;
    SparseEigenPairs out = Lanczos(m, count, tolerance, aside, 0, run)();
    // From one block no more than kBlock copies of an eigenvalue grow, and of nearly equal ones hardly more: what was
    // found is put aside until nothing is left above the last of it.
    const Index more = std::min(kBlock, count);
    const auto put_aside = [&](const Matrix<double>& vectors) {
        const Index before = aside.cols();
        aside.conservativeResize(n, before + vectors.cols());
        aside.rightCols(vectors.cols()) = vectors;
    };
    put_aside(out.vectors);
    for (std::uint64_t again = 1; out.converged && aside.cols() + more + 3 * kBlock <= n; again += 2) {
        if (!Lanczos(m, 1, tolerance, aside, again, run).anything_above(out.values[count - 1], out.blocks)) break;
        const SparseEigenPairs missed = Lanczos(m, more, tolerance, aside, again + 1, run)();
        put_aside(missed.vectors);
        out = best_of(out, missed);
    }
    return out;
}

}  // namespace coterie
