// Minimises the convex dual of the entropic assignment by a safeguarded Newton method. The dual has one variable per
// group, so a step costs one pass over the rows and a small system. The method reaches machine precision, even where
// iterated Bregman projections converge slowly. Bregman projections are here for comparison and because the paper uses
// them.
// A single variable is found by a bracketed search. If assignments are nearly hard, the solution is followed from a
// smoother problem. Groups that take all points they may take, or only those they must take, have infinite multipliers.
// They are found first, so that Newton's method has finite variables only. Sums run over fixed blocks of rows, so the
// bits are the same for any number of threads.

#include "coterie/constraints/group_multipliers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>

#include "coterie/base/memory.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/eigen.hpp"

namespace coterie::internal {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

int tier_of(double multiplier) { return multiplier == infinity ? 1 : multiplier == -infinity ? -1 : 0; }

/// The highest tier in which a row may go to any group.
int tier_of_row(const double* log_mass, std::span<const double> multipliers) {
    int tier = -1;
    for (std::size_t g = 0; g < multipliers.size(); ++g)
        if (log_mass[g] > -infinity) tier = std::max(tier, tier_of(multipliers[g]));
    return tier;
}

// Blocks of rows; each holds its part of the sums, G or G x G numbers, so there are at most 64.
RowBlocks blocks_of(Index rows) { return {rows, std::max<Index>(2048, (rows + 63) / 64)}; }

/// For each group, the number of points that may go to it, and the number of points that may go to no other group.
/// Points that higher tiers take are excluded.
struct Supply {
    std::vector<double> forced, allowed;
};

Supply supply_of(const Matrix<double>& log_mass, std::span<const double> multipliers, const Run& run) {
    const Index groups = log_mass.cols();
    const RowBlocks blocks = blocks_of(log_mass.rows());
    Matrix<double> forced = Matrix<double>::Zero(blocks.count(), groups);
    Matrix<double> allowed = Matrix<double>::Zero(blocks.count(), groups);
    const int threads = threads_for(static_cast<double>(log_mass.size()), run.threads);
    for_each_row(blocks, threads, [&](Index i, Index block) {
        const double* const row = log_mass.data() + i * groups;
        const int tier = tier_of_row(row, multipliers);
        Index count = 0, last = 0;
        for (Index g = 0; g < groups; ++g) {
            if (!(row[g] > -infinity) || tier_of(multipliers[at(g)]) != tier) continue;
            allowed(block, g) += 1;
            ++count;
            last = g;
        }
        if (count == 1) forced(block, last) += 1;
    });
    Supply out;
    for (Index g = 0; g < groups; ++g) {
        out.forced.push_back(forced.col(g).sum());
        out.allowed.push_back(allowed.col(g).sum());
    }
    return out;
}

double total(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// log(theta) for one group, with d_i = log_mass(i, group) - log sum of the others' (+-infinity: no choice). It is
/// chosen so that sum_i 1 / (1 + exp(-d_i - log theta)), which rises with theta, is in [low, high].
class OneGroup {
public:
    OneGroup(const std::vector<double>& difference, const Run& run)
        : difference_(difference), run_(run), blocks_(blocks_of(static_cast<Index>(difference.size()))) {
        for (const double d : difference_) {
            forced_ += d == infinity;
            if (!std::isfinite(d)) continue;
            ++open_;
            least_ = std::min(least_, d);
            largest_ = std::max(largest_, d);
        }
    }

    double operator()(double low, double high, double start, int& rounds) const {
        const auto open = static_cast<double>(open_);
        const auto forced = static_cast<double>(forced_);
        const Sums natural = sums(0);
        ++rounds;
        if (natural.in + forced >= low && natural.in + forced <= high) return 0;
        const double target = (natural.in + forced < low ? low : high) - forced;
        const double rest = open - target;
        // All or nothing: a multiplier so large that the remainder is 0 in double precision.
        if (!(target > 0)) return -largest_ - 800;
        if (!(rest > 0)) return -least_ + 800;
        // The solutions if all d_i were equal to the largest of them, or to the least.
        const double logit = std::log(target) - std::log(rest);
        double from = logit - largest_, to = logit - least_;
        double here = std::clamp(start != 0 ? start : logit - std::log(natural.in) + std::log(natural.out), from, to);
        if (!std::isfinite(here)) here = from + (to - from) / 2;
        double before = infinity;
        for (int round = 0; round < 300; ++round, ++rounds) {
            run_.throw_if_stopped("assignment");
            const Sums now = sums(here);
            // In the tails the sum is nearly exponential, so its logarithm is nearly linear.
            const bool few = target <= rest;
            const double gap = few ? std::log(now.in) - std::log(target) : std::log(rest) - std::log(now.out);
            if (gap == 0 || (std::abs(gap) < 64 * epsilon && std::abs(gap) >= before / 2)) break;
            before = std::abs(gap);
            (gap < 0 ? from : to) = here;
            double next = here - gap * (few ? now.in : now.out) / now.slope;
            if (!(next > from && next < to)) next = from + (to - from) / 2;
            if (next == here || !(to > from) || next == from || next == to) break;
            here = next;
        }
        return here;
    }

private:
    struct Sums {
        double in = 0;     // sum of p
        double out = 0;    // sum of 1 - p
        double slope = 0;  // sum of p (1 - p)
    };

    Sums sums(double multiplier) const {
        std::vector<Sums> parts(at(blocks_.count()));
        for_each_block(blocks_.count(), threads_for(20.0 * static_cast<double>(blocks_.rows), run_.threads),
                       [&](Index block, int) {
                           Sums part;
                           for (Index i = blocks_.begin(block); i < blocks_.end(block); ++i) {
                               const double d = difference_[at(i)];
                               if (!std::isfinite(d)) continue;
                               const double small = std::exp(-std::abs(d + multiplier));
                               const double more = 1 / (1 + small);
                               const double less = small * more;
                               const bool inside = d + multiplier > 0;
                               part.in += inside ? more : less;
                               part.out += inside ? less : more;
                               part.slope += less * more;
                           }
                           parts[at(block)] = part;
                       });
        Sums out;
        for (const Sums& part : parts) {
            out.in += part.in;
            out.out += part.out;
            out.slope += part.slope;
        }
        return out;
    }

    const std::vector<double>& difference_;
    const Run& run_;
    RowBlocks blocks_;
    Index forced_ = 0, open_ = 0;
    double least_ = infinity, largest_ = -infinity;
};

// Minimises the convex dual
//     sum_i log sum_g exp(log_mass(i, g) / temperature + x_g)  -  sum_g (low_g max(x_g, 0) - high_g max(-x_g, 0))
// over the variable x_g; the others stay 0. Its slope along x_g is the group's mass minus the bound that belongs to the
// sign of x_g, with a kink at 0 where low < high.
class Dual {
public:
    Dual(const Matrix<double>& log_mass, std::vector<double> low, std::vector<double> high,
         const std::vector<bool>& variable, const Run& run)
        : table_(log_mass),
          groups_(log_mass.cols()),
          blocks_(blocks_of(log_mass.rows())),
          low_(std::move(low)),
          high_(std::move(high)),
          run_(run) {
        for (Index g = 0; g < groups_; ++g)
            if (variable[at(g)]) variables_.push_back(g);
    }

    int rounds() const { return rounds_; }

    bool newton(std::vector<double>& x) {
        if (variables_.empty()) return true;
        if (variables_.size() == 1) {
            solve_one(variables_.front(), x);
            return true;
        }
        std::vector<double> trial = x;
        if (descend(trial, 40)) {
            x = std::move(trial);
            return true;
        }
        // Nearly hard assignments make the dual nearly piecewise linear: follow the solution from a smooth problem.
        const double spread = spread_of_rows();
        trial.assign(x.size(), 0.0);
        temperature_ = std::max(1.0, spread / 8);
        while (temperature_ > 1) {
            descend(trial, 40);
            const double next = std::max(1.0, temperature_ / 3);
            for (double& each : trial) each *= temperature_ / next;
            temperature_ = next;
        }
        const bool done = descend(trial, 400);
        x = std::move(trial);
        return done;
    }

    // Benamou et al. 2015: normalise the rows, then scale each group's column onto its bounds. Where low < high, the
    // set is not an affine space, and the correction of Dykstra's method must be undone first: the column is used
    // without its multiplier. Groups share no column, so a cycle over them is one step.
    bool bregman(std::vector<double>& x, int rounds) {
        const int most = rounds > 0 ? rounds : 100000;
        Sums sums = evaluate(x, false);
        // The sum of violations: if every group has a fixed mass, the group that follows from the others violates its
        // mass by this sum.
        const auto done = [&] {
            double missed = 0;
            for (const Index g : variables_) missed += std::abs(slope(g, x[at(g)], sums.mass[at(g)]));
            return missed <= 1e-12 * static_cast<double>(table_.rows());
        };
        for (rounds_ = 0; rounds_ < most; ++rounds_) {
            if (rounds == 0 && done()) return true;
            run_.throw_if_stopped("assignment");
            for (const Index g : variables_) {
                const double log_plain = log_of_mass(g, x, sums.mass[at(g)]) - x[at(g)];
                const double log_low = std::log(low_[at(g)]);
                const double log_high = std::log(high_[at(g)]);
                next_[at(g)] = log_plain < log_low    ? log_low - log_plain
                               : log_plain > log_high ? log_high - log_plain
                                                      : 0;
            }
            for (const Index g : variables_) x[at(g)] = next_[at(g)];
            sums = evaluate(x, false);
        }
        return done();
    }

private:
    struct Sums {
        std::vector<double> mass;  // G
        Matrix<double> products;   // G x G: sum_i A_ig A_ih
    };

    double shares(Index i, const std::vector<double>& x, double* out) const {
        const double* const row = table_.data() + i * groups_;
        double largest = -infinity;
        for (Index g = 0; g < groups_; ++g) {
            out[g] = row[g] / temperature_ + x[at(g)];
            largest = std::max(largest, out[g]);
        }
        double sum = 0;
        for (Index g = 0; g < groups_; ++g) {
            out[g] = std::exp(out[g] - largest);
            sum += out[g];
        }
        for (Index g = 0; g < groups_; ++g) out[g] /= sum;
        return largest + std::log(sum);
    }

    Sums evaluate(const std::vector<double>& x, bool with_products) const {
        constexpr Index strip = 128;
        const Index wide = with_products ? groups_ : 0;
        Matrix<double> masses = Matrix<double>::Zero(blocks_.count(), groups_);
        std::vector<Matrix<double>> products(at(blocks_.count()));
        for_each_block(blocks_.count(), threads(), [&](Index block, int) {
            Matrix<double> rows(strip, groups_);
            Matrix<double> product = Matrix<double>::Zero(wide, wide);
            for (Index begin = blocks_.begin(block); begin < blocks_.end(block); begin += strip) {
                const Index count = std::min(strip, blocks_.end(block) - begin);
                for (Index i = 0; i < count; ++i) shares(begin + i, x, rows.data() + i * groups_);
                masses.row(block) += rows.topRows(count).colwise().sum();
                if (with_products) product.noalias() += rows.topRows(count).transpose() * rows.topRows(count);
            }
            products[at(block)] = std::move(product);
        });
        Sums out{std::vector<double>(at(groups_), 0.0), Matrix<double>::Zero(wide, wide)};
        for (Index block = 0; block < blocks_.count(); ++block) {
            for (Index g = 0; g < groups_; ++g) out.mass[at(g)] += masses(block, g);
            out.products += products[at(block)];
        }
        return out;
    }

    int threads() const { return threads_for(double_product(20, table_.rows(), groups_), run_.threads); }

    double slope(Index g, double x, double mass) const {
        const double low = low_[at(g)], high = high_[at(g)];
        if (x > 0 || low == high) return mass - low;
        if (x < 0) return mass - high;
        return mass < low ? mass - low : mass > high ? mass - high : 0;
    }

    double violation(const std::vector<double>& x, const std::vector<double>& mass) const {
        double out = 0;
        for (const Index g : variables_) out = std::max(out, std::abs(slope(g, x[at(g)], mass[at(g)])));
        return out;
    }

    bool kinked(Index g) const { return low_[at(g)] < high_[at(g)]; }

    // Newton steps on the variables that are not held at their kink. A step ends at the first kink on its way. Returns
    // true if the bounds are met up to rounding.
    bool descend(std::vector<double>& x, int most) {
        const auto points = static_cast<double>(table_.rows());
        double best = infinity;
        int stuck = 0;
        std::vector<double> best_x = x;
        for (int round = 0; round < most; ++round, ++rounds_) {
            run_.throw_if_stopped("assignment");
            const Sums sums = evaluate(x, true);
            const double now = violation(x, sums.mass);
            stuck = now < best / 2 ? 0 : stuck + 1;
            if (now < best) {
                best = now;
                best_x = x;
            }
            if (now <= 2 * epsilon * points || (best <= 1e-13 * points && stuck >= 2)) break;
            if ((stuck > 0 && stuck % 6 == 0) || !step(x, sums)) solve_each(x);
        }
        x = best_x;
        return best <= 1e-13 * points;
    }

    bool step(std::vector<double>& x, const Sums& sums) const {
        std::vector<double> slopes(at(groups_), 0.0);
        std::vector<Index> moving;
        for (const Index g : variables_) {
            slopes[at(g)] = slope(g, x[at(g)], sums.mass[at(g)]);
            if (!kinked(g) || x[at(g)] != 0 || slopes[at(g)] != 0) moving.push_back(g);
        }
        std::vector<double> direction;
        while (true) {
            if (moving.empty()) return false;
            direction = newton_direction(moving, slopes, sums.products);
            // From its kink a multiplier may move only to the side of its slope.
            const auto wrong = [&](Index g) {
                return kinked(g) && x[at(g)] == 0 && direction[at(g)] * slopes[at(g)] >= 0;
            };
            if (std::erase_if(moving, wrong) == 0) break;
        }
        double first = 0, longest = 0;
        for (const Index g : moving) {
            first += slopes[at(g)] * direction[at(g)];
            longest = std::max(longest, std::abs(direction[at(g)]));
        }
        if (!(first < 0) || !std::isfinite(longest)) return false;
        double end = std::min(1.0, reach() / longest);
        Index at_kink = -1;
        for (const Index g : moving)
            if (kinked(g) && x[at(g)] * direction[at(g)] < 0 && -x[at(g)] / direction[at(g)] <= end) {
                end = -x[at(g)] / direction[at(g)];
                at_kink = g;
            }
        if (!(end > 0)) return false;

        // The search uses the slope along the step, which rises: differences of the dual are lost in rounding.
        std::vector<double> signs = x;
        for (const Index g : moving)
            if (signs[at(g)] == 0) signs[at(g)] = direction[at(g)];
        const double before = violation(x, sums.mass);
        std::vector<double> trial = x;
        double down = 0, up = end, length = end;
        for (int tries = 0; tries < 60; ++tries) {
            for (const Index g : moving) trial[at(g)] = x[at(g)] + length * direction[at(g)];
            if (length == end && at_kink >= 0) trial[at(at_kink)] = 0;
            const std::vector<double> mass = evaluate(trial, false).mass;
            double along = 0;
            for (const Index g : moving) along += slope(g, signs[at(g)], mass[at(g)]) * direction[at(g)];
            const bool short_of = along <= 0;
            if ((short_of && (length == end || along >= 0.5 * first)) ||
                (along <= -0.5 * first && violation(trial, mass) <= 0.7 * before)) {
                x = trial;
                return true;
            }
            (short_of ? down : up) = length;
            // In an exponential tail, steps overshoot by orders of magnitude.
            length = down > 0 ? (down + up) / 2 : up / 4;
        }
        if (!(down > 0)) return false;
        for (const Index g : moving) x[at(g)] += down * direction[at(g)];
        return true;
    }

    // Minus the pseudo-inverse of the curvature times the slopes. It is scaled, because masses may differ by orders of
    // magnitude. A common multiplier of groups that together take every point changes no share.
    std::vector<double> newton_direction(const std::vector<Index>& moving, const std::vector<double>& slopes,
                                         const Matrix<double>& products) const {
        const auto count = static_cast<Index>(moving.size());
        Vector<double> scale(count), right(count);
        Matrix<double> curvature(count, count);
        for (Index a = 0; a < count; ++a) {
            const Index g = moving[at(a)];
            // mass - sum A^2, without its cancellation.
            double diagonal = 0;
            for (Index h = 0; h < groups_; ++h)
                if (h != g) diagonal += products(g, h);
            scale(a) = diagonal > 0 ? 1 / std::sqrt(diagonal) : 0;
            right(a) = -slopes[at(g)];
            for (Index b = 0; b < count; ++b) curvature(a, b) = a == b ? diagonal : -products(g, moving[at(b)]);
        }
        curvature = (scale.asDiagonal() * curvature * scale.asDiagonal()).eval();
        const EigenPairs eigen = symmetric_eigen(curvature);
        Vector<double> parts = eigen.vectors.transpose() * (scale.asDiagonal() * right);
        const double least = 1e-13 * std::max(1.0, eigen.values(count - 1));
        for (Index a = 0; a < count; ++a) {
            if (eigen.values(a) > least) {
                parts(a) /= eigen.values(a);
                continue;
            }
            // Along a common multiplier, the dual is linear. If it falls, a step in this direction, up to the first
            // kink, comes first.
            Vector<double> common = scale.asDiagonal() * eigen.vectors.col(a);
            const double largest = common.cwiseAbs().maxCoeff();
            if (std::abs(common.dot(right)) > 1e-12 * largest * static_cast<double>(table_.rows())) {
                common *= (parts(a) > 0 ? 1 : -1) * reach() / largest;
                return spread_out(moving, common);
            }
            parts(a) = 0;
        }
        const Vector<double> solution = scale.asDiagonal() * (eigen.vectors * parts);
        return spread_out(moving, solution);
    }

    std::vector<double> spread_out(const std::vector<Index>& moving, const Vector<double>& values) const {
        std::vector<double> out(at(groups_), 0.0);
        for (Index a = 0; a < values.size(); ++a) out[at(moving[at(a)])] = values(a);
        return out;
    }

    /// The length of the longest step to try.
    double reach() const { return 50 + 2 * spread_of_rows() / temperature_; }

    /// Computes the exact minimum along each variable in turn. This never raises the dual and works from any start.
    void solve_each(std::vector<double>& x) {
        for (const Index g : variables_) solve_one(g, x);
    }

    void solve_one(Index g, std::vector<double>& x) {
        std::vector<double> difference(at(table_.rows()));
        for_each_row(blocks_, threads(), [&](Index i, Index) {
            const double* const row = table_.data() + i * groups_;
            double& out = difference[at(i)];
            out = -infinity;
            if (!(row[g] > -infinity)) return;
            double largest = -infinity;
            for (Index h = 0; h < groups_; ++h)
                if (h != g) largest = std::max(largest, row[h] / temperature_ + x[at(h)]);
            double sum = 0;
            if (largest > -infinity)
                for (Index h = 0; h < groups_; ++h)
                    if (h != g) sum += std::exp(row[h] / temperature_ + x[at(h)] - largest);
            out = largest > -infinity ? row[g] / temperature_ - (largest + std::log(sum)) : infinity;
        });
        x[at(g)] = OneGroup(difference, run_)(low_[at(g)], high_[at(g)], x[at(g)], rounds_);
    }

    double log_of_mass(Index g, const std::vector<double>& x, double mass) const {
        if (mass > 1e-200) return std::log(mass);
        std::vector<double> row(at(groups_));
        std::vector<double> logs;
        for (Index i = 0; i < table_.rows(); ++i)
            logs.push_back(table_(i, g) / temperature_ + x[at(g)] - shares(i, x, row.data()));
        const double largest = std::ranges::max(logs);
        double sum = 0;
        for (const double each : logs) sum += std::exp(each - largest);
        return largest + std::log(sum);
    }

    // The widest range within a row: an upper estimate of the differences that the multipliers must compensate.
    double spread_of_rows() const {
        if (spread_ >= 0) return spread_;
        spread_ = 0;
        for (Index i = 0; i < table_.rows(); ++i) {
            double least = infinity, largest = -infinity;
            for (Index g = 0; g < groups_; ++g) {
                const double here = table_(i, g);
                if (!(here > -infinity)) continue;
                least = std::min(least, here);
                largest = std::max(largest, here);
            }
            spread_ = std::max(spread_, largest - least);
        }
        return spread_;
    }

    const Matrix<double>& table_;
    Index groups_;
    RowBlocks blocks_;
    std::vector<double> low_, high_;
    std::vector<Index> variables_;
    const Run& run_;
    double temperature_ = 1;
    int rounds_ = 0;
    std::vector<double> next_ = std::vector<double>(at(groups_), 0.0);
    mutable double spread_ = -1;
};

[[noreturn]] void refuse(Code code, const std::string& problem, std::optional<std::int64_t> row = {}) {
    throw BadArgument(code, "group multipliers: " + problem, "", {.row = row});
}

// Groups count from 1, as in all messages.
std::string bounds_text(std::size_t group, double low, double high) {
    return filled("group {} has the bounds {} to {}", group + 1, to_text(low), to_text(high));
}

void check(const Matrix<double>& log_mass, std::span<const double> low, std::span<const double> high,
           std::span<const double> start, const Run& run) {
    const Index groups = log_mass.cols();
    if (static_cast<Index>(low.size()) != groups || static_cast<Index>(high.size()) != groups)
        refuse(Code::wrong_shape,
               filled("{} for {} lower and {} upper bounds", counted(groups, "group"), low.size(), high.size()));
    if (!start.empty() && static_cast<Index>(start.size()) != groups)
        refuse(Code::wrong_shape, filled("{} for {} starting multipliers", counted(groups, "group"), start.size()));
    for (Index g = 0; g < groups; ++g)
        if (!(low[at(g)] >= 0 && low[at(g)] <= high[at(g)]))
            refuse(Code::not_accepted, bounds_text(at(g), low[at(g)], high[at(g)]) + "; they must be 0 <= low <= high");
    const int threads = threads_for(static_cast<double>(log_mass.size()), run.threads);
    for_each_row(blocks_of(log_mass.rows()), threads, [&](Index i, Index) {
        bool somewhere = false;
        for (Index g = 0; g < groups; ++g) {
            const double here = log_mass(i, g);
            somewhere = somewhere || here > -infinity;
            if (!(here < infinity))
                refuse(Code::not_accepted,
                       filled("the log mass of group {} is {}; it must be finite or -infinity", g + 1, to_text(here)),
                       i + 1);
        }
        if (!somewhere) refuse(Code::infeasible, "the row may go to no group", i + 1);
    });
}

struct Bounds {
    std::vector<double> low, high;
};

// Limits the bounds to the supply, group by group, and checks them. If each row may go to one group or to all, as with
// labels, these checks find every contradiction between bounds.
Bounds within_supply(std::span<const double> low, std::span<const double> high, const Supply& supply, double points,
                     double slack) {
    Bounds out;
    for (std::size_t g = 0; g < low.size(); ++g) {
        if (high[g] < supply.forced[g] - slack || low[g] > supply.allowed[g] + slack)
            refuse(Code::infeasible, bounds_text(g, low[g], high[g]) + "; it can take from " +
                                         to_text(supply.forced[g]) + " (rows that may go nowhere else) to " +
                                         to_text(supply.allowed[g]));
        out.low.push_back(std::clamp(low[g], supply.forced[g], supply.allowed[g]));
        out.high.push_back(std::clamp(high[g], supply.forced[g], supply.allowed[g]));
    }
    if (total(out.low) > points + slack)
        refuse(Code::infeasible, "the groups must take at least " + to_text(total(out.low)) +
                                     " rows together (lower bounds, and rows that may go nowhere else); there are " +
                                     to_text(points));
    if (total(out.high) < points - slack)
        refuse(Code::infeasible, "the groups can take at most " + to_text(total(out.high)) +
                                     " rows together (upper bounds, and rows that may go there); there are " +
                                     to_text(points));
    return out;
}

// Gives infinite multipliers to groups that can take only what they must, or must take all that they can. Returns
// whether there was one.
bool mark_ends(std::vector<double>& multipliers, const Bounds& bounds, const Supply& supply, const Supply& original,
               double slack) {
    bool marked = false;
    const std::vector<double> before = multipliers;
    for (std::size_t g = 0; g < multipliers.size(); ++g) {
        if (std::isinf(before[g]) || !(supply.allowed[g] > supply.forced[g])) continue;
        // A group may join a tier only if nothing remains to be shared within this tier.
        if (bounds.high[g] <= supply.forced[g] + slack && supply.forced[g] == original.forced[g])
            multipliers[g] = -infinity;
        else if (bounds.low[g] >= supply.allowed[g] - slack && supply.allowed[g] == original.allowed[g])
            multipliers[g] = infinity;
        marked = marked || multipliers[g] != before[g];
    }
    return marked;
}

// The bounds of each group that follow from the bounds of all the others.
Bounds implied(const Bounds& bounds, double points) {
    Bounds out = bounds;
    const double low = total(bounds.low), high = total(bounds.high);
    for (std::size_t g = 0; g < bounds.low.size(); ++g) {
        out.low[g] = std::max(bounds.low[g], points - (high - bounds.high[g]));
        out.high[g] = std::min(bounds.high[g], points - (low - bounds.low[g]));
    }
    return out;
}

// If every group has a fixed mass, only differences of multipliers count. The last one becomes 0, or the value nearest
// to 0 that gives the others the signs of their bounds.
void settle_shift(std::vector<double>& multipliers, const std::vector<bool>& together, std::span<const double> low,
                  std::span<const double> high, const std::vector<double>& masses, double slack) {
    double least = -infinity, most = infinity, shift = 0;
    for (std::size_t g = 0; g < multipliers.size(); ++g) {
        if (!together[g]) continue;
        shift = -multipliers[g];
        if (masses[g] < high[g] - slack) least = std::max(least, -multipliers[g]);
        if (masses[g] > low[g] + slack) most = std::min(most, -multipliers[g]);
    }
    if (least > most) return;
    shift = std::clamp(shift, least, most);
    for (std::size_t g = 0; g < multipliers.size(); ++g)
        if (together[g]) multipliers[g] += shift;
}

std::vector<double> masses_of(const Matrix<double>& log_mass, std::span<const double> multipliers, const Run& run) {
    const Index groups = log_mass.cols();
    const RowBlocks blocks = blocks_of(log_mass.rows());
    Matrix<double> parts = Matrix<double>::Zero(blocks.count(), groups);
    for_each_block(blocks.count(), threads_for(20.0 * static_cast<double>(log_mass.size()), run.threads),
                   [&](Index block, int) {
                       Vector<double> shares(groups);
                       for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
                           group_shares_of_row(log_mass.data() + i * groups, multipliers, shares.data());
                           parts.row(block) += shares.transpose();
                       }
                   });
    std::vector<double> out(at(groups), 0.0);
    for (Index block = 0; block < blocks.count(); ++block)
        for (Index g = 0; g < groups; ++g) out[at(g)] += parts(block, g);
    return out;
}
}  // namespace

