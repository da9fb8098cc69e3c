// Rows that must be together form a group, which is one item with the summed costs. Items that must be apart form a
// graph, whose connected components are solved separately:
// - Leaves of a component are folded into their neighbours: each cluster of the neighbour gets the cost of the leaf's
//   best other cluster. This solves trees exactly.
// - A remainder whose items must all be apart is an assignment of items to clusters: transport() solves it.
// - Branch and bound searches any other remainder. Items with one cluster left come first, then the item for which the
//   second cheapest cluster costs most more than the cheapest. The bound is the sum of the least costs of the items not
//   yet placed.
// Finding any assignment is graph colouring. Items with fewer neighbours than clusters always find a cluster and come
// last. A search places the others; the clusters of a label are exchangeable until one of them is used.
//
// Invariants: an assignment keeps all pairs. It is a proven minimum unless a search visits more than a hundred thousand
// places. Nothing depends on the order of the pairs.

#include "coterie/constraints/linked_rows.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "coterie/base/error.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/text.hpp"
#include "coterie/constraints/transport.hpp"

namespace coterie::internal {
namespace {

constexpr double forbidden = std::numeric_limits<double>::infinity();  // cost of a cluster that is not allowed
constexpr int most_places = 100000;                                    // limit of a search for the least costs
constexpr int most_tries = 1000000;                                    // limit of a search for any assignment

void check(const std::vector<RowPair>& pairs, Index rows, const char* option) {
    for (std::size_t i = 0; i < pairs.size(); ++i)
        for (const Index row : {pairs[i].first, pairs[i].second})
            if (row < 0 || row >= rows)
                throw BadArgument(Code::out_of_range,
                                  filled("the pair names row {}, but the data have rows 1 to {}", row + 1, rows), "",
                                  {.option = option,
                                   .value = std::to_string(row + 1),
                                   .accepted = filled("from 1 to {}", rows),
                                   .row = static_cast<std::int64_t>(i) + 1});
}

// The rows on a shortest path from one row to another along must-links.
std::vector<Index> way(const std::vector<RowPair>& links, Index from, Index to) {
    std::map<Index, std::vector<Index>> next;
    for (const RowPair& link : links) {
        next[link.first].push_back(link.second);
        next[link.second].push_back(link.first);
    }
    std::map<Index, Index> before{{from, from}};
    std::vector<Index> border{from};
    while (!before.contains(to)) {
        std::vector<Index> beyond;
        for (const Index row : border)
            for (const Index other : next[row])
                if (before.emplace(other, row).second) beyond.push_back(other);
        border = std::move(beyond);
    }
    std::vector<Index> out{to};
    while (out.back() != from) out.push_back(before.at(out.back()));
    std::reverse(out.begin(), out.end());
    return out;
}

// One cluster per item, such that items that must be apart differ; nothing if there is no such assignment. `decided` is
// false if the search stopped early. Of unused clusters that the same items may use, only the first is tried.
std::optional<std::vector<int>> any_assignment(const std::vector<std::vector<int>>& apart,
                                               const std::vector<std::pair<int, int>>& allowed, int clusters,
                                               bool& decided) {
    const int count = static_cast<int>(apart.size());
    // Clusters with the same allowed items have the same kind; they are consecutive.
    std::vector<int> kind(at(clusters), 0);
    for (int j = 1; j < clusters; ++j) {
        const bool border =
            std::ranges::any_of(allowed, [&](const auto& range) { return range.first == j || range.second == j; });
        kind[at(j)] = kind[at(j - 1)] + (border ? 1 : 0);
    }
    std::vector<int> chosen(at(count), -1), used(at(clusters), 0);
    // taken[i][j]: how many neighbours of item i use cluster j.
    std::vector<std::vector<int>> taken(at(count), std::vector<int>(at(clusters), 0));
    // last: the items that always find a cluster, in the order in which they are postponed.
    std::vector<int> degree, last;
    std::vector<bool> put_off(at(count), false);
    for (const auto& others : apart) degree.push_back(static_cast<int>(others.size()));
    const auto put_off_if_sure = [&](int i) {
        if (put_off[at(i)] || degree[at(i)] >= allowed[at(i)].second - allowed[at(i)].first) return;
        put_off[at(i)] = true;
        last.push_back(i);
    };
    for (int i = 0; i < count; ++i) put_off_if_sure(i);
    for (std::size_t done = 0; done < last.size(); ++done)
        for (const int other : apart[at(last[done])]) {
            --degree[at(other)];
            put_off_if_sure(other);
        }
    std::vector<int> core;
    for (int i = 0; i < count; ++i)
        if (!put_off[at(i)]) core.push_back(i);
    int tries = 0;
    const auto place = [&](int item, int cluster, int by) {
        used[at(cluster)] += by;
        for (const int other : apart[at(item)]) taken[at(other)][at(cluster)] += by;
    };
    const std::function<bool(std::size_t)> go_on = [&](std::size_t placed) -> bool {
        if (placed == core.size()) return true;
        int item = -1, fewest = 0;
        for (const int i : core) {
            if (chosen[at(i)] >= 0) continue;
            int free = 0;
            for (int j = allowed[at(i)].first; j < allowed[at(i)].second; ++j) free += taken[at(i)][at(j)] == 0 ? 1 : 0;
            if (item >= 0 && (free > fewest || (free == fewest && apart[at(i)].size() <= apart[at(item)].size())))
                continue;
            item = i;
            fewest = free;
        }
        int unused_kind = -1;
        for (int j = allowed[at(item)].first; j < allowed[at(item)].second; ++j) {
            if (taken[at(item)][at(j)] > 0) continue;
            if (used[at(j)] == 0) {
                if (unused_kind == kind[at(j)]) continue;
                unused_kind = kind[at(j)];
            }
            if (++tries > most_tries) return false;
            chosen[at(item)] = j;
            place(item, j, 1);
            if (go_on(placed + 1)) return true;
            place(item, j, -1);
            chosen[at(item)] = -1;
        }
        return false;
    };
    const bool found = go_on(0);
    decided = found || tries <= most_tries;
    if (!found) return std::nullopt;
    for (auto item = last.rbegin(); item != last.rend(); ++item) {
        int j = allowed[at(*item)].first;
        while (taken[at(*item)][at(j)] > 0) ++j;
        chosen[at(*item)] = j;
        place(*item, j, 1);
    }
    return chosen;
}

// Items that must all be apart, found greedily.
std::vector<int> clique_of(const std::vector<std::vector<int>>& apart) {
    std::vector<int> order(apart.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, std::ranges::greater(), [&](int item) { return apart[at(item)].size(); });
    std::vector<int> out;
    for (const int item : order) {
        const auto is_apart = [&](int other) {
            return std::ranges::find(apart[at(item)], other) != apart[at(item)].end();
        };
        if (std::ranges::all_of(out, is_apart)) out.push_back(item);
    }
    return out;
}

}  // namespace

// Fills the groups and components of LinkedRows from the pairs of a problem. Each function throws BadData if no
// assignment keeps all pairs.
class LinkedRows::Builder {
public:
    Builder(LinkedRows& out, const Problem& problem, const std::function<std::pair<int, int>(Index row)>& allowed)
        : out_(out), problem_(problem), allowed_(allowed) {}

