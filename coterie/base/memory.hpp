#pragma once
// Memory is estimated and refused with a message before it is allocated.

#include <cstdint>
#include <string_view>

#include "coterie/base/export.hpp"

namespace coterie {

/// Bytes this process may still take: the smaller of the machine's available memory and what its cgroup leaves. 0 when
/// unknown.
COTERIE_API std::uint64_t available_memory();

/// Throws ResourceError naming `what`, the bytes needed and the bytes available when `bytes` is more than is available.
COTERIE_API void require_memory(double bytes, std::string_view what);

}  // namespace coterie
