// cpd-uml: the ranking tables of CPD-UML and its baselines. All methods use the same splits, starts and criterion.
// Further rows show simple controls. The published figures follow; their scores are computed from the printed figures.
// The grids are those of the paper if it states them.

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/selection/holdout.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

constexpr std::size_t set_count = 6;
constexpr std::size_t method_count = 10;
constexpr Index published_runs = 20;

struct DataSet {
    const char* name;   // as --sets takes it
    const char* title;  // as the tables print it
    const char* data;   // name in the catalogue
    int clusters;
    Scale scale;  // none for pixels, which have a common scale already
};
constexpr std::array<DataSet, set_count> data_sets = {{
    {"breast", "Breast", "breast-cancer-wisconsin", 2, Scale::minmax},
    {"diabetes", "Diabetes", "pima-indians-diabetes", 2, Scale::minmax},
    {"cars", "Cars", "auto-mpg", 3, Scale::minmax},
    {"dermatology", "Dermatology", "dermatology", 6, Scale::minmax},
    {"ecoli", "E. coli", "ecoli", 8, Scale::minmax},
    {"usps20", "USPS20", "usps", 10, Scale::none},
}};

constexpr std::array<const char*, method_count> method_names = {
    "K-means", "AML", "RPCA-OM", "FME", "CPD-UML", "Kernel K-means", "NAML", "r-RPCA-OM", "r-FME", "r-CPD-UML"};

struct Printed {
    double mean;
    double deviation;
};
using PrintedTable = std::array<std::array<Printed, set_count>, method_count>;

