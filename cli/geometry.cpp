// coterie geometry: lists of names and functions define the quantities of a point. The table, the JSON document and the
// csv all come from these lists, so a new quantity is one line. A quantity that is undefined at a point is blank there,
// and is left out of the least, median and largest value. Rows keep their numbers in the file.

#include "coterie/manifold/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/load_rows.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/pipeline/preparation.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "fitting.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct GeometryRequest {
    std::string points;
    std::string labels;
    std::string labels_column;
    std::string only;
    std::string rows_out;
    std::shared_ptr<OptionValues> given = std::make_shared<OptionValues>();
    std::shared_ptr<ReadRequest> reading = std::make_shared<ReadRequest>();
    std::shared_ptr<PreparationOptions> preparing = std::make_shared<PreparationOptions>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

// The points that have a label, and which of them to examine.
struct Labelled {
    Points points;
    LabelColumn labels;
    std::string source;
    std::vector<std::string> notes;
    Index blank = 0;               // number of rows left out
    std::vector<Index> file_rows;  // numbers in the points' file
    std::vector<Index> rows;
};

Labelled read_labelled(const GeometryRequest& request, const Run& run) {
    PointsFile file = points_from(request.points, request.reading->options(), run);
    file.points = load(file.points, "coterie geometry needs all points in memory, which", run);
    Labelled out;
    out.notes = file.notes;
    out.source = request.labels;
    if (!request.labels.empty()) {
        out.labels = read_truth(request.labels, request.labels_column, run, file.parts).column;
        require_rows(out.labels.labels, "labels " + request.labels, file.points.rows(), request.points);
    } else if (file.labels) {
        out.labels = std::move(*file.labels);
        out.source = request.points;
    } else {
        throw UsageError("coterie geometry needs labels: --labels FILE, or the points' own with --label-column",
                         "labels found by coterie fit --labels-out serve as well as a truth");
    }
    const Labels all = std::move(out.labels.labels);
    out.labels.labels.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] < 0) continue;
        out.file_rows.push_back(static_cast<Index>(i));
        out.labels.labels.push_back(all[i]);
    }
    out.blank = static_cast<Index>(all.size() - out.file_rows.size());
    if (out.file_rows.empty()) throw BadData("labels " + out.source + " are blank in every row");
    out.points = out.file_rows.size() < all.size() ? rows_of(file.points, out.file_rows) : std::move(file.points);
    return out;
}

std::string label_text(const LabelColumn& labels, std::int32_t label) {
    const auto position = static_cast<std::size_t>(label);
    return position < labels.names.size() ? labels.names[position] : std::to_string(label);
}

void choose_rows(const GeometryRequest& request, Labelled& data) {
    for (std::size_t i = 0; i < data.labels.labels.size(); ++i)
        if (request.only.empty() || label_text(data.labels, data.labels.labels[i]) == request.only)
            data.rows.push_back(static_cast<Index>(i));
    if (!data.rows.empty()) return;
    std::vector<std::string> names = data.labels.names;
    if (names.size() > 20) names.resize(20);
    throw BadArgument("option --only: no point has the label '" + request.only + "'" +
                      (names.empty() ? "" : "; there are " + join(names)));
}

// A quantity that can be summarised: its name, and its value where it is defined.
struct Quantity {
    const char* name;
    std::optional<double> (*of)(const PointGeometry&);
};
std::optional<double> when(bool defined, double value) { return defined ? std::optional<double>(value) : std::nullopt; }
const std::vector<Quantity> quantities = {
    {"radius", [](const PointGeometry& p) { return when(true, p.radius); }},
    {"r_W", [](const PointGeometry& p) { return when(true, p.inradius); }},
    {"norm", [](const PointGeometry& p) { return when(true, p.norm); }},
    {"dist", [](const PointGeometry& p) { return when(true, p.distance); }},
    {"gamma_W", [](const PointGeometry& p) { return when(p.solved, p.separation); }},
    {"mu", [](const PointGeometry& p) { return when(p.solved, p.coherence); }},
    {"lambda_0", [](const PointGeometry& p) { return when(true, p.lambda_0); }},
    {"lambda_l", [](const PointGeometry& p) { return when(true, p.interval.lower); }},
    {"lambda", [](const PointGeometry& p) { return when(true, p.lambda); }},
    {"lambda_u", [](const PointGeometry& p) { return when(p.solved, p.interval.upper); }},
    {"own_reach", [](const PointGeometry& p) { return when(p.solved, p.own_reach); }},
    {"foreign_reach", [](const PointGeometry& p) { return when(p.solved, p.foreign_reach); }},
    {"foreign_share", [](const PointGeometry& p) { return when(p.solved, p.foreign_share); }},
    {"violation", [](const PointGeometry& p) { return when(p.solved, p.violation); }},
    {"dist_bound", [](const PointGeometry& p) { return p.distance_bound; }},
    {"lambda_l_curvature",
     [](const PointGeometry& p) {
         return when(p.curvature_interval.has_value(), p.curvature_interval ? p.curvature_interval->lower : 0);
     }},
    {"lambda_u_curvature",
     [](const PointGeometry& p) {
         return when(p.curvature_interval.has_value(), p.curvature_interval ? p.curvature_interval->upper : 0);
     }},
};
const std::vector<std::string> quantities_of_the_table = {"r_W", "dist", "gamma_W", "lambda_l", "lambda", "lambda_u"};

