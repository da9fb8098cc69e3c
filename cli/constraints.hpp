#pragma once
// What the flags of fit say about labels known in part, shares of labels and sizes of clusters.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "coterie/data/read.hpp"
#include "coterie/methods.hpp"

namespace coterie::cli {

struct ConstraintRequest {
    std::string partial_labels;
    std::string partial_labels_column;
    std::vector<std::string> clusters_per_label;
    std::vector<std::string> label_shares;
    std::string sizes;
    std::string pairs;

    /// UsageError when an option comes without the one it needs.
    void check() const;
};
/// The flags for what the method takes.
std::vector<Flag> constraint_flags(const Takes& takes, std::shared_ptr<ConstraintRequest> request);

/// Reads the file, or the files beside those of the points, and the values' form into the problem; whether they can be
/// met is the method's to say.
void read_constraints(const ConstraintRequest& request, const std::vector<FilePart>& points, Problem& problem,
                      const Run& run);

}  // namespace coterie::cli
