// Builds and checks all bytes of a model in memory, because the checksum needs all of them. So a damaged file or a file
// of another kind is found before anything is built from it. The safetensors reader (io/) reads the table of tensors
// and checks its bounds first. Tensors are sorted by name, so the same model gives the same bytes.

#include "coterie/model/archive.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "coterie/base/checks.hpp"
#include "coterie/io/formats.hpp"
#include "coterie/io/json_text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/sha256.hpp"

namespace coterie {
namespace {

using Json = nlohmann::json;
using formats::shown;

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory");

constexpr std::string_view format_name = "coterie-model";
constexpr std::string_view format_version = "1";
constexpr std::string_view text_prefix = "text.";
constexpr std::size_t digest_digits = 64;
// The checksum covers the whole file, with its own digits read as zeros.
const std::string digest_zeros(digest_digits, '0');
constexpr std::string_view digest_key = "\"sha256\":\"";

struct TypeName {
    Archive::ElementType type;
    std::string_view name;
    std::size_t bytes;
};
constexpr TypeName type_names[] = {{Archive::ElementType::float32, "F32", 4},
                                   {Archive::ElementType::float64, "F64", 8},
                                   {Archive::ElementType::int32, "I32", 4},
                                   {Archive::ElementType::int64, "I64", 8},
                                   {Archive::ElementType::uint8, "U8", 1}};

const TypeName& type_name(Archive::ElementType type) {
    for (const TypeName& entry : type_names)
        if (entry.type == type) return entry;
    throw InternalError("archive: unknown element type");
}

template <class T>
std::vector<std::byte> bytes_of(std::span<const T> values) {
    const auto bytes = std::as_bytes(values);
    return {bytes.begin(), bytes.end()};
}

Json json_of(const OptionValues& options) {
    Json out = Json::object();
    for (const auto& [name, value] : options) {
        if (const auto* real = std::get_if<double>(&value); real && !std::isfinite(*real))
            throw BadArgument(Code::not_finite, to_text(value) + " cannot be saved in a model", "Use a finite number",
                              {.option = name, .value = to_text(value), .accepted = "finite numbers"});
        Json& slot = out[name];
        std::visit(
            [&](const auto& v) {
                if constexpr (!std::is_same_v<decltype(v), const Automatic&>) slot = v;
            },
            value);
    }
    return out;
}

bool is_list_of(const Json& list, bool (Json::*kind)() const noexcept) {
    return std::all_of(list.begin(), list.end(), [&](const Json& item) { return (item.*kind)(); });
}

[[noreturn]] void refuse(Code code, std::string problem, const std::string& file, std::string remedy = {}) {
    throw BadData(code, std::move(problem), std::move(remedy), {.file = file});
}

OptionValues options_of(const std::string& text, const std::string& file) {
    const Json json = formats::parse_json(
        text, [&](const std::string& reason) { refuse(Code::malformed, "text 'options' " + reason, file); });
    if (!json.is_object()) refuse(Code::malformed, "text 'options' is not a JSON object", file);
    OptionValues out;
    for (const auto& [name, value] : json.items()) {
        if (value.is_boolean())
            out[name] = value.get<bool>();
        else if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
            refuse(Code::malformed, "option '" + shown(name) + "' is too large", file);
        else if (value.is_number_integer())
            out[name] = value.get<std::int64_t>();
        else if (value.is_number_float())
            out[name] = value.get<double>();
        else if (value.is_string())
            out[name] = value.get<std::string>();
        else if (value.is_null())
            out[name] = Automatic();
        else if (value.is_array() && is_list_of(value, &Json::is_number_integer))
            out[name] = value.get<std::vector<std::int64_t>>();
        else if (value.is_array() && is_list_of(value, &Json::is_number))
            out[name] = value.get<std::vector<double>>();
        else
            refuse(Code::malformed,
                   "option '" + shown(name) + "' is not null, true, false, a number, a text or a list of numbers",
                   file);
    }
    return out;
}

[[noreturn]] void refuse_missing(const std::string& kind, const std::string& name, const std::string& file) {
    refuse(Code::model_mismatch,
           "the model has no " + kind + " '" + shown(name) + "': it is damaged or belongs to another method", file);
}

const Archive::Tensor& tensor_named(const std::map<std::string, Archive::Tensor>& tensors, const std::string& name,
                                    const std::string& file) {
    const auto found = tensors.find(name);
    if (found == tensors.end()) refuse_missing("tensor", name, file);
    return found->second;
}

void require_shape(const Archive::Tensor& tensor, const std::string& name, std::vector<Index> wanted,
                   const std::string& file) {
    bool same = tensor.shape.size() == wanted.size();
    for (std::size_t k = 0; same && k < wanted.size(); ++k) same = wanted[k] < 0 || tensor.shape[k] == wanted[k];
    if (same) return;
    std::string text;
    for (const Index extent : wanted)
        text += (text.empty() ? "" : " x ") + (extent < 0 ? std::string("any") : std::to_string(extent));
    refuse(Code::model_mismatch,
           "tensor '" + shown(name) + "' is " + formats::shape_text(tensor.shape) + "; " + text + " is needed", file);
}

void require_finite_tensor(PointsView values, const std::string& name, const std::string& file) {
    try {
        require_finite(values, {.file = file});
    } catch (BadData& error) {
        error.amend([&](Message& message) {
            message.problem = "tensor '" + shown(name) + "': " + message.problem;
            message.remedy.clear();
        });
        throw;
    }
}

// Copies, because the tensor's bytes need not be aligned.
template <class T>
void copy_out(const Archive::Tensor& tensor, T* out) {
    if (!tensor.bytes.empty()) std::memcpy(out, tensor.bytes.data(), tensor.bytes.size());
}

template <class Scalar>
Points points_of(const Archive::Tensor& tensor, const std::string& name, const std::string& file) {
    Matrix<Scalar> matrix(static_cast<Index>(tensor.shape[0]), static_cast<Index>(tensor.shape[1]));
    copy_out(tensor, matrix.data());
    Points out(std::move(matrix));
    require_finite_tensor(out, name, file);
    return out;
}

void require_name(const std::string& name) {
    if (name.empty() || name == "__metadata__")
        throw BadArgument(Code::not_accepted, "archive: a tensor cannot have the name '" + name + "'", "",
                          {.value = name});
}

}  // namespace

void Archive::set_text(const std::string& key, std::string value) { texts_[key] = std::move(value); }

const std::string& Archive::text(const std::string& key) const {
    const auto found = texts_.find(key);
    if (found == texts_.end()) refuse_missing("text", key, source_);
    return found->second;
}

void Archive::set_points(const std::string& name, PointsView points) {
    require_name(name);
    points.visit([&](auto rows) {
        using Scalar = std::remove_cvref_t<decltype(*rows.data)>;
        Tensor tensor;
        tensor.type = std::is_same_v<Scalar, float> ? ElementType::float32 : ElementType::float64;
        tensor.shape = {rows.rows, rows.columns};
        const std::size_t row_bytes = static_cast<std::size_t>(rows.columns) * sizeof(Scalar);
        tensor.bytes.resize(static_cast<std::size_t>(rows.rows) * row_bytes);
        for (Index i = 0; i < rows.rows && row_bytes > 0; ++i)
            std::memcpy(tensor.bytes.data() + static_cast<std::size_t>(i) * row_bytes, rows.row(i), row_bytes);
        tensors_[name] = std::move(tensor);
    });
}

void Archive::set_vector(const std::string& name, std::span<const double> values) {
    require_name(name);
    tensors_[name] = {ElementType::float64, {static_cast<std::int64_t>(values.size())}, bytes_of(values)};
}

void Archive::set_labels(const std::string& name, std::span<const std::int32_t> values) {
    require_name(name);
    tensors_[name] = {ElementType::int32, {static_cast<std::int64_t>(values.size())}, bytes_of(values)};
}

Points Archive::points(const std::string& name, Index rows, Index columns) const {
    const Tensor& tensor = tensor_named(tensors_, name, source_);
    require_shape(tensor, name, {rows, columns}, source_);
    if (tensor.type == ElementType::float32) return points_of<float>(tensor, name, source_);
    if (tensor.type == ElementType::float64) return points_of<double>(tensor, name, source_);
    refuse(Code::model_mismatch, "tensor '" + shown(name) + "' does not hold floating-point numbers", source_);
}

std::vector<double> Archive::vector(const std::string& name, Index size) const {
    const Tensor& tensor = tensor_named(tensors_, name, source_);
    require_shape(tensor, name, {size}, source_);
    if (tensor.type != ElementType::float64)
        refuse(Code::model_mismatch, "tensor '" + shown(name) + "' is not of type F64", source_);
    std::vector<double> out(static_cast<std::size_t>(tensor.shape[0]));
    copy_out(tensor, out.data());
    if (!out.empty()) require_finite_tensor(PointsView(out.data(), static_cast<Index>(out.size()), 1), name, source_);
    return out;
}

std::vector<std::int32_t> Archive::labels(const std::string& name, Index size) const {
    const Tensor& tensor = tensor_named(tensors_, name, source_);
    require_shape(tensor, name, {size}, source_);
    if (tensor.type != ElementType::int32)
        refuse(Code::model_mismatch, "tensor '" + shown(name) + "' is not of type I32", source_);
    std::vector<std::int32_t> out(static_cast<std::size_t>(tensor.shape[0]));
    copy_out(tensor, out.data());
    return out;
}

std::string Archive::to_bytes() const {
    // Wide types first, and a header of a multiple of 8 bytes: so every tensor begins at a multiple of its item size.
    std::vector<const std::pair<const std::string, Tensor>*> order;
    for (const auto& item : tensors_) order.push_back(&item);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
        return type_name(a->second.type).bytes > type_name(b->second.type).bytes;
    });
    Json header = Json::object();
    std::size_t offset = 0;
    for (const auto* item : order) {
        const Tensor& tensor = item->second;
        header[item->first] = {{"dtype", type_name(tensor.type).name},
                               {"shape", tensor.shape},
                               {"data_offsets", {offset, offset + tensor.bytes.size()}}};
        offset += tensor.bytes.size();
    }
    Json& metadata = header["__metadata__"];
    metadata["format"] = format_name;
    metadata["format_version"] = format_version;
    metadata["coterie_version"] = COTERIE_VERSION;
    metadata["method"] = method_;
    // If a text (for example a path) is not UTF-8, the model must still be saved: invalid bytes become the replacement
    // character.
    metadata["options"] = json_of(options_).dump(-1, ' ', false, Json::error_handler_t::replace);
    for (const auto& [key, value] : texts_) metadata[std::string(text_prefix) + key] = value;
    metadata["sha256"] = digest_zeros;
    std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = text.size();

    std::string out;
    out.reserve(8 + text.size() + offset);
    out.append(reinterpret_cast<const char*>(&length), 8);
    out += text;
    for (const auto* item : order)
        out.append(reinterpret_cast<const char*>(item->second.bytes.data()), item->second.bytes.size());
    Sha256 hash;
    hash.update(out.data(), out.size());
    out.replace(out.find(std::string(digest_key) + digest_zeros) + digest_key.size(), digest_digits, hash.hex());
    return out;
}

