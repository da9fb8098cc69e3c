#pragma once
// Internal: finds this library's own files relative to its code. So an installation may be moved, and nothing outside
// it is ever loaded. The build folder has the same layout (lib/, share/coterie/data, and folders of programs next to
// them), so the same rule works there.

#include <filesystem>
#include <vector>

namespace coterie::internal {

/// The folder of the shared library or program that holds this code. Empty if the system does not report it.
std::filesystem::path own_folder();

/// Folders that may hold coterie's libraries, seen from this code and from an installed program. Some may not exist.
std::vector<std::filesystem::path> own_library_folders();

/// Folders that may hold coterie's data, seen from an installed library and from an installed program. Some may not
/// exist.
std::vector<std::filesystem::path> own_data_folders();

}  // namespace coterie::internal
