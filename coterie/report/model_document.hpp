#pragma once
// The contents of a model's file: method, options, facts and tensors.

#include "coterie/base/function_ref.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

/// `pipeline`: made from the archive.
std::string text_document(const std::string& source, const Pipeline& pipeline, const Archive& archive);
std::string json_document(const std::string& source, const Pipeline& pipeline, const Archive& archive);

namespace internal {
/// One row per tensor: name, type, shape, size, and meaning(name).
std::string tensors_text(const Archive& archive, FunctionRef<std::string(const std::string&)> meaning);
}  // namespace internal

}  // namespace coterie
