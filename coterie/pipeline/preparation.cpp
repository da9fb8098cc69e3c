// The mean and variance of a column take two passes; the second sums squared deviations from the mean. Sums of plain
// squares would lose digits in columns with a large offset. Each row is then prepared separately, in its own scalar
// type: immediately if the rows are in memory, otherwise when they are read.

#include "coterie/pipeline/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/checks.hpp"
#include "coterie/base/derived_rows.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/sparse_rows.hpp"
#include "coterie/model/model.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

const std::vector<std::string> scale_names = {"none", "minmax", "zscore", "unit"};

// Calls body(j, x, weight, state of column j) for each value x in column j of each row whose weight is above 0. The
// state of a column is as long as `start`, and begins as `start`. `merge` combines the states of blocks.
template <class Body, class Merge>
std::vector<double> reduce_columns(PointsView points, std::span<const double> weights, const Run& run,
                                   const std::vector<double>& start, Body body, Merge merge) {
    const Index columns = points.columns();
    const auto kinds = static_cast<Index>(start.size());
    internal::BlockSums blocks(
        columns * kinds,
        [&](double* sum) {
            for (Index j = 0; j < columns; ++j) std::copy_n(start.data(), kinds, sum + j * kinds);
        },
        [&](double* left, const double* right) {
            for (Index j = 0; j < columns; ++j) merge(left + j * kinds, right + j * kinds);
        });
    const Stage stage{.name = "preprocessing", .operations = 4.0 * static_cast<double>(points.rows() * columns)};
    return points.with_scalar([&]<class Scalar>() -> std::vector<double> {
        const auto total =
            blocks.over<Scalar>(points, run, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                for (Index r = 0; r < block.rows.rows; ++r) {
                    const double weight = internal::weight_of(weights, block.first + r);
                    if (weight == 0) continue;
                    const Scalar* row = block.rows.row(r);
                    for (Index j = 0; j < columns; ++j) body(j, static_cast<double>(row[j]), weight, sum + j * kinds);
                }
            });
        return {total.begin(), total.end()};
    });
}

std::string list_columns(const std::vector<std::size_t>& columns) {
    std::string out;
    constexpr std::size_t shown = 8;
    for (std::size_t i = 0; i < std::min(shown, columns.size()); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(columns[i] + 1);
    if (columns.size() > shown) out += filled(" and {} more", columns.size() - shown);
    return out;
}

void refuse_overflow(std::size_t column, std::string_view what) {
    throw BadData(Code::too_large, filled("the values are so large that their {} overflows", what),
                  "Rescale the column", {.option = "points", .column_number = static_cast<std::int64_t>(column) + 1});
}

}  // namespace

const OptionSet& PreparationOptions::described() {
    static const OptionSet set = OptionSetFor<PreparationOptions>()
                                     .flag("center", &PreparationOptions::center, "subtract each column's mean")
                                     .choice("scale", &PreparationOptions::scale, scale_names,
                                             "minmax: each column to a range of 1; zscore: each column to mean 0 and "
                                             "variance 1; unit: each row to length 1");
    return set;
}

