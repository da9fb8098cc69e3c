// Chooses the tables of *_isa.cpp for this processor, once per process. This is a separate source because it must run
// on any processor.

#include "coterie/entropy/internal/kernels.hpp"

#include "coterie/linalg/instruction_sets.hpp"

namespace coterie::entropy::internal {

COTERIE_DECLARE_TABLES(LabelKernels, label_table)
COTERIE_DECLARE_TABLES(LinearKernels, linear_table)

const LabelKernels& label_kernels() {
    static const LabelKernels& chosen = COTERIE_BEST_TABLE(label_table);
    return chosen;
}
const LinearKernels& linear_kernels() {
    static const LinearKernels& chosen = COTERIE_BEST_TABLE(linear_table);
    return chosen;
}

}  // namespace coterie::entropy::internal
