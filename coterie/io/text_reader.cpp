// Separated text: csv, tsv, columns of blanks. The file stays where it is (mapped); lines are found and parsed in
// pieces, in parallel: all of them at once, or some at a time where the numbers of all would not fit into memory.
//
// Two parsers share the work. The quick one walks a record once and handles plain numbers between separators; whatever
// else it meets (quotes, a missing field, a word) it leaves to the careful one, which defines what is accepted and
// words the errors.

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <deque>
#include <limits>
#include <unordered_map>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/io/internal/formats.hpp"

namespace coterie::formats {
namespace {

constexpr char whitespace = ' ';  // as a separator: any run of blanks and tabs
constexpr std::size_t piece_bytes = std::size_t{1} << 20;

bool is_whole(std::string_view text, std::int64_t& value) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    return !text.empty() && result.ec == std::errc() && result.ptr == text.data() + text.size();
}

bool is_number(std::string_view word) {
    double value = 0;
    bool overflow = false;
    return parse_field(word, value, overflow) || overflow;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

// Words that stand for a number that is not there: they make no header.
bool is_missing_word(std::string_view word) {
    static constexpr std::array<std::string_view, 18> words = {
        "",    "?",    "-",    "na",       "n/a",       "nan",  "null", "none", "nil",
        "inf", "+inf", "-inf", "infinity", "-infinity", "-nan", "#n/a", ".",    "missing"};
    return std::find(words.begin(), words.end(), lower(word)) != words.end();
}

bool is_label_word(std::string_view word) {
    static constexpr std::array<std::string_view, 8> words = {"label", "labels", "class",   "target",
                                                              "y",     "truth",  "cluster", "species"};
    return std::find(words.begin(), words.end(), lower(word)) != words.end();
}

// Blanks that mean nothing beside a field; a tab that separates is none.
bool is_blank(char c, char separator) { return c == ' ' || c == '\r' || (c == '\t' && separator != '\t'); }

class Table {
public:
    Table(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options, bool one_column);

    std::size_t columns() const { return columns_; }
    bool has_header() const { return !names_.empty(); }
    const std::vector<std::string>& names() const { return names_; }

    /// Position of a column given by name or number (from 1, -1 the last).
    std::size_t column(const std::string& given, std::string_view what) const;
    /// Positions of names, numbers and ranges, in order.
    std::vector<std::size_t> selection(const std::vector<std::string>& given) const;
    std::vector<std::size_t> named(const std::vector<std::string>& wanted) const;

    struct Plan {
        std::vector<Index> targets;  // per column of the file: column of the matrix, or -1
        std::ptrdiff_t words = -1;   // column whose fields are collected
        bool blank_words = false;    // empty fields there are accepted
        std::size_t taken = 0;       // columns of the matrix
    };
    /// Finds where the rows are; what follows needs it.
    void find_rows(const Plan& plan, int threads);
    Index rows() const { return starts_.back(); }
    /// Pieces of about a megabyte, each of whole rows.
    std::size_t pieces() const { return borders_.size() - 1; }
    Index rows_before(std::size_t piece) const { return starts_[piece]; }
    /// The rows of pieces first..last-1, one behind the other; words only where the plan has them.
    template <class Scalar>
    void parse(const Plan& plan, std::size_t first, std::size_t last, Scalar* to, std::string_view* words, int threads);
    /// All rows.
    template <class Scalar>
    void read(const Plan& plan, Matrix<Scalar>& matrix, std::vector<std::string_view>& words, int threads);

private:
    [[noreturn]] void refuse(const std::string& text, ErrorFields fields = {}) const {
        throw BadData(source_ + ": " + text, std::move(fields));
    }
    [[noreturn]] void refuse_field(std::size_t offset, std::size_t column, const std::string& text,
                                   std::string_view value) const;
    std::string column_text(std::size_t column) const;

    std::size_t record_end(std::size_t begin) const;  // just behind the record's '\n', or the end of the text
    bool is_empty_record(std::size_t begin, std::size_t end) const;
    void split(std::size_t begin, std::size_t end, char separator, std::vector<std::string_view>& fields) const;
    std::string_view unquoted(std::string_view field);
    void guess_separator();
    void find_header(const ReadOptions& options, bool one_column);
    bool skips(std::size_t begin, std::size_t end) const { return columns_ != 1 && is_empty_record(begin, end); }
    std::vector<std::size_t> borders() const;

    template <class Scalar>
    const char* quick_record(const char* p, const Plan& plan, Scalar* out, std::string_view* word) const;
    template <class Scalar>
    void careful_record(std::size_t begin, std::size_t end, const Plan& plan, Scalar* out,
                        std::string_view* word) const;

    std::string_view text_;
    std::string source_;
    char separator_ = 0;
    bool quotes_ = false;
    std::size_t columns_ = 0;
    std::size_t first_ = 0;  // offset of the first record of data
    Index max_rows_ = -1;
    std::vector<std::string> names_;
    std::vector<std::size_t> borders_;   // of pieces
    std::vector<Index> starts_;          // rows before each piece, and all
    std::deque<std::string> unescaped_;  // words whose doubled quotes were undone
};

void Table::refuse_field(std::size_t offset, std::size_t column, const std::string& text,
                         std::string_view value) const {
    const Index row = line_at(text_, offset);
    refuse("row " + std::to_string(row) + ", column " + column_text(column) + ": " + text,
           {.value = shown(value),
            .row = row,
            .column = column < names_.size() && !names_[column].empty() ? shown(names_[column])
                                                                        : std::to_string(column + 1)});
}

std::string Table::column_text(std::size_t column) const {
    std::string out = std::to_string(column + 1);
    if (column < names_.size()) out += " (" + shown(names_[column]) + ")";
    return out;
}

std::size_t Table::record_end(std::size_t begin) const {
    const char* const data = text_.data();
    const void* newline = std::memchr(data + begin, '\n', text_.size() - begin);
    std::size_t end = newline ? static_cast<std::size_t>(static_cast<const char*>(newline) - data) + 1 : text_.size();
    if (!quotes_ || std::memchr(data + begin, '"', end - begin) == nullptr) return end;
    // A quote opens a quoted field only at the field's start; inside, doubled quotes stand for one and newlines for
    // themselves.
    bool at_start = true;
    for (std::size_t p = begin; p < text_.size(); ++p) {
        const char c = data[p];
        if (c == '\n') return p + 1;
        if (c == '"' && at_start) {
            const std::size_t opened = p;
            for (;;) {
                const void* quote =
                    p + 1 < text_.size() ? std::memchr(data + p + 1, '"', text_.size() - p - 1) : nullptr;
                if (quote == nullptr)
                    refuse("row " + std::to_string(line_at(text_, opened)) + ": a quoted field begins with " +
                               shown(text_.substr(opened, 20)) + " and never ends; a closing \" is missing",
                           {.row = line_at(text_, opened)});
                p = static_cast<std::size_t>(static_cast<const char*>(quote) - data);
                if (p + 1 >= text_.size() || data[p + 1] != '"') break;
                ++p;
            }
            at_start = false;
        } else if (c == separator_ || (separator_ == whitespace && c == '\t')) {
            at_start = true;
        } else if (!is_blank(c, separator_)) {
            at_start = false;
        }
    }
    return text_.size();
}

bool Table::is_empty_record(std::size_t begin, std::size_t end) const {
    for (std::size_t p = begin; p < end; ++p)
        if (text_[p] != '\n' && !is_blank(text_[p], separator_)) return false;
    return true;
}

// Raw fields (quotes kept, blanks trimmed) of the record [begin, end).
void Table::split(std::size_t begin, std::size_t end, char separator, std::vector<std::string_view>& fields) const {
    fields.clear();
    std::size_t p = begin;
    if (end > p && text_[end - 1] == '\n') --end;
    const auto blanks = [&] {
        while (p < end && is_blank(text_[p], separator)) ++p;
    };
    for (;;) {
        blanks();
        if (separator == whitespace && p == end) return;
        const std::size_t start = p;
        if (p < end && text_[p] == '"') {
            ++p;
            while (p < end && (text_[p] != '"' || (p + 1 < end && text_[p + 1] == '"'))) p += text_[p] == '"' ? 2 : 1;
            p = std::min(p + 1, end);
            const std::size_t closed = p;
            blanks();
            const bool separated = p == end || text_[p] == separator || (separator == whitespace && p > closed);
            if (!separated)
                refuse_field(start, fields.size(),
                             "text follows the closing quote of " + shown(text_.substr(start, closed - start)) +
                                 "; a separator is needed, and \"\" for a quote inside",
                             text_.substr(start, closed - start));
            fields.push_back(text_.substr(start, closed - start));
        } else {
            while (p < end && text_[p] != separator && !(separator == whitespace && text_[p] == '\t')) ++p;
            std::size_t stop = p;
            while (stop > start && is_blank(text_[stop - 1], separator)) --stop;
            fields.push_back(text_.substr(start, stop - start));
        }
        if (separator == whitespace) continue;
        if (p >= end) return;
        ++p;  // the separator
    }
}

std::string_view inside_quotes(std::string_view field) {
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
    return field;
}

std::string without_quotes(std::string_view field) {
    if (field.empty() || field.front() != '"') return std::string(field);
    std::string out;
    field = inside_quotes(field);
    for (std::size_t i = 0; i < field.size(); ++i) {
        out += field[i];
        if (field[i] == '"' && i + 1 < field.size() && field[i + 1] == '"') ++i;
    }
    return out;
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
    : text_(bytes.text(), bytes.size()), source_(source), separator_(options.separator), max_rows_(options.max_rows) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff")) refuse("is UTF-16 text; save it as UTF-8");
    if (text_.substr(0, 4096).find('\0') != std::string_view::npos) refuse("is not text (it holds zero bytes)");
    quotes_ = text_.find('"') != std::string_view::npos;
    if (separator_ == '"' || separator_ == '\n' || separator_ == '\r' ||
        (separator_ != 0 && std::strchr("0123456789.+-eE", separator_) != nullptr))
        throw BadArgument("option `separator`: " + shown(std::string(1, separator_)) + " cannot separate numbers",
                          {.option = "separator", .value = std::string(1, separator_)});
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) refuse("is empty; rows of numbers are needed");
    if (separator_ == 0 && tab_separated) separator_ = '\t';
    // An empty first line says nothing about columns.
    const std::size_t keep = one_column ? 0 : text_.find_first_not_of(" \t\r\n");
    first_ = keep == 0 ? 0 : text_.rfind('\n', keep) == std::string_view::npos ? 0 : text_.rfind('\n', keep) + 1;
    if (separator_ == 0) guess_separator();
    find_header(options, one_column);
}

// Candidates must cut the first lines into equally many fields; the one that yields most numbers wins, the earlier of
// equals.
void Table::guess_separator() {
    constexpr std::array<char, 4> candidates = {',', ';', '\t', whitespace};
    std::size_t best_score = 0;
    char best = 0;
    for (const char candidate : candidates) {
        separator_ = candidate;
        std::vector<std::string_view> fields;
        std::size_t width = 0, numbers = 0;
        bool consistent = true;
        std::size_t begin = first_;
        for (int line = 0; line < 10 && begin < text_.size() && consistent;) {
            std::size_t end = 0;
            try {
                end = record_end(begin);
                split(begin, end, candidate, fields);
            } catch (const BadData&) {  // a quote that makes no sense with this candidate
                consistent = false;
                break;
            }
            if (!is_empty_record(begin, end)) {
                if (line == 0) width = fields.size();
                consistent = fields.size() == width;
                for (const std::string_view field : fields) numbers += is_number(inside_quotes(field)) ? 1 : 0;
                ++line;
            }
            begin = end;
        }
        if (width < 2) continue;
        // Words with blanks in them ("New York") are no columns; words with commas are.
        if (candidate == whitespace && numbers == 0) continue;
        const std::size_t score = consistent ? 1000000 + numbers : numbers;
        if (best == 0 || score > best_score) {
            best = candidate;
            best_score = score;
        }
    }
    separator_ = best == 0 ? ',' : best;
}

void Table::find_header(const ReadOptions& options, bool one_column) {
    const std::size_t first_end = record_end(first_);
    std::vector<std::string_view> fields, below;
    split(first_, first_end, separator_, fields);
    columns_ = std::max<std::size_t>(fields.size(), 1);
    std::size_t second = first_end;
    while (second < text_.size() && skips(second, record_end(second))) second = record_end(second);
    const bool alone = second >= text_.size();
    if (!alone) split(second, record_end(second), separator_, below);

    bool header = options.header == Header::yes;
    if (options.header == Header::automatic) {
        bool all_words = true;
        for (std::size_t j = 0; j < fields.size(); ++j) {
            const std::string word = without_quotes(fields[j]);
            const bool name_like = !is_number(word) && !is_missing_word(word);
            all_words = all_words && name_like;
            if (!name_like) continue;
            header = header || (j < below.size() && is_number(inside_quotes(below[j])));
            header = header || (!options.label_column.empty() && word == options.label_column);
            for (const auto* named : {&options.columns, &options.wanted_columns})
                header = header || std::find(named->begin(), named->end(), word) != named->end();
        }
        header = header || (alone && all_words && !one_column);
        header = header || (one_column && fields.size() == 1 && is_label_word(without_quotes(fields[0])));
    }
    if (!header) return;
    for (const std::string_view field : fields) names_.push_back(std::string(trimmed(without_quotes(field))));
    names_.resize(columns_);
    first_ = first_end;
    if (alone) refuse("has a header line and no rows below it");
}

std::size_t Table::column(const std::string& given, std::string_view what) const {
    const std::string_view word = trimmed(given);
    const auto named = std::count(names_.begin(), names_.end(), word);
    std::int64_t number = 0;
    const bool numbered = is_whole(word, number);
    if (named > 1 && !numbered)
        throw BadArgument(source_ + ": " + std::string(what) + " '" + given + "' names " + std::to_string(named) +
                              " columns; give its number",
                          {.column = given});
    if (numbered && named != 1) {
        const auto last = static_cast<std::int64_t>(columns_);
        if (number >= 1 && number <= last) return static_cast<std::size_t>(number - 1);
        if (number < 0 && number >= -last) return static_cast<std::size_t>(last + number);
        throw BadArgument(source_ + ": " + std::string(what) + " " + given +
                              " is not there; columns are numbered from 1 to " + std::to_string(last) +
                              ", -1 is the last",
                          {.accepted = "from 1 to " + std::to_string(last) + ", -1 is the last", .column = given});
    }
    if (named == 1) return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), word) - names_.begin());
    std::string list;
    for (const std::string& name : names_) {
        if (list.size() > 500) {
            list += ", ...";
            break;
        }
        list += (list.empty() ? "" : ", ") + shown(name);
    }
    throw BadArgument(
        source_ + ": " + std::string(what) + " '" + shown(given) + "' is not there; " +
            (names_.empty() ? "the file has no header line: columns are numbered from 1 to " + std::to_string(columns_)
                            : "there are " + list),
        {.accepted = names_.empty() ? "from 1 to " + std::to_string(columns_) : list, .column = given});
}

