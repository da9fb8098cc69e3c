#pragma once
// Internal: the quantities of the max-margin theorems (2 to 4 of Zhang and Boykov), computed up to rounding: the widest
// margin of given labels, and the minimiser of regularised decisiveness with those labels. Its gamma may be far below
// the range of double.
//
//     x_i, y_i      n x d points and a label 0 <= y_i < K each, every label used
//     V, b          linear classifier, K x d and K, as in linear_softmax.hpp; || V || its Frobenius norm
//     s_ik          (v_{y_i} - v_k)'x_i + b_{y_i} - b_k, k != y_i: all above 0 if (V, b) gives x_i its label
//     margin        min_ik s_ik / || V ||  (definition 3; K = 2: sqrt(2) times the distance to the boundary)

#include "coterie/entropy/linear_softmax.hpp"

namespace coterie::internal {

/// The margin. It is below 0 if (V, b) gives some point another label. margin() first subtracts the mean of V's rows,
/// which changes no s_ik.
double margin(const Matrix<double>& points, const LinearSoftmax<double>& classifier, const Labels& labels);

/// Angle in degrees between the V of two classifiers, as vectors of K d numbers. The mean of its rows is subtracted
/// from each V first. K = 2: the angle between the normals.
double degrees_between(const LinearSoftmax<double>& a, const LinearSoftmax<double>& b);

/// The classifier of widest margin, min_ik s_ik = 1: the multi-class hard-margin support vector machine
///     min || V ||^2 / 2  subject to  s_ik >= 1,
/// by a primal-dual interior-point method to a relative duality gap of 1e-12. Throws BadData if the labels are not
/// linearly separable.
LinearSoftmax<double> hard_margin(const Matrix<double>& points, const Labels& labels, int clusters);

/// The minimiser of gamma || V ||^2 + mean_i H(sigma_i) (13) among classifiers with every s_ik above 2. There H is
/// convex in s. Newton's method starts from `start`, which must give the points these labels.
/// gamma = 10^-decades, decades >= 4. Both terms are divided by gamma, and H is computed in the log domain, so gamma
/// may be below the range of double. Stops when the gradient is at most 1e-9 times that of the norm term.
/// Throws BadArgument (start), and BadData if it finds no minimum among these classifiers. For a small enough gamma
/// there is always one.
LinearSoftmax<double> decisive_minimum(const Matrix<double>& points, const Labels& labels,
                                       const LinearSoftmax<double>& start, double decades);

/// The local minimum, and its value, of gamma || V ||^2 + mean_i H(sigma_i) + fairness KL(sigmabar || u), u uniform
/// (14), that L-BFGS reaches from `start`.
struct DecisiveFair {
    LinearSoftmax<double> classifier;
    double value;
};
DecisiveFair decisive_and_fair(const Matrix<double>& points, const LinearSoftmax<double>& start, double gamma,
                               double fairness);

}  // namespace coterie::internal
