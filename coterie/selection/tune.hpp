#pragma once
// Tuning: fits a method once for each cell of a grid of its options, ranks the fits by a criterion, and returns the
// options of the best cell. With folds, each fit sees only a part of the rows, and the rest shows how well the fit does
// on new points.

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
#include "coterie/pipeline/prepared_problem.hpp"
#include "coterie/selection/cluster_choice.hpp"

namespace coterie {

/// What makes one fit better than another: a number computed from the labels of its training data. Each point counts
/// once, whatever its weight. The "own space" is the model's transform() of these points or, if the method has no
/// transform, the points themselves.
enum class Criterion {
    silhouette,  // largest mean silhouette in the own space, of at most 5000 rows drawn with the seed
    objective,   // least objective of the fit; not comparable if an option changes the objective itself (k, lambda)
    ratio,       // least scatter_ratio in the own space: scatter within clusters over total scatter
    knncut,  // least normalized_cut of the graph of the points' 10 nearest neighbours, in the space the fit is given
    calinski_harabasz,    // largest, in the own space; numbers of clusters from 2 on
    davies_bouldin,       // least, in the own space; from 2 on
    bic,                  // least spherical_mixture_bic of the points
    gap,                  // the four from here to recommended compare only numbers of clusters, by the rules of
    stability,            // selection/choose_clusters.hpp
    prediction_strength,  //
    recommended,          // the recommendation of all criteria for the number of clusters
    acc,                  // largest agreement with the truth, which an application does not know
    nmi,
    ari
};
COTERIE_API std::string_view name(Criterion criterion);
COTERIE_API bool larger_is_better(Criterion criterion);
COTERIE_API bool needs_truth(Criterion criterion);
/// Whether the grid must be the option `clusters` alone, ascending, without folds. True for gap, stability,
/// prediction_strength and recommended.
COTERIE_API bool compares_clusters_alone(Criterion criterion);

/// One option and its values, in order. The option is the method's, or `center` or `scale` (PreparationOptions). These
/// two need a criterion of labels (acc, nmi, ari), because the other criteria measure in the space of the prepared
/// points.
struct GridAxis {
    std::string option;
    std::vector<OptionValue> values;
};
/// Reads OPTION=ITEM[,ITEM...]. An item is a value as the option reads it. For numbers it may be a range that includes
/// both ends: LOW:HIGH (steps of 1), LOW:HIGH:N (N equally spaced values), LOW:HIGH:log (decades), LOW:HIGH:log2
/// (powers of two). The option's name may use '-' or '_', or be its letter. Throws BadArgument, naming the nearest
/// options or the accepted values.
COTERIE_API GridAxis read_grid_axis(const Method& method, std::string_view text);
/// The option of that name, of the method or of PreparationOptions. Throws BadArgument if there is none.
COTERIE_API const Option& option_on_grid(const Method& method, std::string_view name);

inline constexpr Index most_cells = 100000;

struct COTERIE_API TuneOptions {
    std::vector<GridAxis> grid;  // cells are the product of the axes; the last axis varies fastest
    Criterion select = Criterion::silhouette;
    int folds = 0;             // 0: every cell is fitted on all points; else 2 to n parts, each unseen once
    bool with_kmeans = false;  // adds plain k-means with the same clusters

    static const OptionSet& described();  // select, folds, with_kmeans
};

struct TuneCell {
    std::string method;    // the grid's method, or kmeans
    OptionValues options;  // the values of the grid that distinguish the cell
    /// Means over the folds. Scores exist if the truth is known; they ignore points whose label was given to the fit.
    double criterion = std::numeric_limits<double>::quiet_NaN();
    std::optional<Scores> seen;
    std::optional<Scores> unseen;
    double seconds = 0.0;  // sum over its fits
    std::string error;     // why it has no criterion; such a cell is never chosen
};

struct TuneResult {
    std::vector<TuneCell> cells;  // in the grid's order, then k-means
    std::size_t best = 0;         // the first cell with the best criterion
    std::string best_method;      // best_method, best_options and best_preparation: what to fit, and on which points
    OptionValues best_options;
    PreparationOptions best_preparation;
    /// Set if the criterion compares only numbers of clusters: the whole comparison. A cell's criterion is then its
    /// value on the curve or, for recommended, the number of criteria that choose it. The best cell is the chosen one.
    std::optional<ClusterChoice> choice;
    Index cells_asked = 0;
    int folds_done = 0;
    /// The caller asked to stop. The means cover the completed folds or, in the first fold, the completed cells.
    bool interrupted = false;
};

/// Splits rows 0..rows-1 into `folds` parts whose sizes differ by at most one, drawn from `run` ("tune.folds"). Rows of
/// a part ascend. Throws BadArgument unless 2 <= folds <= rows.
COTERIE_API std::vector<std::vector<Index>> split_folds(Index rows, int folds, const Run& run);

/// Fits the method of `fixed` with its values and each cell's options. Preparation and columns of the settings are
/// learned from the rows that a fit sees, and applied to the others. Rows left out by `missing=drop` are in no fold.
/// All fits have the run's seed. Folds see parts of the problem (Problem::subset). `truth`: n labels, -1 if not known,
/// or empty. The same result at any number of threads. Throws BadArgument for a grid without values, more than
/// most_cells cells, an option that is also in `fixed`, and invalid folds or truth. A cell's BadArgument, BadData or
/// ResourceError is recorded; if all cells fail, throws the first error. Throws Cancelled if the caller asks to stop
/// before the first cell is complete.
COTERIE_API TuneResult tune(const Problem& problem, const MethodOptions& fixed, const TuneOptions& options,
                            const Settings& settings = {}, const Run& run = Run(), LabelSpan truth = {});

}  // namespace coterie
