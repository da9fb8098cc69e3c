// The safetensors format: 8-byte little-endian header length, JSON header, then raw little-endian tensors that cover
// the rest exactly.

#include <algorithm>
#include <cstring>
#include <set>

#include "coterie/io/formats.hpp"
#include "coterie/io/json_text.hpp"

namespace coterie::formats {
namespace {

using Json = nlohmann::json;
constexpr std::size_t header_limit = 100'000'000;  // same limit as the reference implementation

struct Type {
    std::string_view name;
    std::size_t bytes;
    std::optional<Element> element = {};  // nothing: coterie does not read the numbers
};
constexpr Type types[] = {{"F64", 8, Element::float64},
                          {"I64", 8, Element::int64},
                          {"U64", 8, Element::uint64},
                          {"F32", 4, Element::float32},
                          {"I32", 4, Element::int32},
                          {"U32", 4, Element::uint32},
                          {"F16", 2, Element::float16},
                          {"I16", 2, Element::int16},
                          {"U16", 2, Element::uint16},
                          {"BOOL", 1, Element::uint8},
                          {"U8", 1, Element::uint8},
                          {"I8", 1, Element::int8},
                          {"BF16", 2},
                          {"F8_E4M3", 1},
                          {"F8_E5M2", 1}};

// nullptr if the type is unknown.
const Type* type_named(std::string_view name) {
    const Type* const found =
        std::find_if(std::begin(types), std::end(types), [&](const Type& t) { return t.name == name; });
    return found == std::end(types) ? nullptr : found;
}

[[noreturn]] void refuse_tensors(std::string problem, const std::string& source) {
    refuse_file(source, Code::malformed, std::move(problem));
}

// A key that occurs twice in one object is an error while parsing.
Json parse_header(std::string_view text, const std::string& what) {
    std::vector<std::set<std::string>> keys;
    const Json::parser_callback_t check = [&](int, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::object_start) {
            keys.emplace_back();
        } else if (event == Json::parse_event_t::object_end) {
            keys.pop_back();
        } else if (event == Json::parse_event_t::key) {
            if (!keys.back().insert(value.get<std::string>()).second)
                refuse_tensors(filled("the header has the key '{}' twice", shown(value.get<std::string>())), what);
        }
        return true;
    };
    return parse_json(
        text, [&](const std::string& reason) { refuse_tensors("the header " + reason, what); }, check);
}

std::uint64_t natural(const Json& value, const std::string& tensor, const std::string& source) {
    // 2^62 exceeds any file size, and sums of two such numbers do not wrap around.
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > (std::uint64_t{1} << 62))
        refuse_tensors(tensor + ": a size in the header is not a whole number of at least 0", source);
    return value.get<std::uint64_t>();
}

}  // namespace

SafetensorsFile parse_safetensors_table(std::span<const std::byte> bytes, std::string_view source) {
    const std::string what(source);
    const std::string other = "the file is not a safetensors file: ";
    if (bytes.size() < 8) refuse_tensors(other + "it is shorter than 8 bytes", what);
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), 8);
    if (length > header_limit || length > bytes.size() - 8)
        refuse_tensors(filled("the file is truncated or not a safetensors file: the header claims {} bytes, {} are "
                              "there (the limit is {})",
                              length, bytes.size() - 8, header_limit),
                       what);
    SafetensorsFile out;
    out.header = {reinterpret_cast<const char*>(bytes.data()) + 8, static_cast<std::size_t>(length)};
    const std::span<const std::byte> data = bytes.subspan(8 + static_cast<std::size_t>(length));
    if (!out.header.starts_with('{')) refuse_tensors(other + "its header is not JSON", what);
    const Json header = parse_header(out.header, what);

    struct Placed {
        std::uint64_t begin, end;
        SafetensorsFile::Entry entry;
    };
    std::vector<Placed> placed;
    for (const auto& [name, value] : header.items()) {
        if (!value.is_object()) refuse_tensors(filled("the header's entry '{}' is not an object", shown(name)), what);
        if (name == "__metadata__") {
            for (const auto& [key, text] : value.items()) {
                if (!text.is_string()) refuse_tensors(filled("the metadata '{}' is not text", shown(key)), what);
                out.metadata.emplace_back(key, text.get<std::string>());
            }
            continue;
        }
        const std::string tensor = filled("tensor '{}'", shown(name));
        for (const char* key : {"dtype", "shape", "data_offsets"})
            if (!value.contains(key)) refuse_tensors(tensor + " has no " + key, what);
        if (value.size() != 3) refuse_tensors(tensor + " has keys other than dtype, shape and data_offsets", what);
        if (!value["dtype"].is_string() || !value["shape"].is_array() || !value["data_offsets"].is_array() ||
            value["data_offsets"].size() != 2)
            refuse_tensors(tensor + ": dtype, shape or data_offsets has the wrong type", what);
        Placed item;
        item.entry.name = name;
        item.entry.dtype = value["dtype"].get<std::string>();
        const Type* const type = type_named(item.entry.dtype);
        if (type == nullptr)
            refuse_file(what, Code::wrong_type,
                        filled("{} has the unknown type '{}'", tensor, shown(item.entry.dtype)));
        for (const Json& extent : value["shape"])
            item.entry.shape.push_back(static_cast<std::int64_t>(natural(extent, tensor, what)));
        item.begin = natural(value["data_offsets"][0], tensor, what);
        item.end = natural(value["data_offsets"][1], tensor, what);
        if (item.begin > item.end || item.end > data.size())
            refuse_tensors(
                filled("{} lies outside the file's {} bytes of data (is the file truncated?)", tensor, data.size()),
                what);
        if (checked_bytes(item.entry.shape, type->bytes, what + ":" + shown(name)) != item.end - item.begin)
            refuse_tensors(tensor + ": its shape and type do not match its number of bytes", what);
        item.entry.data =
            data.subspan(static_cast<std::size_t>(item.begin), static_cast<std::size_t>(item.end - item.begin));
        placed.push_back(std::move(item));
    }
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t end = 0;
    for (Placed& item : placed) {
        if (item.begin != end)
            refuse_tensors(filled("tensor '{}' {} before it", shown(item.entry.name),
                                  item.begin < end ? "overlaps the one" : "leaves a gap after the one"),
                           what);
        end = item.end;
        out.tensors.push_back(std::move(item.entry));
    }
    if (end != data.size()) refuse_tensors(filled("{} bytes at the end belong to no tensor", data.size() - end), what);
    return out;
}

Array parse_safetensors(const Bytes& bytes, std::string_view key, Purpose purpose, const std::string& source) {
    const SafetensorsFile file = parse_safetensors_table(bytes.data, source);
    std::vector<Content> contents;
    for (const auto& tensor : file.tensors)
        contents.push_back({tensor.name, tensor.shape, type_named(tensor.dtype)->element.has_value()});
    Array array;
    const Content& chosen = choose(contents, key, purpose, source, array.note);
    array.source = source + ":" + chosen.name;
    const auto& tensor = file.tensors[static_cast<std::size_t>(&chosen - contents.data())];
    const std::optional<Element> element = type_named(tensor.dtype)->element;
    if (!element)
        refuse_file(array.source, Code::wrong_type, filled("numbers of type {} are not supported", tensor.dtype),
                    "Save the tensor as F64, F32, F16, BOOL or integers");
    array.element = *element;
    array.item_bytes = item_bytes(array.element);
    array.shape = tensor.shape;
    array.data = tensor.data;
    array.owner = bytes.owner;
    return array;
}

}  // namespace coterie::formats
