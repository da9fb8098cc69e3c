#pragma once
// Pieces of JSON documents. Keys keep their order of insertion, so documents have the order of their documentation.

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "coterie/base/message.hpp"
#include "coterie/base/options.hpp"
#include "coterie/model/fit_report.hpp"
#include "coterie/report/document.hpp"

namespace coterie::internal {

using Json = nlohmann::ordered_json;

/// "schema" of every document. 2: warnings and notes are objects with a code.
inline constexpr int json_schema = 2;

Json json_of(const OptionValue& value);
Json json_of(const OptionSet& set, const OptionValues& values);  // in the order of the set
Json json_of(const Scores& scores);
/// The scores, with label_accuracy if it is known.
Json scores_json(const Agreement& agreement);
/// `labelled`: whether partial labels were given.
Json json_of(const std::vector<LabelGroup>& groups, bool labelled);
Json json_of(const Confusion& confusion);
Json json_of(const Detail& detail);
Json json_of(const Seconds& seconds);
Json json_of(const ClusterChoice& choice);
Json json_of(const FitResult& result);
Json json_of(const AppliedResult& result);

/// Adds how the document was made: the command and date, if known, and the version.
void add_origin(Json& json, const Origin& origin);
void add_written(Json& json, const Origin& origin);

/// The document as text with a final newline. Bytes that are not UTF-8 are replaced.
std::string document(const Json& json);

}  // namespace coterie::internal

namespace coterie {
/// {"code": "rows-left-out", "text": "...", then the fields that are known}.
void to_json(internal::Json& json, const Message& message);
}  // namespace coterie
