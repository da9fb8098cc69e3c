#pragma once
// Internal to coterie-deep: one thread per matrix product if OpenBLAS has its own threads. OpenBLAS adds its threads to
// those of the caller, and more threads than processors take more than twice as long. An OpenBLAS built for OpenMP does
// not do this, and is left unchanged. Several objects may live at the same time. (linalg/eigen.cpp must also keep the
// number of OpenMP threads.)

namespace coterie_deep {

/// While an object lives, a matrix product uses one thread. After the last object, it uses as many as before.
class NoBlasThreads {
public:
    NoBlasThreads();
    ~NoBlasThreads();
    NoBlasThreads(const NoBlasThreads&) = delete;
    NoBlasThreads& operator=(const NoBlasThreads&) = delete;
};

}  // namespace coterie_deep
