// Distances are computed by matrix products of blocks of rows. With bounds, hard assignments keep only the nearest
// allowed cluster of each group, because no other cluster of the group is ever better: n x G costs instead of n x k.
// With bounds, soft assignments pass over the rows twice: for the masses of groups, then for A. Only a few rows of A
// per thread exist at a time. BlockSums adds up, so the bits are the same for any number of threads and processes.

#include "coterie/constraints/constrained_assignment.hpp"

#include <algorithm>
#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/linalg/products.hpp"

namespace coterie::internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double farthest = 1e300;  // limit of D / T minus that of the nearest group; infinity would mean "not allowed"

// Sums over blocks. body(begin, end, scratch, sum) adds a few rows at a time, which are centred in the scratch; begin
// and end count among all rows.
template <class Body>
std::span<const double> over_few_rows(PointsView points, const PrototypeDistances& distances, BlockSums& sums,
                                      const Run& run, Body&& body) {
    const Stage stage{.name = "assignment",
                      .operations = double_product(points.rows(), points.columns(), distances.clusters())};
    std::vector<PrototypeDistances::Scratch> scratch(at(std::max(1, run.threads)));
    const Index few = distances.rows_at_once();
    return points.with_scalar([&]<class T>() {
        return sums.over<T>(points, run, stage, [&](const RowBlock<T>& block, int worker, double* sum) {
            auto& s = scratch[at(worker)];
            for (Index begin = 0; begin < block.rows.rows; begin += few) {
                const Index end = std::min(begin + few, block.rows.rows);
                distances.centre(block.rows, begin, end, s);
                body(block.first + begin, block.first + end, s, sum);
            }
        });
    });
}

// Returns all rows of a table on process 0, and an empty matrix on the others.
Matrix<double> gather_at_first(const Run& run, Matrix<double> own, Index rows) {
    Communicator& communicator = run.communicator();
    if (communicator.size() == 1) return own;
    const auto bytes = [](double* first, Index count) { return std::as_writable_bytes(std::span(first, at(count))); };
    const Index columns = own.cols();
    const std::vector<Index> counts = gather(communicator, std::vector<Index>{own.rows()});
    Matrix<double> all;
    together(communicator, [&] {
        if (communicator.rank() == 0) all.resize(rows, columns);
    });
    if (communicator.rank() > 0) {
        communicator.send(bytes(own.data(), own.size()), 0);
        return {};
    }
    all.topRows(own.rows()) = own;
    Index begin = own.rows();
    for (int process = 1; process < communicator.size(); ++process) {
        communicator.receive(bytes(all.data() + begin * columns, counts[at(process)] * columns), process);
        begin += counts[at(process)];
    }
    return all;
}

// Checks the memory for a table of groups; process 0 also holds the table of all rows.
void require_groups(const Run& run, Index rows, Index own_rows, Index groups, double bytes_a_number) {
    together(run.communicator(), [&] {
        const Index kept = own_rows + (run.communicator().size() > 1 && run.communicator().rank() == 0 ? rows : 0);
        require_memory(double_product(kept, groups, bytes_a_number), "the assignment under bounds");
    });
}

// Returns the groups of this process' rows.
Labels groups_of_rows(const Matrix<double>& costs, const Labels& natural, const Constraints& constraints, Index rows,
                      std::vector<double>& prices, const Run& run) {
    const auto solve = [&](const Matrix<double>& all_costs, const Labels& all_natural) {
        return assign_groups(all_costs, all_natural, constraints.low, constraints.high, prices, run.alone());
    };
    Communicator& communicator = run.communicator();
    if (communicator.size() == 1) return solve(costs, natural);
    const Matrix<double> all_costs = gather_at_first(run, costs, rows);
    const Labels all_natural = internal::gather_at_first(communicator, natural);
    Labels chosen;
    together(communicator, [&] {
        if (communicator.rank() == 0) chosen = solve(all_costs, all_natural);
    });
    return scatter_from_first(communicator, chosen, natural.size());
}

