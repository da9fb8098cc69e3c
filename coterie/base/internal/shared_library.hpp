#pragma once
// Internal: libraries that are looked for at run time.

namespace coterie::internal {

/// dlopen of a library that stays for itself, null where there is none (dlerror() says why).
void* open_library(const char* path);

/// Whether the process has loaded a library whose file's name starts with `name`.
bool is_loaded(const char* name);

}  // namespace coterie::internal