// Tables 1 to 3 of the paper, in per cent.
constexpr PrintedTable printed_accuracy = {{
    {{{96.39, .34}, {96.42, .12}, {42.67, .35}, {69.64, 7.73}, {57.11, 3.23}, {62.29, 3.12}}},
    {{{96.34, .35}, {96.49, .09}, {43.67, .50}, {63.17, 3.07}, {58.87, 3.27}, {64.36, 3.93}}},
    {{{96.54, .49}, {96.71, .31}, {43.81, .78}, {71.15, 4.50}, {58.55, 3.28}, {62.64, 3.87}}},
    {{{96.36, .30}, {96.57, .35}, {48.86, 2.11}, {77.72, 3.68}, {58.59, 3.54}, {66.27, 4.09}}},
    {{{97.06, .44}, {97.52, .19}, {45.33, .73}, {68.67, 7.48}, {57.01, 3.67}, {64.78, 3.64}}},
    {{{96.56, .29}, {95.57, .13}, {61.71, .08}, {64.98, 2.02}, {55.04, 2.49}, {56.14, 4.98}}},
    {{{96.56, .30}, {95.57, .15}, {62.13, .54}, {66.60, 2.01}, {49.62, 2.82}, {57.76, 3.82}}},
    {{{96.76, .27}, {95.57, .14}, {49.55, 2.53}, {65.69, 3.75}, {52.72, 5.26}, {67.44, 4.29}}},
    {{{96.73, .25}, {96.79, .14}, {63.38, 1.51}, {79.45, 3.86}, {50.78, 2.53}, {68.13, 5.47}}},
    {{{96.95, .41}, {97.75, .10}, {63.77, 1.52}, {80.37, 4.80}, {63.02, 2.74}, {68.58, 2.49}}},
}};
constexpr PrintedTable printed_nmi = {{
    {{{76.10, 1.73}, {76.31, .63}, {18.17, .50}, {80.91, 4.96}, {56.77, 2.14}, {61.73, 1.49}}},
    {{{75.83, 1.80}, {76.58, .11}, {20.53, .77}, {79.15, 2.80}, {57.81, 2.07}, {62.51, 3.25}}},
    {{{77.07, 2.52}, {77.88, 1.64}, {20.04, .64}, {82.27, 4.29}, {51.22, 2.42}, {60.78, 2.40}}},
    {{{75.93, 1.50}, {77.01, 1.77}, {19.45, 2.44}, {84.75, 3.58}, {56.73, 2.76}, {64.01, 2.73}}},
    {{{79.63, 2.35}, {83.31, .64}, {18.19, .51}, {79.46, 5.09}, {46.98, 8.29}, {61.12, 3.32}}},
    {{{77.01, 1.58}, {77.06, .10}, {8.50, .05}, {74.65, 3.62}, {51.04, 1.76}, {59.48, 3.05}}},
    {{{77.01, 1.58}, {77.06, .11}, {1.50, .95}, {79.86, 1.43}, {45.66, 4.03}, {60.87, 3.11}}},
    {{{78.19, 1.50}, {77.08, 1.47}, {3.30, 1.90}, {79.84, 2.66}, {18.36, 1.85}, {66.12, 2.66}}},
    {{{77.95, 1.37}, {78.32, .79}, {6.38, .62}, {85.96, 3.17}, {49.74, 2.89}, {67.02, 3.76}}},
    {{{79.25, 2.43}, {85.76, .81}, {10.12, 2.26}, {81.46, 2.65}, {57.85, 2.18}, {65.34, 2.01}}},
}};
constexpr PrintedTable printed_purity = {{
    {{{96.39, .34}, {96.42, .12}, {62.85, .36}, {81.36, 4.45}, {81.17, 1.58}, {69.78, 2.54}}},
    {{{96.34, .35}, {96.49, .09}, {62.91, .38}, {78.94, 1.81}, {81.39, 1.42}, {71.08, 4.32}}},
    {{{96.54, .49}, {96.71, .31}, {63.85, .80}, {82.64, 3.85}, {74.50, 1.85}, {69.60, 3.58}}},
    {{{96.36, .30}, {96.57, .35}, {63.86, 1.07}, {85.27, 3.20}, {80.43, 2.11}, {72.68, 3.37}}},
    {{{97.06, .44}, {97.52, .19}, {63.10, .49}, {81.02, 4.45}, {74.88, 5.82}, {69.80, 3.61}}},
    {{{96.56, .29}, {95.57, .13}, {62.16, .05}, {76.80, 1.94}, {76.03, 1.57}, {65.29, 4.29}}},
    {{{96.56, .30}, {95.57, .15}, {62.21, .32}, {79.37, 1.02}, {70.90, 3.93}, {66.69, 3.38}}},
    {{{96.76, .27}, {95.57, .14}, {62.29, .41}, {79.26, 2.16}, {52.84, 5.29}, {73.46, 2.95}}},
    {{{96.73, .25}, {96.79, .14}, {63.38, 1.76}, {85.44, 3.16}, {76.01, 2.62}, {72.77, 3.42}}},
    {{{96.95, .41}, {97.75, .10}, {64.86, .85}, {85.59, 2.56}, {82.09, 1.74}, {74.44, 2.14}}},
}};

struct Measure {
    const char* title;
    const char* key;
    double Scores::*member;
    const PrintedTable* printed;
};
const std::array<Measure, 3> measures = {{{"Table 1: accuracy", "acc", &Scores::acc, &printed_accuracy},
                                          {"Table 2: normalised mutual information", "nmi", &Scores::nmi, &printed_nmi},
                                          {"Table 3: purity", "purity", &Scores::purity, &printed_purity}}};

// ---------------------------------------------------------------- options and methods

enum class ScaleChoice { usual, none, minmax, zscore };

Scale scale_of(const DataSet& set, ScaleChoice choice) {
    switch (choice) {
        case ScaleChoice::usual: return set.scale;
        case ScaleChoice::none: return Scale::none;
        case ScaleChoice::minmax: return Scale::minmax;
        case ScaleChoice::zscore: return Scale::zscore;
    }
    throw InternalError("unknown scale");
}

