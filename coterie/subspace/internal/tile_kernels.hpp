#pragma once
// Internal: sums of outer products on the processor's bfloat16 matrix unit (Intel AMX),
//
//     W = sum_i z_i z_i',   z_i = w_i (x_i - c),   z_i rounded to bfloat16 (8 significant bits), sums in float,
//
// eight times faster than float products on the AVX-512 units of the same processor. Rounding is dithered: of the two
// neighbours of a number one is drawn, so that the mean of what is drawn is the number. tile_norms.hpp says what that
// makes of W.

#include <cstddef>
#include <cstdint>

namespace coterie::internal {

/// Columns are taken 32 at a time: d is padded with columns of 0 to a multiple of it.
inline constexpr std::ptrdiff_t tile_columns = 32;

struct TileKernels {
    /// Packs rows 0..count-1 of d columns, count a multiple of 32; a weight of 0 makes a row 0. Rows 2r and 2r + 1 of
    /// 16 columns make a vector, row 2r in the lower halves of its words. A group of 16 columns has its count / 2
    /// vectors beside each other; groups, as many as d padded has, stand count / 2 + 1 vectors apart.
    struct Rows {
        const float* const* rows;
        const float* weights;       // w_i
        const std::uint32_t* keys;  // count / 2: of the dither, one a pair of rows
        std::ptrdiff_t count;
        std::ptrdiff_t d;
        const float* center;               // c = center + center_rest, padded with 0
        const float* center_rest;          // what float leaves of c
        const std::uint32_t* column_keys;  // of the dither
    };
    /// squares_p += sum_i z_ip^2 of what is packed, before it is rounded; padded.
    void (*pack)(const Rows& from, float* squares, std::uint32_t* packed);
    /// sums += W of `count` packed rows, `groups` of 16 columns. sums: the blocks of 32 x 32 of the upper triangle, row
    /// of blocks after row of blocks; within a block 4 tiles of 16 x 16, above and beside each other as in a matrix,
    /// row after row of tiles. panel: 32 * count halves of room.
    void (*add_products)(const std::uint32_t* packed, std::ptrdiff_t count, std::ptrdiff_t groups, std::uint32_t* panel,
                         float* sums);
};

/// Null where the processor has no such unit, or the operating system does not let the process use it.
const TileKernels* tile_kernels();

}  // namespace coterie::internal
