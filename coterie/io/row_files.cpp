// Reads files of rows with pread, block by block, without mapping. So the pass over the rows decides what is read ahead
// and kept, and files may be larger than the address space (ulimit -v). Rows in native format go directly to their
// destination. Other rows use the same conversion as whole arrays.

#include "coterie/io/row_files.hpp"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "coterie/io/formats.hpp"

namespace coterie {
namespace {

using formats::Array;
using formats::refuse_file;
using internal::filled;

class OpenFile {
public:
    explicit OpenFile(std::string path)
        : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
        if (descriptor_ < 0)
            refuse_file(path_, errno == ENOENT ? Code::not_found : Code::cannot_read,
                        filled("the file cannot be opened: {}", std::strerror(errno)));
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
            ::close(descriptor_);
            refuse_file(path_, Code::cannot_read, "this is not a regular file, so it cannot be read in blocks");
        }
        size_ = static_cast<std::size_t>(status.st_size);
    }
    // Takes ownership of an open descriptor.
    OpenFile(std::string path, int descriptor, std::size_t size)
        : path_(std::move(path)), descriptor_(descriptor), size_(size) {}
    OpenFile(OpenFile&& other) noexcept
        : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;
    ~OpenFile() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    const std::string& path() const { return path_; }
    std::size_t size() const { return size_; }
    void read(std::size_t offset, std::size_t bytes, std::byte* to) const {
        while (bytes > 0) {
            const ssize_t got = ::pread(descriptor_, to, bytes, static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0)
                throw ResourceError(Code::cannot_read, filled("the file cannot be read: {}", std::strerror(errno)), "",
                                    {.file = path_});
            if (got == 0) refuse_file(path_, Code::changed_file, "the file has become shorter since it was opened");
            offset += static_cast<std::size_t>(got);
            bytes -= static_cast<std::size_t>(got);
            to += got;
        }
    }
    void expect(std::size_t offset, std::size_t bytes) const {
        (void)::posix_fadvise(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
    }

private:
    std::string path_;
    int descriptor_;
    std::size_t size_ = 0;
};

// One file of rows.
class FileRows : public RowSource {
public:
    // An array file.
    FileRows(const std::string& path, Precision precision) : file_(path), precision_(precision) {
        std::vector<std::byte> head(std::min<std::size_t>(file_.size(), formats::longest_npy_head));
        file_.read(0, head.size(), head.data());
        const formats::Bytes bytes{head, nullptr};
        array_ = formats::format_of_name(path) == formats::Format::npy ? formats::parse_npy_header(bytes, path)
                                                                       : formats::parse_idx_header(bytes, path);
        offset_ = static_cast<std::size_t>(array_.data.data() - head.data());
        array_.data = {};
        formats::require_length(array_, file_.size() - offset_, path);
        if (array_.fortran && array_.shape.size() > 1)
            refuse_file(path, Code::unsupported_format,
                        "the array is stored column by column, so it cannot be read in blocks of rows",
                        "Store it row by row: numpy.save(path, numpy.ascontiguousarray(X))");
        if (array_.shape.empty())
            refuse_file(path, Code::wrong_shape, "the array is a single number, but rows of numbers are needed");
        rows_ = array_.shape.front();
        // A row of zeros gives the type and the number of columns, because a file may hold no rows at all.
        Array row = array_;
        row.shape.front() = 1;
        const std::vector<std::byte> zeros(formats::checked_bytes(row.shape, row.item_bytes, path));
        row.data = zeros;
        const Points one = formats::to_points(row, precision_, -1, path, 1);
        columns_ = one.columns();
        scalar_ = one.scalar();
        row_bytes_ = array_.item_bytes * static_cast<std::size_t>(columns_);
        direct_ = has_scalar(array_, scalar_);
    }
    // Rows in native format.
    FileRows(OpenFile file, Index columns, ScalarType scalar)
        : file_(std::move(file)),
          row_bytes_(static_cast<std::size_t>(columns) * size_of(scalar)),
          rows_(static_cast<Index>(file_.size() / row_bytes_)),
          columns_(columns),
          scalar_(scalar),
          direct_(true) {}

    Index rows() const override { return rows_; }
    Index columns() const override { return columns_; }
    ScalarType scalar() const override { return scalar_; }
    void read(Index begin, Index end, void* to) const override {
        const std::size_t bytes = static_cast<std::size_t>(end - begin) * row_bytes_;
        if (direct_) return file_.read(place(begin), bytes, static_cast<std::byte*>(to));
        std::vector<std::byte> raw(bytes);
        file_.read(place(begin), bytes, raw.data());
        Array part = array_;
        part.shape.front() = end - begin;
        part.data = raw;
        const Points converted = formats::to_points(part, precision_, -1, file_.path(), 1);
        converted.view().visit([&]<class Scalar>(const Rows<Scalar>& rows) {
            std::copy_n(rows.data, rows.rows * rows.columns, static_cast<Scalar*>(to));
        });
    }
    void expect(Index begin, Index end) const override {
        file_.expect(place(begin), static_cast<std::size_t>(end - begin) * row_bytes_);
    }

private:
    std::size_t place(Index row) const { return offset_ + static_cast<std::size_t>(row) * row_bytes_; }

    OpenFile file_;
    Precision precision_ = Precision::automatic;
    Array array_;
    std::size_t offset_ = 0;
    std::size_t row_bytes_ = 0;
    Index rows_ = 0;
    Index columns_ = 0;
    ScalarType scalar_ = ScalarType::float64;
    bool direct_ = false;
};

// Several files as one.
class ShardedRows : public RowSource {
public:
    explicit ShardedRows(std::vector<std::shared_ptr<const FileRows>> shards) : shards_(std::move(shards)) {
        ends_.push_back(0);
        for (const auto& shard : shards_) ends_.push_back(ends_.back() + shard->rows());
    }

