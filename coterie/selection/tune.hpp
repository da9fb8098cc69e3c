#pragma once
// Tuning: a method is fitted once for each cell of a grid of its options, a criterion ranks the fits, and the best
// cell's options come back. With folds each fit sees a part of the rows only, and the rest tells how it does on points
// it has not seen.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/preparation.hpp"
#include "coterie/selection/cluster_choice.hpp"

namespace coterie {

/// What makes one fit better than another: a number of the labels of the points it was fitted on, each point counted
/// once whatever its weight. The "own space" is the model's transform() of these points, or the points themselves where
/// the method has none.
enum class Criterion {
    silhouette,  // largest mean silhouette in the own space; of 5000 rows drawn by the seed where there are more
    objective,   // least objective of the fit; it cannot compare cells that change the objective itself (k, lambda)
    ratio,       // least scatter_ratio in the own space: within over total
    knncut,  // least normalized_cut of the graph of the points' 10 nearest neighbours, in the space the fit is given
    calinski_harabasz,    // largest, in the own space; of numbers of clusters from 2 on
    davies_bouldin,       // least, in the own space; from 2 on
    bic,                  // least spherical_mixture_bic of the points
    gap,                  // this and the rest up to acc compare numbers of clusters alone, by the rules of
    stability,            // selection/choose_clusters.hpp
    prediction_strength,  //
    recommended,          // what is recommended by all criteria for the number of clusters
    acc,                  // largest agreement with the truth: an oracle, not to be had where tuning is needed
    nmi,
    ari
};
COTERIE_API std::string_view name(Criterion criterion);
COTERIE_API bool larger_is_better(Criterion criterion);
COTERIE_API bool needs_truth(Criterion criterion);
/// Whether the grid must be the option `clusters` alone, ascending, without folds: gap, stability, prediction_strength
/// and recommended.
COTERIE_API bool compares_clusters_alone(Criterion criterion);

/// One option and the values it takes, in their order: the method's, or `center` or `scale` (PreparationOptions). These
/// two go with a criterion of labels alone (acc, nmi, ari), as the others are measured among the prepared points.
struct GridAxis {
    std::string option;
    std::vector<OptionValue> values;
};
/// Reads OPTION=ITEM[,ITEM...]; an item is a value as the option reads it or, for numbers, a range with both ends in
/// it: LOW:HIGH (steps of 1), LOW:HIGH:N (N equally spaced values), LOW:HIGH:log (decades), LOW:HIGH:log2 (powers of
/// two). The option is named with '-' or '_', or by its letter. BadArgument names the nearest options or what is
/// accepted.
COTERIE_API GridAxis read_grid_axis(const Method& method, std::string_view text);
/// The option of that name, of the method or of PreparationOptions; BadArgument where there is none.
COTERIE_API const Option& option_on_grid(const Method& method, std::string_view name);

inline constexpr Index most_cells = 100000;

struct COTERIE_API TuneOptions {
    std::vector<GridAxis> grid;  // cells are the product of the axes, the last one fastest
    Criterion select = Criterion::silhouette;
    int folds = 0;             // 0: every cell is fitted on all points; else 2 to n parts, each once unseen
    bool with_kmeans = false;  // plain k-means with the same clusters competes
    /// Learned anew from the rows a fit sees, and applied to those it does not.
    PreparationOptions preparation;
    ColumnOptions columns = {};  // as the preparation; rows that `missing=drop` leaves out are in no fold

    static const OptionSet& described();  // select, folds, with_kmeans
};

struct TuneCell {
    std::string method;    // that of the grid, or kmeans
    OptionValues options;  // what distinguishes the cell: its values on the grid
    /// Means over the folds. Scores are there where the truth is known; of points a fit was told the label of, none.
    double criterion = std::numeric_limits<double>::quiet_NaN();
    std::optional<Scores> seen;
    std::optional<Scores> unseen;
    double seconds = 0.0;  // of its fits, together
    std::string error;     // why there is no criterion; such a cell is never chosen
};

struct TuneResult {
    std::vector<TuneCell> cells;  // in the grid's order, then k-means
    std::size_t best = 0;         // the first cell of the best criterion
    std::string best_method;      // with best_options and best_preparation: what to fit, and on which points
    OptionValues best_options;
    PreparationOptions best_preparation;
    /// Where the criterion compares numbers of clusters alone: all that is known of them. A cell's criterion is then
    /// its value on the curve, or, of recommended, how many criteria choose it; the best cell is the one that is
    /// chosen.
    std::optional<ClusterChoice> choice;
    Index cells_asked = 0;
    int folds_done = 0;
    /// The caller asked to stop: what is here are means over the folds that were done, or, in the first one, the cells
    /// that were.
    bool interrupted = false;
};

/// Rows 0..rows-1 in `folds` parts that differ by at most one row in size, drawn from `run` ("tune.folds"); rows of a
/// part ascend. BadArgument unless 2 <= folds <= rows.
COTERIE_API std::vector<std::vector<Index>> split_folds(Index rows, int folds, const Run& run);

/// Fits `method` with `fixed` and each cell's options; all fits have the run's seed. Of the problem the folds see parts
/// (Problem::subset). `truth`: n labels, -1 where not known,
/// or empty. The same result at any number of threads.
/// BadArgument: a grid without values, with more than most_cells cells or an option that is `fixed` too, folds, truth.
/// A cell that is refused (BadArgument, BadData, ResourceError) goes on record; when all are, the first one's error is
/// thrown. Cancelled when there is no cell yet as the caller asks to stop.
COTERIE_API TuneResult tune(const Method& method, const Problem& problem, const OptionValues& fixed,
                            const TuneOptions& options, const Run& run, LabelSpan truth = {});

}  // namespace coterie
