// A strategy is executed letter by letter from its name, so the 15 strategies need no separate code. Entries remain
// sparse. Norms are computed relative to the largest entry, so that no square overflows or underflows. Symmetry is
// checked bit by bit.

#include "coterie/manifold/affinity.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"

namespace coterie {
namespace {

void normalize_rows(eigen::SparseMatrix& a) {
    for (Index i = 0; i < a.rows(); ++i) {
        double largest = 0;
        for (eigen::SparseMatrix::InnerIterator it(a, i); it; ++it) largest = std::max(largest, it.value());
        if (largest == 0) continue;
        double sum = 0;
        for (eigen::SparseMatrix::InnerIterator it(a, i); it; ++it)
            sum += it.value() / largest * (it.value() / largest);
        for (eigen::SparseMatrix::InnerIterator it(a, i); it; ++it)
            it.valueRef() = it.value() / largest / std::sqrt(sum);
    }
}

eigen::SparseMatrix symmetric_part(const eigen::SparseMatrix& a) {
    const eigen::SparseMatrix transposed = a.transpose();
    return 0.5 * (a + transposed);
}

bool is_symmetric(const eigen::SparseMatrix& a) {
    const eigen::SparseMatrix transposed = a.transpose();
    const eigen::SparseMatrix difference = a - transposed;
    return std::all_of(difference.valuePtr(), difference.valuePtr() + difference.nonZeros(),
                       [](double value) { return value == 0; });
}

// Keeps the largest entries of each row.
void shorten_rows(eigen::SparseMatrix& a, int keep) {
    std::vector<std::pair<double, Index>> row;
    for (Index i = 0; i < a.rows(); ++i) {
        row.clear();
        for (eigen::SparseMatrix::InnerIterator it(a, i); it; ++it) row.emplace_back(-it.value(), it.col());
        if (row.size() <= static_cast<std::size_t>(keep)) continue;
        std::nth_element(row.begin(), row.begin() + keep - 1, row.end());
        const auto last = row[static_cast<std::size_t>(keep) - 1];
        for (eigen::SparseMatrix::InnerIterator it(a, i); it; ++it)
            if (std::pair(-it.value(), it.col()) > last) it.valueRef() = 0;
    }
    a.prune([](Index, Index, double value) { return value > 0; });
}

}  // namespace

SparseMatrix internal::keep_largest(const SparseMatrix& entries, int keep) {
    eigen::SparseMatrix out = entries;
    shorten_rows(out, keep);
    return out;
}

const std::vector<std::string>& affinity_strategies() {
    static const std::vector<std::string> all = {"N",  "S",   "K",   "NK",  "KN",  "SN",  "NS", "SK",
                                                 "KS", "SNK", "SKN", "KSN", "KNS", "NSK", "NKS"};
    return all;
}

SymmetricAffinity affinity_of(const SparseMatrix& representations, AffinityStrategy strategy, int keep) {
    if (keep < 1) throw refused_option("keep", std::int64_t{keep}, "a whole number, at least 1");
    if (representations.rows() != representations.cols())
        throw BadArgument(
            Code::wrong_shape,
            internal::filled("the matrix must be square, not {} x {}", representations.rows(), representations.cols()),
            "", {.option = "representations"});
    eigen::SparseMatrix matrix = representations.cwiseAbs();
    matrix.prune([](Index, Index, double value) { return value > 0; });
    for (const char step : affinity_strategies()[static_cast<std::size_t>(strategy)]) {
        if (step == 'N') normalize_rows(matrix);
        if (step == 'S') matrix = symmetric_part(matrix);
        if (step == 'K') shorten_rows(matrix, keep);
    }
    SymmetricAffinity out;
    out.symmetrised = !is_symmetric(matrix);
    if (out.symmetrised) matrix = symmetric_part(matrix);
    out.matrix = matrix;
    return out;
}

}  // namespace coterie
