// Starts coterie-read, reads its messages, limits how long they may take, and reports how it ended. posix_spawn is
// used, because a process with many threads must not fork and continue. The child gets its own process group, so Ctrl-C
// in the terminal reaches only the caller, which then ends the child. The array's extents are checked before memory is
// allocated. The array's bytes go from the pipe directly into this memory.

#include "coterie/io/internal/reader_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "coterie/base/memory.hpp"
#include "coterie/base/own_place.hpp"
#include "coterie/io/internal/reader_messages.hpp"

namespace coterie::io::internal {
namespace {

namespace fs = std::filesystem;

std::string installed_reader(const std::string& source) {
    std::string places;
    std::error_code ignored;
    for (const fs::path& folder : internal::own_library_folders()) {
        const std::string place = (folder / "coterie" / "coterie-read").lexically_normal().string();
        if (fs::exists(place, ignored)) return place;
        places += (places.empty() ? "" : " or ") + place;
    }
    throw ResourceError(Code::missing_library,
                        "HDF5 and MATLAB files need coterie-read, a program of coterie that this "
                        "installation lacks",
                        "Reinstall coterie: the program belongs at " + places, {.file = source});
}

class Child {
public:
    Child(const std::vector<std::string>& words, const std::string& source, const Run& run)
        : program_(words.front()), source_(source), run_(run) {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw ResourceError(Code::cannot_read,
                                filled("no pipe can be opened to read the file: {}", std::strerror(errno)), "",
                                {.file = source_});
        pipe_ = ends[0];
        posix_spawn_file_actions_t files;
        posix_spawn_file_actions_init(&files);
        posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawnattr_t attributes;
        posix_spawnattr_init(&attributes);
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
        const int failed = ::posix_spawn(&process_, program_.c_str(), &files, &attributes, arguments.data(), environ);
        posix_spawnattr_destroy(&attributes);
        posix_spawn_file_actions_destroy(&files);
        ::close(ends[1]);
        if (failed == 0) return;
        ::close(pipe_);
        throw ResourceError(
            failed == ENOENT ? Code::missing_library : Code::cannot_read,
            filled("the program that reads such files, {}, cannot be started: {}", program_, std::strerror(failed)), "",
            {.file = source_});
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        ::close(pipe_);
        if (process_ <= 0) return;
        ::kill(process_, SIGKILL);
        while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
    }

    void allow(double seconds) { seconds_ = seconds; }

    /// Reads exactly `size` bytes. Throws if fewer bytes arrive in time.
    void read(void* to, std::size_t size) {
        auto* next = static_cast<std::byte*>(to);
        while (size > 0) {
            pollfd ready{.fd = pipe_, .events = POLLIN, .revents = 0};
            const int found = ::poll(&ready, 1, 50);
            if (asked_.seconds() > 0.05) {
                run_.throw_if_stopped_here("reading");
                // A waiting child uses no processor time, and a working child uses little on a busy machine, so the
                // clock counts too.
                if (since_.seconds() > 10 * seconds_)
                    refuse_file(source_, Code::cannot_read,
                                "the file could not be read in " + rounded(10 * seconds_) +
                                    " seconds: it is damaged, or its disk does not respond");
                asked_.restart();
            }
            if (found <= 0) continue;
            const ssize_t got = ::read(pipe_, next, size);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) fail();
            next += got;
            size -= static_cast<std::size_t>(got);
        }
    }
    std::string read_text(std::uint64_t bytes) {
        if (bytes > longest_text) nonsense(filled("a text of {} bytes", bytes));
        std::string out(static_cast<std::size_t>(bytes), '\0');
        read(out.data(), out.size());
        return out;
    }

    [[noreturn]] void nonsense(const std::string& what) const {
        refuse_file(source_, Code::cannot_read,
                    program_ + " could not read the file and answered with " + what +
                        ": the file is damaged, or the program belongs to another version of coterie");
    }

private:
    static std::string rounded(double seconds) { return std::to_string(std::lround(std::max(1.0, seconds))); }

