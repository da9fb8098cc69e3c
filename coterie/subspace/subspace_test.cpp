#include "coterie/subspace/subspace.hpp"

#include <cmath>
#include <functional>
#include <numeric>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "coterie/data/read.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

using test::message_of;

// Classes that differ in the first three of d columns only; the other columns vary more and are uninformative.
struct Sample {
    Matrix<double> points;
    Labels truth;
    Labels known;
    std::vector<std::string> names = {"a", "b", "c"};

    Problem side() const {
        Problem out;
        out.partial_labels = known;
        out.label_names = names;
        return out;
    }
};

Sample sample(Index n, Index d, Index labelled, std::uint64_t seed, double distance = 6, double noise = 2.5) {
    RandomStream random(seed, "test.subspace");
    Sample out;
    out.points.resize(n, d);
    out.truth.resize(at(n));
    out.known.assign(at(n), -1);
    for (Index i = 0; i < n; ++i) {
        const auto label = static_cast<std::int32_t>(i < 3 * labelled ? i % 3 : static_cast<Index>(random.below(3)));
        out.truth[at(i)] = label;
        if (i < 3 * labelled) out.known[at(i)] = label;
        for (Index p = 0; p < d; ++p)
            out.points(i, p) = (p < 3 ? 1.0 : noise) * random.normal() + (p == label ? distance : 0.0);
    }
    return out;
}

double accuracy_of(const Labels& labels, const Sample& s) {
    double right = 0;
    double all = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        if (s.known[i] >= 0) continue;
        all += 1;
        right += labels[i] == s.truth[i] ? 1 : 0;
    }
    return right / all;
}

SubspaceModel fit(const Sample& s, const SubspaceOptions& options, int threads = 2) {
    coterie::Run run(0, threads);
    return fit_subspace(with(s.points, s.side()), options, run);
}

TEST(Subspace, FindsInformativeColumns) {
    const Sample s = sample(900, 5, 10, 1, 5, 8);
    SubspaceOptions options;
    options.max_iterations = 30;
    const SubspaceModel model = fit(s, options);
    EXPECT_GT(accuracy_of(model.labels(), s), 0.99);
    // New points have the same accuracy.
    const Sample other = sample(900, 5, 10, 2, 5, 8);
    EXPECT_GT(accuracy_of(model.predict(other.points), other), 0.99);
    // Without the subspace, the uninformative columns dominate.
    options.projection = Projection::none;
    EXPECT_LT(accuracy_of(fit(s, options).labels(), s), 0.6);
    options = {};
    options.max_iterations = 30;
    options.assignment = Assignment::soft;
    EXPECT_GT(accuracy_of(fit(s, options).labels(), s), 0.99);
}

// ---- compared with a literal implementation

Matrix<double> covariance_of(const Matrix<double>& x, const Vector<double>& weights, double& mass) {
    mass = weights.sum();
    const Vector<double> centre = x.transpose() * weights / mass;
    Matrix<double> out = Matrix<double>::Zero(x.cols(), x.cols());
    for (Index i = 0; i < x.rows(); ++i) {
        const Vector<double> row = x.row(i).transpose() - centre;
        out += weights[i] * row * row.transpose();
    }
    return out / mass;
}

Matrix<double> oas(const Matrix<double>& covariance, double count) {
    const auto d = static_cast<double>(covariance.rows());
    const double mu = covariance.trace() / d;
    const double alpha = covariance.squaredNorm() / (d * d);
    const double rho = std::min(1.0, (alpha + mu * mu) / ((count + 1) * (alpha - mu * mu / d)));
    return (1 - rho) * covariance + rho * mu * Matrix<double>::Identity(covariance.rows(), covariance.cols());
}

struct Literal {
    Labels labels;
    Matrix<double> prototypes;
    Matrix<double> directions;
};

