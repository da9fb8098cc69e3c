// Detects how a text file is written, by counting in its first lines. The separator is the candidate that gives all
// lines the same number of fields, most of them numbers. The comma is the decimal sign if there are fields such as 1,5
// and none such as 1.5, unless every comma could be a thousands separator (1,234). Guesses are reported.

#include "coterie/io/internal/text_dialect.hpp"

#include <algorithm>
#include <array>

#include "coterie/base/memory.hpp"

namespace coterie::io::internal {
namespace {

constexpr std::string_view any_blank = " \t\r\n";

// Unpaired surrogates become U+FFFD.
std::string from_utf16(std::string_view bytes, bool little) {
    const auto unit = [&](std::size_t i) {
        const auto low = static_cast<unsigned char>(bytes[i + (little ? 0 : 1)]);
        const auto high = static_cast<unsigned char>(bytes[i + (little ? 1 : 0)]);
        return static_cast<std::uint32_t>(high << 8 | low);
    };
    std::string out;
    out.reserve(bytes.size() / 2);
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
        std::uint32_t code = unit(i);
        if (code >= 0xd800 && code < 0xe000) {
            const std::uint32_t next = code < 0xdc00 && i + 3 < bytes.size() ? unit(i + 2) : 0;
            if (next >= 0xdc00 && next < 0xe000) {
                code = 0x10000 + ((code - 0xd800) << 10) + (next - 0xdc00);
                i += 2;
            } else {
                code = 0xfffd;
            }
        }
        append_utf8(out, code);
    }
    return out;
}

std::string from_windows_1252(std::string_view bytes) {
    // Codes of 0x80 to 0x9f; all other bytes equal their code points.
    constexpr std::array<std::uint16_t, 32> codes = {0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                                     0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                                     0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                     0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 8);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        append_utf8(out, byte >= 0x80 && byte < 0xa0 ? codes[byte - 0x80u] : byte);
    }
    return out;
}

// 1: little-endian, 2: big-endian, 0: not UTF-16. Each Latin letter, digit or sign has one zero byte in UTF-16.
int utf16_of(std::string_view text) {
    if (text.starts_with("\xff\xfe")) return 1;
    if (text.starts_with("\xfe\xff")) return 2;
    const std::string_view start = text.substr(0, 512);
    std::array<std::size_t, 2> zeros{};
    for (std::size_t i = 0; i < start.size(); ++i) zeros[i % 2] += start[i] == '\0' ? 1 : 0;
    if (start.size() < 4 || zeros[0] + zeros[1] < start.size() * 2 / 5) return 0;
    return zeros[0] == 0 ? 1 : zeros[1] == 0 ? 2 : 0;
}

// Whether a number has a decimal comma; `thousands`: the comma may be a thousands separator instead.
bool has_decimal_comma(std::string_view field, bool& thousands) {
    if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
    const auto digits = [&] {
        std::size_t count = 0;
        while (count < field.size() && field[count] >= '0' && field[count] <= '9') ++count;
        return count;
    };
    const std::size_t before = digits();
    const bool zero = before > 0 && field.front() == '0';
    field.remove_prefix(before);
    if (!field.starts_with(',')) return false;
    field.remove_prefix(1);
    const std::size_t after = digits();
    field.remove_prefix(after);
    if (after == 0) return false;
    thousands = after == 3 && before >= 1 && before <= 3 && !zero && field.empty();
    if (field.empty()) return true;
    if (field.front() != 'e' && field.front() != 'E') return false;
    field.remove_prefix(1);
    if (!field.empty() && (field.front() == '-' || field.front() == '+')) field.remove_prefix(1);
    return !field.empty() && digits() == field.size();
}

// Calls use(fields) for the first non-empty records until it returns false.
template <class Use>
void first_records(const Records& records, std::size_t begin, int most, Use use) {
    constexpr std::size_t reach = std::size_t{1} << 18;
    const std::size_t stop = std::min(records.text.size(), begin + reach);
    std::vector<std::string_view> fields;
    for (int taken = 0; taken < most && begin < stop;) {
        const std::size_t end = records.end_of(begin);
        if (!records.is_empty(begin, end) && !records.is_comment(begin)) {
            records.split(begin, end, fields);
            if (!use(fields)) return;
            ++taken;
        }
        begin = end;
    }
}

