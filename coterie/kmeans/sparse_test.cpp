// Sparse points compared with the same points in dense form: the same draws, labels and stopping, and figures equal up
// to rounding.

#include <cmath>

#include <gtest/gtest.h>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/kmeans/spherical_kmeans.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/kernels.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "tests/support/sparse_fixtures.hpp"
#include "tests/support/variant_fixtures.hpp"

namespace coterie {
namespace {

using fixtures::whole_weights;
using test::sparse_of;
using test::words;

template <class T>
Matrix<T> without_empty_rows(Matrix<T> points) {
    for (Index i = 0; i < points.rows(); ++i)
        if (points.row(i).isZero()) points(i, i % points.cols()) = 1;
    return points;
}

const std::vector<std::string>& takers() {
    static const std::vector<std::string> names = {"kmeans", "soft-kmeans", "spherical-kmeans"};
    return names;
}

std::unique_ptr<Model> fit(const std::string& method, Points points, OptionValues options,
                           const Run& run = coterie::Run(5, 2), const std::vector<double>& weights = {},
                           Points start = {}) {
    if (method == "soft-kmeans") options["max_iterations"] = std::int64_t{40};
    return find_method(method).fit(
        {.points = std::move(points), .weights = weights, .initial_centroids = std::move(start)}, options, run);
}

template <class T>
void agree(const std::string& method, bool weighted, std::uint64_t seed) {
    const Matrix<T> dense = without_empty_rows(words<T>(400, 60, 5, 6, seed));
    const auto weights = weighted ? whole_weights(400, seed) : std::vector<double>();
    // Rows of length 1 without a common column are all at the same distance, so rounding would decide the draws.
    const bool seeded = method != "spherical-kmeans";
    const OptionValues options = {{"clusters", 7}, {"restarts", std::int64_t{seeded ? 3 : 1}}};
    const Points start = seeded ? Points() : Points(Matrix<T>(dense.topRows(7)));
    const auto a = fit(method, Points(dense), options, coterie::Run(seed, 2), weights, start);
    const double close = (std::is_same_v<T, float> ? 1e-5 : 1e-12) * (1 + a->fit_report().objective);
    for (const auto& sparse : {sparse_of<std::int32_t>(dense), sparse_of<std::int64_t>(dense)}) {
        const auto b = fit(method, Points(sparse), options, coterie::Run(seed, 2), weights, start);
        EXPECT_EQ(a->labels(), b->labels());
        EXPECT_EQ(a->fit_report().iterations, b->fit_report().iterations);
        EXPECT_EQ(a->fit_report().stopped, b->fit_report().stopped);
        EXPECT_NEAR(a->fit_report().objective, b->fit_report().objective, close);
        const auto& left = a->fit_report().objective_per_iteration;
        const auto& right = b->fit_report().objective_per_iteration;
        ASSERT_EQ(left.size(), right.size());
        for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], right[i], close);
        // New rows, in both forms and both types.
        const Matrix<T> fresh = without_empty_rows(words<T>(90, 60, 5, 6, seed + 100));
        const auto other = sparse_of(Matrix<double>(fresh.template cast<double>()));
        EXPECT_EQ(a->predict(fresh), b->predict(PointsView(*sparse_of(fresh))));
        EXPECT_EQ(a->predict(fresh), a->predict(PointsView(*other)));
        for (int o = 0; o < output_count; ++o) {
            const auto output = static_cast<Output>(o);
            if (!a->outputs().has(output)) continue;
            const Matrix<double> plain = a->output(output, fresh);
            const Matrix<double> of_sparse = a->output(output, PointsView(*sparse_of(fresh)));
            EXPECT_LT((plain - of_sparse).cwiseAbs().maxCoeff(), (std::is_same_v<T, float> ? 1e-4 : 1e-10));
        }
    }
}

TEST(SparseKMeans, AgreesWithTheDenseMethod) {
    for (const auto& method : takers())
        for (const std::uint64_t seed : {1, 2, 3})
            for (const bool weighted : {false, true}) {
                SCOPED_TRACE(method + (weighted ? " weighted " : " ") + std::to_string(seed));
                agree<double>(method, weighted, seed);
            }
    for (const auto& method : takers()) {
        SCOPED_TRACE(method);
        agree<float>(method, false, 4);
    }
}

