// One pass gives means and root mean squares, from sums of rows and of squares per cluster. Dense rows are taken
// relative to the first row, so that an offset costs no digits. Sparse rows are taken relative to 0, so that only their
// entries count. An embedding that the fit did not keep is computed block by block, even for rows in memory, because a
// network rounds differently when it embeds more rows at once. Scales are root mean squares instead of medians, which
// need a second pass.
//
// Invariants: the same bits for any number of threads and processes, and for rows in memory and rows read in blocks.
// Multiplying all rows by 2 changes no score. No score is NaN.

#include "coterie/pipeline/outlier_scores.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/cluster_sums.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/kernels.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {

using internal::at;

namespace {

constexpr double kNoSpread = 1e-12;  // of a sum of squares; smaller values count as 0

// Per cluster: p sums of deviations from the origin, and the sum of their squares.
struct ClusterDeviations {
    internal::ClusterSumLayout layout;
    const std::vector<double>& origin;
    std::span<const double> weights;
    std::span<const std::int32_t> labels;
    Index first_label;  // the number of the row to which the first label belongs

    // Adds the row's weight to its cluster and returns the cluster's sums; nullptr if the weight is 0.
    double* of_row(double* sum, Index row) const {
        if (!(internal::weight_of(weights, row) > 0)) return nullptr;
        const Index j = labels[at(row - first_label)];
        double* const to = layout.touch(sum, j);
        layout.weight(sum, j) += internal::weight_of(weights, row);
        return to;
    }
    template <class Scalar>
    void add(const Rows<Scalar>& rows, Index first, double* sum) const {
        const auto& kernels = internal::kernels<Scalar>();
        for (Index i = 0; i < rows.rows; ++i) {
            double* const to = of_row(sum, first + i);
            if (to == nullptr) continue;
            const double weight = internal::weight_of(weights, first + i);
            kernels.add_deviation(to, rows.row(i), origin.data(), weight, rows.columns);
            to[rows.columns] += weight * kernels.squared_deviation(rows.row(i), origin.data(), rows.columns);
        }
    }
    template <class Scalar>
    void add(const SparsePoints& points, internal::Range rows, double* sum) const {
        for (Index i = rows.begin; i < rows.end; ++i) {
            double* const to = of_row(sum, i);
            if (to == nullptr) continue;
            const double weight = internal::weight_of(weights, i);
            const SparseRow<Scalar> row = points.row<Scalar>(i);
            for (Index e = 0; e < row.count; ++e) to[row.column(e)] += weight * static_cast<double>(row.values[e]);
            to[points.columns()] += weight * internal::squared_norm(row.values, row.count);
        }
    }
};

std::vector<double> as_vector(const Matrix<double>& row) { return {row.data(), row.data() + row.size()}; }

}  // namespace

OutlierScores OutlierScores::fit(const Model& model, const Points& points, std::span<const double> weights,
                                 const Run& run) {
    const auto k = static_cast<Index>(model.clusters());
    OutlierScores out;
    out.of_embedding_ = model.outputs().has(Output::embedding);
    const Matrix<double> embedding = model.kept_embedding();
    const bool whole = embedding.rows() > 0;
    const SparsePoints* const sparse = out.of_embedding_ ? nullptr : as_sparse(points);

    std::vector<double> origin(at(points.columns()), 0.0);
    if (whole) {
        origin = as_vector(embedding.topRows(1));
    } else if (sparse == nullptr) {
        const Index first = 0;
        const Points first_row = internal::gather_rows(points, std::span(&first, 1), run);
        internal::together(run.communicator(), [&] {
            origin = as_vector(out.of_embedding_ ? model.output(Output::embedding, first_row, run.alone())
                                                 : to_matrix<double>(first_row));
        });
    }
    const auto columns = static_cast<Index>(origin.size());

    RowBlocks grid = internal::grid_of(points);
    Labels all_labels;
    Index first_label = internal::own_rows(grid, run.communicator()).begin;
    if (sparse != nullptr) {  // blocks have many entries, so this process's blocks and its labels cover different rows
        all_labels = internal::gather(run.communicator(), model.labels());
        first_label = 0;
        grid = internal::grid_of(sparse->rows(), std::max<Index>(1, sparse->entries() / sparse->rows()));
    }
    const ClusterDeviations sums{
        internal::ClusterSumLayout(k, columns + 1), origin, weights,
        sparse != nullptr ? std::span<const std::int32_t>(all_labels) : std::span<const std::int32_t>(model.labels()),
        first_label};
    internal::BlockSums over_blocks = sums.layout.block_sums();
    const Stage stage{.name = "outliers", .operations = 4.0 * static_cast<double>(points.rows() * columns)};
    const auto total = [&]() -> std::span<const double> {
        if (sparse != nullptr)
            return over_blocks(grid, run, stage, [&](Index block, int, double* sum) {
                const internal::Range range{grid.begin(block), grid.end(block)};
                with_scalar(sparse->scalar(), [&]<class Scalar>() { sums.add<Scalar>(*sparse, range, sum); });
            });
        if (whole)
            return over_blocks(grid, run, stage, [&](Index block, int, double* sum) {
                const Index begin = grid.begin(block);
                sums.add(Rows<double>{embedding.row(begin).data(), grid.end(block) - begin, columns, columns}, begin,
                         sum);
            });
        if (!out.of_embedding_)
            return points.view().with_scalar([&]<class Scalar>() {
                return over_blocks.over<Scalar>(points, run, stage,
                                                [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                                                    sums.add(block.rows, block.first, sum);
                                                });
            });
        // One block at a time, because a network runs one computation at a time.
        Run in_turn = run;
        in_turn.threads = 1;
        internal::BlockReader reader(points, in_turn);
        Run reading = run.alone();
        reading.on_progress = nullptr;
        return over_blocks(grid, in_turn, stage, [&](Index block, int worker, double* sum) {
            const Matrix<double> embedded = model.output(Output::embedding, reader.rows(block, worker), reading);
            sums.add(PointsView(embedded).as<double>(), grid.begin(block), sum);
        });
    }();

    std::vector<double> weight(at(k), 0.0), squares(at(k), 0.0);
    Matrix<double> sum = Matrix<double>::Zero(k, columns);
    for (Index j = 0; j < k; ++j) {
        if (!sums.layout.touched(total.data(), j)) continue;
        const double* const from = sums.layout.sum(total.data(), j);
        weight[at(j)] = sums.layout.weight(total.data(), j);
        std::copy_n(from, columns, sum.row(j).data());
        squares[at(j)] = from[columns];
    }
    out.learn(weight, sum, squares, origin);
    return out;
}