struct Property {
    const char* name;
    const char* meaning;
    bool (*of)(const PointGeometry&);
};
const std::vector<Property> properties = {
    {"separated", "gamma_W above 0 (2.8)", [](const PointGeometry& p) { return p.separated; }},
    {"near", "dist small enough (2.9)", [](const PointGeometry& p) { return p.near; }},
    {"empty_interval", "interval of lambda empty",
     [](const PointGeometry& p) { return !p.solved || p.interval.empty(); }},
    {"inside", "lambda inside its interval", [](const PointGeometry& p) { return p.inside(); }},
    {"own_condition", "the condition Lemma 1 leaves out", [](const PointGeometry& p) { return p.own_condition(); }},
    {"guaranteed", "both: what is proved", [](const PointGeometry& p) { return p.guaranteed(); }},
    {"preserving", "representation manifold preserving",
     [](const PointGeometry& p) { return p.solved && p.preserving; }},
    {"nonzero", "representation not zero", [](const PointGeometry& p) { return p.nonzero; }},
    {"full_rank", "neighbours independent (Assumption 2)", [](const PointGeometry& p) { return p.full_rank; }},
};

struct Spread {
    std::string name;
    double least, median, largest;
};
std::vector<Spread> spreads_of(const std::vector<PointGeometry>& all) {
    std::vector<Spread> out;
    for (const auto& quantity : quantities) {
        std::vector<double> values;
        for (const auto& point : all)
            if (const auto value = quantity.of(point)) values.push_back(*value);
        if (values.empty()) continue;
        std::sort(values.begin(), values.end());
        // The lower of the two middle values. Their mean may not exist where values are infinite.
        out.push_back({quantity.name, values.front(), values[(values.size() - 1) / 2], values.back()});
    }
    return out;
}

double share_of(const std::vector<PointGeometry>& all, const Property& property) {
    return static_cast<double>(std::count_if(all.begin(), all.end(), property.of)) / static_cast<double>(all.size());
}

// A field of a csv file, quoted where necessary.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

std::string rows_csv(const Labelled& data, const std::vector<PointGeometry>& all) {
    std::string out = "row,label,neighbors,others_in_ball,rank";
    for (const auto& quantity : quantities) out += std::string(",") + quantity.name;
    for (const auto& property : properties) out += std::string(",") + property.name;
    out += "\n";
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto row = static_cast<std::size_t>(data.rows[i]);
        const PointGeometry& point = all[i];
        out += std::to_string(data.file_rows[row] + 1) + "," +
               quoted(label_text(data.labels, data.labels.labels[row])) + "," + std::to_string(point.neighbors.size()) +
               "," + std::to_string(point.others_in_ball) + "," + std::to_string(point.rank);
        for (const auto& quantity : quantities) {
            out += ",";
            if (const auto value = quantity.of(point))
                out += formatted("%.17g", *value);  // with all digits, so that programs read back the same value
        }
        for (const auto& property : properties) out += property.of(point) ? ",1" : ",0";
        out += "\n";
    }
    return out;
}

