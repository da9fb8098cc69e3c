// Distances come in blocks of rows by products. Hard assignments under bounds keep for each row and group only the
// nearest allowed cluster, n x G costs instead of n x k: within a group no other is ever better. Soft ones under bounds
// pass over the rows twice, for the masses of groups and then for A, of which there is never more than a super-block at
// a time. Partial sums of blocks are added in the order of the blocks: the same bits at any number of threads.

#include "coterie/constraints/constrained_assignment.hpp"

#include <cmath>

#include "coterie/base/memory.hpp"
#include "coterie/linalg/products.hpp"

namespace coterie::internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double farthest = 1e300;    // D / T above that of the nearest group; larger ones would be "not allowed"
constexpr Index blocks_at_once = 32;  // of rows_at_once() rows: one super-block of soft assignments

double weight_of(std::span<const double> weights, Index i) { return weights.empty() ? 1.0 : weights[at(i)]; }

// Calls body(begin, end, scratch, block) on blocks of rows, centred in the scratch.
template <class T, class Body>
void for_each_row_block(const Rows<T>& points, const PrototypeDistances& distances, Index begin, Index end,
                        std::vector<PrototypeDistances::Scratch>& scratch, const Run& run, Body&& body) {
    const RowBlocks blocks{end - begin, distances.rows_at_once()};
    const double operations =
        static_cast<double>(end - begin) * static_cast<double>(points.columns * distances.clusters());
    scratch.resize(at(std::max(1, run.threads)));
    for_each_block(blocks.count(), threads_for(operations, run.threads), [&](Index block, int worker) {
        auto& s = scratch[at(worker)];
        const Index first = begin + blocks.begin(block);
        const Index last = begin + blocks.end(block);
        distances.centre(points, first, last, s);
        body(first, last, s, block);
    });
}

}  // namespace

PrototypeDistances::PrototypeDistances(const Matrix<double>& prototypes, Vector<double> origin,
                                       const Matrix<double>& directions)
    : origin_(std::move(origin)), distances_([&]() -> Matrix<double> {
          const Matrix<double> centred = prototypes.rowwise() - origin_.transpose();
          if (directions.size() == 0) return centred;
          // As the rows are projected, so that a point on a prototype is at distance 0.
          Matrix<double> projected;
          std::vector<const double*> pointers;
          RowProducts::Scratch scratch;
          row_pointers(centred, pointers);
          RowProducts{directions}(pointers, projected, scratch);
          return projected;
      }()) {
    if (directions.size() > 0) projection_.emplace_back(directions);
}

template <class T>
void PrototypeDistances::centre(const Rows<T>& points, Index begin, Index end, Scratch& s) const {
    centred_rows(points, begin, end, origin_, s.rows);
}

void PrototypeDistances::measure(Scratch& s) const {
    if (projection_.empty()) {
        distances_(s.rows, s.distances, s.pointers, s.panel);
        return;
    }
    row_pointers(s.rows, s.pointers);
    projection_.front()(s.pointers, s.projected, s.panel);
    distances_(s.projected, s.distances, s.pointers, s.panel);
}

template <class T>
HardAssignment assign_hard(const Rows<T>& points, const PrototypeDistances& distances, const Constraints& constraints,
                           std::span<const double> weights, std::vector<double>& prices, const Run& run) {
    const Index n = points.rows;
    const int k = constraints.clusters();
    const Index groups = constraints.bounded ? constraints.groups() : 0;
    // Where every cluster is a group of its own there is no need to note which cluster of a group is nearest.
    bool clusters_are_groups = groups == k;
    for (int j = 0; j < k; ++j) clusters_are_groups = clusters_are_groups && constraints.group_of[at(j)] == j;
    require_memory(static_cast<double>(n * groups) * (clusters_are_groups ? 8.0 : 12.0), "assignments under bounds");

    HardAssignment out;
    out.labels.resize(at(n));
    Matrix<double> costs(groups > 0 ? n : 0, groups);
    std::vector<std::int32_t> nearest(clusters_are_groups ? 0 : at(n * groups));
    Labels natural(groups > 0 ? at(n) : 0);
    const RowBlocks blocks{n, distances.rows_at_once()};
    std::vector<double> partial(at(blocks.count()), 0.0);
    std::vector<PrototypeDistances::Scratch> scratch;
    for_each_row_block(points, distances, 0, n, scratch, run, [&](Index begin, Index end, auto& s, Index block) {
        distances.measure(s);
        for (Index i = begin; i < end; ++i) {
            const double* const row = s.distances.data() + (i - begin) * k;
            const std::int32_t known = constraints.label(i);
            const auto [first, last] = known < 0 ? std::pair(0, k) : constraints.clusters_of(known);
            int best = first;
            for (int j = first + 1; j < last; ++j)
                if (row[j] < row[best]) best = j;
            out.labels[at(i)] = best;
            partial[at(block)] += weight_of(weights, i) * row[best];
            if (groups == 0) continue;
            natural[at(i)] = constraints.group_of[at(best)];
            double* const cost = costs.data() + i * groups;
            std::fill(cost, cost + groups, infinity);
            for (int j = first; j < last; ++j) {
                const std::int32_t group = constraints.group_of[at(j)];
                if (!(row[j] < cost[group])) continue;
                cost[group] = row[j];
                if (!clusters_are_groups) nearest[at(i * groups + group)] = j;
            }
        }
    });
    if (groups > 0) {
        const Labels chosen = assign_groups(costs, natural, constraints.low, constraints.high, prices, run);
        std::fill(partial.begin(), partial.end(), 0.0);
        for (Index i = 0; i < n; ++i) {
            const std::int32_t group = chosen[at(i)];
            out.labels[at(i)] = clusters_are_groups ? group : nearest[at(i * groups + group)];
            partial[at(i / blocks.size)] += costs(i, group);
        }
    }
    for (const double part : partial) out.objective += part;
    return out;
}

