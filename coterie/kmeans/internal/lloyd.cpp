// Lloyd's iterations with bounds (Yinyang: Ding et al. 2015; with one group Hamerly's), or with all distances if bounds
// do not make the fit faster. Bounds are widened by a proven limit of the rounding error of the kernels. A skipped
// distance therefore cannot change the label, and the result equals that of all distances, bit for bit.
// Only the rows that change their cluster update the sums of clusters, because few rows change after the first
// iterations. The sums are computed from scratch before the fit counts as converged.
// For rows and centroids of length 1, the nearest centroid is the one of largest cosine. Spherical k-means differs only
// in the length of the centroids and in the objective, sum_i w_i (1 - cos).
//
// Invariants: labels, centroids and figures do not depend on threads, processes or where the rows are stored. An
// interrupted fit returns the state after its last finished iteration; changes of the unfinished iteration are undone.
// Memory per row, in addition to the points: 8 bytes in float32; with bounds, 4 bytes more and 4 per group of
// centroids; 16 bytes for each row that changes its cluster in an iteration.

#include "coterie/kmeans/internal/lloyd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/cluster_sums.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/linalg/distances.hpp"
#include "coterie/linalg/panels.hpp"

namespace coterie::kmeans::internal {
namespace {

// Bounds are float for every T. Every step rounds them to the safe side by more than the rounding error of a float.
constexpr float up = 1.0f + 4e-7f;
constexpr float down = 1.0f - 4e-7f;
// Bounds start after the first iteration in which at most one row in kMovedForBounds changes its label.
constexpr Index kMovedForBounds = 10;

// The counts of a pass in addition to the sums over clusters.
enum Counted : std::size_t { moved_rows, distances, scatter_about_origin, counted };

template <class T>
class Lloyd {
public:
    // `origin`: of the panels.
    Lloyd(const LloydProblem& problem, const Matrix<T>& start, const Vector<T>& origin, const Restart& restart)
        : problem_(problem), restart_(restart), centroids_(start) {
        panels_.pack(view(centroids_), origin);
        // Groups of panels share a lower bound. The bounds of all groups take at most an eighth of the points' memory.
        const auto panels = static_cast<Index>(panels_.panels().size());
        groups_ = points_.resident()
                      ? std::clamp<Index>(d_ * static_cast<Index>(sizeof(T)) / 8 / static_cast<Index>(sizeof(float)), 1,
                                          panels)
                      : 1;
        for (Index p = 0; p < panels; ++p) {
            group_of_panel_.push_back(p * groups_ / panels);
            const auto& panel = panels_.panels()[static_cast<std::size_t>(p)];
            group_of_.insert(group_of_.end(), static_cast<std::size_t>(panel.centroids), group_of_panel_.back());
        }
        for (int worker = 0; worker < std::max(1, run_.threads); ++worker) scratch_.emplace_back(cache_rows_);
    }

