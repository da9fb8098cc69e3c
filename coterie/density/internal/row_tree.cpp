// One thread builds the tree, level by level, because the time n d log n is small compared with any search. The rows
// are copied in the order of the leaves, so that a leaf is contiguous in memory.

#include "coterie/density/internal/row_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "coterie/base/memory.hpp"
#include "coterie/linalg/centred_rows.hpp"

namespace coterie::density::internal {

RowTree::RowTree(PointsView points, Index leaf_rows, const Run& run) : d_(points.columns()), order_(at(points.rows())) {
    require_memory(static_cast<double>(points.rows()) *
                       (static_cast<double>(d_) * static_cast<double>(size_of(points.scalar())) + sizeof(Index)),
                   "a copy of the rows in the order of a tree");
    std::iota(order_.begin(), order_.end(), Index{0});
    nodes_.push_back({.begin = 0, .end = points.rows()});
    points.visit([&](const auto& rows) {
        for (std::size_t node = 0; node < nodes_.size(); ++node) {
            if (node % 64 == 0) run.throw_if_stopped("tree");
            const Index begin = nodes_[node].begin, end = nodes_[node].end;
            box_of(static_cast<Index>(node), points);
            if (end - begin <= leaf_rows) {
                leaves_.push_back(static_cast<Index>(node));
                continue;
            }
            const double* const low = low_.data() + static_cast<Index>(node) * d_;
            const double* const high = high_.data() + static_cast<Index>(node) * d_;
            Index widest = 0;
            for (Index p = 1; p < d_; ++p)
                if (high[p] - low[p] > high[widest] - low[widest]) widest = p;
            const Index middle = begin + (end - begin) / 2;
            std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                             [&](Index a, Index b) {
                                 const auto x = rows.row(a)[widest];
                                 const auto y = rows.row(b)[widest];
                                 return x < y || (x == y && a < b);
                             });
            nodes_[node].left = static_cast<Index>(nodes_.size());
            nodes_.push_back({.begin = begin, .end = middle});
            nodes_[node].right = static_cast<Index>(nodes_.size());
            nodes_.push_back({.begin = middle, .end = end});
        }
    });
    std::sort(leaves_.begin(), leaves_.end(),
              [&](Index a, Index b) { return nodes_[at(a)].begin < nodes_[at(b)].begin; });
    // Within a leaf, rows ascend, so that the order does not depend on how the cut was found.
    for (const Index leaf : leaves_) {
        const Node& node = nodes_[at(leaf)];
        std::sort(order_.begin() + node.begin, order_.begin() + node.end);
    }
    rows_ = rows_of(points, order_);
}

void RowTree::box_of(Index node, PointsView points) {
    low_.resize(at((node + 1) * d_), std::numeric_limits<double>::infinity());
    high_.resize(at((node + 1) * d_), -std::numeric_limits<double>::infinity());
    double* const low = low_.data() + node * d_;
    double* const high = high_.data() + node * d_;
    const Node& of = nodes_[at(node)];
    points.visit([&](const auto& rows) {
        for (Index i = of.begin; i < of.end; ++i) {
            const auto* const x = rows.row(order_[at(i)]);
            for (Index p = 0; p < d_; ++p) {
                low[p] = std::min(low[p], static_cast<double>(x[p]));
                high[p] = std::max(high[p], static_cast<double>(x[p]));
            }
        }
    });
}

double RowTree::squared_between(Index node, Index other) const {
    const double* const low_a = low_.data() + node * d_;
    const double* const high_a = high_.data() + node * d_;
    const double* const low_b = low_.data() + other * d_;
    const double* const high_b = high_.data() + other * d_;
    double sum = 0;
    for (Index p = 0; p < d_; ++p) {
        const double gap = std::max({0.0, low_a[p] - high_b[p], low_b[p] - high_a[p]});
        sum += gap * gap;
    }
    return sum * (1 - 1e-12);  // never above a distance that was computed with other rounding
}

double RowTree::squared_from(Index node, const double* x) const {
    const double* const low = low_.data() + node * d_;
    const double* const high = high_.data() + node * d_;
    double sum = 0;
    for (Index p = 0; p < d_; ++p) {
        const double gap = std::max({0.0, low[p] - x[p], x[p] - high[p]});
        sum += gap * gap;
    }
    return sum * (1 - 1e-12);
}

void RowTree::nearest(const double* x, Index count, Index skip, std::vector<Near>& found) const {
    found.clear();
    std::vector<Open> open = {{0, 0}};
    const auto wanted = at(count);
    rows_.view().visit([&](const auto& rows) {
        while (!open.empty()) {
            const Open here = open.back();
            open.pop_back();
            if (found.size() == wanted && here.squared > found.front().squared) continue;
            const Node& node = nodes_[at(here.node)];
            if (!node.leaf()) {
                open_children(
                    node, [&](Index child) { return squared_from(child, x); }, open);
                continue;
            }
            for (Index i = node.begin; i < node.end; ++i) {
                if (i == skip) continue;
                const Near near{squared_distance(x, rows.row(i), d_), i};
                if (found.size() == wanted) {
                    if (!(near < found.front())) continue;
                    std::pop_heap(found.begin(), found.end());
                    found.back() = near;
                } else {
                    found.push_back(near);
                }
                std::push_heap(found.begin(), found.end());
            }
        }
    });
    std::sort_heap(found.begin(), found.end());
}

}  // namespace coterie::density::internal
