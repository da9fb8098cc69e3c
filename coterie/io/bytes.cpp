// Reads, maps or decompresses the bytes of a file. A regular file is read into memory, because with a mapping the
// process ends (SIGBUS) if the file becomes shorter. Only a file that would take more than half of the memory is
// mapped. A stream is read into one buffer that doubles, and large buffers are checked against the available memory
// first. Bytes own their content, so a view is valid as long as the Bytes live.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "coterie/base/memory.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

[[noreturn]] void refuse_unreadable(const std::string& file) {
    throw ResourceError(Code::cannot_read, filled("the file cannot be read: {}", std::strerror(errno)), "",
                        {.file = file});
}
[[noreturn]] void refuse_without_memory(const std::string& file, std::string problem) {
    throw ResourceError(Code::out_of_memory, std::move(problem), "", {.file = file});
}

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number_ > STDERR_FILENO) ::close(number_);
    }
    int number() const { return number_; }

private:
    int number_;
};

// A buffer that doubles with realloc, which moves large buffers without a copy, after a check of the memory.
class Buffer {
public:
    explicit Buffer(std::string_view source) : source_(source) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { std::free(data_); }

    std::byte* end() { return data_ + size_; }
    std::size_t room() const { return capacity_ - size_; }
    void grown_by(std::size_t bytes) { size_ += bytes; }
    void make_room() {
        if (room() > 0) return;
        const std::size_t wanted = std::max<std::size_t>(std::size_t{1} << 18, capacity_ * 2);
        if (wanted > (std::size_t{1} << 26))
            require_memory_for(source_, static_cast<double>(wanted - size_), "reading the file");
        void* moved = std::realloc(data_, wanted);
        if (moved == nullptr) refuse_without_memory(source_, filled("out of memory after {} bytes", size_));
        data_ = static_cast<std::byte*>(moved);
        capacity_ = wanted;
    }
    Bytes release() {
        if (size_ == 0) return {};
        // Gives unused memory of the last doubling back.
        if (void* moved = std::realloc(data_, size_)) data_ = static_cast<std::byte*>(moved);
        std::shared_ptr<const void> owner(std::exchange(data_, nullptr), [](void* p) { std::free(p); });
        const auto* begin = static_cast<const std::byte*>(owner.get());
        return {{begin, size_}, std::move(owner)};
    }

private:
    std::string source_;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

// A device such as /dev/zero never ends, so it is an error. Terminals and /dev/null are accepted.
void refuse_device(const struct stat& status, int descriptor, const std::string& source) {
    if (S_ISBLK(status.st_mode) ||
        (S_ISCHR(status.st_mode) && ::isatty(descriptor) == 0 && status.st_rdev != ::makedev(1, 3)))
        refuse_file(source, Code::cannot_read, "this is a device", "Give a file or a pipe");
}

// Binary formats that the name or the content identifies; they have no lines.
bool is_binary(std::span<const std::byte> start) {
    const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
    return is_gzip(start) || text.starts_with("ARROW1") || text.starts_with("\xff\xff\xff\xff");
}

Bytes read_to_end(int descriptor, const std::string& source, bool text) {
    Buffer buffer(source);
    std::size_t line = 0;  // bytes since the last '\n'
    bool first = true;
    for (;;) {
        buffer.make_room();
        const ssize_t got = ::read(descriptor, buffer.end(), buffer.room());
        if (got < 0) {
            if (errno == EINTR) continue;
            refuse_unreadable(source);
        }
        if (got == 0) return buffer.release();
        const std::span<const std::byte> part(buffer.end(), static_cast<std::size_t>(got));
        if (first) text = text && !is_binary(part);
        first = false;
        if (text) {
            const void* const newline = ::memrchr(part.data(), '\n', part.size());
            line = newline == nullptr
                       ? line + part.size()
                       : static_cast<std::size_t>(buffer.end() + got - static_cast<const std::byte*>(newline) - 1);
            if (line > longest_line)
                refuse_file(source, Code::limit_exceeded, filled("a line has more than {} bytes", longest_line),
                            "Give text with line ends");
        }
        buffer.grown_by(part.size());
    }
}

struct stat status_of(const Descriptor& file, const std::string& path) {
    struct stat status {};
    if (file.number() < 0)
        refuse_file(path, errno == ENOENT ? Code::not_found : Code::cannot_read,
                    filled("the file cannot be opened: {}", std::strerror(errno)));
    if (::fstat(file.number(), &status) != 0) refuse_unreadable(path);
    if (S_ISDIR(status.st_mode)) refuse_file(path, Code::cannot_read, "this is a folder", "Give a file");
    return status;
}

Bytes mapped(int descriptor, std::size_t size) {
    void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) return {};
    std::shared_ptr<const void> owner(address, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
    ::madvise(address, size, MADV_WILLNEED);
    return {{static_cast<const std::byte*>(address), size}, std::move(owner)};
}

Bytes read_whole(int descriptor, std::size_t size, const std::string& path) {
    const std::shared_ptr<std::byte[]> buffer(new (std::nothrow) std::byte[size]);
    if (!buffer) refuse_without_memory(path, filled("there is not enough memory for the {} bytes of the file", size));
    for (std::size_t have = 0; have < size;) {
        const ssize_t got = ::read(descriptor, buffer.get() + have, size - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) refuse_unreadable(path);
        if (got == 0)
            refuse_file(path, Code::changed_file, "the file has become shorter since it was opened",
                        "Read it again when no program writes to it");
        have += static_cast<std::size_t>(got);
    }
    return {{buffer.get(), size}, buffer};
}

}  // namespace

