// Converts labels, shares and sizes into groups of clusters with bounds, so assignments need not know the origin of a
// bound. Bounds that are impossible for the counts are errors here, before the fit starts.
// For hard assignments, shares become whole numbers of points. If rounding makes their sum too small or too large, the
// counts with the largest remainders change (ties: the lowest group first). Intervals are never widened: an interval
// that contains no suitable whole number is an error.

#include "coterie/constraints/constraints.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "coterie/base/checks.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {

// n share counts as a whole number if it is within this distance of one.
constexpr double almost = 1e-9;

std::string number(double value) { return to_text(value); }

template <class Number>
Number total(const std::vector<Number>& numbers) {
    return std::accumulate(numbers.begin(), numbers.end(), Number{0});
}

// "1 row has", "2 rows have"
std::string rows_have(Index rows) { return counted(rows, "row") + (rows == 1 ? " has" : " have"); }

[[noreturn]] void refuse(const char* option, Code code, std::string problem, std::string remedy, std::string value = {},
                         std::string accepted = {}, std::optional<std::int64_t> row = {}) {
    throw BadArgument(code, std::move(problem), std::move(remedy),
                      {.option = option, .value = std::move(value), .accepted = std::move(accepted), .row = row});
}

// Sets labels, names and labelled.
void take_labels(const Problem& problem, Constraints& out) {
    check_partial_labels(problem.partial_labels, out.points);
    const std::int32_t largest = std::ranges::max(problem.partial_labels);
    if (largest < 0) refuse("partial_labels", Code::empty, "all labels are blank", "Label at least one row");
    out.labels = problem.partial_labels;
    out.names = problem.label_names;
    if (out.names.empty())
        for (std::int32_t label = 0; label <= largest; ++label) out.names.push_back(std::to_string(label));
    std::set<std::string> seen;
    for (const auto& name : out.names)
        if (!seen.insert(name).second)
            refuse("partial_labels", Code::duplicate, "two labels have the name '" + name + "'",
                   "Give each label its own name", name);
    out.labelled.assign(out.names.size(), 0);
    for (std::size_t i = 0; i < out.labels.size(); ++i) {
        const std::int32_t label = out.labels[i];
        if (label < -1 || label >= static_cast<std::int32_t>(out.names.size()))
            refuse("partial_labels", Code::out_of_range,
                   filled("label {} is not from 0 to {}", label, out.names.size() - 1),
                   "Use -1 for a row without a label", std::to_string(label),
                   filled("from -1 to {}", out.names.size() - 1), static_cast<std::int64_t>(i) + 1);
        if (label >= 0) ++out.labelled[at(label)];
    }
}

std::size_t find_label(const std::vector<std::string>& names, const std::string& name, const char* option) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return at(found - names.begin());
    const std::string list = listed(nearest_first(names, name), 12);
    refuse(option, Code::unknown_name, "no row has the label '" + name + "'", "Labels, nearest first: " + list, name,
           list);
}

// Sets label_of from the number of clusters of each label.
void lay_out_clusters(std::optional<int> clusters, const Problem& problem, Constraints& out) {
    std::vector<int> owned(out.names.size(), 1);
    std::set<std::size_t> named;
    for (const auto& each : problem.clusters_per_label) {
        const std::size_t label = find_label(out.names, each.label, "clusters_per_label");
        if (!named.insert(label).second)
            refuse("clusters_per_label", Code::duplicate, "label '" + each.label + "' is named twice",
                   "Name each label once", each.label);
        if (each.clusters < 1)
            refuse("clusters_per_label", Code::not_accepted, filled("{}={} is not accepted", each.label, each.clusters),
                   "Give each label at least 1 cluster", filled("{}={}", each.label, each.clusters), "at least 1");
        owned[label] = each.clusters;
    }
    const auto together = std::accumulate(owned.begin(), owned.end(), std::int64_t{0});
    if (together > out.points)
        refuse("clusters_per_label", Code::too_few_rows,
               filled("the labels have {} for {}", counted(together, "cluster"), counted(out.points, "row")),
               "Use at most one cluster per row", std::to_string(together), filled("at most {}", out.points));
    if (clusters && *clusters < together)
        refuse("clusters", Code::infeasible,
               filled("{} requested, but the labels need {}", counted(*clusters, "cluster"), together),
               filled("Use at least {}; any further clusters have no label", together), std::to_string(*clusters),
               filled("at least {}", together));
    for (std::size_t label = 0; label < owned.size(); ++label)
        out.label_of.insert(out.label_of.end(), at(owned[label]), static_cast<std::int32_t>(label));
    if (clusters) out.label_of.resize(at(*clusters), -1);
}

