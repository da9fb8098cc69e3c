// Separated text: csv, tsv, columns of blanks. The file stays where it is (mapped); lines are found and parsed in
// pieces, in parallel: all of them at once, or some at a time where the numbers of all would not fit into memory.
//
// Two parsers share the work. The quick one walks a record once and handles plain numbers between separators; whatever
// else it meets (quotes, a missing field, a word) it leaves to the careful one, which defines what is accepted and
// words the errors. Where words may be categories all rows are looked at before, once, for the words of each column.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <set>
#include <unordered_map>

#include "coterie/base/internal/largest_coordinate.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/io/internal/column_choice.hpp"
#include "coterie/io/internal/formats.hpp"
#include "coterie/io/internal/text_dialect.hpp"
#include "coterie/io/internal/text_header.hpp"

namespace coterie::formats {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

std::string lower(std::string_view word) {
    std::string out(word);
    for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return out;
}

bool is_label_word(std::string_view word) {
    static constexpr std::array<std::string_view, 8> words = {"label", "labels", "class",   "target",
                                                              "y",     "truth",  "cluster", "species"};
    return std::find(words.begin(), words.end(), lower(word)) != words.end();
}

// So many words of a column are told apart: more are no categories.
constexpr std::size_t most_words = 10000;

// What the fields of a column are.
struct ColumnWords {
    Index numbers = 0;
    Index dates = 0;
    Index words = 0;                 // that are neither
    std::set<std::string> distinct;  // of all three, most_words + 1 at most
    void add(ColumnWords&& other) {
        numbers += other.numbers;
        dates += other.dates;
        words += other.words;
        distinct.merge(other.distinct);
    }
};

class Table {
public:
    Table(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options, bool one_column);

