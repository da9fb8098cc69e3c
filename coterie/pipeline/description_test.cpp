// Compares descriptions with brute force, on data whose distinguishing columns are known, and on data with little to
// describe.

#include "coterie/pipeline/description.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "coterie/metrics/metrics.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

Pipeline kmeans_of(const Problem& problem, int clusters, const PreparationOptions& preparation = {}) {
    return Pipeline::fit(problem, {find_method("kmeans"), {{"clusters", std::int64_t{clusters}}}},
                         {.preparation = preparation}, coterie::Run(3, 2));
}

Description description_of(const Pipeline& pipeline, const Problem& problem,
                           const coterie::Run& run = coterie::Run(0, 2)) {
    return describe(pipeline, pipeline.prepare(problem.points, problem.column_names, run), run, problem.weights);
}

// Three blobs. Cluster j has its own mean in column 2 j (higher) and, farther away, in column 2 j + 1 (lower).
struct Known {
    Problem problem;
    Labels truth;
};
Known known(Index n = 300) {
    Matrix<double> points = test::normal_points(n, 8, 5);
    Known out;
    for (Index i = 0; i < n; ++i) {
        const Index j = i % 3;
        out.truth.push_back(static_cast<std::int32_t>(j));
        points(i, 2 * j) += 8;
        points(i, 2 * j + 1) -= 12;
    }
    out.problem.points = Points(std::move(points));
    out.problem.column_names = {"a+", "a-", "b+", "b-", "c+", "c-", "noise", "more noise"};
    return out;
}

TEST(Description, DistinguishingColumnsComeFirst) {
    const Known data = known();
    const Pipeline pipeline = kmeans_of(data.problem, 3, {.scale = Scale::zscore});
    const Description found = description_of(pipeline, data.problem);
    for (std::size_t j = 0; j < 3; ++j) {
        const ClusterProfile& cluster = found.clusters[j];
        EXPECT_EQ(cluster.rows, 100);
        EXPECT_NEAR(cluster.share, 1.0 / 3, 1e-15);
        const std::int32_t truth = data.truth[static_cast<std::size_t>(cluster.typical.front())];
        const std::string letter(1, static_cast<char>('a' + truth));
        ASSERT_GE(cluster.columns.size(), 2u);
        EXPECT_EQ(cluster.columns[0].name, letter + "-");
        EXPECT_LT(cluster.columns[0].difference, 0);
        EXPECT_NEAR(cluster.columns[0].mean, -12, 0.5) << "in the points' own units";
        EXPECT_NEAR(cluster.columns[0].elsewhere.value(), 0, 0.5);
        EXPECT_EQ(cluster.columns[1].name, letter + "+");
        EXPECT_GT(cluster.columns[1].difference, 0);
        EXPECT_NE(columns_text(cluster, 1).find("low " + letter + "- (-1"), std::string::npos);
        EXPECT_EQ(columns_text(cluster, 1).find(";"), std::string::npos);
    }
    EXPECT_EQ(found.silhouettes, "exact");
    EXPECT_TRUE(found.warnings.empty());
}

// The definition in the header, written out.
double quantile(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    const double place = static_cast<double>(values.size() - 1) * share;
    const auto at = static_cast<std::size_t>(place);
    const double next = values[std::min(at + 1, values.size() - 1)];
    return values[at] + (place - std::floor(place)) * (next - values[at]);
}

