// Compiled once per instruction set, which COTERIE_ISA names (linalg/simd.hpp). It uses nothing of the standard library
// with external linkage. Otherwise the linker might use an inline function compiled for AVX-512 in the whole program.

#include <limits>

#include "coterie/linalg/kernels.hpp"
#include "coterie/linalg/simd.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace coterie::internal::COTERIE_ISA {
namespace {

// Smallest lane.
template <class T>
inline T lowest(typename Simd<T>::Register v) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
        return _mm512_reduce_min_ps(v);
    else
        return _mm512_reduce_min_pd(v);
#else
    T out = v[0];
    for (int i = 1; i < Simd<T>::lanes; ++i) out = v[i] < out ? v[i] : out;
    return out;
#endif
}

// Lanes equal to x, one bit each.
template <class T>
inline unsigned equal_mask(typename Simd<T>::Register v, T x) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4)
        return _mm512_cmp_ps_mask(v, _mm512_set1_ps(x), _CMP_EQ_OQ);
    else
        return _mm512_cmp_pd_mask(v, _mm512_set1_pd(x), _CMP_EQ_OQ);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4)
        return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_set1_ps(x), _CMP_EQ_OQ)));
    else
        return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(v, _mm256_set1_pd(x), _CMP_EQ_OQ)));
#else
    unsigned mask = 0;
    for (int i = 0; i < Simd<T>::lanes; ++i) mask |= (v[i] == x ? 1u : 0u) << i;
    return mask;
#endif
}

template <class Register>
inline Register smaller(Register a, Register b) {
    return a < b ? a : b;
}

// Rows of a tile, so that its accumulators and the panel's vectors fit into the registers.
template <int Vectors>
constexpr int tile_rows() {
#if defined(__AVX512F__)
    return Vectors == 1 ? 24 : 12;
#else
    return Vectors == 1 ? 10 : 5;
#endif
}

// Products of one tile of rows with one panel.
template <class T, int Vectors, int TileRows>
inline __attribute__((always_inline)) void multiply(const T* const* rows, Size d, const T* panel,
                                                    typename Simd<T>::Register (&sum)[TileRows][Vectors]) {
    using Register = typename Simd<T>::Register;
    constexpr int lanes = Simd<T>::lanes;
    // Several dimensions per turn: the row pointers do not all fit into registers, and each is loaded once per turn.
#if defined(__AVX512F__)
    constexpr int turn = Vectors == 1 ? 4 : 2;
#else
    constexpr int turn = 1;
#endif
#pragma GCC unroll 24
    for (int m = 0; m < TileRows; ++m)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) sum[m][v] = Register{};
    Size p = 0;
    for (; p + turn <= d; p += turn) {
        Register b[turn][Vectors];
#pragma GCC unroll 4
        for (int t = 0; t < turn; ++t)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v) b[t][v] = load<T>(panel + ((p + t) * Vectors + v) * lanes);
#pragma GCC unroll 24
        for (int m = 0; m < TileRows; ++m) {
            const T* x = rows[m] + p;
#pragma GCC unroll 4
            for (int t = 0; t < turn; ++t)
#pragma GCC unroll 2
                for (int v = 0; v < Vectors; ++v) sum[m][v] += x[t] * b[t][v];
        }
    }
    for (; p < d; ++p)
#pragma GCC unroll 24
        for (int m = 0; m < TileRows; ++m)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v) sum[m][v] += rows[m][p] * load<T>(panel + (p * Vectors + v) * lanes);
}

template <class T, int Vectors, class Finish>
inline __attribute__((always_inline)) void for_tiles(const T* const* rows, Size count, Size d, const T* panel,
                                                     Finish&& finish) {
    constexpr int tile = tile_rows<Vectors>();
    typename Simd<T>::Register sum[tile][Vectors];
    for (Size begin = 0; begin < count; begin += tile) {
        const int here = count - begin < tile ? static_cast<int>(count - begin) : tile;
        if (here == tile) {
            multiply<T, Vectors, tile>(rows + begin, d, panel, sum);
        } else {
            // If the last tile is short, repeats its last row, so that the result of a row never depends on other rows.
            const T* padded[tile];
            for (int m = 0; m < tile; ++m) padded[m] = rows[begin + (m < here ? m : here - 1)];
            multiply<T, Vectors, tile>(padded, d, panel, sum);
        }
        for (int m = 0; m < here; ++m) finish(begin + m, sum[m]);
    }
}

// Entries per turn, each with its own chain of additions, because in one chain each addition waits for the last.
constexpr Size sparse_turn = 4;