char guess_separator(Records records, std::size_t first) {
    constexpr std::array<char, 5> candidates = {',', ';', '\t', '|', run_of_blanks};
    char best = 0;
    int best_even = 0;
    long best_score = 0;
    for (const char candidate : candidates) {
        records.separator = candidate;
        std::vector<std::size_t> widths;
        long numbers = 0, words = 0;
        try {
            first_records(records, first, 10, [&](const std::vector<std::string_view>& fields) {
                widths.push_back(fields.size());
                for (const std::string_view each : fields) {
                    const std::string_view field = inside_quotes(each);
                    bool thousands = false;
                    if (is_number_text(field) || (candidate != ',' && has_decimal_comma(field, thousands)))
                        ++numbers;
                    else if (!is_missing_word(trimmed(field)))
                        ++words;
                }
                return true;
            });
        } catch (const BadData&) {  // a quote that is invalid with this candidate
            continue;
        }
        const auto several = std::count_if(widths.begin(), widths.end(), [](std::size_t w) { return w > 1; });
        if (2 * several <= static_cast<long>(widths.size())) continue;
        // Blanks between words ("New York") do not separate columns; commas do.
        if (candidate == run_of_blanks && numbers == 0) continue;
        // 2: all lines have the same number of fields; 1: the first line has one field less, as R writes it.
        const std::size_t width = widths.back();
        int even = widths.front() == width ? 2 : widths.size() > 2 && widths.front() + 1 == width ? 1 : 0;
        for (std::size_t i = 1; i < widths.size(); ++i)
            if (widths[i] != width) even = 0;
        const long score = numbers - words;
        if (best == 0 || even > best_even || (even == best_even && score > best_score)) {
            best = candidate;
            best_even = even;
            best_score = score;
        }
    }
    return best == 0 ? ',' : best;
}

// The separator in Excel's first line "sep=;", or 0.
char separator_line(std::string_view line) {
    while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view word = inside_quotes(line);
    return word.size() == 5 && lower_case(word.substr(0, 4)) == "sep=" ? word.back() : '\0';
}

}  // namespace

std::string separator_text(char separator) {
    if (separator == '\t') return "a tab";
    if (separator == run_of_blanks) return "blanks";
    return shown(std::string(1, separator));
}

bool is_missing_word(std::string_view word) {
    static constexpr std::array<std::string_view, 13> words = {"",     "?",   "-",    "na",   "n/a", "nan",    "null",
                                                               "none", "nil", "-nan", "#n/a", ".",   "missing"};
    return word.size() <= 7 && std::find(words.begin(), words.end(), lower_case(word)) != words.end();
}

bool is_infinite_word(std::string_view word) {
    if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
    const std::string low = word.size() <= 8 ? lower_case(word) : "";
    return low == "inf" || low == "infinity";
}

bool is_like_a_number(std::string_view word) {
    return word.find_first_of("0123456789") != std::string_view::npos &&
           word.find_first_not_of("0123456789 .,'+-%$\xc2\xa0") == std::string_view::npos;
}

std::string_view inside_quotes(std::string_view field) {
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
    return field;
}

std::string without_quotes(std::string_view field) {
    if (field.empty() || field.front() != '"') return std::string(field);
    std::string out;
    field = inside_quotes(field);
    for (std::size_t i = 0; i < field.size(); ++i) {
        out += field[i];
        if (field[i] == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
    }
    return out;
}

DecodedText decode_text(const Bytes& bytes, std::string_view source) {
    DecodedText out{{bytes.text(), bytes.size()}, nullptr, {}};
    const auto convert = [&](auto how, const std::string& what) {
        require_memory(static_cast<double>(out.text.size()) * 1.5, "the converted text");
        out.owner = std::make_shared<const std::string>(how(out.text));
        out.text = *out.owner;
        out.conversions.push_back(what);
    };
    if (const int utf16 = utf16_of(out.text)) {
        if (out.text.size() % 2 != 0)
            refuse_file(source, Code::malformed,
                        filled("the text is UTF-16, but its {} bytes are not two for each character", out.text.size()),
                        "Check whether the file is truncated");
        convert([&](std::string_view text) { return from_utf16(text, utf16 == 1); }, "encoding UTF-16");
    }
    if (out.text.starts_with("\xef\xbb\xbf")) out.text.remove_prefix(3);
    if (out.text.substr(0, 4096).find('\0') != std::string_view::npos)
        refuse_file(source, Code::malformed, "the file is not text: it holds zero bytes");
    if (!internal::is_utf8(out.text))
        convert(from_windows_1252, "encoding Latin-1 (Windows-1252), because it is not UTF-8");
    if (out.text.find('\n') == std::string_view::npos && out.text.find('\r') != std::string_view::npos)
        convert(
            [](std::string_view text) {
                std::string lines(text);
                std::replace(lines.begin(), lines.end(), '\r', '\n');
                return lines;
            },
            "old Mac line ends");
    return out;
}

std::size_t Records::end_of(std::size_t begin) const {
    const char* const data = text.data();
    const void* newline = std::memchr(data + begin, '\n', text.size() - begin);
    std::size_t end = newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - data) + 1 : text.size();
    if (!quotes || is_comment(begin) || std::memchr(data + begin, '"', end - begin) == nullptr) return end;
    // Only a quote at the start opens a quoted field. Inside, two quotes stand for one, and newlines belong to the
    // field.
    bool at_start = true;
    for (std::size_t p = begin; p < text.size(); ++p) {
        const char c = data[p];
        if (c == '\n') return p + 1;
        if (c == '"' && at_start) {
            const std::size_t opened = p;
            for (;;) {
                const void* quote = p + 1 < text.size() ? std::memchr(data + p + 1, '"', text.size() - p - 1) : nullptr;
                if (quote == nullptr)
                    throw BadData(Code::malformed,
                                  "the quoted field that begins with " + shown(text.substr(opened, 20)) + " never ends",
                                  "Add the closing quote", {.file = source, .line = line_at(text, opened)});
                p = static_cast<std::size_t>(static_cast<const char*>(quote) - data);
                if (p + 1 >= text.size() || data[p + 1] != '"') break;
                ++p;
            }
            at_start = false;
        } else if (c == separator || (separator == run_of_blanks && c == '\t')) {
            at_start = true;
        } else if (!is_blank(c, separator)) {
            at_start = false;
        }
    }
    return text.size();
}

