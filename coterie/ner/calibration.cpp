// The log-likelihood is concave in a. Its slope is the mean score of the true tags minus the mean score expected with
// a, and falls as a grows. Its zero is bracketed by doubling, then found by bisection: cheap, and no step can fail.

#include "coterie/ner/internal/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coterie::ner::internal {

Labels best_tags(const Matrix<double>& scores) {
    Labels out;
    for (Index i = 0; i < scores.rows(); ++i) {
        Index best = 0;
        scores.row(i).maxCoeff(&best);
        out.push_back(static_cast<std::int32_t>(best));
    }
    return out;
}

double probability(const double* scores, Index tags, Index tag, double sharpness, double shift) {
    const double largest = *std::max_element(scores, scores + tags);
    const auto weight = [&](Index t) {
        return std::isfinite(scores[t]) ? std::exp(sharpness * (scores[t] - largest) + (t == 0 ? shift : 0)) : 0;
    };
    double sum = 0;
    for (Index t = 0; t < tags; ++t) sum += weight(t);
    return weight(tag) / sum;
}

double shift_of(const Labels& tags, double share) {
    if (tags.empty()) return 0;
    const double least = 1 / (2 * static_cast<double>(tags.size()) + 2);
    const auto log_odds = [&](double p) {
        const double inside = std::clamp(p, least, 1 - least);
        return std::log(inside / (1 - inside));
    };
    const auto outside = static_cast<double>(std::count(tags.begin(), tags.end(), 0));
    return log_odds(share) - log_odds(outside / static_cast<double>(tags.size()));
}

double sharpness_of(const Matrix<double>& scores, const Labels& tags) {
    const Index n = scores.rows();
    const Index count = scores.cols();
    if (n == 0 || count < 2) return 0;
    const double other = 1 / (static_cast<double>(n) + 2);
    // The search starts in units of the scores, so that their scale does not matter.
    double spread = 0;
    for (Index i = 0; i < n; ++i)
        for (Index t = 0; t < count; ++t)
            if (std::isfinite(scores(i, t)))
                spread = std::max(spread, std::abs(scores(i, t) - scores(i, tags[static_cast<std::size_t>(i)])));
    if (!(spread > 0)) return 0;
    const auto slope = [&](double a) {
        double out = 0;
        for (Index i = 0; i < n; ++i) {
            const auto tag = static_cast<Index>(tags[static_cast<std::size_t>(i)]);
            double largest = -std::numeric_limits<double>::infinity();
            Index finite = 0;
            for (Index t = 0; t < count; ++t) {
                if (!std::isfinite(scores(i, t))) continue;
                largest = std::max(largest, scores(i, t));
                ++finite;
            }
            if (finite < 2) continue;
            double sum = 0, expected = 0, others = 0;
            for (Index t = 0; t < count; ++t) {
                if (!std::isfinite(scores(i, t))) continue;
                const double weight = std::exp(a * (scores(i, t) - largest));
                sum += weight;
                expected += weight * (scores(i, t) - largest);
                if (t != tag) others += scores(i, t) - largest;
            }
            out += (1 - other) * (scores(i, tag) - largest) + other * others / static_cast<double>(finite - 1) -
                   expected / sum;
        }
        return out;
    };
    if (!(slope(0) > 0)) return 0;
    double low = 0, high = 1 / spread;
    while (slope(high) > 0 && high < std::numeric_limits<double>::max() / 4) {
        low = high;
        high *= 2;
    }
    for (int step = 0; step < 100; ++step) {
        const double middle = low + (high - low) / 2;
        if (!(middle > low && middle < high)) break;
        (slope(middle) > 0 ? low : high) = middle;
    }
    return low;
}

}  // namespace coterie::ner::internal
