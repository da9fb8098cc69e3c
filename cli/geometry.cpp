// coterie geometry: reads rows and the labels that say which manifold each belongs to, and chooses the rows to examine.

#include "coterie/report/geometry_document.hpp"

#include <map>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/load_rows.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie::cli {
namespace {

struct GeometryRequest {
    std::string points;
    std::string labels;
    std::string labels_column;
    std::string only;
    std::string rows_out;
    OptionValues given;
    ReadRequest reading;
    PreparationOptions preparing;
    RunRequest running;
};

// The points that have a label. `result` gets their labels, and the numbers of those to examine.
struct Labelled {
    Points points;
    Index blank = 0;  // number of rows left out
    GeometryResult result;
};

Labelled read_labelled(const GeometryRequest& request, const Run& run) {
    PointsFile file = points_from(request.points, request.reading.options(), run);
    file.points = load(file.points, "coterie geometry needs all rows in memory, which", run);
    Labelled out;
    GeometryResult& result = out.result;
    result.source = request.points;
    result.labels_source = request.labels;
    result.warnings = file.notes;
    if (!request.labels.empty()) {
        result.labels = read_truth(request.labels, request.labels_column, run, file.parts).column;
        require_rows(result.labels.labels, "labels " + request.labels, file.points.rows(), request.points);
    } else if (file.labels) {
        result.labels = std::move(*file.labels);
        result.labels_source = request.points;
    } else {
        require_given(false, "labels", "the labels of the rows are missing",
                      "Use --labels FILE, or `label_column` for a column of the data file. The labels may be a truth "
                      "or those that coterie fit found");
    }
    const Labels all = std::exchange(result.labels.labels, {});
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] < 0) continue;
        result.file_rows.push_back(static_cast<Index>(i));
        result.labels.labels.push_back(all[i]);
    }
    out.blank = static_cast<Index>(all.size() - result.file_rows.size());
    if (result.file_rows.empty())
        throw BadData(Code::empty, "no row has a label", "Name a file or column with labels",
                      {.file = source_name(result.labels_source)});
    out.points = out.blank > 0 ? rows_of(file.points, result.file_rows) : std::move(file.points);
    return out;
}

void choose_rows(const GeometryRequest& request, GeometryResult& result) {
    const LabelColumn& labels = result.labels;
    for (std::size_t i = 0; i < labels.labels.size(); ++i)
        if (request.only.empty() || result.label_text(labels.labels[i]) == request.only)
            result.rows.push_back(static_cast<Index>(i));
    if (!result.rows.empty()) return;
    std::vector<std::string> names = labels.names;
    if (names.size() > 20) names.resize(20);
    throw BadArgument(Code::unknown_name, "no row has the label '" + request.only + "'",
                      names.empty() ? "" : "Use one of " + join(names),
                      {.option = "only", .value = request.only, .accepted = join(names)});
}

GeometryOptions options_of(const GeometryRequest& request) {
    const OptionValues& given = request.given;
    require_given(given.contains("dim"), "dim", "the dimension of the manifolds is missing",
                  "Use --dim 1 for curves, --dim 2 for surfaces");
    for (const char* other : {"multiple", "unit"})
        if (given.contains("lambda") && given.contains(other))
            throw BadArgument(
                Code::conflict, filled("cannot be combined with `{}`, because each of them sets lambda", other),
                "Use `lambda` for its value, or `multiple` and `unit` for a multiple of a unit", {.option = "lambda"});
    require_given(!given.contains("reach") || given.contains("curvature"), "reach", "needs `curvature`",
                  "Give both, because Lemmas 2 and 3 use both");
    GeometryOptions options;
    GeometryOptions::described().assign(&options, given);
    return options;
}

// Throws BadData that names the label. The library's message would have row numbers that differ from those of the file
// if some rows have no label.
void require_enough(const GeometryResult& result) {
    const Labels& labels = result.labels.labels;
    std::map<std::int32_t, Index> counts;
    for (const auto label : labels) ++counts[label];
    const int needed = result.options.dim + 2;
    for (const Index row : result.rows)
        if (const std::int32_t label = labels[at(row)]; counts[label] < needed)
            throw BadData(Code::too_few_rows,
                          filled("label '{}' has {}, but dimension {} needs at least {}", result.label_text(label),
                                 counted(counts[label], "row"), result.options.dim, needed),
                          "Use --only to examine one label");
}

