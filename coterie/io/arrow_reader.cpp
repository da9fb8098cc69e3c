// Reads Arrow's IPC format: a stream of messages (a schema, dictionaries, batches of rows), or a file. A file (also
// called Feather version 2) ends with a table of contents, which has the schema and the positions of the messages.
// nanoarrow decodes the messages. All batches are decoded when the table is opened and are kept, because columns are
// read more than once and may be compressed. Numbers are used directly. All other fields (words, dates, row names) are
// converted to the text that they would have in a csv file, so a column means the same in both formats.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>

#include <nanoarrow/nanoarrow_ipc.hpp>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/utf8.hpp"
#include "coterie/io/internal/table.hpp"
#include "coterie/io/internal/text_dialect.hpp"

namespace coterie::io::internal {
namespace {

constexpr Index piece_rows = 8192;
constexpr std::string_view file_magic = "ARROW1";
constexpr std::string_view stream_magic = "\xff\xff\xff\xff";

std::string_view view_of(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

enum class Kind { number, boolean, words, date, decimal, nothing, none };

struct Column {
    Kind kind = Kind::none;
    bool narrow = false;    // float32 holds these numbers as well
    bool in_words = false;  // indices into a dictionary; `kind` and the rest describe its values
    double per_day = 1;     // units per day, for dates
    bool time = false;      // the date includes a time of day
    std::int32_t bits = 0;  // of the decimal type
    std::int32_t precision = 0;
    std::int32_t scale = 0;
    std::string type;  // Arrow's name of the type
};

Column column_of(const ArrowSchema& schema) {
    Column out;
    ArrowSchemaView view;
    const ArrowSchema& values = schema.dictionary != nullptr ? *schema.dictionary : schema;
    if (ArrowSchemaViewInit(&view, &values, nullptr) != NANOARROW_OK) return out;
    out.in_words = schema.dictionary != nullptr;
    out.type = view_of(ArrowTypeString(view.type));
    switch (view.type) {
        case NANOARROW_TYPE_BOOL: out.kind = Kind::boolean; break;
        case NANOARROW_TYPE_INT8:
        case NANOARROW_TYPE_UINT8:
        case NANOARROW_TYPE_INT16:
        case NANOARROW_TYPE_UINT16:
        case NANOARROW_TYPE_HALF_FLOAT:
        case NANOARROW_TYPE_FLOAT: out.narrow = true; [[fallthrough]];
        case NANOARROW_TYPE_INT32:
        case NANOARROW_TYPE_UINT32:
        case NANOARROW_TYPE_INT64:
        case NANOARROW_TYPE_UINT64:
        case NANOARROW_TYPE_DOUBLE: out.kind = Kind::number; break;
        case NANOARROW_TYPE_STRING:
        case NANOARROW_TYPE_LARGE_STRING: out.kind = Kind::words; break;
        case NANOARROW_TYPE_DATE32: out.kind = Kind::date; break;
        case NANOARROW_TYPE_DATE64:
            out.kind = Kind::date;
            out.per_day = 86400e3;
            break;
        case NANOARROW_TYPE_TIMESTAMP:
            out.kind = Kind::date;
            out.time = true;
            out.per_day = 86400;
            for (int unit = NANOARROW_TIME_UNIT_SECOND; unit < static_cast<int>(view.time_unit); ++unit)
                out.per_day *= 1000;
            break;
        case NANOARROW_TYPE_DECIMAL32:
        case NANOARROW_TYPE_DECIMAL64:
        case NANOARROW_TYPE_DECIMAL128:
        case NANOARROW_TYPE_DECIMAL256:
            out.kind = Kind::decimal;
            out.bits = view.decimal_bitwidth;
            out.precision = view.decimal_precision;
            out.scale = view.decimal_scale;
            break;
        case NANOARROW_TYPE_NA: out.kind = Kind::nothing; break;
        default: break;
    }
    return out;
}

void append_padded(std::string& out, std::int64_t number, std::size_t digits) {
    std::string text = std::to_string(std::abs(number));
    if (text.size() < digits) text.insert(0, digits - text.size(), '0');
    out += (number < 0 ? "-" : "") + text;
}

// Formats days since 1970-01-01 as 2026-11-23. Years begin in March and repeat every 400 years of 146,097 days.
void append_date(std::string& out, std::int64_t days) {
    days += 719468;
    const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    const std::int64_t of_era = days - era * 146097;
    const std::int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    const std::int64_t month = (5 * of_year + 2) / 153;
    const std::int64_t day = of_year - (153 * month + 2) / 5 + 1;
    const std::int64_t calendar_year = year + era * 400 + (month >= 10 ? 1 : 0);
    append_padded(out, calendar_year, 4);
    append_padded(out += '-', month < 10 ? month + 3 : month - 9, 2);
    append_padded(out += '-', day, 2);
}

class ArrowTable final : public Table {
public:
    ArrowTable(const Bytes& bytes, std::string_view source, const ReadOptions& options);

    void find_rows(const Plan& plan, int threads) override;
    void parse(const Plan& plan, std::size_t first, std::size_t last, Numbers to, std::string_view* words,
               int threads) override {
        std::visit([&](auto* numbers) { parse_pieces(plan, first, last, numbers, words, threads); }, to);
    }
    bool next_record(std::size_t& at, std::vector<std::string>& fields) const override;
    bool is_narrow(const Plan& plan) const override;
    bool holds_words(std::size_t j) const override { return kinds_[j].kind == Kind::words; }

private:
    struct Batch {
        nanoarrow::UniqueArray array;
        nanoarrow::UniqueArrayView view;
        Index before = 0;  // rows in earlier batches
    };
    // A place is a row number of the table, from 0.
    Index row_of(std::size_t where) const override { return static_cast<Index>(where) + 1; }
    Field field_at(std::size_t piece, Index row, std::size_t column) const override;
    void count_words(std::size_t piece, const std::vector<bool>& asked, std::size_t most,
                     std::vector<ColumnWords>& columns) const override;

    [[noreturn]] void refuse_damaged(const std::string& why) const {
        refuse_file(source_, Code::malformed, "the Arrow file is damaged: " + why);
    }
    [[noreturn]] void refuse_unread(Code code, std::string problem, const std::string& remedy = {}) const {
        const std::string file = shown(source_ == "standard input" ? "FILE" : source_.substr(source_.rfind('/') + 1));
        refuse_file(
            source_, code, std::move(problem),
            filled("{} the file: python -c \"import pandas; pandas.read_feather('{}').to_csv('{}.csv', index=False)\"",
                   remedy.empty() ? "Convert" : remedy + ". Or convert", file, file));
    }
    void check(ArrowErrorCode code) const;
    // State for opening the table.
    struct Messages {
        std::span<const std::byte> data;
        nanoarrow::ipc::UniqueDecoder decoder = {};
        nanoarrow::UniqueSchema schema = {};
        nanoarrow::ipc::UniqueDictionaries dictionaries = {};
    };
    void read_file(Messages& messages);
    void use_schema(Messages& messages, const ArrowIpcDictionaryEncodings& encodings);
    // Reads the message at `at` and moves `at` past it. Returns false at the mark that ends a stream.
    bool read_message(Messages& messages, std::size_t& at);
    void require_held(const ArrowArrayView& batch, Index rows) const;
    void take_batch(const ArrowSchema& schema, nanoarrow::UniqueArray&& array);
    const Batch& batch_of(std::size_t piece) const { return batches_[pieces_[piece]]; }
    // The field in a row of the table as text, "" if it is missing. `storage` holds it unless the table does.
    std::string_view text_of(const Batch& batch, std::size_t j, Index row, std::string& storage) const;
    // The array with a field's value, or nullptr if it is missing. `row` of the table becomes a row of the array.
    const ArrowArrayView* find_value(const Batch& batch, std::size_t j, Index& row) const;
    void require_read(std::size_t j) const;
    template <class Scalar>
    void parse_pieces(const Plan& plan, std::size_t first, std::size_t last, Scalar* to, std::string_view* words,
                      int threads);

    ArrowError error_ = {};  // what the last call of nanoarrow reports
    std::vector<Column> kinds_;
    std::deque<Batch> batches_;
    std::vector<std::size_t> pieces_;  // the batch of each piece
    Index all_rows_ = 0;
    std::size_t file_bytes_ = 0;
    Index max_rows_ = -1;
    std::deque<std::string> made_;  // words that are stored nowhere as text
};

// nanoarrow's decompressor, limited to the available memory. Asking for it takes longer than decompressing a small
// buffer, so it asks again only when a buffer exceeds what is left of the last answer.
class BoundedDecompressor {
public:
    /// For ArrowIpcDecoderSetDecompressor, which then owns it.
    static ArrowErrorCode make(ArrowIpcDecompressor& out) {
        auto made = std::make_unique<BoundedDecompressor>();
        const ArrowErrorCode code = ArrowIpcSerialDecompressor(&made->serial_);
        if (code == NANOARROW_OK) out = {add, wait, release, made.release()};
        return code;
    }

private:
    // nanoarrow has reserved `to`, but the memory is not used yet, so this can still fail without harm.
    static ArrowErrorCode add(ArrowIpcDecompressor* self, ArrowIpcCompressionType type, ArrowBufferView from,
                              std::uint8_t* to, std::int64_t size, ArrowError* error) {
        auto& own = *static_cast<BoundedDecompressor*>(self->private_data);
        const auto bytes = static_cast<std::uint64_t>(size);
        if (bytes > own.room_) own.room_ = available_memory();
        if (bytes > own.room_) return ENOMEM;
        own.room_ -= bytes;
        return own.serial_.decompress_add(&own.serial_, type, from, to, size, error);
    }
    static ArrowErrorCode wait(ArrowIpcDecompressor* self, std::int64_t milliseconds, ArrowError* error) {
        auto& own = *static_cast<BoundedDecompressor*>(self->private_data);
        return own.serial_.decompress_wait(&own.serial_, milliseconds, error);
    }
    static void release(ArrowIpcDecompressor* self) {
        const std::unique_ptr<BoundedDecompressor> own(static_cast<BoundedDecompressor*>(self->private_data));
        own->serial_.release(&own->serial_);
        self->release = nullptr;
    }

    ArrowIpcDecompressor serial_{};
    std::uint64_t room_ = 0;
};

void ArrowTable::check(ArrowErrorCode code) const {
    if (code == NANOARROW_OK) return;
    if (code == ENOMEM)
        throw ResourceError(Code::out_of_memory, "there is not enough memory to read the file, or the file is damaged",
                            "", {.file = source_});
    const std::string_view message = error_.message;
    if (code != ENOTSUP && message.find("not yet supported") == std::string_view::npos) refuse_damaged(shown(message));
    if (message.find("View") != std::string_view::npos)
        refuse_unread(Code::unsupported_format, "the file has text of type string view, which coterie does not read",
                      "In polars, write it with compat_level=polars.CompatLevel.oldest()");
    refuse_unread(Code::unsupported_format,
                  filled("the file uses a feature that coterie does not support ({})", shown(message)));
}

ArrowTable::ArrowTable(const Bytes& bytes, std::string_view source, const ReadOptions& options)
    : max_rows_(options.max_rows) {
    source_ = source;
    is_text_ = false;
    const auto refuse_option = [&](const char* option) {
        throw BadArgument(Code::without_effect, filled("`{}` is for text files; this is an Arrow file", option),
                          "Leave it out", {.option = option, .file = source_});
    };
    if (options.separator != 0) refuse_option("separator");
    if (options.header != Header::automatic) refuse_option("header");
    if (options.decimal != Decimal::automatic) refuse_option("decimal");
    file_bytes_ = bytes.size();
    require_memory(static_cast<double>(bytes.size()), "the table");
    Messages messages{bytes.data};
    check(ArrowIpcDecoderInit(messages.decoder.get()));
    ArrowIpcDecompressor decompressor;
    check(BoundedDecompressor::make(decompressor));
    check(ArrowIpcDecoderSetDecompressor(messages.decoder.get(), &decompressor));
    if (std::string_view(bytes.text(), bytes.size()).starts_with(file_magic)) {
        read_file(messages);
    } else {
        for (std::size_t at = 0; at < bytes.size() && read_message(messages, at);) continue;
        if (messages.schema->release == nullptr) refuse_damaged("it has no schema");
    }
    if (columns_ == 0) refuse_file(source_, Code::empty, "the table has no columns");
}

// A file ends with the table of contents, its size in four bytes, and ARROW1. The schema comes from there, because
// polars omits the prefix of the message that also holds it.
void ArrowTable::read_file(Messages& messages) {
    const std::span<const std::byte> data = messages.data;
    std::int32_t contents = 0;
    const std::size_t tail = sizeof(contents) + file_magic.size();
    if (data.size() < 8 + tail ||
        std::memcmp(data.data() + data.size() - file_magic.size(), file_magic.data(), file_magic.size()) != 0)
        refuse_damaged("its end is missing");
    std::memcpy(&contents, data.data() + data.size() - tail, sizeof(contents));
    if (contents < 0 || static_cast<std::size_t>(contents) > data.size() - 8 - tail)
        refuse_damaged("the size of its table of contents is wrong");
    const std::vector<std::byte> aligned(data.end() - static_cast<std::ptrdiff_t>(tail) - contents, data.end());
    const ArrowBufferView view{{aligned.data()}, static_cast<std::int64_t>(aligned.size())};
    ArrowIpcDecoder* const decoder = messages.decoder.get();
    check(ArrowIpcDecoderVerifyFooter(decoder, view, &error_));
    check(ArrowIpcDecoderDecodeFooter(decoder, view, &error_));
    ArrowIpcFooter& footer = *decoder->footer;
    messages.schema.reset(&footer.schema);
    use_schema(messages, footer.dictionaries);
    std::vector<std::size_t> places;
    for (const ArrowBuffer* blocks : {&footer.dictionary_blocks, &footer.record_batch_blocks})
        for (std::int64_t at = 0; at < blocks->size_bytes; at += static_cast<std::int64_t>(sizeof(ArrowIpcFileBlock))) {
            ArrowIpcFileBlock block;
            std::memcpy(&block, blocks->data + at, sizeof(block));
            if (block.offset < 8 || static_cast<std::size_t>(block.offset) > data.size() - 8)
                refuse_damaged("a message is beyond its end");
            places.push_back(static_cast<std::size_t>(block.offset));
        }
    for (std::size_t at : places)
        if (!read_message(messages, at)) refuse_damaged("a message is missing");
}

void ArrowTable::use_schema(Messages& messages, const ArrowIpcDictionaryEncodings& encodings) {
    ArrowIpcDecoder* const decoder = messages.decoder.get();
    check(ArrowIpcDecoderSetSchemaWithDictionaries(decoder, messages.schema.get(), &encodings, &error_));
    check(ArrowIpcDecoderSetEndianness(decoder, decoder->endianness));
    check(ArrowIpcDictionariesInit(messages.dictionaries.get(), &encodings, &error_));
    columns_ = static_cast<std::size_t>(messages.schema->n_children);
    for (std::size_t j = 0; j < columns_; ++j) {
        const ArrowSchema& column = *messages.schema->children[j];
        const std::string_view name = view_of(column.name);
        if (!internal::is_utf8(name)) refuse_damaged(filled("the name of column {} is not UTF-8", j + 1));
        names_.push_back(std::string(trimmed(name)));
        kinds_.push_back(column_of(column));
        // pandas writes this column if a table's rows have names.
        if (name.starts_with("__index_level_") && index_ < 0) {
            index_ = static_cast<std::ptrdiff_t>(j);
            index_reason_ = "the column is the index of pandas";
        }
    }
    if (index_ < 0) find_nameless_index();
}

bool ArrowTable::read_message(Messages& messages, std::size_t& at) {
    const std::span<const std::byte> data = messages.data;
    ArrowIpcDecoder* const decoder = messages.decoder.get();
    ArrowBufferView view{{data.data() + at}, static_cast<std::int64_t>(data.size() - at)};
    std::int32_t prefix = 0;
    const ArrowErrorCode begins = ArrowIpcDecoderPeekHeader(decoder, view, &prefix, &error_);
    if (begins == ENODATA) return false;
    check(begins);
    const auto header_bytes = static_cast<std::size_t>(decoder->header_size_bytes);
    if (header_bytes > data.size() - at) refuse_damaged("it ends within a message");
    // In aligned memory.
    const std::vector<std::byte> header(data.begin() + static_cast<std::ptrdiff_t>(at),
                                        data.begin() + static_cast<std::ptrdiff_t>(at + header_bytes));
    at += header_bytes;
    view = {{header.data()}, static_cast<std::int64_t>(header.size())};
    check(ArrowIpcDecoderVerifyHeader(decoder, view, &error_));
    check(ArrowIpcDecoderDecodeHeader(decoder, view, &error_));
    if (decoder->body_size_bytes < 0 || static_cast<std::size_t>(decoder->body_size_bytes) > data.size() - at)
        refuse_damaged("it ends within a message");
    const ArrowBufferView body{{data.data() + at}, decoder->body_size_bytes};
    at += static_cast<std::size_t>(decoder->body_size_bytes);
    const bool first = messages.schema->release == nullptr;
    if (first != (decoder->message_type == NANOARROW_IPC_MESSAGE_TYPE_SCHEMA))
        refuse_damaged(first ? "it does not begin with a schema" : "a second schema follows");
    const auto require_codec = [&](ArrowIpcCompressionType type, ArrowIpcDecompressFunction known,
                                   const std::string& name) {
        if (decoder->codec == type && known == nullptr)
            refuse_unread(Code::missing_library,
                          filled("the file is compressed by {}, which this build of coterie does not have", name));
    };
    require_codec(NANOARROW_IPC_COMPRESSION_TYPE_LZ4_FRAME, ArrowIpcGetLZ4DecompressionFunction(), "lz4");
    require_codec(NANOARROW_IPC_COMPRESSION_TYPE_ZSTD, ArrowIpcGetZstdDecompressionFunction(), "zstandard");
    if (first) {
        nanoarrow::ipc::UniqueDictionaryEncodings encodings;
        check(ArrowIpcDecoderDecodeSchemaWithDictionaries(decoder, messages.schema.get(), encodings.get(), &error_));
        use_schema(messages, *encodings.get());
    } else if (decoder->message_type == NANOARROW_IPC_MESSAGE_TYPE_DICTIONARY_BATCH) {
        check(ArrowIpcDecoderDecodeDictionary(decoder, body, NANOARROW_VALIDATION_LEVEL_FULL,
                                              messages.dictionaries.get(), &error_));
    } else if (decoder->message_type == NANOARROW_IPC_MESSAGE_TYPE_RECORD_BATCH) {
        nanoarrow::UniqueArray array;
        check(ArrowIpcDecoderDecodeArrayWithDictionaries(decoder, body, -1, messages.dictionaries.get(), array.get(),
                                                         NANOARROW_VALIDATION_LEVEL_FULL, &error_));
        take_batch(*messages.schema.get(), std::move(array));
    } else {
        refuse_damaged("a message is neither a dictionary nor a batch of rows");
    }
    return true;
}

// Columns of nulls have no bytes, so a batch may claim any number of rows. This number is checked against the size of
// the other columns, which need at least a bit per row, and against the size of the file.
void ArrowTable::require_held(const ArrowArrayView& batch, Index rows) const {
    std::int64_t bytes = static_cast<std::int64_t>(file_bytes_);
    for (std::int64_t j = 0; j < batch.n_children; ++j)
        for (const ArrowBufferView& buffer : batch.children[j]->buffer_views)
            bytes = std::max(bytes, buffer.size_bytes);
    if (rows / 8 > bytes) refuse_damaged(filled("a batch claims {} rows, more than its bytes can hold", rows));
}

void ArrowTable::take_batch(const ArrowSchema& schema, nanoarrow::UniqueArray&& array) {
    Batch& batch = batches_.emplace_back();
    batch.array = std::move(array);
    batch.before = all_rows_;
    check(ArrowArrayViewInitFromSchema(batch.view.get(), &schema, &error_));
    check(ArrowArrayViewSetArray(batch.view.get(), batch.array.get(), &error_));
    const Index rows = batch.view->length;
    require_held(*batch.view.get(), rows);
    for (std::size_t j = 0; j < columns_; ++j) {
        const ArrowArrayView& column = *batch.view->children[j];
        const auto refuse_column = [&](std::string_view problem) {
            refuse_damaged(filled("column {} {}", column_names().text(j), problem));
        };
        if (column.length != rows) refuse_column("and its batch differ in length");
        if (kinds_[j].in_words) {
            if (column.dictionary == nullptr) refuse_column("has no dictionary");
            const std::int64_t words = column.dictionary->length;
            for (Index i = 0; i < rows; ++i)
                if (!ArrowArrayViewIsNull(&column, i)) {
                    const std::int64_t word = ArrowArrayViewGetIntUnsafe(&column, i);
                    if (word < 0 || word >= words) refuse_column("has a value that is not in its dictionary");
                }
        }
        if (kinds_[j].kind != Kind::words) continue;
        const ArrowArrayView& values = kinds_[j].in_words ? *column.dictionary : column;
        for (Index i = 0; i < values.length; ++i) {
            if (ArrowArrayViewIsNull(&values, i)) continue;
            const ArrowStringView word = ArrowArrayViewGetStringUnsafe(&values, i);
            if (!internal::is_utf8({word.data, static_cast<std::size_t>(word.size_bytes)}))
                refuse_column("holds text that is not UTF-8");
        }
    }
    all_rows_ += rows;
}

void ArrowTable::find_rows(const Plan&, int) {
    starts_.assign(1, 0);
    pieces_.clear();
    for (std::size_t b = 0; b < batches_.size(); ++b) {
        const Index rows = batches_[b].view->length;
        for (Index first = 0; first < rows; first += piece_rows) {
            Index count = std::min(piece_rows, rows - first);
            if (max_rows_ >= 0) count = std::min(count, max_rows_ - starts_.back());
            if (count <= 0) break;
            pieces_.push_back(b);
            starts_.push_back(starts_.back() + count);
        }
    }
    if (rows() == 0) refuse_file(source_, Code::empty, "the table has no rows");
}

void ArrowTable::require_read(std::size_t j) const {
    if (kinds_[j].kind != Kind::none) return;
    Message place = column_names().place(j);
    place.accepted = "numbers, booleans, text, dates and times";
    throw BadData(Code::wrong_type, filled("Arrow's type {} is not supported", kinds_[j].type),
                  filled("Use `exclude={}` to leave it out", column_names().option_text(j)), std::move(place));
}

const ArrowArrayView* ArrowTable::find_value(const Batch& batch, std::size_t j, Index& row) const {
    const ArrowArrayView* column = batch.view->children[j];
    row -= batch.before;
    if (ArrowArrayViewIsNull(column, row)) return nullptr;
    if (!kinds_[j].in_words) return column;
    row = ArrowArrayViewGetIntUnsafe(column, row);
    return ArrowArrayViewIsNull(column->dictionary, row) ? nullptr : column->dictionary;
}

std::string_view ArrowTable::text_of(const Batch& batch, std::size_t j, Index row, std::string& storage) const {
    const Column& is = kinds_[j];
    storage.clear();
    const ArrowArrayView* const column = find_value(batch, j, row);
    if (column == nullptr) return storage;
    std::array<char, 64> digits{};
    const auto number = [&](auto value) {
        storage.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
    };
    switch (is.kind) {
        case Kind::words: {
            const ArrowStringView word = ArrowArrayViewGetStringUnsafe(column, row);
            return {word.data, static_cast<std::size_t>(word.size_bytes)};
        }
        case Kind::boolean: storage = ArrowArrayViewGetIntUnsafe(column, row) != 0 ? "true" : "false"; break;
        case Kind::number:
            switch (column->storage_type) {
                case NANOARROW_TYPE_DOUBLE: number(ArrowArrayViewGetDoubleUnsafe(column, row)); break;
                case NANOARROW_TYPE_FLOAT:
                case NANOARROW_TYPE_HALF_FLOAT:
                    number(static_cast<float>(ArrowArrayViewGetDoubleUnsafe(column, row)));
                    break;
                case NANOARROW_TYPE_UINT64: number(ArrowArrayViewGetUIntUnsafe(column, row)); break;
                default: number(ArrowArrayViewGetIntUnsafe(column, row));
            }
            break;
        case Kind::decimal: {
            ArrowDecimal decimal;
            ArrowDecimalInit(&decimal, is.bits, is.precision, is.scale);
            ArrowArrayViewGetDecimalUnsafe(column, row, &decimal);
            nanoarrow::UniqueBuffer text;
            if (ArrowDecimalAppendStringToBuffer(&decimal, text.get()) != NANOARROW_OK)
                throw ResourceError(Code::out_of_memory, "there is not enough memory to read the file", "",
                                    {.file = source_});
            storage.assign(reinterpret_cast<const char*>(text->data), static_cast<std::size_t>(text->size_bytes));
            break;
        }
        case Kind::date: {
            const std::int64_t value = ArrowArrayViewGetIntUnsafe(column, row);
            const auto units = static_cast<std::int64_t>(is.per_day);
            const std::int64_t of_day = (value % units + units) % units;
            append_date(storage, value / units - (value % units < 0 ? 1 : 0));
            if (!is.time) break;
            const std::int64_t per_second = units / 86400, second = of_day / per_second;
            append_padded(storage += ' ', second / 3600, 2);
            append_padded(storage += ':', second / 60 % 60, 2);
            append_padded(storage += ':', second % 60, 2);
            // Row names may differ only by fractions of a second.
            if (const std::int64_t part = of_day % per_second; part != 0)
                append_padded(storage += '.', part, per_second == 1000 ? 3 : per_second == 1000000 ? 6 : 9);
            break;
        }
        case Kind::nothing:
        case Kind::none: break;
    }
    return storage;
}

Table::Field ArrowTable::field_at(std::size_t piece, Index row, std::size_t column) const {
    const Index where = starts_[piece] + row;
    std::string storage;
    return {static_cast<std::size_t>(where), std::string(text_of(batch_of(piece), column, where, storage))};
}

bool ArrowTable::next_record(std::size_t& at, std::vector<std::string>& fields) const {
    if (static_cast<Index>(at) >= rows()) return false;
    const auto behind = std::upper_bound(batches_.begin(), batches_.end(), static_cast<Index>(at),
                                         [](Index row, const Batch& batch) { return row < batch.before; });
    std::string storage;
    fields.clear();
    for (std::size_t j = 0; j < columns_; ++j)
        fields.emplace_back(text_of(*std::prev(behind), j, static_cast<Index>(at), storage));
    ++at;
    return true;
}

void ArrowTable::count_words(std::size_t piece, const std::vector<bool>& asked, std::size_t most,
                             std::vector<ColumnWords>& columns) const {
    const Index begin = starts_[piece], end = starts_[piece + 1];
    std::string storage;
    for (std::size_t j = 0; j < columns_; ++j) {
        if (!asked[j]) continue;
        ColumnWords& column = columns[j];
        const Kind kind = kinds_[j].kind;
        if (kind == Kind::none) column.words += end - begin;  // no numbers: the column is left out like word columns
        for (Index row = begin; row < end && kind != Kind::none; ++row) {
            const std::string_view word = trimmed(text_of(batch_of(piece), j, row, storage));
            if (is_missing_word(word)) continue;
            if (kind == Kind::words || (kind == Kind::number && kinds_[j].in_words))
                count_word(column, word);
            else
                ++(kind == Kind::date ? column.dates : column.numbers);
            if (column.distinct.size() < most) column.distinct.insert(std::string(word));
        }
    }
}

bool ArrowTable::is_narrow(const Plan& plan) const {
    for (std::size_t j = 0; j < columns_; ++j)
        if (plan.targets[j] >= 0 && (!kinds_[j].narrow || plan.kind(j) != ColumnKind::number)) return false;
    return true;
}

template <class Scalar>
void ArrowTable::parse_pieces(const Plan& plan, std::size_t first, std::size_t last, Scalar* to,
                              std::string_view* words, int threads) {
    for (std::size_t j = 0; j < columns_; ++j)
        if (plan.targets[j] >= 0 || static_cast<std::ptrdiff_t>(j) == plan.words) require_read(j);
    const auto stride = static_cast<Index>(plan.taken);
    for_each_block(static_cast<Index>(last - first), threads, [&](Index at, int) {
        const std::size_t piece = first + static_cast<std::size_t>(at);
        const Batch& batch = batch_of(piece);
        Scalar* const rows = to + (starts_[piece] - starts_[first]) * stride;
        std::string storage;
        for (std::size_t j = 0; j < columns_; ++j) {
            if (plan.targets[j] < 0) continue;
            const Column& is = kinds_[j];
            const ColumnKind kind = plan.kind(j);
            Scalar* out = rows + plan.targets[j];
            const bool as_number = kind == ColumnKind::number && (is.kind == Kind::number || is.kind == Kind::boolean);
            const bool as_date = kind == ColumnKind::date && is.kind == Kind::date;
            for (Index row = starts_[piece]; row < starts_[piece + 1]; ++row, out += stride) {
                const auto where = static_cast<std::size_t>(row);
                if (as_number || as_date) {
                    Index at_row = row;
                    const ArrowArrayView* const values = find_value(batch, j, at_row);
                    const double value =
                        values == nullptr ? missing_value(where, j, {}, plan)
                        : as_date         ? static_cast<double>(ArrowArrayViewGetIntUnsafe(values, at_row)) / is.per_day
                                          : ArrowArrayViewGetDoubleUnsafe(values, at_row);
                    *out = static_cast<Scalar>(value);
                    if (std::isfinite(*out) || values == nullptr) continue;
                }
                const std::string_view field = text_of(batch, j, row, storage);
                *out = value_of<Scalar>(where, j, field, trimmed(field), plan);
            }
        }
        if (plan.points) refuse_too_large(plan, piece, rows);
    });
    made_.clear();
    if (plan.words < 0) return;
    const auto j = static_cast<std::size_t>(plan.words);
    for (std::size_t piece = first; piece < last; ++piece)
        for (Index row = starts_[piece]; row < starts_[piece + 1]; ++row) {
            std::string storage;
            std::string_view word = trimmed(text_of(batch_of(piece), j, row, storage));
            if (kinds_[j].kind != Kind::words) word = made_.emplace_back(word);
            if (word.empty() && !plan.blank_words)
                refuse_field(static_cast<std::size_t>(row), j, {}, Code::missing_value, "the value is empty",
                             "Give every row a value");
            *words++ = word;
        }
}

}  // namespace

bool is_arrow(std::span<const std::byte> data) {
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    return text.starts_with(file_magic) || text.starts_with(stream_magic);
}

std::unique_ptr<Table> open_arrow_table(const Bytes& bytes, std::string_view source, const ReadOptions& options) {
    return std::make_unique<ArrowTable>(bytes, source, options);
}

}  // namespace coterie::io::internal
