// Checks UTF-8 without tables: the lead byte gives the number of bytes and the range of the second one. Whole files are
// checked, so ASCII bytes are skipped eight at a time.

#include "coterie/base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace coterie::internal {
namespace {

bool continues(std::string_view text, std::size_t at, unsigned low = 0x80, unsigned high = 0xBF) {
    if (at >= text.size()) return false;
    const auto byte = static_cast<unsigned char>(text[at]);
    return byte >= low && byte <= high;
}

}  // namespace

std::size_t utf8_sequence(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0x80) return 1;
    if (lead >= 0xC2 && lead <= 0xDF) return continues(text, at + 1) ? 2 : 0;
    if (lead >= 0xE0 && lead <= 0xEF) {
        const unsigned low = lead == 0xE0 ? 0xA0 : 0x80;
        const unsigned high = lead == 0xED ? 0x9F : 0xBF;
        return continues(text, at + 1, low, high) && continues(text, at + 2) ? 3 : 0;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        const unsigned low = lead == 0xF0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xF4 ? 0x8F : 0xBF;
        return continues(text, at + 1, low, high) && continues(text, at + 2) && continues(text, at + 3) ? 4 : 0;
    }
    return 0;
}

std::string shown(std::string_view text) {
    const std::size_t longest = 60;
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        if (out.size() >= longest) return out + "...";
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = utf8_sequence(text, i);
        if (length == 0 || lead < 0x20 || lead == 0x7f) {
            out += '?';
            ++i;
        } else {
            out += text.substr(i, length);
            i += length;
        }
    }
    return out;
}

std::size_t broken_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        std::uint64_t eight = 0;
        if (text.size() - at >= sizeof(eight)) {
            std::memcpy(&eight, text.data() + at, sizeof(eight));
            if ((eight & 0x8080808080808080U) == 0) {
                at += sizeof(eight);
                continue;
            }
        }
        const std::size_t bytes = utf8_sequence(text, at);
        if (bytes == 0) return at;
        at += bytes;
    }
    return std::string_view::npos;
}

}  // namespace coterie::internal
