// Chooses among the tables of lanczos_isa.cpp for this processor, once per process. This is a separate source because
// it must run on any processor.

#include "coterie/spectral/internal/lanczos_kernels.hpp"

#include "coterie/linalg/instruction_sets.hpp"

namespace coterie::spectral::internal {

COTERIE_DECLARE_TABLES(LanczosKernels, lanczos_table)

const LanczosKernels& lanczos_kernels() {
    static const LanczosKernels& chosen = COTERIE_BEST_TABLE(lanczos_table);
    return chosen;
}

}  // namespace coterie::spectral::internal
