#pragma once
// Internal: the interface of a table, implemented for text and for Arrow. A table has named columns whose fields are
// numbers, dates or words, and rows in pieces that are parsed in parallel. All formats share the choice of columns,
// their kinds, and the messages about fields that cannot be used.

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "coterie/io/column_choice.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::io::internal {

using namespace coterie::formats;
using namespace coterie::internal;

// Most distinct words that are counted per column; a column with more cannot have categories.
inline constexpr std::size_t most_words = 10000;

/// What the fields of a column are.
struct ColumnWords {
    Index numbers = 0;
    Index dates = 0;
    Index words = 0;                 // neither numbers nor dates
    std::set<std::string> distinct;  // distinct values of all three kinds, at most `most` per piece
    void add(ColumnWords&& other) {
        numbers += other.numbers;
        dates += other.dates;
        words += other.words;
        distinct.merge(other.distinct);
    }
};

class Table {
public:
    virtual ~Table() = default;

    std::size_t columns() const { return columns_; }
    bool has_header() const { return !names_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    /// Number of the column that holds row names or row numbers; -1: none. It is used only if the user asks for it.
    /// index_reason() is the start of the message about it.
    std::ptrdiff_t index_column() const { return index_; }
    const std::string& index_reason() const { return index_reason_; }
    /// What was guessed about the file: "fields separated by ;", ...
    const std::vector<std::string>& guesses() const { return guesses_; }
    /// About a header that is not obvious. There is no note if its problem is empty.
    const Message& header_note() const { return header_note_; }
    const std::string& source() const { return source_; }
    char decimal() const { return decimal_; }
    /// Whether the file declares that a column holds words.
    virtual bool holds_words(std::size_t) const { return false; }
    ColumnNames column_names() const { return {source_, columns_, names_}; }
    /// Positions of the names. Throws BadData that lists the missing ones.
    std::vector<std::size_t> named(const std::vector<std::string>& wanted) const;

    /// Number of each word of a column.
    using Dictionary = std::unordered_map<std::string_view, Index>;
    struct Plan {
        std::vector<Index> targets;          // for each column of the file: column of the matrix, or -1
        std::ptrdiff_t words = -1;           // column whose fields are collected
        bool blank_words = false;            // empty fields there are accepted
        std::size_t taken = 0;               // columns of the matrix
        bool missing = false;                // missing values become NaN
        bool points = false;                 // coordinates: their squares must not overflow
        bool advises = false;                // messages may name the options for missing values and dates
        bool categories_help = false;        // messages may suggest categories for words
        std::vector<ColumnKind> kinds = {};  // for each column of the file; empty: numbers
        std::vector<std::shared_ptr<Dictionary>> numbers = {};  // for each column of the file whose kind is category

        ColumnKind kind(std::size_t j) const { return kinds.empty() ? ColumnKind::number : kinds[j]; }
    };
    /// Finds the rows; there must be at least one. Call it before the functions below.
    virtual void find_rows(const Plan& plan, int threads) = 0;
    Index rows() const { return starts_.back(); }
    std::size_t pieces() const { return starts_.size() - 1; }
    Index rows_before(std::size_t piece) const { return starts_[piece]; }
    /// Counts the fields of every requested column over all rows; other columns get an empty result.
    std::vector<ColumnWords> words_of_columns(const std::vector<bool>& asked, std::size_t most, int threads) const;
    /// Parses the rows of pieces first..last-1, one after another. Collects words only if the plan asks for them; the
    /// words are valid until the next call.
    using Numbers = std::variant<float*, double*>;
    virtual void parse(const Plan& plan, std::size_t first, std::size_t last, Numbers to, std::string_view* words,
                       int threads) = 0;
    /// Reads the fields, without quotes, of the record at `at`, and moves `at` past it. Returns false if there is none.
    virtual bool next_record(std::size_t& at, std::vector<std::string>& fields) const = 0;
    virtual std::size_t first_record() const { return 0; }
    /// Whether float32 represents the taken columns as well as float64.
    virtual bool is_narrow(const Plan&) const { return false; }

protected:
    // `where` is a place: a byte offset in text, a row number in Arrow.
    virtual Index row_of(std::size_t where) const = 0;  // from 1, as an editor shows it
    struct Field {
        std::size_t where;
        std::string text;
    };
    virtual Field field_at(std::size_t piece, Index row, std::size_t column) const = 0;
    /// words_of_columns for one piece.
    virtual void count_words(std::size_t piece, const std::vector<bool>& asked, std::size_t most,
                             std::vector<ColumnWords>& columns) const = 0;

    /// Throws BadData about a field.
    [[noreturn]] void refuse_field(std::size_t where, std::size_t column, std::string_view value, Code code,
                                   std::string problem, std::string remedy) const;
    /// The value of a field according to the plan; `word` is used for a category. Throws BadData if it has no value.
    template <class Scalar>
    Scalar value_of(std::size_t where, std::size_t column, std::string_view field, std::string_view word,
                    const Plan& plan) const;
    /// NaN. Throws BadData if the plan does not accept missing values.
    double missing_value(std::size_t where, std::size_t column, std::string_view field, const Plan& plan) const;
    /// Checks the parsed rows of a piece. Throws BadData for a number whose square overflows.
    template <class Scalar>
    void refuse_too_large(const Plan& plan, std::size_t piece, const Scalar* rows) const;
    /// Marks the first column as the index if only this column has no name: pandas and R write row names there.
    void find_nameless_index();
    /// Counts a field that is not missing.
    void count_word(ColumnWords& column, std::string_view word) const;

    std::string source_;
    char decimal_ = '.';
    bool is_text_ = true;  // places are lines; separator, decimal sign and header are options
    std::size_t columns_ = 0;
    std::ptrdiff_t index_ = -1;
    std::string index_reason_;
    std::vector<std::string> names_;  // empty: the columns have no names
    std::vector<std::string> guesses_;
    Message header_note_;
    std::vector<Index> starts_ = {0};  // rows before each piece, and the total

private:
    [[noreturn]] void refuse_word(std::size_t where, std::size_t column, std::string_view field,
                                  const Plan& plan) const;
    std::string separator_remedy(std::string_view word) const;
    std::string missing_text(const Plan& plan) const;
};

/// `one_column`: for a file of labels, whose first row may be a word that is a label and not a header.
std::unique_ptr<Table> open_text_table(const Bytes& bytes, std::string_view source, bool tab_separated,
                                       const ReadOptions& options, bool one_column);

/// Whether the bytes start as an Arrow file (IPC, Feather version 2) or stream.
bool is_arrow(std::span<const std::byte> data);
std::unique_ptr<Table> open_arrow_table(const Bytes& bytes, std::string_view source, const ReadOptions& options);

}  // namespace coterie::io::internal
