#pragma once
// Internal: assignments (the E step) under constraints. D_ij = || U'(x_i - c_j) ||^2 (U = I: the points as they are).
//
//   hard  a_i = nearest allowed centroid; with bounds on groups or pairs of rows (linked_rows.hpp)
//         the exact minimum of sum_i D_{i a_i} under them
//   soft  A_ij proportional to Z_ij exp(-D_ij / T) theta_{group of j}; theta = 1 where
//         bounds do not bind
//
// Ties go to the lowest centroid. All values per row are double and depend on other rows only through theta, the groups
// and the pairs. Passes run in blocks, in one process or several; per-row state covers this process' rows only. With
// bounds on groups, process 0 holds the costs of all rows, n x G numbers, and solves the assignment for all processes.

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/constraints/constraints.hpp"
#include "coterie/constraints/group_multipliers.hpp"
#include "coterie/constraints/transport.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/linalg/row_products.hpp"

namespace coterie::internal {

/// D_ij for blocks of rows.
class PrototypeDistances {
public:
    /// prototypes: k x d. origin: d, close to the points, so that products stay small. directions: p x d (the rows of
    /// U'), or empty for U = I.
    PrototypeDistances(const Matrix<double>& prototypes, Vector<double> origin, const Matrix<double>& directions);

    struct Scratch {
        Matrix<double> rows;       // rows minus origin
        Matrix<double> distances;  // D: rows x k
        Matrix<double> projected;
        std::vector<const double*> pointers;
        RowProducts::Scratch panel;
    };
    /// Computes s.rows for rows begin..end-1.
    template <class T>
    void centre(const Rows<T>& points, Index begin, Index end, Scratch& s) const {
        centred_rows(points, begin, end, origin_, s.rows);
    }
    /// Computes s.distances from s.rows.
    void measure(Scratch& s) const;

    Index clusters() const { return distances_.count(); }
    const Vector<double>& origin() const { return origin_; }
    /// The best number of rows per call: they stay in the cache.
    Index rows_at_once() const { return rows_in_cache(origin_.size(), sizeof(double)); }

private:
    Vector<double> origin_;
    std::optional<RowProducts> projection_;  // none for U = I
    SquaredDistances distances_;
};

struct HardAssignment {
    Labels labels;
    double objective = 0;  // sum_i w_i D_{i a_i}
    bool optimal = true;   // whether the labels are a proven minimum among all assignments that keep the pairs of rows
};
/// `prices`: the result of the previous call, or empty; the call reads and updates them. Throws BadArgument if no
/// assignment meets the bounds, ResourceError, Cancelled.
HardAssignment assign_hard(PointsView points, const PrototypeDistances& distances, const Constraints& constraints,
                           std::span<const double> weights, std::vector<double>& prices, const Run& run);

struct SoftSettings {
    double temperature = 1.0;
    GroupSolver solver = GroupSolver::newton;
    int bregman_rounds = 0;
};
struct SoftAssignment {
    Labels labels;            // argmax_j A_ij
    Matrix<double> sums;      // k x d: sum_i A_ij (x_i - origin)
    Vector<double> mass;      // k: sum_i A_ij
    double distortion = 0;    // sum_ij A_ij D_ij
    double negentropy = 0;    // sum_ij A_ij log A_ij
    GroupMultipliers groups;  // the solution; one unbounded group if there are no bounds
};
/// on_rows(begin, A) receives rows begin.. of A, each row once; calls come from any thread and may overlap. on_rows may
/// be empty. `start`: multipliers of the previous call, or empty.
SoftAssignment assign_soft(PointsView points, const PrototypeDistances& distances, const Constraints& constraints,
                           const SoftSettings& settings, std::span<const double> start, const Run& run,
                           const std::function<void(Index begin, const Matrix<double>& rows)>& on_rows);

/// The nearest centroid of every row; constraints are ignored.
Labels nearest_prototypes(PointsView points, const PrototypeDistances& distances, const Run& run);

}  // namespace coterie::internal
