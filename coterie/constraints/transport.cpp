// Successive shortest paths on the columns and a sink, instead of an assignment of n points to n places. Dijkstra's
// algorithm on G + 1 nodes costs G^2; sometimes a column's points must be listed. An augmentation moves one point along
// each arc between columns, so the time is proportional to the number of augmentations. There are few of them with good
// start prices: given prices, or those of a quarter of the rows, found in the same way. Two groups need a selection
// instead of a flow. Only the start and the checks use threads, row by row, so the bits are the same for any number.

#include "coterie/constraints/transport.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Candidate {
    double key = 0;
    Index row = 0;

    bool operator<(const Candidate& other) const { return key < other.key || (key == other.key && row < other.row); }
    bool operator>(const Candidate& other) const { return other < *this; }
};

// The points of one column, ordered by the cost of moving them to another column. Only the cheapest are listed, as a
// heap: full lists for every pair of columns would be larger than the costs themselves.
struct Exits {
    std::vector<Candidate> heap;
    Candidate last = {-infinity, 0};  // every point of the column up to here is in the heap; -infinity: never filled
};

[[noreturn]] void refuse(Code code, const std::string& problem, std::optional<std::int64_t> row = {}) {
    throw BadArgument(code, "transport: " + problem, "", {.row = row});
}

// Columns count from 1, as in all messages.
std::string column_list(const std::vector<Index>& columns) {
    return (columns.size() == 1 ? "column " : "columns ") +
           listed(columns, 10, [](Index column) { return std::to_string(column + 1); });
}

// Successive shortest paths over the columns and a sink, where column g's arc to the sink has a flow in [low_g,
// high_g].
// The excess of a column is n_g minus its flow; that of the sink is the sum of the flows minus n. A move g -> h has the
// reduced cost  cost + price_h - price_g. The reduced costs of all remaining moves are never negative, except for
// rounding, which counts as 0. An augmentation therefore always ends, and each one brings the bounds closer by at least
// one point.
class Flow {
public:
    /// Uses rows 0, step, 2 step, ... of the costs.
    Flow(const Matrix<double>& costs, Index step, std::vector<Index> low, std::vector<Index> high, const Run& run)
        : costs_(costs),
          step_(step),
          rows_((costs.rows() + step - 1) / step),
          columns_(costs.cols()),
          low_(std::move(low)),
          high_(std::move(high)),
          run_(run) {
        // A bound above n never binds; limiting it keeps sums from overflow.
        for (Index& bound : high_) bound = std::min(bound, rows_ + 1);
    }

    Index rows() const { return rows_; }
    const Labels& columns() const { return column_; }
    std::int64_t augmentations() const { return augmentations_; }

    /// Assigns every row to the column of least cost + price, and sets the flows by the signs of the prices. Returns
    /// the number of points that must still move.
    Index start(const std::vector<double>& prices) {
        price_ = prices;
        price_.push_back(0);
        column_.resize(at(rows_));
        const int threads = threads_for(double_product(rows_, columns_), run_.threads);
        for_each_row({rows_, 4096}, threads, [&](Index i, Index) {
            const double* const cost = row(i);
            double best = infinity;
            Index best_column = 0;
            for (Index g = 0; g < columns_; ++g) {
                const double here = cost[g] + price_[at(g)];
                if (here < best) {
                    best = here;
                    best_column = g;
                }
            }
            column_[at(i)] = static_cast<std::int32_t>(best_column);
        });
        members_.assign(at(columns_), {});
        place_.resize(at(rows_));
        for (Index i = 0; i < rows_; ++i) join(i, column_[at(i)]);

        flow_.resize(at(columns_));
        excess_.assign(at(columns_ + 1), 0);
        excess_[at(columns_)] = -rows_;
        for (Index g = 0; g < columns_; ++g) {
            const auto size = static_cast<Index>(members_[at(g)].size());
            const double price = price_[at(g)];
            flow_[at(g)] = price > 0   ? high_[at(g)]
                           : price < 0 ? low_[at(g)]
                                       : std::clamp(size, low_[at(g)], high_[at(g)]);
            excess_[at(g)] = size - flow_[at(g)];
            excess_[at(columns_)] += flow_[at(g)];
        }
        Index left = 0;
        for (const Index e : excess_) left += std::max<Index>(e, 0);
        return left;
    }

