// Compares sums over blocks with a direct implementation of the tree, for any number of processes and threads, and for
// rows in memory and rows that are read. Also tests what happens when one process fails.

#include "coterie/base/parallel/blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "coterie/base/parallel/collective.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::internal {
namespace {

double tree(const std::vector<double>& leaves) {
    std::vector<double> level = leaves;
    while (level.size() > 1) {
        std::vector<double> above;
        for (std::size_t i = 0; i < level.size(); i += 2)
            above.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
        level = above;
    }
    return level.front();
}

// Numbers whose sum depends on the order of the additions.
double number(Index i) { return 1.0 / (3.0 + static_cast<double>(i * i % 1009)); }

TEST(BlockSums, FollowTheTreeOverTheBlocks) {
    for (const Index blocks : {1, 2, 3, 5, 7, 8, 9, 63, 64, 65, 200, 999}) {
        std::vector<double> leaves(static_cast<std::size_t>(blocks));
        for (Index i = 0; i < blocks; ++i) leaves[static_cast<std::size_t>(i)] = number(i);
        const double expected = tree(leaves);
        for (const int processes : {1, 2, 3, 5, 11})
            for (const int threads : {1, 2, 8})
                test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
                    coterie::Run run(0, threads);
                    run.set_communicator(std::move(communicator));
                    BlockSums sums(2);
                    for (int repetition = 0; repetition < 3; ++repetition) {
                        const auto sum = sums({blocks, 1}, run, {"adding"}, [&](Index block, int, double* to) {
                            to[0] += number(block);
                            to[1] += 1;
                        });
                        EXPECT_EQ(sum[0], expected) << blocks << " blocks, " << processes << " processes";
                        EXPECT_EQ(sum[1], static_cast<double>(blocks));
                    }
                });
    }
}

TEST(BlockSums, UseCustomInitializationAndMerge) {
    for (const int processes : {1, 3})
        test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
            coterie::Run run(0, 2);
            run.set_communicator(std::move(communicator));
            BlockSums largest(
                1, [](double* sum) { *sum = -1; },
                [](double* left, const double* right) { *left = std::max(*left, *right); });
            const auto found = largest({100, 3}, run, {"looking"},
                                       [](Index block, int, double* to) { *to = static_cast<double>(block * 7 % 34); });
            EXPECT_EQ(found[0], 33);
        });
}

TEST(BlockSums, OfNoRowsAreZero) {
    BlockSums sums(3);
    const auto sum = sums({0, 16}, coterie::Run(), {"adding"}, [](Index, int, double*) { FAIL(); });
    EXPECT_EQ(std::accumulate(sum.begin(), sum.end(), 0.0), 0.0);
}

TEST(Grid, DependsOnlyOnTheShape) {
    for (const Index n : {1, 15, 16, 17, 1000, 16384, 100000, 3000000})
        for (const Index d : {1, 3, 64, 784, 20000}) {
            const RowBlocks grid = grid_of(n, d);
            EXPECT_EQ(grid.rows, n);
            EXPECT_EQ(grid.size % 16, 0);
            EXPECT_LE(grid.size * d, std::max<Index>((1 << 20) + 15 * d, 16 * d));
            if (n >= 64 * 256) {
                EXPECT_GE(grid.count(), 48) << n << " x " << d;
            }
        }
}

TEST(Grid, GivesEachProcessConsecutiveBlocks) {
    for (const int processes : {1, 2, 3, 5, 40})
        for (const Index n : {1, 100, 5000, 300000}) {
            const RowBlocks grid{n, 37};
            std::vector<int> owners(static_cast<std::size_t>(grid.count()), -1);
            std::atomic<Index> rows{0};
            test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
                const Range own = own_blocks(grid, *communicator);
                const double even = static_cast<double>(grid.count()) / processes;
                EXPECT_LE(static_cast<double>(own.count()), std::max(1.05 * even, std::ceil(even)));
                for (Index block = own.begin; block < own.end; ++block) {
                    owners[static_cast<std::size_t>(block)] = communicator->rank();
                    EXPECT_EQ(process_of(block, grid, *communicator), communicator->rank());
                }
                rows += own_rows(grid, *communicator).count();
            });
            EXPECT_EQ(rows, n);
            EXPECT_TRUE(std::is_sorted(owners.begin(), owners.end()));
            EXPECT_GE(owners.front(), 0);
        }
}

