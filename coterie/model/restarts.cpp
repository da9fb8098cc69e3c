// A restart is an ordinary fit, so the best restart has the same bits as a single fit with its seed. A checkpoint
// therefore holds no model, but criteria of completed starts and, in separate files, states of the best and current
// start.

#include "coterie/model/restarts.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/model/checkpoint.hpp"
#include "coterie/model/result_warnings.hpp"

namespace coterie::internal {

Starts::Starts(std::string_view method, const OptionValues& options, const Problem& problem, const Run& run)
    : run_(run) {
    if (run.checkpoint.empty()) return;
    checkpoint_ = std::make_unique<Checkpoint>(run, std::string(method), options, fingerprint_of(problem, run));
    if (const auto found = checkpoint_->found()) criteria_ = found->vector("criteria");
}

Starts::~Starts() = default;

std::string Starts::path_of(int start) const { return filled("{}.start-{}", run_.checkpoint, start); }

Run Starts::run_of(int start) const {
    Run out = run_;
    if (start > 0) {
        out = run_.child("restart", static_cast<std::uint64_t>(start));
        out.on_progress = run_.on_progress;
    }
    if (checkpoint_) out.checkpoint = path_of(start);
    return out;
}

int Starts::best() const {
    return static_cast<int>(std::min_element(criteria_.begin(), criteria_.end()) - criteria_.begin());
}

void Starts::add(double criterion, bool interrupted) {
    const int before = criteria_.empty() ? -1 : best();
    criteria_.push_back(criterion);
    if (!checkpoint_ || interrupted) return;
    checkpoint_->write_parts(true, [&](Archive* archive) {
        if (archive != nullptr) archive->set_vector("criteria", criteria_);
    });
    const int worse = best() == before ? ended() - 1 : before;
    std::error_code none;
    if (checkpoint_->wanted() && worse >= 0) std::filesystem::remove(path_of(worse), none);
}

void Starts::describe(Model& best_model, bool interrupted) const {
    FitReport& report = report_of(best_model);
    if (interrupted) report.stopped = StopReason::interrupted;
    report.seed = run_.seed;
    report.details.emplace_back("best_restart", std::int64_t{best()});
    report.details.emplace_back("criterion_per_restart", criteria_);
    if (checkpoint_) checkpoint_->warn(report);
}

double number_of(const FitReport& report, std::string_view name) {
    for (const auto& [each, value] : report.details)
        if (each == name)
            if (const double* const number = std::get_if<double>(&value)) return *number;
    throw InternalError(filled("the report has no number '{}'", name));
}

}  // namespace coterie::internal
