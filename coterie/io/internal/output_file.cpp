// A hidden file in the target's own folder, as a rename is whole only within a file system. Its name has the process's
// number and a counter, and must be new: two writers never share one. A device, a pipe and standard output are written
// as they are. Bytes are handed to the system, and waited for on the disk only where that is asked for; the file that
// is replaced leaves its permissions and nothing else.

#include "coterie/io/internal/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// Renaming onto a link would replace the link, not what it points to.
std::string behind_links(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_symlink(path, error)) return path;
    const auto target = std::filesystem::weakly_canonical(path, error);
    return error ? path : target.string();
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
    if (path_ == "-") {
        descriptor_ = STDOUT_FILENO;
        return;
    }
    if (path_.empty()) throw BadArgument("an output file needs a name");
    path_ = behind_links(path_);
    struct stat status {};
    if (::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISDIR(status.st_mode)) throw ResourceError(path + ": cannot be written: it is a folder");
        // A device or a pipe has no folder to rename in: it is written directly.
        descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) fail("cannot be opened for writing");
        return;
    }
    static std::atomic<unsigned> counter{0};
    const std::filesystem::path target(path_);
    const bool replaces = ::stat(path_.c_str(), &status) == 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
        const std::string unique = std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
        temporary_ = (target.parent_path() /
                      std::string(".").append(target.filename().string()).append(".").append(unique).append(".part"))
                         .string();
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0) {
            // Who may not change them has what a new file has.
            if (replaces) [[maybe_unused]]
                const int ignored = ::fchmod(descriptor_, status.st_mode & 07777);
            return;
        }
        if (errno != EEXIST) break;
    }
    temporary_.clear();
    fail("cannot be written");
}

OutputFile::~OutputFile() {
    if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::fail(const std::string& doing) {
    const std::string reason = std::strerror(errno);
    throw ResourceError((path_ == "-" ? std::string("standard output") : path_) + ": " + doing + ": " + reason);
}

void OutputFile::flush() {
    const char* data = buffer_.data();
    std::size_t left = buffer_.size();
    while (left > 0) {
        const ssize_t written = ::write(descriptor_, data, left);
        if (written < 0) {
            if (errno == EINTR) continue;
            buffer_.clear();
            fail("cannot be written");
        }
        data += written;
        left -= static_cast<std::size_t>(written);
    }
    buffer_.clear();
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
    if (durability == Durability::on_disk && !temporary_.empty() && ::fsync(descriptor_) != 0)
        fail("cannot be written");
    if (descriptor_ == STDOUT_FILENO) {
        descriptor_ = -1;
        return;
    }
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail("cannot be written");
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot be put in place");
    temporary_.clear();
}

void write_file(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace coterie
