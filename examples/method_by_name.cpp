#include <iostream>
#include <string>

#include <coterie/data/read.hpp>
#include <coterie/pipeline/pipeline.hpp>

// Fits a method by its name on scaled columns, with options by name. Saves the model and loads it again.
int main() {
    const auto wine = coterie::read_points("data:wine");
    const auto fitted = coterie::Pipeline::fit({.points = wine.points, .column_names = wine.column_names},
                                               {"soft-kmeans", {{"clusters", 3}}},
                                               {.preparation = {.scale = coterie::Scale::zscore}}, coterie::Run(7));
    const auto& report = fitted.model().fit_report();
    std::cout << name(report.stopped) << " after " << report.iterations << " iterations\n";

    fitted.save("soft-wine.coterie");
    const auto loaded = coterie::Pipeline::load("soft-wine.coterie");
    const auto rows = loaded.prepare(wine.points, wine.column_names);
    std::cout << (loaded.predict(rows) == fitted.model().labels() ? "the same labels\n" : "other labels\n");
    const auto memberships = loaded.output(coterie::Output::memberships, rows);
    std::cout << memberships.rows() << " x " << memberships.cols() << " probabilities\n";
}
