#include "coterie/subspace/internal/cluster_moments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"
#include "coterie/linalg/kernels.hpp"

namespace coterie::subspace::internal {
namespace {
template <class Scalar>
Matrix<Scalar> random_points(Index n, Index d, double offset) {
    RandomStream random(5, "test.moments");
    Matrix<Scalar> points(n, d);
    for (Index i = 0; i < n; ++i)
        for (Index p = 0; p < d; ++p) points(i, p) = static_cast<Scalar>(offset + random.normal());
    return points;
}

// sum_i A_ij (x_i - o)(x_i - o)', in long double.
template <class Scalar>
Matrix<double> literal(const Matrix<Scalar>& points, const Matrix<double>& a, int cluster,
                       const Vector<double>& origin) {
    using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const Wide z = (points.template cast<long double>().rowwise() - origin.transpose().cast<long double>());
    const Wide weighted = a.col(cluster).cast<long double>().asDiagonal() * z;
    return (z.transpose() * weighted).template cast<double>();
}

std::vector<ClusterMoments::Entry> random_entries(Index n, int clusters, std::size_t count, std::uint64_t seed) {
    RandomStream random(seed, "test.entries");
    std::vector<ClusterMoments::Entry> entries(count);
    for (auto& entry : entries) {
        entry.cluster = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(clusters)));
        entry.row = static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
        entry.weight = random.below(2) == 0 ? 1.0 : random.normal();
    }
    std::stable_sort(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.cluster < b.cluster; });
    return entries;
}

// Adds the entries as changes of their rows.
void add(ClusterMoments& moments, PointsView points, std::vector<ClusterMoments::Entry> entries, int threads) {
    std::stable_sort(entries.begin(), entries.end(), [](auto& a, auto& b) { return a.row < b.row; });
    const auto first_of = [&](Index row) {
        return std::lower_bound(entries.begin(), entries.end(), row,
                                [](auto& entry, Index r) { return entry.row < r; });
    };
    moments.add_changes(
        points, static_cast<Index>(entries.size()),
        [&](Index begin, Index end, FunctionRef<void(const ClusterMoments::Entry&)> change) {
            for (auto entry = first_of(begin); entry != first_of(end); ++entry) change(*entry);
        },
        Run(0, threads));
}

// M_j, out of `clusters`.
Matrix<double> moment(const ClusterMoments& moments, int cluster, int clusters) {
    std::vector<double> factors(static_cast<std::size_t>(clusters), 0.0);
    factors[static_cast<std::size_t>(cluster)] = 1.0;
    return moments.sum(factors);
}

template <class Scalar>
void agrees_with_the_sum(Index n, Index d, double offset, double tolerance) {
    constexpr int clusters = 4;  // the last one gets nothing
    const Matrix<Scalar> points = random_points<Scalar>(n, d, offset);
    const Vector<double> origin = Vector<double>::Constant(d, offset) + Vector<double>::LinSpaced(d, -0.5, 0.5);
    std::vector<std::vector<ClusterMoments::Entry>> rounds;
    Vector<double> squares = Vector<double>::Zero(d);  // of all rows that are added
    for (std::uint64_t round = 0; round < 4; ++round) {
        rounds.push_back(random_entries(n, clusters - 1, static_cast<std::size_t>(n) * (round == 0 ? 3 : 1), round));
        for (const auto& entry : rounds.back())
            squares.array() += std::abs(entry.weight) *
                               (points.row(entry.row).template cast<double>().transpose() - origin).array().square();
    }
    std::vector<ClusterMoments> moments(3, ClusterMoments(clusters, origin, squares));
    Matrix<double> a = Matrix<double>::Zero(n, clusters);
    Vector<double> moved = Vector<double>::Zero(clusters);
    for (const auto& entries : rounds) {
        for (const auto& entry : entries) {
            a(entry.row, entry.cluster) += entry.weight;
            moved[entry.cluster] += std::abs(entry.weight);
        }
        for (std::size_t t = 0; t < 3; ++t) add(moments[t], points, entries, t == 0 ? 1 : t == 1 ? 2 : 8);
    }
    Matrix<double> sum = Matrix<double>::Zero(d, d);
    const std::vector<double> factors{0.5, 0.0, -2.0, 3.0};
    for (int j = 0; j < clusters; ++j) {
        const Matrix<double> expected = literal(points, a, j, origin);
        const Matrix<double> found = moment(moments[0], j, clusters);
        // The last term is what each 256 rows lose to rounding, so that sums are exact.
        const double pieces = 4.0 + static_cast<double>(6 * n) / 256.0;
        const double rounded = 0x1p-50 * pieces * squares.maxCoeff();
        EXPECT_LE((found - expected).cwiseAbs().maxCoeff(), tolerance * (1.0 + moved[j]) + rounded)
            << n << ' ' << d << ' ' << j;
        EXPECT_EQ(found, found.transpose());
        for (std::size_t t = 1; t < 3; ++t) EXPECT_EQ(found, moment(moments[t], j, clusters));
        sum += factors[static_cast<std::size_t>(j)] * found;
        const Vector<double> centroid = Vector<double>::LinSpaced(d, -1.0, 0.7);
        const Matrix<double> scatter = found - 2.5 * centroid * centroid.transpose();
        const auto norms = moments[0].scatter_norms(j, centroid, 2.5);
        EXPECT_NEAR(norms.trace, scatter.trace(), 1e-12 * found.norm() + 1e-12 * scatter.norm());
        EXPECT_NEAR(norms.squared_frobenius, scatter.squaredNorm(), 1e-12 * scatter.squaredNorm());
    }
    EXPECT_LE((moments[0].sum(factors) - sum).norm(), 1e-13 * (1.0 + sum.norm()));
    moments[0].clear(0);
    EXPECT_EQ(moment(moments[0], 0, clusters), Matrix<double>::Zero(d, d));
    EXPECT_EQ(moment(moments[0], 1, clusters), moment(moments[1], 1, clusters));
}

