// Compares outlier scores with plain loops over the definition, and noise with a sort of the scores.

#include "coterie/pipeline/outlier_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/sparse_fixtures.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_samples.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using internal::at;
using test::blob_points;
using test::message_of;

const OptionValues of_three = {{"clusters", 3}};

Pipeline scored(const char* method, const Problem& problem, const Settings& settings = {},
                const OptionValues& options = of_three) {
    return Pipeline::fit(problem, {find_method(method), options}, settings, coterie::Run(4, 2));
}

std::vector<double> scores_of(const Pipeline& pipeline, const Points& rows) {
    const Matrix<double> found = pipeline.output(Output::outlier_score, pipeline.prepare(rows));
    EXPECT_EQ(found.cols(), 1);
    return {found.data(), found.data() + found.size()};
}

// The definition, in loops. u: the rows of the fit; `fitted`: their clusters; `others`: the rows to score.
std::vector<double> by_definition(const Matrix<double>& u, const Labels& fitted, const std::vector<double>& weights,
                                  const Matrix<double>& others, const Labels& predicted, int k) {
    Matrix<double> means = Matrix<double>::Zero(k, u.cols());
    std::vector<double> mass(at(k), 0.0), squares(at(k), 0.0);
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[at(i)]; };
    for (Index i = 0; i < u.rows(); ++i) {
        mass[at(fitted[at(i)])] += weight(i);
        means.row(fitted[at(i)]) += weight(i) * u.row(i);
    }
    for (Index j = 0; j < k; ++j) means.row(j) /= mass[at(j)];
    for (Index i = 0; i < u.rows(); ++i)
        squares[at(fitted[at(i)])] += weight(i) * (u.row(i) - means.row(fitted[at(i)])).squaredNorm();
    std::vector<double> out;
    for (Index i = 0; i < others.rows(); ++i) {
        const Index j = predicted[at(i)];
        out.push_back((others.row(i) - means.row(j)).norm() / std::sqrt(squares[at(j)] / mass[at(j)]));
    }
    return out;
}

// Checks new rows and rows of the fit, before and after the model is saved. An embedding comes from the model that
// scores.
void expect_the_definition(const char* method, const OptionValues& options, double tolerance) {
    SCOPED_TRACE(method);
    // The clusters are close enough that spectral's graph is one component.
    const Matrix<double> points = blob_points<double>(240, 4, 3, 1.5, 5, 3);
    const Matrix<double> others = blob_points<double>(50, 4, 3, 2.5, 6, 3);
    Problem problem{.points = Points::borrow(points)};
    if (find_method(method).takes.weights)
        for (Index i = 0; i < points.rows(); ++i) problem.weights.push_back(static_cast<double>(i % 3));
    const Pipeline fitted = scored(method, problem, {.preparation = {.scale = Scale::zscore}}, options);
    const testing::Folder folder;
    fitted.save(folder / "m.coterie");
    const Pipeline loaded = Pipeline::load(folder / "m.coterie");
    for (const Pipeline* const pipeline : {&fitted, &loaded}) {
        ASSERT_TRUE(pipeline->has(Output::outlier_score));
        EXPECT_EQ(pipeline->output_columns(Output::outlier_score), 1);
        const bool embeds = pipeline->model().outputs().has(Output::embedding);
        const auto seen = [&](const Matrix<double>& rows) -> Matrix<double> {
            const PreparedRows prepared = pipeline->prepare(Points::borrow(rows));
            return embeds ? pipeline->output(Output::embedding, prepared) : to_matrix<double>(prepared.points);
        };
        const Matrix<double> kept = fitted.model().kept_embedding();
        const Matrix<double> learned_from = kept.rows() > 0 ? kept : seen(points);
        for (const Matrix<double>* const rows : {&others, &points}) {
            const Labels predicted = pipeline->predict(pipeline->prepare(Points::borrow(*rows)));
            const auto expected =
                by_definition(learned_from, fitted.labels(), problem.weights, seen(*rows), predicted, 3);
            const auto found = scores_of(*pipeline, Points::borrow(*rows));
            ASSERT_EQ(found.size(), expected.size());
            for (std::size_t i = 0; i < found.size(); ++i)
                EXPECT_NEAR(found[i], expected[i], tolerance * (1 + expected[i])) << i;
        }
    }
}

