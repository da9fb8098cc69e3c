#pragma once
// Internal: the instruction sets of this processor. False on processors other than x86.

namespace coterie::internal {

/// AVX2 with fused multiply-add, as needed by the AVX2 kernels of this library and of OpenBLAS.
inline bool has_avx2() {
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/// AVX-512 F, DQ, VL and BW, as needed by the AVX-512 kernels of both.
inline bool has_avx512() {
#if defined(__x86_64__) || defined(__i386__)
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#else
    return false;
#endif
}

}  // namespace coterie::internal
