#pragma once
// Points: n rows of d numbers, float or double. PointsView borrows rows, Points owns them. The rows are an array, a
// mapped file, or a source that reads them on demand (RowSource), so they need not fit into memory.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "coterie/base/error.hpp"
#include "coterie/base/matrix.hpp"

namespace coterie {

/// Cluster numbers, one per point, counted from 0. -1 means noise (no cluster) or, in partial labels, "not known".
using Labels = std::vector<std::int32_t>;

enum class ScalarType { float32, float64 };

inline std::string_view name(ScalarType type) { return type == ScalarType::float32 ? "float32" : "float64"; }
inline std::size_t size_of(ScalarType type) { return type == ScalarType::float32 ? sizeof(float) : sizeof(double); }

template <class Scalar>
constexpr ScalarType scalar_type_of() {
    static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>);
    return std::is_same_v<Scalar, float> ? ScalarType::float32 : ScalarType::float64;
}

/// Calls f.operator()<float>() or <double>(), by the scalar type.
template <class F>
decltype(auto) with_scalar(ScalarType type, F&& f) {
    if (type == ScalarType::float32) return std::forward<F>(f).template operator()<float>();
    return std::forward<F>(f).template operator()<double>();
}

/// Borrowed rows of one known scalar type. Row i starts at data + i * stride and has `columns` contiguous numbers;
/// stride >= columns.
template <class Scalar>
struct Rows {
    const Scalar* data = nullptr;
    Index rows = 0;
    Index columns = 0;
    Index stride = 0;

    const Scalar* row(Index i) const { return data + i * stride; }
    using Map = Eigen::Map<const eigen::Matrix<Scalar>, Eigen::Unaligned, Eigen::OuterStride<>>;
    Map matrix() const { return block(0, rows); }
    Map block(Index begin, Index end) const {
        return Map(row(begin), end - begin, columns, Eigen::OuterStride<>(stride));
    }
};

/// Rows that are read on demand: from files, or from another source by preparing its rows.
class COTERIE_API RowSource {
public:
    virtual ~RowSource() = default;
    virtual Index rows() const = 0;
    virtual Index columns() const = 0;
    virtual ScalarType scalar() const = 0;
    /// Writes rows begin..end-1, one after another, to memory for (end - begin) x columns() numbers of type scalar().
    /// Several threads may call it at once. Throws BadData that names the file if the rows cannot be read.
    virtual void read(Index begin, Index end, void* to) const = 0;
    /// The address of these rows if they lie in memory one after another; otherwise nullptr.
    virtual const void* in_memory(Index begin, Index end) const {
        (void)begin;
        (void)end;
        return nullptr;
    }
    /// A hint that these rows will be read soon.
    virtual void expect(Index begin, Index end) const {
        (void)begin;
        (void)end;
    }
};

/// Memory for rows that are read; each thread has its own buffer.
class COTERIE_API RowBuffer {
public:
    /// Returns at least `bytes` bytes, aligned to a cache line. The old content is lost.
    void* reserve(std::size_t bytes);

private:
    struct Free {
        void operator()(void* memory) const;
    };
    std::unique_ptr<void, Free> memory_;
    std::size_t bytes_ = 0;
};

/// Borrowed rows of either scalar type, the argument of every fit and predict. The memory or the source must outlive
/// the call, but need not outlive the model.
class COTERIE_API PointsView {
public:
    PointsView() = default;
    template <class Scalar>
    PointsView(const Rows<Scalar>& rows)  // NOLINT: a view may be passed implicitly
        : data_(rows.data),
          rows_(rows.rows),
          columns_(rows.columns),
          stride_(rows.stride),
          scalar_(scalar_type_of<Scalar>()) {}
    /// `rows` x `columns` numbers at `data`, with `stride` numbers from one row to the next; 0: rows are contiguous.
    /// Throws BadArgument for negative sizes or a stride below `columns`.
    template <class Scalar>
    PointsView(const Scalar* data, Index rows, Index columns, Index stride = 0)
        : PointsView(Rows<Scalar>{data, rows, columns, stride == 0 ? columns : stride}) {
        if (rows < 0 || columns < 0 || (stride != 0 && stride < columns))
            throw BadArgument(Code::wrong_shape,
                              "rows and columns must not be negative, and the stride at least columns", "",
                              {.option = "points"});
    }
    template <class Scalar>
    PointsView(const Matrix<Scalar>& matrix)  // NOLINT
        : PointsView(Rows<Scalar>{matrix.data(), matrix.rows(), matrix.cols(), matrix.cols()}) {}
    template <class Scalar>
    PointsView(const eigen::Matrix<Scalar>& matrix)  // NOLINT
        : PointsView(Rows<Scalar>{matrix.data(), matrix.rows(), matrix.cols(), matrix.cols()}) {}
    explicit PointsView(const RowSource& source)
        : source_(&source),
          rows_(source.rows()),
          columns_(source.columns()),
          stride_(source.columns()),
          scalar_(source.scalar()) {}