TEST(OutlierScores, AgreeWithTheDefinition) {
    for (const char* method : {"kmeans", "minibatch-kmeans", "soft-kmeans", "spherical-kmeans", "kernel-kmeans", "ward",
                               "spectral", "ssc-omp", "subspace", "cpd", "rpca-om", "fme", "entropy"})
        expect_the_definition(method, of_three, 1e-9);
}

const OptionValues of_a_small_autoencoder = {
    {"clusters", 3},        {"widths", std::vector<std::int64_t>{12}}, {"embedding", 2}, {"pretrain_epochs", 4},
    {"kmeans_restarts", 3},
};
const OptionValues of_a_small_classifier = {
    {"clusters", 3},         {"widths", std::vector<std::int64_t>{12}}, {"epochs", 6}, {"batch_size", 40},
    {"learning_rate", 0.01},
};

TEST(OutlierScores, AgreeWithTheDefinitionInNetworkEmbeddings) {
    COTERIE_NEEDS_NETWORKS;
    const double single = 1e-5;  // single precision: results depend on how many rows are embedded at once
    OptionValues dekm = of_a_small_autoencoder;  // its embedding is rotated
    dekm["max_iterations"] = std::int64_t{20};
    expect_the_definition("ae-kmeans", of_a_small_autoencoder, single);
    expect_the_definition("dekm", dekm, single);
    expect_the_definition("entropy-net", of_a_small_classifier, single);
}

TEST(OutlierScores, ScalingByPowersOfTwoChangesNoBit) {
    const Matrix<double> points = blob_points<double>(200, 3, 3, 6, 5, 3);
    for (const char* method : {"kmeans", "soft-kmeans", "ward", "spectral"}) {
        const auto expected = scores_of(scored(method, {.points = Points::borrow(points)}), Points::borrow(points));
        for (const double factor : {0x1p-20, 0x1p12}) {
            const Matrix<double> scaled = points * factor;
            const Pipeline pipeline = scored(method, {.points = Points::borrow(scaled)});
            EXPECT_EQ(scores_of(pipeline, Points::borrow(scaled)), expected) << method << " times " << factor;
        }
    }
}

Matrix<double> column(const std::vector<double>& values) {
    Matrix<double> out(static_cast<Index>(values.size()), 1);
    std::copy(values.begin(), values.end(), out.data());
    return out;
}

std::vector<double> scores_from(const std::vector<double>& rows, const std::vector<double>& starts,
                                const std::vector<double>& others) {
    const Matrix<double> points = column(rows);
    const Pipeline pipeline =
        scored("kmeans", {.points = Points::borrow(points), .initial_centroids = Points(column(starts))}, {},
               {{"clusters", static_cast<std::int64_t>(starts.size())}});
    return scores_of(pipeline, Points(column(others)));
}

TEST(OutlierScores, ClustersWithoutVarianceUseACommonScale) {
    // Of the five rows, two are 1 from the mean of their cluster and three are at it.
    const auto some = scores_from({0, 2, 10, 20, 20}, {1, 10, 20}, {4, 10, 11, 22});
    const double within = std::sqrt(2.0 / 5);
    EXPECT_DOUBLE_EQ(some[0], 3);
    EXPECT_DOUBLE_EQ(some[1], 0);
    EXPECT_DOUBLE_EQ(some[2], 1 / within);
    EXPECT_DOUBLE_EQ(some[3], 2 / within);
    // All rows equal the mean of their cluster; all are 2 from the mean of all rows.
    EXPECT_EQ(scores_from({0, 0, 4, 4}, {0, 4}, {0, 1, 7}), (std::vector<double>{0, 0.5, 1.5}));
    // All rows are equal, so the scale is 1.
    EXPECT_EQ(scores_from({3, 3, 3}, {3}, {3, 5}), (std::vector<double>{0, 2}));
    EXPECT_EQ(scores_from({3}, {3}, {2}), (std::vector<double>{1}));
}

