// The path determines the kind of source: an encoder, a file of rows, or a table of words.

#include "coterie/ner/vectors.hpp"

#include <filesystem>
#include <unordered_map>

#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/ner/encoder.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/ner/unicode.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::filled;

constexpr const char* line_form = "Write a word and its numbers, with single blanks between them";

struct Table {
    std::unordered_map<std::string, Index> rows;  // by word
    Matrix<float> vectors;
};

Table table_of_text(const std::string& path) {
    Table out;
    const formats::Bytes bytes = formats::read_bytes_inflated(path);
    std::vector<float> numbers;
    Index columns = -1;
    internal::for_each_line({bytes.text(), bytes.size()}, [&](std::string_view line, Index number) {
        if (line.empty()) return;
        const std::size_t border = line.find(' ');
        const std::size_t before = numbers.size();
        std::size_t at = border;
        while (at < line.size()) {
            const std::size_t next = std::min(line.find(' ', at + 1), line.size());
            float value = 0;
            bool overflow = false;
            if (!formats::parse_field(line.substr(at + 1, next - at - 1), value, overflow) || overflow) {
                const std::string field = formats::shown(line.substr(at + 1, next - at - 1));
                internal::refuse_line(path, number, overflow ? Code::too_large : Code::not_a_number,
                                      filled("'{}' is {}", field, overflow ? "too large for float32" : "not a number"),
                                      overflow ? "" : line_form, {.value = field});
            }
            numbers.push_back(value);
            at = next;
        }
        const auto here = static_cast<Index>(numbers.size() - before);
        // Some files begin with a line with the number of words and of columns.
        if (number == 1 && here == 1) {
            numbers.clear();
            return;
        }
        if (here == 0) internal::refuse_line(path, number, Code::malformed, "there are no numbers", line_form);
        if (columns < 0) columns = here;
        if (here != columns)
            internal::refuse_line(path, number, Code::wrong_shape,
                                  filled("{}, but the lines before have {}", counted(here, "number"), columns));
        out.rows.emplace(line.substr(0, border), static_cast<Index>(numbers.size()) / columns - 1);
    });
    if (numbers.empty()) throw BadData(Code::empty, "the file has no vectors", "", {.file = path});
    out.vectors =
        Eigen::Map<const eigen::Matrix<float>>(numbers.data(), static_cast<Index>(numbers.size()) / columns, columns);
    return out;
}

Points resident_points(const std::string& path, const Run& run) {
    ReadOptions options;
    options.advises = false;  // errors suggest no options, because rows cannot be left out
    Points out = read_points_file(path, options, run).points;
    if (!out.resident())
        throw ResourceError(Code::out_of_memory, "the vectors do not fit into memory", "", {.file = path});
    return out;
}

Table table_of_folder(const std::filesystem::path& folder, const Run& run) {
    if (!std::filesystem::exists(folder / "vectors.npy"))
        throw BadData(Code::not_found,
                      "the folder has neither config.json, for an encoder, nor vectors.npy with vocab.txt", "",
                      {.file = folder.string()});
    Table out;
    out.vectors = to_matrix<float>(resident_points((folder / "vectors.npy").string(), run));
    const std::string vocabulary = (folder / "vocab.txt").string();
    const formats::Bytes bytes = formats::read_bytes(vocabulary);
    Index words = 0;
    internal::for_each_line({bytes.text(), bytes.size()},
                            [&](std::string_view line, Index number) { out.rows.emplace(line, (words = number) - 1); });
    if (words != out.vectors.rows())
        throw BadData(Code::wrong_shape,
                      filled("{}, but vectors.npy has {}", counted(words, "word"), counted(out.vectors.rows(), "row")),
                      "", {.file = vocabulary});
    return out;
}

WordVectors looked_up(const Table& table, const Corpus& corpus) {
    const eigen::Matrix<float> mean = table.vectors.cast<double>().colwise().mean().cast<float>();
    Matrix<float> out(corpus.words(), table.vectors.cols());
    Index row = 0;
    Index unknown = 0;
    for (const Sentence& sentence : corpus.sentences)
        for (const Word& word : sentence.words) {
            const std::string text(corpus.text_of(sentence, word));
            auto found = table.rows.find(text);
            if (found == table.rows.end()) found = table.rows.find(internal::lower_case(text));
            unknown += found == table.rows.end();
            if (found == table.rows.end())
                out.row(row++) = mean;
            else
                out.row(row++) = table.vectors.row(found->second);
        }
    WordVectors result{Points(std::move(out)), {}, {}};
    if (unknown > 0)
        result.notes.push_back({.code = Code::no_vector,
                                .problem = filled("{} of {} words have no vector and get the mean of all vectors",
                                                  unknown, corpus.words()),
                                .file = corpus.source});
    return result;
}

}  // namespace

const OptionSet& VectorOptions::described() {
    static const OptionSet set =
        OptionSetFor<VectorOptions>().text("layer", &VectorOptions::layer,
                                           "layer of the encoder that gives the vectors: last, middle or a number; "
                                           "auto: the last if the encoder was trained on tags, else the middle");
    return set;
}

WordVectors word_vectors(const std::string& source, const Corpus& corpus, const VectorOptions& options,
                         const Run& run) {
    const std::filesystem::path path(source);
    if (!std::filesystem::exists(path))
        throw BadData(Code::not_found, "there is no such file or folder", "", {.file = source});
    const bool folder = std::filesystem::is_directory(path);
    if (folder && std::filesystem::exists(path / "config.json")) {
        const Encoder encoder(source);
        const int number = encoder.layer_of(options.layer);
        return {Points(encoder.encode(corpus, number, run)),
                std::to_string(number),
                {{.problem = filled("layer {} of {} of {}", number, encoder.layers(), source)}}};
    }
    if (options.layer != "auto")
        throw BadArgument(Code::not_accepted,
                          filled("'{}' is only accepted for an encoder, and {} is not one", options.layer, source),
                          "Leave it out", {.option = "layer", .value = options.layer, .accepted = "auto"});
    if (source.ends_with(".npy")) {
        WordVectors out{resident_points(source, run), {}, {}};
        internal::require_row_per_word(out.vectors, corpus, {.file = source});
        return out;
    }
    return looked_up(folder ? table_of_folder(path, run) : table_of_text(source), corpus);
}

}  // namespace coterie::ner
