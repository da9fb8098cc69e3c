#include "coterie/base/shared_library.hpp"

#include <cstdlib>

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
}  // namespace

void* open_library(const char* path) {
    constexpr const char* variable = "OPENBLAS_CORETYPE";
    const char* const kernels = std::getenv(variable) == nullptr ? openblas_kernels() : nullptr;
    if (kernels != nullptr) setenv(variable, kernels, 1);
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (kernels != nullptr) unsetenv(variable);
    return library;
}

}  // namespace coterie::internal
