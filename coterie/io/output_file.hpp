#pragma once
// A file that is either complete or absent. It is written in the target's folder without a name or under a temporary
// name. commit() gives the file its name.

#include <cstddef>
#include <string>
#include <string_view>

namespace coterie {

class OutputFile {
public:
    /// Path "-" writes to standard output. Throws ResourceError if the folder is not writable.
    explicit OutputFile(const std::string& path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    /// Without commit(), removes the temporary file.
    ~OutputFile();

    void write(const void* data, std::size_t bytes);
    void write(std::string_view text) { write(text.data(), text.size()); }
    enum class Durability { handed_over, on_disk };
    /// Flushes, closes, renames. If this fails (disk full, ...), throws ResourceError and leaves nothing behind.
    /// on_disk: after a crash of the machine, the new or the previous file exists, not an empty file.
    void commit(Durability durability = Durability::handed_over);

private:
    std::string path_;
    std::string temporary_;
    int descriptor_ = -1;
    bool nameless_ = false;  // until commit()
    std::string buffer_;
    void flush();
    void give_name();
    [[noreturn]] void fail(const std::string& what);  // "the file cannot be WHAT: REASON", with the system's reason
};

/// Writes the whole text at once.
void write_file(const std::string& path, std::string_view text);

}  // namespace coterie
