#include "coterie/subspace/internal/shrinkage.hpp"

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {
TEST(Shrinkage, ByHand) {
    // S = diag(4, 0), n = 9: (16 + 16) / (10 (16 - 8)) = 0.4.
    EXPECT_DOUBLE_EQ(subspace::internal::oas_shrinkage(4.0, 16.0, 9.0, 2), 0.4);
    // Few points: at most 1.
    EXPECT_EQ(subspace::internal::oas_shrinkage(4.0, 16.0, 1.0, 2), 1.0);
}

TEST(Shrinkage, AgreesWithScikitLearn) {
    // sklearn.covariance.OAS().fit(points).shrinkage_ of version 1.2.1
    Matrix<double> points(10, 3);
    points << 1, 2, 0.5, 2, 1, 0, 0, 4, 1, 3, 3, -1, 5, 0, 2, 1, 1, 1, 7, -2, 0, 4, 1, 1.5, -3, 6, 0, 2, 2, 2;
    const Matrix<double> centered = points.rowwise() - points.colwise().mean();
    const Matrix<double> covariance = centered.transpose() * centered / 10.0;
    EXPECT_NEAR(subspace::internal::oas_shrinkage(covariance.trace(), covariance.squaredNorm(), 10.0, 3),
                0.35353051484118947, 1e-14);
}

TEST(Shrinkage, AgreesWithTheFormula) {
    RandomStream random(1, "test.shrinkage");
    for (const Index d : {2, 5, 40}) {
        for (const Index n : {3, 50, 5000}) {
            Matrix<double> root(d, d);
            for (Index i = 0; i < d; ++i)
                for (Index j = 0; j < d; ++j) root(i, j) = random.normal();
            const Matrix<double> s = root * root.transpose();
            const long double squares = s.cast<long double>().squaredNorm();
            const long double trace = s.cast<long double>().trace();
            const long double ratio =
                (squares + trace * trace) / ((n + 1) * (squares - trace * trace / static_cast<long double>(d)));
            EXPECT_NEAR(subspace::internal::oas_shrinkage(s.trace(), s.squaredNorm(), static_cast<double>(n), d),
                        static_cast<double>(std::min(1.0L, ratio)), 1e-12);
        }
    }
}

TEST(Shrinkage, IsFullForMultiplesOfTheIdentity) {
    EXPECT_EQ(subspace::internal::oas_shrinkage(3.0, 9.0, 100.0, 1),
              1.0);  // one dimension: always a multiple of the identity
    EXPECT_EQ(subspace::internal::oas_shrinkage(0.0, 0.0, 100.0, 5), 1.0);    // no variance
    EXPECT_EQ(subspace::internal::oas_shrinkage(10.0, 20.0, 100.0, 5), 1.0);  // 2 I
    EXPECT_EQ(subspace::internal::oas_shrinkage(0.3, 0.03, 1e9, 3), 1.0);  // 0.1 I; the difference is a rounding error
}
}  // namespace
}  // namespace coterie
