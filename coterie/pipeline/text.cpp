// Tables, counts and figures are written in one place, so that terminal, page and messages agree on them. Widths are of
// characters, not of the bytes of UTF-8.

#include "coterie/pipeline/text.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

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
        if (word.size() > longest_word) {  // whatever a file or a model made it quote; a character stays whole
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
    // Every byte but the continuation bytes of UTF-8.
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
std::string fixed_text(double value, int digits) {
    return formatted(("%." + std::to_string(digits) + "f").c_str(), value);
}

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

std::string left_out_text(Index rows) {
    return count_text(rows) + (rows == 1 ? " row" : " rows") + " with missing values";
}

std::string sizes_text(const std::vector<Index>& sizes, std::size_t most) {
    std::string out;
    for (std::size_t i = 0; i < std::min(most, sizes.size()); ++i)
        out += (i == 0 ? "" : " ") + std::to_string(sizes[i]);
    if (sizes.size() > most) out += " ... (" + std::to_string(sizes.size()) + " clusters)";
    return out;
}

std::vector<std::pair<std::string, double>> named(const Scores& scores) {
    return {{"ACC", scores.acc},
            {"NMI", scores.nmi},
            {"ARI", scores.ari},
            {"purity", scores.purity},
            {"homogeneity", scores.homogeneity},
            {"completeness", scores.completeness}};
}

std::string scores_text(const Agreement& agreement) {
    auto all = named(agreement.scores);
    if (agreement.label_accuracy) all.emplace_back("label accuracy", *agreement.label_accuracy);
    std::string out;
    for (const auto& [name, score] : all) out += (out.empty() ? "" : ", ") + name + " " + share_text(score);
    return out;
}

std::string truth_text(const Agreement& agreement, const std::string& source) {
    return agreement.given == 0 ? source
                                : source + "; scored on the " + count_text(agreement.scored) +
                                      (agreement.scored == 1 ? " point" : " points") + " that had no label";
}

std::string label_groups_text(const std::vector<LabelGroup>& groups, const std::vector<Index>& sizes) {
    constexpr std::size_t most = 40;
    std::string out;
    Index free_points = std::accumulate(sizes.begin(), sizes.end(), Index{0});
    std::size_t free_clusters = sizes.size();
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& group = groups[i];
        free_points -= group.points;
        free_clusters -= group.clusters.size();
        if (i >= most) continue;
        out += (i == 0 ? "" : ", ") + group.name + " " + std::to_string(group.points);
        if (group.clusters.size() != 1) out += " in " + std::to_string(group.clusters.size()) + " clusters";
    }
    if (groups.size() > most) out += " ... (" + std::to_string(groups.size()) + " labels)";
    if (free_clusters > 0)
        out += "; " + std::to_string(free_points) + " in " + std::to_string(free_clusters) +
               (free_clusters == 1 ? " free cluster" : " free clusters");
    return out;
}

}  // namespace coterie::internal
