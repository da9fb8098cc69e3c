// Greedy k-means++ updates D_i^2 in passes. They skip rows that no new centroid can be closer to (triangle inequality).
// A pass adds several centroids at once, because a kernel compares as many of them as a register has lanes in the time
// of one. Before their pass, rejection corrects the draws, so that they remain exact.
// For many clusters, k-means|| draws many rows per pass instead. Random numbers come from numbered streams, so they are
// the same for any number of threads and processes.

#include "coterie/kmeans/seeding.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "coterie/base/options.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/gathered_rows.hpp"
#include "coterie/base/text.hpp"
#include "coterie/kmeans/centroid_fit.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/panels.hpp"
#include "coterie/linalg/sparse_rows.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::CentroidPanels;

// A row of the points: its number and values.
template <class T>
struct Seed {
    Index row = -1;
    std::vector<T> values;
};

template <class T>
std::vector<Seed<T>> seeds_of(PointsView points, const std::vector<Index>& rows, const Run& run) {
    const internal::GatheredRows<T> values(points, rows, run);
    std::vector<Seed<T>> out;
    for (std::size_t j = 0; j < rows.size(); ++j) out.push_back({rows[j], {values[j], values[j] + points.columns()}});
    return out;
}

template <class T>
Matrix<T> values_of(const std::vector<Seed<T>>& seeds) {
    Matrix<T> out(static_cast<Index>(seeds.size()), static_cast<Index>(seeds.front().values.size()));
    for (std::size_t j = 0; j < seeds.size(); ++j)
        std::copy(seeds[j].values.begin(), seeds[j].values.end(), out.data() + static_cast<Index>(j) * out.cols());
    return out;
}

// Squared distances D_i^2 from the rows to the nearest centroid chosen so far, updated in passes over the rows. Row:
// const T*, or SparseRow<T> of sparse points.
template <class T, class Row>
class ClosestDistances {
    static constexpr bool sparse = std::is_same_v<Row, SparseRow<T>>;

public:
    /// `origin`: any location close to the points; it only keeps rounding errors small. `picked`: the rows to use, for
    /// points in memory; empty: all. `done`, here and below: the completed part of the seeding, from 0 to 1, for
    /// progress reports.
    ClosestDistances(PointsView points, std::vector<Index> picked, std::span<const double> weights,
                     const Vector<T>& origin, double done, const Run& run)
        : points_(points), picked_(std::move(picked)), weights_(weights), run_(run), origin_(origin) {
        internal::BlockReader reader(points_, run_);
        internal::for_each_own_block(grid_, run_, stage(1, done), [&](Index number, int worker) {
            const auto row = rows_of_block(reader, number, worker);
            for (Index i = grid_.begin(number); i < grid_.end(number); ++i)
                norm_[at(i - own_.begin)] = squared_distance(row(i), origin_.data(), origin_squared_);
        });
    }

