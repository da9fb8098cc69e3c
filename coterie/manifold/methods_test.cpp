// The methods of this module as models: clusters, report, new points, files, bad arguments.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include <Eigen/QR>

#include "coterie/manifold/baselines.hpp"
#include "coterie/manifold/matching_pursuit.hpp"
#include "coterie/manifold/representation.hpp"
#include "coterie/manifold/smce.hpp"
#include "coterie/manifold/wmc.hpp"
#include "coterie/methods.hpp"
#include "coterie/metrics/metrics.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::normal_points;
using test::with;

struct Union {
    Matrix<double> points;
    Labels truth;
};

// Points of several linear subspaces, one subspace after the other in turn.
Union subspaces(Index n, Index d, Index count, Index dimension, std::uint64_t seed) {
    const Matrix<double> bases = normal_points(count * dimension, d, seed);
    const Matrix<double> mixed = normal_points(n, dimension, seed + 1);
    Union out{Matrix<double>(n, d), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        out.points.row(i) = (mixed.row(i) * bases.middleRows(i % count * dimension, dimension)).normalized();
        out.truth[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % count);
    }
    return out;
}

// Two circles, linked like a chain, in d dimensions.
Union linked_circles(Index n, Index d) {
    const Matrix<double> axes = normal_points(3, d, 5).rowwise().normalized();
    Union out{Matrix<double>(n, d), Labels(static_cast<std::size_t>(n))};
    for (Index i = 0; i < n; ++i) {
        const double angle = 2 * M_PI * static_cast<double>(i / 2) / static_cast<double>(n / 2);
        const Eigen::RowVector3d at = i % 2 == 0 ? Eigen::RowVector3d(std::cos(angle), std::sin(angle), 0)
                                                 : Eigen::RowVector3d(1 + std::cos(angle), 0, std::sin(angle));
        out.points.row(i) = at * axes;
        out.truth[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 2);
    }
    return out;
}

double number(const FitReport& report, const std::string& name) {
    for (const auto& [key, value] : report.details)
        if (key == name)
            return std::holds_alternative<std::int64_t>(value) ? static_cast<double>(std::get<std::int64_t>(value))
                                                               : std::get<double>(value);
    ADD_FAILURE() << "no detail " << name;
    return 0;
}

const std::vector<std::string> method_names = {"wmc", "ssc", "ensc", "ssc-omp", "smce"};

std::unique_ptr<Model> fit(const std::string& name, PointsView points, OptionValues values, int threads = 2,
                           std::uint64_t seed = 1) {
    coterie::Run run(seed, threads);
    return find_method(name).fit(with(points), values, run);
}

TEST(ManifoldMethods, recover_a_union_of_subspaces) {
    const Union data = subspaces(400, 30, 5, 3, 1);
    for (const auto& name : method_names) {
        if (name == "smce") continue;  // nearest neighbours cannot separate linear subspaces that intersect
        OptionValues values{{"clusters", 5}};
        if (name == "ssc" || name == "ensc") values["affinity"] = std::string("S");
        const auto model = fit(name, data.points, values);
        EXPECT_EQ(accuracy(model->labels(), data.truth), 1.0) << name;
        EXPECT_EQ(model->fit_report().clusters_found, 5);
    }
}

TEST(ManifoldMethods, separate_linked_circles) {
    const Union data = linked_circles(400, 20);
    for (const std::string weighting : {"linear", "exponential"}) {
        const auto model =
            fit("wmc", data.points, {{"clusters", 2}, {"weighting", weighting}, {"normalize", std::string("none")}});
        EXPECT_EQ(accuracy(model->labels(), data.truth), 1.0) << weighting;
    }
    const auto smce = fit("smce", data.points, {{"clusters", 2}, {"neighbors", 10}});
    EXPECT_EQ(accuracy(smce->labels(), data.truth), 1.0);
}

