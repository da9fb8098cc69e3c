// JSON lines of doccano, spaCy and Prodigy, brat's stand-off annotations, and plain text. All use one function, which
// splits a document into sentences and words and finds the words of the spans.

#include <algorithm>
#include <charconv>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/json_text.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"

namespace coterie::ner::internal {
namespace {

using coterie::internal::filled;

// An annotated span as it was written, in code points of the text.
struct Mark {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::string type;
    Index line = 0;

    std::string shown() const { return filled("span [{}, {}, {}]", begin, end, formats::shown(type)); }
};

struct Piece {
    std::size_t begin = 0;  // in bytes
    std::size_t end = 0;
    const Mark* mark = nullptr;
};

// The spans in bytes, sorted, without blanks at their ends. Throws BadData with the name of the annotation file.
std::vector<Piece> pieces_of(const std::vector<Mark>& marks, std::string_view text, const std::string& source) {
    std::vector<std::size_t> starts;  // bytes at which code points begin, then the size of the text
    for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).bytes) starts.push_back(at);
    starts.push_back(text.size());
    const auto length = static_cast<std::int64_t>(starts.size()) - 1;
    std::vector<Piece> out;
    for (const Mark& mark : marks) {
        if (mark.type.empty()) refuse_line(source, mark.line, Code::malformed, mark.shown() + " has no type");
        if (mark.type.find_first_of(" \t\r\n") != std::string::npos)
            refuse_line(source, mark.line, Code::malformed, mark.shown() + " has a type with blanks",
                        "Use types without blanks");
        if (mark.begin < 0 || mark.end > length || mark.begin >= mark.end)
            refuse_line(source, mark.line, Code::out_of_range,
                        filled("{} is not inside the text, which has {}", mark.shown(), counted(length, "code point")),
                        "Count begin and end in code points, from 0, with begin below end");
        auto begin = static_cast<std::size_t>(mark.begin);
        auto end = static_cast<std::size_t>(mark.end);
        while (begin < end && is_space(code_point_at(text, starts[begin]).value)) ++begin;
        while (begin < end && is_space(code_point_at(text, starts[end - 1]).value)) --end;
        if (begin == end) refuse_line(source, mark.line, Code::malformed, mark.shown() + " has only blanks");
        out.push_back({starts[begin], starts[end], &mark});
    }
    std::sort(out.begin(), out.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    for (std::size_t i = 1; i < out.size(); ++i)
        if (out[i].begin < out[i - 1].end)
            refuse_line(source, out[i].mark->line, Code::malformed,
                        filled("{} and {} overlap", out[i - 1].mark->shown(), out[i].mark->shown()),
                        "Keep one of them, because nested mentions are not supported");
    return out;
}

// Counts spans that begin or end inside a word and so split it. They may be mistakes, or intended, for example "Ada" in
// "Ada's".
struct CutWords {
    Index marks = 0;
    Message first;  // about the first such span: its place and its word

    void look(const std::vector<Piece>& pieces, const std::vector<std::size_t>& borders, std::string_view text,
              const std::string& source, Index line) {
        for (const Piece& piece : pieces)
            for (const std::size_t at : {piece.begin, piece.end}) {
                const auto next = std::lower_bound(borders.begin(), borders.end(), at);
                if (next != borders.end() && *next == at) continue;
                const std::size_t begin = *(next - 1);
                if (marks++ == 0)
                    first = {.code = Code::note,
                             .problem = filled("{} {} inside the word '{}', which is split there", piece.mark->shown(),
                                               at == piece.begin ? "begins" : "ends",
                                               formats::shown(text.substr(begin, *next - begin))),
                             .remedy = "Mark whole words, unless this is intended",
                             .file = source,
                             .line = std::max(line, piece.mark->line)};
                break;
            }
    }
    void tell(Corpus& corpus) const {
        if (marks == 0) return;
        Message note = first;
        if (marks > 1)
            note.problem += filled("; {} {} words", counted(marks - 1, "more span"), marks == 2 ? "splits" : "split");
        corpus.notes.push_back(std::move(note));
    }
};

bool is_blank_text(std::string_view text) {
    bool blank = true;
    for_each_code_point(text, [&](std::uint32_t value, std::string_view) { blank = blank && is_space(value); });
    return blank;
}

void add_document(Document document, const std::vector<Mark>& marks, const std::string& marks_source, bool annotated,
                  Index line, CutWords& cut_words, Corpus& corpus) {
    const std::size_t number = corpus.documents.size();
    const std::string& text = corpus.documents.emplace_back(std::move(document)).text;
    const std::vector<Piece> pieces = pieces_of(marks, text, marks_source);
    // Words also end at the ends of spans. Sentences do not end inside a span.
    std::vector<std::size_t> cuts = word_borders(text);
    cut_words.look(pieces, cuts, text, marks_source, line);
    for (const Piece& piece : pieces) cuts.insert(cuts.end(), {piece.begin, piece.end});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<std::size_t> ends;
    auto piece = pieces.begin();
    for (const std::size_t border : sentence_borders(text)) {
        while (piece != pieces.end() && piece->end <= border) ++piece;
        if (border > 0 && !(piece != pieces.end() && piece->begin < border)) ends.push_back(border);
    }

    piece = pieces.begin();
    auto end = ends.begin();
    bool open = false;
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        const Word word{cuts[c], cuts[c + 1]};
        for (; end != ends.end() && *end <= word.begin; ++end) open = false;
        if (is_blank_text(std::string_view(text).substr(word.begin, word.end - word.begin))) continue;
        if (!open) corpus.sentences.push_back({number, {}, {}, annotated, line});
        open = true;
        Sentence& sentence = corpus.sentences.back();
        if (line == 0)
            sentence.line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(word.begin), '\n');
        sentence.words.push_back(word);
        while (piece != pieces.end() && piece->end <= word.begin) ++piece;
        if (piece == pieces.end() || piece->begin > word.begin) continue;
        const std::size_t at = sentence.words.size();
        if (piece->begin == word.begin)
            sentence.mentions.push_back({at - 1, at, type_number(corpus, piece->mark->type)});
        else
            sentence.mentions.back().end = at;
    }
}

