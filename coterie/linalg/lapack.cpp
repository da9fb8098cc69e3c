// Looks up LAPACKE functions by name, once per process. If one of the three eigensolvers is missing, LAPACK is not
// used. Also looks up the functions of OpenBLAS and of its OpenMP library that set the number of threads.

#include "coterie/linalg/lapack.hpp"

#include <memory>

#include <dlfcn.h>

#include "coterie/base/shared_library.hpp"

namespace coterie::internal {
namespace {
template <class Function>
void find(void* library, const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, symbol));
}

std::unique_ptr<const Lapack> load() {
    void* const library = open_library("liblapacke.so.3");
    if (library == nullptr) return nullptr;

    auto found = std::make_unique<Lapack>();
    find(library, "LAPACKE_dsyevd", found->dsyevd);
    find(library, "LAPACKE_dsygvd", found->dsygvd);
    find(library, "LAPACKE_dsyevr", found->dsyevr);
    if (found->dsyevd == nullptr || found->dsygvd == nullptr || found->dsyevr == nullptr) return nullptr;
    // dlsym also searches the library's dependencies, which include OpenBLAS if it is used.
    find(library, "openblas_get_num_threads", found->get_num_threads);
    find(library, "openblas_set_num_threads", found->set_num_threads);
    found->description = "LAPACK";
    if (found->get_num_threads == nullptr || found->set_num_threads == nullptr) {
        found->get_num_threads = nullptr;
        found->set_num_threads = nullptr;
    } else {
        find(library, "omp_get_max_threads", found->get_openmp_threads);
        find(library, "omp_set_num_threads", found->set_openmp_threads);
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
