#pragma once
// Internal: passes over rows: a grid of blocks that depends only on n and d, loops with a result per row, and sums.
//
// Blocks are added up along a binary tree whose shape depends only on the number of blocks. So sums have the same bits
// for any number of threads and processes, for rows in memory and rows that are read. Each process works on consecutive
// blocks. A loop writes results for this process's rows only.

#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// For few rows, about 64 blocks; for many rows, blocks of about a million numbers.
COTERIE_API RowBlocks grid_of(Index rows, Index columns);
inline RowBlocks grid_of(PointsView points) { return grid_of(points.rows(), points.columns()); }

/// begin..end-1
struct Range {
    Index begin = 0;
    Index end = 0;
    Index count() const { return end - begin; }
    bool has(Index i) const { return i >= begin && i < end; }
};
/// The blocks, or rows, that a process works on. A process that is alone works on all.
COTERIE_API Range own_blocks(const RowBlocks& grid, const Communicator& communicator);
COTERIE_API Range own_rows(const RowBlocks& grid, const Communicator& communicator);
inline Range own_rows(PointsView points, const Run& run) { return own_rows(grid_of(points), run.communicator()); }
/// The process that works on a block.
COTERIE_API int process_of(Index block, const RowBlocks& grid, const Communicator& communicator);

template <class Scalar>
struct RowBlock {
    Rows<Scalar> rows;
    Index first = 0;  // number of its first row among all rows
};

/// Blocks of points for the threads of a loop: views of memory, or rows that are read with read-ahead.
class COTERIE_API BlockReader {
public:
    BlockReader(PointsView points, const Run& run);

    const RowBlocks& grid() const { return grid_; }
    /// The rows of a block, valid until this worker's next call.
    PointsView rows(Index number, int worker);
    template <class Scalar>
    RowBlock<Scalar> block(Index number, int worker) {
        return {rows(number, worker).template as<Scalar>(), grid_.begin(number)};
    }

private:
    PointsView points_;
    RowBlocks grid_;
    Range own_;
    Index ahead_;
    std::vector<RowBuffer> buffers_;
};

/// Calls body(block, worker) for each of this process's blocks. Throws Cancelled, with the stage, if the caller asks to
/// stop. If one process throws, all throw.
COTERIE_API void for_each_own_block(const RowBlocks& grid, const Run& run, const Stage& stage,
                                    FunctionRef<void(Index block, int worker)> body);
/// The same with the block's rows: body(RowBlock<Scalar>, worker).
template <class Scalar, class Body>
void for_each_row_block(PointsView points, const Run& run, const Stage& stage, Body&& body) {
    BlockReader reader(points, run);
    for_each_own_block(reader.grid(), run, stage,
                       [&](Index number, int worker) { body(reader.template block<Scalar>(number, worker), worker); });
}

/// Adds up arrays of `numbers` numbers over the blocks of a grid. Keeps its memory from one call to the next: about
/// log2(blocks) arrays, and one per thread.
class COTERIE_API BlockSums {
public:
    using Clear = std::function<void(double* sum)>;
    using Merge = std::function<void(double* left, const double* right)>;  // sets left to the sum of both

    /// By default, `clear` sets to 0 and `merge` adds number by number. Custom functions must also handle sums without
    /// blocks.
    explicit BlockSums(Index numbers, Clear clear = nullptr, Merge merge = nullptr);

    /// The sum over all blocks of all processes, on every process; the span is valid until the next call. add(block,
    /// worker, sum) adds one block to a cleared sum.
    std::span<const double> operator()(const RowBlocks& grid, const Run& run, const Stage& stage,
                                       FunctionRef<void(Index block, int worker, double* sum)> add);
    /// The same over points: add(RowBlock<Scalar>, worker, sum).
    template <class Scalar, class Add>
    std::span<const double> over(PointsView points, const Run& run, const Stage& stage, Add&& add) {
        BlockReader reader(points, run);
        return (*this)(reader.grid(), run, stage, [&](Index number, int worker, double* sum) {
            add(reader.template block<Scalar>(number, worker), worker, sum);
        });
    }

private:
    using Sum = std::vector<double>;
    struct Node {
        int level = 0;
        Index number = 0;
        Sum sum;
    };
    class Adding;

    Sum take();
    void give_back(Sum sum);

    Index numbers_;
    Clear clear_;
    Merge merge_;
    std::mutex mutex_;
    std::vector<Sum> spare_;
    Sum total_;
};

/// Copies of some rows, in the given order. Each process reads the rows in its blocks; every process gets all copies.
COTERIE_API Points gather_rows(PointsView points, std::span<const Index> rows, const Run& run);

/// A single sum of `numbers` numbers over points.
template <class Scalar, class Add>
std::vector<double> sum_blocks(PointsView points, Index numbers, const Run& run, const Stage& stage, Add&& add) {
    BlockSums sums(numbers);
    const auto total = sums.over<Scalar>(points, run, stage, std::forward<Add>(add));
    return {total.begin(), total.end()};
}
/// The same, row by row: add(numbers of the row, number of the row among all rows, sum).
template <class Add>
std::vector<double> sum_rows(PointsView points, Index numbers, const Run& run, const Stage& stage, const Add& add) {
    return points.with_scalar([&]<class Scalar>() {
        return sum_blocks<Scalar>(points, numbers, run, stage, [&](const RowBlock<Scalar>& block, int, double* sum) {
            for (Index i = 0; i < block.rows.rows; ++i) add(block.rows.row(i), block.first + i, sum);
        });
    });
}

/// The weight of a row; 1 if there are no weights.
inline double weight_of(std::span<const double> weights, Index row) { return weights.empty() ? 1.0 : weights[at(row)]; }

}  // namespace coterie::internal
