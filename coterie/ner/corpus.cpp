// Mentions are stored as parts of sentences, and tags are computed from them. So only the reader and the writer of
// CoNLL columns know the schemes of tags.

#include "coterie/ner/corpus.hpp"

#include <algorithm>
#include <array>

#include "coterie/base/error.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/json_text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/ner/internal/tags.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::filled;

constexpr std::array<std::string_view, 5> format_names = {"auto", "conll", "json-lines", "text", "brat"};

}  // namespace

std::string_view name(CorpusFormat format) { return format_names[static_cast<std::size_t>(format)]; }

const OptionSet& CorpusOptions::described() {
    static const OptionSet set = OptionSetFor<CorpusOptions>().choice(
        "format", &CorpusOptions::format, {format_names.begin(), format_names.end()},
        "format of the corpora; auto: found from their names and first lines");
    return set;
}

Index Corpus::words() const { return first_words().back(); }

std::vector<Index> Corpus::first_words() const {
    std::vector<Index> out = {0};
    for (const Sentence& sentence : sentences) out.push_back(out.back() + static_cast<Index>(sentence.words.size()));
    return out;
}

std::string Corpus::text_of(const Sentence& sentence, const Mention& mention) const {
    const std::size_t begin = sentence.words[mention.begin].begin;
    return documents[sentence.document].text.substr(begin, sentence.words[mention.end - 1].end - begin);
}

Labels Corpus::tags() const {
    Labels out;
    for (const Sentence& sentence : sentences) {
        const std::size_t first = out.size();
        out.resize(first + sentence.words.size(), sentence.annotated ? 0 : -1);
        for (const Mention& mention : sentence.mentions)
            for (std::size_t w = mention.begin; w < mention.end; ++w) out[first + w] = 1 + mention.type;
    }
    return out;
}

std::vector<Index> Corpus::mentions_of_types() const {
    std::vector<Index> out(types.size(), 0);
    for (const Sentence& sentence : sentences)
        for (const Mention& mention : sentence.mentions) ++out[static_cast<std::size_t>(mention.type)];
    return out;
}

std::vector<std::vector<TextSpan>> Corpus::text_spans() const {
    std::vector<std::vector<TextSpan>> out(documents.size());
    std::size_t document = 0, counted = 0, points = 0;  // the first `counted` bytes have `points` code points
    for (const Sentence& sentence : sentences) {
        if (sentence.document != document) document = sentence.document, counted = points = 0;
        const std::string_view text = documents[document].text;
        const auto offset = [&](std::size_t byte) {
            points += internal::count_code_points(text.substr(counted, byte - counted));
            counted = byte;
            return points;
        };
        for (const Mention& mention : sentence.mentions) {
            const std::size_t begin = offset(sentence.words[mention.begin].begin);
            out[document].push_back(
                {begin, offset(sentence.words[mention.end - 1].end), text_of(sentence, mention), mention});
        }
    }
    return out;
}

void Corpus::set_mentions(std::size_t number, std::span<const std::int32_t> tags) {
    Sentence& sentence = sentences[number];
    sentence.annotated = true;
    sentence.mentions.clear();
    for (std::size_t w = 0; w < tags.size(); ++w) {
        if (tags[w] <= 0) continue;
        if (w > 0 && tags[w - 1] == tags[w])
            sentence.mentions.back().end = w + 1;
        else
            sentence.mentions.push_back({w, w + 1, tags[w] - 1});
    }
}

Corpus Corpus::subset(std::span<const std::size_t> chosen) const {
    Corpus out;
    out.types = types;
    out.format = format;
    out.source = source;
    std::vector<std::ptrdiff_t> moved(documents.size(), -1);
    for (const std::size_t s : chosen) {
        Sentence sentence = sentences.at(s);
        std::ptrdiff_t& document = moved[sentence.document];
        if (document < 0 || format != CorpusFormat::conll) {
            document = static_cast<std::ptrdiff_t>(out.documents.size());
            out.documents.push_back(documents[sentence.document]);
        }
        sentence.document = static_cast<std::size_t>(document);
        if (format != CorpusFormat::conll) {
            const std::size_t begin = sentence.words.front().begin;
            std::string& text = out.documents.back().text;
            text = text.substr(begin, sentence.words.back().end - begin);
            for (Word& word : sentence.words) word.begin -= begin, word.end -= begin;
        }
        out.sentences.push_back(std::move(sentence));
    }
    return out;
}

