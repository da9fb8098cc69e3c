// All scores come from the non-zero counts n_uv, of which there are at most as many as points. A full table is built
// only on request, or for the best match if it is small or well filled. Counts are whole numbers, and sums of pairs
// have 128 bits. Equal and nested labelings are recognised by their counts, so their scores are exactly 1.

#include "coterie/metrics/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/text.hpp"
#include "coterie/metrics/internal/assignment.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;
using Count = std::int64_t;

void check_pair(LabelSpan labels, LabelSpan truth) {
    if (labels.size() != truth.size())
        throw BadArgument(Code::wrong_shape,
                          filled("{} labels were given with {} true labels", labels.size(), truth.size()),
                          "Give one label and one true label per row");
    if (labels.empty()) throw BadArgument(Code::empty, "there are no labels to compare");
}

struct Distinct {
    std::vector<std::int32_t> values;    // ascending
    std::vector<Count> sizes;            // number of points with each value
    std::vector<std::int32_t> position;  // position of each point's label in `values`
};

Distinct distinct(LabelSpan labels) {
    Distinct out;
    out.position.resize(labels.size());
    const auto [low, high] = std::minmax_element(labels.begin(), labels.end());
    const std::int64_t first = *low;
    const std::int64_t range = static_cast<std::int64_t>(*high) - first + 1;
    if (range <= 4 * static_cast<std::int64_t>(labels.size()) +
                     1024) {  // then a table of all values in the range is not larger than the labels
        std::vector<Count> seen(at(range), 0);
        for (const std::int32_t label : labels) ++seen[at(label - first)];
        std::vector<std::int32_t> rank(seen.size(), -1);
        for (std::size_t i = 0; i < seen.size(); ++i) {
            if (seen[i] == 0) continue;
            rank[i] = static_cast<std::int32_t>(out.values.size());
            out.values.push_back(static_cast<std::int32_t>(first + static_cast<std::int64_t>(i)));
            out.sizes.push_back(seen[i]);
        }
        for (std::size_t i = 0; i < labels.size(); ++i) out.position[i] = rank[at(labels[i] - first)];
    } else {
        out.values.assign(labels.begin(), labels.end());
        std::sort(out.values.begin(), out.values.end());
        out.values.erase(std::unique(out.values.begin(), out.values.end()), out.values.end());
        out.sizes.assign(out.values.size(), 0);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            const auto place = std::ranges::lower_bound(out.values, labels[i]) - out.values.begin();
            out.position[i] = static_cast<std::int32_t>(place);
            ++out.sizes[at(place)];
        }
    }
    return out;
}

// The non-zero cells of the contingency table: at most as many as points, for any number of labels.
struct SparseTable {
    Distinct clusters;
    Distinct classes;
    std::vector<metrics::internal::Gain> cells;  // sorted by cluster, then class
    Count points = 0;

    Index rows() const { return static_cast<Index>(clusters.values.size()); }
    Index columns() const { return static_cast<Index>(classes.values.size()); }
};

SparseTable sparse_table(LabelSpan labels, LabelSpan truth) {
    check_pair(labels, truth);
    SparseTable table;
    table.points = static_cast<Count>(labels.size());
    table.clusters = distinct(labels);
    table.classes = distinct(truth);
    const auto columns = static_cast<std::uint64_t>(table.columns());
    const std::uint64_t all_cells = static_cast<std::uint64_t>(table.rows()) * columns;
    const auto key_of = [&](std::size_t i) {
        return static_cast<std::uint64_t>(table.clusters.position[i]) * columns +
               static_cast<std::uint64_t>(table.classes.position[i]);
    };
    const auto add = [&](std::uint64_t key, Count count) {
        table.cells.push_back({static_cast<Index>(key / columns), static_cast<Index>(key % columns), count});
    };
    if (all_cells <= 4 * static_cast<std::uint64_t>(labels.size()) + 1024) {
        std::vector<Count> counts(at(all_cells), 0);
        for (std::size_t i = 0; i < labels.size(); ++i) ++counts[at(key_of(i))];
        for (std::size_t key = 0; key < counts.size(); ++key)
            if (counts[key] > 0) add(key, counts[key]);
    } else {
        std::vector<std::uint64_t> keys(labels.size());
        for (std::size_t i = 0; i < labels.size(); ++i) keys[i] = key_of(i);
        std::sort(keys.begin(), keys.end());
        for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
            while (end < keys.size() && keys[end] == keys[begin]) ++end;
            add(keys[begin], static_cast<Count>(end - begin));
        }
    }
    return table;
}