Json rows_json(const Labelled& data, const std::vector<PointGeometry>& all) {
    Json out = Json::array();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto row = static_cast<std::size_t>(data.rows[i]);
        const PointGeometry& point = all[i];
        Json one;
        one["row"] = data.file_rows[row] + 1;
        one["label"] = label_text(data.labels, data.labels.labels[row]);
        for (const Index j : point.neighbors)
            one["neighbors"].push_back(data.file_rows[static_cast<std::size_t>(j)] + 1);
        one["others_in_ball"] = point.others_in_ball;
        one["rank"] = point.rank;
        one["solved"] = point.solved;
        for (const auto& quantity : quantities)
            if (const auto value = quantity.of(point)) one[quantity.name] = *value;
        for (const auto& property : properties) one[property.name] = property.of(point);
        out.push_back(std::move(one));
    }
    return out;
}

GeometryOptions options_of(const GeometryRequest& request) {
    const OptionValues& given = *request.given;
    if (!given.contains("dim"))
        throw UsageError("coterie geometry needs the manifolds' dimension: --dim", "curves have 1, surfaces 2");
    for (const char* other : {"multiple", "unit"})
        if (given.contains("lambda") && given.contains(other))
            throw UsageError(std::string("options --lambda and --") + other + " both say what lambda is",
                             "--lambda is lambda itself, --multiple is in its --unit");
    if (given.contains("reach") && !given.contains("curvature"))
        throw UsageError("option --reach needs --curvature", "Lemmas 2 and 3 use both");
    GeometryOptions options;
    GeometryOptions::described().assign(&options, given);
    return options;
}

// Names the label. The library knows only its own row numbers, which differ from the file's where some rows have no
// label.
void require_enough(const Labelled& data, const GeometryOptions& options) {
    const Labels& labels = data.labels.labels;
    std::map<std::int32_t, Index> counts;
    for (const auto label : labels) ++counts[label];
    for (const Index row : data.rows) {
        const std::int32_t label = labels[static_cast<std::size_t>(row)];
        const Index count = counts[label];
        if (count < options.dim + 2)
            throw BadData("label '" + label_text(data.labels, label) + "' has " + std::to_string(count) +
                          (count == 1 ? " point" : " points") + ", dimension " + std::to_string(options.dim) +
                          " needs " + std::to_string(options.dim + 2) + "; --only looks at one label");
    }
}

int describe_geometry(const GeometryRequest& request) {
    const GeometryOptions options = options_of(request);
    if (!request.labels_column.empty() && request.labels.empty())
        throw UsageError("option --labels-column needs --labels FILE",
                         "a column of the points' own file is --label-column");
    Outputs outputs;
    outputs.keep(request.points);
    outputs.keep(request.labels);
    outputs.add("--rows-out", request.rows_out, {".csv"});
    outputs.check(request.running->json);
    Run run = request.running->run();
    Stopwatch watch;
    Labelled data = read_labelled(request, run);
    choose_rows(request, data);
    require_enough(data, options);
    const Preparation preprocessing = Preparation::fit(data.points, *request.preparing, run);
    Index zero_rows = 0;
    data.points = preprocessing.apply(data.points, run, &zero_rows);
    std::vector<std::string> warnings = data.notes;
    const auto warn = [&](const std::string& warning) { warnings.push_back(warning); };
    for (const auto& warning : with_flags(preprocessing.warnings())) warn(warning);
    if (zero_rows > 0) warn(Preparation::zero_rows_warning(zero_rows));
    if (data.blank > 0)
        warn(count_text(data.blank) + " of " + count_text(data.blank + data.points.rows()) +
             " rows have no label and are left out");
    Seconds seconds = {{"read", watch.restart()}};

    std::vector<PointGeometry> all;
    {
        ProgressBar bar(run, request.running->quiet);
        const InterruptGuard guard;
        run.should_stop = InterruptGuard::interrupted;
        all = geometry(data.points, data.labels.labels, data.rows, options, run);
    }
    seconds.emplace_back("geometry", watch.restart());
    const auto inexact = std::count_if(all.begin(), all.end(),
                                       [](const PointGeometry& p) { return p.solved && !(p.violation <= 1e-6); });
    if (inexact > 0)
        warn("at " + count_text(inexact) + " of " + count_text(static_cast<Index>(all.size())) +
             " points rounding leaves a violation of the optimality conditions above 1e-6 (\"violation\"): "
             "whether their representations are preserving or zero is not certain; lower lambda");
    if (!request.running->quiet)
        for (const auto& warning : warnings) print_warning(warning);
    if (!request.rows_out.empty()) write_file(request.rows_out, rows_csv(data, all));

    Labels classes = data.labels.labels;
    std::sort(classes.begin(), classes.end());
    classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
    const std::vector<Spread> spreads = spreads_of(all);
    if (request.running->json) {
        Json out;
        out["schema"] = 1;
        out["points"] = request.points;
        out["labels"] = data.source;
        out["warnings"] = warnings;
        out["options"] = json_of(GeometryOptions::described(), GeometryOptions::described().values(&options));
        out["preprocessing"] = preprocessing.text();
        out["n"] = data.points.rows();
        out["d"] = data.points.columns();
        out["classes"] = classes.size();
        out["looked_at"] = all.size();
        for (const auto& property : properties) out["shares"][property.name] = share_of(all, property);
        for (const auto& spread : spreads)
            out["quantities"][spread.name] = {
                {"least", spread.least}, {"median", spread.median}, {"largest", spread.largest}};
        out["rows"] = rows_json(data, all);
        out["seconds"] = json_of(seconds);
        out["threads"] = run.threads;
        print(document(out));
        return Exit::done;
    }
    std::vector<std::vector<std::string>> shares;
    for (const auto& property : properties) shares.push_back({property.meaning, share_text(share_of(all, property))});
    std::vector<std::vector<std::string>> rows;
    for (const auto& spread : spreads)
        if (std::find(quantities_of_the_table.begin(), quantities_of_the_table.end(), spread.name) !=
            quantities_of_the_table.end())
            rows.push_back(
                {spread.name, number_text(spread.least), number_text(spread.median), number_text(spread.largest)});
    print_result(count_text(static_cast<long long>(all.size())) + " of " + count_text(data.points.rows()) +
                     " points of " + request.points + ", " + count_text(data.points.columns()) + " dimensions, " +
                     std::to_string(classes.size()) + (classes.size() == 1 ? " class" : " classes") + " of dimension " +
                     std::to_string(options.dim) + "\n\n" + table({"", "share"}, shares, {1}) + "\n" +
                     table({"", "least", "median", "largest"}, rows, {1, 2, 3}),
                 outputs);
    return Exit::done;
}

}  // namespace

