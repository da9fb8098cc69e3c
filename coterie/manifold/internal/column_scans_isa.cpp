// Compiled once per instruction set (COTERIE_ISA). Eigen gets another name, so that the linker cannot merge its
// templates for one instruction set with those for another. For the same reason this source uses no other inline
// functions.
#define COTERIE_JOIN_TEXT(a, b) a##b
#define COTERIE_JOIN(a, b) COTERIE_JOIN_TEXT(a, b)
#define Eigen COTERIE_JOIN(coterie_eigen_scans_, COTERIE_ISA)
#define EIGEN_DONT_PARALLELIZE
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns about its own _mm256_undefined_pd
#endif
#include <Eigen/Core>

#include "coterie/linalg/hits.hpp"
#include "coterie/manifold/internal/column_scans.hpp"

namespace coterie::manifold::internal::COTERIE_ISA {

using namespace coterie::internal::COTERIE_ISA;

namespace {
using Size = std::ptrdiff_t;
using Floats = Eigen::Map<const Eigen::ArrayXf>;
using FloatsOut = Eigen::Map<Eigen::ArrayXf>;
using Doubles = Eigen::Map<const Eigen::VectorXd>;
using DoublesOut = Eigen::Map<Eigen::VectorXd>;

float keys(WeightKind kind, const float* product, const float* squared, const float* norms, const float* along,
           Size count, const QueryTerms& t, float* lower, float* key) {
    const Floats p(product, count);
    const Floats s(squared, count);
    const Floats r(norms, count);
    const Floats m(along, count);
    FloatsOut low(lower, count);
    FloatsOut out(key, count);
    if (kind == WeightKind::equal || kind == WeightKind::given) {
        out = (p + m + t.constant).abs() + (t.slope * (r + t.norm).square() + t.rest);
        if (kind == WeightKind::equal) return 0.0f;
        out /= low;
        return low.minCoeff();
    }
    low = (s + t.squared - 2.0f * p - t.slope * (r + t.norm).square()).max(0.0f);
    if (kind == WeightKind::linear)  // (b / d)^2
        out = ((p + m + t.constant).abs() + (t.slope * (r + t.norm).square() + t.rest)).square() / low.max(t.least);
    else
        out = ((p + m + t.constant).abs() + (t.slope * (r + t.norm).square() + t.rest)).log() - t.rate * low.sqrt();
    return low.minCoeff();
}

Size above(const float* key, Size count, float limit, std::int32_t* hits) {
    return hits_of<64>(count, hits, [=](Size j) { return key[j] > limit; });
}

Size reaching(WeightKind kind, const float* product, const float* norms, const float* lower, Size count,
              const ResidualTerms& t, std::int32_t* hits, std::int64_t* screened) {
    // Computes how far columns are above their thresholds, for a piece of the columns at a time. The test is !(a <= b)
    // instead of a > b, because NaN must count as above.
    constexpr Size piece = 1024;
    float threshold[piece];
    float above_it[piece];
    Size found = 0;
    for (Size begin = 0; begin < count; begin += piece) {
        const Size size = count - begin < piece ? count - begin : piece;
        const Floats q(product + begin, size);
        const Floats r(norms + begin, size);
        const Floats low(lower + begin, size);
        FloatsOut limit(threshold, size);
        FloatsOut out(above_it, size);
        switch (kind) {
            case WeightKind::linear: limit = t.factor * low.max(t.least).sqrt(); break;
            case WeightKind::exponential:
                limit = t.factor * (t.rate * low.sqrt() - t.reference).min(80.0f).max(-80.0f).exp();
                break;
            case WeightKind::equal: limit.setConstant(t.factor); break;
            case WeightKind::given: limit = t.factor * low; break;
        }
        out = (q + t.constant).abs() + t.slope * r + t.rest;
        const float ground = (t.constant < 0 ? -t.constant : t.constant) + t.rest;
        std::int32_t apart = 0;
        for (Size j = 0; j < size; ++j) apart += norms[begin + j] * t.norm + ground < threshold[j] ? 1 : 0;
        *screened += apart;
        const Size more = hits_of<64>(size, hits + found, [&](Size j) { return !(above_it[j] <= threshold[j]); });
        for (Size h = found; h < found + more; ++h) hits[h] += static_cast<std::int32_t>(begin);
        found += more;
    }
    return found;
}

float largest(const float* product, const float* norms, Size count, const ResidualTerms& t) {
    return ((Floats(product, count) + t.constant).abs() - t.slope * Floats(norms, count)).maxCoeff() - t.rest;
}

double sum_of_roots(const float* squared, Size count) {
    double sum = 0;
    for (Size begin = 0; begin < count; begin += 64) {
        const Size size = count - begin < 64 ? count - begin : 64;
        sum += static_cast<double>(Floats(squared + begin, size).sqrt().sum());
    }
    return sum;
}

template <class T>
void two_dots(const T* x, const double* a, const double* b, Size d, double* out) {
    constexpr Size lanes = 16;
    double first[lanes] = {};
    double second[lanes] = {};
    Size p = 0;
    for (; p + lanes <= d; p += lanes) {
        for (Size l = 0; l < lanes; ++l) {
            const double value = static_cast<double>(x[p + l]);
            first[l] += value * a[p + l];
            second[l] += value * b[p + l];
        }
    }
    for (; p < d; ++p) {
        first[0] += static_cast<double>(x[p]) * a[p];
        second[0] += static_cast<double>(x[p]) * b[p];
    }
    out[0] = 0;
    out[1] = 0;
    for (Size l = 0; l < lanes; ++l) {
        out[0] += first[l];
        out[1] += second[l];
    }
}

void subtract_rows(const double* matrix, Size stride, const std::int32_t* rows, const double* coefficients, Size count,
                   double* g, Size columns) {
    DoublesOut out(g, columns);
    Size i = 0;
    for (; i + 4 <= count; i += 4)
        out -= coefficients[i] * Doubles(matrix + rows[i] * stride, columns) +
               coefficients[i + 1] * Doubles(matrix + rows[i + 1] * stride, columns) +
               coefficients[i + 2] * Doubles(matrix + rows[i + 2] * stride, columns) +
               coefficients[i + 3] * Doubles(matrix + rows[i + 3] * stride, columns);
    for (; i < count; ++i) out -= coefficients[i] * Doubles(matrix + rows[i] * stride, columns);
}

void solve_lower(const double* factor, Size stride, Size size, double* x) {
    for (Size i = 0; i < size; ++i) {
        const double* const row = factor + i * stride;
        x[i] = (x[i] - Doubles(row, i).dot(Doubles(x, i))) / row[i];
    }
}

void solve_transposed(const double* factor, Size stride, Size size, double* x) {
    for (Size i = size - 1; i >= 0; --i) {
        const double* const row = factor + i * stride;
        x[i] /= row[i];
        DoublesOut(x, i) -= x[i] * Doubles(row, i);
    }
}
}  // namespace

extern const ColumnScans scans;
const ColumnScans scans = {&keys,         &above,           &reaching,         &largest,
                           &sum_of_roots, &two_dots<float>, &two_dots<double>, &subtract_rows,
                           &solve_lower,  &solve_transposed};

}  // namespace coterie::manifold::internal::COTERIE_ISA
