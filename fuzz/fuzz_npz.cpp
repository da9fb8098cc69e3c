#include "fuzz.hpp"

using namespace coterie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const formats::Bytes bytes = fuzz::bytes_of(data, size);
    for (const char* key : {"", "x"})
        for (const formats::Purpose purpose : {formats::Purpose::points, formats::Purpose::labels})
            fuzz::expect_only_errors([&] { fuzz::use(formats::parse_npz(bytes, key, purpose, "fuzz")); });
    fuzz::expect_only_errors([&] { formats::inflate_gzip(bytes, "fuzz"); });
    return 0;
}
