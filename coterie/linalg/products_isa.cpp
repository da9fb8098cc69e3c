// Compiled once per instruction set (COTERIE_ISA). Eigen gets another namespace, so the linker cannot merge templates
// compiled for different instruction sets. For the same reason, no other code with inline functions may be used here.
#define COTERIE_JOIN_TEXT(a, b) a##b
#define COTERIE_JOIN(a, b) COTERIE_JOIN_TEXT(a, b)
#define Eigen COTERIE_JOIN(coterie_eigen_products_, COTERIE_ISA)
#define EIGEN_DONT_PARALLELIZE
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // from GCC 12's own _mm256_undefined_pd
#endif
#include <Eigen/Core>

#include "coterie/linalg/hits.hpp"
#include "coterie/linalg/products.hpp"

namespace coterie::internal::COTERIE_ISA {
namespace {
using Size = std::ptrdiff_t;

template <class Scalar>
using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Input = Eigen::Map<const RowMajor<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class Scalar>
using Output = Eigen::Map<RowMajor<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class Scalar>
void rows_by_rows(const Scalar* a, Size rows_a, Size stride_a, const Scalar* b, Size rows_b, Size stride_b, Size depth,
                  Scalar* c, Size stride_c) {
    using Stride = Eigen::OuterStride<>;
    Output<Scalar>(c, rows_a, rows_b, Stride(stride_c)).noalias() =
        Input<Scalar>(a, rows_a, depth, Stride(stride_a)) *
        Input<Scalar>(b, rows_b, depth, Stride(stride_b)).transpose();
}

template <class Scalar>
void add_transposed_by(const Scalar* a, Size columns_a, Size stride_a, const Scalar* b, Size columns_b, Size stride_b,
                       Size rows, Scalar* c, Size stride_c) {
    using Stride = Eigen::OuterStride<>;
    Output<Scalar>(c, columns_a, columns_b, Stride(stride_c)).noalias() +=
        Input<Scalar>(a, rows, columns_a, Stride(stride_a)).transpose() *
        Input<Scalar>(b, rows, columns_b, Stride(stride_b));
}

template <class Scalar>
Size scan(const Scalar* base, const Scalar* product, Size count, Scalar limit, std::int32_t* hits) {
    return hits_of<64>(count, hits, [=](Size j) { return base[j] - product[j] <= limit; });
}

template <class Scalar>
Size scan_both(const Scalar* base, Scalar limit, Scalar own_base, const Scalar* limits, const Scalar* product,
               Size count, std::int32_t* hits) {
    return hits_of<64>(count, hits,
                       [=](Size j) { return (base[j] - product[j] <= limit) | (own_base - product[j] <= limits[j]); });
}
}  // namespace

extern const Products table;
const Products table = {{&rows_by_rows<float>, &add_transposed_by<float>, &scan<float>, &scan_both<float>},
                        {&rows_by_rows<double>, &add_transposed_by<double>, &scan<double>, &scan_both<double>}};

}  // namespace coterie::internal::COTERIE_ISA
