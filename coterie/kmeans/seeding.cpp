#include "coterie/kmeans/seeding.hpp"

#include <cmath>
#include <numeric>
#include <optional>
#include <string>

#include "coterie/base/parallel.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/panels.hpp"

namespace coterie {
namespace {

using internal::at;

using internal::CentroidPanels;

template <class T>
Matrix<T> gather(const Rows<T>& points, const std::vector<Index>& rows) {
    Matrix<T> out(static_cast<Index>(rows.size()), points.columns);
    for (std::size_t j = 0; j < rows.size(); ++j) out.row(static_cast<Index>(j)) = points.block(rows[j], rows[j] + 1);
    return out;
}

// Squared distances D_i^2 from some rows to the nearest of the centroids chosen so far, kept up to date in passes over
// the rows.
template <class T>
class ClosestDistances {
public:
    /// `rows`: which rows of the points, ascending; empty: all.
    ClosestDistances(const Rows<T>& points, std::vector<Index> rows, std::span<const double> weights, const Run& run)
        : points_(points),
          rows_(std::move(rows)),
          count_(rows_.empty() ? points.rows : static_cast<Index>(rows_.size())),
          weights_(weights),
          run_(run),
          blocks_{count_, std::clamp<Index>(count_ / 64, 256, 4096)},
          closest_(static_cast<std::size_t>(count_), std::numeric_limits<T>::max()),
          nearest_(closest_.size(), -1),
          norm_(closest_.size()),
          potential_(static_cast<std::size_t>(blocks_.count())),
          scratch_(static_cast<std::size_t>(std::max(run.threads, 1))) {
        // Any origin amid the points will do; it only keeps rounding errors small.
        const Index step = std::max<Index>(1, points.rows / 512);
        Vector<double> sum = Vector<double>::Zero(points.columns);
        double some = 0;
        for (Index i = 0; i < points.rows; i += step, some += 1)
            for (Index p = 0; p < points.columns; ++p) sum[p] += static_cast<double>(points.row(i)[p]);
        origin_ = (sum / some).template cast<T>();
        for_each_block(blocks_.count(), run.threads, [&](Index block, int) {
            for (Index i = blocks_.begin(block); i < blocks_.end(block); ++i)
                norm_[at(i)] = kernels_.squared_distance(row(i), origin_.data(), points_.columns);
        });
    }

    /// Takes new centroids (row numbers of the points) into the distances.
    void take_in(const std::vector<Index>& fresh) {
        const Columns columns = pack(fresh);
        for_each_block(blocks_.count(), threads(columns.rows.rows()), [&](Index block, int worker) {
            Scratch& s = scratch_[static_cast<std::size_t>(worker)];
            for_reachable(block, columns.reach, s, [&](std::size_t count) {
                bool first = true;
                for (const auto& panel : columns.panels.panels()) {
                    columns.panels.best(panel, s.row.data(), static_cast<Index>(count), s.score.data(), s.column.data(),
                                        nullptr);
                    for (std::size_t r = 0; r < count; ++r) {
                        if (!first && !(s.score[r] < s.best[r])) continue;
                        s.best[r] = s.score[r];
                        s.centroid[r] = static_cast<std::int32_t>(panel.first) + s.column[r];
                    }
                    first = false;
                }
                for (std::size_t r = 0; r < count; ++r) improve(s, r, s.best[r], s.centroid[r], columns);
            });
            sum_potential(block);
        });
        centroids_.insert(centroids_.end(), fresh.begin(), fresh.end());
    }