    Index rows() const override { return ends_.back(); }
    Index columns() const override { return shards_.front()->columns(); }
    ScalarType scalar() const override { return shards_.front()->scalar(); }
    void read(Index begin, Index end, void* to) const override {
        auto* at = static_cast<std::byte*>(to);
        const std::size_t row_bytes = static_cast<std::size_t>(columns()) * size_of(scalar());
        for_each_part(begin, end, [&](const FileRows& shard, Index from, Index until) {
            shard.read(from, until, at);
            at += static_cast<std::size_t>(until - from) * row_bytes;
        });
    }
    void expect(Index begin, Index end) const override {
        for_each_part(begin, end, [](const FileRows& shard, Index from, Index until) { shard.expect(from, until); });
    }

private:
    template <class Act>
    void for_each_part(Index begin, Index end, Act&& act) const {
        auto shard = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin() - 1);
        while (begin < end) {
            const Index until = std::min(end, ends_[shard + 1]);
            if (until > begin) act(*shards_[shard], begin - ends_[shard], until - ends_[shard]);
            begin = until;
            ++shard;
        }
    }

    std::vector<std::shared_ptr<const FileRows>> shards_;
    std::vector<Index> ends_;  // rows before each shard, and the total
};

// Compares names; digits in them compare as numbers.
bool before(const std::string& a, const std::string& b) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t i = 0, j = 0;
    while (i < a.size() && j < b.size()) {
        if (digit(a[i]) && digit(b[j])) {
            const std::size_t from_a = std::min(a.find_first_not_of('0', i), a.size());
            const std::size_t from_b = std::min(b.find_first_not_of('0', j), b.size());
            i = from_a, j = from_b;
            while (i < a.size() && digit(a[i])) ++i;
            while (j < b.size() && digit(b[j])) ++j;
            const auto number_a = std::string_view(a).substr(from_a, i - from_a);
            const auto number_b = std::string_view(b).substr(from_b, j - from_b);
            if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
            if (number_a != number_b) return number_a < number_b;
            continue;
        }
        if (a[i] != b[j]) return a[i] < b[j];
        ++i, ++j;
    }
    if ((i < a.size()) != (j < b.size())) return j < b.size();
    return a < b;
}

}  // namespace

std::vector<std::string> files_of(const std::string& path) {
    std::error_code error;
    if (path.find_first_of("*?[") == std::string::npos || std::filesystem::exists(path, error)) return {path};
    glob_t found{};
    const int status = ::glob(path.c_str(), 0, nullptr, &found);
    std::vector<std::string> out;
    if (status == 0) out.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    ::globfree(&found);
    if (out.empty()) refuse_file(path, Code::not_found, "no file matches");
    std::sort(out.begin(), out.end(), before);
    return out;
}

ScratchWriter::ScratchWriter(const std::string& folder)
    : name_("a temporary file in " + (folder.empty() ? "the current folder" : folder)) {
    std::string path = (std::filesystem::path(folder.empty() ? "." : folder) / ".coterie-XXXXXX").string();
    descriptor_ = ::mkostemp(path.data(), O_CLOEXEC);
    if (descriptor_ < 0)
        throw ResourceError(Code::cannot_write, filled("{} cannot be created: {}", name_, std::strerror(errno)));
    ::unlink(path.c_str());
}

ScratchWriter::~ScratchWriter() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

void ScratchWriter::write(PointsView rows) {
    columns_ = rows.columns();
    scalar_ = rows.scalar();
    rows.visit([&]<class Scalar>(const Rows<Scalar>& some) {
        for (Index i = 0; i < some.rows;) {
            const Index count = some.stride == some.columns ? some.rows : 1;  // all rows at once if they are contiguous
            const std::size_t bytes = static_cast<std::size_t>(count * some.columns) * sizeof(Scalar);
            if (!formats::write_all(descriptor_, some.row(i), bytes))
                throw ResourceError(Code::cannot_write,
                                    filled("{} cannot be written: {}", name_, std::strerror(errno)));
            bytes_ += bytes;
            i += count;
        }
    });
}

Points ScratchWriter::points() {
    return Points(
        std::make_shared<const FileRows>(OpenFile(name_, std::exchange(descriptor_, -1), bytes_), columns_, scalar_));
}

bool can_be_read_in_blocks(const std::string& file) {
    const auto format = formats::format_of_name(file);  // none for compressed files
    return format == formats::Format::npy || format == formats::Format::idx;
}

Points open_rows(std::span<const std::string> files, Precision precision) {
    if (files.empty()) throw BadArgument(Code::missing_argument, "no files were given");
    std::vector<std::shared_ptr<const FileRows>> shards;
    for (const std::string& file : files) {
        if (!can_be_read_in_blocks(file))
            refuse_file(file, Code::unsupported_format, "files of this format cannot be read in blocks",
                        "Use uncompressed .npy or idx files");
        auto shard = std::make_shared<const FileRows>(file, precision);
        if (!shards.empty()) {
            const FileRows& first = *shards.front();
            if (shard->columns() != first.columns() || shard->scalar() != first.scalar())
                refuse_file(file, Code::wrong_shape,
                            filled("{} of {}, but {} has {} of {}", counted(shard->columns(), "column"),
                                   name(shard->scalar()), files.front(), first.columns(), name(first.scalar())),
                            "Files that are read as one need the same columns and type");
        }
        shards.push_back(std::move(shard));
    }
    if (shards.size() == 1) return Points(std::shared_ptr<const RowSource>(shards.front()));
    return Points(std::make_shared<const ShardedRows>(std::move(shards)));
}

}  // namespace coterie