TEST(OutlierScores, LargeOffsetKeepsAccuracy) {
    const Matrix<double> points = blob_points<double>(150, 3, 3, 6, 5);
    const Matrix<double> moved = points.array() + 0x1p30;
    const Matrix<double> back = moved.array() - 0x1p30;  // the digits that remain
    const auto expected = scores_of(scored("kmeans", {.points = Points::borrow(back)}), Points::borrow(back));
    const auto found = scores_of(scored("kmeans", {.points = Points::borrow(moved)}), Points::borrow(moved));
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
}

TEST(OutlierScores, SparseRowsAgreeWithDenseRows) {
    const Matrix<float> dense = test::words<float>(300, 60, 5, 6, 3);
    const Points sparse(test::sparse_of<std::int32_t>(dense));
    const Pipeline of_dense = scored("kmeans", {.points = Points::borrow(dense)}, {.noise_share = 0.1});
    const Pipeline of_sparse = scored("kmeans", {.points = sparse}, {.noise_share = 0.1});
    ASSERT_EQ(of_sparse.labels(), of_dense.labels());
    const auto expected = scores_of(of_dense, Points::borrow(dense));
    const auto found = scores_of(of_sparse, sparse);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12 * (1 + expected[i])) << i;
    // The rows of another process arrive dense.
    test::on_processes(2, [&](std::shared_ptr<Communicator> communicator) {
        coterie::Run run(4, 1);
        run.set_communicator(communicator);
        const Matrix<double> mine =
            of_sparse.output(Output::outlier_score, of_sparse.prepare(sparse, coterie::Run(4, 1)), run);
        const internal::Range own = internal::own_rows(internal::grid_of(sparse), *communicator);
        ASSERT_EQ(mine.rows(), own.count());
        for (Index i = 0; i < mine.rows(); ++i) EXPECT_EQ(mine(i, 0), found[at(own.begin + i)]);
    });
}

TEST(OutlierScores, SameBitsInBlocksAndProcesses) {
    const Matrix<double> points = blob_points<double>(2000, 3, 3, 5, 5);
    Problem weighted{.points = Points::borrow(points)};
    for (Index i = 0; i < points.rows(); ++i) weighted.weights.push_back(static_cast<double>(i % 4));
    for (const char* method : {"kmeans", "subspace", "minibatch-kmeans"}) {
        SCOPED_TRACE(method);
        const Problem problem = find_method(method).takes.weights ? weighted : Problem{.points = weighted.points};
        test::expect_same_bits(
            problem,
            [&](const Problem& given, const coterie::Run& run) {
                Problem some = given;  // in several processes all rows are read
                if (run.communicator().size() > 1 && given.points.resident())
                    some.points = test::read_rows(given.points);
                const Pipeline fitted =
                    Pipeline::fit(some, {find_method(method), of_three},
                                  {.preparation = {.scale = Scale::minmax}, .sample = {}, .noise_share = 0.07}, run);
                test::Bits out{fitted.labels(), fitted.outlier_scores().spreads()};
                const Matrix<double>& centroids = fitted.outlier_scores().centroids();
                out.numbers.insert(out.numbers.end(), centroids.data(), centroids.data() + centroids.size());
                out.numbers.push_back(*fitted.noise_beyond());
                EXPECT_EQ(fitted.labels(), fitted.predict(fitted.prepare(some.points, run), run));
                return out;
            },
            {1, 3});
    }
}

