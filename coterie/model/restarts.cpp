// Seeds of restarts and what a report says of them. A restart is a fit like any other, so that the best of them has the
// bits of a fit alone with its seed.

#include "coterie/model/restarts.hpp"

#include <string>

#include "coterie/base/error.hpp"
#include "coterie/model/internal/result_warnings.hpp"

namespace coterie::internal {

Run run_of_restart(const Run& run, int restart) {
    if (!run.checkpoint.empty())
        throw BadArgument("option `checkpoint`: a checkpoint holds one fit; with several `restarts` there is none",
                          {.option = "checkpoint", .value = run.checkpoint, .accepted = "restarts=1"});
    if (restart == 0) return run;
    Run out = run.child("restart", static_cast<std::uint64_t>(restart));
    out.on_progress = run.on_progress;
    return out;
}

void describe_restarts(Model& best, int kept, const std::vector<double>& criteria, bool interrupted, const Run& run) {
    FitReport& report = report_of(best);
    if (interrupted) report.stopped = StopReason::interrupted;
    report.seed = run.seed;
    report.details.emplace_back("best_restart", std::int64_t{kept});
    report.details.emplace_back("criterion_per_restart", criteria);
}

double number_of(const FitReport& report, std::string_view name) {
    for (const auto& [each, value] : report.details)
        if (each == name)
            if (const double* const number = std::get_if<double>(&value)) return *number;
    throw InternalError("the report has no number '" + std::string(name) + "'");
}

}  // namespace coterie::internal