Preparation Preparation::fit(PointsView points, const PreparationOptions& options, const Run& run,
                             std::span<const double> weights, const std::vector<bool>& indicators) {
    check_options(options);
    Preparation out;
    out.options_ = options;
    if (out.identity()) return out;
    if (points.rows() < 1 || points.columns() < 1)
        throw BadData(Code::empty, counted(points.rows(), "row") + " of " + counted(points.columns(), "column"),
                      "Give at least one row and one column", {.option = "points"});
    if (!weights.empty()) check_weights(weights, points.rows());

    const auto columns = at(points.columns());
    out.offset_.assign(columns, 0.0);
    out.factor_.assign(columns, 1.0);
    const bool by_column = options.scale == Scale::minmax || options.scale == Scale::zscore;
    if (!by_column && !options.center) return out;
    if (as_sparse(points) != nullptr)
        throw BadArgument(Code::not_supported,
                          "sparse rows cannot be centred, or scaled by column, because their zeros would not stay 0",
                          "Use `scale=unit`, or dense rows",
                          {.option = options.center ? "center" : "scale",
                           .value = options.center ? "yes" : scale_names[static_cast<std::size_t>(options.scale)],
                           .accepted = "`scale` unit or none"});

    const double total_weight =
        weights.empty() ? static_cast<double>(points.rows()) : std::accumulate(weights.begin(), weights.end(), 0.0);

    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> moments = reduce_columns(
        points, weights, run, {0.0, infinity, -infinity},
        [](Index, double x, double weight, double* column) {
            column[0] += weight * x;
            column[1] = std::min(column[1], x);
            column[2] = std::max(column[2], x);
        },
        [](double* left, const double* right) {
            left[0] += right[0];
            left[1] = std::min(left[1], right[1]);
            left[2] = std::max(left[2], right[2]);
        });
    const auto sum = [&](std::size_t j) { return moments[3 * j]; };
    const auto low = [&](std::size_t j) { return moments[3 * j + 1]; };
    const auto high = [&](std::size_t j) { return moments[3 * j + 2]; };

    std::vector<double> mean(columns);
    std::vector<std::size_t> constant;
    const auto scaled = [&](std::size_t j) { return indicators.empty() || !indicators[j]; };
    for (std::size_t j = 0; j < columns; ++j) {
        if (!std::isfinite(sum(j))) {
            require_finite(points, points_of_fit(), run);
            refuse_overflow(j, "sum");
        }
        if (!std::isfinite(high(j) - low(j))) refuse_overflow(j, "range");
        // The mean of a constant column is its value, without rounding errors.
        const bool is_constant = low(j) == high(j);
        mean[j] = is_constant ? low(j) : sum(j) / total_weight;
        if (is_constant && scaled(j)) constant.push_back(j);
    }

    for (std::size_t j = 0; j < columns; ++j)
        if (options.center || (options.scale == Scale::zscore && scaled(j))) out.offset_[j] = mean[j];
    // A range or deviation whose inverse is infinite counts as 0.
    const auto divide_by = [&](std::size_t j, double divisor) {
        if (divisor > 0 && std::isfinite(1.0 / divisor)) out.factor_[j] = 1.0 / divisor;
    };
    if (options.scale == Scale::minmax) {
        for (std::size_t j = 0; j < columns; ++j) {
            if (!scaled(j)) continue;
            if (!options.center) out.offset_[j] = low(j);
            divide_by(j, high(j) - low(j));
        }
    }
    if (options.scale == Scale::zscore) {
        const std::vector<double> squares = reduce_columns(
            points, weights, run, {0.0},
            [&mean](Index column, double x, double weight, double* square) {
                const double deviation = x - mean[at(column)];
                *square += weight * deviation * deviation;
            },
            [](double* left, const double* right) { *left += *right; });
        for (std::size_t j = 0; j < columns; ++j) {
            if (!scaled(j)) continue;
            if (!std::isfinite(squares[j])) refuse_overflow(j, "variance");
            if (low(j) < high(j)) divide_by(j, std::sqrt(squares[j] / total_weight));
        }
    }
    if (by_column && !constant.empty())
        out.warnings_.push_back({.code = Code::constant_column,
                                 .problem = (constant.size() == 1 ? "column " : "columns ") + list_columns(constant) +
                                            (constant.size() == 1 ? " has" : " have") +
                                            " the same value in every row, so scaling only shifts " +
                                            (constant.size() == 1 ? "it" : "them"),
                                 .remedy = "Use `exclude` to leave columns out"});
    return out;
}

Problem Preparation::apply(const Problem& problem, const Run& run, Index* zero_rows) const {
    if (zero_rows) *zero_rows = 0;
    Problem out = problem;
    if (identity() || problem.graph) return out;
    out.points = apply(problem.points, run, zero_rows);
    if (!problem.initial_centroids.empty()) out.initial_centroids = apply(problem.initial_centroids, run);
    return out;
}

