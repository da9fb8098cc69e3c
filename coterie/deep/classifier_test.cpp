#include "coterie/deep/classifier.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "coterie/base/error.hpp"
#include "coterie/deep/entropy_net.hpp"
#include "coterie/deep/imsat.hpp"
#include "coterie/deep/internal/classifier_fit.hpp"
#include "coterie/deep/internal/pretrained.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "tests/support/goes_on.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_samples.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::with;

using testing::message_of;

template <class Options>
Options small() {
    Options options;
    options.clusters = 4;
    options.widths = {24};
    options.epochs = 4;
    options.batch_size = 60;
    options.learning_rate = 0.01;
    return options;
}

template <class T>
T detail(const FitReport& report, const std::string& wanted) {
    for (const auto& [name, value] : report.details)
        if (name == wanted) return std::get<T>(value);
    throw InternalError("no detail " + wanted);
}

template <class Options>
struct FitOf;
// IIC may divide two of the four blobs wrongly between two clusters. MIADM's labels stay close to balanced predictions,
// and hardly sharpen them. So both must only be better than chance.
#define COTERIE_FIT(Options, function, expected)                                            \
    template <>                                                                             \
    struct FitOf<Options> {                                                                 \
        static constexpr double accuracy_expected = expected;                               \
        static auto fit(PointsView points, const Options& options, const coterie::Run& run, \
                        const Problem& side = {}) {                                         \
            return function(with(points, side), options, run);                              \
        }                                                                                   \
    }
COTERIE_FIT(EntropyNetOptions, fit_entropy_net, 0.9);
COTERIE_FIT(SelaNetOptions, fit_sela_net, 0.9);
COTERIE_FIT(MiadmNetOptions, fit_miadm_net, 0.45);
COTERIE_FIT(ImsatOptions, fit_imsat, 0.9);
COTERIE_FIT(IicOptions, fit_iic, 0.7);

template <class Options>
class Classifier : public ::testing::Test {};
using Methods = ::testing::Types<EntropyNetOptions, SelaNetOptions, MiadmNetOptions, ImsatOptions, IicOptions>;
TYPED_TEST_SUITE(Classifier, Methods);

