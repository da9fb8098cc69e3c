// Converts numbers between precisions (vectors.hpp) with vector instructions on every processor. An integer addition,
// which compilers vectorise, rounds the removed bits to even. Invariant: the same bits as LibTorch's conversion.

#include "coterie/deep/internal/torch/vectors.hpp"

#include <algorithm>
#include <cstring>

namespace coterie_deep {

void copy(int64_t count, const float* __restrict from, float* __restrict to) { std::copy_n(from, count, to); }
COTERIE_WIDE void copy(int64_t count, const c10::BFloat16* __restrict from, float* __restrict to) {
    for (int64_t i = 0; i < count; ++i) to[i] = c10::detail::f32_from_bits(from[i].x);
}
COTERIE_WIDE void copy(int64_t count, const float* __restrict from, c10::BFloat16* __restrict to) {
    for (int64_t i = 0; i < count; ++i) {
        uint32_t bits = 0;
        std::memcpy(&bits, &from[i], sizeof bits);
        const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;  // rounds to even
        to[i].x = static_cast<uint16_t>(from[i] == from[i] ? rounded : 0x7FC0);
    }
}

}  // namespace coterie_deep
