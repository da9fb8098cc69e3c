// Lists the tables of kernels_isa.cpp that this processor can run, fastest first, once per process. This is a separate
// source, because it must be compiled for any processor.

#include "coterie/linalg/kernels.hpp"

#include <vector>

#include "coterie/base/processor.hpp"
#include "coterie/linalg/distances.hpp"

#define COTERIE_DECLARE(isa)                      \
    namespace coterie::internal::isa {            \
    extern const Kernels<float> float32_kernels;  \
    extern const Kernels<double> float64_kernels; \
    }
#ifdef COTERIE_HAVE_ISA_avx512
COTERIE_DECLARE(avx512)
#endif
#ifdef COTERIE_HAVE_ISA_avx2
COTERIE_DECLARE(avx2)
#endif
#ifdef COTERIE_HAVE_ISA_sse2
COTERIE_DECLARE(sse2)
#endif
#ifdef COTERIE_HAVE_ISA_generic
COTERIE_DECLARE(generic)
#endif

namespace coterie {
namespace internal {
namespace {

const std::vector<InstructionSet>& available() {
    static const std::vector<InstructionSet> sets = [] {
        std::vector<InstructionSet> out;
#ifdef COTERIE_HAVE_ISA_avx512
        if (has_avx512()) out.push_back({"avx512", &avx512::float32_kernels, &avx512::float64_kernels});
#endif
#ifdef COTERIE_HAVE_ISA_avx2
        if (has_avx2()) out.push_back({"avx2", &avx2::float32_kernels, &avx2::float64_kernels});
#endif
#ifdef COTERIE_HAVE_ISA_sse2
        out.push_back({"sse2", &sse2::float32_kernels, &sse2::float64_kernels});
#endif
#ifdef COTERIE_HAVE_ISA_generic
        out.push_back({"generic", &generic::float32_kernels, &generic::float64_kernels});
#endif
        return out;
    }();
    return sets;
}

}  // namespace

template <>
const Kernels<float>& kernels<float>() {
    return *available().front().float32;
}
template <>
const Kernels<double>& kernels<double>() {
    return *available().front().float64;
}

const InstructionSet* instruction_sets(std::size_t& count) {
    count = available().size();
    return available().data();
}

}  // namespace internal

std::string_view instruction_set() { return internal::available().front().name; }

}  // namespace coterie