GroupMultipliers multipliers_of(Matrix<double> log_mass, const Constraints& constraints, const SoftSettings& settings,
                                std::span<const double> start, Index rows, const Run& run) {
    Communicator& communicator = run.communicator();
    const Matrix<double> all = gather_at_first(run, std::move(log_mass), rows);
    GroupMultipliers out;
    together(communicator, [&] {
        if (communicator.rank() == 0)
            out = solve_group_multipliers(all, constraints.low_mass, constraints.high_mass, settings.solver,
                                          settings.bregman_rounds, run.alone(), start);
    });
    out.log_theta.resize(at(constraints.groups()));
    out.mass.resize(at(constraints.groups()));
    for (auto* numbers : {&out.log_theta, &out.mass})
        communicator.broadcast(std::as_writable_bytes(std::span(*numbers)), 0);
    out.residual = from_process(communicator, 0, out.residual);
    out.rounds = from_process(communicator, 0, out.rounds);
    out.converged = from_process(communicator, 0, out.converged);
    return out;
}

// Soft assignments of a few rows at a time.
class SoftRows {
public:
    SoftRows(const Constraints& constraints, double temperature)
        : constraints_(constraints),
          temperature_(temperature),
          clusters_(constraints.clusters()),
          groups_(constraints.groups()) {}

    // Writes log_mass, rows x groups, for the rows begin..end-1 with distances D.
    void log_masses(Index begin, Index end, const double* distances, double* log_mass) const {
        std::vector<double> buffer(at(2 * groups_));
        for (Index r = 0; r < end - begin; ++r) {
            const auto [first, last] = constraints_.allowed(begin + r);
            masses_of_row(distances + r * clusters_, first, last, buffer.data(), buffer.data() + groups_,
                          log_mass + r * groups_);
        }
    }

    // Writes the labels and A for the rows begin..end-1 with distances D. A is 0 on entry. Adds to `sum`: sum_i A_ij
    // for each cluster, then distortion and negentropy.
    void assign(Index begin, Index end, const double* distances, const std::vector<double>& log_theta,
                Matrix<double>& rows_of_a, std::int32_t* labels, double* sum) const {
        const Index groups = groups_;
        double& distortion = sum[clusters_];
        double& negentropy = sum[clusters_ + 1];
        std::vector<double> buffer(at(5 * groups));
        double* const least = buffer.data();
        double* const group_sum = least + groups;
        double* const log_mass = group_sum + groups;
        double* const shares = log_mass + groups;
        double* const log_shares = shares + groups;
        for (Index r = 0; r < end - begin; ++r) {
            const double* const row = distances + r * clusters_;
            double* const a = rows_of_a.data() + r * clusters_;
            const auto [first, last] = constraints_.allowed(begin + r);
            masses_of_row(row, first, last, least, group_sum, log_mass);
            group_shares_of_row(log_mass, log_theta, shares);
            for (Index g = 0; g < groups; ++g) log_shares[g] = std::log(shares[g]) - std::log(group_sum[g]);
            int best = first;
            for (int j = first; j < last; ++j) {
                const std::int32_t group = constraints_.group_of[at(j)];
                if (!(shares[group] > 0)) continue;
                const double log_a = log_shares[group] + (least[group] - row[j]) / temperature_;
                a[j] = std::exp(log_a);
                if (!(a[j] > 0)) continue;
                if (a[j] > a[best]) best = j;
                distortion += a[j] * row[j];
                negentropy += a[j] * log_a;
                sum[j] += a[j];
            }
            labels[r] = best;
        }
    }

private:
    // For one row: the least D in each group, sum_{j in g} exp((least_g - D_ij) / T), and log sum_{j in g} exp(-D_ij /
    // T) up to a constant per row. Differences of D are computed before the division, so a large D / T loses no digits.
    void masses_of_row(const double* row, int first, int last, double* least, double* sum, double* log_mass) const {
        std::fill(least, least + groups_, infinity);
        std::fill(sum, sum + groups_, 0.0);
        for (int j = first; j < last; ++j) {
            double& low = least[constraints_.group_of[at(j)]];
            low = std::min(low, row[j]);
        }
        const double nearest = *std::min_element(least, least + groups_);
        for (int j = first; j < last; ++j) {
            const std::int32_t group = constraints_.group_of[at(j)];
            sum[group] += std::exp((least[group] - row[j]) / temperature_);
        }
        for (Index g = 0; g < groups_; ++g)
            log_mass[g] = least[g] == infinity
                              ? -infinity
                              : std::log(sum[g]) - std::min((least[g] - nearest) / temperature_, farthest);
    }

