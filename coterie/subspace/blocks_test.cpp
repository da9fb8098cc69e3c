// Constrained k-means with and without a subspace accepts points in blocks: the bits do not depend on how rows are
// stored, on threads or on processes.

#include <gtest/gtest.h>

#include "coterie/subspace/subspace.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::Bits;

auto fitting(const SubspaceOptions& options) {
    return [options](const Problem& problem, const Run& run) {
        const SubspaceModel model = fit_subspace(problem, options, run);
        Bits out{model.labels(), {}};
        const auto add = [&](const auto& numbers) {
            out.numbers.insert(out.numbers.end(), numbers.data(), numbers.data() + numbers.size());
        };
        add(model.prototypes());
        add(model.directions());
        const FitReport& report = model.fit_report();
        add(report.objective_per_iteration);
        out.numbers.insert(out.numbers.end(), report.sizes.begin(), report.sizes.end());
        for (const auto& [name, value] : report.details)
            if (const auto* numbers = std::get_if<std::vector<double>>(&value)) add(*numbers);
        return out;
    };
}

template <class T>
class SubspaceInBlocks : public testing::Test {
protected:
    // Three labels; every ninth row has its label.
    Problem problem(Index n, Index d, bool labelled, bool shared) {
        Labels truth;
        Problem out{.points = Points(test::blob_points<T>(n, d, 4, 2, 3, 5))};
        if (labelled) {
            for (Index i = 0; i < n; ++i)
                out.partial_labels.push_back(i % 9 == 0 ? static_cast<std::int32_t>(i % 4 % 3) : -1);
            out.label_names = {"a", "b", "c"};
            if (shared) out.label_shares = {{"b", 0.2, 0.3}};
        } else if (shared) {
            out.sizes = SizeBounds{n / 5, n / 3};
        }
        return out;
    }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(SubspaceInBlocks, Scalars);

TYPED_TEST(SubspaceInBlocks, HardAndSoftAssignments) {
    for (const auto assignment : {Assignment::hard, Assignment::soft})
        for (const bool labelled : {false, true})
            for (const bool shared : {false, true}) {
                SubspaceOptions options{.assignment = assignment, .temperature = 0.5, .max_iterations = 5};
                if (!labelled) options.clusters = 4;
                SCOPED_TRACE(std::string(labelled ? "labels" : "no labels") + (shared ? ", bounds" : ""));
                test::expect_same_bits(this->problem(1500, 6, labelled, shared), fitting(options), {1, 2, 5});
            }
}

TYPED_TEST(SubspaceInBlocks, WithoutShrinkageAndWithoutProjection) {
    for (const char* const shrinkage : {"none", "0.2"}) {
        const SubspaceOptions options{.clusters = 4, .shrinkage = shrinkage, .max_iterations = 4};
        test::expect_same_bits(this->problem(1500, 6, false, false), fitting(options), {3});
    }
    const SubspaceOptions plain{.projection = Projection::none, .max_iterations = 4};
    test::expect_same_bits(this->problem(1500, 6, true, true), fitting(plain), {3});
}

// Many batches, whose borders differ from those of the processes.
TYPED_TEST(SubspaceInBlocks, ManyBatches) {
    for (const auto assignment : {Assignment::hard, Assignment::soft}) {
        const SubspaceOptions options{.clusters = 3, .assignment = assignment, .max_iterations = 2};
        test::expect_same_bits(this->problem(90000, 150, false, false), fitting(options), {3});
    }
}

TYPED_TEST(SubspaceInBlocks, FewRows) {
    const SubspaceOptions options{.clusters = 3, .max_iterations = 3};
    test::expect_same_bits(this->problem(20, 3, false, false), fitting(options), {2, 5});
}

}  // namespace
}  // namespace coterie
