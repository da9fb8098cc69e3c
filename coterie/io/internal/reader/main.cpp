// The main program of the two readers. It first sets its limits: reader_memory() and the available memory limit address
// space, and reader_seconds() limits processor time, after which SIGXCPU ends the process. There is no core file.
// Errors are sent as messages. If a library crashes, the caller notices that the answer has no end.

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <new>

#include "coterie/base/memory.hpp"
#include "coterie/io/internal/reader/reader.hpp"
#include "coterie/io/internal/reader_messages.hpp"

namespace coterie::io::internal {
namespace {

void set_limit(int which, double most) {
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(which), &limit) != 0) return;
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(most));
    ::setrlimit(static_cast<__rlimit_resource_t>(which), &limit);
}

void send(AnswerPart kind, std::uint32_t detail, std::span<const std::byte> bytes) {
    const MessageHead head{kind, detail, bytes.size()};
    if (!write_all(STDOUT_FILENO, &head, sizeof head) || !write_all(STDOUT_FILENO, bytes.data(), bytes.size()))
        std::_Exit(1);  // the caller is gone
}

}  // namespace

void Answer::allow(double bytes) const {
    set_limit(RLIMIT_CPU, std::ceil(reader_seconds(base_, file_bytes_ + bytes)));
#ifndef COTERIE_SANITIZED  // its shadow memory also counts as address space
    const auto there_is = static_cast<double>(available_memory());
    const double proportionate = reader_memory(file_bytes_ + bytes);
    set_limit(RLIMIT_AS, there_is > 0 ? std::min(there_is, proportionate) : proportionate);
#endif
}

std::size_t Answer::describe(const Array& array, const std::string& name, const std::string& source) {
    const std::size_t bytes = checked_bytes(array.shape, array.item_bytes, source);
    require_memory(static_cast<double>(bytes), filled("array '{}'", shown(name)));
    allow(static_cast<double>(bytes));
    std::string text(reinterpret_cast<const char*>(array.shape.data()), array.shape.size() * sizeof(std::int64_t));
    text += name + '\0' + array.note;
    send(AnswerPart::array,
         static_cast<std::uint32_t>(array.element) | (array.fortran ? 256U : 0U) |
             static_cast<std::uint32_t>(array.shape.size()) << 16,
         std::as_bytes(std::span(text)));
    return bytes;
}

void Answer::data(std::span<const std::byte> bytes) { send(AnswerPart::data, 0, bytes); }

void Answer::end() { send(AnswerPart::end, 0, {}); }

void Answer::refuse(ErrorKind kind, const coterie::Message& message) {
    const std::string bytes = message.packed();
    send(AnswerPart::refusal, static_cast<std::uint32_t>(kind), std::as_bytes(std::span(bytes)));
}

}  // namespace coterie::io::internal

int main(int count, char** words) {
    using namespace coterie;
    using namespace coterie::io::internal;
    // The process ends with its parent, keeps no files open that it does not need, and leaves no core file.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::syscall(SYS_close_range, 3U, ~0U, 0U);
    set_limit(RLIMIT_CORE, 0);
    if (count != 6) return 2;
    const std::string format = words[1], path = words[2], key = words[3];
    const Purpose purpose = std::string(words[4]) == "points" ? Purpose::points : Purpose::labels;
    try {
        Answer answer(static_cast<double>(std::atol(words[5])) / 1000, static_cast<double>(file_size(path)));
        try {
            format == "hdf5" ? read_hdf5(path, key, purpose, answer) : read_matlab(path, key, purpose, answer);
            answer.end();
        } catch (Error& error) {
            error.amend([&](Message& message) { message.file = path; });
            answer.refuse(error.kind(), error.fields());
        } catch (const std::bad_alloc&) {
            answer.refuse(ErrorKind::resource, {.code = Code::out_of_memory,
                                                .problem = "reading the file needs more memory than is available",
                                                .file = path});
        }
    } catch (const std::exception&) {
        return 1;  // the file disappeared, or there is no memory for a message
    }
    std::_Exit(0);  // skips the libraries' cleanup, which a damaged file could crash; the system frees everything
}
