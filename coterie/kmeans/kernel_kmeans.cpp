// Kernel k-means by Lloyd's iteration on a kernel matrix in memory. Distances to means in feature space are sums of its
// entries, so the iteration is the same for every kernel, even if only the matrix is given. Rows of the matrix are
// computed in blocks that depend on n alone, and every sum runs over the columns in order. Therefore the bits are the
// same with any number of threads, and predict uses the same kernel values as the fit.

#include "coterie/kmeans/kernel_kmeans.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/kmeans/ward.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/linalg/row_products.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

// k(x, y) from x . y and the squared norms of both.
double kernel_value(const KernelKMeansOptions& options, double product, double x_squared, double y_squared) {
    switch (options.kernel) {
        case KernelFunction::rbf: {
            const double squared = std::max(0.0, (x_squared + y_squared) - 2 * product);
            const double scaled = std::sqrt(squared) / *options.width;
            return std::exp(-0.5 * scaled * scaled);
        }
        case KernelFunction::polynomial: {
            const double base = *options.gamma * product + options.constant;
            double value = base;
            for (int e = 1; e < options.degree; ++e) value *= base;
            return value;
        }
        case KernelFunction::linear:
        case KernelFunction::precomputed: break;
    }
    return product;
}

// Kernel values between blocks of rows and fixed rows. They are rounded to T like the matrix of the fit, so predict
// uses the same values as the fit.
template <class T>
class KernelRows {
public:
    KernelRows(const KernelKMeansOptions& options, const Rows<T>& fixed, const Vector<double>& origin)
        : options_(options),
          origin_(origin),
          centred_(centred(fixed, origin)),
          squared_(internal::squared_norms(centred_)),
          products_(centred_) {
        centred_.resize(0, 0);
    }

    struct Scratch {
        Matrix<double> rows;
        Matrix<double> products;
        std::vector<const double*> pointers;
        internal::RowProducts::Scratch panel;
    };

    /// out(i - begin, j) = k(x_i, y_j) for rows begin..end-1. Returns false if a value is not finite.
    bool operator()(const Rows<T>& points, Index begin, Index end, Scratch& s, T* out, Index stride) const {
        internal::centred_rows(points, begin, end, origin_, s.rows);
        internal::row_pointers(s.rows, s.pointers);
        products_(s.pointers, s.products, s.panel);
        const Vector<double> squared = internal::squared_norms(s.rows);
        bool finite = true;
        for (Index i = 0; i < end - begin; ++i)
            for (Index j = 0; j < products_.count(); ++j) {
                const T value = static_cast<T>(kernel_value(options_, s.products(i, j), squared[i], squared_[j]));
                finite = finite && std::isfinite(value);
                out[i * stride + j] = value;
            }
        return finite;
    }

private:
    static Matrix<double> centred(const Rows<T>& fixed, const Vector<double>& origin) {
        Matrix<double> out;
        internal::centred_rows(fixed, 0, fixed.rows, origin, out);
        return out;
    }

    const KernelKMeansOptions& options_;
    Vector<double> origin_;
    Matrix<double> centred_;
    Vector<double> squared_;
    internal::RowProducts products_;
};

[[noreturn]] void refuse_overflow(ScalarType type, const char* option = "points") {
    throw BadData(Code::overflow, filled("values of the polynomial kernel overflow {}", name(type)),
                  "Scale the columns, or lower `gamma` or `degree`", {.option = option});
}

// The sums S_ij of rows begin..end-1, one per cluster; each runs over all columns in order. Four rows at a time keep
// the additions independent.
template <class T>
void cluster_sums(const Rows<T>& rows, Index begin, Index end, std::span<const std::int32_t> members,
                  std::span<const double> weights, int k, std::vector<double>& scratch, double* out) {
    for (Index i = begin; i < end; i += 4) {
        const Index count = std::min<Index>(4, end - i);
        scratch.assign(4 * at(k), 0.0);
        const T* row[4];
        for (Index r = 0; r < 4; ++r) row[r] = rows.row(i + std::min(r, count - 1));
        for (std::size_t j = 0; j < members.size(); ++j) {
            if (members[j] < 0) continue;
            double* sum = scratch.data() + 4 * at(members[j]);
            const double w = internal::weight_of(weights, static_cast<Index>(j));
            for (int r = 0; r < 4; ++r) sum[r] += w * static_cast<double>(row[r][j]);
        }
        for (Index r = 0; r < count; ++r)
            for (Index j = 0; j < k; ++j) *out++ = scratch[at(4 * j + r)];
    }
}

