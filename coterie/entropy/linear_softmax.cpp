// The distance kernels also compute the logits: their score is bias - row . column, so panels hold -V. For a gradient,
// each thread sums its own columns over all rows. There are no partial sums, so the bits are the same for any number of
// threads. Training about an origin corrects the gradient by a product of two vectors instead of copying the points.

#include "coterie/entropy/linear_softmax.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/entropy/internal/kernels.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie {
namespace {

using entropy::internal::linear_kernels;
using entropy::internal::of_type;
using internal::at;

constexpr Index rows_a_block = 72;      // a multiple of every tile height of the kernels
constexpr Index columns_a_block = 128;  // a multiple of every vector's length

// A batch of 250 MNIST digits with 10 clusters uses one thread: it takes less time than starting another thread.
int threads_of(Index rows, Index clusters, Index dimensions, int threads) {
    return threads_for(static_cast<double>(rows) * static_cast<double>(clusters) * static_cast<double>(dimensions),
                       threads);
}

// The weights in the format of the distance kernels.
template <class T>
class Panels {
public:
    explicit Panels(const LinearSoftmax<T>& model)
        : kernels_(internal::kernels<T>()), d_(model.weights.cols()), k_(model.weights.rows()) {
        const Index widest = static_cast<Index>(kernels_.lanes) * kernels_.max_vectors;
        for (Index first = 0; first < k_; first += widest) {
            const Index held = std::min(widest, k_ - first);
            const int vectors = static_cast<int>((held + kernels_.lanes - 1) / kernels_.lanes);
            panels_.push_back({first, held, vectors, static_cast<Index>(data_.size())});
            const Index width = static_cast<Index>(vectors) * kernels_.lanes;
            data_.resize(data_.size() + at((d_ + 1) * width), T(0));
            T* const out = data_.data() + panels_.back().offset;
            for (Index c = 0; c < held; ++c) {
                out[c] = model.bias[first + c];
                const T* const v = model.weights.data() + (first + c) * d_;
                for (Index p = 0; p < d_; ++p) out[(p + 1) * width + c] = -v[p];
            }
        }
    }

    void operator()(const T* const* rows, Index count, T* out) const {
        thread_local std::vector<T> scores;
        for (const Panel& panel : panels_) {
            const Index width = static_cast<Index>(panel.vectors) * kernels_.lanes;
            scores.resize(at(count * width));
            const T* const data = data_.data() + panel.offset;
            kernels_.panel_scores(rows, count, d_, data + width, data, panel.vectors, scores.data());
            for (Index r = 0; r < count; ++r)
                std::copy_n(scores.data() + r * width, panel.held, out + r * k_ + panel.first);
        }
    }

private:
    struct Panel {
        Index first;
        Index held;
        int vectors;
        Index offset;  // where its biases begin in data_; its columns follow them
    };
    const internal::Kernels<T>& kernels_;
    Index d_;
    Index k_;
    std::vector<Panel> panels_;
    std::vector<T> data_;
};

}  // namespace

template <class T>
LinearSoftmax<T> random_linear_softmax(const std::vector<const T*>& rows, const Vector<double>& mean, Index clusters,
                                       double scale, const Run& run) {
    RandomStream random = run.random("entropy.start");
    const Index d = mean.size();
    Matrix<double> from(static_cast<Index>(rows.size()), d);
    for (Index r = 0; r < from.rows(); ++r)
        for (Index p = 0; p < d; ++p) from(r, p) = static_cast<double>(rows[at(r)][p]) - mean[p];
    Matrix<double> coefficients(clusters, from.rows());
    for (Index i = 0; i < coefficients.size(); ++i) coefficients.data()[i] = random.normal();
    Matrix<double> weights = coefficients * from;
    const double size = (from * weights.transpose()).norm() / std::sqrt(static_cast<double>(coefficients.size()));
    if (size > 0) weights *= scale / size;
    return {weights.template cast<T>(), (-weights * mean).template cast<T>()};
}

template <class T>
Matrix<T> logits(const std::vector<const T*>& rows, const LinearSoftmax<T>& model, int threads) {
    const Index n = static_cast<Index>(rows.size());
    Matrix<T> out(n, model.weights.rows());
    const Panels<T> panels(model);
    const RowBlocks blocks{n, rows_a_block};
    for_each_block(blocks.count(), threads_of(n, out.cols(), model.weights.cols(), threads), [&](Index block, int) {
        const Index begin = blocks.begin(block);
        panels(rows.data() + begin, blocks.end(block) - begin, out.data() + begin * out.cols());
    });
    return out;
}

template <class T>
Matrix<T> logits(const Rows<T>& points, const LinearSoftmax<T>& model, int threads) {
    std::vector<const T*> rows(at(points.rows));
    for (Index i = 0; i < points.rows; ++i) rows[at(i)] = points.row(i);
    return logits(rows, model, threads);
}

