#pragma once
// Internal: networks on coterie's side of network_abi.h. The first network loads the library that implements
// network_abi.h: from $COTERIE_DEEP_LIBRARY, else from the folder of libcoterie or the installation's library folder
// (base/own_place.hpp).

#include <memory>
#include <string>
#include <vector>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/run.hpp"
#include "coterie/deep/architecture.hpp"
#include "coterie/deep/internal/shared_pass.hpp"
#include "coterie/model/parts.hpp"

namespace coterie::internal {

/// For example "LibTorch 1.13.1". If the library is not available, throws ResourceError that says what to install.
std::string network_backend();
/// Replaces libcoterie-deep if that cannot be loaded. Returns the functions of network_abi.h for an ABI, or throws.
/// Called once, when the first network is made.
using NetworkProvider = const coterie_network_api* (*)(std::int32_t abi);
COTERIE_API void provide_networks(NetworkProvider provider);
/// Throws BadArgument unless the device is "cpu", "cuda" or "mps" and available.
void check_device(const std::string& device);
/// Whether the device multiplies in bfloat16 and adds in single precision. CPUs with AVX-512 do. On other CPUs,
/// LibTorch 1.13 also adds in bfloat16, which is slow; after a few layers, errors reach an eighth of the values.
bool has_half(const std::string& device);

struct NetworkOptimizer {
    enum class Kind { sgd = COTERIE_SGD, adam = COTERIE_ADAM } kind = Kind::adam;
    enum class Part {
        trunk = COTERIE_TRUNK,  // the encoder without its head
        head = COTERIE_HEAD,
        encoder = COTERIE_ENCODER,
        both = COTERIE_BOTH
    } part = Part::both;
    double learning_rate = 1e-3;
    double momentum = 0;
    double weight_decay = 0;
};

/// Changes to the images of a batch before the pass; an empty part changes nothing.
struct Changes {
    Matrix<float> affine;  // batch x 6: maps positions of the new image to positions of the old one, both in -1..1
    Matrix<float> colour;  // batch x 2 channels: factor and added number for each channel
    Matrix<float> noise;   // batch x d: added numbers
};

/// A network's parameters and running means, tensor by tensor; those of the encoder come first.
using Parameters = std::vector<std::vector<float>>;
/// Stores the tensors as "PREFIX.N", with one row each.
void store_parameters(Archive& archive, const std::string& prefix, const Parameters& parameters);
/// Throws BadData unless the tensors match the architecture.
Parameters load_parameters(const Archive& archive, const std::string& prefix, const Architecture& architecture);
/// The unit of a model's points. It is 1 for older models, which store no unit.
void unit_part(Parts& parts, double& unit);
/// The parameters "network.0", "network.1", ... of a model. `architecture` is called only when reading: the parameters
/// must fit it, and errors that it throws become BadData about the file.
void network_parts(Parts& parts, Parameters& parameters, FunctionRef<Architecture()> architecture);

/// The unit of points for a network: their root mean square distance from the mean, divided by 0.26 sqrt(d); 1 if all
/// points are equal. 0.26 gives a unit of 1 for MNIST's pixels from 0 to 1, for which rates and starts were chosen.
double unit_of(PointsView points, const Run& run);

/// One network. It computes everything in single precision. On the CPU of one machine, the same calls give the same
/// bits for any number of threads and processes. If there are several processes, all make the same calls. Rows come
/// from the process that has them, and each process encodes its own points. On the CPU, processes share the passes of a
/// network with convolutions. Each computes a part of the batch, and moves its parameters by the sum of all gradients.
/// All start from the parameters of rank 0. For other networks, rank 0 computes the passes and moves the parameters.
class Network {
public:
    /// Throws BadArgument unless the device is available and, if `half`, supports bfloat16.
    Network(const Architecture& architecture, const std::string& device, int threads, bool half);
    ~Network();
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    /// Draws new parameters from the run's stream `purpose`, as the layers of the architecture define.
    void initialize(const Run& run, std::string_view purpose);
    /// Points and the numbers added to them are divided by this unit before they enter the network. The default is 1;
    /// call this before set_points(). decode() also returns numbers in this unit.
    void set_unit(double unit) { unit_ = unit; }
    double unit() const { return unit_; }
    /// Sets the points that rows refer to. They must outlive the network. They may be in memory or read on demand, and
    /// the run's processes may share them. Throws BadData with row and column for values beyond 1e15 units. Squares and
    /// sums of smaller values stay finite in single precision.
    void set_points(PointsView points, const Run& run);
    /// Sets points that only this process has, and keeps them unchanged.
    void set_points(Matrix<float> points);

