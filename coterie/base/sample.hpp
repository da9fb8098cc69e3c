#pragma once
// Some of many rows, chosen at random.

#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/matrix.hpp"
#include "coterie/base/random.hpp"

namespace coterie {

/// `count` different rows of 0..rows-1, ascending; every such set is equally likely. All of them where there are no
/// more. Memory and time go with `count` alone.
COTERIE_API std::vector<Index> sample_rows(Index rows, Index count, RandomStream& random);

}  // namespace coterie
