#pragma once
// Rows of a table as numbers: values that are missing, and words. What stands for them is learned from the points of a
// fit and applied unchanged to every later row; it travels in the model's file. Centring and scaling come after it
// (preparation.hpp).

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
    drop,    // rows that miss a value are left out: they get no label (-1)
    mean,    // the mean of the column's other rows; of words the one that most rows have
    median,  // the median of the column's other rows; of words the one that most rows have
};
enum class Categorical {
    refuse,
    one_hot,  // a column for each word
    drop      // columns of words are left out
};

struct COTERIE_API ColumnOptions {
    Missing missing = Missing::refuse;
    Categorical categorical = Categorical::refuse;
    bool dates = false;  // columns of dates are days since 1970-01-01

    static const OptionSet& described();
    /// How a file's columns are read for them.
    void read_by(ReadOptions& options) const;
};

/// A column per number, in its place; for a column of words one per word, in the words' order: 1/sqrt(2) in the rows
/// that have the word and 0 in the others, so that two rows with different words are 1 apart (squared Euclidean), as
/// two numbers scaled to [0, 1] are at most. A word that the fit did not see is 0 in all of them.
class COTERIE_API ColumnCoding {
public:
    /// Leaves points as they are.
    ColumnCoding() = default;

    /// Of points whose missing values are NaN and whose words are numbers of `categories` (PointsFile::categories;
    /// empty: there are none). The same bits at any number of threads and processes; a row of weight w is w copies.
    /// BadData where a column has no value at all.
    static ColumnCoding fit(PointsView points, const std::vector<ColumnKind>& kinds,
                            const std::vector<std::vector<std::string>>& categories,
                            const std::vector<std::string>& names, const ColumnOptions& options, const Run& run,
                            std::span<const double> weights = {});

    /// Whether points stay as they are, but for rows that are dropped.
    bool identity() const { return columns_.empty(); }
    const ColumnOptions& options() const { return options_; }
    /// Of what is taken; 0 where identity().
    Index columns_in() const { return static_cast<Index>(columns_.size()); }
    Index columns_out() const;
    /// Of what is taken; empty where identity().
    std::vector<ColumnKind> kinds() const;
    /// What a column that comes out is called: "age", "colour=red". Names of those that go in, or empty.
    std::vector<std::string> names_out(const std::vector<std::string>& names) const;
    /// Whether each column that comes out stands for a word.
    std::vector<bool> indicators() const;
    /// What each coded column holds.
    std::vector<ColumnKind> kinds_out() const;

    /// The points as numbers alone. `categories`: the words of these points' numbers. What was filled in and what words
    /// were not known is told in `warnings`.
    Points apply(const Points& points, const std::vector<std::vector<std::string>>& categories,
                 const std::vector<std::string>& names, const Run& run, std::vector<std::string>& warnings) const;

    /// "missing values as the mean, words one-hot"; empty where there is nothing to tell.
    std::string text() const;
    /// Text "columns": JSON; nothing at all where options are the defaults.
    void store(Archive& archive) const;
    /// BadData when the archive holds an unsound one.
    static ColumnCoding from(const Archive& archive);

private:
    struct Column {
        ColumnKind kind = ColumnKind::number;
        std::optional<double> fill;      // the number, or the word's, for a value that is missing
        std::vector<std::string> words;  // of a category
    };
    ColumnOptions options_;
    std::vector<Column> columns_;
};

/// BadData naming row and column where a value is infinite, or missing (NaN) and `options` refuse that. Called on
/// points as they came, before rows are left out and words are coded: later no place is the caller's. Where options
/// are the defaults and there are neither words nor dates it looks at nothing: the method's own check names the place.
/// `what`: "points" of a fit, whose message names the options against missing values, or "predict".
COTERIE_API void require_values(PointsView points, const std::vector<ColumnKind>& kinds,
                                const std::vector<std::vector<std::string>>& categories,
                                const std::vector<std::string>& names, const ColumnOptions& options,
                                std::string_view what, const Run& run);
/// Numbers of the rows that hold a NaN, ascending, the same on every process.
COTERIE_API std::vector<Index> rows_with_missing(PointsView points, const Run& run);
/// The points without those rows: a copy, or read where they are read.
COTERIE_API Points without_rows(const Points& points, std::span<const Index> left_out);

}  // namespace coterie
