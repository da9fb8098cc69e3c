// Describes sample and noise share, the settings that belong to no single part of the pipeline. column_coding.cpp and
// preparation.cpp describe the others.

#include "coterie/pipeline/settings.hpp"

namespace coterie {

const OptionSet& Settings::described() {
    static const OptionSet set =
        OptionSetFor<Settings>()
            .integer<int>("sample", &Settings::sample, at_least(1),
                          "fit on this many random rows and label the others with the model; "
                          "`center` and `scale` are learned from all rows",
                          "all rows")
            .real("noise_share", &Settings::noise_share, {.low = 0, .high = 0.5, .low_open = false, .high_open = true},
                  "label this share of the rows as noise (-1), those with the largest outlier "
                  "scores; predict uses the same threshold for new rows; 0: no noise");
    return set;
}

void check_settings(const Settings& settings) {
    check_options(settings);
    check_options(settings.preparation);
    check_options(settings.columns);
}

}  // namespace coterie
