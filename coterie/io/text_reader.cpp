// Reads separated text: csv, tsv, columns separated by blanks. The text stays in its buffer or mapping. Lines are found
// and parsed in pieces, in parallel: all at once or, if the numbers would not fit into memory, some at a time.
//
// There are two parsers. The quick parser reads a record once and handles plain numbers between separators. The careful
// parser handles everything else (quotes, a missing field, a word): it splits the record and uses table.hpp.

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <unordered_map>

#include "coterie/base/parallel/parallel.hpp"
#include "coterie/io/internal/table.hpp"
#include "coterie/io/internal/text_dialect.hpp"
#include "coterie/io/text_header.hpp"

namespace coterie::io::internal {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

bool is_label_word(std::string_view word) {
    static constexpr std::array<std::string_view, 8> words = {"label", "labels", "class",   "target",
                                                              "y",     "truth",  "cluster", "species"};
    return std::find(words.begin(), words.end(), lower_case(word)) != words.end();
}

class TextTable final : public Table {
public:
    TextTable(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options,
              bool one_column);

    void find_rows(const Plan& plan, int threads) override;
    void parse(const Plan& plan, std::size_t first, std::size_t last, Numbers to, std::string_view* words,
               int threads) override {
        std::visit([&](auto* numbers) { parse_pieces(plan, first, last, numbers, words, threads); }, to);
    }
    bool next_record(std::size_t& at, std::vector<std::string>& fields) const override;
    std::size_t first_record() const override { return first_; }

private:
    bool heads_labels(std::string_view word, std::size_t below) const;
    // A place is a byte offset.
    Index row_of(std::size_t where) const override { return line_at(records_.text, where); }
    Field field_at(std::size_t piece, Index row, std::size_t column) const override;
    void count_words(std::size_t piece, const std::vector<bool>& asked, std::size_t most,
                     std::vector<ColumnWords>& columns) const override;

    std::string_view unquoted(std::string_view field);
    FirstRows first_rows();
    bool guess_names(const FirstRows& rows, const NameSet& named, const ReadOptions& options, bool one_column);
    void take_names_of_comment(std::string_view line, const FirstRows& rows, const NameSet& named);
    void find_header(const ReadOptions& options, const Dialect& dialect, bool one_column);
    bool skips(std::size_t begin, std::size_t end) const {
        return records_.is_comment(begin) || (columns_ != 1 && records_.is_empty(begin, end));
    }
    // Calls use(fields) for the rows of [begin, end) that are not skipped, until it returns false.
    template <class Use>
    void each_record(std::size_t begin, std::size_t end, Use use) const;
    // The same from `begin` on, up to a row with an invalid quote, which is reported when the row is parsed.
    template <class Use>
    void look_at_records(std::size_t begin, Use use) const try {
        each_record(begin, records_.text.size(), use);
    } catch (const BadData&) {
    }
    std::vector<std::size_t> borders() const;

    template <class Scalar>
    void parse_pieces(const Plan& plan, std::size_t first, std::size_t last, Scalar* to, std::string_view* words,
                      int threads);
    template <class Scalar>
    const char* quick_record(const char* p, const Plan& plan, Scalar* out, std::string_view* word) const;
    template <class Scalar>
    void careful_record(std::size_t begin, std::size_t end, const Plan& plan, Scalar* out,
                        std::string_view* word) const;