TYPED_TEST(Classifier, FindsBlobsPredictsAndRoundTrips) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(360, 8, 4, 3);
    TypeParam options = small<TypeParam>();
    options.epochs = 25;
    coterie::Run run(2, 1);
    const auto model = FitOf<TypeParam>::fit(sample.points, options, run);
    EXPECT_GE(accuracy(model.labels(), sample.truth), FitOf<TypeParam>::accuracy_expected);
    EXPECT_EQ(model.predict(sample.points), model.labels());
    const FitReport& report = model.fit_report();
    EXPECT_EQ(report.iterations, 25);
    EXPECT_EQ(report.objective_per_iteration.size(), 25U);
    // The kept epoch has the smallest criterion among the balanced epochs.
    const auto kept = static_cast<std::size_t>(detail<std::int64_t>(report, "kept_epoch") - 1);
    const auto balances = detail<std::vector<double>>(report, "balance_per_epoch");
    EXPECT_NEAR(balances[kept], deep::internal::balance(model.labels(), 4), 1e-12);
    EXPECT_EQ(report.objective, report.objective_per_iteration[kept]);
    const auto criteria = detail<std::vector<double>>(report, "criterion_per_epoch");
    for (std::size_t e = 0; e < 25; ++e)
        if (balances[e] >= 0.5) {
            EXPECT_LE(criteria[kept], criteria[e]);
        }
    const Matrix<double> sigma = model.output(Output::memberships, sample.points, run);
    const Vector<double> means = sigma.colwise().mean().transpose();
    const double entropy = -(sigma.array() * sigma.array().max(1e-300).log()).sum() / 360;
    EXPECT_NEAR(criteria[kept], entropy + (means.array() * (4 * means.array()).log()).sum(), 1e-9);
    EXPECT_LE((sigma.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
    const testing::Folder folder;
    Pipeline(model).save(folder / "model.coterie");
    const auto pipeline = Pipeline::load(folder / "model.coterie");
    const Model* read = &pipeline.model();
    EXPECT_EQ(read->predict(sample.points), model.labels());
    EXPECT_EQ(read->output(Output::memberships, sample.points, run), sigma);
    // The features of transform() are the inputs of the head.
    const Matrix<double> features = read->transform(sample.points, run);
    ASSERT_EQ(features.cols(), 24);
    const auto& parameters = model.state().parameters;
    const Eigen::Map<const eigen::Matrix<float>> head(parameters[parameters.size() - 2].data(), 4, 24);
    const Eigen::Map<const eigen::Vector<float>> bias(parameters.back().data(), 4);
    Matrix<double> logits = features * head.transpose().cast<double>();
    logits.rowwise() += bias.transpose().cast<double>();
    EXPECT_LE((softmax(logits, 1).probability - sigma).cwiseAbs().maxCoeff(), 1e-5);
}

// A fit that is interrupted before every batch ends with the same bits as an uninterrupted fit. So does a repeated fit.
TYPED_TEST(Classifier, ResumesBitForBit) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(150, 6, 4, 5);
    const testing::Folder folder;
    TypeParam options = small<TypeParam>();
    Labels partial(150, -1);
    for (std::size_t i = 0; i < 20; ++i) partial[i] = sample.truth[i];
    Problem side;
    side.partial_labels = partial;
    coterie::Run run(2, 1);
    const auto whole = FitOf<TypeParam>::fit(sample.points, options, run, side);
    EXPECT_EQ(FitOf<TypeParam>::fit(sample.points, options, run, side).state().parameters, whole.state().parameters);
    run.checkpoint = folder / "fit.checkpoint";
    int stops = 0;
    while (stops < 40) {
        bool stepped = false;  // one batch at a time
        coterie::Run cut = run;
        cut.on_progress = [&](const Progress& progress) { stepped = stepped || progress.stage == "epochs"; };
        cut.should_stop = [&] { return stepped; };
        try {
            if (FitOf<TypeParam>::fit(sample.points, options, cut, side).fit_report().stopped !=
                StopReason::interrupted)
                break;
        } catch (const Cancelled&) {
        }
        ++stops;
    }
    EXPECT_EQ(stops, 4 * 3 - 1);
    const double before = Archive::load(run.checkpoint).vector("seconds", 1)[0];
    const auto resumed = FitOf<TypeParam>::fit(sample.points, options, run, side);
    ASSERT_EQ(resumed.fit_report().seconds[1].first, "training");
    EXPECT_GT(resumed.fit_report().seconds[1].second, before);
    EXPECT_EQ(resumed.labels(), whole.labels());
    EXPECT_EQ(resumed.state().parameters, whole.state().parameters);
    EXPECT_EQ(resumed.fit_report().objective_per_iteration, whole.fit_report().objective_per_iteration);
    EXPECT_NE(message_of<BadData>([&] { FitOf<TypeParam>::fit(sample.points, options, run); }).find("other data"),
              std::string::npos);  // without the labels
    options.learning_rate *= 2;
    EXPECT_NE(
        message_of<BadData>([&] { FitOf<TypeParam>::fit(sample.points, options, run, side); }).find("other options"),
        std::string::npos);
}