TEST(ManifoldMethods, report_solver_results) {
    const Union data = subspaces(300, 20, 4, 3, 3);
    for (const std::string name : {"wmc", "ssc", "ensc"}) {
        const auto model = fit(name, data.points, {{"clusters", 4}});
        const FitReport& report = model->fit_report();
        EXPECT_LE(number(report, "kkt_residual"), 1e-5);
        EXPECT_GE(number(report, "mean_rounds"), 1);
        EXPECT_GE(number(report, "products"), 1);
        EXPECT_GT(number(report, "nonzeros_per_point"), 1);
        EXPECT_GE(number(report, "components"), 1);
        EXPECT_EQ(report.stopped, StopReason::converged);
    }
    EXPECT_LE(number(fit("smce", data.points, {{"clusters", 4}})->fit_report(), "kkt_residual"), 1e-5);
    const auto cut = fit("ssc", normal_points(300, 40, 1), {{"clusters", 4}, {"max_rounds", 1}});
    EXPECT_EQ(cut->fit_report().stopped, StopReason::iteration_limit);
    EXPECT_FALSE(cut->fit_report().warnings.empty());
}

TEST(ManifoldMethods, warn_of_more_components_than_clusters) {
    const Union data = subspaces(200, 30, 5, 2, 7);
    const auto model = fit("wmc", data.points, {{"clusters", 2}, {"lambda", 1.5}});
    ASSERT_GT(number(model->fit_report(), "components"), 2);
    bool said = false;
    for (const auto& warning : model->fit_report().warnings)
        said = said || warning.text().find("lambda (1.5)") != std::string::npos;
    EXPECT_TRUE(said);
}

TEST(ManifoldMethods, warn_if_points_are_far_from_0) {
    Matrix<double> points = test::normal_points(60, 4, 7);
    points.rowwise() -= points.colwise().mean().eval();
    const double spread = std::sqrt(points.rowwise().squaredNorm().mean());
    for (const auto& name : method_names)
        for (const double times : {2.99, 3.01}) {
            Matrix<double> away = points;
            away.col(1).array() += times * spread;
            const auto model = fit(name, away, {{"clusters", 2}});
            const auto& warnings = model->fit_report().warnings;
            const bool warned = std::any_of(warnings.begin(), warnings.end(), [](const Message& each) {
                return each.text().find("far from the origin") != std::string::npos &&
                       each.text().find("center") != std::string::npos;
            });
            EXPECT_EQ(warned, times > 3 && name != "smce") << name << " " << times;
        }
}

// Eight short distant lines give a graph with eight components. With four clusters, the four large lines are the
// clusters, and the points of each small line join the large line next to it.
TEST(ManifoldMethods, surplus_components_join_the_nearest_cluster) {
    const std::vector<int> sizes = {40, 40, 40, 40, 8, 8, 8, 8};
    Matrix<double> x(192, 3);
    Labels beside;
    Index row = 0;
    for (std::size_t line = 0; line < sizes.size(); ++line)
        for (int i = 0; i < sizes[line]; ++i) {
            // Each small line lies next to the large line with the same number, and far from the others.
            const double turn = 1.5707963 * static_cast<double>(line % 4) + (line < 4 ? 0.0 : 0.5);
            const double height = 0.002 * i;
            x.row(row++) << 10 * std::cos(turn), 10 * std::sin(turn), height;
            beside.push_back(static_cast<std::int32_t>(line % 4));
        }
    const auto model = fit("wmc", x, {{"clusters", 4}});
    EXPECT_EQ(number(model->fit_report(), "components"), 8);
    EXPECT_EQ(adjusted_rand_index(model->labels(), beside), 1);
    EXPECT_NE(model->fit_report().warnings.at(0).text().find("8 separate parts"), std::string::npos);
}

TEST(ManifoldMethods, same_bits_at_any_number_of_threads) {
    const Union data = subspaces(400, 20, 4, 3, 9);
    for (const auto& name : method_names) {
        const auto one = fit(name, data.points, {{"clusters", 4}}, 1);
        for (const int threads : {2, 8}) {
            const auto other = fit(name, data.points, {{"clusters", 4}}, threads);
            EXPECT_EQ(one->labels(), other->labels()) << name;
            EXPECT_EQ(one->fit_report().objective, other->fit_report().objective) << name;
        }
    }
}

