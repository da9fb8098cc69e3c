#pragma once
// Internal: products of a few rows with many fixed rows, in double, with the kernels of linalg/.

#include <algorithm>
#include <utility>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie::internal {

/// x . y_j for fixed rows y_1..y_m. The bits depend neither on other rows nor on threads, and x . y = y . x.
class RowProducts {
public:
    /// `fixed`: m x d. Stores a packed copy of the same size.
    explicit RowProducts(const Matrix<double>& fixed)
        : kernels_(kernels<double>()), d_(fixed.cols()), count_(fixed.rows()) {
        const int widest = kernels_.max_vectors * kernels_.lanes;
        for (Index first = 0; first < count_; first += widest) {
            const int here = static_cast<int>(std::min<Index>(widest, count_ - first));
            const int vectors = (here + kernels_.lanes - 1) / kernels_.lanes;
            panels_.push_back({first, here, vectors, static_cast<Index>(data_.size())});
            const Index width = static_cast<Index>(vectors) * kernels_.lanes;
            data_.resize(data_.size() + at(width * d_), 0.0);
            double* out = data_.data() + panels_.back().offset;
            for (int column = 0; column < here; ++column)
                for (Index p = 0; p < d_; ++p) out[p * width + column] = fixed(first + column, p);
        }
        bias_.assign(at(widest), 0.0);
    }

    Index count() const { return count_; }

    /// Scratch memory for one thread.
    using Scratch = std::vector<double>;

    /// out (rows.size() x count()): out(i, j) = rows[i] . y_j.
    void operator()(const std::vector<const double*>& rows, Matrix<double>& out, Scratch& scratch) const {
        const auto n = static_cast<Index>(rows.size());
        out.resize(n, count_);
        scratch.resize(rows.size() * bias_.size());
        for (const Panel& panel : panels_) {
            const Index width = static_cast<Index>(panel.vectors) * kernels_.lanes;
            kernels_.panel_scores(rows.data(), n, d_, data_.data() + panel.offset, bias_.data(), panel.vectors,
                                  scratch.data());
            for (Index i = 0; i < n; ++i)
                for (int column = 0; column < panel.columns; ++column)
                    out(i, panel.first + column) = -scratch[at(i * width + column)];  // a score is bias - x . y
        }
    }

private:
    struct Panel {
        Index first;
        int columns;
        int vectors;
        Index offset;
    };
    const Kernels<double>& kernels_;
    Index d_;
    Index count_;
    std::vector<Panel> panels_;
    std::vector<double> data_;
    std::vector<double> bias_;
};

/// Rows begin..end-1 minus `origin`, in double.
template <class T>
void centred_rows(const Rows<T>& points, Index begin, Index end, const Vector<double>& origin, Matrix<double>& out) {
    out.resize(end - begin, points.columns);
    for (Index i = begin; i < end; ++i)
        for (Index p = 0; p < points.columns; ++p)
            out(i - begin, p) = static_cast<double>(points.row(i)[p]) - origin[p];
}

/// Pointers to the rows of a matrix.
inline void row_pointers(const Matrix<double>& matrix, std::vector<const double*>& out) {
    out.resize(at(matrix.rows()));
    for (Index i = 0; i < matrix.rows(); ++i) out[at(i)] = matrix.data() + i * matrix.cols();
}

/// || x ||^2 of each row.
inline Vector<double> squared_norms(const Matrix<double>& matrix) {
    Vector<double> out = Vector<double>::Zero(matrix.rows());
    for (Index i = 0; i < matrix.rows(); ++i)
        for (Index p = 0; p < matrix.cols(); ++p) out[i] += matrix(i, p) * matrix(i, p);
    return out;
}

/// || x - c_j ||^2 for fixed rows c_1..c_k, by products. Centre x and c_j near the origin.
class SquaredDistances {
public:
    explicit SquaredDistances(Matrix<double> fixed)
        : fixed_(std::move(fixed)), squared_(squared_norms(fixed_)), products_(fixed_) {}

    Index count() const { return products_.count(); }

    /// out: x.rows() x count().
    void operator()(const Matrix<double>& x, Matrix<double>& out, std::vector<const double*>& pointers,
                    RowProducts::Scratch& scratch) const {
        row_pointers(x, pointers);
        products_(pointers, out, scratch);
        const Vector<double> squared = squared_norms(x);
        for (Index i = 0; i < out.rows(); ++i)
            for (Index j = 0; j < out.cols(); ++j) {
                const double norms = squared[i] + squared_[j];
                const double value = norms - 2 * out(i, j);
                // If the terms nearly cancel (rows far from the origin and close together), uses the differences.
                out(i, j) = value > cancels * norms ? value : (x.row(i) - fixed_.row(j)).squaredNorm();
            }
    }

private:
    static constexpr double cancels = 1e-6;

    Matrix<double> fixed_;
    Vector<double> squared_;
    RowProducts products_;
};

}  // namespace coterie::internal
