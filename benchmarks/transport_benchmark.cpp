// Exact assignment to clusters of equal size: transport_benchmark N K THREADS. The points are Gaussian blobs of very
// uneven sizes. Costs are squared distances to K of the points. Prints seconds and the regret at the final prices, as
// JSON. Fails if the prices do not prove the optimum.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "coterie/base/random.hpp"
#include "coterie/constraints/transport.hpp"

using coterie::Index;

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: transport_benchmark N K THREADS\n");
        return 2;
    }
    const Index n = std::atol(argv[1]);
    const Index k = std::atol(argv[2]);
    const coterie::Run run(0, std::atoi(argv[3]));
    constexpr Index dimension = 8;
    constexpr Index blobs = 20;

    coterie::RandomStream random(0, "benchmark.transport");
    coterie::Matrix<double> points(n, dimension);
    coterie::Matrix<double> centres(blobs, dimension);
    for (Index j = 0; j < centres.size(); ++j) centres.data()[j] = 4 * random.normal();
    for (Index i = 0; i < n; ++i) {
        const double u = random.uniform();
        const auto blob = static_cast<Index>(static_cast<double>(blobs) * u * u * u);
        for (Index p = 0; p < dimension; ++p) points(i, p) = centres(blob, p) + random.normal();
    }
    coterie::Matrix<double> costs(n, k);
    for (Index g = 0; g < k; ++g) {
        const auto prototype = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
        for (Index i = 0; i < n; ++i) costs(i, g) = (points.row(i) - points.row(prototype)).squaredNorm();
    }
    std::vector<Index> low(static_cast<std::size_t>(k), n / k);
    std::vector<Index> high(static_cast<std::size_t>(k), (n + k - 1) / k);

    const coterie::Stopwatch watch;
    const auto result = coterie::internal::transport(costs, low, high, run);
    const double seconds = watch.seconds();

    // The optimum is proved if the sizes are within their bounds and no point prefers another column at these prices.
    std::vector<Index> sizes(static_cast<std::size_t>(k), 0);
    std::vector<Index> natural(static_cast<std::size_t>(k), 0);
    double regret = 0;
    for (Index i = 0; i < n; ++i) {
        const auto column = static_cast<std::size_t>(result.columns[static_cast<std::size_t>(i)]);
        ++sizes[column];
        double best = std::numeric_limits<double>::infinity();
        for (Index g = 0; g < k; ++g) best = std::min(best, costs(i, g) + result.prices[static_cast<std::size_t>(g)]);
        regret = std::max(regret, costs(i, static_cast<Index>(column)) + result.prices[column] - best);
        Index nearest = 0;
        costs.row(i).minCoeff(&nearest);
        ++natural[static_cast<std::size_t>(nearest)];
    }
    const double relative = regret / costs.maxCoeff();
    bool bounded = true;
    for (std::size_t g = 0; g < sizes.size(); ++g) bounded = bounded && low[g] <= sizes[g] && sizes[g] <= high[g];
    std::printf(
        "{\"n\": %td, \"k\": %td, \"seconds\": %.4f, \"augmentations\": %lld, \"cost\": %.17g, \"regret\": %.3g, "
        "\"unbounded_sizes\": [%td, %td]}\n",
        n, k, seconds, static_cast<long long>(result.augmentations), result.cost, relative,
        *std::min_element(natural.begin(), natural.end()), *std::max_element(natural.begin(), natural.end()));
    return bounded && relative < 1e-12 ? 0 : 1;
}
