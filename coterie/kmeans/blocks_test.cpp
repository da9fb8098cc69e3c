// Methods of this module that accept points in blocks: the bits do not depend on how rows are stored, on threads or on
// processes.

#include <gtest/gtest.h>

#include "coterie/kmeans/kmeans.hpp"
#include "coterie/kmeans/minibatch_kmeans.hpp"
#include "coterie/kmeans/soft_kmeans.hpp"
#include "coterie/kmeans/spherical_kmeans.hpp"
#include "coterie/kmeans/ward.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::Bits;

// Labels, centroids and the figures of the report.
template <class Fitting, class Options>
auto fitting(const Fitting& fit, const Options& options) {
    return [&fit, options](const Problem& problem, const Run& run) {
        const auto model = fit(problem, options, run);
        Bits out{model.labels(), {}};
        const FitReport& report = model.fit_report();
        const Matrix<double> centroids = to_matrix<double>(model.centroids());
        out.numbers.assign(centroids.data(), centroids.data() + centroids.size());
        out.numbers.insert(out.numbers.end(), report.objective_per_iteration.begin(),
                           report.objective_per_iteration.end());
        out.numbers.insert(out.numbers.end(), report.sizes.begin(), report.sizes.end());
        for (const double figure : {report.objective, static_cast<double>(report.iterations),
                                    static_cast<double>(report.empty_clusters_repaired)})
            out.numbers.push_back(figure);
        return out;
    };
}

std::vector<double> some_weights(Index n) {
    std::vector<double> out;
    for (Index i = 0; i < n; ++i) out.push_back(static_cast<double>(i % 4) * 0.37);
    return out;
}

