#pragma once
// Turns rows of a table, which may have missing values and words, into numbers. The coding is learned from the training
// data, applied unchanged to new rows, and stored in the model's file. Centring and scaling follow (preparation.hpp).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/model/archive.hpp"

namespace coterie {

enum class Missing {
    refuse,
    drop,    // rows with a missing value are left out and get no label (-1)
    mean,    // the mean of the column's other rows; for words, the most frequent word
    median,  // the median of the column's other rows; for words, the most frequent word
};
enum class Categorical {
    refuse,
    one_hot,  // one column per word
    drop      // columns of words are left out
};

struct COTERIE_API ColumnOptions {
    Missing missing = Missing::refuse;
    Categorical categorical = Categorical::refuse;
    bool dates = false;  // columns of dates become days since 1970-01-01

    static const OptionSet& described();
    /// Sets in `options` how a file's columns are read, as these ColumnOptions require.
    void read_by(ReadOptions& options) const;
};

/// A column of numbers stays one column, in its place. A column of words becomes one column per word, in the order of
/// the words: 1/sqrt(2) in the rows with the word, 0 in the others. The squared Euclidean distance of two different
/// words is then 1, the largest one of two numbers scaled to [0, 1]. A word that the fit did not see is 0 in all
/// columns.
class COTERIE_API ColumnCoding {
public:
    /// Leaves points unchanged.
    ColumnCoding() = default;

    /// Learns from points whose missing values are NaN and whose words are indices into `categories`
    /// (PointsFile::categories; empty: no words). A row of weight w counts as w copies. The same bits at any number of
    /// threads and processes. Throws BadData if a column has no value at all.
    static ColumnCoding fit(PointsView points, const std::vector<ColumnKind>& kinds,
                            const std::vector<std::vector<std::string>>& categories,
                            const std::vector<std::string>& names, const ColumnOptions& options, const Run& run,
                            std::span<const double> weights = {});

    /// Whether points stay unchanged, except for rows that are dropped.
    bool identity() const { return columns_.empty(); }
    const ColumnOptions& options() const { return options_; }
    /// The number of columns that apply() takes; 0 if identity().
    Index columns_in() const { return static_cast<Index>(columns_.size()); }
    Index columns_out() const;
    /// The kinds of the columns that apply() takes; empty if identity().
    std::vector<ColumnKind> kinds() const;
    /// The names of the coded columns: "age", "colour=red". `names`: those of the columns that apply() takes, or empty.
    std::vector<std::string> names_out(const std::vector<std::string>& names) const;
    /// Whether each coded column stands for a word.
    std::vector<bool> indicators() const;
    /// Throws BadArgument if columns of words change the number of columns. `option`: the option that needs the columns
    /// as given, for the message.
    void require_no_words(const std::string& option) const;
    /// What each coded column holds.
    std::vector<ColumnKind> kinds_out() const;

    /// The points as numbers. `categories`: the words of these points. Adds to `warnings` which values were filled in
    /// and which words are unknown.
    Points apply(const Points& points, const std::vector<std::vector<std::string>>& categories,
                 const std::vector<std::string>& names, const Run& run, std::vector<Message>& warnings) const;

    /// "missing values as the mean, words one-hot"; empty if the coding changes nothing.
    std::string text() const;
    /// Stores the text "columns" as JSON; stores nothing if all options are defaults.
    void store(Archive& archive) const;
    /// Throws BadData if the archive holds an invalid coding.
    static ColumnCoding from(const Archive& archive);

private:
    struct Column {
        ColumnKind kind = ColumnKind::number;
        std::optional<double> fill;      // replaces a missing value: the number, or the index of the word
        std::vector<std::string> words;  // of a column of words
    };
    ColumnOptions options_;
    std::vector<Column> columns_;
};

/// Throws BadData, with row and column, if a value is infinite, or missing (NaN) while `options` do not accept missing
/// values. Call it on the points as given, because coding changes the places. Checks nothing if the options are
/// defaults and there are no words or dates; then the method's own check names the place. `what`: "points" for a fit,
/// whose message names the options for missing values, or "predict".
COTERIE_API void require_values(PointsView points, const std::vector<ColumnKind>& kinds,
                                const std::vector<std::vector<std::string>>& categories,
                                const std::vector<std::string>& names, const ColumnOptions& options,
                                std::string_view what, const Run& run);
/// Numbers of the rows that hold a NaN, ascending. The same on every process.
COTERIE_API std::vector<Index> rows_with_missing(PointsView points, const Run& run);
/// The points without the rows `left_out`: a copy or, if the points are read in blocks, read in blocks, too.
COTERIE_API Points without_rows(const Points& points, std::span<const Index> left_out);

}  // namespace coterie
