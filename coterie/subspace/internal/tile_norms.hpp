#pragma once
// Internal: trace and squared Frobenius norm of the scatter of a cluster about its own mean,
//
//     W = sum_i A_i (x_i - c)(x_i - c)'  =  sum_i z_i z_i',   z_i = sqrt(A_i) (x_i - c),
//
// on the processor's bfloat16 matrix unit: what shrinkage by OAS needs of a W that is itself not needed.
//
// How exact. The diagonal of W, and with it the trace, is summed up in float and double from z before it is rounded.
// Off the diagonal the factors are z + e, e of mean 0 and independent from column to column, so that the mean of every
// sum is W_pq whatever the points are; to round to the nearest would not do: where columns hold few values (0 and 1,
// say) all their errors are alike. e_ip^2 is v_ip in the mean, at most 2^-16 z_ip^2, about 2^-17.6 of it on average;
// hence
//
//     bias of ||W||_F^2      sum_i 2 |z_i|^2 sum_p v_ip,  at most 2^-15 sum_i |z_i|^4 <= 2^-15 ||W||_F^2: that of one
//                            point; of m points alike spread over d directions min(1, d / m) of it
//     its deviation          4 (sum_ip (Z W_off)_ip^2 v_ip)^1/2, relative to ||W||_F^2 about 2^-7 (m d)^-1/2
//
// and both concern only what is off the diagonal. So the difference of ||W||_F^2 and tr(W)^2 / d, by which OAS divides,
// is exact to about 2^-7 / d even where W is near a multiple of the identity and little is left of the difference.
// Both are small for many rows only: a cluster of fewer than 2048 rows' worth, (sum_i t_i)^2 / sum_i t_i^2 with the t_i
// below, is summed up in float by ClusterMoments.
//
// Entries too small to matter are drawn by lot. t_i = A_i (|x_i - m|^2 + |c - m|^2) is at least |z_i|^2 / 2. An entry
// of t_i below  t = 5e-6 tr(W) / sqrt(n)  is taken with probability t_i / t, and then with weight A_i t / t_i: the mean
// of every sum stays W_pq, and the deviation of ||W||_F^2 that this adds is, for points alike, at most 2e-5 of it, that
// of a lot for every point (in points of any kind: sqrt(d) times that).
//
// Dither and lots are hashes of row, column and cluster; sums are of 256 rows in the unit's float, of 8192 in float, of
// all in double, in this order: the same bits at any number of threads.

#include <span>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/subspace/internal/cluster_moments.hpp"
#include "coterie/subspace/internal/tile_kernels.hpp"

namespace coterie::internal {

class TileNorms {
public:
    /// Whether there is such a unit; without, nothing below may be called.
    static bool available() { return tile_kernels() != nullptr; }

    /// mean: m, about that of the points, which must outlive this. Memory: d^2 / 2 numbers of double and as many of
    /// float a thread, for at most 16 threads; 4 numbers a point.
    TileNorms(const Rows<float>& points, const Vector<double>& mean, int threads);

    /// shares: A, n x k; c = center, the mean for these. Cost: d^2 / 2 multiplications of the unit for every entry
    /// taken.
    ClusterMoments::Norms norms(const Matrix<float>& shares, std::int32_t cluster, const Vector<double>& center);

private:
    static constexpr Index kChunk = 256;  // rows packed at a time; a multiple of 32
    static constexpr Index kPart = 8192;  // rows one thread sums up in float
    static constexpr Index kSlots = 16;   // parts at a time, at most
    static constexpr Index kBlock = tile_columns * tile_columns;
    static constexpr double kLot = 5e-6;    // t sqrt(n) / tr(W)
    static constexpr double kFew = 2048.0;  // rows' worth for the unit

    // What a thread needs for a part.
    struct Slot {
        CacheLineVector<std::uint32_t> packed;
        CacheLineVector<std::uint32_t> panel;
        CacheLineVector<float> squares;  // of a chunk
        CacheLineVector<float> sums;
        Vector<double> diagonal;
    };
    // Fills entries_; returns how many rows' worth they are.
    double take(const Matrix<float>& shares, std::int32_t cluster, const Vector<double>& center);
    void add_part(std::span<const ClusterMoments::Entry> entries, std::int32_t cluster, Slot& slot) const;

    Rows<float> points_;
    Vector<double> mean_;
    int threads_;
    Index padded_;
    Index blocks_;            // of the upper triangle
    Vector<double> squares_;  // n: |x_i - m|^2
    int exponent_;            // of the scale that brings deviations near 1, so that no square leaves float
    std::vector<std::uint32_t> column_keys_;
    std::vector<float> center_;
    std::vector<float> center_rest_;
    std::vector<ClusterMoments::Entry> entries_;
    std::vector<Slot> slots_;
    CacheLineVector<double> sums_;
};

}  // namespace coterie::internal