// argmin_j  -2 S_j / W_j + Q_j / W_j^2; ties go to the lowest j. `distance` receives the value.
std::int32_t nearest_mean(const double* sums, const std::vector<double>& mass, const std::vector<double>& self,
                          double& distance) {
    std::int32_t best = 0;
    distance = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < mass.size(); ++j) {
        if (!(mass[j] > 0)) continue;
        const double here = self[j] - 2 * sums[j] / mass[j];
        if (here < distance) {
            distance = here;
            best = static_cast<std::int32_t>(j);
        }
    }
    return best;
}

template <class T>
class KernelLloyd {
public:
    KernelLloyd(const Rows<T>& kernel, const KernelKMeansOptions& options, std::span<const double> weights,
                const Run& run)
        : kernel_(kernel), options_(options), weights_(weights), run_(run) {
        for (Index i = 0; i < n_; ++i) total_ += weight(i) * diagonal(i);
    }

    struct Result {
        Labels labels;
        std::vector<double> mass, self;
        double objective = 0;
        std::vector<double> objectives;
        int iterations = 0, repaired = 0;
        StopReason stopped = StopReason::iteration_limit;
    };

    /// Greedy k-means++ with the distances of the kernel. Labels are those of the nearest seed.
    Labels seeded(std::uint64_t repetition) const {
        RandomStream random = run_.random("kernel-kmeans.seeding", repetition);
        const int candidates = options_.seeding_candidates.value_or(usual_candidates(k_));
        std::vector<double> cumulative(at(n_));
        const auto draw = [&](const auto& share) {
            double sum = 0;
            for (Index i = 0; i < n_; ++i) cumulative[at(i)] = sum += share(i);
        };
        const auto pick = [&] {
            const double target = random.uniform() * cumulative.back();
            auto found = std::upper_bound(cumulative.begin(), cumulative.end(), target);
            // Rounding may select the end; then take the last row with a positive share.
            if (found == cumulative.end())
                found = std::lower_bound(cumulative.begin(), cumulative.end(), cumulative.back());
            return static_cast<Index>(found - cumulative.begin());
        };
        draw([&](Index i) { return weight(i); });
        Labels labels(at(n_), 0);
        std::vector<double> closest(at(n_));
        Index seed = pick();
        for (Index i = 0; i < n_; ++i) closest[at(i)] = squared_distance(seed, i);
        for (int j = 1; j < k_; ++j) {
            run_.throw_if_stopped("seeding");
            run_.report({.stage = "seeding",
                         .fraction = static_cast<double>(j) / k_,
                         .objective = std::numeric_limits<double>::quiet_NaN(),
                         .iteration = j});
            draw([&](Index i) { return weight(i) * closest[at(i)]; });
            if (!(cumulative.back() > 0)) break;
            std::vector<Index> drawn(at(candidates));
            for (auto& each : drawn) each = pick();
            std::vector<double> potential(drawn.size(), 0.0);
            for_each_block(candidates, run_.threads, [&](Index c, int) {
                for (Index i = 0; i < n_; ++i)
                    potential[at(c)] += weight(i) * std::min(closest[at(i)], squared_distance(drawn[at(c)], i));
            });
            seed = drawn[at(std::min_element(potential.begin(), potential.end()) - potential.begin())];
            for (Index i = 0; i < n_; ++i) {
                const double squared = squared_distance(seed, i);
                if (squared < closest[at(i)]) {
                    closest[at(i)] = squared;
                    labels[at(i)] = j;
                }
            }
        }
        return labels;
    }

