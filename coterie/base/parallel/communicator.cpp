// Default broadcast and highest, built from messages between two processes along a binomial tree. They take
// log2(processes) steps with at most one message per process. A back end may override both with something faster.

#include "coterie/base/parallel/communicator.hpp"

#include <algorithm>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {
template <class T>
std::span<std::byte> bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}
}  // namespace

void Communicator::send(std::span<const std::byte>, int) {
    throw InternalError("a communicator of one process was asked to send");
}

void Communicator::receive(std::span<std::byte>, int) {
    throw InternalError("a communicator of one process was asked to receive");
}

void Communicator::broadcast(std::span<std::byte> bytes, int root) {
    const int processes = size();
    const int own = (rank() - root + processes) % processes;  // counted from the root
    const auto process = [&](int number) { return (number + root) % processes; };
    int step = 1;
    while (step <= own) step *= 2;
    if (own > 0) receive(bytes, process(own - step / 2));
    for (; own + step < processes; step *= 2) send(bytes, process(own + step));
}

int Communicator::highest(int value) {
    const int processes = size();
    const int own = rank();
    for (int step = 1; step < processes; step *= 2) {
        if (own % (2 * step) != 0) {
            send(bytes_of(value), own - step);
            break;
        }
        if (own + step >= processes) continue;
        int other = 0;
        receive(bytes_of(other), own + step);
        value = std::max(value, other);
    }
    broadcast(bytes_of(value), 0);
    return value;
}

}  // namespace coterie
