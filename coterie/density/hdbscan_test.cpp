#include "coterie/density/hdbscan.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>

#include <gtest/gtest.h>

#include "coterie/density/internal/condensed_tree.hpp"
#include "coterie/density/internal/spanning_tree.hpp"
#include "coterie/methods.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using density::internal::CondensedTree;
using density::internal::SpanningEdge;
using density::internal::SpanningTree;
using test::message_of;
using test::with;

std::size_t spot(Index i) { return static_cast<std::size_t>(i); }

double distance(const Matrix<double>& points, Index i, Index j) { return (points.row(i) - points.row(j)).norm(); }

// Core distances by sorting all distances, and Prim's algorithm on all pairs.
SpanningTree plain_tree(const Matrix<double>& points, Index s) {
    const Index n = points.rows();
    SpanningTree out;
    for (Index i = 0; i < n; ++i) {
        std::vector<double> others;
        for (Index j = 0; j < n; ++j)
            if (j != i) others.push_back(distance(points, i, j));
        std::sort(others.begin(), others.end());
        out.core.push_back(others[spot(s - 1)]);
    }
    std::vector<double> nearest(spot(n), test::infinity);
    std::vector<Index> from(spot(n), 0);
    std::vector<bool> in(spot(n), false);
    for (Index here = 0, taken = 1; taken < n; ++taken) {
        in[spot(here)] = true;
        for (Index j = 0; j < n; ++j) {
            const double reached = std::max({distance(points, here, j), out.core[spot(here)], out.core[spot(j)]});
            if (in[spot(j)] || reached >= nearest[spot(j)]) continue;
            nearest[spot(j)] = reached;
            from[spot(j)] = here;
        }
        Index next = -1;
        for (Index j = 0; j < n; ++j)
            if (!in[spot(j)] && (next < 0 || nearest[spot(j)] < nearest[spot(next)])) next = j;
        out.edges.push_back({std::min(next, from[spot(next)]), std::max(next, from[spot(next)]), nearest[spot(next)]});
        here = next;
    }
    std::sort(out.edges.begin(), out.edges.end(), [](const auto& a, const auto& b) { return a.length < b.length; });
    return out;
}

// Cycle property: no pair is closer than the longest edge on its path; and every edge has the length of its pair.
void expect_minimum(const Matrix<double>& points, const SpanningTree& tree) {
    const Index n = points.rows();
    ASSERT_EQ(static_cast<Index>(tree.edges.size()), n - 1);
    Matrix<double> longest = Matrix<double>::Zero(n, n);
    std::vector<std::vector<Index>> members(spot(n));
    std::vector<Index> of(spot(n));
    for (Index i = 0; i < n; ++i) {
        members[spot(i)] = {i};
        of[spot(i)] = i;
    }
    for (const SpanningEdge& edge : tree.edges) {
        const double reached =
            std::max({distance(points, edge.low, edge.high), tree.core[spot(edge.low)], tree.core[spot(edge.high)]});
        ASSERT_NEAR(edge.length, reached, 1e-12 * reached);
        const Index a = of[spot(edge.low)];
        const Index b = of[spot(edge.high)];
        ASSERT_NE(a, b) << "a cycle";
        for (const Index i : members[spot(a)])
            for (const Index j : members[spot(b)]) longest(i, j) = longest(j, i) = edge.length;
        for (const Index j : members[spot(b)]) of[spot(j)] = a;
        members[spot(a)].insert(members[spot(a)].end(), members[spot(b)].begin(), members[spot(b)].end());
    }
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) {
            const double reached = std::max({distance(points, i, j), tree.core[spot(i)], tree.core[spot(j)]});
            ASSERT_GE(reached, longest(i, j) * (1 - 1e-12)) << i << " " << j;
        }
}

Matrix<double> whole_numbers(Index n, Index d, int side, std::uint64_t seed) {
    RandomStream random(seed, "test.whole");
    Matrix<double> out(n, d);
    for (Index i = 0; i < out.size(); ++i)
        out.data()[i] = static_cast<double>(random.below(static_cast<std::uint64_t>(side)));
    return out;
}