Bytes read_bytes(const std::string& path, bool text) {
    if (path == "-") {
        struct stat status {};
        const std::string source = "standard input";
        if (::fstat(STDIN_FILENO, &status) == 0) refuse_device(status, STDIN_FILENO, source);
        return read_to_end(STDIN_FILENO, source, text);
    }
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const struct stat status = status_of(file, path);
    refuse_device(status, file.number(), path);
    // Files whose size is unknown (in /proc, pipes) are read to the end.
    if (!S_ISREG(status.st_mode) || status.st_size == 0) return read_to_end(file.number(), path, text);
    const auto size = static_cast<std::size_t>(status.st_size);
    constexpr std::size_t small = std::size_t{1} << 24;
    if (size > small && size > available_memory() / 2)
        if (Bytes bytes = mapped(file.number(), size); bytes.owner) return bytes;
    return read_whole(file.number(), size, path);
}

Bytes read_bytes_inflated(const std::string& path, bool text) {
    Bytes bytes = read_bytes(path, text);
    if (is_gzip(bytes.data) || path.ends_with(".gz")) return inflate_gzip(bytes, path);
    return bytes;
}

std::size_t file_size(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const struct stat status = status_of(file, path);
    refuse_device(status, file.number(), path);
    return S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
}

bool write_all(int descriptor, const void* data, std::size_t bytes) {
    const auto* from = static_cast<const std::byte*>(data);
    while (bytes > 0) {
        const ssize_t written = ::write(descriptor, from, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        from += written;
        bytes -= static_cast<std::size_t>(written);
    }
    return true;
}

bool is_gzip(std::span<const std::byte> data) {
    return data.size() >= 2 && data[0] == std::byte{0x1f} && data[1] == std::byte{0x8b};
}

Bytes inflate_gzip(const Bytes& bytes, std::string_view source) {
    const std::string file(source);
    const auto refuse = [&](std::string problem) { refuse_file(file, Code::malformed, std::move(problem)); };
    if (!is_gzip(bytes.data)) refuse("the name ends with .gz, but the file is not a gzip file");
    Buffer out(source);
    z_stream stream{};
    if (::inflateInit2(&stream, 15 + 16) != Z_OK) refuse_without_memory(file, "out of memory before decompression");
    struct Ender {
        z_stream* stream;
        ~Ender() { ::inflateEnd(stream); }
    } const ender{&stream};
    const auto* next = reinterpret_cast<const Bytef*>(bytes.data.data());
    std::size_t left = bytes.size();
    const std::size_t most = std::size_t{1} << 30;  // zlib counts in 32 bits
    for (;;) {
        out.make_room();
        const std::size_t given = std::min(left, most);
        const std::size_t room = std::min(out.room(), most);
        stream.next_in = const_cast<Bytef*>(next);
        stream.avail_in = static_cast<uInt>(given);
        stream.next_out = reinterpret_cast<Bytef*>(out.end());
        stream.avail_out = static_cast<uInt>(room);
        const int result = ::inflate(&stream, Z_NO_FLUSH);
        const std::size_t taken = given - stream.avail_in;
        const std::size_t made = room - stream.avail_out;
        next += taken;
        left -= taken;
        out.grown_by(made);
        if (result == Z_STREAM_END) {
            // A gzip file may hold several members in a row, and zeros may pad the end.
            while (left > 0 && *next == 0) {
                ++next;
                --left;
            }
            if (left == 0) return out.release();
            if (::inflateReset(&stream) != Z_OK) throw InternalError(file + ": zlib refused to start again");
            continue;
        }
        if (result == Z_MEM_ERROR) refuse_without_memory(file, "out of memory during decompression");
        if (result != Z_OK && result != Z_BUF_ERROR)
            refuse("the gzip data are damaged" + (stream.msg ? std::string(": ") + stream.msg : std::string()));
        if (left == 0 && stream.avail_out > 0) refuse("the gzip data end too early: the file is truncated");
    }
}

void append_utf8(std::string& out, std::uint32_t code) {
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
    constexpr std::uint32_t marks[] = {0, 0xc0, 0xe0, 0xf0};
    out += static_cast<char>(marks[more] | (code >> 6 * more & (more == 3 ? 7U : 0x7fU)));
    for (int k = more; k-- > 0;) out += static_cast<char>(0x80 | (code >> 6 * k & 0x3f));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    if (shape.empty()) return "a single number";
    std::string out;
    for (const std::int64_t extent : shape) out += (out.empty() ? "" : " x ") + std::to_string(extent);
    return shape.size() == 1 ? out + " values" : out;
}

}  // namespace coterie::formats
