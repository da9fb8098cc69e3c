#include "coterie/spectral/spectral.hpp"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include "coterie/methods.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_graphs.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

using test::message_of;

SpectralModel fit(PointsView points, const SpectralOptions& options, int threads = 2, std::uint64_t seed = 0) {
    coterie::Run run(seed, threads);
    return fit_spectral(points, options, run);
}

// Rings of radius 1, 2.2, 3.4, ... about the origin: no centroids separate them.
template <class T = double>
Matrix<T> rings(Index n, int count, Labels* labels = nullptr, std::uint64_t seed = 1) {
    RandomStream random(seed, "test.rings");
    Matrix<T> out(n, 2);
    for (Index i = 0; i < n; ++i) {
        const auto ring = static_cast<std::int32_t>(i % count);
        const double angle = 2 * 3.141592653589793 * random.uniform();
        const double radius = 1 + 1.2 * ring + 0.05 * random.normal();
        out(i, 0) = static_cast<T>(radius * std::cos(angle));
        out(i, 1) = static_cast<T>(radius * std::sin(angle));
        if (labels != nullptr) labels->push_back(ring);
    }
    return out;
}

Matrix<double> constant(Index rows, Index columns, double value) {
    return Matrix<double>::Constant(rows, columns, value);
}

const Detail& detail(const Model& model, const std::string& name) {
    for (const auto& [key, value] : model.fit_report().details)
        if (key == name) return value;
    throw InternalError("no detail " + name);
}
std::int64_t count_of(const Model& model, const std::string& name) {
    return std::get<std::int64_t>(detail(model, name));
}
bool warns(const Model& model, const std::string& words) {
    for (const auto& warning : model.fit_report().warnings)
        if (warning.text().find(words) != std::string::npos) return true;
    return false;
}

std::vector<SpectralOptions> kinds(int clusters) {
    std::vector<SpectralOptions> out;
    for (const auto edge_weights : {EdgeWeights::connectivity, EdgeWeights::gaussian, EdgeWeights::self_tuning})
        out.push_back({.clusters = clusters, .neighbors = 12, .edge_weights = edge_weights});
    out.push_back({.clusters = clusters, .affinity = Affinity::rbf, .width = 0.2});
    return out;
}

Problem of_graph(const SparseMatrix& affinity) { return {.graph = std::make_shared<SparseMatrix>(affinity)}; }

TEST(Spectral, FindsRings) {
    Labels truth;
    const Matrix<double> x = rings(900, 3, &truth);
    for (const auto& options : kinds(3)) {
        const SpectralModel model = fit(x, options);
        EXPECT_DOUBLE_EQ(adjusted_rand_index(model.labels(), truth), 1);
        EXPECT_EQ(model.fit_report().clusters_found, 3);
        EXPECT_LT(std::get<double>(detail(model, "eigen_residual")), 1e-9);
        EXPECT_EQ(std::get<std::vector<double>>(detail(model, "eigenvalues")).size(), 3U);
        EXPECT_TRUE(model.fit_report().warnings.empty());
    }
}

TEST(Spectral, PredictsNewPoints) {
    Labels truth;
    Labels new_truth;
    const Matrix<double> x = rings(900, 3, &truth, 1);
    const Matrix<double> more = rings(600, 3, &new_truth, 2);
    for (const auto& options : kinds(3)) {
        const SpectralModel model = fit(x, options);
        EXPECT_EQ(model.predict(x), model.labels());
        EXPECT_EQ(model.predict(Matrix<float>(more.cast<float>())), model.predict(more));
        Labels both = model.labels();
        for (const auto label : model.predict(more)) both.push_back(label);
        Labels both_truth = truth;
        both_truth.insert(both_truth.end(), new_truth.begin(), new_truth.end());
        EXPECT_DOUBLE_EQ(adjusted_rand_index(both, both_truth), 1);
        // Also for distant points, whose affinities underflow, and both one by one and all at once.
        Matrix<double> far(2, 2);
        far << 1e3, 0, 0, -1e4;
        const Matrix<double> u = model.transform(far, coterie::Run(0, 2));
        for (Index i = 0; i < 2; ++i) EXPECT_NEAR(u.row(i).norm(), 1, 1e-12);
        const Matrix<double> all = model.transform(more, coterie::Run(0, 2));
        for (const Index i : {0, 17, 599})
            EXPECT_EQ(model.transform(Matrix<double>(more.row(i)), coterie::Run(0, 1)).row(0), all.row(i));
    }
}

