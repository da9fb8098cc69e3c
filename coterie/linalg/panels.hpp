#pragma once
// Internal: centroids in the layout of the kernels, relative to an origin m that keeps products small.
//
// With g_j = c_j - m, the squared distance is ||x - c_j||^2 = ||x - m||^2 + 2 s_j, s_j = ||g_j||^2 / 2 + g_j . m - x .
// g_j. So the nearest centroid has the smallest score s_j, and only x . g_j needs a product.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "coterie/base/memory.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie::internal {

template <class T>
class CentroidPanels {
public:
    struct Panel {
        Index first;    // its first centroid
        int centroids;  // how many it holds
        int vectors;
        Index offset;  // in data()
        Index bias;    // in bias()
    };

    explicit CentroidPanels(const Kernels<T>& kernels = internal::kernels<T>()) : kernels_(&kernels) {}

    /// Origin for a set of centroids: the median of each coordinate, over about 33 centroids if there are more. One
    /// distant centroid would move a mean away from all others, and the digits that separate these would be lost.
    static Vector<T> amid(const Rows<T>& centroids) {
        std::vector<const T*> some;
        const Index step = std::max<Index>(1, centroids.rows / 33);
        for (Index j = 0; j < centroids.rows; j += step) some.push_back(centroids.row(j));
        return medians(some, centroids.columns);
    }
    /// The median of each coordinate over some rows (the lower of two middle values).
    static Vector<T> medians(const std::vector<const T*>& rows, Index columns) {
        Vector<T> out(columns);
        std::vector<T> values(rows.size());
        const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
        for (Index p = 0; p < columns; ++p) {
            for (std::size_t j = 0; j < rows.size(); ++j) values[j] = rows[j][p];
            std::nth_element(values.begin(), middle, values.end());
            out[p] = *middle;
        }
        return out;
    }

    void pack(const Rows<T>& centroids, const Vector<T>& origin) {
        d_ = centroids.columns;
        origin_ = origin;
        layout(centroids.rows);
        largest_ = 0;
        largest_bias_ = 0;
        double origin_squared = 0;
        for (Index p = 0; p < d_; ++p)
            origin_squared += static_cast<double>(origin[p]) * static_cast<double>(origin[p]);
        origin_norm_ = std::sqrt(origin_squared);
        for (const Panel& panel : panels_) {
            const Index width = static_cast<Index>(panel.vectors) * kernels_->lanes;
            T* out = data_.data() + panel.offset;
            T* bias = bias_.data() + panel.bias;
            for (Index column = 0; column < width; ++column) {
                if (column >= panel.centroids) {
                    for (Index p = 0; p < d_; ++p) out[p * width + column] = 0;
                    bias[column] = std::numeric_limits<T>::infinity();
                    continue;
                }
                const T* c = centroids.row(panel.first + column);
                double squared = 0;
                double with_origin = 0;
                for (Index p = 0; p < d_; ++p) {
                    const T g = c[p] - origin[p];
                    out[p * width + column] = g;
                    squared += static_cast<double>(g) * static_cast<double>(g);
                    with_origin += static_cast<double>(g) * static_cast<double>(origin[p]);
                }
                bias[column] = static_cast<T>(squared / 2 + with_origin);
                largest_ = std::max(largest_, squared);
                largest_bias_ = std::max(largest_bias_, squared / 2 + std::abs(with_origin));
            }
        }
        largest_ = std::sqrt(largest_);
    }

    const Kernels<T>& kernels() const { return *kernels_; }
    Index dimensions() const { return d_; }
    const Vector<T>& origin() const { return origin_; }
    const std::vector<Panel>& panels() const { return panels_; }

    void best(const Panel& panel, const T* const* rows, Index count, T* best, std::int32_t* column, T* second) const {
        kernels_->panel_best(rows, count, d_, data_.data() + panel.offset, bias_.data() + panel.bias, panel.vectors,
                             best, column, second);
        keep_within(panel, count, column);
    }
    void scores(const Panel& panel, const T* const* rows, Index count, T* out) const {
        kernels_->panel_scores(rows, count, d_, data_.data() + panel.offset, bias_.data() + panel.bias, panel.vectors,
                               out);
    }
    void best(const Panel& panel, const SparseRow<T>* rows, Index count, T* best, std::int32_t* column,
              T* second) const {
        kernels_->sparse_best(rows, count, data_.data() + panel.offset, bias_.data() + panel.bias, panel.vectors, best,
                              column, second);
        keep_within(panel, count, column);
    }
    void scores(const Panel& panel, const SparseRow<T>* rows, Index count, T* out) const {
        kernels_->sparse_scores(rows, count, data_.data() + panel.offset, bias_.data() + panel.bias, panel.vectors,
                                out);
    }
    int width(const Panel& panel) const { return panel.vectors * kernels_->lanes; }

