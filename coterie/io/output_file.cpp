// Writes a file without a name (O_TMPFILE), so nothing remains of it, however the process ends. The file is in the
// target's folder, because a rename is atomic only within a file system. Just before the rename it gets a hidden name
// with the process number and a counter. On file systems without nameless files, it has the hidden name from the start
// and is locked while it is written. A hidden file without a lock was left by a killed process; the next writer of the
// same target removes it. Devices, pipes and standard output are written directly. The writer waits for the disk only
// with Durability::on_disk. A new file takes over the permissions of the file that it replaces, nothing else.

#include "coterie/io/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "coterie/io/formats.hpp"

namespace coterie {
namespace {

using internal::filled;

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// A rename would replace the link instead of its target.
std::string behind_links(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    const auto target = std::filesystem::weakly_canonical(path, error);
    return error ? path : target.string();
}

// "/folder/.NAME.", the start of a target's hidden names.
std::string hidden_beginning(const std::string& path) {
    const std::filesystem::path target(path);
    return (target.parent_path() / std::string(".").append(target.filename().string()).append(".")).string();
}

std::string hidden_name(const std::string& path) {
    static std::atomic<unsigned> counter{0};
    return filled("{}{}-{}.part", hidden_beginning(path), ::getpid(), counter.fetch_add(1));
}

std::string descriptor_path(int descriptor) { return filled("/proc/self/fd/{}", descriptor); }

// Opens a file without a name in the folder; -1 if that is not supported.
int open_nameless(const std::string& path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor >= 0 &&
        ::access(descriptor_path(descriptor).c_str(), F_OK) != 0) {  // without /proc, the file could not get a name
        ::close(descriptor);
        return -1;
    }
    return descriptor;
}

// Removes the target's hidden files that have no lock. A writer locks its file directly after creating it.
void remove_abandoned(const std::string& path) {
    constexpr int seconds_to_lock = 60;
    std::error_code ignored;
    const std::string begin = hidden_beginning(path);
    const std::filesystem::path folder = std::filesystem::path(begin).parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(std::filesystem::path(begin).filename().string()) || !name.ends_with(".part")) continue;
        const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        struct stat status {};
        if (descriptor < 0) continue;
        if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
            status.st_mtime + seconds_to_lock < std::time(nullptr) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            ::unlink(entry.path().c_str());
        ::close(descriptor);
    }
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
    if (path_ == "-") {
        descriptor_ = STDOUT_FILENO;
        return;
    }
    if (path_.empty()) throw BadArgument(Code::missing_argument, "an output file needs a name");
    path_ = behind_links(path_);
    struct stat status {};
    if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode))
            throw ResourceError(Code::cannot_write, "the file cannot be written, because this is a folder",
                                "Name a file", {.file = path});
        // A device or a pipe cannot be replaced by a rename, so it is written directly.
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) fail("opened for writing");
        return;
    }
    const bool replaces = ::stat(path_.c_str(), &status) == 0;
    descriptor_ = open_nameless(path_);
    nameless_ = descriptor_ >= 0;
    if (!nameless_) remove_abandoned(path_);
    for (int attempt = 0; descriptor_ < 0 && attempt < 100; ++attempt) {
        temporary_ = hidden_name(path_);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) {
        temporary_.clear();
        fail("written");
    }
    if (!nameless_) [[maybe_unused]]
        const int locked = ::flock(descriptor_, LOCK_EX | LOCK_NB);
    // If this fails, the file keeps the permissions of a new file.
    if (replaces) [[maybe_unused]]
        const int ignored = ::fchmod(descriptor_, status.st_mode & 07777);
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const std::string& what) {
    const std::string reason = std::strerror(errno);
    throw ResourceError(Code::cannot_write, filled("the file cannot be {}: {}", what, reason), "",
                        {.file = path_ == "-" ? "standard output" : path_});
}

void OutputFile::flush() {
    const bool written = formats::write_all(descriptor_, buffer_.data(), buffer_.size());
    buffer_.clear();
    if (!written) fail("written");
}

void OutputFile::write(const void* data, std::size_t bytes) {
    if (descriptor_ < 0) throw InternalError("output file written after commit");
    const char* p = static_cast<const char*>(data);
    while (bytes > 0) {
        const std::size_t taken = std::min(bytes, buffer_bytes - buffer_.size());
        buffer_.append(p, taken);
        p += taken;
        bytes -= taken;
        if (buffer_.size() == buffer_bytes) flush();
    }
}

void OutputFile::commit(Durability durability) {
    if (descriptor_ < 0) throw InternalError("output file committed twice");
    flush();
    const bool renames = nameless_ || !temporary_.empty();
    if (durability == Durability::on_disk && renames && ::fsync(descriptor_) != 0) fail("written");
    if (nameless_) give_name();
    if (descriptor_ == STDOUT_FILENO) {
        descriptor_ = -1;
        return;
    }
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("written");
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("renamed into place");
    temporary_.clear();
}

void OutputFile::give_name() {
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::string name = hidden_name(path_);
        if (::linkat(AT_FDCWD, descriptor_path(descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
            temporary_ = name;
            return;
        }
        if (errno != EEXIST) break;
    }
    fail("renamed into place");
}

void write_file(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace coterie
