#pragma once
// Memory is estimated and refused with a message before it is allocated.

#include <cstdint>
#include <string_view>

namespace coterie {

/// Bytes this process may still take: the smaller of the machine's available memory and what its cgroup leaves. 0 when
/// unknown.
std::uint64_t available_memory();

/// Throws ResourceError naming `what`, the bytes needed and the bytes available when `bytes` is more than is available.
void require_memory(double bytes, std::string_view what);

}  // namespace coterie
