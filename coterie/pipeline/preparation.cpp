#include "coterie/pipeline/preparation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/model/model.hpp"

namespace coterie {
namespace {

constexpr Index rows_a_block = 4096;
const std::vector<std::string> scale_names = {"none", "minmax", "zscore", "unit"};

struct Column {
    double sum = 0;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
};

// Calls body(j, x, weight, partial of column j) for every entry of a row that weighs something, and hands the blocks'
// partials to `merge` in block order.
template <class Partial, class Body, class Merge>
std::vector<Partial> reduce_columns(PointsView points, std::span<const double> weights, int threads, Body body,
                                    Merge merge) {
    const RowBlocks blocks{points.rows(), rows_a_block};
    const auto columns = static_cast<std::size_t>(points.columns());
    std::vector<std::vector<Partial>> partials(static_cast<std::size_t>(blocks.count()));
    points.visit([&](auto rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            std::vector<Partial> mine(columns);
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
                if (weight == 0) continue;
                const auto* row = rows.row(i);
                for (std::size_t j = 0; j < columns; ++j) body(j, static_cast<double>(row[j]), weight, mine[j]);
            }
            partials[static_cast<std::size_t>(block)] = std::move(mine);
        });
    });
    std::vector<Partial> total(columns);
    for (const auto& partial : partials)
        for (std::size_t j = 0; j < columns; ++j) merge(total[j], partial[j]);
    return total;
}

std::string list_columns(const std::vector<std::size_t>& columns) {
    std::string out;
    constexpr std::size_t shown = 8;
    for (std::size_t i = 0; i < std::min(shown, columns.size()); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(columns[i] + 1);
    if (columns.size() > shown) out += " and " + std::to_string(columns.size() - shown) + " more";
    return out;
}

void refuse_overflow(std::size_t column, std::string_view what) {
    throw BadData("preprocessing: column " + std::to_string(column + 1) + ": the values are so large that their " +
                  std::string(what) + " overflows; rescale the column");
}

}  // namespace

const OptionSet& PreparationOptions::described() {
    static const OptionSet set = OptionSetFor<PreparationOptions>()
                                     .flag("center", &PreparationOptions::center, "subtract each column's mean")
                                     .choice("scale", &PreparationOptions::scale, scale_names,
                                             "minmax: each column to a range of 1; zscore: each column to mean 0 and "
                                             "variance 1; unit: each row to norm 1");
    return set;
}

