#pragma once
// How the module of a method describes the method, and how its fit is called.
//
//   struct KMeansMethod {
//       using Options = KMeansOptions;                                      // described(): base/options.hpp
//       using Model = KMeansModel;
//       static constexpr std::string_view name = "kmeans", summary = "...";
//       static constexpr Takes takes = {.weights = true};                   // what it uses of a Problem
//       static constexpr About about = {.compare = {.most_rows = any_count}};  // what interfaces show
//       static Model fit(const Problem&, const Options&, const Run&);
//   };
//   inline constexpr Fit<KMeansMethod> fit_kmeans{};                        // what callers call
//
// If several fits of one problem can share work, the method also names a class Fits with a constructor (const Problem&,
// const Run&), fit(const Options&) const and shared_options(). The problem and the run must outlive the object. Several
// threads may call fit at once: shared work is computed once and then only read (base/memo.hpp).

#include <limits>
#include <string_view>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"

namespace coterie {

/// How a method accepts shares of labels (Problem::label_shares).
enum class Shares { none, number, interval };

/// What a method uses of a Problem, besides the points, and of a Run. If anything else is given, the error names it.
struct Takes {
    bool blocks = false;  // points that are read in blocks, or spread over several processes
    bool sparse = false;  // sparse points (base/sparse_points.hpp), without conversion to dense rows
    bool graph = false;
    bool weights = false;
    bool initial_centroids = false;
    bool labels = false;  // partial labels, with clusters per label
    Shares shares = Shares::none;
    bool sizes = false;
    bool pairs = false;       // must-link and cannot-link pairs
    bool device = false;      // Run::device
    bool checkpoint = false;  // Run::checkpoint
};

inline constexpr Index any_count = std::numeric_limits<Index>::max();
/// Whether `compare` fits the method by default: up to these numbers of rows and columns.
struct ByDefault {
    Index least_rows = 0;
    Index most_rows = 0;  // 0: never
    Index most_columns = any_count;
    std::string_view why_not = {};  // reason, if most_rows is 0
};

/// The rule that gives a row its label, for programs that use a model without coterie (ONNX).
enum class LabelRule { other, nearest_centroid, nearest_direction, nearest_projected, nearest_in_subspace, softmax };
COTERIE_API std::string_view name(LabelRule rule);

/// What interfaces show of a method, besides its options and Takes.
struct About {
    ByDefault compare = {};
    LabelRule rule = LabelRule::other;
    std::string_view python = {};     // name of its class; empty: the method's name in CamelCase
    std::string_view objective = {};  // scikit-learn's name of Python's attribute objective_
    bool baseline = false;  // worse than other methods on all measured data; kept to reproduce the tables of a paper
};

namespace internal {
/// Throws BadArgument if the method does not take a part of the problem or the run; names method and part.
COTERIE_API void admit(std::string_view method, const Takes& takes, const Problem& problem, const Run& run);
/// Throws BadData on every process if the processes of the run fit different methods, options or data.
COTERIE_API void require_same_fit(std::string_view method, const OptionValues& options, const Problem& problem,
                                  const Run& run);
/// The same without a problem, before a prediction.
COTERIE_API void admit(std::string_view method, const Takes& takes, const Run& run);
/// The problem with its points in memory. Throws ResourceError that names the method if they do not fit.
COTERIE_API Problem in_memory(std::string_view method, const Problem& problem, const Run& run);
}  // namespace internal

/// The part of a FooMethod that follows from its options and its model.
template <class OptionsOfMethod, class ModelOfMethod>
struct MethodWith {
    using Options = OptionsOfMethod;
    using Model = ModelOfMethod;
    static constexpr std::string_view name = Options::method;
    static constexpr Takes takes = {};
};

/// The fit of a method. First does the checks that all methods share, including the range of each option. The method
/// itself checks options that depend on each other.
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
    /// For points without any constraints. They are borrowed for the fit.
    Model operator()(PointsView points, const Options& options = {}, const Run& run = Run()) const {
        return (*this)(Problem{.points = Points::borrow(points)}, options, run);
    }
};

}  // namespace coterie
