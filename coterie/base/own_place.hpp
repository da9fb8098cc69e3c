#pragma once
// Internal: finds this library's own files relative to its code. So an installed tree may be moved, and nothing outside
// it is ever loaded. The build folder has the layout of an installation (lib/, share/coterie/data, and folders of
// programs next to them), so the same rule works there.

#include <filesystem>
#include <vector>

namespace coterie::internal {

/// The folder of the shared library or program that holds this code. Empty if the system does not report it.
std::filesystem::path own_folder();

/// Folders that may hold coterie's libraries: next to this code, and where an installed program has them. They may not
/// exist.
std::vector<std::filesystem::path> own_library_folders();

/// Folders in which an installed library and an installed program keep coterie's data. They may not exist.
std::vector<std::filesystem::path> own_data_folders();

}  // namespace coterie::internal
