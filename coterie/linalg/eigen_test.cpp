#include "coterie/linalg/eigen.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/random.hpp"
#include "coterie/linalg/lapack.hpp"

namespace coterie {
namespace {
using internal::EigenBackend;

Matrix<double> random_matrix(Index rows, Index columns, std::uint64_t seed) {
    RandomStream random(seed, "test.eigen");
    Matrix<double> a(rows, columns);
    for (Index i = 0; i < a.size(); ++i) a.data()[i] = random.normal();
    return a;
}

Matrix<double> random_symmetric(Index n, std::uint64_t seed) {
    const Matrix<double> a = random_matrix(n, n, seed);
    return 0.5 * (a + a.transpose());
}

Matrix<double> random_positive(Index n, std::uint64_t seed) {
    const Matrix<double> a = random_matrix(n, n + 5, seed);
    return a * a.transpose() / static_cast<double>(n) + 0.1 * Matrix<double>::Identity(n, n);
}

void expect_eigen(const Matrix<double>& a, const Matrix<double>& b, const EigenPairs& pairs) {
    const Index n = a.rows();
    const Index count = pairs.values.size();
    ASSERT_EQ(pairs.vectors.cols(), count);
    ASSERT_EQ(pairs.vectors.rows(), n);
    const double scale = std::max(1e-300, a.norm());
    const Matrix<double> residual = a * pairs.vectors - b * pairs.vectors * pairs.values.asDiagonal();
    const double vectors = std::max(1.0, pairs.vectors.norm() / std::sqrt(static_cast<double>(n)));
    EXPECT_LE(residual.norm() / scale, 1e-12 * vectors * std::max(1.0, b.norm()));
    EXPECT_LE(
        (pairs.vectors.transpose() * b * pairs.vectors - Matrix<double>::Identity(count, count)).cwiseAbs().maxCoeff(),
        1e-12);
    for (Index j = 0; j + 1 < count; ++j) EXPECT_LE(pairs.values[j], pairs.values[j + 1]);
    for (Index j = 0; j < count; ++j) {
        Index largest = 0;
        pairs.vectors.col(j).cwiseAbs().maxCoeff(&largest);
        EXPECT_GT(pairs.vectors(largest, j), 0.0);
    }
}

TEST(SymmetricEigen, ByHand) {
    Matrix<double> a(2, 2);
    a << 2, 1, 1, 2;
    const EigenPairs pairs = symmetric_eigen(a);
    EXPECT_NEAR(pairs.values[0], 1.0, 1e-15);
    EXPECT_NEAR(pairs.values[1], 3.0, 1e-15);
    EXPECT_NEAR(pairs.vectors(0, 1), std::sqrt(0.5), 1e-15);
    EXPECT_NEAR(pairs.vectors(1, 1), std::sqrt(0.5), 1e-15);
}

TEST(SymmetricEigen, OrderZeroAndOne) {
    EXPECT_EQ(symmetric_eigen(Matrix<double>(0, 0)).values.size(), 0);
    const EigenPairs one = symmetric_eigen(Matrix<double>::Constant(1, 1, -3.0));
    EXPECT_EQ(one.values[0], -3.0);
    EXPECT_EQ(one.vectors(0, 0), 1.0);
    EXPECT_EQ(generalized_symmetric_eigen(Matrix<double>(0, 0), Matrix<double>(0, 0)).values.size(), 0);
    const EigenPairs pair =
        generalized_symmetric_eigen(Matrix<double>::Constant(1, 1, 6.0), Matrix<double>::Constant(1, 1, 4.0));
    EXPECT_DOUBLE_EQ(pair.values[0], 1.5);
    EXPECT_DOUBLE_EQ(pair.vectors(0, 0), 0.5);
}

TEST(SymmetricEigen, ResidualAndOrthonormality) {
    for (const Index n : {2, 3, 10, 63, 64, 65, 200, 301}) {
        const Matrix<double> a = random_symmetric(n, static_cast<std::uint64_t>(n));
        expect_eigen(a, Matrix<double>::Identity(n, n), symmetric_eigen(a));
        const Matrix<double> low_rank = random_matrix(n, 2, 3) * Matrix<double>::Ones(2, n);
        const Matrix<double> degenerate = low_rank * low_rank.transpose();
        expect_eigen(degenerate, Matrix<double>::Identity(n, n), symmetric_eigen(degenerate));
    }
    const Matrix<double> zero = Matrix<double>::Zero(80, 80);
    EXPECT_EQ(symmetric_eigen(zero).values.cwiseAbs().maxCoeff(), 0.0);
}

TEST(SymmetricEigen, SmallestPairsAgreeWithAllPairs) {
    for (const Index n : {1, 5, 64, 201}) {
        const Matrix<double> identity = Matrix<double>::Identity(n, n);
        const Matrix<double> a = random_symmetric(n, static_cast<std::uint64_t>(n));
        // Two small eigenvalues and all others equal, as in a whitened scatter matrix.
        const Matrix<double> few = random_matrix(n, 2, 3);
        const Matrix<double> alike = identity - 0.001 * few * few.transpose();
        for (const Matrix<double>& matrix : {a, alike, identity, Matrix<double>(1e-200 * a)}) {
            const EigenPairs all = symmetric_eigen(matrix);
            for (const Index count : {Index{0}, Index{1}, n / 5, n / 2, n}) {
                for (const bool lapack : {false, true}) {
                    if (lapack && internal::lapack() == nullptr) continue;
                    const EigenPairs pairs = internal::smallest_symmetric_eigen(
                        matrix, count, lapack ? EigenBackend::lapack : EigenBackend::eigen);
                    ASSERT_EQ(pairs.values.size(), count);
                    if (count == 0) continue;
                    expect_eigen(matrix, identity, pairs);
                    EXPECT_LE((pairs.values - all.values.head(count)).norm(), 1e-12 * matrix.norm());
                    EXPECT_EQ(smallest_symmetric_eigen(matrix, count).values,
                              smallest_symmetric_eigen(matrix, count).values);
                }
            }
        }
    }
    EXPECT_THROW(smallest_symmetric_eigen(Matrix<double>::Identity(3, 3), 4), BadArgument);
    EXPECT_THROW(smallest_symmetric_eigen(Matrix<double>::Identity(3, 3), -1), BadArgument);
}

TEST(SymmetricEigen, VeryLargeAndVerySmallNumbers) {
    for (const Index n : {5, 80}) {
        const Matrix<double> a = random_symmetric(n, 2);
        const Vector<double> values = symmetric_eigen(a).values;
        for (const double scale : {1e-250, 1e250})
            EXPECT_LE((symmetric_eigen(scale * a).values / scale - values).norm(), 1e-12 * values.norm());
    }
}

TEST(SymmetricEigen, StopsWhenAsked) {
    for (const Index n : {30, 1100}) {  // from order 1000 on, the caller is asked during the solution
        const Matrix<double> a = random_symmetric(n, 3);
        coterie::Run run(0, 1);
        int asked = 0;
        run.should_stop = [&] { return ++asked < 0; };
        const EigenPairs plain = smallest_symmetric_eigen(a, 3);
        const EigenPairs found = smallest_symmetric_eigen(a, 3, run, "solving");
        EXPECT_EQ(found.values, plain.values);
        EXPECT_EQ(found.vectors, plain.vectors);
        EXPECT_EQ(symmetric_eigen(a, run, "solving").values, symmetric_eigen(a).values);
        EXPECT_EQ(asked > 0, n > 1000);
        run.should_stop = [] { return true; };
        std::string said;
        try {
            symmetric_eigen(a, run, "solving");
        } catch (const Cancelled& stop) {
            said = stop.message();
        }
        EXPECT_EQ(said, n > 1000 ? "interrupted during solving, before there was a result" : "");
    }
}

TEST(SymmetricEigen, ReadsTheLowerTriangle) {
    for (const Index n : {10, 100}) {
        const Matrix<double> a = random_symmetric(n, 5);
        Matrix<double> lower = a.triangularView<Eigen::Lower>();
        for (Index i = 0; i < n; ++i)
            for (Index j = i + 1; j < n; ++j) lower(i, j) = std::numeric_limits<double>::quiet_NaN();
        EXPECT_EQ(symmetric_eigen(lower).values, symmetric_eigen(a).values);
        EXPECT_EQ(symmetric_eigen(lower).vectors, symmetric_eigen(a).vectors);
        EXPECT_EQ(smallest_symmetric_eigen(lower, 2).vectors, smallest_symmetric_eigen(a, 2).vectors);
    }
}

TEST(GeneralizedEigen, ResidualAndOrthonormality) {
    for (const Index n : {2, 3, 10, 63, 64, 65, 200}) {
        const Matrix<double> a = random_symmetric(n, static_cast<std::uint64_t>(n));
        const Matrix<double> b = random_positive(n, static_cast<std::uint64_t>(n) + 1);
        expect_eigen(a, b, generalized_symmetric_eigen(a, b));
    }
}

TEST(Eigen, BackendsAgree) {
    if (internal::lapack() == nullptr) GTEST_SKIP() << "liblapacke.so.3 is not installed";
    EXPECT_NE(eigen_backend(), "Eigen");
    for (const Index n : {1, 2, 7, 90, 250}) {
        const Matrix<double> a = random_symmetric(n, 11);
        const Matrix<double> b = random_positive(n, 12);
        const EigenPairs plain = internal::symmetric_eigen(a, EigenBackend::eigen);
        const EigenPairs lapack = internal::symmetric_eigen(a, EigenBackend::lapack);
        EXPECT_LE((plain.values - lapack.values).norm(), 1e-12 * plain.values.norm());
        EXPECT_LE((plain.vectors - lapack.vectors).cwiseAbs().maxCoeff(), 1e-9);
        const EigenPairs plain_pair = internal::generalized_symmetric_eigen(a, b, EigenBackend::eigen);
        const EigenPairs lapack_pair = internal::generalized_symmetric_eigen(a, b, EigenBackend::lapack);
        EXPECT_LE((plain_pair.values - lapack_pair.values).norm(), 1e-11 * plain_pair.values.norm());
        EXPECT_LE((plain_pair.vectors - lapack_pair.vectors).cwiseAbs().maxCoeff(), 1e-8);
        for (const auto backend : {EigenBackend::eigen, EigenBackend::lapack}) {
            Matrix<double> singular = b;
            singular.row(n - 1).setZero();
            singular.col(n - 1).setZero();
            EXPECT_THROW(internal::generalized_symmetric_eigen(a, singular, backend), BadData);
            EXPECT_THROW(internal::generalized_symmetric_eigen(a, -b, backend), BadData);
            if (n < 3) continue;
            Matrix<double> rounding = random_matrix(n, n - 2, 13);
            rounding = rounding * rounding.transpose();
            EXPECT_THROW(internal::generalized_symmetric_eigen(a, rounding, backend), BadData);
            Matrix<double> indefinite = b;
            indefinite(n - 1, 0) = indefinite(0, n - 1) = 100.0;
            EXPECT_THROW(internal::generalized_symmetric_eigen(a, indefinite, backend), BadData);
        }
    }
}

TEST(Eigen, SameBitsInParallelLoopsAndThreadCountsKept) {
    const Matrix<double> a = random_symmetric(300, 21);
    const EigenPairs once = symmetric_eigen(a);
    const internal::Lapack* const lapack = internal::lapack();
    const bool openblas = lapack != nullptr && lapack->set_num_threads != nullptr;
    const bool openmp = openblas && lapack->set_openmp_threads != nullptr;
    const int before = openblas ? lapack->get_num_threads() : 1;
    for (const int threads : {1, 2, 8}) {
        if (openblas) lapack->set_num_threads(threads);
        if (openmp) lapack->set_openmp_threads(threads);
        const EigenPairs again = symmetric_eigen(a);
        if (openblas) {
            EXPECT_EQ(lapack->get_num_threads(), threads);
        }
        if (openmp) {
            EXPECT_EQ(lapack->get_openmp_threads(), threads);
        }
        EXPECT_EQ(again.values, once.values);
        EXPECT_EQ(again.vectors, once.vectors);
    }
    if (openblas) lapack->set_num_threads(before);
    if (openmp) lapack->set_openmp_threads(before);
    std::vector<EigenPairs> inside(4);
    for_each_block(4, 2, [&](Index block, int) { inside[static_cast<std::size_t>(block)] = symmetric_eigen(a); });
    for (const auto& pairs : inside) EXPECT_EQ(pairs.vectors, once.vectors);
}

TEST(Eigen, BadArguments) {
    EXPECT_THROW(symmetric_eigen(Matrix<double>::Zero(2, 3)), BadArgument);
    EXPECT_THROW(generalized_symmetric_eigen(Matrix<double>::Identity(2, 2), Matrix<double>::Identity(3, 3)),
                 BadArgument);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        for (const Index n : {3, 70}) {
            Matrix<double> a = Matrix<double>::Identity(n, n);
            a(2, 1) = bad;
            EXPECT_THROW(symmetric_eigen(a), BadArgument);
            EXPECT_THROW(generalized_symmetric_eigen(a, Matrix<double>::Identity(n, n)), BadArgument);
            EXPECT_THROW(generalized_symmetric_eigen(Matrix<double>::Identity(n, n), a), BadArgument);
        }
    }
}

}  // namespace
}  // namespace coterie
