#pragma once
// Internal: writes the rows of a table in Arrow's IPC format.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "coterie/io/output_file.hpp"
#include "coterie/io/writer.hpp"

namespace coterie::io::internal {

using namespace coterie::internal;

/// The 64-bit integer that a word stands for, if the integer is written in the same way.
std::optional<std::int64_t> whole_value(std::string_view word);
/// The number that a word stands for; it may be infinite.
std::optional<double> real_value(std::string_view word, char decimal);

class ArrowRows {
public:
    /// `stream`: writes a stream, which has no table of contents at its end.
    ArrowRows(OutputFile& file, const std::vector<std::string>& names, std::vector<FieldType> types, bool stream);
    ArrowRows(const ArrowRows&) = delete;
    ArrowRows& operator=(const ArrowRows&) = delete;
    ~ArrowRows();

    /// Throws BadData if a field does not match its column's type.
    void write(std::span<const std::string> fields);
    /// Completes the file; write() must not be called afterwards.
    void finish();

private:
    struct Parts;
    void start_batch();
    void write_batch();
    void hand_over();

    OutputFile& file_;
    std::vector<std::string> names_;
    std::vector<FieldType> types_;
    bool stream_;
    std::unique_ptr<Parts> parts_;
};

}  // namespace coterie::io::internal
