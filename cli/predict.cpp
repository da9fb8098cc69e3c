// coterie predict: labels and other outputs of the model for new rows. The requested outputs are checked before points
// are read. Rows are labelled and written block by block, so neither rows nor results need to fit into memory. Files
// get their final names only when all of them are complete. The outputs are a list over Output; flags, column names and
// messages follow from it.

#include <algorithm>
#include <numeric>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/pipeline/description.hpp"
#include "labels_file.hpp"
#include "model_command.hpp"
#include "result_table.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct PredictRequest : ModelRequest {
    std::string truth;
    std::string truth_column;
    std::string labels_out;
    std::string table_out;
    std::vector<std::pair<Output, std::string>> outputs = {{Output::embedding, {}},
                                                           {Output::memberships, {}},
                                                           {Output::label_scores, {}},
                                                           {Output::distances, {}},
                                                           {Output::outlier_score, {}}};
};

// The column names of an output: the labels, the clusters or, for an embedding, the dimensions.
std::vector<std::string> column_names(const Model& model, Output output, Index columns) {
    if (output == Output::label_scores) return model.cluster_labels().names;
    if (output == Output::outlier_score) return {"outlier-score"};
    std::vector<std::string> names;
    for (Index j = 0; j < columns; ++j)
        names.push_back((output == Output::embedding ? "dimension-" : "cluster-") + std::to_string(j));
    return names;
}

std::string flag_of(Output output) {
    if (output == Output::label_scores) return "--scores-out";
    if (output == Output::outlier_score) return "--outlier-scores-out";
    return "--" + std::string(name(output)) + "-out";
}

// --scores-out writes label scores or, for a model without labels, the memberships.
Output wanted_of(const Pipeline& pipeline, Output output) {
    if (output == Output::label_scores && !pipeline.has(output) && pipeline.has(Output::memberships))
        return Output::memberships;
    return output;
}

void require_outputs(const PredictRequest& request, const Pipeline& pipeline) {
    std::string there;
    for (int o = 0; o < output_count; ++o)
        if (pipeline.has(static_cast<Output>(o)))
            there += (there.empty() ? "" : ", ") + flag_of(static_cast<Output>(o));
    for (const auto& [output, path] : request.outputs)
        if (!path.empty() && !pipeline.has(wanted_of(pipeline, output)))
            throw BadArgument(Code::not_supported,
                              request.model + ", a model of " + std::string(pipeline.model().method()) + ", has no " +
                                  (output == Output::label_scores ? "scores" : std::string(name(output))),
                              there.empty() ? "" : "This model accepts " + there,
                              {.option = option_of_flag(flag_of(output)), .accepted = there});
}

// What the printed table shows. On rank 0, `labels` has the labels of all points where they are needed.
struct Predicted {
    std::vector<Index> sizes;
    Index noise = 0;
    Labels labels;
    std::vector<std::pair<std::string, std::string>> written;
};

// Opens every file before the first row, and moves it to its final name after the last.
Predicted predict_and_write(const PredictRequest& request, const Pipeline& pipeline, const PreparedRows& rows,
                            const PointsFile& file, bool labels_needed, const Run& run, Failures& failures) {
    const Model& model = pipeline.model();
    Communicator& communicator = run.communicator();
    const bool first = communicator.rank() == 0;
    const Index all = rows.points.rows() + static_cast<Index>(rows.left_out.size());
    const Index own = rows.own_rows(run);
    const bool in_parts = is_in_parts(request.labels_out);
    const bool together = !request.labels_out.empty() && !in_parts;  // all labels in one file
    std::optional<LabelsFile> labels;
    if (in_parts || (together && first))
        labels.emplace(part_of(request.labels_out, communicator), in_parts ? own : all, model.cluster_labels(),
                       file.rows.get());
    Wanted wanted;
    std::vector<std::optional<PointsWriter>> writers;
    for (const auto& [output, path] : request.outputs) {
        if (path.empty()) continue;
        if (communicator.size() > 1 && !is_in_parts(path))
            throw BadArgument(Code::not_supported, "several processes cannot write to one file, " + path,
                              "Name a file for each of them, such as part-{rank}.npy",
                              {.option = option_of_flag(flag_of(output)), .value = path});
        const Output which = wanted.outputs.emplace_back(wanted_of(pipeline, output));
        const Index columns = pipeline.output_columns(which);
        writers.emplace_back(std::in_place, part_of(path, communicator), own, columns, ScalarType::float64,
                             column_names(model, which, columns));
    }
    const std::size_t asked = wanted.outputs.size();
    std::optional<ResultTable> table;
    if (!request.table_out.empty()) {
        require_one_process_for_table(run);
        table.emplace(request.table_out, file.rows.get(), file.points, file.column_names, pipeline);
        wanted.outputs.insert(wanted.outputs.end(), table->wanted().begin(), table->wanted().end());
    }
    Predicted out{std::vector<Index>(static_cast<std::size_t>(model.clusters()), 0), 0, {}, {}};
    const bool kept = labels_needed || (together && !first);
    // An output that fails is dropped, and the others continue.
    const auto attempt = [&](auto& output, auto&& act) {
        if (output && !failures.attempt([&] { act(*output); })) output.reset();
    };
    naming_points(request.points, [&] {
        pipeline.apply(rows, wanted, run, [&](const RowResults& results) {
            for (const auto label : results.labels)
                if (label >= 0) ++out.sizes[static_cast<std::size_t>(label)];
            attempt(labels, [&](LabelsFile& to) { to.write(results.labels); });
            if (kept) out.labels.insert(out.labels.end(), results.labels.begin(), results.labels.end());
            for (std::size_t o = 0; o < writers.size(); ++o)
                attempt(writers[o], [&](PointsWriter& to) { to.write(results.outputs[o]); });
            attempt(table,
                    [&](ResultTable& to) { to.write(results.labels, std::span(results.outputs).subspan(asked)); });
        });
    });
    out.sizes = internal::add_up(communicator, out.sizes);
    out.noise = std::accumulate(out.sizes.begin(), out.sizes.end(), rows.points.rows(),
                                [](Index left, Index size) { return left - size; });
    if (labels_needed || together) {
        const Labels mine = first ? Labels() : std::move(out.labels);
        take_from_others(communicator, mine, [&](std::span<const std::int32_t> some) {
            if (labels_needed) out.labels.insert(out.labels.end(), some.begin(), some.end());
            if (together) attempt(labels, [&](LabelsFile& to) { to.write(some); });
        });
    }
    attempt(labels, [](LabelsFile& to) { to.commit(); });
    for (auto& writer : writers) attempt(writer, [](PointsWriter& to) { to.commit(); });
    attempt(table, [](ResultTable& to) { to.commit(); });
    if (labels) out.written.emplace_back("labels", request.labels_out);
    if (table) out.written.emplace_back("table", request.table_out);
    std::size_t o = 0;
    for (const auto& [output, path] : request.outputs)
        if (!path.empty() && writers[o++]) out.written.emplace_back(name(wanted_of(pipeline, output)), path);
    return out;
}

