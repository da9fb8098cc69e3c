#pragma once
// Internal: libraries that are loaded at run time.

#include <string>

#include "coterie/base/function_ref.hpp"

namespace coterie::internal {

/// dlopen with local symbols; null if it fails (dlerror() says why).
void* open_library(const char* path);

/// One of coterie's own libraries, loaded on demand.
struct Plugin {
    const char* file;      // searched in own_library_folders()
    const char* variable;  // environment variable that may give another path of the file
    const char* function;  // returns the plug-in's table of functions
};
/// Opens a plug-in permanently and passes its function to `take`, which returns false if the plug-in has another
/// version. `objection` returns a reason why a file must not be opened, or an empty text. Returns the reason for a
/// failure, or an empty text on success.
std::string load_plugin(
    const Plugin& plugin, FunctionRef<bool(void* function)> take,
    FunctionRef<std::string(const std::string& path)> objection = [](const std::string&) { return std::string(); });

/// The path of a loaded library whose file name starts with `name`; empty if there is none.
std::string loaded_library(const char* name);

}  // namespace coterie::internal
