#pragma once
// Internal to coterie-deep: one thread per product of matrices where OpenBLAS has threads of its own, which know
// nothing of the threads here: more threads than processors take more than twice as long. OpenBLAS built for OpenMP
// knows, and is left alone. Many may live at once, unlike in linalg/eigen.cpp, where OpenMP's threads must stand still,
// too.

namespace coterie_deep {

/// While one lives, a product of matrices has one thread; when the last one is gone, as many as before.
class NoBlasThreads {
public:
    NoBlasThreads();
    ~NoBlasThreads();
    NoBlasThreads(const NoBlasThreads&) = delete;
    NoBlasThreads& operator=(const NoBlasThreads&) = delete;
};

}  // namespace coterie_deep
