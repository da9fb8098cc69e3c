// What a pipeline guarantees: raw rows give the labels of the fit, however the points are prepared.

#include "coterie/pipeline/pipeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::blob_points;
using test::message_of;

// Three clusters that appear only when the columns have equal weight: the second column's unit is a thousand times
// smaller.
struct Table {
    Matrix<double> points = blob_points<double>(120, 3, 3, 8, 5);
    std::vector<std::string> names = {"length", "width", "mass"};
    Table() {
        points.col(1) *= 1000;
        points.col(0).array() += 40;
    }
    Problem problem() const { return {.points = Points::borrow(points), .column_names = names}; }
};

Pipeline fitted(const Problem& problem, Scale scale, std::uint64_t seed = 3) {
    return Pipeline::fit(problem, {find_method("kmeans"), {{"clusters", 3}}}, {.preparation = {.scale = scale}},
                         coterie::Run(seed, 2));
}

TEST(Pipeline, PredictAppliesThePreparationOfTheFit) {
    const Table table;
    for (const Scale scale : {Scale::none, Scale::minmax, Scale::zscore, Scale::unit}) {
        const Pipeline pipeline = fitted(table.problem(), scale);
        EXPECT_EQ(pipeline.predict(pipeline.prepare(Points::borrow(table.points), table.names)),
                  pipeline.model().labels());
        // By hand: the fit saw the points that the same preparation makes.
        const auto preparation = Preparation::fit(table.points, {.scale = scale}, coterie::Run());
        EXPECT_EQ(to_matrix<double>(pipeline.prepared()),
                  to_matrix<double>(preparation.apply(Points::borrow(table.points), coterie::Run())));
    }
}

TEST(Pipeline, PredictsRowsInBlocksInOrder) {
    const Matrix<double> points = blob_points<double>(3000, 4, 3, 8, 5);
    const Pipeline pipeline = Pipeline::fit({.points = Points::borrow(points)},
                                            {find_method("kmeans"), {{"clusters", 3}}}, {}, coterie::Run(3, 2));
    const Labels labels = pipeline.predict(pipeline.prepare(Points::borrow(points)));
    const Matrix<double> distances = pipeline.output(Output::distances, pipeline.prepare(Points::borrow(points)));
    for (const bool resident : {true, false})
        for (const int size : {1, 3}) {
            const Points rows = resident ? Points::borrow(points) : test::read_rows(points);
            std::mutex mutex;
            Index in_all = 0;
            int calls = 0;
            test::on_processes(size, [&](std::shared_ptr<Communicator> communicator) {
                coterie::Run run(3, 1);
                run.set_communicator(communicator);
                Index next = internal::own_rows(internal::grid_of(rows), *communicator).begin;
                const PreparedRows prepared = pipeline.prepare(rows, run);
                pipeline.apply(prepared, {.outputs = {Output::distances}}, run, [&](const RowResults& results) {
                    const std::lock_guard lock(mutex);
                    const auto count = static_cast<Index>(results.labels.size());
                    EXPECT_EQ(results.first, next);
                    for (Index i = 0; i < count; ++i) {
                        EXPECT_EQ(results.labels[static_cast<std::size_t>(i)],
                                  labels[static_cast<std::size_t>(next + i)]);
                        EXPECT_EQ(results.outputs.front().row(i), distances.row(next + i));
                    }
                    next += count;
                    in_all += count;
                    ++calls;
                });
            });
            EXPECT_EQ(in_all, 3000);
            EXPECT_TRUE(resident || calls > 3) << calls;
        }
    pipeline.apply(pipeline.prepare(Points::borrow(points)), {.labels = false}, coterie::Run(),
                   [](const RowResults& results) { EXPECT_TRUE(results.labels.empty() && results.outputs.empty()); });
    EXPECT_EQ(pipeline.model().output_columns(Output::distances), 3);
    EXPECT_THROW(pipeline.model().output_columns(Output::embedding), BadArgument);
}