TEST(ManifoldMethods, label_new_points_by_shares_and_by_the_embedding) {
    const Union all = subspaces(600, 30, 4, 3, 11);
    const Matrix<double> train = all.points.topRows(400);
    const Matrix<double> fresh = all.points.bottomRows(200);
    const Labels truth(all.truth.begin() + 400, all.truth.end());
    for (const auto& name : method_names) {
        if (name == "smce") continue;
        for (const std::string how : {"shares", "embedding"}) {
            OptionValues values{{"clusters", 4}, {"new_points", how}};
            if (name == "ssc" || name == "ensc") values["affinity"] = std::string("S");
            const auto model = fit(name, train, values);
            ASSERT_EQ(accuracy(model->labels(), Labels(all.truth.begin(), all.truth.begin() + 400)), 1.0);
            const Labels found = model->predict(fresh, coterie::Run(0, 2));
            EXPECT_EQ(accuracy(found, truth), 1.0) << name << ", " << how;
            // Batches give the same labels.
            const Labels few = model->predict(Matrix<double>(fresh.topRows(7)), coterie::Run(0, 1));
            EXPECT_EQ(few, Labels(found.begin(), found.begin() + 7));
            const Matrix<double> places = model->transform(fresh, coterie::Run(0, 1));
            EXPECT_EQ(places.cols(), 4);
            EXPECT_NEAR(places.row(3).norm(), 1, 1e-12);
        }
    }
    const Union circles = linked_circles(400, 20);
    const auto smce = fit("smce", circles.points, {{"clusters", 2}, {"neighbors", 10}});
    Matrix<double> between(2, 20);
    between.row(0) = 0.5 * (circles.points.row(100) + circles.points.row(102));
    between.row(1) = 0.5 * (circles.points.row(101) + circles.points.row(103));
    EXPECT_EQ(smce->predict(between, coterie::Run(0, 1)), (Labels{smce->labels()[100], smce->labels()[101]}));
}

// Gives access to protected members of a model.
class OpenWmc : public WmcModel {
public:
    explicit OpenWmc(const WmcModel& model) : WmcModel(model) {}
    using ManifoldModel::extend;
};

TEST(ManifoldMethods, extension_reproduces_the_embedding_of_training_rows) {
    for (const Index pieces : {1, 2, 4}) {
        Matrix<double> x = normal_points(120, 3, 4);
        if (pieces == 2) x.topRows(60).array() += 30;
        // There are more components than clusters. The largest component gets all three clusters.
        for (Index p = 1; p < pieces && pieces == 4; ++p)
            x.middleRows(120 - 10 * p, 10).array() += 100 * static_cast<double>(p);
        WmcOptions options;
        options.clusters = 3;
        options.affinity = AffinityStrategy::NS;
        options.normalize = RowNorms::none;
        options.weighting = WmcWeighting::linear;
        coterie::Run run(0, 1);
        const WmcModel model = fit_wmc(x, options, run);
        const WmcOptions& used = model.options();
        RepresentationOptions solver;
        solver.multiple = used.lambda;
        solver.eta = *used.eta;
        const SymmetricAffinity affinity =
            affinity_of(represent(x, solver, run).coefficients, used.affinity, used.keep);
        EXPECT_GE(number(model.fit_report(), "components"), static_cast<double>(pieces));
        const Matrix<double> again = OpenWmc(model).extend(affinity.matrix);
        for (Index i = 0; i < 120; ++i)
            EXPECT_LT((again.row(i) - model.embedding().row(i)).norm(), 1e-6) << pieces << " pieces, row " << i;
    }
}

