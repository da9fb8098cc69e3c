#include "coterie/pipeline/preparation.hpp"

#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "coterie/base/random.hpp"

namespace coterie {
namespace {

Points random_points(Index rows, Index columns, std::uint64_t seed = 1) {
    RandomStream random(seed, "preprocess_test");
    Matrix<double> matrix(rows, columns);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j)
            matrix(i, j) = random.normal() * static_cast<double>(j + 1) + static_cast<double>(10 * j);
    return Points(std::move(matrix));
}

Points by_hand() {
    Matrix<double> matrix(4, 3);
    matrix << 0, 10, 7,  //
        2, 20, 7,        //
        4, 30, 7,        //
        6, 60, 7;
    return Points(std::move(matrix));
}

TEST(Preprocess, NoneSharesTheStorage) {
    const Points points = by_hand();
    const auto none = Preparation::fit(points, {}, coterie::Run());
    EXPECT_TRUE(none.identity());
    EXPECT_EQ(none.apply(points, coterie::Run()).view().data(), points.view().data());
    EXPECT_EQ(none.text(), "none");
}

TEST(Preprocess, CenterSubtractsTheMean) {
    const Points points = by_hand();
    const auto center = Preparation::fit(points, {.center = true}, coterie::Run());
    const Points out = center.apply(points, coterie::Run());
    EXPECT_EQ(out.view().at(0, 0), -3);
    EXPECT_EQ(out.view().at(3, 1), 30);
    EXPECT_EQ(out.view().at(2, 2), 0);
    EXPECT_TRUE(center.warnings().empty());
}

TEST(Preprocess, MinmaxMapsToTheUnitIntervalAndNamesConstantColumns) {
    const Points points = by_hand();
    const auto minmax = Preparation::fit(points, {.scale = Scale::minmax}, coterie::Run());
    const Points out = minmax.apply(points, coterie::Run());
    EXPECT_DOUBLE_EQ(out.view().at(0, 0), 0);
    EXPECT_DOUBLE_EQ(out.view().at(3, 0), 1);
    EXPECT_DOUBLE_EQ(out.view().at(1, 1), 0.2);
    EXPECT_DOUBLE_EQ(out.view().at(1, 2), 0);
    ASSERT_EQ(minmax.warnings().size(), 1u);
    EXPECT_EQ(minmax.warnings()[0].text(),
              "column 3 has the same value in every row, so scaling only shifts it. Use exclude to leave columns out.");
}

TEST(Preprocess, ZscoreHasMeanZeroAndVarianceOne) {
    const Points points = random_points(10'000, 5);
    const Points out = Preparation::fit(points, {.scale = Scale::zscore}, coterie::Run()).apply(points, coterie::Run());
    for (Index j = 0; j < 5; ++j) {
        const auto column = out.view().as<double>().matrix().col(j);
        EXPECT_NEAR(column.mean(), 0, 1e-12);
        EXPECT_NEAR(column.squaredNorm() / 10'000, 1, 1e-12);
    }
}

TEST(Preprocess, UnitRowsHaveNormOneAndZeroRowsStay) {
    Matrix<float> matrix(4, 2);
    matrix << 3, 4, 0, 0, 1e30f, 1e30f, 1e-30f, 0;
    Index zero_rows = -1;
    const Points points(matrix);
    const Points out =
        Preparation::fit(points, {.scale = Scale::unit}, coterie::Run()).apply(points, coterie::Run(), &zero_rows);
    EXPECT_EQ(zero_rows, 1);
    EXPECT_EQ(out.scalar(), ScalarType::float32);
    EXPECT_FLOAT_EQ(static_cast<float>(out.view().at(0, 0)), 0.6f);
    EXPECT_EQ(out.view().at(1, 0), 0);
    EXPECT_FLOAT_EQ(static_cast<float>(out.view().at(2, 1)), std::sqrt(0.5f));
    EXPECT_EQ(out.view().at(3, 0), 1);
}

TEST(Preprocess, WeightsActAsCopies) {
    Matrix<double> twice(5, 1);
    twice << 1, 2, 2, 2, 9;
    Matrix<double> once(4, 1);
    once << 1, 2, 9, 1000;
    const std::vector<double> weights = {1, 3, 1, 0};
    for (const auto scale : {Scale::none, Scale::minmax, Scale::zscore}) {
        const PreparationOptions options{.center = true, .scale = scale};
        const auto copies = Preparation::fit(Points(twice), options, coterie::Run());
        const auto weighted = Preparation::fit(Points(once), options, coterie::Run(), weights);
        EXPECT_DOUBLE_EQ(copies.offset()[0], weighted.offset()[0]);
        EXPECT_DOUBLE_EQ(copies.factor()[0], weighted.factor()[0]);
    }
    EXPECT_THROW(Preparation::fit(Points(twice), {.center = true}, coterie::Run(), weights), BadArgument);
}

TEST(Preprocess, SameBitsAtAnyNumberOfThreads) {
    const Points points = random_points(20'000, 7);
    const PreparationOptions options{.scale = Scale::zscore};
    const auto one = Preparation::fit(points, options, coterie::Run(0, 1));
    for (const int threads : {2, 8}) {
        const auto many = Preparation::fit(points, options, coterie::Run(0, threads));
        EXPECT_EQ(std::memcmp(one.offset().data(), many.offset().data(), 7 * sizeof(double)), 0);
        EXPECT_EQ(std::memcmp(one.factor().data(), many.factor().data(), 7 * sizeof(double)), 0);
    }
}

TEST(Preprocess, RejectsWrongColumnsAndOverflow) {
    const auto center = Preparation::fit(by_hand(), {.center = true}, coterie::Run());
    EXPECT_THROW(center.apply(random_points(2, 2), coterie::Run()), BadArgument);
    Matrix<double> huge(2, 1);
    huge << 1e308, -1e308;
    EXPECT_THROW(Preparation::fit(Points(huge), {.scale = Scale::minmax}, coterie::Run()), BadData);
    EXPECT_THROW(Preparation::fit(Points(Matrix<double>(huge * 1e-100)), {.scale = Scale::zscore}, coterie::Run()),
                 BadData);
}

TEST(Preprocess, ArchiveRoundTrip) {
    const Points points = by_hand();
    for (const bool center : {false, true}) {
        for (const auto scale : {Scale::none, Scale::minmax, Scale::zscore, Scale::unit}) {
            const auto before = Preparation::fit(points, {center, scale}, coterie::Run());
            Archive archive("kmeans");
            before.store(archive);
            const auto after = Preparation::from(archive);
            EXPECT_EQ(after.text(), before.text());
            EXPECT_EQ(after.offset(), before.offset());
            EXPECT_EQ(after.factor(), before.factor());
        }
    }
    Archive unknown("kmeans");
    unknown.set_text("preprocess", "scale sideways");
    EXPECT_THROW(Preparation::from(unknown), BadData);
}

}  // namespace
}  // namespace coterie
