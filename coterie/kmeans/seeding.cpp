#include "coterie/kmeans/seeding.hpp"

#include <cmath>
#include <numeric>
#include <string>

#include "coterie/base/parallel.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/panels.hpp"

namespace coterie {
namespace {

using internal::CentroidPanels;

// Squared distances D_i^2 to the nearest of the centroids chosen so far, kept up to date in passes over the points.
template <class T>
class ClosestDistances {
public:
    ClosestDistances(const Rows<T>& points, std::span<const double> weights, const Run& run)
        : points_(points), weights_(weights), run_(run), blocks_{points.rows, 4096},
          closest_(static_cast<std::size_t>(points.rows), std::numeric_limits<T>::max()),
          nearest_(closest_.size(), -1), norm_(closest_.size()), potential_(static_cast<std::size_t>(blocks_.count())),
          scratch_(static_cast<std::size_t>(std::max(run.threads, 1))) {
        // Any origin amid the points will do; it only keeps rounding errors small.
        const Index step = std::max<Index>(1, points.rows / 512);
        Vector<double> sum = Vector<double>::Zero(points.columns);
        double count = 0;
        for (Index i = 0; i < points.rows; i += step, count += 1)
            for (Index p = 0; p < points.columns; ++p) sum[p] += static_cast<double>(points.row(i)[p]);
        origin_ = (sum / count).template cast<T>();
        const auto& kernels = internal::kernels<T>();
        for_each_block(blocks_.count(), run.threads, [&](Index block, int) {
            for (Index i = blocks_.begin(block); i < blocks_.end(block); ++i)
                norm_[at(i)] = kernels.squared_distance(points_.row(i), origin_.data(), points_.columns);
        });
    }

    /// Takes `pending` (a row number, or -1) into the distances, then finds by how much each candidate row would lower
    /// sum_i w_i D_i^2. `chosen` are the rows taken in before, in order.
    std::vector<double> pass(const std::vector<Index>& chosen, Index pending, const std::vector<Index>& candidates) {
        std::vector<Index> columns;
        if (pending >= 0) columns.push_back(pending);
        columns.insert(columns.end(), candidates.begin(), candidates.end());
        const bool update = pending >= 0;
        const auto number = static_cast<std::int32_t>(chosen.size());  // the pending centroid's own number

        Matrix<T> packed(static_cast<Index>(columns.size()), points_.columns);
        for (std::size_t j = 0; j < columns.size(); ++j)
            packed.row(static_cast<Index>(j)) = points_.block(columns[j], columns[j] + 1);
        CentroidPanels<T> panels;
        panels.pack(Rows<T>{packed.data(), packed.rows(), packed.cols(), packed.cols()}, origin_);
        const auto error = panels.error_bound();

        // A point within half the distance from its centroid to every new one keeps its centroid: min_j ||c_j - c_a||^2 / 4.
        std::vector<T> reach(chosen.size());
        for_each_block((static_cast<Index>(chosen.size()) + 31) / 32, run_.threads, [&](Index part, int) {
            const std::size_t end = std::min(chosen.size(), static_cast<std::size_t>(part + 1) * 32);
            for (std::size_t a = static_cast<std::size_t>(part) * 32; a < end; ++a) {
                T least = std::numeric_limits<T>::max();
                for (Index j = 0; j < packed.rows(); ++j)
                    least = std::min(least, panels.kernels().squared_distance(packed.row(j).data(), points_.row(chosen[a]), points_.columns));
                reach[a] = least / 4;
            }
        });

        Index width = 0;
        for (const auto& panel : panels.panels()) width += panels.width(panel);
        Matrix<double> gains = Matrix<double>::Zero(blocks_.count(), width);
        for_each_block(blocks_.count(), run_.threads, [&](Index block, int worker) {
            auto& scratch = scratch_[static_cast<std::size_t>(worker)];
            scratch.resize(static_cast<std::size_t>(panels.kernels().lanes * panels.kernels().max_vectors));
            const Index end = blocks_.end(block);
            double potential = 0;
            Index i = blocks_.begin(block);
            while (i < end) {
                // Gather the rows that a new centroid may be nearer to.
                std::size_t count = 0;
                for (; i < end && count < Scratch::rows; ++i) {
                    const std::int32_t a = nearest_[at(i)];
                    if (a >= 0 && closest_[at(i)] <= reach[static_cast<std::size_t>(a)]) continue;
                    scratch.index[count] = i;
                    scratch.row[count] = points_.row(i);
                    scratch.norm[count] = norm_[at(i)];
                    if (!weights_.empty()) scratch.weight[count] = weights_[at(i)];
                    ++count;
                }
                bool first = true;
                Index column = 0;
                for (const auto& panel : panels.panels()) {
                    panels.scores(panel, scratch.row.data(), static_cast<Index>(count), scratch.score.data());
                    const Index columns_here = panels.width(panel);
                    if (first) {
                        for (std::size_t r = 0; r < count; ++r) {
                            const std::size_t point = at(scratch.index[r]);
                            if (update) {
                                T squared = scratch.norm[r] + 2 * scratch.score[static_cast<Index>(r) * columns_here];
                                // Too near for the product form to tell: a point that is a centroid must be at distance 0.
                                if (static_cast<double>(squared) < 4 * (error.constant + error.slope * static_cast<double>(scratch.norm[r])))
                                    squared = panels.kernels().squared_distance(scratch.row[r], packed.row(0).data(), points_.columns);
                                if (squared < closest_[point]) {
                                    closest_[point] = squared;
                                    nearest_[point] = number;
                                }
                            }
                            scratch.closest[r] = closest_[point];
                        }
                    }
                    panels.kernels().add_gains(scratch.score.data(), static_cast<Index>(count), static_cast<int>(columns_here),
                                               scratch.norm.data(), scratch.closest.data(),
                                               weights_.empty() ? nullptr : scratch.weight.data(), &gains(block, column));
                    column += columns_here;
                    first = false;
                }
            }
            for (Index r = blocks_.begin(block); r < end; ++r) potential += weight(r) * static_cast<double>(closest_[at(r)]);
            potential_[static_cast<std::size_t>(block)] = potential;
        });

        std::vector<double> total(candidates.size(), 0.0);
        const Index skip = update ? 1 : 0;
        for (Index block = 0; block < gains.rows(); ++block)
            for (std::size_t j = 0; j < total.size(); ++j) total[j] += gains(block, static_cast<Index>(j) + skip);
        return total;
    }