// Interrupts each of three starts, all in their first epoch or all in their second, and continues. The result is the
// best of three separate fits. An interrupted run returns the best of the complete starts.
TYPED_TEST(Classifier, InterruptedRestartsResumeBitForBit) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(150, 6, 4, 5);
    TypeParam options = small<TypeParam>();
    options.epochs = 2;
    constexpr int batches = 6;  // per start, three per epoch
    coterie::Run run(2, 1);
    const auto fit = [&](const coterie::Run& of) { return FitOf<TypeParam>::fit(sample.points, options, of); };
    std::vector<double> criteria;
    std::vector<std::vector<std::vector<float>>> networks;
    for (int start = 0; start < 3; ++start) {
        const auto alone = fit(start == 0 ? run : run.child("restart", static_cast<std::uint64_t>(start)));
        criteria.push_back(alone.restart_criterion());
        networks.push_back(alone.state().parameters);
    }
    const auto best_of = [&](int starts) {
        return static_cast<std::size_t>(std::min_element(criteria.begin(), criteria.begin() + starts) -
                                        criteria.begin());
    };
    options.restarts = 3;
    const auto whole = fit(run);
    EXPECT_EQ(whole.state().parameters, networks[best_of(3)]);
    EXPECT_EQ(detail<std::vector<double>>(whole.fit_report(), "criterion_per_restart"), criteria);
    for (const int stop_after : {1, 4}) {
        SCOPED_TRACE(stop_after);
        const testing::Folder folder;
        run.checkpoint = folder / "fit.checkpoint";
        const auto state_of = [&](int start) { return run.checkpoint + ".start-" + std::to_string(start); };
        for (int start = 0; start < 3; ++start) {
            int done = 0;  // batches of this start; its state is written before the first batch
            coterie::Run cut = run;
            cut.on_progress = [&](const Progress& progress) {
                done += progress.stage == "epochs" && std::filesystem::exists(state_of(start)) ? 1 : 0;
            };
            cut.should_stop = [&] { return done >= stop_after; };
            if (start == 0 && stop_after == 1) {
                EXPECT_THROW(fit(cut), Cancelled);
                continue;
            }
            const auto left = fit(cut);
            EXPECT_EQ(done, stop_after);
            EXPECT_EQ(left.fit_report().stopped, StopReason::interrupted);
            if (start == 0) continue;
            EXPECT_EQ(left.state().parameters, networks[best_of(start)]);
            EXPECT_EQ(detail<std::vector<double>>(left.fit_report(), "criterion_per_restart"),
                      std::vector<double>(criteria.begin(), criteria.begin() + start));
        }
        int done = 0;
        coterie::Run last = run;
        last.on_progress = [&](const Progress& progress) { done += progress.stage == "epochs" ? 1 : 0; };
        const auto resumed = fit(last);
        EXPECT_LE(done, 2 * (batches - stop_after)) << "the best so far and the last: neither from its beginning";
        EXPECT_EQ(resumed.labels(), whole.labels());
        EXPECT_EQ(resumed.state().parameters, whole.state().parameters);
        EXPECT_EQ(resumed.fit_report().objective_per_iteration, whole.fit_report().objective_per_iteration);
        EXPECT_EQ(detail<std::vector<double>>(resumed.fit_report(), "criterion_per_restart"), criteria);
        EXPECT_EQ(detail<std::int64_t>(resumed.fit_report(), "best_restart"), static_cast<std::int64_t>(best_of(3)));
        for (int start = 0; start < 3; ++start)
            EXPECT_EQ(std::filesystem::exists(state_of(start)), static_cast<std::size_t>(start) == best_of(3));
    }
}

TEST(ClassifierRestarts, ResumeBitForBitInBlocksAndProcesses) {
    COTERIE_NEEDS_NETWORKS;
    auto options = small<EntropyNetOptions>();
    options.epochs = 2;
    options.restarts = 2;
    EXPECT_GT(test::goes_on(fit_entropy_net, options, {.points = Points(test::blobs(300, 6, 4, 3).points)}), 3);
}

// The labels of some points name the clusters, and these points stay in their clusters.
TYPED_TEST(Classifier, KeepsPartialLabels) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(240, 8, 4, 8);
    TypeParam options = small<TypeParam>();
    options.clusters = std::nullopt;
    options.epochs = 15;
    Labels partial(240, -1);
    for (std::size_t i = 0; i < 40; ++i) partial[i] = sample.truth[i];
    partial[0] = 1 - partial[0] % 2;  // a wrong one
    Problem side;
    side.partial_labels = partial;
    side.label_names = {"ash", "birch", "elm", "oak"};
    coterie::Run run(1, 1);
    const auto model = FitOf<TypeParam>::fit(sample.points, options, run, side);
    ASSERT_EQ(model.clusters(), 4);
    EXPECT_EQ(model.cluster_labels().names[2], "elm");
    for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(model.labels()[i], partial[i]);
    double right = 0;
    for (std::size_t i = 40; i < 240; ++i) right += model.labels()[i] == sample.truth[i];
    EXPECT_GE(right / 200, 0.9);
    EXPECT_EQ(model.output(Output::label_scores, sample.points, run).cols(), 4);
}