    Result operator()(Labels labels, const internal::Restart& restart) {
        Result out;
        out.labels = std::move(labels);
        evaluate(out.labels);
        out.objective = objective_;
        while (true) {
            if (run_.stop_requested()) {
                out.stopped = StopReason::interrupted;
                break;
            }
            if (out.iterations == options_.max_iterations) break;
            Labels next = assigned();
            const int repaired = repair(next);
            const bool changed = next != out.labels;
            const std::vector<double> mass = mass_;
            const std::vector<double> self = self_;
            if (changed) evaluate(next);
            ++out.iterations;
            // Only rounding, or a matrix that is not positive semidefinite, can keep the objective from falling.
            const bool fell = changed && objective_ < out.objective;
            const double drop = fell ? out.objective - objective_ : 0;
            if (fell) {
                out.labels = std::move(next);
                out.objective = objective_;
                out.repaired += repaired;
            } else {
                mass_ = mass;
                self_ = self;
            }
            out.objectives.push_back(out.objective);
            restart.report(run_, out.iterations, options_.max_iterations, out.objective);
            if (!fell || drop <= options_.tolerance * std::abs(out.objective)) {
                out.stopped = StopReason::converged;
                break;
            }
        }
        out.mass = mass_;
        out.self = self_;
        return out;
    }

private:
    double weight(Index i) const { return internal::weight_of(weights_, i); }
    double diagonal(Index i) const { return static_cast<double>(kernel_.row(i)[i]); }
    // The largest squared distance that rounding of the matrix alone can produce from 0.
    static double noise(double scale) {
        return 16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(scale);
    }

    double squared_distance(Index i, Index j) const {
        const double scale = diagonal(i) + diagonal(j);
        const double squared = scale - 2 * static_cast<double>(kernel_.row(i)[j]);
        return squared > noise(scale) ? squared : 0.0;
    }

    // Computes S, W, Q / W^2 and the objective for given labels.
    void evaluate(const Labels& labels) {
        const RowBlocks blocks{n_, 64};
        std::vector<std::vector<double>> scratch(at(std::max(1, run_.threads)));
        for_each_block(blocks.count(), run_.threads, [&](Index block, int worker) {
            cluster_sums<T>(kernel_, blocks.begin(block), blocks.end(block), labels, weights_, k_, scratch[at(worker)],
                            sums_.data() + blocks.begin(block) * k_);
        });
        mass_.assign(at(k_), 0.0);
        self_.assign(at(k_), 0.0);
        for (Index i = 0; i < n_; ++i) {
            const auto j = static_cast<std::size_t>(labels[at(i)]);
            mass_[j] += weight(i);
            self_[j] += weight(i) * sums_(i, labels[at(i)]);
        }
        objective_ = total_;
        for (std::size_t j = 0; j < mass_.size(); ++j) {
            if (!(mass_[j] > 0)) continue;
            objective_ -= self_[j] / mass_[j];
            self_[j] /= mass_[j] * mass_[j];
        }
    }

    Labels assigned() const {
        Labels out(at(n_));
        const RowBlocks blocks{n_, 1024};
        for_each_block(blocks.count(), run_.threads, [&](Index block, int) {
            double distance = 0;
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                out[at(i)] = nearest_mean(sums_.data() + i * k_, mass_, self_, distance);
        });
        return out;
    }

    // Gives clusters without weight the points that add most to the objective, from clusters that keep another point.
    // Distances are those of the last evaluation.
    int repair(Labels& labels) const {
        const auto costs = [&] {
            std::vector<double> out(at(n_), 0.0);
            for (Index i = 0; i < n_; ++i) {
                double distance = 0;
                nearest_mean(sums_.data() + i * k_, mass_, self_, distance);
                if (distance + diagonal(i) > noise(diagonal(i)) * 4) out[at(i)] = weight(i) * (distance + diagonal(i));
            }
            return out;
        };
        return internal::fill_empty_clusters(labels, k_, weights_, {0, n_}, costs, run_.communicator());
    }

    Rows<T> kernel_;
    const KernelKMeansOptions& options_;
    std::span<const double> weights_;
    const Run& run_;
    Index n_ = kernel_.rows;
    int k_ = options_.clusters;
    Matrix<double> sums_ = Matrix<double>(n_, k_);
    std::vector<double> mass_, self_;
    double total_ = 0;  // sum_i w_i K_ii
    double objective_ = 0;
};