TEST(RowBlocks, AreTheSameFromMemoryAndFromASource) {
    const auto matrix = test::blob_points<float>(20000, 9, 3, 1, 4);
    const Points read = test::read_rows(matrix);
    ASSERT_FALSE(read.resident());
    for (const PointsView points : {PointsView(matrix), PointsView(read)}) {
        std::vector<float> seen(20000, -1);
        for_each_row_block<float>(points, coterie::Run(0, 2), {"looking"}, [&](const RowBlock<float>& block, int) {
            for (Index i = 0; i < block.rows.rows; ++i)
                seen[static_cast<std::size_t>(block.first + i)] = block.rows.row(i)[4];
        });
        for (Index i = 0; i < 20000; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], matrix(i, 4));
        const std::vector<Index> some = {19999, 0, 7, 7};
        const Points picked = rows_of(points, some);
        for (Index i = 0; i < 4; ++i)
            EXPECT_EQ(picked.view().at(i, 8), static_cast<double>(matrix(some[static_cast<std::size_t>(i)], 8)));
    }
    EXPECT_THROW(PointsView(read).as<float>(), InternalError);
}

TEST(Collective, ErrorOfOneProcessIsThrownOnAll) {
    const auto errors = test::run_processes(4, [](std::shared_ptr<Communicator> communicator) {
        together(*communicator, [&] {
            if (communicator->rank() == 2) throw BadData({.problem = "row 5 is no row"});
        });
    });
    for (std::size_t process = 0; process < errors.size(); ++process) {
        ASSERT_TRUE(errors[process]);
        const std::string message = test::message_of([&] { std::rethrow_exception(errors[process]); });
        EXPECT_EQ(message, process == 2 ? "row 5 is no row" : "process 2 failed: row 5 is no row");
    }
}

TEST(Collective, StopRequestOnOneProcessStopsAll) {
    const auto errors = test::run_processes(3, [](std::shared_ptr<Communicator> communicator) {
        coterie::Run run(0, 1);
        run.set_communicator(communicator);
        if (communicator->rank() == 1) run.should_stop = [] { return true; };
        BlockSums sums(1);
        sums({1000, 1}, run, {"adding"}, [](Index, int, double* to) { *to += 1; });
    });
    for (const auto& error : errors) {
        ASSERT_TRUE(error);
        EXPECT_THROW(std::rethrow_exception(error), Cancelled);
    }
}

TEST(Collective, GathersInRankOrder) {
    test::on_processes(5, [](std::shared_ptr<Communicator> communicator) {
        std::vector<Index> own(static_cast<std::size_t>(communicator->rank() * 3 % 4), communicator->rank());
        EXPECT_EQ(gather(*communicator, own), (std::vector<Index>{1, 1, 1, 2, 2, 3}));
        EXPECT_EQ(from_process(*communicator, 3, communicator->rank()), 3);
        EXPECT_EQ(communicator->highest(communicator->rank() == 4 ? -1 : communicator->rank()), 3);
    });
}

TEST(Collective, EndedProcessIsAnError) {
    const auto errors = test::run_processes(3, [](std::shared_ptr<Communicator> communicator) {
        if (communicator->rank() == 1) return;
        communicator->highest(0);
        communicator->highest(0);
    });
    EXPECT_TRUE(errors[0] || errors[2]);
    for (const auto& error : errors)
        if (error) {
            EXPECT_THROW(std::rethrow_exception(error), PeerFailed);
        }
}

}  // namespace
}  // namespace coterie::internal
