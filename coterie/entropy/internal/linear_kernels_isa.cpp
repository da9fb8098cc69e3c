// Compiled once per instruction set, like label_kernels_isa.cpp; COTERIE_ISA is its name. The sums of a few clusters
// over two vectors of columns stay in registers for all rows. So each value of x is loaded once for all these clusters.
// Each sum runs over the rows in order.

#include "coterie/entropy/internal/kernels.hpp"
#include "coterie/linalg/simd.hpp"

namespace coterie::entropy::internal::COTERIE_ISA {

using namespace coterie::internal::COTERIE_ISA;

namespace {

// Number of clusters whose sums stay in registers, with two vectors of columns per cluster.
#if defined(__AVX512F__)
constexpr int most_clusters = 10;
#else
constexpr int most_clusters = 5;
#endif

template <class T, int Clusters, int Vectors>
inline void add_block(const T* const* rows, Size count, const T* g, Size stride_g, Size column, T* c, Size stride) {
    using Register = typename Simd<T>::Register;
    constexpr int lanes = Simd<T>::lanes;
    Register sum[Clusters][Vectors];
#pragma GCC unroll 10
    for (int k = 0; k < Clusters; ++k)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) sum[k][v] = Register{};
    for (Size r = 0; r < count; ++r) {
        Register x[Vectors];
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) x[v] = load<T>(rows[r] + column + v * lanes);
        const T* const factor = g + r * stride_g;
#pragma GCC unroll 10
        for (int k = 0; k < Clusters; ++k)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v) sum[k][v] += factor[k] * x[v];
    }
#pragma GCC unroll 10
    for (int k = 0; k < Clusters; ++k)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) {
            T* const to = c + k * stride + v * lanes;
            store<T>(to, load<T>(to) + sum[k][v]);
        }
}

template <class T, int Clusters>
void add_columns(const T* const* rows, Size count, const T* g, Size stride_g, Size begin, Size end, T* c, Size stride) {
    constexpr int lanes = Simd<T>::lanes;
    Size p = begin;
    for (; p + 2 * lanes <= end; p += 2 * lanes)
        add_block<T, Clusters, 2>(rows, count, g, stride_g, p, c + (p - begin), stride);
    for (; p + lanes <= end; p += lanes)
        add_block<T, Clusters, 1>(rows, count, g, stride_g, p, c + (p - begin), stride);
    for (; p < end; ++p)
        for (int k = 0; k < Clusters; ++k) {
            T sum = 0;
            for (Size r = 0; r < count; ++r) sum += g[r * stride_g + k] * rows[r][p];
            c[k * stride + p - begin] += sum;
        }
}

template <class T, int Clusters>
void add_clusters(const T* const* rows, Size count, const T* g, Size stride_g, Size clusters, Size begin, Size end,
                  T* c, Size stride) {
    while (clusters >= Clusters) {
        add_columns<T, Clusters>(rows, count, g, stride_g, begin, end, c, stride);
        g += Clusters;
        c += Clusters * stride;
        clusters -= Clusters;
    }
    if constexpr (Clusters > 1)
        if (clusters > 0) add_clusters<T, Clusters - 1>(rows, count, g, stride_g, clusters, begin, end, c, stride);
}

template <class T>
void add_gradient(const T* const* rows, Size count, const T* g, Size clusters, Size begin, Size end, T* c,
                  Size stride) {
    add_clusters<T, most_clusters>(rows, count, g, clusters, clusters, begin, end, c, stride);
}

}  // namespace

extern const LinearKernels linear_table;
const LinearKernels linear_table = {{&add_gradient<float>}, {&add_gradient<double>}};

}  // namespace coterie::entropy::internal::COTERIE_ISA
