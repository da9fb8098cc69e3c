#pragma once
// Repeated hold-out: how methods are compared on points that their fits have not seen. In every run a random third of
// the rows is set aside; k-means from one start on the rest gives the centroids that all begin with; each contender
// tunes its options on the rest, fits it, and labels the third.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/selection/tune.hpp"

namespace coterie {

/// One line of a table: what it chooses from are all cells of all its grids.
struct Contender {
    struct Grid {
        std::string method;
        OptionValues fixed;
        std::vector<GridAxis> axes;
        bool common_start = true;  // begins with the run's common centroids; false: with restarts of its own
    };
    std::string name;
    std::vector<Grid> grids;
};

struct HoldoutOptions {
    int runs = 20;
    Criterion select = Criterion::acc;
    Scale scale = Scale::none;  // learnt from the rows that are seen
};

/// One contender in one run.
struct HoldoutOutcome {
    Scores seen;
    Scores unseen;
    std::string method;  // the cell that was chosen
    OptionValues options;
    double moved = 0.0;    // detail "moved" of its fit, where there is one
    double seconds = 0.0;  // of the tuning
};

/// outcomes[contender][run]. Run r has seed run.seed + r. `truth`: n labels. The same results at any number of threads,
/// which work on different runs. BadArgument: fewer runs than 2, fewer points than 3, what tune() refuses.
COTERIE_API std::vector<std::vector<HoldoutOutcome>> repeated_holdout(const Problem& problem, LabelSpan truth,
                                                                      int clusters,
                                                                      const std::vector<Contender>& contenders,
                                                                      const HoldoutOptions& options, const Run& run);

}  // namespace coterie