TEST(ManifoldMethods, round_trip) {
    const Union data = subspaces(200, 10, 3, 2, 2);
    const Matrix<double> fresh = normal_points(30, 10, 3);
    for (const auto& name : method_names) {
        const auto model = fit(name, data.points.cast<float>().eval(), {{"clusters", 3}});
        Archive archive{std::string(model->method())};
        model->store(archive);
        const std::string bytes = archive.to_bytes();
        const auto span = std::as_bytes(std::span(bytes));
        const auto again = model_of(Archive::from_bytes(span, "test"));
        EXPECT_EQ(again->clusters(), 3);
        EXPECT_EQ(again->dimensions(), 10);
        EXPECT_EQ(model->predict(fresh), again->predict(fresh)) << name;
        EXPECT_EQ(model->transform(fresh, coterie::Run(0, 1)), again->transform(fresh, coterie::Run(0, 1)));
        for (std::size_t place = 9; place < bytes.size(); place += bytes.size() / 41) {
            std::string damaged = bytes;
            damaged[place] = static_cast<char>(damaged[place] ^ 0x24);
            EXPECT_THROW(model_of(Archive::from_bytes(std::as_bytes(std::span(damaged)), "test")), BadData);
        }
        // Files that are intact, but do not hold a valid model.
        const auto refused = [&](const auto& change) {
            Archive other{std::string(model->method())};
            model->store(other);
            change(other);
            EXPECT_THROW(model_of(other), BadData) << name;
        };
        refused([](Archive& a) { a.set_labels("members", Labels(200, 7)); });
        refused([](Archive& a) { a.set_labels("members", Labels(10, 0)); });
        refused([](Archive& a) { a.set_points("points", Matrix<double>(Matrix<double>::Zero(1, 10))); });
        refused([](Archive& a) { a.set_points("extension", Matrix<double>(Matrix<double>::Zero(200, 2))); });
        refused([](Archive& a) { a.set_points("centroids", Matrix<double>(Matrix<double>::Zero(2, 3))); });
        refused([](Archive& a) { a.set_vector("eigenvalues", std::vector<double>(2, 0.0)); });
        refused([](Archive& a) {
            OptionValues values = a.options();
            values["normalize"] = std::string("auto");
            a.set_options(values);
        });
    }
}

// Consecutive fits differ in the options that `change` sets, and in the affinity.
template <class Method>
void expect_shared_fits_to_be_those_alone(const Fit<Method>& fit,
                                          const std::vector<std::function<void(typename Method::Options&)>>& changes) {
    using Options = typename Method::Options;
    const Union data = subspaces(200, 10, 3, 2, 6);
    coterie::Run run(3, 2);
    const Problem problem = with(data.points);
    ManifoldFits<Options> fits(problem, run);
    for (const auto& change : changes)
        for (const auto affinity : {AffinityStrategy::NSK, AffinityStrategy::S, AffinityStrategy::KN}) {
            Options options;
            options.clusters = 3;
            options.affinity = affinity;
            change(options);
            const ManifoldModelOf<Options> shared = fits.fit(options);
            const ManifoldModelOf<Options> alone = fit(problem, options, run);
            EXPECT_EQ(shared.labels(), alone.labels());
            EXPECT_EQ(shared.fit_report().objective, alone.fit_report().objective);
            EXPECT_EQ(number(shared.fit_report(), "nonzeros_per_point"),
                      number(alone.fit_report(), "nonzeros_per_point"));
        }
}

TEST(ManifoldMethods, shared_fits_equal_separate_fits) {
    expect_shared_fits_to_be_those_alone(
        fit_wmc, {[](auto& o) { o.weighting = WmcWeighting::linear; }, [](auto& o) { o.lambda = 20; }, [](auto&) {},
                  [](auto& o) { o.normalize = RowNorms::none; }});
    expect_shared_fits_to_be_those_alone(
        fit_ssc, {[](auto& o) { o.lambda = 50; }, [](auto&) {}, [](auto& o) { o.normalize = RowNorms::none; }});
    expect_shared_fits_to_be_those_alone(fit_ensc, {[](auto& o) { o.l1_share = 0.5; }, [](auto&) {}});
    expect_shared_fits_to_be_those_alone(fit_ssc_omp, {[](auto& o) { o.nonzeros = 3; }, [](auto&) {}});
    expect_shared_fits_to_be_those_alone(fit_smce, {[](auto& o) { o.gamma = 1; }, [](auto&) {}});
}

