// One trainer for all methods of the module. It alternates between labels and steps: gradient descent on batches, or
// L-BFGS on all points. Labels are constants within a step. The orders of rows depend on the seed and the epoch. Sums
// over all rows use BlockSums. Labels by transport come from Sinkhorn's rounds in the log domain, with growing
// sharpness. A loss that grows without bound is an error.
// Every process makes all steps, because batches are small. Rows are gathered for several batches at a time. Values of
// all rows (logits, the gradient of L-BFGS) are complete on every process. The result has the same bits for any number
// of threads and processes. A checkpoint is the state before an epoch; resumed training draws the orders again.
//
// The points are not copied or divided by their unit. Instead, a step multiplies its own numbers by multiples of the
// unit or of its inverse, and the model is that of the original points. So multiplying points by a power of two keeps
// the bits.

#include "coterie/entropy/training.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/gathered_rows.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/entropy/internal/lbfgs.hpp"

namespace coterie::internal {

using namespace entropy::internal;

namespace {
constexpr double usual_variance = 2.5;  // variance of the points in their unit, per cluster
}

double training_unit(const ColumnMoments& moments, int clusters) {
    const double spread = std::sqrt(moments.variance.sum());
    return spread > 1e-12 * moments.mean.norm() ? spread / std::sqrt(usual_variance * clusters)
                                                : 1;  // a smaller unit is rounding
}

namespace {

constexpr int lbfgs_iterations = 100;                // per epoch
constexpr Index start_rows = 256;                    // limit of the rows that the first weights combine
constexpr Index gathered_numbers = Index{1} << 20;   // limit for the rows of several batches
constexpr Index predicted_numbers = Index{1} << 18;  // limit for the predictions that a thread makes at a time
constexpr double constant_share = 1 / 7.25;          // the bias is the weight of a constant column, this fraction of
                                                     // the root mean square distance from the mean
constexpr double infinity = std::numeric_limits<double>::infinity();

double divergence(const std::vector<double>& prior, const Vector<double>& means) {
    double out = 0;
    for (Index k = 0; k < means.size(); ++k) out += prior[at(k)] * std::log(prior[at(k)] / means[k]);
    return out;
}

template <class T>
class Training {
public:
    Training(PointsView points, const LinearTrainingOptions& options, const Criterion& criterion,
             const Constraints& constraints, Checkpoint& checkpoint, const Run& run)
        : points_(points),
          n_(points.rows()),
          d_(points.columns()),
          options_(options),
          criterion_(criterion),
          constraints_(constraints),
          run_(run),
          own_(own_rows(points, run)),
          checkpoint_(checkpoint),
          found_(checkpoint.found()) {
        const double n = static_cast<double>(n_);
        const double k = *options.clusters;
        const bool whole = options.optimizer == Optimizer::lbfgs || labels_per_epoch();
        // Training needs up to 10 numbers per row and cluster, several copies of a model's parameters in double, and
        // with L-BFGS the history.
        const double rows = whole ? n : std::min(n, 3.0 * options.batch_size);
        const double history = options.optimizer == Optimizer::lbfgs ? 16.0 * LbfgsSettings().memory : 0.0;
        together(run.communicator(), [&] {
            require_memory(sizeof(T) * k * 10 * rows + 24 * n + (64 + history) * k * static_cast<double>(d_),
                           "entropy clustering");
        });
        for (Index i = 0; i < n_; ++i)
            if (constraints.label(i) >= 0) known_.push_back(i);
    }

    Trained<T> operator()() {
        Stopwatch watch;
        report_.stopped = options_.optimizer == Optimizer::sgd ? StopReason::completed : StopReason::iteration_limit;
        start();
        report_.seconds.emplace_back("start", watch.restart());
        if (options_.optimizer == Optimizer::sgd)
            descend();
        else
            minimize();
        report_.seconds.emplace_back("training", watch.restart());
        report_.objective = report_.objective_per_iteration.back();
        report_.iterations = static_cast<int>(report_.objective_per_iteration.size());
        Trained<T> out;
        out.labels = finish();
        report_.seconds.emplace_back("labels", watch.restart());
        checkpoint_.warn(report_);
        out.model = std::move(model_);
        out.report = std::move(report_);
        return out;
    }

private:
    bool has_rule() const { return criterion_.rule != LabelRule::none; }
    bool labels_per_epoch() const {
        return criterion_.rule == LabelRule::given ||
               (has_rule() && (options_.optimizer == Optimizer::lbfgs || criterion_.labels_per == LabelsPer::epoch));
    }
    void start() {
        const ColumnMoments moments = column_moments(points_, run_);
        unit_ = training_unit(moments, *options_.clusters);
        if (options_.origin == TrainingOrigin::mean) origin_ = moments.mean;
        if (found_) {
            report_.objective_per_iteration = found_->vector("objectives");
            begun_ = static_cast<int>(report_.objective_per_iteration.size());
            model_ = {Matrix<T>::Zero(*options_.clusters, d_),
                      Vector<T>::Zero(*options_.clusters)};  // until it is read
            return;
        }
        RandomStream random = run_.random("entropy.start-rows");
        const std::vector<Index> numbers = sample_rows(n_, std::min(n_, start_rows), random);
        const GatheredRows<T> gathered(points_, numbers, run_);
        std::vector<const T*> rows;
        for (std::size_t r = 0; r < numbers.size(); ++r) rows.push_back(gathered[r]);
        model_ = random_linear_softmax<T>(rows, moments.mean, *options_.clusters, options_.start_scale, run_);
        if (options_.origin == TrainingOrigin::zero) model_.bias.setZero();
    }