template <class T>
void check_kernel_matrix(const Rows<T>& kernel, int threads) {
    if (kernel.rows != kernel.columns)
        throw BadArgument(
            Code::wrong_shape,
            filled("a precomputed kernel matrix must be square, not {} x {}", kernel.rows, kernel.columns),
            "Give the kernel of each row with each row, or use another `kernel`",
            {.option = "kernel", .value = "precomputed"});
    const double slack = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
    const RowBlocks blocks{kernel.rows, 64};
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            if (kernel.row(i)[i] < 0) {
                const std::string value = to_text(static_cast<double>(kernel.row(i)[i]));
                throw BadData(Code::not_accepted,
                              value + " is not accepted: the diagonal of a kernel matrix is never negative", "",
                              {.option = "points",
                               .value = value,
                               .accepted = "at least 0",
                               .row = i + 1,
                               .column_number = i + 1});
            }
            for (Index j = 0; j < i; ++j) {
                const auto a = static_cast<double>(kernel.row(i)[j]);
                const auto b = static_cast<double>(kernel.row(j)[i]);
                if (std::abs(a - b) > slack * std::max(std::abs(a), std::abs(b)) &&
                    std::abs(a - b) > slack * std::sqrt(static_cast<double>(kernel.row(i)[i]) *
                                                        static_cast<double>(kernel.row(j)[j])))
                    throw BadData(
                        Code::not_accepted,
                        filled("{} differs from {} on the other side of the diagonal, but a kernel matrix is symmetric",
                               to_text(a), to_text(b)),
                        "", {.option = "points", .value = to_text(a), .row = i + 1, .column_number = j + 1});
            }
        }
    });
}

// Median of the positive distances within a sample of at most 1000 rows; 1 if there are none.
template <class T>
double median_distance(const Rows<T>& points, std::span<const double> weights, const Run& run) {
    std::vector<Index> rows;
    for (Index i = 0; i < points.rows; ++i)
        if (internal::weight_of(weights, i) > 0) rows.push_back(i);
    RandomStream random = run.random("kernel-kmeans.width");
    const std::size_t sample = std::min<std::size_t>(rows.size(), 1000);
    for (std::size_t i = 0; i < sample; ++i) std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
    const auto& kernels = internal::kernels<T>();
    std::vector<std::vector<double>> found(sample);
    for_each_block(static_cast<Index>(sample), run.threads, [&](Index i, int) {
        for (Index j = 0; j < i; ++j) {
            const auto squared = static_cast<double>(
                kernels.squared_distance(points.row(rows[at(i)]), points.row(rows[at(j)]), points.columns));
            if (squared > 0) found[at(i)].push_back(squared);
        }
    });
    std::vector<double> all;
    for (const auto& each : found) all.insert(all.end(), each.begin(), each.end());
    if (all.empty()) return 1;
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return std::sqrt(*middle);
}

// The origin, which is subtracted from every row. Distances, and thus rbf values and linear partitions, do not depend
// on it. Products are most accurate if the origin is close to most points. One distant point can move the mean away
// from them, so the origin is a median.
template <class T>
Vector<double> origin_of(const Rows<T>& points, const KernelKMeansOptions& options) {
    if (options.kernel == KernelFunction::polynomial || options.kernel == KernelFunction::precomputed)
        return Vector<double>::Zero(points.columns);
    std::vector<const T*> rows;
    for (Index i = 0; i < points.rows; i += std::max<Index>(1, points.rows / 128)) rows.push_back(points.row(i));
    return internal::CentroidPanels<T>::medians(rows, points.columns).template cast<double>();
}

// k(x_i, x_j), n x n.
template <class T>
Matrix<T> kernel_matrix(const KernelKMeansOptions& options, const Rows<T>& points, const Vector<double>& origin,
                        const Run& run) {
    const Index n = points.rows;
    Matrix<T> kernel(n, n);
    const KernelRows<T> with_points(options, points, origin);
    const RowBlocks blocks{n, 48};
    const Index strip = 64;  // number of blocks between two calls of throw_if_stopped()
    std::vector<typename KernelRows<T>::Scratch> scratch(at(std::max(1, run.threads)));
    std::vector<char> finite(at(blocks.count()), 1);
    for (Index first = 0; first < blocks.count(); first += strip) {
        run.throw_if_stopped("kernel matrix");
        for_each_block(std::min(strip, blocks.count() - first), run.threads, [&](Index b, int worker) {
            const Index block = first + b;
            finite[at(block)] = with_points(points, blocks.begin(block), blocks.end(block), scratch[at(worker)],
                                            kernel.data() + blocks.begin(block) * n, n);
        });
        run.report({.stage = "kernel matrix",
                    .fraction = static_cast<double>(std::min(first + strip, blocks.count())) /
                                static_cast<double>(blocks.count()),
                    .objective = std::numeric_limits<double>::quiet_NaN(),
                    .iteration = 0});
    }
    if (std::find(finite.begin(), finite.end(), 0) != finite.end()) refuse_overflow(scalar_type_of<T>());
    return kernel;
}

