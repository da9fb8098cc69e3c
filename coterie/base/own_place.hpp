#pragma once
// Internal: where this library's own files are, found from where its code is, so that an installed tree may be moved
// and nothing outside of it is ever loaded. The build folder is laid out like an installation (lib/,
// share/coterie/data, and folders of programs beside them), so that the same rule serves there.

#include <filesystem>
#include <vector>

namespace coterie::internal {

/// The folder of the shared library or the program that holds this code; empty where the system does not say.
std::filesystem::path own_folder();

/// Where libraries of coterie's may be: beside this code, and where an installed program has them. May not exist.
std::vector<std::filesystem::path> own_library_folders();

/// Where an installed library and an installed program have the data that ships with coterie. May not exist.
std::vector<std::filesystem::path> own_data_folders();

}  // namespace coterie::internal
