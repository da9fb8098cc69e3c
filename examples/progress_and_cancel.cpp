#include <iostream>

#include <coterie/data/read.hpp>
#include <coterie/kmeans/kmeans.hpp>

// Watches the progress of a fit and stops it in the third iteration.
int main() {
    const auto digits = coterie::read_points("data:digits");

    int iterations = 0;
    coterie::Run run(7, 1);  // seed 7, one thread
    run.on_progress = [&](const coterie::Progress& progress) {
        if (progress.stage == "iterations") iterations = progress.iteration;
    };
    run.should_stop = [&] { return iterations >= 3; };

    const auto model = coterie::fit_kmeans(digits.points, {.clusters = 10}, run);
    std::cout << name(model.fit_report().stopped) << " after " << model.fit_report().iterations << " iterations, "
              << model.labels().size() << " points labelled\n";
}