double fraction(Count part, Count whole) { return static_cast<double>(part) / static_cast<double>(whole); }

double entropy(const std::vector<Count>& sizes, Count points) {
    if (sizes.size() <= 1) return 0.0;
    double sum = 0.0;
    for (const Count size : sizes) {
        const double share = fraction(size, points);
        sum -= share * std::log(share);
    }
    return sum;
}

double mutual_information(const SparseTable& table) {
    const auto n = static_cast<double>(table.points);
    double sum = 0.0;
    for (const auto& cell : table.cells) {
        const double a = static_cast<double>(table.clusters.sizes[at(cell.row)]);
        const double b = static_cast<double>(table.classes.sizes[at(cell.column)]);
        const double count = static_cast<double>(cell.gain);
        sum += count / n * std::log(count * n / (a * b));
    }
    // Up to rounding, the labelings are independent, so every normalised score must be 0.
    return sum <= std::numeric_limits<double>::epsilon() ? 0.0 : sum;
}

double homogeneity_of(const SparseTable& table, double information) {
    if (table.columns() == 1) return 1.0;
    if (static_cast<Index>(table.cells.size()) == table.rows())
        return 1.0;  // every cluster lies within one class: exactly 1
    return std::clamp(information / entropy(table.classes.sizes, table.points), 0.0, 1.0);
}

double completeness_of(const SparseTable& table, double information) {
    if (table.rows() == 1) return 1.0;
    if (static_cast<Index>(table.cells.size()) == table.columns()) return 1.0;
    return std::clamp(information / entropy(table.clusters.sizes, table.points), 0.0, 1.0);
}

double normalized_information(const SparseTable& table, double information, Normalization mean) {
    const auto cells = static_cast<Index>(table.cells.size());
    if (cells == table.rows() && cells == table.columns())
        return 1.0;  // equal partitions, also two partitions of one cluster
    if (information == 0.0) return 0.0;
    const double a = entropy(table.clusters.sizes, table.points);
    const double b = entropy(table.classes.sizes, table.points);
    double normalizer = 0.0;
    switch (mean) {
        case Normalization::arithmetic: normalizer = 0.5 * (a + b); break;
        case Normalization::geometric: normalizer = std::sqrt(a * b); break;
        case Normalization::minimum: normalizer = std::min(a, b); break;
        case Normalization::maximum: normalizer = std::max(a, b); break;
    }
    return std::clamp(information / normalizer, 0.0, 1.0);
}

// Hubert and Arabie 1985. Products of up to n^2 ordered pairs reach n^4: 128 bits are enough up to n = 2^31.
template <class Wide>
double rand_index_from(const SparseTable& table) {
    const auto squares = [](const std::vector<Count>& sizes) {
        Wide sum = 0;
        for (const Count size : sizes) sum += static_cast<Wide>(size) * static_cast<Wide>(size);
        return sum;
    };
    const auto n = static_cast<Wide>(table.points);
    Wide together = 0;
    for (const auto& cell : table.cells) together += static_cast<Wide>(cell.gain) * static_cast<Wide>(cell.gain);
    const Wide only_clusters = squares(table.clusters.sizes) - together;
    const Wide only_classes = squares(table.classes.sizes) - together;
    if (only_clusters == 0 && only_classes == 0) return 1.0;
    const Wide both = together - n;
    const Wide neither = n * n - only_clusters - only_classes - together;
    const Wide numerator = both * neither - only_classes * only_clusters;
    const Wide denominator =
        (both + only_classes) * (only_classes + neither) + (both + only_clusters) * (only_clusters + neither);
    return static_cast<double>(2.0L * static_cast<long double>(numerator) / static_cast<long double>(denominator));
}

