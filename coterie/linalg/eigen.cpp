// All pairs are computed by divide and conquer; the smallest pairs, up to a quarter of all, by relatively robust
// representations. Generalised problems are reduced with a Cholesky factor. If LAPACK fails, Eigen solves the problem.
// Standard problems are scaled by a power of two if squares would overflow or underflow. Signs of eigenvectors do not
// depend on the library. From order 1024 on, the memory is checked first.

#include "coterie/linalg/eigen.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/work_apart.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/lapack.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;
using ColumnMajor = Eigen::MatrixXd;

constexpr Index kLapackFrom = 64;   // Eigen is faster for smaller problems
constexpr Index kAskedFrom = 1000;  // smaller problems take a fraction of a second and cannot be stopped
constexpr int kColumnMajor = 102;   // LAPACK_COL_MAJOR

// The bits of OpenBLAS products depend on the number of threads, so a call gets one thread. This number is global in
// the process, and OpenBLAS for OpenMP also sets the number of OpenMP threads. Both are restored afterwards. One call
// runs at a time.
class OneBlasThread {
public:
    explicit OneBlasThread(const internal::Lapack& lapack) : lapack_(lapack), lock_(mutex()) {
        if (lapack_.set_num_threads == nullptr) return;
        if (has_openmp()) openmp_threads_ = lapack_.get_openmp_threads();
        blas_threads_ = lapack_.get_num_threads();
        lapack_.set_num_threads(1);
    }
    ~OneBlasThread() {
        if (lapack_.set_num_threads == nullptr) return;
        lapack_.set_num_threads(blas_threads_);
        if (has_openmp()) lapack_.set_openmp_threads(openmp_threads_);
    }
    OneBlasThread(const OneBlasThread&) = delete;
    OneBlasThread& operator=(const OneBlasThread&) = delete;

private:
    static std::mutex& mutex() {
        static std::mutex one;
        return one;
    }
    bool has_openmp() const { return lapack_.get_openmp_threads != nullptr && lapack_.set_openmp_threads != nullptr; }
    const internal::Lapack& lapack_;
    std::lock_guard<std::mutex> lock_;
    int blas_threads_ = 1;
    int openmp_threads_ = 1;
};

// Only the lower triangle is read, so only this part must be finite.
void check(const Matrix<double>& a, const char* what) {
    if (a.rows() != a.cols())
        throw BadArgument(Code::wrong_shape, filled("{} is {} x {}, not square", what, a.rows(), a.cols()));
    for (Index i = 0; i < a.rows(); ++i)
        for (Index j = 0; j <= i; ++j)
            if (!std::isfinite(a(i, j)))
                throw BadArgument(Code::not_finite, filled("{} has a number that is not finite", what), "",
                                  {.row = i + 1, .column_number = j + 1});
    // The result, a working copy, and LAPACK's workspace of 2 n^2 numbers.
    if (a.rows() >= 1024)
        require_memory(5.0 * sizeof(double) * static_cast<double>(a.rows()) * static_cast<double>(a.rows()),
                       filled("an eigenproblem of order {}", a.rows()));
}

// Eigenvectors are unique at most up to their sign. The entry of largest magnitude is made positive.
EigenPairs with_signs(Vector<double> values, const ColumnMajor& vectors) {
    EigenPairs pairs{std::move(values), Matrix<double>(vectors.rows(), vectors.cols())};
    for (Index j = 0; j < vectors.cols(); ++j) {
        Index largest = 0;
        for (Index i = 1; i < vectors.rows(); ++i)
            if (std::abs(vectors(i, j)) > std::abs(vectors(largest, j))) largest = i;
        pairs.vectors.col(j) = vectors(largest, j) < 0.0 ? ColumnMajor(-vectors.col(j)) : ColumnMajor(vectors.col(j));
    }
    return pairs;
}

[[noreturn]] void not_converged(Index order) {
    throw InternalError(filled("the symmetric eigenproblem of order {} did not converge", order));
}

[[noreturn]] void not_positive_definite() {
    throw BadData(Code::ill_conditioned,
                  "generalized eigenproblem: the second matrix is not positive definite to working precision",
                  "Regularise it");
}

