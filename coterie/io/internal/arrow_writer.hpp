#pragma once
// Internal: rows of a table to Arrow's IPC format.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coterie/io/output_file.hpp"
#include "coterie/io/writer.hpp"

namespace coterie {

class ArrowRows {
public:
    /// `stream`: without the table of contents that ends a file.
    ArrowRows(OutputFile& file, const std::vector<std::string>& names, std::vector<FieldType> types, bool stream);
    ArrowRows(const ArrowRows&) = delete;
    ArrowRows& operator=(const ArrowRows&) = delete;
    ~ArrowRows();

    /// BadData where a field is not of its column's type.
    void write(std::span<const std::string> fields);
    /// Nothing is written after this.
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

}  // namespace coterie