struct CpdUmlRequest {
    int runs = 20;
    Criterion select = Criterion::acc;
    std::string sets = "breast,diabetes,cars,dermatology,ecoli,usps20";
    ScaleChoice scale = ScaleChoice::usual;
    bool published = false;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<CpdUmlRequest>()
                .integer("runs", &CpdUmlRequest::runs, at_least(2), "random splits of each data set")
                .choice("select", &CpdUmlRequest::select,
                        {"silhouette", "objective", "ratio", "knncut", "acc", "nmi", "ari"},
                        "criterion that chooses the parameters on the training part; acc, nmi and ari use its labels "
                        "(the paper seems to do this), the others do not")
                .text("sets", &CpdUmlRequest::sets,
                      "data sets, separated by commas: breast, diabetes, cars, dermatology, ecoli, usps20")
                .choice("scale", &CpdUmlRequest::scale, {"usual", "none", "minmax", "zscore"},
                        "scale of the columns, learnt from the training part; usual: minmax, and none for pixels (the "
                        "paper does not state its scale)")
                .flag("published", &CpdUmlRequest::published,
                      "only print the published tables, with ranking scores computed from their figures");
        return set;
    }
};

std::vector<GridAxis> axes(const std::string& method, const std::vector<std::string>& texts) {
    std::vector<GridAxis> out;
    for (const auto& text : texts) out.push_back(read_grid_axis(find_method(method), text));
    return out;
}

// The grids of the paper: lambda 10^0 to 10^10, sigma 2^0 to 2^10, kernel widths 2^-5 to 2^10. It does not state the
// grids of the baselines.
const std::string widths = "=0.03125:1024:log2";
const std::vector<std::string> deformations = {"lambda=1:1e10:log", "sigma=1:1024:log2"};

Contender::Grid grid(const std::string& method, int clusters, const std::vector<std::string>& texts,
                     OptionValues fixed = {}) {
    Contender::Grid out{method, std::move(fixed), axes(method, texts)};
    out.axes.push_back({"clusters", {std::int64_t{clusters}}});
    return out;
}

std::vector<std::string> with_width(std::vector<std::string> texts) {
    texts.insert(texts.begin(), "kernel_width" + widths);
    return texts;
}

std::vector<Contender> contenders(int clusters, Index columns) {
    std::string dimensions = "dimensions=1";
    for (const Index p : {2, 3, 4, 6, 8, 12, 16, 24, 32, 48})
        if (p < columns) dimensions += "," + std::to_string(p);
    const OptionValues kernel = {{"kernel", std::string("rbf")}, {"components", 50}};
    // `labels_from` is an axis of the grid: cells that differ only in it share all computations.
    const auto cpd = [&](const std::string& indicator, const std::string& labels_from, const std::string& origin,
                         bool of_kernel, std::vector<std::string> texts) {
        OptionValues fixed = of_kernel ? kernel : OptionValues();
        fixed["indicator"] = indicator;
        fixed["origin"] = origin;
        fixed["max_iterations"] = std::int64_t{20};
        texts.push_back("labels_from=" + labels_from);
        return grid("cpd", clusters, of_kernel ? with_width(texts) : texts, fixed);
    };
    const std::vector<std::string> still = {"lambda=1e300"};
    const std::vector<std::string> ridge = {"lambda_rel=0.0001:10000:log"};
    const std::vector<std::string> embedding = {"mu_rel=0.0001,0.01,1,100,10000", "gamma_rel=0.0001,0.01,1,100,10000",
                                                "labels_from=regression,embedding"};
    const std::vector<std::string> kernel_embedding = {"mu_rel=0.01,1,100", "gamma_rel=0.01,1,100"};
    Contender::Grid plain = grid("kmeans", clusters, {}, {{"restarts", 10}});
    plain.common_start = false;
    Contender::Grid plain_kernel = grid("kernel-kmeans", clusters, {"width" + widths}, {{"restarts", 10}});
    plain_kernel.common_start = false;
    return {
        {"K-means", {grid("kmeans", clusters, {})}},
        {"AML", {grid("aml", clusters, ridge)}},
        {"RPCA-OM", {grid("rpca-om", clusters, {dimensions})}},
        {"FME", {grid("fme", clusters, embedding)}},
        {"CPD-UML",
         {cpd("relaxed", "moved,embedding", "mean", false, deformations),
          cpd("relaxed", "embedding", "zero", false, deformations),
          cpd("discrete", "moved", "mean", false, deformations)}},
        {"Kernel K-means", {grid("kernel-kmeans", clusters, {"width" + widths})}},
        {"NAML", {grid("aml", clusters, with_width(ridge), kernel)}},
        {"r-RPCA-OM", {grid("rpca-om", clusters, with_width({"dimensions=1,2,3,4,6,8,12,16,24,32,48"}), kernel)}},
        {"r-FME", {grid("fme", clusters, with_width(kernel_embedding), kernel)}},
        {"r-CPD-UML", {cpd("relaxed", "moved,embedding", "mean", true, deformations)}},
        // Controls: they show how much of the gain the deformation brings.
        {"no deformation",
         {cpd("relaxed", "embedding", "mean", false, still), cpd("relaxed", "embedding", "zero", false, still)}},
        {"r-no deformation", {cpd("relaxed", "embedding", "mean", true, still)}},
        {"K-means, 10 restarts", {plain}},
        {"Kernel K-means, 10", {plain_kernel}},
    };
}