// Concentric rings: spectral clustering finds them all, k-means none.
struct Rings {
    Matrix<double> points{2400, 2};
    Labels truth;
    Rings() {
        RandomStream random(9, "test.rings");
        for (Index i = 0; i < points.rows(); ++i) {
            const double angle = 6.283185307179586 * random.uniform();
            const double radius = 1.0 + 2.0 * static_cast<double>(i % 3) + 0.1 * random.normal();
            points(i, 0) = radius * std::cos(angle);
            points(i, 1) = 5.0 * radius * std::sin(angle);
            truth.push_back(static_cast<std::int32_t>(i % 3));
        }
    }
    Problem problem() const { return {.points = Points::borrow(points)}; }
};
const OptionValues three = {{"clusters", 3}};

TEST(PipelineSample, SampleOfAllRowsEqualsTheFullFit) {
    const Rings rings;
    const coterie::Run run(3, 2);
    for (const char* method : {"spectral", "kmeans", "ward"}) {
        const Pipeline whole = Pipeline::fit(rings.problem(), {find_method(method), three},
                                             {.preparation = {.scale = Scale::zscore}}, run);
        for (const int sample : {2400, 100000}) {
            const Pipeline sampled = Pipeline::fit(rings.problem(), {find_method(method), three},
                                                   {.preparation = {.scale = Scale::zscore}, .sample = sample}, run);
            EXPECT_EQ(sampled.labels(), whole.labels());
            EXPECT_EQ(sampled.fit_report().objective, whole.fit_report().objective);
            EXPECT_EQ(sampled.sample(), 0);
            EXPECT_TRUE(sampled.archive().texts() == whole.archive().texts());
        }
        EXPECT_EQ(whole.labels(), whole.model().labels());
    }
}

TEST(PipelineSample, ModelLabelsTheOtherRows) {
    const Rings rings;
    const Pipeline sampled =
        Pipeline::fit(rings.problem(), {find_method("spectral"), three},
                      {.preparation = {.scale = Scale::zscore}, .sample = 600}, coterie::Run(3, 2));
    EXPECT_GT(accuracy(sampled.labels(), rings.truth), 0.99);
    EXPECT_EQ(sampled.sample(), 600);
    EXPECT_EQ(sampled.model().labels().size(), 600u);
    EXPECT_EQ(sampled.labels(), sampled.predict(sampled.prepare(Points::borrow(rings.points))));
    const FitReport& report = sampled.fit_report();
    EXPECT_EQ(report.points, 2400);
    EXPECT_EQ(report.sizes, cluster_sizes(sampled.labels(), 3));
    // The preparation was learned from all rows, the model from the sample.
    const Preparation all = Preparation::fit(rings.points, {.scale = Scale::zscore}, coterie::Run());
    EXPECT_EQ(sampled.preparation().offset(), all.offset());
    RandomStream random = coterie::Run(3, 2).random("pipeline.sample");
    const Problem drawn = all.apply(rings.problem().subset(sample_rows(2400, 600, random)), coterie::Run());
    EXPECT_EQ(find_method("spectral").fit(drawn, three, coterie::Run(3, 2))->labels(), sampled.model().labels());
}

TEST(PipelineSample, SameBitsInBlocksAndProcesses) {
    const Rings rings;
    Problem weighted = rings.problem();
    for (Index i = 0; i < weighted.rows(); ++i) weighted.weights.push_back(static_cast<double>(1 + i % 4));
    for (const char* method : {"spectral", "kmeans", "ward", "wmc"}) {
        const Problem problem = find_method(method).takes.weights ? weighted : rings.problem();
        test::expect_same_bits(problem,
                               [&](const Problem& some, const coterie::Run& run) {
                                   const Pipeline fitted =
                                       Pipeline::fit(some, {find_method(method), three},
                                                     {.preparation = {.scale = Scale::minmax}, .sample = 150}, run);
                                   test::Bits out{fitted.labels(), {fitted.fit_report().objective}};
                                   for (const Index size : fitted.fit_report().sizes)
                                       out.numbers.push_back(static_cast<double>(size));
                                   return out;
                               },
                               {1, 3});
    }
}