int predict(const PredictRequest& request) {
    require_truth(request.truth, request.truth_column);
    Outputs outputs;
    for (const auto& input : {request.model, request.points, request.truth}) outputs.keep(input);
    outputs.add("--labels-out", request.labels_out, label_extensions());
    outputs.add("--table-out", request.table_out, table_extensions());
    for (const auto& [output, path] : request.outputs) outputs.add(flag_of(output), path, {".csv", ".npy"});
    outputs.check(request.running->json);
    request.reading->scratch_folder = outputs.folder();

    Run run = request.running->run_in_processes();
    ProgressBar bar(run, request.running->quiet);
    Seconds seconds;
    Stopwatch watch;
    std::optional<Pipeline> loaded;
    PointsFile file;
    std::optional<Truth> truth;
    internal::together(run.communicator(), [&] {
        loaded = Pipeline::load(request.model);
        require_outputs(request, *loaded);
        file = points_for(*loaded, request, run, !request.table_out.empty());
        if (request.truth == "none") return;
        if (!request.truth.empty()) {
            truth = read_truth(request.truth, request.truth_column, run, file.parts);
        } else if (file.labels) {
            truth = Truth{std::move(*file.labels), request.points};
        }
    });
    const Pipeline& pipeline = *loaded;
    seconds.emplace_back("read", watch.restart());

    const PreparedRows rows = prepared_for(pipeline, request, file, run);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    Failures failures;
    const Predicted predicted = predict_and_write(request, pipeline, rows, file, truth.has_value(), run, failures);
    // Rows that are read in blocks are not read a second time for a warning. describe also gives this warning.
    std::optional<Message> far;
    if (rows.points.resident()) far = far_rows_warning(pipeline, rows, run);
    if (run.communicator().rank() > 0) {  // rank 0 prints
        failures.rethrow();
        return Exit::done;
    }
    bar.clear();
    seconds.emplace_back("predict", watch.restart());

    AppliedResult result = predict_result(pipeline, predicted.sizes, predicted.labels, request.points, truth,
                                          predicted.noise, rows.left_out);
    result.seconds = seconds;
    result.written = predicted.written;
    complete(result, request, file, rows, run);
    if (far) result.warnings.push_back(std::move(*far));
    tell_applied(result, request, outputs);
    failures.rethrow();
    return Exit::done;
}

}  // namespace

Command predict_command() {
    const auto request = std::make_shared<PredictRequest>();
    Command command;
    command.name = "predict";
    command.summary = "label new rows with a saved model";
    command.details =
        "Applies the centring and scaling of the fit to the new rows, then labels them. If the truth is known, also "
        "prints scores.";
    command.operands = model_operands(request);
    command.flags = read_flags(request->reading);
    command.flags.push_back(text_flag("--truth", "FILE", "labels to score against; none: no scores", "Reading",
                                      request->truth, request, Completion::file));
    command.flags.push_back(text_flag("--truth-column", "COLUMN",
                                      "column of the --truth file: its name, or its number counted from 1", "Reading",
                                      request->truth_column, request));
    command.flags.push_back(text_flag("--labels-out", "FILE", labels_out_meaning, "Writing", request->labels_out,
                                      request, Completion::file));
    command.flags.push_back(
        text_flag("--table-out", "FILE", table_out_meaning, "Writing", request->table_out, request, Completion::file));
    for (auto& [output, path] : request->outputs)
        command.flags.push_back(
            text_flag(flag_of(output), "FILE",
                      "write " + std::string(meaning(output)) +
                          (output == Output::label_scores ? "; for models without labels, the memberships" : "") +
                          "; one line per row: csv with column names, or npy with float64 numbers",
                      "Writing", path, request, Completion::file));
    append(command.flags, run_flags(request->running, {"--threads", "--memory", "--device", "--quiet", "--json"}));
    command.examples = {
        {"coterie predict model.safetensors new.csv --labels-out labels.csv", "one label for each new row"},
        {"coterie predict model.safetensors - --labels-out - < new.csv", "from standard input to standard output"}};
    command.act = [request] { return predict(*request); };
    return command;
}

}  // namespace coterie::cli
