#pragma once
// A corpus: documents split into sentences and words, and the annotated mentions of named entities.
//
//     document   a text in UTF-8; words and mentions are parts of it, so that they can be shown in place
//     word       bytes begin..end-1 of its document's text
//     mention    consecutive words of one sentence, and a type ("PER"); mentions do not overlap
//     tag        of a word: O outside mentions, else the type of its mention (the IO scheme, which models learn)
//
// Words are numbered in their order in the corpus. Row i of a matrix of word vectors is word i.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"

namespace coterie::ner {

struct Word {
    std::size_t begin = 0;  // byte positions in the document's text
    std::size_t end = 0;
};

struct Mention {
    std::size_t begin = 0;  // word positions in the sentence, begin < end
    std::size_t end = 0;
    std::int32_t type = 0;   // in 0..types-1 of the corpus
    double margin = 0;       // for mentions found by a tagger (tagger.hpp); else 0
    double probability = 0;  // for mentions found by a tagger; 0 if it gives none
};

struct Sentence {
    std::size_t document = 0;
    std::vector<Word> words;        // at least one
    std::vector<Mention> mentions;  // in order; empty if the sentence is not annotated
    bool annotated = false;         // true: all its mentions are known
    Index line = 0;                 // line of the file where the sentence begins, from 1; 0: not from a file
};

struct Document {
    std::string text;    // UTF-8
    std::string record;  // for JSON lines: the object as it was read; else empty
};

/// The position of a mention in its document's text.
struct TextSpan {
    std::size_t begin = 0;  // in Unicode code points, begin < end
    std::size_t end = 0;
    std::string text;
    Mention mention;
};

enum class CorpusFormat {
    automatic,
    conll,       // one word per line, its tag last, a blank line between sentences, -DOCSTART- between documents
    json_lines,  // one document per line
    text,        // one document of plain text
    brat         // a text, and its annotations in FILE.ann in the same folder
};
/// "conll", "json-lines", ...
COTERIE_API std::string_view name(CorpusFormat format);

struct COTERIE_API Corpus {
    std::vector<Document> documents;
    std::vector<Sentence> sentences;
    std::vector<std::string> types;  // in order of first appearance
    CorpusFormat format = CorpusFormat::conll;
    std::string source;          // name of the source, for messages
    std::vector<Message> notes;  // information for the caller, for example the scheme of the tags

    Index words() const;
    /// Number of the first word of each sentence, followed by the number of all words.
    std::vector<Index> first_words() const;
    std::string_view text_of(const Sentence& sentence, const Word& word) const {
        return std::string_view(documents[sentence.document].text).substr(word.begin, word.end - word.begin);
    }
    std::string text_of(const Sentence& sentence, const Mention& mention) const;
    /// One per word: 0 for O, 1 + type in a mention, -1 in a sentence that is not annotated.
    Labels tags() const;
    /// The number of mentions of each type.
    std::vector<Index> mentions_of_types() const;
    /// The mentions of each document, in order.
    std::vector<std::vector<TextSpan>> text_spans() const;
    /// Sets the mentions of a sentence from one tag per word (0, or 1 + type). Neighbouring words of one type become
    /// one mention. The sentence then counts as annotated.
    void set_mentions(std::size_t sentence, std::span<const std::int32_t> tags);
    /// A corpus of only these sentences. With CoNLL columns, the sentences stay in their documents. Otherwise each
    /// sentence becomes a document that has only its text, and the other keys of the old document.
    Corpus subset(std::span<const std::size_t> sentences) const;
};

/// What to do with tags that do not fit together.
enum class TagReading {
    checked,  // throws BadData with file and line
    lenient   // mentions end and begin by the rules of the script conlleval; a note gives the number of such tags
};

struct COTERIE_API CorpusOptions {
    /// automatic: conll if the name ends in .conll, .iob, .bio or .tsv; json_lines if it ends in .jsonl; brat if it
    /// ends in .ann. Otherwise the content decides: conll if the first lines end in tags (O, B-X, I-X, E-X, S-X);
    /// json_lines if the first character is { or [; else text.
    CorpusFormat format = CorpusFormat::automatic;
    TagReading tags = TagReading::checked;

    /// Describes only `format`. The caller sets `tags`.
    static const OptionSet& described();
};

/// Reads a file in UTF-8, also compressed as .gz; "-" is standard input. Throws BadData with file and line.
///
/// conll: Fields are separated by tabs if the line has a tab, else by blanks. The first field is the word, the last its
/// tag. With one field per line, nothing is annotated. The scheme of the tags is BIO, IOB1, IO or BIOES (or BILOU), and
/// is found from the tags. If more mentions begin with I- than with B-, it is IOB1 (or IO, if there is no B-). The
/// document's text is the words, with blanks between them and a line end after each sentence.
///
/// json_lines: begin and end count Unicode code points. Accepted forms of a line:
/// - {"text": T, "label" or "labels" or "entities": [[begin, end, TYPE], ...]} (doccano, spaCy)
/// - {"text": T, "spans": [{"start": .., "end": .., "label": ..}, ..]} (Prodigy)
/// - {"text": T, "entities": [{"start_offset": .., "end_offset": .., "label": ..}, ..]} (doccano with relations)
/// - [T, {"entities": [[begin, end, TYPE], ..]}] (spaCy's training data)
///
/// A document without any of these keys is not annotated.
///
/// Text is split into sentences and words by the rules of Unicode (UAX 29, as implemented by ICU). Words also end at
/// the ends of annotated spans. If the rules have no border at such a place, a note names the first such place. No
/// sentence ends inside an annotated span. Blanks at the ends of an annotated span are removed. A span of only blanks,
/// a span outside the text and two spans that overlap throw BadData.
COTERIE_API Corpus read_corpus(const std::string& path, const CorpusOptions& options = {});
/// Reads a corpus from text in memory. `source` names it in messages, and its ending helps to choose the format.
COTERIE_API Corpus parse_corpus(std::string_view bytes, const std::string& source, const CorpusOptions& options = {});

/// Writes the corpus with its mentions; "-" is standard output. Writes the whole file or nothing.
/// A corpus of CoNLL columns is written as lines WORD TAB TAG (BIO). Others are written as JSON lines, {"text": T,
/// "spans": [{"start": .., "end": .., "label": .., "text": .., "margin": .., "probability": ..}]}, with the other keys
/// that the document had. Margin and probability are written if not 0. Offsets count code points.
COTERIE_API void write_corpus(const std::string& path, const Corpus& corpus);

}  // namespace coterie::ner