using Json = nlohmann::json;

std::int64_t offset_of(const Json& value, const std::string& source, Index line) {
    if (!value.is_number_integer())
        refuse_line(
            source, line, Code::wrong_type,
            filled("the begin or end of a span is {}, not a whole number", formats::shown(value.dump(-1, ' ', true))));
    return value.get<std::int64_t>();
}

std::string type_of(const Json& value, const std::string& source, Index line) {
    if (!value.is_string())
        refuse_line(source, line, Code::wrong_type,
                    "the type of a span is " + formats::shown(value.dump(-1, ' ', true)) + ", not a text");
    return value.get<std::string>();
}

Mark mark_of(const Json& value, const std::string& source, Index line) {
    if (value.is_array() && value.size() == 3)
        return {offset_of(value[0], source, line), offset_of(value[1], source, line), type_of(value[2], source, line),
                line};
    if (value.is_object())
        for (const auto& [begin, end] : {std::pair("start", "end"), std::pair("start_offset", "end_offset")})
            if (value.contains(begin) && value.contains(end) && value.contains("label"))
                return {offset_of(value[begin], source, line), offset_of(value[end], source, line),
                        type_of(value["label"], source, line), line};
    refuse_line(source, line, Code::malformed, formats::shown(value.dump(-1, ' ', true)) + " is not a span",
                "Write [begin, end, TYPE] or {\"start\": .., \"end\": .., \"label\": ..}");
}

}  // namespace

void parse_json_lines(std::string_view text, Corpus& corpus) {
    CutWords cut_words;
    for_each_line(text, [&](std::string_view line, Index number) {
        if (line.find_first_not_of(" \t") == std::string_view::npos) return;
        Json record = formats::parse_json(line, [&](const std::string& reason) {
            refuse_line(corpus.source, number, Code::malformed, "the document " + reason);
        });
        if (record.is_array() && record.size() == 2 && record[0].is_string() && record[1].is_object()) {
            Json object = record[1];
            object["text"] = record[0];
            record = std::move(object);
        }
        if (!record.is_object() || !record.contains("text") || !record["text"].is_string())
            refuse_line(corpus.source, number, Code::malformed, "the line is not a document",
                        "Write an object with a text under the key \"text\"");
        std::vector<Mark> marks;
        std::string key;
        for (const char* const each : {"spans", "entities", "label", "labels"})
            if (record.contains(each) && record[each].is_array()) {
                if (!key.empty())
                    refuse_line(corpus.source, number, Code::malformed,
                                filled("there are spans under \"{}\" and under \"{}\"", key, each),
                                "Keep one of the two keys");
                key = each;
            }
        if (!key.empty())
            for (const Json& mark : record[key]) marks.push_back(mark_of(mark, corpus.source, number));
        Document document{record["text"].get<std::string>(), {}};
        for (const char* const each : {"text", "spans", "entities", "label", "labels", "tokens"}) record.erase(each);
        document.record = record.dump();
        add_document(std::move(document), marks, corpus.source, !key.empty(), number, cut_words, corpus);
    });
    cut_words.tell(corpus);
}

void parse_plain(std::string_view text, Corpus& corpus) {
    CutWords none;
    add_document({std::string(text), {}}, {}, corpus.source, false, 0, none, corpus);
}

void parse_brat(std::string_view text, std::string_view marks_text, const std::string& marks_source, Corpus& corpus) {
    std::vector<Mark> marks;
    for_each_line(marks_text, [&](std::string_view line, Index number) {
        if (!line.starts_with('T')) return;  // relations, events, notes
        const std::size_t tab = line.find('\t');
        const std::string_view middle = tab == std::string_view::npos
                                            ? std::string_view()
                                            : line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
        const std::size_t first = middle.find(' ');
        const std::size_t second = middle.find(' ', first + 1);
        Mark mark;
        mark.line = number;
        const auto take = [&](std::string_view digits, std::int64_t& into) {
            const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), into);
            return error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
        };
        if (first == std::string_view::npos || second == std::string_view::npos ||
            !take(middle.substr(first + 1, second - first - 1), mark.begin) ||
            !take(middle.substr(second + 1), mark.end))
            refuse_line(marks_source, number, Code::malformed,
                        filled("'{}' is not a span of one piece", formats::shown(line)),
                        "Write T1 TAB TYPE BEGIN END TAB TEXT");
        mark.type = std::string(middle.substr(0, first));
        marks.push_back(std::move(mark));
    });
    CutWords cut_words;
    add_document({std::string(text), {}}, marks, marks_source, true, 0, cut_words, corpus);
    cut_words.tell(corpus);
}

}  // namespace coterie::ner::internal
