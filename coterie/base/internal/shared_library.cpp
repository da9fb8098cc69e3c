// dlopen and what is known of libraries that are already there. The library never changes the environment of its host,
// not even for a moment: programs of ours do, before anything is loaded (cli/program.cpp).

#include "coterie/base/internal/shared_library.hpp"

#include <cstring>

#include <dlfcn.h>
#include <link.h>

namespace coterie::internal {

void* open_library(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

std::string loaded_library(const char* name) {
    struct Search {
        const char* name;
        std::string path;
    } search{name, {}};
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& of = *static_cast<Search*>(data);
            const char* const slash = std::strrchr(info->dlpi_name, '/');
            const char* const file = slash != nullptr ? slash + 1 : info->dlpi_name;
            if (std::strncmp(file, of.name, std::strlen(of.name)) != 0) return 0;
            of.path = info->dlpi_name;
            return 1;
        },
        &search);
    return search.path;
}

}  // namespace coterie::internal
