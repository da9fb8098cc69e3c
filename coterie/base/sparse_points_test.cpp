#include "coterie/base/sparse_points.hpp"

#include <gtest/gtest.h>

#include "coterie/base/checks.hpp"
#include "coterie/base/problem.hpp"
#include "tests/support/sparse_fixtures.hpp"

namespace coterie {
namespace {

using test::sparse_of;

std::string refusal(Index columns, std::vector<std::int32_t> starts, const std::vector<std::int32_t>& columns_of,
                    const std::vector<double>& values) {
    try {
        SparsePoints(static_cast<Index>(starts.size()) - 1, columns, std::span<const std::int32_t>(starts),
                     std::span<const std::int32_t>(columns_of), std::span<const double>(values), nullptr);
    } catch (const BadData& error) {
        return error.what();
    }
    return "accepted";
}

TEST(SparsePoints, BlocksAreDenseRows) {
    const Matrix<float> dense = test::words<float>(37, 20, 3, 4);
    for (const auto& sparse : {sparse_of<std::int32_t>(dense), sparse_of<std::int64_t>(dense)}) {
        const PointsView view(*sparse);
        EXPECT_FALSE(view.resident());
        EXPECT_EQ(as_sparse(view), sparse.get());
        RowBuffer buffer;
        const auto rows = view.block(5, 30, buffer).as<float>();
        EXPECT_TRUE(rows.matrix() == dense.middleRows(5, 25));
    }
    EXPECT_EQ(as_sparse(PointsView(dense)), nullptr);
}

TEST(SparsePoints, SlicesSubsetsAndChangedValues) {
    const Matrix<double> dense = test::words<double>(11, 9, 3, 3);
    const auto sparse = sparse_of(dense);
    const SparsePoints slice = sparse->slice(4, 9);
    Matrix<double> out(5, 9);
    slice.read(0, 5, out.data());
    EXPECT_TRUE(out == dense.middleRows(4, 5));
    const std::vector<Index> rows = {3, 0, 3};
    const SparsePoints some = slice.subset(rows);
    out.resize(3, 9);
    some.read(0, 3, out.data());
    for (Index i = 0; i < 3; ++i) EXPECT_TRUE(out.row(i) == dense.row(4 + rows[static_cast<std::size_t>(i)]));
    std::vector<float> halves;
    for (const double value : slice.values<double>()) halves.push_back(static_cast<float>(value / 2));
    const SparsePoints other = slice.with_values(halves);
    Matrix<float> narrow(2, 9);
    other.slice(1, 3).read(0, 2, narrow.data());
    EXPECT_TRUE(narrow == (dense.middleRows(5, 2) / 2).cast<float>());
    const Problem problem{.points = Points(sparse)};
    EXPECT_NE(as_sparse(problem.subset(rows).points), nullptr);
}

TEST(SparsePoints, ErrorsNameTheRow) {
    EXPECT_EQ(refusal(3, {0, 1, 2}, {0, 2}, {1, 1}), "accepted");
    EXPECT_EQ(refusal(3, {0, 0}, {}, {}), "accepted");
    const auto holds = [](const std::string& text, const char* words) {
        EXPECT_NE(text.find(words), std::string::npos) << text;
    };
    holds(refusal(3, {0, 2}, {0, 3}, {1, 1}), "row 1: sparse matrix: column number 3 is not from 0 to 2");
    holds(refusal(3, {0, 1, 2}, {0, -1}, {1, 1}), "row 2: sparse matrix: column number -1");
    holds(refusal(3, {0, 2}, {1, 1}, {1, 1}), "row 1: sparse matrix: column number 1 follows 1");
    holds(refusal(3, {0, 2}, {2, 1}, {1, 1}), "must ascend");
    holds(refusal(3, {0, 3}, {0, 1}, {1, 1}), "end at entry 3, but there are 2 entries");
    holds(refusal(3, {0, 2, 1}, {0, 1}, {1, 1}), "row 2: sparse matrix: the row begins at entry 2 and ends at 1");
    holds(refusal(3, {0, 5, 2}, {0, 1}, {1, 1}), "row 1: sparse matrix: the row begins at entry 0 and ends at 5");
    holds(refusal(3, {-1, 1}, {0}, {1}), "begin at entry -1");
    holds(refusal(3, {0, 1}, {0, 1}, {1}), "2 column numbers for 1 values");
}

TEST(SparsePoints, NonFiniteValuesAreNamedByRowAndColumn) {
    Matrix<double> dense = test::words<double>(30, 12, 3, 3);
    dense(17, 4) = std::numeric_limits<double>::quiet_NaN();
    dense(20, 1) = std::numeric_limits<double>::infinity();
    try {
        check_points(PointsView(*sparse_of(dense)), points_of_fit(), coterie::Run(0, 1));
        FAIL();
    } catch (const BadData& error) {
        EXPECT_NE(std::string(error.what()).find("column 5, row 18: the value is NaN"), std::string::npos)
            << error.what();
    }
    dense(17, 4) = 1;
    dense(20, 1) = 1e120;
    try {
        check_points(PointsView(*sparse_of(dense)), points_of_fit(), coterie::Run(0, 1));
        FAIL();
    } catch (const BadData& error) {
        EXPECT_NE(std::string(error.what()).find("column 2, row 21"), std::string::npos) << error.what();
    }
    dense(20, 1) = -7;
    EXPECT_EQ(check_points(PointsView(*sparse_of(dense)), points_of_fit(), coterie::Run(0, 1)), 7);
    EXPECT_EQ(check_points(PointsView(*sparse_of(Matrix<double>(Matrix<double>::Zero(2, 3)))), points_of_fit(),
                           coterie::Run(0, 1)),
              0);
}

}  // namespace
}  // namespace coterie