// One cluster per label, the share of label 0 fixed to m points (hard) or mass m (soft, by bisection).
Literal literal(const Sample& s, bool soft, double m, int rounds) {
    const Index n = s.points.rows();
    const Index d = s.points.cols();
    Literal out;
    out.prototypes = Matrix<double>::Zero(3, d);
    for (std::int32_t j = 0; j < 3; ++j) {
        double count = 0;
        for (Index i = 0; i < n; ++i)
            if (s.known[at(i)] == j) {
                out.prototypes.row(j) += s.points.row(i);
                count += 1;
            }
        out.prototypes.row(j) /= count;
    }
    Matrix<double> u = Matrix<double>::Identity(d, d);
    Matrix<double> a(n, 3);
    for (int round = 0; round < rounds; ++round) {
        const Matrix<double> y = s.points * u;
        const Matrix<double> c = out.prototypes * u;
        Matrix<double> distance(n, 3);
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < 3; ++j)
                distance(i, j) = s.known[at(i)] < 0 || s.known[at(i)] == j ? (y.row(i) - c.row(j)).squaredNorm()
                                                                           : std::numeric_limits<double>::infinity();
        a.setZero();
        if (soft) {
            double low = -1e3;
            double high = 1e3;
            for (int step = 0; step < 200; ++step) {
                const double theta = (low + high) / 2;
                double mass = 0;
                for (Index i = 0; i < n; ++i) {
                    const double least = std::min(distance(i, 0) - theta, distance.row(i).tail(2).minCoeff());
                    for (Index j = 0; j < 3; ++j) a(i, j) = std::exp(least - (distance(i, j) - (j == 0 ? theta : 0)));
                    a.row(i) /= a.row(i).sum();
                    mass += a(i, 0);
                }
                (mass < m ? low : high) = theta;
            }
        } else {
            std::vector<Index> order(at(n));
            std::iota(order.begin(), order.end(), Index{0});
            const auto difference = [&](Index i) { return distance(i, 0) - distance.row(i).tail(2).minCoeff(); };
            std::stable_sort(order.begin(), order.end(),
                             [&](Index x, Index z) { return difference(x) < difference(z); });
            for (Index r = 0; r < n; ++r) {
                const Index i = order[at(r)];
                const Index j = static_cast<double>(r) < m ? 0 : distance(i, 1) <= distance(i, 2) ? 1 : 2;
                a(i, j) = 1;
            }
        }
        Matrix<double> within = Matrix<double>::Zero(d, d);
        for (Index j = 0; j < 3; ++j) {
            double mass = 0;
            const Matrix<double> covariance = covariance_of(s.points, a.col(j), mass);
            out.prototypes.row(j) = a.col(j).transpose() * s.points / mass;
            within += mass / static_cast<double>(n) * oas(covariance, mass);
        }
        double all = 0;
        const Matrix<double> spread = covariance_of(s.points, Vector<double>::Ones(n), all);
        const Matrix<double> total = oas(spread, all);
        const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(total - within, within);
        u = solver.eigenvectors().rightCols(2).rowwise().reverse();
        out.labels.resize(at(n));
        for (Index i = 0; i < n; ++i) {
            Index best = 0;
            a.row(i).maxCoeff(&best);
            out.labels[at(i)] = static_cast<std::int32_t>(best);
        }
    }
    for (Index q = 0; q < 2; ++q) {
        Index largest = 0;
        u.col(q).cwiseAbs().maxCoeff(&largest);
        if (u(largest, q) < 0) u.col(q) *= -1;
    }
    out.directions = u.transpose();
    return out;
}

TEST(Subspace, FiveRoundsAgreeWithALiteralImplementation) {
    const Sample s = sample(240, 8, 4, 3, 3.0);
    for (const auto& [soft, rounds] :
         {std::pair(false, 1), std::pair(false, 5), std::pair(true, 1), std::pair(true, 5)}) {
        SCOPED_TRACE(std::string(soft ? "soft, " : "hard, ") + std::to_string(rounds));
        const Literal expected = literal(s, soft, 96, rounds);
        SubspaceOptions options;
        options.assignment = soft ? Assignment::soft : Assignment::hard;
        options.max_iterations = rounds;
        options.tolerance = 0;
        coterie::Run run;
        Problem side = s.side();
        side.label_shares = {{"a", 0.4, 0.4}};
        const SubspaceModel model = fit_subspace(with(s.points, side), options, run);
        EXPECT_EQ(model.labels(), expected.labels);
        EXPECT_LT((model.prototypes() - expected.prototypes).cwiseAbs().maxCoeff(), 1e-8);
        ASSERT_EQ(model.directions().rows(), 2);
        EXPECT_LT((model.directions() - expected.directions).cwiseAbs().maxCoeff(), 1e-7);
    }
}

