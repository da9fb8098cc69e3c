#pragma once
// Internal: which of the tables that an *_isa.cpp file defines once per instruction set this processor runs best.
//
//   COTERIE_DECLARE_TABLES(Products, table)       // in namespace coterie::internal
//   const Products& chosen = COTERIE_BEST_TABLE(table);

#ifdef COTERIE_HAVE_ISA_generic
#define COTERIE_DECLARE_TABLES(Type, name) \
    namespace generic {                    \
    extern const Type name;                \
    }
#define COTERIE_BEST_TABLE(name) (generic::name)
#else
#define COTERIE_DECLARE_TABLES(Type, name) \
    namespace sse2 {                       \
    extern const Type name;                \
    }                                      \
    namespace avx2 {                       \
    extern const Type name;                \
    }                                      \
    namespace avx512 {                     \
    extern const Type name;                \
    }
#define COTERIE_BEST_TABLE(name)                                                                                      \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && \
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma")                                      \
         ? avx512::name                                                                                               \
     : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2::name                                   \
                                                                       : sse2::name)
#endif
