#pragma once
// For tests: the processes of a fit as threads of one process.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/communicator.hpp"

namespace coterie::test {

/// Messages between threads. Receiving from a process that has ended throws PeerFailed.
class Exchange {
public:
    explicit Exchange(int size) : ended_(static_cast<std::size_t>(size), false) {}

    int size() const { return static_cast<int>(ended_.size()); }
    void send(std::span<const std::byte> bytes, int from, int to) {
        const std::lock_guard lock(mutex_);
        messages_[{from, to}].emplace_back(bytes.begin(), bytes.end());
        arrived_.notify_all();
    }
    void receive(std::span<std::byte> bytes, int from, int to) {
        std::unique_lock lock(mutex_);
        auto& queue = messages_[{from, to}];
        arrived_.wait(lock, [&] { return !queue.empty() || ended_[static_cast<std::size_t>(from)]; });
        if (queue.empty())
            throw PeerFailed({.code = Code::cancelled, .problem = "process " + std::to_string(from) + " has ended"});
        if (queue.front().size() != bytes.size())
            throw InternalError("process " + std::to_string(to) + " expects " + std::to_string(bytes.size()) +
                                " bytes of process " + std::to_string(from) + " and gets " +
                                std::to_string(queue.front().size()));
        std::copy(queue.front().begin(), queue.front().end(), bytes.begin());
        queue.pop_front();
    }
    void end(int process) {
        const std::lock_guard lock(mutex_);
        ended_[static_cast<std::size_t>(process)] = true;
        arrived_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages_;
    std::vector<bool> ended_;
};

class ThreadAsProcess : public Communicator {
public:
    ThreadAsProcess(Exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return exchange_.size(); }
    void send(std::span<const std::byte> bytes, int to) override { exchange_.send(bytes, rank_, to); }
    void receive(std::span<std::byte> bytes, int from) override { exchange_.receive(bytes, from, rank_); }

private:
    Exchange& exchange_;
    int rank_;
};

/// Calls body(communicator) on `size` threads, one per process. Returns the exceptions; nullptr for a thread that threw
/// none.
inline std::vector<std::exception_ptr> run_processes(int size,
                                                     const std::function<void(std::shared_ptr<Communicator>)>& body) {
    Exchange exchange(size);
    std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
        threads.emplace_back([&, rank] {
            try {
                body(std::make_shared<ThreadAsProcess>(exchange, rank));
            } catch (...) {
                errors[static_cast<std::size_t>(rank)] = std::current_exception();
            }
            exchange.end(rank);
        });
    for (auto& thread : threads) thread.join();
    return errors;
}

/// The same for bodies that must not throw. Rethrows the first exception.
inline void on_processes(int size, const std::function<void(std::shared_ptr<Communicator>)>& body) {
    for (const auto& error : run_processes(size, body))
        if (error) std::rethrow_exception(error);
}

}  // namespace coterie::test