// A network rounds differently when it encodes more rows at once.
TEST(OutlierScores, NetworksHaveTheSameBitsInBlocksAndProcesses) {
    COTERIE_NEEDS_NETWORKS;
    const Matrix<double> points = blob_points<double>(1500, 3, 3, 5, 5);
    OptionValues autoencoder = of_a_small_autoencoder, classifier = of_a_small_classifier;
    autoencoder["pretrain_epochs"] = classifier["epochs"] = std::int64_t{1};
    for (const auto& [method, options] : {std::pair("ae-kmeans", autoencoder), std::pair("entropy-net", classifier)}) {
        SCOPED_TRACE(method);
        const auto fit = [&, &name = method, &values = options](const Points& rows, const coterie::Run& run) {
            return Pipeline::fit({.points = rows}, {find_method(name), values}, {}, run);
        };
        const Pipeline resident = fit(Points::borrow(points), coterie::Run(4, 2));
        const Pipeline read = fit(test::read_rows(PointsView(points)), coterie::Run(4, 2));
        EXPECT_EQ(read.labels(), resident.labels());
        EXPECT_EQ(read.outlier_scores().centroids(), resident.outlier_scores().centroids());
        EXPECT_EQ(read.outlier_scores().spreads(), resident.outlier_scores().spreads());
        test::on_processes(3, [&](std::shared_ptr<Communicator> communicator) {
            coterie::Run run(4, 1);
            run.set_communicator(communicator);
            const Pipeline mine = fit(test::read_rows(PointsView(points)), run);
            EXPECT_EQ(mine.outlier_scores().centroids(), read.outlier_scores().centroids());
            EXPECT_EQ(mine.outlier_scores().spreads(), read.outlier_scores().spreads());
        });
    }
}

TEST(OutlierScores, AgreeWithNoiseLabelsForASample) {
    const Matrix<double> points = blob_points<double>(900, 3, 3, 1.5, 5);
    for (const char* method : {"kmeans", "spectral"}) {
        const Pipeline pipeline =
            scored(method, {.points = Points::borrow(points)}, {.sample = 200, .noise_share = 0.05});
        EXPECT_EQ(std::count(pipeline.labels().begin(), pipeline.labels().end(), -1), 45) << method;
        const auto scores = scores_of(pipeline, Points::borrow(points));
        for (std::size_t i = 0; i < scores.size(); ++i)
            EXPECT_EQ(scores[i] > *pipeline.noise_beyond(), pipeline.labels()[i] < 0) << i;
    }
}

TEST(NoiseShare, MarksTheRowsWithTheLargestScores) {
    const Matrix<double> points = blob_points<double>(203, 3, 3, 1.5, 5);  // spectral's graph is one component
    const testing::Folder folder;
    for (const char* method : {"kmeans", "ward", "spectral", "rpca-om"})
        for (const double share : {0.001, 0.05, 0.29, 0.49}) {
            SCOPED_TRACE(std::string(method) + " " + std::to_string(share));
            const Pipeline plain = scored(method, {.points = Points::borrow(points)});
            const Pipeline pipeline = scored(method, {.points = Points::borrow(points)}, {.noise_share = share});
            EXPECT_FALSE(plain.noise_beyond());
            const auto scores = scores_of(pipeline, Points::borrow(points));
            EXPECT_EQ(scores, scores_of(plain, Points::borrow(points)));
            auto sorted = scores;
            std::sort(sorted.begin(), sorted.end());
            const auto noise = static_cast<std::size_t>(std::llround(share * 203));
            EXPECT_EQ(*pipeline.noise_beyond(), sorted[203 - noise - 1]);
            Labels expected = plain.labels();
            for (std::size_t i = 0; i < 203; ++i)
                if (scores[i] > sorted[203 - noise - 1]) expected[i] = -1;
            EXPECT_EQ(static_cast<std::size_t>(std::count(expected.begin(), expected.end(), -1)), noise);
            EXPECT_EQ(pipeline.labels(), expected);
            Index labelled = 0;
            for (const Index size : pipeline.fit_report().sizes) labelled += size;
            EXPECT_EQ(labelled, 203 - static_cast<Index>(noise));
            pipeline.save(folder / "m.coterie");
            const Pipeline loaded = Pipeline::load(folder / "m.coterie");
            EXPECT_EQ(loaded.noise_beyond(), pipeline.noise_beyond());
            EXPECT_EQ(scores_of(loaded, Points::borrow(points)), scores);
            EXPECT_EQ(loaded.predict(loaded.prepare(Points::borrow(points))),
                      pipeline.predict(pipeline.prepare(Points::borrow(points))));
        }
}

