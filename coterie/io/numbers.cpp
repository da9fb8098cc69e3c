// Numbers in text: exact where a quick way is exact, std::from_chars where it is not.

#include <algorithm>
#include <charconv>
#include <cstring>
#include <type_traits>

#include "coterie/io/internal/formats.hpp"

namespace coterie::formats {
namespace {

constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr float float_powers_of_ten[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f, 1e8f, 1e9f, 1e10f};

// Eight ASCII digits at once (Lemire, "Quickly parsing eight digits").
bool eight_digits(const char* p, std::uint64_t& chunk) {
    std::memcpy(&chunk, p, 8);
    return ((chunk & 0xf0f0f0f0f0f0f0f0u) | (((chunk + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4)) ==
           0x3333333333333333u;
}
std::uint64_t value_of_eight(std::uint64_t chunk) {
    chunk -= 0x3030303030303030u;
    chunk = chunk * 10 + (chunk >> 8);
    return ((chunk & 0x000000ff000000ffu) * 0x000f424000000064u +
            ((chunk >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
           32;
}

// The decimal exponent of the leading digit, for telling overflow from underflow.
bool is_below_one(const char* digits, const char* digits_end, long exponent) {
    long before_point = 0, zeros_behind = 0;
    bool point = false, significant = false;
    for (const char* p = digits; p < digits_end; ++p) {
        if (*p == '.') {
            point = true;
        } else if (*p != '0' || significant) {
            significant = true;
            if (!point)
                ++before_point;
            else
                break;
        } else if (point) {
            ++zeros_behind;
        }
    }
    if (!significant) return true;
    return (before_point > 0 ? before_point : -zeros_behind) + exponent <= 0;
}

}  // namespace

template <class Scalar>
const char* parse_decimal(const char* begin, const char* end, Scalar& value, bool& overflow) {
    const char* p = begin;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+')) {
        negative = *p == '-';
        ++p;
    }
    const char* const digits = p;
    std::uint64_t mantissa = 0;
    const auto take_digits = [&] {
        std::uint64_t chunk = 0;
        while (end - p >= 8 && eight_digits(p, chunk)) {
            mantissa = mantissa * 100000000 + value_of_eight(chunk);
            p += 8;
        }
        for (; p < end; ++p) {
            const auto digit = static_cast<unsigned char>(*p - '0');
            if (digit > 9) return;
            mantissa = mantissa * 10 + digit;
        }
    };
    // Most numbers have few digits before the point: one at a time is quickest there.
    for (int k = 0; k < 4 && p < end; ++k, ++p) {
        const auto digit = static_cast<unsigned char>(*p - '0');
        if (digit > 9) break;
        mantissa = mantissa * 10 + digit;
    }
    if (p - digits == 4) take_digits();
    std::ptrdiff_t count = p - digits;
    long exponent = 0;
    if (p < end && *p == '.') {
        const char* const fraction = ++p;
        take_digits();
        exponent = -(p - fraction);
        count += p - fraction;
    }
    if (count == 0) return nullptr;
    const char* const digits_end = p;
    long written = 0;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char* q = p + 1;
        bool down = false;
        if (q < end && (*q == '-' || *q == '+')) down = *q++ == '-';
        if (q == end || static_cast<unsigned char>(*q - '0') > 9) return nullptr;
        for (; q < end && static_cast<unsigned char>(*q - '0') <= 9; ++q)
            if (written < 1000000000) written = written * 10 + (*q - '0');
        if (down) written = -written;
        p = q;
    }
    exponent += written;
    // Both factors are exact and one rounding follows (Clinger's quick case): correctly rounded. Up to 19 digits fit
    // the mantissa.
    if (count <= 19) {
        if constexpr (std::is_same_v<Scalar, double>) {
            if (mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
                const auto whole = static_cast<double>(mantissa);
                const double magnitude =
                    exponent < 0 ? whole / powers_of_ten[-exponent] : whole * powers_of_ten[exponent];
                value = negative ? -magnitude : magnitude;
                return p;
            }
        } else {
            if (mantissa <= (std::uint64_t{1} << 24) && exponent >= -10 && exponent <= 10) {
                const auto whole = static_cast<float>(mantissa);
                const float magnitude =
                    exponent < 0 ? whole / float_powers_of_ten[-exponent] : whole * float_powers_of_ten[exponent];
                value = negative ? -magnitude : magnitude;
                return p;
            }
        }
    }
    Scalar magnitude = 0;
    const auto result = std::from_chars(digits, p, magnitude);
    if (result.ec == std::errc::result_out_of_range) {
        if (!is_below_one(digits, digits_end, written)) {
            overflow = true;
            return nullptr;
        }
        magnitude = 0;
    } else if (result.ec != std::errc() || result.ptr != p) {
        return nullptr;
    }
    value = negative ? -magnitude : magnitude;
    return p;
}

template const char* parse_decimal(const char*, const char*, float&, bool&);
template const char* parse_decimal(const char*, const char*, double&, bool&);

std::string_view trimmed(std::string_view field) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!field.empty() && blank(field.front())) field.remove_prefix(1);
    while (!field.empty() && blank(field.back())) field.remove_suffix(1);
    return field;
}

template <class Scalar>
bool parse_field(std::string_view field, Scalar& value, bool& overflow) {
    field = trimmed(field);
    if (field.empty()) return false;
    return parse_decimal(field.data(), field.data() + field.size(), value, overflow) == field.data() + field.size();
}

template bool parse_field(std::string_view, float&, bool&);
template bool parse_field(std::string_view, double&, bool&);

std::vector<std::size_t> line_pieces(std::string_view text, std::size_t piece) {
    std::vector<std::size_t> borders{0};
    while (borders.back() < text.size()) {
        std::size_t next = borders.back() + piece;
        if (next < text.size()) {
            const void* found = std::memchr(text.data() + next, '\n', text.size() - next);
            next = found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1 : text.size();
        }
        borders.push_back(std::min(next, text.size()));
    }
    return borders;
}

Index line_at(std::string_view text, std::size_t offset) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
}

}  // namespace coterie::formats
