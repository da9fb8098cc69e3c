// Variables of MATLAB 5 files, through matio.

#include <cstring>

#include "coterie/base/memory.hpp"
#include "coterie/io/internal/formats.hpp"

#ifdef COTERIE_HAVE_MATIO
#include <matio.h>
#endif

namespace coterie::formats {

#ifdef COTERIE_HAVE_MATIO
namespace {

struct Close {
    void operator()(mat_t* file) const { Mat_Close(file); }
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, Close>;

bool element_of(matio_classes kind, Element& element) {
    switch (kind) {
        case MAT_C_DOUBLE: element = Element::float64; return true;
        case MAT_C_SINGLE: element = Element::float32; return true;
        case MAT_C_INT8: element = Element::int8; return true;
        case MAT_C_UINT8: element = Element::uint8; return true;
        case MAT_C_INT16: element = Element::int16; return true;
        case MAT_C_UINT16: element = Element::uint16; return true;
        case MAT_C_INT32: element = Element::int32; return true;
        case MAT_C_UINT32: element = Element::uint32; return true;
        case MAT_C_INT64: element = Element::int64; return true;
        case MAT_C_UINT64: element = Element::uint64; return true;
        default: return false;
    }
}

// matio reads what a truncated file still has and leaves the rest as it happens to be, so the file's elements are
// walked first: each says how long it is, and all must be there. (Version 7.3 files are HDF5 behind a MATLAB header.)
void require_whole(std::span<const std::byte> data, const std::string& what) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(data[i]); };
    const bool little = data.size() >= 128 && byte(126) == 'I' && byte(127) == 'M';
    const bool big = data.size() >= 128 && byte(126) == 'M' && byte(127) == 'I';
    if (!little && !big) throw BadData(what + ": is not a MATLAB 5 file (its header is not MATLAB's)");
    const std::uint32_t version = little ? byte(124) | byte(125) << 8 : byte(125) | byte(124) << 8;
    if (version == 0x0200) return;
    if (version != 0x0100) throw BadData(what + ": is a MATLAB file of an unknown version; versions 5 to 7.3 are read");
    const auto word = [&](std::size_t at) {
        return little ? byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24
                      : byte(at + 3) | byte(at + 2) << 8 | byte(at + 1) << 16 | byte(at) << 24;
    };
    for (std::size_t at = 128; at < data.size();) {
        const std::size_t left = data.size() - at;
        const std::size_t length = left < 8 ? left : word(at + 4);
        if (left < 8 || length > left - 8)
            throw BadData(what + ": is truncated: a variable of " + std::to_string(length) + " bytes, " +
                          std::to_string(left) + " are there");
        at += 8 + length;
    }
}

Content described(const matvar_t& variable) {
    Content content{variable.name ? variable.name : "", {}, false};
    Element element{};
    content.numeric = element_of(variable.class_type, element) && !variable.isComplex;
    for (int k = 0; k < variable.rank; ++k) content.shape.push_back(static_cast<std::int64_t>(variable.dims[k]));
    return content;
}

}  // namespace

Array read_matlab(const std::string& path, std::string_view key, Purpose purpose, std::string& source) {
    require_whole(read_bytes(path).data, source);
    const std::unique_ptr<mat_t, Close> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file) throw BadData(source + ": is not a sound MATLAB file");
    std::vector<Content> contents;
    while (const Variable variable{Mat_VarReadNextInfo(file.get())}) {
        contents.push_back(described(*variable));
        if (contents.size() > 10000) break;
    }
    const Content chosen = choose(contents, key, purpose, source);
    source += ":" + chosen.name;
    Element element{};
    {
        const Variable info(Mat_VarReadInfo(file.get(), chosen.name.c_str()));
        if (!info) throw BadData(source + ": cannot be read: the file is damaged");
        if (info->class_type == MAT_C_SPARSE)
            throw BadData(source + ": is a sparse matrix; full ones are accepted (in MATLAB: X = full(X))");
        if (info->isComplex) throw BadData(source + ": is complex; real numbers are accepted");
        if (!element_of(info->class_type, element))
            throw BadData(source + ": is not a matrix of numbers (a struct, a cell array or text)");
        const std::size_t bytes = checked_bytes(chosen.shape, item_bytes(element), source);
        require_memory(static_cast<double>(bytes), source);
    }
    const auto variable = std::shared_ptr<matvar_t>(Mat_VarRead(file.get(), chosen.name.c_str()), Close{});
    if (!variable) throw BadData(source + ": cannot be read: the file is damaged");
    Array array;
    array.element = element;
    array.item_bytes = item_bytes(element);
    array.fortran = true;
    for (int k = 0; k < variable->rank; ++k) array.shape.push_back(static_cast<std::int64_t>(variable->dims[k]));
    const std::size_t bytes = checked_bytes(array.shape, array.item_bytes, source);
    if (bytes > 0 && (variable->data == nullptr || variable->nbytes < bytes ||
                      static_cast<std::size_t>(variable->data_size) != array.item_bytes))
        throw BadData(source + ": is truncated or damaged");
    array.data = {static_cast<const std::byte*>(variable->data), bytes};
    array.owner = variable;
    return array;
}
#else
Array read_matlab(const std::string&, std::string_view, Purpose, std::string& source) {
    throw BadArgument(source + ": .mat files need matio, which this build does not have; save the array as .npy");
}
#endif

}  // namespace coterie::formats
