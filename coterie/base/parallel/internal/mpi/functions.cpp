// The functions of process_abi.h on MPI-3, in a separate library, so that coterie itself does not need MPI. MPI counts
// are ints, so long messages are sent in pieces. Errors are fatal (MPI's default): if a process dies, all end, and
// mpirun reports it.

#include "coterie/base/parallel/internal/mpi/process_abi.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>

namespace {

constexpr std::uint64_t piece = std::uint64_t{1} << 30;
MPI_Comm communicator = MPI_COMM_NULL;
int here = 1;
bool started_here = false;

template <class Bytes, class Act>
void in_pieces(Bytes* bytes, std::uint64_t count, const Act& act) {
    for (std::uint64_t done = 0; done < count; done += piece)
        act(bytes + done, static_cast<int>(std::min(piece, count - done)));
}

void start() {
    int running = 0;
    MPI_Initialized(&running);
    if (running == 0) {
        int given = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
        started_here = true;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Comm_split_type(communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &here);
    MPI_Comm_free(&machine);
}

void finish() {
    MPI_Comm_free(&communicator);
    if (started_here) MPI_Finalize();
}

void end_all(std::int32_t status) { MPI_Abort(communicator, status); }

std::int32_t rank() {
    int out = 0;
    MPI_Comm_rank(communicator, &out);
    return out;
}
std::int32_t size() {
    int out = 1;
    MPI_Comm_size(communicator, &out);
    return out;
}
std::int32_t processes_here() { return here; }

void send(const void* bytes, std::uint64_t count, std::int32_t to) {
    in_pieces(static_cast<const char*>(bytes), count,
              [&](const char* from, int some) { MPI_Send(from, some, MPI_BYTE, to, 0, communicator); });
}
void receive(void* bytes, std::uint64_t count, std::int32_t from) {
    in_pieces(static_cast<char*>(bytes), count,
              [&](char* to, int some) { MPI_Recv(to, some, MPI_BYTE, from, 0, communicator, MPI_STATUS_IGNORE); });
}
void broadcast(void* bytes, std::uint64_t count, std::int32_t root) {
    in_pieces(static_cast<char*>(bytes), count,
              [&](char* some, int length) { MPI_Bcast(some, length, MPI_BYTE, root, communicator); });
}
std::int32_t highest(std::int32_t value) {
    std::int32_t out = value;
    MPI_Allreduce(&value, &out, 1, MPI_INT32_T, MPI_MAX, communicator);
    return out;
}

}  // namespace

const coterie_process_api* coterie_process_functions(std::int32_t abi) {
    static const coterie_process_api api = {COTERIE_PROCESS_ABI, start, finish,  end_all,   rank,   size,
                                            processes_here,      send,  receive, broadcast, highest};
    return abi == COTERIE_PROCESS_ABI ? &api : nullptr;
}