void expect_as_by_hand(const Description& found, const Matrix<double>& x, const Labels& labels) {
    const auto k = static_cast<Index>(found.clusters.size());
    Matrix<double> means = Matrix<double>::Zero(k, x.cols());
    std::vector<double> size(found.clusters.size(), 0.0);
    for (Index i = 0; i < x.rows(); ++i) {
        means.row(labels[static_cast<std::size_t>(i)]) += x.row(i);
        size[static_cast<std::size_t>(labels[static_cast<std::size_t>(i)])] += 1;
    }
    for (Index j = 0; j < k; ++j) means.row(j) /= size[static_cast<std::size_t>(j)];

    std::vector<double> own, silhouette;
    for (Index i = 0; i < x.rows(); ++i) {
        const std::int32_t label = labels[static_cast<std::size_t>(i)];
        double other = test::infinity;
        for (Index j = 0; j < k; ++j)
            if (j != label) other = std::min(other, (x.row(i) - means.row(j)).norm());
        own.push_back((x.row(i) - means.row(label)).norm());
        silhouette.push_back((other - own.back()) / std::max(other, own.back()));
    }
    const std::vector<double> exact =
        found.silhouettes == "exact" ? silhouettes(x, labels, coterie::Run(0, 1)) : silhouette;

    for (Index j = 0; j < k; ++j) {
        const ClusterProfile& cluster = found.clusters[static_cast<std::size_t>(j)];
        std::vector<Index> rows;
        double sum = 0;
        for (Index i = 0; i < x.rows(); ++i)
            if (labels[static_cast<std::size_t>(i)] == j) {
                rows.push_back(i);
                sum += exact[static_cast<std::size_t>(i)];
            }
        ASSERT_EQ(cluster.rows, static_cast<Index>(rows.size()));
        EXPECT_NEAR(*cluster.silhouette, sum / static_cast<double>(rows.size()), 1e-9);
        const auto first = [&](const std::vector<double>& key) {
            std::vector<Index> out = rows;
            std::stable_sort(out.begin(), out.end(), [&](Index a, Index b) {
                return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
            });
            out.resize(std::min<std::size_t>(3, out.size()));
            return out;
        };
        EXPECT_EQ(cluster.typical, first(own));
        EXPECT_EQ(cluster.doubtful, first(silhouette));
        std::vector<double> differences;
        for (Index p = 0; p < x.cols(); ++p) {
            double in = 0, out = 0, squares = 0;
            for (Index i = 0; i < x.rows(); ++i) (labels[static_cast<std::size_t>(i)] == j ? in : out) += x(i, p);
            in /= static_cast<double>(rows.size());
            out /= static_cast<double>(x.rows() - static_cast<Index>(rows.size()));
            for (Index i = 0; i < x.rows(); ++i) {
                const double mean = labels[static_cast<std::size_t>(i)] == j ? in : out;
                squares += (x(i, p) - mean) * (x(i, p) - mean);
            }
            differences.push_back((in - out) / std::sqrt(squares / static_cast<double>(x.rows())));
        }
        std::vector<Index> order(differences.size());
        std::iota(order.begin(), order.end(), Index{0});
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
            return std::abs(differences[static_cast<std::size_t>(a)]) >
                   std::abs(differences[static_cast<std::size_t>(b)]);
        });
        std::size_t told = 0;
        for (const Index p : order) {
            const double difference = differences[static_cast<std::size_t>(p)];
            if (std::abs(difference) < 0.2 || told == 5) break;
            ASSERT_LT(told, cluster.columns.size());
            const ColumnProfile& column = cluster.columns[told++];
            EXPECT_EQ(column.column, p);
            EXPECT_NEAR(column.difference, difference, 1e-9 * std::abs(difference));
            std::vector<double> values;
            for (const Index i : rows) values.push_back(x(i, p));
            for (std::size_t q = 0; q < 3; ++q)
                EXPECT_NEAR((*column.quartiles)[q], quantile(values, 0.25 * static_cast<double>(q + 1)),
                            1e-12 * std::abs((*column.quartiles)[q]));
        }
        EXPECT_EQ(told, cluster.columns.size());
    }
}

TEST(Description, AgreesWithBruteForce) {
    const Problem problem{.points = Points(test::blob_points<double>(400, 7, 5, 1.5, 4, 3))};
    const Pipeline pipeline = kmeans_of(problem, 5);
    const Description found = description_of(pipeline, problem);
    EXPECT_EQ(found.silhouettes, "exact");
    const Matrix<double> x = to_matrix<double>(problem.points);
    expect_as_by_hand(found, x, pipeline.model().predict(problem.points));
    EXPECT_NEAR(*found.silhouette, silhouette(x, pipeline.model().predict(problem.points), coterie::Run(0, 1)), 1e-12);
}

