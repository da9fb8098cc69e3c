#pragma once
// coterie-read FORMAT FILE KEY points|labels MILLISECONDS: reads one array of an HDF5 or a MATLAB file and writes it to
// standard output as reader_messages.hpp says. Started by the library (reader_process.cpp), never by a user. Here alone
// are libhdf5 and matio used, under limits that are set before the file is opened.

#include <cstddef>
#include <span>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {

/// The answer, and the limits that grow with what is to be answered.
class Answer {
public:
    /// `base` and `file_bytes` of reader_seconds().
    Answer(double base, double file_bytes) : base_(base), file_bytes_(file_bytes) { allow(0); }
    /// What will come: everything of `array` but its data, before memory is taken for them. Gives their bytes;
    /// BadData and ResourceError, naming `source`, where they are too many.
    std::size_t describe(const Array& array, const std::string& name, const std::string& source);
    void data(std::span<const std::byte> bytes);
    void end();
    void refuse(ErrorKind kind, const std::string& text);

private:
    void allow(double bytes) const;

    double base_, file_bytes_;
};

/// BadData where an HDF5 file holds an external link, external storage or a virtual dataset: they lead to other files.
void require_own_data(const std::string& path);
void read_hdf5(const std::string& path, const std::string& key, Purpose purpose, Answer& answer);
void read_matlab(const std::string& path, const std::string& key, Purpose purpose, Answer& answer);

}  // namespace coterie::formats
