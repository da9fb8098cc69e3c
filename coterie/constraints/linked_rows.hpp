#pragma once
// Internal: rows that must be in one cluster, and rows that must not (must-links and cannot-links; Wagstaff et al.,
// "Constrained k-means clustering with background knowledge", ICML 2001), converted into groups and pairs of groups.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"

namespace coterie::internal {

/// Problem of a warning, Code::not_optimal.
inline constexpr std::string_view linked_too_densely =
    "some rows have so many cannot-links that the search for their best clusters was cut short: all pairs are kept, "
    "but a better assignment may exist";

class LinkedRows {
public:
    /// allowed(row): a row may go to clusters first..last-1. Throws BadArgument if a pair has a row outside the points.
    /// Throws BadData with the rows in conflict if no assignment to the k clusters keeps all pairs.
    LinkedRows(const Problem& problem, int clusters, const std::function<std::pair<int, int>(Index row)>& allowed);

    /// The rows of all pairs, ascending: m.
    const std::vector<Index>& rows() const { return rows_; }

    struct Solution {
        Labels labels;        // m
        double cost = 0;      // of all m rows
        bool optimal = true;  // proven; false if some groups are linked so densely that the search stopped early
    };
    /// costs: m x k, at least 0; entries of clusters that are not allowed are ignored. Returns an assignment of least
    /// cost among those that keep all pairs. The order of the pairs does not affect the result.
    Solution assign(const Matrix<double>& costs) const;

private:
    // Rows that must be together.
    struct Group {
        std::vector<Index> members;  // positions in rows_
        int first = 0, last = 0;     // allowed clusters: first..last-1
    };
    // Groups connected by pairs of groups that must be apart.
    struct Component {
        std::vector<int> groups;
        std::vector<std::vector<int>> apart;  // per group: positions in `groups` of those that must be apart from it
        std::vector<int> example;             // one cluster per group; keeps all pairs
    };
    class Builder;
    bool search(const Component& component, const Matrix<double>& costs, std::vector<int>& best) const;

    int clusters_;
    std::vector<Index> rows_;
    std::vector<Group> groups_;
    std::vector<Component> components_;
};

}  // namespace coterie::internal
