// A subset of a problem keeps the constraints on its rows. Constraints on labels stay unchanged, so that label numbers
// mean the same in every subset.

#include "coterie/base/problem.hpp"

#include <cmath>
#include <map>

#include "coterie/base/checks.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/sparse_points.hpp"

namespace coterie {
namespace {

// The pairs whose rows are both in the subset, as positions in it. A row may have several positions.
std::vector<RowPair> pairs_of(const std::vector<RowPair>& all, std::span<const Index> rows) {
    std::vector<RowPair> out;
    if (all.empty()) return out;
    std::multimap<Index, Index> places;
    for (std::size_t i = 0; i < rows.size(); ++i) places.emplace(rows[i], static_cast<Index>(i));
    for (const RowPair& pair : all) {
        const auto [first, first_end] = places.equal_range(pair.first);
        const auto [second, second_end] = places.equal_range(pair.second);
        for (auto a = first; a != first_end; ++a)
            for (auto b = second; b != second_end; ++b) out.push_back({a->second, b->second});
    }
    return out;
}

}  // namespace

Problem Problem::subset(std::span<const Index> which) const {
    if (graph) throw BadArgument(Code::not_supported, "rows cannot be taken from a graph of affinities", "Give points");
    for (const Index i : which)
        if (i < 0 || i >= rows()) throw InternalError("Problem::subset: there is no such row");
    if (!weights.empty()) check_weights(weights, rows());
    check_partial_labels(partial_labels, rows());
    Problem out;
    const SparsePoints* const sparse = as_sparse(points);
    out.points = sparse != nullptr ? Points(std::make_shared<const SparsePoints>(sparse->subset(which)))
                                   : rows_of(points, which);
    out.column_names = column_names;
    out.column_kinds = column_kinds;
    out.categories = categories;
    out.weights = internal::entries_of<double>(weights, which);
    out.initial_centroids = initial_centroids;
    out.partial_labels = internal::entries_of<std::int32_t>(partial_labels, which);
    out.label_names = label_names;
    out.clusters_per_label = clusters_per_label;
    out.label_shares = label_shares;
    out.sizes = sizes;
    out.must_links = pairs_of(must_links, which);
    out.cannot_links = pairs_of(cannot_links, which);
    for (const Index i : which) out.row_numbers.push_back(row_number(i));
    if (out.sizes && static_cast<Index>(which.size()) != rows()) {
        auto& [low, high] = *out.sizes;
        const double share = static_cast<double>(which.size()) / static_cast<double>(rows());
        low = static_cast<Index>(std::floor(static_cast<double>(low) * share));
        if (high < rows()) high = static_cast<Index>(std::ceil(static_cast<double>(high) * share));
    }
    return out;
}

}  // namespace coterie