// Three dense clusters of 40, 30 and 20 rows in two columns, and 10 rows far from all.
Matrix<double> groups_and_noise(Labels* truth = nullptr) {
    Matrix<double> out = test::normal_points(100, 2, 5);
    const double centres[4][2] = {{0, 0}, {20, 0}, {0, 30}, {0, 0}};
    for (Index i = 0; i < 100; ++i) {
        const int group = i < 40 ? 0 : i < 70 ? 1 : i < 90 ? 2 : 3;
        if (group < 3) {
            out(i, 0) += centres[group][0];
            out(i, 1) += centres[group][1];
        } else {
            const double angle = static_cast<double>(i) * 0.7;
            out(i, 0) = 200 * std::cos(angle);
            out(i, 1) = 200 * std::sin(angle);
        }
        if (truth != nullptr) truth->push_back(group == 3 ? -1 : group);
    }
    return out;
}

HdbscanModel fit(const Matrix<double>& points, const HdbscanOptions& options = {}, int threads = 2) {
    return fit_hdbscan(points, options, coterie::Run(0, threads));
}

TEST(SpanningTree, AgreesWithPrim) {
    for (std::uint64_t seed = 0; seed < 12; ++seed)
        for (const Index d : {1, 2, 5, 12, 13, 40}) {
            SCOPED_TRACE(std::to_string(seed) + " " + std::to_string(d));
            const Index n = 2 + static_cast<Index>(seed * 31);
            const Index s = std::min<Index>(n - 1, 1 + static_cast<Index>(seed));
            for (const Matrix<double>& points :
                 {test::blob_points<double>(n, d, 4, 6, seed), whole_numbers(n, d, 3, seed)}) {
                const SpanningTree tree = density::internal::spanning_tree(points, s, coterie::Run(0, 2));
                const SpanningTree plain = plain_tree(points, s);
                for (Index i = 0; i < n; ++i)
                    ASSERT_NEAR(tree.core[spot(i)], plain.core[spot(i)], 1e-12 * (1 + plain.core[spot(i)]));
                expect_minimum(points, tree);
                // The sorted lengths of all minimum spanning trees are the same.
                for (std::size_t e = 0; e < tree.edges.size(); ++e)
                    ASSERT_NEAR(tree.edges[e].length, plain.edges[e].length, 1e-12 * (1 + plain.edges[e].length));
            }
        }
}

// Clusters far from each other, each larger than a list of neighbours and than a leaf: only the search finds the edges.
TEST(SpanningTree, FindsEdgesBeyondNeighbourLists) {
    for (const Index d : {2, 20}) {
        SCOPED_TRACE(d);
        const Matrix<double> points = test::blob_points<double>(1200, d, 5, 100, 3);
        const SpanningTree plain = plain_tree(points, 4);
        const SpanningTree tree = density::internal::spanning_tree(points, 4, coterie::Run(0, 2));
        ASSERT_EQ(tree.edges.size(), plain.edges.size());
        for (std::size_t e = 0; e < tree.edges.size(); ++e)
            ASSERT_NEAR(tree.edges[e].length, plain.edges[e].length, 1e-12 * plain.edges[e].length);
        const Matrix<float> rounded = points.cast<float>();
        const SpanningTree single = density::internal::spanning_tree(rounded, 4, coterie::Run(0, 2));
        const SpanningTree plain_of_rounded = plain_tree(rounded.cast<double>(), 4);
        for (std::size_t e = 0; e < tree.edges.size(); ++e)
            ASSERT_NEAR(single.edges[e].length, plain_of_rounded.edges[e].length,
                        1e-12 * plain_of_rounded.edges[e].length);
    }
}

TEST(SpanningTree, SameBitsAtAnyNumberOfThreads) {
    for (const Index d : {2, 20}) {
        const Matrix<double> points = test::blob_points<double>(3000, d, 6, 8, 9);
        const SpanningTree one = density::internal::spanning_tree(points, 7, coterie::Run(0, 1));
        for (const int threads : {2, 8}) {
            const SpanningTree many = density::internal::spanning_tree(points, 7, coterie::Run(0, threads));
            EXPECT_EQ(many.core, one.core);
            ASSERT_EQ(many.edges.size(), one.edges.size());
            for (std::size_t e = 0; e < one.edges.size(); ++e) {
                ASSERT_EQ(many.edges[e].low, one.edges[e].low);
                ASSERT_EQ(many.edges[e].high, one.edges[e].high);
                ASSERT_EQ(many.edges[e].length, one.edges[e].length);
            }
        }
    }
}

