// The loader's list of loaded files tells which file holds an address. It does not name the program itself, and dladdr
// would give argv[0], which may be anything. So the program's name comes from /proc/self/exe.

#include "coterie/base/own_place.hpp"

#include <cstdint>

#include <link.h>

namespace coterie::internal {
namespace {

namespace fs = std::filesystem;

struct Holder {
    std::uintptr_t address;
    bool found = false;
    fs::path file;  // empty: the program
};

int look(dl_phdr_info* info, std::size_t, void* data) {
    auto& holder = *static_cast<Holder*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
        if (segment.p_type != PT_LOAD || holder.address < begin || holder.address - begin >= segment.p_memsz) continue;
        holder.found = true;
        holder.file = info->dlpi_name;
        return 1;
    }
    return 0;
}

// The paths own_folder() / way.
std::vector<fs::path> from_here(std::initializer_list<const char*> ways) {
    const fs::path here = own_folder();
    std::vector<fs::path> out;
    if (!here.empty())
        for (const char* way : ways) out.push_back((here / way).lexically_normal());
    return out;
}

}  // namespace

fs::path own_folder() {
    Holder holder{.address = reinterpret_cast<std::uintptr_t>(&look), .found = false, .file = {}};
    dl_iterate_phdr(&look, &holder);
    if (!holder.found) return {};
    std::error_code failed;
    const fs::path file =
        holder.file.empty() ? fs::read_symlink("/proc/self/exe", failed) : fs::canonical(holder.file, failed);
    return failed ? fs::path() : file.parent_path();
}

std::vector<fs::path> own_library_folders() { return from_here({".", COTERIE_LIBRARIES_FROM_PROGRAMS}); }

std::vector<fs::path> own_data_folders() {
    return from_here({COTERIE_DATA_FROM_LIBRARIES, COTERIE_DATA_FROM_PROGRAMS});
}

}  // namespace coterie::internal
