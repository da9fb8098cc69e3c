// Chooses the table of column_scans_isa.cpp for this processor, once per process. This is a separate source because it
// must run on any processor.

#include "coterie/manifold/internal/column_scans.hpp"

#include "coterie/linalg/instruction_sets.hpp"

namespace coterie::manifold::internal {

COTERIE_DECLARE_TABLES(ColumnScans, scans)

const ColumnScans& column_scans() {
    static const ColumnScans& chosen = COTERIE_BEST_TABLE(scans);
    return chosen;
}

}  // namespace coterie::manifold::internal
