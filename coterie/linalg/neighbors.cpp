// Scores ||p||^2 / 2 - q.p come from matrix products in the scalar type of the points. For one query they order the
// points by distance, up to rounding. The rounding error of every score has a bound, so each score has an upper limit
// (score plus bound) and a lower limit (score minus bound). A point is not among the nearest if its lower limit exceeds
// the count-th smallest upper limit. The distances of the few remaining points are computed directly in double, and
// returned. If points are their own queries, each product is used for both of its blocks. No tree is used: in many
// dimensions it visits nearly every point, and not in blocks.

#include "coterie/linalg/neighbors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/centred_rows.hpp"
#include "coterie/linalg/products.hpp"
#include "coterie/linalg/scatter.hpp"

namespace coterie {
namespace {
using internal::at;
using internal::centred_rows;
using internal::filled;
using internal::largest_magnitude;
using internal::scale_to_one;
using internal::squared_distance;
template <class Scalar>
using Prepared = internal::CentredRows<Scalar>;
template <class Scalar>
using ScoreBound = internal::ScoreBound<Scalar>;

constexpr Index kQueries = 512;  // queries per task
constexpr Index kPoints = 512;   // points per block of scores
constexpr Index kTasks = 16;     // if there are fewer blocks of queries, the points are also cut into segments
constexpr Index kSegment = 8192;
constexpr Index kCountBoth = 128;  // up to this count, the shortlists of all points are in memory at the same time

template <class Scalar>
struct Candidate {
    Scalar lower;  // lower bound of the score
    Scalar upper;  // upper bound of the score
    std::int32_t point;
};

struct Found {
    double squared;
    std::int32_t point;
    bool operator<(const Found& other) const {
        return squared < other.squared || (squared == other.squared && point < other.point);
    }
};

// The candidates of one query, at most capacity(). If too many of them remain possible (ties, duplicates), their
// distances are computed and only the nearest `wanted_` are kept.
template <class Scalar>
class Shortlist {
public:
    static std::size_t capacity(Index count) { return 2 * at(count) + 64; }

    void restart(Index count) {
        candidates_.clear();
        limit_ = std::numeric_limits<Scalar>::infinity();
        wanted_ = at(count);
        candidates_.reserve(capacity(count));
    }
    /// A point whose lower bound exceeds this limit cannot be among the nearest.
    Scalar limit() const { return limit_; }
    /// measure(point): squared distance from the query to the point.
    template <class Measure>
    void add(double lower, double upper, std::int32_t point, const Measure& measure) {
        constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
        const Candidate<Scalar> candidate{std::nextafter(static_cast<Scalar>(lower), -infinity),
                                          std::nextafter(static_cast<Scalar>(upper), infinity), point};
        if (candidate.lower > limit_) return;
        candidates_.push_back(candidate);
        if (candidates_.size() < capacity(static_cast<Index>(wanted_))) return;
        shrink();
        if (candidates_.size() > wanted_ + 32 + wanted_ / 2) settle(measure);
    }
    void shrink() {
        if (candidates_.size() < wanted_) return;
        const auto last = candidates_.begin() + static_cast<std::ptrdiff_t>(wanted_) - 1;
        std::nth_element(candidates_.begin(), last, candidates_.end(),
                         [](const auto& a, const auto& b) { return a.upper < b.upper; });
        limit_ = std::min(limit_, last->upper);
        std::erase_if(candidates_, [this](const auto& candidate) { return candidate.lower > limit_; });
    }
    const std::vector<Candidate<Scalar>>& candidates() const { return candidates_; }

private:
    // Keeps only the `wanted_` nearest candidates. Later points cannot bring the others back.
    template <class Measure>
    void settle(const Measure& measure) {
        std::vector<std::pair<Found, Candidate<Scalar>>> measured;
        measured.reserve(candidates_.size());
        for (const auto& candidate : candidates_)
            measured.push_back({{measure(candidate.point), candidate.point}, candidate});
        std::nth_element(measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(wanted_), measured.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        candidates_.clear();
        for (std::size_t i = 0; i < wanted_; ++i) candidates_.push_back(measured[i].second);
    }

    std::vector<Candidate<Scalar>> candidates_;
    Scalar limit_ = 0;
    std::size_t wanted_ = 0;
};

template <class Scalar>
struct Scratch {
    std::vector<Scalar> products;
    std::vector<std::int32_t> hits;
    std::vector<Scalar> limits;
    std::vector<Shortlist<Scalar>> shortlists;
    std::vector<Found> found;
};

template <class Scalar>
class Search {
public:
    Search(PointsView points, PointsView queries, const Prepared<Scalar>& prepared_points,
           const Prepared<Scalar>& prepared_queries, Index count, bool among_themselves)
        : given_points_(points),
          given_queries_(queries),
          points_(prepared_points),
          queries_(prepared_queries),
          count_(count),
          among_themselves_(among_themselves),
          bound_(points.columns()) {}