    LloydResult<T> operator()() {
        LloydResult<T> out;
        const auto stage = [&](int done, int next) -> Stage {
            return {.name = "iterations",
                    .begin = restart_.fraction(done, settings_.max_iterations),
                    .end = restart_.fraction(next, settings_.max_iterations),
                    .operations = 2.0 * static_cast<double>(n_) * static_cast<double>(d_) * k_,
                    .iteration = done,
                    .objective = done > 0 ? out.objectives.back() : std::nan("")};
        };
        try {
            if (const Archive* from = restart_.found()) {
                out.objectives = from->vector("objectives");
                const auto done = static_cast<int>(out.objectives.size());
                go_on(*from, out, stage(done, done));
            }
            while (out.iterations < settings_.max_iterations && out.stopped != StopReason::converged) {
                run_.throw_if_stopped("iterations");
                iterate(out, stage(out.iterations, out.iterations + 1));
                if (restart_.kept != nullptr)
                    restart_.kept->after_iteration([&](Archive& archive) { store(archive, out); });
            }
        } catch (const Cancelled&) {
            if (out.iterations == 0) throw;
            if (under_way_) take_back_moves();
            out.stopped = StopReason::interrupted;
        }
        out.distances_computed = computed_ / (static_cast<double>(n_) * k_);
        out.centroids = std::move(centroids_);
        out.labelled = true;
        if (out.stopped == StopReason::interrupted) {  // an interrupted fit makes no further pass
            out.labels = std::move(labels_);
            out.objective = out.objectives.back();
            return out;
        }
        // Releases memory for the last pass.
        std::vector<float>().swap(upper_);
        std::vector<float>().swap(lower_);
        std::vector<T>().swap(norm_);
        Labels().swap(labels_);
        auto final = nearest_centroids(points_, out.centroids, run_.unstopped(), NearestWants::inertia, weights_);
        out.labels = std::move(final.labels);
        out.objective = settings_.unit_length ? final.inertia / 2 : final.inertia;
        return out;
    }

private:
    // A row whose label changed in this iteration.
    struct Move {
        Index row;  // among this process' rows
        std::int32_t from;
    };
    // A row that was given to an empty cluster.
    struct Repair {
        Index row;  // among all rows
        std::int32_t from, to;
    };
    struct Scratch {
        explicit Scratch(Index rows)
            : index(static_cast<std::size_t>(rows)),
              row(index.size()),
              best(index.size()),
              second(index.size()),
              centroid(index.size()),
              panel_row(index.size()),
              position(index.size()),
              panel_best(index.size()),
              panel_second(index.size()),
              column(index.size()),
              group_best(index.size()),
              group_second(index.size()),
              group_centroid(index.size()),
              all(rows) {}
        std::vector<Index> index;  // rows whose bounds do not prove their label
        std::vector<const T*> row;
        std::vector<T> best, second;  // over the groups computed so far
        std::vector<std::int32_t> centroid;
        std::vector<const T*> panel_row;  // rows that need this group
        std::vector<std::size_t> position;
        std::vector<T> panel_best, panel_second;
        std::vector<std::int32_t> column;
        std::vector<T> group_best, group_second;
        std::vector<std::int32_t> group_centroid;
        BestScore<T> all;  // without bounds
        std::vector<Move> moves;
    };

    using ErrorBound = typename CentroidPanels<T>::ErrorBound;

    static Rows<T> view(const Matrix<T>& m) { return {m.data(), m.rows(), m.cols(), m.cols()}; }
    static Rows<T> view(const Vector<T>& row) { return {row.data(), 1, row.size(), row.size()}; }
    // Rows are numbered from this process' first row, except in the weights.
    double weight(Index i) const { return weight_of(weights_, own_.begin + i); }

    // Rows begin..end-1 of this process, all in one block.
    struct Part {
        const RowBlock<T>& block;
        Index begin, end;
        Index offset;  // number of the block's first row among this process' rows
        const T* row(Index i) const { return block.rows.row(i - offset); }
    };

    // One iteration: labels, then centroids.
    void iterate(LloydResult<T>& out, const Stage& stage) {
        under_way_ = true;
        for (auto& scratch : scratch_) scratch.moves.clear();
        repairs_.clear();
        const Index moved = assign(out.iterations == 0, stage);
        if (out.iterations == 0) measure();
        // While many rows move, most bounds would be too wide to skip any distance.
        if (settings_.bounds && bounds_ == Bounds::none && moved <= n_ / kMovedForBounds) bounds_ = Bounds::wanted;
        out.repaired += repair_empty_clusters();
        const double movement = move_centroids();
        out.objectives.push_back(objective());
        ++out.iterations;
        under_way_ = false;
        restart_.report(run_, out.iterations, settings_.max_iterations, out.objectives.back());
        if (moved != 0 && movement > threshold_) return;
        // Adding and subtracting large terms may lose small terms. The fit has converged only if sums computed from
        // scratch agree.
        auto anew = cluster_sums(points_, labels_, k_, weights_, run_);
        sums_ = std::move(anew.sums);
        cluster_weight_ = std::move(anew.mass);
        if (move_centroids() <= threshold_) out.stopped = StopReason::converged;
    }

