// The steps of Pipeline::fit without the fit, learned from all rows. So criteria see the points as every fit of the
// comparison sees them.

#include "coterie/selection/prepared_points.hpp"

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/pipeline/left_out.hpp"

namespace coterie::internal {

PreparedPoints prepared_points(const Problem& problem, const PreparationOptions& preparation,
                               const ColumnOptions& columns, const Run& run) {
    check_options(preparation);
    check_options(columns);
    PreparedPoints out{problem.points, {}, {}, {}, {}};
    require_values(out.points, problem.column_kinds, problem.categories, problem.column_names, columns, "points", run);
    if (columns.missing == Missing::drop) {
        out.left_out = rows_with_missing(out.points, run);
        if (static_cast<Index>(out.left_out.size()) == problem.rows() && problem.rows() > 0) throw no_row_is_complete();
        if (!out.left_out.empty()) out.points = without_rows(out.points, out.left_out);
    }
    const auto coding =
        ColumnCoding::fit(out.points, problem.column_kinds, problem.categories, problem.column_names, columns, run);
    out.points = coding.apply(out.points, problem.categories, problem.column_names, run, out.warnings);
    out.coded = out.points;
    out.names = coding.names_out(problem.column_names);
    const auto learned = Preparation::fit(out.points, preparation, run, {}, coding.indicators());
    out.warnings.insert(out.warnings.end(), learned.warnings().begin(), learned.warnings().end());
    out.points = learned.apply(out.points, run);
    return out;
}

Points rows_in_memory(const Points& points, const std::vector<Index>& rows, const Run& run) {
    if (!points.resident()) return gather_rows(points, rows, run);
    return static_cast<Index>(rows.size()) == points.rows() ? points : rows_of(points, rows);
}

void require_points_alone(const std::string& what, const Problem& problem, const Run& run) {
    const auto unsupported = [&](const std::string& needs, const std::string& option) {
        throw BadArgument({.code = Code::not_supported, .problem = what + " " + needs, .option = option});
    };
    const auto conflict = [&](const std::string& option) {
        throw BadArgument({.code = Code::conflict,
                           .problem = what + " cannot be combined with `" + option + "`",
                           .remedy = "Leave one out",
                           .option = option});
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

Run part_of(const Run& run, std::string_view purpose, Index index) {
    Run out = run.child(purpose, static_cast<std::uint64_t>(index));
    out.threads = 1;
    return out;
}

}  // namespace coterie::internal
