// Processes with different options or data would exchange messages of different lengths. They would wait for each other
// forever, or add numbers that do not belong together. So they first compare a hash of their work. If it differs, they
// exchange the pairs of names and values, to report the difference.

#include "coterie/base/parallel/same_work.hpp"

#include <algorithm>
#include <functional>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;
constexpr std::size_t most_shown = 3;      // most differences, and most processes per value, that a message shows
constexpr std::size_t longest_value = 60;  // most characters of a value that a message shows

// Fields end in 0, which occurs in no name or value.
std::string text_of(const Facts& facts) {
    std::string out;
    for (const auto& [name, value] : facts) out += name + '\0' + value + '\0';
    return out;
}

Facts facts_of(const std::string& text) {
    Facts out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t middle = text.find('\0', at);
        const std::size_t end = text.find('\0', middle + 1);
        out.emplace_back(text.substr(at, middle - at), text.substr(middle + 1, end - middle - 1));
        at = end + 1;
    }
    return out;
}

std::uint64_t hash_of(const std::string& text) {  // FNV-1a
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    return hash;
}

std::string processes_text(const std::vector<int>& processes) {
    std::string out = processes.size() == 1 ? "process " : "processes ";
    for (std::size_t i = 0; i < std::min(most_shown, processes.size()); ++i)
        out += (i == 0 ? "" : ", ") + std::to_string(processes[i]);
    if (processes.size() > most_shown) out += filled(" and {} more", processes.size() - most_shown);
    return out;
}

// "rows: 150 on processes 0, 2; 178 on process 1"
std::string difference(const std::string& name, const std::vector<Facts>& all) {
    std::vector<std::pair<std::string, std::vector<int>>> values;
    for (std::size_t process = 0; process < all.size(); ++process) {
        const auto fact = std::find_if(all[process].begin(), all[process].end(),
                                       [&](const auto& each) { return each.first == name; });
        const std::string value = fact == all[process].end() ? "not given" : fact->second;
        auto place = std::find_if(values.begin(), values.end(), [&](const auto& each) { return each.first == value; });
        if (place == values.end()) place = values.insert(values.end(), {value, {}});
        place->second.push_back(static_cast<int>(process));
    }
    if (values.size() == 1) return {};
    std::string out = name + ": ";
    for (std::size_t i = 0; i < std::min(most_shown, values.size()); ++i) {
        std::string value = values[i].first;
        if (value.size() > longest_value) value = value.substr(0, longest_value) + "...";
        out += (i == 0 ? "" : "; ") + value + " on " + processes_text(values[i].second);
    }
    if (values.size() > most_shown) out += "; ...";
    return out;
}

}  // namespace

Work::Work(std::string what) { add("version", COTERIE_VERSION).add("work", std::move(what)); }

Work& Work::add(std::string name, std::string value) {
    for (std::string* const text : {&name, &value}) std::replace(text->begin(), text->end(), '\0', ' ');
    facts_.emplace_back(std::move(name), std::move(value));
    return *this;
}

Work& Work::add(const Run& run) { return add("seed", std::to_string(run.seed)).add("device", run.device); }

Work& Work::add(const OptionValues& options) {
    for (const auto& [name, value] : options) add("`" + name + "`", to_text(value));
    return *this;
}

Work& Work::add(PointsView points) {
    add("rows", std::to_string(points.rows())).add("columns", std::to_string(points.columns()));
    return add("type", (as_sparse(points) != nullptr ? "sparse " : "") + std::string(name(points.scalar())));
}

void require_same_work(const Work& own, Communicator& communicator) {
    if (communicator.size() == 1) return;
    const std::string text = text_of(own.facts());
    std::vector<std::uint64_t> hashes;
    for (int process = 0; process < communicator.size(); ++process)
        hashes.push_back(from_process(communicator, process, hash_of(text)));
    if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) == hashes.end()) return;
    std::vector<Facts> all;
    for (int process = 0; process < communicator.size(); ++process)
        all.push_back(facts_of(text_from(communicator, process, text)));
    std::vector<std::string> names;  // the names that occur on any process, each once
    for (const Facts& facts : all)
        for (const auto& [name, value] : facts)
            if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    std::string differences;
    std::size_t shown = 0;
    for (const std::string& name : names) {
        const std::string differs = difference(name, all);
        if (differs.empty()) continue;
        if (++shown > most_shown) {
            differences += ", ...";
            break;
        }
        differences += (shown == 1 ? ": " : ", ") + differs;
    }
    throw BadData(Code::processes_differ, "the processes were not given the same work" + differences,
                  "Start all with the same command on the same data");
}

}  // namespace coterie::internal
