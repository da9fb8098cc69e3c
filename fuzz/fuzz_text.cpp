#include "fuzz.hpp"

using namespace coterie;

// Input: two bytes that choose the options, then the file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const unsigned choice = size > 0 ? data[0] : 0, more = size > 1 ? data[1] : 0;
    const std::size_t begin = size < 2 ? size : 2;
    const formats::Bytes bytes = fuzz::bytes_of(data + begin, size - begin);
    ReadOptions options;
    options.precision = choice & 1 ? Precision::float32 : Precision::float64;
    options.header = static_cast<Header>((choice >> 1) % 3);
    if (choice & 8) options.label_column = "-1";
    if (choice & 16) options.columns = {"1"};
    if (choice & 32) options.max_rows = 3;
    options.separator = "\0,; "[choice >> 6];
    options.missing = more & 1;
    options.words = static_cast<WordColumns>((more >> 1) % 3);
    options.dates = more & 8;
    options.decimal = static_cast<Decimal>((more >> 4) % 3);
    if (more & 64) options.exclude = {"2"};
    if (more & 128) options.id_column = "1";
    options.keep_rows = more & 128;
    fuzz::expect_only_errors([&] {
        const PointsFile file = formats::parse_table({"fuzz", bytes, (choice & 1) != 0}, options, 1);
        if (!file.rows) return;
        const auto rows = file.rows->from_start();
        std::vector<std::string> fields;
        while (rows->next(fields)) {
        }
    });
    fuzz::expect_only_errors([&] { formats::parse_table_labels({"fuzz", bytes}, {}, choice & 1, 1); });
    fuzz::expect_only_errors([&] { formats::parse_table_labels({"fuzz", bytes}, "1", choice & 2, 1); });
    fuzz::expect_only_errors([&] { formats::parse_table_numbers({"fuzz", bytes}, {}, 1); });
    fuzz::expect_only_errors([&] { formats::parse_table_numbers({"fuzz", bytes}, "-1", 1); });
    return 0;
}
