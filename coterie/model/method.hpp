#pragma once
// What a method says about itself, where it lives, and the one way into its fit.
//
//   struct KMeansMethod {
//       using Options = KMeansOptions;                                      // described(): base/options.hpp
//       using Model = KMeansModel;
//       static constexpr std::string_view name = "kmeans", summary = "...";
//       static constexpr Takes takes = {.weights = true};                   // what of a Problem it uses
//       static Model fit(const Problem&, const Options&, const Run&);
//   };
//   inline constexpr Fit<KMeansMethod> fit_kmeans{};                        // what callers call
//
// A method whose fits of one problem share work names a class Fits as well, with a constructor (const Problem&, const
// Run&), fit(const Options&) const and shared_options(); the problem and the run must outlive it. Several threads call
// fit at once: what fits share is computed once and then only read (base/memo.hpp).

#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// Shares of labels (Problem::label_shares) that a method takes.
enum class Shares { none, number, interval };

/// The parts of a Problem that a method uses beside its points, and of a Run; the others it refuses by name.
struct Takes {
    bool blocks = false;  // points that are read in blocks, and a share of them in each of several processes
    bool sparse = false;  // sparse points (base/sparse_points.hpp), without their zeros
    bool graph = false;
    bool weights = false;
    bool initial_centroids = false;
    bool labels = false;  // partial labels, with clusters per label
    Shares shares = Shares::none;
    bool sizes = false;
    bool pairs = false;       // must-links and cannot-links
    bool device = false;      // Run::device
    bool checkpoint = false;  // Run::checkpoint
};

namespace internal {
/// Those whose Takes::sparse is true, for the message of the others, which do not know the list of methods.
inline constexpr std::string_view takers_of_sparse_points = "kmeans, soft-kmeans and spherical-kmeans";

/// BadArgument naming the method and the first part of the problem, or of the run, that it does not take.
COTERIE_API void admit(std::string_view method, const Takes& takes, const Problem& problem, const Run& run);
/// BadData on every process where the processes of the run fit another method, with other options or other data.
COTERIE_API void require_same_fit(std::string_view method, const OptionValues& options, const Problem& problem,
                                  const Run& run);
/// The same of a run alone: to predict.
COTERIE_API void admit(std::string_view method, const Takes& takes, const Run& run);
/// The problem with its points in memory. ResourceError, naming the method, where they do not fit.
COTERIE_API Problem in_memory(std::string_view method, const Problem& problem, const Run& run);
}  // namespace internal

/// The fit of a method: checks what every fit checks, then fits. Options are checked in the fit where they belong
/// together, and by their ranges here.
template <class Method>
struct Fit {
    using Options = typename Method::Options;
    using Model = typename Method::Model;

    Model operator()(const Problem& problem, const Options& options = {}, const Run& run = Run()) const {
        internal::require_same_fit(Method::name, Options::described().values(&options), problem, run);
        check_options(options);
        internal::admit(Method::name, Method::takes, problem, run);
        if (problem.points.resident() || Method::takes.blocks) return Method::fit(problem, options, run);
        return Method::fit(internal::in_memory(Method::name, problem, run), options, run);
    }
    /// Where nothing but the points is known. They are borrowed for the fit.
    Model operator()(PointsView points, const Options& options = {}, const Run& run = Run()) const {
        return (*this)(Problem{.points = Points::borrow(points)}, options, run);
    }
};

}  // namespace coterie