    /// Bound on the rounding error of a squared distance norm + 2 score of a row with ||x - m||^2 = norm: constant +
    /// slope * norm. `scale`: a typical ||x - m||, for which the bound is tightest (sqrt(q) <= (q / scale + scale) /
    /// 2); 0: the largest norm of the centroids.
    struct ErrorBound {
        double constant;
        double slope;
    };
    ErrorBound error_bound(double scale = 0) const {
        if (!(scale > 0)) scale = largest_ > 0 ? largest_ : 1;
        const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) / 2;
        // d products and sums in sequence, each rounded, plus a few more roundings.
        const double product = (static_cast<double>(d_) + 8) * unit * 1.01;
        return {2 * (product * (scale / 2 + origin_norm_) * largest_ + 4 * unit * largest_bias_ +
                     2 * unit * largest_ * (scale / 2 + largest_)),
                (product + 2 * unit) * largest_ / scale + product};
    }

private:
    // Never returns a column after the last centroid, even if scores are NaN.
    void keep_within(const Panel& panel, Index count, std::int32_t* column) const {
        if (panel.centroids < width(panel))
            for (Index i = 0; i < count; ++i) column[i] = std::min(column[i], panel.centroids - 1);
    }
    void layout(Index k) {
        const int lanes = kernels_->lanes;
        if (k == k_ && data_.size() == at(d_ * padded_)) return;
        k_ = k;
        panels_.clear();
        Index vectors = (k + lanes - 1) / lanes;
        Index first = 0;
        Index column = 0;
        while (vectors > 0) {
            const int here = static_cast<int>(std::min<Index>(vectors, kernels_->max_vectors));
            const int held = static_cast<int>(std::min<Index>(k - first, static_cast<Index>(here) * lanes));
            panels_.push_back({first, held, here, column * d_, column});
            first += held;
            column += static_cast<Index>(here) * lanes;
            vectors -= here;
        }
        padded_ = column;
        data_.resize(at(d_ * padded_));
        bias_.resize(at(padded_));
    }

    const Kernels<T>* kernels_;
    Index d_ = 0;
    Index k_ = -1;
    Index padded_ = 0;
    Vector<T> origin_;
    double origin_norm_ = 0;
    double largest_ = 0;       // max ||g_j||
    double largest_bias_ = 0;  // largest sum of the terms' magnitudes in a bias
    std::vector<Panel> panels_;
    std::vector<T, Eigen::aligned_allocator<T>> data_;
    std::vector<T, Eigen::aligned_allocator<T>> bias_;
};

/// Rows per kernel call, so that they stay in the second-level cache for all panels. A multiple of every tile height.
inline Index rows_in_cache(Index d, std::size_t size_of_scalar) {
    const Index fit = static_cast<Index>(262144 / (at(d) * size_of_scalar));
    return std::clamp<Index>(fit / 120 * 120, 120, 960);
}

/// Finds the smallest score over all panels for a few rows; ties go to the lowest centroid. One object per thread.
template <class T>
class BestScore {
public:
    explicit BestScore(Index capacity)
        : best(at(capacity)),
          centroid(best.size()),
          rows_(best.size()),
          panel_best_(best.size()),
          column_(best.size()) {}

    void operator()(const CentroidPanels<T>& panels, const Rows<T>& points, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) rows_[at(i - begin)] = points.row(i);
        find(panels, rows_.data(), at(end - begin));
    }
    void operator()(const CentroidPanels<T>& panels, const SparsePoints& points, Index begin, Index end) {
        sparse_.clear();
        for (Index i = begin; i < end; ++i) sparse_.push_back(points.row<T>(i));
        find(panels, sparse_.data(), sparse_.size());
    }

    std::vector<T> best;
    std::vector<std::int32_t> centroid;

private:
    template <class Row>
    void find(const CentroidPanels<T>& panels, const Row* rows, std::size_t count) {
        bool first = true;
        for (const auto& panel : panels.panels()) {
            T* best_here = first ? best.data() : panel_best_.data();
            std::int32_t* column_here = first ? centroid.data() : column_.data();
            panels.best(panel, rows, static_cast<Index>(count), best_here, column_here, nullptr);
            if (!first) {
                for (std::size_t r = 0; r < count; ++r) {
                    const bool better = panel_best_[r] < best[r];
                    best[r] = better ? panel_best_[r] : best[r];
                    centroid[r] = better ? static_cast<std::int32_t>(panel.first) + column_[r] : centroid[r];
                }
            }
            first = false;
        }
    }

    std::vector<const T*> rows_;
    std::vector<SparseRow<T>> sparse_;
    std::vector<T> panel_best_;
    std::vector<std::int32_t> column_;
};

}  // namespace coterie::internal