template <class T>
SoftAssignment assign_soft(const Rows<T>& points, const PrototypeDistances& distances, const Constraints& constraints,
                           const SoftSettings& settings, std::span<const double> start, const Run& run,
                           const std::function<void(Index begin, const Matrix<double>& rows)>& on_rows) {
    const Index n = points.rows;
    const Index d = points.columns;
    const Index k = constraints.clusters();
    const Index groups = constraints.groups();
    SoftAssignment out;
    out.labels.resize(at(n));
    out.sums = Matrix<double>::Zero(k, d);
    out.mass = Vector<double>::Zero(k);
    std::vector<PrototypeDistances::Scratch> scratch;

    // Of one row: least D in each group, sum_{j in g} exp((least_g - D_ij) / T), and log sum_{j in g} exp(-D_ij / T) up
    // to a number that is the same for the whole row: differences of D are taken before they are divided, so that
    // nothing is lost beside a large D / T. Allowed clusters are first..last-1.
    const auto masses_of_row = [&](const double* row, int first, int last, double* least, double* sum,
                                   double* log_mass) {
        std::fill(least, least + groups, infinity);
        std::fill(sum, sum + groups, 0.0);
        for (int j = first; j < last; ++j) {
            double& low = least[constraints.group_of[at(j)]];
            low = std::min(low, row[j]);
        }
        const double nearest = *std::min_element(least, least + groups);
        for (int j = first; j < last; ++j) {
            const std::int32_t group = constraints.group_of[at(j)];
            sum[group] += std::exp((least[group] - row[j]) / settings.temperature);
        }
        for (Index g = 0; g < groups; ++g)
            log_mass[g] = least[g] == infinity
                              ? -infinity
                              : std::log(sum[g]) - std::min((least[g] - nearest) / settings.temperature, farthest);
    };
    const auto allowed = [&](Index i) {
        const std::int32_t known = constraints.label(i);
        return known < 0 ? std::pair(0, static_cast<int>(k)) : constraints.clusters_of(known);
    };

    // The second pass need not measure the rows again where remembering D takes little memory beside the points.
    const bool remember =
        constraints.bounded && 16.0 * static_cast<double>(k) * sizeof(double) <= static_cast<double>(d) * sizeof(T);
    Matrix<double> remembered(remember ? n : 0, k);
    out.groups.log_theta.assign(at(groups), 0.0);
    if (constraints.bounded) {
        require_memory(8.0 * static_cast<double>(n * groups), "assignments under bounds");
        Matrix<double> log_mass(n, groups);
        for_each_row_block(points, distances, 0, n, scratch, run, [&](Index begin, Index end, auto& s, Index) {
            distances.measure(s);
            if (remember) remembered.middleRows(begin, end - begin) = s.distances;
            std::vector<double> buffer(at(2 * groups));
            for (Index i = begin; i < end; ++i) {
                const auto [first, last] = allowed(i);
                masses_of_row(s.distances.data() + (i - begin) * k, first, last, buffer.data(), buffer.data() + groups,
                              log_mass.data() + i * groups);
            }
        });
        out.groups = solve_group_multipliers(log_mass, constraints.low_mass, constraints.high_mass, settings.solver,
                                             settings.bregman_rounds, run, start);
    }

    struct Part {
        Matrix<double> sums;
        Vector<double> mass;
        double distortion = 0;
        double negentropy = 0;
    };
    std::vector<Part> parts(at(blocks_at_once));
    const RowBlocks super{n, blocks_at_once * distances.rows_at_once()};
    Matrix<double> rows_of_a;
    const auto& multiply = block_products<double>();
    for (Index block = 0; block < super.count(); ++block) {
        const Index first_row = super.begin(block);
        rows_of_a.resize(super.end(block) - first_row, k);
        const auto assign = [&](Index begin, Index end, PrototypeDistances::Scratch& s, Index sub_block) {
            if (!remember) distances.measure(s);
            const double* const measured = remember ? remembered.data() + begin * k : s.distances.data();
            Part& part = parts[at(sub_block)];
            part.sums = Matrix<double>::Zero(k, d);
            part.mass = Vector<double>::Zero(k);
            part.distortion = part.negentropy = 0;
            std::vector<double> buffer(at(5 * groups));
            double* const least = buffer.data();
            double* const sum = least + groups;
            double* const log_mass = sum + groups;
            double* const shares = log_mass + groups;
            double* const log_shares = shares + groups;
            for (Index i = begin; i < end; ++i) {
                const double* const row = measured + (i - begin) * k;
                double* const a = rows_of_a.data() + (i - first_row) * k;
                const auto [first, last] = allowed(i);
                masses_of_row(row, first, last, least, sum, log_mass);
                group_shares_of_row(log_mass, out.groups.log_theta, shares);
                for (Index g = 0; g < groups; ++g) log_shares[g] = std::log(shares[g]) - std::log(sum[g]);
                std::fill(a, a + k, 0.0);
                int best = first;
                for (int j = first; j < last; ++j) {
                    const std::int32_t group = constraints.group_of[at(j)];
                    if (!(shares[group] > 0)) continue;
                    const double log_a = log_shares[group] + (least[group] - row[j]) / settings.temperature;
                    a[j] = std::exp(log_a);
                    if (!(a[j] > 0)) continue;
                    if (a[j] > a[best]) best = j;
                    part.distortion += a[j] * row[j];
                    part.negentropy += a[j] * log_a;
                    part.mass[j] += a[j];
                }
                out.labels[at(i)] = best;
            }
            multiply.add_transposed_by(rows_of_a.data() + (begin - first_row) * k, k, k, s.rows.data(), d, d,
                                       end - begin, part.sums.data(), d);
        };
        for_each_row_block(points, distances, first_row, super.end(block), scratch, run, assign);
        const Index used = RowBlocks{super.end(block) - first_row, distances.rows_at_once()}.count();
        for (Index sub_block = 0; sub_block < used; ++sub_block) {
            const Part& part = parts[at(sub_block)];
            out.sums += part.sums;
            out.mass += part.mass;
            out.distortion += part.distortion;
            out.negentropy += part.negentropy;
        }
        if (on_rows) on_rows(first_row, rows_of_a);
    }
    return out;
}