    /// Updates the distances with new centroids.
    void take_in(const std::vector<Seed<T>>& fresh, double done) {
        const Columns columns = pack(fresh);
        internal::BlockReader reader(points_, run_);
        internal::for_each_own_block(grid_, run_, stage(columns.rows.rows(), done), [&](Index number, int worker) {
            Scratch& s = scratch_[at(worker)];
            for_reachable(reader, number, worker, columns.reach, s, [&](std::size_t count) {
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
            sum_potential(number);
        });
        for (const auto& seed : fresh) remember(seed);
    }

    /// Updates the distances with one new centroid, or none (nullptr). Returns by how much each candidate would then
    /// lower sum_i w_i D_i^2.
    std::vector<double> gains(const Seed<T>* fresh, const std::vector<Seed<T>>& candidates, double done) {
        std::vector<Seed<T>> seeds;
        if (fresh != nullptr) seeds.push_back(*fresh);
        seeds.insert(seeds.end(), candidates.begin(), candidates.end());
        const Columns columns = pack(seeds);
        Index width = 0;
        int widest = 0;
        for (const auto& panel : columns.panels.panels()) {
            width += columns.panels.width(panel);
            widest = std::max(widest, columns.panels.width(panel));
        }
        internal::BlockSums sums(width);
        internal::BlockReader reader(points_, run_);
        const auto gain =
            sums(grid_, run_, stage(columns.rows.rows(), done), [&](Index number, int worker, double* sum) {
                Scratch& s = scratch_[at(worker)];
                s.score.resize(Scratch::rows * at(widest));
                for_reachable(reader, number, worker, columns.reach, s, [&](std::size_t count) {
                    Index column = 0;
                    for (const auto& panel : columns.panels.panels()) {
                        columns.panels.scores(panel, s.row.data(), static_cast<Index>(count), s.score.data());
                        const int here = columns.panels.width(panel);
                        if (column == 0) {
                            for (std::size_t r = 0; r < count; ++r) {
                                if (fresh != nullptr) improve(s, r, s.score[r * at(here)], 0, columns);
                                s.closest[r] = closest_[s.index[r]];
                            }
                        }
                        kernels_.add_gains(s.score.data(), static_cast<Index>(count), here, s.norm.data(),
                                           s.closest.data(), weights_.empty() ? nullptr : s.weight.data(),
                                           sum + column);
                        column += here;
                    }
                });
                sum_potential(number);
            });
        if (fresh != nullptr) remember(*fresh);
        const auto first = gain.begin() + (fresh != nullptr ? 1 : 0);
        return {first, first + static_cast<std::ptrdiff_t>(candidates.size())};
    }

    /// Draws a row with probability proportional to w_i D_i^2 as of the last pass; u is uniform on [0, 1). Returns the
    /// row and its D_i^2, or row -1 if all D_i are 0.
    std::pair<Seed<T>, double> draw(double u) {
        if (all_potentials_.empty()) all_potentials_ = internal::gather(run_.communicator(), potential_);
        double left = u * std::accumulate(all_potentials_.begin(), all_potentials_.end(), 0.0);
        const Index last =
            internal::row_at_share(0, grid_.count(), left, [&](Index block) { return all_potentials_[at(block)]; });
        if (last < 0) return {};
        struct Drawn {
            Index row = -1;
            double closest = 0;
        } drawn;
        if (blocks_.has(last)) {
            const auto closest = [&](Index i) { return static_cast<double>(closest_[at(i - own_.begin)]); };
            drawn.row = internal::row_at_share(grid_.begin(last), grid_.end(last), left,
                                               [&](Index i) { return weight(i) * closest(i); });
            if (drawn.row >= 0) drawn.closest = closest(drawn.row);
        }
        drawn =
            internal::from_process(run_.communicator(), internal::process_of(last, grid_, run_.communicator()), drawn);
        return {seeds_of<T>(points_, {drawn.row}, run_).front(), drawn.closest};
    }

private:
    struct Scratch {
        static constexpr std::size_t rows = 480;
        std::vector<std::size_t> index = std::vector<std::size_t>(rows);  // among this process' rows
        std::vector<Row> row = std::vector<Row>(rows);
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
        std::vector<double> squared;  // squared norms of `rows`, for sparse points
        std::vector<T> reach;         // per centroid so far: rows within this squared distance are skipped
    };

    double weight(Index i) const { return weights_.empty() ? 1.0 : weights_[at(picked_.empty() ? i : picked_[at(i)])]; }
    // Returns a function from a row's number to its values, for the rows of a block.
    auto rows_of_block(internal::BlockReader& reader, Index number, int worker) const {
        const Index* const picked = picked_.empty() ? nullptr : picked_.data();
        if constexpr (sparse) {
            return [rows = as_sparse(points_), picked](Index i) {
                return rows->template row<T>(picked != nullptr ? picked[i] : i);
            };
        } else {
            const Rows<T> rows = picked_.empty() ? reader.block<T>(number, worker).rows : points_.as<T>();
            const Index first = grid_.begin(number);
            return [rows, first, picked](Index i) {
                return picked != nullptr ? rows.row(picked[i]) : rows.row(i - first);
            };
        }
    }
    // `squared`: internal::squared_norm of c; used only for sparse rows.
    T squared_distance(const Row& row, const T* c, double squared) const {
        if constexpr (sparse)
            return static_cast<T>(internal::squared_distance(row, c, squared));
        else
            return kernels_.squared_distance(row, c, d_);
    }
    Stage stage(Index columns, double done) const {
        return {.name = "seeding",
                .begin = done,
                .end = done,
                .operations = 2.0 * static_cast<double>(grid_.rows) * static_cast<double>(d_ * columns)};
    }

    void remember(const Seed<T>& seed) {
        centroids_.insert(centroids_.end(), seed.values.begin(), seed.values.end());
        ++count_;
        all_potentials_.clear();
    }

    Columns pack(const std::vector<Seed<T>>& seeds) const {
        Columns out;
        out.rows = values_of(seeds);
        out.panels.pack(Rows<T>{out.rows.data(), out.rows.rows(), out.rows.cols(), out.rows.cols()}, origin_);
        out.error = out.panels.error_bound();
        if constexpr (sparse) {  // distances between centroids cost more time than they save: no row is skipped
            for (Index j = 0; j < out.rows.rows(); ++j)
                out.squared.push_back(internal::squared_norm(out.rows.data() + j * d_, d_));
            out.reach.assign(at(count_), T(-1));
            return out;
        }
        // A row within half the distance from its centroid c_a to every new column keeps its centroid: min_j ||c_j -
        // c_a||^2 / 4.
        out.reach.resize(at(count_));
        const RowBlocks parts{count_, 32};
        const int threads =
            threads_for(3.0 * static_cast<double>(parts.rows) * static_cast<double>(out.rows.size()), run_.threads);
        for_each_block(parts.count(), threads, [&](Index part, int) {
            for (Index a = parts.begin(part); a < parts.end(part); ++a) {
                T least = std::numeric_limits<T>::max();
                for (Index j = 0; j < out.rows.rows(); ++j)
                    least = std::min(least,
                                     kernels_.squared_distance(out.rows.row(j).data(), centroids_.data() + a * d_, d_));
                out.reach[at(a)] = least / 4;
            }
        });
        return out;
    }

    // Gathers the rows of a block that may be closer to a new column, and passes them on in chunks of Scratch::rows. A
    // block without such rows is not read.
    template <class Act>
    void for_reachable(internal::BlockReader& reader, Index number, int worker, const std::vector<T>& reach, Scratch& s,
                       Act&& act) {
        const Index begin = grid_.begin(number), end = grid_.end(number);
        std::optional<decltype(rows_of_block(reader, number, worker))> row;  // read at the first such row
        for (Index i = begin; i < end;) {
            std::size_t count = 0;
            for (; i < end && count < Scratch::rows; ++i) {
                const std::size_t mine = at(i - own_.begin);
                const std::int32_t a = nearest_[mine];
                if (a >= 0 && closest_[mine] <= reach[at(a)]) continue;
                if (!row) row.emplace(rows_of_block(reader, number, worker));
                s.index[count] = mine;
                s.row[count] = (*row)(i);
                s.norm[count] = norm_[mine];
                if (!weights_.empty()) s.weight[count] = weight(i);
                ++count;
            }
            if (count > 0) act(count);
        }
    }

    void improve(const Scratch& s, std::size_t r, T score, std::int32_t column, const Columns& columns) {
        const std::size_t i = s.index[r];
        T squared = s.norm[r] + 2 * score;
        // The product form is too inexact for small distances: a point that is a centroid must have distance 0.
        if (static_cast<double>(squared) <
            4 * (columns.error.constant + columns.error.slope * static_cast<double>(s.norm[r])))
            squared =
                squared_distance(s.row[r], columns.rows.row(column).data(), sparse ? columns.squared[at(column)] : 0.0);
        if (squared < closest_[i]) {
            closest_[i] = squared;
            nearest_[i] = count_ + column;
        }
    }

    void sum_potential(Index block) {
        double potential = 0;
        for (Index i = grid_.begin(block); i < grid_.end(block); ++i)
            potential += weight(i) * static_cast<double>(closest_[at(i - own_.begin)]);
        potential_[at(block - blocks_.begin)] = potential;
    }

    PointsView points_;
    std::vector<Index> picked_;
    Index d_ = points_.columns();
    std::span<const double> weights_;
    const Run& run_;
    const internal::Kernels<T>& kernels_ = internal::kernels<T>();
    RowBlocks grid_ = internal::grid_of(picked_.empty() ? points_.rows() : static_cast<Index>(picked_.size()), d_);
    internal::Range blocks_ = internal::own_blocks(grid_, run_.communicator());  // this process' blocks
    internal::Range own_ = internal::own_rows(grid_, run_.communicator());       // this process' rows
    std::vector<T> centroids_;                                                   // the centroids taken in so far
    std::int32_t count_ = 0;                                                     // number of centroids taken in
    // D_i^2 of each of this process' rows
    std::vector<T> closest_ = std::vector<T>(at(own_.count()), std::numeric_limits<T>::max());
    std::vector<std::int32_t> nearest_ = std::vector<std::int32_t>(closest_.size(), -1);
    std::vector<T> norm_ = std::vector<T>(closest_.size());
    std::vector<double> potential_ = std::vector<double>(at(blocks_.count()));  // of each of this process' blocks
    std::vector<double> all_potentials_;                                        // of each block; empty until needed
    std::vector<Scratch> scratch_ = std::vector<Scratch>(at(std::max(run_.threads, 1)));
    Vector<T> origin_;
    double origin_squared_ = sparse ? internal::squared_norm(origin_.data(), d_) : 0.0;
};

// A location close to most points, which a few distant points do not change: the median of about 128 rows in each
// column. For sparse points it is 0, because most of their values are 0.
template <class T>
Vector<T> amid(PointsView points, const Run& run) {
    if (as_sparse(points) != nullptr) return Vector<T>::Zero(points.columns());
    std::vector<Index> rows;
    const Index step = std::max<Index>(1, points.rows() / 128);
    for (Index i = 0; i < points.rows(); i += step) rows.push_back(i);
    const internal::GatheredRows<T> gathered(points, rows, run);
    std::vector<const T*> values;
    for (std::size_t j = 0; j < rows.size(); ++j) values.push_back(gathered[j]);
    return CentroidPanels<T>::medians(values, points.columns());
}

// Draws a row with probability proportional to its weight.
Index draw_by_weight(Index n, std::span<const double> weights, RandomStream& random) {
    if (weights.empty()) return static_cast<Index>(random.below(static_cast<std::uint64_t>(n)));
    double left = random.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
    return internal::row_at_share(0, n, left, [&](Index i) { return weights[at(i)]; });
}

// Draws one row from each of `count` equal ranges of rows.
std::vector<Index> stratified_sample(Index n, Index count, RandomStream random) {
    std::vector<Index> rows;
    for (Index j = 0; j < count; ++j) {
        const Index begin = j * n / count, end = (j + 1) * n / count;
        rows.push_back(begin + static_cast<Index>(random.below(static_cast<std::uint64_t>(end - begin))));
    }
    return rows;
}

// Each step draws candidates with probability proportional to w_i D_i^2 and chooses the candidate that lowers the
// inertia most. The draws are exact: distances that ignore the last few centroids are upper bounds, so a drawn row is
// accepted with probability new / old. Candidates are compared on all rows, or on a sample with many rows per cluster.
// `begun`: the part of the seeding that is already completed.
template <class T, class Row>
std::vector<Seed<T>> greedy_among(PointsView points, int k, const SeedingOptions& options,
                                  std::span<const double> weights, std::uint64_t repetition, double begun,
                                  const Run& run, PointsView existing) {
    RandomStream random = run.random("kmeans.seeding", repetition);
    const int candidates = options.candidates.value_or(usual_candidates(k));
    const Index sample_size = options.sample.value_or(std::max<Index>(32768, 128 * static_cast<Index>(k)));
    const Vector<T> origin = amid<T>(points, run);
    ClosestDistances<T, Row> all(points, {}, weights, origin, begun, run);
    Points sampled;  // copies of the sample's rows, if some rows are not in this process' memory
    std::vector<double> sampled_weights;
    std::optional<ClosestDistances<T, Row>> sample;
    if (sample_size < points.rows()) {
        std::vector<Index> rows =
            stratified_sample(points.rows(), sample_size, run.random("kmeans.seeding-sample", repetition));
        if ((points.resident() || as_sparse(points) != nullptr) && run.communicator().size() == 1) {
            sample.emplace(points, std::move(rows), weights, origin, begun, run);
        } else {
            sampled = internal::gather_rows(points, rows, run);
            if (!weights.empty())
                for (const Index row : rows) sampled_weights.push_back(weights[at(row)]);
            sample.emplace(sampled, std::vector<Index>(), sampled_weights, origin, begun, run);
        }
    }
    const auto& kernels = internal::kernels<T>();
    const auto most_waiting = static_cast<std::size_t>(kernels.lanes) - 1;

    std::vector<Seed<T>> chosen;
    std::vector<Seed<T>> waiting;     // chosen, but not in `all` yet
    bool judges_know_last = !sample;  // whether the distances that compare candidates include the last chosen centroid
    if (existing.empty()) {
        chosen = seeds_of<T>(points, {draw_by_weight(points.rows(), weights, random)}, run);
        all.take_in(chosen, begun);
    } else {
        std::vector<Seed<T>> there;
        for (Index j = 0; j < existing.rows(); ++j) {
            const T* const values = existing.as<T>().row(j);
            there.push_back({-1, {values, values + existing.columns()}});
        }
        all.take_in(there, begun);
        if (sample) sample->take_in(there, begun);
        judges_know_last = true;
    }
    while (static_cast<int>(chosen.size()) < k) {
        run.throw_if_stopped("seeding");
        const double done = begun + (1 - begun) * static_cast<double>(chosen.size()) / k;
        run.report({.stage = "seeding", .fraction = done});
        std::vector<Seed<T>> drawn;
        int refusals = 0;
        while (static_cast<int>(drawn.size()) < candidates) {
            auto [seed, before] = all.draw(random.uniform());
            if (seed.row < 0) break;
            double now = before;
            for (const auto& other : waiting)
                now = std::min(now, static_cast<double>(kernels.squared_distance(
                                        seed.values.data(), other.values.data(), points.columns())));
            if (now >= before || random.uniform() * before < now) {
                drawn.push_back(std::move(seed));
            } else if (++refusals > 16 * candidates) {
                all.take_in(waiting, done);  // most draws are rejected: update the distances
                waiting.clear();
                if (!sample) judges_know_last = true;
                drawn.clear();
                refusals = 0;
            }
        }
        if (drawn.empty()) break;  // every point is a centroid: there are no more distinct points
        const auto gains = (sample ? *sample : all).gains(judges_know_last ? nullptr : &chosen.back(), drawn, done);
        if (!sample) waiting.clear();
        chosen.push_back(std::move(drawn[at(std::max_element(gains.begin(), gains.end()) - gains.begin())]));
        judges_know_last = false;
        waiting.push_back(chosen.back());
        if (waiting.size() > most_waiting) {
            all.take_in(waiting, done);
            waiting.clear();
        }
    }
    return chosen;
}

template <class T>
std::vector<Seed<T>> greedy(PointsView points, int k, const SeedingOptions& options, std::span<const double> weights,
                            std::uint64_t repetition, double begun, const Run& run, PointsView existing = {}) {
    return as_sparse(points) != nullptr
               ? greedy_among<T, SparseRow<T>>(points, k, options, weights, repetition, begun, run, existing)
               : greedy_among<T, const T*>(points, k, options, weights, repetition, begun, run, existing);
}

// k-means||: five rounds; each draws about 2k points at once with probability proportional to their squared distance.
template <class T>
std::vector<Seed<T>> oversampled(PointsView points, int k, const SeedingOptions& options,
                                 std::span<const double> weights, std::uint64_t repetition, const Run& run) {
    RandomStream random = run.random("kmeans.oversampling-first", repetition);
    constexpr int rounds = 5;
    constexpr double drawing = 0.5;  // the part of the seeding that the rounds take; the choice among their points is
                                     // the rest
    const RowBlocks grid = internal::grid_of(points);
    const internal::Range own_blocks = internal::own_blocks(grid, run.communicator());
    const internal::Range own = internal::own_rows(grid, run.communicator());
    const auto weight = [&](Index i) { return weights.empty() ? 1.0 : weights[at(i)]; };
    std::vector<Seed<T>> chosen = seeds_of<T>(points, {draw_by_weight(points.rows(), weights, random)}, run);
    std::vector<double> closest(at(own.count()), std::numeric_limits<double>::infinity());
    std::vector<std::int32_t> owner(closest.size(), 0);
    std::size_t taken_in = 0;
    const auto take_in = [&] {
        const Matrix<T> fresh =
            values_of(std::vector<Seed<T>>(chosen.begin() + static_cast<std::ptrdiff_t>(taken_in), chosen.end()));
        const Nearest found = nearest_centroids(points, fresh, run, NearestWants::distances);
        for (std::size_t i = 0; i < closest.size(); ++i)
            if (found.squared[i] < closest[i]) {
                closest[i] = found.squared[i];
                owner[i] = static_cast<std::int32_t>(taken_in) + found.labels[i];
            }
        taken_in = chosen.size();
    };
    take_in();
    internal::BlockSums sums(1);
    for (int round = 0; round < rounds; ++round) {
        const double done = drawing * round / rounds;
        const Stage stage{.name = "seeding", .begin = done, .end = done};
        const double potential = sums(grid, run, stage, [&](Index block, int, double* sum) {
            for (Index i = grid.begin(block); i < grid.end(block); ++i) *sum += weight(i) * closest[at(i - own.begin)];
        })[0];
        if (potential <= 0) break;
        // One stream per block: the result does not depend on the thread or process that draws.
        std::vector<std::vector<Index>> found(at(own_blocks.count()));
        internal::for_each_own_block(grid, run, stage, [&](Index block, int) {
            RandomStream stream =
                run.random("kmeans.oversampling", (repetition * rounds + static_cast<std::uint64_t>(round)) << 32 |
                                                      static_cast<std::uint64_t>(block));
            for (Index i = grid.begin(block); i < grid.end(block); ++i)
                if (stream.uniform() * potential < 2.0 * k * weight(i) * closest[at(i - own.begin)])
                    found[at(block - own_blocks.begin)].push_back(i);
        });
        std::vector<Index> rows;
        for (const auto& some : found) rows.insert(rows.end(), some.begin(), some.end());
        rows = internal::gather(run.communicator(), rows);
        if (rows.empty()) continue;
        for (auto& seed : seeds_of<T>(points, rows, run)) chosen.push_back(std::move(seed));
        take_in();
    }
    // Each candidate gets the summed weight of the points nearest to it. Greedy k-means++ then chooses the k best.
    internal::BlockSums masses(static_cast<Index>(chosen.size()));
    const auto mass =
        masses(grid, run, {.name = "seeding", .begin = drawing, .end = drawing}, [&](Index block, int, double* sum) {
            for (Index i = grid.begin(block); i < grid.end(block); ++i) sum[owner[at(i - own.begin)]] += weight(i);
        });
    const Matrix<T> pool = values_of(chosen);
    auto kept = greedy<T>(pool, k, options, mass, repetition, drawing, run);
    // The drawn rows have fewer than k distinct ones: use all rows.
    if (static_cast<int>(kept.size()) < k) return greedy<T>(points, k, options, weights, repetition, 1, run);
    for (auto& seed : kept) seed.row = chosen[at(seed.row)].row;
    return kept;
}

// k different rows drawn by weight (Efraimidis and Spirakis 2006): the k largest of u^(1/w), here as the k smallest of
// -log(u)/w. Only the k smallest keys so far are kept.
std::vector<Index> random_rows(Index n, int k, std::span<const double> weights, RandomStream random) {
    std::vector<std::pair<double, Index>> keys;  // a heap with the largest key first
    for (Index i = 0; i < n; ++i) {
        const double u = random.uniform();
        const double weight = weights.empty() ? 1.0 : weights[at(i)];
        if (!(weight > 0)) continue;
        const std::pair<double, Index> key{-std::log1p(-u) / weight, i};
        if (static_cast<int>(keys.size()) == k) {
            if (!(key < keys.front())) continue;
            std::pop_heap(keys.begin(), keys.end());
            keys.back() = key;
        } else {
            keys.push_back(key);
        }
        std::push_heap(keys.begin(), keys.end());
    }
    std::sort_heap(keys.begin(), keys.end());
    std::vector<Index> rows;
    for (const auto& key : keys) rows.push_back(key.second);
    return rows;
}

}  // namespace

int usual_candidates(int k) { return static_cast<int>(std::lround(2 + 2 * std::log(static_cast<double>(k)))); }

SeedingResult seed_centroids(PointsView points, int k, const SeedingOptions& options, std::span<const double> weights,
                             std::uint64_t repetition, const Run& run, PointsView existing) {
    Index usable = points.rows();
    if (!weights.empty()) usable = std::count_if(weights.begin(), weights.end(), [](double w) { return w > 0; });
    if (k < 1 || k > usable)
        throw BadArgument(k < 1 ? Code::not_accepted : Code::too_few_rows,
                          internal::filled("{} requested from {}{}", counted(k, "starting centroid"),
                                           counted(usable, "row"), weights.empty() ? "" : " with a weight above 0"),
                          "Use from 1 to " + std::to_string(usable),
                          {.option = "clusters", .value = std::to_string(k)});
    const auto require_positive = [](const char* option, std::int64_t value) {
        if (value < 1) throw refused_option(option, value, "`auto`, or a whole number, at least 1");
    };
    require_positive("seeding_candidates", options.candidates.value_or(1));
    require_positive("seeding_sample", options.sample.value_or(1));
    const bool sparse = as_sparse(points) != nullptr;
    if (sparse && options.seeding == Seeding::parallel)
        throw BadArgument(Code::not_supported,
                          "kmeans-parallel is not available for sparse data, because it keeps about 10 "
                          "rows per cluster with all their zeros",
                          "Use auto, kmeans++ or random",
                          {.option = "seeding", .value = "kmeans-parallel", .accepted = "auto, kmeans++, random"});
    return points.with_scalar([&]<class T>() {
        std::vector<Seed<T>> chosen;
        const bool many = options.seeding == Seeding::automatic && k >= 1000 && !sparse;
        if (!existing.empty())
            chosen = greedy<T>(points, k, options, weights, repetition, 0, run, existing);
        else if (options.seeding == Seeding::random)
            chosen = seeds_of<T>(points,
                                 random_rows(points.rows(), k, weights, run.random("kmeans.seeding", repetition)), run);
        else if (many || options.seeding == Seeding::parallel)
            chosen = oversampled<T>(points, k, options, weights, repetition, run);
        else
            chosen = greedy<T>(points, k, options, weights, repetition, 0, run);
        SeedingResult out;
        out.distinct = static_cast<int>(chosen.size());
        // Repeated centroids lose every tie, so their clusters stay empty. If nothing was chosen, every row equals an
        // existing centroid.
        if (chosen.empty()) {
            RandomStream random = run.random("kmeans.seeding", repetition);
            chosen = seeds_of<T>(points, {draw_by_weight(points.rows(), weights, random)}, run);
        }
        chosen.resize(at(k), chosen.front());
        out.centroids = Points(values_of(chosen));
        return out;
    });
}

}  // namespace coterie
