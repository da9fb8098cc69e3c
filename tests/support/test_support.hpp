#pragma once
// For tests: random points, messages of errors, and a plain Lloyd to compare with.

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/random.hpp"

namespace coterie::test {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A problem with these points and the other fields of `known`. The points must outlive it.
inline Problem with(PointsView points, Problem known = {}) {
    known.points = Points::borrow(points);
    return known;
}

/// The message of the coterie::Error that `act` throws, or "nothing was thrown".
inline std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.message();
    }
    return "nothing was thrown";
}

/// n normal points in d dimensions. Each coordinate has mean `shift` and standard deviation 1.
inline Matrix<double> normal_points(Index n, Index d, std::uint64_t seed, double shift = 0) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    Matrix<double> out(n, d);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = normal(random) + shift;
    return out;
}

/// n points around `blobs` random centres, all shifted by `offset`. Centres have standard deviation `spread`; points
/// have 1 around their centre.
template <class T>
Matrix<T> blob_points(Index n, Index d, int blobs, double spread, std::uint64_t seed, double offset = 0) {
    RandomStream random(seed, "test.blobs");
    Matrix<double> centres(blobs, d);
    for (Index j = 0; j < centres.size(); ++j) centres.data()[j] = spread * random.normal();
    Matrix<T> out(n, d);
    for (Index i = 0; i < n; ++i) {
        const auto j = static_cast<Index>(random.below(static_cast<std::uint64_t>(blobs)));
        for (Index p = 0; p < d; ++p) out(i, p) = static_cast<T>(offset + centres(j, p) + random.normal());
    }
    return out;
}

inline double squared_distance(const Matrix<double>& x, Index i, const Matrix<double>& c, Index j) {
    return (x.row(i) - c.row(j)).squaredNorm();
}

struct PlainResult {
    Matrix<double> centroids;
    Labels labels;
    double inertia = 0;
};

/// Lloyd's algorithm of the textbook, in double precision. Ends after `iterations` iterations or when no label changes.
inline PlainResult plain_lloyd(const Matrix<double>& x, Matrix<double> c, int iterations,
                               const std::vector<double>& weights = {}) {
    PlainResult out;
    out.labels.assign(static_cast<std::size_t>(x.rows()), -1);
    const auto assign = [&] {
        bool changed = false;
        out.inertia = 0;
        for (Index i = 0; i < x.rows(); ++i) {
            int best = 0;
            for (Index j = 1; j < c.rows(); ++j)
                if (squared_distance(x, i, c, j) < squared_distance(x, i, c, best)) best = static_cast<int>(j);
            changed = changed || out.labels[static_cast<std::size_t>(i)] != best;
            out.labels[static_cast<std::size_t>(i)] = best;
            out.inertia +=
                (weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]) * squared_distance(x, i, c, best);
        }
        return changed;
    };
    for (int iteration = 0; iteration < iterations && assign(); ++iteration) {
        Matrix<double> sum = Matrix<double>::Zero(c.rows(), c.cols());
        std::vector<double> weight(static_cast<std::size_t>(c.rows()), 0.0);
        for (Index i = 0; i < x.rows(); ++i) {
            const double w = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
            sum.row(out.labels[static_cast<std::size_t>(i)]) += w * x.row(i);
            weight[static_cast<std::size_t>(out.labels[static_cast<std::size_t>(i)])] += w;
        }
        for (Index j = 0; j < c.rows(); ++j)
            if (weight[static_cast<std::size_t>(j)] > 0) c.row(j) = sum.row(j) / weight[static_cast<std::size_t>(j)];
    }
    assign();
    out.centroids = c;
    return out;
}

}  // namespace coterie::test
