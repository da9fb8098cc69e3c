// Uses LibTorch through a table of C functions, so no type of LibTorch appears here. Parameters start from the run's
// random streams, not from LibTorch's. So the start is the same on every device and with every version. On a CPU,
// memory is checked before a network or a larger batch needs it.
//
// Several processes share the work that needs all points. They share passes only if this saves time. For dense layers
// it does not: computing a batch of the usual size takes less time than exchanging its gradients, one per parameter. A
// convolution uses each parameter at every position of an image, so sharing saves time. Only the architecture and the
// device determine whether passes are shared.

#include "coterie/deep/network.hpp"

#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/gathered_rows.hpp"
#include "coterie/base/processor.hpp"
#include "coterie/base/text.hpp"
#include "coterie/deep/internal/torch_library.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie::internal {

using namespace deep::internal;
namespace {

// Batch size for encoding: large enough to keep the processor busy, small enough for its memory.
constexpr Index encoded_at_once = 1000;
constexpr Index numbers_at_once = 4'000'000;  // numbers in the items; layers may have a few dozen times as many

constexpr double largest_number = 1e15;  // squares and their sums stay finite in single precision

NetworkProvider& other_provider() {
    static NetworkProvider provider = nullptr;
    return provider;
}

// Loads the library once.
const TorchTable<coterie_network_api>& loaded() {
    static const TorchTable<coterie_network_api> found = [] {
        TorchTable<coterie_network_api> out("coterie_network_functions", COTERIE_NETWORK_ABI);
        if (out.api != nullptr && out.library.alone) out.api->keep_memory();
        if (out.api != nullptr || other_provider() == nullptr) return out;
        try {
            out.api = other_provider()(COTERIE_NETWORK_ABI);
        } catch (const std::exception& error) {
            out.library.trouble += "; " + std::string(error.what());
            out.library.remedy = "Run pip install torch";
        }
        return out;
    }();
    return found;
}

const coterie_network_api& api() {
    const auto& found = loaded();
    if (found.api == nullptr) throw ResourceError(found.library.message("neural networks need"));
    return *found.api;
}

std::vector<coterie_layer> plans_of(const std::vector<Layer>& layers) {
    std::vector<coterie_layer> out;
    for (const Layer& layer : layers) out.push_back(layer.plan);
    return out;
}

}  // namespace

std::string network_backend() { return api().description(); }

void provide_networks(NetworkProvider provider) { other_provider() = provider; }

void check_device(const std::string& device) {
    if (device != "cpu" && device != "cuda" && device != "mps")
        throw refused_option("device", device, "cpu, cuda or mps");
    if (api().has_device(device.c_str()) == 0)
        throw BadArgument(Code::no_device, "'" + device + "' is not available with " + network_backend(),
                          "Use `device=cpu`", {.option = "device", .value = device, .accepted = "cpu"});
}

bool has_half(const std::string& device) { return device == "cuda" || (device == "cpu" && has_avx512()); }

double unit_of(PointsView points, const Run& run) {
    constexpr double usual_deviation = 0.26;
    const ColumnMoments moments = column_moments(points, run);
    const double spread = std::sqrt(moments.variance.sum());
    if (!(spread > 1e-12 * moments.mean.norm())) return 1;  // a smaller value is a rounding error
    return spread / std::sqrt(static_cast<double>(points.columns())) / usual_deviation;
}

struct Network::Handle : TorchObject<coterie_network_api, coterie_network> {
    Handle() : TorchObject{api(), "network"} {}
};

Network::Network(const Architecture& architecture, const std::string& device, int threads, bool half)
    : handle_(std::make_unique<Handle>()), architecture_(architecture) {
    check_device(device);
    if (half && !has_half(device))
        throw BadArgument(Code::not_supported,
                          "half precision (bfloat16) needs a processor with AVX-512, or `device=cuda`", "Leave it out",
                          {.option = "half", .value = "true", .accepted = "false"});
    on_device_ = device != "cpu";
    double parameters = 0;
    for (const auto* layers : {&architecture.encoder, &architecture.decoder})
        for (const Layer& layer : *layers)
            for (const Index size : parameter_sizes(layer.plan)) parameters += static_cast<double>(size);
    // The parameters, their gradients, and two moments of Adam.
    if (!on_device_) require_memory(4 * sizeof(float) * parameters, "the network");
    const auto encoder = plans_of(architecture.encoder);
    const auto decoder = plans_of(architecture.decoder);
    const ImageShape& input = architecture.input;
    handle_->object =
        handle_->functions.create(encoder.data(), static_cast<std::int32_t>(encoder.size()), decoder.data(),
                                  static_cast<std::int32_t>(decoder.size()), input.channels, input.rows, input.columns,
                                  device.c_str(), threads, half);
    if (handle_->object == nullptr) handle_->check(1);
}

