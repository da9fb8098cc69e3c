#pragma once
// One row of sparse points. No standard containers, because hot loops for several instruction sets include this.

#include <cstddef>
#include <cstdint>

namespace coterie {

/// `count` entries with ascending columns; all other numbers of the row are 0.
template <class Scalar>
struct SparseRow {
    const Scalar* values = nullptr;
    const std::int32_t* narrow = nullptr;  // columns in 32 bits, or
    const std::int64_t* wide = nullptr;    // in 64 bits: one of the two pointers is nullptr
    std::ptrdiff_t count = 0;

    std::ptrdiff_t column(std::ptrdiff_t e) const {
        return narrow != nullptr ? static_cast<std::ptrdiff_t>(narrow[e]) : static_cast<std::ptrdiff_t>(wide[e]);
    }
};

}  // namespace coterie