void bound_sizes(const SizeBounds& sizes, Constraints& out) {
    const Index n = out.points;
    const Index k = out.clusters();
    const Index low = sizes.low;
    const Index high = std::min(sizes.high, n);
    const std::string given =
        filled("{}:{}", low, sizes.high == std::numeric_limits<Index>::max() ? "" : std::to_string(sizes.high));
    // "Use WHAT".
    const auto refuse_bound = [&](const std::string& problem, const std::string& what) {
        refuse("sizes", Code::infeasible, problem, "Use " + what, given, what);
    };
    const auto refuse_high = [&](const std::string& problem, Index least) {
        refuse_bound(problem, filled("a maximum of at least {}", least));
    };
    if (low < 0 || low > sizes.high)
        refuse("sizes", Code::not_accepted, given + " is not accepted", "Use LOW:HIGH with 0 <= LOW <= HIGH", given,
               "0 <= low <= high");
    if (low > n / k)
        refuse_bound(filled("{} cannot fill {} with at least {} each", counted(n, "row"), counted(k, "cluster"),
                            counted(low, "row")),
                     filled("a minimum of at most {}", n / k));
    if (high < (n + k - 1) / k)
        refuse_high(
            filled("{} of at most {} cannot hold {}", counted(k, "cluster"), counted(high, "row"), counted(n, "row")),
            (n + k - 1) / k);
    Index needed = 0;
    Index others = k;
    for (std::size_t label = 0; label < out.names.size(); ++label) {
        const auto [begin, end] = out.clusters_of(static_cast<std::int32_t>(label));
        const Index own = end - begin;
        others -= own;
        if (out.labelled[label] > own * high)
            refuse_high(filled("{} the label '{}', but its {} can hold at most {}", rows_have(out.labelled[label]),
                               out.names[label], counted(own, "cluster"), counted(own * high, "row")),
                        (out.labelled[label] + own - 1) / own);
        needed += std::max(out.labelled[label], own * low);
    }
    if (needed + others * low > n)
        refuse("sizes", Code::infeasible,
               filled("at least {} per cluster and the labelled rows together need {}, but there are {}",
                      counted(low, "row"), counted(needed + others * low, "row"), n),
               "Lower the minimum", given, "a lower minimum");
    out.group_of.resize(at(k));
    std::iota(out.group_of.begin(), out.group_of.end(), 0);
    out.low.assign(at(k), low);
    out.high.assign(at(k), high);
    out.low_mass.assign(at(k), static_cast<double>(low));
    out.high_mass.assign(at(k), static_cast<double>(high));
    out.bounded = low > 0 || high < n;
}

std::string text_of(const LabelShare& share) {
    return share.label + "=" + number(share.low) + (share.low == share.high ? "" : ":" + number(share.high));
}

// The text of the number of points that a share requires.
std::string asked(double mass, Index points, bool soft) { return soft ? number(mass) : std::to_string(points); }

Index whole(double mass, ShareRounding rounding) {
    return static_cast<Index>(rounding == ShareRounding::floor ? std::floor(mass + almost) : std::round(mass));
}