Command geometry_command() {
    const auto request = std::make_shared<GeometryRequest>();
    Command command;
    command.name = "geometry";
    command.summary = "ask what geometry promises about sparse representations";
    command.details =
        "For each point and the labels given, true or found: the nearest points of its manifold, the inradius r_W that "
        "they span, the distance of the point from their affine hull, the separation gamma_W from other manifolds, and "
        "the interval (lambda_l, lambda_u) of lambda in which Lemma 1 of weighted manifold clustering says that the "
        "point's representation uses points of its own manifold only. Next to it stand a condition that the "
        "lemma's proof leaves out, without which it is false, and the representation itself, solved exactly. Weights "
        "have sum 1 over the points (equal: 1 each), and lambda is relative to them.";
    command.operands = {points_operand(request->points, request)};
    command.flags = flags_of(GeometryOptions::described(), "Geometry", request->given);
    flag_named(command.flags, "--dim").standard = "";
    command.flags.push_back(
        text_flag("--only", "LABEL", "look at the points of this label only", "Geometry", request->only, request));
    command.flags.push_back(text_flag("--labels", "FILE",
                                      "the manifold of each point, one label per row in any format, or data:NAME; rows "
                                      "without a label are left out; the label column or the data set's own truth "
                                      "serve when it is not given",
                                      "Reading", request->labels, request, Completion::points));
    command.flags.push_back(text_flag("--labels-column", "COLUMN", "the column of LABELS, by name or number from 1",
                                      "Reading", request->labels_column, request));
    append(command.flags, read_flags(request->reading));
    append(command.flags,
           flags_of(PreparationOptions::described(), "Preparing", std::static_pointer_cast<void>(request->preparing)));
    command.flags.push_back(text_flag("--rows-out", "FILE.csv", "write every quantity of every point", "Writing",
                                      request->rows_out, request, Completion::file));
    append(command.flags, run_flags(request->running, {"--threads", "--quiet", "--json"}));
    command.examples = {{"coterie geometry data:digits --dim 2 --only 3", "the points of one class of the digits"},
                        {"coterie geometry curves.csv --labels found.csv --dim 1 --rows-out rows.csv",
                         "curves by labels that were found, a table of every point"}};
    command.act = [request] { return describe_geometry(*request); };
    return command;
}

}  // namespace coterie::cli
