// MPI is loaded only if several processes were started, so coterie runs without MPI installed. The number of processes
// comes from environment variables that mpirun and srun set in each process.

#include "coterie/base/parallel/processes.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "coterie/base/error.hpp"
#include "coterie/base/parallel/internal/mpi/process_abi.h"
#include "coterie/base/shared_library.hpp"

namespace coterie {
namespace {

const coterie_process_api& loaded() {
    const coterie_process_api* api = nullptr;
    const std::string trouble = internal::load_plugin(
        {"libcoterie-mpi.so", "COTERIE_MPI_LIBRARY", "coterie_process_functions"}, [&](void* function) {
            api = reinterpret_cast<decltype(&coterie_process_functions)>(function)(COTERIE_PROCESS_ABI);
            return api != nullptr;
        });
    if (api == nullptr)
        throw ResourceError(
            Code::missing_library,
            "several processes need coterie's MPI library, which could not be loaded (" + trouble + ")",
            "Install libopenmpi-dev and build coterie again, or set COTERIE_MPI_LIBRARY to the library");
    return *api;
}

// The value of the first environment variable that exists.
int told(std::initializer_list<const char*> names, int otherwise) {
    for (const char* name : names)
        if (const char* value = std::getenv(name)) return std::atoi(value);
    return otherwise;
}

class MpiProcesses : public Processes {
public:
    MpiProcesses() : api_(loaded()) {
        api_.start();
        rank_ = api_.rank();
        size_ = api_.size();
    }
    ~MpiProcesses() override { api_.finish(); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int processes_here() const override { return api_.processes_here(); }
    void send(std::span<const std::byte> bytes, int to) override { api_.send(bytes.data(), bytes.size(), to); }
    void receive(std::span<std::byte> bytes, int from) override { api_.receive(bytes.data(), bytes.size(), from); }
    void broadcast(std::span<std::byte> bytes, int root) override { api_.broadcast(bytes.data(), bytes.size(), root); }
    int highest(int value) override { return api_.highest(value); }
    void end_all(int status) override { api_.end_all(status); }

private:
    const coterie_process_api& api_;
    int rank_ = 0;
    int size_ = 1;
};

}  // namespace

int started_processes() { return std::max(1, told({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE"}, 1)); }

int started_rank() { return told({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }

std::shared_ptr<Processes> join_processes() { return std::make_shared<MpiProcesses>(); }

}  // namespace coterie
