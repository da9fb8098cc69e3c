// Processes that hold parts of the rows work as if each held all rows, and get results for the rows that they hold.

#include "coterie/base/parallel/local_rows.hpp"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "tests/support/processes_in_threads.hpp"
#include "tests/support/read_rows.hpp"
#include "tests/support/test_support.hpp"

namespace coterie::internal {
namespace {

template <class T>
void expect_the_whole(const std::vector<Index>& parts, Index columns) {
    const Index rows = std::accumulate(parts.begin(), parts.end(), Index{0});
    Matrix<T> whole(rows, columns + 1);  // the last column is unused, so that parts are views with a stride
    for (Index i = 0; i < whole.size(); ++i) whole.data()[i] = static_cast<T>(i);
    const auto part_of = [&](Index begin, Index count) {
        return PointsView(Rows<T>{whole.data() + begin * whole.cols(), count, columns, whole.cols()});
    };
    test::on_processes(static_cast<int>(parts.size()), [&](std::shared_ptr<Communicator> communicator) {
        const auto rank = static_cast<std::size_t>(communicator->rank());
        const Index begin = std::accumulate(parts.begin(), parts.begin() + static_cast<std::ptrdiff_t>(rank), Index{0});
        const PointsView view = part_of(begin, parts[rank]);
        const Points read = test::read_rows(Points::borrow(view));
        const LocalRows local(rank % 2 == 0 ? view : read.view(), *communicator);
        ASSERT_EQ(local.rows(), rows);
        ASSERT_EQ(local.columns(), columns);
        coterie::Run run(1, 2);
        run.set_communicator(communicator);
        const PointsView points(local);
        const Range own = own_rows(grid_of(points), *communicator);
        Labels numbers(static_cast<std::size_t>(own.count()), -1);
        for_each_row_block<T>(points, run, {.name = "test"}, [&](const RowBlock<T>& block, int) {
            for (Index r = 0; r < block.rows.rows; ++r) {
                const Index row = block.first + r;
                EXPECT_TRUE(std::equal(block.rows.row(r), block.rows.row(r) + columns, whole.row(row).data())) << row;
                numbers[static_cast<std::size_t>(row - own.begin)] = static_cast<std::int32_t>(row);
            }
        });
        Labels expected(static_cast<std::size_t>(parts[rank]));
        std::iota(expected.begin(), expected.end(), static_cast<std::int32_t>(begin));
        EXPECT_EQ(local.to_holders(numbers), expected);
        if (own.begin > 0) {
            std::vector<T> row(static_cast<std::size_t>(columns));
            EXPECT_THROW(local.read(0, 1, row.data()), InternalError);
        }
    });
}

TEST(LocalRows, DoNotDependOnTheirDistribution) {
    for (const auto& parts : std::vector<std::vector<Index>>{
             {700}, {0, 700}, {700, 0}, {10, 0, 690}, {1, 2, 3, 4, 5}, {100, 0, 0, 900, 33, 7}, {1, 0, 1}}) {
        expect_the_whole<float>(parts, 3);
        expect_the_whole<double>(parts, 1);
    }
    expect_the_whole<float>({70000, 5, 30000}, 20);
}

// Each process holds every third run of ten rows, the last run first.
TEST(LocalRows, MayBeHeldInAnyOrder) {
    constexpr Index rows = 200, run_length = 10, processes = 3;
    Matrix<double> whole(rows, 2);
    for (Index i = 0; i < whole.size(); ++i) whole.data()[i] = static_cast<double>(i);
    test::on_processes(processes, [&](std::shared_ptr<Communicator> communicator) {
        std::vector<Range> places;
        for (Index begin = rows - run_length; begin >= 0; begin -= run_length)
            if (begin / run_length % processes == communicator->rank()) places.push_back({begin, begin + run_length});
        Matrix<double> held(static_cast<Index>(places.size()) * run_length, 2);
        Labels expected;
        for (std::size_t p = 0; p < places.size(); ++p) {
            held.middleRows(static_cast<Index>(p) * run_length, run_length) =
                whole.middleRows(places[p].begin, run_length);
            for (Index i = places[p].begin; i < places[p].end; ++i) expected.push_back(static_cast<std::int32_t>(i));
        }
        const LocalRows local(held, *communicator, places);
        const Range own = own_rows(grid_of(PointsView(local)), *communicator);
        Matrix<double> found(own.count(), 2);
        local.read(own.begin, own.end, found.data());
        EXPECT_EQ(found, whole.middleRows(own.begin, own.count()));
        Labels numbers(static_cast<std::size_t>(own.count()));
        std::iota(numbers.begin(), numbers.end(), static_cast<std::int32_t>(own.begin));
        EXPECT_EQ(local.to_holders(numbers), expected);
        const auto refused = [&](std::vector<Range> wrong) {
            return test::message_of([&] { LocalRows(held, *communicator, wrong); });
        };
        std::vector<Range> wrong = places;
        wrong[0].begin += 1;
        EXPECT_NE(refused(wrong).find("process 0 holds 70 rows, but its places cover 69"), std::string::npos);
        wrong[0] = {places[0].begin + 1, places[0].end + 1};
        EXPECT_NE(refused(wrong).find("the places leave a gap or overlap between rows"), std::string::npos);
    });
}

TEST(LocalRows, DifferentShapesAreErrorsOnEveryProcess) {
    const Matrix<float> narrow = Matrix<float>::Zero(4, 2), wide = Matrix<float>::Zero(4, 3);
    const Matrix<double> precise = Matrix<double>::Zero(4, 2);
    const std::vector<std::pair<PointsView, std::string>> others = {
        {wide, "points: process 2 holds rows with 3 columns of float32, process 0 with 2 columns of float32"},
        {precise, "points: process 2 holds rows with 2 columns of float64, process 0 with 2 columns of float32"}};
    for (const auto& [other, expected] : others)
        test::on_processes(3, [&](std::shared_ptr<Communicator> communicator) {
            const PointsView held[] = {narrow, PointsView(wide.data(), 0, 3), other};
            EXPECT_EQ(test::message_of([&] { LocalRows(held[communicator->rank()], *communicator); }), expected);
        });
}

}  // namespace
}  // namespace coterie::internal