TEST(ClassifierImages, FitsEveryNetworkKind) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(40, 64, 2, 9);
    for (const auto network : {ClassifierNetwork::automatic, ClassifierNetwork::dense, ClassifierNetwork::resnet18}) {
        auto options = small<EntropyNetOptions>();
        options.clusters = 2;
        options.image = {8, 8};
        options.network = network;
        if (network != ClassifierNetwork::dense) options.widths = EntropyNetOptions().widths;
        options.epochs = 2;
        options.batch_size = 20;
        coterie::Run run(1, 1);
        const auto model = fit_entropy_net(sample.points, options, run);
        const testing::Folder folder;
        Pipeline(model).save(folder / "model.coterie");
        EXPECT_EQ(Pipeline::load(folder / "model.coterie").model().predict(sample.points), model.labels());
        EXPECT_EQ(detail<std::string>(model.fit_report(), "network"), network == ClassifierNetwork::automatic ? "vgg4"
                                                                      : network == ClassifierNetwork::dense
                                                                          ? "dense"
                                                                          : "resnet18");
    }
}

bool says_collapsed(const FitReport& report) {
    return std::any_of(report.warnings.begin(), report.warnings.end(),
                       [](const auto& warning) { return warning.text().find("collapsed") != std::string::npos; });
}

// Decisiveness alone, without fairness, is best when all points share a cluster.
TEST(ClassifierBalance, DetectsACollapse) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(120, 6, 4, 10);
    auto options = small<ImsatOptions>();
    options.epochs = 60;
    coterie::Run run(1, 1);
    EXPECT_FALSE(says_collapsed(fit_imsat(sample.points, options, run).fit_report()));
    options.fairness = 0;
    options.learning_rate = 0.01;
    const FitReport report = fit_imsat(sample.points, options, run).fit_report();
    EXPECT_LT(detail<std::vector<double>>(report, "balance_per_epoch").back(), 0.5);
    EXPECT_TRUE(says_collapsed(report));
}

// Shares of 95 % and 5 % are not a collapse if the labels say so. The kept epoch predicts the labels correctly.
TEST(ClassifierBalance, IsRelativeToLabelShares) {
    COTERIE_NEEDS_NETWORKS;
    const Index n = 400;
    RandomStream random(4, "test.shares");
    Matrix<double> points(n, 4);
    Labels truth;
    for (Index i = 0; i < n; ++i) {
        truth.push_back(i % 20 == 0 ? 1 : 0);
        for (Index j = 0; j < 4; ++j) points(i, j) = random.normal() + (truth.back() == 1 ? 4 : 0);
    }
    auto options = small<ImsatOptions>();
    options.clusters = std::nullopt;
    options.epochs = 30;
    options.label_weight = 10;
    Problem side;
    side.partial_labels = truth;
    side.label_names = {"many", "few"};
    coterie::Run run(1, 1);
    const auto model = fit_imsat(with(points, side), options, run);
    EXPECT_FALSE(says_collapsed(model.fit_report()));
    EXPECT_GE(accuracy(model.predict(points), truth), 0.97);  // predictions of the network, not the given labels
}

// The layers before the head come from another model; a tiny rate leaves them unchanged.
TEST(ClassifierPretrained, StartsFromLayersOfAnotherModelAndTrainsTheHead) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(120, 6, 4, 10);
    const testing::Folder folder;
    auto options = small<EntropyNetOptions>();
    coterie::Run run(1, 1), other(2, 1);
    const auto first = fit_entropy_net(sample.points, options, run);
    Pipeline(first).save(folder / "first.coterie");
    options.pretrained = folder / "first.coterie";
    options.backbone_rate = 1e-30;
    options.weight_decay = 0;
    options.epochs = 2;
    const auto second = fit_entropy_net(sample.points, options, other);
    const auto& a = first.state().parameters;
    const auto& b = second.state().parameters;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t p = 0; p + 2 < a.size(); ++p)
        if (p % 5 < 3) {  // weights and two parameters of the norm; running means do change
            EXPECT_EQ(a[p], b[p]) << p;
        }
    EXPECT_NE(a[a.size() - 2], b[b.size() - 2]);
    options.clusters = 3;  // a different head
    EXPECT_EQ(fit_entropy_net(sample.points, options, other).state().parameters[0], a[0]);
    options.widths = {7};
    EXPECT_NE(message_of<BadData>([&] { fit_entropy_net(sample.points, options, other); }).find("network.0"),
              std::string::npos);
}

