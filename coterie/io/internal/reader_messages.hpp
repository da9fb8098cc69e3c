#pragma once
// Internal: the messages that coterie-read (io/internal/reader/) writes to its standard output for reader_process.cpp.
// A message is a head and `bytes` bytes. An answer is
//
//   array, data (any number of times, together the array's bytes), end      or      refusal, at any moment.
//
// Both programs come from the same build on the same machine, so numbers are sent in memory format.

#include <cstddef>
#include <cstdint>

namespace coterie::io::internal {

enum class AnswerPart : std::uint32_t {
    array = 0x61b7c301,  // detail: the element, + 256 in Fortran order, + 65536 dimensions; extents, name, \0, note
    data = 0x61b7c302,
    end = 0x61b7c303,
    refusal = 0x61b7c304  // detail: the ErrorKind; the text
};
struct MessageHead {
    AnswerPart kind;
    std::uint32_t detail;
    std::uint64_t bytes;
};
constexpr std::size_t longest_text = std::size_t{1} << 20;  // most bytes of an array description or a refusal

/// Processor seconds allowed: `base` plus one second for every 10 MB. `bytes` is the size of the file plus, once known,
/// the claimed size of the array. (The libraries read some hundred MB a second.)
constexpr double reader_seconds(double base, double bytes) { return base + bytes / 1e7; }

/// Bytes of address space allowed: 1 GiB plus 4 `bytes`, because a compressed chunk may exceed the part that is used.
constexpr double reader_memory(double bytes) { return 1024.0 * 1024 * 1024 + 4 * bytes; }

}  // namespace coterie::io::internal
