#pragma once
// The processes that mpirun, or a scheduler that speaks its language, has started together.

#include <memory>

#include "coterie/base/export.hpp"
#include "coterie/base/parallel/communicator.hpp"

namespace coterie {

/// How many processes mpirun (Open MPI's, MPICH's, srun's PMI) has started, by what it tells each; 1: nobody did.
COTERIE_API int started_processes();
/// The number of this one among them, from 0.
COTERIE_API int started_rank();

/// Joins them through MPI: every process calls it, once. Loads libcoterie-mpi.so, which is looked for beside this
/// library (or named in COTERIE_MPI_LIBRARY): ResourceError where it, or MPI, is missing. When the last copy goes the
/// process waits for the others and leaves; who cannot wait ends them all by end_all().
class COTERIE_API Processes : public Communicator {
public:
    virtual void end_all(int status) = 0;
};
COTERIE_API std::shared_ptr<Processes> join_processes();

}  // namespace coterie
