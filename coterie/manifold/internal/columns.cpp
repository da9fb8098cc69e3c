// A power of two scales the points without rounding, so that products in float and squares in double do not overflow or
// underflow. Float copies are relative to the mean, because their rounding errors are then small. Norms are rounded up,
// because bounds use them. Distances come from products if few digits cancel, otherwise from differences.

#include "coterie/manifold/internal/columns.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/model/model.hpp"

namespace coterie::manifold::internal {
namespace {
constexpr Index kRows = 512;
constexpr double kLeast = 1e-6;      // smallest distance, relative to the root mean square distance from the mean
constexpr double kCancelled = 1e-6;  // below this fraction of |x|^2 + |y|^2, a squared distance comes from differences

constexpr double kFarthest = 1e12;

float rounded_up(double value) {
    return std::nextafter(static_cast<float>(value), std::numeric_limits<float>::infinity());
}
}  // namespace

double product_rounding(Index dimensions) {
    return 1.02 * 0.5 * static_cast<double>(std::numeric_limits<float>::epsilon()) *
           static_cast<double>(dimensions + 10);
}

void check_columns(PointsView points, PointsView queries) {
    if (points.columns() != queries.columns())
        throw BadArgument(
            Code::wrong_shape,
            counted(queries.columns(), "column") + " for data with " + counted(points.columns(), "column"),
            "Give queries the columns of the data", {.option = "queries"});
}

void check_queries(const Columns& columns, PointsView queries, const Run& run) {
    const double largest = check_points(queries, given_points(), run);
    if (largest * columns.scale > 2 * kFarthest)
        throw BadData(Code::too_large,
                      filled("the magnitude {} in the new rows is too large, because the training data have at most {}",
                             to_text(largest), to_text(2 / columns.scale)),
                      "", {.option = "points"});
}

void write_rows(const std::vector<SparseRow>& rows, SparseMatrix& coefficients, std::vector<double>& weights) {
    coefficients = sparse_of_rows(rows, coefficients.cols(), [](const auto& values) { return values.first; });
    for (const SparseRow& row : rows)
        for (const auto& [column, values] : row) weights.push_back(values.second);
}

void Columns::tile_products(Index tile, const float* rows, Index number, float* out) const {
    block_products<float>().rows_by_rows(rows, number, dimensions, centred.data() + tile * kTile * dimensions,
                                         size_of(tile), dimensions, dimensions, out, kTile);
}

void Columns::pack(PointsView from, Index i, double* out) const {
    from.visit([&](auto rows) {
        const auto* const x = rows.row(i);
        for (Index p = 0; p < dimensions; ++p) out[p] = static_cast<double>(x[p]) * scale;
    });
    out[dimensions] = tail;
}

void Columns::centre(const double* packed, float* out) const {
    for (Index p = 0; p < dimensions; ++p) out[p] = static_cast<float>(packed[p] - center[p]);
}

void Columns::products(Index j, const double* a, const double* b, double* out) const {
    points.visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        if constexpr (std::is_same_v<Scalar, float>)
            column_scans().two_dots_float(rows.row(j), a, b, dimensions, out);
        else
            column_scans().two_dots_double(rows.row(j), a, b, dimensions, out);
    });
    out[0] *= scale;
    out[1] *= scale;
}

double Columns::squared_distance(Index j, const double* packed) const {
    return points.visit([&](auto rows) {
        const auto* const x = rows.row(j);
        double sum = 0;
        for (Index p = 0; p < dimensions; ++p) {
            const double difference = static_cast<double>(x[p]) * scale - packed[p];
            sum += difference * difference;
        }
        return sum;
    });
}

double Columns::squared_distance(Index j, const double* packed, double product, double square_norm) const {
    const double both = square_norms[at(j)] + square_norm;
    const double difference = both - 2 * product;
    return difference > kCancelled * both ? difference : squared_distance(j, packed);
}

Columns columns_of(PointsView points, double eta, const Run& run) {
    Columns out;
    out.points = points;
    out.count = points.rows();
    out.dimensions = points.columns();
    const double largest = check_points(points, given_points(), run);
    out.scale = largest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1.0;
    out.tail = std::sqrt(eta) * out.scale;
    out.center = mean(points, run) * out.scale;
    require_memory(static_cast<double>(out.count) * (4.0 * static_cast<double>(out.dimensions) + 24),
                   "a copy of the data in float for products of blocks");
    const std::size_t n = at(out.count);
    out.centred.resize(out.count, out.dimensions);
    out.squared.resize(n);
    out.norms.resize(n);
    out.along.resize(n);
    out.square_norms.resize(n);
    std::vector<double> deviation(n);
    const RowBlocks blocks{out.count, kRows};
    for_each_block(blocks.count(), run.threads, [&](Index block, int) {
        std::vector<double> packed(at(out.dimensions + 1));
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            out.pack(points, i, packed.data());
            float* const z = out.centred.data() + i * out.dimensions;
            out.centre(packed.data(), z);
            double square = 0;
            double product = 0;
            double own = 0;
            for (Index p = 0; p < out.dimensions; ++p) {
                const auto value = static_cast<double>(z[p]);
                square += value * value;
                product += value * out.center[p];
                own += packed[at(p)] * packed[at(p)];
            }
            out.squared[at(i)] = static_cast<float>(square);
            out.norms[at(i)] = rounded_up(std::sqrt(square));
            out.along[at(i)] = static_cast<float>(product);
            out.square_norms[at(i)] = own;
            deviation[at(i)] = square;
        }
    });
    // Equal points differ from their mean by the rounding error of the mean.
    const double mean_square =
        std::accumulate(deviation.begin(), deviation.end(), 0.0) / static_cast<double>(out.count);
    out.least = mean_square > 1e-28 * out.center.squaredNorm() ? kLeast * std::sqrt(mean_square) : 0.0;
    out.tile_norms.assign(at(out.tiles()), 0.0F);
    for (Index j = 0; j < out.count; ++j) {
        float& most = out.tile_norms[at(j / Columns::kTile)];
        most = std::max(most, out.norms[at(j)]);
        out.largest_norm = std::max(out.largest_norm, static_cast<double>(out.norms[at(j)]));
    }
    return out;
}

}  // namespace coterie::manifold::internal
