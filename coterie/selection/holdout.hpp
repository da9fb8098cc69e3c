#pragma once
// Repeated hold-out: compares methods on points that their fits have not seen. In every run, a random third of the rows
// is set aside. k-means from one start on the other rows gives the centroids from which all methods begin. Each
// contender tunes its options on the other rows, fits them, and labels the third.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie {

/// One line of a table. It chooses from all cells of all its grids.
struct Contender {
    struct Grid {
        std::string method;
        OptionValues fixed;
        std::vector<GridAxis> axes;
        bool common_start = true;  // starts from the run's common centroids; false: uses its own restarts
    };
    std::string name;
    std::vector<Grid> grids;
};

struct HoldoutOptions {
    int runs = 20;
    Criterion select = Criterion::acc;
    Scale scale = Scale::none;  // learned from the seen rows
};

/// The result of one contender in one run.
struct HoldoutOutcome {
    Scores seen;
    Scores unseen;
    std::string method;  // method of the chosen cell
    OptionValues options;
    double moved = 0.0;    // detail "moved" of the fit's report, if it has one
    double seconds = 0.0;  // of the tuning
};

/// outcomes[contender][run]. Run r has seed run.seed + r. `truth`: n labels. Threads work on different runs; the
/// results are the same at any number of threads. Throws BadArgument for fewer than 2 runs or 3 points, and the errors
/// of tune().
COTERIE_API std::vector<std::vector<HoldoutOutcome>> repeated_holdout(const Problem& problem, LabelSpan truth,
                                                                      int clusters,
                                                                      const std::vector<Contender>& contenders,
                                                                      const HoldoutOptions& options, const Run& run);

}  // namespace coterie
