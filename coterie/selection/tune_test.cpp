#include "coterie/selection/tune.hpp"
#include "coterie/metrics/criteria.hpp"
#include "tests/support/test_support.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace coterie {
namespace {

using test::with;

struct Blobs {
    Matrix<double> points;
    Labels truth;
};

Blobs blobs(Index n, int k, double distance, std::uint64_t seed = 1) {
    RandomStream random(seed, "test.blobs");
    Blobs out{Matrix<double>(n, 2), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        const auto cluster = static_cast<std::int32_t>(i % k);
        out.truth[static_cast<std::size_t>(i)] = cluster;
        out.points(i, 0) = distance * cluster + random.normal();
        out.points(i, 1) = distance * (cluster % 2) + random.normal();
    }
    return out;
}

const Method& kmeans() { return find_method("kmeans"); }

OptionValue whole(std::int64_t value) { return value; }

TuneOptions over_clusters(std::vector<std::int64_t> values) {
    TuneOptions options;
    options.grid = {{"clusters", {}}};
    for (const auto value : values) options.grid[0].values.emplace_back(value);
    return options;
}

std::vector<double> numbers(const std::string& text, const std::string& method = "kmeans") {
    std::vector<double> out;
    for (const auto& value : read_grid_axis(find_method(method), text).values)
        out.push_back(std::holds_alternative<double>(value) ? std::get<double>(value)
                                                            : static_cast<double>(std::get<std::int64_t>(value)));
    return out;
}

template <class Error, class Act>
void expect_message(Act act, const std::vector<std::string>& words) {
    try {
        act();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
        for (const auto& word : words)
            EXPECT_NE(std::string(error.message()).find(word), std::string::npos)
                << error.message() << "\nlacks " << word;
    }
}

TEST(Grid, ReadsListsAndRanges) {
    EXPECT_EQ(numbers("k=2:5"), (std::vector<double>{2, 3, 4, 5}));
    EXPECT_EQ(read_grid_axis(kmeans(), "k=2").option, "clusters");
    EXPECT_EQ(read_grid_axis(kmeans(), "max-iterations=1e2").option, "max_iterations");
    EXPECT_EQ(numbers("max_iterations=7,1e2,9:10"), (std::vector<double>{7, 100, 9, 10}));
    EXPECT_EQ(numbers("clusters=1:16:log2"), (std::vector<double>{1, 2, 4, 8, 16}));
    // The exact numbers that a person would write.
    EXPECT_EQ(numbers("tolerance=1e-5:10:log"), (std::vector<double>{1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10}));
    EXPECT_EQ(numbers("tolerance=2.5e-3:250:log"), (std::vector<double>{2.5e-3, 2.5e-2, 2.5e-1, 2.5, 25, 250}));
    EXPECT_EQ(numbers("tolerance=0:1:5"), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
    EXPECT_EQ(numbers("tolerance=0:1:11")[3], 0.3);
    EXPECT_EQ(numbers("tolerance=0.5:0.5"), (std::vector<double>{0.5}));
    EXPECT_EQ(numbers("tolerance=0.25:2:log2"), (std::vector<double>{0.25, 0.5, 1, 2}));
    EXPECT_EQ(numbers("tolerance=1:1e10:log").size(), 11u);
    EXPECT_EQ(read_grid_axis(kmeans(), "algorithm=lloyd,bounds").values,
              (std::vector<OptionValue>{std::string("lloyd"), std::string("bounds")}));
}

TEST(Grid, RejectsBadTextWithMessages) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> table = {
        {"clusters", {"grid", "clusters", "OPTION=LOW:HIGH"}},
        {"=3", {"grid", "OPTION=A,B,C"}},
        {"clusters=", {"grid", "empty"}},
        {"clusters=2,,3", {"grid", "empty"}},
        {"cluster=2:3", {"no option 'cluster'", "Use one of its options: clusters"}},
        {"q=2:3", {"no option 'q'"}},
        {"clusters=-1:3", {"clusters", "-1", "at least 1"}},
        {"clusters=two", {"clusters", "two", "whole number"}},
        {"clusters=2.5", {"clusters", "2.5"}},
        {"clusters=1:4:6", {"clusters", "1.6", "whole number"}},
        {"clusters=9:2", {"first number of 9:2 is above"}},
        {"clusters=2:", {"clusters", "whole number"}},
        {"clusters=1:1e6", {"more than 100000 cells"}},
        {"tolerance=0:1:1000000", {"more than 100000 cells"}},
        {"tolerance=0:1:1", {"OPTION=LOW:HIGH:N"}},
        {"tolerance=0:1:x", {"OPTION=LOW:HIGH:N"}},
        {"tolerance=1:2:3:4", {"OPTION=LOW:HIGH:N"}},
        {"tolerance=0:1:log", {"above 0"}},
        {"tolerance=1:50:log", {"decades", "1:50:log"}},
        {"tolerance=1:3:log2", {"powers of two"}},
        {"tolerance=0:0.5", {"steps of 1", "0:0.5"}},
        {"tolerance=nan", {"tolerance", "nan"}},
        {"algorithm=lloyd,magic", {"algorithm", "magic", "bounds"}},
    };
    for (const auto& [text, words] : table)
        expect_message<BadArgument>([&, text = text] { read_grid_axis(kmeans(), text); }, words);
}

TEST(Folds, EveryRowIsHeldOutOnce) {
    const coterie::Run run(3);
    for (const auto& [rows, folds] : std::vector<std::pair<Index, int>>{{10, 2}, {11, 3}, {7, 7}, {1000, 9}}) {
        const auto parts = split_folds(rows, folds, run);
        ASSERT_EQ(parts.size(), static_cast<std::size_t>(folds));
        std::vector<Index> all;
        for (const auto& part : parts) {
            EXPECT_TRUE(std::is_sorted(part.begin(), part.end()));
            EXPECT_LE(std::abs(static_cast<double>(part.size()) - static_cast<double>(rows) / folds), 1.0);
            all.insert(all.end(), part.begin(), part.end());
        }
        std::sort(all.begin(), all.end());
        std::vector<Index> expected(static_cast<std::size_t>(rows));
        std::iota(expected.begin(), expected.end(), Index{0});
        EXPECT_EQ(all, expected);
    }
    EXPECT_EQ(split_folds(100, 4, coterie::Run(5, 1)), split_folds(100, 4, coterie::Run(5, 8)));
    EXPECT_NE(split_folds(100, 4, coterie::Run(5)), split_folds(100, 4, coterie::Run(6)));
    for (const int folds : {-1, 0, 1, 11})
        expect_message<BadArgument>([&] { split_folds(10, folds, run); }, {"folds", std::to_string(folds), "10"});
}

TEST(Tune, SilhouetteFindsThreeBlobs) {
    const auto data = blobs(150, 3, 12);
    for (const int folds : {0, 3}) {
        auto options = over_clusters({2, 3, 4, 5});
        options.folds = folds;
        coterie::Run run(1);
        const auto result = tune(with(data.points), {kmeans(), {{"restarts", whole(3)}}}, options, {}, run, data.truth);
        EXPECT_EQ(result.best, 1u);
        EXPECT_EQ(result.best_method, "kmeans");
        EXPECT_EQ(result.best_options, (OptionValues{{"clusters", whole(3)}, {"restarts", whole(3)}}));
        EXPECT_EQ(result.cells[1].options, (OptionValues{{"clusters", whole(3)}}));
        EXPECT_EQ(result.cells[1].seen->acc, 1.0);
        EXPECT_EQ(result.cells[1].unseen.has_value(), folds > 0);
        if (folds > 0) {
            EXPECT_EQ(result.cells[1].unseen->acc, 1.0);
        }
        EXPECT_FALSE(result.interrupted);
    }
}

TEST(Tune, CriteriaAgreeWithSeparateFits) {
    const auto data = blobs(90, 3, 3);
    const coterie::Run plain(4);
    for (const auto select : {Criterion::silhouette, Criterion::objective, Criterion::ratio, Criterion::knncut,
                              Criterion::calinski_harabasz, Criterion::davies_bouldin, Criterion::bic, Criterion::acc,
                              Criterion::nmi, Criterion::ari}) {
        auto options = over_clusters({2, 3, 4});
        options.select = select;
        coterie::Run run(4);
        const auto result = tune(with(data.points), {kmeans(), {}}, options, {}, run, data.truth);
        double best = std::numeric_limits<double>::quiet_NaN();
        for (const auto& cell : result.cells) {
            coterie::Run fit_run(4);
            const auto model = kmeans().fit(with(data.points), cell.options, fit_run);
            const auto scores = score(model->labels(), data.truth);
            const auto neighbors = nearest_neighbors(data.points, 10, plain);
            const Labels& labels = model->labels();
            const std::map<Criterion, double> expected = {
                {Criterion::silhouette, silhouette(data.points, labels, plain)},
                {Criterion::objective, model->fit_report().objective},
                {Criterion::ratio, scatter_ratio(data.points, labels, plain)},
                {Criterion::knncut, normalized_cut(neighbors, labels)},
                {Criterion::calinski_harabasz, calinski_harabasz(data.points, labels, plain)},
                {Criterion::davies_bouldin, davies_bouldin(data.points, labels, plain)},
                {Criterion::bic, spherical_mixture_bic(data.points, labels, plain)},
                {Criterion::acc, scores.acc},
                {Criterion::nmi, scores.nmi},
                {Criterion::ari, scores.ari}};
            EXPECT_EQ(cell.criterion, expected.at(select)) << name(select);
            const bool better = larger_is_better(select) ? cell.criterion > best : cell.criterion < best;
            if (std::isnan(best) || better) best = cell.criterion;
        }
        EXPECT_EQ(result.cells[result.best].criterion, best) << name(select);
    }
}

TEST(Tune, RatioAndSilhouetteUseTheSpaceOfTheModel) {
    const auto data = blobs(80, 2, 6);
    const Method& subspace = find_method("subspace");
    for (const auto select : {Criterion::ratio, Criterion::silhouette}) {
        auto options = over_clusters({2});
        options.select = select;
        coterie::Run run(2);
        const auto result = tune(with(data.points), {subspace, {}}, options, {}, run);
        const auto model = subspace.fit(with(data.points), result.best_options, run);
        const Matrix<double> z = model->transform(data.points, run);
        EXPECT_EQ(result.cells[0].criterion, select == Criterion::ratio ? scatter_ratio(z, model->labels(), run)
                                                                        : silhouette(z, model->labels(), run));
    }
}

TEST(Tune, OrderOfCellsAndTies) {
    const auto data = blobs(60, 3, 12);
    TuneOptions options;
    options.grid = {read_grid_axis(kmeans(), "k=3,2"), read_grid_axis(kmeans(), "restarts=1:3")};
    coterie::Run run(1);
    const auto result = tune(with(data.points), {kmeans(), {}}, options, {}, run);
    ASSERT_EQ(result.cells.size(), 6u);
    std::vector<std::int64_t> order;
    for (const auto& cell : result.cells) {
        order.push_back(std::get<std::int64_t>(cell.options.at("clusters")));
        order.push_back(std::get<std::int64_t>(cell.options.at("restarts")));
    }
    EXPECT_EQ(order, (std::vector<std::int64_t>{3, 1, 3, 2, 3, 3, 2, 1, 2, 2, 2, 3}));
    EXPECT_EQ(result.cells[1].criterion, result.cells[2].criterion);
    for (std::size_t i = 0; i < result.best; ++i)
        EXPECT_LT(result.cells[i].criterion, result.cells[result.best].criterion);
    for (const auto& cell : result.cells) EXPECT_LE(cell.criterion, result.cells[result.best].criterion);
}

TEST(Tune, IntegersAreAcceptedForReals) {
    const auto data = blobs(60, 3, 12);
    TuneOptions options;
    options.grid = {{"tolerance", {whole(0), 0.5}}};
    coterie::Run run(1);
    EXPECT_EQ(tune(with(data.points), {kmeans(), {{"clusters", whole(3)}}}, options, {}, run).cells.size(), 2u);
}

TEST(Tune, FoldsFitTheSeenRows) {
    const auto data = blobs(41, 3, 4);
    std::vector<double> weights(41);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1.0 + static_cast<double>(i % 3);
    auto options = over_clusters({3});
    options.folds = 3;
    options.select = Criterion::ratio;
    const Settings settings{.preparation = {.scale = Scale::zscore}};
    Problem side;
    side.weights = weights;
    coterie::Run run(9);
    const auto result = tune(with(data.points, side), {kmeans(), {}}, options, settings, run, data.truth);

    double criterion = 0;
    double seen_acc = 0;
    double unseen_nmi = 0;
    for (const auto& part : split_folds(41, 3, run)) {
        const std::set<Index> out(part.begin(), part.end());
        Matrix<double> seen(41 - static_cast<Index>(part.size()), 2);
        Matrix<double> unseen(static_cast<Index>(part.size()), 2);
        Labels seen_truth;
        Labels unseen_truth;
        std::vector<double> seen_weights;
        for (Index i = 0; i < 41; ++i) {
            const auto at = static_cast<std::size_t>(i);
            if (out.count(i) > 0) {
                unseen.row(static_cast<Index>(unseen_truth.size())) = data.points.row(i);
                unseen_truth.push_back(data.truth[at]);
            } else {
                seen.row(static_cast<Index>(seen_truth.size())) = data.points.row(i);
                seen_truth.push_back(data.truth[at]);
                seen_weights.push_back(weights[at]);
            }
        }
        const auto preparation = Preparation::fit(seen, settings.preparation, run, seen_weights);
        const Points prepared = preparation.apply(Points(seen), run);
        Problem seen_side;
        seen_side.weights = seen_weights;
        const auto model = kmeans().fit(with(prepared, seen_side), {{"clusters", whole(3)}}, run);
        criterion += scatter_ratio(prepared, model->labels(), run) / 3;
        seen_acc += accuracy(model->labels(), seen_truth) / 3;
        unseen_nmi +=
            normalized_mutual_information(model->predict(preparation.apply(Points(unseen), run)), unseen_truth) / 3;
    }
    EXPECT_DOUBLE_EQ(result.cells[0].criterion, criterion);
    EXPECT_DOUBLE_EQ(result.cells[0].seen->acc, seen_acc);
    EXPECT_DOUBLE_EQ(result.cells[0].unseen->nmi, unseen_nmi);
    EXPECT_EQ(result.folds_done, 3);
}

TEST(Tune, FoldsSplitLabelsAndSizes) {
    const auto data = blobs(90, 3, 12);
    // Half of the labels are given to the fit. They are not scored if the fit saw them.
    Labels partial = data.truth;
    for (std::size_t i = 45; i < partial.size(); ++i) partial[i] = -1;
    Problem side;
    side.partial_labels = partial;
    side.label_names = {"a", "b", "c"};
    auto options = over_clusters({3, 4});
    options.folds = 3;
    options.select = Criterion::acc;
    coterie::Run run(2);
    auto result = tune(with(data.points, side), {kmeans(), {}}, options, {}, run, data.truth);
    EXPECT_EQ(result.cells[0].seen->acc, 1.0);
    EXPECT_EQ(result.cells[0].unseen->acc, 1.0);
    side = {};
    side.sizes = SizeBounds{30, 30};  // for 60 rows: 20 each
    result = tune(with(data.points, side), {kmeans(), {}}, over_clusters({3}), {}, run, data.truth);
    EXPECT_EQ(result.cells[0].seen->acc, 1.0);
    options = over_clusters({3});
    options.folds = 3;
    result = tune(with(data.points, side), {kmeans(), {}}, options, {}, run, data.truth);
    EXPECT_TRUE(result.cells[0].error.empty()) << result.cells[0].error;
}

TEST(Tune, SameAtAnyNumberOfThreads) {
    const auto data = blobs(400, 4, 3);
    auto options = over_clusters({2, 3, 4, 5});
    options.folds = 3;
    for (const auto select : {Criterion::silhouette, Criterion::ratio, Criterion::knncut}) {
        options.select = select;
        std::vector<TuneResult> results;
        for (const int threads : {1, 2, 8}) {
            coterie::Run run(7, threads);
            results.push_back(tune(with(data.points), {kmeans(), {}}, options, {}, run, data.truth));
        }
        for (const auto& result : results) {
            EXPECT_EQ(result.best, results[0].best);
            for (std::size_t i = 0; i < result.cells.size(); ++i) {
                EXPECT_EQ(result.cells[i].criterion, results[0].cells[i].criterion);
                EXPECT_EQ(result.cells[i].unseen->nmi, results[0].cells[i].unseen->nmi);
            }
        }
    }
}

TEST(Tune, FailedCellsAreRecordedAndNeverChosen) {
    const auto data = blobs(12, 3, 12);
    coterie::Run run(1);
    auto result = tune(with(data.points), {kmeans(), {}}, over_clusters({20, 3, 1, 13}), {}, run);
    EXPECT_EQ(result.best, 1u);
    EXPECT_NE(result.cells[0].error.find("20 clusters requested, but there are only 12 rows"), std::string::npos)
        << result.cells[0].error;
    EXPECT_NE(result.cells[2].error.find("silhouette"), std::string::npos) << result.cells[2].error;
    EXPECT_TRUE(std::isnan(result.cells[0].criterion));
    EXPECT_FALSE(result.cells[3].error.empty());
    // One cluster cuts nothing, but it does not win for that reason.
    auto options = over_clusters({1, 3});
    options.select = Criterion::knncut;
    EXPECT_EQ(tune(with(data.points), {kmeans(), {}}, options, {}, run).best, 1u);
    expect_message<BadArgument>(
        [&] {
            tune(with(data.points), {kmeans(), {}}, over_clusters({20, 30}), {}, run);
        },
        {"20 clusters"});
    // All points are equal: every ratio is NaN.
    const Matrix<double> same = Matrix<double>::Ones(12, 2);
    options = over_clusters({2, 3});
    options.select = Criterion::ratio;
    expect_message<BadData>(
        [&] {
            tune(with(same), {kmeans(), {}}, options, {}, run);
        },
        {"ratio", "not a number", "2 cells"});
}

TEST(Tune, KMeansCanWin) {
    const auto data = blobs(200, 3, 12);
    const Method& spherical = find_method("spherical-kmeans");
    auto options = over_clusters({2, 3});
    options.select = Criterion::knncut;
    options.with_kmeans = true;
    coterie::Run run(1);
    // Directions say little about these data, distances everything.
    const auto result = tune(with(data.points), {spherical, {{"restarts", whole(4)}}}, options, {}, run, data.truth);
    ASSERT_EQ(result.cells.size(), 4u);
    EXPECT_EQ(result.cells[2].method, "kmeans");
    EXPECT_EQ(result.best_method, "kmeans");
    EXPECT_EQ(result.best_options.at("restarts"), whole(4));
    EXPECT_EQ(result.cells[result.best].criterion, 0.0);
    options.select = Criterion::silhouette;
    expect_message<BadArgument>(
        [&] {
            tune(with(data.points), {spherical, {}}, options, {}, run);
        },
        {"with_kmeans", "silhouette"});
    options.select = Criterion::knncut;
    expect_message<BadArgument>(
        [&] {
            tune(with(data.points), {kmeans(), {}}, options, {}, run);
        },
        {"with_kmeans", "k-means already"});
}

TEST(Tune, GridOfScalingsFitsPreparedPoints) {
    auto data = blobs(200, 3, 12);
    Matrix<double> points(200, 3);  // a column in a different unit hides the groups
    RandomStream random(7, "test.unit");
    for (Index i = 0; i < 200; ++i) {
        points.row(i).head(2) = data.points.row(i);
        points(i, 2) = 1e4 * random.uniform();
    }
    const Method& method = find_method("spherical-kmeans");
    coterie::Run run(1);
    TuneOptions options;
    options.grid = {{"clusters", {whole(2), whole(3)}},
                    {"scale", {std::string("none"), std::string("zscore")}},
                    {"center", {false, true}}};
    options.select = Criterion::ari;
    options.with_kmeans = true;
    const auto result = tune(with(points), {method, {}}, options, {}, run, data.truth);
    ASSERT_EQ(result.cells.size(), 16u);
    for (const TuneCell& cell : result.cells) {
        PreparationOptions preparing;
        preparing.scale = std::get<std::string>(cell.options.at("scale")) == "zscore" ? Scale::zscore : Scale::none;
        preparing.center = std::get<bool>(cell.options.at("center"));
        const auto preparation = Preparation::fit(points, preparing, run);
        const auto model =
            find_method(cell.method)
                .fit(with(preparation.apply(Points(points), run)), {{"clusters", cell.options.at("clusters")}}, run);
        EXPECT_EQ(cell.criterion, score(model->labels(), data.truth).ari);
        EXPECT_LE(cell.criterion, result.cells[result.best].criterion);
    }
    EXPECT_EQ(result.cells[8].method, "kmeans");
    EXPECT_EQ(result.best_preparation.scale, Scale::zscore);
    EXPECT_FALSE(result.best_options.contains("scale"));

    options.with_kmeans = false;
    options.folds = 2;
    EXPECT_EQ(tune(with(points), {method, {}}, options, {}, run, data.truth).best_preparation.scale, Scale::zscore);
    options.select = Criterion::silhouette;
    expect_message<BadArgument>(
        [&] {
            tune(with(points), {method, {}}, options, {}, run, data.truth);
        },
        {"silhouette", "scale", "select=acc, nmi or ari"});
    options.select = Criterion::ari;
    expect_message<BadArgument>(
        [&] {
            tune(with(points), {method, {}}, options, {.preparation = {.scale = Scale::unit}}, run, data.truth);
        },
        {"scale: this option is given, and it is also on the grid"});
    EXPECT_EQ(std::get<std::string>(read_grid_axis(method, "scale=unit,none").values[0]), "unit");
    EXPECT_THROW(read_grid_axis(method, "scale=much"), BadArgument);
}

TEST(Tune, InterruptedSearchReturnsResultSoFar) {
    const auto data = blobs(60, 3, 12);
    coterie::Run run(1);
    auto options = over_clusters({2, 3, 4, 5});
    // Asks to stop at the end of the third cell, however the fit checks for it.
    std::string stage;
    run.on_progress = [&](const Progress& progress) { stage = progress.stage; };
    run.should_stop = [&] { return stage.find("cell 3 of 4") != std::string::npos; };
    auto result = tune(with(data.points), {kmeans(), {}}, options, {}, run);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.cells.size(), 2u);
    EXPECT_EQ(result.best, 1u);
    EXPECT_EQ(result.cells_asked, 4);
    // An interrupted fold does not count, unless it is the first.
    options.folds = 2;
    stage.clear();
    run.should_stop = [&] { return stage.find("fold 2 of 2, cell 3") != std::string::npos; };
    result = tune(with(data.points), {kmeans(), {}}, options, {}, run);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.cells.size(), 4u);
    EXPECT_EQ(result.folds_done, 1);
    run.should_stop = [] { return true; };
    EXPECT_THROW(tune(with(data.points), {kmeans(), {}}, options, {}, run), Cancelled);
}

