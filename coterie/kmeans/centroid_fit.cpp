// Sums over clusters touch only the clusters that a block of rows has members in (cluster_sums.hpp). Many clusters
// therefore cost no more than the rows. To fill empty clusters, each process keeps and sends at most as many candidate
// rows as could be needed.

#include "coterie/kmeans/centroid_fit.hpp"

#include <algorithm>
#include <numeric>

#include "coterie/base/checks.hpp"
#include "coterie/base/parallel/cluster_sums.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/kernels.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie::internal {

Points in_scalar(PointsView points, ScalarType scalar, const Run& run) {
    if (points.scalar() == scalar) return Points::borrow(points);
    const auto converted = [&]<class T>(T) {
        if (const SparsePoints* sparse = as_sparse(points))
            return Points(std::make_shared<const SparsePoints>(values_as<T>(*sparse)));
        return Points(to_matrix<T>(points));
    };
    Points out = scalar == ScalarType::float32 ? converted(float()) : converted(double());
    check_points(out, given_points(), run);  // a finite float64 value may be infinite in float32
    return out;
}

void require_squares(double largest, double least, const std::string& where) {
    if (largest == 0 || largest >= least) return;
    throw BadData(
        Code::overflow,
        filled("the largest magnitude is {}, so small that squared distances vanish{}; at least {} is accepted",
               to_text(largest), where, to_text(least)),
        "Rescale the columns",
        {.option = "points",
         .value = to_text(largest),
         .accepted = "largest magnitudes of at least " + to_text(least)});
}

void check_initial_centroids(PointsView centroids, PointsView points, int clusters, int restarts, const Run& run) {
    if (centroids.empty()) return;
    if (centroids.rows() != clusters || centroids.columns() != points.columns())
        throw BadArgument(Code::wrong_shape,
                          counted(centroids.rows(), "row") + " of " + counted(centroids.columns(), "column") + " for " +
                              counted(clusters, "cluster") + " of data with " + counted(points.columns(), "column"),
                          "Give one row per cluster, with the columns of the data", {.option = "initial_centroids"});
    if (restarts != 1)
        throw BadArgument(
            Code::conflict, filled("with `initial_centroids`, all {} restarts would give the same result", restarts),
            "Use `restarts=1`", {.option = "restarts", .value = std::to_string(restarts), .accepted = "1"});
    check_points(centroids, {.option = "initial_centroids"}, run);
}

Spread spread_of(PointsView points, std::span<const double> weights, const Run& run) {
    const ColumnMoments moments = column_moments(points, run, weights);
    const double total =
        weights.empty() ? static_cast<double>(points.rows()) : std::accumulate(weights.begin(), weights.end(), 0.0);
    return {moments.mean, moments.variance.mean(), total};
}

namespace {

// For sparse points, one cluster after the other. One thread adds the rows of a cluster in their order, so there is one
// sum of d numbers per cluster for any number of threads.
ClusterSums sparse_cluster_sums(const SparsePoints& points, const Labels& labels, int clusters,
                                std::span<const double> weights, const Run& run) {
    const Index d = points.columns();
    std::vector<Index> starts(at(clusters) + 1, 0);
    for (const std::int32_t label : labels) ++starts[at(label) + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    std::vector<Index> members(labels.size());
    std::vector<Index> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < labels.size(); ++i) members[at(next[at(labels[i])]++)] = static_cast<Index>(i);
    ClusterSums out{Matrix<double>(clusters, d), std::vector<double>(at(clusters), 0.0)};
    const Stage stage{.name = "sums", .operations = 2.0 * static_cast<double>(points.entries() + clusters * d)};
    PointsView(points).with_scalar([&]<class T>() {
        for_each_block(clusters, run, stage, [&](Index j, int) {
            double* const sum = out.sums.data() + j * d;
            std::fill_n(sum, d, 0.0);
            for (Index m = starts[at(j)]; m < starts[at(j) + 1]; ++m) {
                const Index i = members[at(m)];
                const double w = weight_of(weights, i);
                const SparseRow<T> row = points.row<T>(i);
                for (Index e = 0; e < row.count; ++e) sum[row.column(e)] += w * static_cast<double>(row.values[e]);
                out.mass[at(j)] += w;
            }
        });
    });
    return out;
}

}  // namespace

