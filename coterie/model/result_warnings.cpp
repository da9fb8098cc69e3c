// Checks the labels of every fit, of any method, and warns if they are of little use. Equal rows are found by a 64-bit
// hash of each row and one sort, but only if a label may depend on more than the row's numbers. Methods that read in
// blocks label each row by its numbers only, unless partial labels, shares, sizes or pairs of rows are given.

#include "coterie/model/result_warnings.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "coterie/base/options.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"

namespace coterie::internal {
namespace {

// If clusters have at least usual_rows rows on average, a cluster of at most few_rows rows gives a warning, and also a
// cluster with at least the share nearly_all of the rows.
constexpr Index few_rows = 2;
constexpr Index usual_rows = 20;
constexpr double nearly_all = 0.95;

struct HashedRow {
    std::uint64_t hash;
    Index row;
    std::int64_t label;
};

template <class Scalar>
std::uint64_t hash_of(const Scalar* numbers, Index count) {
    std::uint64_t out = 0x9E3779B97F4A7C15U;
    for (Index j = 0; j < count; ++j) {
        const double value = static_cast<double>(numbers[j]) + 0.0;  // -0 equals 0
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(bits));
        out = (out ^ bits) * 0xFF51AFD7ED558CCDU;
        out ^= out >> 32U;
    }
    return out;
}

void warn_of_equal_rows(FitReport& report, const Labels& labels, const Problem& problem, const Run& run,
                        bool reads_blocks) {
    const PointsView points = problem.points;
    const bool constrained = !problem.partial_labels.empty() || !problem.label_shares.empty() || problem.sizes ||
                             !problem.must_links.empty() || !problem.cannot_links.empty();
    if (problem.graph || points.empty() || as_sparse(points) != nullptr) return;
    if (reads_blocks && !constrained) return;
    const Range own = own_rows(points, run);
    std::vector<HashedRow> rows(labels.size());
    points.with_scalar([&]<class Scalar>() {
        for_each_row_block<Scalar>(
            points, run.unstopped(), {.name = "equal rows"}, [&](const RowBlock<Scalar>& block, int) {
                for (Index r = 0; r < block.rows.rows; ++r) {
                    const Index row = block.first + r;
                    const auto place = at(row - own.begin);
                    rows[place] = {hash_of(block.rows.row(r), block.rows.columns), row, std::int64_t{labels[place]}};
                }
            });
    });
    if (run.communicator().size() > 1) rows = gather(run.communicator(), rows);
    std::sort(rows.begin(), rows.end(), [](const HashedRow& a, const HashedRow& b) {
        return a.hash != b.hash ? a.hash < b.hash : a.row < b.row;
    });
    Index groups = 0;
    std::pair<Index, Index> first{points.rows(), 0};  // first row of a split group, and its equal in another cluster
    for (auto begin = rows.begin(); begin != rows.end();) {
        const auto end = std::find_if(begin, rows.end(), [&](const HashedRow& row) { return row.hash != begin->hash; });
        const auto other = std::find_if(begin, end, [&](const HashedRow& row) { return row.label != begin->label; });
        if (other != end) {
            ++groups;
            first = std::min(first, {begin->row, other->row});
        }
        begin = end;
    }
    if (groups == 0) return;
    const auto number = [&](Index row) { return std::to_string(problem.row_number(row) + 1); };
    report.warnings.push_back(
        {.code = Code::split_duplicates,
         .problem = filled("{} split between clusters, for example rows {} and {}",
                           groups == 1 ? "equal rows are" : filled("{} groups of equal rows are", groups),
                           number(first.first), number(first.second))});
}

}  // namespace

namespace {
// Has the access of a derived class. A fit returns a complete model, and only this file may change its report.
class Reached : public Model {
public:
    static FitReport& report(Model& model) { return model.*&Reached::report_; }
};
}  // namespace

// Requested sizes give no warning.
std::vector<Message> size_warnings(const std::vector<Index>& sizes, const Problem& problem) {
    std::vector<Message> out;
    Index total = 0;
    Index largest = 0;
    Index small = 0;
    for (const Index size : sizes) {
        total += size;
        largest = std::max(largest, size);
        if (size > 0 && size <= few_rows) ++small;
    }
    const auto k = static_cast<Index>(sizes.size());
    if (k < 2 || total < usual_rows * k || problem.sizes) return out;
    if (small > 0)
        out.push_back(
            {.code = Code::unbalanced_clusters,
             .problem = filled("{} of {} clusters {} only 1 or 2 of {} rows: outliers form their own clusters", small,
                               k, small == 1 ? "has" : "have", total),
             .remedy = "Remove the outliers, or use hdbscan, which labels them as noise"});
    if (problem.partial_labels.empty() && problem.label_shares.empty() &&
        static_cast<double>(largest) >= nearly_all * static_cast<double>(total))
        out.push_back({.code = Code::unbalanced_clusters,
                       .problem = filled("one cluster holds {} % of the rows; the other {}{}", 100 * largest / total,
                                         k == 2 ? "has " : filled("{} have ", k - 1), total - largest)});
    return out;
}

FitReport& report_of(Model& model) { return Reached::report(model); }

void warn_of_result(Model& model, const Problem& problem, const Run& run, bool reads_blocks) {
    FitReport& report = report_of(model);
    warn_of_equal_rows(report, model.labels(), problem, run, reads_blocks);
    for (Message& warning : size_warnings(report.sizes, problem)) report.warnings.push_back(std::move(warning));
}

}  // namespace coterie::internal
