// All outputs are written in one pass over the rows. If labels go into one file or are asked for, rank 0 appends the
// labels of the other processes to its own.

#include "coterie/report/predicted_files.hpp"

#include <numeric>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/report/labels_file.hpp"
#include "coterie/report/result_table.hpp"

namespace coterie {
namespace {

// The column names of an output: the labels, the clusters or, for an embedding, the dimensions.
std::vector<std::string> output_names(const Model& model, Output output, Index columns) {
    if (output == Output::label_scores) return model.cluster_labels().names;
    if (output == Output::outlier_score) return {"outlier-score"};
    std::vector<std::string> names;
    for (Index j = 0; j < columns; ++j)
        names.push_back((output == Output::embedding ? "dimension-" : "cluster-") + std::to_string(j));
    return names;
}

}  // namespace

Output available_output(const Pipeline& pipeline, Output output) {
    if (output == Output::label_scores && !pipeline.has(output) && pipeline.has(Output::memberships))
        return Output::memberships;
    return output;
}

Predicted predict_to_files(const Pipeline& pipeline, const PreparedRows& rows, const PointsFile& file,
                           const PredictedPaths& paths, bool labels_needed, const Run& run, WriteFailures& failures) {
    const Model& model = pipeline.model();
    Communicator& communicator = run.communicator();
    const bool first = communicator.rank() == 0;
    const Index all = rows.points.rows() + static_cast<Index>(rows.left_out.size());
    const Index own = rows.own_rows(run);
    const bool in_parts = is_in_parts(paths.labels);
    const bool together = !paths.labels.empty() && !in_parts;  // all labels in one file
    std::optional<LabelsFile> labels;
    if (in_parts || (together && first))
        labels.emplace(part_of(paths.labels, communicator), in_parts ? own : all, model.cluster_labels(),
                       file.rows.get());
    Wanted wanted;
    std::vector<std::optional<PointsWriter>> writers;
    for (const auto& [output, path] : paths.outputs) {
        if (path.empty()) continue;
        const Output which = wanted.outputs.emplace_back(available_output(pipeline, output));
        const Index columns = pipeline.output_columns(which);
        writers.emplace_back(std::in_place, part_of(path, communicator), own, columns, ScalarType::float64,
                             output_names(model, which, columns));
    }
    const std::size_t asked = wanted.outputs.size();
    std::optional<ResultTable> table;
    if (!paths.table.empty()) {
        table.emplace(paths.table, file.rows.get(), file.points, file.column_names, pipeline);
        wanted.outputs.insert(wanted.outputs.end(), table->wanted().begin(), table->wanted().end());
    }
    Predicted out{std::vector<Index>(static_cast<std::size_t>(model.clusters()), 0), 0, {}, {}};
    const bool kept = labels_needed || (together && !first);
    // An output that fails is dropped, and the others continue.
    const auto attempt = [&](auto& output, auto&& act) {
        if (output && !failures.attempt([&] { act(*output); })) output.reset();
    };
    pipeline.apply(rows, wanted, run, [&](const RowResults& results) {
        for (const auto label : results.labels)
            if (label >= 0) ++out.sizes[static_cast<std::size_t>(label)];
        attempt(labels, [&](LabelsFile& to) { to.write(results.labels); });
        if (kept) out.labels.insert(out.labels.end(), results.labels.begin(), results.labels.end());
        for (std::size_t o = 0; o < writers.size(); ++o)
            attempt(writers[o], [&](PointsWriter& to) { to.write(results.outputs[o]); });
        attempt(table, [&](ResultTable& to) { to.write(results.labels, std::span(results.outputs).subspan(asked)); });
    });
    out.sizes = internal::add_up(communicator, out.sizes);
    out.noise = rows.points.rows() - std::accumulate(out.sizes.begin(), out.sizes.end(), Index{0});
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
    if (labels) out.written.emplace_back("labels", paths.labels);
    if (table) out.written.emplace_back("table", paths.table);
    std::size_t o = 0;
    for (const auto& [output, path] : paths.outputs)
        if (!path.empty() && writers[o++]) out.written.emplace_back(name(available_output(pipeline, output)), path);
    return out;
}

}  // namespace coterie