Points Preparation::apply(const Points& points, const Run& run, Index* zero_rows) const {
    if (zero_rows) *zero_rows = 0;
    if (identity()) return points;
    if (points.columns() != static_cast<Index>(offset_.size()))
        throw BadArgument(
            Code::wrong_shape,
            filled("{}, but the model was fitted on {}", counted(points.columns(), "column"), offset_.size()), "",
            {.option = "points"});
    if (const SparsePoints* sparse = as_sparse(points);
        sparse != nullptr && options_.scale == Scale::unit && !options_.center) {
        std::vector<Index> zeros;
        Points out(std::make_shared<const SparsePoints>(internal::unit_rows(*sparse, run.threads, zeros)));
        if (zero_rows) *zero_rows = static_cast<Index>(zeros.size());
        return out;
    }
    const auto prepare = [*this](PointsView rows, Index, void* to) {
        return rows.visit([&]<class Scalar>(const Rows<Scalar>& from) {
            Index zeros = 0;
            for (Index i = 0; i < from.rows; ++i)
                zeros += prepare_row(from.row(i), static_cast<Scalar*>(to) + i * from.columns, from.columns) ? 0 : 1;
            return zeros;
        });
    };
    Points out;
    std::vector<double> zeros(1, 0.0);
    const Stage stage{.name = "preprocessing",
                      .operations = 4.0 * static_cast<double>(points.rows() * points.columns())};
    points.view().with_scalar([&]<class Scalar>() {
        if (!points.resident()) {
            out = internal::derived_rows(points, points.columns(), prepare);
            if (options_.scale != Scale::unit || zero_rows == nullptr) return;
            zeros = internal::sum_blocks<Scalar>(
                points, 1, run, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                    RowBuffer buffer;
                    void* const to = buffer.reserve(at(block.rows.rows * block.rows.columns) * sizeof(Scalar));
                    *sum += static_cast<double>(prepare(block.rows, block.first, to));
                });
            return;
        }
        require_memory(points.bytes(), "a centred and scaled copy of the rows");
        Matrix<Scalar> result(points.rows(), points.columns());
        // This process holds all rows. Other processes may read theirs in blocks; they do not take part in this sum.
        const Run own = run.communicator().size() > 1 ? run.alone().unstopped() : run;
        zeros = internal::sum_blocks<Scalar>(
            points, 1, own, stage, [&](const internal::RowBlock<Scalar>& block, int, double* sum) {
                *sum +=
                    static_cast<double>(prepare(block.rows, block.first, result.data() + block.first * result.cols()));
            });
        out = Points(std::move(result));
    });
    if (zero_rows) *zero_rows = static_cast<Index>(zeros.front());
    return out;
}

template <class Scalar>
bool Preparation::prepare_row(const Scalar* in, Scalar* to, Index columns) const {
    for (Index j = 0; j < columns; ++j)
        to[j] = static_cast<Scalar>((static_cast<double>(in[j]) - offset_[at(j)]) * factor_[at(j)]);
    return options_.scale != Scale::unit || internal::scale_to_unit(to, columns, to);
}

Message Preparation::zero_rows_warning(Index zero_rows) {
    return {.code = Code::zero_row,
            .problem = counted(zero_rows, "row") + (zero_rows == 1 ? " is" : " are") +
                       " all zero and cannot be scaled to norm 1; left unchanged"};
}

std::string Preparation::text() const {
    if (identity()) return "none";
    std::string out = options_.center ? "center" : "";
    if (options_.scale != Scale::none)
        out += (out.empty() ? "scale " : ", scale ") + scale_names[static_cast<std::size_t>(options_.scale)];
    return out;
}

void Preparation::store(Archive& archive) const {
    if (identity()) return;
    archive.set_text("preprocess", text());
    archive.set_vector("preprocess.offset", offset_);
    archive.set_vector("preprocess.factor", factor_);
}

Preparation Preparation::from(const Archive& archive) {
    Preparation out;
    const auto found = archive.texts().find("preprocess");
    if (found == archive.texts().end()) {
        if (archive.has("preprocess.offset") || archive.has("preprocess.factor"))
            throw BadData(Code::malformed,
                          "the model has tensors of preprocessing, but no text 'preprocess' that says how to use them");
        return out;
    }
    for (const bool center : {false, true}) {
        for (std::size_t scale = 0; scale < scale_names.size(); ++scale) {
            Preparation candidate;
            candidate.options_ = {center, static_cast<Scale>(scale)};
            if (candidate.identity() || candidate.text() != found->second) continue;
            candidate.offset_ = archive.vector("preprocess.offset");
            candidate.factor_ = archive.vector("preprocess.factor", static_cast<Index>(candidate.offset_.size()));
            return candidate;
        }
    }
    throw BadData(Code::model_mismatch, "the model was fitted with preprocessing '" + found->second +
                                            "', which this version of coterie does not support");
}

}  // namespace coterie