    /// Takes one new centroid in (or none: -1) and finds by how much each candidate row would lower sum_i w_i D_i^2
    /// thereafter.
    std::vector<double> gains(Index fresh, const std::vector<Index>& candidates) {
        std::vector<Index> rows;
        if (fresh >= 0) rows.push_back(fresh);
        rows.insert(rows.end(), candidates.begin(), candidates.end());
        const Columns columns = pack(rows);
        Index width = 0;
        int widest = 0;
        for (const auto& panel : columns.panels.panels()) {
            width += columns.panels.width(panel);
            widest = std::max(widest, columns.panels.width(panel));
        }
        Matrix<double> gain = Matrix<double>::Zero(blocks_.count(), width);
        for_each_block(blocks_.count(), threads(columns.rows.rows()), [&](Index block, int worker) {
            Scratch& s = scratch_[static_cast<std::size_t>(worker)];
            s.score.resize(Scratch::rows * static_cast<std::size_t>(widest));
            for_reachable(block, columns.reach, s, [&](std::size_t count) {
                Index column = 0;
                for (const auto& panel : columns.panels.panels()) {
                    columns.panels.scores(panel, s.row.data(), static_cast<Index>(count), s.score.data());
                    const int here = columns.panels.width(panel);
                    if (column == 0) {
                        for (std::size_t r = 0; r < count; ++r) {
                            if (fresh >= 0) improve(s, r, s.score[r * static_cast<std::size_t>(here)], 0, columns);
                            s.closest[r] = closest_[at(s.index[r])];
                        }
                    }
                    kernels_.add_gains(s.score.data(), static_cast<Index>(count), here, s.norm.data(), s.closest.data(),
                                       weights_.empty() ? nullptr : s.weight.data(), &gain(block, column));
                    column += here;
                }
            });
            sum_potential(block);
        });
        if (fresh >= 0) centroids_.push_back(fresh);
        std::vector<double> total(candidates.size(), 0.0);
        const Index skip = fresh >= 0 ? 1 : 0;
        for (Index block = 0; block < gain.rows(); ++block)
            for (std::size_t j = 0; j < total.size(); ++j) total[j] += gain(block, static_cast<Index>(j) + skip);
        return total;
    }

    double closest(Index i) const { return static_cast<double>(closest_[at(i)]); }

    /// A row drawn with probability proportional to w_i D_i^2 as of the last pass; u uniform on [0, 1). -1 when all are
    /// 0.
    Index draw(double u) const {
        double left = u * std::accumulate(potential_.begin(), potential_.end(), 0.0);
        Index last = -1;
        for (Index block = 0; block < blocks_.count(); ++block) {
            const double here = potential_[at(block)];
            if (here <= 0) continue;
            last = block;
            if (left < here) break;
            left -= here;
        }
        if (last < 0) return -1;
        Index drawn = -1;
        for (Index i = blocks_.begin(last); i < blocks_.end(last); ++i) {
            const double share = weight(i) * static_cast<double>(closest_[at(i)]);
            if (share <= 0) continue;
            drawn = i;  // rounding may leave a crumb behind: then the last row with a share is taken
            if (left < share) break;
            left -= share;
        }
        return drawn;
    }

private:
    struct Scratch {
        static constexpr std::size_t rows = 480;
        std::vector<Index> index = std::vector<Index>(rows);
        std::vector<const T*> row = std::vector<const T*>(rows);
        std::vector<T> norm = std::vector<T>(rows);
        std::vector<T> closest = std::vector<T>(rows);
        std::vector<double> weight = std::vector<double>(rows);
        std::vector<T> best = std::vector<T>(rows);
        std::vector<std::int32_t> column = std::vector<std::int32_t>(rows);
        std::vector<std::int32_t> centroid = std::vector<std::int32_t>(rows);
        std::vector<T> score = std::vector<T>(rows);
    };
    struct Columns {
        Matrix<T> rows;
        CentroidPanels<T> panels;
        typename CentroidPanels<T>::ErrorBound error;
        std::vector<T> reach;  // of each centroid so far
    };

    Index point(Index i) const { return rows_.empty() ? i : rows_[at(i)]; }
    const T* row(Index i) const { return points_.row(point(i)); }
    double weight(Index i) const { return weights_.empty() ? 1.0 : weights_[at(point(i))]; }
    int threads(Index columns) const {
        return threads_for(2.0 * static_cast<double>(count_) * static_cast<double>(points_.columns * columns),
                           run_.threads);
    }

