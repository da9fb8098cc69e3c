// A run is one task on one thread, with its own seed, so runs depend neither on each other nor on the number of
// threads. The scaling and the common start are learned only from the seen rows. Of equal criteria, the first grid
// wins.

#include "coterie/selection/holdout.hpp"

#include <mutex>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/selection/internal/many_fits.hpp"

namespace coterie {
namespace {

struct Part {
    Problem problem;
    Labels truth;
};

Part part_of(const Problem& problem, LabelSpan truth, const std::vector<Index>& rows) {
    return {problem.subset(rows), internal::entries_of(truth, rows)};
}

double moved_of(const FitReport& report) {
    for (const auto& [name, value] : report.details)
        if (name == "moved") return std::get<double>(value);
    return 0.0;
}

HoldoutOutcome outcome_of(const Contender& contender, const Part& seen, const Part& unseen, const Points& start,
                          Criterion select, const Run& run) {
    HoldoutOutcome out;
    Stopwatch watch;
    TuneResult best;
    const Contender::Grid* chosen = nullptr;
    Problem from_common = seen.problem;
    from_common.initial_centroids = start;
    const auto problem_of = [&](const Contender::Grid& grid) -> const Problem& {
        return grid.common_start ? from_common : seen.problem;
    };
    for (const auto& grid : contender.grids) {
        const TuneOptions options{.grid = grid.axes, .select = select};
        TuneResult found = tune(problem_of(grid), {grid.method, grid.fixed}, options, {}, run, seen.truth);
        if (found.interrupted) throw Cancelled::during("a run");
        const double criterion = found.cells[found.best].criterion;
        const double before = chosen ? best.cells[best.best].criterion : 0.0;
        if (chosen && !(larger_is_better(select) ? criterion > before : criterion < before)) continue;
        best = std::move(found);
        chosen = &grid;
    }
    out.seconds = watch.seconds();
    out.method = best.best_method;
    out.options = best.best_options;
    const auto model = find_method(out.method).fit(problem_of(*chosen), out.options, run);
    out.moved = moved_of(model->fit_report());
    out.seen = score(model->labels(), seen.truth);
    out.unseen = score(model->predict(unseen.problem.points, run), unseen.truth);
    return out;
}

}  // namespace

std::vector<std::vector<HoldoutOutcome>> repeated_holdout(const Problem& problem, LabelSpan truth, int clusters,
                                                          const std::vector<Contender>& contenders,
                                                          const HoldoutOptions& options, const Run& run) {
    if (options.runs < 2) throw refused_option("runs", std::int64_t{options.runs}, "at least 2");
    selection::internal::require_truth_per_row(problem.rows(), truth);
    for (const auto& contender : contenders)
        if (contender.grids.empty())
            throw BadArgument(Code::missing_argument, contender.name + " has no grid to choose from", "",
                              {.option = "grid"});
    std::vector outcomes(contenders.size(), std::vector<HoldoutOutcome>(internal::at(options.runs)));
    std::mutex reporting;
    double done = 0;
    for_each_block(options.runs, run.threads, [&](Index number, int) {
        Run own(run.seed + static_cast<std::uint64_t>(number), 1);
        own.should_stop = run.should_stop;
        const auto folds = split_folds(problem.rows(), 3, own);
        std::vector<Index> rest = folds[1];
        rest.insert(rest.end(), folds[2].begin(), folds[2].end());
        std::ranges::sort(rest);
        Part seen = part_of(problem, truth, rest);
        Part unseen = part_of(problem, truth, folds[0]);
        const auto preparation = Preparation::fit(seen.problem.points, {.scale = options.scale}, own);
        seen.problem = preparation.apply(seen.problem, own);
        unseen.problem = preparation.apply(unseen.problem, own);
        const KMeansModel start = fit_kmeans(seen.problem, {.clusters = clusters}, own);
        for (std::size_t c = 0; c < contenders.size(); ++c) {
            own.throw_if_stopped("hold-out");
            outcomes[c][internal::at(number)] =
                outcome_of(contenders[c], seen, unseen, start.centroids(), options.select, own);
            const std::lock_guard lock(reporting);
            ++done;
            run.report({.stage = "runs", .fraction = done / static_cast<double>(contenders.size()) / options.runs});
        }
    });
    return outcomes;
}

}  // namespace coterie