// A pivot of the size of rounding errors means that the row depends on the rows before it. The factor's inverse is then
// useless.
void check_pivot(double pivot, double diagonal, Index order) {
    const double smallest = static_cast<double>(order) * std::numeric_limits<double>::epsilon() * diagonal;
    if (!(pivot * pivot > smallest)) not_positive_definite();
}

// Scaling by this power of two is exact, and squares neither overflow nor underflow inside the solvers.
double safe_scale(const Matrix<double>& a) {
    double largest = 0.0;
    for (Index i = 0; i < a.rows(); ++i)
        for (Index j = 0; j <= i; ++j) largest = std::max(largest, std::abs(a(i, j)));
    if (largest == 0.0 || (largest > 1e-100 && largest < 1e100)) return 1.0;
    return std::ldexp(1.0, -std::ilogb(largest));
}

EigenPairs solve(const Matrix<double>& a, const internal::Lapack* lapack) {
    const Index order = a.rows();
    if (order == 0) return {};
    const double scale = safe_scale(a);
    ColumnMajor vectors = scale * a;
    Vector<double> values(order);
    if (lapack != nullptr && order <= std::numeric_limits<int>::max()) {
        const OneBlasThread one_thread(*lapack);
        const int n = static_cast<int>(order);
        const int info = lapack->dsyevd(kColumnMajor, 'V', 'L', n, vectors.data(), n, values.data());
        if (info == 0) return with_signs(values / scale, vectors);
        vectors = scale * a;  // LAPACK has overwritten it; failures are rare, so Eigen solves the problem again
    }
    const Eigen::SelfAdjointEigenSolver<ColumnMajor> solver(vectors);
    if (solver.info() != Eigen::Success) not_converged(order);
    return with_signs(solver.eigenvalues() / scale, solver.eigenvectors());
}

// The pairs of the `count` smallest eigenvalues. For a large count, computes all pairs, which is then faster.
EigenPairs solve_smallest(const Matrix<double>& a, Index count, const internal::Lapack* lapack) {
    const Index order = a.rows();
    if (count == 0) return {Vector<double>(0), Matrix<double>(order, 0)};
    if (lapack != nullptr && order <= std::numeric_limits<int>::max() && count <= order / 4) {
        const OneBlasThread one_thread(*lapack);
        const double scale = safe_scale(a);
        ColumnMajor destroyed = scale * a;
        ColumnMajor vectors(order, count);
        Vector<double> values(order);
        std::vector<int> support(at(2 * count));
        const int n = static_cast<int>(order);
        int found = 0;
        const int info =
            lapack->dsyevr(kColumnMajor, 'V', 'I', 'L', n, destroyed.data(), n, 0.0, 0.0, 1, static_cast<int>(count),
                           0.0, &found, values.data(), vectors.data(), n, support.data());
        if (info == 0 && found == count) return with_signs(values.head(count) / scale, vectors);
    }
    EigenPairs pairs = solve(a, lapack);
    return {pairs.values.head(count), pairs.vectors.leftCols(count)};
}

EigenPairs solve(const Matrix<double>& a, const Matrix<double>& b, const internal::Lapack* lapack) {
    const Index order = a.rows();
    if (order == 0) return {};
    for (Index i = 0; i < order; ++i)
        if (!(b(i, i) > 0.0)) not_positive_definite();
    ColumnMajor vectors = a;
    ColumnMajor factor = b;
    if (lapack != nullptr && order <= std::numeric_limits<int>::max()) {
        const OneBlasThread one_thread(*lapack);
        const int n = static_cast<int>(order);
        Vector<double> values(order);
        const int info =
            lapack->dsygvd(kColumnMajor, 1, 'V', 'L', n, vectors.data(), n, factor.data(), n, values.data());
        if (info > n) not_positive_definite();
        if (info == 0) {
            for (Index i = 0; i < order; ++i) check_pivot(factor(i, i), b(i, i), order);
            return with_signs(values, vectors);
        }
        vectors = a;
        factor = b;
    }
    const Eigen::LLT<ColumnMajor> cholesky(factor);
    if (cholesky.info() != Eigen::Success) not_positive_definite();
    for (Index i = 0; i < order; ++i) check_pivot(cholesky.matrixLLT()(i, i), b(i, i), order);
    const Eigen::GeneralizedSelfAdjointEigenSolver<ColumnMajor> solver(vectors, factor);
    if (solver.info() != Eigen::Success) not_converged(order);
    return with_signs(solver.eigenvalues(), solver.eigenvectors());
}

