// Matrix memory comes from operator new with one alignment: a cache line, which suits every vector register.
// std::aligned_alloc is not used, because it takes only multiples of the alignment and does not throw if memory is
// short.

#include "coterie/base/matrix.hpp"

namespace coterie::internal {
namespace {
constexpr std::align_val_t alignment{64};
}

void* memory_for_numbers(std::size_t bytes) { return ::operator new(bytes, alignment); }

void release_numbers(void* memory) noexcept { ::operator delete(memory, alignment); }

}  // namespace coterie::internal