    // Joins the rows of must-links.
    void make_groups() {
        std::vector<Index> root = roots();
        group_of_.resize(root.size());
        for (Index place = 0; place < static_cast<Index>(root.size()); ++place) {
            const auto [first, last] = allowed_(row(place));
            const Index lowest = root_of(root, place);
            if (lowest == place) {
                group_of_[at(place)] = static_cast<int>(out_.groups_.size());
                out_.groups_.push_back({{}, first, last});
            } else {
                group_of_[at(place)] = group_of_[at(lowest)];
            }
            add_member(place, first, last, out_.groups_[at(group_of_[at(place)])]);
        }
    }

    // Lists, for each group, the groups that cannot-links keep apart from it. The groups ascend.
    void make_neighbours() {
        std::set<std::pair<int, int>> apart;
        for (const RowPair& pair : problem_.cannot_links) {
            const int a = group_of_[at(place_of(pair.first))], b = group_of_[at(place_of(pair.second))];
            if (a == b)
                throw pair.first == pair.second
                    ? conflict("row " + number(pair.first) + " cannot be apart from itself", "Remove this link")
                    : conflict("rows " + number(pair.first) + " and " + number(pair.second) +
                                   " must be apart, but must-links join them: rows " +
                                   numbers(way(problem_.must_links, pair.first, pair.second)),
                               remove_link);
            apart.insert({std::min(a, b), std::max(a, b)});
        }
        neighbours_.resize(out_.groups_.size());
        for (const auto& [a, b] : apart) {
            neighbours_[at(a)].push_back(b);
            neighbours_[at(b)].push_back(a);
        }
    }

