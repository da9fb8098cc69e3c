#pragma once
// Points that stay in their files and are read in blocks, for more rows than fit into memory.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {

/// The files that a path stands for. A path with *, ? or [ that is not the name of a file stands for all matching
/// files, ordered by name (digits compare as numbers: shard-2 before shard-10). Throws BadData if nothing matches.
/// Other paths stand for themselves.
COTERIE_API std::vector<std::string> files_of(const std::string& path);

/// Opens uncompressed .npy and idx files as one set of rows, one file after another, with the scalar type that
/// read_points_file would use. Reads only the headers. Throws BadData if a file has another format or is damaged, or if
/// the files differ in their columns or type.
COTERIE_API Points open_rows(std::span<const std::string> files, Precision precision = Precision::automatic);

/// Rows that are written once to a temporary file without a name, and then read in blocks. The file disappears with the
/// points or at the end of the process.
class COTERIE_API ScratchWriter {
public:
    /// Throws ResourceError if the folder ("": the current one) is not writable.
    explicit ScratchWriter(const std::string& folder);
    ScratchWriter(const ScratchWriter&) = delete;
    ScratchWriter& operator=(const ScratchWriter&) = delete;
    ~ScratchWriter();
    /// Appends resident rows. All calls must use the same number of columns and type. Throws ResourceError if the disk
    /// is full.
    void write(PointsView rows);
    /// Returns all written rows; there must be at least one. write() must not be called afterwards.
    Points points();

private:
    std::string name_;
    int descriptor_ = -1;
    std::size_t bytes_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
};

/// Whether open_rows reads this format.
COTERIE_API bool can_be_read_in_blocks(const std::string& file);

}  // namespace coterie