void OutlierScores::learn(const std::vector<double>& weight, const Matrix<double>& sum,
                          const std::vector<double>& squares, const std::vector<double>& origin) {
    const Index k = sum.rows();
    // Converts sums relative to the origin to squares about the mean.
    const auto about_mean = [](double all, double of_sum, double of_weight) {
        const double out = all - of_sum / of_weight;
        return out > kNoSpread * all ? out : 0.0;
    };
    const double all_weight = std::accumulate(weight.begin(), weight.end(), 0.0);
    const eigen::Vector<double> all_sum = sum.colwise().sum().transpose();
    centroids_.resize(k, sum.cols());
    spreads_.assign(at(k), 0.0);
    double within = 0;
    for (Index j = 0; j < k; ++j) {
        const bool there = weight[at(j)] > 0;
        for (Index p = 0; p < sum.cols(); ++p)
            centroids_(j, p) = origin[at(p)] + (there ? sum(j, p) / weight[at(j)] : all_sum[p] / all_weight);
        if (!there) continue;
        const double own = about_mean(squares[at(j)], sum.row(j).squaredNorm(), weight[at(j)]);
        spreads_[at(j)] = std::sqrt(own / weight[at(j)]);
        within += own;
    }
    const double all =
        about_mean(std::accumulate(squares.begin(), squares.end(), 0.0), all_sum.squaredNorm(), all_weight);
    const double instead = within > 0 ? std::sqrt(within / all_weight) : all > 0 ? std::sqrt(all / all_weight) : 1.0;
    for (double& spread : spreads_)
        if (!(spread > 0)) spread = instead;
    set_norms();
}

void OutlierScores::set_norms() {
    norms_.clear();
    for (Index j = 0; j < centroids_.rows(); ++j)
        norms_.push_back(internal::squared_norm(centroids_.row(j).data(), centroids_.cols()));
}

std::vector<double> OutlierScores::of(PointsView rows, std::span<const std::int32_t> clusters) const {
    if (rows.columns() != centroids_.cols())
        throw BadData(Code::model_mismatch,
                      internal::filled("outlier_centroids of the model has {}, but the rows have {}",
                                       counted(centroids_.cols(), "column"), rows.columns()));
    const SparsePoints* const sparse = as_sparse(rows);
    std::vector<double> out(clusters.size());
    rows.with_scalar([&]<class Scalar>() {
        const auto& kernels = internal::kernels<Scalar>();
        for (std::size_t i = 0; i < clusters.size(); ++i) {
            const auto row = static_cast<Index>(i);
            const Index j = clusters[i];
            const double* const mean = centroids_.row(j).data();
            const double squared = sparse != nullptr
                                       ? internal::squared_distance(sparse->row<Scalar>(row), mean, norms_[at(j)])
                                       : kernels.squared_deviation(rows.as<Scalar>().row(row), mean, rows.columns());
            out[i] = std::sqrt(squared) / spreads_[at(j)];
        }
    });
    return out;
}

void OutlierScores::parts(Parts& parts, const Model& model) {
    of_embedding_ = model.outputs().has(Output::embedding);
    if (!parts.present("outlier_centroids", !empty())) return;
    parts.bind('k', model.clusters());
    const std::string space = of_embedding_ ? "in the embedding" : "as prepared";
    parts.add("outlier_centroids", centroids_, of_embedding_ ? "k x p" : "k x d",
              "the mean of the rows of each cluster, " + space + "; outlier scores are distances to these means");
    parts.add("outlier_spreads", spreads_, "k",
              "the root mean square of these distances in the training data, the unit of outlier scores", above(0));
    if (parts.reading()) set_norms();
}

double threshold_beyond(std::span<const double> own, Index beyond, const Run& run) {
    // Non-negative numbers have the same order as their bits. The loop finds sixteen bits at a time, from the highest.
    constexpr int step = 16;
    std::uint64_t found = 0;
    Index left = beyond;  // how many numbers that begin with the bits found are larger
    for (int shift = 64 - step; shift >= 0; shift -= step) {
        std::vector<Index> counts(std::size_t{1} << step, 0);
        for (const double number : own) {
            const auto bits = std::bit_cast<std::uint64_t>(number);
            if (shift + step < 64 && (bits >> (shift + step)) != (found >> (shift + step))) continue;
            ++counts[(bits >> shift) & (counts.size() - 1)];
        }
        counts = internal::add_up(run.communicator(), std::move(counts));
        std::size_t digit = counts.size() - 1;
        while (digit > 0 && left >= counts[digit]) left -= counts[digit--];
        found |= static_cast<std::uint64_t>(digit) << shift;
    }
    return std::bit_cast<double>(found);
}

}  // namespace coterie
