#pragma once
// ManifoldModel: the common part of the methods of this module. Each point is represented sparsely by the other points,
// the representations become an affinity, and spectral clustering uses the affinity:
//
//     C       n x n   representations; row i is that of point i over the other points
//     A       n x n   affinity, made by one of the 15 strategies (coterie/manifold/affinity.hpp)
//     V, U    n x k V: eigenvectors of the normalised Laplacian of A for the eigenvalues l_1 <= ... <= l_k. U: rows of
//             V, scaled to norm 1; k-means clusters them
//
// The same solver represents a new point y over the n points, with coefficients c. y belongs
//
//     shares      to the cluster with the largest share of |W c| (the lowest if several are equal), or
//     embedding   to the nearest centroid of u(y), the row of norm 1 along
//                 v_m(y) = 1 / (1 - l_m) sum_j |c_j| V_jm / sqrt(D_j)       (Nystroem extension; only the largest |c_j|
//                                                                           if the affinity has K in its name). For a
//                                                                           row of A, this formula returns the row of V
//
// A new point joins the largest cluster if c = 0, or if the embedding reaches none of its neighbours.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coterie/base/memo.hpp"
#include "coterie/manifold/affinity.hpp"
#include "coterie/model/method.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

enum class RowNorms { automatic, unit, none };
enum class NewPoints { shares, embedding };

struct ManifoldOptions {
    int clusters = 8;
    RowNorms normalize = RowNorms::automatic;
    AffinityStrategy affinity = AffinityStrategy::NSK;
    int keep = 3;
    int restarts = 10;
    int max_iterations = 300;
    NewPoints new_points = NewPoints::shares;

    RowNorms norms() const { return normalize == RowNorms::automatic ? RowNorms::unit : normalize; }
    void settle(PointsView) {}
};

/// Representations as a method computes them.
struct Represented {
    SparseMatrix coefficients;
    std::vector<double> weights;  // one per entry; empty: all are 1
    std::vector<std::pair<std::string, Detail>> details;
    std::vector<Message> warnings;
    int rounds = 1;
    bool converged = true;
};

class COTERIE_API ManifoldModel : public Model {
public:
    /// Automatic values are replaced by the values that were used.
    virtual const ManifoldOptions& options() const = 0;
    Index dimensions() const override { return points_.columns(); }
    int clusters() const override { return static_cast<int>(centroids_.rows()); }
    /// Embedding: the rows of U, extended to new points: k numbers with norm 1 or 0.
    OutputSet outputs() const override { return {Output::embedding}; }
    Matrix<double> kept_embedding() const override { return embedding_; }
    /// l_1 <= ... <= l_k of the normalised Laplacian.
    const Vector<double>& eigenvalues() const { return eigenvalues_; }
    /// n x k: U of the training points.
    const Matrix<double>& embedding() const { return embedding_; }

protected:
    ManifoldModel() = default;
    Labels predict_checked(PointsView points, const Run& run) const override;
    Matrix<double> output_checked(Output which, PointsView points, const Run& run) const override;
    /// Represents queries (rows normalised like the points) over the points.
    virtual Represented represent_new(PointsView queries, const Run& run) const = 0;
    /// For a warning: the option that makes a representation use more rows, and its value, for example "`lambda` (20)".
    virtual std::string remedy() const = 0;

    /// Computes affinity, clusters and report from the representations of the points.
    void finish(Points points, const Represented& represented, const Run& run, Stopwatch& watch);
    void parts(Parts& parts) override;
    Matrix<double> extend(const SparseMatrix& coefficients) const;

    Points points_;             // n x d, rows normalised
    Labels members_;            // n: the clusters of the points
    Matrix<double> embedding_;  // n x k
    Matrix<double> extension_;  // n x k: V_jm / sqrt(D_j)
    Matrix<double> centroids_;  // k x k, in the embedding
    Vector<double> eigenvalues_;

    template <class>
    friend class ManifoldFits;
};

