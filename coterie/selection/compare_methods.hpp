#pragma once
// Compares several methods on the same points: what each method finds, how long it takes, the values of criteria, and
// how far the methods agree with each other and, if it is known, with the truth. It does not choose a method, because a
// criterion prefers the methods that optimise what it measures.

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
#include "coterie/pipeline/prepared_problem.hpp"
#include "coterie/selection/origin.hpp"

namespace coterie {

struct CompareOptions {
    int clusters = 8;
    std::vector<std::string> methods = {};  // empty: those of default_methods()
};

/// The methods that are compared by default for so many rows and columns, and why the others are not.
struct DefaultMethods {
    std::vector<std::string> methods;
    std::vector<std::pair<std::string, std::string>> left_out;
};
COTERIE_API DefaultMethods default_methods(Index rows, Index columns);

/// The result of one method, for the rows without missing values. Noise (-1) is left out of the criteria, and counts as
/// one more cluster in comparisons of labels.
struct ComparedMethod {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    std::string method;
    Labels labels;  // n: -1 for noise and for rows with a missing value
    std::vector<Index> sizes;
    double seconds = 0;  // of the fit
    /// In the space of the prepared points, the same for all methods. NaN if there are fewer than 2 clusters. The
    /// silhouette uses at most 5000 rows, drawn with the seed.
    double silhouette = unknown, calinski_harabasz = unknown, davies_bouldin = unknown;
    std::optional<Scores> scores;  // against the truth
    std::vector<Message> warnings;
    std::string error;  // why the method has no result
};

struct Comparison : Origin {
    std::vector<ComparedMethod> methods;
    Matrix<double> agreement;  // m x m adjusted Rand indices; NaN if one of the two methods failed
    std::vector<std::pair<std::string, std::string>> left_out;
    int clusters = 0;
    Index points = 0;                    // rows without missing values
    Index rows_left_out = 0;             // rows with missing values, with missing=drop
    Index silhouette_sample = 0;         // number of rows of the silhouette, if not all rows; else 0
    bool interrupted = false;            // the caller asked to stop: only the completed methods are here
    std::vector<Message> warnings = {};  // about the points; the caller sets them
};

/// Fits every method with `clusters`, if it has that option, otherwise with its defaults, and with the run's seed.
/// truth: n labels, -1 if not known, or empty; a truth without any label counts as empty. Except for seconds, the
/// result is the same at any number of threads. Throws BadArgument for clusters below 1, an unknown or repeated method,
/// a truth of another length, or a graph. BadArgument, BadData or ResourceError of a method is recorded.
COTERIE_API Comparison compare_methods(const Problem& problem, const CompareOptions& options,
                                       const Settings& settings = {}, const Run& run = Run(), LabelSpan truth = {});
/// The same for a problem that is prepared already.
COTERIE_API Comparison compare_methods(const PreparedProblem& problem, const CompareOptions& options,
                                       const Run& run = Run(), LabelSpan truth = {});

/// The warnings of the methods, each once. If only some of the fitted methods gave a warning, it starts with their
/// names.
COTERIE_API std::vector<Message> warnings_of_methods(const Comparison& comparison);

}  // namespace coterie
