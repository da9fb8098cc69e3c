#pragma once
// Points that stay in their files and are read in blocks: more rows than memory.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

/// The files that a path means: those that match where it has *, ? or [ and no file is called so, in the order of their
/// names (numbers in them count as numbers: shard-2 before shard-10); else the path itself. BadData where none matches.
COTERIE_API std::vector<std::string> files_of(const std::string& path);

/// Rows of .npy and idx files (not compressed), one file after the other, as one: in the type that read_points_file
/// would give them. Nothing is read but headers. BadData where a file is of another format or is damaged, or the files
/// differ in their columns or type.
COTERIE_API Points open_rows(std::span<const std::string> files, Precision precision = Precision::automatic);

/// Rows that are written once, in a temporary file without a name, and then read in blocks. The file is gone with the
/// points, or when the process ends, however that is.
class COTERIE_API ScratchWriter {
public:
    /// ResourceError where the folder ("": the current one) cannot be written to.
    explicit ScratchWriter(const std::string& folder);
    ScratchWriter(const ScratchWriter&) = delete;
    ScratchWriter& operator=(const ScratchWriter&) = delete;
    ~ScratchWriter();
    /// The next rows, resident, with as many columns of the same type as the others. ResourceError when the disk is
    /// full.
    void write(PointsView rows);
    /// All rows written, at least one; nothing is written after this.
    Points points();

private:
    void append(const void* data, std::size_t bytes);

    std::string name_;
    int descriptor_ = -1;
    std::size_t bytes_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
};

/// Whether open_rows reads this format.
COTERIE_API bool can_be_read_in_blocks(const std::string& file);

}  // namespace coterie
