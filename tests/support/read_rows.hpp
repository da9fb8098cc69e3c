#pragma once
// For tests: points in memory that behave like points read from a file.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "coterie/base/points.hpp"

namespace coterie::test {

/// A copy of the points that is not resident. Each read calls `on_read` with its number of rows.
inline Points read_rows(
    PointsView points, std::function<void(Index rows)> on_read = [](Index) {}) {
    class Copy : public RowSource {
    public:
        Copy(Points points, std::function<void(Index)> on_read)
            : points_(std::move(points)), on_read_(std::move(on_read)) {}
        Index rows() const override { return points_.rows(); }
        Index columns() const override { return points_.columns(); }
        ScalarType scalar() const override { return points_.scalar(); }
        void read(Index begin, Index end, void* to) const override {
            on_read_(end - begin);
            points_.view().visit([&]<class Scalar>(const Rows<Scalar>& rows) {
                std::copy_n(rows.row(begin), (end - begin) * rows.columns, static_cast<Scalar*>(to));
            });
        }

    private:
        Points points_;
        std::function<void(Index)> on_read_;
    };
    return points.with_scalar([&]<class Scalar>() {
        return Points(std::make_shared<const Copy>(Points(to_matrix<Scalar>(points)), on_read));
    });
}

}  // namespace coterie::test