TEST(ManifoldMethods, degenerate_points) {
    Matrix<double> x = normal_points(40, 3, 1);
    x.topRows(10).rowwise() = x.row(0).eval();
    x.row(15).setZero();
    x.row(16).setZero();
    const Matrix<double> same = Matrix<double>::Constant(12, 2, 3.0);
    const Matrix<double> zeros = Matrix<double>::Zero(12, 2);
    const Matrix<double> constant_column = [] {
        Matrix<double> out = normal_points(30, 2, 2);
        out.col(1).setConstant(4);
        return out;
    }();
    for (const auto& name : method_names)
        for (const Matrix<double>* const points :
             std::initializer_list<const Matrix<double>*>{&x, &same, &zeros, &constant_column}) {
            OptionValues values{{"clusters", 3}};
            if (name == "smce") values["neighbors"] = std::int64_t{8};
            const auto model = fit(name, *points, values);
            ASSERT_EQ(static_cast<Index>(model->labels().size()), points->rows());
            for (const auto label : model->labels()) EXPECT_TRUE(label >= 0 && label < 3);
            const Labels again = model->predict(*points, coterie::Run(0, 1));
            for (const auto label : again) EXPECT_TRUE(label >= 0 && label < 3);
            EXPECT_TRUE(model->transform(*points, coterie::Run(0, 1)).allFinite());
            EXPECT_TRUE(std::isfinite(model->fit_report().objective));
        }
}

TEST(ManifoldMethods, reject_bad_arguments) {
    const Matrix<double> x = normal_points(30, 3, 1);
    const auto refused = [&](const std::string& name, const OptionValues& values, const std::string& words) {
        try {
            fit(name, x, values);
            ADD_FAILURE() << name << " accepted " << words;
        } catch (const BadArgument& error) {
            EXPECT_NE(std::string(error.message()).find(words), std::string::npos) << error.message();
        }
    };
    for (const auto& name : method_names) {
        refused(name, {{"clusters", 0}}, "clusters");
        refused(name, {{"clusters", 31}}, "31 clusters requested, but there are only 30 rows");
        refused(name, {{"affinity", std::string("NN")}}, "NSK");
        refused(name, {{"keep", 0}}, "keep");
        refused(name, {{"restarts", 0}}, "restarts");
        refused(name, {{"normalize", std::string("rows")}}, "unit");
        EXPECT_THROW(fit(name, normal_points(1, 3, 1), {{"clusters", 1}}), BadArgument);
        Matrix<double> bad = x;
        bad(3, 1) = std::numeric_limits<double>::infinity();
        EXPECT_THROW(fit(name, bad, {{"clusters", 2}}), BadData);
        const std::vector<double> weights(30, 1.0);
        coterie::Run run(0, 1);
        Problem side;
        side.weights = weights;
        EXPECT_THROW(find_method(name).fit(with(x, side), {}, run), BadArgument);
        const auto model = fit(name, x, {{"clusters", 2}});
        EXPECT_THROW(model->predict(normal_points(4, 2, 1)), BadArgument);
        coterie::Run stopped(0, 1);
        stopped.should_stop = [] { return true; };
        EXPECT_THROW(find_method(name).fit(with(x), {{"clusters", 2}}, stopped), Cancelled);
    }
    refused("wmc", {{"lambda", -1.0}}, "lambda");
    refused("wmc", {{"eta", -1.0}}, "eta");
    refused("wmc", {{"weighting", std::string("flat")}}, "exponential");
    refused("wmc", {{"tolerance", 1.0}}, "tolerance");
    refused("wmc", {{"max_rounds", 0}}, "max_rounds");
    refused("ssc", {{"lambda", 0.0}}, "lambda");
    refused("ensc", {{"l1_share", 0.0}}, "l1_share");
    refused("ensc", {{"l1_share", 1.1}}, "l1_share");
    refused("ssc-omp", {{"nonzeros", 0}}, "nonzeros");
    refused("ssc-omp", {{"residual", -1.0}}, "residual");
    refused("smce", {{"gamma", 0.0}}, "gamma");
    refused("smce", {{"neighbors", 0}}, "neighbors");
    EXPECT_THROW(fit("wmc", Matrix<double>(x * 1e-150), {{"clusters", 2}}), BadData);
}

