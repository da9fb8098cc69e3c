#pragma once
// For tests: points in memory that are handed out as if they were read.

#include <algorithm>
#include <memory>
#include <utility>

#include "coterie/base/points.hpp"

namespace coterie::test {

/// A copy of the points that is not resident.
inline Points read_rows(PointsView points) {
    class Copy : public RowSource {
    public:
        explicit Copy(Points points) : points_(std::move(points)) {}
        Index rows() const override { return points_.rows(); }
        Index columns() const override { return points_.columns(); }
        ScalarType scalar() const override { return points_.scalar(); }
        void read(Index begin, Index end, void* to) const override {
            points_.view().visit([&]<class Scalar>(const Rows<Scalar>& rows) {
                std::copy_n(rows.row(begin), (end - begin) * rows.columns, static_cast<Scalar*>(to));
            });
        }

    private:
        Points points_;
    };
    return points.with_scalar(
        [&]<class Scalar>() { return Points(std::make_shared<const Copy>(Points(to_matrix<Scalar>(points)))); });
}

}  // namespace coterie::test
