#pragma once
// One partition from many: evidence accumulation (Fred and Jain, Combining multiple clusterings using evidence
// accumulation, IEEE Transactions on Pattern Analysis and Machine Intelligence 2005). R fits, each of a random part of
// the rows and of the methods in turn, label all rows; the co-association
//
//     c_ij = (fits that put i and j into one cluster) / R
//
// counts as a similarity, and average linkage on 1 - c_ij is cut at k clusters. Of more rows than can be held n x n the
// matrix is of a sample S, and the other rows vote: row i goes to the cluster of S with the largest mean
// co-association,
//
//     c_iC = 1/R sum_r |{ j in C: r puts i and j together }| / |C|.
//
// confidence_i = c_iC - max_{D != C} c_iD, with C the row's own cluster (less the row itself, where it is of S): from
// -1 to 1; 1 where all fits keep the cluster together and apart, 0 or less where another cluster is as near.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/preparation.hpp"
#include "coterie/selection/origin.hpp"

namespace coterie {

struct COTERIE_API ConsensusOptions {
    int clusters = 8;
    int fits = 100;
    std::vector<std::string> methods = {"kmeans"};
    PreparationOptions preparation = {};
    ColumnOptions columns = {};

    static const OptionSet& described();  // clusters, fits
};

struct Consensus : Origin {
    Labels labels;                   // n: 0..k-1 by the lowest row, -1 for rows that miss a value and were dropped
    std::vector<double> confidence;  // n; 0 for those rows
    std::vector<Index> sizes;        // k
    std::vector<double> cohesion;    // k: mean c_ij within the cluster, over pairs of S; 1 of a single row
    std::vector<double> confidence_of_cluster;  // k: mean over its rows
    Index sample = 0;                           // |S| where it is not all rows; else 0
    Index rows_left_out = 0;                    // for missing values
    Index part = 0;                             // rows that each fit saw
    std::vector<std::string> methods;
    int fits = 0;
    std::vector<std::string> warnings;  // of the preparation, and of fits: the same one once, with how many gave it
    double seconds = 0;
};

/// Each fit sees four fifths of S, at most 3000 rows drawn by the seed, with the defaults of its method but for
/// `clusters`, where the method has it, and draws from a child of the run. The same result at any number of threads.
/// Memory: 8 |S|^2 bytes, and a label per row and fit. BadArgument: options, methods that are not known, more
/// clusters than rows, a problem with anything beside points; what a fit throws. Cancelled when the caller asks to
/// stop.
COTERIE_API Consensus consensus(const Problem& problem, const ConsensusOptions& options, const Run& run);

/// Average linkage (UPGMA; Sokal and Michener 1958) of n x n distances, symmetric, until `clusters` are left: labels
/// 0..clusters-1 by the lowest row. Of equal distances that of the lowest rows is merged first. The matrix is used up.
/// n^2 to n^3 operations. BadArgument unless square and 1 <= clusters <= n.
COTERIE_API Labels average_linkage(Matrix<double> distances, int clusters);

}  // namespace coterie
