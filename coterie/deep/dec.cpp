// DEC, IDEC and DCN are Alternations with centroids in the embedding itself. They differ in their loss and in how
// centroids move. Gradients are computed here, in double. The network gets only the gradient with respect to its
// output. In DEC and IDEC, centroids take the same kind of steps as the network. An update computes targets from all
// points. A batch costs k p operations per point. The state of the centroids (moments, counts) is part of a checkpoint.

#include "coterie/deep/dec.hpp"

#include <cmath>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/deep/internal/dec_step.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/distances.hpp"

namespace coterie {

using namespace deep::internal;

const OptionSet& DecOptions::described() {
    static const OptionSet set = describe_alternating<DecOptions>();
    return set;
}
const OptionSet& IdecOptions::described() {
    static const OptionSet set = describe_alternating<IdecOptions>().real(
        "gamma", &IdecOptions::gamma, at_least(0),
        "weight of the clustering loss; the reconstruction error has weight 1");
    return set;
}
const OptionSet& DcnOptions::described() {
    static const OptionSet set = describe_alternating<DcnOptions>().real(
        "distortion", &DcnOptions::distortion, at_least(0),
        "twice the weight of a row's squared distance to its centroid; its squared reconstruction error has weight 1");
    return set;
}

namespace deep::internal {

Matrix<double> soft_assignments(const Matrix<double>& embedding, const Matrix<double>& centroids, int threads) {
    Matrix<double> q(embedding.rows(), centroids.rows());
    const RowBlocks blocks{embedding.rows(), 1024};
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            for (Index j = 0; j < centroids.rows(); ++j)
                q(i, j) = 1 / (1 + (embedding.row(i) - centroids.row(j)).squaredNorm());
            q.row(i) /= q.row(i).sum();
        }
    });
    return q;
}

Matrix<double> sharpened(const Matrix<double>& q) {
    const Vector<double> sums = q.colwise().sum().transpose();
    Matrix<double> p = q.array().square();
    p *= sums.cwiseInverse().asDiagonal();
    p.array().colwise() /= p.rowwise().sum().array().eval();
    return p;
}

double mean_divergence(const Matrix<double>& p, const Matrix<double>& q) {
    double sum = 0;
    for (Index i = 0; i < p.size(); ++i)
        if (p.data()[i] > 0) sum += p.data()[i] * std::log(p.data()[i] / q.data()[i]);
    return sum / static_cast<double>(p.rows());
}

SoftLoss soft_loss(const Matrix<double>& z, const Matrix<double>& centroids, const Matrix<double>& p) {
    const Index k = centroids.rows();
    const auto n = static_cast<double>(z.rows());
    const Matrix<double> q = soft_assignments(z, centroids, 1);
    SoftLoss out{mean_divergence(p, q), Matrix<double>::Zero(z.rows(), z.cols()), Matrix<double>::Zero(k, z.cols())};
    for (Index i = 0; i < z.rows(); ++i)
        for (Index j = 0; j < k; ++j) {
            const auto difference = (z.row(i) - centroids.row(j)).eval();
            const double pull = 2 / n * (p(i, j) - q(i, j)) / (1 + difference.squaredNorm());
            out.by_embedding.row(i) += pull * difference;
            out.by_centroids.row(j) -= pull * difference;
        }
    return out;
}

}  // namespace deep::internal

namespace {

// The common part of all three: centroids in the embedding itself.
class WithCentroids : public Alternation {
public:
    explicit WithCentroids(const AlternatingOptions& options) : options_(options) {}

    Matrix<double> rotation() const override { return Matrix<double>::Identity(centroids_.cols(), centroids_.cols()); }
    Matrix<double> centroids() const override { return centroids_; }
    void store(Archive& archive) const override { archive.set_points("centroids", centroids_); }
    void load(const Archive& archive) override {
        centroids_ = to_matrix<double>(archive.points("centroids", options_.clusters, options_.embedding).view());
    }

protected:
    Labels start(const Matrix<double>& embedding, const Run& run) {
        Clusters found = first_clusters(embedding, options_.clusters, options_.kmeans_restarts, run);
        centroids_ = std::move(found.means);
        return std::move(found.labels);
    }

    const AlternatingOptions& options_;
    Matrix<double> centroids_;
};

// DEC and IDEC.
class SelfTraining : public WithCentroids {
public:
    SelfTraining(const AlternatingOptions& options, double weight, bool with_reconstruction)
        : WithCentroids(options), weight_(weight), with_reconstruction_(with_reconstruction) {}

    Labels update(const Matrix<double>& embedding, const Labels&, std::uint64_t, const Run& run) override {
        if (centroids_.size() == 0) {
            start(embedding, run);
            first_ = second_ = Matrix<double>::Zero(centroids_.rows(), centroids_.cols());
        }
        const Matrix<double> q = soft_assignments(embedding, centroids_, run.threads);
        targets_ = sharpened(q);
        divergence_ = mean_divergence(targets_, q);
        return largest_columns(q);
    }
    double objective() const override { return divergence_; }
    double reconstruction_weight() const override { return with_reconstruction_ ? 1.0 : 0.0; }

    BatchLoss loss(const Matrix<float>& encoded, const std::vector<std::int64_t>& rows) override {
        Matrix<double> p(encoded.rows(), centroids_.rows());
        for (Index r = 0; r < p.rows(); ++r) p.row(r) = targets_.row(rows[static_cast<std::size_t>(r)]);
        const SoftLoss found = soft_loss(encoded.cast<double>(), centroids_, p);
        gradient_ = weight_ * found.by_centroids;
        return {weight_ * found.value, (weight_ * found.by_embedding).cast<float>()};
    }

