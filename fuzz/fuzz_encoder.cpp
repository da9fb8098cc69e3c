#include <array>
#include <filesystem>

#include <unistd.h>

#include "coterie/io/internal/output_file.hpp"
#include "coterie/ner/internal/encoder_folder.hpp"
#include "fuzz.hpp"

using namespace coterie;

// The files of a folder one after the other, each but the last ended by a zero byte.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::string folder =
        (std::filesystem::temp_directory_path() / ("coterie-fuzz-" + std::to_string(::getpid()))).string();
    static const bool made = std::filesystem::create_directories(folder);
    if (!made) return 0;
    static constexpr std::array names = {"config.json", "tokenizer_config.json", "vocab.txt", "model.safetensors"};
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    for (std::size_t f = 0; f < names.size(); ++f) {
        const std::size_t end = f + 1 < names.size() ? std::min(rest.find('\0'), rest.size()) : rest.size();
        write_file(folder + "/" + names[f], rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    fuzz::expect_only_errors([&] {
        const ner::internal::EncoderFolder encoder(folder);
        for (std::size_t p = 0; p < encoder.parameters().size(); ++p) encoder.matrix(p);
        encoder.vocabulary.pieces_of("The cat sat, \xc3\xa9t\xc3\xa9.");
    });
    return 0;
}