TEST(Tune, BadArguments) {
    const auto data = blobs(30, 3, 12);
    coterie::Run run(1);
    const auto refuse = [&](const TuneOptions& options, const std::vector<std::string>& words,
                            const OptionValues& fixed = {}, LabelSpan truth = {}) {
        expect_message<BadArgument>(
            [&] {
                tune(with(data.points), {kmeans(), fixed}, options, {}, run, truth);
            },
            words);
    };
    refuse({}, {"no grid", "OPTION=LOW:HIGH"});
    refuse(over_clusters({}), {"clusters", "no values"});
    refuse(over_clusters({2}), {"clusters", "on the grid"}, {{"clusters", whole(3)}});
    refuse(over_clusters({-2}), {"clusters", "-2", "at least 1"});
    auto options = over_clusters({2, 3});
    refuse(options, {"no option 'nothing'"}, {{"nothing", whole(3)}});
    options.folds = 1;
    refuse(options, {"folds", "1", "2", "30"});
    options.folds = 31;
    refuse(options, {"folds", "31", "30"});
    options = over_clusters({2, 3});
    options.grid.push_back(options.grid[0]);
    refuse(options, {"clusters", "twice"});
    options = over_clusters({2, 3});
    options.select = Criterion::nmi;
    refuse(options, {"select", "nmi", "truth"});
    refuse(options, {"truth has 3 labels", "30 rows"}, {}, Labels{0, 1, 2});
    options.grid = {read_grid_axis(kmeans(), "k=1:1000"), read_grid_axis(kmeans(), "restarts=1:101")};
    refuse(options, {"100000 cells"}, {}, data.truth);
}