    /// Moves points until the bounds are met. Returns false if they cannot be met.
    bool route() {
        // Each point is where cost + price is least. This bounds the cost of moves until the exits are listed.
        exits_.assign(at(columns_ * columns_), {});
        arcs_.resize(columns_, columns_);
        for (Index g = 0; g < columns_; ++g)
            for (Index h = 0; h < columns_; ++h) arcs_(g, h) = price_[at(g)] - price_[at(h)];
        while (std::ranges::any_of(excess_, [](Index e) { return e > 0; })) {
            if (!augment()) return false;
            if (++augmentations_ % 256 == 0) run_.throw_if_stopped("assignment");
        }
        return true;
    }

    /// Relative to the sink's price, so that the price is 0 where a column is between its bounds.
    std::vector<double> prices() const {
        std::vector<double> out(price_.begin(), price_.end() - 1);
        for (Index g = 0; g < columns_; ++g) {
            double& price = out[at(g)];
            price -= price_.back();
            const auto size = static_cast<Index>(members_[at(g)].size());
            if (size < high_[at(g)]) price = std::min(price, 0.0);
            if (size > low_[at(g)]) price = std::max(price, 0.0);
        }
        return out;
    }

    /// After route() returned false: the columns that cannot meet their bounds. Either they are too full and none of
    /// their points can leave, or they are too empty and no other point can join.
    std::string blocked() {
        const Index sink = columns_;
        const bool too_empty = reached_[at(sink)];
        const auto culprit =
            std::find_if(excess_.begin(), excess_.begin() + sink, [&](Index e) { return too_empty ? e < 0 : e > 0; });
        const std::vector<bool> together_with = connected(culprit - excess_.begin(), too_empty);
        std::vector<Index> named;
        Index can = 0, bound = 0;
        for (Index g = 0; g < columns_; ++g) {
            if (!together_with[at(g)]) continue;
            named.push_back(g);
            can += static_cast<Index>(members_[at(g)].size());
            bound += too_empty ? low_[at(g)] : high_[at(g)];
        }
        const bool one = named.size() == 1;
        return filled("{}{}{}{}{}, and the {} bound{}{}", column_list(named), one ? " " : " together ",
                      too_empty ? "can take at most " : "must take at least ", counted(can, "row"),
                      too_empty ? "" : " that may go nowhere else", too_empty ? "lower" : "upper",
                      one ? " is " : "s sum to ", bound);
    }

private:
    const double* row(Index i) const { return costs_.data() + i * step_ * columns_; }
    Exits& exits(Index from, Index to) { return exits_[at(from * columns_ + to)]; }

    void join(Index i, Index column) {
        std::vector<Index>& members = members_[at(column)];
        place_[at(i)] = static_cast<Index>(members.size());
        members.push_back(i);
        column_[at(i)] = static_cast<std::int32_t>(column);
    }

    void leave(Index i, Index column) {
        std::vector<Index>& members = members_[at(column)];
        const Index last = members.back();
        members[at(place_[at(i)])] = last;
        place_[at(last)] = place_[at(i)];
        members.pop_back();
    }

    void list_exits(Index from, Index to) {
        scratch_.clear();
        const std::vector<Index>& members = members_[at(from)];
        for (const Index i : members) {
            const double* const cost = row(i);
            if (cost[to] < infinity) scratch_.push_back({cost[to] - cost[from], i});
        }
        Exits& list = exits(from, to);
        list.last = {infinity, 0};
        // An eighth of the column: the next listing, O(n_g), is needed only after a similar number of points have left
        // or joined.
        const std::size_t kept = std::max<std::size_t>(32, members.size() / 8);
        if (scratch_.size() > kept) {
            std::nth_element(scratch_.begin(), scratch_.begin() + static_cast<std::ptrdiff_t>(kept - 1),
                             scratch_.end());
            scratch_.resize(kept);
            list.last = scratch_.back();
        }
        list.heap = scratch_;
        std::make_heap(list.heap.begin(), list.heap.end(), std::greater<>());
        arcs_(from, to) = list.heap.empty() ? infinity : list.heap.front().key;
    }

    /// The nodes that can be reached from `node`; with `backwards`, the nodes from which `node` can be reached.
    std::vector<bool> connected(Index node, bool backwards) {
        const auto leads = [&](Index from, Index to) {
            if (from == columns_) return flow_[at(to)] > low_[at(to)];
            if (to == columns_) return flow_[at(from)] < high_[at(from)];
            if (!known(from, to)) list_exits(from, to);
            return arcs_(from, to) < infinity;
        };
        std::vector<bool> found(at(columns_ + 1), false);
        std::vector<Index> open{node};
        found[at(node)] = true;
        while (!open.empty()) {
            const Index here = open.back();
            open.pop_back();
            for (Index next = 0; next <= columns_; ++next) {
                if (found[at(next)] || !(backwards ? leads(next, here) : leads(here, next))) continue;
                found[at(next)] = true;
                open.push_back(next);
            }
        }
        return found;
    }