TEST(ManifoldMethods, warn_of_rounding_and_few_points) {
    const auto warned = [](const Model& model, const std::string& words) {
        for (const auto& warning : model.fit_report().warnings)
            if (warning.text().find(words) != std::string::npos) return true;
        return false;
    };
    // Points of length 1e-6 with a homogenising coordinate of 1 have products that are equal up to the tolerance.
    const auto tiny = fit("wmc", Matrix<double>(normal_points(150, 6, 0) * 1e-6),
                          {{"clusters", 3}, {"weighting", std::string("linear")}, {"eta", 1.0}});
    EXPECT_TRUE(warned(*tiny, "because of rounding"));
    EXPECT_FALSE(warned(*tiny, "max_rounds"));
    // Lengths differ by up to 16 decades. Points that cannot be represented are reported.
    Matrix<double> mixed = normal_points(150, 6, 5);
    for (Index i = 0; i < mixed.rows(); ++i) mixed.row(i) *= std::pow(10.0, static_cast<double>(i % 17) - 8);
    const auto found = fit("ssc", mixed, {{"clusters", 3}, {"normalize", std::string("none")}, {"eta", 1.0}});
    EXPECT_TRUE(std::isfinite(number(found->fit_report(), "nonzeros_per_point")));
    EXPECT_TRUE(found->transform(mixed, coterie::Run(0, 1)).allFinite());
    const auto few = fit("smce", normal_points(6, 2, 1), {{"clusters", 2}});
    EXPECT_TRUE(warned(*few, "20 requested, but 5 used"));
}

// ---------------------------------------------------------------- matching pursuit

TEST(MatchingPursuit, agrees_with_the_plain_algorithm) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Index n = 20 + static_cast<Index>(seed) * 3;
        const Matrix<double> x = normal_points(n, 4 + static_cast<Index>(seed % 9), seed);
        const MatchingPursuitOptions options{.nonzeros = 1 + static_cast<int>(seed % 5),
                                             .tolerance = seed % 4 == 0 ? 0.3 : 0.0,
                                             .eta = seed % 2 == 0 ? 0.0 : 0.7};
        const MatchingPursuit found = match(x, options, coterie::Run(0, 2));
        Matrix<double> columns(n, x.cols() + 1);
        columns << x, Vector<double>::Constant(n, std::sqrt(options.eta));
        for (Index i = 0; i < n; ++i) {
            const Vector<double> y = columns.row(i).transpose();
            Vector<double> r = y;
            std::vector<Index> chosen;
            Vector<double> c;
            while (static_cast<int>(chosen.size()) < options.nonzeros && r.norm() > options.tolerance * y.norm() &&
                   r.norm() > 1e-10) {
                Vector<double> products = (columns * r).cwiseAbs();
                products[i] = -1;
                for (const Index j : chosen) products[j] = -1;
                Index best = 0;
                products.maxCoeff(&best);
                chosen.push_back(best);
                Eigen::MatrixXd of(y.size(), static_cast<Index>(chosen.size()));
                for (std::size_t j = 0; j < chosen.size(); ++j)
                    of.col(static_cast<Index>(j)) = columns.row(chosen[j]).transpose();
                c = of.colPivHouseholderQr().solve(y);
                r = y - of * c;
            }
            Vector<double> expected = Vector<double>::Zero(n);
            for (std::size_t j = 0; j < chosen.size(); ++j) expected[chosen[j]] = c[static_cast<Index>(j)];
            EXPECT_LT((Matrix<double>(found.coefficients).row(i).transpose() - expected).norm(), 1e-8)
                << "seed " << seed << ", point " << i;
        }
    }
}

TEST(MatchingPursuit, stops_at_full_rank_and_zero_residual) {
    Matrix<double> x = normal_points(20, 2, 3).rowwise().normalized();
    x.row(4).setZero();
    x.row(6) = x.row(5);
    const MatchingPursuit found = match(x, {.nonzeros = 10, .tolerance = 0, .eta = 0}, coterie::Run(0, 1));
    EXPECT_EQ(found.coefficients.row(4).nonZeros(), 0);
    EXPECT_EQ(found.coefficients.row(5).nonZeros(), 1);
    EXPECT_NEAR(found.coefficients.coeff(5, 6), 1, 1e-12);
    for (Index i = 0; i < 20; ++i) EXPECT_LE(found.coefficients.row(i).nonZeros(), 2);
    EXPECT_LT(found.mean_residual, 1e-10);
}

// ---------------------------------------------------------------- SMCE

