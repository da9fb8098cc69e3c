#pragma once
// Internal: finds positions that pass a test. For *_isa.cpp files only, in the namespace that COTERIE_ISA names.

#include <cstddef>
#include <cstdint>

namespace coterie::internal::COTERIE_ISA {
namespace {

/// Writes the positions below `count` that pass, ascending, and returns how many. `hits` needs space for `count`
/// numbers. Usually few positions pass. So a whole group is tested with vector instructions, and only a group with a
/// hit is searched.
template <std::ptrdiff_t group, class Hit>
std::ptrdiff_t hits_of(std::ptrdiff_t count, std::int32_t* hits, const Hit& hit) {
    std::ptrdiff_t found = 0;
    std::ptrdiff_t begin = 0;
    for (; begin + group <= count; begin += group) {
        int any = 0;
        for (std::ptrdiff_t j = begin; j < begin + group; ++j) any |= hit(j) ? 1 : 0;
        if (any == 0) continue;
        for (std::ptrdiff_t j = begin; j < begin + group; ++j) {
            hits[found] = static_cast<std::int32_t>(j);
            found += hit(j) ? 1 : 0;
        }
    }
    for (; begin < count; ++begin) {
        hits[found] = static_cast<std::int32_t>(begin);
        found += hit(begin) ? 1 : 0;
    }
    return found;
}

}  // namespace
}  // namespace coterie::internal::COTERIE_ISA
