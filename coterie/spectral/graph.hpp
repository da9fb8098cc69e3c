#pragma once
// Affinities A between points, n x n, symmetric, no entry negative, 0 on the diagonal.
//
//     N(i)               the k nearest other points of x_i (exact; ties by the lower index)
//     w_ij, j in N(i)    connectivity   1
//                        gaussian       exp(-|| x_i - x_j ||^2 / (2 width^2))
//                        self-tuning    exp(-|| x_i - x_j ||^2 / (s_i s_j)), s_i the distance from x_i to its 7th
//                                       neighbour (or its last if it has fewer; Zelnik-Manor and Perona 2004)
//     A                  mean           (W + W') / 2: two mutual neighbours count twice as much as one neighbour
//                        maximum        an edge where either is a neighbour of the other
//                        mutual         an edge where both are
//     rbf                A_ij = exp(-|| x_i - x_j ||^2 / (2 width^2)) for all pairs
//
// An automatic width is the median, over the points, of the distance to the k-th neighbour. An s_i of 0 (many
// duplicates) becomes the smallest positive s_j. Entries that underflow are omitted.

#include <optional>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"
#include "coterie/linalg/neighbors.hpp"

namespace coterie {

enum class EdgeWeights { connectivity, gaussian, self_tuning };
/// mean is the default. With maximum, hubs that are neighbours of many points get too much weight; with mutual, more
/// points become isolated.
enum class Symmetry { mean, maximum, mutual };

struct NeighborGraphOptions {
    Index neighbors = 15;  // k, from 1 to n - 1
    EdgeWeights edge_weights = EdgeWeights::connectivity;
    Symmetry symmetry = Symmetry::mean;
    std::optional<double> width = {};  // for gaussian
};

struct NeighborGraph {
    SparseMatrix affinity;
    double width = 0;            // for gaussian: the value used
    std::vector<double> scales;  // n: s_i, for self-tuning
};

/// n x d points. Time: that of nearest_neighbors(). Memory: that of nearest_neighbors(), and 2 n k entries. Throws
/// BadArgument (neighbours out of range, a width not above 0, values that are not finite), ResourceError, Cancelled.
/// The bits are the same for any number of threads.
COTERIE_API NeighborGraph neighbor_graph(PointsView points, const NeighborGraphOptions& options, const Run& run);

/// The median distance to the k-th neighbour. If it is 0 (duplicates): the smallest positive distance of any neighbour,
/// or 1.
COTERIE_API double width_of(const Neighbors& neighbors);

/// All pairs; width above 0. Time n^2 d / 2, memory 8 n^2 to 16 n^2 bytes. Throws ResourceError before it starts if
/// they exceed the memory limit.
COTERIE_API SparseMatrix rbf_affinity(PointsView points, double width, const Run& run);

namespace internal {
/// The entries of a dense matrix that are not 0.
SparseMatrix nonzeros_of(PointsView matrix);
/// Throws ResourceError if rbf_affinity of n points would exceed the memory limit.
COTERIE_API void require_pairs_memory(Index n);
}  // namespace internal

}  // namespace coterie