// ---- invariants

const std::vector<double>& numbers(const FitReport& report, const std::string& name) {
    for (const auto& [key, value] : report.details)
        if (key == name) return std::get<std::vector<double>>(value);
    throw std::runtime_error("no detail " + name);
}

TEST(Subspace, ObjectiveNeverRisesWithAFixedProjection) {
    const Sample s = sample(600, 10, 5, 4, 2.5);
    for (const Assignment assignment : {Assignment::hard, Assignment::soft})
        for (const bool shares : {false, true})
            for (const Projection projection : {Projection::joint, Projection::none}) {
                SubspaceOptions options;
                options.assignment = assignment;
                options.passes = 6;
                options.max_iterations = 4;
                options.tolerance = 0;
                options.projection = projection;
                if (projection == Projection::none) options.temperature = 20;
                Problem side = s.side();
                side.clusters_per_label = {{"a", 2}};
                if (shares) side.label_shares = {{"a", 0.5, 0.5}, {"b", 0.1, 0.3}};
                coterie::Run run;
                const SubspaceModel model = fit_subspace(with(s.points, side), options, run);
                const auto& assigned = numbers(model.fit_report(), "objective_after_assignments");
                const auto& moved = numbers(model.fit_report(), "objective_after_prototypes");
                ASSERT_EQ(assigned.size(), moved.size());
                for (std::size_t t = 0; t < assigned.size(); ++t) {
                    const double slack = 1e-11 * std::abs(assigned[t]);
                    EXPECT_LE(moved[t], assigned[t] + slack);
                    if (t > 0 && (projection == Projection::none || t % 6 != 0)) {
                        EXPECT_LE(assigned[t], moved[t - 1] + slack) << t;
                    }
                }
                // The reported objective is the last one after a move of the centroids.
                EXPECT_EQ(model.fit_report().objective, moved.back());
            }
}

TEST(Subspace, SameBitsAtAnyNumberOfThreads) {
    Sample s = sample(2000, 40, 5, 5, 3.0);
    const Matrix<float> points = s.points.cast<float>();
    for (const Assignment assignment : {Assignment::hard, Assignment::soft})
        for (const char* shrinkage : {"oas", "none", "0.1"}) {
            SubspaceOptions options;
            options.assignment = assignment;
            options.shrinkage = shrinkage;
            options.max_iterations = 4;
            Problem side = s.side();
            side.clusters_per_label = {{"a", 3}};
            side.label_shares = {{"a", 0.3, 0.3}};
            coterie::Run run(0, 1);
            const SubspaceModel one = fit_subspace(with(points, side), options, run);
            for (const int threads : {2, 8}) {
                coterie::Run more(0, threads);
                const SubspaceModel again = fit_subspace(with(points, side), options, more);
                EXPECT_EQ(again.labels(), one.labels());
                EXPECT_EQ(again.prototypes(), one.prototypes());
                EXPECT_EQ(again.directions(), one.directions());
                EXPECT_EQ(again.fit_report().objective, one.fit_report().objective);
            }
        }
    const Sample small = sample(150, 6, 3, 6, 3.0);
    SubspaceOptions options;
    options.assignment = Assignment::soft;
    const SubspaceModel first = fit(small, options);
    for (int t = 0; t < 100; ++t) {
        const SubspaceModel again = fit(small, options, 1 + t % 4);
        ASSERT_EQ(again.prototypes(), first.prototypes());
        ASSERT_EQ(again.directions(), first.directions());
    }
}

TEST(Subspace, PermutedRowsGetTheSameLabels) {
    const Sample s = sample(300, 6, 5, 7, 3.0);
    Sample turned = s;
    for (Index i = 0; i < 300; ++i) {
        turned.points.row(i) = s.points.row(299 - i);
        turned.known[at(i)] = s.known[at(299 - i)];
    }
    const Labels labels = fit(s, {}).labels();
    Labels back = fit(turned, {}).labels();
    std::reverse(back.begin(), back.end());
    EXPECT_EQ(labels, back);
}

