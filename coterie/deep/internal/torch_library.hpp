#pragma once
// Internal: coterie's library for LibTorch, and the tables of functions that it gives.

#include <string>

#include "coterie/base/function_ref.hpp"

namespace coterie::internal {

struct TorchLibrary {
    std::string trouble;  // what stood in the way; empty: loaded
    std::string remedy;   // what to do about it
    bool alone = false;   // nobody else in this process uses the same LibTorch

    /// "deep methods need LibTorch ...", where `who` is "deep methods need".
    std::string message(const std::string& who) const;
};

/// Loads it for good, as LibTorch cannot be unloaded, and hands `function` of it to `take`, which says whether it
/// serves.
TorchLibrary open_torch_library(const char* function, FunctionRef<bool(void* function)> take);

}  // namespace coterie::internal
