// Datasets of HDF5 files, through the HDF5 library, which also converts byte orders and number types.

#include "coterie/base/memory.hpp"
#include "coterie/io/internal/formats.hpp"

#ifdef COTERIE_HAVE_HDF5
#include <hdf5.h>
#endif

namespace coterie::formats {

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

// The HDF5 library prints its errors unless told not to; the caller's setting comes back at the end.
class Quiet {
public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

struct NumberType {
    Element element;
    hid_t memory;
};

bool number_type(hid_t stored, NumberType& out) {
    const size_t size = H5Tget_size(stored);
    hid_t plain = stored;
    const H5T_class_t kind = H5Tget_class(stored);
    // Booleans are enumerations over 8-bit integers.
    const Handle base(kind == H5T_ENUM ? H5Tget_super(stored) : -1, H5Tclose);
    if (kind == H5T_ENUM) plain = base.get();
    if (kind == H5T_FLOAT) {
        out = size <= 4 ? NumberType{Element::float32, H5T_NATIVE_FLOAT}
                        : NumberType{Element::float64, H5T_NATIVE_DOUBLE};
        return true;
    }
    if (kind != H5T_INTEGER && kind != H5T_ENUM) return false;
    const bool with_sign = H5Tget_sign(plain) != H5T_SGN_NONE;
    switch (size) {
        case 1:
            out = with_sign ? NumberType{Element::int8, H5T_NATIVE_INT8} : NumberType{Element::uint8, H5T_NATIVE_UINT8};
            return true;
        case 2:
            out = with_sign ? NumberType{Element::int16, H5T_NATIVE_INT16}
                            : NumberType{Element::uint16, H5T_NATIVE_UINT16};
            return true;
        case 4:
            out = with_sign ? NumberType{Element::int32, H5T_NATIVE_INT32}
                            : NumberType{Element::uint32, H5T_NATIVE_UINT32};
            return true;
        case 8:
            out = with_sign ? NumberType{Element::int64, H5T_NATIVE_INT64}
                            : NumberType{Element::uint64, H5T_NATIVE_UINT64};
            return true;
        default: return false;
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

struct Listing {
    std::vector<Content> contents;
};

herr_t visit(hid_t file, const char* path, const H5O_info_t* info, void* data) {
    if (info->type != H5O_TYPE_DATASET) return 0;
    auto& listing = *static_cast<Listing*>(data);
    if (listing.contents.size() >= 10000) return 1;
    Content content{std::string("/") + path, {}, false};
    const Handle dataset(H5Dopen2(file, path, H5P_DEFAULT), H5Dclose);
    if (dataset.ok()) {
        const Handle type(H5Dget_type(dataset.get()), H5Tclose);
        NumberType number{};
        content.numeric = type.ok() && number_type(type.get(), number) && shape_of(dataset.get(), content.shape);
    }
    listing.contents.push_back(std::move(content));
    return 0;
}

}  // namespace

Array read_hdf5(const std::string& path, std::string_view key, Purpose purpose, std::string& source) {
    const Quiet quiet;
    const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
    if (!file.ok()) throw BadData(source + ": is not a sound HDF5 file");
    std::string wanted(key);
    if (!wanted.empty() && wanted.front() != '/') wanted = std::string("/").append(wanted);
    const Handle straight(wanted.empty() ? -1 : H5Dopen2(file.get(), wanted.c_str(), H5P_DEFAULT), H5Dclose);
    if (!straight.ok()) {
        Listing listing;
        if (H5Ovisit(file.get(), H5_INDEX_NAME, H5_ITER_INC, &visit, &listing) < 0)
            throw BadData(source + ": is damaged: its list of datasets cannot be read");
        wanted = choose(listing.contents, wanted, purpose, source).name;
    }
    source += ":" + wanted;
    const Handle dataset(H5Dopen2(file.get(), wanted.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset.ok()) throw BadData(source + ": the dataset cannot be opened");
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    NumberType number{};
    Array array;
    if (!type.ok() || !number_type(type.get(), number))
        throw BadData(source + ": is not a dataset of numbers; integers and floats of up to 64 bits are accepted");
    if (!shape_of(dataset.get(), array.shape)) throw BadData(source + ": is an empty dataset");
    array.element = number.element;
    array.item_bytes = item_bytes(array.element);
    const std::size_t bytes = checked_bytes(array.shape, array.item_bytes, source);
    require_memory(static_cast<double>(bytes), source);
    const auto buffer = std::make_shared<std::vector<std::byte>>(bytes);
    if (bytes > 0 && H5Dread(dataset.get(), number.memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer->data()) < 0)
        throw BadData(source +
                      ": cannot be read: the data are damaged, truncated, or packed by a filter that is not installed");
    array.data = {buffer->data(), buffer->size()};
    array.owner = buffer;
    return array;
}
#else
Array read_hdf5(const std::string&, std::string_view, Purpose, std::string& source) {
    throw BadArgument(source +
                      ": HDF5 files need the HDF5 library, which this build does not have; save the data as .npy");
}
#endif

}  // namespace coterie::formats