// Seven rows on a line at 0, 1, 2 and 10, 11, 13 and 40, with s = 1; edges of length 1, 1, 1, 2, 8, 27.
TEST(CondensedTree, ByHand) {
    Matrix<double> points(7, 1);
    points << 0, 1, 2, 10, 11, 13, 40;
    const SpanningTree spanning = density::internal::spanning_tree(points, 1, coterie::Run(0, 1));
    const CondensedTree tree = density::internal::condensed_tree(spanning.edges, 2);
    // At 27 the row at 40 leaves; at 8 the first cluster splits; then the row at 13 leaves at 2, the others at 1.
    EXPECT_EQ(tree.parent, (std::vector<std::int32_t>{-1, 0, 0}));
    EXPECT_EQ(tree.birth, (std::vector<double>{0, 8, 8}));
    EXPECT_EQ(tree.row_cluster, (std::vector<std::int32_t>{1, 1, 1, 2, 2, 2, 0}));
    EXPECT_EQ(tree.row_distance, (std::vector<double>{1, 1, 1, 1, 1, 2, 27}));
    EXPECT_EQ(tree.least_distances(), (std::vector<double>{8, 1, 1}));
    EXPECT_EQ(tree.least_distances_below(), (std::vector<double>{1, 1, 1}));
    const HdbscanModel model = fit(points, {.min_cluster_size = 2, .min_samples = 1});
    EXPECT_EQ(model.labels(), (Labels{0, 0, 0, 1, 1, 1, -1}));
    EXPECT_EQ(model.probabilities(), (std::vector<double>{1, 1, 1, 1, 1, 0.5, 0}));
    const std::vector<double> glosh = {0, 0, 0, 0, 0, 0.5, 1 - 1.0 / 27};
    for (std::size_t i = 0; i < 7; ++i) EXPECT_DOUBLE_EQ(model.outlier_scores()[i], glosh[i]);
    EXPECT_DOUBLE_EQ(model.fit_report().objective, 1 + 1 + 1 + 2 + 8 + 27);
}

TEST(CondensedTree, SelectsClusters) {
    // Cluster 0 splits into 1 and 2, cluster 2 into 3 and 4. Rows: three each of 1, 3 and 4.
    CondensedTree tree;
    tree.parent = {-1, 0, 0, 2, 2};
    tree.birth = {0, 10, 10, 4, 4};
    tree.row_cluster = {1, 1, 1, 3, 3, 3, 4, 4, 4};
    tree.row_distance = {5, 5, 5, 2, 2, 2, 2, 2, 2};
    // Stability of 2: 6 (1/4 - 1/10) = 0.9; of 3 and 4: 3 (1/2 - 1/4) = 0.75 each.
    EXPECT_EQ(density::internal::select_clusters(tree, {}), (std::vector<std::int32_t>{-1, 0, -1, 1, 2}));
    tree.row_distance = {5, 5, 5, 3, 3, 3, 3, 3, 3};  // now 3 (1/3 - 1/4) = 0.25 each
    EXPECT_EQ(density::internal::select_clusters(tree, {}), (std::vector<std::int32_t>{-1, 0, 1, -1, -1}));
    EXPECT_EQ(density::internal::select_clusters(tree, {.leaves = true}), (std::vector<std::int32_t>{-1, 0, -1, 1, 2}));
    EXPECT_EQ(density::internal::select_clusters(tree, {.leaves = true, .least_birth = 4}),
              (std::vector<std::int32_t>{-1, 0, -1, 1, 2}));
    EXPECT_EQ(density::internal::select_clusters(tree, {.leaves = true, .least_birth = 4.5}),
              (std::vector<std::int32_t>{-1, 0, 1, -1, -1}));
    EXPECT_EQ(density::internal::select_clusters(tree, {.leaves = true, .least_birth = 11, .root = true}),
              (std::vector<std::int32_t>{0, -1, -1, -1, -1}));
    EXPECT_EQ(density::internal::labels_of(tree, {-1, 0, -1, 1, -1}, {}), (Labels{0, 0, 0, 1, 1, 1, -1, -1, -1}));
}

