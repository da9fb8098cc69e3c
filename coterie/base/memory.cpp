// What is available is read from /proc/meminfo and, in a cgroup of version 2, from memory.max and memory.current; what
// cannot be read limits nothing. The figure is that of the moment: nothing is reserved, so that two who ask at the same
// time may both be told yes.

#include "coterie/base/memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {
std::optional<std::uint64_t> read_number(const char* path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    if (file >> value) return value;
    return std::nullopt;  // absent, or "max"
}

std::string readable(double bytes) {
    const char* unit = "GiB";
    double amount = bytes / (1024.0 * 1024.0 * 1024.0);
    if (amount < 0.1) {
        unit = "MiB";
        amount *= 1024.0;
    }
    char text[64];
    std::snprintf(text, sizeof text, "%.3g %s", amount, unit);
    return text;
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
    const auto limit = read_number("/sys/fs/cgroup/memory.max");
    const auto used = read_number("/sys/fs/cgroup/memory.current");
    if (limit && used) {
        const std::uint64_t left = *limit > *used ? *limit - *used : 1;
        available = available == 0 ? left : std::min(available, left);
    }
    return available;
}

void require_memory(double bytes, std::string_view what) {
    if (bytes < 16.0 * 1024.0 * 1024.0) return;  // asking the system costs more than so little is worth
    const auto available = static_cast<double>(available_memory());
    if (!std::isfinite(bytes) || (available > 0 && bytes > available)) {
        throw ResourceError(std::string(what) + " needs about " + readable(bytes) + " of memory, " +
                            readable(available) + " is available");
    }
}

}  // namespace coterie
