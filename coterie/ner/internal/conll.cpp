// Reads CoNLL columns (Tjong Kim Sang and De Meulder 2003).
// The whole file is read before tags are checked, because the scheme follows from all tags.

#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/ner/internal/tags.hpp"
#include "coterie/ner/readers.hpp"

namespace coterie::ner::internal {
namespace {

using coterie::internal::filled;

struct Columns {
    std::string_view word;
    std::string_view last;  // empty if there is one field
};

bool is_blank_byte(char c) { return c == ' ' || c == '\t'; }

Columns columns_of(std::string_view line) {
    const bool tabs = line.find('\t') != std::string_view::npos;
    const auto separates = [&](char c) { return tabs ? c == '\t' : c == ' '; };
    while (!line.empty() && is_blank_byte(line.back())) line.remove_suffix(1);
    std::size_t end = 0;
    while (end < line.size() && !separates(line[end])) ++end;
    std::size_t begin = line.size();
    while (begin > end && !separates(line[begin - 1])) --begin;
    return {line.substr(0, end), begin > end ? line.substr(begin) : std::string_view()};
}

}  // namespace

void parse_conll(std::string_view text, TagReading reading, Corpus& corpus) {
    std::vector<std::vector<ReadTag>> tags;  // per sentence
    std::optional<bool> tagged;
    bool new_document = true;
    bool open = false;
    for_each_line(text, [&](std::string_view line, Index number) {
        if (line.find_first_not_of(" \t") == std::string_view::npos) {
            open = false;
            return;
        }
        const Columns fields = columns_of(line);
        if (fields.word == "-DOCSTART-") {
            open = false;
            new_document = true;
            return;
        }
        if (fields.word.empty())
            refuse_line(corpus.source, number, Code::malformed, "there is no word before the first tab",
                        "Write the word first and its tag last");
        if (!tagged) tagged = !fields.last.empty();
        if (*tagged == fields.last.empty())
            refuse_line(corpus.source, number, Code::malformed,
                        *tagged ? "the tag is missing, but the lines before have one"
                                : "there are two fields, but the lines before have only the word",
                        "Give every word a tag, or none");
        if (new_document) corpus.documents.emplace_back();
        new_document = false;
        std::string& all = corpus.documents.back().text;
        if (!open) {
            corpus.sentences.push_back({corpus.documents.size() - 1, {}, {}, *tagged, number});
            tags.emplace_back();
            if (!all.empty()) all += '\n';
        } else {
            all += ' ';
        }
        open = true;
        corpus.sentences.back().words.push_back({all.size(), all.size() + fields.word.size()});
        all += fields.word;
        ReadTag tag{{}, fields.last, number};
        if (*tagged && !split_tag(fields.last, tag.parts))
            refuse_line(corpus.source, number, Code::malformed,
                        filled("'{}' is not a tag", formats::shown(fields.last)),
                        "Use O, or B-, I-, E- or S- and a type",
                        {.value = formats::shown(fields.last), .accepted = "O, or B-, I-, E- or S- and a type"});
        tags.back().push_back(tag);
    });
    if (!tagged || !*tagged) return;

    Index broken = 0;
    const std::string scheme = scheme_of(tags, corpus.source, reading, broken);
    corpus.notes.push_back({.code = Code::note, .problem = "tags read as " + scheme, .file = corpus.source});
    if (broken > 0)
        corpus.notes.push_back(
            {.code = Code::malformed,
             .problem = filled("{} {} not follow the scheme {}, so mentions begin and end by the rules of conlleval",
                               counted(broken, "tag"), broken == 1 ? "does" : "do", scheme),
             .file = corpus.source});
    for (std::size_t s = 0; s < tags.size(); ++s) {
        TagParts before;
        for (std::size_t w = 0; w < tags[s].size(); ++w) {
            const TagParts& parts = tags[s][w].parts;
            std::vector<Mention>& mentions = corpus.sentences[s].mentions;
            if (mention_begins(before, parts)) mentions.push_back({w, w, type_number(corpus, parts.type)});
            if (parts.place != 'O') mentions.back().end = w + 1;
            before = parts;
        }
    }
}

}  // namespace coterie::ner::internal
