#include "coterie/io/graph_reader.hpp"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "coterie/io/formats.hpp"
#include "tests/support/test_support.hpp"

namespace coterie {
namespace {

using test::message_of;

SparseMatrix market(const std::string& text) {
    return formats::parse_matrix_market({std::as_bytes(std::span(text)), nullptr}, "a.mtx");
}
std::string complaint(const std::string& text) {
    return message_of([&] { market(text); });
}

TEST(GraphReader, ReadsMatrixMarket) {
    const SparseMatrix general = market(
        "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 3 4\n3 1 0.5\r\n1 3 0.5\n1 2 1e-3\n2 1 .001");
    Matrix<double> expected(3, 3);
    expected << 0, 0.001, 0.5, 0.001, 0, 0, 0.5, 0, 0;
    EXPECT_EQ(Matrix<double>(general), expected);
    EXPECT_EQ(Matrix<double>(market("%%matrixmarket MATRIX coordinate real symmetric\n3 3 2\n3 1 0.5\n2 1 0.001\n")),
              expected);
    const SparseMatrix pattern = market("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 1\n1 1\n");
    EXPECT_EQ(pattern.coeff(0, 1), 1);
    EXPECT_EQ(pattern.coeff(0, 0), 1);
    EXPECT_EQ(pattern.nonZeros(), 3);
    EXPECT_EQ(market("%%MatrixMarket matrix coordinate integer general\n4 4 0\n").rows(), 4);
}

TEST(GraphReader, RejectsBadMatrixMarket) {
    const std::string real = "%%MatrixMarket matrix coordinate real general\n";
    const std::pair<std::string, const char*> table[] = {
        {"", "is not a Matrix Market file"},
        {"1 2 3\n", "is not a Matrix Market file"},
        {"%%MatrixMarket matrix array real general\n", "line 1: 'array real general' is not supported"},
        {"%%MatrixMarket matrix coordinate complex general\n", "'coordinate complex general'"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", "'coordinate real hermitian'"},
        {real, "ends before the line with the numbers of rows"},
        {real + "3 3\n", "line 2: the line has 2 fields. Give three numbers"},
        {real + "3 4 1\n1 1 1\n", "line 2: the matrix is 3 x 4"},
        {real + "0 0 0\n", "line 2: the number of rows '0' is not accepted"},
        {real + "1.5 1.5 0\n", "line 2: the number of rows '1.5' is not accepted"},
        {real + "99999999999 99999999999 0\n", "line 2: the number of rows '99999999999' is not accepted"},
        {real + "2 2 -1\n", "the number of entries '-1' is not accepted"},
        {real + "2 2 2\n1 2 1\n", "ends after 1 of 2 entries"},
        {real + "2 2 1\n1 2 1\n2 1 1\n", "line 4: there are more entries than the 1 announced"},
        {real + "2 2 1\n1 2\n", "line 3: the line has 2 fields. Give row, column and value"},
        {real + "2 2 1\n0 2 1\n", "line 3: row number '0' is not accepted. Use a whole number from 1 to 2"},
        {real + "2 2 1\n1 3 1\n", "line 3: column number '3' is not accepted"},
        {real + "2 2 1\n1 2 nan\n", "line 3: value 'nan' is not a finite number"},
        {real + "2 2 1\n1 2 1e999\n", "line 3: value '1e999' is not a finite number"},
        {real + "2 2 2\n1 2 1\n1 2 3\n", "line 4: the pair of line 3 is given again"},
        {real + "2000000000 2000000000 0\n", "2000000000 rows for 0 entries"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n", "line 3: the entry is above the diagonal"},
    };
    for (const auto& [text, words] : table) {
        const std::string said = complaint(text);
        EXPECT_NE(said.find(words), std::string::npos) << text << said;
        EXPECT_EQ(said.find("a.mtx"), 0U) << said;
    }
}

TEST(GraphReader, ReadsEdges) {
    Matrix<double> table(4, 3);
    table << 0, 1, 0.5, 2, 1, 3, 1, 2, 3, 4, 4, 0;
    const SparseMatrix graph = formats::graph_of_edges(table, "e.csv");
    Matrix<double> expected = Matrix<double>::Zero(5, 5);
    expected(0, 1) = expected(1, 0) = 0.5;
    expected(1, 2) = expected(2, 1) = 3;
    EXPECT_EQ(Matrix<double>(graph), expected);
    const auto said = [&](Index row, Index column, double value) {
        Matrix<double> bad = table;
        bad(row, column) = value;
        return message_of([&] { formats::graph_of_edges(bad, "e.csv"); });
    };
    EXPECT_NE(said(1, 0, -1).find("e.csv: column 1, row 2: row number '-1' is not accepted"), std::string::npos);
    EXPECT_NE(said(1, 1, 0.5).find("column 2, row 2: row number '0.5'"), std::string::npos);
    EXPECT_NE(said(1, 1, 3e9).find("column 2, row 2: row number"), std::string::npos);
    EXPECT_NE(said(3, 1, 2e9).find("2000000001 rows for"), std::string::npos);
    Matrix<double> twice(2, 3);
    twice << 0, 1, 1, 0, 1, 1;
    EXPECT_NE(message_of([&] { formats::graph_of_edges(twice, "e"); }).find("row 2: the pair of row 1 is given again"),
              std::string::npos);
    EXPECT_NE(message_of([&] { formats::graph_of_edges(Matrix<double>(2, 4), "e"); }).find("has 4 columns"),
              std::string::npos);
    EXPECT_NE(message_of([&] { formats::graph_of_edges(Matrix<double>(0, 3), "e"); }).find("is empty"),
              std::string::npos);
}

TEST(GraphReader, DetectsGraphFiles) {
    const std::string folder = ::testing::TempDir();
    const auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream(folder + name) << text;
        return folder + name;
    };
    EXPECT_TRUE(is_graph("anything.mtx"));
    EXPECT_FALSE(is_graph("data:iris"));
    EXPECT_FALSE(is_graph("points.npy"));
    const auto edges = [&](const std::string& text) {
        const std::string path = write("edges.csv", text);
        return is_edge_list(read_points_file(path).points, path, "edges.csv");
    };
    EXPECT_TRUE(edges("0,1,1\n1,2,1\n0,2,1\n"));
    EXPECT_FALSE(is_edge_list(read_points_file(folder + "edges.csv").points, "edges.npy", "edges.npy"));  // not a text
    EXPECT_FALSE(edges("0,1,1\n1,0,0.5\n1,0.5,0\n"));
    EXPECT_FALSE(edges("0,1,0\n1,0,1\n0,1,0\n"));  // as edges, the first one would occur twice
    EXPECT_FALSE(edges("0,1\n1,0\n"));
    EXPECT_THROW(edges("0,1,2\n1,3,4\n2,4,5\n"), BadData);
    EXPECT_TRUE(edges("a,b,w\n0,1,1\n1,2,0.5\n"));
    const SparseMatrix graph = read_graph(folder + "edges.csv", coterie::Run());
    EXPECT_EQ(graph.rows(), 3);
    EXPECT_EQ(graph.coeff(2, 1), 0.5);
    EXPECT_THROW(read_graph(folder + "nothing.mtx", coterie::Run()), BadData);
    EXPECT_THROW(read_graph("points.npy", coterie::Run()), BadArgument);
}

TEST(SparsePointsReader, MatrixMarketOfAnyShape) {
    const auto read = [](const std::string& text, Precision precision = Precision::automatic, Index rows = -1) {
        return formats::parse_sparse_matrix_market({std::as_bytes(std::span(text)), nullptr}, precision, rows, "p.mtx");
    };
    const std::string head = "%%MatrixMarket matrix coordinate real general\n";
    RowBuffer buffer;
    const Points points = read(head + "% counts\n3 4 4\n3 1 2.5\n1 4 -1\n1 2 7\n3 2 1e2\n");
    const Matrix<double> expected{{0, 7, 0, -1}, {0, 0, 0, 0}, {2.5, 100, 0, 0}};
    EXPECT_TRUE(points.view().block(0, 3, buffer).as<double>().matrix() == expected);
    const Points narrow = read(head + "3 4 2\n3 1 2.5\n1 4 -1\n", Precision::float32, 1);
    EXPECT_EQ(narrow.scalar(), ScalarType::float32);
    EXPECT_EQ(narrow.rows(), 1);
    EXPECT_EQ(narrow.columns(), 4);
    const Points pattern = read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
    EXPECT_TRUE(pattern.view().block(0, 2, buffer).as<double>().matrix() == Matrix<double>({{0, 1}, {1, 0}}));
    const auto refusal = [&](const std::string& text) { return message_of([&] { read(text); }); };
    EXPECT_NE(
        refusal(head + "3 4 1\n4 1 1\n").find("line 3: row number '4' is not accepted. Use a whole number from 1 to 3"),
        std::string::npos);
    EXPECT_NE(refusal(head + "3 4 1\n1 5 1\n").find("line 3: column number '5'"), std::string::npos);
    EXPECT_NE(refusal(head + "3 4 2\n1 1 1\n1 1 2\n").find("line 4: the pair of line 3 is given again"),
              std::string::npos);
    EXPECT_NE(
        refusal("%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n").find("a symmetric matrix is square"),
        std::string::npos);
}

}  // namespace
}  // namespace coterie