void check_pair(const Matrix<double>& a, const Matrix<double>& b) {
    check(a, "generalized eigenproblem: the first matrix");
    check(b, "generalized eigenproblem: the second matrix");
    if (a.rows() != b.rows())
        throw BadArgument(Code::wrong_shape, filled("generalized eigenproblem: the matrices have the orders {} and {}",
                                                    a.rows(), b.rows()));
}

void check_count(const Matrix<double>& a, Index count) {
    check(a, "symmetric eigenproblem: the matrix");
    if (count < 0 || count > a.rows())
        throw BadArgument(Code::not_accepted,
                          filled("symmetric eigenproblem: count {} is not from 0 to the order {}", count, a.rows()), "",
                          {.value = std::to_string(count), .accepted = filled("from 0 to {}", a.rows())});
}

// Runs the solver, which cannot be interrupted, on another thread.
template <class Solve>
EigenPairs apart(Matrix<double> a, const Run& run, std::string_view stage, Solve solve) {
    if (a.rows() < kAskedFrom) return solve(a);
    struct Work {
        Matrix<double> matrix;
        EigenPairs pairs;
    };
    const auto own = std::make_shared<Work>(Work{std::move(a), {}});
    internal::work_apart([own, solve] { own->pairs = solve(own->matrix); }, run, stage);
    return std::move(own->pairs);
}

const internal::Lapack* lapack_for(internal::EigenBackend backend) {
    if (backend == internal::EigenBackend::eigen) return nullptr;
    if (internal::lapack() == nullptr)
        throw BadArgument(Code::missing_library, "LAPACK was requested, but liblapacke.so.3 cannot be loaded",
                          "Install LAPACKE");
    return internal::lapack();
}
}  // namespace

EigenPairs symmetric_eigen(const Matrix<double>& a) {
    check(a, "symmetric eigenproblem: the matrix");
    return solve(a, a.rows() >= kLapackFrom ? internal::lapack() : nullptr);
}

EigenPairs smallest_symmetric_eigen(const Matrix<double>& a, Index count) {
    check_count(a, count);
    return solve_smallest(a, count, a.rows() >= kLapackFrom ? internal::lapack() : nullptr);
}

EigenPairs symmetric_eigen(Matrix<double> a, const Run& run, std::string_view stage) {
    return apart(std::move(a), run, stage, [](const Matrix<double>& matrix) { return symmetric_eigen(matrix); });
}

EigenPairs smallest_symmetric_eigen(Matrix<double> a, Index count, const Run& run, std::string_view stage) {
    return apart(std::move(a), run, stage,
                 [count](const Matrix<double>& matrix) { return smallest_symmetric_eigen(matrix, count); });
}

EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b) {
    check_pair(a, b);
    return solve(a, b, a.rows() >= kLapackFrom ? internal::lapack() : nullptr);
}

std::string_view eigen_backend() {
    return internal::lapack() == nullptr ? std::string_view("Eigen")
                                         : std::string_view(internal::lapack()->description);
}

EigenPairs internal::symmetric_eigen(const Matrix<double>& a, EigenBackend backend) {
    check(a, "symmetric eigenproblem: the matrix");
    return solve(a, lapack_for(backend));
}

EigenPairs internal::smallest_symmetric_eigen(const Matrix<double>& a, Index count, EigenBackend backend) {
    check_count(a, count);
    return solve_smallest(a, count, lapack_for(backend));
}

EigenPairs internal::generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b,
                                                 EigenBackend backend) {
    check_pair(a, b);
    return solve(a, b, lapack_for(backend));
}

}  // namespace coterie
