#pragma once
// The file of a model. Its layout is safetensors (8-byte little-endian header length, JSON header, raw little-endian
// tensors), so any safetensors reader opens it. The header's __metadata__ holds the format version, the library
// version, the method, the options and a SHA-256. The SHA-256 covers the whole file, with its own 64 digits read as
// zeros, so a change of any byte is found. Reading checks offsets, shapes, types and the checksum before it uses them.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"

namespace coterie {

class COTERIE_API Archive {
public:
    enum class ElementType { float32, float64, int32, int64, uint8 };
    struct Tensor {
        ElementType type = ElementType::float64;
        std::vector<std::int64_t> shape;
        std::vector<std::byte> bytes;  // little-endian, C order
    };

    Archive() = default;
    explicit Archive(std::string method) : method_(std::move(method)) {}

    const std::string& method() const { return method_; }
    /// The file that the archive was read from, for messages; empty for an archive that was not read.
    const std::string& source() const { return source_; }

    void set_options(OptionValues values) { options_ = std::move(values); }
    /// The stored values, with the types of the JSON in the file.
    const OptionValues& options() const { return options_; }
    /// Reads a struct of described options and checks the ranges. Throws BadData if the values do not fit.
    template <class Struct>
    Struct options_as() const {
        Struct out;
        assign_options(Struct::described(), &out);
        return out;
    }

    /// Short facts, stored as text, which `coterie info` shows.
    void set_text(const std::string& key, std::string value);
    const std::string& text(const std::string& key) const;  // throws BadData if absent
    const std::map<std::string, std::string>& texts() const { return texts_; }

    /// A matrix keeps its scalar type.
    void set_points(const std::string& name, PointsView points);
    void set_vector(const std::string& name, std::span<const double> values);
    void set_labels(const std::string& name, std::span<const std::int32_t> values);
    bool has(const std::string& name) const { return tensors_.contains(name); }
    /// -1 as `rows` or `columns` accepts any number. Throws BadData for a missing tensor, another shape, NaN or
    /// infinity.
    Points points(const std::string& name, Index rows = -1, Index columns = -1) const;
    std::vector<double> vector(const std::string& name, Index size = -1) const;
    std::vector<std::int32_t> labels(const std::string& name, Index size = -1) const;
    const std::map<std::string, Tensor>& tensors() const { return tensors_; }

    std::string to_bytes() const;
    /// Throws BadData that names `source` if the bytes are not a valid archive.
    static Archive from_bytes(std::span<const std::byte> bytes, std::string_view source);
    /// Writes the file completely or not at all.
    void save(const std::string& path) const;
    static Archive load(const std::string& path);

private:
    void assign_options(const OptionSet& set, void* options) const;

    std::string method_;
    std::string source_;
    OptionValues options_;
    std::map<std::string, std::string> texts_;
    std::map<std::string, Tensor> tensors_;
};

}  // namespace coterie
