#pragma once
// Matrix and Vector: rows of numbers that the library takes and returns. Both are Eigen maps over memory that the
// library allocates and frees itself, with one fixed alignment. Eigen's own memory is not suitable: its layout depends
// on compiler flags (-march=native, -mavx, -fsanitize=address), so a program built with other flags than the library
// could not free a matrix that the library made. Matrix and Vector offer everything that an Eigen matrix offers.
// Eigen's own types, eigen::Matrix and eigen::Vector, are used only inside the library.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <Eigen/Core>

#include "coterie/base/export.hpp"

namespace coterie {

using Index = std::ptrdiff_t;
static_assert(std::is_same_v<Index, Eigen::Index>, "Eigen must count in std::ptrdiff_t");

namespace eigen {
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
}  // namespace eigen

namespace internal {

/// An index as the unsigned size that standard containers expect.
constexpr std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The product of the numbers, as a double, so that it cannot overflow.
constexpr double double_product(auto... numbers) { return (1.0 * ... * static_cast<double>(numbers)); }

/// Not inline, so that memory is allocated and freed inside the library. Throws std::bad_alloc.
COTERIE_API void* memory_for_numbers(std::size_t bytes);
COTERIE_API void release_numbers(void* memory) noexcept;

/// A matrix or vector that owns its numbers; `Plain` is the corresponding Eigen type. New numbers are uninitialised, as
/// in Eigen. A copy copies the numbers; a move leaves the source empty.
template <class Plain>
class Owned : public Eigen::Map<Plain> {
    using Map = Eigen::Map<Plain>;
    static constexpr bool is_vector = Plain::IsVectorAtCompileTime;

public:
    using Scalar = typename Plain::Scalar;

    Owned() : Map(nullptr, 0, is_vector ? 1 : 0) {}
    explicit Owned(Index size) requires is_vector : Owned(size, Index(1)) {}
    Owned(Index rows, Index columns) : Owned() { allocate(rows, columns); }
    /// Rows of numbers, or the entries of a vector.
    Owned(std::initializer_list<std::initializer_list<Scalar>> rows) : Owned(eigen_of(rows)) {}
    Owned(const Owned& other) : Owned(other.rows(), other.cols()) { std::copy_n(other.data(), this->size(), data()); }
    Owned(Owned&& other) noexcept : Owned() { swap(other); }
    template <class Other>
    Owned(const Eigen::MatrixBase<Other>& other)  // NOLINT: an expression becomes a matrix, as with Eigen
        : Owned() {
        allocate_like(other);
        this->noalias() = other.derived();
    }
    template <class Other>
    Owned(const Eigen::EigenBase<Other>& other)  // NOLINT
        : Owned() {
        allocate_like(other);
        Map::operator=(other.derived());
    }
    ~Owned() = default;

    Owned& operator=(const Owned& other) {
        if (this != &other) {
            resize_like(other);
            std::copy_n(other.data(), this->size(), data());
        }
        return *this;
    }
    Owned& operator=(Owned&& other) noexcept {
        Owned moved(std::move(other));
        swap(moved);
        return *this;
    }
    template <class Other>
    Owned& operator=(const Eigen::EigenBase<Other>& other) {
        if (has_size_of(other.derived())) {
            Map::operator=(other.derived());
        } else {  // `other` may read this matrix
            Owned made(other.derived());
            swap(made);
        }
        return *this;
    }

    using Map::data;
    using Map::setConstant;
    using Map::setOnes;
    using Map::setZero;

    /// If the count of numbers stays the same, keeps them in memory order. Otherwise the numbers are lost.
    void resize(Index rows, Index columns) {
        if (rows == this->rows() && columns == this->cols()) return;
        if (rows * columns == this->size()) {
            map(data(), rows, columns);
        } else {
            allocate(rows, columns);
        }
    }
    void resize(Index size) requires is_vector { resize(size, 1); }
    /// Keeps the entries that lie within both sizes.
    void conservativeResize(Index rows, Index columns) {
        Owned made(rows, columns);
        const Index r = std::min(rows, this->rows());
        const Index c = std::min(columns, this->cols());
        made.topLeftCorner(r, c) = this->topLeftCorner(r, c);
        swap(made);
    }
    void conservativeResize(Index size) requires is_vector { conservativeResize(size, 1); }
    Owned& setZero(Index rows, Index columns) {
        resize(rows, columns);
        Map::setZero();
        return *this;
    }
    Owned& setZero(Index size) requires is_vector { return setZero(size, 1); }
    Owned& setConstant(Index rows, Index columns, Scalar value) {
        resize(rows, columns);
        Map::setConstant(value);
        return *this;
    }
    Owned& setConstant(Index size, Scalar value) requires is_vector { return setConstant(size, 1, value); }
    using Map::swap;
    void swap(Owned& other) noexcept {
        storage_.swap(other.storage_);
        Scalar* const mine = data();
        const Index rows = this->rows();
        const Index columns = this->cols();
        map(other.data(), other.rows(), other.cols());
        other.map(mine, rows, columns);
    }
    friend void swap(Owned& a, Owned& b) noexcept { a.swap(b); }

private:
    struct Release {
        void operator()(Scalar* numbers) const { release_numbers(numbers); }
    };

    void map(Scalar* numbers, Index rows, Index columns) {
        ::new (static_cast<Map*>(this)) Map(numbers, rows, columns);
    }
    void allocate(Index rows, Index columns) {
        constexpr Index most = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(Scalar));
        if (rows != 0 && columns > most / rows) throw std::bad_alloc();
        map(nullptr, 0, is_vector ? 1 : 0);
        storage_.reset();
        const Index size = rows * columns;
        if (size > 0)
            storage_.reset(static_cast<Scalar*>(memory_for_numbers(static_cast<std::size_t>(size) * sizeof(Scalar))));
        map(storage_.get(), rows, columns);
    }
    // A vector is a column; it may be made from a row expression.
    template <class Other>
    void allocate_like(const Other& other) {
        if constexpr (is_vector) {
            allocate(other.rows() * other.cols(), 1);
        } else {
            allocate(other.rows(), other.cols());
        }
    }
    template <class Other>
    void resize_like(const Other& other) {
        if constexpr (is_vector) {
            resize(other.rows() * other.cols(), 1);
        } else {
            resize(other.rows(), other.cols());
        }
    }
    template <class Other>
    bool has_size_of(const Other& other) const {
        if constexpr (is_vector) return this->size() == other.rows() * other.cols();
        return this->rows() == other.rows() && this->cols() == other.cols();
    }
    static Owned eigen_of(std::initializer_list<std::initializer_list<Scalar>> rows) { return Plain(rows); }

    std::unique_ptr<Scalar[], Release> storage_;
};

}  // namespace internal

/// A matrix whose rows are stored one after another.
template <class Scalar>
using Matrix = internal::Owned<eigen::Matrix<Scalar>>;
/// A column of numbers.
template <class Scalar>
using Vector = internal::Owned<eigen::Vector<Scalar>>;

}  // namespace coterie
