// First come environment variables that other libraries read when they are loaded: they must be set before a second
// thread exists. Errors of a command end here; the kind of an error gives the exit code.

#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>

#include "common.hpp"
#include "coterie/base/error.hpp"
#include "coterie/base/parallel/work_apart.hpp"
#include "coterie/base/processor.hpp"
#include "coterie/report/json.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

std::shared_ptr<Processes> processes;  // nullptr until the processes are joined

// All processes end with this code. Rank 0 reports errors that occur on every rank. Another rank pauses before it
// reports its error, so that rank 0 can report first and end all. An interrupt is not reported by other ranks.
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

// A message is one line, whatever file names it contains.
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
    const auto end_with = [&](int code, const Message& message, bool fault) {
        return end(code, [&] {
            const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
            // If a file could not be written, the result is already printed. Two documents would not be JSON.
            if (json && !has_printed())
                print(internal::document({{"schema", internal::json_schema}, {"error", message}}));
            print_error(one_line(message.text()));
            if (fault) print_hint("this is a fault of coterie itself; please report it");
        });
    };
    try {
        return run_command_line(root, words);
    } catch (const Error& error) {
        return end_with(exit_code(error.kind()), error.fields(), error.kind() == ErrorKind::internal);
    } catch (const std::bad_alloc&) {
        return end_with(Exit::failure, {.code = Code::out_of_memory, .problem = "there is not enough memory"}, false);
    } catch (const std::exception& error) {
        return end_with(Exit::failure, {.code = Code::internal, .problem = error.what()}, true);
    }
}

// LibTorch uses OpenMP threads, which spin while they wait for work. If other programs share the processors, this slows
// everything down. When libgomp is loaded, it reads how long to spin. It is loaded with the first network, after this
// call.
void wait_asleep() {
    if (std::getenv("OMP_WAIT_POLICY") == nullptr) ::setenv("GOMP_SPINCOUNT", "20000", 0);
}

// OpenBLAS chooses its kernels when it is loaded. Older versions (Debian 12's) take recent processors for very old
// ones. Only a program may set environment variables; a library must not.
void choose_openblas_kernels() {
    const char* const kernels = internal::has_avx512() ? "SkylakeX" : internal::has_avx2() ? "Haswell" : nullptr;
    if (kernels != nullptr) ::setenv("OPENBLAS_CORETYPE", kernels, 0);
}

std::string words_of_command;

// Quotes a word that a shell would read differently.
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
    static const CommandSpelling spelling;
    Spelling::use(spelling);
    const Command program = root();
    know_flags(program);
    const int code = run(program, std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
    processes.reset();
    if (internal::work_was_left()) {  // the remaining work is useless and may take minutes
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