    // The state between two epochs, without the optimizer's state. Every process has it.
    Archive state() const {
        Archive out = checkpoint_.begin();
        out.set_vector("objectives", report_.objective_per_iteration);
        return out;
    }
    // `now` returns the state before the epoch that is about to start.
    template <class State>
    void keep(const State& now) {
        if (!checkpoint_.wanted()) return;
        before_ = now();
        if (checkpoint_.due()) checkpoint_.write(*before_);
    }
    // Called if training stops within an epoch. Resumed training repeats this epoch from the state before it.
    void stopped_within(int epoch) {
        if (before_) checkpoint_.write(*before_);
        if (epoch > begun_) return;
        if (epoch == 0) throw Cancelled::during("training");
        throw Cancelled(Code::cancelled, "interrupted" + checkpoint_.what_is_left());
    }

    // || W ||^2; W are the weights of points in their unit.
    double squared_norm() const { return static_cast<double>((static_cast<T>(unit_) * model_.weights).squaredNorm()); }

    [[noreturn]] void diverged(int epoch) const {
        throw BadArgument(
            Code::diverged,
            filled("training diverged in epoch {} with `learning_rate={}`, `momentum={}` and `gamma={}`", epoch + 1,
                   to_text(options_.learning_rate), to_text(options_.momentum), to_text(options_.gamma)),
            "Lower them, or scale the columns", {.option = "learning_rate", .value = to_text(options_.learning_rate)});
    }

    // The clusters that row `number` may belong to.
    std::pair<int, int> clusters_of(Index number) const { return constraints_.clusters_of(constraints_.label(number)); }

    // Keeps the labels for the report.
    const Matrix<T>& labels_for(std::span<const Index> numbers, const Softmax<T>& sigma) {
        last_fixed_ = fixed_labels(constraints_, numbers, sigma);
        last_solved_ = labels_of(criterion_, sigma, last_fixed_, run_.threads);
        if (criterion_.rule == LabelRule::self_label) last_predictions_ = sigma.probability;
        return last_solved_.labels;
    }

    // Calls act(first, logits) for a few rows of a block at a time. `first` is the number of the first one among all
    // rows.
    template <class Act>
    void for_each_logits(const RowBlock<T>& block, Act&& act) const {
        const Index few = std::max<Index>(1, predicted_numbers / *options_.clusters);
        for (Index begin = 0; begin < block.rows.rows; begin += few) {
            const Index end = std::min(begin + few, block.rows.rows);
            act(block.first + begin,
                logits(Rows<T>{block.rows.row(begin), end - begin, d_, block.rows.stride}, model_, 1));
        }
    }

    // The logits of all rows, on every process.
    Matrix<T> all_logits() const {
        const Index k = *options_.clusters;
        Matrix<T> out(n_, k);
        const Stage stage{.name = "predictions", .operations = static_cast<double>(n_) * static_cast<double>(d_ * k)};
        for_each_row_block<T>(points_, run_.unstopped(), stage, [&](const RowBlock<T>& block, int) {
            for_each_logits(block, [&](Index first, const Matrix<T>& x) { out.middleRows(first, x.rows()) = x; });
        });
        Communicator& communicator = run_.communicator();
        const std::vector<Range> all = gather(communicator, std::vector<Range>{own_});
        for (int process = 0; process < communicator.size(); ++process) {
            const Range rows = all[at(process)];
            communicator.broadcast(std::as_writable_bytes(std::span(out.data() + rows.begin * k, at(rows.count() * k))),
                                   process);
        }
        return out;
    }

    // Computes the labels of all points for the epoch.
    void label_all() {
        if (criterion_.rule == LabelRule::given) {
            if (epoch_labels_.size() == 0) epoch_labels_ = criterion_.targets->template cast<T>();
            return;
        }
        epoch_labels_ = labels_for(all_rows(), softmax(all_logits(), run_.threads));
    }

