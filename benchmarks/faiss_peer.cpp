// faiss's k-means from a given start: faiss_peer POINTS.npy START.npy ITERATIONS THREADS. Prints seconds and inertia as
// JSON.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>
#include <omp.h>

#include "coterie/data/read.hpp"
#include "coterie/linalg/distances.hpp"

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: faiss_peer POINTS.npy START.npy ITERATIONS THREADS\n");
        return 2;
    }
    const auto points = coterie::read_points(argv[1]).points;
    const auto start = coterie::read_points(argv[2]).points;
    const int iterations = std::atoi(argv[3]);
    const int threads = std::atoi(argv[4]);
    omp_set_num_threads(threads);
    const auto x = points.view().as<float>();
    const auto c = start.view().as<float>();

    faiss::ClusteringParameters parameters;
    parameters.niter = iterations;
    parameters.max_points_per_centroid = 1 << 30;  // no subsampling
    parameters.min_points_per_centroid = 1;
    faiss::Clustering clustering(static_cast<int>(x.columns), static_cast<int>(c.rows), parameters);
    clustering.centroids.assign(c.data, c.data + c.rows * c.columns);
    faiss::IndexFlatL2 index(x.columns);
    const auto begin = std::chrono::steady_clock::now();
    clustering.train(x.rows, x.data, index);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const coterie::PointsView found(clustering.centroids.data(), c.rows, c.columns);
    const double inertia = coterie::nearest_centroids(points, found, threads, coterie::NearestWants::inertia).inertia;
    std::printf("{\"seconds\": %.6f, \"inertia\": %.9g}\n", seconds, inertia);
}
