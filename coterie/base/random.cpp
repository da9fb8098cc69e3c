// Philox maps the counter (block, purpose, index) under the key (seed) to four words at a time. It keeps no state from
// one call to the next, so a new stream costs nothing. A stream has 2^34 words of 32 bits. Distributions are
// implemented here, because those of <random> differ between standard libraries. Only normal() uses the C library.

#include "coterie/base/random.hpp"

#include <cmath>
#include <numbers>

#include <Random123/philox.h>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {
// FNV-1a. There are only few fixed purposes, so 32 bits are enough to distinguish them.
std::uint32_t hash(std::string_view text) {
    std::uint32_t value = 2166136261u;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 16777619u;
    return value;
}
}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view purpose, std::uint64_t index)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      purpose_(hash(purpose)),
      index_(index) {}

std::uint32_t RandomStream::next32() {
    if (left_ == 0) {
        const r123::Philox4x32 philox;
        const r123::Philox4x32::ctr_type counter = {
            {block_++, purpose_, static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32)}};
        const r123::Philox4x32::key_type key = {{key_[0], key_[1]}};
        const auto out = philox(counter, key);
        words_ = {out[0], out[1], out[2], out[3]};
        left_ = 4;
    }
    return words_[static_cast<std::size_t>(4 - left_--)];
}

std::uint64_t RandomStream::next64() {
    const std::uint64_t high = next32();
    return (high << 32) | next32();
}

double RandomStream::uniform() { return static_cast<double>(next64() >> 11) * 0x1.0p-53; }

std::uint64_t RandomStream::below(std::uint64_t bound) {
    if (bound == 0) throw InternalError("RandomStream::below(0)");
    const std::uint64_t limit =
        (0 - bound) % bound;  // 2^64 mod bound; values below it are rejected: they would make some results more likely
    std::uint64_t value = next64();
    while (value < limit) value = next64();
    return value % bound;
}

double RandomStream::normal() {
    if (has_spare_) {
        has_spare_ = false;
        return spare_normal_;
    }
    const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
    const double angle = 2.0 * std::numbers::pi * uniform();
    spare_normal_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
}

}  // namespace coterie