// Compares with columns coded by hand: means filled in, a word as 1/sqrt(2) in its own column.
TEST(Tune, MissingValuesAndWords) {
    const Blobs some = blobs(90, 3, 8.0);
    const double absent = std::numeric_limits<double>::quiet_NaN();
    Matrix<double> raw(90, 3), filled(90, 4), kept(88, 4);
    Labels truth_of_kept;
    for (Index i = 0; i < 90; ++i) {
        const bool misses = i == 4 || i == 70;
        const int word = some.truth[static_cast<std::size_t>(i)] == 2 ? 1 : 0;
        raw(i, 0) = misses ? absent : some.points(i, 0);
        raw(i, 1) = some.points(i, 1);
        raw(i, 2) = word;
        for (const int w : {0, 1}) filled(i, 2 + w) = word == w ? std::sqrt(0.5) : 0.0;
        filled(i, 1) = raw(i, 1);
        filled(i, 0) = raw(i, 0);
    }
    double sum = 0;
    for (Index i = 0; i < 90; ++i) sum += std::isnan(raw(i, 0)) ? 0 : raw(i, 0);
    for (const Index i : {4, 70}) filled(i, 0) = sum / 88;
    for (Index i = 0, at = 0; i < 90; ++i) {
        if (std::isnan(raw(i, 0))) continue;
        for (Index j = 0; j < 4; ++j) kept(at, j) = filled(i, j);
        truth_of_kept.push_back(some.truth[static_cast<std::size_t>(i)]);
        ++at;
    }
    Problem problem = with(raw);
    problem.column_kinds = {ColumnKind::number, ColumnKind::number, ColumnKind::category};
    problem.categories = {{}, {}, {"ash", "oak"}};
    const auto same = [](const TuneResult& found, const TuneResult& expected) {
        ASSERT_EQ(found.cells.size(), expected.cells.size());
        EXPECT_EQ(found.best, expected.best);
        for (std::size_t cell = 0; cell < found.cells.size(); ++cell) {
            EXPECT_NEAR(found.cells[cell].criterion, expected.cells[cell].criterion, 1e-12);
            ASSERT_EQ(found.cells[cell].unseen.has_value(), expected.cells[cell].unseen.has_value());
            if (found.cells[cell].unseen) {
                EXPECT_NEAR(found.cells[cell].unseen->ari, expected.cells[cell].unseen->ari, 1e-12);
            }
        }
    };
    TuneOptions options = over_clusters({2, 3, 4});
    TuneOptions plain = options;
    Settings settings{.columns = {.missing = Missing::mean, .categorical = Categorical::one_hot}};
    same(tune(problem, {kmeans(), {}}, options, settings, coterie::Run(2)),
         tune(with(filled), {kmeans(), {}}, plain, {}, coterie::Run(2)));
    settings.columns.missing = Missing::drop;
    options.folds = plain.folds = 4;
    same(tune(problem, {kmeans(), {}}, options, settings, coterie::Run(2), some.truth),
         tune(with(kept), {kmeans(), {}}, plain, {}, coterie::Run(2), truth_of_kept));
    options.folds = 0;
    options.select = Criterion::gap;
    const TuneResult by_gap = tune(problem, {kmeans(), {}}, options, settings, coterie::Run(2));
    ASSERT_TRUE(by_gap.choice);
    EXPECT_EQ(by_gap.best_options.at("clusters"), whole(3));
    options.select = Criterion::silhouette;
    expect_message<BadArgument>(
        [&] {
            tune(problem, {kmeans(), {}}, options, {}, coterie::Run(2));
        },
        {"categorical=one-hot"});
    problem.categories.clear();
    problem.column_kinds.clear();
    EXPECT_THROW(tune(problem, {kmeans(), {}}, options, {}, coterie::Run(2)), BadData);
}

}  // namespace
}  // namespace coterie
