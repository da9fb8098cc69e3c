// If a process fails, the others must not wait for its messages forever. So before any exchange, all processes agree on
// whether the work succeeded everywhere. This costs one number per exchange.

#include "coterie/base/parallel/collective.hpp"

#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {
enum Outcome { well, cancelled, failed };
}  // namespace

std::string text_from(Communicator& communicator, int root, std::string text) {
    const auto length = from_process(communicator, root, text.size());
    text.resize(length);
    communicator.broadcast(std::as_writable_bytes(std::span(text)), root);
    return text;
}

void together(Communicator& communicator, FunctionRef<void()> work) {
    if (communicator.size() == 1) return work();
    std::exception_ptr error;
    try {
        work();
    } catch (const std::exception&) {
        error = std::current_exception();
    }
    agree(communicator, error);
}

void agree(Communicator& communicator, std::exception_ptr error) {
    Outcome own = well;
    Message message{.code = Code::internal};
    ErrorKind kind = ErrorKind::internal;
    try {
        if (error) std::rethrow_exception(error);
    } catch (const Cancelled& stop) {
        own = cancelled;
        message = stop.fields();
    } catch (const Error& problem) {
        own = failed;
        message = problem.fields();
        kind = problem.kind();
    } catch (const std::exception& problem) {
        own = failed;
        message.problem = problem.what();
    }
    const int worst = communicator.highest(own);
    if (worst == well) return;
    // Among the processes with the worst outcome, the one with the lowest number sends the message.
    const int speaker = -communicator.highest(own == worst ? -communicator.rank() : -communicator.size());
    message = Message::unpacked(text_from(communicator, speaker, message.packed())).value();
    kind = from_process(communicator, speaker, kind);
    if (own == worst) std::rethrow_exception(error);
    if (worst == cancelled) throw Cancelled(message);
    message.context = filled("process {} failed{}", speaker, message.context.empty() ? "" : ": " + message.context);
    throw PeerFailed(std::move(message), kind);
}

void add_up_exact(Communicator& communicator, std::span<double> numbers) {
    if (communicator.size() == 1) return;
    std::vector<double> other;
    for (int step = 1; step < communicator.size(); step *= 2) {
        if (communicator.rank() % (2 * step) != 0) {
            communicator.send(std::as_bytes(numbers), communicator.rank() - step);
            break;
        }
        if (communicator.rank() + step >= communicator.size()) continue;
        other.resize(numbers.size());
        communicator.receive(std::as_writable_bytes(std::span(other)), communicator.rank() + step);
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += other[i];
    }
    communicator.broadcast(std::as_writable_bytes(numbers), 0);
}

}  // namespace coterie::internal