    // Finds the candidates among points first..last-1 for queries begin..end-1, one shortlist per query.
    void shortlist(Index begin, Index end, Index first, Index last, Shortlist<Scalar>* shortlists,
                   Scratch<Scalar>& scratch) const {
        for (Index i = begin; i < end; ++i) shortlists[i - begin].restart(count_);
        for (Index block = first; block < last; block += kPoints) {
            const Index size = std::min(kPoints, last - block);
            multiply(begin, end, block, block + size, scratch);
            const double block_norm = largest_norm(points_, block, block + size);
            for (Index i = begin; i < end; ++i) {
                Shortlist<Scalar>& shortlist = shortlists[i - begin];
                const Scalar* const product = scratch.products.data() + (i - begin) * kPoints;
                Index done = 0;
                // Small pieces until there is a limit, because without a limit every point is a candidate.
                while (done < size && std::isinf(shortlist.limit())) {
                    const Index piece = std::min(size - done, 2 * count_ + 64);
                    examine(i, block + done, piece, product + done, std::numeric_limits<Scalar>::infinity(), scratch,
                            shortlist);
                    shortlist.shrink();
                    done += piece;
                }
                if (done == size) continue;
                examine(i, block + done, size - done, product + done, scan_limit(shortlist, queries_, i, block_norm),
                        scratch, shortlist);
            }
        }
    }

    // For points that are their own queries: updates the shortlists of two blocks, left < right. Each product is used
    // for both blocks. shortlist() has already compared each block with itself.
    void shortlist_both(RowBlocks blocks, Index left, Index right, Shortlist<Scalar>* shortlists,
                        Scratch<Scalar>& scratch) const {
        const Index begin = blocks.begin(left);
        const Index end = blocks.end(left);
        const Index first = blocks.begin(right);
        const Index size = blocks.end(right) - first;
        const double left_norm = largest_norm(points_, begin, end);
        const double right_norm = largest_norm(points_, first, first + size);
        scratch.limits.resize(at(kPoints));
        for (Index j = 0; j < size; ++j)
            scratch.limits[at(j)] = scan_limit(shortlists[first + j], points_, first + j, left_norm);
        for (Index i = begin; i < end; ++i) {
            const Scalar limit = scan_limit(shortlists[i], points_, i, right_norm);
            const Scalar* const product = scratch.products.data() + (i - begin) * kPoints;
            const Scalar* const base = points_.half_squared_norms.data() + first;
            const Scalar own_base = points_.half_squared_norms[at(i)];
            const Index hits = internal::block_products<Scalar>().scan_both(
                base, limit, own_base, scratch.limits.data(), product, size, scratch.hits.data());
            for (Index h = 0; h < hits; ++h) {
                const std::int32_t hit = scratch.hits[at(h)];
                if (base[hit] - product[hit] <= limit) add(shortlists[i], i, first + hit, base[hit] - product[hit]);
                if (own_base - product[hit] <= scratch.limits[at(hit)])
                    add(shortlists[first + hit], first + hit, i, own_base - product[hit]);
            }
        }
    }

    // Products of queries begin..end-1 with points first..last-1, written to scratch.
    void multiply(Index begin, Index end, Index first, Index last, Scratch<Scalar>& scratch) const {
        const Index d = points_.rows.cols();
        scratch.products.resize(at(kQueries * kPoints));
        scratch.hits.resize(at(kPoints));
        internal::block_products<Scalar>().rows_by_rows(queries_.rows.data() + begin * d, end - begin, d,
                                                        points_.rows.data() + first * d, last - first, d, d,
                                                        scratch.products.data(), kPoints);
    }

    // Computes the distances of a shortlist directly and writes the nearest points, in order, to scratch.found.
    void measure(Shortlist<Scalar>& shortlist, Index query, Scratch<Scalar>& scratch) const {
        shortlist.shrink();
        scratch.found.clear();
        for (const auto& candidate : shortlist.candidates())
            scratch.found.push_back({squared(query, candidate.point), candidate.point});
        const auto kept = std::min(at(count_), scratch.found.size());
        std::partial_sort(scratch.found.begin(), scratch.found.begin() + static_cast<std::ptrdiff_t>(kept),
                          scratch.found.end());
        scratch.found.resize(kept);
    }

private:
    static double largest_norm(const Prepared<Scalar>& points, Index begin, Index end) {
        return *std::max_element(points.norms.begin() + begin, points.norms.begin() + end);
    }

