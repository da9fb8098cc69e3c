#pragma once
// Internal: the layout of sums over clusters in one array for BlockSums: k sums of d numbers, k weights, and k flags
// that say whether a block touched the cluster. If there are many clusters, a block with few rows touches few of them.
// The other clusters are neither cleared nor added, so adding up blocks never costs more than the rows themselves.

#include <algorithm>

#include "coterie/base/parallel/blocks.hpp"

namespace coterie::internal {

class ClusterSumLayout {
public:
    /// `extra`: how many more numbers follow, which are always cleared and added.
    ClusterSumLayout(Index clusters, Index dimensions, Index extra = 0) : k_(clusters), d_(dimensions), extra_(extra) {}

    /// For sums with this layout.
    BlockSums block_sums() const {
        return BlockSums(
            k_ * (d_ + 2) + extra_, [*this](double* sum) { clear(sum); },
            [*this](double* left, const double* right) { merge(left, right); });
    }
    // Works for mutable and constant sums.
    template <class Number>
    Number* sum(Number* s, Index j) const {
        return s + j * d_;
    }
    template <class Number>
    Number& weight(Number* s, Index j) const {
        return s[k_ * d_ + j];
    }
    template <class Number>
    Number* extra(Number* s) const {
        return s + k_ * (d_ + 2);
    }
    bool touched(const double* s, Index j) const { return s[k_ * (d_ + 1) + j] != 0; }

    void clear(double* s) const { std::fill_n(s + k_ * (d_ + 1), k_ + extra_, 0.0); }
    /// The sum of cluster j, with its flag set. Call this before you add to the sum or the weight.
    double* touch(double* s, Index j) const {
        if (!touched(s, j)) {
            s[k_ * (d_ + 1) + j] = 1;
            weight(s, j) = 0;
            std::fill_n(sum(s, j), d_, 0.0);
        }
        return sum(s, j);
    }
    void merge(double* left, const double* right) const {
        for (Index j = 0; j < k_; ++j) {
            if (!touched(right, j)) continue;
            double* const to = touch(left, j);
            const double* const from = sum(right, j);
            for (Index p = 0; p < d_; ++p) to[p] += from[p];
            weight(left, j) += weight(right, j);
        }
        for (Index e = 0; e < extra_; ++e) extra(left)[e] += extra(right)[e];
    }

private:
    Index k_, d_, extra_;
};

}  // namespace coterie::internal
