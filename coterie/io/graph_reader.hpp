#pragma once
// Graphs from files: sparse square matrices of affinities, an entry a pair of points.
//
//   .npz         what SciPy's save_npz writes: csr, csc or coo
//   .mtx         Matrix Market, coordinate, of real, integer or pattern, general or symmetric; may be .gz; numbered
//                from 1, as the format is
//   .csv .tsv .txt .dat .data   lines of two point numbers and a weight, numbered from 0; may be .gz, a header may
//                come first; "-" is standard input. A pair stands for both directions and need be given once; there are
//                as many points as the largest number says (a line "99,99,0" makes them 100)
//
// No entry may come twice. Weights must be finite; whether they may be negative, and whether both directions must
// agree, is left to who uses the graph. Every error names the file, the line or entry, and what is accepted.

#include <string>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse.hpp"

namespace coterie {

/// Whether the file can only be a graph: by its name, or the arrays in an .npz.
COTERIE_API bool is_graph(const std::string& path);
/// Whether the table that a text file holds is one of edges: it has three columns and is not a symmetric matrix of
/// three rows. BadData, naming `source`, where it is that and can be read as edges as well.
COTERIE_API bool is_edge_list(PointsView table, const std::string& path, std::string_view source);

/// BadData (content), BadArgument (extension), ResourceError.
COTERIE_API SparseMatrix read_graph(const std::string& path, const Run& run);

namespace formats {
struct Bytes;
COTERIE_API SparseMatrix parse_matrix_market(const Bytes& bytes, std::string_view source);
COTERIE_API SparseMatrix parse_sparse_npz(const Bytes& bytes, std::string_view source);
/// Of the rows of a table of three columns, as of the lines of a text file. BadData that names `source`.
COTERIE_API SparseMatrix graph_of_edges(PointsView table, std::string_view source);
}  // namespace formats

}  // namespace coterie
