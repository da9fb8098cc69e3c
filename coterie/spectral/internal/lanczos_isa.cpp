// Compiled once per instruction set; COTERIE_ISA is its name (linalg/simd.hpp). This source uses nothing from the
// standard library with external linkage.

#include "coterie/linalg/simd.hpp"
#include "coterie/spectral/internal/lanczos_kernels.hpp"

namespace coterie::spectral::internal::COTERIE_ISA {

using namespace coterie::internal::COTERIE_ISA;

namespace {

using Doubles = Simd<double>::Register;
constexpr Size kLanes = Simd<double>::lanes;
constexpr Size kBlock = lanczos_block;

// A row of a block.
typedef double Quad __attribute__((vector_size(32)));
typedef double UnalignedQuad __attribute__((vector_size(32), aligned(8), may_alias));

// The vectors are passed by reference, because instruction sets return 32 bytes in different ways.
inline const UnalignedQuad& quad(const double* p) { return *reinterpret_cast<const UnalignedQuad*>(p); }
inline UnalignedQuad& quad(double* p) { return *reinterpret_cast<UnalignedQuad*>(p); }

void multiply(const std::int64_t* starts, const std::int32_t* columns, const double* values, Size begin, Size end,
              const double* x, double scale, double shift, double keep, double* to) {
    for (Size i = begin; i < end; ++i) {
        Quad even = -shift * quad(x + i * kBlock), odd{};
        Size e = starts[i];
        for (; e + 1 < starts[i + 1]; e += 2) {
            even += values[e] * quad(x + columns[e] * kBlock);
            odd += values[e + 1] * quad(x + columns[e + 1] * kBlock);
        }
        if (e < starts[i + 1]) even += values[e] * quad(x + columns[e] * kBlock);
        double* const out = to + i * kBlock;
        quad(out) = scale * (even + odd) + keep * quad(out);
    }
}

// Several rows at a time, so that their sums are loaded and stored only once.
template <int rows>
inline void add_seen_rows(const double* basis, Size stride, Size columns, const double* right, double* seen) {
    for (Size p = 0; p < columns; p += kLanes) {
        Doubles b[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) b[r] = load(basis + r * stride + p);
#pragma GCC unroll 4
        for (Size c = 0; c < kBlock; ++c) {
            double* const to = seen + c * columns + p;
            Doubles sum = load(to);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) sum += b[r] * right[r * kBlock + c];
            store(to, sum);
        }
    }
}

void add_seen(const double* basis, Size stride, Size columns, const double* right, Size rows, double* seen) {
    Size i = 0;
    for (; i + 4 <= rows; i += 4) add_seen_rows<4>(basis + i * stride, stride, columns, right + i * kBlock, seen);
    for (; i < rows; ++i) add_seen_rows<1>(basis + i * stride, stride, columns, right + i * kBlock, seen);
}

template <int rows>
inline void take_off_rows(const double* basis, Size stride, Size columns, const double* seen, double* right) {
    Doubles sums[rows][kBlock]{};
    for (Size p = 0; p < columns; p += kLanes) {
        Doubles b[rows];
#pragma GCC unroll 8
        for (int r = 0; r < rows; ++r) b[r] = load(basis + r * stride + p);
#pragma GCC unroll 4
        for (Size c = 0; c < kBlock; ++c) {
            const Doubles s = load(seen + c * columns + p);
#pragma GCC unroll 8
            for (int r = 0; r < rows; ++r) sums[r][c] += b[r] * s;
        }
    }
    for (int r = 0; r < rows; ++r)
        for (Size c = 0; c < kBlock; ++c) {
            double total = 0;
            for (Size l = 0; l < kLanes; ++l) total += sums[r][c][l];
            right[r * kBlock + c] -= total;
        }
}

void take_off(const double* basis, Size stride, Size columns, const double* seen, Size rows, double* right) {
    constexpr int step = kLanes == 8 ? 4 : 2;  // as many sums as there are registers
    Size i = 0;
    for (; i + step <= rows; i += step)
        take_off_rows<step>(basis + i * stride, stride, columns, seen, right + i * kBlock);
    for (; i < rows; ++i) take_off_rows<1>(basis + i * stride, stride, columns, seen, right + i * kBlock);
}

void add_gram(const double* right, Size rows, double* gram) {
    Quad sums[kBlock]{};
    for (Size i = 0; i < rows; ++i) {
        const Quad row = quad(right + i * kBlock);
#pragma GCC unroll 4
        for (Size c = 0; c < kBlock; ++c) sums[c] += right[i * kBlock + c] * row;
    }
    for (Size c = 0; c < kBlock; ++c) quad(gram + c * kBlock) += sums[c];
}

}  // namespace

extern const LanczosKernels lanczos_table;
const LanczosKernels lanczos_table = {&multiply, &add_seen, &take_off, &add_gram};

}  // namespace coterie::spectral::internal::COTERIE_ISA
