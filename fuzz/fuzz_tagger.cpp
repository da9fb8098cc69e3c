#include "coterie/ner/tagger.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Reads a tagger, writes it, reads it again, and uses its transitions.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string file(reinterpret_cast<const char*>(data), size);
    fuzz::mend_checksum(file);
    fuzz::expect_only_errors([&] {
        const auto tagger =
            ner::Tagger::from(Archive::from_bytes(std::as_bytes(std::span(file.data(), file.size())), "fuzz"), "fuzz");
        const std::string again = tagger.archive().to_bytes();
        ner::Tagger::from(Archive::from_bytes(std::as_bytes(std::span(again.data(), again.size())), "fuzz"), "fuzz");
        tagger.transitions.logarithms(tagger.tags());
    });
    return 0;
}
