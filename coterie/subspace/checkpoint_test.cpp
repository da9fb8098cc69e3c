// A fit with a subspace that is interrupted repeatedly and resumes gives the bits of an uninterrupted fit.

#include <gtest/gtest.h>

#include "coterie/subspace/subspace.hpp"
#include "tests/support/goes_on.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

template <class T>
Problem problem_of(Index n, bool labelled, bool bounded) {
    Problem out{.points = Points(test::blob_points<T>(n, 6, 4, 2, 3, 5))};
    if (labelled) {
        for (Index i = 0; i < n; ++i)
            out.partial_labels.push_back(i % 9 == 0 ? static_cast<std::int32_t>(i % 4 % 3) : -1);
        out.label_names = {"a", "b", "c"};
        if (bounded) out.label_shares = {{"b", 0.2, 0.3}};
    } else if (bounded) {
        out.sizes = SizeBounds{n / 5, n / 3};
    }
    return out;
}

TEST(SubspaceCheckpoint, HardAndSoftResumeBitForBit) {
    for (const auto assignment : {Assignment::hard, Assignment::soft})
        for (const bool labelled : {false, true})
            for (const bool bounded : {false, true}) {
                SubspaceOptions options{
                    .assignment = assignment, .temperature = 0.5, .max_iterations = 8, .tolerance = 0};
                if (!labelled) options.clusters = 4;
                EXPECT_GT(test::goes_on(fit_subspace, options, problem_of<float>(600, labelled, bounded)), 1);
                EXPECT_GT(test::goes_on(fit_subspace, options, problem_of<double>(600, labelled, bounded)), 1);
            }
}

TEST(SubspaceCheckpoint, ShrinkageProjectionAndPasses) {
    const Problem problem = problem_of<float>(600, false, false);
    for (const auto assignment : {Assignment::hard, Assignment::soft})
        for (const char* const shrinkage : {"none", "0.2", "oas"})
            for (const int passes : {1, 3}) {
                const SubspaceOptions options{.clusters = 4,
                                              .assignment = assignment,
                                              .shrinkage = shrinkage,
                                              .max_iterations = 6,
                                              .passes = passes,
                                              .tolerance = 0};
                EXPECT_GT(test::goes_on(fit_subspace, options, problem), 1);
            }
    const SubspaceOptions plain{.projection = Projection::none, .max_iterations = 6, .tolerance = 0};
    EXPECT_GT(test::goes_on(fit_subspace, plain, problem_of<double>(600, true, true)), 1);
}

TEST(SubspaceCheckpoint, Restarts) {
    const SubspaceOptions options{.clusters = 4, .max_iterations = 4, .tolerance = 0, .restarts = 3};
    EXPECT_GT(test::goes_on(fit_subspace, options, problem_of<float>(600, false, false)), 4);
}

}  // namespace
}  // namespace coterie
