// A search draws rows, rejects input that its fits do not accept, and gives each task its own run. A task has one
// thread, because several tasks run at once.

#include "coterie/selection/internal/many_fits.hpp"

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"

namespace coterie::selection::internal {

Points rows_in_memory(const Points& points, const std::vector<Index>& rows, const Run& run) {
    if (!points.resident()) return coterie::internal::gather_rows(points, rows, run);
    return static_cast<Index>(rows.size()) == points.rows() ? points : rows_of(points, rows);
}

void require_points_alone(const std::string& what, const Problem& problem, const Run& run) {
    const auto unsupported = [&](const std::string& needs, const std::string& option) {
        throw BadArgument(Code::not_supported, what + " " + needs, "", {.option = option});
    };
    const auto conflict = [&](const std::string& option) {
        throw BadArgument(Code::conflict, what + " cannot be combined with `" + option + "`", "Leave one out",
                          {.option = option});
    };
    if (problem.graph) unsupported("needs rows, not affinities", "graph");
    if (as_sparse(problem.points) != nullptr) unsupported("does not support sparse rows", "points");
    if (run.communicator().size() > 1) unsupported("works in one process only", "");
    if (!problem.weights.empty()) conflict("weights");
    if (!problem.initial_centroids.empty()) conflict("initial_centroids");
    if (!problem.partial_labels.empty()) conflict("partial_labels");
    if (!problem.label_shares.empty()) conflict("label_share");
    if (!problem.must_links.empty() || !problem.cannot_links.empty()) conflict("pairs");
    if (problem.sizes) conflict("sizes");
    if (!run.checkpoint.empty()) conflict("checkpoint");
}

void require_truth_per_row(Index rows, LabelSpan truth) {
    if (static_cast<Index>(truth.size()) != rows)
        throw BadArgument(Code::wrong_shape, "the truth has " + counted(truth.size(), "label") +
                                                 ", but the data have " + counted(rows, "row"));
}

Run part_of(const Run& run, std::string_view purpose, Index index) {
    Run out = run.child(purpose, static_cast<std::uint64_t>(index));
    out.threads = 1;
    return out;
}

}  // namespace coterie::selection::internal
