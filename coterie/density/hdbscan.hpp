#pragma once
// HDBSCAN* (Campello, Moulavi and Sander 2013; Campello, Moulavi, Zimek and Sander 2015). Rows within a distance are
// connected. As this distance shrinks, clusters are the sets of rows that stay connected longest. Rows in no cluster
// are noise, label -1. The method finds the number of clusters.
//
//     c_i               core distance: || x_i - x_j || for the s-th nearest other row x_j
//     m_ij              mutual reachability distance: max(c_i, c_j, || x_i - x_j ||)
//     condensed tree    from the minimum spanning tree under m: clusters that split into two of at least l rows each as
//                       the distance shrinks, and the rows that leave them (density/internal/condensed_tree.hpp)
//     b_q, d_i          distance at which cluster q was born, and at which row i left the last cluster it was in
//     excess of mass    S_q = sum_{i in q} (1 / d_iq - 1 / b_q), d_iq the distance at which row i left q, alone or in a
//                       child cluster; the selected clusters are disjoint and have the largest sum of S
//     probability       of row i in its cluster q: min(1, e_q / d_i), e_q the least distance at which a row or a child
//                       cluster left q
//     GLOSH             outlier score of row i: 1 - e / d_i, e the least e_q of the last cluster that i was in and of
//                       all clusters below it in the tree
//
// Distances are Euclidean. For rows of norm 1 (`scale unit`) they have the same order as cosine distances. For a new
// row y, x_j is the row with the least m_yj among the 2 s nearest training rows. y joins the clusters of x_j that were
// born above m_yj. A row equal to a training row gets the values of that row.

#include <memory>
#include <optional>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/kmeans/centroid_model.hpp"
#include "coterie/model/method.hpp"

namespace coterie {

namespace density::internal {
class RowTree;
}  // namespace density::internal

enum class ClusterSelection { excess_of_mass, leaf };

struct COTERIE_API HdbscanOptions {
    int min_cluster_size = 5;             // l
    std::optional<int> min_samples = {};  // s; automatic: l
    ClusterSelection cluster_selection_method = ClusterSelection::excess_of_mass;
    double cluster_selection_epsilon = 0;
    bool allow_single_cluster = false;

    static const OptionSet& described();
};

class COTERIE_API HdbscanModel : public ModelOf<HdbscanOptions> {
public:
    std::string_view method() const override { return "hdbscan"; }
    Index dimensions() const override { return points_.columns(); }
    /// k, the number of clusters found; 0 if all rows are noise.
    int clusters() const override { return clusters_; }
    /// Memberships (Campello et al. 2015; McInnes, Healy and Astels 2017) of a row y that left its last cluster p at
    /// distance d. They are proportional to 1 / (distance to the cluster's nearest exemplar) times exp(exp(-h / e_p)),
    /// where h is the distance at which y and the cluster separate. Their sum is min(e_q, d) / h, the probability that
    /// y is in any cluster; q is the cluster with the least h. Exemplars are the rows that are the last to leave a
    /// cluster that does not split. Not available if no cluster was found.
    /// Outlier score: GLOSH.
    OutputSet outputs() const override {
        return clusters_ > 0 ? OutputSet{Output::memberships, Output::outlier_score} : OutputSet{Output::outlier_score};
    }

    /// n, in 0..1: the probability of each training row in its cluster; 0 for noise.
    const std::vector<double>& probabilities() const { return probabilities_; }
    /// n, in 0..1: GLOSH.
    const std::vector<double>& outlier_scores() const { return outlier_scores_; }
    /// n: c_i.
    const std::vector<double>& core_distances() const { return core_distances_; }

    static HdbscanModel from(const Archive& archive);

protected:
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    void parts(Parts& parts) override;

private:
    friend struct HdbscanMethod;
    // The place of a row in the tree: the last cluster it is in, and the distance at which it leaves it.
    struct Place {
        std::int32_t cluster = 0;
        double distance = 0;
        Index row = -1;  // an equal training row, or -1
    };
    std::vector<Place> places_of(PointsView points, const Run& run) const;
    void memberships_of(const double* x, const Place& place, double* to) const;
    // Computes everything that follows from the tree and the options.
    void derive(const Run& run);

    Points points_;                          // n x d
    std::vector<double> core_distances_;     // n
    std::vector<std::int32_t> row_cluster_;  // n, in 0..c-1: clusters of the condensed tree
    std::vector<double> row_distance_;       // n: d_i
    std::vector<std::int32_t> parent_;       // c; -1 for the first cluster, which holds all rows
    std::vector<double> birth_;              // c: b_q; 0 for the first
    std::vector<double> probabilities_;      // n
    std::vector<double> outlier_scores_;     // n

    int clusters_ = 0;
    Labels row_labels_;                          // n
    std::vector<std::int32_t> label_;            // c: the selected cluster that equals or contains it, or -1
    std::vector<std::int32_t> selected_;         // k: the tree's cluster for each found cluster
    std::vector<double> least_, least_below_;    // c
    std::vector<std::vector<Index>> exemplars_;  // k: training rows
    double root_stays_ = 0;                      // if the first cluster is selected: rows that leave it above
                                                 // this distance are noise
    std::shared_ptr<const density::internal::RowTree> rows_;  // if the number of columns is small enough to gain time
};

/// n x d points, n >= 1. Time: n^2 d / 2 above 12 columns, otherwise far less. Memory: at most n (24 + 12 s + 4 d)
/// numbers of 8 bytes; throws ResourceError before it starts if they exceed the memory limit.
/// Equal rows always share a cluster. Clusters are numbered by their lowest row. Weights are not supported, because the
/// density is a number of rows. If no cluster is found, the result has a warning. The objective is the length of the
/// spanning tree, the sum of m_ij over its edges.
/// Throws BadArgument (options), BadData (values), ResourceError, Cancelled.
struct COTERIE_API HdbscanMethod {
    using Options = HdbscanOptions;
    using Model = HdbscanModel;
    static constexpr std::string_view name = "hdbscan";
    static constexpr std::string_view summary =
        "HDBSCAN*: clusters of any density, and noise; it finds the number of clusters";
    static constexpr Takes takes = {};
    static constexpr About about = {.compare = {.most_rows = 50000}, .python = "HDBSCAN"};
    static Model fit(const Problem& problem, const Options& options, const Run& run);
};
inline constexpr Fit<HdbscanMethod> fit_hdbscan{};

}  // namespace coterie
