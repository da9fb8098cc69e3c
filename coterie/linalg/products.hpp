#pragma once
// Internal: matrix products of blocks, and the scan of a block of scores, compiled per instruction set and chosen at
// run time. Everything runs on the calling thread. This file includes no header of Eigen or of the library, because
// products_isa.cpp renames Eigen before it includes this file.

#include <cstddef>
#include <cstdint>

namespace coterie::internal {

template <class Scalar>
struct BlockProducts {
    /// c = a b': a is rows_a x depth, b is rows_b x depth, c is rows_a x rows_b, all row-major with the given strides.
    void (*rows_by_rows)(const Scalar* a, std::ptrdiff_t rows_a, std::ptrdiff_t stride_a, const Scalar* b,
                         std::ptrdiff_t rows_b, std::ptrdiff_t stride_b, std::ptrdiff_t depth, Scalar* c,
                         std::ptrdiff_t stride_c);
    /// c += a' b: a is rows x columns_a, b is rows x columns_b, c is columns_a x columns_b.
    void (*add_transposed_by)(const Scalar* a, std::ptrdiff_t columns_a, std::ptrdiff_t stride_a, const Scalar* b,
                              std::ptrdiff_t columns_b, std::ptrdiff_t stride_b, std::ptrdiff_t rows, Scalar* c,
                              std::ptrdiff_t stride_c);
    /// Writes the positions j with base[j] - product[j] <= limit to `hits`, ascending, and returns how many. `hits`
    /// needs space for `count` numbers.
    std::ptrdiff_t (*scan)(const Scalar* base, const Scalar* product, std::ptrdiff_t count, Scalar limit,
                           std::int32_t* hits);
    /// The same for both sides of a product: finds j with base[j] - product[j] <= limit or own_base - product[j] <=
    /// limits[j].
    std::ptrdiff_t (*scan_both)(const Scalar* base, Scalar limit, Scalar own_base, const Scalar* limits,
                                const Scalar* product, std::ptrdiff_t count, std::int32_t* hits);
};

struct Products {
    BlockProducts<float> float32;
    BlockProducts<double> float64;
};

/// The table of the best instruction set that this processor has.
const Products& products();

template <class Scalar>
const BlockProducts<Scalar>& block_products() {
    if constexpr (sizeof(Scalar) == sizeof(float))
        return products().float32;
    else
        return products().float64;
}

}  // namespace coterie::internal