    const Constraints& constraints_;
    double temperature_;
    Index clusters_, groups_;
};

}  // namespace

PrototypeDistances::PrototypeDistances(const Matrix<double>& prototypes, Vector<double> origin,
                                       const Matrix<double>& directions)
    : origin_(std::move(origin)), distances_([&]() -> Matrix<double> {
          const Matrix<double> centred = prototypes.rowwise() - origin_.transpose();
          if (directions.size() == 0) return centred;
          // Project the centroids as the rows are projected, so that a point on a centroid has distance 0.
          Matrix<double> projected;
          std::vector<const double*> pointers;
          RowProducts::Scratch scratch;
          row_pointers(centred, pointers);
          RowProducts{directions}(pointers, projected, scratch);
          return projected;
      }()) {
    if (directions.size() > 0) projection_.emplace(directions);
}

void PrototypeDistances::measure(Scratch& s) const {
    if (projection_) {
        row_pointers(s.rows, s.pointers);
        (*projection_)(s.pointers, s.projected, s.panel);
    }
    distances_(projection_ ? s.projected : s.rows, s.distances, s.pointers, s.panel);
}

HardAssignment assign_hard(PointsView points, const PrototypeDistances& distances, const Constraints& constraints,
                           std::span<const double> weights, std::vector<double>& prices, const Run& run) {
    const int k = constraints.clusters();
    const Index groups = constraints.bounded ? constraints.groups() : 0;
    const Range own = own_rows(points, run);
    // If every cluster is its own group, the nearest cluster of a group need not be stored.
    bool clusters_are_groups = groups == k;
    for (int j = 0; j < k; ++j) clusters_are_groups = clusters_are_groups && constraints.group_of[at(j)] == j;
    require_groups(run, points.rows(), own.count(), groups, clusters_are_groups ? 8.0 : 12.0);

    // Of the rows that occur in pairs, positions linked_begin..linked_end-1 belong to this process.
    const std::vector<Index> none;
    const std::vector<Index>& linked = constraints.links ? constraints.links->rows() : none;
    const auto linked_begin = std::lower_bound(linked.begin(), linked.end(), own.begin);
    const auto linked_end = std::lower_bound(linked_begin, linked.end(), own.end);
    Matrix<double> linked_costs(linked_end - linked_begin, k);

    HardAssignment out;
    out.labels.resize(at(own.count()));
    Matrix<double> costs(groups > 0 ? own.count() : 0, groups);
    std::vector<std::int32_t> nearest(clusters_are_groups ? 0 : at(costs.size()));
    Labels natural(groups > 0 ? at(own.count()) : 0);
    BlockSums sums(1);
    out.objective = over_few_rows(points, distances, sums, run, [&](Index begin, Index end, auto& s, double* sum) {
        distances.measure(s);
        for (Index i = begin; i < end; ++i) {
            const double* const row = s.distances.data() + (i - begin) * k;
            const auto [first, last] = constraints.allowed(i);
            int best = first;
            for (int j = first + 1; j < last; ++j)
                if (row[j] < row[best]) best = j;
            const Index mine = i - own.begin;
            out.labels[at(mine)] = best;
            if (const auto place = std::lower_bound(linked_begin, linked_end, i); place != linked_end && *place == i) {
                for (Index j = 0; j < k; ++j) linked_costs(place - linked_begin, j) = weight_of(weights, i) * row[j];
                continue;
            }
            *sum += weight_of(weights, i) * row[best];
            if (groups == 0) continue;
            natural[at(mine)] = constraints.group_of[at(best)];
            double* const cost = costs.data() + mine * groups;
            std::fill(cost, cost + groups, infinity);
            for (int j = first; j < last; ++j) {
                const std::int32_t group = constraints.group_of[at(j)];
                if (!(row[j] < cost[group])) continue;
                cost[group] = row[j];
                if (!clusters_are_groups) nearest[at(mine * groups + group)] = j;
            }
        }
    })[0];
    if (!linked.empty()) {
        Communicator& communicator = run.communicator();
        const Matrix<double> all = gather_at_first(run, linked_costs, static_cast<Index>(linked.size()));
        LinkedRows::Solution solution;
        together(communicator, [&] {
            if (communicator.rank() == 0) solution = constraints.links->assign(all);
        });
        const Labels chosen = scatter_from_first(communicator, solution.labels, at(linked_costs.rows()));
        for (auto row = linked_begin; row != linked_end; ++row)
            out.labels[at(*row - own.begin)] = chosen[at(row - linked_begin)];
        out.objective += from_process(communicator, 0, solution.cost);
        out.optimal = from_process(communicator, 0, solution.optimal);
    }
    if (groups == 0) return out;

    const Labels chosen = groups_of_rows(costs, natural, constraints, points.rows(), prices, run);
    for (Index i = 0; i < own.count(); ++i) {
        const std::int32_t group = chosen[at(i)];
        out.labels[at(i)] = clusters_are_groups ? group : nearest[at(i * groups + group)];
    }
    const RowBlocks grid = grid_of(points);
    out.objective = sums(grid, run, {.name = "assignment"}, [&](Index block, int, double* sum) {
        for (Index i = grid.begin(block) - own.begin; i < grid.end(block) - own.begin; ++i)
            *sum += costs(i, chosen[at(i)]);
    })[0];
    return out;
}

