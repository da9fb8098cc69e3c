// Writes rows in Arrow's IPC format, as a stream of messages or as a file (Feather version 2) that ends in a table of
// contents. nanoarrow encodes one batch of rows at a time in memory, which is then written, so a table need not fit
// into memory. Fields are given as text, exactly as in the source table. A number written with to_chars reads back the
// same. A first pass over the rows finds the type of each column. Numbers that would change (007) become words.

#include "coterie/io/internal/arrow_writer.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include <nanoarrow/nanoarrow_ipc.hpp>

#include "coterie/base/text.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/internal/text_dialect.hpp"

namespace coterie::io::internal {
namespace {

constexpr Index most_rows_of_batch = 65536;
constexpr std::size_t most_text_of_batch = std::size_t{1} << 26;  // positions in text are 32-bit numbers

void require(ArrowErrorCode code, const ArrowError* error = nullptr) {
    if (code == NANOARROW_OK) return;
    if (code == ENOMEM) throw ResourceError(Code::out_of_memory, "there is not enough memory to write the table");
    throw InternalError("write table: nanoarrow failed with " +
                        (error == nullptr ? std::to_string(code) : std::string(error->message)));
}

bool whole_number(std::string_view word, std::int64_t& value) {
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
    return failed == std::errc() && end == word.data() + word.size() && std::to_string(value) == word;
}

bool any_number(std::string_view word, double& value, char decimal) {
    if (io::internal::is_infinite_word(word)) {
        value =
            word.front() == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
        return true;
    }
    bool overflow = false;
    return formats::parse_field(word, value, overflow, decimal) && !overflow;
}

constexpr std::int64_t largest_of_float = std::int64_t{1} << 53;

// For digits that are not a 64-bit integer: whether they are a name, such as 007, or too many digits for a float.
bool is_name_in_digits(std::string_view word) {
    if (!word.empty() && (word.front() == '-' || word.front() == '+')) word.remove_prefix(1);
    if (word.find_first_not_of("0123456789") != std::string_view::npos)
        return word.size() > 1 && word[0] == '0' && word[1] >= '0' && word[1] <= '9';
    return word.size() > 15 || (word.size() > 1 && word.front() == '0');
}

}  // namespace

struct ArrowRows::Parts {
    nanoarrow::UniqueSchema schema = {};
    nanoarrow::UniqueArrayView view = {};
    nanoarrow::UniqueArray batch = {};
    nanoarrow::UniqueBuffer bytes = {};  // buffer of the encoder, written to the file next
    nanoarrow::ipc::UniqueWriter writer = {};
    Index rows = 0;  // rows of the current batch
    std::size_t text = 0;
    ArrowError error = {};
};

ArrowRows::ArrowRows(OutputFile& file, const std::vector<std::string>& names, std::vector<FieldType> types, bool stream)
    : file_(file), names_(names), types_(std::move(types)), stream_(stream), parts_(std::make_unique<Parts>()) {
    Parts& to = *parts_;
    ArrowSchemaInit(to.schema.get());
    require(ArrowSchemaSetTypeStruct(to.schema.get(), static_cast<std::int64_t>(names.size())));
    for (std::size_t j = 0; j < names.size(); ++j) {
        ArrowSchema* const column = to.schema->children[j];
        require(ArrowSchemaSetType(column, types_[j] == FieldType::whole    ? NANOARROW_TYPE_INT64
                                           : types_[j] == FieldType::number ? NANOARROW_TYPE_DOUBLE
                                                                            : NANOARROW_TYPE_STRING));
        require(ArrowSchemaSetName(column, names[j].c_str()));
    }
    require(ArrowArrayViewInitFromSchema(to.view.get(), to.schema.get(), &to.error), &to.error);
    nanoarrow::ipc::UniqueOutputStream behind;
    require(ArrowIpcOutputStreamInitBuffer(behind.get(), to.bytes.get()));
    require(ArrowIpcWriterInit(to.writer.get(), behind.get()));
    if (!stream_) require(ArrowIpcWriterStartFile(to.writer.get(), &to.error), &to.error);
    require(ArrowIpcWriterWriteSchema(to.writer.get(), to.schema.get(), &to.error), &to.error);
    start_batch();
}
ArrowRows::~ArrowRows() = default;

void ArrowRows::start_batch() {
    Parts& to = *parts_;
    to.batch.reset();
    require(ArrowArrayInitFromSchema(to.batch.get(), to.schema.get(), &to.error), &to.error);
    require(ArrowArrayStartAppending(to.batch.get()));
    to.rows = 0;
    to.text = 0;
}

void ArrowRows::write(std::span<const std::string> fields) {
    Parts& to = *parts_;
    const auto refuse = [&](std::size_t j, const char* type) {
        throw BadData(Code::wrong_type,
                      internal::filled("'{}' cannot be written to a column of {}", formats::shown(fields[j]), type), "",
                      {.value = formats::shown(fields[j]),
                       .column = formats::shown(names_[j]),
                       .column_number = static_cast<std::int64_t>(j) + 1});
    };
    for (std::size_t j = 0; j < fields.size(); ++j) {
        ArrowArray* const column = to.batch->children[j];
        const std::string_view word = formats::trimmed(fields[j]);
        std::int64_t whole = 0;
        double number = 0;
        if (types_[j] == FieldType::words ? fields[j].empty() : io::internal::is_missing_word(word)) {
            require(ArrowArrayAppendNull(column, 1));
        } else if (types_[j] == FieldType::words) {
            to.text += fields[j].size();
            require(ArrowArrayAppendString(column, {fields[j].data(), static_cast<std::int64_t>(fields[j].size())}));
        } else if (types_[j] == FieldType::whole) {
            if (!whole_number(word, whole)) refuse(j, "whole numbers");
            require(ArrowArrayAppendInt(column, whole));
        } else {
            if (!any_number(word, number, '.')) refuse(j, "numbers");
            require(ArrowArrayAppendDouble(column, number));
        }
    }
    require(ArrowArrayFinishElement(to.batch.get()));
    if (++to.rows == most_rows_of_batch || to.text > most_text_of_batch) write_batch();
}

void ArrowRows::write_batch() {
    Parts& to = *parts_;
    require(ArrowArrayFinishBuildingDefault(to.batch.get(), &to.error), &to.error);
    require(ArrowArrayViewSetArray(to.view.get(), to.batch.get(), &to.error), &to.error);
    require(ArrowIpcWriterWriteArrayView(to.writer.get(), to.view.get(), &to.error), &to.error);
    hand_over();
    start_batch();
}

void ArrowRows::hand_over() {
    Parts& to = *parts_;
    file_.write(to.bytes->data, static_cast<std::size_t>(to.bytes->size_bytes));
    require(ArrowBufferResize(to.bytes.get(), 0, 0));
}

void ArrowRows::finish() {
    Parts& to = *parts_;
    if (to.rows > 0) write_batch();
    require(ArrowIpcWriterWriteArrayView(to.writer.get(), nullptr, &to.error), &to.error);
    if (!stream_) require(ArrowIpcWriterFinalizeFile(to.writer.get(), &to.error), &to.error);
    hand_over();
}

}  // namespace coterie::io::internal

