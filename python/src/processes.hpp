#pragma once
// A communicator that is Python's: an object with `rank`, `size`, `send(bytes, to)` and `receive(buffer, from)`, which
// python/coterie/_processes.py makes of mpi4py's, torch.distributed's or the caller's own.

#include <memory>

#include "core.hpp"

#include "coterie/base/parallel/communicator.hpp"

namespace coterie::python {

/// Made with the interpreter's lock. What Python raises comes out of the fit as it is.
std::shared_ptr<Communicator> communicator_of(const nb::object& given);

}  // namespace coterie::python