    Columns pack(const std::vector<Index>& rows) const {
        Columns out;
        out.rows = gather(points_, rows);
        out.panels.pack(Rows<T>{out.rows.data(), out.rows.rows(), out.rows.cols(), out.rows.cols()}, origin_);
        out.error = out.panels.error_bound();
        // A row within half the distance from its centroid c_a to every new column keeps its centroid: min_j ||c_j -
        // c_a||^2 / 4.
        out.reach.resize(centroids_.size());
        const RowBlocks parts{static_cast<Index>(centroids_.size()), 32};
        const int threads =
            threads_for(3.0 * static_cast<double>(parts.rows) * static_cast<double>(out.rows.size()), run_.threads);
        for_each_block(parts.count(), threads, [&](Index part, int) {
            for (Index a = parts.begin(part); a < parts.end(part); ++a) {
                T least = std::numeric_limits<T>::max();
                for (Index j = 0; j < out.rows.rows(); ++j)
                    least = std::min(least, kernels_.squared_distance(out.rows.row(j).data(),
                                                                      points_.row(centroids_[at(a)]), points_.columns));
                out.reach[at(a)] = least / 4;
            }
        });
        return out;
    }

    // Gathers the rows of a block that a new column may be nearer to, a scratch's worth at a time.
    template <class Act>
    void for_reachable(Index block, const std::vector<T>& reach, Scratch& s, Act&& act) {
        const Index end = blocks_.end(block);
        for (Index i = blocks_.begin(block); i < end;) {
            std::size_t count = 0;
            for (; i < end && count < Scratch::rows; ++i) {
                const std::int32_t a = nearest_[at(i)];
                if (a >= 0 && closest_[at(i)] <= reach[static_cast<std::size_t>(a)]) continue;
                s.index[count] = i;
                s.row[count] = row(i);
                s.norm[count] = norm_[at(i)];
                if (!weights_.empty()) s.weight[count] = weight(i);
                ++count;
            }
            if (count > 0) act(count);
        }
    }

    void improve(const Scratch& s, std::size_t r, T score, std::int32_t column, const Columns& columns) {
        const std::size_t i = at(s.index[r]);
        T squared = s.norm[r] + 2 * score;
        // Too near for the product form to tell: a point that is a centroid must be at distance 0.
        if (static_cast<double>(squared) <
            4 * (columns.error.constant + columns.error.slope * static_cast<double>(s.norm[r])))
            squared = kernels_.squared_distance(s.row[r], columns.rows.row(column).data(), points_.columns);
        if (squared < closest_[i]) {
            closest_[i] = squared;
            nearest_[i] = static_cast<std::int32_t>(centroids_.size()) + column;
        }
    }

    void sum_potential(Index block) {
        double potential = 0;
        for (Index i = blocks_.begin(block); i < blocks_.end(block); ++i)
            potential += weight(i) * static_cast<double>(closest_[at(i)]);
        potential_[at(block)] = potential;
    }