// Many rows: silhouettes from means, quartiles in passes. Columns with a heavy tail, with few distinct values, with an
// offset.
TEST(Description, ManyRowsAgreeWithBruteForce) {
    Matrix<double> x = test::blob_points<double>(60000, 7, 5, 1.5, 4, 3);
    for (Index i = 0; i < x.rows(); ++i) {
        x(i, 1) = std::exp(4 * x(i, 1));
        x(i, 2) = std::round(x(i, 2));
        x(i, 3) = 1e6 + x(i, 3);
        x(i, 4) = x(i, 4) > 3 ? 1 : 0;
    }
    const Problem problem{.points = Points(x)};
    const Pipeline pipeline = kmeans_of(problem, 5, {.scale = Scale::zscore});
    const Labels labels = pipeline.labels();
    // Distances are those of the prepared space, as in a fit on prepared points.
    const Matrix<double> prepared = to_matrix<double>(pipeline.prepared());
    const Problem prepared_problem{.points = Points::borrow(prepared)};
    const Pipeline on_prepared = kmeans_of(prepared_problem, 5);
    const Description found = description_of(on_prepared, prepared_problem);
    EXPECT_EQ(found.silhouettes, "simplified");
    expect_as_by_hand(found, prepared, on_prepared.model().predict(prepared));
    // The columns are described as given, before preparation.
    const Description of_raw = description_of(pipeline, problem);
    for (std::size_t j = 0; j < 5; ++j)
        for (const ColumnProfile& column : of_raw.clusters[j].columns) {
            std::vector<double> values;
            for (Index i = 0; i < x.rows(); ++i)
                if (labels[static_cast<std::size_t>(i)] == static_cast<std::int32_t>(j))
                    values.push_back(x(i, column.column));
            for (std::size_t q = 0; q < 3; ++q)
                EXPECT_NEAR((*column.quartiles)[q], quantile(values, 0.25 * static_cast<double>(q + 1)),
                            1e-12 * std::abs((*column.quartiles)[q]));
        }
}

// With two columns, the nearest other mean is one of few near the row's own mean; with thirty, it can be any.
TEST(Description, ManyClustersAgreeWithBruteForce) {
    for (const Index columns : {2, 30}) {
        const Matrix<double> x = test::normal_points(6000, columns, 5);
        const Problem problem{.points = Points::borrow(x)};
        const Pipeline pipeline = kmeans_of(problem, 40);
        const Description found = description_of(pipeline, problem);
        EXPECT_EQ(found.silhouettes, "simplified");
        expect_as_by_hand(found, x, pipeline.labels());
    }
}

TEST(Description, WeightsActAsCopies) {
    const Matrix<double> x = test::blob_points<double>(200, 4, 3, 2, 8);
    Problem weighted{.points = Points(x)};
    std::vector<Index> copies;
    for (Index i = 0; i < x.rows(); ++i) {
        weighted.weights.push_back(static_cast<double>(i % 4));
        for (Index c = 0; c < i % 4; ++c) copies.push_back(i);
    }
    const Problem copied{.points = rows_of(x, copies)};
    const Pipeline pipeline = kmeans_of(weighted, 3);
    const Description by_weight = description_of(pipeline, weighted);
    EXPECT_EQ(by_weight.silhouettes, "simplified");
    const Description by_copies = description_of(pipeline, copied);
    for (std::size_t j = 0; j < 3; ++j) {
        const ClusterProfile& a = by_weight.clusters[j];
        const ClusterProfile& b = by_copies.clusters[j];
        EXPECT_NEAR(a.share, b.share, 1e-12);
        EXPECT_EQ(a.typical.front(), copies[static_cast<std::size_t>(b.typical.front())]);
        EXPECT_EQ(a.doubtful.front(), copies[static_cast<std::size_t>(b.doubtful.front())]);
        ASSERT_EQ(a.columns.size(), b.columns.size());
        for (std::size_t c = 0; c < a.columns.size(); ++c) {
            EXPECT_EQ(a.columns[c].column, b.columns[c].column);
            EXPECT_NEAR(a.columns[c].difference, b.columns[c].difference, 1e-9);
            EXPECT_EQ(a.columns[c].quartiles, b.columns[c].quartiles);
        }
    }
}

std::vector<double> numbers_of(const Description& found) {
    std::vector<double> out = {found.silhouette.value_or(-2)};
    for (const auto& cluster : found.clusters) {
        out.push_back(static_cast<double>(cluster.rows));
        out.push_back(cluster.share);
        out.push_back(cluster.silhouette.value_or(-2));
        out.push_back(cluster.nearest.value_or(-2));
        out.insert(out.end(), cluster.typical.begin(), cluster.typical.end());
        out.insert(out.end(), cluster.doubtful.begin(), cluster.doubtful.end());
        for (const auto& column : cluster.columns) {
            out.push_back(static_cast<double>(column.column));
            out.push_back(column.difference);
            out.insert(out.end(), column.quartiles->begin(), column.quartiles->end());
        }
    }
    return out;
}

