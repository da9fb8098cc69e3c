#include "fuzz.hpp"

using namespace coterie;

// The first byte chooses options, the rest is the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const unsigned choice = size > 0 ? data[0] : 0;
    const formats::Bytes bytes = fuzz::bytes_of(data + (size > 0), size > 0 ? size - 1 : 0);
    ReadOptions options;
    options.precision = choice & 1 ? Precision::float32 : Precision::float64;
    options.header = static_cast<Header>((choice >> 1) % 3);
    if (choice & 8) options.label_column = "-1";
    if (choice & 16) options.columns = {"1"};
    if (choice & 32) options.max_rows = 3;
    options.separator = "\0,; "[choice >> 6];
    fuzz::expect_only_errors([&] { formats::parse_text(bytes, "fuzz", choice & 1, options, 1); });
    fuzz::expect_only_errors([&] { formats::parse_text_labels(bytes, "fuzz", false, {}, choice & 1, 1); });
    fuzz::expect_only_errors([&] { formats::parse_text_labels(bytes, "fuzz", false, "1", choice & 2, 1); });
    fuzz::expect_only_errors([&] { formats::parse_text_numbers(bytes, "fuzz", false, 1); });
    return 0;
}
