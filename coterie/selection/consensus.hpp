#pragma once
// Combines many partitions into one by evidence accumulation (Fred and Jain, Combining multiple clusterings using
// evidence accumulation, IEEE Transactions on Pattern Analysis and Machine Intelligence 2005). R fits use the methods
// in turn, each on a random part of the rows, and label all rows. The co-association
//
//     c_ij = (fits that put i and j into one cluster) / R
//
// is a similarity. Average linkage on 1 - c_ij is cut at k clusters. If there are too many rows for an n x n matrix,
// the matrix covers a sample S, and the other rows vote: row i goes to the cluster of S with the largest mean
// co-association,
//
//     c_iC = 1/R sum_r |{ j in C: r puts i and j together }| / |C|.
//
// confidence_i = c_iC - max_{D != C} c_iD, with C the row's own cluster (without the row itself, if it is in S). It
// lies between -1 and 1: 1 if all fits keep the cluster together and separate, 0 or less if another cluster is as near.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/prepared_problem.hpp"
#include "coterie/selection/origin.hpp"

namespace coterie {

struct COTERIE_API ConsensusOptions {
    int clusters = 8;
    int fits = 100;
    std::vector<std::string> methods = {"kmeans"};

    static const OptionSet& described();  // clusters, fits
};

struct Consensus : Origin {
    Labels labels;                   // n: 0..k-1, in order of the lowest row; -1 for dropped rows with missing values
    std::vector<double> confidence;  // n; 0 for the dropped rows
    std::vector<Index> sizes;        // k
    std::vector<double> cohesion;    // k: mean c_ij within the cluster, over pairs of S; 1 for a single row
    std::vector<double> confidence_of_cluster;  // k: mean over its rows
    Index sample = 0;                           // |S|; 0: all rows
    Index rows_left_out = 0;                    // dropped for missing values
    Index part = 0;                             // rows that each fit saw
    std::vector<std::string> methods;
    int fits = 0;
    std::vector<Message> warnings;  // of preparation and fits; each once, with the number of fits that gave it
    double seconds = 0;
};

/// S has at most 3000 rows, drawn with the seed. Each fit sees four fifths of S and draws from a child of the run. It
/// uses the defaults of its method, and `clusters` if the method has this option. The same result at any number of
/// threads. Memory: 8 |S|^2 bytes, and one label per row and fit. Throws BadArgument on invalid options, unknown
/// methods, more clusters than rows, and a problem with more than points. Throws what a fit throws. Throws Cancelled if
/// the caller asks to stop.
COTERIE_API Consensus consensus(const Problem& problem, const ConsensusOptions& options, const Settings& settings = {},
                                const Run& run = Run());

/// Average linkage (UPGMA; Sokal and Michener 1958) of n x n symmetric distances, until `clusters` are left. Labels are
/// 0..clusters-1, in order of the lowest row. Of equal distances, that of the lowest rows is merged first. n^2 to n^3
/// operations; works in the passed matrix. Throws BadArgument unless the matrix is square and 1 <= clusters <= n.
COTERIE_API Labels average_linkage(Matrix<double> distances, int clusters);

}  // namespace coterie
