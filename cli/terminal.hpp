#pragma once
// Standard output carries the result, standard error everything else. Interrupts, the progress bar and colour live here
// too.

#include <string>
#include <string_view>

#include "coterie/base/run.hpp"

namespace coterie::cli {

/// Exit codes.
enum Exit { done = 0, failure = 1, usage = 2, bad_data = 3, not_converged = 4, interrupted = 130 };

/// Of several processes that work on one fit the first one speaks; the others print nothing.
void stay_silent();
/// Ends the silence; messages begin with `mark`.
void speak_up(const std::string& mark);

/// Writes to standard output. A reader that went away (| head) is no error; a full disk is a ResourceError.
void print(std::string_view text);

/// One line "coterie: TEXT", in colour where that is wanted.
void print_error(const std::string& text);
void print_hint(const std::string& text);
void print_warning(const std::string& text);
/// What is worth knowing and no trouble.
void print_note(const std::string& text);
/// Plain text to standard error.
void print_aside(std::string_view text);

/// Standard error is a terminal that can move its cursor.
bool shows_progress();

/// Until an InterruptGuard lives, Ctrl-C (and SIGTERM and SIGHUP, which are treated as Ctrl-C throughout) ends the
/// process with 130 at once; SIGPIPE and SIGXFSZ are ignored throughout. One of several processes prints nothing on
/// SIGTERM.
void prepare_signals(bool several_processes);
/// While it lives, the first Ctrl-C asks the fit to stop and the second ends the process at once.
class InterruptGuard {
public:
    InterruptGuard();
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    static bool interrupted();
};

/// One line on standard error: stage, bar, share done, objective, time left.
class ProgressBar {
public:
    /// Hears of the run's progress; shown unless `quiet`, and where standard error can show it.
    ProgressBar(Run& run, bool quiet) {
        if (!quiet && shows_progress()) run.on_progress = [this](const Progress& progress) { update(progress); };
    }
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    void update(const Progress& progress);
    void clear();

private:
    bool drawn_ = false;
    bool started_ = false;
    std::string stage_;
    Stopwatch stage_time_;
    Stopwatch since_drawn_;
};

}  // namespace coterie::cli