    // The largest computed score that must be examined, among points with norms up to `norm`.
    Scalar scan_limit(const Shortlist<Scalar>& shortlist, const Prepared<Scalar>& queries, Index query,
                      double norm) const {
        const double limit = static_cast<double>(shortlist.limit()) + bound_(queries.norms[at(query)], norm);
        return std::nextafter(static_cast<Scalar>(limit), std::numeric_limits<Scalar>::infinity());
    }

    double squared(Index query, Index point) const {
        return given_points_.visit([&](auto points) {
            return given_queries_.visit(
                [&](auto queries) { return squared_distance(queries.row(query), points.row(point), points.columns); });
        });
    }

    void add(Shortlist<Scalar>& shortlist, Index query, Index point, Scalar score) const {
        const double bound = bound_(queries_.norms[at(query)], points_.norms[at(point)]);
        shortlist.add(static_cast<double>(score) - bound, static_cast<double>(score) + bound,
                      static_cast<std::int32_t>(point), [&](std::int32_t other) { return squared(query, other); });
    }

    void examine(Index query, Index begin, Index size, const Scalar* product, Scalar limit, Scratch<Scalar>& scratch,
                 Shortlist<Scalar>& shortlist) const {
        const Scalar* const base = points_.half_squared_norms.data() + begin;
        const Index hits = internal::block_products<Scalar>().scan(base, product, size, limit, scratch.hits.data());
        for (Index h = 0; h < hits; ++h) {
            const std::int32_t hit = scratch.hits[at(h)];
            if (among_themselves_ && begin + hit == query) continue;
            add(shortlist, query, begin + hit, base[hit] - product[hit]);
        }
    }