    DecodedText decoded_;
    Records records_;
    std::size_t first_ = 0;  // offset of the first data record
    Index max_rows_ = -1;
    std::vector<std::size_t> borders_;   // boundaries of pieces of about a megabyte, each with whole rows
    std::deque<std::string> unescaped_;  // words whose doubled quotes were made single
};

std::string_view TextTable::unquoted(std::string_view field) {
    if (field.empty() || field.front() != '"') return field;
    const std::string_view inside = inside_quotes(field);
    if (inside.find('"') == std::string_view::npos) return trimmed(inside);
    unescaped_.push_back(without_quotes(field));
    return trimmed(unescaped_.back());
}

TextTable::TextTable(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options,
                     bool one_column)
    : decoded_(decode_text(bytes, source)), max_rows_(options.max_rows) {
    source_ = source;
    records_ = {decoded_.text, source_, 0, decoded_.text.find('"') != std::string_view::npos, false};
    const char given = options.separator;
    if (given == '"' || given == '\n' || given == '\r' ||
        (given != 0 && std::strchr("0123456789.+-eE", given) != nullptr))
        throw BadArgument(Code::not_accepted, filled("'{}' cannot separate numbers", shown(std::string(1, given))),
                          "Choose another `separator`", {.option = "separator", .value = std::string(1, given)});
    if (records_.text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        refuse_file(source_, Code::empty, "the file is empty", "Give rows of numbers");
    const Dialect dialect = find_dialect(records_, options, tab_separated, one_column);
    if (dialect.first >= records_.text.size()) refuse_file(source_, Code::empty, "the file has no rows");
    decimal_ = dialect.decimal;
    first_ = dialect.first;
    guesses_ = decoded_.conversions;
    guesses_.insert(guesses_.end(), dialect.guesses.begin(), dialect.guesses.end());
    find_header(options, dialect, one_column);
}

template <class Use>
void TextTable::each_record(std::size_t begin, std::size_t end, Use use) const {
    std::vector<std::string_view> fields;
    for (std::size_t p = begin; p < end;) {
        const std::size_t next = records_.end_of(p);
        if (!skips(p, next)) {
            records_.split(p, next, fields);
            if (!use(fields)) return;
        }
        p = next;
    }
}

// Whether a word on the first line names the labels below it. True if all labels are numbers. Also true if every row
// has a label, each label occurs more than once, and the word is not among them.
bool TextTable::heads_labels(std::string_view word, std::size_t below) const {
    std::unordered_map<std::string, bool> recurs;  // whether each label occurs more than once
    bool numbers = true, blanks = false, again = false;
    look_at_records(below, [&](const auto& fields) {
        const std::string label(trimmed(fields.empty() ? std::string() : without_quotes(fields.front())));
        again = again || label == word;
        blanks = blanks || label.empty();
        if (label.empty() || again) return !again;
        numbers = numbers && is_number(label, decimal_);
        const auto [found, added] = recurs.emplace(label, false);
        found->second = !added;
        return true;
    });
    if (again || recurs.empty()) return false;
    return numbers ||
           (!blanks && std::all_of(recurs.begin(), recurs.end(), [](const auto& label) { return label.second; }));
}

// The fields of the first row, and of some rows below it. Sets the number of columns.
FirstRows TextTable::first_rows() {
    constexpr std::size_t rows_looked_at = 100, fields_looked_at = 1'000'000;
    std::size_t taken = 0;
    FirstRows rows;
    rows.decimal = decimal_;
    columns_ = 2;  // empty lines are skipped unless there is only one column
    std::vector<std::string_view> fields;
    const std::size_t first_end = records_.end_of(first_);
    records_.split(first_, first_end, fields);
    columns_ = std::max<std::size_t>(fields.size(), 1);
    for (const std::string_view field : fields) rows.first.push_back(without_quotes(field));
    if (rows.first.empty())
        rows.first.emplace_back();  // labels separated by blanks: a line of blanks is one blank label
    look_at_records(first_end, [&](const auto& below) {
        auto& row = rows.below.emplace_back();
        for (const std::string_view field : below) row.push_back(without_quotes(field));
        taken += row.size();
        return rows.below.size() < rows_looked_at && (rows.below.size() < 3 || taken < fields_looked_at);
    });
    return rows;
}

// Guesses from the rows below whether the first row has names. `named`: names in the options.
bool TextTable::guess_names(const FirstRows& rows, const NameSet& named, const ReadOptions& options, bool one_column) {
    const std::string_view first = trimmed(rows.first.front());
    const auto all_words = [&] {
        return std::all_of(rows.first.begin(), rows.first.end(), [&](const std::string& word) {
            return !is_number_text(word, decimal_) && !is_missing_word(trimmed(word)) &&
                   !is_infinite_word(trimmed(word));
        });
    };
    if (one_column && rows.first.size() == 1)
        return named.contains(first) || is_label_word(rows.first.front()) ||
               (all_words() && heads_labels(first, records_.end_of(first_)));
    HeaderGuess guess = guess_header(rows, named);
    if (one_column) return guess.is == FirstRow::names;
    if (rows.below.empty()) return all_words() || guess.is == FirstRow::names;
    const auto number = [&](const std::string& field) { return is_number(field, decimal_); };
    if (!options.numeric_names && std::any_of(rows.first.begin(), rows.first.end(), number)) guess = {};
    guess.note.file = source_;
    guess.note.line = line_at(records_.text, first_);
    if (guess.is == FirstRow::either) throw BadData(std::move(guess.note));
    header_note_ = std::move(guess.note);
    return guess.is == FirstRow::names;
}

// Takes names from a comment such as "# x, y" above rows of two numbers.
void TextTable::take_names_of_comment(std::string_view line, const FirstRows& rows, const NameSet& named) {
    Records comment = records_;
    comment.text = line;
    comment.quotes = line.find('"') != std::string_view::npos;
    std::vector<std::string_view> words;
    try {
        comment.split(0, line.size(), words);
    } catch (const BadData&) {
        return;
    }
    FirstRows named_rows{{}, {rows.first}, decimal_};
    for (const std::string_view word : words) named_rows.first.push_back(without_quotes(word));
    if (words.size() != columns_ || guess_header(named_rows, named).is != FirstRow::names) return;
    for (const auto& word : named_rows.first) names_.push_back(std::string(trimmed(word)));
    header_note_ = {.code = Code::header_guessed,
                    .problem = "the last comment line above the rows was taken as the names of the columns",
                    .remedy = "Use `header=no` if it is an ordinary comment",
                    .file = source_};
}

void TextTable::find_header(const ReadOptions& options, const Dialect& dialect, bool one_column) {
    FirstRows rows = first_rows();
    bool header = options.header == Header::yes;
    if (options.header == Header::automatic) {
        NameSet named(options.columns.begin(), options.columns.end());
        named.insert(options.wanted_columns.begin(), options.wanted_columns.end());
        named.insert(options.exclude.begin(), options.exclude.end());
        for (const auto* one : {&options.label_column, &options.id_column})
            if (!one->empty()) named.insert(*one);
        header = guess_names(rows, named, options, one_column);
        if (!header && columns_ > 1 && !dialect.last_comment.empty())
            take_names_of_comment(dialect.last_comment, rows, named);
    }
    // R writes no name for the first column, which holds the row names, so the header has one field less than the rows.
    const bool from_r = options.header != Header::no && rows.below.size() > 1 && !one_column &&
                        std::all_of(rows.below.begin(), rows.below.end(),
                                    [&](const auto& row) { return row.size() == rows.first.size() + 1; }) &&
                        std::none_of(rows.first.begin(), rows.first.end(),
                                     [&](const auto& field) { return is_number(field, decimal_); });
    if (from_r) {
        rows.first.insert(rows.first.begin(), "");
        header = true;
        header_note_ = {};
        ++columns_;
    }
    if (header) {
        for (const std::string& field : rows.first) names_.push_back(std::string(trimmed(field)));
        names_.resize(columns_);
        first_ = records_.end_of(first_);
        if (rows.below.empty()) refuse_file(source_, Code::empty, "the file has a header line, but no rows below it");
    }
    find_nameless_index();
}

// Boundaries of pieces of whole records. Without quotes, every newline ends a record; otherwise reads each record.
std::vector<std::size_t> TextTable::borders() const {
    if (!records_.quotes) {
        std::vector<std::size_t> borders = line_pieces(records_.text.substr(first_), piece_bytes);
        for (std::size_t& border : borders) border += first_;
        return borders;
    }
    std::vector<std::size_t> borders{first_};
    for (std::size_t p = first_; p < records_.text.size();) {
        p = records_.end_of(p);
        if (p - borders.back() >= piece_bytes || p >= records_.text.size()) borders.push_back(p);
    }
    return borders;
}

// Returns the start of the next record, or nullptr if this record needs the careful parser. The text must contain a
// '\n' at or after p.
template <class Scalar>
const char* TextTable::quick_record(const char* p, const Plan& plan, Scalar* out, std::string_view* word) const {
    const char separator = records_.separator;
    const char* const end = records_.text.data() + records_.text.size();
    const auto blanks = [&] {
        while (is_blank(*p, separator)) ++p;
    };
    if (*p == '#' || separator == decimal_) return nullptr;
    for (std::size_t j = 0; j < columns_; ++j) {
        blanks();
        const char* before = p;
        if (plan.targets[j] >= 0) {
            bool overflow = false;
            if (plan.kind(j) != ColumnKind::number) return nullptr;
            p = parse_decimal(p, end, out[plan.targets[j]], overflow, decimal_);
            if (p == nullptr) return nullptr;
        } else {
            if (*p == '"') return nullptr;
            while (*p != separator && *p != '\n' && (separator != run_of_blanks || *p != '\t')) ++p;
            if (separator == run_of_blanks && p == before) return nullptr;
        }
        if (static_cast<std::ptrdiff_t>(j) == plan.words) {
            const char* stop = p;
            while (stop > before && is_blank(stop[-1], separator)) --stop;
            if (stop == before) return nullptr;
            *word = std::string_view(before, static_cast<std::size_t>(stop - before));
        }
        before = p;
        blanks();
        if (j + 1 < columns_) {
            if (separator == run_of_blanks) {
                if (p == before) return nullptr;
            } else if (*p++ != separator) {
                return nullptr;
            }
        }
    }
    return *p == '\n' ? p + 1 : nullptr;
}

template <class Scalar>
void TextTable::careful_record(std::size_t begin, std::size_t end, const Plan& plan, Scalar* out,
                               std::string_view* word) const {
    std::vector<std::string_view> fields;
    records_.split(begin, end, fields);
    if (fields.empty()) fields.emplace_back(records_.text.substr(begin, 0));
    // A bad value in an existing field is reported before a wrong number of fields.
    for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j) {
        const std::string_view field = inside_quotes(fields[j]);
        if (static_cast<std::ptrdiff_t>(j) == plan.words) {
            if (trimmed(field).empty() && !plan.blank_words && fields.size() == columns_)
                refuse_field(begin, j, {}, Code::missing_value, "the value is empty", "Give every row a value");
            *word = fields[j];
        }
        if (plan.targets[j] < 0 || fields.size() != columns_) continue;
        std::string category;
        if (plan.kind(j) == ColumnKind::category) category = trimmed(without_quotes(fields[j]));
        out[plan.targets[j]] = value_of<Scalar>(static_cast<std::size_t>(fields[j].data() - records_.text.data()), j,
                                                field, category, plan);
    }
    if (fields.size() != columns_)
        throw BadData(
            Code::wrong_shape,
            filled("{}, but the first row has {}", counted(static_cast<Index>(fields.size()), "field"), columns_),
            "Give every row as many fields",
            {.accepted = filled("{} columns", columns_), .file = source_, .line = line_at(records_.text, begin)});
}

void TextTable::count_words(std::size_t piece, const std::vector<bool>& asked, std::size_t most,
                            std::vector<ColumnWords>& columns) const {
    each_record(borders_[piece], borders_[piece + 1], [&](const auto& fields) {
        for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j) {
            const std::string_view word = trimmed(inside_quotes(fields[j]));
            if (!asked[j] || is_missing_word(word)) continue;
            count_word(columns[j], word);
            if (columns[j].distinct.size() < most)
                columns[j].distinct.insert(std::string(trimmed(without_quotes(fields[j]))));
        }
        return true;
    });
}

