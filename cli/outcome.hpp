#pragma once
// A finished fit with all that is said about it: the table, the JSON document and the HTML report are three views of
// this.

#include <optional>
#include <string>
#include <vector>

#include "common.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/report.hpp"
#include "coterie/methods.hpp"
#include "json.hpp"

namespace coterie::cli {

struct Outcome {
    const Method* method = nullptr;
    OptionValues options;  // all of them, defaults too
    std::string source;    // where the points are from
    std::string scalar;    // "float32"
    std::string preprocessing;
    FitReport report;
    bool interrupted = false;
    std::vector<LabelGroup> labels;  // with partial labels
    std::optional<Agreement> agreement;
    std::string truth_source;
    Seconds seconds;  // read, preprocess, fit, then the stages of the fit, then score
    std::vector<std::string> warnings;
    std::vector<std::string> notes;
    std::vector<std::pair<std::string, std::string>> written;  // what, path
};

/// One line: "kmeans on data:digits: 1797 points, 64 dimensions, 10 clusters".
std::string title(const Outcome& outcome);
std::string outcome_text(const Outcome& outcome);
Json json_of(const Outcome& outcome);
std::string outcome_json(const Outcome& outcome);
std::string outcome_html(const Outcome& outcome, const std::string& picture);

std::string detail_text(const Detail& detail);

}  // namespace coterie::cli
