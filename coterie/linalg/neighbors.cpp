#include "coterie/linalg/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/scatter.hpp"

// Scores ||p||^2 / 2 - q.p come from matrix products in the points' own precision; they order the points of one query
// as distances do, up to rounding. For every pair the rounding is bounded, so a point whose score less its bound lies
// above the count-th smallest score plus bound cannot be among the nearest. The few that are left are measured directly
// in double, and that is what is returned.

namespace coterie {
namespace {
constexpr Index kQueries = 512;  // queries of one task
constexpr Index kPoints = 512;   // points of one block of scores
constexpr Index kTasks = 16;     // fewer blocks of queries than this: the points are cut into segments too
constexpr Index kSegment = 8192;
constexpr Index kWave = 64;  // tasks between two questions whether to go on

// Rows about a common centre, times a common power of two: small norms make small rounding, and no square over- or
// underflows.
template <class Scalar>
struct Prepared {
    Matrix<Scalar> rows;
    std::vector<double> norms;
    std::vector<Scalar> half_squared_norms;
};

double largest_magnitude(PointsView points, const Vector<double>& center, int threads) {
    const RowBlocks blocks{points.rows(), kPoints};
    std::vector<double> largest(static_cast<std::size_t>(blocks.count()), 0.0);
    points.visit([&](auto rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            double found = 0.0;
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const auto* const x = rows.row(i);
                for (Index p = 0; p < rows.columns; ++p) {
                    const double magnitude = std::abs(static_cast<double>(x[p]) - center[p]);
                    found = magnitude <= found ? found : magnitude;  // NaN stays
                    if (!(magnitude <= std::numeric_limits<double>::max()))
                        throw BadArgument("nearest_neighbors: row " + std::to_string(i) + ", column " +
                                          std::to_string(p) + " is not finite");
                }
            }
            largest[static_cast<std::size_t>(block)] = found;
        });
    });
    return largest.empty() ? 0.0 : *std::max_element(largest.begin(), largest.end());
}

template <class Scalar>
Prepared<Scalar> prepare(PointsView points, const Vector<double>& center, double scale, int threads) {
    const Index d = points.columns();
    require_memory(static_cast<double>(points.rows()) * (static_cast<double>(d + 1) * sizeof(Scalar) + sizeof(double)),
                   "a centred copy of the points for nearest neighbours");
    Prepared<Scalar> prepared;
    prepared.rows.resize(points.rows(), d);
    prepared.norms.resize(static_cast<std::size_t>(points.rows()));
    prepared.half_squared_norms.resize(static_cast<std::size_t>(points.rows()));
    const RowBlocks blocks{points.rows(), kPoints};
    points.visit([&](auto rows) {
        for_each_block(blocks.count(), threads, [&](Index block, int) {
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                const auto* const x = rows.row(i);
                Scalar* const to = prepared.rows.data() + i * d;
                double squared = 0.0;
                for (Index p = 0; p < d; ++p) {
                    to[p] = static_cast<Scalar>((static_cast<double>(x[p]) - center[p]) * scale);
                    squared += static_cast<double>(to[p]) * static_cast<double>(to[p]);
                }
                prepared.norms[static_cast<std::size_t>(i)] = std::sqrt(squared);
                prepared.half_squared_norms[static_cast<std::size_t>(i)] = static_cast<Scalar>(0.5 * squared);
            }
        });
    });
    return prepared;
}

// Bound on | score as computed - ||q - p||^2 / 2 + ||q||^2 / 2 |, with the distance as squared_distance() below returns
// it. a = ||q||, b = ||p||, u the unit rounding: u (d + 5) a b for product and difference, u b^2 for the norm, u (a +
// b)^2 for having rounded the coordinates, and the rounding of the direct distance and of the sums in double.
template <class Scalar>
class ScoreBound {
public:
    explicit ScoreBound(Index dimensions)
        : product_(unit * static_cast<double>(dimensions + 5)),
          direct_(unit_double * static_cast<double>(dimensions + 3)),
          underflow_(static_cast<double>(dimensions + 1) * (std::is_same_v<Scalar, float> ? 1e-36 : 1e-290)) {}
    double operator()(double a, double b) const {
        const double sum = a + b;
        return 1.02 * (product_ * a * b + unit * b * b + (unit + direct_) * sum * sum) + underflow_;
    }

private:
    static constexpr double unit = 0.5 * static_cast<double>(std::numeric_limits<Scalar>::epsilon());
    static constexpr double unit_double = 0.5 * std::numeric_limits<double>::epsilon();
    double product_;
    double direct_;
    double underflow_;
};