    // The same steps as the network's optimizer: momentum for DEC, Adam for IDEC.
    void step() override {
        if (!with_reconstruction_) {
            first_ = 0.9 * first_ + gradient_;
            centroids_ -= options_.learning_rate * first_;
            return;
        }
        ++steps_;
        first_ = 0.9 * first_ + 0.1 * gradient_;
        second_ = 0.999 * second_.array() + 0.001 * gradient_.array().square();
        centroids_.array() -= options_.learning_rate / (1 - std::pow(0.9, steps_)) * first_.array() /
                              ((second_.array() / (1 - std::pow(0.999, steps_))).sqrt() + 1e-8);
    }

    void store(Archive& archive) const override {
        WithCentroids::store(archive);
        archive.set_points("first", first_);
        archive.set_points("second", second_);
        archive.set_labels("steps", std::vector<std::int32_t>{steps_});
    }
    void load(const Archive& archive) override {
        WithCentroids::load(archive);
        first_ = to_matrix<double>(archive.points("first", centroids_.rows(), centroids_.cols()).view());
        second_ = to_matrix<double>(archive.points("second", centroids_.rows(), centroids_.cols()).view());
        steps_ = archive.labels("steps", 1)[0];
    }

private:
    double weight_;
    bool with_reconstruction_;
    Matrix<double> targets_, gradient_, first_, second_;
    double divergence_ = 0;
    int steps_ = 0;
};

class Dcn : public WithCentroids {
public:
    Dcn(const DcnOptions& options, Index dimensions)
        : WithCentroids(options), weight_(options.distortion / static_cast<double>(dimensions)) {}

    Labels update(const Matrix<double>& embedding, const Labels&, std::uint64_t, const Run& run) override {
        if (centroids_.size() == 0) {
            // Counts start at the numbers of points in the first clusters.
            counts_ = Vector<double>::Zero(options_.clusters);
            for (const auto label : start(embedding, run)) ++counts_[label];
        }
        Nearest nearest = nearest_centroids(embedding, centroids_, run.threads, NearestWants::inertia);
        inertia_ = nearest.inertia;
        return std::move(nearest.labels);
    }
    double objective() const override { return inertia_; }
    double reconstruction_weight() const override { return 1; }

    BatchLoss loss(const Matrix<float>& encoded, const std::vector<std::int64_t>&) override {
        batch_ = encoded.cast<double>();
        nearest_ = nearest_centroids(batch_, centroids_, 1).labels;
        BatchLoss out{0, Matrix<float>(encoded.rows(), encoded.cols())};
        const auto n = static_cast<double>(encoded.rows());
        for (Index r = 0; r < batch_.rows(); ++r) {
            const auto difference = (batch_.row(r) - centroids_.row(nearest_[static_cast<std::size_t>(r)])).eval();
            out.value += weight_ / 2 * difference.squaredNorm() / n;
            out.gradient.row(r) = (weight_ / n * difference).cast<float>();
        }
        return out;
    }

    void step() override {
        for (Index r = 0; r < batch_.rows(); ++r) {
            const Index own = nearest_[static_cast<std::size_t>(r)];
            ++counts_[own];
            centroids_.row(own) += (batch_.row(r) - centroids_.row(own)) / counts_[own];
        }
    }

    void store(Archive& archive) const override {
        WithCentroids::store(archive);
        archive.set_vector("counts", std::span(counts_.data(), static_cast<std::size_t>(counts_.size())));
    }
    void load(const Archive& archive) override {
        WithCentroids::load(archive);
        const std::vector<double> counts = archive.vector("counts", options_.clusters);
        counts_ = Eigen::Map<const eigen::Vector<double>>(counts.data(), options_.clusters);
    }

private:
    double weight_;  // of the distances; the mean squared reconstruction error has weight 1
    Matrix<double> batch_;
    Labels nearest_;
    Vector<double> counts_;
    double inertia_ = 0;
};

template <class Options>
ModelWith<DeepModel, Options> fit_with(PointsView points, const Options& options, const Run& run,
                                       Alternation& alternation, const NetworkOptimizer& optimizer) {
    DeepFit fit(Options::method, points, options, Options::described().values(&options), run);
    Alternated found = alternate(fit, options, alternation, {optimizer});
    return {options, std::move(found.state), std::move(found.labels), std::move(fit.report())};
}

}  // namespace

DecModel DecMethod::fit(const Problem& problem, const DecOptions& options, const Run& run) {
    SelfTraining training(options, 1.0, false);
    return fit_with(problem.points, options, run, training,
                    {.kind = NetworkOptimizer::Kind::sgd,
                     .part = NetworkOptimizer::Part::encoder,
                     .learning_rate = options.learning_rate,
                     .momentum = 0.9});
}

IdecModel IdecMethod::fit(const Problem& problem, const IdecOptions& options, const Run& run) {
    SelfTraining training(options, options.gamma, true);
    return fit_with(problem.points, options, run, training, {.learning_rate = options.learning_rate});
}

DcnModel DcnMethod::fit(const Problem& problem, const DcnOptions& options, const Run& run) {
    const PointsView points = problem.points;
    Dcn dcn(options, points.columns());
    return fit_with(problem.points, options, run, dcn, {.learning_rate = options.learning_rate});
}

}  // namespace coterie
