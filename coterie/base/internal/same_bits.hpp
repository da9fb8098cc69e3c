#pragma once
// For tests of methods that take points in blocks: the same bits for points in memory and read, for any number of
// threads and of processes.

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/base/internal/blocks.hpp"
#include "coterie/base/internal/processes_in_threads.hpp"
#include "coterie/base/internal/read_rows.hpp"
#include "coterie/base/internal/together.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"

namespace coterie::test {

/// What a fit found, as far as it must not depend on where it ran.
struct Bits {
    Labels labels;  // of all rows
    std::vector<double> numbers;
    bool operator==(const Bits&) const = default;
};

/// `fit` gives what it found, with the labels of its process' rows, for a problem and a run.
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
}

}  // namespace coterie::test
