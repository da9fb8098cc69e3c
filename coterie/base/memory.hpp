#pragma once
// Memory is estimated and refused with a message before it is allocated.

#include <cstdint>
#include <string>
#include <string_view>

#include "coterie/base/error.hpp"
#include "coterie/base/export.hpp"

namespace coterie {

/// Bytes this process may still take: the least of the machine's available memory, what its cgroup leaves and what
/// limit_memory() leaves. 0 when unknown.
COTERIE_API std::uint64_t available_memory();

/// This process is to take no more than so many bytes: available_memory() is then at most what is left of them. For
/// programs that own their process; 0: no such limit.
COTERIE_API void limit_memory(std::uint64_t bytes);

/// "1.5 GiB", "20 MiB", "512 KiB".
COTERIE_API std::string memory_text(double bytes);

/// What require_memory throws.
struct COTERIE_API NotEnoughMemory : ResourceError {
    using ResourceError::ResourceError;
};

/// Throws NotEnoughMemory naming `what`, the bytes needed and the bytes available when `bytes` is more than is
/// available.
COTERIE_API void require_memory(double bytes, std::string_view what);

}  // namespace coterie