    Index rows() const { return rows_; }
    Index columns() const { return columns_; }
    Index stride() const { return stride_; }
    ScalarType scalar() const { return scalar_; }
    const void* data() const { return data_; }
    bool empty() const { return rows_ == 0; }
    /// Bytes of the rows in memory, one after another.
    double bytes() const { return internal::double_product(rows_, columns_, size_of(scalar_)); }
    /// Whether the rows lie in memory. If not, only block() and source() give access to them.
    bool resident() const { return source_ == nullptr; }
    /// nullptr if resident.
    const RowSource* source() const { return source_; }

    /// Rows begin..end-1: resident rows in place, other rows read into `buffer`, which must outlive the result.
    PointsView block(Index begin, Index end, RowBuffer& buffer) const;

    template <class Scalar>
    Rows<Scalar> as() const {
        if (scalar_ != scalar_type_of<Scalar>()) throw InternalError("points view read as the other scalar type");
        if (source_ != nullptr) throw InternalError("points that are read in blocks were taken for points in memory");
        return {static_cast<const Scalar*>(data_), rows_, columns_, stride_};
    }
    /// Calls f.operator()<float>() or <double>(), by the scalar type.
    template <class F>
    decltype(auto) with_scalar(F&& f) const {
        return coterie::with_scalar(scalar_, std::forward<F>(f));
    }
    /// Calls f(Rows<float>) or f(Rows<double>).
    template <class F>
    decltype(auto) visit(F&& f) const {
        if (scalar_ == ScalarType::float32) return std::forward<F>(f)(as<float>());
        return std::forward<F>(f)(as<double>());
    }
    /// One number, as double. For messages and tests; too slow for loops.
    double at(Index i, Index j) const {
        return visit([&](auto rows) { return static_cast<double>(rows.row(i)[j]); });
    }

private:
    const void* data_ = nullptr;
    const RowSource* source_ = nullptr;
    Index rows_ = 0;
    Index columns_ = 0;
    Index stride_ = 0;
    ScalarType scalar_ = ScalarType::float64;
};

/// Owned points. Copies share the same immutable storage.
class Points {
public:
    Points() = default;
    template <class Scalar>
    explicit Points(Matrix<Scalar> matrix) {
        auto owner = std::make_shared<const Matrix<Scalar>>(std::move(matrix));
        view_ = PointsView(*owner);
        storage_ = std::move(owner);
    }
    /// Rows that live as long as `storage` does (a mapped file, a NumPy array).
    Points(PointsView view, std::shared_ptr<const void> storage) : view_(view), storage_(std::move(storage)) {}
    explicit Points(std::shared_ptr<const RowSource> source) : view_(*source), storage_(std::move(source)) {}
    /// Rows that the caller owns. They must outlive this object and its copies.
    static Points borrow(PointsView view) { return Points(view, nullptr); }

    const PointsView& view() const { return view_; }
    operator PointsView() const { return view_; }  // NOLINT: owned points convert to borrowed ones
    Index rows() const { return view_.rows(); }
    Index columns() const { return view_.columns(); }
    ScalarType scalar() const { return view_.scalar(); }
    bool empty() const { return view_.empty(); }
    double bytes() const { return view_.bytes(); }
    bool resident() const { return view_.resident(); }

private:
    PointsView view_;
    std::shared_ptr<const void> storage_;
};

/// A copy of the rows in the other (or the same) scalar type.
template <class Scalar>
Matrix<Scalar> to_matrix(PointsView points) {
    return points.visit([](auto rows) -> Matrix<Scalar> { return rows.matrix().template cast<Scalar>(); });
}

/// A copy of some rows, in the given order and with the same scalar type.
COTERIE_API Points rows_of(PointsView points, std::span<const Index> rows);

}  // namespace coterie