    std::vector<Index> all_rows() const {
        std::vector<Index> out(at(n_));
        std::iota(out.begin(), out.end(), Index{0});
        return out;
    }

    // The loss of the rows `numbers`, and its gradient with respect to their logits.
    double loss(std::span<const Index> numbers, const Matrix<T>& x, Matrix<T>& gradient) {
        const Softmax<T> sigma = softmax(x, run_.threads);
        gradient = Matrix<T>::Zero(x.rows(), x.cols());
        Matrix<T> y;
        if (labels_per_epoch()) {
            y.resize(x.rows(), x.cols());
            for (std::size_t r = 0; r < numbers.size(); ++r)
                y.row(static_cast<Index>(r)) = epoch_labels_.row(numbers[r]);
        } else if (has_rule()) {
            y = labels_for(numbers, sigma);
        }
        std::vector<bool> counts;
        if (!known_.empty())
            for (const Index i : numbers) counts.push_back(constraints_.label(i) < 0);
        return add_criterion_loss(criterion_, sigma, y, gradient, run_.threads, counts);
    }

    // The same plus the loss of the labelled rows `labelled`. In x, the logits of `labelled` follow those of `numbers`.
    double loss_with_labels(std::span<const Index> numbers, std::span<const Index> labelled, const Matrix<T>& x,
                            Matrix<T>& gradient) {
        const auto count = static_cast<Index>(numbers.size());
        if (labelled.empty()) return loss(numbers, x, gradient);
        Matrix<T> part;
        double value = loss(numbers, x.topRows(count), part);
        gradient.resize(x.rows(), x.cols());
        gradient.topRows(count) = part;
        std::vector<std::pair<int, int>> clusters;
        for (const Index i : labelled) clusters.push_back(clusters_of(i));
        part = Matrix<T>::Zero(static_cast<Index>(labelled.size()), x.cols());
        value += add_label_loss(softmax(Matrix<T>(x.bottomRows(part.rows())), run_.threads), clusters,
                                options_.label_weight, part);
        gradient.bottomRows(part.rows()) = part;
        return value;
    }

    // Returns whether to continue. For `now` see keep().
    template <class State>
    bool epoch_done(int epoch, double objective, const State& now) {
        report_.objective_per_iteration.push_back(objective);
        run_.report({.stage = "epochs",
                     .fraction = static_cast<double>(epoch + 1) / options_.epochs,
                     .objective = objective,
                     .iteration = epoch + 1});
        if (!run_.stop_requested()) return true;
        report_.stopped = StopReason::interrupted;
        if (!checkpoint_.wanted()) return false;
        if (epoch + 1 < options_.epochs) before_ = now();
        if (before_) checkpoint_.write(*before_);
        return false;
    }

    void descend() {
        std::vector<Index> order = all_rows();
        std::vector<Index> known = known_;
        RandomStream known_random = run_.random("entropy.labelled");
        shuffle(known, known_random);
        std::size_t next_known = 0;
        const std::size_t known_a_batch = std::min(known.size(), at(options_.batch_size));
        // Batch sizes differ by at most one row, because fairness is worse in a short batch.
        const Index batches =
            std::max<Index>(1, (n_ + options_.batch_size / 2) / static_cast<Index>(options_.batch_size));
        const auto first_of = [&](Index batch) { return batch * n_ / batches; };
        const Index batch_rows = n_ / batches + static_cast<Index>(known_a_batch);
        const Index gathered_batches = std::clamp<Index>(gathered_numbers / (batch_rows * d_), 1, batches);
        Descent<T> descent(model_, origin_, unit_, options_.learning_rate, options_.momentum, options_.gamma,
                           run_.threads, usual_variance * *options_.clusters * constant_share * constant_share);
        Matrix<T> gradient;
        double first = 0;  // loss of the first batch
        if (found_) {
            descent.load(*found_);
            first = found_->vector("first", 1)[0];
            next_known = static_cast<std::size_t>(begun_ * batches) * known_a_batch;
        }
        const auto now = [&] {
            Archive out = state();
            descent.store(out);
            out.set_vector("first", std::vector<double>{first});
            return out;
        };
        for (int epoch = 0; epoch < options_.epochs; ++epoch) {
            RandomStream random = run_.random("entropy.order", static_cast<std::uint64_t>(epoch));
            shuffle(order, random);
            if (epoch < begun_) continue;  // only the order was needed, because the next order is made from it
            if (epoch > 0) keep(now);
            if (labels_per_epoch()) label_all();
            double objective = 0;
            std::vector<Index> wanted;  // rows of several batches; the labelled rows of a batch follow its rows
            std::optional<GatheredRows<T>> gathered;
            std::size_t position = 0;  // where the batch begins in `wanted`
            for (Index batch = 0; batch < batches; ++batch) {
                if (run_.stop_requested()) {  // returns the current model; this epoch has no objective
                    stopped_within(epoch);
                    if (!model_.weights.allFinite() || !model_.bias.allFinite()) diverged(epoch);
                    report_.stopped = StopReason::interrupted;
                    return;
                }
                if (batch % gathered_batches == 0) {
                    wanted.clear();
                    for (Index b = batch; b < std::min(batch + gathered_batches, batches); ++b) {
                        wanted.insert(wanted.end(), order.begin() + first_of(b), order.begin() + first_of(b + 1));
                        for (std::size_t i = 0; i < known_a_batch; ++i)
                            wanted.push_back(known[next_known++ % known.size()]);
                    }
                    gathered.emplace(points_, wanted, run_);
                    position = 0;
                }
                const auto size = at(first_of(batch + 1) - first_of(batch));
                const std::span<const Index> numbers(wanted.data() + position, size);
                const std::span<const Index> labelled(wanted.data() + position + size, known_a_batch);
                std::vector<const T*> rows;
                for (std::size_t r = 0; r < size + known_a_batch; ++r) rows.push_back((*gathered)[position + r]);
                position += rows.size();
                const double value = loss_with_labels(numbers, labelled, logits(rows, model_, run_.threads), gradient) +
                                     options_.gamma * squared_norm();
                if (epoch == 0 && batch == 0) first = value;
                // Losses of batches never differ by this much unless the weights grow without bound.
                if (!(std::abs(value) <= 1e10 * (1 + std::abs(first)))) diverged(epoch);
                descent.step(rows, gradient);
                objective += value * static_cast<double>(size) / static_cast<double>(n_);
            }
            if (!model_.weights.allFinite() || !model_.bias.allFinite()) diverged(epoch);
            if (!epoch_done(epoch, objective, now)) break;
        }
    }