template <class T>
class InBlocks : public testing::Test {
protected:
    Problem problem(Index n, Index d, int blobs, bool weighted = false) {
        Problem out{.points = Points(test::blob_points<T>(n, d, blobs, 2, 3, 5))};
        if (weighted) out.weights = some_weights(n);
        return out;
    }
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(InBlocks, Scalars);

TYPED_TEST(InBlocks, KMeans) {
    for (const auto algorithm : {KMeansAlgorithm::lloyd, KMeansAlgorithm::bounds}) {
        const KMeansOptions options{.clusters = 9, .restarts = 2, .algorithm = algorithm};
        test::expect_same_bits(this->problem(3000, 7, 9), fitting(fit_kmeans, options));
        test::expect_same_bits(this->problem(3000, 7, 9, true), fitting(fit_kmeans, options));
    }
}

TYPED_TEST(InBlocks, KMeansOfManyBlocks) {
    const KMeansOptions options{.clusters = 40, .restarts = 1, .max_iterations = 12};
    test::expect_same_bits(this->problem(70000, 5, 30), fitting(fit_kmeans, options), {3});
}

TYPED_TEST(InBlocks, KMeansOfFewRows) {
    for (const Index n : {5, 16, 40})
        test::expect_same_bits(this->problem(n, 3, 3), fitting(fit_kmeans, KMeansOptions{.clusters = 3}));
}

TYPED_TEST(InBlocks, KMeansThatRepairsEmptyClusters) {
    Problem problem = this->problem(2000, 4, 3);
    Matrix<TypeParam> start = Matrix<TypeParam>::Constant(6, 4, TypeParam(1e3));
    start.row(0).setZero();
    problem.initial_centroids = Points(std::move(start));
    const auto fit = fitting(fit_kmeans, KMeansOptions{.clusters = 6});
    EXPECT_GT(fit(problem, coterie::Run(7, 1)).numbers.back(), 0);
    test::expect_same_bits(problem, fit);
}

TYPED_TEST(InBlocks, Seedings) {
    for (const auto seeding : {Seeding::kmeans_plus_plus, Seeding::parallel, Seeding::random})
        for (const bool weighted : {false, true}) {
            const KMeansOptions options{
                .clusters = 12, .restarts = 1, .max_iterations = 1, .seeding = seeding, .seeding_sample = 700};
            test::expect_same_bits(this->problem(5000, 6, 12, weighted), fitting(fit_kmeans, options), {2, 3});
        }
}

// Partial labels, some with two clusters, and free clusters; weights, shares, sizes.
TYPED_TEST(InBlocks, ConstrainedKMeans) {
    KMeansOptions options{.restarts = 2, .max_iterations = 10};
    Problem labelled = this->problem(3000, 7, 6);
    for (Index i = 0; i < 3000; ++i)
        labelled.partial_labels.push_back(i % 11 == 0 ? static_cast<std::int32_t>(i % 3) : -1);
    labelled.clusters_per_label = {{"1", 2}};
    test::expect_same_bits(labelled, fitting(fit_kmeans, options));
    labelled.label_shares = {{"0", 0.2, 0.25}, {"2", 0.3, 0.4}};
    test::expect_same_bits(labelled, fitting(fit_kmeans, options), {2, 3});
    labelled.label_shares.clear();
    labelled.weights = some_weights(3000);
    options.clusters = 6;
    test::expect_same_bits(labelled, fitting(fit_kmeans, options), {2, 3});

    Problem sized = this->problem(3000, 7, 6);
    sized.sizes = SizeBounds{450, 600};
    test::expect_same_bits(sized, fitting(fit_kmeans, options), {2, 3});

    Problem linked = this->problem(3000, 7, 6);
    for (Index i = 0; i < 2900; i += 37) linked.must_links.push_back({i, 2999 - i / 2});
    for (Index i = 0; i < 2900; i += 23) linked.cannot_links.push_back({i, i + 100});
    test::expect_same_bits(linked, fitting(fit_kmeans, options), {2, 3});
}

TEST(InBlocks, InfeasibleBoundsAreErrorsOnEveryProcess) {
    const Matrix<double> points = test::blob_points<double>(3000, 3, 2, 1, 1);
    Problem problem{.points = Points::borrow(points)};
    problem.partial_labels = Labels(3000, 0);
    problem.sizes = SizeBounds{0, 2000};
    const KMeansOptions options{.clusters = 2};
    const std::string alone = test::message_of([&] { fit_kmeans(problem, options, coterie::Run(7, 1)); });
    for (const auto& error : test::run_processes(3, [&](std::shared_ptr<Communicator> communicator) {
             coterie::Run run(7, 1);
             run.set_communicator(std::move(communicator));
             fit_kmeans(problem, options, run);
         })) {
        ASSERT_TRUE(error);
        const std::string message = test::message_of([&] { std::rethrow_exception(error); });
        EXPECT_NE(message.find(alone), std::string::npos) << message;
    }
}

TYPED_TEST(InBlocks, SoftKMeans) {
    const SoftKMeansOptions options{.clusters = 5, .restarts = 1, .max_iterations = 20};
    test::expect_same_bits(this->problem(3000, 7, 5), fitting(fit_soft_kmeans, options));
    test::expect_same_bits(this->problem(3000, 7, 5, true), fitting(fit_soft_kmeans, options));
}

TYPED_TEST(InBlocks, SphericalKMeans) {
    const SphericalKMeansOptions options{.clusters = 6, .restarts = 2, .max_iterations = 20};
    test::expect_same_bits(this->problem(3000, 7, 6), fitting(fit_spherical_kmeans, options));
    test::expect_same_bits(this->problem(3000, 7, 6, true), fitting(fit_spherical_kmeans, options));
}

TYPED_TEST(InBlocks, MinibatchKMeans) {
    const MinibatchKMeansOptions options{.clusters = 6, .batch_size = 200, .max_epochs = 3, .restarts = 2};
    test::expect_same_bits(this->problem(3000, 7, 6), fitting(fit_minibatch_kmeans, options));
    test::expect_same_bits(this->problem(3000, 7, 6, true), fitting(fit_minibatch_kmeans, options));
}

TEST(InBlocks, BadValuesAreNamedByTheirProcess) {
    Matrix<double> points = test::blob_points<double>(3000, 3, 2, 1, 1);
    points(2900, 1) = NAN;
    const auto errors = test::run_processes(3, [&](std::shared_ptr<Communicator> communicator) {
        coterie::Run run(7, 1);
        run.set_communicator(std::move(communicator));
        fit_kmeans(points, {.clusters = 2}, run);
    });
    for (const auto& error : errors) {
        ASSERT_TRUE(error);
        const std::string message = test::message_of([&] { std::rethrow_exception(error); });
        EXPECT_EQ(message.find("points: column 2, row 2901: the value is NaN"), 0u) << message;
    }
}

TEST(InBlocks, UnsupportedMethodsAreErrors) {
    const Matrix<double> points = test::blob_points<double>(300, 3, 2, 1, 1);
    for (const auto& error : test::run_processes(2, [&](std::shared_ptr<Communicator> communicator) {
             coterie::Run run(7, 1);
             run.set_communicator(std::move(communicator));
             fit_ward(points, {.clusters = 2}, run);
         })) {
        ASSERT_TRUE(error);
        EXPECT_EQ(test::message_of([&] { std::rethrow_exception(error); }),
                  "method ward works in one process only; there are 2 processes");
    }
    const auto resident = fit_ward(points, {.clusters = 2});
    EXPECT_EQ(fit_ward(Problem{.points = test::read_rows(points)}, {.clusters = 2}).labels(), resident.labels());
    Problem bounded{.points = Points::borrow(points), .sizes = SizeBounds{140, 160}};
    const auto even = fit_kmeans(bounded, {.clusters = 2});
    bounded.points = test::read_rows(points);
    EXPECT_EQ(fit_kmeans(bounded, {.clusters = 2}).labels(), even.labels());
}

}  // namespace
}  // namespace coterie
