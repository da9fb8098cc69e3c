#pragma once
// coterie-read FORMAT FILE KEY points|labels MILLISECONDS: reads one array of an HDF5 or MATLAB file and writes it to
// standard output in the format of reader_messages.hpp. Only the library starts this program (reader_process.cpp), and
// only this program uses libhdf5 and matio. Its limits are set before the file is opened.

#include <cstddef>
#include <span>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::io::internal {

using namespace coterie::formats;

/// Sends the answer, and raises the limits for large arrays.
class Answer {
public:
    /// `base` and `file_bytes`: see reader_seconds().
    Answer(double base, double file_bytes) : base_(base), file_bytes_(file_bytes) { allow(0); }
    /// Announces `array` without its data, before memory is allocated for the data. Returns the size of the data in
    /// bytes. If it is too large, throws BadData or ResourceError that names `source`.
    std::size_t describe(const Array& array, const std::string& name, const std::string& source);
    void data(std::span<const std::byte> bytes);
    void end();
    void refuse(ErrorKind kind, const Message& message);

private:
    void allow(double bytes) const;

    double base_, file_bytes_;
};

/// Throws BadData if an HDF5 file holds an external link, external storage or a virtual dataset, because these refer to
/// other files.
void require_own_data(const std::string& path);
void read_hdf5(const std::string& path, const std::string& key, Purpose purpose, Answer& answer);
void read_matlab(const std::string& path, const std::string& key, Purpose purpose, Answer& answer);

}  // namespace coterie::io::internal