template <class T, int Vectors, class Column>
inline __attribute__((always_inline)) void multiply_sparse(const T* values, const Column* columns, Size count,
                                                           const T* panel, typename Simd<T>::Register (&out)[Vectors]) {
    using Register = typename Simd<T>::Register;
    constexpr int lanes = Simd<T>::lanes;
    Register sum[sparse_turn][Vectors];
    for (int t = 0; t < sparse_turn; ++t)
        for (int v = 0; v < Vectors; ++v) sum[t][v] = Register{};
    Size e = 0;
    for (; e + sparse_turn <= count; e += sparse_turn)
#pragma GCC unroll 4
        for (int t = 0; t < sparse_turn; ++t)
#pragma GCC unroll 2
            for (int v = 0; v < Vectors; ++v)
                sum[t][v] += values[e + t] * load<T>(panel + (static_cast<Size>(columns[e + t]) * Vectors + v) * lanes);
    for (; e < count; ++e)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v)
            sum[0][v] += values[e] * load<T>(panel + (static_cast<Size>(columns[e]) * Vectors + v) * lanes);
    for (int v = 0; v < Vectors; ++v) out[v] = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
}

template <class T, int Vectors, class Finish>
inline __attribute__((always_inline)) void for_sparse(const SparseRow<T>* rows, Size count, const T* panel,
                                                      Finish&& finish) {
    typename Simd<T>::Register sum[Vectors];
    for (Size i = 0; i < count; ++i) {
        if (rows[i].narrow != nullptr)
            multiply_sparse<T, Vectors>(rows[i].values, rows[i].narrow, rows[i].count, panel, sum);
        else
            multiply_sparse<T, Vectors>(rows[i].values, rows[i].wide, rows[i].count, panel, sum);
        finish(i, sum);
    }
}

// Processes the products of a row with a panel.
template <class T, int Vectors>
struct KeepBest {
    using Register = typename Simd<T>::Register;
    const T* bias;
    T* best;
    std::int32_t* column;
    T* second;

    inline __attribute__((always_inline)) void operator()(Size i, Register (&sum)[Vectors]) const {
        constexpr int lanes = Simd<T>::lanes;
        Register score[Vectors];
        for (int v = 0; v < Vectors; ++v) score[v] = load<T>(bias + v * lanes) - sum[v];
        Register lane_best = score[0];
        for (int v = 1; v < Vectors; ++v) lane_best = smaller(lane_best, score[v]);
        const T smallest = lowest<T>(lane_best);
        int where = 0;
        for (int v = 0; v < Vectors; ++v) {
            const unsigned mask = equal_mask<T>(score[v], smallest);
            if (mask != 0) {
                where = v * lanes + __builtin_ctz(mask);
                break;
            }
        }
        best[i] = smallest;
        column[i] = where;
        if (second != nullptr) {
            alignas(COTERIE_VECTOR_BYTES) T spilled[Vectors * lanes];
            for (int v = 0; v < Vectors; ++v) store<T>(spilled + v * lanes, score[v]);
            spilled[where] = std::numeric_limits<T>::infinity();
            Register lane_second = load<T>(spilled);
            for (int v = 1; v < Vectors; ++v) lane_second = smaller(lane_second, load<T>(spilled + v * lanes));
            second[i] = lowest<T>(lane_second);
        }
    }
};
template <class T, int Vectors>
struct KeepScores {
    const T* bias;
    T* out;

    inline __attribute__((always_inline)) void operator()(Size i, typename Simd<T>::Register (&sum)[Vectors]) const {
        constexpr int lanes = Simd<T>::lanes;
        for (int v = 0; v < Vectors; ++v) store<T>(out + (i * Vectors + v) * lanes, load<T>(bias + v * lanes) - sum[v]);
    }
};

template <class T>
void panel_best(const T* const* rows, Size count, Size d, const T* panel, const T* bias, int vectors, T* best,
                std::int32_t* column, T* second) {
    if (vectors == 1)
        for_tiles<T, 1>(rows, count, d, panel, KeepBest<T, 1>{bias, best, column, second});
    else
        for_tiles<T, 2>(rows, count, d, panel, KeepBest<T, 2>{bias, best, column, second});
}

template <class T>
void panel_scores(const T* const* rows, Size count, Size d, const T* panel, const T* bias, int vectors, T* out) {
    if (vectors == 1)
        for_tiles<T, 1>(rows, count, d, panel, KeepScores<T, 1>{bias, out});
    else
        for_tiles<T, 2>(rows, count, d, panel, KeepScores<T, 2>{bias, out});
}