    std::size_t columns() const { return columns_; }
    bool has_header() const { return !names_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    /// Whether the first column has no name among columns that have one.
    bool has_index() const { return index_; }
    const std::vector<std::string>& said() const { return said_; }
    const std::string& header_said() const { return header_said_; }
    const std::string& source() const { return records_.source; }
    ColumnNames column_names() const { return {records_.source, columns_, names_}; }
    std::string column_text(std::size_t column) const { return column_names().text(column); }
    std::size_t column(const std::string& given, std::string_view what) const {
        return column_names().position(given, what);
    }
    std::vector<std::size_t> selection(const std::vector<std::string>& given) const {
        return column_names().positions(given);
    }
    std::vector<std::size_t> named(const std::vector<std::string>& wanted) const;

    /// The number of each word of a column.
    using Dictionary = std::unordered_map<std::string_view, Index>;
    struct Plan {
        std::vector<Index> targets;                             // per column of the file: column of the matrix, or -1
        std::ptrdiff_t words = -1;                              // column whose fields are collected
        bool blank_words = false;                               // empty fields there are accepted
        std::size_t taken = 0;                                  // columns of the matrix
        bool missing = false;                                   // NaN for a value that is missing
        bool points = false;                                    // coordinates: squares of them must not overflow
        bool categories_help = false;                           // words might be taken as categories
        std::vector<ColumnKind> kinds = {};                     // per column of the file; empty: numbers
        std::vector<std::shared_ptr<Dictionary>> numbers = {};  // per column of the file, where kinds has a category

        ColumnKind kind(std::size_t j) const { return kinds.empty() ? ColumnKind::number : kinds[j]; }
    };
    /// Finds where the rows are; what follows needs it.
    void find_rows(const Plan& plan, int threads);
    Index rows() const { return starts_.back(); }
    /// Pieces of about a megabyte, each of whole rows.
    std::size_t pieces() const { return borders_.size() - 1; }
    Index rows_before(std::size_t piece) const { return starts_[piece]; }
    /// What the fields of every column are, over all rows; of those not asked for, nothing.
    std::vector<ColumnWords> words_of_columns(const std::vector<bool>& asked, std::size_t most, int threads) const;
    /// The rows of pieces first..last-1, one behind the other; words only where the plan has them.
    template <class Scalar>
    void parse(const Plan& plan, std::size_t first, std::size_t last, Scalar* to, std::string_view* words, int threads);
    /// All rows.
    template <class Scalar>
    void read(const Plan& plan, Matrix<Scalar>& matrix, std::vector<std::string_view>& words, int threads);
    /// The record at `at`, which is moved behind it, without quotes; false where there is none.
    bool next_record(std::size_t& at, std::vector<std::string>& fields) const;
    std::size_t first_record() const { return first_; }

private:
    [[noreturn]] void refuse(const std::string& text, ErrorFields fields = {}) const {
        throw BadData(records_.source + ": " + text, std::move(fields));
    }
    [[noreturn]] void refuse_field(std::size_t offset, std::size_t column, const std::string& text,
                                   std::string_view value) const;
    [[noreturn]] void refuse_missing(std::size_t offset, std::size_t column, std::string_view field,
                                     const Plan& plan) const;
    std::string why_not_a_number(std::size_t offset, std::size_t column, std::string_view field,
                                 const Plan& plan) const;
    std::string missing_text(const Plan& plan) const;

    std::string_view unquoted(std::string_view field);
    void find_header(const ReadOptions& options, const Dialect& dialect, bool one_column);
    bool skips(std::size_t begin, std::size_t end) const {
        return records_.is_comment(begin) || (columns_ != 1 && records_.is_empty(begin, end));
    }
    // Calls use(offset, fields) for the rows of [begin, end) that are not skipped, until it says false.
    template <class Use>
    void each_record(std::size_t begin, std::size_t end, Use use) const;
    std::vector<std::size_t> borders() const;

    template <class Scalar>
    const char* quick_record(const char* p, const Plan& plan, Scalar* out, std::string_view* word) const;
    template <class Scalar>
    void careful_record(std::size_t begin, std::size_t end, const Plan& plan, Scalar* out,
                        std::string_view* word) const;
    template <class Scalar>
    void refuse_too_large(const Plan& plan, std::size_t piece, const Scalar* rows) const;

    DecodedText decoded_;
    Records records_;
    char decimal_ = '.';
    std::size_t columns_ = 0;
    std::size_t first_ = 0;  // offset of the first record of data
    Index max_rows_ = -1;
    bool index_ = false;
    std::vector<std::string> names_;
    std::vector<std::string> said_;      // how the text was read, where that was guessed
    std::string header_said_;            // of a header that might surprise
    std::vector<std::size_t> borders_;   // of pieces
    std::vector<Index> starts_;          // rows before each piece, and all
    std::deque<std::string> unescaped_;  // words whose doubled quotes were undone
};

void Table::refuse_field(std::size_t offset, std::size_t column, const std::string& text,
                         std::string_view value) const {
    const Index row = line_at(records_.text, offset);
    refuse("row " + std::to_string(row) + ", column " + column_text(column) + ": " + text,
           {.value = shown(value),
            .row = row,
            .column = column < names_.size() && !names_[column].empty() ? shown(names_[column])
                                                                        : std::to_string(column + 1)});
}

std::string_view Table::unquoted(std::string_view field) {
    if (field.empty() || field.front() != '"') return field;
    const std::string_view inside = inside_quotes(field);
    if (inside.find('"') == std::string_view::npos) return trimmed(inside);
    unescaped_.push_back(without_quotes(field));
    return trimmed(unescaped_.back());
}

Table::Table(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options,
             bool one_column)
    : decoded_(decode_text(bytes, source)), max_rows_(options.max_rows) {
    records_ = {decoded_.text, std::string(source), 0, decoded_.text.find('"') != std::string_view::npos, false};
    const char given = options.separator;
    if (given == '"' || given == '\n' || given == '\r' ||
        (given != 0 && std::strchr("0123456789.+-eE", given) != nullptr))
        throw BadArgument("option `separator`: " + shown(std::string(1, given)) + " cannot separate numbers",
                          {.option = "separator", .value = std::string(1, given)});
    if (records_.text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        refuse("is empty; rows of numbers are needed");
    const Dialect dialect = find_dialect(records_, options, tab_separated, one_column);
    if (dialect.first >= records_.text.size()) refuse("has no rows");
    decimal_ = dialect.decimal;
    first_ = dialect.first;
    if (!decoded_.said.empty()) said_.push_back("from " + decoded_.said);
    said_.insert(said_.end(), dialect.said.begin(), dialect.said.end());
    find_header(options, dialect, one_column);
}

template <class Use>
void Table::each_record(std::size_t begin, std::size_t end, Use use) const {
    std::vector<std::string_view> fields;
    for (std::size_t p = begin; p < end;) {
        const std::size_t next = records_.end_of(p);
        if (!skips(p, next)) {
            records_.split(p, next, fields);
            if (!use(p, fields)) return;
        }
        p = next;
    }
}

void Table::find_header(const ReadOptions& options, const Dialect& dialect, bool one_column) {
    constexpr std::size_t looked_at = 100;
    FirstRows rows;
    rows.decimal = decimal_;
    columns_ = 2;  // an empty line is skipped unless there is one column
    std::vector<std::string_view> fields;
    records_.split(first_, records_.end_of(first_), fields);
    columns_ = std::max<std::size_t>(fields.size(), 1);
    for (const std::string_view field : fields) rows.first.push_back(without_quotes(field));
    const std::size_t first_end = records_.end_of(first_);
    bool alone = true;
    if (first_end < records_.text.size()) try {
            each_record(first_end, records_.text.size(), [&](std::size_t, const auto& below) {
                alone = false;
                auto& row = rows.below.emplace_back();
                for (const std::string_view field : below) row.push_back(without_quotes(field));
                return rows.below.size() < looked_at;
            });
        } catch (const BadData&) {  // a quote that makes no sense is told where its row is parsed
        }

    bool header = options.header == Header::yes;
    if (options.header == Header::automatic) {
        std::vector<std::string> named = options.columns;
        named.insert(named.end(), options.wanted_columns.begin(), options.wanted_columns.end());
        named.insert(named.end(), options.exclude.begin(), options.exclude.end());
        for (const auto* one : {&options.label_column, &options.id_column})
            if (!one->empty()) named.push_back(*one);
        const bool all_words = std::all_of(rows.first.begin(), rows.first.end(), [&](const std::string& word) {
            double value = 0;
            bool overflow = false;
            return !parse_field(word, value, overflow, decimal_) && !overflow && !is_missing_word(trimmed(word)) &&
                   !is_infinite_word(trimmed(word));
        });
        if (one_column) {
            header = std::find(named.begin(), named.end(), trimmed(rows.first.front())) != named.end() ||
                     (rows.first.size() == 1 && is_label_word(rows.first.front()));
            if (rows.first.size() > 1) header = guess_header(rows, named, false).is == FirstRow::names;
        } else if (alone) {
            header = all_words || guess_header(rows, named, false).is == FirstRow::names;
        } else {
            HeaderGuess guess = guess_header(rows, named, false);
            const bool words = std::all_of(rows.first.begin(), rows.first.end(), [&](const std::string& field) {
                double value = 0;
                bool overflow = false;
                return !parse_field(field, value, overflow, decimal_);
            });
            if (!words && !options.numeric_names) guess = {};
            if (guess.is == FirstRow::either) refuse(guess.said, {.row = line_at(records_.text, first_)});
            header = guess.is == FirstRow::names;
            header_said_ = guess.said;
        }
        // "# x, y" above rows of two numbers.
        if (!header && columns_ > 1 && !dialect.last_comment.empty()) {
            Records comment = records_;
            comment.text = dialect.last_comment;
            comment.quotes = comment.text.find('"') != std::string_view::npos;
            std::vector<std::string_view> words;
            try {
                comment.split(0, comment.text.size(), words);
            } catch (const BadData&) {
                words.clear();
            }
            FirstRows named_rows{{}, {rows.first}, decimal_};
            for (const std::string_view word : words) named_rows.first.push_back(without_quotes(word));
            if (words.size() == columns_ && guess_header(named_rows, named, false).is == FirstRow::names) {
                for (const auto& word : named_rows.first) names_.push_back(std::string(trimmed(word)));
                header_said_ = "the last comment line above the rows is taken for the names of columns";
            }
        }
    }
    // R writes one name fewer than there are fields in the rows: the first column holds the rows' names.
    const bool from_r = options.header != Header::no && rows.below.size() > 1 && !one_column &&
                        std::all_of(rows.below.begin(), rows.below.end(),
                                    [&](const auto& row) { return row.size() == rows.first.size() + 1; }) &&
                        std::all_of(rows.first.begin(), rows.first.end(), [&](const std::string& word) {
                            double value = 0;
                            bool overflow = false;
                            return !parse_field(word, value, overflow, decimal_);
                        });
    if (from_r) {
        rows.first.insert(rows.first.begin(), "");
        header = true;
        header_said_.clear();
        ++columns_;
    }
    if (header) {
        for (const std::string& field : rows.first) names_.push_back(std::string(trimmed(field)));
        names_.resize(columns_);
        first_ = first_end;
        if (alone) refuse("has a header line and no rows below it");
    }
    index_ = names_.size() > 1 && (names_[0].empty() || names_[0] == "Unnamed: 0") &&
             std::none_of(names_.begin() + 1, names_.end(), [](const std::string& name) { return name.empty(); });
}

std::vector<std::size_t> Table::named(const std::vector<std::string>& wanted) const {
    std::vector<std::size_t> out;
    std::string missing;
    for (const std::string& name : wanted) {
        const auto found = std::find(names_.begin(), names_.end(), name);
        if (found == names_.end()) missing += (missing.empty() ? "'" : ", '") + shown(name) + "'";
        out.push_back(static_cast<std::size_t>(found - names_.begin()));
    }
    if (!missing.empty())
        throw BadData(
            records_.source + ": column " + missing + " is missing in the header line; columns are found by name",
            {.column = missing});
    return out;
}

// Borders of pieces that end where records end. Without quotes every newline ends a record; with them records are
// walked one by one.
std::vector<std::size_t> Table::borders() const {
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

// Returns where the next record begins, nullptr when this one needs care. The text must hold a '\n' at or behind p.
template <class Scalar>
const char* Table::quick_record(const char* p, const Plan& plan, Scalar* out, std::string_view* word) const {
    const char separator = records_.separator;
    const char* const end = records_.text.data() + records_.text.size();
    const bool tab_is_blank = separator != '\t';
    const auto blanks = [&] {
        while (*p == ' ' || *p == '\r' || (*p == '\t' && tab_is_blank)) ++p;
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
void Table::careful_record(std::size_t begin, std::size_t end, const Plan& plan, Scalar* out,
                           std::string_view* word) const {
    std::vector<std::string_view> fields;
    records_.split(begin, end, fields);
    if (fields.empty()) fields.emplace_back(records_.text.substr(begin, 0));
    // Within the fields that are there, the first that is wrong is worth more than their number.
    for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j) {
        const std::string_view field = inside_quotes(fields[j]);
        if (static_cast<std::ptrdiff_t>(j) == plan.words) {
            if (trimmed(field).empty() && !plan.blank_words && fields.size() == columns_)
                refuse_field(begin, j, "the value is empty; every row needs one", {});
            *word = fields[j];
        }
        if (plan.targets[j] < 0 || fields.size() != columns_) continue;
        Scalar& value = out[plan.targets[j]];
        const std::string_view bare = trimmed(field);
        const auto offset = static_cast<std::size_t>(fields[j].data() - records_.text.data());
        if (is_missing_word(bare)) {
            if (!plan.missing) refuse_missing(offset, j, field, plan);
            value = std::numeric_limits<Scalar>::quiet_NaN();
            continue;
        }
        if (plan.kind(j) == ColumnKind::category) {
            const auto& numbers = *plan.numbers[j];
            const auto found = field.find('"') == std::string_view::npos
                                   ? numbers.find(bare)
                                   : numbers.find(trimmed(without_quotes(fields[j])));
            if (found == numbers.end()) throw InternalError(records_.source + ": a word was not seen before");
            value = static_cast<Scalar>(found->second);
            continue;
        }
        if (plan.kind(j) == ColumnKind::date) {
            const auto days = days_of_date(bare);
            if (!days)
                refuse_field(offset, j,
                             "'" + shown(field) +
                                 "' is not a date; dates such as 2026-11-23, 23.11.2026 and "
                                 "2026-11-23 14:05:30 are accepted",
                             field);
            value = static_cast<Scalar>(*days);
            continue;
        }
        bool overflow = false;
        if (parse_field(field, value, overflow, decimal_)) continue;
        const std::string type(coterie::name(scalar_type_of<Scalar>()));
        if (overflow) refuse_field(offset, j, "value '" + shown(field) + "' is too large for " + type, field);
        refuse_field(offset, j, why_not_a_number(offset, j, field, plan), field);
    }
    if (fields.size() != columns_)
        refuse("row " + std::to_string(line_at(records_.text, begin)) + ": has " + std::to_string(fields.size()) +
                   " column" + (fields.size() == 1 ? "" : "s") + ", the first row has " + std::to_string(columns_) +
                   "; every row needs as many",
               {.accepted = std::to_string(columns_) + " columns", .row = line_at(records_.text, begin)});
}

std::string Table::why_not_a_number(std::size_t offset, std::size_t column, std::string_view field,
                                    const Plan& plan) const {
    const std::string out = "value '" + shown(field) + "' is not a number";
    const std::string_view bare = trimmed(field);
    if (is_infinite_word(bare)) return out + "; infinite values are not accepted: leave the row out";
    if (days_of_date(bare)) return out + "; `dates` takes dates as numbers of days";
    if (is_like_a_number(bare)) {
        const bool comma = bare.find(',') != std::string_view::npos, point = bare.find('.') != std::string_view::npos;
        if (comma && !point && decimal_ == '.')
            return out +
                   "; the decimal sign is a point (`decimal=comma` takes a comma), and thousands are not parted: " +
                   "1234.5";
        if (point && !comma && decimal_ == ',')
            return out +
                   "; the decimal sign is a comma in this file (`decimal=point` takes a point), and thousands are " +
                   "not parted: 1234,5";
        if (bare.find('%') != std::string_view::npos || bare.find('$') != std::string_view::npos)
            return out + "; numbers have no unit beside them";
        return out + "; thousands are not parted: 1234" + decimal_ + "5";
    }
    // Is it the column, or this one value?
    Index words = 0, looked_at = 0;
    each_record(first_, records_.text.size(), [&](std::size_t, const auto& fields) {
        double number = 0;
        bool overflow = false;
        if (column < fields.size() && !parse_field(inside_quotes(fields[column]), number, overflow, decimal_)) ++words;
        return ++looked_at < 20;
    });
    std::string hint;
    if (plan.categories_help && looked_at > 1 && 2 * words > looked_at)
        hint =
            "; the column holds words: `columns=numeric` takes those of numbers alone, `exclude` leaves this one out, "
            "`categorical=one-hot` makes numbers of its words";
    else
        hint = "; numbers such as 3, -0.5 or 1e-3 are accepted";
    if (names_.empty() && line_at(records_.text, offset) == line_at(records_.text, first_))
        hint += "; `header=yes` takes the first row for the names of columns";
    return out + hint;
}

std::string Table::missing_text(const Plan& plan) const {
    std::vector<Index> missing(columns_, 0);
    each_record(first_, records_.text.size(), [&](std::size_t, const auto& fields) {
        for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j)
            if (plan.targets[j] >= 0 && is_missing_word(trimmed(inside_quotes(fields[j])))) ++missing[j];
        return true;
    });
    Index all = 0;
    std::string columns;
    int listed = 0;
    for (std::size_t j = 0; j < columns_; ++j) {
        if (missing[j] == 0) continue;
        all += missing[j];
        if (++listed <= 6)
            columns += (columns.empty() ? "" : ", ") + column_text(j) + ": " + std::to_string(missing[j]);
    }
    if (listed > 6) columns += ", ...";
    return std::to_string(all) + (all == 1 ? " value is" : " values are") + " missing in all (column " + columns + ")";
}

void Table::refuse_missing(std::size_t offset, std::size_t column, std::string_view field, const Plan& plan) const {
    const std::string_view word = trimmed(field);
    refuse_field(offset, column,
                 (word.empty() ? "the field is empty" : "value '" + shown(word) + "' stands for a missing one") + "; " +
                     missing_text(plan) +
                     (plan.categories_help
                          ? "; `missing=drop` leaves such rows out, `missing=mean` and `missing=median` fill them in"
                          : "; a number is needed in every row"),
                 field);
}

std::vector<ColumnWords> Table::words_of_columns(const std::vector<bool>& asked, std::size_t most, int threads) const {
    std::vector<std::vector<ColumnWords>> of_pieces(pieces(), std::vector<ColumnWords>(columns_));
    for_each_block(static_cast<Index>(pieces()), threads, [&](Index piece, int) {
        const auto at = static_cast<std::size_t>(piece);
        auto& columns = of_pieces[at];
        each_record(borders_[at], borders_[at + 1], [&](std::size_t, const auto& fields) {
            for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j) {
                const std::string_view word = trimmed(inside_quotes(fields[j]));
                if (!asked[j] || is_missing_word(word)) continue;
                double value = 0;
                bool overflow = false;
                ColumnWords& column = columns[j];
                if (parse_field(word, value, overflow, decimal_) || overflow)
                    ++column.numbers;
                else if (days_of_date(word))
                    ++column.dates;
                else
                    ++column.words;
                if (column.distinct.size() < most)
                    column.distinct.insert(word.find('"') == std::string_view::npos
                                               ? std::string(word)
                                               : std::string(trimmed(without_quotes(fields[j]))));
            }
            return true;
        });
    });
    std::vector<ColumnWords> out = std::move(of_pieces.front());
    for (std::size_t piece = 1; piece < of_pieces.size(); ++piece)
        for (std::size_t j = 0; j < columns_; ++j) out[j].add(std::move(of_pieces[piece][j]));
    return out;
}

bool Table::next_record(std::size_t& at, std::vector<std::string>& fields) const {
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

void Table::find_rows(const Plan& plan, int threads) {
    // Empty lines at the end are no rows, unless a row may be blank: then each '\n' ends one.
    if (!(columns_ == 1 && plan.blank_words)) {
        std::size_t size = records_.text.size();
        while (size > first_) {
            const std::size_t line = records_.text.substr(0, size - 1).rfind('\n') == std::string_view::npos
                                         ? 0
                                         : records_.text.substr(0, size - 1).rfind('\n') + 1;
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
    if (rows() == 0) refuse("has no rows");
}

template <class Scalar>
void Table::parse(const Plan& plan, std::size_t first, std::size_t last, Scalar* to, std::string_view* words,
                  int threads) {
    const std::size_t last_newline = records_.text.rfind('\n');
    const std::size_t sentinel =
        last_newline == std::string_view::npos ? 0 : last_newline + 1;  // records before have a '\n' to stop at
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
                if (row >= starts_[at + 1])
                    throw InternalError(records_.source + ": more rows were parsed than counted");
                careful_record(p, end, plan, out, word);
                ++row;
            }
            p = end;
        }
        if (row != starts_[at + 1]) throw InternalError(records_.source + ": fewer rows were parsed than counted");
        if (plan.points)
            refuse_too_large(plan, at, to + (starts_[at] - starts_[first]) * static_cast<Index>(plan.taken));
    });
    unescaped_.clear();
    if (plan.words >= 0)
        for (Index i = 0; i < starts_[last] - starts_[first]; ++i) words[i] = unquoted(words[i]);
}

// Here and not where points are checked before a fit: only the text knows in which line a row stands. The numbers of a
// piece are in the cache still.
template <class Scalar>
void Table::refuse_too_large(const Plan& plan, std::size_t piece, const Scalar* rows) const {
    const auto columns = static_cast<Index>(plan.taken);
    const auto limit = static_cast<Scalar>(internal::largest_coordinate(scalar_type_of<Scalar>(), columns));
    const Index count = (starts_[piece + 1] - starts_[piece]) * columns;
    Index at = 0;
    while (at < count && !(std::abs(rows[at]) > limit)) ++at;  // what is missing, NaN, is not
    if (at == count) return;
    const auto target = std::find(plan.targets.begin(), plan.targets.end(), at % columns);
    const auto column = static_cast<std::size_t>(target - plan.targets.begin());
    Index row = 0;
    each_record(borders_[piece], borders_[piece + 1], [&](std::size_t, const auto& fields) {
        if (row++ < at / columns) return true;
        const auto offset = static_cast<std::size_t>(fields[column].data() - records_.text.data());
        refuse_field(offset, column,
                     internal::too_large_text(static_cast<double>(rows[at]), scalar_type_of<Scalar>(), columns),
                     inside_quotes(fields[column]));
    });
}

template <class Scalar>
void Table::read(const Plan& plan, Matrix<Scalar>& matrix, std::vector<std::string_view>& words, int threads) {
    find_rows(plan, threads);
    require_memory(static_cast<double>(rows()) * (static_cast<double>(plan.taken) * sizeof(Scalar) +
                                                  (plan.words >= 0 ? sizeof(std::string_view) : 0)),
                   records_.source);
    matrix.resize(rows(), static_cast<Index>(plan.taken));
    if (plan.words >= 0) words.resize(static_cast<std::size_t>(rows()));
    parse(plan, 0, pieces(), matrix.data(), words.data(), threads);
}

template <class Scalar>
Points read_matrix(Table& table, const Table::Plan& plan, std::vector<std::string_view>& words, int threads) {
    Matrix<Scalar> matrix;
    table.read(plan, matrix, words, threads);
    return Points(std::move(matrix));
}

// The only column, the one that is called label, or the one asked for.
std::size_t single_column(const Table& table, const std::string& column, std::string_view source,
                          std::string_view what) {
    if (!column.empty()) return table.column(column, "column");
    if (table.columns() == 1) return 0;
    std::size_t found = 0;
    int matches = 0;
    for (std::size_t j = 0; j < table.names().size(); ++j)
        if (what == "label" && lower(table.names()[j]) == what) {
            found = j;
            ++matches;
        }
    if (matches == 1) return found;
    throw BadArgument(std::string(source) + ": has " + std::to_string(table.columns()) +
                      " columns; say which holds the " + std::string(what) + "s, or give a file with one");
}

// Texts that are read as one, and which columns are taken of them.
struct OpenTexts {
    std::vector<Table> tables;
    std::vector<Table::Plan> plans;
    PointsFile file;                                               // all but the points and labels
    std::vector<std::unique_ptr<std::vector<std::string>>> words;  // what dictionaries look into
};

// Columns asked for, before their words are known. `numeric`: where "numeric" stands among them.
std::vector<std::size_t> chosen_columns(const Table& table, const ReadOptions& options, std::ptrdiff_t label,
                                        std::ptrdiff_t id, bool& numeric, std::vector<std::string>& notes) {
    const bool by_name = options.columns.empty() && !options.wanted_columns.empty() && table.has_header();
    if (by_name) return table.named(options.wanted_columns);
    std::vector<std::string> asked = options.columns;
    const auto is_numeric = [&](const std::string& word) {
        return word == "numeric" && std::find(table.names().begin(), table.names().end(), word) == table.names().end();
    };
    numeric = std::any_of(asked.begin(), asked.end(), is_numeric);
    std::erase_if(asked, is_numeric);
    std::vector<std::size_t> chosen = table.selection(asked);
    const std::vector<std::size_t> excluded = table.selection(options.exclude);
    const auto holds = [](const std::vector<std::size_t>& some, std::size_t j) {
        return std::find(some.begin(), some.end(), j) != some.end();
    };
    for (const std::size_t j : excluded)
        if (holds(chosen, j))
            throw BadArgument(table.source() + ": column " + table.column_text(j) +
                                  " is asked for by `columns` and left " + "out by `exclude`",
                              {.option = "exclude", .column = table.column_text(j)});
    if (!options.columns.empty() && !numeric) return chosen;
    for (std::size_t j = 0; j < table.columns(); ++j) {
        if (static_cast<std::ptrdiff_t>(j) == label || static_cast<std::ptrdiff_t>(j) == id) continue;
        if (holds(excluded, j) || holds(chosen, j)) continue;
        if (j == 0 && table.has_index()) {
            notes.push_back(
                "column 1 has no name and is taken for the rows' own names or numbers, not for a coordinate; "
                "`columns` names the columns to take");
            continue;
        }
        chosen.push_back(j);
    }
    return chosen;
}

// Of the columns chosen: what they are, and which are left out because they hold words.
void find_kinds(OpenTexts& texts, std::vector<std::size_t>& chosen, const ReadOptions& options, bool numeric,
                int threads) {
    const Table& first = texts.tables.front();
    std::vector<ColumnKind> kinds(first.columns(), ColumnKind::number);
    const bool told = options.wanted_kinds.size() == chosen.size();
    std::vector<bool> asked(first.columns(), false);
    for (std::size_t c = 0; c < chosen.size(); ++c) {
        asked[chosen[c]] = !told || options.wanted_kinds[c] == ColumnKind::category;
        if (told) kinds[chosen[c]] = options.wanted_kinds[c];
    }
    const bool looks = numeric || options.dates || options.words != WordColumns::refuse;
    if (!(told ? std::find(asked.begin(), asked.end(), true) != asked.end() : looks)) {
        for (auto& plan : texts.plans) plan.kinds = told ? kinds : std::vector<ColumnKind>();
        return;
    }
    std::vector<ColumnWords> found(first.columns());
    Index rows = 0;
    for (const Table& table : texts.tables) {
        auto more = table.words_of_columns(asked, told ? std::numeric_limits<std::size_t>::max() : most_words, threads);
        for (std::size_t j = 0; j < found.size(); ++j) found[j].add(std::move(more[j]));
        rows += table.rows();
    }
    std::vector<std::size_t> taken;
    std::string left_out;
    for (const std::size_t j : chosen) {
        ColumnWords& column = found[j];
        if (!told) {
            const Index others = column.words + (options.dates ? 0 : column.dates);
            if (options.dates && column.dates > 0 && column.dates >= column.words + column.numbers)
                kinds[j] = ColumnKind::date;
            // One word among many numbers is a value that went wrong, and is refused where it stands.
            else if (others > 0 && others >= column.numbers)
                kinds[j] = ColumnKind::category;
        }
        const bool is_words = kinds[j] == ColumnKind::category;
        if (is_words && !told && (numeric || options.words == WordColumns::leave_out)) {
            left_out += (left_out.empty() ? "" : ", ") + first.column_text(j);
            continue;
        }
        if (is_words && !told && options.words == WordColumns::refuse) kinds[j] = ColumnKind::number;
        if (kinds[j] == ColumnKind::category && !told && column.distinct.size() > 20 &&
            (2 * static_cast<Index>(column.distinct.size()) > rows || column.distinct.size() > 1000))
            throw BadData(first.source() + ": column " + first.column_text(j) + ": " +
                              (column.distinct.size() >= most_words ? "more than " : "") +
                              std::to_string(column.distinct.size()) + " different words in " + std::to_string(rows) +
                              " rows are no categories; `exclude` leaves the column out, `id_column` carries it to the "
                              "labels",
                          {.column = first.column_text(j)});
        taken.push_back(j);
    }
    if (!left_out.empty()) texts.file.notes.push_back("left out, as they hold words: column " + left_out);
    chosen = taken;
    texts.words.resize(first.columns());
    for (const std::size_t j : chosen) {
        if (kinds[j] != ColumnKind::category) continue;
        auto& words = texts.words[j] =
            std::make_unique<std::vector<std::string>>(found[j].distinct.begin(), found[j].distinct.end());
        const auto numbers = std::make_shared<Table::Dictionary>();
        for (std::size_t w = 0; w < words->size(); ++w) numbers->emplace((*words)[w], static_cast<Index>(w));
        for (auto& plan : texts.plans) {
            plan.numbers.resize(first.columns());
            plan.numbers[j] = numbers;
        }
    }
    for (auto& plan : texts.plans) plan.kinds = kinds;
}

OpenTexts open_texts(std::span<const TextSource> sources, const ReadOptions& options, const Run& run) {
    OpenTexts out;
    std::vector<std::size_t> chosen;
    bool numeric = false;
    for (const TextSource& source : sources) {
        const Table& table = out.tables.emplace_back(source.bytes, source.name, source.tab_separated, options, false);
        Table::Plan& plan = out.plans.emplace_back();
        plan.targets.assign(table.columns(), -1);
        plan.missing = options.missing;
        plan.points = true;
        plan.categories_help = options.words == WordColumns::refuse;
        if (!options.label_column.empty())
            plan.words = static_cast<std::ptrdiff_t>(table.column(options.label_column, "label column"));
        plan.blank_words = true;
        const auto id = options.id_column.empty()
                            ? std::ptrdiff_t{-1}
                            : static_cast<std::ptrdiff_t>(table.column(options.id_column, "id column"));
        std::vector<std::string> notes;
        const auto these = chosen_columns(table, options, plan.words, id, numeric, notes);
        if (these.empty())
            throw BadData(source.name + ": has no column but " + (id >= 0 ? "those left out" : "the labels") +
                          "; at least one column of numbers is needed");
        for (const std::size_t j : these)
            for (const auto& [which, what] : {std::pair(plan.words, "label"), {id, "id"}})
                if (static_cast<std::ptrdiff_t>(j) == which)
                    throw BadArgument(source.name + ": column " + std::to_string(j + 1) +
                                          " is asked for as coordinate and as " + what,
                                      {.option = "columns", .column = std::to_string(j + 1)});
        const auto refuse = [&](const std::string& what, const std::string& first_has) {
            throw BadData(source.name + ": " + what + ", but " + sources.front().name + " has " + first_has +
                              "; files that are read as one must agree",
                          {.file = source.name});
        };
        if (out.tables.size() == 1) {
            chosen = these;
            out.file.notes = notes;
            std::string said;
            for (const auto& each : table.said()) said += (said.empty() ? "" : ", ") + each;
            if (!said.empty()) out.file.reading = source.name + " is read as follows: " + said;
            if (!table.header_said().empty()) out.file.notes.insert(out.file.notes.begin(), table.header_said());
        } else {
            const Table& first = out.tables.front();
            if (these.size() != chosen.size())
                refuse(std::to_string(these.size()) + " columns", std::to_string(chosen.size()));
            if (table.has_header() != first.has_header() ||
                (table.has_header() && !std::equal(these.begin(), these.end(), chosen.begin(), [&](auto a, auto b) {
                     return table.names()[a] == first.names()[b];
                 }))) {
                const auto listed = [](const Table& of, const std::vector<std::size_t>& which) {
                    std::string text;
                    if (of.has_header())
                        for (const auto j : which) text += (text.empty() ? "" : ", ") + shown(of.names()[j]);
                    return text.empty() ? "no header line" : "the columns " + text;
                };
                refuse(listed(table, these), listed(first, chosen));
            }
            if (these != chosen || table.columns() != first.columns())
                refuse("columns in another order", "them otherwise");
        }
        run.throw_if_stopped("reading");
        out.tables.back().find_rows(plan, run.threads);
        if (sources.size() > 1) out.file.parts.push_back({source.name, out.tables.back().rows()});
    }
    find_kinds(out, chosen, options, numeric, run.threads);
    if (chosen.empty())
        throw BadData(sources.front().name +
                      ": has no column of numbers; `categorical=one-hot` makes numbers of words");
    const Table& first = out.tables.front();
    for (const std::size_t j : chosen) {
        for (auto& plan : out.plans) plan.targets[j] = static_cast<Index>(plan.taken++);
        if (first.has_header()) out.file.column_names.push_back(first.names()[j]);
        if (out.plans.front().kinds.empty()) continue;
        out.file.kinds.push_back(out.plans.front().kinds[j]);
        out.file.categories.push_back(j < out.words.size() && out.words[j] ? *out.words[j]
                                                                           : std::vector<std::string>());
    }
    return out;
}

// The rows of texts as they stand there.
class RowsOfTexts : public TableRows {
public:
    struct Texts {
        std::vector<Table> tables;
        std::vector<Bytes> bytes;
        std::vector<std::string> names;
        std::ptrdiff_t id = -1;
    };
    explicit RowsOfTexts(std::shared_ptr<const Texts> texts)
        : texts_(std::move(texts)), at_(texts_->tables.front().first_record()) {}
    const std::vector<std::string>& names() const override { return texts_->names; }
    std::ptrdiff_t id_column() const override { return texts_->id; }
    std::unique_ptr<TableRows> from_start() const override { return std::make_unique<RowsOfTexts>(texts_); }
    bool next(std::vector<std::string>& fields) override {
        const auto& tables = texts_->tables;
        while (!tables[table_].next_record(at_, fields)) {
            if (table_ + 1 == tables.size()) return false;
            at_ = tables[++table_].first_record();
        }
        return true;
    }

private:
    std::shared_ptr<const Texts> texts_;
    std::size_t table_ = 0;
    std::size_t at_ = 0;
};

void keep_rows(OpenTexts& texts, std::span<const TextSource> sources, const ReadOptions& options) {
    if (!options.keep_rows && options.id_column.empty()) return;
    const Table& first = texts.tables.front();
    const auto id = options.id_column.empty()
                        ? std::ptrdiff_t{-1}
                        : static_cast<std::ptrdiff_t>(first.column(options.id_column, "id column"));
    auto kept = std::make_shared<RowsOfTexts::Texts>();
    for (const auto& source : sources) kept->bytes.push_back(source.bytes);
    kept->names = first.names();
    for (std::size_t j = kept->names.size(); j < first.columns(); ++j)
        kept->names.push_back("column-" + std::to_string(j + 1));
    kept->id = id;
    kept->tables = std::move(texts.tables);
    texts.file.rows = std::make_shared<RowsOfTexts>(std::move(kept));
}

}  // namespace

PointsFile parse_text(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options,
                      int threads) {
    const TextSource sources[] = {{std::string(source), bytes, tab_separated}};
    OpenTexts texts = open_texts(sources, options, Run(0, threads));
    Table& table = texts.tables.front();
    std::vector<std::string_view> words;
    Points points = options.precision == Precision::float32
                        ? read_matrix<float>(table, texts.plans.front(), words, threads)
                        : read_matrix<double>(table, texts.plans.front(), words, threads);
    if (texts.plans.front().words >= 0) texts.file.labels = labels_of_words(words);
    texts.file.points = std::move(points);
    keep_rows(texts, sources, options);
    return std::move(texts.file);
}

PointsFile parse_texts(std::span<const TextSource> sources, const ReadOptions& options, const Run& run,
                       FunctionRef<void(Index rows, Index columns, ScalarType scalar)> begin,
                       FunctionRef<void(PointsView rows)> take) {
    OpenTexts texts = open_texts(sources, options, run);
    std::vector<Table>& tables = texts.tables;
    const std::vector<Table::Plan>& plans = texts.plans;
    Index rows = 0;
    for (const Table& table : tables) rows += table.rows();
    const auto columns = static_cast<Index>(plans.front().taken);
    const bool labelled = plans.front().words >= 0;
    // A word is kept once: as many as there are different ones, and a number per row.
    Labels word_of_row;
    std::unordered_map<std::string, std::int32_t> numbers;
    std::vector<std::string_view> distinct;  // into `numbers`, whose keys stay where they are
    const auto read_all = [&]<class Scalar>(Scalar) {
        begin(rows, columns, scalar_type_of<Scalar>());
        std::vector<Scalar> block;
        std::vector<std::string_view> words;
        const auto pieces = static_cast<std::size_t>(std::max(1, run.threads)) * 2;
        Index before = 0;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            for (std::size_t piece = 0; piece < tables[t].pieces(); piece += pieces) {
                run.throw_if_stopped("reading");
                const std::size_t last = std::min(tables[t].pieces(), piece + pieces);
                const Index count = tables[t].rows_before(last) - tables[t].rows_before(piece);
                block.resize(static_cast<std::size_t>(count * columns));
                if (labelled) words.resize(static_cast<std::size_t>(count));
                tables[t].parse(plans[t], piece, last, block.data(), words.data(), run.threads);
                for (const std::string_view word : words) {
                    const auto [found, added] =
                        numbers.emplace(std::string(word), static_cast<std::int32_t>(numbers.size()));
                    if (added) distinct.push_back(found->first);
                    word_of_row.push_back(found->second);
                }
                take(PointsView(block.data(), count, columns));
                run.report(
                    {.stage = "reading",
                     .fraction = static_cast<double>(before + tables[t].rows_before(last)) / static_cast<double>(rows),
                     .objective = std::numeric_limits<double>::quiet_NaN()});
            }
            before += tables[t].rows();
        }
    };
    if (options.precision == Precision::float32)
        read_all(float());
    else
        read_all(double());
    if (labelled) {
        texts.file.labels = labels_of_words(distinct);
        for (auto& label : word_of_row) label = texts.file.labels->labels[static_cast<std::size_t>(label)];
        texts.file.labels->labels = std::move(word_of_row);
    }
    keep_rows(texts, sources, options);
    return std::move(texts.file);
}

LabelColumn parse_text_labels(const Bytes& bytes, std::string_view source, bool tab_separated,
                              const std::string& column, bool allow_blank, int threads) {
    ReadOptions options;
    options.label_column = column;
    Table table(bytes, source, tab_separated, options, true);
    Table::Plan plan;
    plan.targets.assign(table.columns(), -1);
    plan.words = static_cast<std::ptrdiff_t>(single_column(table, column, source, "label"));
    plan.blank_words = allow_blank;
    table.find_rows(plan, threads);
    std::vector<std::string_view> words;
    read_matrix<float>(table, plan, words, threads);
    return labels_of_words(words);
}

std::vector<double> parse_text_numbers(const Bytes& bytes, std::string_view source, bool tab_separated,
                                       const std::string& column, int threads) {
    ReadOptions options;
    if (!column.empty()) options.columns = {column};
    Table table(bytes, source, tab_separated, options, false);
    Table::Plan plan;
    plan.targets.assign(table.columns(), -1);
    plan.targets[single_column(table, column, source, "number")] = 0;
    plan.taken = 1;
    std::vector<std::string_view> words;
    Matrix<double> matrix;
    table.find_rows(plan, threads);
    table.read(plan, matrix, words, threads);
    return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace coterie::formats