namespace coterie {

using namespace io::internal;

std::vector<FieldType> field_types(const TableRows& rows) {
    const std::size_t columns = rows.names().size();
    std::vector<FieldType> out(columns, FieldType::whole);
    std::vector<bool> seen(columns, false),
        large(columns, false);  // has whole numbers that a float does not represent exactly
    for (std::size_t j = 0; j < columns; ++j)
        if (rows.holds_words(j)) out[j] = FieldType::words;
    const auto all = rows.from_start();
    std::vector<std::string> fields;
    while (all->next(fields))
        for (std::size_t j = 0; j < std::min(columns, fields.size()); ++j) {
            if (out[j] == FieldType::words) continue;
            const std::string_view word = formats::trimmed(fields[j]);
            if (io::internal::is_missing_word(word)) continue;
            seen[j] = true;
            std::int64_t whole = 0;
            double number = 0;
            if (whole_number(word, whole)) {
                large[j] = large[j] || whole > largest_of_float || whole < -largest_of_float;
                continue;
            }
            out[j] = any_number(word, number, all->decimal()) && !is_name_in_digits(word) ? FieldType::number
                                                                                          : FieldType::words;
        }
    for (std::size_t j = 0; j < columns; ++j) {
        if (!seen[j] && out[j] != FieldType::words) out[j] = FieldType::number;  // missing in every row: NaN as a float
        if (large[j] && out[j] == FieldType::number) out[j] = FieldType::words;
    }
    return out;
}

}  // namespace coterie
