#pragma once
// How a problem is fitted, apart from the method and its options, and the problem as the method sees it: columns of
// words coded as numbers, rows with missing values left out or filled in, centred and scaled. It is prepared once; a
// fit, the choice of k, comparisons and searches share it.

#include <optional>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/message.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie {

struct COTERIE_API Settings {
    PreparationOptions preparation = {};  // centring and scaling
    ColumnOptions columns = {};           // missing values, columns of words and dates
    std::optional<int> sample = {};       // number of rows to fit on; automatic: all rows
    double noise_share = 0;               // share of the rows to label as noise, below 0.5; 0: no noise

    static const OptionSet& described();  // sample and noise_share
};

/// Checks that all settings are in range. Throws BadArgument.
COTERIE_API void check_settings(const Settings& settings);

struct COTERIE_API PreparedProblem {
    Problem problem;    // of the kept rows; its column names are those of the coded columns
    Points coded = {};  // the kept rows before centring and scaling
    ColumnCoding coding = {};
    Preparation preparation = {};
    std::vector<std::string> column_names = {};  // of the rows as given; empty: none
    std::vector<Index> left_out = {};            // numbers of the rows with a missing value, ascending
    std::vector<Message> warnings = {};
    double seconds = 0;

    /// Learns the preparation from all rows and applies it. Throws BadArgument for invalid settings and names, BadData
    /// for values that the settings do not accept. A graph stays as it is.
    static PreparedProblem of(const Problem& problem, const Settings& settings, const Run& run);

    /// The number of rows as given, including those left out.
    Index all_rows() const { return problem.rows() + static_cast<Index>(left_out.size()); }
};

}  // namespace coterie
