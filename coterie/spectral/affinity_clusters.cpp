// Solves each component separately. Its eigenpair with eigenvalue 0 is known, so the solvers compute only the others.
// The solver is dense if this is faster or if Lanczos cannot separate the eigenvalues; otherwise it is Lanczos on the
// sparse matrix. Residuals are measured in both cases. Among equal eigenvalues, the component with more points comes
// first, then the one with the lowest point.

#include "coterie/spectral/affinity_clusters.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/kmeans.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/spectral/internal/sparse_eigen.hpp"

namespace coterie {
namespace {

constexpr Index kDense = 500;         // limit of points for a dense solver,
constexpr Index kDenseGraph = 2000;   // the same if a tenth of the pairs has an affinity,
constexpr Index kRescue = 4000;       // the same if Lanczos cannot separate the eigenvalues
constexpr double kTolerance = 1e-10;  // for the residuals of Lanczos
constexpr double kSymmetric = 1e-10;  // largest difference of A_ij and A_ji, relative to the larger

using internal::at;
using internal::filled;

// Compares A and A' in one pass; the rows of both have ascending columns.
void check_affinity(const SparseMatrix& affinity) {
    if (affinity.rows() != affinity.cols())
        throw BadData(Code::wrong_shape,
                      filled("an affinity matrix must be square, not {} x {}", affinity.rows(), affinity.cols()), "",
                      {.option = "graph"});
    const SparseMatrix transposed = affinity.transpose();
    for (Index i = 0; i < affinity.rows(); ++i) {
        SparseMatrix::InnerIterator own(affinity, i);
        SparseMatrix::InnerIterator other(transposed, i);
        while (own || other) {
            const Index column = std::min(own ? own.col() : affinity.cols(), other ? other.col() : affinity.cols());
            const double a = own && own.col() == column ? own.value() : 0;
            const double b = other && other.col() == column ? other.value() : 0;
            const auto refuse = [&](Code code, const std::string& why, const std::string& remedy = {}) {
                throw BadData(code, to_text(a) + why, remedy,
                              {.option = "graph", .value = to_text(a), .row = i + 1, .column_number = column + 1});
            };
            if (!std::isfinite(a)) refuse(Code::not_finite, " is not a finite number");
            if (a < 0 && column != i) refuse(Code::not_accepted, " is not accepted: affinities must not be negative");
            if (!(std::abs(a - b) <= kSymmetric * std::max(std::abs(a), std::abs(b))))
                refuse(Code::not_accepted,
                       filled(" differs from {} on the other side of the diagonal, but affinities are symmetric",
                              to_text(b)),
                       "Use the mean of the matrix and its transpose");
            if (own && own.col() == column) ++own;
            if (other && other.col() == column) ++other;
        }
    }
}

// Connected components, largest first (ties: the component with the lowest point first). The points of each ascend.
std::vector<std::vector<Index>> components_of(const SparseMatrix& affinity) {
    const Index n = affinity.rows();
    std::vector<std::vector<Index>> out;
    std::vector<char> seen(at(n), 0);
    for (Index start = 0; start < n; ++start) {
        if (seen[at(start)]) continue;
        std::vector<Index> members{start};
        seen[at(start)] = 1;
        for (std::size_t next = 0; next < members.size(); ++next)
            for (SparseMatrix::InnerIterator entry(affinity, members[next]); entry; ++entry)
                if (entry.value() > 0 && entry.col() != members[next] && !seen[at(entry.col())]) {
                    seen[at(entry.col())] = 1;
                    members.push_back(entry.col());
                }
        std::sort(members.begin(), members.end());
        out.push_back(std::move(members));
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    return out;
}

// Shares `seats` among the components in proportion to their points (Sainte-Lague). Each seat goes to the component
// with the largest points / (2 s + 1), where s is the number of its seats so far; for s = 0 it is points / `first`.
// Ties go to the first component. A component gets at most one seat per point.
std::vector<Index> shares_of(const std::vector<std::vector<Index>>& components, std::size_t count, Index seats,
                             double first) {
    std::vector<Index> out(count, 0);
    const auto claim = [&](std::size_t c) {
        const auto points = static_cast<Index>(components[c].size());
        if (out[c] == points) return 0.0;
        return static_cast<double>(points) / (out[c] == 0 ? first : 2 * static_cast<double>(out[c]) + 1);
    };
    for (Index seat = 0; seat < seats; ++seat) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < count; ++c)
            if (claim(c) > claim(best)) best = c;
        ++out[best];
    }
    return out;
}

// An eigenpair of L. The vector has one entry per point of its component.
struct Pair {
    double value;
    std::size_t component;
    Vector<double> vector;
};

// D^-1/2 A D^-1/2 of one component.
SparseMatrix normalised(const SparseMatrix& affinity, const std::vector<Index>& members, const Vector<double>& root,
                        const std::vector<Index>& place) {
    const auto n = static_cast<Index>(members.size());
    eigen::SparseMatrix out(n, n);
    eigen::Vector<Index> entries = eigen::Vector<Index>::Zero(n);
    for (Index i = 0; i < n; ++i)
        for (SparseMatrix::InnerIterator entry(affinity, members[at(i)]); entry; ++entry) ++entries[i];
    out.reserve(entries);
    for (Index i = 0; i < n; ++i) {
        const Index row = members[at(i)];
        for (SparseMatrix::InnerIterator entry(affinity, row); entry; ++entry)
            if (entry.value() > 0 && entry.col() != row)
                out.insert(i, place[at(entry.col())]) = entry.value() / root[row] / root[entry.col()];
    }
    out.makeCompressed();
    return out;
}

// Adds the pairs of the `count` smallest eigenvalues except that of `null`, which is 0. Returns the largest residual.
double add_pairs(const SparseMatrix& matrix, const Vector<double>& null, Index count, std::size_t component,
                 std::vector<Pair>& pairs, const Run& run) {
    const Index n = matrix.rows();
    if (count == 0) return 0;
    double residual = 0;
    const auto add = [&](double value, Vector<double> vector) {
        const auto shorter = [](double a, double b) { return std::abs(a) < std::abs(b); };
        if (*std::max_element(vector.begin(), vector.end(), shorter) < 0) vector = -vector;
        pairs.push_back({std::clamp(value, 0.0, 2.0), component, std::move(vector)});
    };
    const auto by_dense = [&] {
        require_memory(3.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n),
                       filled("the search for {} eigenvectors of a component of {} rows", count, n));
        // Shift the null vector's eigenvalue above all eigenvalues of L.
        Matrix<double> dense = Matrix<double>(-matrix) + 4 * null * null.transpose();
        const EigenPairs found = smallest_symmetric_eigen(std::move(dense), count, run, "eigenvectors");
        for (Index i = 0; i < count; ++i) {
            const Vector<double> v = found.vectors.col(i);
            residual = std::max(residual, (matrix * v + found.values[i] * v).norm());
            add(1 + found.values[i], v);
        }
        return residual;
    };
    const bool is_dense = 10 * matrix.nonZeros() > n * n && n <= kDenseGraph;
    if (n <= kDense || 3 * count > n || is_dense) return by_dense();
    const spectral::internal::SparseEigenPairs found =
        spectral::internal::largest_symmetric_eigen(matrix, count, kTolerance, null, run);
    if (!found.converged && n <= kRescue) return by_dense();
    for (Index i = 0; i < count; ++i) add(1 - found.values[i], found.vectors.col(i));
    return found.residual;
}

