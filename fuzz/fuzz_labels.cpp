#include <array>

#include "coterie/io/reader.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Input: a byte that chooses format and column, then the file. Reads labels and weights as the commands do, by file
// name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static constexpr std::array endings = {"txt", "csv", "tsv",         "npy",   "npz",
                                           "idx", "svm", "safetensors", "arrow", "gz"};
    const unsigned choice = data[0];
    const std::string path = fuzz::write_input(std::string("labels.") + endings[choice % endings.size()],
                                               {reinterpret_cast<const char*>(data) + 1, size - 1});
    const std::string column = choice / endings.size() % 2 == 1 ? "1" : "";
    for (const bool blank : {false, true}) fuzz::expect_only_errors([&] { read_labels_file(path, column, blank); });
    fuzz::expect_only_errors([&] { read_numbers(path, column); });
    return 0;
}
