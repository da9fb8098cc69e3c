// Means take one pass over blocks. Medians need neither sorting nor all values in memory (radix selection): eight
// passes find the value of a rank, eight bits per pass. Each pass counts the next eight bits of the numbers that begin
// with the bits found so far. Counts are sums of weights, so a row of weight w counts as w copies. Sums of integers are
// exact, so the bits are the same at any number of threads and processes.

#include "coterie/pipeline/column_coding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/checks.hpp"
#include "coterie/base/derived_rows.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/io/json_text.hpp"
#include "coterie/pipeline/left_out.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

constexpr const char* coding_key = "columns";
const std::vector<std::string> missing_names = {"refuse", "drop", "mean", "median"};
const std::vector<std::string> categorical_names = {"refuse", "one-hot", "drop"};
const std::vector<std::string> kind_names = {"number", "category", "date"};

// Calls add(row, weight, sum) for every row of weight above 0.
template <class Add>
std::vector<double> sum_over_rows(PointsView points, std::size_t numbers, std::span<const double> weights,
                                  const Run& run, Add add) {
    const Stage stage{.name = "preprocessing",
                      .operations = 4.0 * static_cast<double>(points.rows() * points.columns())};
    return internal::sum_rows(points, static_cast<Index>(numbers), run, stage,
                              [&](const auto* row, Index i, double* sum) {
                                  const double weight = internal::weight_of(weights, i);
                                  if (weight > 0) add(row, weight, sum);
                              });
}

// Maps numbers to integers that have the same order.
std::uint64_t key_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}
double number_of(std::uint64_t key) {
    return std::bit_cast<double>(key >> 63 ? key & ~(std::uint64_t{1} << 63) : ~key);
}

// The median of each column: the mean of the two values around the middle of its known weight. NaN if no value is
// known.
std::vector<double> medians(PointsView points, std::span<const double> weights, const std::vector<double>& known,
                            const Run& run) {
    const auto columns = static_cast<std::size_t>(points.columns());
    constexpr std::size_t digits = 256;
    // The lower value is the first one with at least half of the weight up to it; the upper one has more than half.
    std::vector<std::array<std::uint64_t, 2>> prefix(columns);
    std::vector<std::array<double, 2>> before(columns);
    for (int shift = 56; shift >= 0; shift -= 8) {
        const std::vector<double> counts =
            sum_over_rows(points, columns * 2 * digits, weights, run, [&](const auto* row, double weight, double* sum) {
                for (std::size_t j = 0; j < columns; ++j) {
                    if (std::isnan(row[j])) continue;
                    const std::uint64_t key = key_of(static_cast<double>(row[j]));
                    for (std::size_t t = 0; t < 2; ++t)
                        if (shift == 56 || key >> (shift + 8) == prefix[j][t])
                            sum[(2 * j + t) * digits + (key >> shift & 0xff)] += weight;
                }
            });
        for (std::size_t j = 0; j < columns; ++j)
            for (std::size_t t = 0; t < 2; ++t) {
                const double* count = counts.data() + (2 * j + t) * digits;
                std::size_t digit = 0;
                for (; digit + 1 < digits; ++digit) {
                    const double up_to = before[j][t] + count[digit];
                    if (count[digit] > 0 && (t == 0 ? up_to >= known[j] / 2 : up_to > known[j] / 2)) break;
                    before[j][t] = up_to;
                }
                prefix[j][t] = prefix[j][t] << 8 | digit;
            }
    }
    std::vector<double> out(columns, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t j = 0; j < columns; ++j)
        if (known[j] > 0) out[j] = number_of(prefix[j][0]) / 2 + number_of(prefix[j][1]) / 2;
    return out;
}

std::string column_text(std::size_t column, const std::vector<std::string>& names) {
    return std::to_string(column + 1) + (column < names.size() ? " (" + formats::shown(names[column]) + ")" : "");
}

Index total(const std::vector<double>& counts) {
    return static_cast<Index>(std::accumulate(counts.begin(), counts.end(), 0.0));
}

// "column 2 (age): 10, 3 (height): 2"
std::string counts_text(const std::vector<double>& counts, const std::vector<std::string>& names) {
    std::vector<std::string> columns;
    for (std::size_t j = 0; j < counts.size(); ++j)
        if (counts[j] > 0) columns.push_back(filled("{}: {}", column_text(j, names), static_cast<Index>(counts[j])));
    return "column " + internal::listed(columns, 6);
}