std::vector<std::size_t> Table::selection(const std::vector<std::string>& given) const {
    std::vector<std::size_t> out;
    for (const std::string& word : given) {
        const std::size_t dash = word.find('-', 1);
        std::int64_t from = 0, to = 0;
        if (dash != std::string::npos && is_whole(trimmed(word.substr(0, dash)), from) &&
            is_whole(trimmed(word.substr(dash + 1)), to)) {
            const std::size_t low = column(std::to_string(from), "column"), high = column(std::to_string(to), "column");
            if (low > high)
                throw BadArgument(source_ + ": columns " + word + " run backwards; give the smaller number first",
                                  {.option = "columns", .value = word});
            for (std::size_t j = low; j <= high; ++j) out.push_back(j);
        } else {
            out.push_back(column(word, "column"));
        }
    }
    std::vector<std::size_t> sorted = out;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        throw BadArgument(source_ + ": column " + column_text(*twice) + " is asked for twice",
                          {.option = "columns", .column = column_text(*twice)});
    return out;
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
        throw BadData(source_ + ": column " + missing + " is missing in the header line; columns are found by name",
                      {.column = missing});
    return out;
}

// Borders of pieces that end where records end. Without quotes every newline ends a record; with them records are
// walked one by one.
std::vector<std::size_t> Table::borders() const {
    if (!quotes_) {
        std::vector<std::size_t> borders = line_pieces(text_.substr(first_), piece_bytes);
        for (std::size_t& border : borders) border += first_;
        return borders;
    }
    std::vector<std::size_t> borders{first_};
    for (std::size_t p = first_; p < text_.size();) {
        p = record_end(p);
        if (p - borders.back() >= piece_bytes || p >= text_.size()) borders.push_back(p);
    }
    return borders;
}