    /// Whether the arc's cost is exact (that of a point, or infinite because there is no point). Otherwise it is a
    /// lower bound.
    bool known(Index from, Index to) {
        const Exits& list = exits(from, to);
        return !list.heap.empty() || list.last.key == infinity;
    }

    void move(Index i, Index from, Index to) {
        const double* const cost = row(i);
        leave(i, from);
        join(i, to);
        for (Index h = 0; h < columns_; ++h) {
            if (h == from) continue;
            Exits& list = exits(from, h);
            if (list.heap.empty() || list.heap.front().row != i) continue;
            while (!list.heap.empty() && column_[at(list.heap.front().row)] != from) {
                std::pop_heap(list.heap.begin(), list.heap.end(), std::greater<>());
                list.heap.pop_back();
            }
            arcs_(from, h) = list.heap.empty() ? list.last.key : list.heap.front().key;
        }
        const std::size_t most = 64 + members_[at(to)].size() / 2;
        for (Index h = 0; h < columns_; ++h) {
            if (h == to || !(cost[h] < infinity)) continue;
            const Candidate here{cost[h] - cost[to], i};
            Exits& list = exits(to, h);
            if (list.last.key == -infinity) {
                arcs_(to, h) = std::min(arcs_(to, h), here.key);
            } else if (!(list.last < here)) {
                list.heap.push_back(here);
                std::push_heap(list.heap.begin(), list.heap.end(), std::greater<>());
                arcs_(to, h) = list.heap.front().key;
                if (list.heap.size() > most) list_exits(to, h);
            }
        }
    }

    // Moves one point (more, if only flows to the sink change) along the shortest path from any node with a positive
    // excess to the nearest node with a negative excess.
    bool augment() {
        const Index sink = columns_;
        const auto nodes = at(columns_ + 1);
        distance_.assign(nodes, infinity);
        previous_.assign(nodes, -1);
        reached_.assign(nodes, false);
        settled_.clear();
        for (Index v = 0; v <= sink; ++v)
            if (excess_[at(v)] > 0) distance_[at(v)] = 0;
        Index target = -1;
        while (target < 0) {
            Index node = -1;
            double nearest = infinity;
            for (Index v = 0; v <= sink; ++v)
                if (!reached_[at(v)] && distance_[at(v)] < nearest) {
                    nearest = distance_[at(v)];
                    node = v;
                }
            if (node < 0) return false;
            reached_[at(node)] = true;
            settled_.push_back(node);
            if (excess_[at(node)] < 0)
                target = node;
            else
                relax(node, nearest);
        }
        const double length = distance_[at(target)];
        for (const Index v : settled_) price_[at(v)] += length - distance_[at(v)];
        Index source = target;
        Index amount = -excess_[at(target)];
        while (previous_[at(source)] >= 0) {
            const Index before = previous_[at(source)];
            amount = std::min(amount, before == sink   ? flow_[at(source)] - low_[at(source)]
                                      : source == sink ? high_[at(before)] - flow_[at(before)]
                                                       : 1);
            source = before;
        }
        amount = std::min(amount, excess_[at(source)]);
        for (Index node = target; node != source; node = previous_[at(node)]) {
            const Index before = previous_[at(node)];
            if (before == sink)
                flow_[at(node)] -= amount;
            else if (node == sink)
                flow_[at(before)] += amount;
            else
                move(exits(before, node).heap.front().row, before, node);
        }
        excess_[at(source)] -= amount;
        excess_[at(target)] += amount;
        return true;
    }

    void relax(Index node, double length) {
        const Index sink = columns_;
        const double price = price_[at(node)];
        const auto offer = [&](Index to, double cost) {
            const double candidate = length + std::max(0.0, cost + (price_[at(to)] - price));
            if (!(candidate < distance_[at(to)])) return false;
            distance_[at(to)] = candidate;
            previous_[at(to)] = node;
            return true;
        };
        if (node == sink) {
            for (Index g = 0; g < columns_; ++g)
                if (flow_[at(g)] > low_[at(g)]) offer(g, 0.0);
            return;
        }
        if (flow_[at(node)] < high_[at(node)]) offer(sink, 0.0);
        const double* const arcs = arcs_.data() + node * columns_;
        for (Index h = 0; h < columns_; ++h) {
            if (!(length + std::max(0.0, arcs[h] + (price_[at(h)] - price)) < distance_[at(h)]) || h == node) continue;
            if (!known(node, h)) list_exits(node, h);
            offer(h, arcs[h]);
        }
    }

