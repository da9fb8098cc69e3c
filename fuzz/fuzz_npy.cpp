#include "fuzz.hpp"

using namespace coterie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const formats::Bytes bytes = fuzz::bytes_of(data, size);
    fuzz::expect_only_errors([&] { fuzz::use(formats::parse_npy(bytes, "fuzz")); });
    return 0;
}