TEST(PipelineSample, ErrorsNameRowsOfTheGivenPoints) {
    Rings rings;
    const auto message = [&](const Problem& problem, const OptionValues& options, int sample) {
        return message_of([&] {
            Pipeline::fit(problem, {find_method("spectral"), options}, {.sample = sample}, coterie::Run(3, 1));
        });
    };
    for (const Index row : {Index{0}, Index{1200}, Index{2399}}) {
        const double kept = rings.points(row, 1);
        rings.points(row, 1) = std::nan("");
        for (const int sample : {40, 2300})
            EXPECT_NE(message(rings.problem(), three, sample)
                          .find("column 2, row " + std::to_string(row + 1) +
                                ": the value is NaN, which stands for a missing value"),
                      std::string::npos);
        rings.points(row, 1) = kept;
    }
    EXPECT_NE(message(rings.problem(), three, 0).find("sample: 0"), std::string::npos);
    Problem graph;
    graph.graph = std::make_shared<SparseMatrix>(30, 30);
    EXPECT_NE(message(graph, three, 20).find("sample cannot be combined with affinities, because it needs rows"),
              std::string::npos);
    Problem labelled = rings.problem();
    labelled.partial_labels.assign(2400, -1);
    EXPECT_EQ(message(labelled, three, 20),
              "sample cannot be combined with partial_labels, label_share or sizes, because they apply to all "
              "rows. Leave one out.");
}

TEST(PipelineSample, IsSuggestedIfMemoryIsTooSmall) {
    class Many : public RowSource {
    public:
        Index rows() const override { return Index{1} << 40; }
        Index columns() const override { return 4; }
        ScalarType scalar() const override { return ScalarType::float32; }
        void read(Index, Index, void*) const override { throw InternalError("nobody reads these"); }
    };
    const std::string message = message_of([&] {
        Pipeline::fit({.points = Points(std::make_shared<const Many>())}, {find_method("spectral"), three});
    });
    EXPECT_EQ(message.find("method spectral needs all rows in memory, which needs about"), 0u) << message;
    EXPECT_NE(message.find("is available. Use sample to fit on some of the rows"), std::string::npos) << message;
}

TEST(Pipeline, RoundTripKeepsLabels) {
    const Table table;
    const testing::Folder folder;
    const Pipeline pipeline = fitted(table.problem(), Scale::zscore);
    pipeline.save(folder / "m.coterie");
    const Pipeline loaded = Pipeline::load(folder / "m.coterie");
    EXPECT_EQ(loaded.column_names(), table.names);
    EXPECT_EQ(loaded.preparation().text(), "scale zscore");
    EXPECT_TRUE(loaded.model().labels().empty());
    EXPECT_EQ(loaded.predict(loaded.prepare(Points::borrow(table.points), table.names)), pipeline.model().labels());
    loaded.save(folder / "again.coterie");
    EXPECT_EQ(Pipeline::load(folder / "again.coterie").archive().tensors().size(), loaded.archive().tensors().size());
}