TEST(ClassifierPretrained, ReadsResNetWeightsByName) {
    const internal::Architecture network = internal::resnet18({3, 96, 96}, 10);
    const std::vector<std::string> names = deep::internal::resnet18_names(network);
    const auto blank = [](const internal::Architecture& of) {
        internal::Parameters out;
        for (const internal::Layer& layer : of.encoder)
            for (const Index size : internal::parameter_sizes(layer.plan))
                out.emplace_back(static_cast<std::size_t>(size), -1.0F);
        return out;
    };
    const internal::Parameters parameters = blank(network);
    ASSERT_EQ(names.size() + 2, parameters.size());  // the head's weights and biases
    // Sizes as in torchvision.
    const auto size_of = [&](const std::string& name) {
        const auto at = std::find(names.begin(), names.end(), name);
        return at == names.end() ? 0 : parameters[static_cast<std::size_t>(at - names.begin())].size();
    };
    EXPECT_EQ(size_of("conv1.weight"), 64U * 3 * 7 * 7);
    EXPECT_EQ(size_of("layer1.1.conv2.weight"), 64U * 64 * 9);
    EXPECT_EQ(size_of("layer2.0.conv1.weight"), 128U * 64 * 9);
    EXPECT_EQ(size_of("layer2.0.downsample.0.weight"), 128U * 64);
    EXPECT_EQ(size_of("layer3.0.downsample.1.running_var"), 256U);
    EXPECT_EQ(size_of("layer4.1.bn2.bias"), 512U);
    EXPECT_EQ(size_of("layer1.0.downsample.0.weight"), 0U);
    const testing::Folder folder;
    for (const std::string before : {"", "module.backbone."}) {
        Archive archive("elsewhere");
        for (std::size_t p = 0; p < names.size(); ++p) {
            const std::vector<float> values(parameters[p].size(), static_cast<float>(p));
            archive.set_points(before + names[p], PointsView(values.data(), 1, static_cast<Index>(values.size())));
        }
        archive.save(folder / "weights.safetensors");
        internal::Parameters read = parameters;
        deep::internal::read_trunk(folder / "weights.safetensors", network, true, read);
        for (std::size_t p = 0; p < read.size(); ++p)
            EXPECT_EQ(read[p], std::vector<float>(read[p].size(), p < names.size() ? static_cast<float>(p) : -1.0F));
    }
    const auto refused = [&](const internal::Architecture& of, bool is_resnet) {
        internal::Parameters unused = blank(of);
        return message_of<BadData>(
            [&] { deep::internal::read_trunk(folder / "weights.safetensors", of, is_resnet, unused); });
    };
    EXPECT_NE(refused(internal::resnet18({3, 32, 32}, 10), true).find("conv1.weight has 9408 numbers"),
              std::string::npos);
    EXPECT_NE(refused(network, false).find("use a model of entropy-net"), std::string::npos);
}

// Probing passes do not change the running means that predictions use.
TEST(AdversarialMoves, LeaveRunningMeansUnchanged) {
    COTERIE_NEEDS_NETWORKS;
    internal::Network network(internal::dense_classifier(5, {7}, 3), "cpu", 1, false);
    network.initialize(coterie::Run(1), "test");
    network.set_points(test::blobs(20, 5, 3, 11).points.cast<float>());
    const internal::Parameters before = network.parameters();
    RandomStream random(3, "test.moves");
    deep::internal::adversarial_moves(network, {0, 3, 5, 7}, Vector<double>::Ones(20), random, 1);
    EXPECT_EQ(network.parameters(), before);
    network.begin({0, 3, 5, 7});
    EXPECT_NE(network.parameters(), before);
}

