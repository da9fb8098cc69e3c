// Formats tables, counts and figures in one place, so that terminal, page and messages agree on them. table() and
// facts() align by characters, not by bytes of UTF-8; wrap() counts bytes.

#include "coterie/base/text_format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "coterie/base/text.hpp"

namespace coterie::internal {

std::string formatted(const char* pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
}

std::string join(const std::vector<std::string>& words, const std::string& between) {
    std::string out;
    for (const auto& word : words) out += (out.empty() ? "" : between) + word;
    return out;
}

constexpr std::size_t longest_word = 1000;

std::vector<std::string> wrap(const std::string& text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    std::string word;
    const auto end_word = [&] {
        if (word.empty()) return;
        // A message may quote a long text of a file or a model as one word. The cut is between characters.
        if (word.size() > longest_word) {
            std::size_t end = longest_word;
            while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xC0) == 0x80) --end;
            word = word.substr(0, end) + "...";
        }
        if (!line.empty() && line.size() + 1 + word.size() > width) {
            lines.push_back(line);
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        word.clear();
    };
    for (const char c : text) {
        if (c == ' ' || c == '\n') {
            end_word();
            if (c == '\n') {
                lines.push_back(line);
                line.clear();
            }
        } else {
            word += c;
        }
    }
    end_word();
    if (!line.empty()) lines.push_back(line);
    return lines;
}

std::size_t display_width(const std::string& text) {
    // Counts every byte except the continuation bytes of UTF-8.
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string table(const std::vector<std::string>& header, const std::vector<std::vector<std::string>>& rows,
                  const std::vector<std::size_t>& right) {
    std::vector<std::size_t> widths;
    const auto measure = [&](const std::vector<std::string>& row) {
        if (widths.size() < row.size()) widths.resize(row.size(), 0);
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    };
    measure(header);
    for (const auto& row : rows) measure(row);
    std::string out;
    const auto append = [&](const std::vector<std::string>& row) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(widths[i] - display_width(row[i]), ' ');
            const bool to_right = std::find(right.begin(), right.end(), i) != right.end();
            line += (i == 0 ? "" : "  ") + (to_right ? padding + row[i] : row[i] + padding);
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        out += line + "\n";
    };
    if (!header.empty()) append(header);
    for (const auto& row : rows) append(row);
    return out;
}

std::string facts(const std::vector<std::pair<std::string, std::string>>& rows) {
    std::size_t indent = 0;
    for (const auto& row : rows) indent = std::max(indent, display_width(row.first) + 2);
    std::string out;
    for (const auto& [name, value] : rows) {
        std::string start = name + std::string(indent - display_width(name), ' ');
        auto lines = wrap(value, 100 - std::min<std::size_t>(indent, 60));
        if (lines.empty()) lines.push_back("");
        for (const auto& line : lines) {
            out += start + line + "\n";
            start.assign(indent, ' ');
        }
    }
    return out;
}

std::string share_text(double share) { return fixed_text(share, 4); }
std::string share_text(std::pair<double, double> shares) {
    const auto [low, high] = shares;
    return share_text(low) + (low == high ? "" : " to " + share_text(high));
}
std::string fixed_text(double value, int digits) { return formatted(filled("%.{}f", digits).c_str(), value); }

std::string number_text(double value) { return formatted("%.6g", value); }
std::string seconds_text(double seconds) { return formatted(seconds < 10 ? "%.3f" : "%.1f", seconds); }

std::string count_text(long long count) {
    std::string digits = std::to_string(count < 0 ? -count : count);
    for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
    return (count < 0 ? "-" : "") + digits;
}

std::string bytes_text(double bytes) {
    const char* units[] = {"bytes", "KB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    while (bytes >= 1000 && unit + 1 < std::size(units)) {
        bytes /= 1000;
        ++unit;
    }
    return formatted(unit == 0 || bytes >= 100 ? "%.0f " : "%.1f ", bytes) + units[unit];
}

std::string likely_word(const std::string& word, const std::vector<std::string>& candidates) {
    std::string best;
    // The limit is low for short words: "gmm" does not misspell "aml".
    std::size_t least = std::max<std::size_t>(word.size() < 4 ? 1 : 2, word.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        // The beginning of a word counts as a match.
        const bool begins = word.size() >= 2 && candidate.starts_with(word);
        const std::size_t distance = begins ? 0 : edit_distance(word, candidate);
        if (distance < least) {
            least = distance;
            best = candidate;
        }
    }
    return best;
}

double bytes_from_text(const std::string& text) {
    double bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    const std::string unit(end, text.data() + text.size());
    if (error != std::errc()) return 0;
    if (unit.empty()) return bytes;
    const std::size_t power = std::string("KMGT").find(unit[0]);
    if (power == std::string::npos || (unit.size() > 1 && unit.substr(1) != "iB" && unit.substr(1) != "B")) return 0;
    return std::ldexp(bytes, 10 * static_cast<int>(power + 1));
}

std::string left_out_text(Index rows) {
    return count_text(rows) + (rows == 1 ? " row" : " rows") + " with missing values";
}

}  // namespace coterie::internal