// Rounds each exact share up or down to a whole number: as `rounding` says, unless the labelled points or the sum of
// all counts need the other direction. The counts that rounding changed most are adjusted first (ties: the lowest
// group). Intervals do not change. `forced`: labelled points of each group; `others`: labelled points of no group;
// `rest`: there are clusters outside the groups.
void make_counts_add_up(const std::vector<bool>& exact, const std::vector<Index>& forced, Index others, bool rest,
                        Constraints& out) {
    const Index labelled = others + total(forced);
    std::vector<Index> fewest = out.low, most = out.high;
    std::vector<std::size_t> order;
    for (std::size_t g = 0; g < exact.size(); ++g) {
        if (!exact[g]) continue;
        fewest[g] = std::max(static_cast<Index>(std::floor(out.high_mass[g] + almost)), forced[g]);
        most[g] = std::min(static_cast<Index>(std::ceil(out.high_mass[g] - almost)), out.points - labelled + forced[g]);
        if (fewest[g] > most[g]) continue;
        out.low[g] = out.high[g] = std::clamp(out.high[g], fewest[g], most[g]);
        order.push_back(g);
    }
    Index surplus = others - out.points;
    Index missing = rest ? 0 : out.points;
    for (std::size_t g = 0; g < exact.size(); ++g) {
        surplus += std::max(out.low[g], forced[g]);
        missing -= out.high[g];
    }
    const Index step = surplus > 0 ? -1 : 1;
    Index left = std::max(surplus, missing);
    const auto lost = [&](std::size_t g) {
        return static_cast<double>(step) * (out.high_mass[g] - static_cast<double>(out.high[g]));
    };
    std::ranges::stable_sort(order, std::ranges::greater(), lost);
    for (const std::size_t g : order) {
        if (left <= 0) break;
        if (out.high[g] == (step < 0 ? fewest : most)[g]) continue;
        out.low[g] = out.high[g] += step;
        --left;
    }
}

[[noreturn]] void refuse_share(Code code, std::string problem, std::string remedy, std::string value,
                               std::string accepted) {
    refuse("label_share", code, std::move(problem), std::move(remedy), std::move(value), std::move(accepted));
}

// The share of each label; null for a label without one.
std::vector<const LabelShare*> shares_of_labels(const Problem& problem, const std::vector<std::string>& names) {
    std::vector<const LabelShare*> out(names.size(), nullptr);
    for (const auto& share : problem.label_shares) {
        const std::size_t label = find_label(names, share.label, "label_share");
        if (out[label])
            refuse_share(Code::duplicate, "label '" + share.label + "' is named twice", "Name each label once",
                         share.label, "each label once");
        if (!(share.low >= 0 && share.low <= share.high && share.high <= 1))
            refuse_share(Code::not_accepted, text_of(share) + " is not accepted",
                         "Use a share from 0 to 1, or LOW:HIGH with LOW <= HIGH", text_of(share),
                         "a fraction from 0 to 1, and low <= high");
        out[label] = &share;
    }
    return out;
}

// The groups of the labels with a share.
struct ShareGroups {
    std::vector<const LabelShare*> share;  // of each group
    std::vector<Index> forced;             // labelled rows of each group
    std::vector<bool> exact;               // the share is one number, not an interval
    Index labelled = 0;                    // rows with any label
    bool rest = false;                     // there are clusters outside the groups

    std::size_t count() const { return share.size(); }
    // Labelled rows of no group.
    Index others() const { return labelled - total(forced); }
};

// Makes one group per label with a share, with the bounds that its share gives.
ShareGroups make_groups(const std::vector<const LabelShare*>& share_of, ShareRounding rounding, bool soft,
                        Constraints& out) {
    const auto n = static_cast<double>(out.points);
    ShareGroups groups;
    groups.labelled = total(out.labelled);
    out.group_of.assign(at(out.clusters()), -1);
    for (std::size_t label = 0; label < share_of.size(); ++label) {
        if (!share_of[label]) continue;
        const LabelShare& share = *share_of[label];
        const auto [begin, end] = out.clusters_of(static_cast<std::int32_t>(label));
        std::fill(out.group_of.begin() + begin, out.group_of.begin() + end, static_cast<std::int32_t>(groups.count()));
        const bool exact = share.low == share.high;
        groups.share.push_back(&share);
        groups.forced.push_back(out.labelled[label]);
        groups.exact.push_back(exact);
        out.low_mass.push_back(n * share.low);
        out.high_mass.push_back(n * share.high);
        const Index high = whole(out.high_mass.back(), exact ? rounding : ShareRounding::floor);
        const Index low = exact ? high : static_cast<Index>(std::ceil(out.low_mass.back() - almost));
        if (low > high && !soft)
            refuse_share(Code::infeasible,
                         text_of(share) + " of " + counted(out.points, "row") + " contains no whole number",
                         "Widen the interval or give one share", text_of(share),
                         "an interval that contains a whole number of points");
        out.low.push_back(std::min(low, high));
        out.high.push_back(high);
    }
    groups.rest = std::ranges::find(out.group_of, -1) != out.group_of.end();
    return groups;
}