bool Records::is_empty(std::size_t begin, std::size_t end) const {
    for (std::size_t p = begin; p < end; ++p)
        if (text[p] != '\n' && !is_blank(text[p], separator)) return false;
    return true;
}

void Records::split(std::size_t begin, std::size_t end, std::vector<std::string_view>& fields) const {
    fields.clear();
    std::size_t p = begin;
    if (end > p && text[end - 1] == '\n') --end;
    const auto blanks = [&] {
        while (p < end && is_blank(text[p], separator)) ++p;
    };
    for (;;) {
        blanks();
        if (separator == run_of_blanks && p == end) return;
        const std::size_t start = p;
        if (p < end && text[p] == '"') {
            ++p;
            while (p < end && (text[p] != '"' || (p + 1 < end && text[p + 1] == '"'))) p += text[p] == '"' ? 2 : 1;
            p = std::min(p + 1, end);
            const std::size_t closed = p;
            blanks();
            const bool separated = p == end || text[p] == separator || (separator == run_of_blanks && p > closed);
            if (!separated) {
                const std::string quoted = shown(text.substr(start, closed - start));
                throw BadData(Code::malformed, "text follows the closing quote of " + quoted,
                              "Put a separator there, or write a quote inside the field as \"\"",
                              {.value = quoted,
                               .file = source,
                               .line = line_at(text, start),
                               .column_number = static_cast<std::int64_t>(fields.size()) + 1});
            }
            fields.push_back(text.substr(start, closed - start));
        } else {
            while (p < end && text[p] != separator && !(separator == run_of_blanks && text[p] == '\t')) ++p;
            std::size_t stop = p;
            while (stop > start && is_blank(text[stop - 1], separator)) --stop;
            fields.push_back(text.substr(start, stop - start));
        }
        if (separator == run_of_blanks) continue;
        if (p >= end) return;
        ++p;  // skip the separator
    }
}

Dialect find_dialect(Records& records, const ReadOptions& options, bool tab_separated, bool words) {
    Dialect out;
    const std::string_view text = records.text;
    // An empty first line is skipped in a table; in a file of labels it may be a blank label.
    const auto line_of_next = [&](std::size_t from) {
        const std::size_t keep = text.find_first_not_of(any_blank, from);
        if (keep == std::string_view::npos) return text.size();
        const std::size_t newline = text.rfind('\n', keep);
        return newline == std::string_view::npos || newline < from ? from : newline + 1;
    };
    const auto line_end = [&](std::size_t from) { return std::min(text.size(), text.find('\n', from)); };
    out.first = words ? 0 : line_of_next(0);
    char separator = options.separator;
    if (const char told = separator_line(text.substr(out.first, line_end(out.first) - out.first))) {
        if (separator == 0) separator = told;
        out.first = line_of_next(std::min(text.size(), line_end(out.first) + 1));
        out.guesses.push_back(filled("first line sep={} skipped", separator_text(told)));
    }
    Index comments = 0;
    while (!words && out.first < text.size() && text[out.first] == '#') {
        const std::size_t end = line_end(out.first);
        out.last_comment = text.substr(out.first + 1, end - out.first - 1);
        out.first = line_of_next(std::min(text.size(), end + 1));
        ++comments;
    }
    if (out.first >= text.size() && comments > 0)
        refuse_file(records.source, Code::empty,
                    "the file has no rows: every line begins with #, which marks a comment");
    if (comments > 0)
        out.guesses.push_back(counted(comments, "comment line") +
                              " at the start skipped, and later lines that begin with #");
    records.comments = comments > 0;
    const char plain = tab_separated ? '\t' : ',';
    if (separator == 0) {
        separator = tab_separated ? '\t' : guess_separator(records, out.first);
        if (separator != plain) out.guesses.push_back("fields separated by " + separator_text(separator));
    }
    records.separator = separator;
    if (options.decimal != Decimal::automatic) {
        out.decimal = options.decimal == Decimal::comma ? ',' : '.';
        return out;
    }
    bool comma = false, point = false;
    first_records(records, out.first, 1000, [&](const std::vector<std::string_view>& fields) {
        for (const std::string_view each : fields) {
            const std::string_view field = inside_quotes(each);
            bool thousands = false;
            if (field.find('.') != std::string_view::npos && is_number_text(field)) point = true;
            if (has_decimal_comma(field, thousands) && !thousands) comma = true;
        }
        return !point;
    });
    if (comma && !point) {
        out.decimal = ',';
        out.guesses.push_back("decimal commas");
    }
    return out;
}

}  // namespace coterie::io::internal
