#pragma once
// Compares two partitions of the same rows and finds the rows that moved.
//
// Clusters are matched one to one so that as many rows as possible are in matched clusters (linear assignment, as for
// ACC in metrics.hpp). A row has moved if its two clusters are not matched.

#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/points.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/pipeline.hpp"

namespace coterie {

struct ModelComparison {
    /// Rows that moved from one cluster of the other partition to a cluster of this one that does not match it.
    struct Move {
        std::string from;         // cluster of the other partition
        std::string to;           // cluster of this partition
        Index rows = 0;           // number of rows
        std::vector<Index> some;  // the first three, counted from 0
    };
    std::string model;               // source of the other model
    std::string method;              // of the other model
    Labels labels;                   // n labels of the other model; -1: noise or left out
    std::vector<std::string> names;  // of the other model's clusters
    std::vector<bool> has_moved;     // n
    Agreement agreement;             // its classes are the clusters of the other model
    Index moved = 0;                 // number of rows
    std::vector<Move> moves;         // most rows first
};

/// `labels` and `other`: n clusters of the same rows. -1: noise, which matches only noise; -2: a row that a model
/// leaves out. `clusters` and `other_clusters`: the names of the clusters. Throws BadData if no row has both labels.
COTERIE_API ModelComparison compare_partitions(const Labels& labels, const std::vector<std::string>& clusters,
                                               const Labels& other, const std::vector<std::string>& other_clusters);

/// Compares two models, in one process. `row_labels`: this model's labels of `rows` (Description::row_labels).
/// `theirs`: the same rows, prepared for the other model.
COTERIE_API ModelComparison compare_models(const Pipeline& pipeline, const PreparedRows& rows, const Labels& row_labels,
                                           const Pipeline& other, const PreparedRows& theirs, const Run& run);

}  // namespace coterie