// Checks that the shares can add up to 1. For hard assignments, also makes the counts add up.
void check_sums_of_shares(const ShareGroups& groups, bool soft, Constraints& out) {
    const auto n = static_cast<double>(out.points);
    const double least = total(out.low_mass), most = total(out.high_mass);
    if (least > n * (1 + almost))
        refuse_share(Code::infeasible, "the shares add up to at least " + number(least / n),
                     "Lower them so that they add up to at most 1", number(least / n),
                     "shares that add up to at most 1");
    if (!groups.rest && most < n * (1 - almost))
        refuse_share(Code::infeasible, "every label has a share, and the shares add up to at most " + number(most / n),
                     "Raise them so that they can add up to 1", number(most / n), "shares that can add up to 1");
    if (soft) return;
    make_counts_add_up(groups.exact, groups.forced, groups.others(), groups.rest, out);
    const Index room = total(out.high);
    if (!groups.rest && room < out.points)
        refuse_share(Code::infeasible,
                     filled("every label has a share, but rounded to whole rows the shares allow only {} of {}", room,
                            counted(out.points, "row")),
                     "Raise the maximum of a share", number(most / n),
                     "intervals whose whole numbers of points can add up to all points");
}

// Refuses the share of group g: it cannot take from `forced` to `largest` rows.
[[noreturn]] void refuse_size_of_group(std::size_t g, Index forced, Index largest, const ShareGroups& groups, bool soft,
                                       const Constraints& out) {
    const auto n = static_cast<double>(out.points);
    const LabelShare& share = *groups.share[g];
    const Index elsewhere = groups.labelled - forced;
    const std::string shares =
        "shares from " + number(static_cast<double>(forced) / n) + " to " + number(static_cast<double>(largest) / n);
    refuse_share(Code::infeasible,
                 filled("{} asks for {}{} of {}, but {} the label '{}' and {}{} other labels", text_of(share),
                        share.low == share.high ? "" : "between " + asked(out.low_mass[g], out.low[g], soft) + " and ",
                        asked(out.high_mass[g], out.high[g], soft), counted(out.points, "row"), rows_have(forced),
                        share.label, elsewhere, elsewhere == 1 ? " has" : " have"),
                 filled("Use {} ({} to {})", shares, forced, counted(largest, "row")), text_of(share), shares);
}

// Checks the bounds against the labelled rows, and undoes rounding of masses beyond them. A group must take its
// labelled rows (forced). It can take at most all rows except those with other labels (largest).
void check_labelled_rows(const ShareGroups& groups, bool soft, Constraints& out) {
    const auto n = static_cast<double>(out.points);
    double needed = 0;
    for (std::size_t g = 0; g < groups.count(); ++g) {
        const Index forced = groups.forced[g];
        const Index largest = out.points - (groups.labelled - forced);
        const bool too_small = soft ? out.high_mass[g] < static_cast<double>(forced) - almost : out.high[g] < forced;
        const bool too_large = soft ? out.low_mass[g] > static_cast<double>(largest) + almost : out.low[g] > largest;
        if (too_small || too_large) refuse_size_of_group(g, forced, largest, groups, soft, out);
        needed += soft ? std::max(out.low_mass[g], static_cast<double>(forced))
                       : static_cast<double>(std::max(out.low[g], forced));
        // Undo rounding of n times the share beyond these limits.
        out.low_mass[g] = std::min(out.low_mass[g], static_cast<double>(largest));
        out.high_mass[g] = std::max(out.high_mass[g], static_cast<double>(forced));
    }
    const Index others = groups.others();
    if (needed + static_cast<double>(others) > n * (1 + almost))
        refuse_share(Code::infeasible,
                     filled("the shares together need {} rows{}, but there are {}", number(needed),
                            others == 0 ? "" : filled(" and {} more have other labels", others), out.points),
                     soft ? "Lower the shares" : "Lower the minimum of a share (it is rounded up to whole rows)",
                     number(needed / n), "shares that leave the other labels their points");
}