    void make_components() {
        std::vector<bool> reached(out_.groups_.size(), false);
        for (std::size_t start = 0; start < out_.groups_.size(); ++start) {
            if (reached[start]) continue;
            Component component = component_from(static_cast<int>(start), reached);
            component.example = example_of(component);
            out_.components_.push_back(std::move(component));
        }
    }

private:
    static constexpr const char* remove_link = "Remove one of these links";
    static constexpr const char* more_clusters = "Use more clusters or remove links";

    static BadData conflict(std::string text, const std::string& remedy) {
        return BadData(Code::infeasible, std::move(text), remedy + " (rows are counted from 1)",
                       {.option = "cannot_links"});
    }
    std::string number(Index row) const { return std::to_string(problem_.row_number(row) + 1); }
    std::string numbers(const std::vector<Index>& rows) const {
        constexpr std::size_t most = 10;
        const std::string out = listed(rows, most, [&](Index row) { return number(row); });
        return rows.size() > most ? filled("{} ({} rows)", out, rows.size()) : out;
    }

    // A place is a position in rows_.
    Index row(Index place) const { return out_.rows_[at(place)]; }
    Index place_of(Index row) const { return std::ranges::lower_bound(out_.rows_, row) - out_.rows_.begin(); }

    static Index root_of(std::vector<Index>& root, Index place) {
        while (root[at(place)] != place) place = root[at(place)] = root[at(root[at(place)])];
        return place;
    }
    // Links each place towards the root of its group, which is the lowest place.
    std::vector<Index> roots() const {
        std::vector<Index> root(out_.rows_.size());
        std::iota(root.begin(), root.end(), Index{0});
        for (const RowPair& pair : problem_.must_links) {
            const Index a = root_of(root, place_of(pair.first)), b = root_of(root, place_of(pair.second));
            root[at(std::max(a, b))] = std::min(a, b);
        }
        return root;
    }

    // Adds a row that may go to clusters first..last-1. The group keeps the intersection of the allowed clusters. It is
    // empty if two rows have different labels.
    void add_member(Index place, int first, int last, Group& group) const {
        group.members.push_back(place);
        const int from = std::max(group.first, first), to = std::min(group.last, last);
        if (from >= to) {
            Index other = group.members.front();
            for (const Index member : group.members) {
                const auto [begin, end] = allowed_(row(member));
                if (std::max(begin, first) >= std::min(end, last)) other = member;
            }
            throw conflict("rows " + number(row(other)) + " and " + number(row(place)) +
                               " have different labels, but must-links join them: rows " +
                               numbers(way(problem_.must_links, row(other), row(place))),
                           remove_link);
        }
        group.first = from;
        group.last = to;
    }

    // The component that contains the group `start`, without its example.
    Component component_from(int start, std::vector<bool>& reached) const {
        Component out;
        const auto reach = [&](int group) {
            if (!reached[at(group)]) out.groups.push_back(group);
            reached[at(group)] = true;
        };
        reach(start);
        for (std::size_t i = 0; i < out.groups.size(); ++i)
            for (const int other : neighbours_[at(out.groups[i])]) reach(other);
        std::ranges::sort(out.groups);
        for (const int group : out.groups) {
            std::vector<int>& places = out.apart.emplace_back();
            for (const int other : neighbours_[at(group)])
                places.push_back(static_cast<int>(std::ranges::lower_bound(out.groups, other) - out.groups.begin()));
        }
        return out;
    }

