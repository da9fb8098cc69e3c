// Selection in passes, so that rows need not fit into memory. Each rank lies in a window of values. A pass counts the
// values of each window in bins. The bin that contains the rank becomes the next window, from its least to its largest
// value. When few enough values are left in all windows, they are collected and the ranks are found among them. For a
// few million rows in memory, they are collected at once; other data mostly take two or three passes. (Munro and
// Paterson, Selection and sorting with limited storage, 1980, with bins instead of samples.)
//
// Invariants: a window of several values loses at least the values of one end in each pass, so the passes end. Borders
// of windows are data values, so rounding moves no value across them. The result is exact for integer weights.

#include "coterie/pipeline/internal/quartiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"

namespace coterie::pipeline::internal {
namespace {

using namespace coterie::internal;

constexpr Index kMostCollected = Index{1} << 20;  // as few values as this are always collected
constexpr Index kMostBins = Index{1} << 14;       // over all windows: they fit into the second-level cache
constexpr Index kBinsHeld = 512;                  // number of bins of a window whose values are collected
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Window {
    double low = -kInfinity;
    double high = kInfinity;
    double below = 0;           // weight of the values below `low`
    Index values = 0;           // number of values in the window
    std::vector<double> ranks;  // positions among the copies, counted from 0
};

// The contents of one bin.
struct Bin {
    double weight, values, low, high;
};
constexpr Index kBin = sizeof(Bin) / sizeof(double);

struct Search {
    ColumnOfCluster place;
    Index first = 0;  // index of its first window
    std::vector<Window> windows;
};

// Bins of equal width over a window. In the first windows, they cover two standard deviations on either side of the
// mean, and values outside belong to the outermost bins.
struct Bins {
    Bins(const Search& search, const Window& window, Index bins)
        : low(window.low == -kInfinity ? search.place.mean - 2 * search.place.deviation : window.low),
          width(window.low == -kInfinity ? 4 * search.place.deviation : window.high - window.low),
          count(bins) {}
    Index of(double value) const {
        const double bin = (value - low) / width * static_cast<double>(count);
        return bin > 0 ? static_cast<Index>(std::min(bin, static_cast<double>(count - 1))) : Index{0};
    }
    double low, width;
    Index count;
};

// A window that is not yet a single value, for the loop over rows.
struct Open {
    Index column, number;
    double low, high;
};

class Selection {
public:
    Selection(PointsView points, std::span<const std::int32_t> labels, Index clusters, std::span<const double> weights,
              const std::vector<ColumnOfCluster>& wanted, const Run& run)
        : points_(points),
          labels_(labels),
          weights_(weights),
          run_(run),
          own_(own_rows(points, run)),
          open_(at(clusters)) {
        for (const auto& place : wanted) {
            // With weights there are at most as many values as rows; the first pass counts them.
            Window whole{.values = weights.empty() ? static_cast<Index>(place.weight) : points.rows(), .ranks = {}};
            for (const double share : {0.25, 0.5, 0.75})
                for (const double step : {0.0, 1.0})
                    whole.ranks.push_back(std::floor(position_of(share, place.weight)) + step);
            searches_.push_back({.place = place, .windows = {std::move(whole)}});
        }
    }

    std::vector<std::array<double, 3>> operator()() {
        Index windows = static_cast<Index>(searches_.size());
        // Collects at once if all values fit into memory. Several processes use a fixed limit, because they must agree
        // on it and exchange the values.
        const auto room = static_cast<Index>(available_memory() / 64);
        const Index most =
            run_.communicator().size() > 1 ? kMostCollected : std::clamp(room, kMostCollected, 8 * kMostCollected);
        while (left() > most) windows = narrow(std::max<Index>(4, kMostBins / std::max<Index>(windows, 1)));
        return collect();
    }

private:
    static double position_of(double share, double total) { return std::max(0.0, (total - 1) * share); }

    Index left() const {
        Index out = 0;
        for (const Search& search : searches_)
            for (const Window& window : search.windows)
                if (window.low < window.high) out += window.values;
        return out;
    }

    // Finds the open windows. Returns the number of all windows.
    Index number_windows() {
        for (auto& here : open_) here.clear();
        Index windows = 0;
        for (Search& search : searches_) {
            search.first = windows;
            for (const Window& window : search.windows) {
                if (window.low < window.high)
                    open_[at(search.place.cluster)].push_back({search.place.column, windows, window.low, window.high});
                ++windows;
            }
        }
        return windows;
    }

    // Calls take(open, value, weight) for each value of an open window.
    template <class Scalar, class Take>
    void visit(const RowBlock<Scalar>& block, const Take& take) const {
        for (Index i = 0; i < block.rows.rows; ++i) {
            const Index row = block.first + i;
            const auto& here = open_[at(labels_[at(row - own_.begin)])];
            if (here.empty()) continue;
            const double weight = weights_.empty() ? 1.0 : weights_[at(row)];
            if (!(weight > 0)) continue;
            const Scalar* const x = block.rows.row(i);
            for (const Open& each : here) {
                const auto value = static_cast<double>(x[each.column]);
                if (value >= each.low && value <= each.high) take(each, value, weight);
            }
        }
    }

