#include "fuzz.hpp"

using namespace coterie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // A large index is a valid request for a wide matrix, so such inputs are skipped.
    int digits = 0;
    for (std::size_t i = 0; i < size; ++i) {
        digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
        if (digits > 4 && digits < 11) {
            std::size_t end = i;
            while (end < size && data[end] >= '0' && data[end] <= '9') ++end;
            if (end < size && data[end] == ':') return 0;
        }
    }
    const formats::Bytes bytes = fuzz::bytes_of(data, size);
    for (const Precision precision : {Precision::float32, Precision::float64})
        for (const Index rows : {-1, 0, 2})
            fuzz::expect_only_errors([&] { formats::parse_libsvm(bytes, "fuzz", precision, rows, 1); });
    return 0;
}