TEST(SparseKMeans, SeedingAgreesWithTheDenseMethod) {
    const Matrix<double> dense = words<double>(900, 40, 4, 5);
    for (const Seeding seeding : {Seeding::automatic, Seeding::kmeans_plus_plus, Seeding::random})
        for (const std::optional<Index> sample : {std::optional<Index>(), std::optional<Index>(200)}) {
            const SeedingOptions options{seeding, {}, sample};
            const auto weights = whole_weights(900, 3);
            const auto a = seed_centroids(dense, 12, options, weights, 1, coterie::Run(3, 2));
            const auto b = seed_centroids(PointsView(*sparse_of(dense)), 12, options, weights, 1, coterie::Run(3, 2));
            EXPECT_TRUE(to_matrix<double>(a.centroids) == to_matrix<double>(b.centroids));
            EXPECT_EQ(a.distinct, b.distinct);
        }
    EXPECT_THROW(seed_centroids(PointsView(*sparse_of(dense)), 3, {Seeding::parallel}, {}, 0, coterie::Run(3, 2)),
                 BadArgument);
}

// Every instruction set compared with plain sums, with ties: the lowest centroid wins.
template <class T>
void nearest_by_force(const internal::Kernels<T>& kernels) {
    const Index d = 23;
    const Matrix<T> dense = fixtures::lattice<T>(60, d, 2, 8);
    const Matrix<T> some = fixtures::lattice<T>(37, d, 2, 9);
    const auto sparse = sparse_of(dense);
    internal::CentroidPanels<T> panels(kernels);
    panels.pack({some.data(), some.rows(), d, d}, Vector<T>(Vector<T>::Zero(d)));
    internal::BestScore<T> best(60);
    best(panels, *sparse, 0, 60);
    for (Index i = 0; i < 60; ++i) {
        Index nearest = 0;
        T least = std::numeric_limits<T>::infinity();
        for (Index j = 0; j < some.rows(); ++j) {
            const T squared = (dense.row(i) - some.row(j)).squaredNorm();
            if (squared < least) {
                least = squared;
                nearest = j;
            }
        }
        EXPECT_EQ(best.centroid[static_cast<std::size_t>(i)], nearest);
        EXPECT_EQ(dense.row(i).squaredNorm() + 2 * best.best[static_cast<std::size_t>(i)], least);
    }
}

TEST(SparseKMeans, NearestCentroidsAgreeWithAllDistances) {
    std::size_t count = 0;
    const internal::InstructionSet* const sets = internal::instruction_sets(count);
    for (std::size_t s = 0; s < count; ++s) {
        SCOPED_TRACE(sets[s].name);
        nearest_by_force(*sets[s].float32);
        nearest_by_force(*sets[s].float64);
    }
    const Matrix<double> dense = words<double>(50, 30, 3, 4);
    const Matrix<double> centroids = dense.topRows(9);
    const auto found =
        nearest_centroids(PointsView(*sparse_of(dense)), centroids, coterie::Run(0, 2), NearestWants::distances);
    for (Index i = 0; i < 50; ++i) {
        const double least = (centroids.rowwise() - dense.row(i)).rowwise().squaredNorm().minCoeff();
        EXPECT_NEAR(found.squared[static_cast<std::size_t>(i)], least, 1e-12);
        if (i < 9) {
            EXPECT_EQ(found.squared[static_cast<std::size_t>(i)], 0);
        }
    }
    const Matrix<double> all = euclidean_distances(PointsView(*sparse_of(dense)), centroids, 2);
    EXPECT_LT((all - euclidean_distances(dense, centroids, 2)).cwiseAbs().maxCoeff(), 1e-7);
    for (Index i = 0; i < 9; ++i) EXPECT_EQ(all(i, i), 0);
}

TEST(SparseKMeans, ColumnMomentsAgreeWithDense) {
    const Matrix<double> dense = words<double>(200, 30, 3, 4).array() * 1e3;
    const auto weights = whole_weights(200, 5);
    const auto a = column_moments(dense, coterie::Run(0, 2), weights);
    const auto b = column_moments(PointsView(*sparse_of(dense)), coterie::Run(0, 2), weights);
    EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT(((a.variance - b.variance).array() / (1 + a.variance.array())).abs().maxCoeff(), 1e-12);
}

TEST(SparseKMeans, SameBitsAtAnyNumberOfThreads) {
    const auto points = Points(sparse_of(without_empty_rows(words<float>(3000, 300, 8, 7))));
    for (const auto& method : takers()) {
        SCOPED_TRACE(method);
        const OptionValues options = {{"clusters", 11}, {"restarts", 2}};
        const auto one = fit(method, points, options, coterie::Run(1, 1));
        for (const int threads : {2, 8}) {
            const auto many = fit(method, points, options, coterie::Run(1, threads));
            EXPECT_EQ(one->labels(), many->labels());
            EXPECT_EQ(one->fit_report().objective, many->fit_report().objective);
            EXPECT_EQ(one->fit_report().objective_per_iteration, many->fit_report().objective_per_iteration);
            EXPECT_TRUE(one->output(Output::distances, points) == many->output(Output::distances, points));
        }
    }
}

