#pragma once
// Internal: one function per format. Each takes valid UTF-8 without a byte order mark, and fills a corpus whose source
// is set. Also reports errors in a corpus and in the vectors of its words.

#include "coterie/ner/corpus.hpp"

namespace coterie::ner::internal {

void parse_conll(std::string_view text, TagReading reading, Corpus& corpus);
void parse_json_lines(std::string_view text, Corpus& corpus);
void parse_plain(std::string_view text, Corpus& corpus);
/// `marks` is the text of the .ann file, `marks_source` its name.
void parse_brat(std::string_view text, std::string_view marks, const std::string& marks_source, Corpus& corpus);

/// The number of a type. Adds the type if it is new.
std::int32_t type_number(Corpus& corpus, std::string_view type);

/// Throws BadData with a line of the file `source` as its place.
[[noreturn]] void refuse_line(const std::string& source, Index line, Code code, const std::string& problem,
                              const std::string& remedy = {}, Message fields = {});
/// The same for a sentence. The message has its line, or its number if the corpus is not from a file.
[[noreturn]] void refuse_sentence(const Corpus& corpus, std::size_t sentence, Code code, const std::string& problem,
                                  const std::string& remedy);
/// Throws BadData with the first sentence that is not annotated.
void require_annotated(const Corpus& corpus, const std::string& problem, const std::string& remedy);
/// Throws BadData if there is not one row per word. `place` is the message, with the place of the vectors.
void require_row_per_word(PointsView vectors, const Corpus& corpus, Message place = {.option = "vectors"});

/// Calls f with each line, without its end (\n or \r\n), and its number from 1.
template <class F>
void for_each_line(std::string_view text, F&& f) {
    Index number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        f(line, ++number);
    }
}

}  // namespace coterie::ner::internal