    void minimize() {
        const std::vector<Index> all = all_rows();
        const Index k = *options_.clusters;
        Vector<double> x(k * d_ + k);
        if (found_) {
            const std::vector<double> stored = found_->vector("x", x.size());
            std::copy(stored.begin(), stored.end(), x.data());
        } else {
            Eigen::Map<eigen::Matrix<double>>(x.data(), k, d_) = unit_ * model_.weights.template cast<double>();
            x.tail(k) = model_.bias.template cast<double>() + at_origin(model_.weights, origin_);
        }
        double gamma = options_.gamma;
        bool cut = false;  // whether the caller stopped the iterations early
        const auto assign = [&](const Vector<double>& from) {
            model_.weights = (Eigen::Map<const eigen::Matrix<double>>(from.data(), k, d_) / unit_).template cast<T>();
            model_.bias = (from.tail(k) - at_origin(model_.weights, origin_)).template cast<T>();
        };
        if (found_) assign(x);
        const auto now = [&] {
            Archive out = state();
            out.set_vector("x", {x.data(), at(x.size())});
            return out;
        };
        Matrix<T> g;
        BlockSums gradients(k * d_);
        const Stage stage{.name = "gradient", .operations = static_cast<double>(n_) * static_cast<double>(k * d_)};
        const auto f = [&](const Vector<double>& from, Vector<double>& gradient) {
            assign(from);
            if (!model_.weights.allFinite() || !model_.bias.allFinite()) return infinity;
            Matrix<T> logits_of_rows = all_logits();
            if (!known_.empty()) {  // again, for the loss of the labels
                logits_of_rows.conservativeResize(n_ + static_cast<Index>(known_.size()), k);
                for (std::size_t l = 0; l < known_.size(); ++l)
                    logits_of_rows.row(n_ + static_cast<Index>(l)) = logits_of_rows.row(known_[l]);
            }
            const double value = loss_with_labels(all, known_, logits_of_rows, g);
            for (std::size_t l = 0; l < known_.size(); ++l) g.row(known_[l]) += g.row(n_ + static_cast<Index>(l));
            const auto total =
                gradients.over<T>(points_, run_.unstopped(), stage, [&](const RowBlock<T>& block, int, double* sum) {
                    std::vector<const T*> rows;
                    for (Index r = 0; r < block.rows.rows; ++r) rows.push_back(block.rows.row(r));
                    const Matrix<T> part = g.middleRows(block.first, block.rows.rows);
                    const Matrix<double> product = weight_gradient(rows, part, d_, 1);
                    for (Index i = 0; i < product.size(); ++i) sum[i] += product.data()[i];
                });
            const Eigen::Map<const eigen::Matrix<double>> weights(from.data(), k, d_);
            Eigen::Map<eigen::Matrix<double>> of_weights(gradient.data(), k, d_);
            of_weights = Eigen::Map<const eigen::Matrix<double>>(total.data(), k, d_);
            gradient.tail(k) = g.topRows(n_).template cast<double>().colwise().sum().transpose();
            if (origin_.size() > 0) of_weights -= gradient.tail(k) * origin_.transpose();
            of_weights = of_weights / unit_ + 2 * gamma * weights;
            return value + gamma * weights.squaredNorm();
        };
        for (int epoch = begun_; epoch < options_.epochs; ++epoch) {
            const int last = options_.epochs - 1;
            if (epoch > 0) keep(now);
            if (options_.gamma_start)
                gamma = epoch == last ? options_.gamma  // exact; the product would be rounded
                                      : *options_.gamma_start * std::pow(options_.gamma / *options_.gamma_start,
                                                                         static_cast<double>(epoch) / last);
            if (epoch == begun_ && run_.stop_requested()) stopped_within(epoch);
            if (has_rule()) label_all();
            const double before = epoch > 0 ? report_.objective_per_iteration.back() : infinity;
            const LbfgsResult found = minimize_lbfgs(f, x, {.iterations = lbfgs_iterations}, [&](double) {
                cut = run_.stop_requested();
                return !cut;
            });
            if (cut) stopped_within(epoch);
            assign(x);
            if (cut) {
                report_.objective_per_iteration.push_back(found.value);
                report_.stopped = StopReason::interrupted;
                break;
            }
            if (!epoch_done(epoch, found.value, now)) break;
            const bool settled =
                found.converged && (!has_rule() || std::abs(before - found.value) <= 1e-9 * std::abs(found.value));
            if (settled && gamma == options_.gamma) {
                report_.stopped = StopReason::converged;
                break;
            }
        }
    }

