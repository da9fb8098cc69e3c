// Reads datasets with the HDF5 library, which also converts byte orders and number types. Rows are read and sent in
// blocks of whole chunks. So no chunk is unpacked twice, and only the calling process holds the array.

#include <algorithm>

#include "coterie/io/internal/reader/reader.hpp"

#ifdef COTERIE_HAVE_HDF5
#define H5_USE_110_API 1  // the API of the oldest supported version; newer versions provide it under this name
#include <hdf5.h>
#endif

namespace coterie::io::internal {

#ifdef COTERIE_HAVE_HDF5
namespace {

class Handle {
public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    hid_t get() const { return id_; }
    bool ok() const { return id_ >= 0; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

struct NumberType {
    Element element;
    hid_t memory;
};

std::optional<NumberType> number_type(hid_t stored) {
    const size_t size = H5Tget_size(stored);
    const H5T_class_t kind = H5Tget_class(stored);
    if (kind == H5T_FLOAT)
        return size <= 4 ? NumberType{Element::float32, H5T_NATIVE_FLOAT}
                         : NumberType{Element::float64, H5T_NATIVE_DOUBLE};
    if (kind != H5T_INTEGER && kind != H5T_ENUM) return std::nullopt;
    // Booleans are enumerations over 8-bit integers.
    const Handle base(kind == H5T_ENUM ? H5Tget_super(stored) : -1, H5Tclose);
    const bool with_sign = H5Tget_sign(kind == H5T_ENUM ? base.get() : stored) != H5T_SGN_NONE;
    const auto pick = [&](NumberType with, NumberType without) { return with_sign ? with : without; };
    switch (size) {
        case 1: return pick({Element::int8, H5T_NATIVE_INT8}, {Element::uint8, H5T_NATIVE_UINT8});
        case 2: return pick({Element::int16, H5T_NATIVE_INT16}, {Element::uint16, H5T_NATIVE_UINT16});
        case 4: return pick({Element::int32, H5T_NATIVE_INT32}, {Element::uint32, H5T_NATIVE_UINT32});
        case 8: return pick({Element::int64, H5T_NATIVE_INT64}, {Element::uint64, H5T_NATIVE_UINT64});
        default: return std::nullopt;
    }
}

bool shape_of(hid_t dataset, std::vector<std::int64_t>& shape) {
    const Handle space(H5Dget_space(dataset), H5Sclose);
    if (!space.ok()) return false;
    const H5S_class_t kind = H5Sget_simple_extent_type(space.get());
    if (kind != H5S_SIMPLE) return kind == H5S_SCALAR;
    const int dimensions = H5Sget_simple_extent_ndims(space.get());
    if (dimensions < 0) return false;
    std::vector<hsize_t> extents(static_cast<std::size_t>(dimensions));
    H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
    for (const hsize_t extent : extents) shape.push_back(static_cast<std::int64_t>(extent));
    return true;
}

// An HDF5 file may refer to other files, and reading them would use the rights of this user. So only the file itself is
// read. Returns how a dataset refers to other files, or nullptr.
const char* kept_elsewhere(hid_t dataset) {
    const Handle made(H5Dget_create_plist(dataset), H5Pclose);
    if (!made.ok()) return nullptr;
    if (H5Pget_layout(made.get()) == H5D_VIRTUAL) return "is a virtual dataset";
    return H5Pget_external_count(made.get()) > 0 ? "keeps its data in external storage" : nullptr;
}

// `what`: the file, or a dataset of it.
[[noreturn]] void refuse_elsewhere(const std::string& what, const char* how, const std::string& path) {
    refuse_file(path, Code::not_supported, filled("{} {}, but coterie reads only the file itself", what, how),
                "Copy the data into the file");
}

herr_t refuse_external_link(const char*, const char*, const char*, const char*, unsigned*, hid_t, void*) { return -1; }

// Access properties that do not follow external links.
hid_t own_links() {
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_elink_cb(access, &refuse_external_link, nullptr);
    return access;
}

herr_t find_external_link(hid_t, const char*, const H5L_info_t* info, void*) {
    return info->type == H5L_TYPE_EXTERNAL ? 1 : 0;
}

herr_t find_kept_elsewhere(hid_t file, const char* path, const H5O_info_t* info, void* how) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    const Handle dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
    *static_cast<const char**>(how) = dataset.ok() ? kept_elsewhere(dataset.get()) : nullptr;
    return *static_cast<const char**>(how) != nullptr ? 1 : 0;
}

herr_t list_dataset(hid_t file, const char* path, const H5O_info_t* info, void* data) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    auto& contents = *static_cast<std::vector<Content>*>(data);
    if (contents.size() >= 10000) return 1;
    Content content{std::string("/") + path, {}, false};
    const Handle dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
    if (dataset.ok()) {
        const Handle type(H5Dget_type(dataset.get()), H5Tclose);
        content.numeric = type.ok() && number_type(type.get()) && shape_of(dataset.get(), content.shape);
    }
    contents.push_back(std::move(content));
    return 0;
}

// Number of rows to read at once: about 64 MB, in whole chunks.
hsize_t block_rows(hid_t dataset, const std::vector<hsize_t>& extents, std::size_t row_bytes) {
    hsize_t rows = std::max<hsize_t>(1, (std::size_t{1} << 26) / row_bytes);
    const Handle layout(H5Dget_create_plist(dataset), H5Pclose);
    std::vector<hsize_t> chunk(extents.size());
    if (layout.ok() && H5Pget_layout(layout.get()) == H5D_CHUNKED &&
        H5Pget_chunk(layout.get(), static_cast<int>(chunk.size()), chunk.data()) > 0 && chunk[0] > 0)
        rows = (rows / chunk[0] + 1) * chunk[0];
    return std::min(rows, extents[0]);
}

}  // namespace

void read_hdf5(const std::string& path, const std::string& key, Purpose purpose, Answer& answer) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.ok()) refuse_file(path, Code::malformed, "the file is not a valid HDF5 file");
    std::string wanted(key);
    if (!wanted.empty() && wanted.front() != '/') wanted = std::string("/").append(wanted);
    const Handle access(own_links(), H5Pclose);
    const Handle straight(wanted.empty() ? -1 : H5Dopen2(file.get(), wanted.c_str(), access.get()), H5Dclose);
    Array array;
    H5L_info_t link{};
    if (!straight.ok() && !wanted.empty() && H5Lget_info(file.get(), wanted.c_str(), &link, access.get()) >= 0 &&
        link.type == H5L_TYPE_EXTERNAL)
        refuse_elsewhere(filled("dataset '{}'", shown(wanted)), "is an external link", path);
    if (!straight.ok()) {
        std::vector<Content> contents;
        if (H5Ovisit(file.get(), H5_INDEX_NAME, H5_ITER_INC, &list_dataset, &contents) < 0)
            refuse_file(path, Code::malformed, "the file is damaged: its list of datasets cannot be read");
        wanted = choose(contents, wanted, purpose, path, array.note).name;
    }
    const std::string what = filled("dataset '{}'", shown(wanted));
    const Handle dataset(H5Dopen2(file.get(), wanted.c_str(), access.get()), H5Dclose);
    if (!dataset.ok()) refuse_file(path, Code::malformed, what + " cannot be opened");
    if (const char* how = kept_elsewhere(dataset.get())) refuse_elsewhere(what, how, path);
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    const std::optional<NumberType> number = type.ok() ? number_type(type.get()) : std::nullopt;
    if (!number)
        refuse_file(path, Code::wrong_type, what + " does not hold numbers", "Use integers or floats of up to 64 bits");
    if (!shape_of(dataset.get(), array.shape)) refuse_file(path, Code::empty, what + " is empty");
    array.element = number->element;
    array.item_bytes = item_bytes(array.element);
    const std::size_t bytes = answer.describe(array, wanted, path + ":" + wanted);
    if (bytes == 0) return;

    std::vector<hsize_t> extents(array.shape.begin(), array.shape.end());
    if (extents.empty()) extents = {1};
    const bool scalar = array.shape.empty();
    const std::size_t row_bytes = bytes / extents[0];
    const hsize_t step = scalar ? 1 : block_rows(dataset.get(), extents, row_bytes);
    std::vector<std::byte> block(step * row_bytes);
    std::vector<hsize_t> begin(extents.size(), 0), count = extents;
    for (; begin[0] < extents[0]; begin[0] += step) {
        count[0] = std::min(step, extents[0] - begin[0]);
        const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
        const Handle stored(H5Dget_space(dataset.get()), H5Sclose);
        if ((!scalar &&
             H5Sselect_hyperslab(stored.get(), H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr) < 0) ||
            H5Dread(dataset.get(), number->memory, memory.get(), stored.get(), H5P_DEFAULT, block.data()) < 0)
            refuse_file(
                path, Code::malformed,
                what + " cannot be read: it is damaged, truncated, or compressed by a filter that is not installed");
        answer.data(std::span(block).first(count[0] * row_bytes));
    }
}

void require_own_data(const std::string& path) {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.ok()) refuse_file(path, Code::malformed, "the file is not a valid HDF5 file");
    const char* how = "holds an external link";
    const herr_t links = H5Lvisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &find_external_link, nullptr);
    if (links > 0) refuse_elsewhere("the file", how, path);
    const herr_t datasets = H5Ovisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &find_kept_elsewhere, &how);
    if (datasets > 0) refuse_elsewhere("a dataset of the file", how, path);
    if (links < 0 || datasets < 0)
        refuse_file(path, Code::malformed, "the file is damaged: its list of datasets cannot be read");
}
#else
void require_own_data(const std::string& path) {
    throw BadArgument(Code::missing_library, "MATLAB 7.3 files need the HDF5 library, which this build does not have",
                      "Save the file with -v7", {.file = path});
}
void read_hdf5(const std::string& path, const std::string&, Purpose, Answer&) {
    throw BadArgument(Code::missing_library, "HDF5 files need the HDF5 library, which this build does not have",
                      "Save the data as .npy", {.file = path});
}
#endif

}  // namespace coterie::io::internal