TEST(Subspace, FloatAgreesWithDoubleAlsoWithLargeOffset) {
    Sample s = sample(500, 10, 5, 8, 4.0);
    const Matrix<float> single = s.points.cast<float>();
    s.points = single.cast<double>();
    coterie::Run run;
    const SubspaceModel wide = fit_subspace(with(s.points, s.side()), {}, run);
    const SubspaceModel narrow = fit_subspace(with(single, s.side()), {}, run);
    EXPECT_EQ(wide.labels(), narrow.labels());
    EXPECT_LT((wide.directions() - narrow.directions()).cwiseAbs().maxCoeff(), 1e-4);
    const Matrix<double> moved = s.points.array() + 1e6;
    const SubspaceModel far = fit_subspace(with(moved, s.side()), {}, run);
    EXPECT_EQ(far.labels(), wide.labels());
    EXPECT_EQ(far.predict(moved), wide.predict(s.points));
}

TEST(Subspace, SoftWithOasOnFloatAgreesWithDouble) {
    const Sample s = sample(4000, 70, 6, 5, 2.0);
    const Matrix<float> narrow = s.points.cast<float>();
    const Matrix<double> wide = narrow.cast<double>();
    SubspaceOptions options;
    options.assignment = Assignment::soft;
    options.max_iterations = 3;
    options.temperature = 20;  // every point has a noticeable probability in every cluster
    coterie::Run run(0, 2);
    const SubspaceModel exact = fit_subspace(with(wide, s.side()), options, run);
    const SubspaceModel found = fit_subspace(with(narrow, s.side()), options, run);
    EXPECT_EQ(found.labels(), exact.labels());
    EXPECT_LT((found.directions() - exact.directions()).norm(), 1e-4 * exact.directions().norm());
}

// ---- outputs

TEST(Subspace, LabelScoresAreHalfTheSquaredDistances) {
    const Sample s = sample(200, 5, 6, 9);
    SubspaceOptions options;
    coterie::Run run;
    Problem side = s.side();
    side.clusters_per_label = {{"b", 2}};
    const SubspaceModel model = fit_subspace(with(s.points, side), options, run);
    ASSERT_TRUE(model.outputs().has(Output::label_scores));
    const Matrix<double> scores = model.output(Output::label_scores, s.points, run);
    const Matrix<double> y = s.points * model.directions().transpose();
    const Matrix<double> c = model.prototypes() * model.directions().transpose();
    const Labels labels = model.predict(s.points);
    ASSERT_EQ(scores.cols(), 3);
    for (Index i = 0; i < 200; ++i) {
        const auto half = [&](Index j) { return -0.5 * (y.row(i) - c.row(j)).squaredNorm(); };
        const double slack = 1e-9 * (1 + scores.row(i).cwiseAbs().maxCoeff());
        EXPECT_NEAR(scores(i, 0), half(0), slack);
        EXPECT_NEAR(scores(i, 1), std::max(half(1), half(2)), slack);
        EXPECT_NEAR(scores(i, 2), half(3), slack);
        Index best = 0;
        scores.row(i).maxCoeff(&best);
        EXPECT_EQ(model.cluster_labels().label_of[at(labels[at(i)])], best);
    }
    const Matrix<double> transformed = model.transform(s.points, run);
    EXPECT_LT(((transformed.rowwise() - transformed.row(0)) - (y.rowwise() - y.row(0))).cwiseAbs().maxCoeff(), 1e-9);
}

