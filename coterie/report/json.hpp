#pragma once
// Pieces of JSON documents. Keys keep their order of insertion, so documents have the order of their documentation.
// Numbers that are not finite and automatic options are null. Row numbers start at 1.

#include <nlohmann/json.hpp>

#include "coterie/report/document.hpp"

namespace coterie::internal {

using Json = nlohmann::ordered_json;

/// "schema" of every document. 2: warnings and notes are objects with a code.
inline constexpr int json_schema = 2;
/// The beginning of a document: only the schema.
inline Json new_document() { return {{"schema", json_schema}}; }

template <class Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}
inline Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
/// null for 0.
inline Json count_or_null(Index count) { return count > 0 ? Json(count) : Json(); }

Json json_of(const OptionValue& value);
Json json_of(const OptionSet& set, const OptionValues& values);  // in the order of the set
template <class Options>
Json json_of_options(const Options& options) {
    return json_of(Options::described(), Options::described().values(&options));
}
Json json_of(const Scores& scores);
Json json_of(const Confusion& confusion);
Json json_of(const Seconds& seconds);
Json json_of(const ClusterChoice& choice);
Json json_of(const FitResult& result);

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