BadData bad_coding(const std::string& what) { return BadData(Code::malformed, "the text 'columns' " + what); }

bool fills_in(Missing missing) { return missing == Missing::mean || missing == Missing::median; }

template <class Enum>
Enum value_named(const std::vector<std::string>& names, const nlohmann::json& json) {
    const auto found = json.is_string() ? std::ranges::find(names, json.get<std::string>()) : names.end();
    if (found == names.end()) throw bad_coding("has the unknown value " + formats::shown(json.dump()));
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

const OptionSet& ColumnOptions::described() {
    static const OptionSet set =
        OptionSetFor<ColumnOptions>()
            .choice("missing", &ColumnOptions::missing, missing_names,
                    "missing values (an empty field, NA, NaN, null, ?, -): refuse stops with an error; drop leaves out "
                    "their rows, which get no label; mean and median fill them in (words: the most frequent one)")
            .choice("categorical", &ColumnOptions::categorical, categorical_names,
                    "columns of words: refuse stops with an error; drop leaves them out; one-hot makes a column for "
                    "each word (1/sqrt(2) or 0), so that different words have distance 1")
            .flag("dates", &ColumnOptions::dates,
                  "convert columns of dates (2026-11-23, 23.11.2026) to numbers of days");
    return set;
}

void ColumnOptions::read_by(ReadOptions& options) const {
    options.missing = missing != Missing::refuse;
    options.words = categorical == Categorical::refuse ? WordColumns::refuse
                    : categorical == Categorical::drop ? WordColumns::leave_out
                                                       : WordColumns::categories;
    options.dates = dates;
}

ColumnCoding ColumnCoding::fit(PointsView points, const std::vector<ColumnKind>& kinds,
                               const std::vector<std::vector<std::string>>& categories,
                               const std::vector<std::string>& names, const ColumnOptions& options, const Run& run,
                               std::span<const double> weights) {
    check_options(options);
    ColumnCoding out;
    out.options_ = options;
    const auto columns = static_cast<std::size_t>(points.columns());
    const auto has_words = [&](std::size_t j) { return j < categories.size() && !categories[j].empty(); };
    bool words = false;
    for (std::size_t j = 0; j < columns; ++j) {
        words = words || has_words(j);
        if (has_words(j) && options.categorical != Categorical::one_hot)
            throw internal::bad_column(Code::wrong_type, j, names, "this column holds words",
                                       "Use `categorical=one-hot` to convert them to numbers");
    }
    const bool dates = std::ranges::find(kinds, ColumnKind::date) != kinds.end();
    if (!words && !fills_in(options.missing) && !dates) return out;
    if (points.rows() < 1) throw BadData(Code::empty, "there are no rows", "", {.option = "points"});

    out.columns_.resize(columns);
    std::vector<std::size_t> first_word(columns, 0);
    std::size_t all_words = 0;
    for (std::size_t j = 0; j < columns; ++j) {
        Column& column = out.columns_[j];
        if (j < kinds.size()) column.kind = kinds[j];
        if (has_words(j)) column.kind = ColumnKind::category;
        if (column.kind != ColumnKind::category) continue;
        if (j < categories.size()) column.words = categories[j];
        first_word[j] = all_words;
        all_words += column.words.size();
    }
    if (!fills_in(options.missing)) return out;
    // For each column, the known weight and the sum; then, for each word, the weight.
    const std::vector<double> sums =
        sum_over_rows(points, 2 * columns + all_words, weights, run, [&](const auto* row, double weight, double* sum) {
            for (std::size_t j = 0; j < columns; ++j) {
                if (std::isnan(row[j])) continue;
                sum[2 * j] += weight;
                sum[2 * j + 1] += weight * static_cast<double>(row[j]);
                const auto& column = out.columns_[j];
                if (column.kind == ColumnKind::category && row[j] >= 0 &&
                    static_cast<std::size_t>(row[j]) < column.words.size())
                    sum[2 * columns + first_word[j] + static_cast<std::size_t>(row[j])] += weight;
            }
        });
    std::vector<double> known(columns);
    for (std::size_t j = 0; j < columns; ++j) {
        known[j] = sums[2 * j];
        if (known[j] == 0)
            throw internal::bad_column(Code::missing_value, j, names, "this column has no value in any row",
                                       "Use `exclude` to leave it out");
    }
    const std::vector<double> middle =
        options.missing == Missing::median ? medians(points, weights, known, run) : std::vector<double>();
    for (std::size_t j = 0; j < columns; ++j) {
        Column& column = out.columns_[j];
        if (column.kind == ColumnKind::category) {
            const auto begin = sums.begin() + static_cast<std::ptrdiff_t>(2 * columns + first_word[j]);
            column.fill = static_cast<double>(
                std::max_element(begin, begin + static_cast<std::ptrdiff_t>(column.words.size())) - begin);
        } else {
            column.fill = middle.empty() ? sums[2 * j + 1] / known[j] : middle[j];
            if (!std::isfinite(*column.fill))
                throw internal::bad_column(Code::too_large, j, names,
                                           "the values are so large that their sum overflows", "Rescale the column");
        }
    }
    return out;
}

Index ColumnCoding::columns_out() const {
    Index out = 0;
    for (const Column& column : columns_)
        out += column.kind == ColumnKind::category ? static_cast<Index>(column.words.size()) : 1;
    return out;
}

std::vector<ColumnKind> ColumnCoding::kinds() const {
    std::vector<ColumnKind> out;
    for (const Column& column : columns_) out.push_back(column.kind);
    return out;
}

std::vector<std::string> ColumnCoding::names_out(const std::vector<std::string>& names) const {
    if (identity() || names.size() != columns_.size()) return names;
    std::vector<std::string> out;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (columns_[j].kind != ColumnKind::category)
            out.push_back(names[j]);
        else
            for (const auto& word : columns_[j].words) out.push_back(names[j] + "=" + word);
    }
    return out;
}