ClusterSums cluster_sums(PointsView points, const Labels& labels, int clusters, std::span<const double> weights,
                         const Run& run) {
    if (const SparsePoints* sparse = as_sparse(points))
        return sparse_cluster_sums(*sparse, labels, clusters, weights, run);
    const Index d = points.columns();
    const ClusterSumLayout layout(clusters, d);
    const Index first = own_rows(points, run).begin;
    BlockSums blocks = layout.block_sums();
    return points.with_scalar([&]<class T>() {
        const Kernels<T>& kernel = kernels<T>();
        const Stage stage{.name = "sums", .operations = 2.0 * static_cast<double>(points.rows() * d)};
        const auto total = blocks.over<T>(points, run, stage, [&](const RowBlock<T>& block, int, double* sums) {
            for (Index r = 0; r < block.rows.rows; ++r) {
                const Index i = block.first + r;
                const double w = weight_of(weights, i);
                const auto label = labels[at(i - first)];
                kernel.add_scaled(layout.touch(sums, label), block.rows.row(r), w, d);
                layout.weight(sums, label) += w;
            }
        });
        ClusterSums out{Matrix<double>::Zero(clusters, d), std::vector<double>(at(clusters), 0.0)};
        for (Index j = 0; j < clusters; ++j) {
            if (!layout.touched(total.data(), j)) continue;
            std::copy_n(layout.sum(total.data(), j), d, out.sums.data() + j * d);
            out.mass[at(j)] = layout.weight(total.data(), j);
        }
        return out;
    });
}

std::vector<Costly> costliest(const std::vector<double>& cost, const Labels& labels, Index first, std::size_t wanted,
                              Communicator& communicator) {
    std::vector<Costly> order;
    for (std::size_t i = 0; i < cost.size(); ++i) order.push_back({cost[i], first + static_cast<Index>(i), labels[i]});
    const auto keep = [&] {
        const std::size_t kept = std::min(order.size(), wanted);
        std::partial_sort(
            order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
            [](const Costly& a, const Costly& b) { return a.cost > b.cost || (a.cost == b.cost && a.row < b.row); });
        order.resize(kept);
    };
    keep();
    order = gather(communicator, order);
    keep();
    return order;
}

int move_to_empty(std::vector<Index>& members, const std::vector<Costly>& order,
                  FunctionRef<void(Index row, std::int32_t from, std::int32_t to)> move) {
    int moved = 0;
    std::size_t next = 0;
    for (std::int32_t j = 0; j < static_cast<std::int32_t>(members.size()); ++j) {
        if (members[at(j)] > 0) continue;
        while (next < order.size() && members[at(order[next].label)] < 2) ++next;
        if (next == order.size() || !(order[next].cost > 0)) break;
        const auto& [cost, row, old] = order[next++];
        --members[at(old)];
        members[at(j)] = 1;
        move(row, old, j);
        ++moved;
    }
    return moved;
}

int fill_empty_clusters(Labels& labels, int clusters, std::span<const double> weights, Range own,
                        FunctionRef<std::vector<double>()> costs, Communicator& communicator) {
    std::vector<Index> members(at(clusters), 0);
    for (Index i = 0; i < own.count(); ++i)
        if (weight_of(weights, own.begin + i) > 0) ++members[at(labels[at(i)])];
    members = add_up(communicator, members);
    const auto empty = static_cast<std::size_t>(std::count(members.begin(), members.end(), 0));
    if (empty == 0) return 0;
    const std::vector<Costly> order = costliest(costs(), labels, own.begin, empty + at(clusters), communicator);
    return move_to_empty(members, order, [&](Index row, std::int32_t, std::int32_t to) {
        if (own.has(row)) labels[at(row - own.begin)] = to;
    });
}

