// Chooses an array of a container, and makes the messages about the choice. It is a separate source, because
// coterie-read (io/internal/reader/), which links little of the library, uses it too.

#include <algorithm>
#include <limits>

#include "coterie/base/memory.hpp"
#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

struct ElementType {
    std::string_view name;
    std::size_t bytes;
};
constexpr ElementType element_types[] = {{"float16", 2}, {"float32", 4}, {"float64", 8}, {"int8", 1},   {"int16", 2},
                                         {"int32", 4},   {"int64", 8},   {"uint8", 1},   {"uint16", 2}, {"uint32", 4},
                                         {"uint64", 8},  {"text", 0},    {"text", 0}};

}  // namespace

void refuse_file(std::string_view file, Code code, std::string problem, std::string remedy) {
    throw BadData(code, std::move(problem), std::move(remedy), {.file = std::string(file)});
}

void require_memory_for(std::string_view file, double bytes, std::string_view what) try {
    require_memory(bytes, what);
} catch (NotEnoughMemory& error) {
    error.amend([&](Message& message) { message.file = file; });
    throw;
}

std::string_view name(Element element) { return element_types[static_cast<std::size_t>(element)].name; }

std::size_t item_bytes(Element element) {
    if (is_text(element)) throw InternalError("text has no fixed item size");
    return element_types[static_cast<std::size_t>(element)].bytes;
}

std::size_t checked_bytes(const std::vector<std::int64_t>& shape, std::size_t item, std::string_view source) {
    const auto refuse = [&] {
        refuse_file(source, Code::malformed,
                    filled("the shape {} in the header is not possible for an array", shape_text(shape)));
    };
    // The product of the other extents must not overflow even if one extent is 0, because strides are computed from it.
    auto product = static_cast<std::int64_t>(item);
    bool empty = false;
    for (const std::int64_t extent : shape) {
        empty = empty || extent == 0;
        if (extent == 0) continue;
        if (extent < 0 || product > std::numeric_limits<std::int64_t>::max() / extent) refuse();
        product *= extent;
    }
    return empty ? 0 : static_cast<std::size_t>(product);
}

void require_length(const Array& array, std::size_t there, std::string_view source, std::string_view type,
                    std::string_view remedy_if_more) {
    const std::size_t needed = checked_bytes(array.shape, array.item_bytes, source);
    if (needed == there) return;
    refuse_file(source, Code::malformed,
                filled("the header announces {}{}, {} bytes, but the file has {}", shape_text(array.shape), type,
                       needed, there),
                needed > there ? "Check whether the file is truncated" : std::string(remedy_if_more));
}

const Content& choose(const std::vector<Content>& contents, std::string_view key, Purpose purpose,
                      std::string_view source, std::string& note) {
    const auto listing = [&](const Content* but = nullptr) {
        std::string out;
        for (const Content& content : contents) {
            if (&content == but) continue;
            if (out.size() > 1000) return out + ", ...";
            out += filled("{}{} ({}{})", out.empty() ? "" : ", ", shown(content.name), shape_text(content.shape),
                          content.numeric ? "" : ", not numeric");
        }
        return out;
    };
    if (contents.empty()) refuse_file(source, Code::empty, "the file holds no arrays");
    if (!key.empty()) {
        for (const Content& content : contents)
            if (content.name == key) return content;
        refuse_file(source, Code::unknown_name, filled("the file has no array '{}'", shown(key)),
                    "Choose among: " + listing());
    }
    const auto is_matrix = [](const Content& content) {
        return std::count_if(content.shape.begin(), content.shape.end(), [](auto extent) { return extent > 1; }) >= 2;
    };
    std::vector<const Content*> numeric, matching;
    for (const Content& content : contents) {
        if (!content.numeric && purpose == Purpose::points) continue;
        numeric.push_back(&content);
        if (is_matrix(content) == (purpose == Purpose::points)) matching.push_back(&content);
    }
    if (matching.size() == 1 || numeric.size() == 1) {
        const Content* const taken = matching.size() == 1 ? matching.front() : numeric.front();
        const bool column = purpose == Purpose::points && !is_matrix(*taken);
        // A single column next to arrays that cannot be points, such as cells, is probably a list of labels.
        if (column && contents.size() > 1)
            refuse_file(source, Code::wrong_shape,
                        filled("the only array of numbers, {} ({}), is a single column, like labels",
                               shown(taken->name), shape_text(taken->shape)),
                        "Name the array of the rows after a colon, FILE:NAME. The file also holds " + listing(taken));
        if (contents.size() > 1 || column)
            note = filled("the array {} ({}) was used{}", shown(taken->name), shape_text(taken->shape),
                          column ? ", which is a single column" : "; the file also holds " + listing(taken));
        return *taken;
    }
    if (std::any_of(contents.begin(), contents.end(), [](const Content& c) { return c.name == "indptr"; }))
        refuse_file(source, Code::wrong_type, "the file holds a sparse matrix, but dense rows are needed");
    if (numeric.empty())
        refuse_file(source, Code::wrong_type, "the file holds no array of numbers",
                    "Choose another file. This one holds " + listing());
    refuse_file(source, Code::missing_argument, "it is not clear which array is meant",
                "Name it after a colon, FILE:NAME. The file holds " + listing());
}

}  // namespace coterie::formats