TEST(Hdbscan, FindsClustersAndNoise) {
    Labels truth;
    const Matrix<double> points = groups_and_noise(&truth);
    for (const ClusterSelection selection : {ClusterSelection::excess_of_mass, ClusterSelection::leaf}) {
        const HdbscanModel model =
            fit(points, {.min_cluster_size = 12, .min_samples = 3, .cluster_selection_method = selection});
        EXPECT_EQ(model.clusters(), 3);
        for (Index i = 0; i < 100; ++i) {
            const std::int32_t label = model.labels()[spot(i)];
            EXPECT_TRUE(label == truth[spot(i)] || (label < 0 && truth[spot(i)] >= 0)) << i;
        }
        EXPECT_EQ(model.predict(points), model.labels());
    }
    const HdbscanModel model = fit(points);
    const FitReport& report = model.fit_report();
    EXPECT_EQ(report.points, 100);
    EXPECT_EQ(report.clusters_requested, report.clusters_found);
    EXPECT_EQ(report.stopped, StopReason::exact);
}

// iris_hdbscan.csv was written by hdbscan 0.8 (PyPI): HDBSCAN(min_cluster_size=15, approx_min_span_tree=False,
// prediction_data=True).fit(X): labels_, probabilities_, outlier_scores_, all_points_membership_vectors.
TEST(Hdbscan, AgreesWithTheHdbscanPackageOnIris) {
    const char* const root = std::getenv("COTERIE_SOURCE");
    if (root == nullptr) GTEST_SKIP() << "COTERIE_SOURCE is not set";
    const auto table = [&](const std::string& path) {
        std::ifstream file(std::string(root) + path);
        std::string line;
        std::getline(file, line);
        std::vector<std::vector<double>> out;
        while (std::getline(file, line)) {
            std::istringstream fields(line);
            out.emplace_back();
            for (std::string field; std::getline(fields, field, ',');) out.back().push_back(std::atof(field.c_str()));
        }
        return out;
    };
    const auto iris = table("/data/iris/iris.csv");
    const auto golden = table("/coterie/density/internal/iris_hdbscan.csv");
    ASSERT_EQ(iris.size(), 150u);
    ASSERT_EQ(golden.size(), 150u);
    Matrix<double> points(150, 4);
    for (Index i = 0; i < 150; ++i)
        for (Index p = 0; p < 4; ++p) points(i, p) = iris[spot(i)][spot(p)];
    const HdbscanModel model = fit(points, {.min_cluster_size = 15});
    ASSERT_EQ(model.clusters(), 2);
    const Matrix<double> memberships = model.output(Output::memberships, points);
    const Matrix<double> scores = model.output(Output::outlier_score, points);
    const bool swapped = golden[0][0] != model.labels()[0];
    for (Index i = 0; i < 150; ++i) {
        const auto& row = golden[spot(i)];
        const int label = static_cast<int>(row[0]);
        EXPECT_EQ(model.labels()[spot(i)], label < 0 ? -1 : swapped ? 1 - label : label) << i;
        EXPECT_NEAR(model.probabilities()[spot(i)], row[1], 1e-12) << i;
        EXPECT_NEAR(model.outlier_scores()[spot(i)], row[2], 1e-12) << i;
        EXPECT_EQ(scores(i, 0), model.outlier_scores()[spot(i)]);
        // The package adds 1e-8 to a density. For noise that is equally close to both clusters, it uses the cluster
        // with the lower number.
        const double sum = row[3] + row[4];
        EXPECT_NEAR(memberships(i, swapped ? 1 : 0) / memberships.row(i).sum(), row[3] / sum, 1e-8) << i;
        if (label >= 0) {
            EXPECT_NEAR(memberships.row(i).sum(), sum, 1e-8) << i;
        }
        EXPECT_LE(memberships.row(i).sum(), 1 + 1e-12);
    }
}