TEST(NoiseShare, KeepsRowsOfEqualScoresTogether) {
    // One cluster about 0. Its rows are 1, 1, 1, 1, 3, 3 away from it.
    const Matrix<double> points = column({1, -1, 1, -1, 3, -3});
    const auto noise = [&](double share) {
        const Pipeline pipeline =
            scored("kmeans", {.points = Points::borrow(points)}, {.noise_share = share}, {{"clusters", 1}});
        return std::count(pipeline.labels().begin(), pipeline.labels().end(), -1);
    };
    EXPECT_EQ(noise(0.05), 0);  // 0.3 rows, rounded to none
    EXPECT_EQ(noise(0.2), 0);   // 1 row, which has an equal row
    EXPECT_EQ(noise(0.35), 2);
    EXPECT_EQ(noise(0.49), 2);  // 3 rows, the third of which has equal rows
}

TEST(NoiseShare, IgnoresRowsOfWeightZeroAndOmittedRows) {
    Matrix<double> points = blob_points<double>(100, 2, 1, 1, 5);
    points(0, 0) = 1000;  // the farthest row has weight 0 and counts as absent
    points(7, 1) = std::nan("");
    Problem problem{.points = Points::borrow(points), .weights = std::vector<double>(100, 1.0)};
    problem.weights[0] = 0;
    const Pipeline pipeline =
        Pipeline::fit(problem, {find_method("kmeans"), {{"clusters", 1}}},
                      {.columns = {.missing = Missing::drop}, .sample = {}, .noise_share = 0.1}, coterie::Run(4, 2));
    const PreparedRows rows = pipeline.prepare(Points::borrow(points));
    const Matrix<double> scores = pipeline.output(Output::outlier_score, rows);
    EXPECT_TRUE(std::isnan(scores(7, 0)));
    EXPECT_EQ(pipeline.labels()[0], -1);  // it is labelled like a new row
    EXPECT_EQ(pipeline.labels()[7], -1);
    EXPECT_EQ(std::count(pipeline.labels().begin(), pipeline.labels().end(), -1), 2 + 10);  // of 98 rows
    EXPECT_EQ(pipeline.predict(rows), pipeline.labels());
    bool told = false;
    pipeline.apply(rows, {.outputs = {Output::outlier_score, Output::distances}}, coterie::Run(),
                   [&](const RowResults& results) {
                       EXPECT_EQ(results.labels, pipeline.labels());
                       ASSERT_EQ(results.outputs.size(), 2u);
                       for (const Index i : {Index{0}, Index{50}}) {
                           EXPECT_EQ(results.outputs[0](i, 0), scores(i, 0));
                           EXPECT_EQ(results.outputs[1](i, 0), pipeline.output(Output::distances, rows)(i, 0));
                       }
                       told = true;
                   });
    EXPECT_TRUE(told);
}

TEST(NoiseShare, RejectsBadValuesAndCombinations) {
    const Matrix<double> points = blob_points<double>(60, 3, 3, 6, 5);
    const auto message = [&](const char* method, const Problem& problem, double share = 0.1,
                             const OptionValues& options = of_three) {
        return message_of([&] { scored(method, problem, {.noise_share = share}, options); });
    };
    const Problem plain{.points = Points::borrow(points)};
    EXPECT_EQ(message("hdbscan", plain, 0.1, {}),
              "noise_share: method hdbscan itself finds which rows are noise. Leave this option out.");
    for (const double share : {0.5, -1.0, 7.0, std::nan("")})
        EXPECT_NE(message("kmeans", plain, share).find("noise_share: "), std::string::npos) << share;
    Problem graph;
    graph.graph = std::make_shared<SparseMatrix>(30, 30);
    EXPECT_NE(message("spectral", graph).find("noise_share cannot be combined with affinities, because it needs rows"),
              std::string::npos);
    Problem labelled = plain;
    labelled.partial_labels.assign(60, -1);
    Problem sized = plain;
    sized.sizes = SizeBounds{1, 30};
    for (const Problem& problem : {labelled, sized})
        EXPECT_EQ(message("kmeans", problem),
                  "noise_share cannot be combined with partial_labels, label_share or sizes, because they "
                  "apply to all rows. Leave one out.");
    Problem paired = plain;
    paired.must_links = {{0, 1}};
    EXPECT_NE(message("kmeans", paired).find("noise_share cannot be combined with pairs"), std::string::npos);
}

