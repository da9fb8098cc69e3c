#pragma once
// For tests: sparse points made from dense ones.

#include <memory>
#include <utility>
#include <vector>

#include "coterie/base/random.hpp"
#include "coterie/base/sparse_points.hpp"

namespace coterie::test {

/// The entries that are not 0. Starts and columns have type Number.
template <class Number = std::int32_t, class Scalar>
std::shared_ptr<const SparsePoints> sparse_of(const Matrix<Scalar>& dense) {
    struct Arrays {
        std::vector<Number> starts = {0}, columns;
        std::vector<Scalar> values;
    };
    auto arrays = std::make_shared<Arrays>();
    for (Index i = 0; i < dense.rows(); ++i) {
        for (Index p = 0; p < dense.cols(); ++p) {
            if (dense(i, p) == 0) continue;
            arrays->columns.push_back(static_cast<Number>(p));
            arrays->values.push_back(dense(i, p));
        }
        arrays->starts.push_back(static_cast<Number>(arrays->columns.size()));
    }
    return std::make_shared<const SparsePoints>(dense.rows(), dense.cols(), std::span<const Number>(arrays->starts),
                                                std::span<const Number>(arrays->columns),
                                                std::span<const Scalar>(arrays->values), arrays);
}

/// n rows, where row i belongs to group i % k. The d columns are divided equally among the groups. A row has about
/// `entries` numbers from 0.5 to 3, most of them in the columns of its group.
template <class Scalar>
Matrix<Scalar> words(Index n, Index d, int k, int entries, std::uint64_t seed = 1) {
    RandomStream random(seed, "words");
    Matrix<Scalar> out = Matrix<Scalar>::Zero(n, d);
    const Index own = d / k;
    for (Index i = 0; i < n; ++i)
        for (int e = 0; e < entries; ++e) {
            const bool any = random.uniform() < 0.2;
            const auto column = any ? static_cast<Index>(random.below(static_cast<std::uint64_t>(d)))
                                    : i % k * own + static_cast<Index>(random.below(static_cast<std::uint64_t>(own)));
            out(i, column) = static_cast<Scalar>(0.5 + 2.5 * random.uniform());
        }
    return out;
}

}  // namespace coterie::test