template <class A, class B>
double squared_distance(const A* a, const B* b, Index d) {
    // Eight sums side by side, so that the compiler may use vectors without changing the order.
    double lane[8] = {};
    Index p = 0;
    for (; p + 8 <= d; p += 8) {
        for (Index l = 0; l < 8; ++l) {
            const double difference = static_cast<double>(a[p + l]) - static_cast<double>(b[p + l]);
            lane[l] += difference * difference;
        }
    }
    for (; p < d; ++p) {
        const double difference = static_cast<double>(a[p]) - static_cast<double>(b[p]);
        lane[0] += difference * difference;
    }
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

struct Candidate {
    double lower;  // least the score can be
    double upper;  // most it can be
    std::int32_t point;
};

struct Found {
    double squared;
    std::int32_t point;
    bool operator<(const Found& other) const {
        return squared < other.squared || (squared == other.squared && point < other.point);
    }
};

// What one query still has to look at.
class Shortlist {
public:
    void restart(Index count) {
        candidates_.clear();
        limit_ = std::numeric_limits<double>::infinity();
        wanted_ = static_cast<std::size_t>(count);
        capacity_ = 2 * wanted_ + 64;
    }
    /// No point with a larger least score can be among the nearest.
    double limit() const { return limit_; }
    void add(const Candidate& candidate) {
        if (candidate.lower > limit_) return;
        candidates_.push_back(candidate);
        if (candidates_.size() >= capacity_) shrink();
    }
    void shrink() {
        if (candidates_.size() < wanted_) return;
        const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(wanted_) - 1;
        std::nth_element(candidates_.begin(), last, candidates_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.upper < b.upper; });
        limit_ = std::min(limit_, last->upper);
        std::erase_if(candidates_, [this](const Candidate& candidate) { return candidate.lower > limit_; });
        // With many ties all of them stay: room for as many again, so that the work per candidate stays the same.
        capacity_ = std::max(2 * wanted_ + 64, 2 * candidates_.size());
    }
    const std::vector<Candidate>& candidates() const { return candidates_; }

private:
    std::vector<Candidate> candidates_;
    double limit_ = 0.0;
    std::size_t wanted_ = 0;
    std::size_t capacity_ = 0;
};

template <class Scalar>
struct Scratch {
    std::vector<Scalar> products;
    std::vector<std::int32_t> hits;
    std::vector<Shortlist> shortlists;
    std::vector<Found> found;
};

template <class Scalar>
class Search {
public:
    Search(const Prepared<Scalar>& points, const Prepared<Scalar>& queries, Index count, bool among_themselves)
        : points_(points),
          queries_(queries),
          count_(count),
          among_themselves_(among_themselves),
          bound_(points.rows.cols()) {}

