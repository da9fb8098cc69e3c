// Parts: each listed part is written, read back and checked.

#include "coterie/model/parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "coterie/base/error.hpp"

namespace coterie {
namespace {

struct Numbers {
    Matrix<double> centroids{{1, 2, 3}, {4, 5, 6}};
    Vector<double> offset = Vector<double>::Ones(3);
    std::vector<std::int32_t> members = {0, 1, 1, 0};
    double width = 2.5;
    Index dimensions = 3;

    void parts(Parts& parts) {
        parts.add("centroids", centroids, "k x d", "the centroid of each cluster");
        parts.add("offset", offset, "d", "what is taken off");
        parts.add("members", members, "n", "the cluster of each point", between(0, 1));
        parts.add("width", width, "of the kernel", above(0));
        parts.add_count("dimensions", dimensions);
    }
};

Archive written(Numbers numbers) {
    Archive out("test");
    Parts writing(&out);
    writing.bind('k', 2);
    numbers.parts(writing);
    return out;
}

// The error that reading gives; "" without an error.
std::string refusal(const Archive& archive, Index k = 2) {
    Numbers read;
    Parts reading(&archive);
    reading.bind('k', k);
    try {
        read.parts(reading);
    } catch (const BadData& error) {
        return error.message();
    }
    return "";
}

TEST(Parts, RoundTrip) {
    Numbers numbers;
    numbers.offset << 7, 8, 9;
    numbers.width = 0.1;
    numbers.dimensions = 12;
    const Archive archive = written(numbers);
    Numbers read;
    read.centroids.resize(0, 0);
    Parts reading(&archive);
    reading.bind('k', 2);
    read.parts(reading);
    EXPECT_EQ(read.centroids, numbers.centroids);
    EXPECT_EQ(read.offset, numbers.offset);
    EXPECT_EQ(read.members, numbers.members);
    EXPECT_EQ(read.width, 0.1);
    EXPECT_EQ(read.dimensions, 12);
    EXPECT_EQ(reading.extent('d'), 3);
    EXPECT_EQ(reading.extent('n'), 4);
    ASSERT_EQ(reading.descriptions().size(), 4u);
    EXPECT_EQ(reading.descriptions()[0].shape, "k x d");
    EXPECT_EQ(reading.descriptions()[1].meaning, "what is taken off");
}

TEST(Parts, RejectsWrongShapesAndValues) {
    EXPECT_EQ(refusal(written({})), "");
    const auto has = [](const std::string& text, const std::string& words) {
        EXPECT_NE(text.find(words), std::string::npos) << text;
    };
    has(refusal(written({}), 3), "centroids");  // k is bound before
    has(refusal(written({.offset = Vector<double>::Ones(4)})), "offset");
    has(refusal(written({.members = {0, 2, 1, 0}})), "part 'members' holds 2; it must be from 0 to 1");
    has(refusal(written({.width = 0})), "part 'width' holds 0; it must be above 0");
    has(refusal(written({.dimensions = 0})), "'dimensions' is '0'");
    has(refusal(written({.centroids = Matrix<double>(2, 0)})), "centroids");
    has(refusal(written({.centroids = Matrix<double>::Constant(2, 3, 1e200)})), "centroids");  // squares overflow
    has(refusal(Archive("test")), "centroids");
}

TEST(Parts, DetectsNonFiniteAndHugeNumbers) {
    Numbers numbers;
    Parts sound = Parts::checking();
    numbers.parts(sound);
    for (const double value : {std::numeric_limits<double>::infinity(), std::nan(""), 1e300}) {
        numbers.centroids(1, 2) = value;
        Parts checking = Parts::checking();
        EXPECT_THROW(numbers.parts(checking), BadData) << value;
    }
    numbers.centroids(1, 2) = 0;
    numbers.offset[0] = std::nan("");
    Parts checking = Parts::checking();
    EXPECT_THROW(numbers.parts(checking), BadData);
}

}  // namespace
}  // namespace coterie