    // Returns the labels of this process' rows. Adds the final model's figures over all points to the report.
    Labels finish() {
        const Index k = *options_.clusters;
        Labels out(at(own_.count()));
        BlockSums sums(k + 1);  // k sums of probabilities, and one of entropies
        const Stage stage{.name = "predictions", .operations = static_cast<double>(n_) * static_cast<double>(k * d_)};
        const auto total =
            sums.over<T>(points_, run_.unstopped(), stage, [&](const RowBlock<T>& block, int, double* sum) {
                for_each_logits(block, [&](Index first, const Matrix<T>& x) {
                    const Softmax<T> sigma = softmax(x, 1);
                    const Labels labels = likeliest_clusters(constraints_, sigma.logarithm, first);
                    std::copy(labels.begin(), labels.end(), out.begin() + (first - own_.begin));
                    const Vector<double> means = sigma.probability.template cast<double>().colwise().sum().transpose();
                    for (Index c = 0; c < k; ++c) sum[c] += means[c];
                    sum[k] += decisiveness(sigma, 1.0, 1) * static_cast<double>(x.rows());
                });
            });
        const auto n = static_cast<double>(n_);
        describe_predictions(total[at(k)] / n, Eigen::Map<const eigen::Vector<double>>(total.data(), k) / n,
                             criterion_.prior, report_);
        report_.details.emplace_back("weight_norm", std::sqrt(squared_norm()));
        if (criterion_.rule == LabelRule::self_label)
            describe_labels(last_predictions_, last_solved_, criterion_.labels, last_fixed_, report_, run_.threads);
        return out;
    }

    PointsView points_;
    Index n_, d_;
    const LinearTrainingOptions& options_;
    const Criterion& criterion_;
    const Constraints& constraints_;
    const Run& run_;
    Range own_;  // this process' rows
    Checkpoint& checkpoint_;
    std::optional<Archive> found_;   // the checkpoint from which training resumes
    std::optional<Archive> before_;  // the state before this epoch, if it is saved
    int begun_ = 0;                  // the epoch from which training resumes

