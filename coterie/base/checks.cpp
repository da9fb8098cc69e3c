// One pass over the values finds those that are not finite and those whose squares overflow. A block without such
// values costs one sum and one maximum, at memory speed. Only the other blocks, usually none, are then searched.

#include "coterie/base/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "coterie/base/options.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"

namespace coterie {

namespace internal {

double largest_coordinate(ScalarType scalar, Index columns) {
    // If x is the largest coordinate, differences are at most 2 x in magnitude. A sum of d squares of differences must
    // be finite in the scalar type, and a weighted sum of them over all points must be finite in double.
    const double most =
        scalar == ScalarType::float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    return std::min(1e100, std::sqrt(most / (16.0 * static_cast<double>(columns))));
}

std::string too_large_text(double value, ScalarType scalar, Index columns) {
    return filled("{} is so large that squared distances overflow {}: magnitudes up to {} are accepted",
                  to_text(OptionValue(value)), name(scalar), to_text(OptionValue(largest_coordinate(scalar, columns))));
}

std::string too_large_remedy(ScalarType scalar) {
    return scalar == ScalarType::float32 ? "Rescale the column or read the data as float64" : "Rescale the column";
}

}  // namespace internal

using internal::at;

namespace {

// Beyond these, sums of weighted squares could overflow or vanish.
constexpr double least_weight = 1e-30, largest_weight = 1e30;

// What the pass finds: the numbers of a block sum.
enum Found : std::size_t {
    bad,        // how many values are infinite, or NaN where NaN is not accepted
    bad_first,  // i * columns + j of the first bad value
    bad_value,
    large_first,  // i * columns + j of the first value that is too large; -1: none
    large_value,
    largest,  // magnitude of all values
    numbers
};

void clear(double* found) {
    std::fill_n(found, numbers, 0.0);
    found[large_first] = -1;
}

void merge(double* left, const double* right) {
    if (left[bad] == 0) {
        left[bad_first] = right[bad_first];
        left[bad_value] = right[bad_value];
    }
    left[bad] += right[bad];
    if (left[large_first] < 0) {
        left[large_first] = right[large_first];
        left[large_value] = right[large_value];
    }
    left[largest] = std::max(left[largest], right[largest]);
}

template <class Scalar>
void look(const internal::RowBlock<Scalar>& block, double limit, bool nan_passes, double* found) {
    const Rows<Scalar>& rows = block.rows;
    const auto matrix = rows.matrix().array();
    // Finite numbers times 0 add up to 0; one NaN or infinity makes the sum NaN.
    const bool finite = (matrix * Scalar(0)).sum() == Scalar(0);
    found[largest] = static_cast<double>(matrix.abs().maxCoeff());
    if (finite && found[largest] <= limit) return;
    for (Index i = 0; i < rows.rows; ++i)
        for (Index j = 0; j < rows.columns; ++j) {
            const auto value = static_cast<double>(rows.row(i)[j]);
            const auto place = static_cast<double>((block.first + i) * rows.columns + j);
            if (!std::isfinite(value)) {
                if ((nan_passes && std::isnan(value)) || found[bad]++ > 0) continue;
                found[bad_first] = place;
                found[bad_value] = value;
            } else if (std::abs(value) > limit && found[large_first] < 0) {
                found[large_first] = place;
                found[large_value] = value;
            }
        }
}

template <class Scalar>
std::vector<double> look(PointsView points, double limit, bool nan_passes, const Run& run) {
    internal::BlockSums sums(numbers, clear, merge);
    const Stage stage{.name = "reading", .operations = static_cast<double>(points.rows() * points.columns())};
    const auto found = sums.over<Scalar>(
        points, run, stage,
        [&](const internal::RowBlock<Scalar>& block, int, double* sum) { look(block, limit, nan_passes, sum); });
    return {found.begin(), found.end()};
}

// Looks at dense rows, or at the stored entries of sparse ones.
std::vector<double> look(PointsView points, double limit, bool nan_passes, const Run& run) {
    return points.with_scalar([&]<class Scalar>() {
        const SparsePoints* const sparse = as_sparse(points);
        if (sparse == nullptr) return look<Scalar>(points, limit, nan_passes, run);
        const auto values = sparse->values<Scalar>();
        const PointsView entries(values.data(), static_cast<Index>(values.size()), 1);
        std::vector<double> found = look<Scalar>(entries, limit, nan_passes, run.alone());
        for (const Found place : {bad_first, large_first}) {  // converts the number of an entry to i * columns + j
            if (found[place] < 0 || values.empty()) continue;
            Index i = 0;
            auto left = static_cast<Index>(found[place]);
            for (; left >= sparse->row<Scalar>(i).count; ++i) left -= sparse->row<Scalar>(i).count;
            found[place] = static_cast<double>(i * points.columns() + sparse->row<Scalar>(i).column(left));
        }
        return found;
    });
}

void set_place(Message& message, PointsView points, double place, Index first,
               std::span<const std::string> names = {}) {
    const auto number = static_cast<Index>(place);
    const Index column = number % points.columns();
    message.row = first + number / points.columns() + 1;
    message.column_number = column + 1;
    if (at(column) < names.size()) message.column = names[at(column)];
}

void refuse_bad(const std::vector<double>& found, PointsView points, Message message, Index first = 0,
                std::span<const std::string> names = {}) {
    if (found[bad] == 0) return;
    const bool missing = std::isnan(found[bad_value]);
    message.code = missing ? Code::missing_value : Code::not_finite;
    message.value = missing ? "NaN" : found[bad_value] > 0 ? "infinity" : "-infinity";
    message.accepted = "finite numbers";
    set_place(message, points, found[bad_first], first, names);
    message.problem =
        missing ? "the value is NaN, which stands for a missing value" : message.value + " is not a finite number";
    if (const auto others = static_cast<Index>(found[bad]) - 1; others > 0)
        message.problem += "; " + counted(others, "more value") + (others == 1 ? " is not finite" : " are not finite");
    if (!missing) message.remedy = "Replace it by a finite number or leave the row out";
    if (as_sparse(points) != nullptr && missing) message.remedy.clear();
    throw BadData(std::move(message));
}

}  // namespace

void require_finite(PointsView points, Message place, const Run& run, bool nan_passes,
                    std::span<const std::string> names) {
    if (points.rows() == 0 || points.columns() == 0) return;
    refuse_bad(look(points, std::numeric_limits<double>::infinity(), nan_passes, run), points, std::move(place), 0,
               names);
}

double check_points(PointsView points, Message place, const Run& run, Index first) {
    if (points.rows() < 1 || points.columns() < 1) {
        place.code = Code::empty;
        place.problem = counted(points.rows(), "row") + " of " + counted(points.columns(), "column");
        place.remedy = "Give at least one row and one column";
        throw BadData(std::move(place));
    }
    const double limit = internal::largest_coordinate(points.scalar(), points.columns());
    const auto found = look(points, limit, false, run);
    refuse_bad(found, points, place, first);
    if (found[large_first] >= 0) {
        place.code = Code::too_large;
        place.value = to_text(found[large_value]);
        place.accepted = "magnitudes up to " + to_text(limit);
        set_place(place, points, found[large_first], first);
        place.problem = internal::too_large_text(found[large_value], points.scalar(), points.columns());
        place.remedy = internal::too_large_remedy(points.scalar());
        throw BadData(std::move(place));
    }
    return found[largest];
}

void check_weights(std::span<const double> weights, Index rows) {
    if (static_cast<Index>(weights.size()) != rows)
        throw BadArgument(Code::wrong_shape, counted(weights.size(), "weight") + " for " + counted(rows, "row"),
                          "Give one weight per row", {.option = "weights", .accepted = counted(rows, "weight")});
    bool any = false;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] == 0 || (weights[i] >= least_weight && weights[i] <= largest_weight)))
            throw BadArgument(Code::not_accepted, to_text(OptionValue(weights[i])) + " is not accepted",
                              "Use 0 or a number from 1e-30 to 1e30; only the ratios of weights matter",
                              {.option = "weights",
                               .value = to_text(weights[i]),
                               .accepted = "0, or from 1e-30 to 1e30",
                               .row = static_cast<std::int64_t>(i) + 1});
        any = any || weights[i] > 0;
    }
    if (!any)
        throw BadArgument(Code::not_accepted, "all weights are 0", "Give at least one row a weight above 0",
                          {.option = "weights"});
}

void check_partial_labels(std::span<const std::int32_t> labels, Index rows) {
    if (!labels.empty() && static_cast<Index>(labels.size()) != rows)
        throw BadArgument(Code::wrong_shape, counted(labels.size(), "label") + " for " + counted(rows, "row"),
                          "Give one label or blank per row", {.option = "partial_labels"});
}

}  // namespace coterie