TEST(Subspace, RoundTrip) {
    const Sample s = sample(200, 5, 6, 10);
    for (const Projection projection : {Projection::joint, Projection::none}) {
        SubspaceOptions options;
        options.projection = projection;
        const SubspaceModel model = fit(s, options);
        Archive archive{"subspace"};
        model.store(archive);
        const std::string bytes = archive.to_bytes();
        const SubspaceModel again =
            SubspaceModel::from(Archive::from_bytes(std::as_bytes(std::span(bytes.data(), bytes.size())), "test"));
        EXPECT_EQ(again.predict(s.points), model.predict(s.points));
        EXPECT_EQ(again.output(Output::label_scores, s.points, coterie::Run()),
                  model.output(Output::label_scores, s.points, coterie::Run()));
        EXPECT_EQ(again.cluster_labels().names, s.names);
        Archive broken{"subspace"};
        model.store(broken);
        broken.set_vector("origin", std::vector<double>(4, 0.0));
        EXPECT_THROW(SubspaceModel::from(broken), BadData);
        model.store(broken);
        broken.set_points("directions", Matrix<double>(Matrix<double>::Ones(2, 4)));
        EXPECT_THROW(SubspaceModel::from(broken), BadData);
        model.store(broken);
        broken.set_labels("label_of_cluster", Labels{0, 1, 3});
        EXPECT_THROW(SubspaceModel::from(broken), BadData);
    }
}

TEST(Subspace, WithoutLabelsIsDiscriminativeKMeans) {
    const Sample s = sample(900, 6, 1, 11, 8.0);
    SubspaceOptions options;
    options.clusters = 3;
    options.max_iterations = 50;
    coterie::Run run(1);
    const SubspaceModel model = fit_subspace(s.points, options, run);
    EXPECT_TRUE(model.cluster_labels().empty());
    EXPECT_FALSE(model.outputs().has(Output::label_scores));
    EXPECT_THROW(model.output(Output::label_scores, s.points, run), BadArgument);
    EXPECT_EQ(model.fit_report().clusters_found, 3);
    const auto& objectives = model.fit_report().objective_per_iteration;
    EXPECT_FALSE(objectives.empty());
    options.clusters = std::nullopt;
    EXPECT_NE(message_of([&] { fit_subspace(s.points, options, run); }).find("clusters"), std::string::npos);
    coterie::Run other(1, 8);
    options.clusters = 3;
    EXPECT_EQ(fit_subspace(s.points, options, other).labels(), model.labels());
}

TEST(Subspace, FreeClustersFindUnlabelledClasses) {
    Sample s = sample(600, 5, 5, 12);
    for (Index i = 300; i < 600; ++i) s.points(i, 4) += 60;  // a class without a label
    SubspaceOptions options;
    options.clusters = 4;
    options.max_iterations = 20;
    const SubspaceModel model = fit(s, options);
    Index in_free = 0;
    for (Index i = 300; i < 600; ++i) in_free += model.labels()[at(i)] == 3 ? 1 : 0;
    EXPECT_GT(in_free, 290);
    EXPECT_EQ(model.cluster_labels().name_of(3), "cluster-3");
    EXPECT_EQ(model.output(Output::label_scores, s.points, coterie::Run()).cols(), 3);
}

TEST(Subspace, EmptyClusterKeepsItsCentroidAndIsReported) {
    // Two equal labelled points and three clusters of their label: one or more clusters must be empty.
    Matrix<double> points(8, 2);
    points << 0, 0, 0, 0, 0, 0, 5, 5, 5, 6, 6, 5, 0, 1, 1, 0;
    const Labels known{0, 0, 0, 1, 1, -1, -1, -1};
    Problem side;
    side.partial_labels = known;
    side.clusters_per_label = {{"0", 3}};
    for (const Assignment assignment : {Assignment::hard, Assignment::soft}) {
        SubspaceOptions options;
        options.assignment = assignment;
        coterie::Run run;
        const SubspaceModel model = fit_subspace(with(points, side), options, run);
        EXPECT_TRUE(model.prototypes().allFinite());
        EXPECT_TRUE(model.directions().allFinite());
        EXPECT_LT(model.fit_report().clusters_found, 4);
        EXPECT_FALSE(model.fit_report().warnings.empty());
    }
}

TEST(Subspace, FewerPointsThanDimensionsAndOnlyLabelledPoints) {
    // Only labelled points: one round, then the subspace, as in the paper's Appendix G.
    Sample s = sample(12, 30, 4, 13);
    for (const char* shrinkage : {"oas", "none", "0.5"}) {
        SubspaceOptions options;
        options.max_iterations = 1;
        options.shrinkage = shrinkage;
        const SubspaceModel model = fit(s, options);
        EXPECT_TRUE(model.directions().allFinite()) << shrinkage;
        EXPECT_EQ(model.labels(), s.truth);
        EXPECT_EQ(model.predict(s.points), s.truth) << shrinkage;
    }
}