    Rows<T> points_;
    std::vector<Index> rows_;
    Index count_;
    std::span<const double> weights_;
    const Run& run_;
    const internal::Kernels<T>& kernels_ = internal::kernels<T>();
    RowBlocks blocks_;
    std::vector<Index> centroids_;  // taken in so far, as row numbers of the points
    std::vector<T> closest_;
    std::vector<std::int32_t> nearest_;
    std::vector<T> norm_;
    std::vector<double> potential_;  // of each block
    std::vector<Scratch> scratch_;
    Vector<T> origin_;
};

// A row drawn with probability proportional to its weight.
Index draw_by_weight(Index n, std::span<const double> weights, RandomStream& random) {
    if (weights.empty()) return static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
    double left = random.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
    Index row = -1;
    for (Index i = 0; i < n; ++i) {
        const double w = weights[static_cast<std::size_t>(i)];
        if (w <= 0) continue;
        row = i;
        if (left < w) break;
        left -= w;
    }
    return row;
}

// One row drawn from each of `count` equal stretches.
std::vector<Index> stratified_sample(Index n, Index count, RandomStream random) {
    std::vector<Index> rows;
    for (Index j = 0; j < count; ++j) {
        const Index begin = j * n / count;
        const Index end = (j + 1) * n / count;
        rows.push_back(begin + static_cast<Index>(random.below(static_cast<std::uint64_t>(end - begin))));
    }
    return rows;
}

// Each step draws candidates with probability proportional to w_i D_i^2 and keeps the one that lowers the inertia most.
// Drawing is exact: distances that do not know the last few centroids yet are upper bounds, so a row drawn from them is
// accepted with probability new / old. The candidates are compared on all rows, or on a sample of many rows a cluster
// when there are more.
template <class T>
std::vector<Index> greedy(const Rows<T>& points, int k, const SeedingOptions& options, std::span<const double> weights,
                          std::uint64_t repetition, const Run& run) {
    RandomStream random = run.random("kmeans.seeding", repetition);
    const int candidates = options.candidates.value_or(usual_candidates(k));
    const Index sample_size = options.sample.value_or(std::max<Index>(32768, 128 * static_cast<Index>(k)));
    ClosestDistances<T> all(points, {}, weights, run);
    std::optional<ClosestDistances<T>> sample;
    if (sample_size < points.rows)
        sample.emplace(points,
                       stratified_sample(points.rows, sample_size, run.random("kmeans.seeding-sample", repetition)),
                       weights, run);
    const auto& kernels = internal::kernels<T>();
    const auto most_waiting = static_cast<std::size_t>(kernels.lanes) - 1;

    std::vector<Index> chosen = {draw_by_weight(points.rows, weights, random)};
    all.take_in(chosen);
    std::vector<Index> waiting;                  // chosen, but not taken into `all` yet
    Index fresh = sample ? chosen.front() : -1;  // chosen last, not taken into what judges yet
    while (static_cast<int>(chosen.size()) < k) {
        run.throw_if_stopped("seeding");
        run.report({.stage = "seeding", .fraction = static_cast<double>(chosen.size()) / k});
        std::vector<Index> drawn;
        int refusals = 0;
        while (static_cast<int>(drawn.size()) < candidates) {
            const Index i = all.draw(random.uniform());
            if (i < 0) break;
            const double before = all.closest(i);
            double now = before;
            for (const Index c : waiting)
                now = std::min(
                    now, static_cast<double>(kernels.squared_distance(points.row(i), points.row(c), points.columns)));
            if (now >= before || random.uniform() * before < now) {
                drawn.push_back(i);
            } else if (++refusals > 16 * candidates) {
                all.take_in(waiting);  // they cover nearly all there was: bring the distances up to date instead
                waiting.clear();
                if (!sample) fresh = -1;
                drawn.clear();
                refusals = 0;
            }
        }
        if (drawn.empty()) break;  // every point is a centroid: no more distinct points
        const auto gains = (sample ? *sample : all).gains(fresh, drawn);
        fresh = drawn[static_cast<std::size_t>(std::max_element(gains.begin(), gains.end()) - gains.begin())];
        if (!sample) waiting.clear();
        chosen.push_back(fresh);
        waiting.push_back(fresh);
        if (waiting.size() > most_waiting) {
            all.take_in(waiting);
            waiting.clear();
        }
    }
    return chosen;
}

// k-means||: a few rounds, each drawing about 2k points at once with probability proportional to their distance.
template <class T>
std::vector<Index> oversampled(const Rows<T>& points, int k, const SeedingOptions& options,
                               std::span<const double> weights, std::uint64_t repetition, const Run& run) {
    RandomStream random = run.random("kmeans.oversampling-first", repetition);
    constexpr int rounds = 5;
    const Index n = points.rows;
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; };
    std::vector<Index> chosen = {draw_by_weight(n, weights, random)};
    std::vector<double> closest(static_cast<std::size_t>(n), std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> owner(static_cast<std::size_t>(n), 0);
    std::size_t taken_in = 0;
    const auto take_in = [&] {
        const Matrix<T> fresh = gather(points, {chosen.begin() + static_cast<std::ptrdiff_t>(taken_in), chosen.end()});
        const Nearest found = nearest_centroids(points, fresh, run, NearestWants::distances);
        for (std::size_t i = 0; i < closest.size(); ++i)
            if (found.squared[i] < closest[i]) {
                closest[i] = found.squared[i];
                owner[i] = static_cast<std::int32_t>(taken_in) + found.labels[i];
            }
        taken_in = chosen.size();
    };
    take_in();
    for (int round = 0; round < rounds; ++round) {
        run.throw_if_stopped("seeding");
        run.report({.stage = "seeding", .fraction = static_cast<double>(round) / rounds});
        double potential = 0;
        for (Index i = 0; i < n; ++i) potential += weight(i) * closest[static_cast<std::size_t>(i)];
        if (potential <= 0) break;
        // A stream a block: any thread could draw it; the result is the same.
        const RowBlocks blocks{n, 4096};
        std::vector<std::vector<Index>> found(static_cast<std::size_t>(blocks.count()));
        for_each_block(blocks.count(), run.threads, [&](Index block, int) {
            RandomStream stream =
                run.random("kmeans.oversampling", (repetition * rounds + static_cast<std::uint64_t>(round)) << 32 |
                                                      static_cast<std::uint64_t>(block));
            for (Index i = blocks.begin(block); i < blocks.end(block); ++i)
                if (stream.uniform() * potential < 2.0 * k * weight(i) * closest[static_cast<std::size_t>(i)])
                    found[static_cast<std::size_t>(block)].push_back(i);
        });
        for (const auto& some : found) chosen.insert(chosen.end(), some.begin(), some.end());
        if (taken_in == chosen.size()) continue;
        take_in();
    }
    // Each candidate weighs what the points nearest to it weigh together; the k best of them by greedy k-means++.
    std::vector<double> mass(chosen.size(), 0.0);
    for (Index i = 0; i < n; ++i) mass[static_cast<std::size_t>(owner[static_cast<std::size_t>(i)])] += weight(i);
    const Matrix<T> pool = gather(points, chosen);
    const auto kept =
        greedy(Rows<T>{pool.data(), pool.rows(), pool.cols(), pool.cols()}, k, options, mass, repetition, run);
    // So few distinct rows were drawn that some may be missing: look at all of them.
    if (static_cast<int>(kept.size()) < k) return greedy(points, k, options, weights, repetition, run);
    std::vector<Index> rows;
    for (const Index j : kept) rows.push_back(chosen[static_cast<std::size_t>(j)]);
    return rows;
}

// k different rows, each drawn by weight.
std::vector<Index> random_rows(Index n, int k, std::span<const double> weights, RandomStream random) {
    std::vector<double> left(static_cast<std::size_t>(n), 1.0);
    if (!weights.empty()) left.assign(weights.begin(), weights.end());
    // Efraimidis and Spirakis 2006: the k largest of u^(1/w), here as the k smallest of -log(u)/w.
    std::vector<std::pair<double, Index>> keys;
    for (Index i = 0; i < n; ++i) {
        const double u = random.uniform();
        if (left[static_cast<std::size_t>(i)] > 0)
            keys.emplace_back(-std::log1p(-u) / left[static_cast<std::size_t>(i)], i);
    }
    std::partial_sort(keys.begin(), keys.begin() + k, keys.end());
    std::vector<Index> rows;
    for (int j = 0; j < k; ++j) rows.push_back(keys[static_cast<std::size_t>(j)].second);
    return rows;
}

}  // namespace

int usual_candidates(int k) { return static_cast<int>(std::lround(2 + 2 * std::log(static_cast<double>(k)))); }

SeedingResult seed_centroids(PointsView points, int k, const SeedingOptions& options, std::span<const double> weights,
                             std::uint64_t repetition, const Run& run) {
    Index usable = points.rows();
    if (!weights.empty()) usable = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
    if (k < 1 || k > usable)
        throw BadArgument("seeding: " + std::to_string(k) + " clusters asked of " + std::to_string(usable) +
                          (weights.empty() ? " points" : " points with a weight above 0"));
    if (options.candidates.value_or(1) < 1 || options.sample.value_or(1) < 1)
        throw BadArgument("seeding: candidates and sample are numbers above 0, or automatic");
    return points.visit([&]<class T>(const Rows<T>& rows) {
        std::vector<Index> chosen;
        const bool many = options.seeding == Seeding::automatic && k >= 1000;
        if (options.seeding == Seeding::random)
            chosen = random_rows(rows.rows, k, weights, run.random("kmeans.seeding", repetition));
        else if (many || options.seeding == Seeding::parallel)
            chosen = oversampled(rows, k, options, weights, repetition, run);
        else
            chosen = greedy(rows, k, options, weights, repetition, run);
        SeedingResult out;
        out.distinct = static_cast<int>(chosen.size());
        chosen.resize(static_cast<std::size_t>(k), chosen.front());  // repeats lose every tie and stay empty
        out.centroids = Points(gather(rows, chosen));
        return out;
    });
}

}  // namespace coterie