TEST(Description, SameBitsInBlocksThreadsAndProcesses) {
    // A method with its own space, one with memberships, one with neither; few rows and many.
    const std::pair<const char*, Index> of[] = {{"subspace", 900}, {"soft-kmeans", 900}, {"kmeans", 70000}};
    for (const auto& [method, n] : of) {
        SCOPED_TRACE(method);
        const Problem problem{.points = Points(test::blob_points<float>(n, 5, 4, 2, 9, 1))};
        const Pipeline pipeline = Pipeline::fit(problem, {find_method(method), {{"clusters", 4}}},
                                                {.preparation = {.scale = Scale::zscore}}, coterie::Run(1, 2));
        test::expect_same_bits(problem, [&](const Problem& same, const coterie::Run& run) {
            const PreparedRows prepared = pipeline.prepare(same.points, run);
            return test::Bits{pipeline.predict(prepared, run),
                              numbers_of(describe(pipeline, prepared, run, same.weights))};
        });
    }
}

// When one process is stopped, at any time, the other reports the same and does not wait.
TEST(Description, StopOfOneProcessStopsAll) {
    const Problem problem{.points = Points(test::blob_points<double>(6000, 3, 3, 2, 4))};
    const Pipeline pipeline = kmeans_of(problem, 3);
    for (int answers = 0;; ++answers) {
        SCOPED_TRACE(answers);
        std::atomic<int> asked = 0;
        const auto errors = test::run_processes(2, [&](std::shared_ptr<Communicator> communicator) {
            coterie::Run run(0, 1);
            if (communicator->rank() == 0) run.should_stop = [&] { return ++asked > answers; };
            run.set_communicator(communicator);
            description_of(pipeline, problem, run);
        });
        if (!errors[0] && !errors[1]) {
            EXPECT_GT(answers, 10);
            return;
        }
        for (const std::exception_ptr& error : errors) {
            ASSERT_TRUE(error);
            EXPECT_THROW(std::rethrow_exception(error), Cancelled);
        }
        if (HasFailure()) return;
    }
}

TEST(Description, OrdersRowsByMembership) {
    const Problem problem{.points = Points(test::blob_points<double>(200, 3, 3, 2, 4))};
    const Pipeline pipeline =
        Pipeline::fit(problem, {find_method("soft-kmeans"), {{"clusters", 3}}}, {}, coterie::Run(1, 1));
    const Description found = description_of(pipeline, problem);
    const Matrix<double> membership = pipeline.model().output(Output::memberships, problem.points);
    const Labels labels = pipeline.model().predict(problem.points);
    for (int j = 0; j < 3; ++j) {
        double highest = 0, least = 1;
        for (Index i = 0; i < 200; ++i) {
            if (labels[static_cast<std::size_t>(i)] != j) continue;
            double other = 0;
            for (int l = 0; l < 3; ++l)
                if (l != j) other = std::max(other, membership(i, l));
            highest = std::max(highest, membership(i, j));
            least = std::min(least, membership(i, j) - other);
        }
        const ClusterProfile& cluster = found.clusters[static_cast<std::size_t>(j)];
        EXPECT_EQ(membership(cluster.typical.front(), j), highest);
        const Index doubtful = cluster.doubtful.front();
        double other = 0;
        for (int l = 0; l < 3; ++l)
            if (l != j) other = std::max(other, membership(doubtful, l));
        EXPECT_EQ(membership(doubtful, j) - other, least);
    }
}

TEST(Description, OneClusterHasNoDifferences) {
    Problem problem{.points = Points(test::normal_points(20, 7, 1))};
    const Description found = description_of(kmeans_of(problem, 1), problem);
    const ClusterProfile& cluster = found.clusters.front();
    ASSERT_EQ(cluster.columns.size(), 5u);
    const Matrix<double> x = to_matrix<double>(problem.points);
    for (Index p = 0; p < 5; ++p) {
        const ColumnProfile& column = cluster.columns[static_cast<std::size_t>(p)];
        double sum = 0;
        for (Index i = 0; i < 20; ++i) sum += x(i, p);
        EXPECT_EQ(column.column, p);
        EXPECT_NEAR(column.mean, sum / 20, 1e-12);
        EXPECT_FALSE(column.elsewhere);
        EXPECT_EQ(column.difference, 0);
        ASSERT_TRUE(column.quartiles);
        EXPECT_LT((*column.quartiles)[0], (*column.quartiles)[2]);
    }
    EXPECT_EQ(columns_text(cluster, 5), "");
    EXPECT_FALSE(found.silhouette);
    EXPECT_FALSE(found.closest);
    EXPECT_EQ(found.silhouettes, "");
    EXPECT_EQ(found.clusters.front().typical.size(), 3u);
    EXPECT_TRUE(found.clusters.front().doubtful.empty());
    EXPECT_TRUE(found.warnings.empty()) << "one is all there are";
}

