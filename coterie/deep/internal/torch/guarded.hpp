#pragma once
// Internal to coterie-deep: runs the functions of its tables so that no exception leaves the library.

#include <string>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "coterie/deep/internal/torch/blas_threads.hpp"

namespace coterie_deep {

inline std::string& last_error() {
    thread_local std::string text;
    return text;
}

inline const char* error() { return last_error().c_str(); }

/// Runs f. If it throws, returns 1 and stores the text in last_error().
template <class F>
int32_t guarded(F&& f) {
    try {
        const NoBlasThreads none;
        f();
        return 0;
    } catch (const c10::Error& error) {
        last_error() = error.what_without_backtrace();
    } catch (const std::exception& error) {
        last_error() = error.what();
    } catch (...) {
        last_error() = "an error without a name";
    }
    return 1;
}

/// Sets the number of threads of this thread's passes, if it differs. Setting the same number again would restart the
/// pool. Its threads are busy for a while before they sleep, which doubles the time of a pass.
inline void use_threads(int32_t threads) {
#ifdef __SANITIZE_THREAD__
    threads = 1;  // the sanitizer does not see the barriers of GCC's OpenMP and would report a race in every loop
#endif
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

}  // namespace coterie_deep
