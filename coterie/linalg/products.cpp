// Which of the tables of products_isa.cpp this processor runs, asked once in a process. A source of its own, as it must
// run on any processor.

#include "coterie/linalg/products.hpp"

#include "coterie/linalg/instruction_sets.hpp"

namespace coterie::internal {

COTERIE_DECLARE_TABLES(Products, table)

const Products& products() {
    static const Products& chosen = COTERIE_BEST_TABLE(table);
    return chosen;
}

}  // namespace coterie::internal