// A fifth of the digits of each class, rounded down. This gives 1,854 digits, as in the paper.
std::vector<Index> usps20_rows(const Labels& truth, const Run& run) {
    std::map<std::int32_t, std::vector<Index>> classes;
    for (std::size_t i = 0; i < truth.size(); ++i) classes[truth[i]].push_back(static_cast<Index>(i));
    RandomStream random = run.random("reproduce.usps20");
    std::vector<Index> rows;
    for (auto& [name, members] : classes) {
        shuffle(members, random);
        rows.insert(rows.end(), members.begin(), members.begin() + static_cast<std::ptrdiff_t>(members.size() / 5));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

struct Measured {
    const DataSet* set = nullptr;
    std::size_t column = 0;  // of the published tables
    Scale scale = Scale::none;
    Index points = 0;
    Index dimensions = 0;
    double majority = 0;
    std::vector<std::string> names;
    std::vector<std::vector<HoldoutOutcome>> outcomes;
    double seconds = 0;

    SampleSummary summary(std::size_t contender, double Scores::*member) const {
        std::vector<double> values;
        for (const auto& outcome : outcomes[contender]) values.push_back(100 * (outcome.unseen.*member));
        return summary_of(values);
    }
    std::vector<SampleSummary> ranked(double Scores::*member) const {
        std::vector<SampleSummary> out;
        for (std::size_t c = 0; c < method_count; ++c) out.push_back(summary(c, member));
        return out;
    }
};

Measured measure(std::size_t column, const CpdUmlRequest& request, const Run& run) {
    const DataSet& set = data_sets[column];
    PointsFile file = read_data(set.data, {}, run);
    Labels truth = file.labels->labels;
    if (std::string(set.name) == "usps20") {
        const auto rows = usps20_rows(truth, run);
        Labels kept;
        for (const Index i : rows) kept.push_back(truth[static_cast<std::size_t>(i)]);
        file.points = rows_of(file.points, rows);
        truth = kept;
    }
    Measured out;
    out.set = &set;
    out.column = column;
    out.scale = scale_of(set, request.scale);
    out.points = file.points.rows();
    out.dimensions = file.points.columns();
    std::map<std::int32_t, Index> counts;
    for (const auto label : truth) out.majority = std::max(out.majority, static_cast<double>(++counts[label]));
    out.majority /= static_cast<double>(truth.size());
    const auto all = contenders(set.clusters, out.dimensions);
    for (const auto& contender : all) out.names.push_back(contender.name);
    HoldoutOptions options;
    options.runs = request.runs;
    options.select = request.select;
    options.scale = out.scale;
    Stopwatch watch;
    out.outcomes = repeated_holdout({.points = file.points}, truth, set.clusters, all, options, run);
    out.seconds = watch.seconds();
    return out;
}

// ---------------------------------------------------------------- printing

std::vector<std::size_t> numbers_from(std::size_t first, std::size_t count) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(first + i);
    return out;
}

// Rows of a ranked table: mean ± deviation (score) for every column, and the total score.
std::vector<std::vector<std::string>> ranked_rows(const std::vector<std::vector<SampleSummary>>& columns,
                                                  const std::string& prefix) {
    std::vector<std::vector<std::string>> rows;
    std::vector<std::vector<double>> scores;
    for (const auto& column : columns) scores.push_back(ranking_scores(column));
    for (std::size_t m = 0; m < method_count; ++m) {
        std::vector<std::string> row = {prefix + method_names[m]};
        double total = 0;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            row.push_back(filled("{} ({})", summary_text(columns[c][m]), fixed_text(scores[c][m], 1)));
            total += scores[c][m];
        }
        row.push_back(fixed_text(total, 1));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::vector<SampleSummary> printed_column(const PrintedTable& printed, std::size_t column) {
    std::vector<SampleSummary> out;
    for (const auto& row : printed) out.push_back({row[column].mean, row[column].deviation, published_runs});
    return out;
}

std::string tables_text(const std::vector<std::size_t>& columns, const std::vector<Measured>& measured) {
    std::string text;
    for (const auto& of : measures) {
        std::vector<std::string> header = {std::string(of.title) + ", per cent"};
        std::vector<std::vector<SampleSummary>> printed;
        for (const std::size_t column : columns) {
            header.emplace_back(data_sets[column].title);
            printed.push_back(printed_column(*of.printed, column));
        }
        header.emplace_back("score");
        std::vector<std::vector<std::string>> rows;
        if (!measured.empty()) {
            std::vector<std::vector<SampleSummary>> ours;
            for (const auto& set : measured) ours.push_back(set.ranked(of.member));
            rows = ranked_rows(ours, "");
            for (std::size_t c = method_count; c < measured[0].names.size(); ++c) {
                std::vector<std::string> row = {"  " + measured[0].names[c]};
                for (const auto& set : measured) row.push_back(summary_text(set.summary(c, of.member)));
                row.emplace_back("");
                rows.push_back(std::move(row));
            }
            if (of.member == &Scores::acc) {
                std::vector<std::string> row = {"  the largest class"};
                for (const auto& set : measured) row.push_back(fixed_text(100 * set.majority, 2));
                row.emplace_back("");
                rows.push_back(std::move(row));
            }
        }
        for (auto& row : ranked_rows(printed, "published ")) rows.push_back(std::move(row));
        text += table(header, rows, numbers_from(1, columns.size() + 1)) + "\n";
    }
    return text;
}

// || G P || / || X - mean ||: how far the chosen models move the rows.
std::string moved_text(const std::vector<Measured>& measured) {
    std::vector<std::string> header = {"size of the motion"};
    std::vector<std::vector<std::string>> rows;
    for (const auto& set : measured) header.emplace_back(set.set->title);
    for (const std::size_t c : {4, 9}) {
        std::vector<std::string> row = {method_names[c]};
        for (const auto& set : measured) {
            std::vector<double> values;
            for (const auto& outcome : set.outcomes[c]) values.push_back(outcome.moved);
            const SampleSummary sample = summary_of(values);
            row.push_back(fixed_text(sample.mean, 3) + " ± " + fixed_text(sample.deviation, 3));
        }
        rows.push_back(std::move(row));
    }
    return table(header, rows, numbers_from(1, measured.size()));
}

Json tables_json(const std::vector<Measured>& measured, const CpdUmlRequest& request) {
    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "cpd-uml";
    out["options"] = json_of(CpdUmlRequest::described(), CpdUmlRequest::described().values(&request));
    out["seed"] = request.running->seed;
    for (const auto& set : measured) {
        Json one;
        one["set"] = set.set->name;
        one["n"] = set.points;
        one["d"] = set.dimensions;
        one["clusters"] = set.set->clusters;
        one["largest_class"] = set.majority;
        one["seconds"] = set.seconds;
        for (std::size_t c = 0; c < set.names.size(); ++c) {
            Json row;
            row["name"] = set.names[c];
            for (const auto& of : measures) {
                const SampleSummary sample = set.summary(c, of.member);
                row[of.key] = summary_json(sample);
                if (c >= method_count) continue;
                const Printed& printed = (*of.printed)[c][set.column];
                row[of.key]["score"] = ranking_scores(set.ranked(of.member))[c];
                row[of.key]["published"] = {{"mean", printed.mean / 100}, {"deviation", printed.deviation / 100}};
            }
            for (const auto& outcome : set.outcomes[c]) {
                Json run;
                run["unseen"] = json_of(outcome.unseen);
                run["seen"] = json_of(outcome.seen);
                run["options"] = json_of(*find_method(outcome.method).options, outcome.options);
                run["moved"] = outcome.moved;
                run["seconds"] = outcome.seconds;
                row["runs"].push_back(std::move(run));
            }
            one["methods"].push_back(std::move(row));
        }
        out["sets"].push_back(std::move(one));
    }
    return out;
}

std::vector<std::size_t> columns_of(const std::string& sets) {
    std::vector<std::string> names;
    for (const DataSet& set : data_sets) names.emplace_back(set.name);
    return positions_of("--sets", sets, names);
}

int reproduce(const CpdUmlRequest& request) {
    const auto columns = columns_of(request.sets);
    if (request.published) {
        print(tables_text(columns, {}));
        return Exit::done;
    }
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    std::vector<Measured> measured;
    for (const std::size_t column : columns) {
        if (run.on_progress)
            run.on_progress = [&](const Progress& progress) {
                Progress said = progress;
                said.stage = data_sets[column].title;
                bar.update(said);
            };
        measured.push_back(measure(column, request, run));
    }
    bar.clear();
    if (request.running->json) {
        print(document(tables_json(measured, request)));
        return Exit::done;
    }
    std::string text = tables_text(columns, measured) + moved_text(measured) + "\n";
    for (const auto& set : measured)
        text += filled("{}: {} points, {} dimensions, k {}, {}, {} runs in {} s\n", set.set->title,
                       count_text(set.points), set.dimensions, set.set->clusters,
                       set.scale == Scale::minmax   ? "columns scaled to 0..1"
                       : set.scale == Scale::zscore ? "columns of mean 0 and variance 1"
                                                    : "not scaled",
                       request.runs, seconds_text(set.seconds));
    text +=
        "Mean ± standard deviation on the test third of the rows. (Score): 1 for each method beaten at p < 0.05 "
        "(unpaired t-test), 0.5 for each tie.\nParameters were chosen by " +
        std::string(name(request.select)) +
        (needs_truth(request.select) ? " on the training part: an oracle.\n"
                                     : " on the training part, without labels.\n");
    print(text);
    return Exit::done;
}

}  // namespace

Command reproduce_cpd_uml_command() {
    const auto request = std::make_shared<CpdUmlRequest>();
    Command command;
    command.name = "cpd-uml";
    command.summary = "the ranking tables of CPD-UML and its baselines on six real data sets";
    command.details =
        "Each run sets a random third of the rows aside as the test part. On the other rows, all methods start from "
        "the same k-means result, choose their parameters and are fitted. The models then label the test part. "
        "Below the ranked methods come controls: the whitened embedding without deformation, k-means and kernel "
        "k-means with ten restarts, and the share of the largest class.";
    command.flags = flags_of(CpdUmlRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--quiet", "--json"}));
    command.examples = {{"coterie-reproduce cpd-uml --runs 20", "all three tables"},
                        {"coterie-reproduce cpd-uml --sets ecoli,cars --runs 5 --select silhouette",
                         "two sets, parameters chosen without labels"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
