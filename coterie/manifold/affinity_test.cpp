#include "coterie/manifold/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

SparseMatrix random_representations(Index n, double filled, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<Eigen::Triplet<double, Index>> entries;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            if (i != j && std::abs(uniform(random)) < filled) entries.emplace_back(i, j, uniform(random));
    eigen::SparseMatrix out(n, n);
    out.setFromTriplets(entries.begin(), entries.end());
    return out;
}

// The steps as in the paper, where column i of C is the representation of point i.
Matrix<double> literally(const SparseMatrix& representations, const std::string& steps, int keep) {
    Matrix<double> c = Matrix<double>(representations).transpose().cwiseAbs();
    for (const char step : steps) {
        if (step == 'N') {
            for (Index j = 0; j < c.cols(); ++j)
                if (c.col(j).norm() > 0) c.col(j) = (c.col(j) / c.col(j).norm()).eval();
        } else if (step == 'S') {
            c = (0.5 * (c.cwiseAbs() + c.cwiseAbs().transpose())).eval();
        } else {
            for (Index j = 0; j < c.cols(); ++j) {
                std::vector<double> sorted(static_cast<std::size_t>(c.rows()));
                for (Index i = 0; i < c.rows(); ++i) sorted[static_cast<std::size_t>(i)] = c(i, j);
                std::sort(sorted.rbegin(), sorted.rend());
                const double last = sorted[static_cast<std::size_t>(std::min<Index>(keep, c.rows()) - 1)];
                for (Index i = 0; i < c.rows(); ++i)
                    if (c(i, j) < last) c(i, j) = 0;
            }
        }
    }
    return 0.5 * (c + c.transpose());
}

TEST(Affinity, all_strategies_agree_with_the_paper) {
    ASSERT_EQ(affinity_strategies().size(), 15U);
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const SparseMatrix c = random_representations(17, 0.5, seed);
        const int keep = 1 + static_cast<int>(seed % 5);
        for (std::size_t s = 0; s < 15; ++s) {
            const std::string& steps = affinity_strategies()[s];
            const SymmetricAffinity affinity = affinity_of(c, static_cast<AffinityStrategy>(s), keep);
            const Matrix<double> expected = literally(c, steps, keep);
            EXPECT_LT((Matrix<double>(affinity.matrix) - expected).cwiseAbs().maxCoeff(), 1e-14) << steps;
            EXPECT_TRUE(affinity.matrix.isApprox(SparseMatrix(affinity.matrix.transpose()), 0)) << steps;
            EXPECT_EQ(affinity.symmetrised, steps.back() != 'S') << steps;
        }
    }
}

TEST(Affinity, ties_empty_rows_and_symmetric_input) {
    eigen::SparseMatrix c(4, 4);
    c.insert(0, 1) = -2;
    c.insert(0, 2) = 2;
    c.insert(0, 3) = 2;
    const SymmetricAffinity kept = affinity_of(c, AffinityStrategy::K, 2);  // equal entries: the lower columns
    EXPECT_EQ(kept.matrix.coeff(0, 1), 1);
    EXPECT_EQ(kept.matrix.coeff(0, 2), 1);
    EXPECT_EQ(kept.matrix.coeff(0, 3), 0);
    const SymmetricAffinity normal = affinity_of(c, AffinityStrategy::N, 2);
    EXPECT_NEAR(normal.matrix.coeff(3, 0), 0.5 / std::sqrt(3.0), 1e-15);
    const SymmetricAffinity none = affinity_of(SparseMatrix(3, 3), AffinityStrategy::NSK, 2);
    EXPECT_EQ(none.matrix.nonZeros(), 0);
    EXPECT_FALSE(none.symmetrised);
    const SparseMatrix both = affinity_of(c, AffinityStrategy::S, 1).matrix;
    EXPECT_FALSE(affinity_of(both, AffinityStrategy::K, 10).symmetrised);  // nothing was removed
}

TEST(Affinity, entries_with_overflowing_squares) {
    eigen::SparseMatrix c(2, 2);
    c.insert(0, 1) = 1e200;
    c.insert(1, 0) = -1e-200;
    const SymmetricAffinity affinity = affinity_of(c, AffinityStrategy::N, 1);
    EXPECT_NEAR(affinity.matrix.coeff(0, 1), 1, 1e-15);
}

TEST(Affinity, rejects_bad_arguments) {
    EXPECT_THROW(affinity_of(SparseMatrix(2, 3), AffinityStrategy::N, 1), BadArgument);
    EXPECT_THROW(affinity_of(SparseMatrix(3, 3), AffinityStrategy::K, 0), BadArgument);
}

}  // namespace
}  // namespace coterie
