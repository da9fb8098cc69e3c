// Held rows contain the same numbers as rows that are read, for any number of processes, even if some have no rows.

#include "coterie/base/load_rows.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "coterie/base/parallel/blocks.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

TEST(LoadRows, EveryProcessReadsItsRowsOnce) {
    for (const Index rows : {1, 60, 300, 5000}) {  // up to 256 rows are one block
        const Matrix<double> points = test::normal_points(rows, 3, 7);
        for (const int processes : {1, 2, 3, 5}) {
            std::atomic<Index> read = 0;
            const Points source = test::read_rows(points, [&](Index count) { read += count; });
            test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
                coterie::Run run(0, 2);
                run.set_communicator(std::move(communicator));
                const Points held = hold_own_rows(source, run);
                RowBuffer buffer;
                const internal::Range own = internal::own_rows(held, run);
                const auto some = held.view().block(own.begin, own.end, buffer).as<double>();
                EXPECT_EQ(some.matrix(), Matrix<double>(points.middleRows(own.begin, own.count())));
            });
            EXPECT_EQ(read, rows) << processes << " processes";
        }
    }
}

}  // namespace
}  // namespace coterie
