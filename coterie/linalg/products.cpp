// Chooses the table of products_isa.cpp for this processor, once per process. This is a separate source, because it
// must be compiled for any processor.

#include "coterie/linalg/products.hpp"

#include "coterie/linalg/instruction_sets.hpp"

namespace coterie::internal {

COTERIE_DECLARE_TABLES(Products, table)

const Products& products() {
    static const Products& chosen = COTERIE_BEST_TABLE(table);
    return chosen;
}

}  // namespace coterie::internal