    // One pass: replaces each window by the bins that hold its ranks. Returns the new number of windows.
    Index narrow(Index bins) {
        Index windows = number_windows();
        std::vector<Bins> of_window;
        for (const Search& search : searches_)
            for (const Window& window : search.windows) of_window.emplace_back(search, window, bins);
        const auto bins_of = [](double* sum) { return reinterpret_cast<Bin*>(sum); };
        const Index count = windows * bins;
        BlockSums sums(
            count * kBin,
            [&](double* sum) {
                std::fill_n(bins_of(sum), count, Bin{0, 0, kInfinity, -kInfinity});
            },
            [&](double* left, const double* right) {
                const Bin* const from = reinterpret_cast<const Bin*>(right);
                for (Index b = 0; b < count; ++b) {
                    Bin& to = bins_of(left)[b];
                    to.weight += from[b].weight;
                    to.values += from[b].values;
                    to.low = std::min(to.low, from[b].low);
                    to.high = std::max(to.high, from[b].high);
                }
            });
        points_.with_scalar([&]<class Scalar>() {
            const auto total = sums.over<Scalar>(
                points_, run_, {.name = "quartiles"}, [&](const RowBlock<Scalar>& block, int, double* sum) {
                    visit(block, [&](const Open& each, double value, double weight) {
                        Bin& bin = bins_of(sum)[each.number * bins + of_window[at(each.number)].of(value)];
                        bin.weight += weight;
                        bin.values += 1;
                        bin.low = std::min(bin.low, value);
                        bin.high = std::max(bin.high, value);
                    });
                });
            const Bin* const all = reinterpret_cast<const Bin*>(total.data());
            windows = 0;
            for (Search& search : searches_) {
                std::vector<Window> next;
                for (std::size_t w = 0; w < search.windows.size(); ++w) {
                    const Bin* const here = all + (search.first + static_cast<Index>(w)) * bins;
                    split(search.windows[w], here, bins, next);
                }
                search.windows = std::move(next);
                windows += static_cast<Index>(search.windows.size());
            }
        });
        return windows;
    }

    static void split(const Window& window, const Bin* bins, Index count, std::vector<Window>& next) {
        if (!(window.low < window.high)) {  // already a single value
            next.push_back(window);
            return;
        }
        double below = window.below;
        std::size_t rank = 0;
        Index last = count - 1;
        while (last > 0 && bins[last].values == 0) --last;
        for (Index b = 0; b <= last && rank < window.ranks.size(); ++b) {
            Window in{.low = bins[b].low,
                      .high = bins[b].high,
                      .below = below,
                      .values = static_cast<Index>(bins[b].values),
                      .ranks = {}};
            below += bins[b].weight;
            // A rank above all copies gives the largest value.
            while (rank < window.ranks.size() && (window.ranks[rank] < below || b == last))
                in.ranks.push_back(window.ranks[rank++]);
            if (!in.ranks.empty()) next.push_back(std::move(in));
        }
    }

    // The values of a window and, if rows have weights, their weights.
    struct Kept {
        std::vector<double> values, weights;

        // Appends the values at ascending ranks. A rank above all values gives the largest value.
        void append_ranks(const Search& search, const Window& window, std::vector<double>& found) {
            if (!weights.empty()) return append_weighted(window, found);
            std::vector<std::size_t> places;
            for (const double rank : window.ranks)
                places.push_back(std::min(static_cast<std::size_t>(rank - window.below), values.size() - 1));
            keep_bins_of(Bins(search, window, kBinsHeld), places);
            auto from = values.begin();
            for (const std::size_t place : places) {
                const auto here = values.begin() + static_cast<std::ptrdiff_t>(place);
                std::nth_element(std::min(from, here), here, values.end());
                from = here;  // earlier values are not larger
                found.push_back(*here);
            }
        }
        // Keeps the values of the bins that hold a place, and renumbers the places among the kept values.
        void keep_bins_of(const Bins& bins, std::vector<std::size_t>& places) {
            std::vector<std::uint16_t> bin(values.size());
            std::array<std::size_t, kBinsHeld> held{};
            for (std::size_t i = 0; i < values.size(); ++i) {
                bin[i] = static_cast<std::uint16_t>(bins.of(values[i]));
                ++held[bin[i]];
            }
            std::array<std::size_t, kBinsHeld> kept{};  // 1: holds a place
            std::size_t below = 0, left_out = 0;
            auto place = places.begin();
            for (std::size_t b = 0; b < held.size() && place != places.end(); below += held[b++]) {
                for (; place != places.end() && *place < below + held[b]; ++place) {
                    kept[b] = 1;
                    *place -= left_out;
                }
                if (kept[b] == 0) left_out += held[b];
            }
            std::size_t count = 0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                values[count] = values[i];
                count += kept[bin[i]];
            }
            values.resize(count);
        }
        void append_weighted(const Window& window, std::vector<double>& found) const {
            std::vector<std::size_t> order(values.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
            double below = window.below;
            std::size_t rank = 0;
            for (const std::size_t i : order) {
                below += weights[i];
                while (rank < window.ranks.size() && (window.ranks[rank] < below || i == order.back()))
                    found.push_back(values[i]), ++rank;
            }
        }
    };
    struct Collected {
        Index window;
        double value, weight;
    };

