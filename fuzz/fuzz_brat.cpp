#include "coterie/ner/internal/readers.hpp"
#include "coterie/ner/internal/unicode.hpp"
#include "fuzz.hpp"

using namespace coterie;

// The text, a zero byte, its marks. What is no UTF-8 never reaches the parser.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const std::size_t border = std::min(bytes.find('\0'), size);
    const std::string text(bytes.substr(0, border)), marks(bytes.substr(std::min(border + 1, size)));
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
