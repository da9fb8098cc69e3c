#pragma once
// The space in which the methods of this module work: the points relative to an origin or, in the kernel form, their
// kernel principal components (which have mean 0). A PointSpace also maps new points. This header also has the checks
// that all fits of this module share, and k-means in a space.

#include <memory>
#include <optional>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/function_ref.hpp"
#include "coterie/base/memo.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/deformation/kernel_pca.hpp"
#include "coterie/kmeans/kmeans.hpp"

namespace coterie {

enum class SpaceKernel { none, rbf };

/// The options that all methods of this module share.
struct SpaceOptions {
    SpaceKernel kernel = SpaceKernel::none;
    std::optional<double> kernel_width = {};  // automatic: r
    std::optional<int> components = {};       // number of kernel PCA components; automatic: all
    std::optional<int> landmarks = {};  // for Gaussian kernel matrices; automatic: none up to 20,000 points, 1000 above

    /// The number of landmarks for n points; 0: none.
    Index landmarks_for(Index n) const { return landmarks.value_or(n > 20000 ? 1000 : 0); }
    bool operator==(const SpaceOptions&) const = default;
};

/// Adds these options to a method's description.
template <class Options>
OptionSetFor<Options>& describe_space(OptionSetFor<Options>& set) {
    return set
        .template choice<SpaceKernel>("kernel", &Options::kernel, {"none", "rbf"},
                                      "cluster the rows themselves (none), or their principal components in the "
                                      "feature space of a Gaussian kernel (rbf)")
        .real("kernel_width", &Options::kernel_width, above(0),
              "width w of the Gaussian kernel exp(-||x - y||^2 / (2 w^2))",
              "r, the root mean square distance of the rows from their mean")
        .template integer<int>("components", &Options::components, at_least(1), "number of components of kernel PCA",
                               "all")
        .template integer<int>("landmarks", &Options::landmarks, at_least(1),
                               "number of rows that approximate the Gaussian kernel matrices (Nystroem method); the "
                               "matrices then have n times this many numbers instead of n^2",
                               "no approximation up to 20,000 rows, 1000 above");
}

class COTERIE_API PointSpace {
public:
    enum class Origin { mean, zero };

    PointSpace() = default;
    /// The space of n x d points. An automatic kernel_width is replaced by r = sqrt(mean || x_i - mean ||^2). Throws
    /// BadData with the method's name if all points are equal, BadArgument if the kernel_width makes all kernel values
    /// equal, and ResourceError (kernel form, memory of the order n^2).
    PointSpace(PointsView points, SpaceOptions& options, Origin origin, std::string_view method, const Run& run);

    /// d: columns of the input.
    Index input_dimensions() const { return kernel_pca_ ? kernel_pca_->dimensions() : origin_.size(); }
    /// p: d, or the number of kernel components.
    Index dimensions() const { return kernel_pca_ ? kernel_pca_->components() : origin_.size(); }
    /// n x p: the points from which the space was made.
    Matrix<double> fitted(PointsView points) const { return kernel_pca_ ? kernel_pca_->scores() : shifted(points); }
    /// m x p: new points (m x d).
    Matrix<double> transform(PointsView points, const Run& run) const {
        return kernel_pca_ ? kernel_pca_->transform(points, run) : shifted(points);
    }

    /// Adds the p columns of the space; in the kernel form also what maps d columns of points to them.
    void parts(Parts& parts, SpaceKernel kernel);

private:
    Matrix<double> shifted(PointsView points) const;

    std::optional<KernelPca> kernel_pca_;
    Vector<double> origin_;  // p; 0 in the kernel form
};

namespace internal {

/// The points in a space, and the k-means from which fits start.
struct FittedSpace {
    std::shared_ptr<const PointSpace> space;
    std::shared_ptr<const Matrix<double>> points;  // n x p
    SpaceOptions options;                          // kernel_width is the value that was used
    struct StartOptions {
        int clusters, restarts;
        bool operator==(const StartOptions&) const = default;
    };
    Memo<StartOptions, KMeansModel> start = {};

    /// Adds "kernel_width" and "components" of the kernel form to a report's details.
    void report_to(FitReport& report) const;
};

/// Shared work of fits of one method to the same points: the last space and its k-means start. Safe to use from several
/// threads. The problem and the run must outlive this object.
class COTERIE_API SpaceFits {
public:
    SpaceFits(std::string_view method, const Problem& problem, const Run& run)
        : method_(method), points_(problem.points), run_(run), problem_(problem) {}

    /// Checks the problem (initial centroids are k x d) and returns the space for these options. Replaces an automatic
    /// kernel_width. Adds the seconds of kernel PCA to the report. Throws BadArgument and BadData for wrong shapes and
    /// values.
    std::shared_ptr<const FittedSpace> enter(SpaceOptions& options, int clusters, PointSpace::Origin origin,
                                             FitReport& report, Stopwatch& watch) const;
    /// k-means in the space with restarts, or from given_start.
    std::shared_ptr<const KMeansModel> start(const FittedSpace& in, int clusters, int restarts) const;
    /// Starting centroids from the initial centroids. Each is the mean, in `rows` (n x any), of the points that are
    /// nearest to an initial centroid in the input space. The kernel forms therefore start from the same clusters.
    /// `place` maps rows of the space to the space of `rows`. Empty without initial centroids.
    Matrix<double> given_start(const FittedSpace& in, const Matrix<double>& rows,
                               FunctionRef<Matrix<double>(const Matrix<double>&)> place) const;

    /// Options whose change discards shared work, the most expensive first.
    static std::vector<std::string> shared_options() {
        return {"kernel", "kernel_width", "components", "landmarks", "origin", "clusters", "restarts"};
    }

    PointsView input() const { return points_; }
    const Run& run() const { return run_; }

private:
    std::string_view method_;
    PointsView points_;
    const Run& run_;
    const Problem& problem_;
    struct Asked {
        SpaceOptions options;
        PointSpace::Origin origin;
        bool operator==(const Asked&) const = default;
    };
    Memo<Asked, FittedSpace> space_;
};

/// k-means on rows of a space, from several starts, or from `start` if it is neither null nor empty.
COTERIE_API KMeansModel cluster(const Matrix<double>& rows, int clusters, int restarts, const Run& run,
                                const Matrix<double>* start = nullptr);

}  // namespace internal

}  // namespace coterie
