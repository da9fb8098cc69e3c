#pragma once
// Whole fits from different starts, of which the best is kept: for methods whose starts are drawn at random and whose
// options have `restarts`. Such a method says how good a fit is without knowing the truth, less being better:
//
//       static double restart_criterion(const Model&);
//
// and its fit is an `inline constexpr RestartedFit<FooMethod> fit_foo`. (k-means and its relatives, and those that end
// in a k-means, repeat that within the fit.)

#include <optional>
#include <string_view>
#include <vector>

#include "coterie/base/report.hpp"
#include "coterie/model/method.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

namespace internal {
/// Restart 0 is the run itself, the others have seeds of their own, run.child("restart", number). A checkpoint, which
/// holds one fit, is refused: BadArgument.
COTERIE_API Run run_of_restart(const Run& run, int restart);
/// Adds the details "best_restart" (from 0) and "criterion_per_restart", and gives the report the seed of `run`.
COTERIE_API void describe_restarts(Model& best, int kept, const std::vector<double>& criteria, bool interrupted,
                                   const Run& run);
/// The detail of this name, which is a number. InternalError where there is none.
COTERIE_API double number_of(const FitReport& report, std::string_view name);
}  // namespace internal

template <class Method>
struct RestartedFit {
    using Options = typename Method::Options;
    using Model = typename Method::Model;

    /// As Fit; of several restarts the first of least criterion. Interrupted: of those that ended, or else the one that
    /// was stopped.
    Model operator()(const Problem& problem, const Options& options = {}, const Run& run = Run()) const {
        const Fit<Method> fit;
        if (options.restarts <= 1) return fit(problem, options, run);
        std::optional<Model> best;
        int kept = 0;
        std::vector<double> criteria;
        bool interrupted = false;
        for (int restart = 0; restart < options.restarts && !interrupted; ++restart) {
            try {
                Model found = fit(problem, options, internal::run_of_restart(run, restart));
                interrupted = found.fit_report().stopped == StopReason::interrupted;
                if (interrupted && best) break;
                criteria.push_back(Method::restart_criterion(found));
                if (best && !(criteria.back() < criteria[static_cast<std::size_t>(kept)])) continue;
                kept = restart;
                best.emplace(std::move(found));
            } catch (const Cancelled&) {
                if (!best) throw;
                interrupted = true;
            }
        }
        internal::describe_restarts(*best, kept, criteria, interrupted, run);
        return std::move(*best);
    }
    Model operator()(PointsView points, const Options& options = {}, const Run& run = Run()) const {
        return (*this)(Problem{.points = Points::borrow(points)}, options, run);
    }
};

}  // namespace coterie