TEST(Description, WarnsOfDistantRowsAndOneCluster) {
    const Known data = known();
    const Pipeline pipeline = kmeans_of(data.problem, 3);
    Matrix<double> moved = to_matrix<double>(data.problem.points);
    moved.col(6).array() += 1000;  // a different unit, for example
    moved.col(0).array() += 5000;
    const Problem others{.points = Points(moved), .column_names = data.problem.column_names};
    const Description found = description_of(pipeline, others);
    ASSERT_EQ(found.warnings.size(), 2u);
    EXPECT_NE(found.warnings[0].text().find("all rows are in cluster "), std::string::npos);
    EXPECT_NE(found.warnings[1].text().find("300 of 300 rows lie outside the training data"), std::string::npos);
    EXPECT_NE(found.warnings[1].text().find("in a+ (300)"), std::string::npos);
    Index empty = 0;
    for (const ClusterProfile& cluster : found.clusters) {
        if (cluster.rows > 0) continue;
        ++empty;
        EXPECT_EQ(cluster.share, 0);
        EXPECT_TRUE(cluster.columns.empty() && cluster.typical.empty() && !cluster.silhouette && !cluster.nearest);
    }
    EXPECT_EQ(empty, 2);
    // The range is stored with the model.
    const std::string bytes = pipeline.archive().to_bytes();
    const Pipeline loaded = Pipeline::from(Archive::from_bytes(std::as_bytes(std::span(bytes)), "model"));
    EXPECT_EQ(description_of(loaded, others).warnings, found.warnings);
    EXPECT_TRUE(description_of(loaded, data.problem).warnings.empty());
}

TEST(Description, ConstantColumns) {
    Matrix<double> x(6, 3);
    x << 0.1, 7, 0, 0.1, 7, 1, 0.1, 7, 2, 0.3, 7, 0, 0.3, 7, 1, 0.3, 7, 2;
    const Problem problem{.points = Points(x), .initial_centroids = Points(Matrix<double>{{0.1, 7, 1}, {0.3, 7, 1}})};
    Matrix<double> scaled = x;
    scaled.col(2) *= 1e-3;
    Problem apart = problem;
    apart.points = Points(scaled);
    apart.initial_centroids = Points(Matrix<double>{{0.1, 7, 0.001}, {0.3, 7, 0.001}});
    const Description found = description_of(kmeans_of(apart, 2), apart);
    for (const ClusterProfile& cluster : found.clusters) {
        ASSERT_EQ(cluster.columns.size(), 1u) << "not the column that is 7 throughout";
        EXPECT_EQ(cluster.columns[0].name, "column 1");
        EXPECT_TRUE(std::isinf(cluster.columns[0].difference));
        EXPECT_EQ(cluster.columns[0].difference > 0, cluster.columns[0].mean > 0.2);
    }
}

TEST(Description, OneRowAndOneClusterPerRow) {
    const Matrix<double> x = test::normal_points(6, 2, 2);
    const Problem problem{.points = Points(x)};
    const Description every = description_of(kmeans_of(problem, 6), problem);
    EXPECT_EQ(every.silhouettes, "simplified") << "an exact one needs a cluster of two";
    for (const ClusterProfile& cluster : every.clusters) {
        EXPECT_EQ(cluster.rows, 1);
        EXPECT_EQ(*cluster.silhouette, 1);
        for (const ColumnProfile& column : cluster.columns) {
            EXPECT_EQ(column.quartiles->front(), column.quartiles->back());
            EXPECT_NEAR(column.quartiles->front(), column.mean, 1e-12);
        }
    }
    const Problem one{.points = Points(Matrix<double>(x.topRows(1)))};
    const Description single = description_of(kmeans_of(problem, 6), one);
    EXPECT_FALSE(single.silhouette);
    EXPECT_TRUE(single.warnings.empty());
}