TEST(Pipeline, FindsColumnsByName) {
    const Table table;
    const Pipeline pipeline = fitted(table.problem(), Scale::zscore);
    // Another order of columns, and one that the model does not know.
    Matrix<double> other(table.points.rows(), 4);
    other.col(0) = table.points.col(2);
    other.col(1).setConstant(7);
    other.col(2) = table.points.col(0);
    other.col(3) = table.points.col(1);
    const PreparedRows rows = pipeline.prepare(Points::borrow(other), {"mass", "colour", "length", "width"});
    EXPECT_EQ(pipeline.predict(rows), pipeline.model().labels());
    EXPECT_TRUE(rows.warnings.empty());
    const std::string message = message_of([&] {
        pipeline.prepare(Points::borrow(other), {"mass", "colour", "length", "height"});
    });
    for (const char* part : {"points: column 'width': the model needs this column", "length, width, mass", "height"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Pipeline, UsesColumnPositionsWithoutNames) {
    const Table table;
    const Pipeline named = fitted(table.problem(), Scale::minmax);
    const PreparedRows rows = named.prepare(Points::borrow(table.points));
    EXPECT_EQ(named.predict(rows), named.model().labels());
    ASSERT_EQ(rows.warnings.size(), 1u);
    EXPECT_NE(rows.warnings[0].text().find("matched to the model's by order"), std::string::npos);

    const Pipeline nameless = fitted({.points = Points::borrow(table.points)}, Scale::minmax);
    const PreparedRows with_names = nameless.prepare(Points::borrow(table.points), table.names);
    EXPECT_TRUE(with_names.warnings.empty());
    EXPECT_EQ(nameless.predict(with_names), named.model().labels());
    const Matrix<double> narrow = table.points.leftCols(2);
    EXPECT_NE(message_of([&] { nameless.prepare(Points::borrow(narrow)); }).find("2 columns"), std::string::npos);
    EXPECT_NE(message_of([&] { named.prepare(Points::borrow(narrow)); }).find("length, width, mass"),
              std::string::npos);
}

TEST(Pipeline, HasTheOutputsOfItsModel) {
    const Table table;
    const Pipeline pipeline = Pipeline::fit(table.problem(), {find_method("soft-kmeans"), {{"clusters", 3}}},
                                            {.preparation = {.scale = Scale::zscore}}, coterie::Run(1, 1));
    const PreparedRows rows = pipeline.prepare(Points::borrow(table.points), table.names);
    const Labels labels = pipeline.predict(rows);
    const Matrix<double> memberships = pipeline.output(Output::memberships, rows);
    const Matrix<double> distances = pipeline.output(Output::distances, rows);
    ASSERT_EQ(distances.cols(), 3);
    EXPECT_LE((memberships.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
    const auto& centroids = dynamic_cast<const CentroidModel&>(pipeline.model()).centroids();
    for (Index i = 0; i < rows.points.rows(); ++i) {
        Index nearest = 0, likely = 0;
        distances.row(i).minCoeff(&nearest);
        memberships.row(i).maxCoeff(&likely);
        EXPECT_EQ(labels[static_cast<std::size_t>(i)], nearest);
        EXPECT_EQ(nearest, likely);
        double squared = 0;
        for (Index p = 0; p < 3; ++p) squared += std::pow(rows.points.view().at(i, p) - centroids.view().at(1, p), 2);
        EXPECT_NEAR(distances(i, 1), std::sqrt(squared), 1e-12);
    }
    EXPECT_EQ(pipeline.output(Output::memberships, pipeline.prepare(Points(Matrix<double>(0, 3)))).cols(), 3);
    const std::string message = message_of([&] { pipeline.output(Output::embedding, rows); });
    for (const char* part : {"soft-kmeans", "no embedding", "memberships, distances"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(Pipeline, RejectsInvalidFiles) {
    const Table table;
    const testing::Folder folder;
    fitted(table.problem(), Scale::zscore).save(folder / "m.coterie");
    Archive archive = Archive::load(folder / "m.coterie");
    archive.set_text("column_names", "[\"length\", \"width\"]");
    archive.save(folder / "two-names.coterie");
    EXPECT_NE(message_of([&] { Pipeline::load(folder / "two-names.coterie"); }).find("two-names.coterie"),
              std::string::npos);
    archive.set_text("column_names", "{");
    EXPECT_THROW(Pipeline::from(archive), BadData);
    EXPECT_THROW(
        Pipeline::fit({.points = Points::borrow(table.points), .column_names = {"one"}}, {find_method("kmeans"), {}}),
        BadArgument);
}

}  // namespace
}  // namespace coterie
