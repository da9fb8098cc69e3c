// Writes rows in Arrow's IPC format, as a stream of messages or as a file (Feather version 2) that ends in a table of
// contents. nanoarrow encodes one batch of rows at a time in memory, which is then written, so a table need not fit
// into memory. Fields are given as text, exactly as in the source table.

#include "coterie/io/internal/arrow_writer.hpp"

#include <charconv>
#include <limits>

#include <nanoarrow/nanoarrow_ipc.hpp>

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

}  // namespace

std::optional<std::int64_t> whole_value(std::string_view word) {
    std::int64_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return std::to_string(value) == word ? std::optional(value) : std::nullopt;
}

std::optional<double> real_value(std::string_view word, char decimal) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (is_infinite_word(word)) return word.front() == '-' ? -infinity : infinity;
    double value = 0;
    bool overflow = false;
    return formats::parse_field(word, value, overflow, decimal) ? std::optional(value) : std::nullopt;
}

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
        if (types_[j] == FieldType::words ? fields[j].empty() : is_missing_word(word)) {
            require(ArrowArrayAppendNull(column, 1));
        } else if (types_[j] == FieldType::words) {
            to.text += fields[j].size();
            require(ArrowArrayAppendString(column, {fields[j].data(), static_cast<std::int64_t>(fields[j].size())}));
        } else if (types_[j] == FieldType::whole) {
            const auto value = whole_value(word);
            if (!value) refuse(j, "whole numbers");
            require(ArrowArrayAppendInt(column, *value));
        } else {
            const auto value = real_value(word, '.');
            if (!value) refuse(j, "numbers");
            require(ArrowArrayAppendDouble(column, *value));
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