    // One cluster per group of the component, such that all pairs are kept.
    std::vector<int> example_of(const Component& component) const {
        const int clusters = out_.clusters_;
        const std::vector<int> clique = clique_of(component.apart);
        if (static_cast<int>(clique.size()) > clusters)
            throw conflict(filled("rows {} must all be apart, which needs {} clusters; there are {}",
                                  numbers(first_rows(component, clique)), clique.size(), clusters),
                           more_clusters);
        std::vector<std::pair<int, int>> ranges;
        for (const int group : component.groups)
            ranges.emplace_back(out_.groups_[at(group)].first, out_.groups_[at(group)].last);
        bool decided = true;
        const auto example = any_assignment(component.apart, ranges, clusters, decided);
        if (example) return *example;
        std::vector<int> all(component.groups.size());
        std::iota(all.begin(), all.end(), 0);
        throw conflict(
            filled("rows {} {}", numbers(first_rows(component, all)),
                   decided ? filled("cannot be put into {} clusters without breaking a cannot-link", clusters)
                           : filled("have so many cannot-links that no assignment was found in {} tries", most_tries)),
            more_clusters);
    }

    // The lowest row of each of some groups of a component, ascending.
    std::vector<Index> first_rows(const Component& component, const std::vector<int>& positions) const {
        std::vector<Index> out;
        for (const int position : positions)
            out.push_back(row(out_.groups_[at(component.groups[at(position)])].members.front()));
        std::ranges::sort(out);
        return out;
    }