TEST(OutlierScores, ModelsWithoutScoresReportAnError) {
    const Matrix<double> points = blob_points<double>(60, 3, 3, 6, 5);
    const Pipeline bare(fit_kmeans(points, {.clusters = 3}, coterie::Run(4, 2)));
    const Pipeline old = Pipeline::from(bare.archive());  // like a file older than outlier scores
    for (const Pipeline* pipeline : {&bare, &old}) {
        EXPECT_FALSE(pipeline->has(Output::outlier_score));
        EXPECT_EQ(pipeline->predict(pipeline->prepare(Points::borrow(points))), bare.model().labels());
        EXPECT_NE(message_of([&] { scores_of(*pipeline, Points::borrow(points)); }).find("no outlier_score, because"),
                  std::string::npos);
    }
    const Pipeline whole = scored("kmeans", {.points = Points::borrow(points)}, {.noise_share = 0.1});
    Archive damaged = bare.archive();
    damaged.set_vector("noise_beyond", std::vector<double>{1.5});
    EXPECT_EQ(message_of([&] { Pipeline::from(damaged); }),
              "the model has noise_beyond, but it has no outlier_centroids");
    damaged = whole.archive();
    damaged.set_vector("outlier_spreads", std::vector<double>{1, 0, 1});
    EXPECT_NE(message_of([&] { Pipeline::from(damaged); }).find("outlier_spreads"), std::string::npos);
    damaged = whole.archive();
    damaged.set_vector("noise_beyond", std::vector<double>{-1});
    EXPECT_NE(message_of([&] { Pipeline::from(damaged); }).find("noise_beyond"), std::string::npos);
}

TEST(OutlierScores, UseScoresOfTheMethod) {
    const Matrix<double> points = blob_points<double>(120, 3, 3, 6, 5);
    const Pipeline pipeline = scored("hdbscan", {.points = Points::borrow(points)}, {}, {});
    EXPECT_TRUE(pipeline.outlier_scores().empty());
    EXPECT_TRUE(pipeline.has(Output::outlier_score));
    const Matrix<double> own = pipeline.model().output(Output::outlier_score, points);
    EXPECT_EQ(scores_of(pipeline, Points::borrow(points)), std::vector<double>(own.data(), own.data() + own.size()));
}

TEST(ThresholdBeyond, AgreesWithSorting) {
    RandomStream random(3, "test.threshold");
    std::vector<double> numbers = {0, 0, 1, 1, 1, 1e-310, 1e300, std::numeric_limits<double>::infinity()};
    for (int i = 0; i < 500; ++i) numbers.push_back(std::exp(20 * random.normal()));
    for (int i = 0; i < 500; ++i) numbers.push_back(std::floor(5 * random.uniform()));
    auto sorted = numbers;
    std::sort(sorted.rbegin(), sorted.rend());
    for (const Index beyond : {Index{0}, Index{1}, Index{2}, Index{400}, Index{700}, Index{1006}, Index{1007}}) {
        EXPECT_EQ(threshold_beyond(numbers, beyond, coterie::Run(0, 1)), sorted[at(beyond)]);
        for (const int size : {2, 5})
            test::on_processes(size, [&](std::shared_ptr<Communicator> communicator) {
                coterie::Run run(0, 1);
                run.set_communicator(communicator);
                const std::size_t rank = static_cast<std::size_t>(communicator->rank());
                const std::size_t each = numbers.size() / static_cast<std::size_t>(size);
                const std::size_t begin = rank * each;
                const std::size_t end = communicator->rank() + 1 == size ? numbers.size() : begin + each;
                EXPECT_EQ(threshold_beyond(std::span(numbers).subspan(begin, end - begin), beyond, run),
                          sorted[at(beyond)]);
            });
    }
}

}  // namespace
}  // namespace coterie