TEST(Subspace, ConstantColumnsDuplicatesAndOneCluster) {
    Matrix<double> points(40, 3);
    RandomStream random(1, "test");
    for (Index i = 0; i < 40; ++i) points.row(i) << (i % 2 == 0 ? 0.0 : 3.0), 7.0, random.normal();
    Labels known(40, -1);
    known[0] = 0;
    known[1] = 1;
    Problem side;
    side.partial_labels = known;
    for (const char* shrinkage : {"oas", "none", "0.2"}) {
        SubspaceOptions options;
        options.shrinkage = shrinkage;
        coterie::Run run;
        const SubspaceModel model = fit_subspace(with(points, side), options, run);
        EXPECT_TRUE(model.directions().allFinite()) << shrinkage;
        for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(model.labels()[i], static_cast<int>(i % 2)) << shrinkage;
        options.clusters = 1;
        EXPECT_TRUE(fit_subspace(points, options, run).directions().allFinite()) << shrinkage;
        const Matrix<double> same = Matrix<double>::Ones(10, 3);
        options.clusters = 2;
        const SubspaceModel nothing = fit_subspace(same, options, run);
        EXPECT_TRUE(nothing.directions().allFinite()) << shrinkage;
        EXPECT_EQ(nothing.predict(same), Labels(10, 0)) << shrinkage;
    }
}

TEST(Subspace, BadArguments) {
    const Sample s = sample(60, 5, 3, 14);
    const auto message = [&](auto change) {
        SubspaceOptions options;
        Problem side = s.side();
        change(options, side);
        coterie::Run run;
        return message_of([&] { fit_subspace(with(s.points, side), options, run); });
    };
    const auto has = [](const std::string& text, const std::string& part) {
        EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    has(message([](auto& o, auto&) { o.shrinkage = "ledoit"; }), "shrinkage: 'ledoit' is not accepted. Use oas, none");
    has(message([](auto& o, auto&) { o.shrinkage = "1.5"; }), "'1.5' is not accepted");
    has(message([](auto& o, auto&) { o.shrinkage = "0.1x"; }), "'0.1x' is not accepted");
    has(message([](auto& o, auto&) { o.shrinkage = "nan"; }), "'nan' is not accepted");
    has(message([](auto& o, auto&) { o.subspace_dim = 6; }), "subspace_dim: 6 is not accepted. Use at most 5");
    has(message([](auto& o, auto&) { o.temperature = 0; }), "temperature");
    has(message([](auto& o, auto&) { o.max_iterations = 0; }), "max_iterations");
    has(message([](auto& o, auto&) { o.clusters = 2; }), "2 clusters requested, but the labels need 3");
    has(message([](auto&, auto& side) {
            side.clusters_per_label = {{"a", 4}};
        }),
        "has only 3 labelled rows for 4 clusters");
    has(message([](auto&, auto& side) { side.label_shares = {{"a", 0.0, 0.01}}; }), "shares from 0.05 to 0.9");
    has(message([](auto& o, auto& side) {
            o.assignment = Assignment::soft;
            side.label_shares = {{"a", 0.93, 0.93}};
        }),
        "shares from 0.05 to 0.9");
    const std::vector<double> weights(60, 1.0);
    has(message([&](auto&, auto& side) { side.weights = weights; }), "does not support weights");
    Sample huge = s;
    huge.points *= 1e70;
    coterie::Run run;
    has(message_of([&] { fit_subspace(with(huge.points, huge.side()), {}, run); }), "magnitudes from 1e-60 to 1e+60");
}

TEST(Subspace, FullShrinkageDoesNotDependOnRowOrder) {
    int tied = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomStream random(seed, "test.ties");
        Matrix<double> points(24, 3);
        for (Index i = 0; i < points.size(); ++i) points.data()[i] = random.normal();
        Labels known(24, -1);
        for (std::size_t i = 0; i < 6; ++i) known[i] = static_cast<std::int32_t>(i % 3);
        Problem side;
        side.partial_labels = known;
        coterie::Run run;
        const SubspaceModel forward = fit_subspace(with(points, side), {}, run);
        const Matrix<double> reversed = points.colwise().reverse();
        const Labels known_reversed(known.rbegin(), known.rend());
        side.partial_labels = known_reversed;
        Labels back = fit_subspace(with(reversed, side), {}, run).labels();
        std::reverse(back.begin(), back.end());
        EXPECT_EQ(forward.labels(), back) << seed;
        for (const auto& warning : forward.fit_report().warnings)
            tied += warning.problem.find("equally good") != std::string::npos ? 1 : 0;
    }
    EXPECT_GT(tied, 0);
    const Sample s = sample(100, 4, 3, 16);
    SubspaceOptions options;
    options.shrinkage = "1";
    EXPECT_FALSE(fit(s, options).fit_report().warnings.empty());
}

