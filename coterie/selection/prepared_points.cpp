// The steps of Pipeline::fit without the fit, learned from all rows. So criteria see the points as every fit of the
// comparison sees them.

#include "coterie/selection/prepared_points.hpp"

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/sparse_points.hpp"

namespace coterie::internal {

PreparedPoints prepared_points(const Problem& problem, const PreparationOptions& preparation,
                               const ColumnOptions& columns, const Run& run) {
    check_options(preparation);
    check_options(columns);
    PreparedPoints out{problem.points, {}, {}, {}, {}};
    require_values(out.points, problem.column_kinds, problem.categories, problem.column_names, columns, "points", run);
    if (columns.missing == Missing::drop) {
        out.left_out = rows_with_missing(out.points, run);
        if (static_cast<Index>(out.left_out.size()) == problem.rows() && problem.rows() > 0)
            throw BadData("points: every row misses a value, so that `missing=drop` leaves none");
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
    const auto refuse = [&](const std::string& why) { throw BadArgument(what + " takes points alone, and " + why); };
    if (problem.graph) refuse("this problem is a graph of affinities");
    if (as_sparse(problem.points) != nullptr) refuse("these are sparse");
    if (run.communicator().size() > 1) refuse("these are worked on in several processes");
    if (!problem.weights.empty()) refuse("these have weights");
    if (!problem.initial_centroids.empty()) refuse("there are initial centroids");
    if (!problem.partial_labels.empty() || !problem.label_shares.empty()) refuse("there are partial labels or shares");
    if (!problem.must_links.empty() || !problem.cannot_links.empty()) refuse("these have pairs of rows");
    if (problem.sizes) refuse("there are bounds on sizes");
    if (!run.checkpoint.empty()) refuse("there is a checkpoint, which is of a single fit");
}

Run part_of(const Run& run, std::string_view purpose, Index index) {
    Run out = run.child(purpose, static_cast<std::uint64_t>(index));
    out.threads = 1;
    return out;
}

}  // namespace coterie::internal