void check_cluster_options(const AffinityClusterOptions& options, Index n) {
    const Index k = options.clusters;
    if (k < 1 || k > n)
        throw BadArgument(
            {.code = k < 1 ? Code::not_accepted : Code::too_few_rows,
             .problem = counted(k, "cluster") + " requested" +
                        (k < 1 ? "" : filled(", but there {} only {}", n == 1 ? "is" : "are", counted(n, "row"))),
             .remedy = "Use 1 to " + counted(n, "cluster"),
             .option = "clusters",
             .value = std::to_string(k),
             .accepted = "from 1 to " + std::to_string(n)});
    if (options.restarts < 1 || options.max_iterations < 1)
        throw BadArgument(Code::not_accepted,
                          filled("`restarts` and `max_iterations` must be at least 1, not {} and {}", options.restarts,
                                 options.max_iterations));
}

// Row sums without the diagonal.
Vector<double> degrees_of(const SparseMatrix& affinity) {
    Vector<double> out = Vector<double>::Zero(affinity.rows());
    for (Index i = 0; i < affinity.rows(); ++i) {
        for (SparseMatrix::InnerIterator entry(affinity, i); entry; ++entry)
            if (entry.col() != i) out[i] += entry.value();
        if (!std::isfinite(out[i]))
            throw BadData(Code::overflow, "the sum of the affinities overflows", "Rescale the affinities",
                          {.option = "graph", .row = i + 1});
    }
    return out;
}