    // Gathers the kept values of every window from all processes.
    void share(std::vector<Kept>& kept) const {
        std::vector<Collected> own;
        for (std::size_t w = 0; w < kept.size(); ++w)
            for (std::size_t i = 0; i < kept[w].values.size(); ++i)
                own.push_back({static_cast<Index>(w), kept[w].values[i], weights_.empty() ? 1 : kept[w].weights[i]});
        for (auto& each : kept) each = {};
        own = gather(run_.communicator(), own);
        for (const Collected& each : own) {
            kept[at(each.window)].values.push_back(each.value);
            if (!weights_.empty()) kept[at(each.window)].weights.push_back(each.weight);
        }
    }

    std::vector<std::array<double, 3>> collect() {
        Index windows = number_windows();
        std::vector<std::vector<Kept>> of_worker(at(std::max(run_.threads, 1)), std::vector<Kept>(at(windows)));
        if (of_worker.size() == 1 && run_.communicator().size() == 1 && weights_.empty())
            for (const Search& search : searches_)
                for (std::size_t w = 0; w < search.windows.size(); ++w)
                    if (search.windows[w].low < search.windows[w].high)
                        of_worker.front()[at(search.first) + w].values.reserve(at(search.windows[w].values));
        if (left() > 0)
            points_.with_scalar([&]<class Scalar>() {
                for_each_row_block<Scalar>(points_, run_, {.name = "quartiles"},
                                           [&](const RowBlock<Scalar>& block, int worker) {
                                               auto& mine = of_worker[at(worker)];
                                               visit(block, [&](const Open& each, double value, double weight) {
                                                   Kept& to = mine[at(each.number)];
                                                   to.values.push_back(value);
                                                   if (!weights_.empty()) to.weights.push_back(weight);
                                               });
                                           });
            });
        std::vector<Kept> kept = std::move(of_worker.front());
        for (std::size_t worker = 1; worker < of_worker.size(); ++worker)
            for (std::size_t w = 0; w < kept.size(); ++w) {
                Kept& from = of_worker[worker][w];
                kept[w].values.insert(kept[w].values.end(), from.values.begin(), from.values.end());
                kept[w].weights.insert(kept[w].weights.end(), from.weights.begin(), from.weights.end());
                from = {};
            }
        if (run_.communicator().size() > 1) share(kept);
        std::vector<std::array<double, 3>> out(searches_.size());
        const Stage stage{.name = "quartiles", .operations = 10.0 * static_cast<double>(left())};
        const auto quartiles_of = [&](Index s, int) {
            const Search& search = searches_[at(s)];
            std::vector<double> found;
            for (std::size_t w = 0; w < search.windows.size(); ++w) {
                const Window& window = search.windows[w];
                Kept& here = kept[at(search.first) + w];
                if (window.low < window.high && !here.values.empty())
                    here.append_ranks(search, window, found);
                else
                    found.insert(found.end(), window.ranks.size(), window.low);
            }
            for (std::size_t q = 0; q < 3; ++q) {
                const double place = position_of(0.25 * static_cast<double>(q + 1), search.place.weight);
                const double share = place - std::floor(place);
                out[at(s)][q] = share > 0 ? (1 - share) * found[2 * q] + share * found[2 * q + 1] : found[2 * q];
            }
        };
        together(run_.communicator(),
                 [&] { for_each_block(static_cast<Index>(searches_.size()), run_.alone(), stage, quartiles_of); });
        return out;
    }

    PointsView points_;
    std::span<const std::int32_t> labels_;
    std::span<const double> weights_;
    const Run& run_;
    Range own_;
    std::vector<std::vector<Open>> open_;  // per cluster
    std::vector<Search> searches_;
};

}  // namespace

std::vector<std::array<double, 3>> quartiles(PointsView points, std::span<const std::int32_t> labels, Index clusters,
                                             std::span<const double> weights,
                                             const std::vector<ColumnOfCluster>& wanted, const Run& run) {
    if (wanted.empty()) return {};
    return Selection(points, labels, clusters, weights, wanted, run)();
}

}  // namespace coterie::pipeline::internal