namespace internal {

/// Throws BadArgument unless 1 <= clusters <= n and n >= 2.
COTERIE_API void check_manifold(PointsView points, const ManifoldOptions& options, std::string_view method,
                                const Run& run);
/// A copy of the rows. With `unit`, each row has norm 1; a row of 0 does not change.
COTERIE_API Points normalized_rows(PointsView points, bool unit);
/// Adds a warning if the mean of the points is far from 0: more than 3 times their root mean square distance from the
/// mean. Seen from 0, all points then lie in one direction, and only this direction is represented. (This ratio is 0.8
/// to 1.5 for the pixels of USPS, MNIST, digits and COIL-20, and 3.6 for the columns of iris.)
COTERIE_API void warn_of_origin(PointsView points, const Run& run, FitReport& report);

/// Options on which the representations depend: all except those of the affinity and the clustering of its embedding.
COTERIE_API std::vector<std::string> represented_by_options(const OptionSet& set);

}  // namespace internal

/// A model that represents new points as its options say. Apart from their values, the options provide
///
///     method                  the name of the method
///     about_the_origin        whether representations depend on the location of 0
///     norms()                 normalize, with auto replaced by its meaning for the method
///     settle(rows)            replaces automatic values, given the points with normalised rows
///     represent(points, queries, run)
///                             represents the queries over the points; null: each point over the others
///     remedy()                as ManifoldModel::remedy()
template <class Options>
class COTERIE_API ManifoldModelBy : public ManifoldModel {
public:
    const Options& options() const override = 0;

protected:
    Represented represent_new(PointsView queries, const Run& run) const override {
        return options().represent(points_, &queries, run);
    }
    std::string remedy() const override { return options().remedy(); }
};
template <class Options>
using ManifoldModelOf = ModelWith<ManifoldModelBy<Options>, Options>;

/// Several fits of the same points. Each has the bits of a single fit. Consecutive fits share representations if they
/// differ only in affinity and clustering. Safe to call from several threads. Problem and run must outlive this object.
template <class Options>
class ManifoldFits {
public:
    ManifoldFits(const Problem& problem, const Run& run) : input_(problem.points), run_(run) {}

    ManifoldModelOf<Options> fit(const Options& options) const {
        internal::check_manifold(input_, options, Options::method, run_);
        Options used = options;
        used.normalize = options.norms();
        Stopwatch watch;
        const auto rows = rows_(used.normalize, [&] {
            return std::shared_ptr<const Rows>(
                new Rows{internal::normalized_rows(input_, used.normalize == RowNorms::unit)});
        });
        used.settle(rows->points);
        const auto represented = rows->represented(represented_by(used), [&] {
            return std::make_shared<const Represented>(used.represent(rows->points, nullptr, run_));
        });
        ManifoldModelOf<Options> model(used);
        ManifoldModel& all = model;
        all.report_.seconds.emplace_back("representations", watch.restart());
        all.finish(rows->points, *represented, run_, watch);
        if (Options::about_the_origin) internal::warn_of_origin(input_, run_, all.report_);
        return model;
    }
    static std::vector<std::string> shared_options() { return internal::represented_by_options(Options::described()); }

private:
    static OptionValues represented_by(const Options& options) {
        const OptionValues all = Options::described().values(&options);
        OptionValues out;
        for (const std::string& name : shared_options()) out[name] = all.at(name);
        return out;
    }

    struct Rows {
        Points points;  // normalised
        Memo<OptionValues, Represented> represented = {};
    };

    PointsView input_;
    const Run& run_;
    Memo<RowNorms, Rows> rows_;
};

namespace internal {
/// A method of this module: all of it follows from its options.
template <class Options>
struct ManifoldMethod : MethodWith<Options, ManifoldModelOf<Options>> {
    using Fits = ManifoldFits<Options>;
    static constexpr About about = {.compare = {.why_not = "it solves a problem for each row"}};
    static ManifoldModelOf<Options> fit(const Problem& problem, const Options& options, const Run& run) {
        return Fits(problem, run).fit(options);
    }
};
}  // namespace internal

}  // namespace coterie
