#pragma once
// One row of sparse points. A header of its own that includes nothing of the standard library, for the hot loops that
// are compiled per instruction set.

#include <cstddef>
#include <cstdint>

namespace coterie {

/// `count` entries, of columns that ascend; the numbers of all other columns are 0.
template <class Scalar>
struct SparseRow {
    const Scalar* values = nullptr;
    const std::int32_t* narrow = nullptr;  // their columns, in 32 bits, or
    const std::int64_t* wide = nullptr;    // in 64: one of the two is nullptr
    std::ptrdiff_t count = 0;

    std::ptrdiff_t column(std::ptrdiff_t e) const {
        return narrow != nullptr ? static_cast<std::ptrdiff_t>(narrow[e]) : static_cast<std::ptrdiff_t>(wide[e]);
    }
};

}  // namespace coterie
