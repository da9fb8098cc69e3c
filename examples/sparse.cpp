#include <cstdio>
#include <memory>
#include <vector>

#include <coterie/base/sparse_points.hpp>
#include <coterie/kmeans/spherical_kmeans.hpp>

// Six texts. Words have numbers from 0 to 9,999. For each text: the numbers of its words, and how often each occurs.
int main() {
    const std::vector<std::int32_t> starts = {0, 3, 5, 7, 9, 12, 14};
    const std::vector<std::int32_t> words = {3, 17, 240, 3, 17, 17, 240, 512, 9000, 512, 7031, 9000, 7031, 9000};
    const std::vector<float> counts = {2, 1, 1, 1, 3, 1, 1, 2, 1, 1, 1, 4, 2, 1};
    const auto texts = std::make_shared<const coterie::SparsePoints>(
        6, 10000, std::span<const std::int32_t>(starts), std::span<const std::int32_t>(words),
        std::span<const float>(counts), nullptr);  // nullptr: the vectors above own the numbers

    const auto model =
        coterie::fit_spherical_kmeans({.points = coterie::Points(texts)}, {.clusters = 2, .restarts = 5});
    for (const auto label : model.labels()) std::printf("%d ", label);
    std::printf("\n");
}