Network::~Network() = default;

void Network::initialize(const Run& run, std::string_view purpose) {
    Parameters values = parameters();
    std::size_t next = 0;
    std::uint64_t number = 0;
    for (const auto* layers : {&architecture_.encoder, &architecture_.decoder})
        for (const Layer& layer : *layers) {
            const coterie_layer& plan = layer.plan;
            if (plan.kind == COTERIE_BATCH_NORM) {  // weight, bias, running mean, running variance
                for (const float start : {1.0F, 0.0F, 0.0F, 1.0F})
                    std::fill(values[next].begin(), values[next].end(), start), ++next;
                continue;
            }
            if (layer.start == Start::none) continue;
            RandomStream random = run.random(purpose, number++);
            const auto inputs = static_cast<double>(fan_in(plan));
            const auto both = inputs + static_cast<double>(fan_out(plan));
            const double width = layer.start == Start::uniform ? 0.05
                                 : layer.start == Start::root  ? 1 / std::sqrt(inputs)
                                                               : std::sqrt(6 / both);
            for (float& value : values[next])
                value = static_cast<float>(layer.start == Start::he ? std::sqrt(2 / inputs) * random.normal()
                                                                    : width * (2 * random.uniform() - 1));
            ++next;
            if (plan.bias) std::fill(values[next].begin(), values[next].end(), 0.0F), ++next;
        }
    set_parameters(values);
}

void Network::set_points(PointsView points, const Run& run) {
    if (points.columns() != architecture_.input.items()) throw InternalError("network: points of another shape");
    const auto refuse = [](Index row, Index column, double value) {
        throw BadData(Code::too_large,
                      to_text(value) + " is too large for a network, which computes in single precision",
                      "Rescale the column, for example with `scale=minmax`",
                      {.option = "points",
                       .value = to_text(value),
                       .accepted = "magnitudes up to 1e15",
                       .row = row + 1,
                       .column_number = column + 1});
    };
    points.with_scalar([&]<class Scalar>() {
        for_each_row_block<Scalar>(points, run, {.name = "reading"}, [&](const RowBlock<Scalar>& block, int) {
            for (Index r = 0; r < block.rows.rows; ++r)
                for (Index j = 0; j < points.columns(); ++j)
                    if (!(std::abs(static_cast<double>(block.rows.row(r)[j]) / unit_) <= largest_number))
                        refuse(block.first + r, j, static_cast<double>(block.rows.row(r)[j]));
        });
    });
    points_ = Points::borrow(points);
    run_ = run;
    // If the library of one process cannot share passes, no process shares them.
    Communicator& communicator = run_.communicator();
    shared_ = communicator.size() > 1 &&
              communicator.highest(handle_->functions.items_per_block(handle_->object, 1) > 0 ? 0 : 1) == 0;
}

void Network::set_points(Matrix<float> points) {
    if (points.cols() != architecture_.input.items()) throw InternalError("network: points of another shape");
    points_ = Points(std::move(points));
    run_ = Run();
    shared_ = false;
}

void Network::in_pass(FunctionRef<void()> work) const {
    Communicator& communicator = run_.communicator();
    if (shared_) {
        if (pass_ == nullptr) throw InternalError("network: there is no pass");
        return pass_->run(work);
    }
    together(communicator, [&] {
        if (communicator.rank() == 0) work();
    });
}

void Network::share(Matrix<float>& rows) const {
    const std::span<float> all(rows.data(), static_cast<std::size_t>(rows.size()));
    if (shared_)
        pass_->gather(all, rows.cols());
    else
        run_.communicator().broadcast(std::as_writable_bytes(all), 0);
}

const float* Network::own(const Matrix<float>& rows) const {
    return rows.size() > 0 ? rows.data() + own_.begin * rows.cols() : nullptr;
}

Matrix<float> Network::items(std::span<const Index> rows) const {
    Matrix<float> out(static_cast<Index>(rows.size()), architecture_.input.items());
    points_.view().with_scalar([&]<class Scalar>() {
        const GatheredRows<Scalar> found(points_, rows, run_);
        for (Index r = 0; r < out.rows(); ++r)
            std::transform(found[static_cast<std::size_t>(r)], found[static_cast<std::size_t>(r)] + out.cols(),
                           out.row(r).data(),
                           [this](Scalar value) { return static_cast<float>(static_cast<double>(value) / unit_); });
    });
    return out;
}

void Network::encode_items(const Matrix<float>& items, float* output) {
    handle_->check(handle_->functions.forward(handle_->object, items.data(), items.rows(), nullptr, nullptr, nullptr, 0,
                                              nullptr, output));
}

Matrix<float> Network::encode(const std::vector<std::int64_t>& rows) {
    Matrix<float> out(static_cast<Index>(rows.size()), architecture_.outputs);
    encode_items(items(rows), out.data());
    return out;
}

