#pragma once
// Applies a model to rows, and writes the results to files.

#include "coterie/io/write_failures.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

/// Paths; empty: no such file. {rank} in the path of labels or an output: each process writes its rows to a separate
/// file. With several processes, paths of outputs need {rank}, and there can be no table.
struct PredictedPaths {
    std::string labels = {};
    std::string table = {};
    std::vector<std::pair<Output, std::string>> outputs = {};
};

struct Predicted {
    std::vector<Index> sizes;  // of all processes
    Index noise = 0;
    Labels labels;                                             // on rank 0, of all rows, if they were asked for
    std::vector<std::pair<std::string, std::string>> written;  // what, path
};

/// The output that is written for `output`: for label scores of a model without labels, the memberships.
Output available_output(const Pipeline& pipeline, Output output);

/// Labels the rows, and writes the requested files block by block, so that neither rows nor results need to fit into
/// memory. Opens every file before the first row, and moves it to its final name after the last. If a file cannot be
/// written, adds it to `failures`, and still writes the others. `file`: the source of the rows. `labels_needed`:
/// whether to collect all labels.
Predicted predict_to_files(const Pipeline& pipeline, const PreparedRows& rows, const PointsFile& file,
                           const PredictedPaths& paths, bool labels_needed, const Run& run, WriteFailures& failures);

}  // namespace coterie
