#pragma once
// Internal: the points as the columns of representations, in two forms. In float, relative to their mean, for products
// of blocks; their rounding errors are bounded. In double, the original values times a power of two.

#include <algorithm>
#include <utility>
#include <vector>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"
#include "coterie/manifold/internal/column_scans.hpp"

namespace coterie::manifold::internal {

using namespace coterie::internal;

/// Lengths, products and residuals are those of the scaled points, s x.
struct Columns {
    static constexpr Index kTile = 1024;  // columns per product of blocks

    PointsView points;
    Index count = 0;       // n
    Index dimensions = 0;  // d
    double scale = 1;      // s: a power of two
    double tail = 0;       // sqrt(eta) s: the homogenising coordinate
    Vector<double> center;
    Matrix<float> centred;             // z
    std::vector<float> squared;        // |z|^2
    std::vector<float> norms;          // |z|, rounded up
    std::vector<float> along;          // z . center
    std::vector<double> square_norms;  // |s x|^2, without the homogenising coordinate
    std::vector<float> tile_norms;     // the largest of each tile
    double largest_norm = 0;
    double least = 0;  // lower limit of distances; 0: all points are equal

    Index tiles() const { return (count + kTile - 1) / kTile; }
    /// Number of columns in a tile; the last one may not be full.
    Index size_of(Index tile) const { return std::min(kTile, count - tile * kTile); }
    /// Products of `number` rows of d numbers with the centred columns of a tile: row i is at out + i * kTile.
    void tile_products(Index tile, const float* rows, Index number, float* out) const;
    /// Writes row i of `from`, scaled, and the homogenising coordinate: d + 1 numbers.
    void pack(PointsView from, Index i, double* out) const;
    /// Writes a packed row minus the centre.
    void centre(const double* packed, float* out) const;
    /// x_j . a and x_j . b, scaled, over the first d coordinates.
    void products(Index j, const double* a, const double* b, double* out) const;
    /// Squared distance of x_j from a packed row, computed from differences.
    double squared_distance(Index j, const double* packed) const;
    /// The same, computed from the product with the packed row, whose squared norm is `square_norm`. If digits cancel,
    /// it is computed from differences.
    double squared_distance(Index j, const double* packed, double product, double square_norm) const;
};

/// The representation of a query: columns, ascending, each with its coefficient and its weight.
using SparseRow = std::vector<std::pair<Index, std::pair<double, double>>>;
/// Writes the coefficients, and the weights in the order of the entries.
void write_rows(const std::vector<SparseRow>& rows, SparseMatrix& coefficients, std::vector<double>& weights);

/// Throws BadData for values that are not finite.
Columns columns_of(PointsView points, double eta, const Run& run);

/// Throws BadArgument unless queries have the columns of the points.
void check_columns(PointsView points, PointsView queries);
/// Throws BadData for values that are not finite. Also for values more than 1e12 times as large as any value of the
/// points, because products with the points would overflow float.
void check_queries(const Columns& columns, PointsView queries, const Run& run);

/// Bound of the rounding error of a product of blocks z . r of d numbers, in units of |z| |r|. It includes the rounding
/// of z, of r and of two more sums.
double product_rounding(Index dimensions);

}  // namespace coterie::manifold::internal
