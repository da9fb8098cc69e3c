#pragma once
// Internal to coterie-deep: how a function of its tables runs: what it throws stays on this side.

#include <string>

#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include "coterie/deep/internal/torch/blas_threads.hpp"

namespace coterie_deep {

inline std::string& last_error() {
    thread_local std::string text;
    return text;
}

/// Runs f; what it throws becomes 1 and the text of last_error().
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

/// Of this thread's passes. Asking for as many as there are would still start a pool of threads anew, which spin before
/// they sleep: twice the time of a pass.
inline void use_threads(int32_t threads) {
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

}  // namespace coterie_deep
