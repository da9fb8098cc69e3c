#pragma once
// How far a row lies from its cluster, for every method without its own outlier score:
//
//   score(x) = |u(x) - m_j| / s_j,   j the cluster of x in the model
//
//   u(x)  p numbers: the row in the space in which the method sees it (Output::embedding) or, if there is no such
//         space, the prepared row; for training data, the embedding that the fit found, if the model keeps it
//   m_j   p numbers: the mean of u over the training data in cluster j; of all training data if the cluster is empty
//   s_j   above 0: the root mean square of |u(x_i) - m_j| over the cluster's rows. If all of these are equal: that of
//         |u(x_i) - m_(cluster of i)| over all rows; if this is 0, too: that of |u(x_i) - mean of all|; otherwise 1
//
// A usual score is 1; the middle of a cluster has 0. The unit of the columns does not matter. A row of weight w counts
// as w copies. For a fit on a sample, the rows are those of the sample.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/matrix.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

class COTERIE_API OutlierScores {
public:
    /// No scores.
    OutlierScores() = default;

    /// Learns from the prepared rows of a model's fit. weights: of all rows, or empty; labels are the model's, of this
    /// process's rows. Makes one pass over the rows. The same bits for any number of threads and processes, and for
    /// rows in memory or read in blocks. Memory: k p numbers per thread, and the embedding of a block.
    static OutlierScores fit(const Model& model, const Points& points, std::span<const double> weights, const Run& run);

    bool empty() const { return spreads_.empty(); }
    /// Whether scores use the model's embedding.
    bool of_embedding() const { return of_embedding_; }
    /// k x p: m_j.
    const Matrix<double>& centroids() const { return centroids_; }
    /// k: s_j.
    const std::vector<double>& spreads() const { return spreads_; }

    /// Scores of rows (u) that are resident or sparse, given their clusters. Infinite if squares overflow.
    std::vector<double> of(PointsView rows, std::span<const std::int32_t> clusters) const;

    /// Describes the parts; the model's k must be bound.
    void parts(Parts& parts, const Model& model);

private:
    void learn(const std::vector<double>& weight, const Matrix<double>& sum, const std::vector<double>& squares,
               const std::vector<double>& origin);
    void set_norms();

    Matrix<double> centroids_;     // k x p
    std::vector<double> spreads_;  // k
    std::vector<double> norms_;    // k: |m_j|^2
    bool of_embedding_ = false;
};

/// The least of the numbers that at most `beyond` numbers of all processes exceed, which is the (beyond + 1)-th
/// largest. Numbers must be at least 0, and 0 <= beyond < their count.
COTERIE_API double threshold_beyond(std::span<const double> own, Index beyond, const Run& run);

}  // namespace coterie
