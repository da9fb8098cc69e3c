#pragma once
// Internal: symmetric sums of outer products,  sum_i w_i z_i z_i',  z_i = x_i - c_i : scatter matrices and moments.
// Only one triangle is computed, as tiles of double. Rows are packed once, about their centres and in the layout of the
// kernels; then each tile belongs to one task at a time: no second copy of a large sum.
//
// Some 256 rows are added in T, and what they come to is rounded to a multiple of a number so large that sums of such
// multiples are exact in double: what is added in several calls, or by several processes, has the same bits in any
// order. Which rows come to which call, and the order of those, does matter.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie::internal {

/// One term: its weight, the row x, the centre c (d numbers), and the number of the sum that it goes to.
template <class Source>
struct OuterProduct {
    const Source* row = nullptr;
    const double* center = nullptr;
    double weight = 1.0;
    Index target = 0;
};

/// Numbers that begin with a line of the cache: a vector register loaded from inside never touches two lines. Not by
/// the aligned operator new: what glibc (before 2.38) frees of that it hardly ever uses again.
template <class T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::size_t line = 64;
    CacheLineAllocator() = default;
    template <class Other>
    CacheLineAllocator(const CacheLineAllocator<Other>&) {}  // NOLINT: what containers expect
    T* allocate(std::size_t count) {
        // What was given begins at least a pointer before the line; that pointer stands there.
        void* const given = ::operator new(count * sizeof(T) + line + sizeof(void*));
        auto* const begin = reinterpret_cast<void**>(
            (reinterpret_cast<std::uintptr_t>(given) + sizeof(void*) + line - 1) / line * line);
        begin[-1] = given;
        return reinterpret_cast<T*>(begin);
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(reinterpret_cast<void**>(memory)[-1]); }
    template <class Other>
    bool operator==(const CacheLineAllocator<Other>&) const {
        return true;
    }
};
template <class T>
using CacheLineVector = std::vector<T, CacheLineAllocator<T>>;

/// Products in T, 128 to 384 rows at a time where there are so many; sums of those in double.
template <class T>
class OuterProducts {
public:
    /// `squares`: for each of the d columns at least sum_i w_i z_i^2 over all that a sum will ever hold (rounding
    /// apart); a sum is off by at most 2^-50 sqrt(squares_p squares_q) for every 256 rows.
    explicit OuterProducts(const Vector<double>& squares, const Kernels<T>& kernels = internal::kernels<T>());

    /// Numbers that the tiles of one sum take: about d (d + 192) / 2, whatever T.
    Index numbers() const { return offsets_.back(); }
    /// Adds terms 0..count-1, term(i), which must come sorted by target, to the sums sum(target).
    template <class Source>
    void add(Index count, FunctionRef<OuterProduct<Source>(Index)> term, FunctionRef<double*(Index)> sum,
             int threads) const;
    /// Calls f(i, first, last, position) for pieces of the rows i of the upper triangle: the numbers (i, first), i <=
    /// first, to (i, last - 1) stand in a sum from `position` on.
    template <class F>
    void for_each_row(F f) const;
    /// The whole d x d matrix.
    Matrix<double> matrix(const double* sum) const;

private:
    static constexpr Index kPadding =
        16;                               // columns are padded to a multiple of any register, so that T changes nothing
    static constexpr Index kTile = 192;   // columns of a tile; a multiple of what the kernels have in the registers
    static constexpr Index kPiece = 256;  // rows summed up in T, about
    static constexpr Index kTasks = 16;   // wanted at a time; where there are fewer tiles, rows are cut as well
    static constexpr Index kPieces = 4;   // at least, a part of the rows

    struct Tile {
        Index row;  // first of its rows, and of its columns
        Index column;
    };
    struct Piece {
        Index begin;  // its first row
        Index rows;
        Index offset;  // among the packed numbers
    };
    // Pieces first..last-1 of one target; a part other than the first of its target adds to a sum of its own.
    struct Part {
        Index target;
        Index first;
        Index last;
        Index scratch;  // -1: the sum of the target
    };

    // From one packed vector of columns to the next: past a line, or all would compete for the same places in the
    // cache.
    Index stride(const Piece& piece) const { return (piece.rows + 1) * kernels_->lanes; }
    Index width(Index begin) const { return std::min(kTile, padded_ - begin); }
    Index vectors(Index begin) const {
        return (std::min(kTile, dimensions_ - begin) + kernels_->lanes - 1) / kernels_->lanes;
    }

    const Kernels<T>* kernels_;
    Index dimensions_;
    Index padded_;
    std::vector<double> row_factors_, column_factors_;  // padded; their products: Kernels::add_outer
    std::vector<Tile> tiles_;
    std::vector<Index> offsets_;  // of the tiles in a sum, and the end
};

template <class T>
template <class F>
void OuterProducts<T>::for_each_row(F f) const {
    for (std::size_t t = 0; t < tiles_.size(); ++t) {
        const auto [row, column] = tiles_[t];
        for (Index i = row; i < std::min(dimensions_, row + kTile); ++i) {
            const Index first = std::max(i, column);
            f(i, first, std::min(dimensions_, column + kTile),
              offsets_[t] + (i - row) * width(column) + (first - column));
        }
    }
}

/// Copies the upper triangle to the lower one.
void mirror(Matrix<double>& upper);

}  // namespace coterie::internal