    Vector<double> origin_;     // empty: 0
    double unit_ = 1;           // of the points; 1 if they are all equal
    std::vector<Index> known_;  // rows with a partial label
    LinearSoftmax<T> model_;
    Matrix<T> epoch_labels_;
    Matrix<T> last_predictions_;  // of the last solution for labels, like the next two
    LabelSolution<T> last_solved_;
    FixedLabels<T> last_fixed_;
    FitReport report_;
};

}  // namespace

template <class T>
FixedLabels<T> fixed_labels(const Constraints& constraints, std::span<const Index> numbers, const Softmax<T>& sigma) {
    FixedLabels<T> out;
    for (std::size_t r = 0; r < numbers.size(); ++r)
        if (constraints.label(numbers[r]) >= 0) out.rows.push_back(static_cast<Index>(r));
    if (out.rows.empty()) return out;
    out.labels = Matrix<T>::Zero(static_cast<Index>(out.rows.size()), constraints.clusters());
    for (std::size_t f = 0; f < out.rows.size(); ++f) {
        const auto [begin, end] = constraints.clusters_of(constraints.label(numbers[at(out.rows[f])]));
        const auto from = sigma.logarithm.row(out.rows[f]).segment(begin, end - begin);
        auto to = out.labels.row(static_cast<Index>(f)).segment(begin, end - begin);
        to = (from.array() - from.maxCoeff()).exp();
        to /= to.sum();
    }
    return out;
}

namespace {

// Transport of the rows without known labels. Its target is the prior minus the labelled rows.
template <class T>
Matrix<T> transport_to_the_rest(const Matrix<T>& logarithm, const FixedLabels<T>& fixed,
                                const std::vector<double>& prior, double sharpness, int threads) {
    const Index n = logarithm.rows();
    const Index k = logarithm.cols();
    std::vector<Index> free;
    auto next = fixed.rows.begin();
    for (Index i = 0; i < n; ++i) {
        if (next != fixed.rows.end() && *next == i)
            ++next;
        else
            free.push_back(i);
    }
    Matrix<T> out(n, k);
    if (free.empty()) return out;
    constexpr double least = 1e-6;  // share of all rows; a target of 0 has no logarithm
    Vector<double> left = Eigen::Map<const eigen::Vector<double>>(prior.data(), k) -
                          fixed.labels.template cast<double>().colwise().sum().transpose() / static_cast<double>(n);
    left = left.cwiseMax(least);
    left /= left.sum();
    Matrix<T> rows(static_cast<Index>(free.size()), k);
    for (std::size_t f = 0; f < free.size(); ++f) rows.row(static_cast<Index>(f)) = logarithm.row(free[f]);
    const Matrix<T> y = transport_labels(rows, std::vector<double>(left.begin(), left.end()), sharpness, threads);
    for (std::size_t f = 0; f < free.size(); ++f) out.row(free[f]) = y.row(static_cast<Index>(f));
    return out;
}

}  // namespace

template <class T>
LabelSolution<T> labels_of(const Criterion& criterion, const Softmax<T>& sigma, const FixedLabels<T>& fixed,
                           int threads) {
    if (criterion.rule == LabelRule::self_label)
        return solve_labels(sigma.probability, criterion.labels, threads, fixed);
    LabelSolution<T> out;
    if (criterion.rule == LabelRule::alternating)
        out.labels = alternating_labels(sigma.probability, fixed);
    else if (fixed.rows.empty())
        out.labels = transport_labels(sigma.logarithm, criterion.prior, criterion.sharpness, threads);
    else
        out.labels = transport_to_the_rest(sigma.logarithm, fixed, criterion.prior, criterion.sharpness, threads);
    for (std::size_t f = 0; f < fixed.rows.size(); ++f)
        out.labels.row(fixed.rows[f]) = fixed.labels.row(static_cast<Index>(f));
    return out;
}

template <class T>
double add_criterion_loss(const Criterion& criterion, const Softmax<T>& sigma, const Matrix<T>& y, Matrix<T>& gradient,
                          int threads, const std::vector<bool>& counts) {
    if (criterion.rule == LabelRule::none)
        return add_decisiveness(sigma, criterion.order, 1.0, gradient, threads) +
               add_fairness(sigma, criterion.prior, Fairness::reverse, criterion.fairness, gradient, threads);
    const bool reverse = criterion.rule == LabelRule::self_label ||
                         (criterion.rule == LabelRule::given && criterion.cross_entropy == CrossEntropy::reverse);
    const double value = add_cross_entropy(sigma, y, reverse ? CrossEntropy::reverse : CrossEntropy::forward, 1.0,
                                           gradient, threads, counts);
    if (criterion.rule == LabelRule::transport || criterion.rule == LabelRule::given) return value;
    // If all labels are known, a cluster may have no label, and the constant would be infinite.
    if (!counts.empty() && std::find(counts.begin(), counts.end(), true) == counts.end()) return value;
    const Vector<double> means =
        y.template cast<double>().colwise().mean().transpose().cwiseMax(std::numeric_limits<double>::min());
    if (reverse) return value + criterion.labels.lambda * divergence(criterion.prior, means);
    return value + (means.array() * means.array().log()).sum();
}

template <class T>
Labels likeliest_clusters(const Constraints& constraints, const Matrix<T>& scores, Index first) {
    Labels out(at(scores.rows()));
    for (Index i = 0; i < scores.rows(); ++i) {
        const std::int32_t known = constraints.label(first + i);
        const auto [begin, end] =
            known >= 0 ? constraints.clusters_of(known) : std::pair<int, int>{0, constraints.clusters()};
        Index best = 0;
        scores.row(i).segment(begin, end - begin).maxCoeff(&best);
        out[at(i)] = static_cast<std::int32_t>(begin + best);
    }
    return out;
}

void describe_predictions(double decisiveness, const Vector<double>& means, const std::vector<double>& prior,
                          FitReport& report) {
    double fairness = 0;
    for (Index k = 0; k < means.size(); ++k)
        if (means[k] > 0) fairness += means[k] * std::log(means[k] / prior[at(k)]);
    report.details.emplace_back("decisiveness", decisiveness);
    report.details.emplace_back("fairness", fairness);
    report.details.emplace_back("mean_probabilities", std::vector<double>(means.data(), means.data() + means.size()));
}

namespace {

// Rounds of a transport in the log domain. They find the b for which the column sums of the row-wise
// softmax(ln(sigma^power) + b) are the target.
template <class T>
class TransportRounds {
public:
    TransportRounds(const Matrix<T>& logarithm, const std::vector<double>& prior, int threads)
        : logarithm_(logarithm),
          n_(logarithm.rows()),
          k_(logarithm.cols()),
          blocks_{n_, std::max<Index>(1024, (n_ + 255) / 256)},
          workers_(threads_for(static_cast<double>(n_ * k_) * 20, threads)),
          target_(Eigen::Map<const eigen::Vector<double>>(prior.data(), k_) * static_cast<double>(n_)),
          columns_(at(blocks_.count())),
          kernel_(n_, k_),
          partial_(at(blocks_.count())) {}