// By definition: the nearest of 2 s rows under mutual reachability, and its clusters born above that distance.
TEST(Hdbscan, NewRowsFollowTheirNearestNeighbour) {
    for (const Index d : {2, 15}) {
        SCOPED_TRACE(d);
        const Matrix<double> points = test::blob_points<double>(400, d, 5, 6, 2);
        Matrix<double> fresh = test::blob_points<double>(150, d, 5, 6, 2, 0.5);
        fresh.topRows(50) *= 3;
        const HdbscanModel model = fit(points, {.min_cluster_size = 10, .min_samples = 4});
        ASSERT_GE(model.clusters(), 2);
        const Labels found = model.predict(fresh);
        int clustered = 0;
        const SpanningTree spanning = plain_tree(points, 4);
        const CondensedTree tree = density::internal::condensed_tree(spanning.edges, 10);
        for (Index q = 0; q < fresh.rows(); ++q) {
            std::vector<std::pair<double, Index>> near;
            for (Index i = 0; i < points.rows(); ++i) near.emplace_back((points.row(i) - fresh.row(q)).norm(), i);
            std::sort(near.begin(), near.end());
            double least = test::infinity;
            Index best = 0;
            for (std::size_t j = 0; j < 8; ++j) {
                const double reached = std::max({near[j].first, near[3].first, spanning.core[spot(near[j].second)]});
                if (reached < least) {
                    least = reached;
                    best = near[j].second;
                }
            }
            // The row's own label if the row is in its cluster at that distance.
            std::int32_t cluster = tree.row_cluster[spot(best)];
            bool climbed = false;
            while (cluster > 0 && tree.birth[spot(cluster)] <= least) {
                cluster = tree.parent[spot(cluster)];
                climbed = true;
            }
            if (cluster == 0) {
                EXPECT_EQ(found[spot(q)], -1) << q;
            } else if (!climbed) {
                EXPECT_EQ(found[spot(q)], model.labels()[spot(best)]) << q;
            }
            clustered += found[spot(q)] >= 0 ? 1 : 0;
        }
        EXPECT_GT(clustered, 30);
        EXPECT_LT(clustered, 150);
    }
}

// Many edges have equal lengths, because core distances do. If no two distances are equal, nothing depends on the order
// of the rows.
TEST(Hdbscan, DoesNotDependOnRowOrder) {
    for (const Index d : {3, 20})
        for (std::uint64_t seed = 0; seed < 6; ++seed) {
            const Matrix<double> points = test::blob_points<double>(500, d, 7, 2, seed);
            const HdbscanOptions options = {.min_cluster_size = 6};
            const HdbscanModel model = fit(points, options);
            const HdbscanModel turned = fit(points.colwise().reverse().eval(), options);
            ASSERT_EQ(model.clusters(), turned.clusters());
            std::vector<std::int32_t> to(spot(model.clusters()), -1);
            for (std::size_t i = 0; i < 500; ++i) {
                const std::int32_t here = model.labels()[i];
                const std::int32_t there = turned.labels()[499 - i];
                ASSERT_EQ(here < 0, there < 0) << i;
                ASSERT_EQ(model.outlier_scores()[i], turned.outlier_scores()[499 - i]) << i;
                ASSERT_EQ(model.probabilities()[i], turned.probabilities()[499 - i]) << i;
                if (here < 0) continue;
                if (to[spot(here)] < 0) to[spot(here)] = there;
                ASSERT_EQ(to[spot(here)], there) << i;
            }
        }
}

TEST(Hdbscan, PermutedAndScaledRows) {
    const Matrix<double> points = groups_and_noise();
    const HdbscanOptions options = {.min_cluster_size = 12, .min_samples = 3};
    const Labels labels = fit(points, options).labels();
    Labels turned = fit(points.colwise().reverse().eval(), options).labels();
    std::reverse(turned.begin(), turned.end());
    std::vector<std::int32_t> to(3, -1);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        ASSERT_EQ(labels[i] < 0, turned[i] < 0) << i;
        if (labels[i] < 0) continue;
        if (to[spot(labels[i])] < 0) to[spot(labels[i])] = turned[i];
        EXPECT_EQ(turned[i], to[spot(labels[i])]);
    }
    for (const double factor : {1.0 / 1024, 4096.0}) EXPECT_EQ(fit(points * factor, options).labels(), labels);
    for (const double factor : {1e-3, 1e4}) EXPECT_EQ(fit(points * factor, options).labels(), labels);
    EXPECT_EQ(fit(points, options, 8).labels(), labels);
}

