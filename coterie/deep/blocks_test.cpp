// Networks on points that are read from files, and in several processes. The bits depend neither on the source of the
// rows nor on the process that has them.

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "coterie/deep/dec.hpp"
#include "coterie/deep/dekm.hpp"
#include "coterie/deep/entropy_net.hpp"
#include "coterie/deep/imsat.hpp"
#include "tests/support/same_bits.hpp"
#include "tests/support/test_files.hpp"
#include "tests/support/test_samples.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

// Labels, the network's parameters and the figures of the report.
template <template <class> class FitOf, class Method>
void expect_same_bits(const FitOf<Method>& fit, const Problem& problem, const typename Method::Options& options,
                      const std::vector<int>& processes = {2, 3}) {
    test::expect_same_bits(
        problem,
        [&](const Problem& of, const coterie::Run& run) {
            const auto model = fit(of, options, run);
            const FitReport& report = model.fit_report();
            test::Bits out{model.labels(), report.objective_per_iteration};
            for (const auto& values : model.state().parameters)
                out.numbers.insert(out.numbers.end(), values.begin(), values.end());
            out.numbers.insert(out.numbers.end(), report.sizes.begin(), report.sizes.end());
            out.numbers.push_back(report.objective);
            return out;
        },
        processes);
}

// There are enough rows for more than one encoding batch. Batches end at other rows than the parts of the processes.
Problem sample(Index n = 1300) { return {.points = Points(test::blobs(n, 6, 4, 3).points)}; }

AeKMeansOptions embedded() {
    AeKMeansOptions options;
    options.clusters = 4;
    options.widths = {12};
    options.embedding = 3;
    options.pretrain_epochs = 2;
    options.kmeans_restarts = 2;
    return options;
}

template <class Options>
Options alternating() {
    Options options;
    test::make_small(options);
    options.pretrain_epochs = 2;
    return options;
}

template <class Options>
Options classifying() {
    Options options;
    options.clusters = 4;
    options.widths = {10};
    options.epochs = 2;
    return options;
}

TEST(InBlocks, AeKMeans) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_ae_kmeans, sample(), embedded());
}
TEST(InBlocks, Dekm) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_dekm, sample(), alternating<DekmOptions>());
    auto of_all = alternating<DekmOptions>();
    of_all.update = DekmUpdate::full;
    expect_same_bits(fit_dekm, sample(300), of_all);
}
TEST(InBlocks, Dec) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_dec, sample(), alternating<DecOptions>());
}
TEST(InBlocks, Idec) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_idec, sample(), alternating<IdecOptions>());
}
TEST(InBlocks, Dcn) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_dcn, sample(), alternating<DcnOptions>());
}
TEST(InBlocks, EntropyNet) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_entropy_net, sample(), classifying<EntropyNetOptions>());
    Problem labelled = sample(300);
    labelled.partial_labels.assign(300, -1);
    for (std::size_t i = 0; i < 300; i += 7) labelled.partial_labels[i] = static_cast<std::int32_t>(i % 4);
    auto per_epoch = classifying<EntropyNetOptions>();
    per_epoch.labels_per = LabelsPer::epoch;
    expect_same_bits(fit_entropy_net, labelled, per_epoch);
}
TEST(InBlocks, SelaNet) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_sela_net, sample(), classifying<SelaNetOptions>());
}
TEST(InBlocks, MiadmNet) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_miadm_net, sample(), classifying<MiadmNetOptions>());
}
// Adversarial views need neighbours among all points.
TEST(InBlocks, Imsat) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_imsat, sample(), classifying<ImsatOptions>());
}
// Images with random changes.
TEST(InBlocks, Iic) {
    COTERIE_NEEDS_NETWORKS;
    auto options = classifying<IicOptions>();
    options.network = ClassifierNetwork::dense;
    options.image = {2, 3};
    expect_same_bits(fit_iic, sample(300), options);
}

// Processes share passes of networks with convolutions. One batch size has several blocks of 32 items and a shorter
// one, so some processes have more items than others. The other is below a block, so only one process has items.
Problem images(Index n) { return {.points = Points(test::blobs(n, 64, 4, 3).points)}; }
const std::vector<int> many = {2, 3, 5};

