// The idx format of the MNIST files: 0, 0, type, number of dimensions, big-endian 32-bit extents, big-endian items. For
// files that are read in blocks, only the header is parsed here.

#include "coterie/io/formats.hpp"

namespace coterie::formats {

Array parse_idx_header(const Bytes& bytes, std::string_view source) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes.data[i]); };
    if (bytes.size() < 4 || byte(0) != 0 || byte(1) != 0)
        refuse_file(source, Code::malformed, "the file is not an idx file: it does not begin with two zero bytes");
    Array array;
    switch (byte(2)) {
        case 0x08: array.element = Element::uint8; break;
        case 0x09: array.element = Element::int8; break;
        case 0x0b: array.element = Element::int16; break;
        case 0x0c: array.element = Element::int32; break;
        case 0x0d: array.element = Element::float32; break;
        case 0x0e: array.element = Element::float64; break;
        default:
            refuse_file(source, Code::unsupported_format, filled("idx type {} is not supported", byte(2)),
                        "Use type 8 or 9 (bytes), 11 or 12 (integers), 13 or 14 (floats)");
    }
    array.item_bytes = item_bytes(array.element);
    array.swapped = array.item_bytes > 1;
    const std::size_t dimensions = byte(3), start = 4 + 4 * dimensions;
    if (dimensions == 0)
        refuse_file(source, Code::malformed, "the header has no dimensions, but an idx file needs at least one");
    if (bytes.size() < start) refuse_file(source, Code::malformed, "the file is truncated inside the header");
    for (std::size_t k = 0; k < dimensions; ++k) {
        const std::size_t at = 4 + 4 * k;
        array.shape.push_back(
            static_cast<std::int64_t>(byte(at) << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3)));
    }
    array.data = bytes.data.subspan(start);
    array.owner = bytes.owner;
    array.source = source;
    return array;
}

Array parse_idx(const Bytes& bytes, std::string_view source) {
    Array array = parse_idx_header(bytes, source);
    require_length(array, array.data.size(), source);
    return array;
}

}  // namespace coterie::formats
