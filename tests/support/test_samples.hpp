#pragma once
// For tests: points in clusters, options for short fits, and a way to skip tests without LibTorch.

#include <memory>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/deep/autoencoder.hpp"
#include "coterie/deep/network.hpp"

namespace coterie::test {

inline bool has_networks() {
    try {
        return !internal::network_backend().empty();
    } catch (const ResourceError&) {
        return false;
    }
}
#define COTERIE_NEEDS_NETWORKS \
    if (!test::has_networks()) GTEST_SKIP() << "LibTorch is not here"

struct Sample {
    Matrix<double> points;
    Labels truth;
};
/// n points around k centres, which are normally distributed.
inline Sample blobs(Index n, Index d, int k, std::uint64_t seed) {
    RandomStream random(seed, "test.deep");
    Matrix<double> centres(k, d);
    for (Index i = 0; i < centres.size(); ++i) centres.data()[i] = random.normal();
    Sample out{Matrix<double>(n, d), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        out.truth[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % k);
        for (Index p = 0; p < d; ++p) out.points(i, p) = centres(i % k, p) + 0.25 * random.normal();
    }
    return out;
}

inline void make_small(AlternatingOptions& options) {
    options.clusters = 4;
    options.widths = {24};
    options.embedding = 3;
    options.pretrain_epochs = 6;
    options.pretrain_batch_size = 64;
    options.batch_size = 64;
    options.update_interval = 3;
    options.max_iterations = 12;
    options.tolerance = 0;
    options.kmeans_restarts = 5;
}

/// Stops after the batches of the first update. Progress is reported after the update and after its batches, so it
/// stops at the second report.
inline coterie::Run stopped_after_batches(std::uint64_t seed) {
    coterie::Run run(seed);
    const auto told = std::make_shared<int>(0);
    run.on_progress = [told](const Progress& progress) { *told += progress.stage == "clustering" ? 1 : 0; };
    run.should_stop = [told] { return *told == 2; };
    return run;
}

}  // namespace coterie::test
