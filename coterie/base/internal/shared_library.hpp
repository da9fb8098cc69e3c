#pragma once
// Internal: libraries that are looked for at run time.

namespace coterie::internal {

/// dlopen of a library that stays for itself, null where there is none (dlerror() says why). OpenBLAS, which it may
/// bring, chooses its kernels while it loads, and Debian's takes recent processors for very old ones: the right choice
/// is made for it here. What OPENBLAS_CORETYPE says is respected, and the environment left as it was.
void* open_library(const char* path);

}  // namespace coterie::internal
