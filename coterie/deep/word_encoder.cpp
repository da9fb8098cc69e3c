// The table of encoder_abi.h with C++ types and errors. LibTorch is used only through this table, so nothing here is
// compiled against LibTorch. A failed call becomes an exception with its message.

#include "coterie/deep/word_encoder.hpp"

#include "coterie/deep/internal/torch_library.hpp"

namespace coterie::internal {

using namespace deep::internal;
namespace {

const coterie_encoder_api& encoder_api() {
    static const TorchTable<coterie_encoder_api> found("coterie_encoder_functions", COTERIE_ENCODER_ABI);
    if (found.api == nullptr) throw ResourceError(found.library.message("training an encoder needs"));
    return *found.api;
}

}  // namespace

struct WordEncoder::Handle : TorchObject<coterie_encoder_api, coterie_encoder> {
    Handle() : TorchObject{encoder_api(), "encoder"} {}
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
    handle_->object = handle_->functions.create(&plan, rows.data(), columns.data(),
                                                static_cast<std::int32_t>(beside.size()), threads);
    if (handle_->object == nullptr) handle_->check(1);
}

WordEncoder::~WordEncoder() = default;

int WordEncoder::parameters() const { return handle_->functions.parameters(handle_->object); }

std::vector<float> WordEncoder::parameter(int number) const { return handle_->parameter(number); }

void WordEncoder::set_parameter(int number, const float* values, std::size_t size) {
    if (handle_->functions.parameter_size(handle_->object, number) != static_cast<std::int64_t>(size))
        throw InternalError("encoder: a parameter of another size");
    handle_->check(handle_->functions.set_parameter(handle_->object, number, values));
}

std::vector<float> WordEncoder::gradient(int number) const {
    std::vector<float> out(static_cast<std::size_t>(handle_->functions.parameter_size(handle_->object, number)));
    handle_->check(handle_->functions.get_gradient(handle_->object, number, out.data()));
    return out;
}

Matrix<float> WordEncoder::forward(const WordBatch& batch, std::uint64_t drop) {
    Matrix<float> out(batch.count(), hidden_);
    handle_->check(handle_->functions.forward(handle_->object, batch.pieces.data(), batch.starts.data(),
                                              static_cast<std::int64_t>(batch.starts.size()) - 1, batch.words.data(),
                                              batch.count(), drop, out.data()));
    return out;
}

void WordEncoder::backward(const Matrix<float>& gradient) {
    handle_->check(handle_->functions.backward(handle_->object, gradient.data()));
}

void WordEncoder::add_gradient(int number, const Matrix<float>& gradient) {
    handle_->check(handle_->functions.add_gradient(handle_->object, number, gradient.data()));
}

void WordEncoder::step(const coterie_encoder_step& how) {
    handle_->check(handle_->functions.step(handle_->object, &how));
}

std::vector<std::int32_t> WordEncoder::memory() const { return handle_->memory(); }

void WordEncoder::set_memory(const std::vector<std::int32_t>& bits) {
    handle_->set_memory(bits, "it holds the optimizer of another encoder");
}

}  // namespace coterie::internal
