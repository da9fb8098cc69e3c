#pragma once
// The processes that mpirun, or a compatible scheduler, started for one job.

#include <memory>

#include "coterie/base/export.hpp"
#include "coterie/base/parallel/communicator.hpp"

namespace coterie {

/// How many processes mpirun (Open MPI, MPICH) or srun (PMI) started, by their environment variables; otherwise 1.
COTERIE_API int started_processes();
/// The number of this process among the started processes, from 0.
COTERIE_API int started_rank();

/// Joins the processes through MPI; every process calls it once. Loads libcoterie-mpi.so from the folder of this
/// library, or the file that COTERIE_MPI_LIBRARY names. Throws ResourceError if the library or MPI is missing. When the
/// last copy is destroyed, the process waits for the others and leaves. A process that cannot wait ends all processes
/// with end_all().
class COTERIE_API Processes : public Communicator {
public:
    virtual void end_all(int status) = 0;
};
COTERIE_API std::shared_ptr<Processes> join_processes();

}  // namespace coterie