bool TextTable::next_record(std::size_t& at, std::vector<std::string>& fields) const {
    std::vector<std::string_view> raw;
    while (at < records_.text.size()) {
        const std::size_t begin = at;
        at = records_.end_of(begin);
        if (skips(begin, at)) continue;
        records_.split(begin, at, raw);
        fields.clear();
        for (const std::string_view field : raw) fields.push_back(without_quotes(field));
        return true;
    }
    return false;
}

void TextTable::find_rows(const Plan& plan, int threads) {
    // Empty lines at the end are not rows, unless a row may be blank: then each '\n' ends a row.
    if (!(columns_ == 1 && plan.blank_words)) {
        std::size_t size = records_.text.size();
        while (size > first_) {
            const std::size_t line = records_.text.substr(0, size - 1).rfind('\n') + 1;  // 0 if there is no '\n'
            if (line < first_ || !records_.is_empty(line, size)) break;
            size = line;
        }
        records_.text = records_.text.substr(0, size);
    }
    if (max_rows_ >= 0) {
        std::size_t p = first_;
        for (Index taken = 0; p < records_.text.size() && taken < max_rows_;) {
            const std::size_t end = records_.end_of(p);
            taken += skips(p, end) ? 0 : 1;
            p = end;
        }
        records_.text = records_.text.substr(0, p);
    }
    borders_ = borders();
    starts_.assign(borders_.size(), 0);
    for_each_block(static_cast<Index>(pieces()), threads, [&](Index piece, int) {
        const auto at = static_cast<std::size_t>(piece);
        Index rows = 0;
        for (std::size_t p = borders_[at]; p < borders_[at + 1];) {
            const std::size_t end = records_.end_of(p);
            rows += skips(p, end) ? 0 : 1;
            p = end;
        }
        starts_[at + 1] = rows;
    });
    for (std::size_t k = 1; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
    if (rows() == 0) refuse_file(source_, Code::empty, "the file has no rows");
}

template <class Scalar>
void TextTable::parse_pieces(const Plan& plan, std::size_t first, std::size_t last, Scalar* to, std::string_view* words,
                             int threads) {
    const std::size_t sentinel = records_.text.rfind('\n') + 1;  // all records before this offset end with a '\n'
    for_each_block(static_cast<Index>(last - first), threads, [&](Index piece, int) {
        const auto at = first + static_cast<std::size_t>(piece);
        Index row = starts_[at];
        for (std::size_t p = borders_[at]; p < borders_[at + 1];) {
            Scalar* out = to + (row - starts_[first]) * static_cast<Index>(plan.taken);
            std::string_view* word = plan.words >= 0 ? words + (row - starts_[first]) : nullptr;
            if (row < starts_[at + 1] && p < sentinel) {
                if (const char* next = quick_record(records_.text.data() + p, plan, out, word)) {
                    p = static_cast<std::size_t>(next - records_.text.data());
                    ++row;
                    continue;
                }
            }
            const std::size_t end = records_.end_of(p);
            if (!skips(p, end)) {
                if (row >= starts_[at + 1]) throw InternalError("more rows were parsed than counted");
                careful_record(p, end, plan, out, word);
                ++row;
            }
            p = end;
        }
        if (row != starts_[at + 1]) throw InternalError("fewer rows were parsed than counted");
        if (plan.points)
            refuse_too_large(plan, at, to + (starts_[at] - starts_[first]) * static_cast<Index>(plan.taken));
    });
    unescaped_.clear();
    if (plan.words >= 0)
        for (Index i = 0; i < starts_[last] - starts_[first]; ++i) words[i] = unquoted(words[i]);
}

Table::Field TextTable::field_at(std::size_t piece, Index row, std::size_t column) const {
    Field out;
    Index at = 0;
    each_record(borders_[piece], borders_[piece + 1], [&](const auto& fields) {
        if (at++ < row) return true;
        out = {static_cast<std::size_t>(fields[column].data() - records_.text.data()),
               std::string(inside_quotes(fields[column]))};
        return false;
    });
    return out;
}

}  // namespace

std::unique_ptr<Table> open_text_table(const Bytes& bytes, std::string_view source, bool tab_separated,
                                       const ReadOptions& options, bool one_column) {
    return std::make_unique<TextTable>(bytes, source, tab_separated, options, one_column);
}

}  // namespace coterie::io::internal
