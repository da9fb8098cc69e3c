#pragma once
// A model applied to rows, with its results in files.

#include <string>
#include <utility>
#include <vector>

#include "coterie/io/write_failures.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

/// Paths; an empty one is not written. {rank} in the path of labels or an output: each process writes its rows to a
/// separate file. In several processes, outputs need it, and there can be no table.
struct PredictedPaths {
    std::string labels = {};
    std::string table = {};
    std::vector<std::pair<Output, std::string>> outputs = {};
};

struct Predicted {
    std::vector<Index> sizes;  // of all processes
    Index noise = 0;
    Labels labels;                                             // on rank 0, of all rows, where they were asked for
    std::vector<std::pair<std::string, std::string>> written;  // what, path
};

/// The output that stands for `output`: for label scores of a model without labels, the memberships.
Output available_output(const Pipeline& pipeline, Output output);

/// Labels the rows, and writes the requested files block by block, so that neither rows nor results need to fit into
/// memory. Opens every file before the first row, and moves it to its final name after the last. A file that fails goes
/// to `failures`, and the others are still written. `file`: the source of the rows. `labels_needed`: collect all
/// labels.
Predicted predict_to_files(const Pipeline& pipeline, const PreparedRows& rows, const PointsFile& file,
                           const PredictedPaths& paths, bool labels_needed, const Run& run, WriteFailures& failures);

}  // namespace coterie