TEST(Subspace, SoftRowsSumToOneAtAnyScale) {
    for (const double scale : {1.0, 1e3, 1e6, 1e8}) {
        Matrix<double> points(6, 1);
        points << -1, 1, 0, 0, 0, 0.1;
        points *= scale;
        const Labels known{0, 1, -1, -1, -1, -1};
        Problem side;
        side.partial_labels = known;
        for (const bool shares : {false, true}) {
            if (shares) side.label_shares = {{"0", 0.4, 0.4}};
            for (const double temperature : {1.0, 1e-12, 1e-300}) {
                SubspaceOptions options;
                options.assignment = Assignment::soft;
                options.projection = Projection::none;
                options.max_iterations = 1;
                options.temperature = temperature;
                coterie::Run run;
                const SubspaceModel model = fit_subspace(with(points, side), options, run);
                const auto& masses = numbers(model.fit_report(), "masses");
                EXPECT_NEAR(masses[0] + masses[1], 6.0, 1e-12) << scale << " " << temperature;
                if (shares) {
                    EXPECT_NEAR(masses[0], 2.4, 1e-9) << scale << " " << temperature;
                }
                EXPECT_TRUE(std::isfinite(model.fit_report().objective));
            }
        }
    }
}

TEST(Subspace, InterruptedFitReturnsResultSoFar) {
    const Sample s = sample(300, 5, 3, 15, 2.0);
    coterie::Run run;
    int rounds = 0;
    run.on_progress = [&](const Progress& progress) { rounds = std::max(rounds, progress.iteration); };
    run.should_stop = [&] { return rounds > 2; };
    SubspaceOptions options;
    options.max_iterations = 1000;
    options.tolerance = 0;
    options.assignment = Assignment::soft;
    const SubspaceModel model = fit_subspace(with(s.points, s.side()), options, run);
    EXPECT_EQ(model.fit_report().stopped, StopReason::interrupted);
    EXPECT_EQ(model.labels().size(), 300u);
    run.should_stop = [] { return true; };
    EXPECT_THROW(fit_subspace(with(s.points, s.side()), options, run), Cancelled);
}

TEST(Subspace, WineFromFiveLabelsPerClass) {
    const PointsFile wine = read_points("data:wine");
    const LabelColumn& truth = *wine.labels;
    Sample s;
    s.points = to_matrix<double>(wine.points);
    s.truth = truth.labels;
    s.known.assign(s.truth.size(), -1);
    std::vector<int> taken(3, 0);
    for (std::size_t i = 0; i < s.truth.size(); ++i)
        if (taken[at(s.truth[i])]++ < 5) s.known[i] = s.truth[i];
    s.names = truth.names;
    // Columns in their own units: proline, in the hundreds, dominates ordinary distances.
    SubspaceOptions options;
    options.shrinkage = "none";
    options.max_iterations = 50;
    const double with = accuracy_of(fit(s, options).labels(), s);
    options.projection = Projection::none;
    const double without = accuracy_of(fit(s, options).labels(), s);
    EXPECT_GT(with, 0.9);
    EXPECT_GT(with, without + 0.1);
}