double rand_index(const SparseTable& table) {
    __extension__ typedef __int128 Int128;
    if (table.points <= (Count{1} << 31)) return rand_index_from<Int128>(table);
    return rand_index_from<long double>(table);
}

double purity_of(const SparseTable& table) {
    Count sum = 0;
    Count largest = 0;
    for (std::size_t i = 0; i < table.cells.size(); ++i) {
        largest = std::max(largest, table.cells[i].gain);
        if (i + 1 == table.cells.size() || table.cells[i + 1].row != table.cells[i].row) {
            sum += largest;
            largest = 0;
        }
    }
    return fraction(sum, table.points);
}

Matrix<Count> zero_counts(Index rows, Index columns) {
    require_memory(static_cast<double>(rows) * static_cast<double>(columns) * sizeof(Count),
                   filled("a contingency table of {} x {} counts", rows, columns));
    return Matrix<Count>::Zero(rows, columns);
}

// The column of each row; min(rows, columns) rows are matched. Uses the full table if it is small, or not much larger
// than the list of its non-zero cells. Otherwise uses the list, and pairs the rows that the list leaves unmatched in
// ascending order.
std::vector<Index> best_match(const SparseTable& table) {
    const Index rows = table.rows();
    const Index columns = table.columns();
    const double all_cells = static_cast<double>(rows) * static_cast<double>(columns);
    if (static_cast<double>(table.cells.size()) > 0.25 * all_cells || all_cells <= 4096) {
        require_memory(2 * all_cells * sizeof(double),
                       filled("the assignment of {} clusters to {} classes", rows, columns));
        Matrix<double> cost = Matrix<double>::Zero(rows, columns);
        for (const auto& cell : table.cells) cost(cell.row, cell.column) = -static_cast<double>(cell.gain);
        return minimum_cost_assignment(cost);
    }
    std::vector<Index> column_of = metrics::internal::maximum_gain_match(table.cells, rows, columns);
    std::vector<bool> taken(at(columns), false);
    for (const Index column : column_of)
        if (column >= 0) taken[at(column)] = true;
    Index free_column = 0;
    for (Index& column : column_of) {
        if (column >= 0) continue;
        while (free_column < columns && taken[at(free_column)]) ++free_column;
        if (free_column == columns) break;
        column = free_column++;
    }
    return column_of;
}

Count agreement(const SparseTable& table, const std::vector<Index>& match) {
    Count sum = 0;
    for (const auto& cell : table.cells)
        if (match[at(cell.row)] == cell.column) sum += cell.gain;
    return sum;
}

// A number for each distinct cluster: its class or, for unmatched clusters, ascending numbers above every class.
std::vector<std::int32_t> names_of_clusters(const SparseTable& table, const std::vector<Index>& match) {
    std::vector<std::int32_t> names(match.size());
    std::int64_t next = static_cast<std::int64_t>(table.classes.values.back()) + 1;
    for (std::size_t u = 0; u < match.size(); ++u) {
        if (match[u] >= 0) {
            names[u] = table.classes.values[at(match[u])];
            continue;
        }
        if (next > std::numeric_limits<std::int32_t>::max())
            throw BadArgument(Code::out_of_range,
                              "aligned_labels: the largest true label leaves no 32-bit number for the "
                              "unmatched clusters",
                              "Use smaller numbers for the true labels");
        names[u] = static_cast<std::int32_t>(next++);
    }
    return names;
}
}  // namespace

ContingencyTable contingency_table(LabelSpan labels, LabelSpan truth) {
    SparseTable table = sparse_table(labels, truth);
    ContingencyTable out;
    out.counts = zero_counts(table.rows(), table.columns());
    for (const auto& cell : table.cells) out.counts(cell.row, cell.column) = cell.gain;
    out.clusters = std::move(table.clusters.values);
    out.classes = std::move(table.classes.values);
    return out;
}

