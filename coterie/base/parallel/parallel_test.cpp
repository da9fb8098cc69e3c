#include "coterie/base/parallel/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <oneapi/tbb/task_group.h>

#include "coterie/base/error.hpp"
#include "coterie/base/run.hpp"

namespace coterie {
namespace {

// Takes long enough for threads to overlap, without a clock.
void work_a_little() {
    volatile double sum = 0;
    for (int i = 0; i < 2000; ++i) sum = sum + i;
}

// Waits until this many threads work at the same time. Gives up after a minute.
struct Meeting {
    void wait_for(int threads) {
        {
            const std::lock_guard lock(mutex);
            ids.insert(std::this_thread::get_id());
        }
        ++arrived;
        while (arrived < threads && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    }
    std::mutex mutex;
    std::set<std::thread::id> ids;
    std::atomic<int> arrived{0};
    const std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

TEST(ForEachBlock, VisitsEveryBlockOnceAtAnyThreadCount) {
    for (int threads = 1; threads <= 64; ++threads) {
        for (const Index count : {0, 1, 2, 5, 103}) {
            std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
            for_each_block(count, threads, [&](Index block, int worker) {
                ASSERT_GE(worker, 0);
                ASSERT_LT(worker, std::min<Index>(threads, count));
                ++visits[static_cast<std::size_t>(block)];
            });
            for (const auto& visit : visits) EXPECT_EQ(visit, 1);
        }
    }
}

TEST(ForEachBlock, EmptyLoopCallsNothing) {
    for (const int threads : {0, 1, 2, 64}) for_each_block(0, threads, [](Index, int) { FAIL() << "called"; });
}

TEST(ForEachBlock, UsesTheRequestedNumberOfThreads) {
    for (const int threads : {2, 8}) {
        Meeting meeting;
        std::vector<int> uses(static_cast<std::size_t>(threads));
        for_each_block(threads, threads, [&](Index, int worker) {
            meeting.wait_for(threads);
            ++uses[static_cast<std::size_t>(worker)];
        });
        EXPECT_EQ(meeting.ids.size(), static_cast<std::size_t>(threads));
        EXPECT_EQ(uses, std::vector<int>(static_cast<std::size_t>(threads), 1));
    }
}

TEST(ForEachBlock, LimitsThreadsAndGivesUniqueWorkerNumbers) {
    for (const int threads : {2, 3, 8}) {
        std::vector<std::atomic<int>> busy(static_cast<std::size_t>(threads));
        std::atomic<int> shared{0};
        for (int repetition = 0; repetition < 200; ++repetition)
            for_each_block(50, threads, [&](Index, int worker) {
                auto& mine = busy[static_cast<std::size_t>(worker)];
                shared += mine.exchange(1);
                work_a_little();
                mine = 0;
            });
        EXPECT_EQ(shared, 0);
    }
}

// Bodies without atomics or locks: they see what the caller wrote before the loop, and the caller sees what they wrote.
// Otherwise the thread sanitizer reports a race.
TEST(ForEachBlock, OrdersWritesOfCallerAndBodies) {
    std::vector<Index> from(64);
    std::vector<Index> to(64);
    for (Index repetition = 0; repetition < 500; ++repetition) {
        for (auto& value : from) value = repetition;
        for_each_block(64, 8, [&](Index block, int) {
            const auto place = static_cast<std::size_t>(block);
            work_a_little();
            to[place] = from[place] + block;
        });
        for (Index block = 0; block < 64; ++block) ASSERT_EQ(to[static_cast<std::size_t>(block)], repetition + block);
    }
}

#ifdef __SANITIZE_THREAD__
// A loop does not order its bodies, so a race between two must be reported: internal/workers.cpp must not hide it.
TEST(ForEachBlockDeathTest, TheThreadSanitizerReportsARaceBetweenBodies) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto race = [] {
        int shared = 0;
        Meeting meeting;
        for_each_block(2, 2, [&](Index, int) {
            meeting.wait_for(2);
            ++shared;
        });
        std::exit(shared);
    };
    EXPECT_EXIT(race(), testing::ExitedWithCode(66), "data race");
}
#endif

TEST(ForEachBlock, ThrowsTheErrorOfTheLowestFailingBlock) {
    for (const int threads : {1, 2, 8, 64}) {
        for (int repetition = 0; repetition < 100; ++repetition) {
            try {
                for_each_block(50, threads, [](Index block, int) {
                    work_a_little();
                    if (block >= 17) throw BadArgument({.problem = "block " + std::to_string(block)});
                });
                FAIL() << "nothing was thrown";
            } catch (const BadArgument& error) {
                EXPECT_STREQ(error.message(), "block 17");
            }
        }
        // A failure stops the loop; the next loop starts from scratch.
        std::atomic<Index> visited{0};
        EXPECT_THROW(for_each_block(1000000, threads,
                                    [&](Index, int) {
                                        ++visited;
                                        throw BadData({.problem = "every block"});
                                    }),
                     BadData);
        EXPECT_LE(visited, threads);
        visited = 0;
        for_each_block(1000, threads, [&](Index, int) { ++visited; });
        EXPECT_EQ(visited, 1000);
    }
}

TEST(ForEachBlock, ThrowsTheErrorOfTheLowerOfTwoBlocks) {
    for (const Index last : {0, 1}) {
        Meeting meeting;
        try {
            for_each_block(2, 2, [&](Index block, int) {
                meeting.wait_for(2);
                if (block == last) std::this_thread::sleep_for(std::chrono::milliseconds(50));
                throw BadArgument({.problem = "block " + std::to_string(block)});
            });
            FAIL() << "nothing was thrown";
        } catch (const BadArgument& error) {
            EXPECT_STREQ(error.message(), "block 0");
        }
        EXPECT_EQ(meeting.ids.size(), 2U);
    }
}

TEST(ForEachBlock, NestedLoopsRunOnTheCallingThread) {
    std::atomic<int> inner{0};
    std::atomic<int> strangers{0};
    for_each_block(20, 8, [&](Index, int) {
        const auto self = std::this_thread::get_id();
        Index expected = 0;
        for_each_block(50, 8, [&](Index block, int worker) {
            ++inner;
            work_a_little();
            if (worker != 0 || block != expected++ || std::this_thread::get_id() != self) ++strangers;
        });
    });
    EXPECT_EQ(inner, 1000);
    EXPECT_EQ(strangers, 0);
    EXPECT_THROW(
        for_each_block(
            4, 2, [](Index, int) { for_each_block(4, 2, [](Index, int) { throw BadData({.problem = "inside"}); }); }),
        BadData);
    // After such a loop, and within a loop of one thread, loops use several threads again.
    for (const int outer : {1, 2}) {
        Meeting meeting;
        for_each_block(1, outer, [&](Index, int) { for_each_block(2, 2, [&](Index, int) { meeting.wait_for(2); }); });
        EXPECT_EQ(meeting.ids.size(), 2U);
    }
}

TEST(ForEachBlock, ManyCallingThreads) {
    constexpr int hosts = 8;
    std::atomic<int> entered{0}, left{0};
    std::vector<std::atomic<std::thread::id>> ids(hosts);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int host = 0; host < hosts; ++host)
        threads.emplace_back([&, host] {
            const auto self = std::this_thread::get_id();
            ids[static_cast<std::size_t>(host)] = self;
            ++entered;
            while (entered < hosts) std::this_thread::yield();
            for (int repetition = 0; repetition < 100; ++repetition) {
                const int asked = 1 + (host + repetition) % 8;
                std::vector<std::atomic<int>> busy(static_cast<std::size_t>(asked));
                std::vector<Index> squares(40);
                for_each_block(40, asked, [&](Index block, int worker) {
                    wrong += busy[static_cast<std::size_t>(worker)].exchange(1);
                    // A worker is never the thread of another caller, which may hold locks or wait for its own blocks.
                    const auto id = std::this_thread::get_id();
                    for (const auto& other : ids)
                        if (id != self && id == other.load()) ++wrong;
                    work_a_little();
                    squares[static_cast<std::size_t>(block)] = block * block;
                    busy[static_cast<std::size_t>(worker)] = 0;
                });
                for (Index block = 0; block < 40; ++block)
                    if (squares[static_cast<std::size_t>(block)] != block * block) ++wrong;
            }
            ++left;
            while (left < hosts) std::this_thread::yield();  // a new thread may have the id of one that has ended
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(ForEachBlock, KeepsTheRoundingModeOfTheCaller) {
    const int before = std::fegetround();
    for (const int mode : {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD}) {
        std::fesetround(mode);
        std::atomic<int> other{0};
        for_each_block(200, 8, [&](Index, int) {
            work_a_little();
            if (std::fegetround() != mode) ++other;
        });
        EXPECT_EQ(std::fegetround(), mode);
        std::fesetround(before);
        EXPECT_EQ(other, 0);
    }
}

TEST(ForEachBlock, CompletesInsideCancelledTasks) {
    std::atomic<int> visited{0};
    tbb::task_group group;
    group.run_and_wait([&] {
        group.cancel();
        for_each_block(100, 8, [&](Index, int) { ++visited; });
    });
    EXPECT_EQ(visited, 100);
}

// Exit status of a child that runs a loop after the fork; 0 if every block was computed.
int loop_in_child() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);  // ends a child that would wait forever
        std::vector<int> visits(100, 0);
        for_each_block(100, 8, [&](Index block, int) { ++visits[static_cast<std::size_t>(block)]; });
        for (const int visit : visits)
            if (visit != 1) ::_exit(1);
        ::_exit(0);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
}

TEST(ForEachBlock, RunsInAForkedChild) {
    std::atomic<int> sum{0};
    for_each_block(100, 8, [&](Index, int) { ++sum; });
    for (int repetition = 0; repetition < 20; ++repetition) ASSERT_EQ(loop_in_child(), 0);
    // Also while other threads are in the middle of loops.
    std::atomic<bool> stop{false};
    std::vector<std::thread> hosts;
    for (int host = 0; host < 3; ++host)
        hosts.emplace_back([&] {
            while (!stop) for_each_block(20, 4, [](Index, int) { work_a_little(); });
        });
    int status = 0;
    for (int repetition = 0; repetition < 50 && status == 0; ++repetition) status = loop_in_child();
    EXPECT_EQ(status, 0);
    stop = true;
    for (auto& host : hosts) host.join();
    // The parent's loops keep their threads.
    for_each_block(100, 8, [&](Index, int) { ++sum; });
    EXPECT_EQ(sum, 200);
}

TEST(AvailableThreads, IsFromOneToTheNumberOfProcessors) {
    EXPECT_GE(available_threads(), 1);
    EXPECT_LE(available_threads(), static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
}

TEST(RowBlocks, CoverTheRows) {
    const RowBlocks blocks{10, 4};
    EXPECT_EQ(blocks.count(), 3);
    EXPECT_EQ(blocks.begin(2), 8);
    EXPECT_EQ(blocks.end(2), 10);
    EXPECT_EQ((RowBlocks{0, 4}.count()), 0);
}

TEST(ForEachBlock, StopsOnRequest) {
    for (const int threads : {1, 2, 4}) {
        coterie::Run run(0, threads);
        std::atomic<int> computed{0};
        run.should_stop = [&] { return computed > 3; };
        const auto slow = [&](Index, int) {
            std::this_thread::sleep_for(std::chrono::milliseconds(30));
            ++computed;
        };
        try {
            for_each_block(1000, run, {"testing"}, slow);
            ADD_FAILURE() << "was not stopped";
        } catch (const Cancelled& stopped) {
            EXPECT_STREQ(stopped.message(), "interrupted during testing, before there was a result");
        }
        EXPECT_LT(computed, 100);
        // The loop also asks before it starts, so a series of short loops stops as well.
        computed = 4;
        EXPECT_THROW(for_each_block(1, run, {"testing"}, slow), Cancelled);
        EXPECT_EQ(computed, 4);
    }
}

TEST(ForEachBlock, StopsWithinALongBlock) {
    internal::stop_if_asked();  // outside a loop: does nothing
    for (const int threads : {1, 2}) {
        coterie::Run run(0, threads);
        std::atomic<int> steps{0};
        run.should_stop = [&] { return steps > 3; };
        EXPECT_THROW(for_each_block(2, run, {"testing"},
                                    [&](Index, int) {
                                        for (int step = 0; step < 1000; ++step) {
                                            internal::stop_if_asked();
                                            std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                            ++steps;
                                        }
                                    }),
                     Cancelled);
        EXPECT_LT(steps, 100);
    }
    internal::stop_if_asked();
}

TEST(ForEachBlock, ReportsProgressFromTheCallingThread) {
    coterie::Run run(0, 2);
    std::vector<double> fractions;
    const auto caller = std::this_thread::get_id();
    run.on_progress = [&](const Progress& progress) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(progress.stage, "testing");
        fractions.push_back(progress.fraction);
    };
    for_each_block(20, run, {"testing", 0.5, 0.75},
                   [](Index, int) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    ASSERT_GE(fractions.size(), 1u);
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    for (const double fraction : fractions) EXPECT_TRUE(fraction >= 0.5 && fraction <= 0.75) << fraction;
}

}  // namespace
}  // namespace coterie