namespace internal {

constexpr std::size_t most_types = 10000;  // each new mention is compared with all of them

std::int32_t type_number(Corpus& corpus, std::string_view type) {
    const auto found = std::find(corpus.types.begin(), corpus.types.end(), type);
    if (found != corpus.types.end()) return static_cast<std::int32_t>(found - corpus.types.begin());
    if (corpus.types.size() == most_types)
        throw BadData(Code::limit_exceeded, filled("there are more than {} types of mentions", most_types),
                      "Check that the tags are in the last column",
                      {.value = formats::shown(type), .file = corpus.source});
    corpus.types.emplace_back(type);
    return static_cast<std::int32_t>(corpus.types.size()) - 1;
}

void refuse_line(const std::string& source, Index line, Code code, const std::string& problem,
                 const std::string& remedy, Message fields) {
    fields.file = source;
    fields.line = line;
    throw BadData(code, problem, remedy, std::move(fields));
}

void refuse_sentence(const Corpus& corpus, std::size_t sentence, Code code, const std::string& problem,
                     const std::string& remedy) {
    const Index line = corpus.sentences[sentence].line;
    if (line > 0) refuse_line(corpus.source, line, code, problem, remedy);
    throw BadData(code, filled("sentence {} (counted from 1): {}", sentence + 1, problem), remedy,
                  {.file = corpus.source});
}

void require_annotated(const Corpus& corpus, const std::string& problem, const std::string& remedy) {
    for (std::size_t s = 0; s < corpus.sentences.size(); ++s)
        if (!corpus.sentences[s].annotated) refuse_sentence(corpus, s, Code::missing_value, problem, remedy);
}

void require_row_per_word(PointsView vectors, const Corpus& corpus, Message place) {
    if (vectors.rows() == corpus.words()) return;
    place.code = Code::wrong_shape;
    place.problem =
        filled("{} for the {} of {}", counted(vectors.rows(), "row"), counted(corpus.words(), "word"), corpus.source);
    place.remedy = "Give one row per word";
    throw BadData(std::move(place));
}

}  // namespace internal

