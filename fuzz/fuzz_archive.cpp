#include "coterie/io/internal/sha256.hpp"
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
    // What was read is written, and that must be read again: no error is accepted here.
    const std::string again = archive.to_bytes();
    Archive::from_bytes(std::as_bytes(std::span(again.data(), again.size())), "fuzz");
}

// The checksum keeps random changes out of what lies behind it: a second try is given a sound one.
void mend(std::string& file) {
    const std::string key = "\"sha256\":\"";
    const std::size_t at = file.find(key);
    if (at == std::string::npos || at + key.size() + 64 > file.size()) return;
    file.replace(at + key.size(), 64, std::string(64, '0'));
    Sha256 hash;
    hash.update(file.data(), file.size());
    file.replace(at + key.size(), 64, hash.hex());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const formats::Bytes bytes = fuzz::bytes_of(data, size);
    fuzz::expect_only_errors([&] { use(Archive::from_bytes(bytes.data, "fuzz")); });
    for (const char* key : {"", "a"})
        fuzz::expect_only_errors([&] { fuzz::use(formats::parse_safetensors(bytes, key, formats::Purpose::points, "fuzz")); });
    std::string mended(reinterpret_cast<const char*>(data), size);
    mend(mended);
    fuzz::expect_only_errors(
        [&] { use(Archive::from_bytes(std::as_bytes(std::span(mended.data(), mended.size())), "fuzz")); });
    return 0;
}
