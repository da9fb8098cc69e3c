#pragma once
// A random sample of rows.

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/matrix.hpp"
#include "coterie/base/random.hpp"

namespace coterie {

/// `count` different rows of 0..rows-1, ascending; every set of that size is equally likely. All rows if `rows` <=
/// `count`. Memory and time depend only on `count`.
COTERIE_API std::vector<Index> sample_rows(Index rows, Index count, RandomStream& random);

}  // namespace coterie
