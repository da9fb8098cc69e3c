// A process can hold only one LibTorch. If the process, for example a Python interpreter, has already loaded a
// LibTorch, coterie's library works only if it was built with the same LibTorch.

#include "coterie/deep/internal/torch_library.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "coterie/base/shared_library.hpp"

namespace coterie::deep::internal {

using namespace coterie::internal;

namespace {

// The file name of the LibTorch to which the library at `place` is linked; empty if there is none. In the file, this
// name is between zero bytes, among the names of linked libraries.
std::string torch_of(const std::string& place) {
    std::ifstream file(place, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    constexpr std::string_view name("\0libtorch_cpu.so", 16);
    const std::size_t found = bytes.find(name);
    return found == std::string::npos ? "" : bytes.c_str() + found + 1;
}

}  // namespace

Message TorchLibrary::message(const std::string& who) const {
    return {.code = Code::missing_library,
            .problem = who + " LibTorch and coterie's library for it, which could not be loaded (" + trouble + ")",
            .remedy = remedy + ", or set COTERIE_DEEP_LIBRARY to the path of coterie's library"};
}

TorchLibrary open_torch_library(const char* function, FunctionRef<bool(void* function)> take) {
    TorchLibrary out;
    out.remedy = "Install libtorch-dev and build coterie again";
    const std::filesystem::path of_the_host = loaded_library("libtorch_cpu.so");
    // A second LibTorch would share some variables with the first one, and loading it would crash the process.
    const auto objection = [&](const std::string& place) -> std::string {
        const std::string torch = of_the_host.empty() ? "" : torch_of(place);
        if (torch.empty() || of_the_host.filename() == torch) return {};
        out.remedy =
            "Build coterie with that LibTorch, COTERIE_TORCH=" + of_the_host.parent_path().parent_path().string();
        return place + " is built with " + torch + ", and this process has loaded another LibTorch, " +
               of_the_host.string();
    };
    out.trouble = load_plugin({"libcoterie-deep.so", "COTERIE_DEEP_LIBRARY", function}, take, objection);
    out.alone = of_the_host.empty();
    return out;
}

}  // namespace coterie::deep::internal
