#pragma once
// Internal: coterie's library for LibTorch, and its tables of functions.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/function_ref.hpp"

namespace coterie::deep::internal {

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

/// The library and one of its tables; the table is null if it could not be loaded.
template <class Api>
struct TorchTable {
    TorchTable(const char* function, std::int32_t abi) {
        library = open_torch_library(function, [&](void* found) {
            api = reinterpret_cast<const Api* (*)(std::int32_t)>(found)(abi);
            return api != nullptr;
        });
    }
    const Api* api = nullptr;
    TorchLibrary library;
};

/// An object behind a table, which owns it, and the calls that all tables have. A failed call becomes a ResourceError.
template <class Api, class Object>
struct TorchObject {
    const Api& functions;
    std::string name;  // for messages
    Object* object = nullptr;

    ~TorchObject() {
        if (object != nullptr) functions.destroy(object);
    }
    void check(std::int32_t failed) const {
        if (failed != 0)
            throw ResourceError(Code::library_failed, "the " + name + " failed: " + std::string(functions.error()));
    }
    std::vector<float> parameter(std::int32_t number) const {
        std::vector<float> out(static_cast<std::size_t>(functions.parameter_size(object, number)));
        check(functions.get_parameter(object, number, out.data()));
        return out;
    }
    /// The optimizers' state, bit for bit.
    std::vector<std::int32_t> memory() const {
        std::vector<float> values(static_cast<std::size_t>(functions.memory_size(object)));
        check(functions.get_memory(object, values.data()));
        std::vector<std::int32_t> out(values.size());
        std::transform(values.begin(), values.end(), out.begin(), std::bit_cast<std::int32_t, float>);
        return out;
    }
    /// `other`: what is wrong with a checkpoint that holds another number of bits.
    void set_memory(const std::vector<std::int32_t>& bits, const char* other) {
        if (static_cast<std::int64_t>(bits.size()) != functions.memory_size(object))
            throw BadData(Code::model_mismatch, other, "Use another file, or remove this one",
                          {.option = "checkpoint"});
        std::vector<float> values(bits.size());
        std::transform(bits.begin(), bits.end(), values.begin(), std::bit_cast<float, std::int32_t>);
        check(functions.set_memory(object, values.data()));
    }
};

}  // namespace coterie::deep::internal