    // The objective from labels and sums: the scatter about m minus that of the means; for unit length, sum_j (w_j - ||
    // s_j ||).
    double objective() const {
        double left = settings_.unit_length ? total_weight() : scatter_;
        for (int j = 0; j < k_; ++j) {
            const double w = cluster_weight_[at(j)];
            if (!(w > 0)) continue;
            left -= settings_.unit_length
                        ? sums_.row(j).norm()
                        : w * (sums_.row(j).transpose() / w - panels_.origin().template cast<double>()).squaredNorm();
        }
        return std::max(0.0, left);
    }

    // Stores the state after an iteration. It does not contain values per row: they follow from an assignment to the
    // previous centroids and the list of repaired rows. It contains the sums, because they hold the rounding errors of
    // all additions and subtractions.
    void store(Archive& archive, const LloydResult<T>& out) const {
        archive.set_points("assigned", assigned_);
        archive.set_points("origin", view(panels_.origin()));
        archive.set_points("sums", sums_);
        archive.set_vector("mass", cluster_weight_);
        archive.set_vector("objectives", out.objectives);
        archive.set_vector(
            "figures", as_doubles(scatter_, threshold_, computed_, out.repaired, out.stopped == StopReason::converged));
        std::vector<double> rows;
        std::vector<std::int32_t> clusters;
        for (const Repair& repair : repairs_) {
            rows.push_back(static_cast<double>(repair.row));
            clusters.push_back(repair.to);
        }
        archive.set_vector("repaired_rows", rows);
        archive.set_labels("repaired_clusters", clusters);
    }

