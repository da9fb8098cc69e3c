#pragma once
// For tests: data and comparisons for the variants of k-means.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "coterie/methods.hpp"
#include "coterie/model/archive.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::fixtures {

using test::with;

/// n points around k centres, which overlap if `spread` is large. Row i belongs to group i % k.
template <class T = double>
Matrix<T> blobs(Index n, Index d, int k, double spread, std::uint64_t seed = 1) {
    RandomStream random(seed, "blobs");
    Matrix<double> centres(k, d);
    for (Index i = 0; i < centres.size(); ++i) centres.data()[i] = 10 * random.normal();
    Matrix<T> out(n, d);
    for (Index i = 0; i < n; ++i)
        for (Index p = 0; p < d; ++p) out(i, p) = static_cast<T>(centres(i % k, p) + spread * random.normal());
    return out;
}

/// Small integer coordinates, with many ties and duplicates.
template <class T = double>
Matrix<T> lattice(Index n, Index d, int side, std::uint64_t seed) {
    RandomStream random(seed, "lattice");
    Matrix<T> out(n, d);
    for (Index i = 0; i < out.size(); ++i)
        out.data()[i] = static_cast<T>(random.below(static_cast<std::uint64_t>(side)));
    return out;
}

inline std::vector<double> whole_weights(Index n, std::uint64_t seed, int lowest = 0) {
    RandomStream random(seed, "weights");
    std::vector<double> out(static_cast<std::size_t>(n));
    for (auto& w : out) w = lowest + static_cast<double>(random.below(4));
    out[0] = 2;
    return out;
}

/// Repeats each row as often as its integer weight says. `source` gets the original row of each copy.
template <class T>
Matrix<T> copies(const Matrix<T>& points, const std::vector<double>& weights, std::vector<Index>& source) {
    source.clear();
    for (Index i = 0; i < points.rows(); ++i)
        for (int c = 0; c < static_cast<int>(weights[static_cast<std::size_t>(i)]); ++c) source.push_back(i);
    Matrix<T> out(static_cast<Index>(source.size()), points.cols());
    for (std::size_t i = 0; i < source.size(); ++i) out.row(static_cast<Index>(i)) = points.row(source[i]);
    return out;
}

/// Whether two labelings are the same partition.
inline bool same_partition(const Labels& a, const Labels& b) {
    if (a.size() != b.size()) return false;
    std::set<std::pair<int, int>> pairs;
    for (std::size_t i = 0; i < a.size(); ++i) pairs.emplace(a[i], b[i]);
    std::set<int> left, right;
    for (const auto& [x, y] : pairs)
        if (!left.insert(x).second || !right.insert(y).second) return false;
    return true;
}

/// sum_i w_i || x_i - mean of its cluster ||^2, by a plain loop.
template <class T>
double plain_inertia(const Matrix<T>& points, const Labels& labels, int k, const std::vector<double>& weights = {}) {
    Matrix<double> sums = Matrix<double>::Zero(k, points.cols());
    std::vector<double> mass(static_cast<std::size_t>(k), 0.0);
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; };
    for (Index i = 0; i < points.rows(); ++i) {
        const auto j = labels[static_cast<std::size_t>(i)];
        sums.row(j) += weight(i) * points.row(i).template cast<double>();
        mass[static_cast<std::size_t>(j)] += weight(i);
    }
    double total = 0;
    for (Index i = 0; i < points.rows(); ++i) {
        const auto j = labels[static_cast<std::size_t>(i)];
        if (weight(i) > 0)
            total +=
                weight(i) *
                (points.row(i).template cast<double>() - sums.row(j) / mass[static_cast<std::size_t>(j)]).squaredNorm();
    }
    return total;
}

inline void expect_same_bits(const PointsView& a, const PointsView& b) {
    ASSERT_EQ(a.rows(), b.rows());
    ASSERT_EQ(a.columns(), b.columns());
    ASSERT_EQ(a.scalar(), b.scalar());
    for (Index i = 0; i < a.rows(); ++i)
        for (Index j = 0; j < a.columns(); ++j) {
            const double x = a.at(i, j);
            const double y = b.at(i, j);
            ASSERT_EQ(std::memcmp(&x, &y, sizeof x), 0) << "row " << i << " column " << j << ": " << x << " and " << y;
        }
}

/// Stores the model, writes it to bytes, reads these and loads the model through the list of methods.
inline std::unique_ptr<Model> round_trip(const Model& model) {
    Archive archive{std::string(model.method())};
    model.store(archive);
    const std::string bytes = archive.to_bytes();
    return model_of(Archive::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "test"));
}