template <class T>
Matrix<double> weight_gradient(const std::vector<const T*>& rows, const Matrix<T>& g, Index dimensions, int threads) {
    const Index n = static_cast<Index>(rows.size());
    const Index k = g.cols();
    // Sums of up to this many rows are in T. They are then added in double.
    constexpr Index rows_a_sum = 512;
    Matrix<double> out = Matrix<double>::Zero(k, dimensions);
    const RowBlocks columns{dimensions, columns_a_block};
    for_each_block(columns.count(), threads_of(n, k, dimensions, threads), [&](Index block, int) {
        const Index begin = columns.begin(block);
        const Index width = columns.end(block) - begin;
        Matrix<T> part(k, width);
        const RowBlocks cut{n, rows_a_sum};
        for (Index chunk = 0; chunk < cut.count(); ++chunk) {
            const Index first = cut.begin(chunk);
            part.setZero();
            of_type<T>(linear_kernels())
                .add_gradient(rows.data() + first, cut.end(chunk) - first, g.data() + first * k, k, begin,
                              begin + width, part.data(), width);
            out.middleCols(begin, width) += part.template cast<double>();
        }
    });
    return out;
}

template <class T>
Vector<double> at_origin(const Matrix<T>& weights, const Vector<double>& origin) {
    if (origin.size() == 0) return Vector<double>::Zero(weights.rows());
    return weights.template cast<double>() * origin;
}

template <class T>
Descent<T>::Descent(LinearSoftmax<T>& model, const Vector<double>& origin, double unit, double learning_rate,
                    double momentum, double gamma, int threads, double bias_factor)
    : model_(model),
      origin_(origin),
      bias_rate_(static_cast<T>(learning_rate * bias_factor)),
      weight_rate_(static_cast<T>(learning_rate / unit)),
      momentum_(static_cast<T>(momentum)),
      decay_(static_cast<T>(2 * gamma * unit)),
      per_unit_(static_cast<T>(1 / unit)),
      threads_(threads),
      velocity_(Matrix<T>::Zero(model.weights.rows(), model.weights.cols())),
      centred_bias_(model.bias.template cast<double>() + at_origin(model.weights, origin)),
      bias_velocity_(Vector<T>::Zero(model.bias.size())) {}

template <class T>
void Descent<T>::step(const std::vector<const T*>& rows, const Matrix<T>& g) {
    const Index n = static_cast<Index>(rows.size());
    const Index k = g.cols();
    const Index d = model_.weights.cols();
    const Vector<T> sums = g.colwise().sum().transpose();
    const RowBlocks columns{d, columns_a_block};
    for_each_block(columns.count(), threads_of(n, k, d, threads_), [&](Index block, int) {
        const Index begin = columns.begin(block);
        const Index width = columns.end(block) - begin;
        thread_local Matrix<T> part;
        part = Matrix<T>::Zero(k, width);
        if (origin_.size() > 0) part.noalias() -= sums * origin_.segment(begin, width).transpose().template cast<T>();
        of_type<T>(linear_kernels())
            .add_gradient(rows.data(), n, g.data(), k, begin, begin + width, part.data(), width);
        velocity_.middleCols(begin, width) = momentum_ * velocity_.middleCols(begin, width) + per_unit_ * part +
                                             decay_ * model_.weights.middleCols(begin, width);
        model_.weights.middleCols(begin, width) -= weight_rate_ * velocity_.middleCols(begin, width);
    });
    bias_velocity_ = momentum_ * bias_velocity_ + sums;
    centred_bias_ -= (bias_rate_ * bias_velocity_).template cast<double>();
    model_.bias = (centred_bias_ - at_origin(model_.weights, origin_)).template cast<T>();
}

template <class T>
void Descent<T>::store(Archive& archive) const {
    const Index k = model_.bias.size();
    archive.set_points("weights", model_.weights);
    archive.set_points("bias", PointsView(model_.bias.data(), 1, k));
    archive.set_points("velocity", velocity_);
    archive.set_points("bias_velocity", PointsView(bias_velocity_.data(), 1, k));
    archive.set_vector("centred_bias", {centred_bias_.data(), at(k)});
}

template <class T>
void Descent<T>::load(const Archive& archive) {
    const Index k = velocity_.rows();
    const Index d = velocity_.cols();
    model_.weights = to_matrix<T>(archive.points("weights", k, d));
    model_.bias = to_matrix<T>(archive.points("bias", 1, k)).row(0).transpose();
    velocity_ = to_matrix<T>(archive.points("velocity", k, d));
    bias_velocity_ = to_matrix<T>(archive.points("bias_velocity", 1, k)).row(0).transpose();
    const std::vector<double> centred_bias = archive.vector("centred_bias", k);
    centred_bias_ = Eigen::Map<const eigen::Vector<double>>(centred_bias.data(), k);
}

#define COTERIE_INSTANTIATE(T)                                                                                  \
    template LinearSoftmax<T> random_linear_softmax(const std::vector<const T*>&, const Vector<double>&, Index, \
                                                    double, const Run&);                                        \
    template Matrix<T> logits(const std::vector<const T*>&, const LinearSoftmax<T>&, int);                      \
    template Matrix<T> logits(const Rows<T>&, const LinearSoftmax<T>&, int);                                    \
    template Matrix<double> weight_gradient(const std::vector<const T*>&, const Matrix<T>&, Index, int);        \
    template Vector<double> at_origin(const Matrix<T>&, const Vector<double>&);                                 \
    template class Descent<T>;
COTERIE_INSTANTIATE(float)
COTERIE_INSTANTIATE(double)
#undef COTERIE_INSTANTIATE

}  // namespace coterie
