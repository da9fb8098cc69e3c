#pragma once
// A random sample of rows.

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/matrix.hpp"
#include "coterie/base/random.hpp"

namespace coterie {

/// `count` different rows of 0..rows-1, ascending; every set of that size is equally likely. All rows if there are no
/// more than `count`. Memory and time depend on `count` alone.
COTERIE_API std::vector<Index> sample_rows(Index rows, Index count, RandomStream& random);

}  // namespace coterie
