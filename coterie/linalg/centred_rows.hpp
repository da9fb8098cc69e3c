#pragma once
// Internal: rows prepared for distances by matrix products, and the error bound of these products. The score of point p
// for query q is ||p||^2 / 2 - q.p, which is half the squared distance minus ||q||^2 / 2. Matrix products of blocks
// give all scores. The bound shows which pairs must be measured directly, in double.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Rows minus a common centre, times a common power of two. Small norms make rounding errors small, and no square
/// overflows or underflows.
template <class Scalar>
struct CentredRows {
    Matrix<Scalar> rows;
    std::vector<double> norms;
    std::vector<Scalar> half_squared_norms;
};

constexpr Index rows_of_a_task = 512;

/// The largest | x_ip - center_p |. Throws BadArgument with the place if a number is not finite.
inline double largest_magnitude(PointsView points, const Vector<double>& center, int threads) {
    const RowBlocks blocks{points.rows(), rows_of_a_task};
    std::vector<double> largest(at(blocks.count()), 0.0);
    points.visit([&](auto rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            double found = 0.0;
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const auto* const x = rows.row(i);
                for (Index p = 0; p < rows.columns; ++p) {
                    const double magnitude = std::abs(static_cast<double>(x[p]) - center[p]);
                    found = magnitude <= found ? found : magnitude;  // keeps NaN
                    if (!(magnitude <= std::numeric_limits<double>::max()))
                        throw BadArgument(Code::not_finite, "nearest_neighbors: the value is not a finite number", "",
                                          {.row = i + 1, .column_number = p + 1});
                }
            }
            largest[at(block)] = found;
        });
    });
    return largest.empty() ? 0.0 : *std::max_element(largest.begin(), largest.end());
}

/// The power of two that scales numbers of magnitude up to `largest` to about 1.
inline double scale_to_one(double largest) {
    return largest > 0.0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1.0;
}

/// (x_i - center) scale, rounded to Scalar, for points of any scalar type.
template <class Scalar>
CentredRows<Scalar> centred_rows(PointsView points, const Vector<double>& center, double scale, int threads) {
    const Index d = points.columns();
    require_memory(static_cast<double>(points.rows()) * (static_cast<double>(d + 1) * sizeof(Scalar) + sizeof(double)),
                   "a centred copy of the rows for nearest neighbours");
    CentredRows<Scalar> prepared;
    prepared.rows.resize(points.rows(), d);
    prepared.norms.resize(at(points.rows()));
    prepared.half_squared_norms.resize(at(points.rows()));
    const RowBlocks blocks{points.rows(), rows_of_a_task};
    points.visit([&](auto rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const auto* const x = rows.row(i);
                Scalar* const to = prepared.rows.data() + i * d;
                double squared = 0.0;
                for (Index p = 0; p < d; ++p) {
                    to[p] = static_cast<Scalar>((static_cast<double>(x[p]) - center[p]) * scale);
                    squared += static_cast<double>(to[p]) * static_cast<double>(to[p]);
                }
                prepared.norms[at(i)] = std::sqrt(squared);
                prepared.half_squared_norms[at(i)] = static_cast<Scalar>(0.5 * squared);
            }
        });
    });
    return prepared;
}

/// Bound on | computed score - ||q - p||^2 / 2 + ||q||^2 / 2 |, where squared_distance() below gives the distance. With
/// a = ||q||, b = ||p|| and unit roundoff u, it is the sum of u (d + 5) a b for product and difference, u b^2 for the
/// norm, u (a + b)^2 for the rounded coordinates, and errors of the direct distance and of sums.
template <class Scalar>
class ScoreBound {
public:
    explicit ScoreBound(Index dimensions)
        : product_(unit * static_cast<double>(dimensions + 5)),
          direct_(unit_double * static_cast<double>(dimensions + 3)),
          underflow_(static_cast<double>(dimensions + 1) * (std::is_same_v<Scalar, float> ? 1e-36 : 1e-290)) {}
    double operator()(double a, double b) const {
        const double sum = a + b;
        return 1.02 * (product_ * a * b + unit * b * b + (unit + direct_) * sum * sum) + underflow_;
    }

private:
    static constexpr double unit = 0.5 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    static constexpr double unit_double = 0.5 * std::numeric_limits<double>::epsilon();
    double product_;
    double direct_;
    double underflow_;
};

/// Computed from the differences, in double. Swapping a and b gives the same bits.
template <class A, class B>
double squared_distance(const A* a, const B* b, Index d) {
    // Eight partial sums, so that the compiler can use vectors without a change of the order of additions.
    double lane[8] = {};
    Index p = 0;
    for (; p + 8 <= d; p += 8) {
        for (Index l = 0; l < 8; ++l) {
            const double difference = static_cast<double>(a[p + l]) - static_cast<double>(b[p + l]);
            lane[l] += difference * difference;
        }
    }
    for (; p < d; ++p) {
        const double difference = static_cast<double>(a[p]) - static_cast<double>(b[p]);
        lane[0] += difference * difference;
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

}  // namespace coterie::internal