TEST(Subspace, PairsHoldForHardAssignmentsAndAreErrorsForSoft) {
    Problem problem{.points = Points(test::blob_points<double>(300, 5, 3, 3, 8))};
    for (Index i = 0; i < 290; i += 13) problem.must_links.push_back({i, i + 3});
    for (Index i = 1; i < 290; i += 7) problem.cannot_links.push_back({i, i + 1});
    const SubspaceModel model = fit_subspace(problem, {.clusters = 3}, coterie::Run(3, 2));
    const Labels& labels = model.labels();
    const auto label = [&](Index row) { return labels[static_cast<std::size_t>(row)]; };
    for (const RowPair& pair : problem.must_links) EXPECT_EQ(label(pair.first), label(pair.second));
    for (const RowPair& pair : problem.cannot_links) EXPECT_NE(label(pair.first), label(pair.second));
    EXPECT_NE(test::message_of([&] {
                  fit_subspace(problem, {.clusters = 3, .assignment = Assignment::soft}, coterie::Run(3, 1));
              }).find("need hard assignments"),
              std::string::npos);
}

// Nine clusters with planted starts: at their means, and with two centroids in one cluster and one centroid between two
// clusters. The objective prefers the bad start, because the variance within clusters is 1 in every direction for any
// clusters. Without a projection, the objective finds the good start.
TEST(Subspace, RestartCriterionDetectsABadStart) {
    const Index n = 600;
    Matrix<double> means(9, 2);
    for (Index g = 0; g < 9; ++g) means.row(g) << 8.0 * static_cast<double>(g / 3), 8.0 * static_cast<double>(g % 3);
    Matrix<double> points(n, 2);
    Labels truth;
    RandomStream random(3, "test.subspace.restarts");
    for (Index i = 0; i < n; ++i) {
        truth.push_back(static_cast<std::int32_t>(i % 9));
        for (Index p = 0; p < 2; ++p) points(i, p) = means(i % 9, p) + random.normal();
    }
    Matrix<double> planted = means;
    planted.row(1) = means.row(8).array() + 0.5;
    const auto started = [&](const Matrix<double>& start, const SubspaceOptions& options) {
        Problem problem = with(points, {});
        problem.initial_centroids = Points::borrow(start);
        return fit_subspace(problem, options, coterie::Run(0, 1));
    };
    for (const auto projection : {Projection::joint, Projection::none})
        for (const auto assignment : {Assignment::hard, Assignment::soft}) {
            SubspaceOptions options{
                .clusters = 9, .assignment = assignment, .projection = projection, .max_iterations = 20};
            const SubspaceModel good = started(means, options);
            const SubspaceModel bad = started(planted, options);
            ASSERT_GT(accuracy(good.labels(), truth), 0.99);
            ASSERT_LT(accuracy(bad.labels(), truth), 0.9);
            EXPECT_LT(good.restart_criterion(), 0.5 * bad.restart_criterion());
            if (projection == Projection::joint) {
                EXPECT_GT(good.fit_report().objective, bad.fit_report().objective);
            } else {
                EXPECT_EQ(good.fit_report().objective, good.restart_criterion());
            }
            options.restarts = 3;
            const SubspaceModel kept = fit_subspace(points, options, coterie::Run(0, 1));
            for (const auto& [name, value] : kept.fit_report().details)
                if (name == "criterion_per_restart") {
                    const auto& criteria = std::get<std::vector<double>>(value);
                    ASSERT_EQ(criteria.size(), 3U);
                    EXPECT_EQ(*std::min_element(criteria.begin(), criteria.end()), kept.restart_criterion());
                }
        }
}

TEST(Subspace, RestartsWithoutRandomStartsAreErrors) {
    const Sample s = sample(90, 4, 5, 1);
    SubspaceOptions options{.restarts = 2};
    EXPECT_NE(message_of([&] { fit(s, options); }).find("restarts changes nothing"), std::string::npos);
    options.clusters = 4;  // one without a label
    EXPECT_EQ(fit(s, options).clusters(), 4);
    Problem given = with(s.points, {});
    const Matrix<double> start = s.points.topRows(4);
    given.initial_centroids = Points::borrow(start);
    EXPECT_NE(message_of([&] { fit_subspace(given, options, coterie::Run()); }).find("restarts changes nothing"),
              std::string::npos);
}

}  // namespace
}  // namespace coterie
