#pragma once
// The methods: what each does, the inputs that it takes, and its options. The reference in docs/ is made from the JSON.

#include "coterie/methods.hpp"

namespace coterie {

/// All methods: a line for each.
std::string text_document(const std::vector<Method>& methods);
/// Kinds, ranges, defaults and meanings of options, and the codes of messages.
std::string json_document(const std::vector<Method>& methods);
/// One method: its inputs and options.
std::string text_document(const Method& method);
std::string json_document(const Method& method);

}  // namespace coterie