TEST(SparseKMeans, EmptyClustersZeroRowsAndDuplicates) {
    Matrix<double> dense = Matrix<double>::Zero(60, 10);
    for (Index i = 0; i < 60; ++i)
        if (i % 3 != 0) dense(i, i % 5) = 2;
    for (const int k : {2, 6, 9}) {
        const OptionValues options = {{"clusters", std::int64_t{k}}};
        const auto a = fit("kmeans", Points(dense), options);
        const auto b = fit("kmeans", Points(sparse_of(dense)), options);
        EXPECT_EQ(a->labels(), b->labels());
        EXPECT_EQ(a->fit_report().clusters_found, b->fit_report().clusters_found);
        EXPECT_EQ(a->fit_report().warnings, b->fit_report().warnings);
        EXPECT_NEAR(a->fit_report().objective, b->fit_report().objective, 1e-10);
    }
    // A start that leaves a cluster empty: the cluster takes the row of highest cost, as with dense points.
    Matrix<double> start = Matrix<double>::Zero(3, 10);
    start.row(2).setConstant(100);
    const Matrix<double> points = words<double>(80, 10, 3, 4);
    Problem problem{.points = Points(points), .initial_centroids = Points(start)};
    const auto a = fit_kmeans(problem, KMeansOptions{.clusters = 3});
    problem.points = Points(sparse_of(points));
    const auto b = fit_kmeans(problem, KMeansOptions{.clusters = 3});
    EXPECT_GT(b.fit_report().empty_clusters_repaired, 0);
    EXPECT_EQ(a.fit_report().empty_clusters_repaired, b.fit_report().empty_clusters_repaired);
    EXPECT_EQ(a.labels(), b.labels());
    try {
        fit("spherical-kmeans", Points(sparse_of(dense)), {});
        FAIL();
    } catch (const BadData& error) {
        EXPECT_NE(std::string(error.what()).find("row 1: all values are 0"), std::string::npos) << error.what();
    }
}

TEST(SparseKMeans, WeightsActAsCopies) {
    const Matrix<double> dense = without_empty_rows(words<double>(120, 30, 3, 4));
    const auto weights = whole_weights(120, 2, 1);
    std::vector<Index> source;
    const Matrix<double> copied = fixtures::copies(dense, weights, source);
    const Matrix<double> start = dense.topRows(4);
    const auto once =
        fit_kmeans({.points = Points(sparse_of(dense)), .weights = weights, .initial_centroids = Points(start)},
                   KMeansOptions{.clusters = 4});
    const auto many = fit_kmeans({.points = Points(sparse_of(copied)), .initial_centroids = Points(start)},
                                 KMeansOptions{.clusters = 4});
    for (std::size_t i = 0; i < source.size(); ++i)
        EXPECT_EQ(many.labels()[i], once.labels()[static_cast<std::size_t>(source[i])]);
    EXPECT_NEAR(once.inertia(), many.inertia(), 1e-9);
}

TEST(SparseKMeans, UnsupportedUsesAreErrors) {
    const auto points = Points(sparse_of(words<double>(50, 20, 2, 4)));
    const auto message = [&](const std::function<void()>& act) -> std::string {
        try {
            act();
        } catch (const Error& error) {
            return error.message();
        }
        return "accepted";
    };
    const auto holds = [](const std::string& text, const std::string& words_) {
        EXPECT_NE(text.find(words_), std::string::npos) << text;
    };
    std::string list;
    for (const auto& method : methods()) {
        EXPECT_EQ(method.takes.sparse, std::count(takers().begin(), takers().end(), method.name) == 1) << method.name;
        if (!method.takes.sparse)
            holds(message([&] { method.fit({.points = points}, {}, coterie::Run(0, 1)); }),
                  "method " + method.name + " does not support sparse matrices. Use a dense matrix (");
    }
    const Method& kmeans = find_method("kmeans");
    const OptionValues two = {{"clusters", 2}};
    holds(message([&] {
              kmeans.fit({.points = points, .partial_labels = Labels(50, 0)}, {{"clusters", 1}}, coterie::Run(0, 1));
          }),
          "constraints (labels, shares, sizes, pairs) are not available for sparse data");
    holds(message([&] {
              kmeans.fit({.points = points, .sizes = SizeBounds{1, 49}}, two, coterie::Run(0, 1));
          }),
          "constraints (labels, shares, sizes, pairs) are not available for sparse data");
    holds(
        message([&] {
            kmeans.fit({.points = points}, {{"clusters", 2}, {"algorithm", std::string("bounds")}}, coterie::Run(0, 1));
        }),
        "bounds is not available for sparse data");
    for (const PreparationOptions& preparing :
         {PreparationOptions{.center = true}, PreparationOptions{.scale = Scale::minmax},
          PreparationOptions{.scale = Scale::zscore}})
        holds(message([&] {
                  Pipeline::fit({.points = points}, {kmeans, two}, {.preparation = preparing}, coterie::Run(0, 1));
              }),
              "sparse rows cannot be centred, or scaled by column");
}