// The batches are the same as with a single process. The process that has the first row of a batch computes the batch
// and fetches the missing rows.
Matrix<float> Network::encode_all(const Run& run) {
    Communicator& communicator = run_.communicator();
    make_alike();
    const Index n = points_.rows(), outputs = architecture_.outputs;
    const Index step =
        std::clamp<Index>(numbers_at_once / std::max<Index>(1, architecture_.input.items()), 1, encoded_at_once);
    const auto batch_from = [&](Index row) { return (row + step - 1) / step; };
    const Range own = own_rows(grid_of(points_), communicator);
    std::vector<Index> fetched;  // rows of batches that begin on one process and end on another
    for (const Index end : gather(communicator, std::vector<Index>{own.end}))
        for (Index row = std::max(end, fetched.empty() ? 0 : fetched.back() + 1);
             row < std::min(n, batch_from(end) * step); ++row)
            fetched.push_back(row);
    const Matrix<float> others = items(fetched);
    const Index first = batch_from(own.begin), last = batch_from(own.end);
    const Index begin = std::min(n, first * step), end = std::min(n, last * step);
    require_memory(
        sizeof(float) * static_cast<double>(outputs) * static_cast<double>(communicator.size() > 1 ? 2 * n : n),
        "the embedding of the points");
    std::vector<float> out(static_cast<std::size_t>((end - begin) * outputs));
    together(communicator, [&] {
        const Run alone = run.alone();
        RowBuffer buffer;
        for (Index batch = first; batch < last; ++batch) {
            alone.throw_if_stopped("encoding");
            const Index from = batch * step, to = std::min(n, from + step), own_to = std::min(to, own.end);
            if (points_.view().source() != nullptr)
                points_.view().source()->expect(own_to, std::min(own.end, to + step));
            Matrix<float> items(to - from, architecture_.input.items());
            points_.view().with_scalar([&]<class Scalar>() {
                items.topRows(own_to - from) =
                    (points_.view().block(from, own_to, buffer).template as<Scalar>().matrix().template cast<double>() /
                     unit_)
                        .template cast<float>();
            });
            for (Index row = own_to; row < to; ++row)
                items.row(row - from) =
                    others.row(std::lower_bound(fetched.begin(), fetched.end(), row) - fetched.begin());
            encode_items(items, out.data() + (from - begin) * outputs);
        }
    });
    const std::vector<float> all = communicator.size() > 1 ? gather(communicator, out) : std::move(out);
    return Eigen::Map<const eigen::Matrix<float>>(all.data(), n, outputs);
}

Matrix<float> Network::decode(const Matrix<float>& output) {
    Matrix<float> out(output.rows(), architecture_.input.items());
    handle_->check(handle_->functions.decode(handle_->object, output.data(), output.rows(), out.data()));
    return out;
}

void Network::make_alike() {
    if (run_.communicator().size() > 1) {
        Parameters first = parameters();
        for (auto& values : first) run_.communicator().broadcast(std::as_writable_bytes(std::span(values)), 0);
        set_parameters(first);
    }
    alike_ = true;
}

void Network::require_pass_memory() {
    if (on_device_ || pass_rows_ <= most_rows_) return;
    in_pass([&] {
        require_memory(
            sizeof(float) * static_cast<double>(numbers_kept(architecture_)) * static_cast<double>(own_.count()),
            filled("a batch of {} items in the network (smaller batches need less)", pass_rows_));
    });
    most_rows_ = pass_rows_;
}

Matrix<float> Network::begin(const std::vector<std::int64_t>& rows, const Changes& changes, Pass pass) {
    pass_rows_ = static_cast<Index>(rows.size());
    own_ = {0, pass_rows_};
    if (shared_) {
        if (!alike_) make_alike();
        const RowBlocks blocks{pass_rows_, handle_->functions.items_per_block(handle_->object, pass_rows_)};
        pass_ = std::make_unique<SharedPass>(run_.communicator(), blocks);
        own_ = pass_->own();
    }
    require_pass_memory();
    const Matrix<float> seen = items(rows);
    Changes in_units = changes;
    in_units.noise /= static_cast<float>(unit_);
    for (Index c = 1; c < in_units.colour.cols(); c += 2) in_units.colour.col(c) /= static_cast<float>(unit_);
    Matrix<float> out(pass_rows_, architecture_.outputs);
    in_pass([&] {
        handle_->check(handle_->functions.forward(handle_->object, own(seen), own_.count(), own(in_units.affine),
                                                  own(in_units.colour), own(in_units.noise),
                                                  pass == Pass::training ? 1 : 2, shared_ ? &pass_->sharing() : nullptr,
                                                  out.data() + own_.begin * out.cols()));
    });
    share(out);
    return out;
}

