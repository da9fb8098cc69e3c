// The table of encoder_abi.h with C++ types and errors. LibTorch is used only through this table, so nothing here is
// compiled against LibTorch. A failed call becomes an exception with its message.

#include "coterie/deep/word_encoder.hpp"

#include <bit>

#include "coterie/base/error.hpp"
#include "coterie/deep/internal/torch_library.hpp"

namespace coterie::internal {

using namespace deep::internal;
namespace {

const coterie_encoder_api& encoder_api() {
    struct LoadedEncoders {
        const coterie_encoder_api* api = nullptr;
        TorchLibrary library;
    };
    static const LoadedEncoders found = [] {
        LoadedEncoders out;
        out.library = open_torch_library("coterie_encoder_functions", [&](void* function) {
            out.api = reinterpret_cast<decltype(&coterie_encoder_functions)>(function)(COTERIE_ENCODER_ABI);
            return out.api != nullptr;
        });
        return out;
    }();
    if (found.api == nullptr) throw ResourceError(found.library.message("training an encoder needs"));
    return *found.api;
}

}  // namespace

struct WordEncoder::Handle {
    const coterie_encoder_api& functions = encoder_api();
    coterie_encoder* encoder = nullptr;

    ~Handle() {
        if (encoder != nullptr) functions.destroy(encoder);
    }
    void check(std::int32_t failed) const {
        if (failed != 0)
            throw ResourceError(Code::library_failed, "the encoder failed: " + std::string(functions.error()));
    }
};

WordEncoder::WordEncoder(const coterie_encoder_plan& plan, const std::vector<std::pair<Index, Index>>& beside,
                         int threads)
    : handle_(std::make_unique<Handle>()), hidden_(static_cast<Index>(plan.hidden)) {
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> columns;
    for (const auto& [r, c] : beside) {
        rows.push_back(r);
        columns.push_back(c);
    }
    handle_->encoder = handle_->functions.create(&plan, rows.data(), columns.data(),
                                                 static_cast<std::int32_t>(beside.size()), threads);
    if (handle_->encoder == nullptr) handle_->check(1);
}

WordEncoder::~WordEncoder() = default;

int WordEncoder::parameters() const { return handle_->functions.parameters(handle_->encoder); }

std::vector<float> WordEncoder::parameter(int number) const {
    std::vector<float> out(static_cast<std::size_t>(handle_->functions.parameter_size(handle_->encoder, number)));
    handle_->check(handle_->functions.get_parameter(handle_->encoder, number, out.data()));
    return out;
}

void WordEncoder::set_parameter(int number, const float* values, std::size_t size) {
    if (handle_->functions.parameter_size(handle_->encoder, number) != static_cast<std::int64_t>(size))
        throw InternalError("encoder: a parameter of another size");
    handle_->check(handle_->functions.set_parameter(handle_->encoder, number, values));
}

std::vector<float> WordEncoder::gradient(int number) const {
    std::vector<float> out(static_cast<std::size_t>(handle_->functions.parameter_size(handle_->encoder, number)));
    handle_->check(handle_->functions.get_gradient(handle_->encoder, number, out.data()));
    return out;
}

Matrix<float> WordEncoder::forward(const WordBatch& batch, std::uint64_t drop) {
    Matrix<float> out(batch.count(), hidden_);
    handle_->check(handle_->functions.forward(handle_->encoder, batch.pieces.data(), batch.starts.data(),
                                              static_cast<std::int64_t>(batch.starts.size()) - 1, batch.words.data(),
                                              batch.count(), drop, out.data()));
    return out;
}

void WordEncoder::backward(const Matrix<float>& gradient) {
    handle_->check(handle_->functions.backward(handle_->encoder, gradient.data()));
}

void WordEncoder::add_gradient(int number, const Matrix<float>& gradient) {
    handle_->check(handle_->functions.add_gradient(handle_->encoder, number, gradient.data()));
}

void WordEncoder::step(const coterie_encoder_step& how) {
    handle_->check(handle_->functions.step(handle_->encoder, &how));
}

std::vector<std::int32_t> WordEncoder::memory() const {
    std::vector<float> values(static_cast<std::size_t>(handle_->functions.memory_size(handle_->encoder)));
    handle_->check(handle_->functions.get_memory(handle_->encoder, values.data()));
    std::vector<std::int32_t> out;
    out.reserve(values.size());
    for (const float value : values) out.push_back(std::bit_cast<std::int32_t>(value));
    return out;
}

void WordEncoder::set_memory(const std::vector<std::int32_t>& bits) {
    if (static_cast<std::int64_t>(bits.size()) != handle_->functions.memory_size(handle_->encoder))
        throw BadData(Code::model_mismatch, "it holds the optimizer of another encoder",
                      "Use another file, or remove this one", {.option = "checkpoint"});
    std::vector<float> values;
    values.reserve(bits.size());
    for (const std::int32_t value : bits) values.push_back(std::bit_cast<float>(value));
    handle_->check(handle_->functions.set_memory(handle_->encoder, values.data()));
}

}  // namespace coterie::internal
