// The methods of this module accept points in blocks. The bits of a result do not depend on how rows are stored, or on
// the number of threads or processes.

#include <gtest/gtest.h>

#include "coterie/entropy/entropy.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::Bits;

// Labels, weights and the figures of the report.
template <class Fitting, class Options>
auto fitting(const Fitting& fit, const Options& options) {
    return [&fit, options](const Problem& problem, const Run& run) {
        const auto model = fit(problem, options, run);
        Bits out{model.labels(), {}};
        std::visit(
            [&](const auto& linear) {
                for (const auto value : linear.weights.reshaped()) out.numbers.push_back(static_cast<double>(value));
                for (const auto value : linear.bias) out.numbers.push_back(static_cast<double>(value));
            },
            model.linear());
        const FitReport& report = model.fit_report();
        const auto add = [&](const auto& numbers) {
            out.numbers.insert(out.numbers.end(), numbers.begin(), numbers.end());
        };
        add(report.objective_per_iteration);
        add(report.sizes);
        for (const auto& [name, value] : report.details) {
            if (const auto* numbers = std::get_if<std::vector<double>>(&value)) add(*numbers);
            if (const auto* number = std::get_if<double>(&value)) out.numbers.push_back(*number);
        }
        return out;
    };
}

template <class T>
class EntropyInBlocks : public testing::Test {
protected:
    Problem problem(bool labelled = false) {
        Problem out{.points = Points(test::blob_points<T>(1500, 6, 4, 2, 3, 5))};
        if (labelled)
            for (Index i = 0; i < 1500; ++i)
                out.partial_labels.push_back(i % 9 == 0 ? static_cast<std::int32_t>(i % 4) : -1);
        return out;
    }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(EntropyInBlocks, Scalars);

template <class Options>
Options few_epochs(Optimizer optimizer = Optimizer::sgd) {
    Options out;
    out.clusters = 4;
    out.epochs = optimizer == Optimizer::sgd ? 3 : 2;
    out.batch_size = 100;
    out.optimizer = optimizer;
    out.learning_rate = 0.01;
    return out;
}

TYPED_TEST(EntropyInBlocks, Batches) {
    test::expect_same_bits(this->problem(), fitting(fit_entropy, few_epochs<EntropyOptions>()));
    test::expect_same_bits(this->problem(true), fitting(fit_entropy, few_epochs<EntropyOptions>()), {1, 3});
    test::expect_same_bits(this->problem(), fitting(fit_mi, few_epochs<MiOptions>()), {3});
    test::expect_same_bits(this->problem(), fitting(fit_sela, few_epochs<SelaOptions>()), {3});
    test::expect_same_bits(this->problem(), fitting(fit_miadm, few_epochs<MiadmOptions>()), {3});
}

TYPED_TEST(EntropyInBlocks, LabelsPerEpoch) {
    auto options = few_epochs<EntropyOptions>();
    options.labels_per = LabelsPer::epoch;
    test::expect_same_bits(this->problem(true), fitting(fit_entropy, options), {1, 3});
    auto transport = few_epochs<SelaOptions>();
    transport.labels_per = LabelsPer::epoch;
    transport.origin = TrainingOrigin::zero;
    test::expect_same_bits(this->problem(), fitting(fit_sela, transport), {2});
}

TYPED_TEST(EntropyInBlocks, Lbfgs) {
    test::expect_same_bits(this->problem(true), fitting(fit_entropy, few_epochs<EntropyOptions>(Optimizer::lbfgs)),
                           {1, 2, 5});
    test::expect_same_bits(this->problem(), fitting(fit_mi, few_epochs<MiOptions>(Optimizer::lbfgs)), {3});
}

}  // namespace
}  // namespace coterie