// Labels of the nearest given centroids.
template <class T>
Labels labels_near(PointsView initial_centroids, const KernelKMeansOptions& options, const Rows<T>& points,
                   const Vector<double>& origin, const Run& run) {
    const Matrix<T> centroids = to_matrix<T>(initial_centroids);
    const Rows<T> view{centroids.data(), centroids.rows(), centroids.cols(), centroids.cols()};
    const KernelRows<T> with_centroids(options, view, origin);
    typename KernelRows<T>::Scratch scratch;
    Matrix<T> among(view.rows, view.rows);
    if (!with_centroids(view, 0, view.rows, scratch, among.data(), view.rows))
        refuse_overflow(scalar_type_of<T>(), "initial_centroids");
    // The nearest centroid in feature space.
    const Index k = view.rows;
    const RowBlocks blocks{points.rows, 256};
    Labels labels(at(points.rows));
    for_each_block(blocks.count(), run.threads, [&](Index block, int) {
        typename KernelRows<T>::Scratch own;
        Matrix<T> values(blocks.size, k);
        const Index begin = blocks.begin(block);
        with_centroids(points, begin, blocks.end(block), own, values.data(), k);
        for (Index i = begin; i < blocks.end(block); ++i) {
            Index best = 0;
            const auto distance = [&](Index j) {
                return static_cast<double>(among(j, j)) - 2 * static_cast<double>(values(i - begin, j));
            };
            for (Index j = 1; j < k; ++j)
                if (distance(j) < distance(best)) best = j;
            labels[at(i)] = static_cast<std::int32_t>(best);
        }
    });
    return labels;
}

bool weighs(std::span<const double> weights, Index i) { return internal::weight_of(weights, i) > 0; }

// Renumbers the clusters so that those with a point of positive weight come first, in their order. Returns the number
// of empty clusters.
template <class Result>
Index number_empty_last(Result& found, std::span<const double> weights) {
    const std::size_t clusters = found.mass.size();
    std::vector<Index> members(clusters, 0);
    for (std::size_t i = 0; i < found.labels.size(); ++i)
        if (weighs(weights, static_cast<Index>(i))) ++members[at(found.labels[i])];
    std::vector<std::int32_t> renumbered(clusters, 0);
    std::int32_t next = 0;
    for (const bool filled : {true, false})
        for (std::size_t j = 0; j < clusters; ++j)
            if ((members[j] > 0) == filled) renumbered[j] = next++;
    std::vector<double> mass(clusters, 0.0);
    std::vector<double> self(clusters, 0.0);
    for (std::size_t j = 0; j < clusters; ++j) {
        if (members[j] == 0) continue;
        mass[at(renumbered[j])] = found.mass[j];
        self[at(renumbered[j])] = found.self[j];
    }
    found.mass = std::move(mass);
    found.self = std::move(self);
    for (auto& label : found.labels) label = renumbered[at(label)];
    return std::count(members.begin(), members.end(), Index{0});
}

void describe_kernel_fit(FitReport& report, const KernelKMeansOptions& options, const Labels& labels, Index empty,
                         Index columns, const Run& run) {
    internal::describe_fit(report, static_cast<Index>(labels.size()), columns, labels, options.clusters, run);
    report.empty_cluster_policy = "an empty cluster gets the row that adds most to the objective";
    if (empty > 0)
        report.warnings.push_back({.code = Code::fewer_clusters,
                                   .problem = filled("{} of {} clusters are empty: the kernel distinguishes too few "
                                                     "rows, or the iterations ended too early",
                                                     empty, options.clusters),
                                   .remedy = "Use fewer clusters, or raise `max_iterations`"});
    if (options.kernel == KernelFunction::rbf) report.details.emplace_back("width", *options.width);
    if (options.kernel == KernelFunction::polynomial) report.details.emplace_back("gamma", *options.gamma);
}

// The means of the labels over the points of positive weight. A linear kernel needs nothing else to predict.
Points means_of(PointsView points, Labels labels, int clusters, std::span<const double> weights, const Run& run) {
    for (std::size_t i = 0; i < labels.size(); ++i)
        if (!weighs(weights, static_cast<Index>(i))) labels[i] = -1;
    return cluster_means(points, labels, clusters, weights, run);
}

}  // namespace