/// Checks the properties of every fit report.
inline void expect_sound_report(const Model& model, Index n, Index d, int k, const Run& run) {
    const FitReport& report = model.fit_report();
    EXPECT_EQ(report.points, n);
    EXPECT_EQ(report.dimensions, d);
    EXPECT_EQ(report.clusters_requested, k);
    EXPECT_EQ(report.seed, run.seed);
    EXPECT_EQ(report.threads, run.threads);
    EXPECT_FALSE(report.seconds.empty());
    EXPECT_FALSE(report.empty_cluster_policy.empty());
    EXPECT_TRUE(std::isfinite(report.objective));
    for (const double value : report.objective_per_iteration) EXPECT_TRUE(std::isfinite(value));
    ASSERT_EQ(static_cast<Index>(model.labels().size()), n);
    ASSERT_EQ(report.sizes.size(), static_cast<std::size_t>(k));
    std::vector<Index> sizes(static_cast<std::size_t>(k), 0);
    for (const auto label : model.labels()) {
        ASSERT_GE(label, 0);
        ASSERT_LT(label, k);
        ++sizes[static_cast<std::size_t>(label)];
    }
    EXPECT_EQ(report.sizes, sizes);
    EXPECT_EQ(report.clusters_found, std::count_if(sizes.begin(), sizes.end(), [](Index s) { return s > 0; }));
    EXPECT_EQ(model.clusters(), k);
    EXPECT_EQ(model.dimensions(), d);
}

/// Fits with 1, 2 and 8 threads. Labels, centroids, objective and its history must have the same bits.
template <class Fit>
void expect_same_bits_at_any_threads(const Fit& fit) {
    Run one(11, 1);
    const auto a = fit(one);
    for (const int threads : {2, 8}) {
        Run many(11, threads);
        const auto b = fit(many);
        EXPECT_EQ(a.labels(), b.labels());
        EXPECT_EQ(a.fit_report().objective, b.fit_report().objective);
        EXPECT_EQ(a.fit_report().objective_per_iteration, b.fit_report().objective_per_iteration);
        expect_same_bits(a.centroids(), b.centroids());
    }
}

/// Fits three clusters to equal points, then to points with two distinct values. Expects empty clusters, a warning, no
/// NaN, and labels equal to those of predict().
template <class Fit>
void expect_empty_clusters_reported(const Fit& fit) {
    Matrix<double> points = Matrix<double>::Constant(30, 2, 0.1);
    for (const int distinct : {1, 2}) {
        if (distinct == 2)
            for (Index i = 0; i < 10; ++i) points(i, 1) = 0.7;
        Run run(3, 1);
        const auto model = fit(points, run);
        expect_sound_report(model, 30, 2, 3, run);
        EXPECT_EQ(model.fit_report().clusters_found, distinct);
        ASSERT_EQ(model.fit_report().warnings.size(), 1u);
        EXPECT_NE(model.fit_report().warnings[0].text().find(std::to_string(distinct) + " distinct"),
                  std::string::npos);
        EXPECT_EQ(model.predict(points), model.labels());
        EXPECT_TRUE(to_matrix<double>(model.centroids()).allFinite());
    }
}

/// Compares weight w with w copies of the row, from the same initial centroids.
template <class Fit>
void expect_weights_act_as_copies(const Fit& fit, double tolerance) {
    const Matrix<double> points = blobs(80, 3, 4, 3.0, 6);
    const auto weights = whole_weights(80, 6);
    std::vector<Index> source;
    const Matrix<double> expanded = copies(points, weights, source);
    const Matrix<double> start = points.topRows(4);
    Run run(4, 1);
    const auto weighted = fit(points, run, Problem{.weights = weights, .initial_centroids = Points::borrow(start)});
    const auto copied = fit(expanded, run, Problem{.initial_centroids = Points::borrow(start)});
    for (std::size_t i = 0; i < source.size(); ++i)
        EXPECT_EQ(copied.labels()[i], weighted.labels()[static_cast<std::size_t>(source[i])]);
    EXPECT_NEAR(copied.fit_report().objective, weighted.fit_report().objective,
                tolerance * copied.fit_report().objective);
    EXPECT_LE((to_matrix<double>(weighted.centroids()) - to_matrix<double>(copied.centroids())).cwiseAbs().maxCoeff(),
              tolerance * 30);
}

