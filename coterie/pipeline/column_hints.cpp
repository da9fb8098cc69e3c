// Hints are cheap, so that the fit of a million rows does not wait for them. A column is a candidate until a row
// disagrees; for most columns the second row does. Variances come from a sample.

#include "coterie/pipeline/column_hints.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"

namespace coterie {
namespace {

constexpr Index fewest_rows = 20;  // with fewer rows, a column may count the rows by chance
constexpr Index sampled_rows = 10000;
constexpr double large_share = 0.95;

// The columns for which agrees(column, row number) is true in all rows.
template <class Agrees>
std::vector<std::size_t> lasting(std::vector<std::size_t> candidates, Index rows, Agrees agrees) {
    for (Index i = 1; i < rows && !candidates.empty(); ++i)
        std::erase_if(candidates, [&](std::size_t j) { return !agrees(j, i); });
    return candidates;
}

}  // namespace

std::vector<Message> column_hints(const Problem& problem, const PreparationOptions& preparation) {
    std::vector<Message> out;
    if (problem.graph || problem.points.rows() < 2 || problem.points.columns() < 2) return out;
    RowBuffer buffer;
    const PointsView all = problem.points.view();
    const PointsView points = all.resident() ? all : all.block(0, std::min<Index>(all.rows(), 4096), buffer);
    std::vector<std::size_t> numbers;
    for (std::size_t j = 0; j < static_cast<std::size_t>(points.columns()); ++j)
        if (j >= problem.categories.size() || problem.categories[j].empty()) numbers.push_back(j);
    const auto& names = problem.column_names;
    const auto column = [&](std::size_t j) {
        return "column " + std::to_string(j + 1) + (j < names.size() ? " (" + formats::shown(names[j]) + ")" : "");
    };
    // The name as a shell accepts it. If it needs quotes, the column's number is used instead.
    const auto called = [&](std::size_t j) {
        const bool plain =
            j < names.size() && !names[j].empty() && names[j].size() <= 60 && std::ranges::all_of(names[j], [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                       c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
            });
        return plain ? names[j] : std::to_string(j + 1);
    };
    points.visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        if (rows.rows >= fewest_rows)
            for (const std::size_t j : lasting(numbers, rows.rows, [&](std::size_t c, Index i) {
                     return static_cast<double>(rows.row(i)[c]) ==
                            static_cast<double>(rows.row(0)[c]) + static_cast<double>(i);
                 }))
                out.push_back({.code = Code::row_numbers,
                               .problem = "this column numbers the rows, but is used as data",
                               .remedy = "Use `id_column=" + called(j) + "`, or `exclude=" + called(j) + "`",
                               .column = j < names.size() ? names[j] : "",
                               .column_number = static_cast<std::int64_t>(j) + 1});
        const auto constant =
            all.resident()
                ? lasting(numbers, rows.rows, [&](std::size_t c, Index i) { return rows.row(i)[c] == rows.row(0)[c]; })
                : std::vector<std::size_t>();
        if (!constant.empty())
            out.push_back({.code = Code::constant_column,
                           .problem = internal::listed(constant, 8, column) +
                                      (constant.size() == 1 ? " has" : " have") + " the same value in every row, so " +
                                      (constant.size() == 1 ? "it does" : "they do") + " not distinguish rows",
                           .remedy = "Use `exclude` to leave columns out"});
        if (preparation.scale != Scale::none || rows.rows < 3) return;
        const Index step = std::max<Index>(1, rows.rows / sampled_rows);
        double total = 0, largest = 0;
        std::size_t at = 0;
        for (const std::size_t j : numbers) {
            double mean = 0, squares = 0, count = 0;
            for (Index i = 0; i < rows.rows; i += step) {
                const auto x = static_cast<double>(rows.row(i)[j]);
                if (std::isnan(x)) continue;
                count += 1;
                const double before = x - mean;
                mean += before / count;
                squares += before * (x - mean);
            }
            const double variance = count > 0 ? squares / count : 0;
            total += variance;
            if (variance > largest) {
                largest = variance;
                at = j;
            }
        }
        // A column of words has an indicator of 1 / sqrt(2) for each word.
        for (std::size_t j = 0; j < problem.categories.size(); ++j) {
            if (problem.categories[j].empty()) continue;
            std::vector<double> rows_of(problem.categories[j].size(), 0.0);
            double count = 0, squares = 0;
            for (Index i = 0; i < rows.rows; i += step) {
                const auto word = static_cast<double>(rows.row(i)[j]);
                if (std::isnan(word)) continue;
                rows_of[static_cast<std::size_t>(word)] += 1;
                count += 1;
            }
            for (const double each : rows_of) squares += each * each;
            if (count > 0) total += (1 - squares / (count * count)) / 2;
        }
        if (std::isfinite(total) && largest > large_share * total)
            out.push_back({.code = Code::scale_dominates,
                           .problem = "this column holds " + std::to_string(std::lround(100 * largest / total)) +
                                      " % of the variance of all columns, so it decides the clusters",
                           .remedy = "Use `scale=zscore` to give each column the same weight",
                           .column = at < names.size() ? names[at] : "",
                           .column_number = static_cast<std::int64_t>(at) + 1});
    });
    return out;
}

}  // namespace coterie
