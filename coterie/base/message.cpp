// The list of codes, the text of a message, and the replacement of marks.

#include "coterie/base/message.hpp"

#include <charconv>
#include <cstring>
#include <iterator>

#include "coterie/base/utf8.hpp"

namespace coterie {
namespace {

constexpr CodeMeaning meanings[] = {
    {Code::not_accepted, "not-accepted", "The value of an option or argument is not among those accepted."},
    {Code::unknown_name, "unknown-name", "No option, method, data set or model part has this name."},
    {Code::missing_argument, "missing-argument", "Something that is needed was not given."},
    {Code::conflict, "conflict", "Two options or inputs exclude each other."},
    {Code::without_effect, "without-effect", "An option was given that would change nothing."},
    {Code::not_supported, "not-supported", "The method, model, format or build does not do this."},
    {Code::wrong_shape, "wrong-shape", "Numbers of rows, columns or values do not fit together."},
    {Code::out_of_range, "out-of-range", "A label, a row or an index is outside its range."},
    {Code::too_few_rows, "too-few-rows", "There are fewer usable rows than the method needs."},
    {Code::infeasible, "infeasible", "No assignment meets all constraints."},
    {Code::missing_value, "missing-value", "A value is missing."},
    {Code::not_finite, "not-finite", "A number is infinite or NaN."},
    {Code::too_large, "too-large", "A number is so large that results would overflow."},
    {Code::not_a_number, "not-a-number", "There is text where a number is needed."},
    {Code::wrong_type, "wrong-type", "A value or column has another type than needed."},
    {Code::unknown_column, "unknown-column", "The table has no column of this name or number."},
    {Code::duplicate, "duplicate", "Something is named or given twice."},
    {Code::empty, "empty", "There are no rows, columns or values."},
    {Code::malformed, "malformed", "The content of a file does not follow its format."},
    {Code::unsupported_format, "unsupported-format", "The file is of a kind that coterie does not read or write."},
    {Code::limit_exceeded, "limit-exceeded", "A file is beyond a documented limit of size, depth or count."},
    {Code::model_mismatch, "model-mismatch", "The data do not fit the model, or this version cannot use the model."},
    {Code::overflow, "overflow", "The computation left the range of floating-point numbers."},
    {Code::not_found, "not-found", "A file or folder does not exist."},
    {Code::cannot_read, "cannot-read", "The system could not read a file."},
    {Code::cannot_write, "cannot-write", "The system could not write a file."},
    {Code::already_exists, "already-exists", "A file or folder exists that must not be overwritten."},
    {Code::changed_file, "changed-file", "A file changed while it was read."},
    {Code::out_of_memory, "out-of-memory", "The work needs more memory than is available."},
    {Code::missing_library, "missing-library", "A library or program that this needs is not installed."},
    {Code::library_failed, "library-failed", "A library that does part of the work, such as LibTorch, failed."},
    {Code::no_device, "no-device", "The accelerator is not available."},
    {Code::download_failed, "download-failed", "A download failed or did not have the expected content."},
    {Code::processes_differ, "processes-differ", "Processes of one fit have different options or data."},
    {Code::cancelled, "cancelled", "The caller stopped the work before there was a result."},
    {Code::internal, "internal", "A fault of coterie itself: please report it."},
    {Code::rows_left_out, "rows-left-out", "Rows with missing values were left out and have no label."},
    {Code::values_filled, "values-filled", "Missing values were filled in."},
    {Code::unknown_category, "unknown-category", "Values of a category were not in the training data and are ignored."},
    {Code::no_vector, "no-vector", "Some words have no vector."},
    {Code::columns_by_order, "columns-by-order",
     "Columns have no names, so they were matched to the model's columns by order."},
    {Code::header_guessed, "header-guessed", "Whether a file has a header line was guessed."},
    {Code::constant_column, "constant-column", "A column has the same value in all rows."},
    {Code::row_numbers, "row-numbers", "A column numbers the rows, but is used as data."},
    {Code::zero_row, "zero-row", "In some rows all values are 0, so these rows have no direction."},
    {Code::scale_dominates, "scale-dominates", "Few columns hold nearly all variance, so they decide the clusters."},
    {Code::far_from_origin, "far-from-origin", "The data are far from the origin, which this method does not remove."},
    {Code::far_from_training, "far-from-training", "Rows are far from all training data."},
    {Code::unbalanced_clusters, "unbalanced-clusters", "One cluster holds nearly all rows."},
    {Code::split_duplicates, "split-duplicates", "Equal rows are in different clusters."},
    {Code::fewer_clusters, "fewer-clusters", "Fewer clusters were found than requested."},
    {Code::all_noise, "all-noise", "All rows are noise."},
    {Code::not_converged, "not-converged", "The fit stopped before it converged."},
    {Code::not_optimal, "not-optimal", "The search for the best assignment was cut short."},
    {Code::diverged, "diverged", "Training diverged or collapsed; a result, if there is one, is from before that."},
    {Code::value_reduced, "value-reduced", "An option's value was replaced by the largest that the data allow."},
    {Code::graph_disconnected, "graph-disconnected", "The neighbour graph has separate parts or isolated rows."},
    {Code::ill_conditioned, "ill-conditioned",
     "The data span fewer dimensions than columns, or numbers lose accuracy."},
    {Code::interrupted, "interrupted", "The work was interrupted; the result is what had been found by then."},
    {Code::checkpoint_failed, "checkpoint-failed", "A checkpoint could not be written."},
    {Code::note, "note", "Anything else that helps to read the result."},
};
// name(code) and unpacked() use a code as an index.
static_assert([] {
    std::size_t i = 0;
    for (const CodeMeaning& each : meanings)
        if (each.code != static_cast<Code>(i++)) return false;
    return i == static_cast<std::size_t>(Code::note) + 1;
}());

const Spelling plain;
const Spelling* used = &plain;

bool starts_name(char c) { return c >= 'a' && c <= 'z'; }
bool continues_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '_'; }

// Builds the text of a message. `write` spells the marks.
template <class Write>
std::string composed(const Message& message, const Write& write) {
    std::string out = message.context.empty() ? "" : message.context + ": ";
    const std::string option = "`" + message.option + "`";
    if (!message.file.empty())
        out += message.file + ": ";
    else if (!message.option.empty() && !message.problem.starts_with(option))
        out += write(option) + ": ";
    std::string place;
    if (!message.column.empty())
        place = "column '" + internal::shown(message.column) + "'";
    else if (message.column_number)
        place = "column " + std::to_string(*message.column_number);
    const std::string comma = place.empty() ? "" : ", ";
    if (message.line)
        place += comma + "line " + std::to_string(*message.line);
    else if (message.row)
        place += comma + write("`row=" + std::to_string(*message.row) + "`");
    if (!place.empty()) out += place + ": ";
    out += write(message.problem);
    if (!message.remedy.empty()) out += ". " + write(message.remedy) + ".";
    return out;
}

// Appends one packed field: its size in 8 bytes, then its text.
void put(std::string& out, std::string_view text) {
    const std::uint64_t size = text.size();
    out.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

// Moves one packed field from the front of `bytes` to `text`. Returns false if the bytes end too early.
bool take(std::string_view& bytes, std::string& text) {
    std::uint64_t size = 0;
    if (bytes.size() < sizeof size) return false;
    std::memcpy(&size, bytes.data(), sizeof size);
    bytes.remove_prefix(sizeof size);
    if (bytes.size() < size) return false;
    text = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return true;
}

// The same for a number. An empty field means that there is none.
bool take(std::string_view& bytes, std::optional<std::int64_t>& number) {
    std::string text;
    if (!take(bytes, text)) return false;
    if (text.empty()) return true;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number.emplace());
    return read.ec == std::errc() && read.ptr == end;
}

}  // namespace