TEST(Smce, satisfies_optimality_conditions) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Index n = 15 + static_cast<Index>(seed);
        const Index d = 1 + static_cast<Index>(seed % 6);
        Matrix<double> x = normal_points(n, d, seed);
        if (seed % 5 == 0) x.row(1) = x.row(0);
        const Index neighbors = std::min<Index>(n - 1, 3 + static_cast<Index>(seed % 12));
        const double gammas[] = {1e-3, 0.1, 10, 1000};
        const double gamma = gammas[seed % 4];
        const SmceRepresentation found = smce_represent(x, gamma, neighbors, coterie::Run(0, 2));
        EXPECT_LE(found.worst_sum, 1e-12);
        EXPECT_LE(found.worst_violation, 1e-5);
        const double rms = std::sqrt((x.rowwise() - x.colwise().mean()).rowwise().squaredNorm().mean());
        for (Index i = 0; i < n; ++i) {
            // Finds the neighbours again, then checks the conditions of the header.
            std::vector<std::pair<double, Index>> near;
            double sum = 0;
            for (Index j = 0; j < n; ++j) {
                const double distance = (x.row(j) - x.row(i)).norm();
                sum += distance;
                if (j != i) near.emplace_back(distance, j);
            }
            std::sort(near.begin(), near.end());
            Matrix<double> q(neighbors, d);
            Vector<double> w(neighbors);
            Vector<double> c(neighbors);
            double scale = 1;
            for (Index m = 0; m < neighbors; ++m) {
                const auto [distance, j] = near[static_cast<std::size_t>(m)];
                q.row(m) =
                    distance > 0 ? Eigen::RowVectorXd((x.row(j) - x.row(i)) / distance) : Eigen::RowVectorXd::Zero(d);
                w[m] = std::max(distance, 1e-6 * rms) / sum;
                c[m] = found.coefficients.coeff(i, j);
                const Index* const begin = found.coefficients.innerIndexPtr() + found.coefficients.outerIndexPtr()[i];
                const Index* const end = found.coefficients.innerIndexPtr() + found.coefficients.outerIndexPtr()[i + 1];
                const Index* const place = std::find(begin, end, j);
                if (place == end) continue;
                const double used = found.weights[static_cast<std::size_t>(place - found.coefficients.innerIndexPtr())];
                EXPECT_NEAR(used, w[m], 1e-6 * w[m]);  // sums of distances are in float
                scale = used / w[m];
            }
            EXPECT_NEAR(c.sum(), 1, 1e-11);
            EXPECT_EQ((c.array() != 0).count(), found.coefficients.row(i).nonZeros());
            const Vector<double> g = q * (q.transpose() * c);
            double low = -1e300;  // mu must lie between low and high
            double high = 1e300;
            for (Index m = 0; m < neighbors; ++m) {
                const double t = gamma * scale * w[m];
                low = std::max(low, g[m] + (c[m] > 0 ? t : -t));
                high = std::min(high, g[m] + (c[m] < 0 ? -t : t));
            }
            EXPECT_LE(low, high + 1e-5 * gamma * w.minCoeff() + 1e-9 * std::abs(low)) << "seed " << seed;
        }
    }
}

TEST(Smce, two_neighbours_on_a_line_by_hand) {
    // 0 between -1 and 2: q = -1 and 1. With gamma small, Q c = 0 and sum c = 1: c = 1/2 each.
    Matrix<double> x(3, 1);
    x << 0, -1, 2;
    const SmceRepresentation found = smce_represent(x, 1e-9, 2, coterie::Run(0, 1));
    EXPECT_NEAR(found.coefficients.coeff(0, 1), 0.5, 1e-8);
    EXPECT_NEAR(found.coefficients.coeff(0, 2), 0.5, 1e-8);
    // With a large gamma, only the nearest neighbour has a coefficient.
    const SmceRepresentation nearest = smce_represent(x, 1e3, 2, coterie::Run(0, 1));
    EXPECT_NEAR(nearest.coefficients.coeff(0, 1), 1, 1e-12);
    EXPECT_EQ(nearest.coefficients.coeff(0, 2), 0);
}

}  // namespace
}  // namespace coterie