    // Called if the pipe ends before the answer is complete: reports how the child ended.
    [[noreturn]] void fail() {
        int status = 0;
        pid_t ended = 0;
        for (const Stopwatch watch; ended == 0 && watch.seconds() < 1; ::poll(nullptr, 0, 2))
            ended = ::waitpid(process_, &status, WNOHANG);
        if (ended != 0) process_ = -1;  // reaped here or, if -1, by a handler of the host
        if (ended <= 0) nonsense("part of an answer");
        if (WIFEXITED(status)) nonsense(filled("exit status {}", WEXITSTATUS(status)));
        const int signal = WTERMSIG(status);
        if (signal == SIGXCPU)
            refuse_file(source_, Code::malformed,
                        "reading took more than " + rounded(seconds_) +
                            " seconds of processor time, much too long for its size: the file is damaged");
        const std::string how = filled("signal {} ({})", signal, ::strsignal(signal));
        if (signal == SIGKILL || signal == SIGTERM)
            throw ResourceError(Code::out_of_memory,
                                program_ + ", which reads the file, was ended from outside by " + how +
                                    ", perhaps because memory ran out",
                                "", {.file = source_});
        refuse_file(source_, Code::malformed, "the file is damaged: reading it ended with " + how);
    }

    std::string program_;
    std::string source_;
    const Run& run_;
    pid_t process_ = -1;
    int pipe_ = -1;
    double seconds_ = 0;
    Stopwatch since_, asked_;
};

[[noreturn]] void refuse(std::uint32_t kind, Message message) {
    switch (static_cast<ErrorKind>(kind)) {
        case ErrorKind::bad_argument: throw BadArgument(std::move(message));
        case ErrorKind::resource: throw ResourceError(std::move(message));
        default: throw BadData(std::move(message));
    }
}

}  // namespace

Array read_apart(std::string_view format, const std::string& path, std::string_view key, Purpose purpose,
                 const std::string& source, const Run& run, const ReaderProgram& program) {
    std::error_code failed;
    if (const auto kind = fs::status(path, failed).type();
        kind != fs::file_type::regular && kind != fs::file_type::not_found && kind != fs::file_type::directory)
        refuse_file(source, Code::cannot_read, "this is not a regular file, as HDF5 and MATLAB files must be");
    const auto file_bytes =
        static_cast<double>(formats::file_size(path));  // reports a missing file as other readers do

    Child child(
        {program.path.empty() ? installed_reader(source) : program.path, std::string(format), path, std::string(key),
         purpose == Purpose::points ? "points" : "labels", std::to_string(std::lround(1000 * program.seconds))},
        source, run);
    child.allow(reader_seconds(program.seconds, file_bytes));
    Array array;
    std::shared_ptr<std::byte[]> buffer;
    std::size_t bytes = 0, have = 0;
    bool described = false;
    for (;;) {
        MessageHead head;
        child.read(&head, sizeof head);
        if (head.kind == AnswerPart::refusal) {
            std::optional<Message> message = Message::unpacked(child.read_text(head.bytes));
            if (!message || message->file != path) child.nonsense("a refusal that does not name the file");
            refuse(head.detail, std::move(*message));
        } else if (head.kind == AnswerPart::array && !described) {
            const std::string text = child.read_text(head.bytes);
            const std::size_t extents = sizeof(std::int64_t) * (head.detail >> 16), name = text.find('\0', extents);
            if (extents > text.size() || name == std::string::npos ||
                (head.detail & 255) >= static_cast<std::uint32_t>(Element::text8))
                child.nonsense("an invalid array");
            array.element = static_cast<Element>(head.detail & 255);
            array.item_bytes = item_bytes(array.element);
            array.fortran = (head.detail & 256) != 0;
            array.shape.resize(head.detail >> 16);
            if (extents > 0) std::memcpy(array.shape.data(), text.data(), extents);  // a single number has no extents
            array.note = text.substr(name + 1);
            array.source = source + ":" + text.substr(extents, name - extents);
            bytes = checked_bytes(array.shape, array.item_bytes, array.source);
            require_memory_for(array.source, static_cast<double>(bytes), "the array");
            buffer.reset(new std::byte[bytes]);
            child.allow(reader_seconds(program.seconds, file_bytes + static_cast<double>(bytes)));
            described = true;
        } else if (head.kind == AnswerPart::data && head.bytes <= bytes - have) {
            child.read(buffer.get() + have, static_cast<std::size_t>(head.bytes));
            have += static_cast<std::size_t>(head.bytes);
        } else if (head.kind == AnswerPart::end && described && have == bytes) {
            array.data = {buffer.get(), bytes};
            array.owner = std::move(buffer);
            return array;
        } else {
            child.nonsense("an invalid message");
        }
    }
}

}  // namespace coterie::io::internal