// Scales masses so that their sum is n in spite of rounding.
void make_masses_add_up(Constraints& out) {
    const auto n = static_cast<double>(out.points);
    if (const double low_sum = total(out.low_mass); low_sum > n)
        for (auto& mass : out.low_mass) mass *= n / low_sum;
    if (const double high_sum = total(out.high_mass); high_sum < n)
        for (auto& mass : out.high_mass) mass *= n / high_sum;
    for (std::size_t g = 0; g < out.high_mass.size(); ++g)
        out.high_mass[g] = std::max(out.high_mass[g], out.low_mass[g]);
}

void bound_groups(const Problem& problem, ShareRounding rounding, bool soft, Constraints& out) {
    const ShareGroups groups = make_groups(shares_of_labels(problem, out.names), rounding, soft, out);
    check_sums_of_shares(groups, soft, out);
    check_labelled_rows(groups, soft, out);
    if (!groups.rest) {
        make_masses_add_up(out);
    } else {  // the clusters outside the groups become the last group, without bounds
        std::ranges::replace(out.group_of, -1, static_cast<std::int32_t>(groups.count()));
        out.low.push_back(0);
        out.high.push_back(out.points);
        out.low_mass.push_back(0);
        out.high_mass.push_back(static_cast<double>(out.points));
    }
    out.bounded = true;
}

}  // namespace

std::pair<int, int> Constraints::clusters_of(std::int32_t label) const {
    // Free clusters (-1) come last: they sort after every label.
    const auto before = [](std::int32_t a, std::int32_t b) {
        return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
    };
    const auto range = std::equal_range(label_of.begin(), label_of.end(), label, before);
    return {static_cast<int>(range.first - label_of.begin()), static_cast<int>(range.second - label_of.begin())};
}

Constraints compile_constraints(Index points, std::optional<int> clusters, const Problem& problem,
                                ShareRounding rounding, bool soft) {
    Constraints out;
    out.points = points;
    if (clusters && *clusters > std::max<Index>(points, 1))
        refuse("clusters", Code::too_few_rows,
               filled("{} requested, but there {} only {}", counted(*clusters, "cluster"), points == 1 ? "is" : "are",
                      counted(points, "row")),
               "Use at most " + counted(points, "cluster"), std::to_string(*clusters), filled("at most {}", points));
    if (problem.partial_labels.empty()) {
        for (const auto& [option, given] : {std::pair("clusters_per_label", !problem.clusters_per_label.empty()),
                                            {"label_share", !problem.label_shares.empty()}})
            if (given)
                refuse(option, Code::missing_argument, "this needs `partial_labels`, but no row has a label", "");
        if (!clusters)
            throw refused_option("clusters", Automatic(), "a whole number, at least 1 (`auto` needs partial labels)");
        out.label_of.assign(at(*clusters), -1);
    } else {
        take_labels(problem, out);
        lay_out_clusters(clusters, problem, out);
    }
    if (problem.sizes && !problem.label_shares.empty())
        refuse("sizes", Code::conflict, "`sizes` cannot be combined with `label_share`", "Leave one out");
    if (problem.sizes) {
        bound_sizes(*problem.sizes, out);
    } else if (!problem.label_shares.empty()) {
        bound_groups(problem, rounding, soft, out);
    } else {
        out.group_of.assign(at(out.clusters()), 0);
        out.low = {0};
        out.high = {points};
        out.low_mass = {0};
        out.high_mass = {static_cast<double>(points)};
    }
    if (problem.must_links.empty() && problem.cannot_links.empty()) return out;
    const char* const option = problem.must_links.empty() ? "cannot_links" : "must_links";
    if (soft) refuse(option, Code::conflict, "pairs of rows need hard assignments", "Use `assignment=hard`");
    if (out.bounded)
        refuse(option, Code::conflict,
               filled("pairs of rows cannot be combined with `{}`", problem.sizes ? "sizes" : "label_share"),
               "Leave one out");
    out.links = std::make_shared<LinkedRows>(problem, out.clusters(), [&](Index row) { return out.allowed(row); });
    return out;
}

}  // namespace coterie::internal
