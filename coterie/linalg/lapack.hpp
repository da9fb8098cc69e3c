#pragma once
// Internal: LAPACKE, loaded at run time instead of linked, so that OpenBLAS chooses the right kernels
// (base/shared_library.hpp).

#include <string>

#include "coterie/linalg/eigen.hpp"

namespace coterie::internal {

struct Lapack {
    // (matrix_layout, jobz, uplo, n, a, lda, w) and (matrix_layout, itype, jobz, uplo, n, a, lda, b, ldb, w) of
    // LAPACKE, 32-bit sizes.
    int (*dsyevd)(int, char, char, int, double*, int, double*) = nullptr;
    int (*dsygvd)(int, int, char, char, int, double*, int, double*, int, double*) = nullptr;
    // (matrix_layout, jobz, range, uplo, n, a, lda, vl, vu, il, iu, abstol, m, w, z, ldz, isuppz).
    int (*dsyevr)(int, char, char, char, int, double*, int, double, double, int, int, double, int*, double*, double*,
                  int, int*) = nullptr;
    // Functions of OpenBLAS; null with any other BLAS.
    int (*get_num_threads)() = nullptr;
    void (*set_num_threads)(int) = nullptr;
    // Functions of the OpenMP library that OpenBLAS uses; null without OpenMP, and with any other BLAS.
    int (*get_openmp_threads)() = nullptr;
    void (*set_openmp_threads)(int) = nullptr;
    std::string description;  // "LAPACK (OpenBLAS, SkylakeX)"
};

/// Null if LAPACK is not available. The first call loads the library.
const Lapack* lapack();

enum class EigenBackend { eigen, lapack };
/// The public functions, with a backend that the caller chooses. They throw BadArgument if it is not available.
EigenPairs symmetric_eigen(const Matrix<double>& a, EigenBackend backend);
EigenPairs smallest_symmetric_eigen(const Matrix<double>& a, Index count, EigenBackend backend);
EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b, EigenBackend backend);

}  // namespace coterie::internal
