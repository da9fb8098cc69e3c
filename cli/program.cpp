// What every program here is around its commands: signals, messages of one line, exit codes. The environment that other
// libraries look at when they are loaded is set first of all, before there is a second thread. What a command throws
// ends here, in the command's words and with the exit code of its kind.

#include "program.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <new>
#include <thread>

#include "common.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel/work_apart.hpp"
#include "coterie/base/processor.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

std::shared_ptr<Processes> processes;  // none until they are joined

// All end with this code. Rank 0 reports errors that occur on every rank. An error of one other rank alone is reported
// by that rank: the pause lets rank 0 report it first and end all. Being stopped is no error of a rank.
int end(int code, const std::function<void()>& tell) {
    const int rank = processes ? processes->rank() : started_rank();
    if (rank > 0) {
        std::this_thread::sleep_for(std::chrono::seconds(2));
        if (code != Exit::interrupted) {
            speak_up("process " + std::to_string(rank) + ": ");
            tell();
        }
    } else {
        tell();
    }
    if (processes) processes->end_all(code);
    return code;
}

// A message is one line, whatever file names it quotes.
std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return text;
}

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::bad_argument: return Exit::usage;
        case ErrorKind::bad_data: return Exit::bad_data;
        case ErrorKind::resource: return Exit::failure;
        case ErrorKind::cancelled: return Exit::interrupted;
        case ErrorKind::internal: return Exit::failure;
    }
    return Exit::failure;
}

int run(const Command& root, const std::vector<std::string>& words) {
    const char* const fault = "this is a fault of coterie itself; please report it";
    try {
        return run_command_line(root, words);
    } catch (const UsageError& error) {
        return end(Exit::usage, [&] {
            print_error(one_line(error.message()));
            print_hint(one_line(error.hint));
        });
    } catch (const Error& error) {
        return end(exit_code(error.kind()), [&] {
            print_error(one_line(with_flags(error.message())));
            if (error.kind() == ErrorKind::internal) print_hint(fault);
        });
    } catch (const std::bad_alloc&) {
        return end(Exit::failure, [] { print_error("there is not enough memory"); });
    } catch (const std::exception& error) {
        return end(Exit::failure, [&] {
            print_error(one_line(error.what()));
            print_hint(fault);
        });
    }
}

// LibTorch brings OpenMP's threads with it, which spin while they wait for work and so slow everything down when the
// processors are shared with other programs. libgomp reads how long to spin when it is loaded: that is when a network
// is asked for, after this.
void wait_asleep() {
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", "20000", 0);
}

// OpenBLAS chooses its kernels when it is loaded, and older ones (Debian 12's) take recent processors for very old
// ones. The environment is a program's to set, not the library's.
void choose_openblas_kernels() {
    const char* const kernels = internal::has_avx512() ? "SkylakeX" : internal::has_avx2() ? "Haswell" : nullptr;
    if (kernels != nullptr) ::setenv("OPENBLAS_CORETYPE", kernels, 0);
}

std::string words_of_command;

// A word in quotes where a shell would read another thing.
std::string quoted(const std::string& word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

}  // namespace

const std::string& command_text() { return words_of_command; }

std::string date_text() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

int run_program(Command (*root)(), int count, char** words) {
    wait_asleep();
    choose_openblas_kernels();
    prepare_signals(started_processes() > 1);
    words_of_command = "coterie";
    for (int i = 1; i < count; ++i) words_of_command += " " + quoted(words[i]);
    const Command program = root();
    know_flags(program);
    const int code = run(program, std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
    processes.reset();
    if (internal::work_was_left()) {  // nobody wants it any more, and it may take minutes
        std::fflush(nullptr);
        std::_Exit(code);
    }
    return code;
}

std::shared_ptr<Processes> join_started_processes() {
    if (!processes) processes = join_processes();
    return processes;
}

}  // namespace coterie::cli