Archive Archive::from_bytes(std::span<const std::byte> bytes, std::string_view source) {
    const std::string file(source);
    const formats::SafetensorsFile table = formats::parse_safetensors_table(bytes, source);
    std::map<std::string, std::string> metadata(table.metadata.begin(), table.metadata.end());
    const auto fact = [&](const char* key) -> const std::string& {
        const auto found = metadata.find(key);
        if (found == metadata.end())
            refuse(Code::unsupported_format,
                   std::string("this safetensors file is not a model of coterie: its metadata has no '") + key + "'",
                   file);
        return found->second;
    };
    if (fact("format") != format_name)
        refuse(Code::unsupported_format,
               "this file is not a model of coterie: its format is '" + shown(fact("format")) + "'", file);
    if (fact("format_version") != format_version)
        refuse(Code::model_mismatch,
               "the model has format version '" + shown(fact("format_version")) + "', written by coterie " +
                   (metadata.contains("coterie_version") ? shown(metadata["coterie_version"])
                                                         : std::string("of unknown version")) +
                   "; this coterie (" COTERIE_VERSION ") reads version " + std::string(format_version),
               file, "Use the version that wrote it, or fit again");
    const std::string written = std::string(digest_key) + fact("sha256") + "\"";
    const std::size_t at = table.header.find(written);
    if (fact("sha256").size() != digest_digits || at == std::string_view::npos ||
        table.header.find(written, at + 1) != std::string_view::npos)
        refuse(Code::malformed, "the header has no valid checksum", file);
    const auto digits = 8 + at + digest_key.size();
    Sha256 hash;
    hash.update(bytes.data(), digits);
    hash.update(digest_zeros.data(), digest_digits);
    hash.update(bytes.data() + digits + digest_digits, bytes.size() - digits - digest_digits);
    if (hash.hex() != fact("sha256"))
        refuse(Code::malformed,
               "the file is damaged: its checksum does not match, so it was changed or copied only in part", file,
               "Copy it again");

    Archive out(fact("method"));
    out.source_ = file;
    fact("coterie_version");
    out.options_ = options_of(fact("options"), file);
    for (const auto& [key, value] : metadata)
        if (key.starts_with(text_prefix)) out.texts_[key.substr(text_prefix.size())] = value;
    for (const auto& entry : table.tensors) {
        const auto* type = std::find_if(std::begin(type_names), std::end(type_names),
                                        [&](const TypeName& t) { return t.name == entry.dtype; });
        if (type == std::end(type_names))
            refuse(Code::malformed,
                   "tensor '" + shown(entry.name) + "' has type " + entry.dtype + ", which no model has", file);
        out.tensors_[entry.name] = {type->type, entry.shape, {entry.data.begin(), entry.data.end()}};
    }
    return out;
}

void Archive::save(const std::string& path) const { write_file(path, to_bytes()); }

Archive Archive::load(const std::string& path) {
    const formats::Bytes bytes = formats::read_bytes(path);
    return from_bytes(bytes.data, path);
}

void Archive::assign_options(const OptionSet& set, void* options) const {
    try {
        set.assign(options, options_);
        set.check(options);
    } catch (const BadArgument& error) {
        Message message = error.fields();
        message.code = Code::model_mismatch;
        message.problem = "the model's " + (message.option.empty() ? "options do" : "`" + message.option + "` does") +
                          " not fit: " + message.problem;
        message.remedy = "Fit again with this version of coterie";
        message.file = source_;
        throw BadData(std::move(message));
    }
}

}  // namespace coterie