std::vector<bool> ColumnCoding::indicators() const {
    std::vector<bool> out;
    for (const ColumnKind kind : kinds_out()) out.push_back(kind == ColumnKind::category);
    return out;
}

void ColumnCoding::require_no_words(const std::string& option) const {
    if (columns_out() == columns_in()) return;
    throw BadArgument(Code::conflict, "this option is not supported for rows with columns of words",
                      "Leave out this option or these columns", {.option = option});
}

std::vector<ColumnKind> ColumnCoding::kinds_out() const {
    std::vector<ColumnKind> out;
    for (const Column& column : columns_)
        out.insert(out.end(), column.kind == ColumnKind::category ? column.words.size() : 1, column.kind);
    return out;
}

Points ColumnCoding::apply(const Points& points, const std::vector<std::vector<std::string>>& categories,
                           const std::vector<std::string>& names, const Run& run,
                           std::vector<Message>& warnings) const {
    if (identity()) return points;
    const std::size_t columns = columns_.size();
    if (static_cast<std::size_t>(points.columns()) != columns)
        throw BadArgument(Code::wrong_shape,
                          filled("{}, but the model was fitted on {}", counted(points.columns(), "column"), columns),
                          "", {.option = "points"});
    // The fit's index of each word of these points; -1 for a word that the fit did not see.
    std::vector<std::vector<Index>> number_of_word(columns);
    std::string unknown_words;
    for (std::size_t j = 0; j < columns; ++j) {
        const auto& words = columns_[j].words;
        if (columns_[j].kind != ColumnKind::category) {
            if (j < categories.size() && !categories[j].empty())
                throw internal::bad_column(Code::wrong_type, j, names,
                                           "this column holds words, but the model was fitted on numbers");
            continue;
        }
        if (j >= categories.size())
            throw internal::bad_column(Code::wrong_type, j, names,
                                       "this column holds numbers, but the model was fitted on words");
        for (const auto& word : categories[j]) {
            const auto found = std::ranges::find(words, word);
            number_of_word[j].push_back(found == words.end() ? -1 : found - words.begin());
            if (found == words.end() && unknown_words.size() < 60)
                unknown_words += (unknown_words.empty() ? "'" : ", '") + word + "'";
        }
    }
    const auto code = [columns, number_of_word](const ColumnCoding& coding, const auto* row, auto* to, double* counts) {
        using Scalar = std::remove_reference_t<decltype(*to)>;
        for (std::size_t j = 0; j < columns; ++j) {
            const Column& column = coding.columns_[j];
            double value = static_cast<double>(row[j]);
            const bool missing = std::isnan(value);
            if (missing && column.fill) value = *column.fill;
            if (missing && counts != nullptr) counts[2 * j] += 1;
            if (column.kind != ColumnKind::category) {
                *to++ = missing ? static_cast<Scalar>(value) : row[j];
                continue;
            }
            auto word = static_cast<Index>(-1);
            if (missing)
                word = column.fill ? static_cast<Index>(value) : word;
            else if (value >= 0 && value < static_cast<double>(number_of_word[j].size()))
                word = number_of_word[j][static_cast<std::size_t>(value)];
            if (!missing && word < 0 && counts != nullptr) counts[2 * j + 1] += 1;
            for (Index w = 0; w < static_cast<Index>(column.words.size()); ++w)
                *to++ = w == word ? static_cast<Scalar>(M_SQRT1_2) : Scalar(0);
        }
    };
    const std::vector<double> counts =
        sum_over_rows(points, 2 * columns, {}, run, [&]<class Scalar>(const Scalar* row, double, double* sum) {
            thread_local std::vector<Scalar> coded;
            coded.resize(at(columns_out()));
            code(*this, row, coded.data(), sum);
        });
    std::vector<double> missing, unknown;
    for (std::size_t j = 0; j < columns; ++j) {
        missing.push_back(counts[2 * j]);
        unknown.push_back(counts[2 * j + 1]);
    }
    if (total(missing) > 0 && fills_in(options_.missing))
        warnings.push_back({.code = Code::values_filled,
                            .problem = counted(total(missing), "missing value") +
                                       (total(missing) == 1 ? " was" : " were") + " replaced by the " +
                                       missing_names[static_cast<std::size_t>(options_.missing)] +
                                       " of the training data (" + counts_text(missing, names) + ")"});
    if (total(unknown) > 0)
        warnings.push_back({.code = Code::unknown_category,
                            .problem = counted(total(unknown), "value") + (total(unknown) == 1 ? " was" : " were") +
                                       " not in the training data and " + (total(unknown) == 1 ? "is" : "are") +
                                       " ignored (" + counts_text(unknown, names) + "): " + unknown_words,
                            .remedy = "If they matter, fit again with rows that have them"});
    const auto prepare = [coding = *this, code](PointsView rows, Index, void* to) {
        rows.visit([&]<class Scalar>(const Rows<Scalar>& from) {
            const Index width = coding.columns_out();
            std::vector<Scalar> row(at(width));  // buffer: `to` may be the storage of `rows`
            for (Index i = 0; i < from.rows; ++i) {
                code(coding, from.row(i), row.data(), nullptr);
                std::copy(row.begin(), row.end(), static_cast<Scalar*>(to) + i * width);
            }
        });
    };
    return internal::derived_copy(points, columns_out(), "a copy of the rows as numbers", prepare);
}