    const Matrix<double>& costs_;
    Index step_, rows_, columns_;
    std::vector<Index> low_, high_;
    const Run& run_;

    Labels column_;
    std::vector<std::vector<Index>> members_;
    std::vector<Index> place_;  // position of each row in members_
    std::vector<Index> flow_;
    std::vector<Index> excess_;  // columns, then sink
    std::vector<double> price_;  // columns, then sink
    std::vector<Exits> exits_;   // G x G
    Matrix<double> arcs_;        // G x G: least cost of a move, or a lower bound
    std::vector<double> distance_;
    std::vector<Index> previous_;
    std::vector<bool> reached_;
    std::vector<Index> settled_;
    std::vector<Candidate> scratch_;
    std::int64_t augmentations_ = 0;
};

void check_bounds(Index rows, Index columns, std::span<const Index> low, std::span<const Index> high) {
    if (static_cast<Index>(low.size()) != columns || static_cast<Index>(high.size()) != columns)
        refuse(Code::wrong_shape,
               filled("{} for {} lower and {} upper bounds", counted(columns, "column"), low.size(), high.size()));
    for (Index g = 0; g < columns; ++g)
        if (low[at(g)] < 0 || low[at(g)] > high[at(g)])
            refuse(Code::not_accepted, filled("column {} has the bounds {} to {}; they must be 0 <= low <= high", g + 1,
                                              low[at(g)], high[at(g)]));
    const Index least = std::accumulate(low.begin(), low.end(), Index{0});
    if (least > rows)
        refuse(Code::infeasible, filled("the lower bounds sum to {}, more than the {}", least, counted(rows, "row")));
    Index most = 0;
    for (const Index each : high) most = std::min(rows, most + std::min(each, rows));
    if (most < rows)
        refuse(Code::infeasible, filled("the upper bounds sum to {}, fewer than the {}", most, counted(rows, "row")));
}

// Sums and differences of accepted costs do not overflow.
constexpr double largest_cost = 1e300;

void check_costs(const Matrix<double>& costs, const Run& run) {
    const int threads = threads_for(static_cast<double>(costs.size()), run.threads);
    for_each_row({costs.rows(), 4096}, threads, [&](Index i, Index) {
        const double* const cost = costs.data() + i * costs.cols();
        bool somewhere = false;
        for (Index g = 0; g < costs.cols(); ++g) {
            if (std::abs(cost[g]) <= largest_cost)
                somewhere = true;
            else if (cost[g] != infinity)
                refuse(Code::not_accepted,
                       filled("the cost of column {} is {}; it must be from -1e300 to 1e300, or infinity", g + 1,
                              to_text(cost[g])),
                       i + 1);
        }
        if (!somewhere) refuse(Code::infeasible, "the row may go to no column", i + 1);
    });
}

// Bounds for every step-th row. They are loose enough to be feasible if those of all rows are and no point is
// restricted.
std::vector<Index> scaled(std::span<const Index> bounds, Index rows, Index sampled, bool up) {
    std::vector<Index> out;
    for (const Index bound : bounds) {
        const double exact =
            static_cast<double>(std::min(bound, rows)) * static_cast<double>(sampled) / static_cast<double>(rows);
        out.push_back(static_cast<Index>(up ? std::ceil(exact) : std::floor(exact)));
    }
    return out;
}

