#pragma once
// Settings: how a problem is fitted, apart from the method and its options: what happens to columns and rows before the
// method sees them, which rows it sees, and which rows are noise.

#include <optional>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
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

}  // namespace coterie
