#pragma once
// Internal: what the processes of a fit do collectively, except sums (blocks.hpp).

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/points.hpp"

namespace coterie::internal {

/// Calls `work` on every process. If `work` throws on one process, all processes throw: this process its own error, the
/// others PeerFailed with the number of the process and the text, or Cancelled if its caller asked to stop.
COTERIE_API void together(Communicator& communicator, FunctionRef<void()> work);
/// Ends work that each process did alone. `own`: its error, or null. If some process has an error, all throw as above.
COTERIE_API void agree(Communicator& communicator, std::exception_ptr own);

/// The value of process `root`, on every process.
template <class T>
T from_process(Communicator& communicator, int root, T value) {
    static_assert(std::is_trivially_copyable_v<T>);
    communicator.broadcast(std::as_writable_bytes(std::span(&value, 1)), root);
    return value;
}

/// The same for a text.
COTERIE_API std::string text_from(Communicator& communicator, int root, std::string text);

/// The values of all processes, in the order of the processes, on every process.
template <class T>
std::vector<T> gather(Communicator& communicator, const std::vector<T>& own) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (communicator.size() == 1) return own;
    std::vector<T> all;
    for (int process = 0; process < communicator.size(); ++process) {
        const auto count = from_process(communicator, process, own.size());
        const auto before = static_cast<std::ptrdiff_t>(all.size());
        if (process == communicator.rank())
            all.insert(all.end(), own.begin(), own.end());
        else
            all.resize(all.size() + count);
        communicator.broadcast(std::as_writable_bytes(std::span(all.begin() + before, all.end())), process);
    }
    return all;
}

/// Sends a value to another process, and receives one.
template <class T>
void send_value(Communicator& communicator, const T& value, int to) {
    static_assert(std::is_trivially_copyable_v<T>);
    communicator.send(std::as_bytes(std::span(&value, 1)), to);
}
template <class T>
T receive_value(Communicator& communicator, int from) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    communicator.receive(std::as_writable_bytes(std::span(&value, 1)), from);
    return value;
}
/// Sends values if the receiver does not know how many. receive_all appends them to `values`.
template <class T>
void send_all(Communicator& communicator, const std::vector<T>& values, int to) {
    static_assert(std::is_trivially_copyable_v<T>);
    send_value(communicator, values.size(), to);
    if (!values.empty()) communicator.send(std::as_bytes(std::span(values)), to);
}
template <class T>
void receive_all(Communicator& communicator, std::vector<T>& values, int from) {
    const auto count = receive_value<std::size_t>(communicator, from);
    const auto before = values.size();
    values.resize(before + count);
    if (count > 0) communicator.receive(std::as_writable_bytes(std::span(values).subspan(before)), from);
}

/// The values of all processes, in the order of the processes, on rank 0; empty on the others.
template <class T>
std::vector<T> gather_at_first(Communicator& communicator, std::vector<T> own) {
    if (communicator.rank() > 0) {
        send_all(communicator, own, 0);
        return {};
    }
    for (int process = 1; process < communicator.size(); ++process) receive_all(communicator, own, process);
    return own;
}

/// The inverse: rank 0 sends each process its next `own` values of `all`, in the order of the processes.
template <class T>
std::vector<T> scatter_from_first(Communicator& communicator, const std::vector<T>& all, std::size_t own) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> out(own);
    const std::vector<std::size_t> counts = gather_at_first(communicator, std::vector<std::size_t>{own});
    if (communicator.rank() > 0) {
        communicator.receive(std::as_writable_bytes(std::span(out)), 0);
        return out;
    }
    std::copy_n(all.begin(), own, out.begin());
    for (int process = 1; process < communicator.size(); ++process) {
        const std::size_t count = counts[at(process)];
        communicator.send(std::as_bytes(std::span(all).subspan(own, count)), process);
        own += count;
    }
    return out;
}

/// Adds numbers over the processes; every process gets the sums. The sums must be exact, so that their order does not
/// matter.
COTERIE_API void add_up_exact(Communicator& communicator, std::span<double> numbers);

/// Sums of counts over the processes, on every process.
inline std::vector<Index> add_up(Communicator& communicator, std::vector<Index> counts) {
    const std::vector<Index> all = gather(communicator, counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] = 0;
        for (std::size_t j = i; j < all.size(); j += counts.size()) counts[i] += all[j];
    }
    return counts;
}

}  // namespace coterie::internal
