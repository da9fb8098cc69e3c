#pragma once
// The result goes to standard output, everything else to standard error. Also handles interrupts, the progress bar and
// colour.

#include "coterie/base/message.hpp"
#include "coterie/base/run.hpp"

namespace coterie::cli {

/// Exit codes.
enum Exit { done = 0, failure = 1, usage = 2, bad_data = 3, not_converged = 4, interrupted = 130 };

/// For all processes but rank 0 if several processes work on one fit: nothing is printed from now on.
void stay_silent();
/// Ends the silence. Messages then begin with `mark`.
void speak_up(const std::string& mark);

/// Writes to standard output. A closed reader (| head) is not an error; a full disk is a ResourceError.
void print(std::string_view text);
/// Whether print() was called.
bool has_printed();

/// One line "coterie: TEXT", in colour if the terminal supports it.
void print_error(const std::string& text);
void print_hint(const std::string& text);
void print_warning(const Message& message);
/// For information that needs no action.
void print_note(const Message& message);
/// Plain text to standard error.
void print_aside(std::string_view text);

/// Whether standard error is a terminal that can move its cursor.
bool shows_progress();

/// Installs the signal handlers. SIGTERM and SIGHUP always act like Ctrl-C. Without an InterruptGuard, Ctrl-C ends the
/// process with 130 at once. SIGPIPE and SIGXFSZ are always ignored. If `several_processes`, SIGTERM prints nothing.
void prepare_signals(bool several_processes);
/// While it exists, the first Ctrl-C asks the fit to stop, and the second ends the process at once.
class InterruptGuard {
public:
    InterruptGuard();
    /// The run stops when it is interrupted.
    explicit InterruptGuard(Run& run) : InterruptGuard() { run.should_stop = interrupted; }
    ~InterruptGuard();
    InterruptGuard(const InterruptGuard&) = delete;
    InterruptGuard& operator=(const InterruptGuard&) = delete;
    static bool interrupted();
};

/// One line on standard error: stage, bar, completed share, objective, remaining time.
class ProgressBar {
public:
    /// Follows the run's progress. Shown unless `quiet`, and only if standard error can show it.
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