TEST(Hdbscan, DegenerateRows) {
    const auto all_noise = [](const HdbscanModel& model, Index n) {
        EXPECT_EQ(model.clusters(), 0);
        EXPECT_EQ(model.labels(), Labels(spot(n), -1));
        ASSERT_EQ(model.fit_report().warnings.size(), 1u);
        EXPECT_NE(model.fit_report().warnings[0].text().find("all rows are noise"), std::string::npos);
        EXPECT_FALSE(model.outputs().has(Output::memberships));
    };
    all_noise(fit(Matrix<double>::Ones(1, 3)), 1);
    all_noise(fit(Matrix<double>::Ones(3, 1)), 3);
    const Matrix<double> constant = Matrix<double>::Constant(40, 2, 0.3);
    all_noise(fit(constant), 40);
    EXPECT_EQ(fit(constant, {.allow_single_cluster = true}).labels(), Labels(40, 0));
    // Two spots of equal rows and one separate row: no density is finite, and no value is NaN.
    Matrix<double> spots(41, 2);
    for (Index i = 0; i < 41; ++i) spots.row(i).setConstant(i == 40 ? 9.0 : i % 2 == 0 ? 1.0 : 2.0);
    for (const ClusterSelection selection : {ClusterSelection::excess_of_mass, ClusterSelection::leaf}) {
        const HdbscanModel model = fit(spots, {.cluster_selection_method = selection});
        EXPECT_EQ(model.clusters(), 2);
        for (Index i = 0; i < 40; ++i) EXPECT_EQ(model.labels()[spot(i)], i % 2);
        EXPECT_EQ(model.labels()[40], -1);
        EXPECT_EQ(model.outlier_scores()[0], 0.0);
        EXPECT_EQ(model.outlier_scores()[40], 1.0);
        const Matrix<double> memberships = model.output(Output::memberships, spots);
        EXPECT_TRUE(memberships.allFinite());
        EXPECT_DOUBLE_EQ(memberships(0, 0), 1.0);
    }
}

TEST(Hdbscan, RoundTripAndDamagedModels) {
    const Matrix<double> points = groups_and_noise();
    const Matrix<double> fresh = points.array() + 0.25;
    for (const bool single : {false, true}) {
        const HdbscanModel model = single ? fit_hdbscan(points.cast<float>().eval(), {.min_cluster_size = 12})
                                          : fit(points, {.min_cluster_size = 12});
        Archive archive{"hdbscan"};
        model.store(archive);
        const auto loaded = model_of(archive);
        EXPECT_EQ(loaded->method(), "hdbscan");
        EXPECT_EQ(loaded->clusters(), model.clusters());
        EXPECT_EQ(loaded->predict(fresh), model.predict(fresh));
        EXPECT_EQ(loaded->option_values(), model.option_values());
        for (const Output output : {Output::memberships, Output::outlier_score})
            EXPECT_EQ(loaded->output(output, fresh), model.output(output, fresh));
        const std::vector<std::int32_t> parents = {-1, 0, 2, 1, 1};
        archive.set_labels("tree_parent", parents);
        EXPECT_THROW(model_of(archive), BadData);
    }
    Archive noise{"hdbscan"};
    fit(Matrix<double>::Ones(3, 1)).store(noise);
    EXPECT_EQ(model_of(noise)->predict(Matrix<double>::Zero(2, 1).eval()), (Labels{-1, -1}));
}

TEST(Hdbscan, RejectsBadArguments) {
    const Matrix<double> points = test::normal_points(30, 2, 1);
    const auto message = [&](const HdbscanOptions& options) { return message_of([&] { fit(points, options); }); };
    for (const auto& [options, words] : std::vector<std::pair<HdbscanOptions, std::string>>{
             {{.min_cluster_size = 1}, "min_cluster_size"},
             {{.min_samples = 0}, "min_samples"},
             {{.cluster_selection_epsilon = -1}, "cluster_selection_epsilon"}})
        EXPECT_NE(message(options).find(words), std::string::npos) << message(options);
    EXPECT_NE(message_of([&] { fit_hdbscan(with(points, {.weights = std::vector<double>(30, 1.0)})); }).find("weights"),
              std::string::npos);
    Matrix<double> broken = points;
    broken(3, 1) = std::nan("");
    EXPECT_NE(message_of([&] { fit(broken); }).find("row 4"), std::string::npos);
    EXPECT_NE(message_of([&] { fit(points * 1e-120); }).find("Rescale"), std::string::npos);
    // More neighbours than other rows.
    const HdbscanModel model = fit(points, {.min_samples = 100});
    EXPECT_EQ(model.options().min_samples, 29);
    EXPECT_NE(model.fit_report().warnings[0].text().find("min_samples"), std::string::npos);
}

TEST(Hdbscan, StopsWhenAsked) {
    coterie::Run run(0, 2);
    run.should_stop = [] { return true; };
    EXPECT_THROW(fit_hdbscan(test::blob_points<double>(3000, 3, 4, 5, 1), {}, run), Cancelled);
    int asked = 0;
    run.should_stop = [&] { return ++asked > 3; };
    EXPECT_THROW(fit_hdbscan(test::blob_points<double>(3000, 30, 4, 5, 1), {}, run), Cancelled);
}

}  // namespace
}  // namespace coterie