template <class Options>
Options convolutional(int batch_size) {
    Options options;
    test::make_small(options);
    options.widths = Options().widths;
    options.image = {8, 8};
    options.pretrain_epochs = 1;
    options.pretrain_batch_size = batch_size;
    options.batch_size = batch_size;
    options.max_iterations = 6;
    return options;
}
template <class Options>
Options classifying_images(ClassifierNetwork network, int batch_size) {
    Options options;
    options.clusters = 4;
    options.network = network;
    options.image = {8, 8};
    options.epochs = 2;
    options.batch_size = batch_size;
    return options;
}

TEST(SharedSteps, Dekm) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_dekm, images(150), convolutional<DekmOptions>(70), many);
    auto of_all = convolutional<DekmOptions>(70);
    of_all.update = DekmUpdate::full;
    expect_same_bits(fit_dekm, images(150), of_all);
}
TEST(SharedSteps, Idec) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_idec, images(150), convolutional<IdecOptions>(100), many);
    expect_same_bits(fit_idec, images(40), convolutional<IdecOptions>(20));
}
TEST(SharedSteps, Iic) {
    COTERIE_NEEDS_NETWORKS;
    expect_same_bits(fit_iic, images(150), classifying_images<IicOptions>(ClassifierNetwork::vgg4, 75), many);
    expect_same_bits(fit_iic, images(20), classifying_images<IicOptions>(ClassifierNetwork::vgg4, 10));
}
TEST(SharedSteps, EntropyNet) {
    COTERIE_NEEDS_NETWORKS;
    auto options = classifying_images<EntropyNetOptions>(ClassifierNetwork::vgg4, 40);
    options.epochs = 1;
    Problem labelled = images(80);
    labelled.partial_labels.assign(80, -1);
    for (std::size_t i = 0; i < 80; i += 7) labelled.partial_labels[i] = static_cast<std::int32_t>(i % 4);
    expect_same_bits(fit_entropy_net, labelled, options);
}
// Gradients with respect to the input, through batch norms of the whole batch.
TEST(SharedSteps, Imsat) {
    COTERIE_NEEDS_NETWORKS;
    auto options = classifying_images<ImsatOptions>(ClassifierNetwork::vgg4, 40);
    options.view = ImsatView::adversarial;
    options.epochs = 1;
    expect_same_bits(fit_imsat, images(80), options);
}

// Interrupted on three processes, continued on one and on two.
TEST(SharedSteps, ResumeWithAnotherNumberOfProcesses) {
    COTERIE_NEEDS_NETWORKS;
    const Problem problem = images(150);
    const auto options = classifying_images<IicOptions>(ClassifierNetwork::vgg4, 75);
    const auto whole = fit_iic(problem, options, coterie::Run(7, 1)).state().parameters;
    const testing::Folder folder;
    const auto go_on = [&](int processes) {
        const std::string copy = folder / ("of-" + std::to_string(processes));
        std::filesystem::copy(folder / "fit.checkpoint", copy);
        test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
            coterie::Run run(7, 1);
            run.set_communicator(communicator);
            run.checkpoint = copy;
            EXPECT_EQ(fit_iic(problem, options, run).state().parameters, whole);
        });
    };
    test::on_processes(3, [&](std::shared_ptr<Communicator> communicator) {
        coterie::Run run(7, 1);
        run.set_communicator(communicator);
        run.checkpoint = folder / "fit.checkpoint";
        int batches = 0;
        run.on_progress = [&](const Progress& progress) { batches += progress.stage == "epochs" ? 1 : 0; };
        run.should_stop = [&] { return batches == 3; };
        EXPECT_EQ(fit_iic(problem, options, run).fit_report().stopped, StopReason::interrupted);
    });
    go_on(1);
    go_on(2);
}

TEST(InBlocks, TooLargeValueIsNamedByItsGlobalRow) {
    COTERIE_NEEDS_NETWORKS;
    Matrix<double> points = test::blobs(1300, 6, 4, 3).points;
    points(1111, 4) = 1e200;
    const Problem problem{.points = Points::borrow(points)};
    const auto message = [&](const coterie::Run& run) {
        return test::message_of([&] { fit_ae_kmeans(problem, embedded(), run); });
    };
    const std::string expected = message(coterie::Run(7, 1));
    EXPECT_NE(expected.find("1112"), std::string::npos) << expected;
    EXPECT_NE(expected.find("1e+200"), std::string::npos) << expected;
    test::on_processes(3, [&](std::shared_ptr<Communicator> communicator) {
        coterie::Run run(7, 1);
        run.set_communicator(communicator);
        EXPECT_NE(message(run).find("1112"), std::string::npos);
    });
}

}  // namespace
}  // namespace coterie