    /// sum_i w_i D_i^2 after the last pass.
    double potential() const { return std::accumulate(potential_.begin(), potential_.end(), 0.0); }
    double closest(Index i) const { return static_cast<double>(closest_[at(i)]); }

    /// A row drawn with probability proportional to w_i D_i^2 (as of the last pass); u uniform on [0, 1). -1 when all are 0.
    Index draw(double u) const {
        double left = u * potential();
        Index last = -1;
        for (Index block = 0; block < blocks_.count(); ++block) {
            const double here = potential_[static_cast<std::size_t>(block)];
            if (here <= 0) continue;
            if (left >= here) {
                left -= here;
                last = block;
                continue;
            }
            last = block;
            break;
        }
        if (last < 0) return -1;
        Index row = -1;
        for (Index i = blocks_.begin(last); i < blocks_.end(last); ++i) {
            const double share = weight(i) * static_cast<double>(closest_[at(i)]);
            if (share <= 0) continue;
            row = i;  // rounding may leave a crumb behind: then the last row with a share is taken
            if (left < share) break;
            left -= share;
        }
        return row;
    }

    double weight(Index i) const { return weights_.empty() ? 1.0 : weights_[at(i)]; }

private:
    struct Scratch {
        static constexpr std::size_t rows = 240;
        std::vector<Index> index = std::vector<Index>(rows);
        std::vector<const T*> row = std::vector<const T*>(rows);
        std::vector<T> norm = std::vector<T>(rows);
        std::vector<T> closest = std::vector<T>(rows);
        std::vector<double> weight = std::vector<double>(rows);
        std::vector<T> score;
        void resize(std::size_t width) { score.resize(rows * width); }
    };
    static std::size_t at(Index i) { return static_cast<std::size_t>(i); }

