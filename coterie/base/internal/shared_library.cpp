#include "coterie/base/internal/shared_library.hpp"

#include <cstdlib>

#include <dlfcn.h>

#include "coterie/base/internal/processor.hpp"

namespace coterie::internal {
namespace {
const char* openblas_kernels() {
    if (has_avx512()) return "SkylakeX";
    if (has_avx2()) return "Haswell";
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
