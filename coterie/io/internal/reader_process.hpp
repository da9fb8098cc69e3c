#pragma once
// Internal: HDF5 and MATLAB files, read by the program coterie-read in a process of its own. Their libraries crash,
// hang and take memory without bound on some damaged files; there that ends a child and becomes an error like any
// other. It also keeps libhdf5 out of the processes that link libcoterie, which may hold one already.

#include <string>
#include <string_view>

#include "coterie/base/run.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {

struct ReaderProgram {
    std::string path;     // empty: coterie-read of this installation
    double seconds = 10;  // `base` of reader_seconds; ten times the whole may pass on the clock
};

/// The array meant by `key` and `purpose` (as choose() says) in a file of `format`, "hdf5" or "mat". Its
/// source is FILE:NAME. Nothing that the child says is believed unchecked: BadData where it dies, stalls or talks
/// nonsense, ResourceError where memory does not suffice or the program is missing, Cancelled when `run` says stop. No
/// child is left behind, however this ends.
Array read_apart(std::string_view format, const std::string& path, std::string_view key, Purpose purpose,
                 const std::string& source, const Run& run, const ReaderProgram& program = {});

}  // namespace coterie::formats
