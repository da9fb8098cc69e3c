#include "coterie/model/archive.hpp"
#include "fuzz.hpp"

using namespace coterie;

namespace {

void use(const Archive& archive) {
    for (const auto& item : archive.tensors()) {
        const std::string& name = item.first;
        fuzz::expect_only_errors([&] { archive.points(name); });
        fuzz::expect_only_errors([&] { archive.vector(name); });
        fuzz::expect_only_errors([&] { archive.labels(name); });
    }
    // Writes the archive and reads it again. Here any error is a bug.
    const std::string again = archive.to_bytes();
    Archive::from_bytes(std::as_bytes(std::span(again.data(), again.size())), "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const formats::Bytes bytes = fuzz::bytes_of(data, size);
    fuzz::expect_only_errors([&] { use(Archive::from_bytes(bytes.data, "fuzz")); });
    for (const char* key : {"", "a"})
        fuzz::expect_only_errors(
            [&] { fuzz::use(formats::parse_safetensors(bytes, key, formats::Purpose::points, "fuzz")); });
    std::string mended(reinterpret_cast<const char*>(data), size);
    fuzz::mend_checksum(mended);
    fuzz::expect_only_errors(
        [&] { use(Archive::from_bytes(std::as_bytes(std::span(mended.data(), mended.size())), "fuzz")); });
    return 0;
}
