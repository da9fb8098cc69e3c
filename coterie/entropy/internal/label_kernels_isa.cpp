// Compiled once per instruction set; COTERIE_ISA is its name (linalg/simd.hpp). This source uses nothing from the
// standard library with external linkage.

#include "coterie/entropy/internal/kernels.hpp"
#include "coterie/linalg/simd.hpp"

namespace coterie::entropy::internal::COTERIE_ISA {

using namespace coterie::internal::COTERIE_ISA;

namespace {

template <class T>
void em_round(const T* sigma, T* y, Size tiles, Size clusters, const T* factor, T* sums) {
    using Register = typename Simd<T>::Register;
    constexpr int lanes = Simd<T>::lanes;
    constexpr int vectors = static_cast<int>(tile_rows) / lanes;  // vectors per tile's rows
    for (Size tile = 0; tile < tiles; ++tile, sigma += clusters * tile_rows, y += clusters * tile_rows) {
        Register total[vectors];
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) total[v] = Register{} + T(1);
        for (Size k = 0; k < clusters; ++k)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) total[v] += factor[k] * load<T>(y + k * tile_rows + v * lanes);
#pragma GCC unroll 8
        for (int v = 0; v < vectors; ++v) total[v] = T(1) / total[v];
        for (Size k = 0; k < clusters; ++k)
#pragma GCC unroll 8
            for (int v = 0; v < vectors; ++v) {
                const Size at = k * tile_rows + v * lanes;
                const Register next = (load<T>(sigma + at) + factor[k] * load<T>(y + at)) * total[v];
                store<T>(y + at, next);
                store<T>(sums + at, load<T>(sums + at) + next);
            }
    }
}

using Doubles = Simd<double>::Register;

inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
inline Doubles magnitude(Doubles a) { return larger(a, -a); }

// For two clusters the root solves a quadratic equation: with c_k = 0 for k = near,
//     t^2 - b t - sigma_near c = 0,    b = sigma_near + sigma_far - c,
// in the form that has no cancellation.
void roots_of_two(const double* sigma, const double* c, double* t, double* y) {
    constexpr int lanes = Simd<double>::lanes;
    const Size near = c[0] > c[1] ? 1 : 0;
    const Size far = 1 - near;
    const double between = c[far];
    for (Size v = 0; v < tile_rows; v += lanes) {
        const Doubles s = load<double>(sigma + near * tile_rows + v);
        const Doubles q = load<double>(sigma + far * tile_rows + v);
        const Doubles b = s + q - between;
        const Doubles product = s * between;
        const Doubles length = square_root(b * b + 4.0 * product);
        const Doubles root = b > 0.0 ? 0.5 * (b + length) : 2.0 * product / (length - b);
        store<double>(t + v, root);
        store<double>(y + near * tile_rows + v, s / root);
        store<double>(y + far * tile_rows + v, q / (root + between));
    }
}

// 1 / sum is concave and rises with t. So Newton's steps approach the root from below, and t stays positive. The only
// safeguard needed is a lower bound of t, where a single y_k is 1.
void roots(const double* sigma, Size clusters, const double* c, double* t, double* y) {
    if (clusters == 2) return roots_of_two(sigma, c, t, y);
    constexpr int lanes = Simd<double>::lanes;
    for (Size v = 0; v < tile_rows; v += lanes) {
        Doubles low = load<double>(sigma + v) - c[0];
        for (Size k = 1; k < clusters; ++k) low = larger(low, load<double>(sigma + k * tile_rows + v) - c[k]);
        Doubles root = larger(load<double>(t + v), low);
        for (int iteration = 0; iteration < 100; ++iteration) {
            Doubles sum{};
            Doubles slope{};
            for (Size k = 0; k < clusters; ++k) {
                const Doubles inverse = 1.0 / (root + c[k]);
                const Doubles term = load<double>(sigma + k * tile_rows + v) * inverse;
                sum += term;
                slope += term * inverse;
            }
            const Doubles next = larger(root + (sum - 1.0) * sum / slope, low);
            const Doubles moved = magnitude(next - root) - 1e-9 * next;  // the step after such a small one is below
                                                                         // rounding
            root = next;
            bool settled = true;
            for (int l = 0; l < lanes; ++l) settled = settled && !(moved[l] > 0);
            if (settled) break;
        }
        store<double>(t + v, root);
        for (Size k = 0; k < clusters; ++k)
            store<double>(y + k * tile_rows + v, load<double>(sigma + k * tile_rows + v) / (root + c[k]));
    }
}

void curvature(const double* sigma, Size clusters, const double* c, const double* t, double* out, Size stride) {
    constexpr int lanes = Simd<double>::lanes;
    for (Size v = 0; v < tile_rows; v += lanes) {
        const Doubles root = load<double>(t + v);
        Doubles total{};
        for (Size k = 0; k < clusters; ++k) {
            const Doubles inverse = 1.0 / (root + c[k]);
            const Doubles d = load<double>(sigma + k * tile_rows + v) * inverse * inverse;
            store<double>(out + k * stride + v, d);
            total += d;
        }
        const Doubles scale = 1.0 / square_root(total);
        for (Size k = 0; k < clusters; ++k)
            store<double>(out + k * stride + v, load<double>(out + k * stride + v) * scale);
    }
}

}  // namespace

extern const LabelKernels label_table;
const LabelKernels label_table = {{&em_round<float>}, {&em_round<double>}, &roots, &curvature};

}  // namespace coterie::entropy::internal::COTERIE_ISA
