#pragma once
// The constraint flags of fit: partial labels, shares of labels, sizes of clusters, pairs of rows.

#include "coterie/data/read.hpp"
#include "coterie/methods.hpp"
#include "flags.hpp"

namespace coterie::cli {

struct ConstraintRequest {
    std::string partial_labels;
    std::string partial_labels_column;
    std::vector<std::string> clusters_per_label;
    std::vector<std::string> label_shares;
    std::string sizes;
    std::string pairs;

    /// Throws BadArgument when an option needs another one that is missing.
    void check() const;
};
/// The flags for the constraints that the method takes.
std::vector<Flag> constraint_flags(const Takes& takes, std::shared_ptr<ConstraintRequest> request);

/// Reads the labels file (or one labels file for each file of points) and the values into the problem, and checks their
/// form. The method checks whether the constraints can be met.
void read_constraints(const ConstraintRequest& request, const std::vector<FilePart>& points, Problem& problem,
                      const Run& run);

}  // namespace coterie::cli
