#pragma once
// Labels scored against a truth.

#include <optional>
#include <string>

#include "coterie/base/message.hpp"
#include "coterie/pipeline/evaluation.hpp"

namespace coterie {

struct EvaluationResult {
    std::string labels;  // source of the labels
    std::string truth;   // source of the truth
    Agreement agreement;
    std::string wide_hint = {};  // what follows "is too wide for a terminal" if the text leaves out the table
};

/// The warning for rows without a truth or a label; empty if there are none. `rows`: the number of all rows.
std::optional<Message> unknown_rows_warning(const Agreement& agreement, Index rows);

std::string text_document(const EvaluationResult& result);
std::string json_document(const EvaluationResult& result);

}  // namespace coterie
