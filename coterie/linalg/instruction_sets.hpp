#pragma once
// Internal: chooses the best table of functions for this processor. An *_isa.cpp file defines one table per instruction
// set.
//
//   COTERIE_DECLARE_TABLES(Products, table)       // in namespace coterie::internal
//   const Products& chosen = COTERIE_BEST_TABLE(table);

#include "coterie/base/processor.hpp"

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
#define COTERIE_BEST_TABLE(name) \
    (::coterie::internal::has_avx512() ? avx512::name : ::coterie::internal::has_avx2() ? avx2::name : sse2::name)
#endif