// Two groups: the size of the first lies in an interval, and the points with the largest gain join it.
Labels select(const Matrix<double>& costs, std::int32_t group, Index size, std::span<const Index> low,
              std::span<const Index> high, std::vector<double>& prices) {
    const std::int32_t other = 1 - group;
    std::vector<Candidate> order(at(costs.rows()));
    Index forced = 0, barred = 0;
    for (Index i = 0; i < costs.rows(); ++i) {
        const double here = costs(i, group);
        const double there = costs(i, other);
        forced += there == infinity;
        barred += here == infinity;
        order[at(i)] = {here - there, i};
    }
    if (size < forced || size > costs.rows() - barred)
        refuse(Code::infeasible,
               filled("column {} must take {}, but it can take from {} (which may go nowhere else) to {}", group + 1,
                      counted(size, "row"), forced, costs.rows() - barred));
    Labels out(at(costs.rows()), other);
    const auto end = order.begin() + size;
    std::nth_element(order.begin(), end, order.end());
    double largest = -infinity;
    for (auto each = order.begin(); each < end; ++each) {
        out[at(each->row)] = group;
        largest = std::max(largest, each->key);
    }
    // Any price from minus the least difference outside to minus the largest inside separates them.
    prices.assign(2, 0.0);
    const double border = std::isfinite(largest) || end == order.end() ? largest : end->key;
    if (!std::isfinite(border)) return out;
    // The price belongs to the group at its bound.
    const bool own = size == (border < 0 ? high : low)[at(group)];
    prices[at(own ? group : other)] = own ? -border : border;
    return out;
}
}  // namespace

Transport transport(const Matrix<double>& costs, std::span<const Index> low, std::span<const Index> high,
                    const Run& run, std::span<const double> start_prices) {
    const Index n = costs.rows();
    const Index columns = costs.cols();
    check_bounds(n, columns, low, high);
    if (!start_prices.empty() && static_cast<Index>(start_prices.size()) != columns)
        refuse(Code::wrong_shape, filled("{} for {} starting prices", counted(columns, "column"), start_prices.size()));
    const double pairs = double_product(columns, columns);
    require_memory(double_product(n, 2 * sizeof(Index) + sizeof(std::int32_t)) +
                       pairs * (sizeof(Exits) + sizeof(double)) +
                       (double_product(n, columns) / 4 + 32 * pairs) * sizeof(Candidate),
                   "the assignment of rows within bounds on sizes");
    check_costs(costs, run);

    std::vector<double> prices(at(columns), 0.0);
    for (std::size_t g = 0; g < start_prices.size(); ++g)
        if (std::abs(start_prices[g]) <= largest_cost) prices[g] = start_prices[g];

    Flow flow(costs, 1, {low.begin(), low.end()}, {high.begin(), high.end()}, run);
    // Far from the bounds: a quarter of the rows gives nearly correct prices at low cost. Its start prices come from a
    // sixteenth.
    const Index enough = std::max<Index>(1024, 16 * columns);
    if (n >= 4 * enough && flow.start(prices) > n / 20) {
        Index step = 4;
        while (n / (4 * step) >= enough) step *= 4;
        for (; step > 1; step /= 4) {
            const Index sampled = (n + step - 1) / step;
            Flow sample(costs, step, scaled(low, n, sampled, false), scaled(high, n, sampled, true), run);
            sample.start(prices);
            if (sample.route()) prices = sample.prices();
        }
    }
    flow.start(prices);
    if (!flow.route()) refuse(Code::infeasible, flow.blocked());

    Transport out;
    out.columns = flow.columns();
    out.prices = flow.prices();
    out.augmentations = flow.augmentations();
    for (Index i = 0; i < n; ++i) out.cost += costs(i, out.columns[at(i)]);
    return out;
}

Labels assign_groups(const Matrix<double>& costs, const Labels& natural, std::span<const Index> low,
                     std::span<const Index> high, std::vector<double>& prices, const Run& run) {
    const Index n = costs.rows();
    const Index groups = costs.cols();
    check_bounds(n, groups, low, high);
    std::vector<Index> sizes(at(groups), 0);
    for (const std::int32_t g : natural) ++sizes[at(g)];
    bool met = true;
    for (std::size_t g = 0; g < sizes.size(); ++g) met = met && low[g] <= sizes[g] && sizes[g] <= high[g];
    if (met) {
        prices.assign(at(groups), 0.0);
        return natural;
    }
    if (groups == 2) {
        check_costs(costs, run);
        // Bounds on both groups are bounds on the first; the choice of `group` matters only for ties.
        const std::int32_t group = low[0] == 0 && high[0] >= n ? 1 : 0;
        const auto mine = at(group);
        const auto other = at(1 - group);
        const Index least = std::max(low[mine], n - std::min(high[other], n));
        const Index most = std::min(high[mine], n - low[other]);
        return select(costs, group, std::clamp(sizes[mine], least, most), low, high, prices);
    }
    Transport result = transport(costs, low, high, run, prices);
    prices = std::move(result.prices);
    return std::move(result.columns);
}

}  // namespace coterie::internal
