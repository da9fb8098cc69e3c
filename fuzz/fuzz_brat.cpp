#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"
#include "fuzz.hpp"

using namespace coterie;

// Input: the text, a zero byte, its annotations. The parser only gets valid UTF-8.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Parts parts{{reinterpret_cast<const char*>(data), size}};
    const std::string text = parts.until('\0'), marks(parts.rest);
    if (ner::internal::broken_utf8(text) != std::string::npos || ner::internal::broken_utf8(marks) != std::string::npos)
        return 0;
    fuzz::expect_only_errors([&] {
        ner::Corpus corpus;
        corpus.source = "fuzz";
        ner::internal::parse_brat(text, marks, "fuzz.ann", corpus);
        corpus.tags();
        corpus.text_spans();
    });
    return 0;
}
