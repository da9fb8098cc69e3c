// Reads numbers, intervals and lists of LABEL=VALUE. A label may contain commas and equals signs, so the list of known
// labels decides where it ends.

#include "coterie/constraints/constraint_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>

#include "coterie/base/options.hpp"

namespace coterie {
namespace {

constexpr const char* shares_accepted =
    "LABEL=SHARE or LABEL=LOW:HIGH (either end may be left out), fractions of 1, separated by commas";
constexpr const char* sizes_accepted = "LOW:HIGH (either end may be left out) or one whole number for both";
constexpr const char* clusters_accepted = "LABEL=N, where N is a whole number, separated by commas";

template <class Number>
bool parse(const std::string& text, Number& number) {
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    if (result.ec != std::errc() || result.ptr != end) return false;
    if constexpr (std::is_floating_point_v<Number>) return std::isfinite(number);
    return true;
}

// "3" means 3 to 3. A missing end leaves its variable unchanged.
template <class Number>
bool parse_interval(const std::string& text, Number& low, Number& high) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) {
        const bool sound = parse(text, low);
        high = low;
        return sound;
    }
    const std::string first = text.substr(0, colon);
    const std::string second = text.substr(colon + 1);
    return text.size() > 1 && (first.empty() || parse(first, low)) && (second.empty() || parse(second, high));
}

// The items of LABEL=VALUE,LABEL=VALUE as pairs. A label may contain '='. It may contain a comma if it is the only
// label in `text`.
std::vector<std::pair<std::string, std::string>> labelled_values(const char* option, const std::string& text,
                                                                 const std::vector<std::string>& labels,
                                                                 const char* accepted) {
    const auto known = [&](const std::string& label) {
        return std::find(labels.begin(), labels.end(), label) != labels.end();
    };
    std::vector<std::pair<std::string, std::string>> out;
    const bool one = known(text.substr(0, text.rfind('=')));
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = one ? text.size() : std::min(text.find(',', begin), text.size());
        const std::string item = text.substr(begin, end - begin);
        const auto equals = item.rfind('=');
        if (equals == std::string::npos || equals == 0) throw refused_option(option, text, accepted);
        out.emplace_back(item.substr(0, equals), item.substr(equals + 1));
        begin = end + 1;
    }
    return out;
}

}  // namespace

SizeBounds read_size_bounds(const std::string& text) {
    SizeBounds out;
    if (!parse_interval(text, out.low, out.high)) throw refused_option("sizes", text, sizes_accepted);
    return out;
}

std::vector<ClustersOfLabel> read_clusters_per_label(const std::string& text, const std::vector<std::string>& labels) {
    std::vector<ClustersOfLabel> out;
    for (const auto& [label, value] : labelled_values("clusters_per_label", text, labels, clusters_accepted))
        if (!parse(value, out.emplace_back(ClustersOfLabel{label}).clusters))
            throw refused_option("clusters_per_label", label + "=" + value, clusters_accepted);
    return out;
}

std::vector<LabelShare> read_label_shares(const std::string& text, const std::vector<std::string>& labels) {
    std::vector<LabelShare> out;
    for (const auto& [label, value] : labelled_values("label_share", text, labels, shares_accepted)) {
        LabelShare& share = out.emplace_back(LabelShare{label});
        if (!parse_interval(value, share.low, share.high))
            throw refused_option("label_share", label + "=" + value, shares_accepted);
    }
    return out;
}

}  // namespace coterie