    // On entry, the centroids are the `assigned` ones of the checkpoint.
    void go_on(const Archive& from, LloydResult<T>& out, const Stage& stage) {
        const auto figures = from.vector("figures", 5);
        scale_ = std::sqrt(figures[0] / total_weight());
        if (settings_.bounds) bounds_ = Bounds::wanted;
        assign(true, stage);
        scatter_ = figures[0];
        threshold_ = figures[1];
        computed_ = figures[2];
        out.repaired = static_cast<int>(figures[3]);
        if (figures[4] != 0) out.stopped = StopReason::converged;
        const auto rows = from.vector("repaired_rows");
        const auto clusters = from.labels("repaired_clusters", static_cast<Index>(rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) give_to_empty(static_cast<Index>(rows[i]), clusters[i]);
        sums_ = to_matrix<double>(from.points("sums", k_, d_));
        cluster_weight_ = from.vector("mass", k_);
        move_centroids();
        out.iterations = static_cast<int>(out.objectives.size());
    }

    double total_weight() const {
        return weights_.empty() ? static_cast<double>(n_) : std::accumulate(weights_.begin(), weights_.end(), 0.0);
    }

    // Statistics of the points after the first assignment.
    void measure() {
        const double total = total_weight();
        const Vector<double> mean = sums_.colwise().sum().transpose() / total;
        const double about_mean = scatter_ - total * (mean - panels_.origin().template cast<double>()).squaredNorm();
        // The mean of equal points differs from them by the rounding of n additions. Such a difference does not count
        // as movement.
        const double unit = 0x1.0p-53 * static_cast<double>(n_);
        threshold_ = std::max(settings_.tolerance * about_mean / (total * static_cast<double>(d_)),
                              unit * unit * centroids_.template cast<double>().squaredNorm());
        scale_ = std::sqrt(scatter_ / total);
    }

    // One assignment pass: updates labels and the sums of the rows that moved. Returns how many labels changed.
    Index assign(bool first, const Stage& stage) {
        assigned_ = centroids_;
        const auto error = panels_.error_bound(scale_);
        const bool begins = bounds_ == Bounds::wanted;
        if (begins) {
            upper_.resize(labels_.size());
            lower_.resize(labels_.size() * static_cast<std::size_t>(groups_));
        }
        const auto total =
            moved_sums_.over<T>(points_, run_, stage, [&](const RowBlock<T>& block, int worker, double* sums) {
                const Index offset = block.first - own_.begin, stop = offset + block.rows.rows;
                for (Index begin = offset; begin < stop; begin += cache_rows_) {
                    const Part part{block, begin, std::min(begin + cache_rows_, stop), offset};
                    if (first) {
                        for (Index i = begin; i < part.end; ++i) {
                            norm_[at(i)] = panels_.kernels().squared_distance(part.row(i), panels_.origin().data(), d_);
                            layout_.extra(sums)[scatter_about_origin] += weight(i) * static_cast<double>(norm_[at(i)]);
                        }
                    }
                    if (bounds_ != Bounds::none)
                        assign_with_bounds(part, begins, error, scratch_[at(worker)], sums);
                    else
                        assign_all(part, scratch_[at(worker)], sums);
                }
            });
        if (begins) bounds_ = Bounds::kept;
        const double* const sums = total.data();
        for_each_block(k_, centroid_threads_, [&](Index j, int) {
            if (!layout_.touched(sums, j)) return;
            const double* const sum = layout_.sum(sums, j);
            for (Index p = 0; p < d_; ++p) sums_(j, p) += sum[p];
            cluster_weight_[at(j)] += layout_.weight(sums, j);
        });
        computed_ += layout_.extra(sums)[distances];
        if (first) scatter_ = layout_.extra(sums)[scatter_about_origin];
        return static_cast<Index>(layout_.extra(sums)[moved_rows]);
    }

    void relabel(const Part& part, Index i, std::int32_t label, Scratch& s, double* sums) {
        const std::int32_t old = labels_[at(i)];
        if (label == old) return;
        layout_.extra(sums)[moved_rows] += 1;
        const double w = weight(i);
        if (old >= 0) s.moves.push_back({i, old});
        labels_[at(i)] = label;
        if (w == 0) return;
        panels_.kernels().add_scaled(layout_.touch(sums, label), part.row(i), w, d_);
        layout_.weight(sums, label) += w;
        if (old >= 0) {
            panels_.kernels().add_scaled(layout_.touch(sums, old), part.row(i), -w, d_);
            layout_.weight(sums, old) -= w;
        }
    }

    void assign_all(const Part& part, Scratch& s, double* sums) {
        s.all(panels_, part.block.rows, part.begin - part.offset, part.end - part.offset);
        for (Index i = part.begin; i < part.end; ++i) relabel(part, i, s.all.centroid[at(i - part.begin)], s, sums);
        layout_.extra(sums)[distances] += static_cast<double>(part.end - part.begin) * k_;
    }

    // Upper bound u_i >= ||x_i - c_{a_i}||, lower bounds l_ig <= ||x_i - c_j|| for every other c_j in group g. A group
    // is skipped if l^2 - u^2 > twice the error bound: then even the rounded scores of the kernel could not prefer one
    // of its centroids. `first`: there are no bounds yet.
    void assign_with_bounds(const Part& part, bool first, const ErrorBound& error, Scratch& s, double* sums) {
        const std::size_t count = first ? list_all(part, s) : list_unproven(part, error, s, sums);
        if (count == 0) return;
        std::fill_n(s.best.begin(), count, std::numeric_limits<T>::infinity());
        std::fill_n(s.centroid.begin(), count, 0);
        const std::size_t panels = panels_.panels().size();
        for (std::size_t p = 0; p < panels;) {
            const Index g = group_of_panel_[p];
            const std::size_t here = list_rows_of_group(g, count, first, error, s);
            p = search_group(p, here, s, sums);
            merge_group(g, here, error, s);
        }
        for (std::size_t r = 0; r < count; ++r) {
            const Index i = s.index[r];
            if (first || s.centroid[r] != labels_[at(i)]) {
                const double squared =
                    std::max(0.0, static_cast<double>(norm_[at(i)]) + 2 * static_cast<double>(s.best[r]));
                upper_[at(i)] = static_cast<float>(std::sqrt(squared + error.constant +
                                                             error.slope * static_cast<double>(norm_[at(i)]))) *
                                up;
            }
            relabel(part, i, s.centroid[r], s, sums);
        }
    }

    // Twice the error bound of row i.
    float margin(Index i, const ErrorBound& error) const {
        return static_cast<float>(2 * (error.constant + error.slope * static_cast<double>(norm_[at(i)])));
    }
    static bool proves(float lower, float upper, float needed) {
        return lower > 0 && (lower * lower) * down > (upper * upper + needed) * up;
    }

    // Lists all rows of the part in s.index and s.row. Returns their number.
    std::size_t list_all(const Part& part, Scratch& s) const {
        std::size_t count = 0;
        for (Index i = part.begin; i < part.end; ++i) {
            s.index[count] = i;
            s.row[count++] = part.row(i);
        }
        return count;
    }

    // Widens the bounds by the drifts and lists the rows whose bounds do not prove their label.
    std::size_t list_unproven(const Part& part, const ErrorBound& error, Scratch& s, double* sums) {
        std::size_t count = 0;
        const Index groups = groups_;
        for (Index i = part.begin; i < part.end; ++i) {
            const auto label = static_cast<std::size_t>(labels_[at(i)]);
            float* lower = &lower_[at(i * groups)];
            float u = (upper_[at(i)] + drift_[label]) * up;
            float least = std::numeric_limits<float>::infinity();
            const Index own = group_of_[label];
            for (Index g = 0; g < groups; ++g) {
                // The drift of the group's fastest centroid; of the second fastest if the fastest is the point's own.
                const float drift = g == own && fastest_[at(g)] == static_cast<std::int32_t>(label)
                                        ? next_drift_[at(g)]
                                        : group_drift_[at(g)];
                lower[g] = (lower[g] - drift) * (lower[g] > drift ? down : up);
                least = std::min(least, lower[g]);
            }
            upper_[at(i)] = u;
            const float needed = margin(i, error);
            if (proves(least, u, needed)) continue;
            const T squared =
                panels_.kernels().squared_distance(part.row(i), centroids_.row(labels_[at(i)]).data(), d_);
            layout_.extra(sums)[distances] += 1;
            u = std::min(u, static_cast<float>(std::sqrt(static_cast<double>(squared)) * (1 + relative_error_)) * up);
            upper_[at(i)] = u;
            if (proves(least, u, needed)) continue;
            s.index[count] = i;
            s.row[count++] = part.row(i);
        }
        return count;
    }

    // Of the `count` listed rows, lists those whose bounds do not exclude group g, in s.position and s.panel_row.
    std::size_t list_rows_of_group(Index g, std::size_t count, bool first, const ErrorBound& error, Scratch& s) const {
        const Index groups = groups_;
        std::size_t here = 0;
        for (std::size_t r = 0; r < count; ++r) {
            const Index i = s.index[r];
            if (!first && group_of_[at(labels_[at(i)])] != g &&
                proves(lower_[at(i * groups + g)], upper_[at(i)], margin(i, error)))
                continue;
            s.position[here] = r;
            s.panel_row[here++] = s.row[r];
        }
        return here;
    }

    // Finds the best and second centroid of the group that starts with panel p, for the rows in s.panel_row. Returns
    // the first panel of the next group.
    std::size_t search_group(std::size_t p, std::size_t here, Scratch& s, double* sums) {
        const auto& all_panels = panels_.panels();
        const Index g = group_of_panel_[p];
        bool opening = true;
        for (; p < all_panels.size() && group_of_panel_[p] == g; ++p) {
            const auto& panel = all_panels[p];
            if (here == 0) continue;
            T* best = opening ? s.group_best.data() : s.panel_best.data();
            T* second = opening ? s.group_second.data() : s.panel_second.data();
            std::int32_t* column = opening ? s.group_centroid.data() : s.column.data();
            panels_.best(panel, s.panel_row.data(), static_cast<Index>(here), best, column, second);
            layout_.extra(sums)[distances] += static_cast<double>(here) * panel.centroids;
            for (std::size_t h = 0; h < here; ++h) {
                if (opening) {
                    s.group_centroid[h] += static_cast<std::int32_t>(panel.first);
                } else if (s.panel_best[h] < s.group_best[h]) {
                    s.group_second[h] = std::min(s.group_best[h], s.panel_second[h]);
                    s.group_best[h] = s.panel_best[h];
                    s.group_centroid[h] = static_cast<std::int32_t>(panel.first) + s.column[h];
                } else {
                    s.group_second[h] = std::min(s.group_second[h], s.panel_best[h]);
                }
            }
            opening = false;
        }
        return p;
    }

    // Merges the best centroids of group g with those of all groups so far, and sets the group's lower bounds.
    void merge_group(Index g, std::size_t here, const ErrorBound& error, Scratch& s) {
        const Index groups = groups_;
        for (std::size_t h = 0; h < here; ++h) {
            const std::size_t r = s.position[h];
            const Index i = s.index[r];
            if (s.group_best[h] < s.best[r]) {
                // The group of the previous best now has only other centroids: its lower bound is that previous best.
                if (s.best[r] < std::numeric_limits<T>::infinity())
                    lower_[at(i * groups + group_of_[at(s.centroid[r])])] = lower_bound(i, s.best[r], error);
                s.best[r] = s.group_best[h];
                s.centroid[r] = s.group_centroid[h];
                lower_[at(i * groups + g)] = lower_bound(i, s.group_second[h], error);
            } else {
                lower_[at(i * groups + g)] = lower_bound(i, s.group_best[h], error);
            }
        }
    }

    float lower_bound(Index i, T score, const ErrorBound& error) const {
        const double squared = static_cast<double>(norm_[at(i)]) + 2 * static_cast<double>(score) - error.constant -
                               error.slope * static_cast<double>(norm_[at(i)]);
        if (!(squared > 0)) return 0;
        // A group without a second centroid has an infinite bound. It is kept finite so that drifts can be subtracted.
        return static_cast<float>(std::sqrt(std::min(squared, 1e60))) < 1e18f
                   ? static_cast<float>(std::sqrt(squared)) * down
                   : 1e18f;
    }

    // Computes new centroids from the sums, and drifts for the bounds. Returns sum_j || movement ||^2.
    double move_centroids() {
        const Matrix<T> before = centroids_;
        std::vector<double> moved(static_cast<std::size_t>(k_), 0.0);
        for_each_block(k_, centroid_threads_, [&](Index j, int) {
            const double w = cluster_weight_[at(j)];
            const double divisor = settings_.unit_length ? sums_.row(j).norm() : w;
            if (!(w > 0) || !(divisor > 0)) return;  // empty, or its rows cancel out: it keeps its centroid
            for (Index p = 0; p < d_; ++p) centroids_(j, p) = static_cast<T>(sums_(j, p) / divisor);
            moved[at(j)] =
                (centroids_.row(j).template cast<double>() - before.row(j).template cast<double>()).squaredNorm();
        });
        if (settings_.bounds) {
            const auto unit = static_cast<double>(std::numeric_limits<T>::epsilon());
            drift_.assign(static_cast<std::size_t>(k_), 0.0f);
            group_drift_.assign(at(groups_), 0.0f);
            next_drift_.assign(at(groups_), 0.0f);
            fastest_.assign(at(groups_), -1);
            for (int j = 0; j < k_; ++j) {
                // The kernels use centroids relative to the origin, which rounds them once more. The drift includes
                // this error.
                const double reach =
                    (centroids_.row(j).template cast<double>().transpose() - panels_.origin().template cast<double>())
                        .norm();
                const double way =
                    (centroids_.row(j).template cast<double>() - assigned_.row(j).template cast<double>()).norm();
                const float drift = static_cast<float>(way + 2 * unit * reach) * up;
                drift_[static_cast<std::size_t>(j)] = drift;
                const Index g = group_of_[static_cast<std::size_t>(j)];
                if (drift > group_drift_[at(g)]) {
                    next_drift_[at(g)] = group_drift_[at(g)];
                    group_drift_[at(g)] = drift;
                    fastest_[at(g)] = j;
                } else {
                    next_drift_[at(g)] = std::max(next_drift_[at(g)], drift);
                }
            }
        }
        panels_.pack(view(centroids_), Vector<T>(panels_.origin()));
        return std::accumulate(moved.begin(), moved.end(), 0.0);
    }

    // A cluster without weight gets the point that adds most to the inertia, w_i ||x_i - c_{a_i}||^2, from a cluster
    // that keeps another point.
    int repair_empty_clusters() {
        std::vector<std::int32_t> empty;
        std::vector<Index> members(at(k_), 0);
        for (int j = 0; j < k_; ++j)
            if (!(cluster_weight_[at(j)] > 0)) empty.push_back(j);
        // With weights, sums of added and subtracted weights end at a rounding error rather than at 0. Counting the
        // members decides whether a cluster is empty.
        if (!weights_.empty() || !empty.empty()) {
            for (Index i = 0; i < own_.count(); ++i)
                if (weight(i) > 0) ++members[at(labels_[at(i)])];
            members = add_up(run_.communicator(), members);
            empty.clear();
            for (int j = 0; j < k_; ++j)
                if (members[at(j)] == 0) {
                    empty.push_back(j);
                    cluster_weight_[at(j)] = 0;
                    sums_.row(j).setZero();
                }
        }
        if (empty.empty()) return 0;
        return move_to_empty(members, costliest(empty.size() + at(k_)),
                             [&](Index row, std::int32_t old, std::int32_t j) {
                                 const double w = weight(row - own_.begin);
                                 const auto values = to_matrix<double>(gather_rows(points_, std::span(&row, 1), run_));
                                 sums_.row(old) -= w * values.row(0);
                                 cluster_weight_[at(old)] -= w;
                                 sums_.row(j) = w * values.row(0);
                                 cluster_weight_[at(j)] = w;
                                 repairs_.push_back({row, old, j});
                                 give_to_empty(row, j);
                             });
    }

    void give_to_empty(Index row, std::int32_t cluster) {
        if (!own_.has(row)) return;
        const Index i = row - own_.begin;
        labels_[at(i)] = cluster;
        if (bounds_ != Bounds::kept) return;
        upper_[at(i)] = 1e18f;  // makes the next pass compute this row's distances
        for (Index g = 0; g < groups_; ++g) lower_[at(i * groups_ + g)] = 0;
    }

    // The rows of all processes with the largest w_i ||x_i - c_{a_i}||^2.
    std::vector<Costly> costliest(std::size_t wanted) {
        std::vector<double> cost(labels_.size());
        const double unit =
            4 * static_cast<double>(std::numeric_limits<T>::epsilon()) + 0x1.0p-53 * static_cast<double>(n_);
        const Vector<T> zero = Vector<T>::Zero(d_);
        for_each_row_block<T>(points_, run_, {.name = "iterations"}, [&](const RowBlock<T>& block, int) {
            for (Index r = 0; r < block.rows.rows; ++r) {
                const Index i = block.first + r - own_.begin;
                const T* row = block.rows.row(r);
                const auto squared = static_cast<double>(
                    panels_.kernels().squared_distance(row, centroids_.row(labels_[at(i)]).data(), d_));
                // The mean of equal rows differs from them by rounding; such a distance counts as 0.
                const auto norm = static_cast<double>(panels_.kernels().squared_distance(row, zero.data(), d_));
                cost[at(i)] = squared > unit * unit * norm ? weight(i) * squared : 0.0;
            }
        });
        return internal::costliest(cost, labels_, own_.begin, wanted, run_.communicator());
    }

    // Restores the labels of the last finished iteration.
    void take_back_moves() {
        for (const Repair& repair : repairs_)  // repairs came last, so they are undone first
            if (own_.has(repair.row)) labels_[at(repair.row - own_.begin)] = repair.from;
        for (const auto& scratch : scratch_)
            for (const Move& move : scratch.moves) labels_[at(move.row)] = move.from;
    }

    const LloydProblem& problem_;
    PointsView points_ = problem_.points;
    Index n_ = points_.rows(), d_ = points_.columns();
    const LloydSettings& settings_ = problem_.settings;
    std::span<const double> weights_ = problem_.weights;
    const Run& run_ = problem_.run;
    Restart restart_;
    RowBlocks grid_ = grid_of(points_);
    Range own_ = own_rows(grid_, run_.communicator());  // this process' rows; all values per row belong to them
    Matrix<T> centroids_;
    int k_ = static_cast<int>(centroids_.rows());
    Matrix<T> assigned_;  // the centroids of the last assignment, to which the bounds refer
    CentroidPanels<T> panels_;
    Labels labels_ = Labels(at(own_.count()), -1);
    std::vector<T> norm_ = std::vector<T>(labels_.size());  // ||x_i - m||^2
    double scatter_ = 0;                                    // sum_i w_i ||x_i - m||^2
    double scale_ = 0;                                      // root mean square of ||x_i - m||
    double threshold_ = 0;                                  // for the squared movement of the centroids
    Matrix<double> sums_ = Matrix<double>::Zero(k_, d_);    // sum of w_i x_i over each cluster
    std::vector<double> cluster_weight_ = std::vector<double>(at(k_), 0.0);
    ClusterSumLayout layout_{k_, d_, counted};
    BlockSums moved_sums_ = layout_.block_sums();
    Index cache_rows_ = std::min(rows_in_cache(d_, sizeof(T)), grid_.size);
    int centroid_threads_ = threads_for(16.0 * static_cast<double>(d_) * k_, run_.threads);
    std::vector<Scratch> scratch_;
    bool under_way_ = false;       // whether an iteration is unfinished
    std::vector<Repair> repairs_;  // of the last iteration, from all processes
    double computed_ = 0;
    double relative_error_ =
        4 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + static_cast<double>(d_) / 8);

