// Compiled for AVX-512 with AMX only. Nothing from the standard library with external linkage is used here: an inline
// function compiled for these instructions must not be the copy that the linker keeps for everybody.

#include <immintrin.h>

#include "coterie/subspace/internal/tile_kernels.hpp"

namespace coterie::internal::amx {
namespace {
using Size = std::ptrdiff_t;

constexpr int lanes = 16;                // columns of a vector and of a tile
constexpr Size tile_words = 16 * lanes;  // a tile: 16 x 16 floats, or 16 columns of 16 pairs of rows

// 16 bits of chance for each row of a pair. Two rounds of multiplication and folding: columns' and rows' keys must not
// show in what two columns have in common.
inline __m512i chance(__m512i column_keys, __m512i key) {
    __m512i h = _mm512_mullo_epi32(_mm512_xor_si512(column_keys, key), _mm512_set1_epi32(0x7feb352d));
    h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 15));
    h = _mm512_mullo_epi32(h, _mm512_set1_epi32(static_cast<int>(0x846ca68bu)));
    return _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
}

void pack(const TileKernels::Rows& from, float* squares, std::uint32_t* packed) {
    constexpr int at_once = 4;
    const Size stride = (from.count / 2 + 1) * lanes;
    const __m512i low_half = _mm512_set1_epi32(0xffff);
    for (Size r = 0; r < from.count; r += at_once) {
        __m512 weight[at_once];
        __m512i key[at_once / 2];
        for (int i = 0; i < at_once; ++i) weight[i] = _mm512_set1_ps(from.weights[r + i]);
        for (int i = 0; i < at_once / 2; ++i) key[i] = _mm512_set1_epi32(static_cast<int>(from.keys[r / 2 + i]));
        // The processor does not see by itself which rows come next.
        const float* const* const next = from.rows + (r + at_once < from.count ? r + at_once : r);
        std::uint32_t* out = packed + r / 2 * lanes;
        const Size padded = (from.d + tile_columns - 1) / tile_columns * tile_columns;
        for (Size p = 0; p < padded; p += lanes, out += stride) {
            const Size left = from.d - p;
            for (int i = 0; i < at_once; ++i) _mm_prefetch(reinterpret_cast<const char*>(next[i] + p), _MM_HINT_T0);
            const auto mask = static_cast<__mmask16>(left >= lanes ? 0xffff : left <= 0 ? 0 : (1 << left) - 1);
            const __m512 center = _mm512_loadu_ps(from.center + p);
            const __m512 rest = _mm512_loadu_ps(from.center_rest + p);
            const __m512i column_keys = _mm512_loadu_si512(from.column_keys + p);
            __m512 sum = _mm512_loadu_ps(squares + p);
#pragma GCC unroll 2
            for (int pair = 0; pair < at_once / 2; ++pair) {
                __m512i bits[2];
#pragma GCC unroll 2
                for (int i = 0; i < 2; ++i) {
                    const __m512 x = _mm512_maskz_loadu_ps(mask, from.rows[r + 2 * pair + i] + p);
                    const __m512 z = _mm512_mul_ps(weight[2 * pair + i], _mm512_sub_ps(_mm512_sub_ps(x, center), rest));
                    sum = _mm512_fmadd_ps(z, z, sum);
                    bits[i] = _mm512_castps_si512(z);
                }
                const __m512i dither = chance(column_keys, key[pair]);
                const __m512i even = _mm512_add_epi32(bits[0], _mm512_and_si512(dither, low_half));
                const __m512i odd = _mm512_add_epi32(bits[1], _mm512_srli_epi32(dither, 16));
                // The upper half of `odd` beside that of `even`.
                _mm512_storeu_si512(out + pair * lanes,
                                    _mm512_ternarylogic_epi32(low_half, _mm512_srli_epi32(even, 16), odd, 0xca));
            }
            _mm512_storeu_ps(squares + p, sum);
        }
    }
}

// 16 x 16 words, from one place to another.
inline void transpose(const std::uint32_t* from, std::uint32_t* to) {
    __m512i a[16], b[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) a[i] = _mm512_loadu_si512(from + i * lanes);
#pragma GCC unroll 8
    for (int i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4)
#pragma GCC unroll 2
        for (int h = 0; h < 2; ++h) {
            a[i + 2 * h] = _mm512_unpacklo_epi64(b[i + h], b[i + 2 + h]);
            a[i + 2 * h + 1] = _mm512_unpackhi_epi64(b[i + h], b[i + 2 + h]);
        }
        // a[4 g + c] holds, for its four blocks of 4 columns, column c of rows 4 g .. 4 g + 3.
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) {
        const __m512i low = _mm512_shuffle_i32x4(a[c], a[4 + c], 0x88);
        const __m512i high = _mm512_shuffle_i32x4(a[c], a[4 + c], 0xdd);
        const __m512i low2 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0x88);
        const __m512i high2 = _mm512_shuffle_i32x4(a[8 + c], a[12 + c], 0xdd);
        _mm512_storeu_si512(to + c * lanes, _mm512_shuffle_i32x4(low, low2, 0x88));
        _mm512_storeu_si512(to + (4 + c) * lanes, _mm512_shuffle_i32x4(high, high2, 0x88));
        _mm512_storeu_si512(to + (8 + c) * lanes, _mm512_shuffle_i32x4(low, low2, 0xdd));
        _mm512_storeu_si512(to + (12 + c) * lanes, _mm512_shuffle_i32x4(high, high2, 0xdd));
    }
}

struct alignas(64) TileConfiguration {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void add_products(const std::uint32_t* packed, Size count, Size groups, std::uint32_t* panel, float* sums) {
    const Size pairs = count / 2;
    const Size stride = (pairs + 1) * lanes;
    const Size steps = pairs / 16;
    alignas(64) float block[4 * tile_words];
    const TileConfiguration configuration;
    _tile_loadconfig(&configuration);
    for (Size row = 0; row < groups; row += 2) {
        // The left factor of a tile wants the rows of the sum beside each other, the right one above each other.
        for (Size step = 0; step < steps; ++step)
            for (Size half = 0; half < 2; ++half)
                transpose(packed + (row + half) * stride + step * tile_words, panel + (2 * step + half) * tile_words);
        for (Size column = row; column < groups; column += 2) {
            const std::uint32_t* left = panel;
            const std::uint32_t* right = packed + column * stride;
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            for (Size step = 0; step < steps; ++step, left += 2 * tile_words, right += tile_words) {
                _tile_loadd(4, left, 64);
                _tile_loadd(6, right, 64);
                _tile_dpbf16ps(0, 4, 6);
                _tile_loadd(7, right + stride, 64);
                _tile_dpbf16ps(1, 4, 7);
                _tile_loadd(5, left + tile_words, 64);
                _tile_dpbf16ps(2, 5, 6);
                _tile_dpbf16ps(3, 5, 7);
            }
            _tile_stored(0, block, 64);
            _tile_stored(1, block + tile_words, 64);
            _tile_stored(2, block + 2 * tile_words, 64);
            _tile_stored(3, block + 3 * tile_words, 64);
            for (Size i = 0; i < 4 * tile_words; i += lanes)
                _mm512_storeu_ps(sums + i, _mm512_add_ps(_mm512_loadu_ps(sums + i), _mm512_loadu_ps(block + i)));
            sums += 4 * tile_words;
        }
    }
    _tile_release();
}

}  // namespace

extern const TileKernels tile_kernels;
const TileKernels tile_kernels{pack, add_products};

}  // namespace coterie::internal::amx