// A checkpoint belongs to one prior and one map from labels to clusters.
TEST(ClassifierCheckpoint, BelongsToOnePriorAndOneLabelMap) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(80, 6, 2, 12);
    const testing::Folder folder;
    auto options = small<EntropyNetOptions>();
    options.clusters = std::nullopt;
    Labels partial(80, -1);
    for (std::size_t i = 0; i < 20; ++i) partial[i] = sample.truth[i];
    Problem side;
    side.partial_labels = partial;
    side.label_names = {"a", "b"};
    side.label_shares = {{"a", 0.5, 0.5}};
    coterie::Run run(1, 1);
    run.checkpoint = folder / "fit.checkpoint";
    coterie::Run cut = run;
    int told = 0;  // reports of batches; two make an epoch
    cut.on_progress = [&](const Progress& progress) { told += progress.stage == "epochs" ? 1 : 0; };
    cut.should_stop = [&] { return told > 2; };
    fit_entropy_net(with(sample.points, side), options, cut);
    const auto refused = [&](const Problem& other) {
        return message_of<BadData>([&] { fit_entropy_net(with(sample.points, other), options, run); });
    };
    Problem other = side;
    other.label_shares = {{"a", 0.3, 0.3}};
    EXPECT_NE(refused(other).find("other data"), std::string::npos);
    EXPECT_NO_THROW(fit_entropy_net(with(sample.points, side), options, run));
    run.checkpoint = folder / "no-folder/fit.checkpoint";
    EXPECT_NE(
        message_of<ResourceError>([&] { fit_entropy_net(with(sample.points, side), options, run); }).find("checkpoint"),
        std::string::npos);
}

// sigma(x) = softmax(W x): the gradient of KL(sigma || sigma(x + move)) is W'(tau - sigma).
TEST(AdversarialMoves, LinearNetworkByHand) {
    COTERIE_NEEDS_NETWORKS;
    const internal::Architecture architecture = internal::dense_classifier(5, {}, 3);
    internal::Network network(architecture, "cpu", 1, false);
    network.initialize(coterie::Run(1), "test");
    const Matrix<float> x = test::blobs(6, 5, 3, 11).points.cast<float>();
    network.set_points(x);
    const internal::Parameters parameters = network.parameters();
    const Matrix<double> w = Eigen::Map<const eigen::Matrix<float>>(parameters[0].data(), 3, 5).cast<double>();
    Vector<double> radii(6);
    radii << 0, 0.5, 1, 1.5, 2, 2.5;
    const std::vector<std::int64_t> rows = {4, 1, 0};
    RandomStream random(3, "test.moves"), same(3, "test.moves");
    const Matrix<float> moves = deep::internal::adversarial_moves(network, rows, radii, random, 1);
    for (Index r = 0; r < 3; ++r) {
        const auto i = rows[static_cast<std::size_t>(r)];
        Vector<double> probe(5);
        for (Index p = 0; p < 5; ++p) probe[p] = same.normal();
        probe *= radii[i] / probe.norm();
        const Vector<double> at = x.row(i).cast<double>().transpose();
        const auto sigma = [&](const Vector<double>& point) {
            return Vector<double>(softmax(Matrix<double>((w * point).transpose()), 1).probability.row(0).transpose());
        };
        const Vector<double> gradient = w.transpose() * (sigma(at + probe) - sigma(at));
        const Vector<double> expected =
            i == 0 ? Vector<double>(Vector<double>::Zero(5)) : Vector<double>(radii[i] * gradient.normalized());
        EXPECT_LE((moves.row(r).cast<double>().transpose() - expected).cwiseAbs().maxCoeff(), 1e-3) << r;
        EXPECT_NEAR(moves.row(r).norm(), radii[i], 1e-5);
    }
}