// The k smallest eigenpairs, ascending. The first `connected` components have more than one point. Sets
// out.eigen_residual.
//
// Every component has the eigenvalue 0 once, with eigenvector D^1/2 1. Unless the components share the k pairs, all
// these eigenvectors are used, and the other eigenvectors compete for the remaining places.
std::vector<Pair> smallest_pairs(const SparseMatrix& affinity, const std::vector<std::vector<Index>>& components,
                                 std::size_t connected, const AffinityClusterOptions& options, AffinityClusters& out,
                                 const Run& run) {
    const Index n = affinity.rows(), k = options.clusters;
    const Vector<double> root = out.degrees.cwiseSqrt();
    std::vector<Pair> pairs;
    Index in_components = 0;
    for (std::size_t c = 0; c < connected; ++c) in_components += static_cast<Index>(components[c].size());
    const bool surplus = connected > at(k);
    const bool shared = surplus || (options.outliers && connected < at(k) && in_components >= k);
    const std::vector<Index> shares =
        shared ? shares_of(components, connected, k, surplus ? 1 : 0.5) : std::vector<Index>();
    const Index more = shared ? 0 : k - static_cast<Index>(connected);
    std::vector<Index> place(at(n), 0);
    for (std::size_t c = 0; c < connected; ++c) {
        if (shared && shares[c] == 0) continue;
        const std::vector<Index>& members = components[c];
        for (std::size_t i = 0; i < members.size(); ++i) place[at(members[i])] = static_cast<Index>(i);
        Vector<double> null(static_cast<Index>(members.size()));
        for (Index i = 0; i < null.size(); ++i) null[i] = root[members[at(i)]];
        null.stableNormalize();
        pairs.push_back({0, c, null});
        const SparseMatrix matrix = normalised(affinity, members, root, place);
        out.eigen_residual = std::max(out.eigen_residual, (matrix * null - null).norm());
        const Index count = shared ? shares[c] - 1 : std::min(more, static_cast<Index>(members.size()) - 1);
        out.eigen_residual = std::max(out.eigen_residual, add_pairs(matrix, null, count, c, pairs, run));
    }
    // D^-1/2 counts as 0 where a degree is 0, so an isolated point is an eigenvector of eigenvalue 1.
    for (std::size_t c = connected; c < components.size() && c - connected < at(more); ++c)
        pairs.push_back({1, c, Vector<double>::Ones(1)});
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.value < b.value; });
    pairs.resize(at(k));
    return pairs;
}

// Sets the eigenvalues, norms and the embedding with rows of length 1. Returns the rows that are not 0.
std::vector<Index> embed(const std::vector<Pair>& pairs, const std::vector<std::vector<Index>>& components, Index n,
                         AffinityClusters& out) {
    const auto k = static_cast<Index>(pairs.size());
    require_memory(2.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(k),
                   filled("the embedding of {} rows", n));
    out.eigenvalues.resize(k);
    out.embedding = Matrix<double>::Zero(n, k);
    for (Index p = 0; p < k; ++p) {
        const Pair& pair = pairs[at(p)];
        out.eigenvalues[p] = pair.value;
        for (Index i = 0; i < pair.vector.size(); ++i)
            out.embedding(components[pair.component][at(i)], p) = pair.vector[i];
    }
    out.norms.resize(n);
    std::vector<Index> reached;
    for (Index i = 0; i < n; ++i) {
        const double norm = internal::norm_of(out.embedding.data() + i * k, k);
        out.norms[i] = norm;
        if (!(norm > 0)) continue;
        out.embedding.row(i) /= norm;
        reached.push_back(i);
    }
    return reached;
}

// Clusters the rows of the embedding that are not 0 by k-means. The other rows go to the largest cluster.
void cluster_embedding(const std::vector<Index>& reached, const AffinityClusterOptions& options, AffinityClusters& out,
                       const Run& run) {
    KMeansOptions kmeans;
    kmeans.clusters = options.clusters;
    kmeans.restarts = options.restarts;
    kmeans.max_iterations = options.max_iterations;
    Run quiet(run.seed, run.threads);
    quiet.should_stop = run.should_stop;
    const KMeansModel found =
        fit_kmeans(out.unreached == 0 ? Points(out.embedding) : rows_of(out.embedding, reached), kmeans, quiet);
    out.centroids = to_matrix<double>(found.centroids());
    out.inertia = found.inertia();
    out.kmeans = found.fit_report();
    const std::vector<Index>& sizes = out.kmeans.sizes;
    const auto largest = static_cast<std::int32_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    out.labels.assign(at(out.embedding.rows()), largest);
    for (std::size_t i = 0; i < reached.size(); ++i) out.labels[at(reached[i])] = found.labels()[i];
}

}  // namespace

AffinityClusters cluster_affinity(const SparseMatrix& affinity, const AffinityClusterOptions& options, const Run& run) {
    check_affinity(affinity);
    const Index n = affinity.rows();
    check_cluster_options(options, n);
    AffinityClusters out;
    out.degrees = degrees_of(affinity);
    const std::vector<std::vector<Index>> components = components_of(affinity);
    out.components = static_cast<std::int64_t>(components.size());
    const auto connected = static_cast<std::size_t>(
        std::find_if(components.begin(), components.end(), [](const auto& members) { return members.size() == 1; }) -
        components.begin());
    out.isolated = out.components - static_cast<std::int64_t>(connected);

    const std::vector<Pair> pairs = smallest_pairs(affinity, components, connected, options, out, run);
    const std::vector<Index> reached = embed(pairs, components, n, out);
    out.unreached = n - static_cast<Index>(reached.size());
    run.throw_if_stopped("k-means");
    cluster_embedding(reached, options, out, run);
    return out;
}

}  // namespace coterie
