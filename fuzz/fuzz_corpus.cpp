#include "coterie/ner/corpus.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Parses a corpus in each format from memory, and computes its tags.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const auto format : {ner::CorpusFormat::automatic, ner::CorpusFormat::conll, ner::CorpusFormat::json_lines,
                              ner::CorpusFormat::text})
        for (const auto tags : {ner::TagReading::checked, ner::TagReading::lenient})
            fuzz::expect_only_errors(
                [&] { ner::parse_corpus(bytes, "fuzz", {.format = format, .tags = tags}).tags(); });
    return 0;
}
