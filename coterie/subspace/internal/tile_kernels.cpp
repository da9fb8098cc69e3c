#include "coterie/subspace/internal/tile_kernels.hpp"

#ifdef COTERIE_HAVE_TILES
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace coterie::internal::amx {
extern const TileKernels tile_kernels;
}

namespace {
// Linux saves the tiles' 8 KB of a thread only for processes that asked for it. It refuses where it does not know the
// unit, or a thread's stack for signals is too small.
bool usable() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
    constexpr unsigned bfloat16_and_tiles = (1u << 22) | (1u << 24);
    if ((d & bfloat16_and_tiles) != bfloat16_and_tiles) return false;
    if (!__builtin_cpu_supports("avx512f")) return false;
    constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr long tile_data = 18;               // XFEATURE_XTILEDATA
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}
}  // namespace
#endif

namespace coterie::internal {

const TileKernels* tile_kernels() {
#ifdef COTERIE_HAVE_TILES
    static const TileKernels* const found = usable() ? &amx::tile_kernels : nullptr;
    return found;
#else
    return nullptr;
#endif
}

}  // namespace coterie::internal