/// Stops a fit at once, and another after two iterations. `relabels`: the labels are those of the centroids, by a
/// further pass.
template <class Fit>
auto expect_stops(const Fit& fit, bool relabels = true) {
    Run run(0, 1);
    run.should_stop = [] { return true; };
    const Matrix<double> points = blobs(400, 3, 8, 12.0);
    try {  // if the seeding never asks, the result is its initial centroids
        EXPECT_EQ(fit(points, run).fit_report().stopped, StopReason::interrupted);
    } catch (const Cancelled&) {
    }
    int iterations = 0;
    run.should_stop = [&] { return iterations >= 2; };
    run.on_progress = [&](const Progress& progress) {
        if (progress.stage == "iterations") ++iterations;
        EXPECT_GE(progress.fraction, 0);
        EXPECT_LE(progress.fraction, 1);
    };
    const auto model = fit(points, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_EQ(model.fit_report().iterations, 2);
    EXPECT_EQ(model.fit_report().objective_per_iteration.size(), 2u);
    if (relabels) {
        EXPECT_EQ(model.predict(points), model.labels());
    }
    return std::pair(points, model);
}

inline void expect_falling(const std::vector<double>& values, double tolerance) {
    for (std::size_t t = 1; t < values.size(); ++t)
        EXPECT_LE(values[t], values[t - 1] + tolerance * (1 + std::abs(values[t - 1]))) << "iteration " << t;
}

/// Runs `call`. Expects an exception of type E whose message contains each of `words`.
template <class E>
void expect_error(const std::function<void()>& call, const std::vector<std::string>& words) {
    try {
        call();
        ADD_FAILURE() << "nothing thrown; expected: " << (words.empty() ? "" : words.front());
    } catch (const E& error) {
        for (const auto& word : words)
            EXPECT_NE(std::string(error.message()).find(word), std::string::npos)
                << error.message() << " lacks: " << word;
    }
}

/// The arguments that are an error for every method, through the list of methods.
inline void expect_usual_refusals(const std::string& name) {
    const Method& method = find_method(name);
    Run run(1, 1);
    const Matrix<double> points = blobs(6, 2, 2, 0.1);
    const auto fit = [&](const Matrix<double>& x, const OptionValues& values, std::vector<double> weights = {}) {
        return [&, x, values, weights] {
            Problem side;
            side.weights = weights;
            method.fit(with(x, side), values, run);
        };
    };
    const OptionValues two = {{"clusters", 2}};
    expect_error<BadArgument>(fit(points, {{"clusters", 0}}), {"clusters", "0", "at least 1"});
    expect_error<BadArgument>(fit(points, {{"clusters", 7}}), {"7", "6"});
    expect_error<BadArgument>(fit(points, {{"clusters", 3}}, {1, 1, 0, 0, 0, 0}), {"3", "2"});
    expect_error<BadArgument>(fit(points, {{"no_such_option", 3}}), {"no_such_option"});
    expect_error<BadArgument>(fit(points, two, {1, 1}), {"weights", "2", "6"});
    expect_error<BadArgument>(fit(points, two, {1, 1, 1, -1, 1, 1}), {"weights", "row 4"});
    expect_error<BadArgument>(fit(points, two, {0, 0, 0, 0, 0, 0}), {"weights"});
    expect_error<BadData>(fit(Matrix<double>(0, 2), two), {"0 rows"});
    Matrix<double> broken = points;
    broken(3, 1) = std::numeric_limits<double>::quiet_NaN();
    expect_error<BadData>(fit(broken, two), {"row 4"});
    broken(3, 1) = 1e200;
    expect_error<BadData>(fit(broken, two), {"row 4"});
    const auto model = method.fit(with(points), two, run);
    expect_error<BadArgument>([&] { model->predict(Matrix<double>(Matrix<double>::Ones(2, 3))); }, {"3", "2"});
    broken(3, 1) = std::numeric_limits<double>::infinity();
    expect_error<BadData>([&] { model->predict(broken); }, {"row 4"});
    EXPECT_TRUE(model->predict(Matrix<double>(0, 2)).empty());

    const auto refuses = [&](const Problem& side, const char* what) {
        expect_error<BadArgument>([&] { method.fit(with(points, side), two, run); }, {name, "does not support", what});
    };
    Problem side;
    if (!method.takes.labels) {
        const Labels known = {0, 1, -1, -1, -1, -1};
        side.partial_labels = known;
        refuses(side, "partial labels");
        side = {};
        side.clusters_per_label = {{"0", 1}};
        refuses(side, "clusters per label");
        side = {};
        side.label_shares = {{"0", 0.5, 0.5}};
        refuses(side, "label shares");
        side = {};
    }
    if (!method.takes.sizes) {
        side.sizes = SizeBounds{1, 5};
        refuses(side, "size bounds");
    }
}

}  // namespace coterie::fixtures
