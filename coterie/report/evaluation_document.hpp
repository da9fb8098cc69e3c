#pragma once
// Labels scored against a truth, as text for people and as JSON for programs.

#include "coterie/pipeline/evaluation.hpp"

namespace coterie {

/// The warning for rows without a truth or a label; empty if there are none. `rows`: the number of all rows.
std::optional<Message> unknown_rows_warning(const Agreement& agreement, Index rows);

/// `labels` and `truth`: their sources.
std::string text_document(const std::string& labels, const std::string& truth, const Agreement& agreement);
std::string json_document(const std::string& labels, const std::string& truth, const Agreement& agreement);

}  // namespace coterie
