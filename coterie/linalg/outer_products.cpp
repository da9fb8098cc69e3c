// A few megabytes of rows are packed and used for all tiles before the next rows. If there are fewer tiles than tasks,
// the rows of a target are also split into parts, whose sums are added.
//
// Exact sums: let s_p be the least power of two with s_p^2 >= squares_p. By the Cauchy-Schwarz inequality, no sum over
// some of the rows exceeds s_p s_q. Multiples of q = 2^-51 s_p s_q up to 2^53 q are exact in double, so the sums are
// exact too, with a margin. Adding 1.5 * 2^52 q rounds a number below 2^51 q to such a multiple.

#include "coterie/linalg/outer_products.hpp"

#include <cmath>

namespace coterie::internal {

template <class T>
OuterProducts<T>::OuterProducts(const Vector<double>& squares, const Kernels<T>& kernels)
    : kernels_(&kernels),
      dimensions_(squares.size()),
      padded_((squares.size() + kPadding - 1) / kPadding * kPadding),
      row_factors_(at(padded_), 0.0),
      column_factors_(row_factors_),
      offsets_{0} {
    for (Index p = 0; p < dimensions_; ++p) {
        if (!(squares[p] > 0)) continue;  // only zeros will come
        int exponent = 0;
        (void)std::frexp(std::sqrt(squares[p]), &exponent);  // sqrt < 2^exponent
        row_factors_[at(p)] = std::ldexp(1.0, exponent);
        column_factors_[at(p)] = std::ldexp(3.0, exponent);  // 1.5 * 2^52 * 2^-51
    }
    for (Index row = 0; row < padded_; row += kTile)
        for (Index column = row; column < padded_; column += kTile) {
            tiles_.push_back({row, column});
            offsets_.push_back(offsets_.back() + width(row) * width(column));
        }
}

template <class T>
template <class Source>
void OuterProducts<T>::add(Index count, FunctionRef<OuterProduct<Source>(Index)> term, FunctionRef<double*(Index)> sum,
                           int threads) const {
    if (count == 0 || dimensions_ == 0) return;
    // A few MB of packed rows; more rows at a time if they are short.
    constexpr Index packed_numbers = 1 << 19;
    const Index most = std::clamp((packed_numbers / padded_ + kPiece - 1) / kPiece * kPiece, 4 * kPiece, 64 * kPiece);
    const Index capacity = std::min(count, most);
    const auto tiles = static_cast<Index>(tiles_.size());
    const int lanes = kernels_->lanes;
    CacheLineVector<T> plain;
    CacheLineVector<T> weighted;  // filled if any weight differs from 1
    std::vector<OuterProduct<Source>> terms(at(capacity));
    std::vector<Piece> pieces;
    std::vector<Part> parts;
    CacheLineVector<double> scratch;

    for (Index begin = 0; begin < count; begin += capacity) {
        const Index size = std::min(capacity, count - begin);
        bool any_weight = false;
        for (Index i = 0; i < size; ++i) {
            terms[at(i)] = term(begin + i);
            any_weight = any_weight || terms[at(i)].weight != 1.0;
        }

        pieces.clear();
        parts.clear();
        Index scratches = 0;
        Index packed = 0;
        for (Index first = 0; first < size;) {
            const Index target = terms[at(first)].target;
            Index last = first;
            while (last < size && terms[at(last)].target == target) ++last;
            const auto first_piece = static_cast<Index>(pieces.size());
            // Pieces of equal size, because a piece with few rows takes as long as a full piece.
            const Index cuts = std::max<Index>(1, (last - first + kPiece / 2) / kPiece);
            for (Index cut = 0; cut < cuts; ++cut) {
                const Index begin_of_piece = first + (last - first) * cut / cuts;
                pieces.push_back({begin_of_piece, first + (last - first) * (cut + 1) / cuts - begin_of_piece, packed});
                packed += (pieces.back().rows + 1) * padded_;
            }
            const Index made = static_cast<Index>(pieces.size()) - first_piece;
            const Index cut = std::clamp<Index>(std::min(kTasks / tiles, made / kPieces), 1, kTasks);
            for (Index part = 0; part < cut; ++part)
                parts.push_back({target, first_piece + made * part / cut, first_piece + made * (part + 1) / cut,
                                 part == 0 ? -1 : scratches++});
            first = last;
        }
        plain.resize(std::max(plain.size(), at(packed)));
        if (any_weight) weighted.resize(plain.size());
        const T* const left = any_weight ? weighted.data() : plain.data();
        scratch.assign(at(scratches * numbers()), 0.0);
        const double operations = static_cast<double>(size) * static_cast<double>(padded_ * padded_) / 2.0;
        const int workers = threads_for(operations, threads);

        for_each_block(static_cast<Index>(pieces.size()), workers, [&](Index p, int) {
            const Piece& piece = pieces[at(p)];
            for (Index r = 0; r < piece.rows; ++r) {
                const OuterProduct<Source>& from = terms[at(piece.begin + r)];
                const auto pack = [&](double weight, T* to) {
                    T* const out = to + piece.offset + r * lanes;
                    if constexpr (sizeof(Source) == sizeof(float))
                        kernels_->pack_float(from.row, from.center, weight, dimensions_, out, stride(piece));
                    else
                        kernels_->pack_double(from.row, from.center, weight, dimensions_, out, stride(piece));
                };
                pack(1.0, plain.data());
                if (any_weight) pack(from.weight, weighted.data());
            }
        });
        for_each_block(static_cast<Index>(parts.size()) * tiles, workers, [&](Index task, int) {
            const Part& part = parts[at(task / tiles)];
            const auto t = at(task % tiles);
            const Tile& tile = tiles_[t];
            double* const to =
                (part.scratch < 0 ? sum(part.target) : scratch.data() + part.scratch * numbers()) + offsets_[t];
            for (Index p = part.first; p < part.last; ++p) {
                const Piece& piece = pieces[at(p)];
                kernels_->add_outer(left + piece.offset + tile.row / lanes * stride(piece), vectors(tile.row),
                                    row_factors_.data() + tile.row,
                                    plain.data() + piece.offset + tile.column / lanes * stride(piece),
                                    vectors(tile.column), column_factors_.data() + tile.column, stride(piece),
                                    piece.rows, tile.row == tile.column, to, width(tile.column));
            }
        });
        for (const Part& part : parts) {
            if (part.scratch < 0) continue;
            double* const to = sum(part.target);
            const double* const from = scratch.data() + part.scratch * numbers();
            for (Index i = 0; i < numbers(); ++i) to[i] += from[i];
        }
    }
}

template <class T>
Matrix<double> OuterProducts<T>::matrix(const double* sum) const {
    Matrix<double> out(dimensions_, dimensions_);
    for_each_row([&](Index i, Index first, Index last, Index position) {
        std::copy_n(sum + position, last - first, out.data() + i * dimensions_ + first);
    });
    mirror(out);
    return out;
}

void mirror(Matrix<double>& upper) {
    // In blocks, because a column of a large matrix does not fit into the cache.
    constexpr Index block = 32;
    for (Index row = 0; row < upper.rows(); row += block)
        for (Index column = 0; column <= row; column += block)
            for (Index i = row; i < std::min(upper.rows(), row + block); ++i)
                for (Index j = column; j < std::min(i, column + block); ++j) upper(i, j) = upper(j, i);
}

template class OuterProducts<float>;
template class OuterProducts<double>;
template void OuterProducts<float>::add<float>(Index, FunctionRef<OuterProduct<float>(Index)>,
                                               FunctionRef<double*(Index)>, int) const;
template void OuterProducts<double>::add<float>(Index, FunctionRef<OuterProduct<float>(Index)>,
                                                FunctionRef<double*(Index)>, int) const;
template void OuterProducts<double>::add<double>(Index, FunctionRef<OuterProduct<double>(Index)>,
                                                 FunctionRef<double*(Index)>, int) const;

}  // namespace coterie::internal
