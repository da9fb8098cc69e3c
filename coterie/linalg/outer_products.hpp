#pragma once
// Internal: symmetric sums of outer products, sum_i w_i z_i z_i', z_i = x_i - c_i : scatter matrices and moments. Only
// one triangle is computed, as tiles of double. Rows are packed once, minus their centres, in the layout of the
// kernels. Only one task at a time adds to a tile, so there is no second copy of a large sum.
//
// About 256 rows are added in T. Their sum is rounded to a multiple of a number that is so large that sums of such
// multiples are exact in double. So sums over several calls, or several processes, have the same bits in any order. But
// the bits depend on which rows are in which call, and on their order.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie::internal {

/// One term: weight w, row x and centre c (d numbers each), and the number of the sum to which it is added (target).
template <class Source>
struct OuterProduct {
    const Source* row = nullptr;
    const double* center = nullptr;
    double weight = 1.0;
    Index target = 0;
};

/// Memory that starts at a cache line, so that no vector load spans two lines. The aligned operator new is not used,
/// because glibc before 2.38 hardly ever reuses its memory.
template <class T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::size_t line = 64;
    CacheLineAllocator() = default;
    template <class Other>
    CacheLineAllocator(const CacheLineAllocator<Other>&) {}  // NOLINT: containers expect this conversion
    T* allocate(std::size_t count) {
        // The allocated block begins at least one pointer before the line; its address is stored there.
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

/// Computes products in T, 128 to 384 rows at a time if there are that many, and sums them in double.
template <class T>
class OuterProducts {
public:
    /// `squares`: for each of the d columns, an upper bound of sum_i w_i z_i^2 over all terms of a sum (up to
    /// rounding). The error of a sum is at most 2^-50 sqrt(squares_p squares_q) for every 256 rows.
    explicit OuterProducts(const Vector<double>& squares, const Kernels<T>& kernels = internal::kernels<T>());

    /// Count of numbers in the tiles of one sum: about d (d + 192) / 2, for any T.
    Index numbers() const { return offsets_.back(); }
    /// Adds term(i), i in 0..count-1, to the sum sum(target) of its target. Terms must be sorted by target.
    template <class Source>
    void add(Index count, FunctionRef<OuterProduct<Source>(Index)> term, FunctionRef<double*(Index)> sum,
             int threads) const;
    /// Calls f(i, first, last, position) for pieces of the rows i of the upper triangle, i <= first. The numbers (i,
    /// first) to (i, last - 1) start at `position` in a sum.
    template <class F>
    void for_each_row(F f) const;
    /// The whole d x d matrix.
    Matrix<double> matrix(const double* sum) const;

private:
    static constexpr Index kPadding =
        16;  // columns are padded to a multiple of any register width, so that the layout is the same for any T
    static constexpr Index kTile = 192;   // columns of a tile; a multiple of the kernels' register blocks
    static constexpr Index kPiece = 256;  // approximate number of rows added in T
    static constexpr Index kTasks = 16;   // wanted at the same time; with fewer tiles, rows are also split
    static constexpr Index kPieces = 4;   // each part of the rows has at least this many pieces

    struct Tile {
        Index row;  // number of its first row, and of its first column
        Index column;
    };
    struct Piece {
        Index begin;  // its first row
        Index rows;
        Index offset;  // in the packed numbers
    };
    // Pieces first..last-1 of one target. Every part except the first of its target adds to a separate sum.
    struct Part {
        Index target;
        Index first;
        Index last;
        Index scratch;  // -1: the sum of the target
    };

    // Distance from one packed vector of columns to the next, one register more than the rows need: otherwise the
    // vectors would compete for the same places in the cache.
    Index stride(const Piece& piece) const { return (piece.rows + 1) * kernels_->lanes; }
    Index width(Index begin) const { return std::min(kTile, padded_ - begin); }
    Index vectors(Index begin) const {
        return (std::min(kTile, dimensions_ - begin) + kernels_->lanes - 1) / kernels_->lanes;
    }

    const Kernels<T>* kernels_;
    Index dimensions_;
    Index padded_;
    std::vector<double> row_factors_, column_factors_;  // padded; for their products see Kernels::add_outer
    std::vector<Tile> tiles_;
    std::vector<Index> offsets_;  // position of each tile in a sum, and the end of the last
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
