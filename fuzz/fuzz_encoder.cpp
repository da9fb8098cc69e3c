#include "coterie/ner/encoder_folder.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Input: the files of an encoder folder, separated by zero bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Parts parts{{reinterpret_cast<const char*>(data), size}};
    for (const char* name : {"config.json", "tokenizer_config.json", "vocab.txt"})
        fuzz::write_input(name, parts.until('\0'));
    const std::string weights = fuzz::write_input("model.safetensors", parts.rest);
    fuzz::expect_only_errors([&] {
        const ner::internal::EncoderFolder encoder(std::filesystem::path(weights).parent_path().string());
        for (std::size_t p = 0; p < encoder.parameters().size(); ++p) encoder.matrix(p);
        encoder.vocabulary.pieces_of("The cat sat, \xc3\xa9t\xc3\xa9.");
    });
    return 0;
}
