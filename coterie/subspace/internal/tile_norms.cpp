#include "coterie/subspace/internal/tile_norms.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "coterie/base/parallel.hpp"

namespace coterie::internal {
namespace {
constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;

// splitmix64's: every bit of x decides on every bit of the key.
std::uint32_t key_of(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((x ^ (x >> 31)) >> 32);
}
std::uint32_t key_of(Index row, std::int32_t cluster, std::uint64_t use) {
    return key_of((static_cast<std::uint64_t>(row) << 2) + use + static_cast<std::uint64_t>(cluster) * kStep);
}
}  // namespace

TileNorms::TileNorms(const Rows<float>& points, const Vector<double>& mean, int threads)
    : points_(points),
      mean_(mean),
      threads_(threads),
      padded_((points.columns + tile_columns - 1) / tile_columns * tile_columns),
      blocks_(padded_ / tile_columns * (padded_ / tile_columns + 1) / 2),
      squares_(points.rows),
      column_keys_(static_cast<std::size_t>(padded_)),
      center_(column_keys_.size(), 0.0F),
      center_rest_(column_keys_.size(), 0.0F),
      sums_(static_cast<std::size_t>(blocks_ * kBlock)) {
    const RowBlocks blocks{points.rows, kChunk};
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
            squares_[i] =
                (Eigen::Map<const Vector<float>>(points.row(i), points.columns).cast<double>() - mean_).squaredNorm();
    });
    const double variance = squares_.sum() / static_cast<double>(points.rows * points.columns);
    exponent_ = variance > 0.0 ? -std::ilogb(variance) / 2 : 0;
    for (std::size_t p = 0; p < column_keys_.size(); ++p) column_keys_[p] = key_of((p + 1) * kStep);
}

double TileNorms::take(const Matrix<float>& shares, std::int32_t cluster, const Vector<double>& center) {
    const double offset = (center - mean_).squaredNorm();
    struct Block {
        double trace = 0.0;
        double sum = 0.0;
        double squares = 0.0;
        std::vector<ClusterMoments::Entry> entries;
    };
    const RowBlocks rows{points_.rows, kPart};
    std::vector<Block> blocks(static_cast<std::size_t>(rows.count()));
    const auto size_of = [&](Index i) { return static_cast<double>(shares(i, cluster)) * (squares_[i] + offset); };
    for_each_block(rows.count(), threads_, [&](Index b, int) {
        Block& block = blocks[static_cast<std::size_t>(b)];
        for (Index i = rows.begin(b); i < rows.end(b); ++i) {
            const double size = size_of(i);
            block.trace += static_cast<double>(shares(i, cluster)) * (squares_[i] - offset);
            block.sum += size;
            block.squares += size * size;
        }
    });
    Block all;
    for (const Block& block : blocks) {
        all.trace += block.trace;
        all.sum += block.sum;
        all.squares += block.squares;
    }
    const double least = kLot * all.trace / std::sqrt(static_cast<double>(points_.rows));
    for_each_block(rows.count(), threads_, [&](Index b, int) {
        Block& block = blocks[static_cast<std::size_t>(b)];
        for (Index i = rows.begin(b); i < rows.end(b); ++i) {
            auto share = static_cast<double>(shares(i, cluster));
            const double size = size_of(i);
            if (!(size > 0.0)) continue;
            if (size < least) {
                if (std::ldexp(static_cast<double>(key_of(i, cluster, 1)), -32) >= size / least) continue;
                share *= least / size;
            }
            block.entries.push_back({0, i, share});
        }
    });
    entries_.clear();
    for (const Block& block : blocks) entries_.insert(entries_.end(), block.entries.begin(), block.entries.end());
    return all.squares > 0.0 ? all.sum * all.sum / all.squares : 0.0;
}