SoftAssignment assign_soft(PointsView points, const PrototypeDistances& distances, const Constraints& constraints,
                           const SoftSettings& settings, std::span<const double> start, const Run& run,
                           const std::function<void(Index begin, const Matrix<double>& rows)>& on_rows) {
    const Index d = points.columns();
    const Index k = constraints.clusters();
    const Index groups = constraints.groups();
    const Range own = own_rows(points, run);
    const SoftRows soft(constraints, settings.temperature);
    SoftAssignment out;
    out.labels.resize(at(own.count()));

    // The second pass reuses D if it takes little memory compared with the points.
    const bool remember =
        constraints.bounded && points.resident() &&
        16.0 * static_cast<double>(k) * sizeof(double) <= static_cast<double>(d * size_of(points.scalar()));
    Matrix<double> remembered(remember ? own.count() : 0, k);
    out.groups.log_theta.assign(at(groups), 0.0);
    if (constraints.bounded) {
        require_groups(run, points.rows(), own.count(), groups, 8.0);
        Matrix<double> log_mass(own.count(), groups);
        BlockSums nothing(0);
        over_few_rows(points, distances, nothing, run, [&](Index begin, Index end, auto& s, double*) {
            distances.measure(s);
            const Index mine = begin - own.begin;
            if (remember) remembered.middleRows(mine, end - begin) = s.distances;
            soft.log_masses(begin, end, s.distances.data(), log_mass.data() + mine * groups);
        });
        out.groups = multipliers_of(std::move(log_mass), constraints, settings, start, points.rows(), run);
    }

    // Over all rows: sum_i A_ij (x_i - origin), sum_i A_ij, distortion and negentropy.
    BlockSums sums(k * (d + 1) + 2);
    const auto& multiply = block_products<double>();
    const auto total = over_few_rows(points, distances, sums, run, [&](Index begin, Index end, auto& s, double* sum) {
        if (!remember) distances.measure(s);
        const Index mine = begin - own.begin;
        Matrix<double> rows_of_a = Matrix<double>::Zero(end - begin, k);
        soft.assign(begin, end, remember ? remembered.data() + mine * k : s.distances.data(), out.groups.log_theta,
                    rows_of_a, out.labels.data() + mine, sum + k * d);
        multiply.add_transposed_by(rows_of_a.data(), k, k, s.rows.data(), d, d, end - begin, sum, d);
        if (on_rows) on_rows(begin, rows_of_a);
    });
    out.sums = Eigen::Map<const eigen::Matrix<double>>(total.data(), k, d);
    out.mass = Eigen::Map<const eigen::Vector<double>>(total.data() + k * d, k);
    out.distortion = total[at(k * (d + 1))];
    out.negentropy = total[at(k * (d + 1) + 1)];
    return out;
}

Labels nearest_prototypes(PointsView points, const PrototypeDistances& distances, const Run& run) {
    Constraints none;
    none.label_of.assign(at(distances.clusters()), -1);
    std::vector<double> prices;
    return assign_hard(points, distances, none, {}, prices, run).labels;
}

}  // namespace coterie::internal
