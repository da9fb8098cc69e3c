#pragma once
// Checks estimated memory before the allocation, so a fit that is too large stops with a message.

#include <cstdint>
#include <string>
#include <string_view>

#include "coterie/base/error.hpp"
#include "coterie/base/export.hpp"

namespace coterie {

/// Bytes that this process may still allocate: the smallest of the available memory of the machine, the memory that the
/// process's cgroup leaves, and the memory that limit_memory() leaves. 0 if unknown.
COTERIE_API std::uint64_t available_memory();

/// Limits this process to `bytes` of memory; available_memory() then returns at most the rest of them. 0 removes the
/// limit. Only for programs: a library should not limit the program that uses it.
COTERIE_API void limit_memory(std::uint64_t bytes);

/// "1.5 GiB", "20 MiB", "512 KiB".
COTERIE_API std::string memory_text(double bytes);

/// What require_memory throws.
struct COTERIE_API NotEnoughMemory : ResourceError {
    using ResourceError::ResourceError;
};

/// Throws NotEnoughMemory when `bytes` is more than the available memory. The message names `what`, the bytes needed
/// and the bytes available. Below 16 MiB it does not check.
COTERIE_API void require_memory(double bytes, std::string_view what);

}  // namespace coterie