void TileNorms::add_part(std::span<const ClusterMoments::Entry> entries, std::int32_t cluster, Slot& slot) const {
    std::array<const float*, kChunk> rows;
    std::array<float, kChunk> weights;
    std::array<std::uint32_t, kChunk / 2> keys;
    const TileKernels& kernels = *tile_kernels();
    slot.packed.resize(static_cast<std::size_t>((kChunk / 2 + 1) * padded_));
    slot.panel.resize(static_cast<std::size_t>(kChunk / 2 * tile_columns));
    slot.sums.assign(sums_.size(), 0.0F);
    slot.diagonal = Vector<double>::Zero(padded_);
    for (std::size_t begin = 0; begin < entries.size(); begin += kChunk) {
        const auto chunk = entries.subspan(begin, std::min<std::size_t>(kChunk, entries.size() - begin));
        const std::size_t count = (chunk.size() + 31) / 32 * 32;
        for (std::size_t i = 0; i < count; ++i) {
            const ClusterMoments::Entry& entry = chunk[std::min(i, chunk.size() - 1)];
            rows[i] = points_.row(entry.row);
            weights[i] = i < chunk.size() ? static_cast<float>(std::ldexp(std::sqrt(entry.weight), exponent_)) : 0.0F;
            if (i % 2 == 0) keys[i / 2] = key_of(entry.row, cluster, 0);
        }
        slot.squares.assign(static_cast<std::size_t>(padded_), 0.0F);
        kernels.pack({rows.data(), weights.data(), keys.data(), static_cast<Index>(count), points_.columns,
                      center_.data(), center_rest_.data(), column_keys_.data()},
                     slot.squares.data(), slot.packed.data());
        kernels.add_products(slot.packed.data(), static_cast<Index>(count), padded_ / 16, slot.panel.data(),
                             slot.sums.data());
        slot.diagonal += Eigen::Map<const Vector<float>>(slot.squares.data(), padded_).cast<double>();
    }
}

ClusterMoments::Norms TileNorms::norms(const Matrix<float>& shares, std::int32_t cluster,
                                       const Vector<double>& center) {
    if (take(shares, cluster, center) < kFew) {
        ClusterMoments moments(1, center);
        moments.add(PointsView(points_), entries_, threads_);
        return moments.scatter_norms(0, Vector<double>::Zero(points_.columns), 0.0);
    }
    for (Index p = 0; p < points_.columns; ++p) {
        const auto at = static_cast<std::size_t>(p);
        center_[at] = static_cast<float>(center[p]);
        center_rest_[at] = static_cast<float>(center[p] - static_cast<double>(center_[at]));
    }
    std::fill(sums_.begin(), sums_.end(), 0.0);
    Vector<double> diagonal = Vector<double>::Zero(padded_);
    const std::span<const ClusterMoments::Entry> entries = entries_;
    const RowBlocks parts{static_cast<Index>(entries.size()), kPart};
    const Index most = std::min(parts.count(), std::clamp<Index>(threads_, 1, kSlots));
    if (static_cast<Index>(slots_.size()) < most) slots_.resize(static_cast<std::size_t>(most));
    for (Index first = 0; first < parts.count(); first += most) {
        const Index used = std::min(most, parts.count() - first);
        for_each_block(used, threads_, [&](Index s, int) {
            const Index begin = parts.begin(first + s);
            add_part(entries.subspan(static_cast<std::size_t>(begin),
                                     static_cast<std::size_t>(parts.end(first + s) - begin)),
                     cluster, slots_[static_cast<std::size_t>(s)]);
        });
        const int workers = threads_for(static_cast<double>(used * blocks_ * kBlock), threads_);
        for_each_block(blocks_, workers, [&](Index block, int) {
            double* const to = sums_.data() + block * kBlock;
            for (Index s = 0; s < used; ++s) {
                const float* const from = slots_[static_cast<std::size_t>(s)].sums.data() + block * kBlock;
                for (Index i = 0; i < kBlock; ++i) to[i] += static_cast<double>(from[i]);
            }
        });
        for (Index s = 0; s < used; ++s) diagonal += slots_[static_cast<std::size_t>(s)].diagonal;
    }

    // A block on the diagonal is there in full; tiles of 16 x 16 in it, in rows of two.
    double above = 0.0;
    const double* block = sums_.data();
    for (Index row = 0; row < padded_; row += tile_columns)
        for (Index column = row; column < padded_; column += tile_columns, block += kBlock) {
            double squares[4] = {0.0, 0.0, 0.0, 0.0};
            for (Index i = 0; i < kBlock; i += 4)
                for (Index lane = 0; lane < 4; ++lane) squares[lane] += block[i + lane] * block[i + lane];
            double all = (squares[0] + squares[1]) + (squares[2] + squares[3]);
            if (row == column) {
                for (Index p = 0; p < tile_columns; ++p) {
                    const double rounded = block[p / 16 * 3 * 256 + p % 16 * 17];
                    all -= rounded * rounded;
                }
                all /= 2.0;
            }
            above += all;
        }
    return {std::ldexp(diagonal.sum(), -2 * exponent_),
            std::ldexp(2.0 * above + diagonal.squaredNorm(), -4 * exponent_)};
}

}  // namespace coterie::internal
