#pragma once
// The methods: what each does, the inputs that it takes, and its options. The reference in docs/ is made from the JSON.

#include <string>
#include <vector>

#include "coterie/methods.hpp"

namespace coterie {

/// Some or all methods. With all of them, the JSON document also has the codes of messages.
struct MethodList {
    std::vector<const Method*> methods;
    bool all = true;
};

/// All methods: a line for each. One method: its inputs and options.
std::string text_document(const MethodList& list);
/// Kinds, ranges, defaults and meanings of options.
std::string json_document(const MethodList& list);

}  // namespace coterie
