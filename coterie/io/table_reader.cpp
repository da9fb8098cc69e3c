// Reads tables from text or Arrow. Decides which columns are coordinates, which hold words or dates, and which hold
// labels and ids. If words may be categories, a first pass collects the words of each column.

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "coterie/base/memory.hpp"
#include "coterie/base/text_format.hpp"
#include "coterie/io/internal/table.hpp"

namespace coterie::formats {

using namespace io::internal;
namespace {

std::unique_ptr<Table> open_table(const TableSource& source, const ReadOptions& options, bool one_column) {
    if (is_arrow(source.bytes.data)) return open_arrow_table(source.bytes, source.name, options);
    if (source.arrow)
        refuse_file(source.name, Code::malformed,
                    "the file is not an Arrow file: those begin with ARROW1, streams with FF FF FF FF");
    return open_text_table(source.bytes, source.name, source.tab_separated, options, one_column);
}

template <class Scalar>
Points read_matrix(Table& table, const Table::Plan& plan, std::vector<std::string_view>& words, int threads) {
    require_memory(static_cast<double>(table.rows()) * (static_cast<double>(plan.taken) * sizeof(Scalar) +
                                                        (plan.words >= 0 ? sizeof(std::string_view) : 0)),
                   "the table");
    Matrix<Scalar> matrix(table.rows(), static_cast<Index>(plan.taken));
    if (plan.words >= 0) words.resize(static_cast<std::size_t>(table.rows()));
    table.parse(plan, 0, table.pieces(), matrix.data(), words.data(), threads);
    return Points(std::move(matrix));
}

// The given column, the only column, or the one named "label". `what`: "label" or "number".
std::size_t single_column(const Table& table, const std::string& column, const std::string& what) {
    if (!column.empty()) return table.column_names().position(column, {});
    if (table.columns() == 1) return 0;
    const auto& names = table.names();
    const auto is_label = [](const std::string& name) { return lower_case(name) == "label"; };
    if (what == "label" && std::count_if(names.begin(), names.end(), is_label) == 1)
        return static_cast<std::size_t>(std::find_if(names.begin(), names.end(), is_label) - names.begin());
    throw BadArgument(
        Code::missing_argument,
        filled("the file has {} columns, and it is not clear which one holds the {}s", table.columns(), what),
        "Name the column, or give a file with one column", {.file = table.source()});
}

// Tables that are read as one, and the columns taken from them.
struct OpenTables {
    std::vector<std::unique_ptr<Table>> tables;
    std::vector<Table::Plan> plans;
    PointsFile file;  // all fields except points and labels
};

// The position of a column that an option names; -1 if the option is empty.
std::ptrdiff_t position_of(const Table& table, const std::string& given, std::string_view option) {
    return given.empty() ? -1 : static_cast<std::ptrdiff_t>(table.column_names().position(given, option));
}

// The requested columns, before their words are known. `numeric`: set if "numeric" is among them.
std::vector<std::size_t> chosen_columns(const Table& table, const ReadOptions& options, std::ptrdiff_t label,
                                        std::ptrdiff_t id, bool& numeric, std::vector<Message>& notes) {
    const bool by_name = options.columns.empty() && !options.wanted_columns.empty() && table.has_header();
    if (by_name) return table.named(options.wanted_columns);
    std::vector<std::string> asked = options.columns;
    const auto is_numeric = [&](const std::string& word) {
        return word == "numeric" && std::find(table.names().begin(), table.names().end(), word) == table.names().end();
    };
    numeric = std::any_of(asked.begin(), asked.end(), is_numeric);
    std::erase_if(asked, is_numeric);
    std::vector<std::size_t> chosen = table.column_names().positions(asked, "columns");
    const std::vector<std::size_t> excluded = table.column_names().positions(options.exclude, "exclude");
    table.column_names().refuse_both(chosen, excluded);
    const std::vector<bool> is_chosen = marked(chosen, table.columns()),
                            is_excluded = marked(excluded, table.columns());
    if (!options.columns.empty() && !numeric) return chosen;
    for (std::size_t j = 0; j < table.columns(); ++j) {
        if (static_cast<std::ptrdiff_t>(j) == label || static_cast<std::ptrdiff_t>(j) == id) continue;
        if (is_excluded[j] || is_chosen[j]) continue;
        if (static_cast<std::ptrdiff_t>(j) == table.index_column()) {
            Message& note = notes.emplace_back(table.column_names().place(j));
            note.problem = table.index_reason() + ", so it is taken as row names and not used";
            note.remedy = "Use `columns` to choose the columns";
            continue;
        }
        chosen.push_back(j);
    }
    return chosen;
}

// Counts the words of the asked columns of all tables. Returns the number of rows.
Index count_words(const OpenTables& texts, const std::vector<bool>& asked, std::size_t most, int threads,
                  std::vector<ColumnWords>& found) {
    found.resize(asked.size());
    Index rows = 0;
    for (const auto& table : texts.tables) {
        auto more = table->words_of_columns(asked, most, threads);
        for (std::size_t j = 0; j < found.size(); ++j) found[j].add(std::move(more[j]));
        rows += table->rows();
    }
    return rows;
}

// Finds the kind of each column (nothing if all are numbers), and leaves out columns of words if requested. `found`
// receives the words of the columns that may be categories.
std::vector<ColumnKind> find_kinds(OpenTables& texts, std::vector<std::size_t>& chosen, const ReadOptions& options,
                                   bool numeric, int threads, std::vector<ColumnWords>& found) {
    const Table& first = *texts.tables.front();
    std::vector<ColumnKind> kinds(first.columns(), ColumnKind::number);
    if (options.wanted_kinds.size() == chosen.size()) {
        std::vector<bool> asked(first.columns(), false);
        for (std::size_t c = 0; c < chosen.size(); ++c) {
            kinds[chosen[c]] = options.wanted_kinds[c];
            asked[chosen[c]] = options.wanted_kinds[c] == ColumnKind::category;
        }
        if (std::find(asked.begin(), asked.end(), true) != asked.end())
            count_words(texts, asked, std::numeric_limits<std::size_t>::max(), threads, found);
        return kinds;
    }
    if (!numeric && !options.dates && options.words == WordColumns::refuse) return {};
    const Index rows = count_words(texts, marked(chosen, first.columns()), most_words, threads, found);
    std::vector<std::size_t> taken;
    std::vector<std::string> left_out;
    for (const std::size_t j : chosen) {
        const ColumnWords& column = found[j];
        const Index others = column.words + (options.dates ? 0 : column.dates);
        const auto distinct = static_cast<Index>(column.distinct.size());
        if (options.dates && column.dates > 0 && column.dates >= column.words + column.numbers) {
            kinds[j] = ColumnKind::date;
        } else if (others > 0 && others >= column.numbers) {
            // A few words among many numbers are probably errors, so such a column stays numeric and they are reported.
            if (numeric || options.words == WordColumns::leave_out) {
                left_out.push_back(first.column_names().text(j));
                continue;
            }
            if (options.words == WordColumns::categories) kinds[j] = ColumnKind::category;
        }
        if (kinds[j] == ColumnKind::category && distinct > 20 && (2 * distinct > rows || distinct > 1000)) {
            const std::string name = first.column_names().option_text(j);
            throw BadData(
                Code::wrong_type,
                filled("{}{} different values in {} are too many for categories",
                       column.distinct.size() >= most_words ? "more than " : "", distinct, counted(rows, "row")),
                filled("Use `exclude={}` to leave the column out, or `id_column={}` to write it next to the labels",
                       name, name),
                first.column_names().place(j));
        }
        taken.push_back(j);
    }
    if (!left_out.empty())
        texts.file.notes.push_back(
            {.problem = filled("{} {} {} not used", left_out.size() == 1 ? "column" : "columns", join(left_out),
                               left_out.size() == 1 ? "holds words and is" : "hold words and are"),
             .file = first.source()});
    chosen = taken;
    return kinds;
}

// `these`: the chosen columns of a table that is read as one with the first.
void require_same_columns(const Table& table, const std::vector<std::size_t>& these, const Table& first,
                          const std::vector<std::size_t>& chosen) {
    const auto refuse = [&](std::string problem) {
        refuse_file(table.source(), Code::wrong_shape, std::move(problem),
                    "Files that are read as one need the same columns");
    };
    const std::string but_first_has = filled(", but {} has ", first.source());
    if (these.size() != chosen.size())
        refuse(counted(static_cast<Index>(these.size()), "column") + but_first_has + std::to_string(chosen.size()));
    const auto names = [](const Table& of, const std::vector<std::size_t>& which) {
        std::vector<std::string> out;
        for (const std::size_t j : which)
            if (of.has_header()) out.push_back(of.names()[j]);
        return out;
    };
    if (names(table, these) != names(first, chosen)) {
        const auto listed = [](std::vector<std::string> all) {
            for (std::string& name : all) name = shown(name);
            const std::string text = join(all);
            return text.empty() ? "no header line" : "the columns " + text;
        };
        refuse(listed(names(table, these)) + but_first_has + listed(names(first, chosen)));
    }
    if (these != chosen || table.columns() != first.columns())
        refuse("the columns are not in the same places as in " + first.source());
}

OpenTables open_tables(std::span<const TableSource> sources, const ReadOptions& options, const Run& run) {
    OpenTables out;
    std::vector<std::size_t> chosen;
    bool numeric = false;
    for (const TableSource& source : sources) {
        Table& table = *out.tables.emplace_back(open_table(source, options, false));
        Table::Plan& plan = out.plans.emplace_back();
        plan.targets.assign(table.columns(), -1);
        plan.missing = options.missing;
        plan.points = true;
        plan.advises = options.advises;
        plan.categories_help = options.advises && options.words == WordColumns::refuse;
        plan.words = position_of(table, options.label_column, "label_column");
        plan.blank_words = true;
        const std::ptrdiff_t id = position_of(table, options.id_column, "id_column");
        std::vector<Message> notes;
        const auto these = chosen_columns(table, options, plan.words, id, numeric, notes);
        if (these.empty())
            refuse_file(source.name, Code::empty,
                        id >= 0 ? "no column is left" : "the file has no column but the labels",
                        "Give at least one column of numbers");
        for (const std::size_t j : these)
            for (const auto& [which, option] : {std::pair(plan.words, "label_column"), {id, "id_column"}})
                if (static_cast<std::ptrdiff_t>(j) == which)
                    throw BadArgument(Code::conflict, filled("the column is in both `columns` and `{}`", option),
                                      "Name it in one of them", table.column_names().place(j, "columns"));
        if (out.tables.size() == 1) {
            chosen = these;
            out.file.notes = notes;
            if (const std::string guesses = join(table.guesses()); !guesses.empty())
                out.file.reading = Message{.problem = "the format was guessed: " + guesses, .file = source.name};
            if (is_arrow(source.bytes.data)) out.file.format = name(Format::arrow);
            if (const Message& note = table.header_note(); !note.problem.empty())
                out.file.notes.insert(out.file.notes.begin(), note);
        } else {
            require_same_columns(table, these, *out.tables.front(), chosen);
        }
        run.throw_if_stopped_here("reading");
        table.find_rows(plan, run.threads);
        if (sources.size() > 1) out.file.parts.push_back({source.name, table.rows()});
    }
    std::vector<ColumnWords> found;
    const std::vector<ColumnKind> kinds = find_kinds(out, chosen, options, numeric, run.threads, found);
    if (chosen.empty())
        refuse_file(sources.front().name, Code::empty, "the file has no column of numbers",
                    "Use `categorical=one-hot` to turn words into numbers");
    const Table& first = *out.tables.front();
    for (auto& plan : out.plans) {
        plan.kinds = kinds;
        plan.numbers.resize(first.columns());
    }
    for (const std::size_t j : chosen) {
        for (auto& plan : out.plans) plan.targets[j] = static_cast<Index>(plan.taken++);
        if (first.has_header()) out.file.column_names.push_back(first.names()[j]);
        if (kinds.empty()) continue;
        out.file.kinds.push_back(kinds[j]);
        std::vector<std::string>& words = out.file.categories.emplace_back();
        if (kinds[j] != ColumnKind::category) continue;
        words.assign(found[j].distinct.begin(), found[j].distinct.end());
        const auto numbers = std::make_shared<Table::Dictionary>();  // refers to `words`, which the file keeps
        for (std::size_t w = 0; w < words.size(); ++w) numbers->emplace(words[w], static_cast<Index>(w));
        for (auto& plan : out.plans) plan.numbers[j] = numbers;
    }
    return out;
}

bool has_float32(const OpenTables& texts, const ReadOptions& options) {
    if (options.precision != Precision::automatic) return options.precision == Precision::float32;
    for (std::size_t t = 0; t < texts.tables.size(); ++t)
        if (!texts.tables[t]->is_narrow(texts.plans[t])) return false;
    return true;
}

// The rows of tables as written in their files.
class RowsOfTables : public TableRows {
public:
    struct Kept {
        std::vector<std::unique_ptr<Table>> tables;
        std::vector<Bytes> bytes;
        std::vector<std::string> names;
        std::ptrdiff_t id = -1;
    };
    explicit RowsOfTables(std::shared_ptr<const Kept> kept)
        : kept_(std::move(kept)), at_(kept_->tables.front()->first_record()) {}
    const std::vector<std::string>& names() const override { return kept_->names; }
    std::ptrdiff_t id_column() const override { return kept_->id; }
    std::unique_ptr<TableRows> from_start() const override { return std::make_unique<RowsOfTables>(kept_); }
    bool holds_words(std::size_t column) const override {
        return std::any_of(kept_->tables.begin(), kept_->tables.end(),
                           [&](const auto& table) { return table->holds_words(column); });
    }
    char decimal() const override { return kept_->tables[table_]->decimal(); }
    bool next(std::vector<std::string>& fields) override {
        const auto& tables = kept_->tables;
        while (!tables[table_]->next_record(at_, fields)) {
            if (table_ + 1 == tables.size()) return false;
            at_ = tables[++table_]->first_record();
        }
        return true;
    }

private:
    std::shared_ptr<const Kept> kept_;
    std::size_t table_ = 0;
    std::size_t at_ = 0;
};

void keep_rows(OpenTables& texts, std::span<const TableSource> sources, const ReadOptions& options) {
    if (!options.keep_rows && options.id_column.empty()) return;
    const Table& first = *texts.tables.front();
    auto kept = std::make_shared<RowsOfTables::Kept>();
    for (const auto& source : sources) kept->bytes.push_back(source.bytes);
    kept->names = first.names();
    for (std::size_t j = kept->names.size(); j < first.columns(); ++j)
        kept->names.push_back(filled("column-{}", j + 1));
    kept->id = position_of(first, options.id_column, "id_column");
    kept->tables = std::move(texts.tables);
    texts.file.rows = std::make_shared<RowsOfTables>(std::move(kept));
}

}  // namespace

PointsFile parse_table(const TableSource& source, const ReadOptions& options, int threads) {
    const std::span sources(&source, 1);
    OpenTables texts = open_tables(sources, options, Run(0, threads));
    Table& table = *texts.tables.front();
    std::vector<std::string_view> words;
    Points points = has_float32(texts, options) ? read_matrix<float>(table, texts.plans.front(), words, threads)
                                                : read_matrix<double>(table, texts.plans.front(), words, threads);
    if (texts.plans.front().words >= 0) texts.file.labels = labels_of_words(words);
    texts.file.points = std::move(points);
    keep_rows(texts, sources, options);
    return std::move(texts.file);
}

PointsFile parse_tables(std::span<const TableSource> sources, const ReadOptions& options, const Run& run,
                        FunctionRef<void(Index rows, Index columns, ScalarType scalar)> begin,
                        FunctionRef<void(PointsView rows)> take) {
    OpenTables texts = open_tables(sources, options, run);
    const std::vector<std::unique_ptr<Table>>& tables = texts.tables;
    const std::vector<Table::Plan>& plans = texts.plans;
    Index rows = 0;
    for (const auto& table : tables) rows += table->rows();
    const auto columns = static_cast<Index>(plans.front().taken);
    const bool labelled = plans.front().words >= 0;
    // Keeps each distinct word once, and one number per row.
    Labels word_of_row;
    std::unordered_map<std::string, std::int32_t> numbers;
    std::vector<std::string_view> distinct;  // views of the keys of `numbers`, which do not move
    const auto read_all = [&]<class Scalar>(Scalar) {
        begin(rows, columns, scalar_type_of<Scalar>());
        std::vector<Scalar> block;
        std::vector<std::string_view> words;
        const auto pieces = static_cast<std::size_t>(std::max(1, run.threads)) * 2;
        Index before = 0;
        for (std::size_t t = 0; t < tables.size(); ++t) {
            for (std::size_t piece = 0; piece < tables[t]->pieces(); piece += pieces) {
                run.throw_if_stopped_here("reading");
                const std::size_t last = std::min(tables[t]->pieces(), piece + pieces);
                const Index count = tables[t]->rows_before(last) - tables[t]->rows_before(piece);
                block.resize(static_cast<std::size_t>(count * columns));
                if (labelled) words.resize(static_cast<std::size_t>(count));
                tables[t]->parse(plans[t], piece, last, block.data(), words.data(), run.threads);
                for (const std::string_view word : words) {
                    const auto [found, added] =
                        numbers.emplace(std::string(word), static_cast<std::int32_t>(numbers.size()));
                    if (added) distinct.push_back(found->first);
                    word_of_row.push_back(found->second);
                }
                take(PointsView(block.data(), count, columns));
                run.report(
                    {.stage = "reading",
                     .fraction = static_cast<double>(before + tables[t]->rows_before(last)) / static_cast<double>(rows),
                     .objective = std::numeric_limits<double>::quiet_NaN()});
            }
            before += tables[t]->rows();
        }
    };
    if (has_float32(texts, options))
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

LabelColumn parse_table_labels(const TableSource& source, const std::string& column, bool allow_blank, int threads) {
    ReadOptions options;
    options.label_column = column;
    const std::unique_ptr<Table> opened = open_table(source, options, true);
    Table& table = *opened;
    Table::Plan plan;
    plan.targets.assign(table.columns(), -1);
    plan.words = static_cast<std::ptrdiff_t>(single_column(table, column, "label"));
    plan.blank_words = allow_blank;
    table.find_rows(plan, threads);
    std::vector<std::string_view> words;
    read_matrix<float>(table, plan, words, threads);
    return labels_of_words(words);
}

std::vector<double> parse_table_numbers(const TableSource& source, const std::string& column, int threads) {
    ReadOptions options;
    if (!column.empty()) options.columns = {column};
    const std::unique_ptr<Table> opened = open_table(source, options, false);
    Table& table = *opened;
    Table::Plan plan;
    plan.targets.assign(table.columns(), -1);
    plan.targets[single_column(table, column, "number")] = 0;
    plan.taken = 1;
    table.find_rows(plan, threads);
    std::vector<std::string_view> words;
    const Points points = read_matrix<double>(table, plan, words, threads);
    const auto& rows = points.view().as<double>();
    return {rows.row(0), rows.row(0) + rows.rows};
}

}  // namespace coterie::formats