    void set_power(double power) {
        power_ = power;
        base_.resize(0);
    }

    // One round: returns the next b.
    Vector<double> operator()(const Vector<double>& b) {
        constexpr double near = 30;  // exp(near) is far from the limits of double
        Vector<double> next;
        if (base_.size() > 0 && (b - base_).cwiseAbs().maxCoeff() <= near) next = near_round(b);
        if (next.size() == 0 || !next.allFinite()) next = exact_round(b);
        return next;
    }

private:
    // A sum of exponentials, relative to the largest term.
    struct Column {
        double largest = -infinity;
        double sum = 0;
        void add(double exponent, double times) {
            if (exponent > largest) {
                sum *= std::exp(largest - exponent);
                largest = exponent;
            }
            sum += times * std::exp(exponent - largest);
        }
    };

    Vector<double> exact_round(const Vector<double>& b) {
        base_ = b;
        for_each_block(blocks_.count(), workers_, [&](Index block, int) {
            auto& own = columns_[at(block)];
            own.assign(at(k_), Column{});
            Vector<double> row(k_);
            for (Index i = blocks_.begin(block); i < blocks_.end(block); ++i) {
                row = power_ * logarithm_.row(i).template cast<double>().transpose();
                const double largest = (row + b).maxCoeff();
                kernel_.row(i) = (row + b).array().transpose() - largest;
                kernel_.row(i) = kernel_.row(i).array().exp();
                const double total = largest + std::log(kernel_.row(i).sum());
                for (Index c = 0; c < k_; ++c) own[at(c)].add(row[c] - total, 1.0);
            }
        });
        Vector<double> next(k_);
        for (Index c = 0; c < k_; ++c) {
            Column all;
            for (const auto& own : columns_) all.add(own[at(c)].largest, own[at(c)].sum);
            next[c] = std::log(target_[c]) - all.largest - std::log(all.sum);
        }
        return next;
    }

    // The same round by products; NaN if they underflow.
    Vector<double> near_round(const Vector<double>& b) {
        const Vector<double> factor = (b - base_).array().exp();
        for_each_block(blocks_.count(), workers_, [&](Index block, int) {
            Vector<double>& own = partial_[at(block)];
            own = Vector<double>::Zero(k_);
            for (Index i = blocks_.begin(block); i < blocks_.end(block); ++i)
                own += kernel_.row(i).transpose() / kernel_.row(i).dot(factor);
        });
        Vector<double> sums = Vector<double>::Zero(k_);
        for (const auto& own : partial_) sums += own;
        constexpr double least_sum = 1e-200;  // the largest term of a larger sum has not underflowed
        if (!(sums.minCoeff() > least_sum)) return Vector<double>::Constant(k_, std::nan(""));
        return target_.array().log() - sums.array().log() + base_.array();
    }