const OptionSet& KernelKMeansOptions::described() {
    using Options = KernelKMeansOptions;
    static const OptionSet set =
        OptionSetFor<Options>()
            .integer("clusters", &Options::clusters, at_least(1), "number of clusters k")
            .letter('k')
            .choice("kernel", &Options::kernel, {"rbf", "polynomial", "linear", "precomputed"},
                    "kernel function; precomputed: the data are the n x n kernel matrix")
            .real("width", &Options::width, above(0),
                  "width of the rbf kernel exp(-|x - y|^2 / (2 width^2)); with larger values, more distant rows count "
                  "as similar",
                  "the median distance between rows of a sample of 1000")
            .real("gamma", &Options::gamma, above(0), "factor of the polynomial kernel (gamma x.y + constant)^degree",
                  "1 / number of columns")
            .real("constant", &Options::constant, at_least(0), "constant of the polynomial kernel")
            .integer("degree", &Options::degree, between(1, 100), "degree of the polynomial kernel")
            .integer("restarts", &Options::restarts, at_least(1),
                     "number of runs from different starts; the run with the smallest objective is kept")
            .integer("max_iterations", &Options::max_iterations, at_least(1), "maximum number of iterations per run")
            .real("tolerance", &Options::tolerance, at_least(0),
                  "stop when an iteration lowers the objective by at most this fraction; 0: stop when no label changes")
            .integer("seeding_candidates", &Options::seeding_candidates, between(1, 10000),
                     "number of candidates that each step of greedy k-means++ compares; 1 is plain k-means++",
                     "2 + 2 ln k");
    return set;
}

KernelKMeansModel KernelKMeansMethod::fit(const Problem& problem, const KernelKMeansOptions& options, const Run& run) {
    const PointsView points = problem.points;
    check_clustering_input(points, options.clusters, problem.weights, run);
    const bool precomputed = options.kernel == KernelFunction::precomputed;
    if (!problem.initial_centroids.empty()) {
        if (precomputed)
            throw BadArgument(Code::conflict,
                              "`kernel=precomputed` has no coordinates, so initial centroids cannot be used",
                              "Leave them out", {.option = "initial_centroids"});
        internal::check_initial_centroids(problem.initial_centroids, points, options.clusters, options.restarts, run);
    }
    return points.visit([&]<class T>(const Rows<T>& rows) {
        const Index n = rows.rows;
        const auto count = static_cast<double>(n);
        if (precomputed) check_kernel_matrix(rows, run.threads);
        require_memory(count * ((precomputed ? 0.0 : count * sizeof(T) + 16.0 * static_cast<double>(rows.columns)) +
                                8.0 * options.clusters + 64),
                       filled("kernel k-means of {} rows (an n x n kernel matrix)", n));
        Stopwatch watch;
        KernelKMeansModel model;
        model.dimensions_ = rows.columns;
        KernelKMeansOptions& used = model.options_ = options;
        if (used.kernel == KernelFunction::rbf && !used.width) used.width = median_distance(rows, problem.weights, run);
        if (used.kernel == KernelFunction::polynomial && !used.gamma)
            used.gamma = 1 / static_cast<double>(rows.columns);
        const Vector<double> origin = origin_of(rows, options);
        Matrix<T> computed;
        Rows<T> kernel = rows;
        if (!precomputed) {
            computed = kernel_matrix(model.options_, rows, origin, run);
            kernel = {computed.data(), n, n, n};
        }
        Labels start;
        if (!problem.initial_centroids.empty())
            start = labels_near(problem.initial_centroids, model.options_, rows, origin, run);

        FitReport& report = model.report_;
        report.seconds.emplace_back("kernel matrix", watch.restart());
        KernelLloyd<T> lloyd(kernel, model.options_, problem.weights, run);
        internal::KeptFit kept(name, KernelKMeansOptions::described().values(&options), problem, run);  // keeps nothing
        auto best = internal::best_of(
            options.restarts, report, kept,
            [&](int restart) { return start.empty() ? lloyd.seeded(static_cast<std::uint64_t>(restart)) : start; },
            [&](Labels from, const internal::Restart& restart) { return lloyd(std::move(from), restart); });
        const Index empty = number_empty_last(best, problem.weights);
        model.mass_ = std::move(best.mass);
        model.self_ = std::move(best.self);
        model.labels_ = std::move(best.labels);
        describe_kernel_fit(report, model.options_, model.labels_, empty, rows.columns, run);

        // The members that predict needs.
        if (options.kernel == KernelFunction::linear) {
            model.centroids_ = means_of(points, model.labels_, options.clusters, problem.weights, run);
            return model;
        }
        std::vector<Index> needed;
        for (Index i = 0; i < n; ++i) {
            const bool counts = weighs(problem.weights, i);
            if (!counts && !precomputed) continue;
            needed.push_back(i);
            model.members_.push_back(counts ? model.labels_[at(i)] : -1);
            if (!problem.weights.empty()) model.weights_.push_back(problem.weights[at(i)]);
        }
        if (!precomputed) {
            model.points_ = rows_of(rows, needed);
            model.origin_.assign(origin.data(), origin.data() + origin.size());
        }
        return model;
    });
}

