// Measures the assignment pass, as the rate of its 2 n k d floating-point operations, and the whole fit. The fit must
// also reach the expected quality.

#include <benchmark/benchmark.h>

#include "coterie/base/random.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/distances.hpp"

namespace {

using coterie::Index;

coterie::Matrix<float> blobs(Index n, Index d, int k) {
    coterie::RandomStream random(1, "benchmark.blobs");
    coterie::Matrix<float> centres(k, d);
    for (Index i = 0; i < centres.size(); ++i) centres.data()[i] = static_cast<float>(random.normal());
    coterie::Matrix<float> x(n, d);
    for (Index i = 0; i < n; ++i) {
        const auto j = static_cast<Index>(random.below(static_cast<std::uint64_t>(k)));
        for (Index p = 0; p < d; ++p) x(i, p) = centres(j, p) + static_cast<float>(random.normal());
    }
    return x;
}

void assignment(benchmark::State& state) {
    const Index n = state.range(0);
    const Index d = state.range(1);
    const int k = static_cast<int>(state.range(2));
    const int threads = static_cast<int>(state.range(3));
    const auto x = blobs(n, d, k);
    const coterie::Matrix<float> c = x.topRows(k);
    for (auto _ : state) benchmark::DoNotOptimize(coterie::nearest_centroids(x, c, threads));
    state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(n) * static_cast<double>(d) * k,
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

// Checks the result, too: for blobs this far apart, the best inertia is about n d.
void whole_fit(benchmark::State& state) {
    const Index n = state.range(0);
    const Index d = state.range(1);
    const int k = static_cast<int>(state.range(2));
    auto x = blobs(n, d, k);
    double inertia = 0;
    for (auto _ : state) {
        coterie::Run run(1, static_cast<int>(state.range(3)));
        inertia = coterie::fit_kmeans(x, {.clusters = k}, run).inertia();
    }
    const double share = inertia / (static_cast<double>(n) * static_cast<double>(d));
    state.counters["inertia/(nd)"] = share;
    if (share > 1.06) state.SkipWithError("inertia above the expected quality: 1.06 n d");
}

}  // namespace

BENCHMARK(assignment)
    ->ArgNames({"n", "d", "k", "threads"})
    ->Args({70000, 784, 10, 1})
    ->Args({70000, 784, 10, 2})
    ->Args({200000, 64, 256, 1})
    ->Args({200000, 64, 256, 2})
    ->Args({60000, 768, 100, 1})
    ->Args({60000, 768, 100, 2})
    ->Args({200000, 2, 8, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(whole_fit)
    ->ArgNames({"n", "d", "k", "threads"})
    ->Args({60000, 768, 100, 2})
    ->Args({200000, 64, 256, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_MAIN();
