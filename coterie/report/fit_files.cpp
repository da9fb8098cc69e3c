// Rank 0 appends the labels of the other processes to its own. The page is written last, and lists itself.

#include "coterie/report/fit_files.hpp"

#include "coterie/io/output_file.hpp"
#include "coterie/report/labels_file.hpp"
#include "coterie/report/map.hpp"
#include "coterie/report/page.hpp"
#include "coterie/report/picture.hpp"
#include "coterie/report/result_table.hpp"

namespace coterie {

FitLabels write_fit_labels(const Pipeline& pipeline, const std::string& path, bool needed, const TableRows* ids,
                           const Run& run, WriteFailures& failures) {
    Communicator& communicator = run.communicator();
    const bool first = communicator.rank() == 0;
    const bool in_parts = is_in_parts(path);
    const Labels& own = pipeline.labels();
    FitLabels labels{first && needed ? own : Labels(), !path.empty()};
    std::optional<LabelsFile> file;
    const auto to_file = [&](auto&& act) {
        if (labels.written) labels.written = failures.attempt(act);
        if (!labels.written) file.reset();
    };
    if (!path.empty() && (in_parts || first))
        to_file([&] {
            const auto all = pipeline.fit_report().points + static_cast<Index>(pipeline.left_out().size());
            file.emplace(part_of(path, communicator), in_parts ? static_cast<Index>(own.size()) : all,
                         pipeline.model().cluster_labels(), ids);
            file->write(own);
        });
    if (needed || (!path.empty() && !in_parts))
        take_from_others(communicator, own, [&](std::span<const std::int32_t> some) {
            if (needed) labels.all.insert(labels.all.end(), some.begin(), some.end());
            if (file && !in_parts) to_file([&] { file->write(some); });
        });
    if (file) to_file([&] { file->commit(); });
    return labels;
}

void write_fit_files(const FitPaths& paths, const Pipeline& pipeline, const FitDetails& details, const Run& run,
                     FitResult& result, WriteFailures& failures) {
    const auto attempt = [&](const char* what, const std::string& path, auto&& write) {
        if (!path.empty() && failures.attempt(write)) result.written.emplace_back(what, path);
    };
    attempt("table", paths.table, [&] {
        write_result_table(paths.table, details.rows, details.problem.points, details.problem.column_names, pipeline,
                           run);
    });
    attempt("model", paths.model, [&] { pipeline.save(paths.model); });
    if (!paths.draws()) return;
    Stopwatch watch;
    std::string picture, map;
    const bool drawn = failures.attempt([&] {
        picture = fit_picture(pipeline, result, run);
        if (!paths.page.empty())
            map = page_map(pipeline, result, pipeline.fitted_rows(), details.truth, run, details.rows);
    });
    result.seconds.emplace_back("draw", watch.seconds());
    if (!drawn) return;
    attempt("picture", paths.picture, [&] { write_file(paths.picture, picture); });
    if (paths.page.empty()) return;
    result.written.emplace_back("report", paths.page);
    if (!failures.attempt([&] {
            write_file(paths.page, html_document(result, picture, details.name_of_option, map, details.search));
        }))
        result.written.pop_back();
}

}  // namespace coterie
