#pragma once
// Pieces of JSON documents. The order of keys is that of insertion, so that documents read as they are documented.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "coterie/base/options.hpp"
#include "coterie/model/fit_report.hpp"
#include "coterie/report/document.hpp"

namespace coterie::internal {

using Json = nlohmann::ordered_json;

Json json_of(const OptionValue& value);
Json json_of(const OptionSet& set, const OptionValues& values);  // in the set's order
Json json_of(const Scores& scores);
/// The scores with label_accuracy, where it is known.
Json scores_json(const Agreement& agreement);
/// `labelled` where partial labels are at hand.
Json json_of(const std::vector<LabelGroup>& groups, bool labelled);
Json json_of(const Confusion& confusion);
Json json_of(const Detail& detail);
Json json_of(const Seconds& seconds);
Json json_of(const ClusterChoice& choice);
Json json_of(const FitResult& result);
Json json_of(const AppliedResult& result);

/// How the document came about: command and date where they are known, and version.
void add_origin(Json& json, const Origin& origin);
void add_written(Json& json, const Origin& origin);

/// The document as text with a line end; bytes that are no UTF-8 are replaced.
std::string document(const Json& json);

}  // namespace coterie::internal