TEST(ClassifierOptions, BadValuesAreErrors) {
    const test::Sample sample = test::blobs(30, 64, 4, 7);
    coterie::Run run(0, 1);
    const auto refused = [&](auto change) {
        auto options = small<EntropyNetOptions>();
        change(options);
        return message_of<BadArgument>([&] { fit_entropy_net(sample.points, options, run); });
    };
    EXPECT_NE(refused([](auto& o) { o.clusters = 31; }).find("31"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.image = {8, 9}; }).find("64 columns"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.prior = {0.5, 0.4}; }).find("prior"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.widths.clear(); }).find("widths"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.network = ClassifierNetwork::vgg4; }).find("image"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.augmentations = 3; }).find("augmentations"), std::string::npos);
    COTERIE_NEEDS_NETWORKS;
    EXPECT_NE(refused([](auto& o) { o.augment = "flip"; }).find("needs image"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.augment = "noise,turn"; }).find("'noise,turn'"), std::string::npos);
    const std::vector<int> usual = EntropyNetOptions().widths;
    EXPECT_NE(refused([&](auto& o) {
                  o.image = {8, 8}, o.widths = usual, o.kernel = 4;
              }).find("an odd number"),
              std::string::npos);
    // Options that would change nothing.
    EXPECT_NE(refused([](auto& o) { o.image = {8, 8}; }).find("widths"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.kernel = 5; }).find("kernel"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.label_solver = LabelSolver::dual, o.label_rounds = 3; }).find("label_rounds"),
              std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.rotation = 20; }).find("rotation"), std::string::npos);
    EXPECT_NE(refused([](auto& o) { o.augment = "none", o.noise = 1; }).find("noise"), std::string::npos);
    run.device = "tpu";
    EXPECT_NE(refused([](auto&) {}).find("cpu, cuda or mps"), std::string::npos);
    run.device = "cpu";
    EXPECT_NE(refused([](auto& o) { o.learning_rate = 1e38; }).find("learning_rate"), std::string::npos);
    Problem side;
    side.sizes = SizeBounds{1, 20};
    EXPECT_NE(message_of<BadArgument>([&] {
                  fit_entropy_net(with(sample.points, side), small<EntropyNetOptions>(), run);
              }).find("size bounds"),
              std::string::npos);
    side.sizes.reset();
    Labels partial(30, -1);
    partial[0] = 0;
    side.partial_labels = partial;
    side.label_shares = {{"0", 0.5, 0.5}};
    EXPECT_NE(message_of<BadArgument>([&] {
                  fit_iic(with(sample.points, side), small<IicOptions>(), run);
              }).find("label shares"),
              std::string::npos);
}

// There is a single blob, and only the prior decides where it is divided.
TEST(EntropyNet, FollowsThePrior) {
    COTERIE_NEEDS_NETWORKS;
    const test::Sample sample = test::blobs(400, 8, 1, 3);
    auto options = small<EntropyNetOptions>();
    options.clusters = 3;
    options.epochs = 15;
    options.learning_rate = 1e-3;
    options.label_solver = LabelSolver::dual;
    coterie::Run run(2, 1);
    coterie::Run once(2, 1);
    auto short_fit = options;
    short_fit.epochs = 1;
    const FitReport by_dual = fit_entropy_net(sample.points, short_fit, once).fit_report();
    EXPECT_LT(detail<double>(by_dual, "label_gradient"), 1e-8);
    short_fit.label_solver = LabelSolver::em;
    const FitReport by_em = fit_entropy_net(sample.points, short_fit, once).fit_report();
    EXPECT_GT(detail<double>(by_em, "label_gradient"), 1e-8);
    EXPECT_EQ(detail<std::int64_t>(by_em, "label_rounds"), 10);
    std::vector<double> third;
    for (const std::vector<double>& prior : {std::vector<double>{0.1, 0.1, 0.8}, {0.45, 0.45, 0.1}}) {
        options.prior = prior;
        const auto model = fit_entropy_net(sample.points, options, run);
        third.push_back(detail<std::vector<double>>(model.fit_report(), "mean_probabilities")[2]);
    }
    EXPECT_GE(third[0] - third[1], 0.35);
}

}  // namespace
}  // namespace coterie
