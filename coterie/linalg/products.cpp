#include "coterie/linalg/products.hpp"

namespace coterie::internal {

#define COTERIE_DECLARE_TABLE(isa) \
    namespace isa {                \
    extern const Products table;   \
    }
#ifdef COTERIE_HAVE_ISA_sse2
COTERIE_DECLARE_TABLE(sse2)
#endif
#ifdef COTERIE_HAVE_ISA_avx2
COTERIE_DECLARE_TABLE(avx2)
#endif
#ifdef COTERIE_HAVE_ISA_avx512
COTERIE_DECLARE_TABLE(avx512)
#endif
#ifdef COTERIE_HAVE_ISA_generic
COTERIE_DECLARE_TABLE(generic)
#endif

namespace {
const Products& choose() {
#ifdef COTERIE_HAVE_ISA_generic
    return generic::table;
#else
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma"))
        return avx512::table;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::table;
    return sse2::table;
#endif
}
}  // namespace

const Products& products() {
    static const Products& chosen = choose();
    return chosen;
}

}  // namespace coterie::internal