TEST(ClusterMoments, AgreeWithDirectSums) {
    for (const Index d : {1, 3, 16, 17, 65, 191, 193, 400}) {
        const Index n = d > 100 ? 400 : 1500;
        for (const double offset : {0.0, 1e6}) {
            agrees_with_the_sum<double>(n, d, offset, 1e-14);
            agrees_with_the_sum<float>(n, d, offset, 2e-6);
        }
    }
    agrees_with_the_sum<double>(30000, 2, 0.0, 1e-14);  // rows in several parts
    agrees_with_the_sum<float>(30000, 20, 0.0, 2e-6);
}

// The bits are those of the sum for any order of calls and any distribution of entries.
TEST(ClusterMoments, DoNotDependOnTheOrderOfCalls) {
    constexpr Index n = 2000, d = 37;
    const Matrix<float> points = random_points<float>(n, d, 3.0);
    const Vector<double> origin = Vector<double>::Constant(d, 2.9);
    const Vector<double> squares =
        (points.template cast<double>().rowwise() - origin.transpose()).colwise().squaredNorm().transpose();
    std::vector<std::vector<ClusterMoments::Entry>> calls(40);
    for (Index i = 0; i < n; ++i)
        calls[static_cast<std::size_t>(i * 40 / n)].push_back({0, i, 0.1 + 0.9 * static_cast<double>(i % 7) / 7.0});
    ClusterMoments forwards(1, origin, squares);
    ClusterMoments backwards(1, origin, squares);
    ClusterMoments more(1, origin, squares);
    for (std::size_t c = 0; c < calls.size(); ++c) {
        add(forwards, points, calls[c], 1);
        add(backwards, points, calls[calls.size() - 1 - c], 2);
        add(more, points, calls[c], 1);
    }
    EXPECT_EQ(moment(forwards, 0, 1), moment(backwards, 0, 1));
    EXPECT_GT(moment(forwards, 0, 1).norm(), 1.0);
    auto taken_off = calls[7];
    for (auto& entry : taken_off) entry.weight = -entry.weight;
    add(more, points, taken_off, 2);
    add(more, points, calls[7], 2);
    EXPECT_EQ(moment(more, 0, 1), moment(forwards, 0, 1));
}

// Also tests instruction sets that this processor does not choose.
template <class T>
void agrees_in_every_instruction_set(const Kernels<T>& kernels, const char* name) {
    constexpr Index n = 300;
    for (const Index d : {1, 7, 33, 200}) {
        const Matrix<float> points = random_points<float>(n, d, 3.0);
        const Vector<double> center = Vector<double>::Constant(d, 2.5);
        Matrix<double> a(n, 1);
        for (Index i = 0; i < n; ++i) a(i, 0) = 0.25 * static_cast<double>(i % 3);
        const Vector<double> squares = literal(points, a, 0, center).diagonal();
        const OuterProducts<T> products(squares, kernels);
        CacheLineVector<double> sum(static_cast<std::size_t>(products.numbers()), 0.0);
        products.template add<float>(
            n,
            [&](Index i) {
                return OuterProduct<float>{points.row(i).data(), center.data(), a(i, 0), 0};
            },
            [&](Index) { return sum.data(); }, 1);
        const Matrix<double> expected = literal(points, a, 0, center);
        EXPECT_LE((products.matrix(sum.data()) - expected).cwiseAbs().maxCoeff(),
                  static_cast<double>(std::numeric_limits<T>::epsilon()) * 4 * n + 2 * 0x1p-50 * squares.maxCoeff())
            << name << ' ' << d;
    }
}

TEST(OuterProducts, AgreeInEveryInstructionSet) {
    std::size_t count = 0;
    const InstructionSet* const sets = instruction_sets(count);
    for (std::size_t s = 0; s < count; ++s) {
        agrees_in_every_instruction_set(*sets[s].float32, sets[s].name);
        agrees_in_every_instruction_set(*sets[s].float64, sets[s].name);
    }
}
}  // namespace
}  // namespace coterie::subspace::internal
