// Implements blas_threads.hpp with functions of OpenBLAS, found by name in the libraries that LibTorch loaded. Does
// nothing if LibTorch is linked with another BLAS.

#include "coterie/deep/internal/torch/blas_threads.hpp"

#include <dlfcn.h>

#include <mutex>

namespace coterie_deep {
namespace {

struct OpenBlas {
    int (*get_num_threads)() = found<int (*)()>("openblas_get_num_threads");
    void (*set_num_threads)(int) = found<void (*)(int)>("openblas_set_num_threads");
    int (*get_parallel)() = found<int (*)()>("openblas_get_parallel");  // 0: no threads, 1: its own threads, 2: OpenMP
    bool has_own_threads =
        get_num_threads != nullptr && set_num_threads != nullptr && get_parallel != nullptr && get_parallel() == 1;
    std::mutex mutex;
    int living = 0;  // number of living NoBlasThreads
    int before = 1;

    template <class Function>
    static Function found(const char* symbol) {
        return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));  // also searches LibTorch's dependencies
    }
};

OpenBlas& openblas() {
    static OpenBlas one;
    return one;
}

}  // namespace

NoBlasThreads::NoBlasThreads() {
    if (!openblas().has_own_threads) return;
    const std::lock_guard<std::mutex> lock(openblas().mutex);
    if (openblas().living++ > 0) return;
    openblas().before = openblas().get_num_threads();
    openblas().set_num_threads(1);
}

NoBlasThreads::~NoBlasThreads() {
    if (!openblas().has_own_threads) return;
    const std::lock_guard<std::mutex> lock(openblas().mutex);
    if (--openblas().living == 0) openblas().set_num_threads(openblas().before);
}

}  // namespace coterie_deep
