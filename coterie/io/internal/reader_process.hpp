#pragma once
// Internal: reads HDF5 and MATLAB files with the program coterie-read in a separate process. On some damaged files
// their libraries crash, hang or take unlimited memory. In a child process this becomes an ordinary error. Also, a
// process that links libcoterie may have loaded its own libhdf5, so coterie must not load another.

#include <string>
#include <string_view>

#include "coterie/base/run.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::io::internal {

using namespace coterie::formats;
using namespace coterie::internal;

struct ReaderProgram {
    std::string path;     // empty: coterie-read of this installation
    double seconds = 10;  // `base` of reader_seconds; the limit of wall-clock time is ten times as long
};

/// The array chosen by `key` and `purpose` (see choose()) in a file of `format`, "hdf5" or "mat". Its source is
/// FILE:NAME. Everything that the child sends is checked. Throws BadData if the child dies, stalls or sends invalid
/// messages, ResourceError if memory is short or the program is missing, Cancelled if `run` stops. No child remains.
Array read_apart(std::string_view format, const std::string& path, std::string_view key, Purpose purpose,
                 const std::string& source, const Run& run, const ReaderProgram& program = {});

}  // namespace coterie::io::internal
