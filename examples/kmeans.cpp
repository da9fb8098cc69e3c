#include <iostream>

#include <coterie/data/read.hpp>
#include <coterie/kmeans/kmeans.hpp>
#include <coterie/metrics/metrics.hpp>
#include <coterie/pipeline/pipeline.hpp>

int main() {
    const auto digits = coterie::read_points("data:digits");
    coterie::Run run(7);  // seed 7
    const auto model = coterie::fit_kmeans(digits.points, {.clusters = 10, .restarts = 10}, run);
    std::cout << coterie::accuracy(model.labels(), digits.labels->labels) << '\n';
    coterie::Pipeline(model).save("digits.coterie");
}