    // The nearest of points first..last-1 for queries begin..end-1, as shortlists in `scratch`.
    void shortlist(Index begin, Index end, Index first, Index last, Scratch<Scalar>& scratch) const {
        const Index d = points_.rows.cols();
        const auto& multiply = internal::block_products<Scalar>();
        scratch.products.resize(static_cast<std::size_t>(kQueries * kPoints));
        scratch.hits.resize(static_cast<std::size_t>(kPoints));
        scratch.shortlists.resize(static_cast<std::size_t>(kQueries));
        for (Index i = begin; i < end; ++i) scratch.shortlists[static_cast<std::size_t>(i - begin)].restart(count_);
        for (Index block = first; block < last; block += kPoints) {
            const Index size = std::min(kPoints, last - block);
            multiply.rows_by_rows(queries_.rows.data() + begin * d, end - begin, d, points_.rows.data() + block * d,
                                  size, d, d, scratch.products.data(), kPoints);
            const double block_norm =
                *std::max_element(points_.norms.begin() + block, points_.norms.begin() + block + size);
            for (Index i = begin; i < end; ++i) {
                Shortlist& shortlist = scratch.shortlists[static_cast<std::size_t>(i - begin)];
                const Scalar* const product = scratch.products.data() + (i - begin) * kPoints;
                Index done = 0;
                // Until there is a limit every point is a hit: in small pieces, so that there soon is one.
                while (done < size && std::isinf(shortlist.limit())) {
                    const Index piece = std::min(size - done, 2 * count_ + 64);
                    examine(i, block + done, piece, product + done, std::numeric_limits<Scalar>::infinity(), scratch,
                            shortlist);
                    shortlist.shrink();
                    done += piece;
                }
                if (done == size) continue;
                const double norm = queries_.norms[static_cast<std::size_t>(i)];
                const double limit = shortlist.limit() + bound_(norm, block_norm);
                const Scalar rounded_up =
                    std::nextafter(static_cast<Scalar>(limit), std::numeric_limits<Scalar>::infinity());
                examine(i, block + done, size - done, product + done, rounded_up, scratch, shortlist);
            }
        }
        for (Index i = begin; i < end; ++i) scratch.shortlists[static_cast<std::size_t>(i - begin)].shrink();
    }

private:
    void examine(Index query, Index begin, Index size, const Scalar* product, Scalar limit, Scratch<Scalar>& scratch,
                 Shortlist& shortlist) const {
        const Scalar* const base = points_.half_squared_norms.data() + begin;
        const Index hits = internal::block_products<Scalar>().scan(base, product, size, limit, scratch.hits.data());
        const double norm = queries_.norms[static_cast<std::size_t>(query)];
        for (Index h = 0; h < hits; ++h) {
            const std::int32_t at = scratch.hits[static_cast<std::size_t>(h)];
            const Index point = begin + at;
            if (among_themselves_ && point == query) continue;
            const auto score = static_cast<double>(base[at] - product[at]);
            const double bound = bound_(norm, points_.norms[static_cast<std::size_t>(point)]);
            shortlist.add({score - bound, score + bound, static_cast<std::int32_t>(point)});
        }
    }

    const Prepared<Scalar>& points_;
    const Prepared<Scalar>& queries_;
    Index count_;
    bool among_themselves_;
    ScoreBound<Scalar> bound_;
};

// Replaces the shortlist by its `count` nearest, measured directly, nearest first.
template <class Scalar>
void measure(const Shortlist& shortlist, PointsView points, PointsView queries, Index query, Index count,
             Scratch<Scalar>& scratch) {
    scratch.found.clear();
    points.visit([&](auto point_rows) {
        queries.visit([&](auto query_rows) {
            for (const Candidate& candidate : shortlist.candidates())
                scratch.found.push_back(
                    {squared_distance(query_rows.row(query), point_rows.row(candidate.point), points.columns()),
                     candidate.point});
        });
    });
    const auto kept = std::min(static_cast<std::size_t>(count), scratch.found.size());
    std::partial_sort(scratch.found.begin(), scratch.found.begin() + static_cast<std::ptrdiff_t>(kept),
                      scratch.found.end());
    scratch.found.resize(kept);
}

