#include "constraints.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Input: three lines (sizes, shares, clusters per label), then the labels file, a zero byte and the pairs file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Parts parts{{reinterpret_cast<const char*>(data), size}};
    cli::ConstraintRequest request;
    request.sizes = parts.until('\n');
    if (const std::string shares = parts.until('\n'); !shares.empty()) request.label_shares.push_back(shares);
    if (const std::string clusters = parts.until('\n'); !clusters.empty())
        request.clusters_per_label.push_back(clusters);
    request.partial_labels = fuzz::write_input("labels.csv", parts.until('\0'));
    if (!parts.rest.empty()) request.pairs = fuzz::write_input("pairs.csv", parts.rest);
    Problem problem;
    problem.points = Points(Matrix<double>(Matrix<double>::Zero(12, 2)));
    fuzz::expect_only_errors([&] { cli::read_constraints(request, {}, problem, Run()); });
    return 0;
}
