// What blas_threads.hpp promises, by OpenBLAS's own functions, found by name in whatever LibTorch brought: LibTorch may
// as well have been linked with another library for products of matrices, and nothing is to be done then.

#include "coterie/deep/internal/torch/blas_threads.hpp"

#include <dlfcn.h>

#include <mutex>

namespace coterie_deep {
namespace {

struct OpenBlas {
    int (*get_num_threads)() = found<int (*)()>("openblas_get_num_threads");
    void (*set_num_threads)(int) = found<void (*)(int)>("openblas_set_num_threads");
    int (*get_parallel)() = found<int (*)()>("openblas_get_parallel");  // 0: no threads, 1: its own, 2: OpenMP's
    bool has_own_threads =
        get_num_threads != nullptr && set_num_threads != nullptr && get_parallel != nullptr && get_parallel() == 1;
    std::mutex mutex;
    int living = 0;  // how many of this class there are
    int before = 1;

    template <class Function>
    static Function found(const char* symbol) {
        return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, symbol));  // also in what LibTorch depends on
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