int describe_geometry(const GeometryRequest& request) {
    const GeometryOptions options = options_of(request);
    require_given(request.labels_column.empty() || !request.labels.empty(), "labels_column", "needs --labels FILE",
                  "Use `label_column` if the labels are a column of the data file");
    const OutputPaths outputs =
        check_outputs(request.running, {request.points, request.labels}, {{"rows_out", request.rows_out, {".csv"}}});
    Run run = request.running.run();
    Stopwatch watch;
    Labelled data = read_labelled(request, run);
    GeometryResult& result = data.result;
    result.options = options;
    result.threads = run.threads;
    choose_rows(request, result);
    require_enough(result);
    const Preparation preprocessing = Preparation::fit(data.points, request.preparing, run);
    result.preprocessing = preprocessing.text();
    Index zero_rows = 0;
    const Points points = preprocessing.apply(data.points, run, &zero_rows);
    result.dimensions = points.columns();
    const auto warn = [&](const Message& warning) { result.warnings.push_back(warning); };
    for (const auto& warning : preprocessing.warnings()) warn(warning);
    if (zero_rows > 0) warn(Preparation::zero_rows_warning(zero_rows));
    if (data.blank > 0)
        warn({.code = Code::rows_left_out,
              .problem = count_text(data.blank) + " of " + count_text(data.blank + points.rows()) +
                         " rows have no label and were left out"});
    result.seconds = {{"read", watch.restart()}};
    {
        ProgressBar bar(run, request.running.quiet);
        const InterruptGuard guard(run);
        result.geometry = geometry(points, result.labels.labels, result.rows, options, run);
    }
    result.seconds.emplace_back("geometry", watch.restart());
    if (const auto warning = inexact_rows_warning(result.geometry)) warn(*warning);
    print_warnings(result.warnings, request.running);
    if (!request.rows_out.empty()) write_file(request.rows_out, rows_csv(result));
    return print_document(request.running, outputs, result);
}

}  // namespace

Command geometry_command() {
    const auto request = std::make_shared<GeometryRequest>();
    Command command = command_of(
        request, "geometry", "check when sparse representations stay on their manifold",
        "The labels, true or found, say which manifold each row belongs to. For each row, finds the nearest rows of "
        "its manifold, and measures the inradius r_W that they span, the row's distance dist from their affine hull, "
        "the separation gamma_W from other manifolds, and an interval (lambda_l, lambda_u). Lemma 1 of weighted "
        "manifold clustering says: if lambda is in this interval, the row is represented only by rows of the same "
        "manifold. The proof of the lemma omits a condition; without it, the lemma is false. Also reports whether the "
        "condition holds, and the exact representation. The weights of the rows sum to 1 (with --weights equal, each "
        "is 1), and lambda refers to these weights.",
        describe_geometry);
    command.operands = {points_operand(request->points, request)};
    command.flags =
        FlagList(request)
            .options("Geometry", GeometryOptions::described(), request->given)
            .text("--only", "LABEL", "examine only the rows with this label", "Geometry", request->only)
            .text("--labels", "FILE",
                  "file with the manifold of each row, one label per row in any format, or data:NAME; rows without a "
                  "label are left out; default: the --label-column, or the truth of the data set",
                  "Reading", request->labels, Completion::points)
            .text("--labels-column", "COLUMN", "column of the --labels file: its name, or its number counted from 1",
                  "Reading", request->labels_column)
            .reading(request->reading)
            .options("Preparing", request->preparing)
            .file("--rows-out", "FILE.csv", "write every quantity of each row", "Writing", request->rows_out)
            .running(request->running, {"--threads", "--quiet", "--json"});
    flag_named(command.flags, "--dim").standard = "";
    command.examples = {{"coterie geometry data:digits --dim 2 --only 3", "the rows of one class of the digits"},
                        {"coterie geometry curves.csv --labels found.csv --dim 1 --rows-out rows.csv",
                         "curves with labels that a fit found, and a table of all rows"}};
    return command;
}

}  // namespace coterie::cli
