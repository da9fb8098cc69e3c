#pragma once
// The files of a fit: labels, table, model, picture and page.

#include "coterie/io/write_failures.hpp"
#include "coterie/report/document.hpp"

namespace coterie {

/// An empty path: no such file. {rank} in the path of the labels: each process writes its rows to a separate file.
struct FitPaths {
    std::string labels;
    std::string table;
    std::string model;
    std::string picture;
    std::string page;

    bool draws() const { return !picture.empty() || !page.empty(); }
};

struct FitLabels {
    Labels all;  // on rank 0, of all rows, if they are needed
    bool written = false;
};
/// All processes call this. `needed`: whether to collect the labels of all rows. `ids`: as in LabelsWriter.
FitLabels write_fit_labels(const Pipeline& pipeline, const std::string& path, bool needed, const TableRows* ids,
                           const Run& run, WriteFailures& failures);

/// What the files show apart from the result.
struct FitDetails {
    const Problem& problem;
    const std::optional<Truth>& truth;
    const TableRows* rows = nullptr;  // of the points' file, or nullptr
    std::function<std::string(std::string_view)> name_of_option = {};
    std::string search = {};  // as in html_document()
};
/// Writes all files but the labels. Adds the written files and the seconds of drawing to the result. If a file cannot
/// be written, adds it to `failures`, and still writes the others.
void write_fit_files(const FitPaths& paths, const Pipeline& pipeline, const FitDetails& details, const Run& run,
                     FitResult& result, WriteFailures& failures);

}  // namespace coterie