template <class T>
void sparse_best(const SparseRow<T>* rows, Size count, const T* panel, const T* bias, int vectors, T* best,
                 std::int32_t* column, T* second) {
    if (vectors == 1)
        for_sparse<T, 1>(rows, count, panel, KeepBest<T, 1>{bias, best, column, second});
    else
        for_sparse<T, 2>(rows, count, panel, KeepBest<T, 2>{bias, best, column, second});
}

template <class T>
void sparse_scores(const SparseRow<T>* rows, Size count, const T* panel, const T* bias, int vectors, T* out) {
    if (vectors == 1)
        for_sparse<T, 1>(rows, count, panel, KeepScores<T, 1>{bias, out});
    else
        for_sparse<T, 2>(rows, count, panel, KeepScores<T, 2>{bias, out});
}

// Lanes of Number, loaded from numbers of another type.
template <class Number, class T>
inline typename Simd<Number>::Register load_as(const T* p) {
    if constexpr (sizeof(T) == sizeof(Number)) {
        return load<Number>(p);
    } else {
        typedef T Unaligned
            __attribute__((vector_size(Simd<Number>::lanes * sizeof(T)), aligned(sizeof(T)), may_alias));
        return __builtin_convertvector(*reinterpret_cast<const Unaligned*>(p), typename Simd<Number>::Register);
    }
}

// || a - b ||^2 in the precision of b.
template <class T, class Number>
Number squared_distance(const T* a, const Number* b, Size d) {
    using Register = typename Simd<Number>::Register;
    constexpr int lanes = Simd<Number>::lanes;
    const auto difference = [&](Size p) { return load_as<Number>(a + p) - load<Number>(b + p); };
    Register sum0{}, sum1{}, sum2{}, sum3{};
    Size p = 0;
    for (; p + 4 * lanes <= d; p += 4 * lanes) {
        const Register e0 = difference(p);
        const Register e1 = difference(p + lanes);
        const Register e2 = difference(p + 2 * lanes);
        const Register e3 = difference(p + 3 * lanes);
        sum0 += e0 * e0;
        sum1 += e1 * e1;
        sum2 += e2 * e2;
        sum3 += e3 * e3;
    }
    for (; p + lanes <= d; p += lanes) {
        const Register e = difference(p);
        sum0 += e * e;
    }
    Number tail = 0;
    for (; p < d; ++p) tail += (static_cast<Number>(a[p]) - b[p]) * (static_cast<Number>(a[p]) - b[p]);
    const Register sum = (sum0 + sum1) + (sum2 + sum3);
    Number half[lanes];
    store<Number>(half, sum);
    for (int width = lanes / 2; width >= 1; width /= 2)
        for (int i = 0; i < width; ++i) half[i] += half[i + width];
    return half[0] + tail;
}

template <class T>
void add_scaled(double* sum, const T* x, double weight, Size d) {
    for (Size p = 0; p < d; ++p) sum[p] += weight * static_cast<double>(x[p]);
}

template <class T>
void add_deviation(double* sum, const T* x, const double* center, double weight, Size d) {
    for (Size p = 0; p < d; ++p) sum[p] += weight * (static_cast<double>(x[p]) - center[p]);
}

template <class T>
void add_moments(double* __restrict sum, double* __restrict squares, const T* x, const double* center, double weight,
                 Size d) {
    for (Size p = 0; p < d; ++p) {
        const double deviation = static_cast<double>(x[p]) - center[p];
        sum[p] += weight * deviation;
        squares[p] += weight * deviation * deviation;
    }
}

template <class T>
void add_gains(const T* scores, Size count, int columns, const T* norm, const T* closest, const double* weight,
               double* gain) {
    for (Size r = 0; r < count; ++r) {
        const T* row = scores + r * columns;
        const T n = norm[r];
        const T c = closest[r];
        const double w = weight != nullptr ? weight[r] : 1.0;
        for (int j = 0; j < columns; ++j) {
            T squared = n + 2 * row[j];
            squared = squared > 0 ? squared : 0;
            const T less = c - squared;
            gain[j] += w * static_cast<double>(less > 0 ? less : 0);
        }
    }
}

template <class T, class Source>
void pack(const Source* x, const double* center, double weight, Size d, T* out, Size stride) {
    constexpr int lanes = Simd<T>::lanes;
    Size p = 0;
    for (; p + lanes <= d; p += lanes, out += stride)
        for (int l = 0; l < lanes; ++l)
            out[l] = static_cast<T>(weight * (static_cast<double>(x[p + l]) - center[p + l]));
    if (p == d) return;
    for (int l = 0; l < lanes; ++l)
        out[l] = p + l < d ? static_cast<T>(weight * (static_cast<double>(x[p + l]) - center[p + l])) : T(0);
}

