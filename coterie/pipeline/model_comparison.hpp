#pragma once
// Two partitions of the same rows side by side: which rows moved.
//
// Clusters of the two are matched one to one so that as many rows as possible are in matched clusters (linear
// assignment, as for ACC in metrics.hpp); a row has moved where its clusters are not matched.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

struct ModelComparison {
    /// Rows that went from a cluster of the other partition to one of this that is not its match.
    struct Move {
        std::string from;         // of the other one
        std::string to;           // of this one
        Index rows = 0;           // how many
        std::vector<Index> some;  // the first three, counted from 0
    };
    std::string model;               // where the other model is from
    std::string method;              // of the other model
    Labels labels;                   // the other's, n; -1: it has none for the row
    std::vector<std::string> names;  // of its clusters
    std::vector<bool> has_moved;     // n
    Agreement agreement;             // classes are the clusters of the other
    Index moved = 0;                 // rows
    std::vector<Move> moves;         // the most rows first
};

/// `labels` and `other`: n clusters of the same rows, -1 for noise, which is matched with noise alone, and -2 for rows
/// that a model leaves out; `clusters` and `other_clusters`: their names. BadData where no row has both.
COTERIE_API ModelComparison compare_partitions(const Labels& labels, const std::vector<std::string>& clusters,
                                               const Labels& other, const std::vector<std::string>& other_clusters);

/// Of two models, in one process. `row_labels`: this model's of `rows` (Description::row_labels); `theirs`: the same
/// rows as the other model takes them.
COTERIE_API ModelComparison compare_models(const Pipeline& pipeline, const PreparedRows& rows, const Labels& row_labels,
                                           const Pipeline& other, const PreparedRows& theirs, const Run& run);

}  // namespace coterie