void group_shares_of_row(const double* log_mass, std::span<const double> log_theta, double* shares) {
    const int tier = tier_of_row(log_mass, log_theta);
    double largest = -infinity;
    for (std::size_t g = 0; g < log_theta.size(); ++g) {
        shares[g] = tier_of(log_theta[g]) == tier ? log_mass[g] + (tier == 0 ? log_theta[g] : 0) : -infinity;
        largest = std::max(largest, shares[g]);
    }
    double sum = 0;
    for (std::size_t g = 0; g < log_theta.size(); ++g) {
        shares[g] = std::exp(shares[g] - largest);
        sum += shares[g];
    }
    for (std::size_t g = 0; g < log_theta.size(); ++g) shares[g] /= sum;
}

GroupMultipliers solve_group_multipliers(const Matrix<double>& log_mass, std::span<const double> low,
                                         std::span<const double> high, GroupSolver solver, int rounds, const Run& run,
                                         std::span<const double> start) {
    check(log_mass, low, high, start, run);
    const Index groups = log_mass.cols();
    const auto points = static_cast<double>(log_mass.rows());
    const double slack = 32 * epsilon * points;

    GroupMultipliers out;
    out.log_theta.assign(at(groups), 0.0);
    const Supply original = supply_of(log_mass, out.log_theta, run);
    Supply supply = original;
    const Bounds own = within_supply(low, high, supply, points, slack);
    // A group's own bounds come first. If they decide a row, the groups that the row does not go to keep their
    // multipliers.
    bool ends = mark_ends(out.log_theta, own, supply, original, slack);
    Bounds bounds = own;
    for (bool more = true; more;) {
        if (ends) supply = supply_of(log_mass, out.log_theta, run);
        for (std::size_t g = 0; g < bounds.low.size(); ++g) {
            if (std::isinf(out.log_theta[g]))
                bounds.low[g] = bounds.high[g] = out.log_theta[g] > 0 ? original.allowed[g] : original.forced[g];
            bounds.low[g] = std::max(bounds.low[g], supply.forced[g]);
            bounds.high[g] = std::min(bounds.high[g], supply.allowed[g]);
        }
        more = mark_ends(out.log_theta, implied(bounds, points), supply, original, slack);
        ends = ends || more;
    }

    // If every group has a fixed mass, one of them follows from the others, and only differences of multipliers count.
    const bool held_low = total(bounds.low) >= points - slack;
    const bool held = held_low || total(bounds.high) <= points + slack;
    std::vector<double> lowest(low.begin(), low.end()), highest(high.begin(), high.end());
    if (held) lowest = highest = held_low ? bounds.low : bounds.high;
    std::vector<bool> variable(at(groups), false);
    std::vector<double> multipliers(at(groups), 0.0);
    std::size_t last = 0;
    for (std::size_t g = 0; g < variable.size(); ++g) {
        if (std::isinf(out.log_theta[g]) || !(supply.allowed[g] > supply.forced[g])) continue;
        variable[g] = lowest[g] > supply.forced[g] || highest[g] < supply.allowed[g];
        if (!variable[g]) continue;
        last = g;
        if (!start.empty() && std::isfinite(start[g])) multipliers[g] = start[g];
    }
    const std::vector<bool> settled_together = held ? variable : std::vector<bool>(at(groups), false);
    if (held && variable[last]) {
        variable[last] = false;
        for (std::size_t g = 0; g < variable.size(); ++g)
            if (variable[g]) multipliers[g] -= multipliers[last];
        multipliers[last] = 0;
    }

    require_memory(double_product((ends ? log_mass.size() : 0) + log_mass.rows(), sizeof(double)),
                   "the assignment of rows within bounds on groups");
    Matrix<double> reduced;
    if (ends) {
        reduced = log_mass;
        for (Index i = 0; i < reduced.rows(); ++i) {
            const int tier = tier_of_row(log_mass.data() + i * groups, out.log_theta);
            for (Index g = 0; g < groups; ++g)
                if (tier_of(out.log_theta[at(g)]) != tier) reduced(i, g) = -infinity;
        }
    }
    Dual dual(ends ? reduced : log_mass, lowest, highest, variable, run);
    // Rows that may go to some groups, but not to one or all, can contradict the bounds of several groups together. The
    // dual then has no optimum. The only sign is that the multipliers never meet the bounds.
    const double certain = total(original.forced);
    const bool labels_only = total(original.allowed) == certain + (points - certain) * static_cast<double>(groups);
    const auto finish = [&](std::vector<double> found) {
        if (held) settle_shift(found, settled_together, low, high, lowest, slack);
        for (std::size_t g = 0; g < found.size(); ++g)
            if (!std::isinf(out.log_theta[g])) out.log_theta[g] = found[g];
        out.mass = masses_of(log_mass, out.log_theta, run);
        out.residual = 0;
        for (std::size_t g = 0; g < found.size(); ++g)
            out.residual = std::max({out.residual, low[g] - out.mass[g], out.mass[g] - high[g]});
        out.rounds = dual.rounds();
    };
    if (solver == GroupSolver::newton || !labels_only) {
        std::vector<double> found = multipliers;
        dual.newton(found);
        finish(std::move(found));
        out.converged = out.residual <= 1e-10 * points;
        if (!labels_only && out.residual > 1e-9 * points)
            refuse(Code::infeasible, filled("no assignment of the {} to their possible groups meets the bounds; the "
                                            "nearest found misses them by {} rows",
                                            counted(log_mass.rows(), "row"), to_text(out.residual)));
    }
    if (solver == GroupSolver::bregman) {
        const bool converged = dual.bregman(multipliers, rounds);
        finish(std::move(multipliers));
        out.converged = converged;
    }
    return out;
}

}  // namespace coterie::internal
