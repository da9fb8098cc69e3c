// The caller waits for work that cannot be interrupted, unless it asks to stop.

#include "coterie/base/parallel/work_apart.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include "tests/support/test_support.hpp"

namespace coterie::internal {
namespace {

TEST(WorkApart, WaitsAndThrowsErrors) {
    coterie::Run run(0, 1);
    for (const bool may_stop : {false, true}) {
        if (may_stop) run.should_stop = [] { return false; };
        const auto asker = std::this_thread::get_id();
        std::thread::id worker;
        work_apart([&] { worker = std::this_thread::get_id(); }, run, "waiting");
        EXPECT_EQ(worker != asker, may_stop);
        EXPECT_EQ(test::message_of([&] { work_apart([] { throw BadData({.problem = "oops"}); }, run, "waiting"); }),
                  "oops");
    }
}

TEST(WorkApart, ReturnsOnStopRequest) {
    const auto begun = std::make_shared<std::atomic<bool>>(false);
    const auto go_on = std::make_shared<std::promise<void>>();
    const auto ended = std::make_shared<std::promise<void>>();
    coterie::Run run(0, 1);
    run.should_stop = [begun] { return begun->load(); };
    const auto work = [=] {
        *begun = true;
        go_on->get_future().wait();
        ended->set_value();
    };
    EXPECT_EQ(test::message_of([&] { work_apart(work, run, "waiting"); }),
              "interrupted during waiting, before there was a result");
    EXPECT_TRUE(work_was_left());
    go_on->set_value();  // only now can the work end; no thread waited for it
    ended->get_future().wait();
}

}  // namespace
}  // namespace coterie::internal
