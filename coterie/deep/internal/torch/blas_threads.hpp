#pragma once
// Internal to coterie-deep: one thread per matrix product if OpenBLAS has its own threads. These do not know about the
// threads here, and more threads than processors take more than twice as long. OpenBLAS built for OpenMP does know and
// is left unchanged. Several objects may live at the same time, in contrast to linalg/eigen.cpp, where the number of
// OpenMP threads must not change either.

namespace coterie_deep {

/// While an object lives, a matrix product uses one thread. After the last one is destroyed, it uses as many as before.
class NoBlasThreads {
public:
    NoBlasThreads();
    ~NoBlasThreads();
    NoBlasThreads(const NoBlasThreads&) = delete;
    NoBlasThreads& operator=(const NoBlasThreads&) = delete;
};

}  // namespace coterie_deep
