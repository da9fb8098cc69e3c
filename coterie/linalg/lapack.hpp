#pragma once
// Internal: LAPACKE, found at run time instead of being linked, so that OpenBLAS gets the right kernels
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
    // Of OpenBLAS; null with any other BLAS.
    int (*get_num_threads)() = nullptr;
    void (*set_num_threads)(int) = nullptr;
    // Of the OpenMP that OpenBLAS was built for; null where it was built without, and with any other BLAS.
    int (*get_openmp_threads)() = nullptr;
    void (*set_openmp_threads)(int) = nullptr;
    std::string description;  // "LAPACK (OpenBLAS, SkylakeX)"
};

/// Null when there is none. Loads the library at the first call.
const Lapack* lapack();

enum class EigenBackend { eigen, lapack };
/// The public functions with the choice made by the caller; BadArgument when the backend is not there.
EigenPairs symmetric_eigen(const Matrix<double>& a, EigenBackend backend);
EigenPairs smallest_symmetric_eigen(const Matrix<double>& a, Index count, EigenBackend backend);
EigenPairs generalized_symmetric_eigen(const Matrix<double>& a, const Matrix<double>& b, EigenBackend backend);

}  // namespace coterie::internal