TEST(SparseKMeans, UnitRowsAndSampleInAPipeline) {
    const Matrix<double> dense = without_empty_rows(words<double>(200, 30, 3, 5));
    const auto points = Points(sparse_of(dense));
    const OptionValues options = {{"clusters", 3}};
    const PreparationOptions unit{.scale = Scale::unit};
    const auto a = Pipeline::fit({.points = Points(dense)}, {find_method("kmeans"), options}, {.preparation = unit},
                                 coterie::Run(1, 2));
    const auto b =
        Pipeline::fit({.points = points}, {find_method("kmeans"), options}, {.preparation = unit}, coterie::Run(1, 2));
    EXPECT_EQ(a.labels(), b.labels());
    EXPECT_NEAR(a.fit_report().objective, b.fit_report().objective, 1e-10);
    EXPECT_EQ(b.predict(b.prepare(points)), b.labels());
    const auto sampled =
        Pipeline::fit({.points = points}, {find_method("kmeans"), options}, {.sample = 50}, coterie::Run(1, 2));
    const auto sampled_dense =
        Pipeline::fit({.points = Points(dense)}, {find_method("kmeans"), options}, {.sample = 50}, coterie::Run(1, 2));
    EXPECT_EQ(sampled.labels(), sampled_dense.labels());
    // Models of other methods convert sparse rows to dense rows, some at a time. So do models whose scaling moves 0.
    const auto ward = Pipeline::fit({.points = Points(dense)}, {find_method("ward"), options},
                                    {.preparation = {.scale = Scale::zscore}});
    EXPECT_EQ(ward.predict(ward.prepare(points)), ward.predict(ward.prepare(Points(dense))));
    const auto entropy = Pipeline::fit({.points = Points(dense)}, {find_method("entropy"), options});
    EXPECT_EQ(entropy.predict(entropy.prepare(points)), entropy.predict(entropy.prepare(Points(dense))));
}

TEST(SparseKMeans, ResumesFromACheckpoint) {
    const auto points = Points(sparse_of(words<double>(500, 40, 6, 3)));
    for (const auto& method : {std::string("kmeans"), std::string("soft-kmeans")}) {
        const OptionValues options = {{"clusters", 6}, {"restarts", 2}};
        const auto whole = fit(method, points, options);
        const std::string path = ::testing::TempDir() + "sparse-" + method + ".checkpoint";
        std::remove(path.c_str());
        coterie::Run run(5, 2);
        run.checkpoint = path;
        int reports = 0;
        run.on_progress = [&](const Progress& progress) { reports += progress.stage == "iterations" ? 1 : 0; };
        run.should_stop = [&] { return reports >= 3; };
        try {
            fit(method, points, options, run);
        } catch (const Cancelled&) {
        }
        run.should_stop = nullptr;
        const auto resumed = fit(method, points, options, run);
        EXPECT_EQ(whole->labels(), resumed->labels());
        EXPECT_EQ(whole->fit_report().objective, resumed->fit_report().objective);
        EXPECT_EQ(whole->fit_report().objective_per_iteration, resumed->fit_report().objective_per_iteration);
        // A checkpoint does not match points with other entries.
        EXPECT_THROW(fit(method, Points(sparse_of(words<double>(500, 40, 6, 3, 2))), options, run), BadData);
        std::remove(path.c_str());
    }
}

TEST(Sparse, StoredColumnRangesIncludeZeros) {
    Matrix<double> dense = words<double>(200, 30, 3, 5, 4);
    dense.col(7).setConstant(-2.5);  // stored in every row
    dense.col(8).setZero();
    dense(3, 9) = -1;
    const auto range = [](Points points) {
        return Pipeline::fit({.points = std::move(points)}, {find_method("kmeans"), {{"clusters", 3}}}, {},
                             coterie::Run(1, 1))
            .column_range();
    };
    EXPECT_EQ(range(Points(sparse_of(dense))), range(Points(dense)));
}

}  // namespace
}  // namespace coterie
