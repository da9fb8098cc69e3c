#pragma once
// Internal: libraries that are looked for at run time.

#include <string>

namespace coterie::internal {

/// dlopen of a library that stays for itself, null where there is none (dlerror() says why).
void* open_library(const char* path);

/// The path of a library that the process has loaded and whose file's name starts with `name`; empty where there is
/// none.
std::string loaded_library(const char* name);

}  // namespace coterie::internal