// Returns where the next record begins, nullptr when this one needs care. The text must hold a '\n' at or behind p.
template <class Scalar>
const char* Table::quick_record(const char* p, const Plan& plan, Scalar* out, std::string_view* word) const {
    const char separator = separator_;
    const char* const end = text_.data() + text_.size();
    const bool tab_is_blank = separator != '\t';
    const auto blanks = [&] {
        while (*p == ' ' || *p == '\r' || (*p == '\t' && tab_is_blank)) ++p;
    };
    for (std::size_t j = 0; j < columns_; ++j) {
        blanks();
        const char* before = p;
        if (plan.targets[j] >= 0) {
            bool overflow = false;
            p = parse_decimal(p, end, out[plan.targets[j]], overflow);
            if (p == nullptr) return nullptr;
        } else {
            if (*p == '"') return nullptr;
            while (*p != separator && *p != '\n' && (separator != whitespace || *p != '\t')) ++p;
            if (separator == whitespace && p == before) return nullptr;
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
            if (separator == whitespace) {
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
    split(begin, end, separator_, fields);
    if (fields.empty()) fields.emplace_back(text_.substr(begin, 0));
    // Within the fields that are there, the first that is wrong is worth more than their number.
    for (std::size_t j = 0; j < std::min(fields.size(), columns_); ++j) {
        const std::string_view field = inside_quotes(fields[j]);
        if (static_cast<std::ptrdiff_t>(j) == plan.words) {
            if (trimmed(field).empty() && !plan.blank_words && fields.size() == columns_)
                refuse_field(begin, j, "the value is empty; every row needs one", {});
            *word = fields[j];
        }
        if (plan.targets[j] < 0 || fields.size() != columns_) continue;
        bool overflow = false;
        if (parse_field(field, out[plan.targets[j]], overflow)) continue;
        const auto offset = static_cast<std::size_t>(fields[j].data() - text_.data());
        const std::string type(coterie::name(scalar_type_of<Scalar>()));
        if (overflow) refuse_field(offset, j, "value '" + shown(field) + "' is too large for " + type, field);
        if (trimmed(field).empty())
            refuse_field(offset, j,
                         "the field is empty; a number is needed (fill in or leave out rows with missing values)",
                         field);
        std::string hint = "value '" + shown(field) + "' is not a number";
        if (is_missing_word(trimmed(field)))
            hint += "; missing and infinite values are not accepted: fill them in or leave the row out";
        else if (field.find(',') != std::string_view::npos && separator_ != ',')
            hint += "; the decimal sign is a point";
        else
            hint += "; numbers such as 3, -0.5 or 1e-3 are accepted";
        refuse_field(offset, j, hint, field);
    }
    if (fields.size() != columns_)
        refuse("row " + std::to_string(line_at(text_, begin)) + ": has " + std::to_string(fields.size()) + " column" +
                   (fields.size() == 1 ? "" : "s") + ", the first row has " + std::to_string(columns_) +
                   "; every row needs as many",
               {.accepted = std::to_string(columns_) + " columns", .row = line_at(text_, begin)});
}

void Table::find_rows(const Plan& plan, int threads) {
    // Empty lines at the end are no rows, unless a row may be blank: then each '\n' ends one.
    if (!(columns_ == 1 && plan.blank_words)) {
        std::size_t size = text_.size();
        while (size > first_) {
            const std::size_t line = text_.substr(0, size - 1).rfind('\n') == std::string_view::npos
                                         ? 0
                                         : text_.substr(0, size - 1).rfind('\n') + 1;
            if (line < first_ || !is_empty_record(line, size)) break;
            size = line;
        }
        text_ = text_.substr(0, size);
    }
    if (max_rows_ >= 0) {
        std::size_t p = first_;
        for (Index taken = 0; p < text_.size() && taken < max_rows_;) {
            const std::size_t end = record_end(p);
            taken += skips(p, end) ? 0 : 1;
            p = end;
        }
        text_ = text_.substr(0, p);
    }
    borders_ = borders();
    starts_.assign(borders_.size(), 0);
    for_each_block(static_cast<Index>(pieces()), threads, [&](Index piece, int) {
        const auto at = static_cast<std::size_t>(piece);
        Index rows = 0;
        for (std::size_t p = borders_[at]; p < borders_[at + 1];) {
            const std::size_t end = record_end(p);
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
    const std::size_t last_newline = text_.rfind('\n');
    const std::size_t sentinel =
        last_newline == std::string_view::npos ? 0 : last_newline + 1;  // records before have a '\n' to stop at
    for_each_block(static_cast<Index>(last - first), threads, [&](Index piece, int) {
        const auto at = first + static_cast<std::size_t>(piece);
        Index row = starts_[at];
        for (std::size_t p = borders_[at]; p < borders_[at + 1];) {
            Scalar* out = to + (row - starts_[first]) * static_cast<Index>(plan.taken);
            std::string_view* word = plan.words >= 0 ? words + (row - starts_[first]) : nullptr;
            if (row < starts_[at + 1] && p < sentinel) {
                if (const char* next = quick_record(text_.data() + p, plan, out, word)) {
                    p = static_cast<std::size_t>(next - text_.data());
                    ++row;
                    continue;
                }
            }
            const std::size_t end = record_end(p);
            if (!skips(p, end)) {
                if (row >= starts_[at + 1]) throw InternalError(source_ + ": more rows were parsed than counted");
                careful_record(p, end, plan, out, word);
                ++row;
            }
            p = end;
        }
        if (row != starts_[at + 1]) throw InternalError(source_ + ": fewer rows were parsed than counted");
    });
    unescaped_.clear();
    if (plan.words >= 0)
        for (Index i = 0; i < starts_[last] - starts_[first]; ++i) words[i] = unquoted(words[i]);
}

template <class Scalar>
void Table::read(const Plan& plan, Matrix<Scalar>& matrix, std::vector<std::string_view>& words, int threads) {
    find_rows(plan, threads);
    require_memory(static_cast<double>(rows()) * (static_cast<double>(plan.taken) * sizeof(Scalar) +
                                                  (plan.words >= 0 ? sizeof(std::string_view) : 0)),
                   source_);
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

// Which columns are taken, and their names, if they have any.
Table::Plan plan_for(const Table& table, std::string_view source, const ReadOptions& options,
                     std::vector<std::string>& names) {
    Table::Plan plan;
    plan.targets.assign(table.columns(), -1);
    if (!options.label_column.empty())
        plan.words = static_cast<std::ptrdiff_t>(table.column(options.label_column, "label column"));
    const bool by_name = options.columns.empty() && !options.wanted_columns.empty() && table.has_header();
    std::vector<std::size_t> chosen = by_name ? table.named(options.wanted_columns) : table.selection(options.columns);
    if (options.columns.empty() && !by_name)
        for (std::size_t j = 0; j < table.columns(); ++j)
            if (static_cast<std::ptrdiff_t>(j) != plan.words) chosen.push_back(j);
    if (chosen.empty())
        throw BadData(std::string(source) + ": has no column but the labels; at least one column of numbers is needed");
    for (const std::size_t j : chosen) {
        if (static_cast<std::ptrdiff_t>(j) == plan.words)
            throw BadArgument(
                std::string(source) + ": column " + std::to_string(j + 1) + " is asked for as coordinate and as label",
                {.option = "columns", .column = std::to_string(j + 1)});
        plan.targets[j] = static_cast<Index>(plan.taken++);
        if (table.has_header()) names.push_back(table.names()[j]);
    }
    return plan;
}

}  // namespace

PointsFile parse_text(const Bytes& bytes, std::string_view source, bool tab_separated, const ReadOptions& options,
                      int threads) {
    Table table(bytes, source, tab_separated, options, false);
    PointsFile out;
    const Table::Plan plan = plan_for(table, source, options, out.column_names);
    std::vector<std::string_view> words;
    out.points = options.precision == Precision::float32 ? read_matrix<float>(table, plan, words, threads)
                                                         : read_matrix<double>(table, plan, words, threads);
    if (plan.words >= 0) out.labels = labels_of_words(words);
    return out;
}

PointsFile parse_texts(std::span<const TextSource> sources, const ReadOptions& options, const Run& run,
                       FunctionRef<void(Index rows, Index columns, ScalarType scalar)> begin,
                       FunctionRef<void(PointsView rows)> take) {
    PointsFile out;
    std::vector<Table> tables;
    std::vector<Table::Plan> plans;
    Index rows = 0;
    for (const TextSource& source : sources) {
        const Table& table = tables.emplace_back(source.bytes, source.name, source.tab_separated, options, false);
        std::vector<std::string> names;
        const Table::Plan& plan = plans.emplace_back(plan_for(table, source.name, options, names));
        if (plans.size() == 1) out.column_names = names;
        const auto refuse = [&](const std::string& what, const std::string& first_has) {
            throw BadData(source.name + ": " + what + ", but " + sources.front().name + " has " + first_has +
                              "; files that are read as one must agree",
                          {.file = source.name});
        };
        if (plan.taken != plans.front().taken)
            refuse(std::to_string(plan.taken) + " columns", std::to_string(plans.front().taken));
        if (names != out.column_names) {
            const auto listed = [](const std::vector<std::string>& all) {
                std::string text;
                for (const auto& name : all) text += (text.empty() ? "" : ", ") + shown(name);
                return text.empty() ? "no header line" : "the columns " + text;
            };
            refuse(listed(names), listed(out.column_names));
        }
        run.throw_if_stopped("reading");
        tables.back().find_rows(plan, run.threads);
        rows += tables.back().rows();
        if (sources.size() > 1) out.parts.push_back({source.name, tables.back().rows()});
    }
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
    if (!labelled) return out;
    out.labels = labels_of_words(distinct);
    for (auto& label : word_of_row) label = out.labels->labels[static_cast<std::size_t>(label)];
    out.labels->labels = std::move(word_of_row);
    return out;
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
    std::vector<std::string_view> words;
    read_matrix<float>(table, plan, words, threads);
    return labels_of_words(words);
}

std::vector<double> parse_text_numbers(const Bytes& bytes, std::string_view source, bool tab_separated, int threads) {
    Table table(bytes, source, tab_separated, {}, false);
    Table::Plan plan;
    plan.targets.assign(table.columns(), -1);
    plan.targets[single_column(table, {}, source, "number")] = 0;
    plan.taken = 1;
    std::vector<std::string_view> words;
    Matrix<double> matrix;
    table.read(plan, matrix, words, threads);
    return {matrix.data(), matrix.data() + matrix.size()};
}

}  // namespace coterie::formats