Preparation Preparation::fit(PointsView points, const PreparationOptions& options, const Run& run,
                             std::span<const double> weights) {
    check_options(options);
    Preparation out;
    out.options_ = options;
    if (out.identity()) return out;
    if (points.rows() < 1 || points.columns() < 1)
        throw BadData("preprocessing: " + std::to_string(points.rows()) + " rows of " +
                      std::to_string(points.columns()) + " columns; at least one row and one column are needed");
    if (!weights.empty()) check_weights(weights, points.rows());

    const auto columns = static_cast<std::size_t>(points.columns());
    out.offset_.assign(columns, 0.0);
    out.factor_.assign(columns, 1.0);
    const bool by_column = options.scale == Scale::minmax || options.scale == Scale::zscore;
    if (!by_column && !options.center) return out;

    double total_weight = 0;
    for (const double weight : weights) total_weight += weight;
    if (weights.empty()) total_weight = static_cast<double>(points.rows());

    const auto moments = reduce_columns<Column>(
        points, weights, run.threads,
        [](std::size_t, double x, double weight, Column& column) {
            column.sum += weight * x;
            column.low = std::min(column.low, x);
            column.high = std::max(column.high, x);
        },
        [](Column& total, const Column& part) {
            total.sum += part.sum;
            total.low = std::min(total.low, part.low);
            total.high = std::max(total.high, part.high);
        });

    std::vector<double> mean(columns);
    std::vector<std::size_t> constant;
    for (std::size_t j = 0; j < columns; ++j) {
        if (!std::isfinite(moments[j].sum)) refuse_overflow(j, "sum");
        if (!std::isfinite(moments[j].high - moments[j].low)) refuse_overflow(j, "range");
        // A constant column's mean is that constant, not the constant give or take rounding.
        const bool is_constant = moments[j].low == moments[j].high;
        mean[j] = is_constant ? moments[j].low : moments[j].sum / total_weight;
        if (is_constant) constant.push_back(j);
    }

    if (options.center || options.scale == Scale::zscore) out.offset_ = mean;
    if (options.scale == Scale::minmax) {
        for (std::size_t j = 0; j < columns; ++j) {
            const double range = moments[j].high - moments[j].low;
            if (!options.center) out.offset_[j] = moments[j].low;
            if (range > 0) out.factor_[j] = 1.0 / range;
            if (!std::isfinite(out.factor_[j]))
                out.factor_[j] = 1.0;  // a range below the smallest normal number is no range
        }
    }
    if (options.scale == Scale::zscore) {
        const auto squares = reduce_columns<double>(
            points, weights, run.threads,
            [&mean](std::size_t j, double x, double weight, double& sum) {
                sum += weight * (x - mean[j]) * (x - mean[j]);
            },
            [](double& total, double part) { total += part; });
        for (std::size_t j = 0; j < columns; ++j) {
            if (!std::isfinite(squares[j])) refuse_overflow(j, "variance");
            const double deviation = std::sqrt(squares[j] / total_weight);
            if (moments[j].low < moments[j].high && deviation > 0 && std::isfinite(1.0 / deviation))
                out.factor_[j] = 1.0 / deviation;
        }
    }
    if (by_column && !constant.empty())
        out.warnings_.push_back((constant.size() == 1 ? "column " : "columns ") + list_columns(constant) +
                                (constant.size() == 1 ? " is" : " are") +
                                " constant and cannot be scaled; shifted only");
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
        throw BadArgument("preprocessing: the points have " + std::to_string(points.columns()) +
                          " columns, the model was fitted on " + std::to_string(offset_.size()));
    require_memory(static_cast<double>(points.rows()) * static_cast<double>(points.columns()) *
                       static_cast<double>(size_of(points.scalar())),
                   "a centred and scaled copy of the points");
    const RowBlocks blocks{points.rows(), rows_a_block};
    std::vector<Index> zeros(static_cast<std::size_t>(blocks.count()), 0);
    const bool unit = options_.scale == Scale::unit;
    Points out = points.view().visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        Matrix<Scalar> result(rows.rows, rows.columns);
        for_each_block(blocks.count(), run.threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const Scalar* in = rows.row(i);
                Scalar* to = result.data() + i * rows.columns;
                // The norm is taken of the scaled-down row, so that squares neither overflow nor vanish.
                double largest = 0;
                for (Index j = 0; j < rows.columns; ++j) {
                    const auto column = static_cast<std::size_t>(j);
                    const double value = (static_cast<double>(in[j]) - offset_[column]) * factor_[column];
                    to[j] = static_cast<Scalar>(value);
                    largest = std::max(largest, std::abs(static_cast<double>(to[j])));
                }
                if (!unit) continue;
                if (largest == 0) {
                    ++zeros[static_cast<std::size_t>(block)];
                    continue;
                }
                double squared = 0;
                for (Index j = 0; j < rows.columns; ++j) {
                    const double value = static_cast<double>(to[j]) / largest;
                    squared += value * value;
                }
                const double norm = std::sqrt(squared);
                for (Index j = 0; j < rows.columns; ++j)
                    to[j] = static_cast<Scalar>(static_cast<double>(to[j]) / largest / norm);
            }
        });
        return Points(std::move(result));
    });
    if (zero_rows)
        for (const Index count : zeros) *zero_rows += count;
    return out;
}

std::string Preparation::zero_rows_warning(Index zero_rows) {
    return std::to_string(zero_rows) + (zero_rows == 1 ? " row is" : " rows are") +
           " 0 throughout and cannot be scaled to norm 1; left as " + (zero_rows == 1 ? "it is" : "they are");
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
            throw BadData("the model holds preprocessing tensors but does not say what they are for");
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
    throw BadData("the model was fitted with preprocessing '" + found->second +
                  "', which this version of coterie does not know");
}

}  // namespace coterie
