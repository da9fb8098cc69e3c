#pragma once
// Internal to coterie-deep: loops that the compiler vectorises. Each is a separate function without aliasing.

#include <cstdint>

#include <c10/util/BFloat16.h>

// Compiles a function twice: for AVX2 and for any processor. Loading the library chooses one of them.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define COTERIE_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define COTERIE_WIDE
#endif

namespace coterie_deep {

/// Converts `count` numbers to another precision, rounded to even, or copies them if the precisions are equal.
void copy(std::int64_t count, const float* from, float* to);
void copy(std::int64_t count, const c10::BFloat16* from, float* to);
void copy(std::int64_t count, const float* from, c10::BFloat16* to);

}  // namespace coterie_deep