    Rows<T> points_;
    std::span<const double> weights_;
    const Run& run_;
    RowBlocks blocks_;
    std::vector<T> closest_;
    std::vector<std::int32_t> nearest_;
    std::vector<T> norm_;
    std::vector<double> potential_;
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

template <class T>
std::vector<Index> greedy(const Rows<T>& points, int k, int candidates, std::span<const double> weights, RandomStream random,
                          const Run& run) {
    if (candidates == 0) candidates = static_cast<int>(std::lround(2 + 2 * std::log(static_cast<double>(k))));
    ClosestDistances<T> distances(points, weights, run);
    std::vector<Index> chosen;
    Index pending = draw_by_weight(points.rows, weights, random);
    // Each step needs the distances to all centroids so far to draw from. Taking the last one in costs a pass of its own, so candidates
    // are drawn from the distances before it and accepted with probability new / old: the same distribution, one pass a step.
    const auto take_in = [&](const std::vector<Index>& drawn) {
        auto gains = distances.pass(chosen, pending, drawn);
        chosen.push_back(pending);
        pending = -1;
        return gains;
    };
    take_in({});
    const auto& kernels = internal::kernels<T>();
    while (static_cast<int>(chosen.size()) + (pending >= 0 ? 1 : 0) < k) {
        run.throw_if_stopped("seeding");
        run.report({.stage = "seeding", .fraction = static_cast<double>(chosen.size()) / k});
        std::vector<Index> drawn;
        int refusals = 0;
        while (static_cast<int>(drawn.size()) < candidates) {
            const Index i = distances.draw(random.uniform());
            if (i < 0) break;
            if (pending >= 0) {
                const double before = distances.closest(i);
                const auto to_pending =
                    static_cast<double>(kernels.squared_distance(points.row(i), points.row(pending), points.columns));
                if (random.uniform() * before >= std::min(before, to_pending)) {
                    if (++refusals < 16 * candidates) continue;
                    take_in({});  // the last centroid covered nearly all there was: bring the distances up to date instead
                    drawn.clear();
                    continue;
                }
            }
            drawn.push_back(i);
        }
        if (drawn.empty()) break;  // every point is a centroid: no more distinct points
        const auto gains = pending >= 0 ? take_in(drawn) : distances.pass(chosen, -1, drawn);
        pending = drawn[static_cast<std::size_t>(std::max_element(gains.begin(), gains.end()) - gains.begin())];
    }
    if (pending >= 0) chosen.push_back(pending);
    return chosen;
}

template <class T>
Matrix<T> gather(const Rows<T>& points, const std::vector<Index>& rows) {
    Matrix<T> out(static_cast<Index>(rows.size()), points.columns);
    for (std::size_t j = 0; j < rows.size(); ++j) out.row(static_cast<Index>(j)) = points.block(rows[j], rows[j] + 1);
    return out;
}

// k-means||: a few rounds, each drawing about 2k points at once with probability proportional to their distance.
template <class T>
std::vector<Index> oversampled(const Rows<T>& points, int k, int candidates, std::span<const double> weights, RandomStream random,
                               std::uint64_t repetition, const Run& run) {
    constexpr int rounds = 5;
    const Index n = points.rows;
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)]; };
    std::vector<Index> chosen = {draw_by_weight(n, weights, random)};
    std::vector<double> closest(static_cast<std::size_t>(n), std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> owner(static_cast<std::size_t>(n), 0);
    std::size_t taken_in = 0;
    const auto take_in = [&] {
        const Matrix<T> fresh = gather(points, {chosen.begin() + static_cast<std::ptrdiff_t>(taken_in), chosen.end()});
        const Nearest found = nearest_centroids(points, fresh, run.threads, NearestWants::distances);
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
            RandomStream stream = run.random("kmeans.oversampling", (repetition * rounds + static_cast<std::uint64_t>(round)) << 32 |
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
    const auto kept = greedy(Rows<T>{pool.data(), pool.rows(), pool.cols(), pool.cols()}, k, candidates, mass, random, run);
    // So few distinct rows were drawn that some may be missing: look at all of them.
    if (static_cast<int>(kept.size()) < k) return greedy(points, k, candidates, weights, random, run);
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
        if (left[static_cast<std::size_t>(i)] > 0) keys.emplace_back(-std::log1p(-u) / left[static_cast<std::size_t>(i)], i);
    }
    std::partial_sort(keys.begin(), keys.begin() + k, keys.end());
    std::vector<Index> rows;
    for (int j = 0; j < k; ++j) rows.push_back(keys[static_cast<std::size_t>(j)].second);
    return rows;
}

}  // namespace

SeedingResult seed_centroids(PointsView points, int k, Seeding seeding, int candidates, std::span<const double> weights,
                             std::uint64_t repetition, const Run& run) {
    Index usable = points.rows();
    if (!weights.empty()) usable = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
    if (k < 1 || k > usable)
        throw BadArgument("seeding: " + std::to_string(k) + " clusters asked of " + std::to_string(usable) +
                          (weights.empty() ? " points" : " points with a weight above 0"));
    return points.visit([&]<class T>(const Rows<T>& rows) {
        RandomStream random = run.random("kmeans.seeding", repetition);
        std::vector<Index> chosen;
        const bool many = seeding == Seeding::automatic && k >= 1000;
        if (seeding == Seeding::random) chosen = random_rows(rows.rows, k, weights, random);
        else if (many || seeding == Seeding::parallel) chosen = oversampled(rows, k, candidates, weights, random, repetition, run);
        else chosen = greedy(rows, k, candidates, weights, random, run);
        SeedingResult out;
        out.distinct = static_cast<int>(chosen.size());
        chosen.resize(static_cast<std::size_t>(k), chosen.front());  // repeats lose every tie and stay empty
        out.centroids = Points(gather(rows, chosen));
        return out;
    });
}

}  // namespace coterie
