// Searches fit one problem on several threads at once, through one fitter. Every method must give the same bits with 1,
// 2 and 8 threads. The thread sanitizer also runs these tests.

#include <algorithm>
#include <functional>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

#include "coterie/deep/network.hpp"
#include "coterie/methods.hpp"
#include "coterie/selection/choose_clusters.hpp"
#include "coterie/selection/compare_methods.hpp"
#include "coterie/selection/consensus.hpp"
#include "coterie/selection/tune.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

bool is_available(const Method& method) {
    if (!method.takes.device) return true;
    static const bool networks = [] {
        try {
            return !internal::network_backend().empty();
        } catch (const ResourceError&) {
            return false;
        }
    }();
    return networks;
}

// Defaults, or options of networks that train in milliseconds.
OptionValues quick_options(const Method& method) {
    OptionValues out;
    if (!method.takes.device) return out;
    const std::pair<const char*, OptionValue> small[] = {{"widths", std::vector<std::int64_t>{6}},
                                                         {"embedding", 2},
                                                         {"pretrain_epochs", 1},
                                                         {"max_iterations", 2},
                                                         {"kmeans_restarts", 1},
                                                         {"epochs", 1},
                                                         {"batch_size", 16}};
    for (const auto& [name, value] : small)
        if (method.options->find(name) != nullptr) out[name] = value;
    return out;
}

// Three overlapping clusters, so that any difference changes the fit.
Matrix<double> overlapping(Index n = 40) {
    RandomStream random(5, "test.threads");
    Matrix<double> out(n, 3);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < 3; ++j) out(i, j) = (j == i % 3 ? 3.0 : 0.0) + random.normal() + 0.01;
    return out;
}

// All bits of numbers, as text.
class Bits {
public:
    Bits() { out_ << std::hexfloat; }
    template <class Value>
    Bits& operator<<(const Value& value) {
        out_ << value << ' ';
        return *this;
    }
    template <class Value>
    Bits& operator<<(const std::vector<Value>& values) {
        for (const auto& value : values) *this << value;
        return *this;
    }
    std::string text() const { return out_.str(); }

private:
    std::ostringstream out_;
};

class EveryMethod : public testing::TestWithParam<std::string> {
protected:
    void SetUp() override {
        if (!is_available(method())) GTEST_SKIP() << "LibTorch is not here";
    }
    const Method& method() const { return find_method(GetParam()); }
    void with_threads(const std::function<std::string(const coterie::Run&)>& search) const {
        const std::string alone = search(coterie::Run(3, 1));
        for (const int threads : {2, 8}) EXPECT_EQ(search(coterie::Run(3, threads)), alone) << threads << " threads";
    }
};

class MethodWithClusters : public EveryMethod {};
// Comparisons and consensus use a method's defaults, which are too slow for a network.
class MethodWithoutNetwork : public EveryMethod {};
class MethodOfConsensus : public EveryMethod {};

TEST_P(MethodWithClusters, ChoosesTheNumberOfClustersWithTheSameBits) {
    const Matrix<double> points = overlapping();
    with_threads([&](const coterie::Run& run) {
        ChooseOptions options;
        options.clusters = {2, 3, 4, 5};
        const ClusterChoice choice =
            choose_clusters(with(points), {method(), quick_options(method())}, options, {}, run);
        Bits bits;
        for (const CriterionCurve& curve : choice.curves)
            bits << curve.values << curve.spreads << curve.chosen.value_or(-1);
        bits << choice.errors;
        return bits.text();
    });
}

TEST_P(MethodWithClusters, IsTunedWithTheSameBits) {
    const Matrix<double> points = overlapping();
    with_threads([&](const coterie::Run& run) {
        TuneOptions options;
        options.grid = {read_grid_axis(method(), "clusters=2,3,4")};
        options.folds = 2;
        const TuneResult result = tune(with(points), {method(), quick_options(method())}, options, {}, run);
        Bits bits;
        for (const TuneCell& cell : result.cells) bits << cell.criterion << cell.error;
        bits << result.best;
        return bits.text();
    });
}

TEST_P(MethodWithoutNetwork, IsComparedWithTheSameBits) {
    const Matrix<double> points = overlapping();
    with_threads([&](const coterie::Run& run) {
        CompareOptions options;
        options.clusters = 3;
        options.methods = {GetParam(), GetParam() == "kmeans" ? "ward" : "kmeans"};
        Bits bits;
        for (const ComparedMethod& each : compare_methods(with(points), options, {}, run).methods)
            bits << each.sizes << each.silhouette << each.calinski_harabasz << each.davies_bouldin << each.error;
        return bits.text();
    });
}

TEST_P(MethodOfConsensus, HasTheSameBits) {
    const Matrix<double> points = overlapping();
    with_threads([&](const coterie::Run& run) {
        ConsensusOptions options;
        options.clusters = 3;
        options.fits = 6;
        options.methods = {GetParam()};
        const Consensus result = consensus(with(points), options, {}, run);
        Bits bits;
        bits << result.labels << result.confidence << result.cohesion;
        return bits.text();
    });
}

// Searches rely on this: several threads call one fitter, and each gets the result it would get alone.
TEST_P(EveryMethod, FitsFromOneFitterOnSeveralThreads) {
    const Matrix<double> points = overlapping();
    const Problem problem = with(points);
    const coterie::Run run(3, 1);
    const bool has_clusters = takes_clusters(method());
    const auto fit = [&](const Method::Fitter& fitter, int clusters) {
        OptionValues options = quick_options(method());
        if (has_clusters) options["clusters"] = std::int64_t{clusters};
        const auto model = fitter(options);
        Bits bits;
        bits << model->labels() << model->fit_report().objective;
        if (model->outputs().has(Output::embedding)) {
            const Matrix<double> embedded = model->transform(points, run);
            bits << std::vector<double>(embedded.data(), embedded.data() + embedded.size());
        }
        return bits.text();
    };
    std::vector<std::string> alone;
    for (const int clusters : {2, 3, 4, 5}) alone.push_back(fit(method().fitter(problem, run), clusters));
    const Method::Fitter fitter = method().fitter(problem, run);
    std::vector<std::string> found(alone.size());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < found.size(); ++t)
        threads.emplace_back([&, t] { found[t] = fit(fitter, static_cast<int>(t) + 2); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(found, alone);
}

template <class Accepts>
auto methods_that(Accepts accepts) {
    std::vector<std::string> out;
    for (const Method& method : methods())
        if (accepts(method)) out.push_back(method.name);
    return testing::ValuesIn(out);
}
std::string test_name(const testing::TestParamInfo<std::string>& each) {
    std::string out = each.param;
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}
const auto any = [](const Method&) { return true; };
const auto has_no_network = [](const Method& method) { return !method.takes.device; };
const auto takes_both = [](const Method& method) { return takes_clusters(method) && !method.takes.device; };
INSTANTIATE_TEST_SUITE_P(Threads, EveryMethod, methods_that(any), test_name);
INSTANTIATE_TEST_SUITE_P(Threads, MethodWithClusters, methods_that(takes_clusters), test_name);
INSTANTIATE_TEST_SUITE_P(Threads, MethodWithoutNetwork, methods_that(has_no_network), test_name);
INSTANTIATE_TEST_SUITE_P(Threads, MethodOfConsensus, methods_that(takes_both), test_name);

}  // namespace
}  // namespace coterie
