#pragma once
// Repeats whole fits from different starts and keeps the best, for methods with random starts and the option
// `restarts`. Such a method rates its fits by a criterion that needs no labels; less is better:
//
//      static double restart_criterion(const Model&);
//
// Its fit is an `inline constexpr RestartedFit<FooMethod> fit_foo`. (k-means, related methods, and methods whose last
// step is k-means restart within the fit.)

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

/// The starts of one fit: their seeds, and the criteria of completed starts. A checkpoint stores the criteria in its
/// file, and the state of start i in a separate file, FILE.start-i. Of the completed starts, only the best keeps its
/// file.
class COTERIE_API Starts {
public:
    /// problem and run must outlive this object. Throws BadData if the checkpoint is from another fit.
    Starts(std::string_view method, const OptionValues& options, const Problem& problem, const Run& run);
    ~Starts();

    /// Start 0 has the seed of the run. The others have the seeds of run.child("restart", number).
    Run run_of(int start) const;
    const std::vector<double>& criteria() const { return criteria_; }
    int ended() const { return static_cast<int>(criteria_.size()); }
    /// The first start with the least criterion. At least one start must have ended.
    int best() const;
    /// Adds the criterion of the next start that has ended. If `interrupted`, does not store it in the checkpoint.
    void add(double criterion, bool interrupted);
    /// Adds the details "best_restart" (from 0) and "criterion_per_restart", and sets the report's seed to that of the
    /// run.
    void describe(Model& best, bool interrupted) const;

private:
    std::string path_of(int start) const;

    const Run& run_;
    std::vector<double> criteria_;
    std::unique_ptr<Checkpoint> checkpoint_;
};
/// The number in the detail of this name. Throws InternalError if there is no such number.
COTERIE_API double number_of(const FitReport& report, std::string_view name);
}  // namespace internal

/// The part of a FooMethod that follows from its options and its model, which has a restart_criterion().
template <class Options, class Model>
struct RestartedMethodWith : MethodWith<Options, Model> {
    static double restart_criterion(const Model& model) { return model.restart_criterion(); }
};

template <class Method>
struct RestartedFit {
    using Options = typename Method::Options;
    using Model = typename Method::Model;

    /// Like Fit. With several restarts, returns the first fit with the least criterion. After an interruption, returns
    /// the best fit that had ended, or the interrupted fit if no fit had ended.
    Model operator()(const Problem& problem, const Options& options = {}, const Run& run = Run()) const {
        internal::require_same_fit(Method::name, Options::described().values(&options), problem, run);
        const Fit<Method> fit;
        if (options.restarts <= 1) return fit(problem, options, run);
        check_options(options);
        internal::admit(Method::name, Method::takes, problem, run);
        internal::Starts starts(Method::name, Options::described().values(&options), problem, run);
        std::optional<Model> best;
        bool interrupted = false;
        // A restored checkpoint has only criteria, so the best start is fitted again, with the same bits.
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
