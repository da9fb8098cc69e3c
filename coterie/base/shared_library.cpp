// Opens libraries with dlopen and looks up libraries that are loaded already. The library never changes the environment
// variables of its host, not even for a moment. coterie's programs set them at their start (cli/program.cpp).

#include "coterie/base/shared_library.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <dlfcn.h>
#include <link.h>

#include "coterie/base/own_place.hpp"

namespace coterie::internal {

void* open_library(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

std::string load_plugin(const Plugin& plugin, FunctionRef<bool(void* function)> take,
                        FunctionRef<std::string(const std::string& path)> objection) {
    std::vector<std::string> places;
    if (const char* given = std::getenv(plugin.variable))
        places = {given};
    else
        for (const auto& folder : own_library_folders()) places.push_back((folder / plugin.file).string());
    std::string trouble;
    for (const std::string& place : places) {
        if (std::string said = objection(place); !said.empty()) {
            trouble = std::move(said);
            continue;
        }
        void* const library = open_library(place.c_str());
        if (library == nullptr) {
            const char* const said = dlerror();
            std::error_code ignored;
            if (trouble.empty() || std::filesystem::exists(place, ignored)) trouble = said != nullptr ? said : place;
            continue;
        }
        void* const function = dlsym(library, plugin.function);
        if (function != nullptr && take(function)) return {};
        trouble = place + " belongs to another version of coterie";
    }
    return trouble;
}

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
