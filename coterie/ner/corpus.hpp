#pragma once
// A corpus: documents cut into sentences and words, and the mentions of named entities that somebody marked in them.
//
//     document   a text in UTF-8; words and mentions are pieces of it, so that what is found can be shown where it
//     stands word       bytes begin..end-1 of its document's text mention    consecutive words of one sentence, and a
//     type ("PER"); mentions do not overlap tag        of a word: O outside every mention, else its mention's type (the
//     IO scheme, which models learn)
//
// Words are numbered through the corpus in the order in which they stand: row i of a matrix of word vectors is word i.

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
    std::size_t begin = 0;  // bytes of the document's text
    std::size_t end = 0;
};

struct Mention {
    std::size_t begin = 0;  // words of the sentence, begin < end
    std::size_t end = 0;
    std::int32_t type = 0;   // in 0..types-1 of the corpus
    double margin = 0;       // of a mention that a tagger found: tagger.hpp; else 0
    double probability = 0;  // the same; 0 where the tagger gives none
};

struct Sentence {
    std::size_t document = 0;
    std::vector<Word> words;        // at least one
    std::vector<Mention> mentions;  // in their order; none where not annotated
    bool annotated = false;         // somebody said what is a mention in it and what is not
    Index line = 0;                 // of the file, from 1, where the sentence begins; 0: it is from no file
};

struct Document {
    std::string text;    // UTF-8
    std::string record;  // of JSON lines: the object as it was read; else empty
};

/// A mention as a piece of its document's text.
struct TextSpan {
    std::size_t begin = 0;  // Unicode code points, begin < end
    std::size_t end = 0;
    std::string text;
    Mention mention;
};

enum class CorpusFormat {
    automatic,
    conll,       // a word per line, its tag last, a blank line between sentences, -DOCSTART- between documents
    json_lines,  // a document per line
    text,        // one document of plain text
    brat         // text, and its marks in the file FILE.ann beside it
};
/// "conll", "json-lines", ...
COTERIE_API std::string_view name(CorpusFormat format);

struct COTERIE_API Corpus {
    std::vector<Document> documents;
    std::vector<Sentence> sentences;
    std::vector<std::string> types;  // by first appearance
    CorpusFormat format = CorpusFormat::conll;
    std::string source;              // where it is from, for messages
    std::vector<std::string> notes;  // what the caller should know: the scheme of the tags, say

    Index words() const;
    /// Number of the first word of every sentence, and of all words at the end.
    std::vector<Index> first_words() const;
    std::string_view text_of(const Sentence& sentence, const Word& word) const {
        return std::string_view(documents[sentence.document].text).substr(word.begin, word.end - word.begin);
    }
    std::string text_of(const Sentence& sentence, const Mention& mention) const;
    /// One per word: 0 for O, 1 + type in a mention, -1 in a sentence that is not annotated.
    Labels tags() const;
    /// The mentions of every document, in their order.
    std::vector<std::vector<TextSpan>> text_spans() const;
    /// Sets the mentions of a sentence from one such tag per word (0, or 1 + type): neighbours of one type are one
    /// mention.
    void set_mentions(std::size_t sentence, std::span<const std::int32_t> tags);
    /// "FILE, line 12" of a sentence.
    std::string place_of(std::size_t sentence) const;
    /// Those sentences alone: of CoNLL columns in the documents they are from, else each as a document of its own text,
    /// with the other keys of the document it is from.
    Corpus subset(std::span<const std::size_t> sentences) const;
};

/// How tags that do not fit together are met.
enum class TagReading {
    checked,  // BadData with file and line
    lenient   // a mention ends and begins where the script conlleval says; a note counts them
};

struct COTERIE_API CorpusOptions {
    /// automatic: JSON lines where the first character is { or [; conll where the name ends in .conll, .iob, .bio or
    /// .tsv or the first lines end in tags (O, B-X, I-X, E-X, S-X); brat where it ends in .ann; else text.
    CorpusFormat format = CorpusFormat::automatic;
    TagReading tags = TagReading::checked;

    /// The format: which tags are accepted depends on what is done with them.
    static const OptionSet& described();
};

/// Reads a file (.gz too; "-" is standard input) in UTF-8. BadData names file and line.
///
/// conll: fields between tabs where the line has one, else between blanks; first the word, last its tag. One field per
/// line: nothing is annotated. Tags in BIO, IOB1, IO or BIOES (or BILOU); which one is found from the tags: mentions
/// that begin with I- more often than with B- are IOB1 (IO is IOB1 without any B-). The document's text is the words
/// with blanks between them, and a line end after each sentence.
///
/// json_lines: {"text": T, "label" | "entities": [[begin, end, TYPE], ...]} (doccano, spaCy), {"text": T, "spans":
/// [{"start": .., "end": .., "label": ..}, ..]} (Prodigy), {"text": T, "entities": [{"start_offset": .., "end_offset":
/// .., "label": ..}, ..]} (doccano with relations), or [T, {"entities": [[begin, end, TYPE], ..]}] (spaCy's training
/// data). begin and end count Unicode code points. A document without any of these keys is not annotated.
///
/// Text is cut into sentences and words by Unicode's rules (UAX 29, as ICU has them), and words at the ends of marked
/// pieces too (a note names the first of them that are
/// no borders by these rules); no sentence ends within a marked piece. Blanks at the ends of a marked piece are left
/// out of it; a piece of nothing else, one outside the text, and two that overlap are BadData.
COTERIE_API Corpus read_corpus(const std::string& path, const CorpusOptions& options = {});
/// The same of text at hand; `source` names it in messages, and its ending counts for the format.
COTERIE_API Corpus parse_corpus(std::string_view bytes, const std::string& source, const CorpusOptions& options = {});

/// Writes the corpus with its mentions, "-" to standard output, whole or not at all: a corpus of CoNLL columns as WORD
/// TAB TAG lines (BIO), others as JSON lines, {"text": T, "spans": [{"start": .., "end": .., "label": .., "text": ..,
/// "margin": .., "probability": ..}]} with the other keys that the document came with; the last two where not 0.
/// Offsets count code points.
COTERIE_API void write_corpus(const std::string& path, const Corpus& corpus);

}  // namespace coterie::ner
