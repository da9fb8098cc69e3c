#pragma once
// A communicator implemented in Python: an object with `rank`, `size`, `send(bytes, to)` and `receive(buffer, source)`.
// python/coterie/_processes.py makes it from one of mpi4py, torch.distributed or the caller.

#include <memory>

#include "core.hpp"

#include "coterie/base/parallel/communicator.hpp"

namespace coterie::python {

/// The caller holds the interpreter's lock. The fit throws Python's exceptions as they are.
std::shared_ptr<Communicator> communicator_of(const nb::object& given);

}  // namespace coterie::python
