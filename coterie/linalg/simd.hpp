#pragma once
// Internal: the compiler's vector types (GCC and Clang), with the width of the instruction set of the compilation. For
// *_isa.cpp files only, in the namespace that COTERIE_ISA names, without external linkage.
//
//     Simd<T>::Register  lanes of T, Simd<T>::lanes of them;  load, store  from and to any address of a T;
//     square_root  lane by lane

#include <cstddef>

#if defined(__SSE2__)
#include <immintrin.h>  // its functions are always inlined
#endif

#if defined(__AVX512F__)
#define COTERIE_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define COTERIE_VECTOR_BYTES 32
#else
#define COTERIE_VECTOR_BYTES 16
#endif

namespace coterie::internal::COTERIE_ISA {
namespace {

using Size = std::ptrdiff_t;

template <class T>
struct Simd {
    static constexpr int lanes = COTERIE_VECTOR_BYTES / static_cast<int>(sizeof(T));
    typedef T Register __attribute__((vector_size(COTERIE_VECTOR_BYTES)));
    typedef T Unaligned __attribute__((vector_size(COTERIE_VECTOR_BYTES), aligned(sizeof(T)), may_alias));
};

template <class T>
inline typename Simd<T>::Register load(const T* p) {
    return *reinterpret_cast<const typename Simd<T>::Unaligned*>(p);
}
template <class T>
inline void store(T* p, typename Simd<T>::Register v) {
    *reinterpret_cast<typename Simd<T>::Unaligned*>(p) = v;
}

inline Simd<double>::Register square_root(Simd<double>::Register x) {
#if defined(__AVX512F__)
    return (Simd<double>::Register)_mm512_sqrt_pd((__m512d)x);
#elif defined(__AVX2__)
    return (Simd<double>::Register)_mm256_sqrt_pd((__m256d)x);
#elif defined(__SSE2__)
    return (Simd<double>::Register)_mm_sqrt_pd((__m128d)x);
#else
    for (int l = 0; l < Simd<double>::lanes; ++l) x[l] = __builtin_sqrt(x[l]);
    return x;
#endif
}

}  // namespace
}  // namespace coterie::internal::COTERIE_ISA