    /// The encoder's output for these rows, rows x outputs.
    Matrix<float> encode(const std::vector<std::int64_t>& rows);
    /// The encoder's output for all points, n x outputs, on every process, in batches of at most 1000, or fewer for
    /// large items. Afterwards all processes have the parameters of rank 0.
    Matrix<float> encode_all(const Run& run);
    Matrix<float> decode(const Matrix<float>& output);

    /// probing: for input_gradient(). Batch norms use the batch's means, as in training, but running means do not
    /// change.
    enum class Pass { training, probing };
    /// Begins a pass and keeps it. Returns the encoder's output for these rows, rows x outputs.
    Matrix<float> begin(const std::vector<std::int64_t>& rows, const Changes& changes = {}, Pass pass = Pass::training);
    /// Adds weight times the mean squared reconstruction error to the loss; returns the error.
    double reconstruct(double weight);
    /// The gradient of sum(output * gradient) with respect to the input, rows x d.
    Matrix<float> input_gradient(const Matrix<float>& gradient);
    /// Ends the pass with the gradient of the loss with respect to the output. Empty: only that of reconstruct().
    void backward(const Matrix<float>& gradient);

    void set_optimizers(const std::vector<NetworkOptimizer>& optimizers);
    void step();

    const Architecture& architecture() const { return architecture_; }
    void store(Archive& archive, const std::string& prefix) const;
    void load(const Archive& archive, const std::string& prefix);
    /// The optimizers' state, as bits. If passes are not shared, only the state on rank 0 is valid.
    std::vector<std::int32_t> memory() const;
    void set_memory(const std::vector<std::int32_t>& bits);
    /// All parameters. If passes are not shared, all processes except rank 0 return those of the last encode_all().
    Parameters parameters() const;
    void set_parameters(const Parameters& parameters);

private:
    struct Handle;
    void require_pass_memory();
    /// The rows' numbers, in single precision.
    Matrix<float> items(std::span<const Index> rows) const;
    /// The encoder's output for items; does not keep the pass.
    void encode_items(const Matrix<float>& items, float* output);
    /// Copies the parameters of rank 0 to every process.
    void make_alike();
    /// Runs the work of a pass: on all processes if they share it, else on rank 0. If one process throws, all throw.
    void in_pass(FunctionRef<void()> work) const;
    /// Sends the rows of a pass to every process. If it is shared, each process sends its part; else rank 0 sends all.
    void share(Matrix<float>& rows) const;
    /// Address of this process's first row of a pass.
    const float* own(const Matrix<float>& rows) const;

    std::unique_ptr<Handle> handle_;
    Architecture architecture_;
    bool on_device_ = false;
    Points points_;
    double unit_ = 1;
    Run run_;                                           // the processes of this run share the points
    bool shared_ = false;                               // whether passes are shared
    std::unique_ptr<deep::internal::SharedPass> pass_;  // null unless passes are shared
    bool alike_ = false;                                // whether all processes still have the same parameters
    Range own_;                                         // rows of a pass that this process computes
    Index pass_rows_ = 0;
    Index most_rows_ = 0;  // largest number of rows in a pass so far
};

}  // namespace coterie::internal
