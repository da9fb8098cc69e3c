// For every method: multiplying all points by the same number changes no result, and poor results give warnings.

#include "coterie/methods.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "coterie/deep/network.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

bool has_networks() {
    try {
        return !internal::network_backend().empty();
    } catch (const ResourceError&) {
        return false;
    }
}

// Defaults, with networks small enough to train in a test.
OptionValues options_of(const Method& method, std::int64_t clusters) {
    OptionValues out;
    const auto set = [&](const char* name, OptionValue value) {
        if (method.options->find(name) != nullptr) out[name] = std::move(value);
    };
    set("clusters", clusters);
    if (!method.takes.device) return out;
    set("widths", std::vector<std::int64_t>{24});
    set("embedding", std::int64_t{3});
    set("pretrain_epochs", std::int64_t{5});
    set("max_iterations", std::int64_t{12});
    if (method.options->find("embedding") != nullptr)
        set("kmeans_restarts", std::int64_t{3});
    else
        set("epochs", std::int64_t{3});
    set("batch_size", std::int64_t{50});
    return out;
}

// Three clusters that touch, 150 x 5.
Matrix<double> touching(std::uint64_t seed) {
    RandomStream random(seed, "test.methods");
    Matrix<double> centres(3, 5);
    for (Index i = 0; i < centres.size(); ++i) centres.data()[i] = random.normal();
    Matrix<double> out(150, 5);
    for (Index i = 0; i < out.rows(); ++i)
        for (Index p = 0; p < out.cols(); ++p) out(i, p) = centres(i % 3, p) + 0.3 * random.normal();
    return out;
}

bool is_skipped(const Method& method) {
    static const bool networks = has_networks();
    return method.takes.device && !networks;
}

TEST(Methods, ScalingThePointsChangesNoLabel) {
    const Matrix<double> points = touching(1);
    for (const Method& method : methods()) {
        if (is_skipped(method)) continue;
        const OptionValues options = options_of(method, 3);
        const coterie::Run run(2, 1);
        const auto plain = method.fit(with(points), options, run);
        for (const double factor : {1e-3, 1e4, 1024.0, 1.0 / 1048576}) {
            const Matrix<double> scaled = factor * points;
            EXPECT_EQ(method.fit(with(scaled), options, run)->labels(), plain->labels())
                << method.name << ", all points times " << factor;
        }
    }
    if (!has_networks()) GTEST_SKIP() << "LibTorch is not here: the methods without a network only";
}

// Multiplying by a power of two changes no bit of the memberships, in either type.
template <class T>
void check_powers_of_two() {
    const Matrix<T> points = touching(3).template cast<T>();
    for (const Method& method : methods()) {
        if (is_skipped(method)) continue;
        const coterie::Run run(4, 1);
        const OptionValues options = options_of(method, 3);
        const auto plain = method.fit(with(points), options, run);
        for (const T factor : {T(1024), T(1) / T(1048576)}) {
            const Matrix<T> scaled = factor * points;
            const auto model = method.fit(with(scaled), options, run);
            EXPECT_EQ(model->labels(), plain->labels()) << method.name;
            if (!plain->outputs().has(Output::memberships)) continue;
            EXPECT_EQ(model->output(Output::memberships, scaled), plain->output(Output::memberships, points))
                << method.name;
        }
    }
}
TEST(Methods, ScalingByPowersOfTwoChangesNoBit) {
    check_powers_of_two<double>();
    check_powers_of_two<float>();
}

bool warns(const Model& model, const std::string& part) {
    const auto& warnings = model.fit_report().warnings;
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const Message& each) { return each.text().find(part) != std::string::npos; });
}

