// Exact neighbours within a set of points, with the library and with faiss's IndexFlatL2 (if found), on the same number
// of threads: neighbors_benchmark POINTS.npy NEIGHBORS THREADS [OUT.npy]. Prints elapsed and processor seconds and the
// largest relative difference of the squared distances, as JSON. Writes the row numbers of the neighbours to OUT.npy.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "coterie/data/read.hpp"
#include "coterie/linalg/neighbors.hpp"
#ifdef COTERIE_HAVE_FAISS
#include <faiss/IndexFlat.h>
#include <omp.h>
#endif

namespace {

struct Seconds {
    double wall;
    double processor;
};

template <class Body>
Seconds timed(const Body& body) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t processor = std::clock();
    body();
    return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
            static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4 || argc > 5) {
        std::fprintf(stderr, "usage: neighbors_benchmark POINTS.npy NEIGHBORS THREADS [OUT.npy]\n");
        return 2;
    }
    const auto points = coterie::read_points(argv[1]).points;
    const coterie::Index neighbors = std::atoi(argv[2]);
    const int threads = std::atoi(argv[3]);
    const coterie::Run run(0, threads);
    coterie::Neighbors found;
    const Seconds own = timed([&] { found = coterie::nearest_neighbors(points, neighbors, run); });
    std::printf("{\"coterie\": [%.3f, %.3f]", own.wall, own.processor);
    std::fflush(stdout);
#ifdef COTERIE_HAVE_FAISS
    omp_set_num_threads(threads);
    const auto x = points.view().as<float>();
    const coterie::Index count = neighbors + 1;  // faiss counts a point among its own neighbours
    std::vector<float> squared(static_cast<std::size_t>(x.rows * count));
    std::vector<faiss::Index::idx_t> indices(squared.size());
    const Seconds theirs = timed([&] {
        faiss::IndexFlatL2 index(x.columns);
        index.add(x.rows, x.data);
        index.search(x.rows, x.data, count, squared.data(), indices.data());
    });
    // The nearest neighbour in faiss is the point itself, so it is skipped. Its distances come from float32 products.
    double worst = 0;
    for (coterie::Index i = 0; i < x.rows; ++i)
        for (coterie::Index j = 0; j < neighbors; ++j) {
            const double mine = found.squared[static_cast<std::size_t>(i * neighbors + j)];
            const double other = squared[static_cast<std::size_t>(i * count + j + 1)];
            worst = std::max(worst, std::abs(mine - other) / std::max(mine, 1.0));
        }
    std::printf(", \"faiss\": [%.3f, %.3f], \"difference\": %.3g", theirs.wall, theirs.processor, worst);
#endif
    std::printf("}\n");
    if (argc == 5) {
        coterie::Matrix<double> numbers(points.rows(), neighbors);
        for (coterie::Index i = 0; i < numbers.size(); ++i)
            numbers.data()[i] = found.indices[static_cast<std::size_t>(i)];
        coterie::write_points(argv[4], numbers);
    }
}