std::string_view name(Code code) { return meanings[static_cast<std::size_t>(code)].name; }

std::span<const CodeMeaning> code_list() { return meanings; }

const Spelling& Spelling::current() { return *used; }

void Spelling::use(const Spelling& spelling) { used = &spelling; }

// A mark is `NAME` or `NAME=VALUE`. NAME has lower-case letters, digits and '_', and begins with a letter. Other
// backquotes stay, because the name of a file or a column may contain them.
std::string Spelling::operator()(std::string_view text) const {
    std::string out;
    while (true) {
        const std::size_t open = text.find('`');
        out += text.substr(0, open);
        if (open == std::string_view::npos) return out;
        text.remove_prefix(open);
        std::size_t end = 1;  // the end of NAME
        if (end < text.size() && starts_name(text[end]))
            while (end < text.size() && continues_name(text[end])) ++end;
        const bool has_value = end > 1 && end < text.size() && text[end] == '=';
        const std::size_t close = has_value ? text.find('`', end) : end;
        if (end == 1 || close >= text.size() || text[close] != '`') {
            out += '`';
            text.remove_prefix(1);
            continue;
        }
        const std::string_view name = text.substr(1, end - 1);
        const std::string_view value = has_value ? text.substr(end + 1, close - end - 1) : std::string_view();
        out += !has_value ? option(name) : name == "row" ? row(value) : setting(name, value);
        text.remove_prefix(close + 1);
    }
}

std::string Message::marked() const {
    return composed(*this, [](const std::string& text) { return text; });
}

std::string Message::text() const { return composed(*this, Spelling::current()); }

std::string Message::packed() const {
    std::string out(1, static_cast<char>(code));
    for (const std::string* field : {&problem, &remedy, &option, &value, &accepted, &file, &column, &context})
        put(out, *field);
    for (const auto& number : {line, row, column_number}) put(out, number ? std::to_string(*number) : "");
    return out;
}

std::optional<Message> Message::unpacked(std::string_view bytes) {
    Message out;
    if (bytes.empty() || static_cast<unsigned char>(bytes[0]) >= std::size(meanings)) return std::nullopt;
    out.code = static_cast<Code>(bytes[0]);
    bytes.remove_prefix(1);
    for (auto* field :
         {&out.problem, &out.remedy, &out.option, &out.value, &out.accepted, &out.file, &out.column, &out.context})
        if (!take(bytes, *field)) return std::nullopt;
    for (auto* number : {&out.line, &out.row, &out.column_number})
        if (!take(bytes, *number)) return std::nullopt;
    return bytes.empty() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace coterie
