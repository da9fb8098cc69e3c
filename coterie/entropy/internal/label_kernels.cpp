// Chooses the table of label_kernels_isa.cpp for this processor, once per process. This is a separate source because it
// must run on any processor.

#include "coterie/entropy/internal/label_kernels.hpp"

#include "coterie/linalg/instruction_sets.hpp"

namespace coterie::entropy::internal {

COTERIE_DECLARE_TABLES(LabelKernels, label_table)

const LabelKernels& label_kernels() {
    static const LabelKernels& chosen = COTERIE_BEST_TABLE(label_table);
    return chosen;
}

}  // namespace coterie::entropy::internal
