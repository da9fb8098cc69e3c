#include "coterie/deep/internal/shared_pass.hpp"

#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "coterie/base/error.hpp"
#include "coterie/base/random.hpp"
#include "coterie/deep/network.hpp"
#include "tests/support/processes_in_threads.hpp"
#include "tests/support/test_samples.hpp"

namespace coterie {
namespace {

using deep::internal::SharedPass;

constexpr int most_processes = 6;

// The sum over the blocks from `begin` on, from the definition of the tree: the left half is the largest power of two.
float tree_sum(const std::vector<float>& parts, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return parts[begin];
    std::size_t half = 1;
    while (2 * half < end - begin) half *= 2;
    return tree_sum(parts, begin, begin + half) + tree_sum(parts, begin + half, end);
}

void expect_well(std::int32_t failed) { ASSERT_EQ(failed, 0); }

TEST(SharedPass, EveryItemBelongsToOneProcess) {
    for (int size = 1; size <= most_processes; ++size)
        for (const Index items : {1, 31, 32, 33, 96, 500}) {
            std::vector<internal::Range> own(static_cast<std::size_t>(size));
            test::on_processes(size, [&](std::shared_ptr<Communicator> communicator) {
                const SharedPass pass(*communicator, {items, 32});
                own[static_cast<std::size_t>(communicator->rank())] = pass.own();
                EXPECT_EQ(pass.sharing().items, items);
                EXPECT_EQ(pass.sharing().first, pass.own().begin);
            });
            Index next = 0;
            for (const internal::Range& range : own) {
                EXPECT_EQ(range.begin, next);
                EXPECT_TRUE(range.begin % 32 == 0 || range.begin == items);
                next = range.end;
            }
            EXPECT_EQ(next, items);
        }
}

// Uses numbers whose sum depends on the order.
TEST(SharedPass, SumsFollowTheTreeForAnyDistribution) {
    RandomStream random(3, "test.shared-pass");
    for (const std::size_t blocks : {1, 2, 3, 7, 8, 13, 16}) {
        constexpr std::size_t count = 4;  // also fewer numbers than processes
        std::vector<std::vector<float>> numbers(count, std::vector<float>(blocks));  // for each block
        for (auto& of : numbers)
            for (float& value : of) value = static_cast<float>(random.normal());
        for (int size = 1; size <= most_processes; ++size)
            test::on_processes(size, [&](std::shared_ptr<Communicator> communicator) {
                SharedPass pass(*communicator, {static_cast<Index>(blocks), 1});
                const auto begin = static_cast<std::size_t>(pass.own().begin);
                const auto end = static_cast<std::size_t>(pass.own().end);
                std::vector<float> total(count);
                std::vector<double> gathered(2 * blocks, -1);
                pass.run([&] {
                    // For each block of this process: the sum over the largest node that begins with the block and has
                    // only blocks of this process.
                    std::vector<std::vector<float>> sums;
                    std::vector<const float*> places;
                    for (std::size_t block = begin; block < end; ++block) {
                        std::size_t node = block + 1;
                        for (std::size_t step = 2; block % step == 0 && step < 2 * blocks; step *= 2)
                            if (std::min(block + step, blocks) <= end) node = std::min(block + step, blocks);
                        for (std::size_t i = 0; i < count; ++i)
                            sums.resize(block - begin + 1), sums.back().push_back(tree_sum(numbers[i], block, node));
                        gathered[2 * block] = static_cast<double>(block);
                        gathered[2 * block + 1] = 0.5;
                    }
                    for (const auto& sum : sums) places.push_back(sum.data());
                    const auto& sharing = pass.sharing();
                    expect_well(sharing.add(sharing.context, places.data(), count, total.data()));
                    expect_well(sharing.gather(sharing.context, gathered.data(), 2));
                });
                for (std::size_t i = 0; i < count; ++i)
                    EXPECT_EQ(total[i], tree_sum(numbers[i], 0, blocks)) << blocks << " blocks, " << size;
                for (std::size_t block = 0; block < blocks; ++block) {
                    EXPECT_EQ(gathered[2 * block], static_cast<double>(block));
                    EXPECT_EQ(gathered[2 * block + 1], 0.5);
                }
            });
    }
}

std::string text_of(const std::exception_ptr& error) {
    try {
        if (error) std::rethrow_exception(error);
    } catch (const std::exception& what) {
        return what.what();
    }
    return "";
}

// A pass with one block per process.
void expect_sound(Communicator& communicator) {
    SharedPass next(communicator, {communicator.size(), 1});
    const float own = 1.5F + static_cast<float>(communicator.rank());
    const float* const place = &own;
    float total = 0;
    next.run([&] { expect_well(next.sharing().add(next.sharing().context, &place, 1, &total)); });
    EXPECT_EQ(total, 7.5F);
}

// One process fails before, between or after the exchanges. No process waits forever, and the next pass works.
TEST(SharedPass, FailureOfOneProcessEndsAll) {
    for (const int moment : {0, 1, 2}) {
        const auto errors = test::run_processes(3, [&](std::shared_ptr<Communicator> communicator) {
            SharedPass pass(*communicator, {90, 32});
            const float numbers[] = {1, 2};
            const float* const own[] = {numbers};
            float total[2];
            double sums[3];
            const auto work = [&](int fails_at) {
                for (int step = 0; step < 2; ++step) {
                    if (fails_at == step && communicator->rank() == 1) throw std::runtime_error("no more memory");
                    const auto& sharing = pass.sharing();
                    if ((step == 0 ? sharing.add(sharing.context, own, 2, total)
                                   : sharing.gather(sharing.context, sums, 1)) != 0)
                        throw std::runtime_error("another process has failed");
                }
                if (fails_at == 2 && communicator->rank() == 1) throw std::runtime_error("no more memory");
            };
            try {
                pass.run([&] { work(moment); });
                ADD_FAILURE() << "process " << communicator->rank();
            } catch (const PeerFailed&) {
                EXPECT_NE(communicator->rank(), 1);
                expect_sound(*communicator);
                throw;
            } catch (const std::runtime_error&) {
                EXPECT_THROW(pass.run([] {}), std::runtime_error);  // the pass has ended, on every process
                expect_sound(*communicator);
                throw;
            }
        });
        EXPECT_EQ(text_of(errors[1]), "no more memory");
        for (const std::size_t other : {0, 2})
            EXPECT_EQ(text_of(errors[other]), "process 1 failed: no more memory") << moment;
    }
}

// Initial parameters of processes may differ: different files with the same name, or processors that round differently.
TEST(SharedPass, UsesTheParametersOfRankZero) {
    COTERIE_NEEDS_NETWORKS;
    const Matrix<double> points = test::blobs(100, 64, 4, 3).points;
    std::vector<std::int64_t> rows(100);
    std::iota(rows.begin(), rows.end(), 0);
    const auto trained = [&](std::shared_ptr<Communicator> communicator) {
        coterie::Run run(7, 1);
        run.set_communicator(communicator);
        internal::Network network(internal::vgg4({1, 8, 8}, 3, 4), "cpu", 1, false);
        network.initialize(coterie::Run(7 + static_cast<std::uint64_t>(communicator->rank()), 1), "test.start");
        network.set_points(PointsView(points), run);
        network.set_optimizers({{}});
        network.backward(network.begin(rows));
        network.step();
        return network.parameters();
    };
    internal::Parameters alone;
    test::on_processes(1, [&](std::shared_ptr<Communicator> one) { alone = trained(one); });
    test::on_processes(3, [&](std::shared_ptr<Communicator> three) { EXPECT_TRUE(trained(three) == alone); });
}

// A layer fails after a batch norm, for which the processes exchange sums. The other processes notice the failure in
// the next batch norm.
TEST(SharedPass, FailureInsideTheNetworkEndsAll) {
    COTERIE_NEEDS_NETWORKS;
    const Matrix<double> points = test::blobs(100, 64, 4, 3).points;
    const auto errors = test::run_processes(3, [&](std::shared_ptr<Communicator> communicator) {
        internal::Architecture architecture = internal::vgg4({1, 8, 8}, 3, 4);
        if (communicator->rank() == 2) {
            internal::Layer layer;
            layer.plan.kind = COTERIE_RESIDUAL;
            layer.plan.out = 100;
            ASSERT_EQ(internal::parameter_sizes(architecture.encoder[2].plan).size(), 0u);
            architecture.encoder[2] = layer;  // replaces the layer after the first batch norm
        }
        coterie::Run run(7, 1);
        run.set_communicator(communicator);
        internal::Network network(architecture, "cpu", 1, false);
        network.set_points(PointsView(points), run);
        std::vector<std::int64_t> rows(100);
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i);
        network.begin(rows);
        ADD_FAILURE() << "process " << communicator->rank();
    });
    const std::string text = "the network failed: a residual layer spans more layers than there are";
    EXPECT_EQ(text_of(errors[2]), text);
    for (const std::size_t other : {0, 1}) EXPECT_EQ(text_of(errors[other]), "process 2 failed: " + text);
}

}  // namespace
}  // namespace coterie
