#pragma once
// Internal: a k-d tree over rows (Bentley 1975): median cuts across the widest side of a box, down to leaves of a few
// rows. It gives an order in which near rows lie near each other, and boxes by which whole leaves are passed over. The
// tree depends on the rows alone.

#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

class RowTree {
public:
    struct Node {
        Index begin = 0;  // its rows: begin..end-1 in the tree's order
        Index end = 0;
        Index left = -1;  // nodes; -1: a leaf
        Index right = -1;
        bool leaf() const { return left < 0; }
    };

    RowTree() = default;
    /// Leaves of at most `leaf_rows` rows, n >= 1. Memory n d numbers for the rows in the tree's order.
    RowTree(PointsView points, Index leaf_rows, const Run& run);

    /// Nodes, each before those below it; the first is the root.
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Index>& leaves() const { return leaves_; }
    /// n: the row of the points at each place of the order.
    const std::vector<Index>& order() const { return order_; }
    /// n x d: the rows in this order.
    const Points& rows() const { return rows_; }

    /// The least squared distance that a row of one node can have from one of the other, and from a point of d numbers.
    double squared_between(Index node, Index other) const;
    double squared_from(Index node, const double* x) const;

    /// The `count` nearest rows, nearest first and ties by place, of a point of d numbers; at most those there are.
    /// `skip`: a place that is passed over, -1: none. Results are places in the order.
    struct Near {
        double squared = 0;
        Index place = 0;
        bool operator<(const Near& other) const {
            return squared < other.squared || (squared == other.squared && place < other.place);
        }
    };
    void nearest(const double* x, Index count, Index skip, std::vector<Near>& found) const;

private:
    void box_of(Index node, PointsView points);

    Index d_ = 0;
    std::vector<Node> nodes_;
    std::vector<Index> leaves_;
    std::vector<Index> order_;
    Points rows_;
    std::vector<double> low_, high_;  // nodes x d
};

}  // namespace coterie::internal
