// NumPy's .npy, versions 1 to 3: magic, header length, a Python dict with descr, fortran_order and shape, then the
// items.

#include <charconv>
#include <cstring>
#include <optional>

#include "coterie/io/formats.hpp"

namespace coterie::formats {
namespace {

// Parses the Python literals that occur in the header's dict.
class Header {
public:
    Header(std::string_view text, std::string_view source) : text_(text), source_(source) {}

    void parse() {
        each_of('{', '}', [&] {
            const std::string_view key = string();
            expect(':');
            if (key == "descr") {
                blanks();
                if (at_ < text_.size() && text_[at_] == '[')
                    refuse(Code::wrong_type, "the array is structured, but a plain array of numbers is needed");
                once(descr_, string(), key);
            } else if (key == "fortran_order") {
                once(fortran_, boolean(), key);
            } else if (key == "shape") {
                once(shape_, shape(), key);
            } else {
                refuse(filled("the header has the unknown key '{}'", shown(key)));
            }
        });
        blanks();
        if (at_ != text_.size()) refuse("the header has text after its dict");
        if (!descr_ || !fortran_ || !shape_) refuse("the header lacks descr, fortran_order or shape");
    }
    std::string_view descr() const { return *descr_; }
    bool fortran() const { return *fortran_; }
    const std::vector<std::int64_t>& extents() const { return *shape_; }
    [[noreturn]] void refuse(std::string problem) const { refuse(Code::malformed, std::move(problem)); }
    [[noreturn]] void refuse(Code code, std::string problem, std::string remedy = {}) const {
        refuse_file(source_, code, std::move(problem), std::move(remedy));
    }

private:
    template <class T>
    void once(std::optional<T>& slot, T value, std::string_view key) {
        if (slot) refuse(filled("the header has the key '{}' twice", shown(key)));
        slot = std::move(value);
    }
    void blanks() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
    }
    bool accept(char c) {
        blanks();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) refuse(filled("the header is not NumPy's: '{}' expected", c));
    }
    // Calls read() for each item of a list in brackets, whose items are separated by commas.
    template <class Read>
    void each_of(char open, char close, Read read) {
        expect(open);
        while (!accept(close)) {
            read();
            if (!accept(',')) return expect(close);
        }
    }
    std::string_view string() {
        blanks();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') refuse("the header is not NumPy's: a quoted word expected");
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) refuse("the header is not NumPy's: a quote does not end");
        const std::string_view out = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return out;
    }
    bool boolean() {
        blanks();
        const bool value = text_.substr(at_).starts_with("True");
        if (!value && !text_.substr(at_).starts_with("False"))
            refuse("the header is not NumPy's: True or False expected");
        at_ += value ? 4 : 5;
        return value;
    }
    std::vector<std::int64_t> shape() {
        std::vector<std::int64_t> out;
        each_of('(', ')', [&] {
            blanks();
            std::int64_t extent = 0;
            const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
            if (result.ec != std::errc() || extent < 0) refuse("the shape in the header is not possible for an array");
            at_ = static_cast<std::size_t>(result.ptr - text_.data());
            if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers like this
            out.push_back(extent);
            if (out.size() > 32) refuse(Code::limit_exceeded, "the array has more than 32 dimensions");
        });
        return out;
    }

    std::string_view text_;
    std::string_view source_;
    std::size_t at_ = 0;
    std::optional<std::string_view> descr_;
    std::optional<bool> fortran_;
    std::optional<std::vector<std::int64_t>> shape_;
};

void set_type(Array& array, const Header& header) {
    const std::string_view descr = header.descr();
    const auto refuse = [&] {
        const bool objects = descr.find('O') != std::string_view::npos;
        header.refuse(Code::wrong_type,
                      filled("items of type '{}' are not supported{}", shown(descr),
                             objects ? ", because loading objects needs pickle, which can run code" : ""),
                      "Use booleans, integers or floats of up to 64 bits");
    };
    if (descr.size() < 3) refuse();
    const char order = descr[0], kind = descr[1];
    std::uint32_t size = 0;
    const auto result = std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
    if (result.ec != std::errc() || result.ptr != descr.data() + descr.size()) refuse();
    if (std::strchr("<>|=", order) == nullptr || order == '\0') refuse();
    array.swapped = order == '>';
    array.item_bytes = size;
    const auto pick = [&](std::initializer_list<std::pair<std::uint32_t, Element>> types) {
        for (const auto& [bytes, element] : types)
            if (bytes == size) {
                array.element = element;
                return;
            }
        refuse();
    };
    switch (kind) {
        case 'b': pick({{1, Element::uint8}}); break;
        case 'i': pick({{1, Element::int8}, {2, Element::int16}, {4, Element::int32}, {8, Element::int64}}); break;
        case 'u': pick({{1, Element::uint8}, {2, Element::uint16}, {4, Element::uint32}, {8, Element::uint64}}); break;
        case 'f': pick({{2, Element::float16}, {4, Element::float32}, {8, Element::float64}}); break;
        case 'S':
        case 'U':
            if (size == 0 || size > (1u << 20)) refuse();
            array.element = kind == 'S' ? Element::text8 : Element::text32;
            array.item_bytes = kind == 'S' ? size : std::size_t{size} * 4;
            break;
        default: refuse();
    }
}

}  // namespace

Array parse_npy_header(const Bytes& bytes, std::string_view source) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes.data[i]); };
    if (bytes.size() < 10 || std::memcmp(bytes.data.data(), "\x93NUMPY", 6) != 0)
        refuse_file(source, Code::malformed, "the file is not a .npy file: its first bytes are not NumPy's");
    const std::size_t version = byte(6);
    if (version < 1 || version > 3)
        refuse_file(source, Code::unsupported_format, filled(".npy format version {} is not supported", version),
                    "Use version 1, 2 or 3");
    std::size_t start = 10, length = byte(8) | byte(9) << 8;
    if (version > 1) {
        if (bytes.size() < 12) refuse_file(source, Code::malformed, "the file is truncated inside the header");
        start = 12;
        length |= byte(10) << 16 | byte(11) << 24;
    }
    if (start + length > longest_npy_head)
        refuse_file(source, Code::limit_exceeded,
                    filled("the header has {} bytes, but the limit is {}", length, longest_npy_head - start));
    if (length > bytes.size() - start)
        refuse_file(source, Code::malformed,
                    filled("the file is truncated: the header has {} bytes, but only {} are there", length,
                           bytes.size() - start));
    Header header(std::string_view(bytes.text() + start, length), source);
    header.parse();
    Array array;
    set_type(array, header);
    array.fortran = header.fortran();
    array.shape = header.extents();
    checked_bytes(array.shape, array.item_bytes, source);
    array.data = bytes.data.subspan(start + length);
    array.owner = bytes.owner;
    array.source = source;
    return array;
}

Array parse_npy(const Bytes& bytes, std::string_view source) {
    Array array = parse_npy_header(bytes, source);
    require_npy_length(array, array.data.size());
    return array;
}

void require_npy_length(const Array& array, std::size_t there) {
    require_length(array, there, array.source, filled(" of type {}", name(array.element)),
                   "Check whether the file holds more than one array");
}

}  // namespace coterie::formats