Labels KernelKMeansModel::predict_checked(PointsView given, const Run& run) const {
    const ScalarType own = options_.kernel == KernelFunction::linear        ? centroids_.scalar()
                           : options_.kernel == KernelFunction::precomputed ? given.scalar()
                                                                            : points_.scalar();
    const Points points = internal::in_scalar(given, own, run);
    if (options_.kernel == KernelFunction::linear) return nearest_centroids(points, centroids_, run.threads).labels;
    return points.view().visit([&]<class T>(const Rows<T>& rows) {
        const int k = options_.clusters;
        Labels labels(at(rows.rows));
        std::optional<KernelRows<T>> kernel;
        if (options_.kernel != KernelFunction::precomputed)
            kernel.emplace(options_, points_.view().as<T>(),
                           Vector<double>(Eigen::Map<const eigen::Vector<double>>(origin_.data(), dimensions_)));
        const auto columns = static_cast<Index>(members_.size());
        const RowBlocks blocks{rows.rows, 48};
        struct Scratch {
            typename KernelRows<T>::Scratch rows;
            Matrix<T> values;
            std::vector<double> accumulators;
            std::vector<double> sums;
        };
        std::vector<Scratch> scratch(at(std::max(1, run.threads)));
        for_each_block(blocks.count(), run.threads, [&](Index block, int worker) {
            Scratch& s = scratch[at(worker)];
            const Index begin = blocks.begin(block), end = blocks.end(block);
            Rows<T> values{rows.row(begin), end - begin, columns, rows.stride};
            if (kernel) {
                s.values.resize(blocks.size, columns);
                if (!(*kernel)(rows, begin, end, s.rows, s.values.data(), columns))
                    refuse_overflow(scalar_type_of<T>());
                values = {s.values.data(), end - begin, columns, columns};
            }
            s.sums.resize(at((end - begin) * k));
            cluster_sums<T>(values, 0, values.rows, members_, weights_, k, s.accumulators, s.sums.data());
            double distance = 0;
            for (Index i = begin; i < end; ++i)
                labels[at(i)] = nearest_mean(s.sums.data() + (i - begin) * k, mass_, self_, distance);
        });
        return labels;
    });
}

void KernelKMeansModel::parts(Parts& parts) {
    if (options_.kernel == KernelFunction::linear) {
        parts.add("centroids", centroids_, "k x d", "the centroid of each cluster");
        if (parts.reading()) dimensions_ = centroids_.columns();
        return;
    }
    parts.add("members", members_, "n", "the cluster of each row of the training data; -1: its weight is 0",
              between(-1, options_.clusters - 1));
    parts.add("mass", mass_, "k", "the weight of each cluster", at_least(0));
    parts.add("self", self_, "k", "the squared length of each centroid in feature space");
    if (parts.present("weights", !weights_.empty()))
        parts.add("weights", weights_, "n", "the weight of each row of the training data", at_least(0));
    if (options_.kernel == KernelFunction::precomputed) {
        if (parts.reading()) dimensions_ = static_cast<Index>(members_.size());
    } else {
        parts.add("points", points_, "n x d", "the rows of the training data");
        parts.add("origin", origin_, "d", "the values subtracted from every row");
        if (parts.reading()) dimensions_ = points_.columns();
    }
    if (!parts.reading()) return;
    const auto refuse = [](const char* problem) { throw BadData(Code::malformed, problem); };
    if (std::none_of(mass_.begin(), mass_.end(), [](double mass) { return mass > 0; }))
        refuse("all clusters of the model are empty");
    if (options_.kernel == KernelFunction::rbf && !options_.width)
        refuse("the model has an rbf kernel without a `width`");
    if (options_.kernel == KernelFunction::polynomial && !options_.gamma)
        refuse("the model has a polynomial kernel without a `gamma`");
}

}  // namespace coterie
