// Available memory comes from /proc/meminfo and, in a version 2 cgroup, from memory.max and memory.current. A value
// that cannot be read sets no limit. Nothing is reserved, so two simultaneous requests may both succeed although only
// one fits.

#include "coterie/base/memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace coterie {
namespace {
std::optional<std::uint64_t> read_number(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (file >> value) return value;
    return std::nullopt;  // absent, or "max"
}

// Bytes of files in a cgroup's page cache. The kernel frees them when memory is needed.
std::uint64_t cached_in(const std::string& group) {
    std::ifstream file(group + "/memory.stat");
    std::uint64_t cached = 0;
    std::string word;
    for (std::uint64_t value = 0; file >> word >> value;)
        if (word == "inactive_file" || word == "active_file") cached += value;
    return cached;
}

// The folders of this process's control group and of the groups that contain it, innermost first.
std::vector<std::string> control_groups() {
    const std::string root = "/sys/fs/cgroup";
    std::vector<std::string> groups;
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("0::/")) continue;
        for (std::string path = line.substr(3); path.size() > 1; path.resize(path.rfind('/')))
            groups.push_back(root + path);
    }
    groups.push_back(root);
    return groups;
}

std::atomic<std::uint64_t> own_limit{0};

// Memory of this process that is not mapped from a file.
std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t size = 0, resident = 0, shared = 0;
    file >> size >> resident >> shared;
    return (resident - std::min(resident, shared)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t available_memory() {
    std::uint64_t available = 0;
    std::ifstream meminfo("/proc/meminfo");
    for (std::string word; meminfo >> word;) {
        if (word == "MemAvailable:") {
            meminfo >> available;
            available *= 1024;
            break;
        }
    }
    const auto leave = [&](std::uint64_t most, std::uint64_t taken) {
        const std::uint64_t left = most > taken ? most - taken : 1;
        available = available == 0 ? left : std::min(available, left);
    };
    for (const std::string& group : control_groups()) {
        const auto limit = read_number(group + "/memory.max");
        const auto used = read_number(group + "/memory.current");
        if (limit && used) leave(*limit, *used - std::min(*used, cached_in(group)));
    }
    if (const std::uint64_t own = own_limit; own > 0) leave(own, resident_bytes());
    return available;
}

std::string memory_text(double bytes) {
    const char* unit = "GiB";
    double amount = bytes / (1024.0 * 1024.0 * 1024.0);
    for (const char* smaller : {"MiB", "KiB"}) {
        if (amount >= 0.1) break;
        unit = smaller;
        amount *= 1024.0;
    }
    if (bytes < 1024) return "less than 1 KiB";
    char text[64];
    std::snprintf(text, sizeof text, "%.3g %s", amount, unit);
    return text;
}

void limit_memory(std::uint64_t bytes) { own_limit = bytes; }

void require_memory(double bytes, std::string_view what) {
    if (bytes < 16.0 * 1024.0 * 1024.0) return;  // asking the system costs more than such a small check is worth
    const auto available = static_cast<double>(available_memory());
    if (!std::isfinite(bytes) || (available > 0 && bytes > available)) {
        throw NotEnoughMemory(Code::out_of_memory, std::string(what) + " needs about " + memory_text(bytes) +
                                                       " of memory, " + memory_text(available) + " is available");
    }
}

}  // namespace coterie
