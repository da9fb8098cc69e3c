#pragma once
// Internal: what the max-margin theorems (2 to 4 of Zhang and Boykov) speak of, computed to rounding: the widest margin
// of given labels, and the minimiser of regularised decisiveness with those labels for gamma far below what a double
// holds.
//
//     x_i, y_i      n x d points and a label 0 <= y_i < K each, every label used
//     V, b          linear classifier, K x d and K, as in linear_softmax.hpp; || V || its Frobenius norm
//     s_ik          (v_{y_i} - v_k)'x_i + b_{y_i} - b_k, k != y_i: above 0 where (V, b) gives x_i its label
//     margin        min_ik s_ik / || V ||  (definition 3; K = 2: sqrt(2) times the distance to the boundary)

#include "coterie/entropy/linear_softmax.hpp"

namespace coterie::internal {

/// Below 0 where (V, b) labels a point otherwise. V counts with the mean of its rows taken away, which changes no s_ik.
double margin(const Matrix<double>& points, const LinearSoftmax<double>& classifier, const Labels& labels);

/// Degrees between the V of two classifiers as vectors of K d numbers, row means taken away; K = 2: between normals.
double degrees_between(const LinearSoftmax<double>& a, const LinearSoftmax<double>& b);

/// The classifier of widest margin, min_ik s_ik = 1: the multi-class hard-margin support vector machine
///     min || V ||^2 / 2  subject to  s_ik >= 1,
/// by a primal-dual interior-point method to a relative duality gap of 1e-12. Throws BadData where labels are not
/// linearly separable.
LinearSoftmax<double> hard_margin(const Matrix<double>& points, const Labels& labels, int clusters);

/// The minimiser of gamma || V ||^2 + mean_i H(sigma_i) (13) among classifiers with every s_ik above 2, where H is
/// convex in s, by Newton's method from `start`, which must give the points these labels. gamma = 10^-decades, decades
/// >= 4; both terms are divided by gamma and H is taken in the log domain, so that gamma need not be a double. Stops
/// where the gradient is at most 1e-9 of its norm term's. Throws BadArgument (start) and BadData: a minimum within the
/// bounds, which every labelling has for a gamma small enough, was not found.
LinearSoftmax<double> decisive_minimum(const Matrix<double>& points, const Labels& labels,
                                       const LinearSoftmax<double>& start, double decades);

/// The local minimum of gamma || V ||^2 + mean_i H(sigma_i) + fairness KL(sigmabar || u), u uniform (14), that L-BFGS
/// reaches from `start`, and its value.
struct DecisiveFair {
    LinearSoftmax<double> classifier;
    double value;
};
DecisiveFair decisive_and_fair(const Matrix<double>& points, const LinearSoftmax<double>& start, double gamma,
                               double fairness);

}  // namespace coterie::internal
