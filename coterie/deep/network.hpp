#pragma once
// Internal: networks as this side of network_abi.h sees them. The library behind it is looked for when the first
// network is made: $COTERIE_DEEP_LIBRARY, else beside this library or where the installation that holds it
// has libraries (base/own_place.hpp).

#include <memory>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/deep/architecture.hpp"
#include "coterie/deep/internal/shared_pass.hpp"
#include "coterie/model/parts.hpp"

namespace coterie::internal {

/// "LibTorch 1.13.1". ResourceError that says what to install where it is not to be had.
std::string network_backend();
/// What another library than libcoterie-deep serves with, where that one cannot be loaded: the functions of
/// network_abi.h for an ABI. Asked once, when the first network is made; throws what stands in the way.
using NetworkProvider = const coterie_network_api* (*)(std::int32_t abi);
COTERIE_API void provide_networks(NetworkProvider provider);
/// BadArgument unless the device is there: "cpu", "cuda" or "mps".
void check_device(const std::string& device);
/// Whether the device multiplies in bfloat16 and adds up in single precision. A CPU does with AVX-512; on others
/// LibTorch 1.13 adds up in bfloat16 as well, which is slow and an eighth off after a few layers.
bool has_half(const std::string& device);

struct Optimizer {
    enum class Kind { sgd, adam } kind = Kind::adam;
    enum class Part { trunk, head, encoder, decoder, both } part = Part::both;  // trunk: the encoder without its head
    double learning_rate = 1e-3;
    double momentum = 0;
    double weight_decay = 0;
};

/// How images of a batch are changed before they are seen; an empty part changes nothing.
struct Changes {
    Matrix<float> affine;  // batch x 6: where each place of the new image comes from, in -1..1
    Matrix<float> colour;  // batch x 2 channels: factor and what is added, channel by channel
    Matrix<float> noise;   // batch x d: added
};

/// A network's parameters and running means, tensor by tensor, the encoder's first.
using Parameters = std::vector<std::vector<float>>;
/// Tensors "PREFIX.N", one row each.
void store_parameters(Archive& archive, const std::string& prefix, const Parameters& parameters);
/// BadData unless they are those of such a network.
Parameters load_parameters(const Archive& archive, const std::string& prefix, const Architecture& architecture);
/// The unit of a model's points; 1 in models that have none, which were made before there was one.
void unit_part(Parts& parts, double& unit);
/// The parameters "network.0", "network.1", ... of a model. What is read must fit the architecture, which is asked for
/// then alone; what it refuses is BadData of the file.
void network_parts(Parts& parts, Parameters& parameters, FunctionRef<Architecture()> architecture);

/// The unit of points for a network: their root mean square distance from the mean over sqrt(d), over 0.26, which is
/// that of MNIST's pixels from 0 to 1, on which rates and starts were chosen. 1 where all points are equal.
double unit_of(PointsView points, const Run& run);

/// One network. Everything it computes is in single precision. The same bits for the same calls on one machine's CPU,
/// whatever the number of threads and of processes. In several processes all make the same calls: rows come from
/// whoever has them, and each encodes its own points. A network with convolutions on the CPU has its passes shared:
/// each process computes a part of the batch, and moves its parameters by the gradients of all, from those that the
/// first process had. Else the first process computes them and moves the parameters.
class Network {
public:
    /// BadArgument unless the device is there, and, if `half`, has it.
    Network(const Architecture& architecture, const std::string& device, int threads, bool half);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Starts anew with parameters from the run's stream `purpose`, as the architecture's layers say.
    void initialize(const Run& run, std::string_view purpose);
    /// Points and what is added to them are divided by this before the network sees them; 1 until it is set, before
    /// set_points(). What it decodes is in that unit, too.
    void set_unit(double unit) { unit_ = unit; }
    double unit() const { return unit_; }
    /// What rows are rows of from here on: looked at when they are wanted, in memory or read, by the run's processes.
    /// They must outlive the network. BadData, naming row and column, for values beyond 1e15 units: squares and sums of
    /// smaller ones stay within single precision.
    void set_points(PointsView points, const Run& run);
    /// Kept, as they are, for this process alone.
    void set_points(Matrix<float> points);

    /// What the encoder makes of these rows, rows x outputs.
    Matrix<float> encode(const std::vector<std::int64_t>& rows);
    /// What the encoder makes of all points, n x outputs, on every process, in batches of at most 1000, fewer where
    /// items are large. All processes have the first one's parameters from here on.
    Matrix<float> encode_all(const Run& run);
    Matrix<float> decode(const Matrix<float>& output);

    /// probing: for input_gradient(); batch norms use the batch's own means, too, but their running means stay.
    enum class Pass { training, probing };
    /// What the encoder makes of these rows, rows x outputs; the pass is kept.
    Matrix<float> begin(const std::vector<std::int64_t>& rows, const Changes& changes = {}, Pass pass = Pass::training);
    /// Adds weight times the mean squared error of the reconstruction; returns the error.
    double reconstruct(double weight);
    /// Of sum(output * gradient), rows x d.
    Matrix<float> input_gradient(const Matrix<float>& gradient);
    /// Ends the pass with the gradient of the loss with respect to its output (empty: none but reconstruct()'s).
    void backward(const Matrix<float>& gradient);

    void set_optimizers(const std::vector<Optimizer>& optimizers);
    void step();

    const Architecture& architecture() const { return architecture_; }
    void store(Archive& archive, const std::string& prefix) const;
    void load(const Archive& archive, const std::string& prefix);
    /// What the optimizers remember, as bits; where passes are not shared, that of the first process counts.
    std::vector<std::int32_t> memory() const;
    void set_memory(const std::vector<std::int32_t>& bits);
    /// All parameters; where passes are not shared, elsewhere than on the first process those of the last encode_all().
    Parameters parameters() const;
    void set_parameters(const Parameters& parameters);

private:
    struct Handle;
    void require_pass_memory();
    /// The rows' numbers, in single precision.
    Matrix<float> items(std::span<const Index> rows) const;
    /// What the encoder makes of items, without a pass.
    void encode_items(const Matrix<float>& items, float* output);
    /// The first process' parameters, on every process.
    void make_alike();
    /// Work on a pass, of all processes that share it, else of the first one; what one throws all throw.
    void in_pass(FunctionRef<void()> work) const;
    /// Every process' rows of a pass, else the first one's, on every process.
    void share(Matrix<float>& rows) const;
    /// This process' first row among those of a pass.
    const float* own(const Matrix<float>& rows) const;

    std::unique_ptr<Handle> handle_;
    Architecture architecture_;
    bool on_device_ = false;
    Points points_;
    double unit_ = 1;
    Run run_;                           // whose processes share the points
    bool shared_ = false;               // passes are
    std::unique_ptr<SharedPass> pass_;  // where they are
    bool alike_ = false;                // parameters are, since they were last set
    Range own_;                         // rows of a pass that this process computes
    Index pass_rows_ = 0;
    Index most_rows_ = 0;  // of a pass so far
};

}  // namespace coterie::internal
