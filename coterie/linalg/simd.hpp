#pragma once
// Internal: the compiler's own vector types (GCC and Clang), as wide as the instruction set that this text is compiled
// for. For *_isa.cpp files alone: everything lies in the namespace that COTERIE_ISA names, and without a linkage that
// other files could see.
//
//     Simd<T>::Register  lanes of T, Simd<T>::lanes of them;  load, store  from and to any address of a T

#include <cstddef>

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

}  // namespace
}  // namespace coterie::internal::COTERIE_ISA
