#pragma once
// Internal: what this processor computes with. False on other kinds than x86.

namespace coterie::internal {

/// As this library's and OpenBLAS's AVX2 kernels need it: with fused multiplications and additions.
inline bool has_avx2() {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/// As their AVX-512 kernels need it: F, DQ, VL and BW.
inline bool has_avx512() {
#if defined(__x86_64__) || defined(__i386__)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
    return false;
#endif
}

}  // namespace coterie::internal