std::string ColumnCoding::text() const {
    std::string out;
    if (options_.missing != Missing::refuse)
        out = "missing " + missing_names[static_cast<std::size_t>(options_.missing)];
    const auto kinds_there = kinds();
    for (const auto& [kind, said] :
         {std::pair(ColumnKind::category, "categorical one-hot"), {ColumnKind::date, "dates as days"}})
        if (std::ranges::find(kinds_there, kind) != kinds_there.end())
            out += (out.empty() ? "" : ", ") + std::string(said);
    return out;
}

void ColumnCoding::store(Archive& archive) const {
    if (identity() && options_.missing == Missing::refuse) return;
    nlohmann::json json;
    json["missing"] = missing_names[static_cast<std::size_t>(options_.missing)];
    json["categorical"] = categorical_names[static_cast<std::size_t>(options_.categorical)];
    json["dates"] = options_.dates;
    json["columns"] = nlohmann::json::array();
    for (const Column& column : columns_) {
        nlohmann::json one = {{"kind", kind_names[static_cast<std::size_t>(column.kind)]}};
        if (column.fill) one["fill"] = *column.fill;
        if (column.kind == ColumnKind::category) one["words"] = column.words;
        json["columns"].push_back(std::move(one));
    }
    archive.set_text(coding_key, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

ColumnCoding ColumnCoding::from(const Archive& archive) {
    ColumnCoding out;
    const auto stored = archive.texts().find(coding_key);
    if (stored == archive.texts().end()) return out;
    const auto json = formats::parse_json(stored->second, [](const std::string& reason) { throw bad_coding(reason); });
    if (!json.is_object() || !json.contains("columns") || !json["columns"].is_array() || !json.contains("missing") ||
        !json.contains("categorical") || !json.contains("dates") || !json["dates"].is_boolean())
        throw bad_coding("does not describe columns");
    out.options_ = {value_named<Missing>(missing_names, json["missing"]),
                    value_named<Categorical>(categorical_names, json["categorical"]), json["dates"].get<bool>()};
    for (const auto& one : json["columns"]) {
        if (!one.is_object() || !one.contains("kind")) throw bad_coding("has a column without a kind");
        Column column;
        column.kind = value_named<ColumnKind>(kind_names, one["kind"]);
        if (column.kind == ColumnKind::category) {
            if (!one.contains("words") || !one["words"].is_array()) throw bad_coding("has a category without words");
            for (const auto& word : one["words"]) {
                if (!word.is_string()) throw bad_coding("has a category with a word that is not text");
                column.words.push_back(word.get<std::string>());
            }
        }
        if (one.contains("fill")) {
            if (!one["fill"].is_number()) throw bad_coding("has a fill value that is not a number");
            column.fill = one["fill"].get<double>();
            if (!std::isfinite(*column.fill) ||
                (column.kind == ColumnKind::category &&
                 !(*column.fill >= 0 && *column.fill < static_cast<double>(column.words.size()))))
                throw bad_coding("has a fill value that does not fit its column");
        }
        if (fills_in(out.options_.missing) != column.fill.has_value())
            throw bad_coding("has a column that needs a fill value, or must not have one");
        out.columns_.push_back(std::move(column));
    }
    if (out.identity() && fills_in(out.options_.missing))
        throw bad_coding("says that missing values are filled in, but has no columns");
    return out;
}

void require_values(PointsView points, const std::vector<ColumnKind>& kinds,
                    const std::vector<std::vector<std::string>>& categories, const std::vector<std::string>& names,
                    const ColumnOptions& options, std::string_view what, const Run& run) {
    const bool numbers = std::ranges::all_of(kinds, [](ColumnKind kind) { return kind == ColumnKind::number; }) &&
                         std::ranges::all_of(categories, [](const auto& words) { return words.empty(); });
    if (numbers && options.missing == Missing::refuse) return;
    require_finite(points, what == "points" ? points_of_fit() : given_points(), run, options.missing != Missing::refuse,
                   names);
}

std::vector<Index> rows_with_missing(PointsView points, const Run& run) {
    const RowBlocks grid = internal::grid_of(points);
    std::vector<std::vector<Index>> found(at(grid.count()));
    points.with_scalar([&]<class Scalar>() {
        internal::for_each_row_block<Scalar>(
            points, run, {.name = "preprocessing"}, [&](const internal::RowBlock<Scalar>& block, int) {
                for (Index r = 0; r < block.rows.rows; ++r) {
                    const Scalar* row = block.rows.row(r);
                    if (std::any_of(row, row + block.rows.columns, [](Scalar x) { return std::isnan(x); }))
                        found[at(block.first / grid.size)].push_back(block.first + r);
                }
            });
    });
    std::vector<Index> own;
    for (const auto& some : found) own.insert(own.end(), some.begin(), some.end());
    return internal::gather(run.communicator(), own);
}

Points without_rows(const Points& points, std::span<const Index> left_out) {
    if (left_out.empty()) return points;
    std::vector<Index> kept(at(points.rows()));
    std::iota(kept.begin(), kept.end(), Index{0});
    internal::erase_rows(kept, left_out);
    if (points.resident()) return rows_of(points, kept);
    // Reads the kept rows and the rows between them, then moves the kept rows together.
    class Kept : public RowSource {
    public:
        Kept(Points from, std::vector<Index> rows) : from_(std::move(from)), rows_(std::move(rows)) {}
        Index rows() const override { return static_cast<Index>(rows_.size()); }
        Index columns() const override { return from_.columns(); }
        ScalarType scalar() const override { return from_.scalar(); }
        void read(Index begin, Index end, void* to) const override {
            const std::size_t bytes = at(columns()) * size_of(scalar());
            auto* out = static_cast<std::byte*>(to);
            thread_local RowBuffer buffer;
            constexpr Index most = 4096;
            while (begin < end) {
                const Index first = rows_[at(begin)];
                Index last = begin;
                while (last < end && rows_[at(last)] < first + most) ++last;
                const PointsView some = from_.view().block(first, rows_[at(last) - 1] + 1, buffer);
                const auto* const in = static_cast<const std::byte*>(some.data());
                for (; begin < last; ++begin, out += bytes)
                    std::copy_n(in + at((rows_[at(begin)] - first) * some.stride()) * size_of(scalar()), bytes, out);
            }
        }

    private:
        Points from_;
        std::vector<Index> rows_;
    };
    return Points(std::make_shared<const Kept>(points, std::move(kept)));
}

}  // namespace coterie
