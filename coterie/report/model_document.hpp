#pragma once
// The contents of a model's file: method, options, facts and tensors.

#include <string>

#include "coterie/base/function_ref.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

struct ModelFile {
    std::string source;
    Pipeline pipeline;  // made from the archive
    Archive archive;
};

std::string text_document(const ModelFile& file);
std::string json_document(const ModelFile& file);

namespace internal {
/// One row per tensor: name, type, shape, size, and meaning(name).
std::string tensors_text(const Archive& archive, FunctionRef<std::string(const std::string&)> meaning);
}  // namespace internal

}  // namespace coterie
