#include "coterie/linalg/lapack.hpp"

#include <cstdlib>
#include <memory>

#include <dlfcn.h>

namespace coterie::internal {
namespace {
const char* openblas_kernels() {
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
    return nullptr;
}

template <class Function>
void find(void* library, const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
}

std::unique_ptr<const Lapack> load() {
    // OpenBLAS reads the variable while it loads; what the user set is respected, and the environment is left as it
    // was.
    constexpr const char* variable = "OPENBLAS_CORETYPE";
    const char* const kernels = std::getenv(variable) == nullptr ? openblas_kernels() : nullptr;
    if (kernels != nullptr) setenv(variable, kernels, 1);
    void* const library = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL);
    if (kernels != nullptr) unsetenv(variable);
    if (library == nullptr) return nullptr;

    auto found = std::make_unique<Lapack>();
    find(library, "LAPACKE_dsyevd", found->dsyevd);
    find(library, "LAPACKE_dsygvd", found->dsygvd);
    find(library, "LAPACKE_dsyevr", found->dsyevr);
    if (found->dsyevd == nullptr || found->dsygvd == nullptr || found->dsyevr == nullptr) return nullptr;
    // dlsym looks into what the library depends on as well: that is where OpenBLAS is, if it is there.
    find(library, "openblas_get_num_threads", found->get_num_threads);
    find(library, "openblas_set_num_threads", found->set_num_threads);
    found->description = "LAPACK";
    if (found->get_num_threads == nullptr || found->set_num_threads == nullptr) {
        found->get_num_threads = nullptr;
        found->set_num_threads = nullptr;
    } else {
        char* (*core_name)() = nullptr;
        find(library, "openblas_get_corename", core_name);
        found->description += core_name == nullptr ? " (OpenBLAS)" : std::string(" (OpenBLAS, ") + core_name() + ")";
    }
    return found;
}
}  // namespace

const Lapack* lapack() {
    // Never unloaded: OpenBLAS keeps threads and buffers until the process ends.
    static const std::unique_ptr<const Lapack> found = load();
    return found.get();
}

}  // namespace coterie::internal
