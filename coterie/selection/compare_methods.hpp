#pragma once
// Several methods on the same points, side by side: what each finds, how long it takes, what criteria say of it, how
// far the methods agree with each other, and with the truth where there is one. Nothing here chooses: a criterion
// prefers the methods that optimise what it measures.

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/preparation.hpp"
#include "coterie/selection/origin.hpp"

namespace coterie {

struct CompareOptions {
    int clusters = 8;
    std::vector<std::string> methods = {};  // empty: those of default_methods()
    PreparationOptions preparation = {};
    ColumnOptions columns = {};
};

/// The methods that are compared where none are named, by the number of rows, and of every other one why it is not.
struct DefaultMethods {
    std::vector<std::string> methods;
    std::vector<std::pair<std::string, std::string>> left_out;
};
COTERIE_API DefaultMethods default_methods(Index rows);

/// Of the rows that have every value; those a method calls noise (-1) are in no criterion, and one more cluster in what
/// compares labels.
struct ComparedMethod {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::string method;
    Labels labels;  // n: -1 for noise and for rows that miss a value
    std::vector<Index> sizes;
    double seconds = 0;  // of preparation and fit
    /// In the space of the prepared points, the same for all methods; NaN where there are fewer than 2 clusters. The
    /// silhouette is of 5000 rows drawn by the seed where there are more.
    double silhouette = unknown, calinski_harabasz = unknown, davies_bouldin = unknown;
    std::optional<Scores> scores;  // against the truth
    std::vector<std::string> warnings;
    std::string error;  // why there is nothing of all this
};

struct Comparison : Origin {
    std::vector<ComparedMethod> methods;
    Matrix<double> agreement;  // m x m adjusted Rand indices; NaN where one of the two failed
    std::vector<std::pair<std::string, std::string>> left_out;
    int clusters = 0;
    Index points = 0;                        // rows that have every value
    Index rows_left_out = 0;                 // the others, where missing=drop
    Index silhouette_sample = 0;             // rows the silhouette is of where it is not all; else 0
    bool interrupted = false;                // the caller asked to stop: what is here was done
    std::vector<std::string> warnings = {};  // the caller's: of the points
};

/// Every method with `clusters`, where it has that option, and else its defaults, and the run's seed. truth: n labels,
/// -1 where not known, or empty; a truth of blanks alone is none. The same result at any number of threads, seconds
/// apart. BadArgument: clusters below 1, a name that is no method's or comes twice, a truth of another length, a graph.
/// A method that refuses the points (BadArgument, BadData, ResourceError) goes on record.
COTERIE_API Comparison compare_methods(const Problem& problem, const CompareOptions& options, const Run& run,
                                       LabelSpan truth = {});

/// The warnings of the methods, each once: under the names of the methods that gave it, unless all did that were
/// fitted.
COTERIE_API std::vector<std::string> warnings_of_methods(const Comparison& comparison);

}  // namespace coterie