    PointsView given_points_;
    PointsView given_queries_;
    const Prepared<Scalar>& points_;
    const Prepared<Scalar>& queries_;
    Index count_;
    bool among_themselves_;
    ScoreBound<Scalar> bound_;
};

constexpr std::string_view stage_name = "nearest neighbours";

// Writes the neighbours of a query, nearest first.
template <class Iterator>
void write_found(Iterator begin, Iterator end, Index query, Neighbors& result) {
    auto place = at(query * result.count);
    for (; begin != end; ++begin, ++place) {
        result.squared[place] = begin->squared;
        result.indices[place] = begin->point;
    }
}

// Finds the neighbours of points among themselves: each product is used for both of its blocks.
template <class Scalar>
void find_both(const Search<Scalar>& search, const RowBlocks& blocks, std::vector<Scratch<Scalar>>& scratch,
               Neighbors& result, const Run& run) {
    const Index n = blocks.rows;
    const double bytes = static_cast<double>(n) *
                         static_cast<double>(sizeof(Shortlist<Scalar>) +
                                             Shortlist<Scalar>::capacity(result.count) * sizeof(Candidate<Scalar>));
    require_memory(bytes, "the search for nearest neighbours");
    std::vector<Shortlist<Scalar>> shortlists(at(n));
    const Index b = blocks.count();
    const Index pairs = b * (b - 1) / 2;
    const auto share = [&](Index done) { return static_cast<double>(done) / static_cast<double>(b + pairs); };
    for_each_block(b, run, {stage_name, 0, share(b)}, [&](Index block, int worker) {
        search.shortlist(blocks.begin(block), blocks.end(block), blocks.begin(block), blocks.end(block),
                         shortlists.data() + blocks.begin(block), scratch[at(worker)]);
    });
    // Pairs block i with block i + gap, so that neighbouring tasks use different shortlists. The order of tasks changes
    // the shortlists, but not the nearest points.
    std::vector<std::mutex> owned(at(b));
    Index done = b;
    for (Index gap = 1; gap < b; ++gap) {
        const Stage part{stage_name, share(done), share(done + b - gap)};
        for_each_block(b - gap, run, part, [&](Index left, int worker) {
            Scratch<Scalar>& mine = scratch[at(worker)];
            search.multiply(blocks.begin(left), blocks.end(left), blocks.begin(left + gap), blocks.end(left + gap),
                            mine);
            const std::scoped_lock lock(owned[at(left)], owned[at(left + gap)]);
            search.shortlist_both(blocks, left, left + gap, shortlists.data(), mine);
        });
        done += b - gap;
    }
    for_each_block(b, run.threads, [&](Index block, int worker) {
        Scratch<Scalar>& mine = scratch[at(worker)];
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            search.measure(shortlists[at(i)], i, mine);
            write_found(mine.found.begin(), mine.found.end(), i, result);
        }
    });
}

// Finds the neighbours of each query among n points, which are cut into segments if there are few blocks of queries.
template <class Scalar>
void find_each(const Search<Scalar>& search, const RowBlocks& blocks, Index n, std::vector<Scratch<Scalar>>& scratch,
               Neighbors& result, const Run& run) {
    const Index count = result.count;
    const Index segments = std::min((kTasks + blocks.count() - 1) / blocks.count(), (n + kSegment - 1) / kSegment);
    const RowBlocks cuts{n, (n + segments - 1) / segments};
    const Index parts = cuts.count();
    const Found none{std::numeric_limits<double>::infinity(), std::numeric_limits<std::int32_t>::max()};
    // The neighbours in each segment.
    std::vector<Found> partial(parts > 1 ? result.squared.size() * at(parts) : 0, none);
    for_each_block(blocks.count() * parts, run, {stage_name}, [&](Index task, int worker) {
        Scratch<Scalar>& mine = scratch[at(worker)];
        mine.shortlists.resize(at(kQueries));
        const Index block = task / parts;
        const Index part = task % parts;
        const Index begin = blocks.begin(block);
        search.shortlist(begin, blocks.end(block), cuts.begin(part), cuts.end(part), mine.shortlists.data(), mine);
        for (Index i = begin; i < blocks.end(block); ++i) {
            search.measure(mine.shortlists[at(i - begin)], i, mine);
            if (parts > 1)
                std::copy(mine.found.begin(), mine.found.end(), partial.begin() + (i * parts + part) * count);
            else
                write_found(mine.found.begin(), mine.found.end(), i, result);
        }
    });
    if (parts == 1) return;
    for (Index i = 0; i < blocks.rows; ++i) {
        const auto begin = partial.begin() + i * parts * count;
        std::partial_sort(begin, begin + count, begin + parts * count);
        write_found(begin, begin + count, i, result);
    }
}

template <class Scalar>
Neighbors find(PointsView points, PointsView queries, Index count, bool among_themselves, const Run& run) {
    const Vector<double> center = mean(points, run);
    double largest = largest_magnitude(points, center, run.threads);
    if (!among_themselves) largest = std::max(largest, largest_magnitude(queries, center, run.threads));
    const double scale = scale_to_one(largest);
    const Prepared<Scalar> prepared_points = centred_rows<Scalar>(points, center, scale, run.threads);
    Prepared<Scalar> own_queries;
    if (!among_themselves) own_queries = centred_rows<Scalar>(queries, center, scale, run.threads);
    const Prepared<Scalar>& prepared_queries = among_themselves ? prepared_points : own_queries;

    Neighbors result;
    result.count = count;
    const auto total = at(queries.rows()) * at(count);
    require_memory(static_cast<double>(total) * (sizeof(double) + sizeof(std::int32_t)),
                   "the list of nearest neighbours");
    result.indices.resize(total);
    result.squared.resize(total);

    const RowBlocks blocks{queries.rows(), kQueries};
    if (blocks.count() == 0) return result;
    std::vector<Scratch<Scalar>> scratch(at(std::max(run.threads, 1)));
    const Search<Scalar> search(points, queries, prepared_points, prepared_queries, count, among_themselves);
    if (among_themselves && blocks.count() > 1 && count <= kCountBoth)
        find_both(search, blocks, scratch, result, run);
    else
        find_each(search, blocks, points.rows(), scratch, result, run);
    return result;
}

Neighbors find(PointsView points, PointsView queries, Index count, bool among_themselves, const Run& run) {
    const Index available = points.rows() - (among_themselves ? 1 : 0);
    if (points.rows() > std::numeric_limits<std::int32_t>::max())
        throw BadArgument(Code::not_supported,
                          filled("nearest_neighbors: {} rows; at most 2147483647 are supported", points.rows()));
    if (count < 1 || count > available)
        throw BadArgument(
            Code::not_accepted,
            filled(
                "nearest_neighbors: count {} is not from 1 to {}, the largest possible number of neighbours among {}",
                count, available, counted(points.rows(), "row")),
            "", {.value = std::to_string(count), .accepted = filled("from 1 to {}", available)});
    if (points.columns() != queries.columns())
        throw BadArgument(Code::wrong_shape, filled("nearest_neighbors: the rows have {} columns, the queries {}",
                                                    points.columns(), queries.columns()));
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