namespace {

bool looks_like_conll(std::string_view text) {
    int looked_at = 0;
    bool tags = true;
    internal::for_each_line(text.substr(0, 20000), [&](std::string_view line, Index) {
        if (looked_at == 10 || !tags) return;
        while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.remove_suffix(1);
        if (line.empty() || line.starts_with("-DOCSTART-")) return;
        const std::size_t border = line.find_last_of(" \t");
        internal::TagParts parts;
        tags = border != std::string_view::npos && internal::split_tag(line.substr(border + 1), parts);
        ++looked_at;
    });
    return looked_at > 0 && tags;
}

CorpusFormat format_of(std::string_view text, std::string source) {
    if (source.ends_with(".gz")) source.resize(source.size() - 3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    for (const char* const ending : {".conll", ".iob", ".bio", ".tsv"})
        if (source.ends_with(ending)) return CorpusFormat::conll;
    if (source.ends_with(".jsonl")) return CorpusFormat::json_lines;
    if (looks_like_conll(text)) return CorpusFormat::conll;
    if (first != std::string_view::npos && (text[first] == '{' || text[first] == '[')) return CorpusFormat::json_lines;
    return CorpusFormat::text;
}

// Checks that the text is valid UTF-8, and removes a byte order mark.
std::string_view sound_text(std::string_view bytes, const std::string& source) {
    if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
    if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
        throw BadData(Code::unsupported_format, "the text is UTF-16, not UTF-8", "Save it as UTF-8", {.file = source});
    const auto refuse_at = [&](std::size_t at, Code code, const char* problem, const char* remedy) {
        if (at == std::string_view::npos) return;
        const auto line = 1 + std::count(bytes.begin(), bytes.begin() + static_cast<Index>(at), '\n');
        internal::refuse_line(source, line, code, problem, remedy);
    };
    refuse_at(internal::broken_utf8(bytes), Code::malformed, "the text is not UTF-8", "Save it as UTF-8");
    refuse_at(bytes.find('\0'), Code::unsupported_format, "the line has a zero byte, so the file is not text", "");
    return bytes;
}

void require_words(const Corpus& corpus) {
    if (corpus.sentences.empty())
        throw BadData(Code::empty, filled("there are no words (read as {})", name(corpus.format)), "",
                      {.file = corpus.source});
}

std::string json_lines_of(const Corpus& corpus) {
    using Json = nlohmann::ordered_json;
    std::string out;
    std::size_t s = 0;
    const auto spans = corpus.text_spans();
    for (std::size_t d = 0; d < corpus.documents.size(); ++d) {
        const Document& document = corpus.documents[d];
        Json record;
        record["text"] = document.text;
        Json marked = Json::array();
        for (const TextSpan& each : spans[d]) {
            Json span;
            span["start"] = each.begin;
            span["end"] = each.end;
            span["label"] = corpus.types[static_cast<std::size_t>(each.mention.type)];
            span["text"] = each.text;
            if (each.mention.margin != 0) span["margin"] = each.mention.margin;
            if (each.mention.probability != 0) span["probability"] = each.mention.probability;
            marked.push_back(std::move(span));
        }
        bool annotated = false;
        for (; s < corpus.sentences.size() && corpus.sentences[s].document == d; ++s)
            annotated = annotated || corpus.sentences[s].annotated;
        if (annotated) record["spans"] = std::move(marked);
        if (!document.record.empty())
            record.update(formats::parse_json<Json>(document.record, [](const std::string& reason) {
                throw BadArgument(Code::malformed, "the record of a document " + reason);
            }));
        out += record.dump() + "\n";
    }
    return out;
}

std::string conll_of(const Corpus& corpus) {
    std::string out;
    for (std::size_t s = 0; s < corpus.sentences.size(); ++s) {
        const Sentence& sentence = corpus.sentences[s];
        if (s > 0 && sentence.document != corpus.sentences[s - 1].document) out += "-DOCSTART-\tO\n\n";
        std::vector<std::string> tags(sentence.words.size(), "O");
        for (const Mention& mention : sentence.mentions)
            for (std::size_t w = mention.begin; w < mention.end; ++w)
                tags[w] = (w == mention.begin ? "B-" : "I-") + corpus.types[static_cast<std::size_t>(mention.type)];
        for (std::size_t w = 0; w < tags.size(); ++w) {
            out += corpus.text_of(sentence, sentence.words[w]);
            if (sentence.annotated) out += "\t" + tags[w];
            out += '\n';
        }
        out += '\n';
    }
    return out;
}

}  // namespace

Corpus parse_corpus(std::string_view bytes, const std::string& source, const CorpusOptions& options) {
    Corpus out;
    out.source = source;
    const std::string_view text = sound_text(bytes, source);
    out.format = options.format == CorpusFormat::automatic ? format_of(text, source) : options.format;
    switch (out.format) {
        case CorpusFormat::conll: internal::parse_conll(text, options.tags, out); break;
        case CorpusFormat::json_lines: internal::parse_json_lines(text, out); break;
        default: internal::parse_plain(text, out); break;
    }
    require_words(out);
    return out;
}

Corpus read_corpus(const std::string& path, const CorpusOptions& options) {
    const std::string source = path == "-" ? "standard input" : path;
    const formats::Bytes bytes = formats::read_bytes_inflated(path, true);
    const std::string_view content(bytes.text(), bytes.size());
    const bool marks =
        options.format == CorpusFormat::brat || (options.format == CorpusFormat::automatic && path.ends_with(".ann"));
    if (!marks) return parse_corpus(content, source, options);
    Corpus out;
    out.format = CorpusFormat::brat;
    out.source = path.ends_with(".ann") ? path.substr(0, path.size() - 4) + ".txt" : path;
    const std::string marks_source = out.source.substr(0, out.source.rfind('.')) + ".ann";
    const formats::Bytes text = formats::read_bytes_inflated(out.source);
    const formats::Bytes ann = formats::read_bytes_inflated(marks_source);
    internal::parse_brat(sound_text({text.text(), text.size()}, out.source),
                         sound_text({ann.text(), ann.size()}, marks_source), marks_source, out);
    require_words(out);
    return out;
}

void write_corpus(const std::string& path, const Corpus& corpus) {
    write_file(path, corpus.format == CorpusFormat::conll ? conll_of(corpus) : json_lines_of(corpus));
}

}  // namespace coterie::ner
