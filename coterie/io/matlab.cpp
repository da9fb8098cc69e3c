// Variables of MATLAB 5 files, through matio.

#include <cstring>

#include "coterie/base/memory.hpp"
#include "coterie/io/formats.hpp"

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

Content described(const matvar_t& variable) {
    Content content{variable.name ? variable.name : "", {}, false};
    Element element{};
    content.numeric = element_of(variable.class_type, element) && !variable.isComplex;
    for (int k = 0; k < variable.rank; ++k) content.shape.push_back(static_cast<std::int64_t>(variable.dims[k]));
    return content;
}

}  // namespace

Array read_matlab(const std::string& path, std::string_view key, Purpose purpose, std::string& source) {
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
