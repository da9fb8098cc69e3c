// Greedy k-means++ without a fit: seeding_benchmark POINTS.npy K THREADS SEEDS. Prints the mean seconds and the inertia
// of each seeding, as JSON.

#include <cstdio>
#include <cstdlib>

#include "coterie/data/read.hpp"
#include "coterie/kmeans/seeding.hpp"
#include "coterie/linalg/distances.hpp"

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: seeding_benchmark POINTS.npy K THREADS SEEDS\n");
        return 2;
    }
    const auto points = coterie::read_points(argv[1]).points;
    const int k = std::atoi(argv[2]);
    const int threads = std::atoi(argv[3]);
    const int seeds = std::atoi(argv[4]);
    double seconds = 0;
    std::printf("{\"inertia\": [");
    for (int seed = 0; seed < seeds; ++seed) {
        const coterie::Run run(static_cast<std::uint64_t>(seed), threads);
        coterie::Stopwatch watch;
        const auto result = coterie::seed_centroids(points, k, {coterie::Seeding::kmeans_plus_plus}, {}, 0, run);
        seconds += watch.seconds();
        const double inertia =
            coterie::nearest_centroids(points, result.centroids, threads, coterie::NearestWants::inertia).inertia;
        std::printf("%s%.9g", seed == 0 ? "" : ", ", inertia);
    }
    std::printf("], \"seconds\": %.6f}\n", seconds / seeds);
}
