#pragma once
// Counter-based random streams (Philox 4x32-10, Salmon et al. 2011), shuffles and samples. A value depends only on
// (seed, purpose, index, position), so the result does not depend on the thread that draws it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"

namespace coterie {

class COTERIE_API RandomStream {
public:
    /// `purpose` names what the numbers are for ("kmeans.seeding"); `index` separates repetitions (restart, block,
    /// point).
    RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index = 0);

    std::uint32_t next32();
    std::uint64_t next64();
    /// Uniform on [0, 1), 53 random bits.
    double uniform();
    /// Uniform on {0, ..., bound - 1}, without bias; bound >= 1.
    std::uint64_t below(std::uint64_t bound);
    /// Standard normal (Box-Muller).
    double normal();

private:
    std::array<std::uint32_t, 2> key_;
    std::uint32_t purpose_;
    std::uint64_t index_;
    std::uint32_t block_ = 0;
    std::array<std::uint32_t, 4> words_{};
    int left_ = 0;
    double spare_normal_ = 0.0;
    bool has_spare_ = false;
};

/// Every order is equally likely (Fisher and Yates).
template <class T>
void shuffle(std::vector<T>& items, RandomStream& random) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

/// `count` different rows of 0..rows-1, ascending; every set of that size is equally likely. All rows if `rows` <=
/// `count`. Memory and time depend only on `count`.
COTERIE_API std::vector<std::ptrdiff_t> sample_rows(std::ptrdiff_t rows, std::ptrdiff_t count, RandomStream& random);

}  // namespace coterie
