#pragma once
// Internal: rows that must be in one cluster, and rows that must not (must-links and cannot-links; Wagstaff et al.,
// "Constrained k-means clustering with background knowledge", ICML 2001), brought into groups and pairs of groups.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"

namespace coterie::internal {

/// A warning.
inline constexpr std::string_view linked_too_densely =
    "some rows that must be apart are linked so densely that the search for their best clusters was cut short: all "
    "pairs are kept, but other labels may cost less";

class LinkedRows {
public:
    /// allowed(row): the clusters first..last-1 that a row may go to. BadArgument where a pair names a row that is not
    /// there; BadData, naming the rows in conflict, where no assignment to the k clusters keeps all pairs.
    LinkedRows(const Problem& problem, int clusters, const std::function<std::pair<int, int>(Index row)>& allowed);

    /// The rows of any pair, ascending: m.
    const std::vector<Index>& rows() const { return rows_; }

    struct Solution {
        Labels labels;        // m
        double cost = 0;      // of all m rows
        bool optimal = true;  // proven; false where some groups are linked so densely that the search was cut short
    };
    /// costs: m x k, at least 0; what is not allowed is not looked at. Least sum of costs among the assignments that
    /// keep all pairs; among equals the lowest clusters, from the lowest row on.
    Solution assign(const Matrix<double>& costs) const;

private:
    // Rows that must be together.
    struct Group {
        std::vector<Index> members;  // places in rows_
        int first = 0, last = 0;     // clusters allowed
    };
    // Groups that hang together by pairs of groups that must be apart.
    struct Component {
        std::vector<int> groups;
        std::vector<std::vector<int>> apart;  // by place in `groups`
        std::vector<int> example;             // a cluster per group that keeps all pairs
    };
    bool search(const Component& component, const Matrix<double>& costs, std::vector<int>& best) const;

    int clusters_;
    std::vector<Index> rows_;
    std::vector<Group> groups_;
    std::vector<Component> components_;
};

}  // namespace coterie::internal
