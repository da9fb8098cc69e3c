// NumPy's .npz: a zip archive of .npy members, stored or deflated, which libzip reads from the file's bytes. For a list
// of the arrays, only headers are inflated. The chosen member is inflated completely, and its checksum is verified.

#include <algorithm>

#include "coterie/base/memory.hpp"
#include "coterie/io/formats.hpp"

#ifdef COTERIE_HAVE_LIBZIP
#include <zip.h>
#endif

namespace coterie::formats {

#ifdef COTERIE_HAVE_LIBZIP
namespace {

struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive_ = std::unique_ptr<zip_t, Discard>;

Archive_ open(const Bytes& bytes, const std::string& what) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data.data(), bytes.size(), 0, &error);
    if (source == nullptr)
        throw ResourceError(Code::out_of_memory, "there is not enough memory to open the file", "", {.file = what});
    zip_t* archive = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
    if (archive == nullptr) {
        const std::string reason = zip_error_strerror(&error);
        zip_source_free(source);
        zip_error_fini(&error);
        refuse_file(what, Code::malformed, "the file is not a valid .npz (zip) file: " + reason);
    }
    zip_error_fini(&error);
    return Archive_(archive);
}

// The inflated size of a member according to the zip directory.
std::size_t member_size(zip_t* archive, zip_uint64_t index, const std::string& what) {
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_stat_index(archive, index, 0, &status) != 0 || !(status.valid & ZIP_STAT_SIZE) ||
        !(status.valid & ZIP_STAT_COMP_SIZE))
        refuse_file(what, Code::malformed, "the zip directory is damaged");
    // Deflate compresses at most to a thousandth. A larger claimed size is false, so no memory is allocated for it.
    if (status.size > (status.comp_size + 16) * 1040)
        refuse_file(what, Code::malformed, "the size in the zip directory is not possible");
    return static_cast<std::size_t>(status.size);
}

// The first `most` bytes of a member, or all of it, which also verifies its checksum.
Bytes member(zip_t* archive, zip_uint64_t index, std::size_t most, const std::string& what) {
    const std::size_t size = member_size(archive, index, what);
    const std::size_t wanted = std::min(size, most);
    require_memory(static_cast<double>(wanted), "the array");
    std::unique_ptr<zip_file_t, Discard> file(zip_fopen_index(archive, index, 0));
    if (!file) refuse_file(what, Code::malformed, filled("the array cannot be read: {}", zip_strerror(archive)));
    const auto buffer = std::make_shared<std::vector<std::byte>>(wanted);
    std::size_t have = 0;
    const auto refuse_damaged = [&](std::string_view reason) {
        refuse_file(what, Code::malformed, filled("the array is damaged: {}", reason));
    };
    while (have < wanted) {
        const zip_int64_t got = zip_fread(file.get(), buffer->data() + have, wanted - have);
        if (got < 0) refuse_damaged(zip_file_strerror(file.get()));
        if (got == 0) refuse_damaged("it ends too early");
        have += static_cast<std::size_t>(got);
    }
    if (size <= most) {
        // libzip compares the checksum when it reaches the end.
        char beyond = 0;
        const zip_int64_t got = zip_fread(file.get(), &beyond, 1);
        if (got < 0) refuse_damaged(zip_file_strerror(file.get()));
        if (got > 0) refuse_damaged("it is longer than the zip directory says");
    }
    return {{buffer->data(), buffer->size()}, buffer};
}

// The shape from the start of a member. A member that is not an array of numbers is listed as not numeric.
Content described(zip_t* archive, zip_uint64_t index, const std::string& key, const std::string& what) {
    try {
        const Array array = parse_npy_header(member(archive, index, longest_npy_head, what), what);
        return {key, array.shape, !is_text(array.element)};
    } catch (const BadData&) {
        return {key, {}, false};
    }
}

// Compares header and size before the rest is inflated. Zeros compress to a thousandth, so a small file may hold
// gigabytes that its header does not mention.
Array array_of(zip_t* archive, zip_uint64_t index, const std::string& source) {
    const Bytes head = member(archive, index, longest_npy_head, source);
    const Array described = parse_npy_header(head, source);
    const auto header = static_cast<std::size_t>(described.data.data() - head.data.data());
    require_npy_length(described, member_size(archive, index, source) - header);
    return parse_npy(member(archive, index, SIZE_MAX, source), source);
}

}  // namespace

Array parse_npz(const Bytes& bytes, std::string_view key, Purpose purpose, const std::string& source) {
    const Archive_ archive = open(bytes, source);
    const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
    std::vector<Content> contents;
    std::vector<zip_uint64_t> indices;
    for (zip_int64_t i = 0; i < entries; ++i) {
        const auto index = static_cast<zip_uint64_t>(i);
        const char* raw = zip_get_name(archive.get(), index, ZIP_FL_ENC_RAW);
        if (raw == nullptr) refuse_file(source, Code::malformed, "the zip directory is damaged");
        std::string name(raw);
        if (!name.ends_with(".npy")) continue;
        name.resize(name.size() - 4);
        // If the key is given, the other members are not read.
        if (!key.empty() && name == key) return array_of(archive.get(), index, source + ":" + name);
        contents.push_back(described(archive.get(), index, name, source));
        indices.push_back(index);
        if (contents.size() > 10000)
            refuse_file(source, Code::limit_exceeded, "the file holds more than 10000 arrays",
                        "Name the array after a colon, FILE:NAME");
    }
    std::string note;
    const Content& content = choose(contents, key, purpose, source, note);
    const zip_uint64_t index = indices[static_cast<std::size_t>(&content - contents.data())];
    Array array = array_of(archive.get(), index, source + ":" + content.name);
    array.note = std::move(note);
    return array;
}
#else
Array parse_npz(const Bytes&, std::string_view, Purpose, const std::string& source) {
    throw BadArgument(Code::missing_library, ".npz files need libzip, which this build does not have",
                      "Save the array as .npy", {.file = source});
}
#endif

}  // namespace coterie::formats