    LinkedRows& out_;
    const Problem& problem_;
    const std::function<std::pair<int, int>(Index row)>& allowed_;
    std::vector<int> group_of_;                 // the group of each place
    std::vector<std::vector<int>> neighbours_;  // of each group
};

LinkedRows::LinkedRows(const Problem& problem, int clusters,
                       const std::function<std::pair<int, int>(Index row)>& allowed)
    : clusters_(clusters) {
    check(problem.must_links, problem.rows(), "must_links");
    check(problem.cannot_links, problem.rows(), "cannot_links");
    for (const auto* pairs : {&problem.must_links, &problem.cannot_links})
        for (const RowPair& pair : *pairs) rows_.insert(rows_.end(), {pair.first, pair.second});
    std::ranges::sort(rows_);
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
    Builder builder(*this, problem, allowed);
    builder.make_groups();
    builder.make_neighbours();
    builder.make_components();
}

// Finds least costs by branch and bound, starting from `best`. Returns whether the result is proven.
bool LinkedRows::search(const Component& component, const Matrix<double>& costs, std::vector<int>& best) const {
    const int count = static_cast<int>(component.groups.size());
    const int k = clusters_;
    double best_cost = 0;
    for (int i = 0; i < count; ++i) best_cost += costs(i, best[at(i)]);
    std::vector<int> chosen(at(count), -1);
    std::vector<std::vector<int>> taken(at(count), std::vector<int>(at(k), 0));
    int places = 0;
    const std::function<void(int, double)> go_on = [&](int placed, double cost) {
        if (placed == count) {
            if (cost < best_cost) {
                best_cost = cost;
                best = chosen;
            }
            return;
        }
        int item = -1, fewest = 0;
        double most_lost = 0, bound = cost;
        for (int i = 0; i < count; ++i) {
            if (chosen[at(i)] >= 0) continue;
            int free = 0;
            double least = forbidden, second = forbidden;
            for (int j = 0; j < k; ++j) {
                if (taken[at(i)][at(j)] > 0 || !(costs(i, j) < forbidden)) continue;
                ++free;
                if (costs(i, j) < least) {
                    second = least;
                    least = costs(i, j);
                } else {
                    second = std::min(second, costs(i, j));
                }
            }
            if (free == 0) return;
            bound += least;
            const double lost = second - least;
            if (item >= 0 && (std::min(free, 2) > std::min(fewest, 2) ||
                              (std::min(free, 2) == std::min(fewest, 2) && lost <= most_lost)))
                continue;
            item = i;
            fewest = free;
            most_lost = lost;
        }
        if (!(bound < best_cost)) return;
        std::vector<int> order;
        for (int j = 0; j < k; ++j)
            if (taken[at(item)][at(j)] == 0 && costs(item, j) < forbidden) order.push_back(j);
        std::ranges::stable_sort(order, {}, [&](int j) { return costs(item, j); });
        for (const int j : order) {
            if (++places > most_places) return;
            chosen[at(item)] = j;
            for (const int other : component.apart[at(item)]) ++taken[at(other)][at(j)];
            go_on(placed + 1, cost + costs(item, j));
            for (const int other : component.apart[at(item)]) --taken[at(other)][at(j)];
            chosen[at(item)] = -1;
        }
    };
    go_on(0, 0);
    return places <= most_places;
}

LinkedRows::Solution LinkedRows::assign(const Matrix<double>& costs) const {
    const int k = clusters_;
    Solution out;
    out.labels.assign(rows_.size(), -1);
    for (const Component& component : components_) {
        const auto count = static_cast<int>(component.groups.size());
        Matrix<double> own = Matrix<double>::Constant(count, k, forbidden);
        for (int i = 0; i < count; ++i) {
            const Group& group = groups_[at(component.groups[at(i)])];
            for (int j = group.first; j < group.last; ++j) {
                own(i, j) = 0;
                for (const Index member : group.members) own(i, j) += costs(member, j);
            }
        }
        std::vector<int> chosen(at(count), -1);

        // A leaf's choice follows from its neighbour's, so each cluster of the neighbour gets the leaf's cost for that
        // choice.
        std::vector<std::vector<int>> left = component.apart;
        std::vector<std::pair<int, int>> folded;  // leaf, neighbour (-1: the last item of a tree)
        std::vector<bool> gone(at(count), false);
        std::set<int> leaves;
        for (int i = 0; i < count; ++i)
            if (left[at(i)].size() < 2) leaves.insert(i);
        const auto cheapest = [&](int item, int beside) {
            int best = -1;
            for (int j = 0; j < k; ++j)
                if (j != beside && own(item, j) < forbidden && (best < 0 || own(item, j) < own(item, best))) best = j;
            return best;
        };
        while (!leaves.empty()) {
            const int leaf = *leaves.begin();
            leaves.erase(leaves.begin());
            gone[at(leaf)] = true;
            if (left[at(leaf)].empty()) {
                folded.emplace_back(leaf, -1);
                continue;
            }
            const int neighbour = left[at(leaf)].front();
            folded.emplace_back(leaf, neighbour);
            const int first = cheapest(leaf, -1), second = cheapest(leaf, first);
            for (int j = 0; j < k; ++j) {
                const int choice = j == first ? second : first;
                own(neighbour, j) += choice < 0 ? forbidden : own(leaf, choice);
            }
            std::erase(left[at(neighbour)], leaf);
            if (left[at(neighbour)].size() < 2) leaves.insert(neighbour);
        }
        std::vector<int> core;
        for (int i = 0; i < count; ++i)
            if (!gone[at(i)]) core.push_back(i);
        if (!core.empty()) {
            const auto size = static_cast<int>(core.size());
            Component rest;
            Matrix<double> rest_costs(size, k);
            std::vector<int> place(at(count), -1);
            for (int i = 0; i < size; ++i) place[at(core[at(i)])] = i;
            bool all_apart = true;
            for (const int item : core) {
                rest.groups.push_back(component.groups[at(item)]);
                rest_costs.row(place[at(item)]) = own.row(item);
                std::vector<int>& apart = rest.apart.emplace_back();
                for (const int other : left[at(item)]) apart.push_back(place[at(other)]);
                all_apart = all_apart && static_cast<int>(apart.size()) == size - 1;
            }
            std::vector<int> found;
            if (all_apart) {
                const std::vector<Index> low(at(k), 0), high(at(k), 1);
                found = transport(rest_costs, low, high, Run(0, 1)).columns;
            } else {
                for (const int item : core) found.push_back(component.example[at(item)]);
                out.optimal = search(rest, rest_costs, found) && out.optimal;
            }
            for (int i = 0; i < size; ++i) chosen[at(core[at(i)])] = found[at(i)];
        }
        for (auto each = folded.rbegin(); each != folded.rend(); ++each)
            chosen[at(each->first)] = cheapest(each->first, each->second < 0 ? -1 : chosen[at(each->second)]);

        for (int i = 0; i < count; ++i)
            for (const Index member : groups_[at(component.groups[at(i)])].members) {
                out.labels[at(member)] = chosen[at(i)];
                out.cost += costs(member, chosen[at(i)]);
            }
    }
    return out;
}

}  // namespace coterie::internal