double Network::reconstruct(double weight) {
    double value = 0;
    in_pass([&] { handle_->check(handle_->functions.reconstruct(handle_->object, weight, &value)); });
    return from_process(run_.communicator(), 0, value);
}

Matrix<float> Network::input_gradient(const Matrix<float>& gradient) {
    Matrix<float> out(pass_rows_, architecture_.input.items());
    in_pass([&] {
        handle_->check(
            handle_->functions.input_gradient(handle_->object, own(gradient), out.data() + own_.begin * out.cols()));
    });
    share(out);
    return out;
}

void Network::backward(const Matrix<float>& gradient) {
    in_pass([&] { handle_->check(handle_->functions.backward(handle_->object, own(gradient))); });
}

void Network::set_optimizers(const std::vector<NetworkOptimizer>& optimizers) {
    std::vector<coterie_optimizer> plans;
    for (const NetworkOptimizer& of : optimizers)
        plans.push_back({.kind = static_cast<std::int32_t>(of.kind),
                         .part = static_cast<std::int32_t>(of.part),
                         .learning_rate = of.learning_rate,
                         .momentum = of.momentum,
                         .weight_decay = of.weight_decay,
                         .beta1 = 0.9,
                         .beta2 = 0.999,
                         .epsilon = 1e-8});
    handle_->check(
        handle_->functions.set_optimizers(handle_->object, plans.data(), static_cast<std::int32_t>(plans.size())));
}

void Network::step() {
    in_pass([&] { handle_->check(handle_->functions.step(handle_->object)); });
}

Parameters Network::parameters() const {
    Parameters out;
    const int count = handle_->functions.parameters(handle_->object);
    for (int p = 0; p < count; ++p) out.push_back(handle_->parameter(p));
    return out;
}

void Network::set_parameters(const Parameters& parameters) {
    const int count = handle_->functions.parameters(handle_->object);
    if (static_cast<std::size_t>(count) != parameters.size()) throw InternalError("network: other parameters");
    for (std::int32_t p = 0; p < count; ++p) {
        const auto& values = parameters[static_cast<std::size_t>(p)];
        if (handle_->functions.parameter_size(handle_->object, p) != static_cast<std::int64_t>(values.size()))
            throw InternalError("network: parameters of other sizes");
        handle_->check(handle_->functions.set_parameter(handle_->object, p, values.data()));
    }
    alike_ = false;
}

void store_parameters(Archive& archive, const std::string& prefix, const Parameters& parameters) {
    for (std::size_t p = 0; p < parameters.size(); ++p)
        archive.set_points(filled("{}.{}", prefix, p),
                           PointsView(parameters[p].data(), 1, static_cast<Index>(parameters[p].size())));
}

std::vector<Index> parameter_sizes(const Architecture& architecture) {
    std::vector<Index> out;
    for (const auto* layers : {&architecture.encoder, &architecture.decoder})
        for (const Layer& layer : *layers)
            for (const Index size : parameter_sizes(layer.plan)) out.push_back(size);
    return out;
}

Parameters load_parameters(const Archive& archive, const std::string& prefix, const Architecture& architecture) {
    Parameters out;
    Parts reading(&archive);
    for (const Index size : parameter_sizes(architecture)) {
        const std::string name = filled("{}.{}", prefix, out.size());
        reading.add(name, out.emplace_back(), size, "parameters of the network");
    }
    return out;
}

void unit_part(Parts& parts, double& unit) {
    if (parts.present("unit", true))
        parts.add("unit", unit, "the number by which rows are divided before they enter the network", above(0));
}

void network_parts(Parts& parts, Parameters& parameters, FunctionRef<Architecture()> architecture) {
    std::vector<Index> sizes;
    if (parts.reading()) {
        try {
            sizes = parameter_sizes(architecture());
        } catch (const BadArgument& error) {
            const Message& about = error.fields();
            throw BadData(Code::model_mismatch, "the stored `" + about.option + "` is not valid: " + about.problem, "",
                          {.option = about.option, .value = about.value, .accepted = about.accepted});
        }
        parameters.assign(sizes.size(), {});
    } else {
        for (const auto& each : parameters) sizes.push_back(static_cast<Index>(each.size()));
    }
    for (std::size_t p = 0; p < sizes.size(); ++p)
        parts.add(filled("network.{}", p), parameters[p], sizes[p], "parameters of the network");
}

void Network::store(Archive& archive, const std::string& prefix) const {
    store_parameters(archive, prefix, parameters());
}

void Network::load(const Archive& archive, const std::string& prefix) {
    set_parameters(load_parameters(archive, prefix, architecture_));
}

std::vector<std::int32_t> Network::memory() const { return handle_->memory(); }

void Network::set_memory(const std::vector<std::int32_t>& bits) {
    handle_->set_memory(bits, "it holds the optimizers of another network");
}

}  // namespace coterie::internal
