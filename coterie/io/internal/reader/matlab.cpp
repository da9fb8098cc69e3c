// Reads variables of MATLAB 5 to 7.3 files with matio: full matrices of real numbers. Matrices in the cells of a cell
// array (for example several views of the same rows) are called NAME{1}, NAME{2}, ...

#include <limits>

#include "coterie/io/internal/reader/reader.hpp"

#ifdef COTERIE_HAVE_MATIO
#include <matio.h>
#endif

namespace coterie::io::internal {

#ifdef COTERIE_HAVE_MATIO
namespace {

struct Close {
    void operator()(mat_t* file) const { Mat_Close(file); }
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using Variable = std::unique_ptr<matvar_t, Close>;

std::optional<Element> element_of(matio_classes kind) {
    switch (kind) {
        case MAT_C_DOUBLE: return Element::float64;
        case MAT_C_SINGLE: return Element::float32;
        case MAT_C_INT8: return Element::int8;
        case MAT_C_UINT8: return Element::uint8;
        case MAT_C_INT16: return Element::int16;
        case MAT_C_UINT16: return Element::uint16;
        case MAT_C_INT32: return Element::int32;
        case MAT_C_UINT32: return Element::uint32;
        case MAT_C_INT64: return Element::int64;
        case MAT_C_UINT64: return Element::uint64;
        default: return std::nullopt;
    }
}

// In a truncated file, matio leaves the numbers that are missing uninitialised. So the elements of the file are checked
// first: each states its length. (Version 7.3 files are HDF5 after a MATLAB header.)
void require_whole(std::span<const std::byte> data, const std::string& path) {
    const auto byte = [&](std::size_t i) { return std::to_integer<std::uint32_t>(data[i]); };
    const bool little = data.size() >= 128 && byte(126) == 'I' && byte(127) == 'M';
    const bool big = data.size() >= 128 && byte(126) == 'M' && byte(127) == 'I';
    if (!little && !big)
        refuse_file(path, Code::malformed, "the file is not a MATLAB 5 file: its header is not MATLAB's");
    const std::uint32_t version = little ? byte(124) | byte(125) << 8 : byte(125) | byte(124) << 8;
    if (version == 0x0200) return require_own_data(path);
    if (version != 0x0100)
        refuse_file(path, Code::unsupported_format, "this version of MATLAB files is not supported",
                    "Save the file in version 5 to 7.3");
    const auto word = [&](std::size_t at) {
        return little ? byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24
                      : byte(at + 3) | byte(at + 2) << 8 | byte(at + 1) << 16 | byte(at) << 24;
    };
    for (std::size_t at = 128; at < data.size();) {
        const std::size_t left = data.size() - at;
        const std::size_t length = left < 8 ? left : word(at + 4);
        if (left < 8 || length > left - 8)
            refuse_file(path, Code::malformed,
                        filled("the file is truncated: a variable has {} bytes, but only {} are there", length, left));
        at += 8 + length;
    }
}

std::vector<std::int64_t> shape_of(const matvar_t& variable) {
    std::vector<std::int64_t> out;
    for (int k = 0; k < variable.rank; ++k) {
        const std::size_t extent = variable.dims[k];
        out.push_back(extent > std::numeric_limits<std::int64_t>::max() ? -1 : static_cast<std::int64_t>(extent));
    }
    return out;
}

// The cells of a cell array; empty for anything else.
std::vector<matvar_t*> cells_of(matvar_t& variable) {
    std::vector<matvar_t*> out;
    if (variable.class_type != MAT_C_CELL || variable.data == nullptr || variable.data_size <= 0) return out;
    for (std::size_t i = 0; i < variable.nbytes / static_cast<std::size_t>(variable.data_size) && i < 10000; ++i)
        out.push_back(Mat_VarGetCell(&variable, static_cast<int>(i)));
    return out;
}

std::string name_of(const matvar_t& variable, std::size_t cell) {
    return (variable.name ? variable.name : "") + ("{" + std::to_string(cell + 1) + "}");
}

Content described(const matvar_t& variable, std::string name) {
    return {std::move(name), shape_of(variable), element_of(variable.class_type) && !variable.isComplex};
}

// Lists a variable; for a cell array with matrices, lists the matrices instead.
void describe(matvar_t& variable, std::vector<Content>& contents) {
    const std::size_t before = contents.size();
    const std::vector<matvar_t*> cells = cells_of(variable);
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (cells[i] != nullptr && element_of(cells[i]->class_type))
            contents.push_back(described(*cells[i], name_of(variable, i)));
    if (contents.size() == before) contents.push_back(described(variable, variable.name ? variable.name : ""));
}

}  // namespace

void read_matlab(const std::string& path, const std::string& key, Purpose purpose, Answer& answer) {
    require_whole(read_bytes(path).data, path);
    const std::unique_ptr<mat_t, Close> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file) refuse_file(path, Code::malformed, "the file is not a valid MATLAB file");
    std::vector<Content> contents;
    while (const Variable variable{Mat_VarReadNextInfo(file.get())}) {
        const std::size_t before = contents.size();
        describe(*variable, contents);
        if (variable->name != nullptr && key == variable->name && contents[before].name != key)
            refuse_file(path, Code::wrong_type, filled("'{}' is a cell array", shown(key)),
                        filled("Name one of its matrices, as in {}:{}", path, contents[before].name));
        if (contents.size() > 10000) break;
    }
    Array array;
    const Content& chosen = choose(contents, key, purpose, path, array.note);
    const std::string what = filled("variable '{}'", shown(chosen.name));

    // The name of a cell's variable ends before the brace; variable names contain no brace.
    const std::string name = chosen.name.substr(0, chosen.name.find('{'));
    const Variable variable(Mat_VarReadInfo(file.get(), name.c_str()));
    if (!variable) refuse_file(path, Code::malformed, what + " cannot be read: the file is damaged");
    matvar_t* found = variable.get();
    const std::vector<matvar_t*> cells = cells_of(*variable);
    for (std::size_t i = 0; i < cells.size(); ++i)
        if (name_of(*variable, i) == chosen.name) found = cells[i];
    if (found->class_type == MAT_C_SPARSE)
        refuse_file(path, Code::wrong_type, what + " is a sparse matrix, but a full one is needed",
                    "Convert it in MATLAB: X = full(X)");
    if (found->isComplex) refuse_file(path, Code::wrong_type, what + " is complex, but real numbers are needed");
    const std::optional<Element> element = element_of(found->class_type);
    if (!element)
        refuse_file(path, Code::wrong_type,
                    what + " is a struct, a cell array or text, but a matrix of numbers is needed");
    array.element = *element;
    array.item_bytes = item_bytes(array.element);
    array.fortran = true;
    array.shape = shape_of(*found);
    const std::size_t bytes = answer.describe(array, chosen.name, path + ":" + chosen.name);
    const bool failed = Mat_VarReadDataAll(file.get(), found) != 0;
    if (bytes > 0 && (failed || found->data == nullptr || found->nbytes < bytes || shape_of(*found) != array.shape ||
                      static_cast<std::size_t>(found->data_size) != array.item_bytes))
        refuse_file(path, Code::malformed, what + " is truncated or damaged");
    answer.data({static_cast<const std::byte*>(found->data), bytes});
}
#else
void read_matlab(const std::string& path, const std::string&, Purpose, Answer&) {
    throw BadArgument(Code::missing_library, ".mat files need matio, which this build does not have",
                      "Save the array as .npy", {.file = path});
}
#endif

}  // namespace coterie::io::internal