    const Matrix<T>& logarithm_;
    Index n_, k_;
    RowBlocks blocks_;
    int workers_;
    Vector<double> target_;
    double power_ = 0;
    std::vector<std::vector<Column>> columns_;  // the column sums of each block
    // exp of the rows of ln(sigma^power) + base, relative to their largest entries. While b is close to base, a round
    // needs only products with this kernel.
    Matrix<double> kernel_;
    Vector<double> base_;
    std::vector<Vector<double>> partial_;
};

}  // namespace

template <class T>
Matrix<T> transport_labels(const Matrix<T>& logarithm, const std::vector<double>& prior, double sharpness,
                           int threads) {
    const Index n = logarithm.rows();
    const Index k = logarithm.cols();
    Vector<double> b = Vector<double>::Zero(k);
    TransportRounds<T> next_round(logarithm, prior, threads);

    // For a sharp transport, b is far from 0, and each round moves it only a little. So b is first found for a smooth
    // transport. Then the sharpness and b are doubled repeatedly.
    constexpr double dull = 10;       // exponents up to this size converge from b = 0
    constexpr int most_rounds = 300;  // per sharpness
    constexpr double close = 1e-2;    // for ln(mean / prior); labels are rounded to one-hot ones afterwards
    int doublings = 0;
    const double widest = sharpness * -static_cast<double>(logarithm.minCoeff());
    if (!std::isfinite(widest))
        throw BadArgument(Code::diverged, "training diverged: the predictions overflowed", "Lower `learning_rate`",
                          {.option = "learning_rate"});
    while (std::ldexp(widest, -doublings) > dull) ++doublings;
    for (; doublings >= 0; --doublings) {
        next_round.set_power(std::ldexp(sharpness, -doublings));
        b *= 2;
        for (int round = 0; round < most_rounds; ++round) {
            const Vector<double> next = next_round(b);
            const double worst = (next - b).cwiseAbs().maxCoeff();
            b = next;
            if (worst <= close) break;
        }
    }
    Matrix<T> y = Matrix<T>::Zero(n, k);
    for (Index i = 0; i < n; ++i) {
        Index best = 0;
        (sharpness * logarithm.row(i).template cast<double>() + b.transpose()).maxCoeff(&best);
        y(i, best) = T(1);
    }
    return y;
}

template <class T>
Matrix<T> alternating_labels(const Matrix<T>& probability, const FixedLabels<T>& fixed) {
    Matrix<T> y = probability;
    for (std::size_t f = 0; f < fixed.rows.size(); ++f) y.row(fixed.rows[f]) = fixed.labels.row(static_cast<Index>(f));
    const Vector<double> scale = y.template cast<double>()
                                     .colwise()
                                     .sum()
                                     .transpose()
                                     .cwiseMax(std::numeric_limits<T>::min())
                                     .cwiseSqrt()
                                     .cwiseInverse();
    y = probability * scale.template cast<T>().asDiagonal();
    y.array().colwise() /= y.rowwise().sum().array().eval();
    return y;
}

template <class T>
Trained<T> train(PointsView points, const LinearTrainingOptions& options, const Criterion& criterion,
                 const Constraints& constraints, Checkpoint& checkpoint, const Run& run) {
    if (options.gamma_start) {
        const auto refuse = [&](const char* problem, const char* remedy) {
            throw BadArgument(Code::conflict, problem, remedy,
                              {.option = "gamma_start", .value = to_text(*options.gamma_start)});
        };
        if (options.optimizer != Optimizer::lbfgs)
            refuse("`gamma_start` works only with `optimizer=lbfgs`", "Use that, or leave `gamma_start` out");
        if (*options.gamma_start < options.gamma)
            refuse("`gamma_start` is below `gamma`", "Use a value of at least `gamma`");
        if (options.gamma == 0)
            refuse("the penalty falls by a factor per epoch, never to `gamma=0`", "Use a `gamma` above 0");
        if (options.epochs == 1) refuse("the penalty falls over the epochs, but `epochs` is 1", "Use more `epochs`");
    }
    return Training<T>(points, options, criterion, constraints, checkpoint, run)();
}

#define COTERIE_INSTANTIATE(T)                                                                                 \
    template Trained<T> train(PointsView, const LinearTrainingOptions&, const Criterion&, const Constraints&,  \
                              Checkpoint&, const Run&);                                                        \
    template Matrix<T> transport_labels(const Matrix<T>&, const std::vector<double>&, double, int);            \
    template Matrix<T> alternating_labels(const Matrix<T>&, const FixedLabels<T>&);                            \
    template FixedLabels<T> fixed_labels(const Constraints&, std::span<const Index>, const Softmax<T>&);       \
    template LabelSolution<T> labels_of(const Criterion&, const Softmax<T>&, const FixedLabels<T>&, int);      \
    template double add_criterion_loss(const Criterion&, const Softmax<T>&, const Matrix<T>&, Matrix<T>&, int, \
                                       const std::vector<bool>&);                                              \
    template Labels likeliest_clusters(const Constraints&, const Matrix<T>&, Index);
COTERIE_INSTANTIATE(float)
COTERIE_INSTANTIATE(double)

}  // namespace coterie::internal
