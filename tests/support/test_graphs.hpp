#pragma once
// For tests: graphs.

#include <vector>

#include "coterie/base/random.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie::test {

struct Edge {
    Index a;
    Index b;
    double weight;
};
using Edges = std::vector<Edge>;

/// Each edge in both directions. Weights of repeated edges are added.
inline SparseMatrix graph(Index n, const Edges& edges) {
    std::vector<Eigen::Triplet<double, Index>> entries;
    for (const Edge& edge : edges) {
        entries.emplace_back(edge.a, edge.b, edge.weight);
        entries.emplace_back(edge.b, edge.a, edge.weight);
    }
    eigen::SparseMatrix out(n, n);
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
}

inline SparseMatrix path(Index n) {
    Edges edges;
    for (Index i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1, 1});
    return graph(n, edges);
}

inline SparseMatrix cycle(Index n) {
    Edges edges;
    for (Index i = 0; i < n; ++i) edges.push_back({i, (i + 1) % n, 1});
    return graph(n, edges);
}

inline SparseMatrix complete(Index n) {
    Edges edges;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) edges.push_back({i, j, 1});
    return graph(n, edges);
}

inline SparseMatrix star(Index n) {
    Edges edges;
    for (Index i = 1; i < n; ++i) edges.push_back({0, i, 1});
    return graph(n, edges);
}

/// A path through all points, so that the graph is connected, and `count` further edges. Weights are in (0, 1].
inline SparseMatrix random_graph(Index n, Index count, std::uint64_t seed) {
    RandomStream random(seed, "test.graph");
    Edges edges;
    for (Index i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1, 1 - random.uniform()});
    for (Index e = 0; e < count; ++e) {
        const auto a = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
        const auto b = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
        if (a != b) edges.push_back({a, b, 1 - random.uniform()});
    }
    return graph(n, edges);
}

/// Point i is in group i % groups. A point has about `inside` edges within its group, and `outside` edges to other
/// groups.
inline SparseMatrix planted_graph(Index n, Index groups, double inside, double outside, std::uint64_t seed) {
    RandomStream random(seed, "test.planted");
    Edges edges;
    const auto draw = [&](double count, bool within) {
        for (Index e = 0; e < static_cast<Index>(count * static_cast<double>(n) / 2); ++e) {
            const auto a = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
            const auto b = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
            if (a != b && (a % groups == b % groups) == within) edges.push_back({a, b, 1});
        }
    };
    draw(inside * static_cast<double>(groups), true);
    draw(outside, false);
    return graph(n, edges);
}

}  // namespace coterie::test
