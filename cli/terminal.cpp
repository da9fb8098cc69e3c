// Writes text with write() instead of a stream: errors appear immediately, and a signal handler may call write().
// Handlers only touch lock-free atomics, write a fixed text or end the process.

#include "terminal.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/base/text_format.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

static_assert(std::atomic<int>::is_always_lock_free);  // otherwise a signal handler must not touch it
std::atomic<int> interrupts{0};
std::atomic<bool> guarded{false};
std::atomic<bool> among_others{false};  // this process is one of several

// Returns 0 on success, otherwise errno.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

void write_from_handler(std::string_view text) {
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

void on_interrupt(int signal) {
    const int saved = errno;
    // When a process fails, mpirun sends SIGTERM to the others. Only the failed process reports why.
    const bool speaks = signal != SIGTERM || !among_others.load();
    if (!guarded.load() || interrupts.fetch_add(1) > 0) {
        if (speaks) write_from_handler("\ncoterie: interrupted\n");
        ::_exit(Exit::interrupted);
    }
    if (speaks) write_from_handler("\ncoterie: stopping as soon as there is a result; a second Ctrl-C ends at once\n");
    errno = saved;
}

// Signal of a mapped file that became shorter. The rest cannot be read, and results computed from it are invalid.
void on_lost_file(int) {
    write_from_handler(
        "coterie: a file became shorter while it was read. Run the command again when no program changes the file.\n");
    ::_exit(Exit::bad_data);
}

bool is_terminal(int descriptor) {
    const char* kind = std::getenv("TERM");
    return ::isatty(descriptor) == 1 && (!kind || std::strcmp(kind, "dumb") != 0);
}

bool coloured() {
    const char* refused = std::getenv("NO_COLOR");
    return is_terminal(STDERR_FILENO) && (!refused || !*refused);
}

bool silent = false;
bool printed = false;         // to standard output
std::string mark_of_process;  // prefix of messages

void print_line(std::string_view colour, std::string_view label, const std::string& text) {
    if (silent) return;
    constexpr std::size_t longest = 5000;  // limit of a message, whatever it quotes from a file
    std::string line =
        coloured() && !colour.empty() ? filled("\033[{}m{}\033[0m ", colour, label) : filled("{} ", label);
    line += mark_of_process + (text.size() > longest ? text.substr(0, longest) + "..." : text) + "\n";
    write_all(STDERR_FILENO, line);
}

std::string clock_text(double seconds) {
    const auto total = static_cast<long>(std::ceil(seconds));
    const auto two_digits = [](long part) { return (part < 10 ? "0" : "") + std::to_string(part); };
    if (total < 3600) return filled("{}:{}", total / 60, two_digits(total % 60));
    return filled("{}:{}:{}", total / 3600, two_digits(total / 60 % 60), two_digits(total % 60));
}

}  // namespace

void stay_silent() { silent = true; }
void speak_up(const std::string& mark) {
    silent = false;
    mark_of_process = mark;
}

void print(std::string_view text) {
    if (silent) return;
    printed = true;
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0 && error != EPIPE)
        throw ResourceError(Code::cannot_write, filled("cannot write to standard output: {}", std::strerror(error)));
}

bool has_printed() { return printed; }

void print_error(const std::string& text) { print_line("1;31", "coterie:", text); }
void print_hint(const std::string& text) { print_line("", "hint:", text); }
void print_warning(const Message& message) { print_line("33", "coterie: warning:", message.text()); }
void print_note(const Message& message) { print_line("", "coterie: note:", message.text()); }
void print_aside(std::string_view text) {
    if (!silent) write_all(STDERR_FILENO, text);
}

bool shows_progress() { return !silent && is_terminal(STDERR_FILENO); }

void prepare_signals(bool several_processes) {
    among_others = several_processes;
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // write() reports a file beyond the size limit as an error
    const auto handle = [](int signal, void (*handler)(int), int flags) {
        struct sigaction action {};
        action.sa_handler = handler;
        sigemptyset(&action.sa_mask);
        action.sa_flags = flags;
        ::sigaction(signal, &action, nullptr);
    };
    handle(SIGBUS, on_lost_file, 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        // Background jobs start with SIGINT ignored, jobs of nohup with SIGHUP ignored. Both keep ignoring it.
        struct sigaction old {};
        if (::sigaction(signal, nullptr, &old) != 0 || old.sa_handler != SIG_IGN)
            handle(signal, on_interrupt, SA_RESTART);
    }
}

InterruptGuard::InterruptGuard() { guarded = true; }
InterruptGuard::~InterruptGuard() { guarded = false; }
bool InterruptGuard::interrupted() { return interrupts.load() > 0; }

void ProgressBar::update(const Progress& progress) {
    if (!started_ || stage_ != progress.stage) {
        started_ = true;
        stage_ = progress.stage;
        stage_time_.restart();
    } else if (drawn_ && since_drawn_.seconds() < 0.05) {
        return;
    }
    since_drawn_.restart();

    const double fraction = std::clamp(std::isfinite(progress.fraction) ? progress.fraction : 0.0, 0.0, 1.0);
    std::string line = stage_;
    line.resize(std::max<std::size_t>(line.size(), 12), ' ');
    constexpr int cells = 24;
    const int full = static_cast<int>(fraction * cells);
    std::string bar(static_cast<std::size_t>(full), '=');
    bar.resize(cells, ' ');
    line += filled(" [{}] {} %", bar, internal::formatted("%3.0f", 100 * fraction));
    if (progress.iteration > 0) line += filled("  iteration {}", progress.iteration);
    if (std::isfinite(progress.objective) && progress.objective != 0)
        line += "  objective " + internal::number_text(progress.objective);
    const double elapsed = stage_time_.seconds();
    if (fraction > 0.01 && fraction < 1 && elapsed > 0.2)
        line += "  ETA " + clock_text(elapsed * (1 - fraction) / fraction);

    winsize size{};
    const std::size_t width =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col - 1u : 79u;
    if (line.size() > width) line.resize(width);
    write_all(STDERR_FILENO, "\r\033[K" + line);
    drawn_ = true;
}

void ProgressBar::clear() {
    if (drawn_) write_all(STDERR_FILENO, "\r\033[K");
    drawn_ = false;
}

}  // namespace coterie::cli