TEST(Methods, WarnOfEqualRowsInSeveralClusters) {
    // Five equal points in three clusters cannot all share one cluster.
    const Matrix<double> five = Matrix<double>::Ones(5, 2);
    for (const char* name : {"wmc", "ssc", "smce", "spectral"}) {
        const Method& method = find_method(name);
        const auto model = method.fit(with(five), options_of(method, 3), coterie::Run(0, 1));
        const Labels& labels = model->labels();
        const bool split = std::any_of(labels.begin(), labels.end(), [&](auto label) { return label != labels[0]; });
        EXPECT_EQ(warns(*model, "equal rows are split between clusters, for example rows 1 and "), split) << name;
        EXPECT_TRUE(split) << name << ": nothing is shown";
    }
    // Equal points in one cluster give no warning. Zeros of either sign are equal.
    Matrix<double> pairs(6, 1);
    pairs << 0.0, -0.0, 5, 5, 9, 9;
    const Method& kmeans = find_method("kmeans");
    EXPECT_FALSE(warns(*kmeans.fit(with(pairs), options_of(kmeans, 3), coterie::Run(0, 1)), "equal rows"));
    // A partial label splits equal points, and the warning names the rows.
    Problem known = with(pairs);
    known.partial_labels = {0, 1, -1, -1, -1, -1};
    const auto model = kmeans.fit(known, options_of(kmeans, 2), coterie::Run(0, 1));
    EXPECT_TRUE(warns(*model, "equal rows are split between clusters, for example rows 1 and 2"));
    // A cannot-link pair also splits equal points.
    Problem apart = with(pairs);
    apart.cannot_links = {{2, 3}};
    EXPECT_TRUE(warns(*kmeans.fit(apart, options_of(kmeans, 3), coterie::Run(0, 1)),
                      "equal rows are split between clusters, for example rows 3 and 4"));
}

TEST(Methods, WarnOfTinyAndDominantClusters) {
    Matrix<double> points = Matrix<double>::Zero(302, 2);
    RandomStream random(1, "test.methods");
    for (Index i = 0; i < 300; ++i)
        for (Index p = 0; p < 2; ++p) points(i, p) = random.normal();
    points.row(300) << 1000, 0;
    points.row(301) << 0, 1000;
    for (const char* name : {"kmeans", "ward"}) {
        const Method& method = find_method(name);
        const auto model = method.fit(with(points), options_of(method, 3), coterie::Run(0, 1));
        EXPECT_TRUE(warns(*model, "2 of 3 clusters have only 1 or 2 of 302 rows")) << name;
        EXPECT_TRUE(warns(*model, "one cluster holds 99 % of the rows")) << name;
        // Good clusters, and few rows per cluster, give no warning.
        const Matrix<double> sound = touching(5);
        for (const std::int64_t k : {3, 40}) {
            const auto other = method.fit(with(sound), options_of(method, k), coterie::Run(0, 1));
            EXPECT_FALSE(warns(*other, "only 1 or 2 of")) << name << " " << k;
            EXPECT_FALSE(warns(*other, "one cluster holds")) << name << " " << k;
        }
    }
    // Requested sizes give no warning.
    const Method& kmeans = find_method("kmeans");
    Problem asked = with(points);
    asked.sizes = SizeBounds{1, 301};
    EXPECT_FALSE(warns(*kmeans.fit(asked, options_of(kmeans, 3), coterie::Run(0, 1)), "rows"));
}

TEST(Methods, DekmRejectsRestarts) {
    const Matrix<double> points = touching(6);
    const Method& dekm = find_method("dekm");
    OptionValues options = options_of(dekm, 3);
    options["restarts"] = std::int64_t{3};
    const std::string message =
        coterie::testing::message_of<BadArgument>([&] { dekm.fit(with(points), options, coterie::Run(1, 1)); });
    EXPECT_NE(message.find("restarts: 3 is not accepted, because without true labels no criterion"), std::string::npos)
        << message;
}

TEST(Methods, NetworkRestartsKeepTheLeastCriterion) {
    if (!has_networks()) GTEST_SKIP() << "LibTorch is not here";
    const Matrix<double> points = touching(6);
    const coterie::testing::Folder folder;
    for (const char* name :
         {"entropy-net", "imsat", "iic", "sela-net", "miadm-net", "ae-kmeans", "dec", "idec", "dcn"}) {
        const Method& method = find_method(name);
        OptionValues options = options_of(method, 3);
        options["restarts"] = std::int64_t{3};
        const auto model = method.fit(with(points), options, coterie::Run(1, 1));
        std::vector<double> criteria;
        double own = 0;
        for (const auto& [key, value] : model->fit_report().details) {
            if (key == "criterion_per_restart") criteria = std::get<std::vector<double>>(value);
            if (key == "criterion" || key == "within_share") own = std::get<double>(value);
        }
        ASSERT_EQ(criteria.size(), 3U) << name;
        EXPECT_EQ(own, *std::min_element(criteria.begin(), criteria.end())) << name;
        coterie::Run kept(1, 1);
        kept.checkpoint = folder / (std::string(name) + ".checkpoint");
        EXPECT_EQ(method.fit(with(points), options, kept)->labels(), model->labels()) << name;
        EXPECT_EQ(method.fit(with(points), options, kept)->labels(), model->labels()) << name << " after the end";
    }
}

}  // namespace
}  // namespace coterie
