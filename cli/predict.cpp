#include "commands.hpp"
#include "common.hpp"
#include "json.hpp"
#include "model_command.hpp"
#include "table.hpp"
#include "terminal.hpp"

#include <nlohmann/json.hpp>

namespace coterie::cli {
namespace {

struct PredictRequest {
    std::string model;
    std::string points;
    std::string truth;
    std::string truth_column;
    std::string labels_out;
    std::string scores_out;
    std::shared_ptr<ReadRequest> reading = std::make_shared<ReadRequest>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

// The labels', or the clusters' where they have none.
std::vector<std::string> score_names(const Model& model) {
    std::vector<std::string> names = model.cluster_labels().names;
    if (names.empty())
        for (int k = 0; k < model.clusters(); ++k) names.push_back("cluster-" + std::to_string(k));
    return names;
}

int predict(const PredictRequest& request) {
    const bool quiet = request.running->quiet;
    const bool json = request.running->json;
    if (!request.truth_column.empty() && (request.truth.empty() || request.truth == "none"))
        throw UsageError("option --truth-column needs --truth FILE",
                         "a column of the points' own file is --label-column");
    Outputs outputs;
    for (const auto& input : {request.model, request.points, request.truth}) outputs.keep(input);
    outputs.add("--labels-out", request.labels_out, label_extensions());
    outputs.add("--scores-out", request.scores_out, {".csv", ".npy"});
    outputs.check(json);

    Run run = request.running->run();
    ProgressBar bar(!quiet && shows_progress());
    bar.attach(run);
    Seconds seconds;
    Stopwatch watch;
    const auto [model, preprocessing] = read_model(request.model);
    if (!request.scores_out.empty() && !model->has_label_scores())
        throw BadArgument("option --scores-out: " + request.model + ", a model of " + std::string(model->method()) +
                          ", has no scores; models of softmax methods (entropy, entropy-net and their rivals) have, "
                          "and those of subspace that were fitted with partial labels");
    PointsFile file = points_from(request.points, request.reading->options(), run);
    std::optional<Truth> truth;
    if (request.truth != "none") {
        if (!request.truth.empty()) {
            truth = read_truth(request.truth, request.truth_column, run);
        } else if (file.labels) {
            truth = Truth{std::move(*file.labels), request.points};
        }
    }
    seconds.emplace_back("read", watch.restart());

    std::vector<std::string> warnings;
    Index zero_rows = 0;
    const Points points = preprocessing.apply(file.points, run, &zero_rows);
    const Labels clusters = naming_points(request.points, [&] { return model->predict(points, run); });
    Matrix<double> scores;
    if (!request.scores_out.empty()) scores = model->label_scores(points, run);
    bar.clear();
    if (zero_rows > 0) warnings.push_back(zero_rows_warning(zero_rows));
    seconds.emplace_back("predict", watch.restart());

    const auto sizes = cluster_sizes(clusters, model->clusters());
    const auto groups = label_groups(model->cluster_labels(), sizes);
    const LabelColumn labels = merged_by_label(clusters, model->cluster_labels());
    std::optional<Agreement> agreement;
    if (truth) {
        agreement = compare(labels, request.points, *truth);
        if (!groups.empty() && !agreement->label_accuracy) warnings.push_back(no_name_in_common(truth->source));
    }
    if (!request.labels_out.empty()) write_labels(request.labels_out, labels.labels, labels.names);
    if (!request.scores_out.empty()) write_points(request.scores_out, scores, score_names(*model));

    if (!quiet)
        for (const auto& warning : warnings) print_warning(warning);
    if (json) {
        Json out;
        out["schema"] = 1;
        out["method"] = std::string(model->method());
        out["model"] = request.model;
        out["points"] = request.points;
        out["n"] = file.points.rows();
        out["d"] = file.points.columns();
        out["clusters"] = model->clusters();
        out["sizes"] = sizes;
        if (!groups.empty()) out["labels"] = json_of(groups, false);
        out["preprocessing"] = preprocessing.text();
        out["seconds"] = json_of(seconds);
        out["threads"] = run.threads;
        out["warnings"] = warnings;
        if (agreement) {
            out["truth"] = truth->source;
            out["scores"] = scores_json(*agreement);
            out["scored"] = agreement->scored;
        }
        print(document(out));
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {{"sizes", sizes_text(sizes)}};
    if (!groups.empty()) rows.emplace_back("labels", label_groups_text(groups, sizes));
    if (!preprocessing.identity()) rows.emplace_back("points were", preprocessing.text());
    if (agreement) rows.emplace_back("scores", scores_text(*agreement));
    rows.emplace_back("seconds",
                      "read " + seconds_text(seconds[0].second) + ", predict " + seconds_text(seconds[1].second));
    if (!request.labels_out.empty()) rows.emplace_back("labels", request.labels_out);
    if (!request.scores_out.empty()) rows.emplace_back("label scores", request.scores_out);
    print_applied(request, *model, file.points.rows(), rows, outputs);
    return Exit::done;
}

}  // namespace

Command predict_command() {
    const auto request = std::make_shared<PredictRequest>();
    Command command;
    command.name = "predict";
    command.summary = "label points with a model that coterie fit has written";
    command.details =
        "The centring and scaling of the fit are applied to the new points first. Points with a known truth are scored "
        "as well.";
    command.operands = model_operands(request);
    command.flags = read_flags(request->reading);
    command.flags.push_back(text_flag("--truth", "FILE", "labels to score against; none: no scores", "Reading",
                                      request->truth, request, Completion::file));
    command.flags.push_back(text_flag("--truth-column", "COLUMN",
                                      "the column of the --truth file, by name or number from 1", "Reading",
                                      request->truth_column, request));
    command.flags.push_back(text_flag("--labels-out", "FILE", labels_out_meaning, "Writing", request->labels_out,
                                      request, Completion::file));
    command.flags.push_back(
        text_flag("--scores-out", "FILE",
                  "write how well each label fits each point, larger is better, a column a label, "
                  "or a column a cluster of models without labels: csv under their names, npy as "
                  "float64; probabilities of softmax methods, scores of subspace with partial labels",
                  "Writing", request->scores_out, request, Completion::file));
    for (auto& flag : run_flags(request->running, {"--threads", "--quiet", "--json"}))
        command.flags.push_back(std::move(flag));
    command.examples = {
        {"coterie predict model.safetensors new.csv --labels-out labels.csv", "one label for each new row"},
        {"coterie predict model.safetensors - --labels-out - < new.csv", "from standard input to standard output"}};
    command.act = [request] { return predict(*request); };
    return command;
}

}  // namespace coterie::cli
