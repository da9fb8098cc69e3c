#pragma once
// Whole fits from different starts, of which the best is kept: for methods whose starts are drawn at random and whose
// options have `restarts`. Such a method says how good a fit is without knowing the truth, less being better:
//
//       static double restart_criterion(const Model&);
//
// and its fit is an `inline constexpr RestartedFit<FooMethod> fit_foo`. (k-means and its relatives, and those that end
// in a k-means, repeat that within the fit.)

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/model/fit_report.hpp"
#include "coterie/model/method.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

namespace internal {
class Checkpoint;

/// The starts of one fit: their seeds, and the criteria of those that have ended. With a checkpoint these are kept in
/// its file, and the state of start i in a file of its own beside it, FILE.start-i; that of the best start remains,
/// those of the others are removed as they end.
class COTERIE_API Starts {
public:
    /// problem and run must outlive it. BadData where the checkpoint is of another fit.
    Starts(std::string_view method, const OptionValues& options, const Problem& problem, const Run& run);
    ~Starts();

    /// Start 0 has the seed of the run, the others have seeds of their own, run.child("restart", number).
    Run run_of(int start) const;
    const std::vector<double>& criteria() const { return criteria_; }
    int ended() const { return static_cast<int>(criteria_.size()); }
    /// The first of least criterion; at least one has ended.
    int best() const;
    /// The next one has. Interrupted: nothing of it is kept.
    void add(double criterion, bool interrupted);
    /// Adds the details "best_restart" (from 0) and "criterion_per_restart", and gives the report the seed of the run.
    void describe(Model& best, bool interrupted) const;

private:
    std::string path_of(int start) const;

    const Run& run_;
    std::vector<double> criteria_;
    std::unique_ptr<Checkpoint> checkpoint_;
};
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
        internal::require_same_fit(Method::name, Options::described().values(&options), problem, run);
        const Fit<Method> fit;
        if (options.restarts <= 1) return fit(problem, options, run);
        check_options(options);
        internal::admit(Method::name, Method::takes, problem, run);
        internal::Starts starts(Method::name, Options::described().values(&options), problem, run);
        std::optional<Model> best;
        bool interrupted = false;
        // What ended before the fit was cut off left its criterion; the best of it is made again, to the same bits.
        bool again = starts.ended() > 0;
        while (!interrupted && (again || starts.ended() < options.restarts)) {
            const int start = again ? starts.best() : starts.ended();
            try {
                Model found = fit(problem, options, starts.run_of(start));
                interrupted = found.fit_report().stopped == StopReason::interrupted;
                if (interrupted && best) break;
                if (!again) starts.add(Method::restart_criterion(found), interrupted);
                if (again || starts.best() == start) best.emplace(std::move(found));
                again = false;
            } catch (const Cancelled&) {
                if (!best) throw;
                interrupted = true;
            }
        }
        starts.describe(*best, interrupted);
        return std::move(*best);
    }
    Model operator()(PointsView points, const Options& options = {}, const Run& run = Run()) const {
        return (*this)(Problem{.points = Points::borrow(points)}, options, run);
    }
};

}  // namespace coterie