Alignment align(LabelSpan labels, LabelSpan truth) {
    SparseTable table = sparse_table(labels, truth);
    const std::vector<Index> match = best_match(table);
    Alignment out;
    out.agreeing = agreement(table, match);
    out.matched_class.assign(match.size(), -1);
    out.matched.assign(match.size(), false);
    for (std::size_t u = 0; u < match.size(); ++u) {
        if (match[u] < 0) continue;
        out.matched[u] = true;
        out.matched_class[u] = table.classes.values[at(match[u])];
    }
    out.clusters = std::move(table.clusters.values);
    return out;
}

Labels aligned_labels(LabelSpan labels, LabelSpan truth) {
    const SparseTable table = sparse_table(labels, truth);
    const std::vector<std::int32_t> names = names_of_clusters(table, best_match(table));
    Labels out(labels.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = names[at(table.clusters.position[i])];
    return out;
}

ContingencyTable confusion_table(LabelSpan labels, LabelSpan truth) {
    const SparseTable table = sparse_table(labels, truth);
    const std::vector<Index> match = best_match(table);
    std::vector<Index> cluster_of(at(table.columns()), -1);
    for (std::size_t u = 0; u < match.size(); ++u)
        if (match[u] >= 0) cluster_of[at(match[u])] = static_cast<Index>(u);

    // Matched classes come first, so that agreement lies on the diagonal.
    ContingencyTable out;
    std::vector<Index> row_of(at(table.columns()), -1);
    std::vector<Index> column_of(match.size(), -1);
    for (const bool with_cluster : {true, false}) {
        for (std::size_t v = 0; v < cluster_of.size(); ++v) {
            if ((cluster_of[v] >= 0) != with_cluster) continue;
            row_of[v] = static_cast<Index>(out.classes.size());
            out.classes.push_back(table.classes.values[v]);
            if (!with_cluster) continue;
            column_of[at(cluster_of[v])] = static_cast<Index>(out.clusters.size());
            out.clusters.push_back(table.clusters.values[at(cluster_of[v])]);
        }
    }
    for (std::size_t u = 0; u < match.size(); ++u) {
        if (match[u] >= 0) continue;
        column_of[u] = static_cast<Index>(out.clusters.size());
        out.clusters.push_back(table.clusters.values[u]);
    }
    out.counts = zero_counts(table.columns(), table.rows());
    for (const auto& cell : table.cells) out.counts(row_of[at(cell.column)], column_of[at(cell.row)]) = cell.gain;
    return out;
}

double accuracy(LabelSpan labels, LabelSpan truth) {
    const SparseTable table = sparse_table(labels, truth);
    return fraction(agreement(table, best_match(table)), table.points);
}

double normalized_mutual_information(LabelSpan labels, LabelSpan truth, Normalization mean) {
    const SparseTable table = sparse_table(labels, truth);
    return normalized_information(table, mutual_information(table), mean);
}

double adjusted_rand_index(LabelSpan labels, LabelSpan truth) { return rand_index(sparse_table(labels, truth)); }

double purity(LabelSpan labels, LabelSpan truth) { return purity_of(sparse_table(labels, truth)); }

double homogeneity(LabelSpan labels, LabelSpan truth) {
    const SparseTable table = sparse_table(labels, truth);
    return homogeneity_of(table, mutual_information(table));
}

double completeness(LabelSpan labels, LabelSpan truth) {
    const SparseTable table = sparse_table(labels, truth);
    return completeness_of(table, mutual_information(table));
}

Scores score(LabelSpan labels, LabelSpan truth) {
    const SparseTable table = sparse_table(labels, truth);
    const double information = mutual_information(table);
    Scores scores;
    scores.acc = fraction(agreement(table, best_match(table)), table.points);
    scores.nmi = normalized_information(table, information, Normalization::arithmetic);
    scores.ari = rand_index(table);
    scores.purity = purity_of(table);
    scores.homogeneity = homogeneity_of(table, information);
    scores.completeness = completeness_of(table, information);
    return scores;
}

}  // namespace coterie
