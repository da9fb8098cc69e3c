#pragma once
// A file that is either there whole or not there at all: written without a name, or under a temporary one, in the
// target's folder, renamed by commit().

#include <cstddef>
#include <string>
#include <string_view>

namespace coterie {

class OutputFile {
public:
    /// Path "-" writes to standard output. ResourceError when the folder cannot be written.
    explicit OutputFile(const std::string& path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    /// Without commit() the temporary file is removed.
    ~OutputFile();

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    enum class Durability { handed_over, on_disk };
    /// Flushes, closes, renames. ResourceError (disk full, ...) leaves nothing behind. on_disk: a crash of the machine
    /// leaves this file or the one before it, and not an empty one.
    void commit(Durability durability = Durability::handed_over);

private:
    std::string path_;
    std::string temporary_;
    int descriptor_ = -1;
    bool nameless_ = false;  // until commit()
    std::string buffer_;
    void flush();
    void give_name();
    [[noreturn]] void fail(const std::string& doing);
};

/// Writes the whole text at once.
void write_file(const std::string& path, std::string_view text);

}  // namespace coterie