TEST(Description, RejectsBadArguments) {
    const Problem problem{.points = Points(test::normal_points(20, 3, 1))};
    const Pipeline pipeline = kmeans_of(problem, 2);
    Matrix<double> bad = test::normal_points(4, 3, 1);
    bad(2, 1) = std::nan("");
    const Problem not_finite{.points = Points(bad)};
    EXPECT_NE(test::message_of([&] { description_of(pipeline, not_finite); }).find("row 3"), std::string::npos);
    const auto with_weights = [&](std::vector<double> weights) {
        Problem weighted = problem;
        weighted.weights = std::move(weights);
        return test::message_of([&] { description_of(pipeline, weighted); });
    };
    EXPECT_NE(with_weights({1, 2}).find("2 weights for 20 rows"), std::string::npos);
    EXPECT_NE(with_weights(std::vector<double>(20, 0)).find("all weights are 0"), std::string::npos);
    std::vector<double> negative(20, 1);
    negative[4] = -1;
    EXPECT_NE(with_weights(negative).find("row 5: -1 is not accepted"), std::string::npos);
    const Matrix<double> none(0, 3);
    EXPECT_NE(test::message_of([&] {
                  const Points rows = Points::borrow(none);
                  describe(pipeline, {rows, {}, {}, rows}, coterie::Run(0, 1));
              }).find("no rows"),
              std::string::npos);
}

// Words are described by their shares, and row numbers count the rows left out.
TEST(Description, CategoriesAndOmittedRows) {
    Matrix<double> points(9, 2);
    const double missing = std::numeric_limits<double>::quiet_NaN();
    points << missing, 0, 1, 0, 2, 0, 3, 1, missing, 1, 101, 1, 102, 1, 103, 1, 104, 1;
    Problem problem{.points = Points(Matrix<double>(points))};
    problem.column_names = {"size", "colour"};
    problem.column_kinds = {ColumnKind::number, ColumnKind::category};
    problem.categories = {{}, {"blue", "red"}};
    for (Index i = 0; i < 9; ++i) problem.weights.push_back(i == 0 ? 7.0 : 1.0);
    const Pipeline pipeline =
        Pipeline::fit(problem, {find_method("kmeans"), {{"clusters", 2}}},
                      {.columns = {.missing = Missing::drop, .categorical = Categorical::one_hot}}, coterie::Run(1, 1));
    const auto profiles = profile(pipeline, pipeline.fitted_rows(), coterie::Run(0, 1), problem.weights);
    const Description found = describe(
        pipeline, pipeline.prepare(problem.points, problem.column_names, coterie::Run(0, 1), problem.categories),
        coterie::Run(0, 1), problem.weights);
    const std::size_t low = found.clusters[0].columns.front().mean < 50 ? 0 : 1;
    for (const auto* clusters : {&profiles, &found.clusters}) {
        const ClusterProfile& cluster = (*clusters)[low];
        EXPECT_EQ(cluster.rows, 3);
        const auto red = std::find_if(cluster.columns.begin(), cluster.columns.end(),
                                      [](const ColumnProfile& column) { return column.name == "colour=red"; });
        ASSERT_NE(red, cluster.columns.end());
        EXPECT_NEAR(red->mean, 1.0 / 3, 1e-12);
        EXPECT_NEAR(red->elsewhere.value(), 1, 1e-12);
    }
    EXPECT_EQ(found.clusters[low].typical.front(), 2);
    std::vector<Index> others = found.clusters[1 - low].typical;
    std::sort(others.begin(), others.end());
    for (const Index row : others) EXPECT_GE(row, 5);
}

TEST(Describe, NumbersKeepTheirIntegerDigits) {
    ColumnProfile column;
    EXPECT_EQ(column.text(98001), "98001");
    EXPECT_EQ(column.text(2022.5), "2022.5");
    EXPECT_EQ(column.text(-1234567.04), "-1234567");
    EXPECT_EQ(column.text(0.123456), "0.1235");
    EXPECT_EQ(column.text(1.5e12), "1.5e+12");
    column.is_date = true;
    EXPECT_EQ(column.text(0), "1970-01-01");
    EXPECT_EQ(column.text(20480.7), "2026-01-27");
    EXPECT_EQ(column.text(-0.5), "1969-12-31");
}

// Spherical models accept rows whose sums overflow. A description never shows an infinite mean.
TEST(Description, RejectsRowsWithOverflowingSums) {
    Matrix<double> points(8, 2);
    for (Index i = 0; i < 8; ++i) points.row(i) << 1.0 + static_cast<double>(i % 2), 3.0 - static_cast<double>(i % 2);
    PreparationOptions unit;
    unit.scale = Scale::unit;
    const coterie::Run run(0, 1);
    const Pipeline pipeline =
        Pipeline::fit(test::with(points), {find_method("kmeans"), {{"clusters", 2}}}, {.preparation = unit}, run);
    const Matrix<double> large = 1e300 * points;
    EXPECT_THROW(describe(pipeline, pipeline.prepare(Points::borrow(large), {}, run), run), BadData);
}

}  // namespace
}  // namespace coterie
