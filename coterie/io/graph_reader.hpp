#pragma once
// Graphs from files: sparse square matrices of affinities, one entry per pair of points.
//
//   .npz         written by SciPy's save_npz: csr, csc or coo
//   .mtx         Matrix Market, coordinate; real, integer or pattern; general or symmetric; may be .gz; numbered
//                from 1, as the format requires
//   .csv .tsv .txt .dat .data   lines of two point numbers and a weight, numbered from 0; may be .gz; a header may
//                come first; "-" is standard input. A pair counts for both directions and may be given once; the
//                largest number gives the number of points (a line "99,99,0" makes them 100)
//
// No entry may occur twice. Weights must be finite. The code that uses the graph decides whether weights may be
// negative or differ by direction. Every error names the file, the line or entry, and what is accepted.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

/// Whether the file can only be a graph, judging by its name or by the arrays in an .npz.
COTERIE_API bool is_graph(const std::string& path);
/// Whether the table of a text file lists edges: it has three columns and is not a symmetric matrix of three rows.
/// Throws BadData that names `source` if the table can be read both as such a matrix and as edges.
COTERIE_API bool is_edge_list(PointsView table, const std::string& path, std::string_view source);

/// Throws BadData (content), BadArgument (extension), ResourceError (memory).
COTERIE_API SparseMatrix read_graph(const std::string& path, const Run& run);

namespace formats {
/// The graph of a table with three columns, one edge per row, as in a text file. Throws BadData that names `source`.
COTERIE_API SparseMatrix graph_of_edges(PointsView table, std::string_view source);
}  // namespace formats

}  // namespace coterie
