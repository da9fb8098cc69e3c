// Philox maps the counter (block, purpose, index) under the key (seed) to four words at a time. It keeps no state from
// one call to the next, so a new stream costs nothing. A stream has 2^34 words of 32 bits. Distributions are
// implemented here, because those of <random> differ between standard libraries. Only normal() uses the C library.

#include "coterie/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <unordered_map>

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

// Runs the first `count` steps of the Fisher-Yates shuffle and stores only the swapped places.
std::vector<std::ptrdiff_t> sample_rows(std::ptrdiff_t rows, std::ptrdiff_t count, RandomStream& random) {
    std::vector<std::ptrdiff_t> out(static_cast<std::size_t>(std::min(rows, count)));
    if (count >= rows) {
        std::iota(out.begin(), out.end(), std::ptrdiff_t{0});
        return out;
    }
    std::unordered_map<std::ptrdiff_t, std::ptrdiff_t> moved;  // the value at a place, if it differs from its number
    const auto value_at = [&](std::ptrdiff_t place) {
        const auto found = moved.find(place);
        return found == moved.end() ? place : found->second;
    };
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const auto other = i + static_cast<std::ptrdiff_t>(random.below(static_cast<std::uint64_t>(rows - i)));
        out[static_cast<std::size_t>(i)] = value_at(other);
        moved[other] = value_at(i);
    }
    std::ranges::sort(out);
    return out;
}

}  // namespace coterie