template <class Scalar>
Neighbors find(PointsView points, PointsView queries, Index count, bool among_themselves, const Run& run) {
    const Index n = points.rows();
    const Vector<double> center = mean(points, run);
    double largest = largest_magnitude(points, center, run.threads);
    if (!among_themselves) largest = std::max(largest, largest_magnitude(queries, center, run.threads));
    const double scale = largest > 0.0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1.0;
    const Prepared<Scalar> prepared_points = prepare<Scalar>(points, center, scale, run.threads);
    Prepared<Scalar> own_queries;
    if (!among_themselves) own_queries = prepare<Scalar>(queries, center, scale, run.threads);
    const Prepared<Scalar>& prepared_queries = among_themselves ? prepared_points : own_queries;

    Neighbors result;
    result.count = count;
    const auto total = static_cast<std::size_t>(queries.rows()) * static_cast<std::size_t>(count);
    require_memory(static_cast<double>(total) * (sizeof(double) + sizeof(std::int32_t)), "the nearest neighbours");
    result.indices.resize(total);
    result.squared.resize(total);

    const RowBlocks blocks{queries.rows(), kQueries};
    if (blocks.count() == 0) return result;
    const Index segments = std::min((kTasks + blocks.count() - 1) / blocks.count(), (n + kSegment - 1) / kSegment);
    const RowBlocks cuts{n, (n + segments - 1) / segments};
    const Index parts = cuts.count();
    const Found none{std::numeric_limits<double>::infinity(), std::numeric_limits<std::int32_t>::max()};
    std::vector<Found> partial(parts > 1 ? total * static_cast<std::size_t>(parts) : 0, none);
    std::vector<Scratch<Scalar>> scratch(static_cast<std::size_t>(std::max(run.threads, 1)));
    const Search<Scalar> search(prepared_points, prepared_queries, count, among_themselves);
    const auto body = [&](Index task, int worker) {
        Scratch<Scalar>& mine = scratch[static_cast<std::size_t>(worker)];
        const Index block = task / parts;
        const Index part = task % parts;
        const Index begin = blocks.begin(block);
        search.shortlist(begin, blocks.end(block), cuts.begin(part), cuts.end(part), mine);
        for (Index i = begin; i < blocks.end(block); ++i) {
            measure(mine.shortlists[static_cast<std::size_t>(i - begin)], points, queries, i, count, mine);
            for (std::size_t j = 0; j < mine.found.size(); ++j) {
                if (parts > 1) {
                    partial[static_cast<std::size_t>((i * parts + part) * count) + j] = mine.found[j];
                } else {
                    result.squared[static_cast<std::size_t>(i * count) + j] = mine.found[j].squared;
                    result.indices[static_cast<std::size_t>(i * count) + j] = mine.found[j].point;
                }
            }
        }
    };
    const Index tasks = blocks.count() * parts;
    for (Index first = 0; first < tasks; first += kWave) {
        run.throw_if_stopped("nearest neighbours");
        for_each_block(std::min(kWave, tasks - first), run.threads,
                       [&](Index task, int worker) { body(first + task, worker); });
        run.report({.stage = "nearest neighbours",
                    .fraction = static_cast<double>(std::min(tasks, first + kWave)) / static_cast<double>(tasks),
                    .objective = std::numeric_limits<double>::quiet_NaN()});
    }
    if (parts > 1) {
        for (Index i = 0; i < queries.rows(); ++i) {
            const auto begin = partial.begin() + i * parts * count;
            std::partial_sort(begin, begin + count, begin + parts * count);
            for (Index j = 0; j < count; ++j) {
                result.squared[static_cast<std::size_t>(i * count + j)] = begin[j].squared;
                result.indices[static_cast<std::size_t>(i * count + j)] = begin[j].point;
            }
        }
    }
    return result;
}

Neighbors find(PointsView points, PointsView queries, Index count, bool among_themselves, const Run& run) {
    const Index available = points.rows() - (among_themselves ? 1 : 0);
    if (points.rows() > std::numeric_limits<std::int32_t>::max())
        throw BadArgument("nearest_neighbors: at most 2147483647 points, given " + std::to_string(points.rows()));
    if (count < 1 || count > available)
        throw BadArgument("nearest_neighbors: count must be from 1 to " + std::to_string(available) + " with " +
                          std::to_string(points.rows()) + " points, given " + std::to_string(count));
    if (points.columns() != queries.columns())
        throw BadArgument("nearest_neighbors: points have " + std::to_string(points.columns()) + " columns, queries " +
                          std::to_string(queries.columns()));
    if (points.scalar() == ScalarType::float32 && queries.scalar() == ScalarType::float32)
        return find<float>(points, queries, count, among_themselves, run);
    return find<double>(points, queries, count, among_themselves, run);
}
}  // namespace

Neighbors nearest_neighbors(PointsView points, PointsView queries, Index count, const Run& run) {
    return find(points, queries, count, false, run);
}

Neighbors nearest_neighbors(PointsView points, Index count, const Run& run) {
    return find(points, points, count, true, run);
}

}  // namespace coterie
