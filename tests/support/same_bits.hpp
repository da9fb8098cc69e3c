#pragma once
// For tests of methods that take points in blocks. Points in memory and read points give the same bits, for any number
// of threads and processes.

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/local_rows.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"

namespace coterie::test {

/// The results of a fit that must not depend on where it ran.
struct Bits {
    Labels labels;  // of all rows
    std::vector<double> numbers;
    bool operator==(const Bits&) const = default;
};

/// `fit` takes a problem and a run. It returns the results, with the labels of the rows of its process.
template <class FitToBits>
void expect_same_bits(const Problem& problem, const FitToBits& fit, const std::vector<int>& processes = {1, 2, 3, 5}) {
    const Bits expected = fit(problem, Run(7, 1));
    ASSERT_EQ(static_cast<Index>(expected.labels.size()), problem.rows());
    Problem read = problem;
    read.points = read_rows(problem.points);
    for (const int threads : {1, 2}) {
        EXPECT_TRUE(fit(problem, Run(7, threads)) == expected) << threads << " threads";
        EXPECT_TRUE(fit(read, Run(7, threads)) == expected) << threads << " threads, read";
        for (const int size : processes)
            on_processes(size, [&](std::shared_ptr<Communicator> communicator) {
                Run run(7, threads);
                run.set_communicator(communicator);
                Bits found = fit(communicator->rank() % 2 == 0 ? problem : read, run);
                found.labels = internal::gather(*communicator, found.labels);
                EXPECT_TRUE(found == expected)
                    << "process " << communicator->rank() << " of " << size << ", " << threads << " threads";
            });
    }
    // Each of three processes holds a few ranges of rows. It works on these rows only, and can read no others.
    if (problem.points.view().resident())
        on_processes(3, [&](std::shared_ptr<Communicator> communicator) {
            Run run(7, 1);
            run.set_communicator(communicator);
            std::vector<internal::Range> places;
            std::vector<Index> rows;
            const Index run_length = problem.rows() / 10 + 1;
            for (Index begin = 0; begin < problem.rows(); begin += run_length)
                if (begin / run_length % 4 % 3 == communicator->rank())
                    places.push_back({begin, std::min(problem.rows(), begin + run_length)});
            for (const internal::Range& place : places)
                for (Index row = place.begin; row < place.end; ++row) rows.push_back(row);
            const Points held = rows_of(problem.points, rows);
            Problem mine = problem;
            mine.points = Points(std::make_shared<const internal::LocalRows>(held, *communicator, places));
            Bits found = fit(mine, run);
            found.labels = internal::gather(*communicator, found.labels);
            EXPECT_TRUE(found == expected) << "process " << communicator->rank() << " of 3 with local rows";
        });
}

}  // namespace coterie::test
