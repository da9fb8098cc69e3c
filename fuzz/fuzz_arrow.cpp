#include "fuzz.hpp"

using namespace coterie;

// The reader requests memory for sizes from a damaged file before it checks them, so malloc may return null.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

// The sum of the bytes chooses the options. So the seeds can be ordinary files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    unsigned choice = 0;
    for (std::size_t i = 0; i < size; ++i) choice += data[i];
    const formats::TableSource source{"fuzz", fuzz::bytes_of(data, size), false, true};
    ReadOptions options;
    options.precision = static_cast<Precision>((choice & 3) % 3);
    if (choice & 4) options.label_column = "1";
    options.missing = choice & 8;
    options.words = static_cast<WordColumns>((choice >> 4) % 3);
    options.dates = choice & 64;
    options.keep_rows = choice & 128;
    fuzz::expect_only_errors([&] {
        const PointsFile file = formats::parse_table(source, options, 1);
        if (!file.rows) return;
        const auto rows = file.rows->from_start();
        std::vector<std::string> fields;
        while (rows->next(fields)) {
        }
    });
    fuzz::expect_only_errors([&] { formats::parse_table_labels(source, "1", choice & 1, 1); });
    fuzz::expect_only_errors([&] { formats::parse_table_numbers(source, "-1", 1); });
    return 0;
}
