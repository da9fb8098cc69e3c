#include "coterie/io/graph_reader.hpp"
#include "fuzz.hpp"

using namespace coterie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const formats::Bytes bytes = fuzz::bytes_of(data, size);
    fuzz::expect_only_errors([&] { formats::parse_matrix_market(bytes, "fuzz"); });
    fuzz::expect_only_errors([&] { formats::parse_sparse_matrix_market(bytes, Precision::automatic, -1, "fuzz"); });
    fuzz::expect_only_errors([&] { formats::parse_sparse_npz(bytes, "fuzz"); });
    fuzz::expect_only_errors([&] { formats::parse_sparse_points(bytes, Precision::automatic, -1, "fuzz", 1); });
    fuzz::expect_only_errors([&] {
        formats::graph_of_edges(formats::parse_table({"fuzz", bytes}, {}, 1).points, "fuzz");
    });
    return 0;
}