TEST(Spectral, ExtendsTheEmbedding) {
    // A point that moves slightly keeps its position in U: the extension reproduces the eigenvectors.
    const Matrix<double> x = test::blob_points<double>(400, 3, 4, 2, 3);
    for (auto options : kinds(4)) {
        options.width = options.affinity == Affinity::rbf ? std::optional(1.0) : std::nullopt;
        const SpectralModel model = fit(x, options);
        const Matrix<double> u = model.transform(x, coterie::Run(0, 2));
        const Matrix<double> near = model.transform(Matrix<double>(x.array() + 1e-7), coterie::Run(0, 2));
        double cosine = 0;
        for (Index i = 0; i < 400; ++i) cosine += u.row(i).dot(near.row(i)) / 400;
        EXPECT_GT(cosine, options.affinity == Affinity::rbf ? 0.99 : 0.97);
    }
    // With the affinities of the fit, it is exact.
    const SparseMatrix affinity = test::planted_graph(80, 3, 14, 1, 4);
    coterie::Run run(0, 2);
    const SpectralModel model =
        fit_spectral(of_graph(affinity), {.clusters = 3, .affinity = Affinity::precomputed}, run);
    const AffinityClusters direct = cluster_affinity(affinity, {.clusters = 3}, run);
    const Matrix<double> u = model.transform(Matrix<double>(affinity), run);
    EXPECT_LT((u - direct.embedding).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_EQ(model.predict(Matrix<double>(affinity)), direct.labels);
}

TEST(Spectral, AcceptsAffinitiesAsPoints) {
    const SparseMatrix affinity = test::planted_graph(120, 3, 14, 1, 5);
    coterie::Run run(0, 2);
    const SpectralOptions options{.clusters = 3, .affinity = Affinity::precomputed};
    const SpectralModel sparse = fit_spectral(of_graph(affinity), options, run);
    const SpectralModel dense = fit(Matrix<double>(affinity), options);
    const SpectralModel narrow = fit(Matrix<float>(Matrix<double>(affinity).cast<float>()), options);
    EXPECT_EQ(sparse.labels(), dense.labels());
    EXPECT_EQ(sparse.labels(), narrow.labels());
    EXPECT_EQ(count_of(sparse, "edges"), affinity.nonZeros() / 2);
    EXPECT_NE(message_of([&] { fit(constant(4, 3, 1), options); }).find("not 4 x 3"), std::string::npos);
    EXPECT_NE(message_of([&] {
                  fit_spectral(of_graph(affinity), SpectralOptions{.clusters = 3}, run);
              }).find("affinity=precomputed"),
              std::string::npos);
    Matrix<double> negative = Matrix<double>::Zero(1, 120);
    negative(0, 3) = -1;
    EXPECT_NE(message_of([&] { sparse.predict(negative); }).find("column 4, row 1: -1"), std::string::npos);
    EXPECT_EQ(sparse.predict(constant(1, 120, 0)).size(), 1U);
}

TEST(Spectral, WarnsOfComponentsAndIsolatedPoints) {
    // Five separate clusters of points for two requested clusters.
    Matrix<double> x = test::blob_points<double>(100, 2, 1, 0, 6);
    for (Index i = 0; i < 100; ++i)
        x(i, 0) += 1e3 * static_cast<double>(i < 40 ? 0 : i < 70 ? 1 : i < 80 ? 2 : i < 90 ? 3 : 4);
    const SpectralModel model = fit(x, {.clusters = 2, .neighbors = 5});
    EXPECT_GE(count_of(model, "components"), 5);
    EXPECT_TRUE(warns(model, "connected components for 2 clusters"));
    EXPECT_TRUE(warns(model, "neighbors=10"));
    EXPECT_EQ(model.predict(x), model.labels());
    Matrix<double> near_surplus(1, 2);
    near_surplus << 4e3, 0.5;
    EXPECT_EQ(model.predict(near_surplus)[0], model.labels()[99]);
    // The rbf kernel is too narrow for an outlier.
    Matrix<double> y = test::blob_points<double>(50, 2, 2, 3, 7);
    y.row(49) << 1e4, 1e4;
    const SpectralModel rbf = fit(y, {.clusters = 2, .affinity = Affinity::rbf, .width = 1});
    EXPECT_GE(count_of(rbf, "isolated"), 1);
    EXPECT_TRUE(warns(rbf, "no affinity to any other"));
    EXPECT_EQ(rbf.predict(y), rbf.labels());
}

TEST(Spectral, DegeneratePoints) {
    for (auto options : kinds(1)) {
        options.width = std::nullopt;
        EXPECT_EQ(fit(constant(1, 3, 1), options).labels(), Labels{0});
        Matrix<double> one(1, 3);
        one << 4, 5, 6;
        EXPECT_EQ(fit(constant(1, 3, 1), options).predict(one), Labels{0});
        options.clusters = 2;
        EXPECT_EQ(fit(Matrix<double>(Matrix<double>::Identity(2, 2)), options).fit_report().clusters_found, 2);
        const SpectralModel equal = fit(constant(40, 3, 1), options);
        for (const auto label : equal.predict(constant(40, 3, 1))) EXPECT_TRUE(label == 0 || label == 1);
        options.clusters = 9;
        const SpectralModel all = fit(test::blob_points<double>(9, 2, 3, 2, 1), options);
        EXPECT_EQ(all.labels().size(), 9U);
        for (const double residual : std::get<std::vector<double>>(detail(all, "eigenvalues")))
            EXPECT_TRUE(residual >= 0 && residual <= 2);
    }
    EXPECT_TRUE(warns(fit(test::blob_points<double>(9, 2, 3, 2, 1), {.clusters = 2}), "has only 8 others"));
}

TEST(Spectral, FloatAgreesWithDouble) {
    const Matrix<float> x = rings<float>(600, 3);
    EXPECT_EQ(fit(x, {.clusters = 3}).labels(), fit(Matrix<double>(x.cast<double>()), {.clusters = 3}).labels());
}

TEST(Spectral, SameBitsAtAnyNumberOfThreads) {
    const Matrix<float> x = test::blob_points<float>(1300, 8, 5, 1, 8);
    for (const auto& options : kinds(5)) {
        const SpectralModel one = fit(x, options, 1);
        for (const int threads : {2, 8}) {
            const SpectralModel other = fit(x, options, threads);
            EXPECT_EQ(other.labels(), one.labels());
            EXPECT_EQ(other.fit_report().objective, one.fit_report().objective);
            EXPECT_EQ(other.transform(x, coterie::Run(0, threads)), one.transform(x, coterie::Run(0, 1)));
        }
    }
}

TEST(Spectral, FollowsAPermutationOfThePoints) {
    const Matrix<double> x = test::blob_points<double>(300, 3, 4, 3, 9);
    Matrix<double> moved(300, 3);
    for (Index i = 0; i < 300; ++i) moved.row((i * 7 + 2) % 300) = x.row(i);
    const SpectralModel plain = fit(x, {.clusters = 4});
    const SpectralModel permuted = fit(moved, {.clusters = 4});
    Labels back;
    for (Index i = 0; i < 300; ++i) back.push_back(permuted.labels()[static_cast<std::size_t>((i * 7 + 2) % 300)]);
    EXPECT_DOUBLE_EQ(adjusted_rand_index(plain.labels(), back), 1);
}

TEST(Spectral, RejectsBadArguments) {
    const Matrix<double> x = test::blob_points<double>(20, 2, 2, 2, 1);
    const auto message = [&](SpectralOptions options) { return message_of([&] { fit(x, options); }); };
    EXPECT_NE(message({.clusters = 0}).find("clusters"), std::string::npos);
    EXPECT_NE(message({.clusters = 21}).find("21 clusters requested, but there are only 20 rows"), std::string::npos);
    EXPECT_NE(message({.clusters = 2, .neighbors = 0}).find("neighbors"), std::string::npos);
    EXPECT_NE(message({.clusters = 2, .width = -1}).find("width"), std::string::npos);
    EXPECT_NE(message({.clusters = 2, .restarts = 0}).find("restarts"), std::string::npos);
    EXPECT_NE(message({.clusters = 2, .max_iterations = 0}).find("max_iterations"), std::string::npos);
    Matrix<double> bad = x;
    bad(3, 1) = std::nan("");
    EXPECT_THROW(fit(bad, {.clusters = 2}), BadData);
    const SpectralModel model = fit(x, {.clusters = 2});
    EXPECT_THROW(model.predict(constant(2, 3, 1)), BadArgument);
    EXPECT_THROW(model.transform(bad, coterie::Run()), BadData);
    EXPECT_EQ(model.transform(Matrix<double>(0, 2), coterie::Run()).cols(), 2);
    const std::vector<std::int32_t> labels(20, 0);
    Problem side;
    side.partial_labels = labels;
    coterie::Run run;
    EXPECT_NE(message_of([&] { fit_spectral(with(x, side), {.clusters = 2}, run); }).find("spectral"),
              std::string::npos);
}

TEST(Spectral, RoundTrip) {
    const Matrix<float> x = rings<float>(300, 3);
    const Matrix<float> more = rings<float>(100, 3, nullptr, 2);
    auto options = kinds(3);
    options.push_back({.clusters = 3, .affinity = Affinity::precomputed});
    for (const auto& each : options) {
        const bool precomputed = each.affinity == Affinity::precomputed;
        const Matrix<float> points =
            precomputed ? Matrix<float>(Matrix<double>(test::planted_graph(90, 3, 12, 1, 4)).cast<float>()) : x;
        const Matrix<float>& queries = precomputed ? points : more;
        const SpectralModel model = fit(points, each);
        Archive archive{std::string(model.method())};
        model.store(archive);
        const std::string bytes = archive.to_bytes();
        const auto loaded = model_of(Archive::from_bytes(std::as_bytes(std::span(bytes)), "test"));
        EXPECT_EQ(loaded->predict(queries), model.predict(queries));
        EXPECT_EQ(loaded->transform(queries, coterie::Run(0, 1)), model.transform(queries, coterie::Run(0, 2)));
        EXPECT_EQ(loaded->dimensions(), model.dimensions());
    }
}

TEST(Spectral, RejectsInconsistentModels) {
    const SpectralModel model =
        fit(rings(60, 3), {.clusters = 3, .neighbors = 6, .edge_weights = EdgeWeights::self_tuning});
    Archive whole{"spectral"};
    model.store(whole);
    const auto message = [&](const std::function<void(Archive&)>& change) {
        Archive archive = whole;
        change(archive);
        return message_of([&] { SpectralModel::from(archive); });
    };
    EXPECT_EQ(message([](Archive&) {}), "nothing was thrown");
    const std::vector<double> two{0, 1}, negative(60, -1.0);
    EXPECT_NE(message([&](Archive& a) { a.set_vector("eigenvalues", two); }), "nothing was thrown");
    EXPECT_NE(message([&](Archive& a) { a.set_vector("scales", two); }), "nothing was thrown");
    EXPECT_NE(message([&](Archive& a) { a.set_vector("scales", negative); }).find("scale"), std::string::npos);
    EXPECT_NE(message([&](Archive& a) { a.set_points("points", constant(59, 2, 1)); }), "nothing was thrown");
    EXPECT_NE(message([&](Archive& a) { a.set_points("points", Matrix<double>(60, 0)); }), "nothing was thrown");
    EXPECT_NE(message([&](Archive& a) { a.set_points("vectors", constant(2, 3, 1)); }).find("2 rows"),
              std::string::npos);
    EXPECT_NE(message([&](Archive& a) { a.set_points("centroids", constant(2, 3, 1)); }), "nothing was thrown");
    for (const std::int32_t label : {-1, 3})
        EXPECT_NE(message([&](Archive& a) {
                      a.set_labels("unreached", std::vector<std::int32_t>{label});
                  }).find("part 'unreached' holds " + std::to_string(label)),
                  std::string::npos);
    EXPECT_NE(message([&](Archive& a) { a.set_labels("unreached", std::vector<std::int32_t>{}); }),
              "nothing was thrown");
    EXPECT_NE(message([&](Archive& a) {
                  OptionValues values = a.options();
                  values["edge_weights"] = std::string("gaussian");
                  a.set_options(values);
              }).find("without a width"),
              std::string::npos);
}

TEST(Spectral, StopsWhenAsked) {
    coterie::Run run(0, 2);
    run.should_stop = [] { return true; };
    EXPECT_THROW(fit_spectral(rings(900, 3), {.clusters = 3}, run), Cancelled);
}

}  // namespace
}  // namespace coterie
