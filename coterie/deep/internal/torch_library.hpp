#pragma once
// Internal: coterie's library for LibTorch, and its tables of functions.

#include <string>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/message.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

struct TorchLibrary {
    std::string trouble;  // why it could not be loaded; empty: loaded
    std::string remedy;   // how to fix that, as a sentence without a full stop
    bool alone = false;   // no other code in this process uses the same LibTorch

    /// For example "neural networks need LibTorch ...", if `who` is "neural networks need".
    Message message(const std::string& who) const;
};

/// Loads the library permanently, because LibTorch cannot be unloaded. Passes its function `function` to `take`, which
/// returns whether the library is usable.
TorchLibrary open_torch_library(const char* function, FunctionRef<bool(void* function)> take);

}  // namespace coterie::deep::internal