template <class T>
Labels nearest_prototypes(const Rows<T>& points, const PrototypeDistances& distances, const Run& run) {
    Constraints none;
    none.label_of.assign(at(distances.clusters()), -1);
    std::vector<double> prices;
    return assign_hard(points, distances, none, {}, prices, run).labels;
}

template void PrototypeDistances::centre(const Rows<float>&, Index, Index, Scratch&) const;
template void PrototypeDistances::centre(const Rows<double>&, Index, Index, Scratch&) const;
template HardAssignment assign_hard(const Rows<float>&, const PrototypeDistances&, const Constraints&,
                                    std::span<const double>, std::vector<double>&, const Run&);
template HardAssignment assign_hard(const Rows<double>&, const PrototypeDistances&, const Constraints&,
                                    std::span<const double>, std::vector<double>&, const Run&);
template SoftAssignment assign_soft(const Rows<float>&, const PrototypeDistances&, const Constraints&,
                                    const SoftSettings&, std::span<const double>, const Run&,
                                    const std::function<void(Index, const Matrix<double>&)>&);
template SoftAssignment assign_soft(const Rows<double>&, const PrototypeDistances&, const Constraints&,
                                    const SoftSettings&, std::span<const double>, const Run&,
                                    const std::function<void(Index, const Matrix<double>&)>&);
template Labels nearest_prototypes(const Rows<float>&, const PrototypeDistances&, const Run&);
template Labels nearest_prototypes(const Rows<double>&, const PrototypeDistances&, const Run&);

}  // namespace coterie::internal
