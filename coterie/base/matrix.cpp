// The memory of matrices: operator new with one alignment, that of a cache line, which serves every vector register.
// Not std::aligned_alloc: it takes only multiples of the alignment, and does not throw where memory is short.

#include "coterie/base/matrix.hpp"

namespace coterie::internal {
namespace {
constexpr std::align_val_t alignment{64};
}

void* memory_for_numbers(std::size_t bytes) { return ::operator new(bytes, alignment); }

void release_numbers(void* memory) noexcept { ::operator delete(memory, alignment); }

}  // namespace coterie::internal
