#include <filesystem>

#include <unistd.h>

#include "constraints.hpp"
#include "coterie/io/internal/output_file.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Lines: sizes, shares, clusters per label; then the file of labels, a zero byte and the file of pairs.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string folder =
        (std::filesystem::temp_directory_path() / ("coterie-fuzz-" + std::to_string(::getpid()))).string();
    static const bool made = std::filesystem::create_directories(folder);
    if (!made) return 0;
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    const auto until = [&](char mark) {
        const std::size_t end = std::min(rest.find(mark), rest.size());
        const std::string out(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return out;
    };
    cli::ConstraintRequest request;
    request.sizes = until('\n');
    if (const std::string shares = until('\n'); !shares.empty()) request.group_shares.push_back(shares);
    if (const std::string clusters = until('\n'); !clusters.empty()) request.clusters_per_label.push_back(clusters);
    request.partial_labels = folder + "/labels.csv";
    write_file(request.partial_labels, until('\0'));
    if (!rest.empty()) {
        request.pairs = folder + "/pairs.csv";
        write_file(request.pairs, rest);
    }
    Problem problem;
    problem.points = Points(Matrix<double>(Matrix<double>::Zero(12, 2)));
    fuzz::expect_only_errors([&] { cli::read_constraints(request, {}, problem); });
    return 0;
}
