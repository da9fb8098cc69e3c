#pragma once
// Internal: libraries that are looked for at run time.

#include <string>

#include "coterie/base/function_ref.hpp"

namespace coterie::internal {

/// dlopen of a library that stays for itself, null where there is none (dlerror() says why).
void* open_library(const char* path);

/// A library of coterie's own that is loaded when it is wanted.
struct Plugin {
    const char* file;      // among own_library_folders()
    const char* variable;  // of the environment: the file's path instead
    const char* function;  // that gives its table of functions
};
/// Opens a plug-in for good and hands its function to `take`, which says whether the plug-in serves: false where it is
/// of another version. `objection` says why a file must not be opened, nothing where it may. Returns what stood in the
/// way, nothing where one serves.
std::string load_plugin(
    const Plugin& plugin, FunctionRef<bool(void* function)> take,
    FunctionRef<std::string(const std::string& path)> objection = [](const std::string&) { return std::string(); });

/// The path of a library that the process has loaded and whose file's name starts with `name`; empty where there is
/// none.
std::string loaded_library(const char* name);

}  // namespace coterie::internal