KeptFit::KeptFit(std::string_view method, const OptionValues& options, const Problem& problem, const Run& run,
                 bool by_row)
    : by_row_(by_row),
      rows_(problem.rows()),
      own_(by_row ? own_rows(problem.points, run) : Range{}),
      communicator_(run.communicator()),
      checkpoint_(run, std::string(method), options, fingerprint_of(problem, run)),
      found_(checkpoint_.found()),
      going_on_(found_ && found_->text("stage") == "iterations") {
    if (!found_) return;
    constexpr std::string_view fact = "fact.";
    for (const auto& [name, tensor] : found_->tensors())
        if (name.starts_with(fact)) facts[name.substr(fact.size())] = found_->vector(name, 1)[0];
}

void KeptFit::begin(Archive& archive, const char* stage) const {
    archive.set_text("stage", stage);
    for (const auto& [name, value] : facts) archive.set_vector("fact." + name, std::vector<double>{value});
}

void KeptFit::after_iteration(FunctionRef<void(Archive&)> store, const char* stage) {
    if (!checkpoint_.wanted()) return;
    last_ = checkpoint_.begin();
    begin(*last_, stage);
    restarts_(&*last_);
    store(*last_);
    if (checkpoint_.due()) checkpoint_.write(*last_);
}

void KeptFit::at_iteration(bool now, FunctionRef<void(Archive*)> store, const char* stage) {
    checkpoint_.write_parts(now, [&](Archive* archive) {
        if (archive != nullptr) begin(*archive, stage);
        restarts_(archive);
        store(archive);
    });
}

void KeptFit::after_restart() {
    going_on_ = false;
    if (by_row_)
        at_iteration(
            false, [](Archive*) {}, "restarts");
    else
        after_iteration([](Archive&) {}, "restarts");
}

void KeptFit::store_labels_by_row(Archive* archive, const std::string& name, const Labels& own) const {
    if (by_row_) store_labels(archive, name, own, communicator_);
}

void KeptFit::load_labels_by_row(const std::string& name, Labels& own) const {
    if (by_row_) own = own_labels(*found_, name, rows_, own_);
}

void KeptFit::write() {
    if (last_) checkpoint_.write(*last_);
}

Matrix<double> means_of(const Matrix<double>& points, const Labels& labels, const Matrix<double>& before, int threads) {
    const int k = static_cast<int>(before.rows());
    const ClusterSums found = cluster_sums(points, labels, k, {}, Run(0, threads));
    Matrix<double> out = before;
    for (Index j = 0; j < k; ++j)
        if (found.mass[at(j)] > 0) out.row(j) = found.sums.row(j) / found.mass[at(j)];
    return out;
}

void add_iteration(FitReport& report, double objective, int most, std::string_view stage, const Run& run) {
    report.objective = objective;
    report.objective_per_iteration.push_back(objective);
    ++report.iterations;
    run.report({.stage = stage,
                .fraction = static_cast<double>(report.iterations) / most,
                .objective = objective,
                .iteration = report.iterations});
}

bool stopped_between_iterations(FitReport& report, std::string_view stage, const Run& run) {
    if (!run.stop_requested()) return false;
    if (report.iterations == 0) run.throw_if_stopped(stage);
    report.stopped = StopReason::interrupted;
    return true;
}

void describe_fit(FitReport& report, Index points, Index dimensions, const Labels& labels, int clusters,
                  const Run& run) {
    report.points = points;
    report.dimensions = dimensions;
    count_clusters(report, labels, clusters, run);
    report.seed = run.seed;
    report.threads = run.threads;
}

void finish_report(FitReport& report, PointsView points, const Labels& labels, int clusters, Index distinct,
                   const Run& run) {
    describe_fit(report, points.rows(), points.columns(), labels, clusters, run);
    Message warning{.code = Code::fewer_clusters, .remedy = "Use fewer clusters"};
    if (distinct < clusters) warning.problem = "the data have only " + counted(distinct, "distinct row");
    if (report.clusters_found < clusters)
        warning.problem += filled("{}{} of {} clusters are empty", warning.problem.empty() ? "" : ", so ",
                                  clusters - report.clusters_found, clusters);
    if (!warning.problem.empty()) report.warnings.push_back(std::move(warning));
}

}  // namespace coterie::internal