    // State of the bounds. Wanted: the next assignment computes them.
    enum class Bounds { none, wanted, kept } bounds_ = Bounds::none;
    Index groups_ = 1;
    std::vector<Index> group_of_panel_;
    std::vector<Index> group_of_;  // the group of each centroid
    std::vector<float> upper_, lower_;
    std::vector<float> drift_, group_drift_, next_drift_;
    std::vector<std::int32_t> fastest_;
};

}  // namespace

template <class T>
LloydResult<T> lloyd(const LloydProblem& problem, const Matrix<T>& start, const Restart& restart) {
    const PointsView points = problem.points;
    if (const SparsePoints* sparse = as_sparse(points)) return sparse_lloyd<T>(*sparse, problem, start, restart);
    if (const Archive* from = restart.found()) {
        const Vector<T> origin = to_matrix<T>(from->points("origin", 1, points.columns())).row(0);
        return Lloyd<T>(problem, to_matrix<T>(from->points("assigned", -1, points.columns())), origin, restart)();
    }
    const Rows<T> rows{start.data(), start.rows(), start.cols(), start.cols()};
    return Lloyd<T>(problem, start, CentroidPanels<T>::amid(rows), restart)();
}
template LloydResult<float> lloyd(const LloydProblem&, const Matrix<float>&, const Restart&);
template LloydResult<double> lloyd(const LloydProblem&, const Matrix<double>&, const Restart&);

// The bounds of a point cost about 20 ns per iteration, the time of about 500 multiplications in the kernels.
bool bounds_pay(Index n, Index d, int k) { return n >= 2000 && d * k >= 512 && k > 1; }

}  // namespace coterie::kmeans::internal