// Height and width (in vectors) of the block of c in the registers, so that its accumulators and the operands fit.
template <class T>
constexpr int outer_rows() {
#if defined(__AVX512F__)
    return 8;
#else
    return Simd<T>::lanes < 4 ? Simd<T>::lanes : 4;
#endif
}
#if defined(__AVX2__)
constexpr int outer_vectors = 3;
#else
constexpr int outer_vectors = 2;
#endif

// to += v, rounded by adding and subtracting m: see Kernels::add_outer.
inline void add_rounded(double* to, Simd<double>::Register v, double row_factor, const double* column_factor) {
    const auto m = row_factor * load<double>(column_factor);
    store<double>(to, load<double>(to) + ((v + m) - m));
}
inline void add_rounded(double* to, Simd<float>::Register v, double row_factor, const double* column_factor) {
    typedef float Half __attribute__((vector_size(COTERIE_VECTOR_BYTES / 2), may_alias));
    alignas(COTERIE_VECTOR_BYTES) float spilled[Simd<float>::lanes];
    store<float>(spilled, v);
    const Half* const halves = reinterpret_cast<const Half*>(spilled);
    constexpr int lanes = Simd<double>::lanes;
    add_rounded(to, __builtin_convertvector(halves[0], Simd<double>::Register), row_factor, column_factor);
    add_rounded(to + lanes, __builtin_convertvector(halves[1], Simd<double>::Register), row_factor,
                column_factor + lanes);
}

template <class T, int Vectors>
inline void add_outer_block(const T* left, const double* left_factor, const T* right, const double* right_factor,
                            Size stride, Size rows, double* c, Size stride_c) {
    using Register = typename Simd<T>::Register;
    constexpr int lanes = Simd<T>::lanes;
    constexpr int height = outer_rows<T>();
    Register sum[height][Vectors];
#pragma GCC unroll 8
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 3
        for (int v = 0; v < Vectors; ++v) sum[i][v] = Register{};
    for (Size r = 0; r < rows; ++r) {
        Register b[Vectors];
#pragma GCC unroll 3
        for (int v = 0; v < Vectors; ++v) b[v] = load<T>(right + v * stride + r * lanes);
        const T* a = left + r * lanes;
#pragma GCC unroll 8
        for (int i = 0; i < height; ++i) {
            const Register factor = a[i] - Register{};
#pragma GCC unroll 3
            for (int v = 0; v < Vectors; ++v) sum[i][v] += factor * b[v];
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < height; ++i)
#pragma GCC unroll 3
        for (int v = 0; v < Vectors; ++v)
            add_rounded(c + i * stride_c + v * lanes, sum[i][v], left_factor[i], right_factor + v * lanes);
}

template <class T>
void add_outer(const T* left, Size left_vectors, const double* left_factor, const T* right, Size right_vectors,
               const double* right_factor, Size stride, Size rows, bool symmetric, double* c, Size stride_c) {
    constexpr int lanes = Simd<T>::lanes;
    constexpr int height = outer_rows<T>();
    for (Size u = 0; u < left_vectors; ++u)
        for (int part = 0; part < lanes; part += height) {
            const T* const a = left + u * stride + part;
            const double* const factor = left_factor + u * lanes + part;
            double* const c_rows = c + (u * lanes + part) * stride_c;
            Size v = symmetric ? u : 0;
            for (; v + outer_vectors <= right_vectors; v += outer_vectors)
                add_outer_block<T, outer_vectors>(a, factor, right + v * stride, right_factor + v * lanes, stride, rows,
                                                  c_rows + v * lanes, stride_c);
            for (; v < right_vectors; ++v)
                add_outer_block<T, 1>(a, factor, right + v * stride, right_factor + v * lanes, stride, rows,
                                      c_rows + v * lanes, stride_c);
        }
}

template <class T>
constexpr Kernels<T> table() {
    return {Simd<T>::lanes,
            2,
            panel_best<T>,
            panel_scores<T>,
            sparse_best<T>,
            sparse_scores<T>,
            squared_distance<T, T>,
            squared_distance<T, double>,
            add_scaled<T>,
            add_deviation<T>,
            add_moments<T>,
            add_gains<T>,
            pack<T, float>,
            pack<T, double>,
            add_outer<T>};
}

}  // namespace

extern const Kernels<float> float32_kernels;
extern const Kernels<double> float64_kernels;
const Kernels<float> float32_kernels = table<float>();
const Kernels<double> float64_kernels = table<double>();

}  // namespace coterie::internal::COTERIE_ISA
