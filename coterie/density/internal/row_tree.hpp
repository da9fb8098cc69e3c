#pragma once
// Internal: a k-d tree over rows (Bentley 1975): median cuts across the widest side of a box, down to leaves of a few
// rows. In the tree's order, nearby rows are close to each other. The boxes allow a search to skip whole leaves. The
// tree depends only on the rows.

#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::density::internal {

using namespace coterie::internal;

class RowTree {
public:
    struct Node {
        Index begin = 0;  // rows begin..end-1 in the tree's order
        Index end = 0;
        Index left = -1;  // child nodes; -1: a leaf
        Index right = -1;
        bool leaf() const { return left < 0; }
    };

    /// Leaves of at most `leaf_rows` rows, n >= 1. Memory n d numbers for the rows in the tree's order.
    RowTree(PointsView points, Index leaf_rows, const Run& run);

    /// Nodes; each comes before its children, and the first is the root.
    const std::vector<Node>& nodes() const { return nodes_; }
    const std::vector<Index>& leaves() const { return leaves_; }
    /// n: the row of the points at each position of the order.
    const std::vector<Index>& order() const { return order_; }
    /// n x d: the rows in this order.
    const Points& rows() const { return rows_; }

    /// Lower bounds of the squared distance between rows of two nodes, or between a row of a node and a point of d
    /// numbers.
    double squared_between(Index node, Index other) const;
    double squared_from(Index node, const double* x) const;

    /// The `count` nearest rows of a point of d numbers (all if there are fewer), nearest first, ties by position.
    /// `skip`: a position to omit, or -1. Results are positions in the order.
    struct Near {
        double squared = 0;
        Index place = 0;
        bool operator<(const Near& other) const {
            return squared < other.squared || (squared == other.squared && place < other.place);
        }
    };
    void nearest(const double* x, Index count, Index skip, std::vector<Near>& found) const;

    /// A node that a search has still to visit, and a lower bound of the squared distance to its rows.
    struct Open {
        double squared;
        Index node;
    };
    /// Adds the children of a node, so that the nearer one is last. bound(node): its lower bound.
    template <class Bound>
    static void open_children(const Node& node, const Bound& bound, std::vector<Open>& open) {
        Open near{bound(node.left), node.left};
        Open far{bound(node.right), node.right};
        if (far.squared < near.squared) std::swap(near, far);
        open.push_back(far);
        open.push_back(near);
    }

private:
    void box_of(Index node, PointsView points);

    Index d_ = 0;
    std::vector<Node> nodes_;
    std::vector<Index> leaves_;
    std::vector<Index> order_;
    Points rows_;
    std::vector<double> low_, high_;  // nodes x d
};

}  // namespace coterie::density::internal
