// The upper triangles are stored in the tiles of outer_products.hpp, one cluster after another. Norms and weighted sums
// are computed from the tiles; a whole matrix is built only on request.
//
// Which rows are added in one step affects the last bits. Batches of changes therefore depend only on the points' shape
// and the number of changes. A batch usually holds a few hundred rows of a cluster, so that the products are efficient.
// If a batch spans processes, the changed rows are sent.

#include "coterie/subspace/internal/cluster_moments.hpp"

#include <algorithm>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/text.hpp"

namespace coterie::subspace::internal {

// Changes of some rows, in their order, and copies of those rows if they are not in memory.
template <class T>
struct Changed {
    std::vector<ClusterMoments::Entry> changes;  // their rows are indices among the changed rows
    std::vector<const T*> rows;
    std::vector<std::vector<T>> copies;  // each holds some of the rows
};

namespace {
constexpr Index kNumbers = Index{1} << 24;  // limit of the numbers in the rows of a batch
constexpr Index kChanges = Index{1} << 16;  // limit of the changes in a batch

// begin and end are block boundaries.
template <class T>
Changed<T> changed_rows(PointsView points, const RowBlocks& grid, Index begin, Index end,
                        ClusterMoments::ChangesOf changes_of) {
    Changed<T> out;
    RowBuffer buffer;
    std::vector<Index> numbers;  // of the changed rows
    const auto collect = [&](Index from, Index to) {
        changes_of(from, to, [&](const ClusterMoments::Entry& entry) {
            if (numbers.empty() || numbers.back() != entry.row) numbers.push_back(entry.row);
            out.changes.push_back({entry.cluster, static_cast<Index>(numbers.size()) - 1, entry.weight});
        });
    };
    if (points.resident()) {
        collect(begin, end);
        for (const Index row : numbers) out.rows.push_back(points.as<T>().row(row));
        return out;
    }
    for (Index from = begin; from < end; from += grid.size) {
        const Index to = std::min(end, from + grid.size);
        if (to < end) points.source()->expect(to, std::min(end, to + grid.size));
        const std::size_t before = numbers.size();
        collect(from, to);
        if (numbers.size() == before) continue;
        const Rows<T> rows = points.block(from, to, buffer).template as<T>();
        std::vector<T>& copies = out.copies.emplace_back();
        copies.reserve((numbers.size() - before) * at(rows.columns));
        for (std::size_t r = before; r < numbers.size(); ++r) {
            const T* const row = rows.row(numbers[r] - from);
            copies.insert(copies.end(), row, row + rows.columns);
            out.rows.push_back(copies.data() + (r - before) * at(rows.columns));
        }
    }
    return out;
}

template <class T>
void lend(Communicator& communicator, const Changed<T>& part, Index columns, int to) {
    std::vector<T> rows;
    rows.reserve(part.rows.size() * at(columns));
    for (const T* const row : part.rows) rows.insert(rows.end(), row, row + columns);
    send_all(communicator, part.changes, to);
    send_all(communicator, rows, to);
}
template <class T>
void borrow(Communicator& communicator, Changed<T>& part, Index columns, int from) {
    receive_all(communicator, part.changes, from);
    receive_all(communicator, part.copies.emplace_back(), from);
    const std::vector<T>& rows = part.copies.back();
    for (std::size_t r = 0; r < rows.size() / at(columns); ++r) part.rows.push_back(rows.data() + r * at(columns));
}
}  // namespace

ClusterMoments::ClusterMoments(int clusters, Vector<double> origin, const Vector<double>& squares)
    : clusters_(clusters), origin_(std::move(origin)), float64_(squares), float32_(squares) {
    require_memory(sizeof(double) * static_cast<double>(clusters) * static_cast<double>(float64_.numbers()),
                   filled("the table of second moments of {} clusters of {} columns", clusters, origin_.size()));
    moments_.assign(at(clusters * float64_.numbers()), 0.0);
}

// Sorts the terms by cluster, adds them and clears the list.
template <class T>
void ClusterMoments::add_terms(std::vector<Term<T>>& terms, int threads) {
    std::vector<std::size_t> next(at(clusters_) + 1, 0);
    for (const auto& term : terms) ++next[at(term.cluster) + 1];
    for (std::size_t j = 1; j < next.size(); ++j) next[j] += next[j - 1];
    std::vector<std::size_t> order(terms.size());
    for (std::size_t t = 0; t < terms.size(); ++t) order[next[at(terms[t].cluster)]++] = t;
    products<T>().template add<T>(
        static_cast<Index>(terms.size()),
        [&](Index t) {
            const Term<T>& term = terms[order[at(t)]];
            return OuterProduct<T>{term.row, origin_.data(), term.weight, term.cluster};
        },
        [&](Index cluster) { return moment_of(cluster); }, threads);
    terms.clear();
}

void ClusterMoments::add_changes(PointsView points, Index changes, ChangesOf changes_of, const Run& run) {
    if (changes == 0) return;
    points.with_scalar([&]<class T>() { add_changes_of<T>(points, changes, changes_of, run); });
}

template <class T>
void ClusterMoments::add_changes_of(PointsView points, Index changes, ChangesOf changes_of, const Run& run) {
    Communicator& communicator = run.communicator();
    const RowBlocks grid = grid_of(points);
    const Index d = points.columns();
    // The limit of changes per batch; the expected number is a third lower.
    const Index most = std::clamp<Index>(kNumbers / d, 1, kChanges);
    const auto share = static_cast<double>(most) / 1.5 / static_cast<double>(changes);
    const RowBlocks batches{
        points.rows(),
        grid.size * std::clamp<Index>(static_cast<Index>(share * static_cast<double>(grid.count())), 1, grid.count())};
    const Range own = own_rows(grid, communicator);
    const auto process_of_row = [&](Index row) { return process_of(row / grid.size, grid, communicator); };
    Index first = own.begin / batches.size;
    const Index last = own.count() > 0 ? (own.end - 1) / batches.size : first - 1;

    // This process' part of a batch that begins in an earlier process.
    const bool lends = first <= last && process_of_row(batches.begin(first)) != communicator.rank();
    Changed<T> lent;
    together(communicator, [&] {
        if (lends) lent = changed_rows<T>(points, grid, own.begin, std::min(own.end, batches.end(first)), changes_of);
    });
    if (lends) lend(communicator, lent, d, process_of_row(batches.begin(first++)));
    lent = {};
    std::vector<Changed<T>> borrowed;  // parts of the last batch from later processes
    if (first <= last)
        for (Index row = own.end; row < batches.end(last);) {
            const int lender = process_of_row(row);
            borrow(communicator, borrowed.emplace_back(), d, lender);
            while (row < batches.end(last) && process_of_row(row) == lender) row += grid.size;
        }

    together(communicator, [&] {
        std::vector<Term<T>> terms;
        const auto add = [&](const Changed<T>& part) {
            for (const ClusterMoments::Entry& change : part.changes) {
                terms.push_back({change.cluster, part.rows[at(change.row)], change.weight});
                if (static_cast<Index>(terms.size()) == most) add_terms(terms, run.threads);
            }
        };
        for (Index batch = first; batch <= last; ++batch) {
            const Changed<T> part =
                changed_rows<T>(points, grid, batches.begin(batch), std::min(own.end, batches.end(batch)), changes_of);
            add(part);
            if (batch == last)
                for (const auto& other : borrowed) add(other);
            add_terms(terms, run.threads);
        }
    });
}

void ClusterMoments::clear(int cluster) { std::fill_n(moment_of(cluster), float64_.numbers(), 0.0); }

Matrix<double> ClusterMoments::sum(std::span<const double> factors) const {
    const Index d = origin_.size();
    Matrix<double> total = Matrix<double>::Zero(d, d);
    float64_.for_each_row([&](Index i, Index first, Index last, Index position) {
        double* const to = total.data() + i * d + first;
        for (int j = 0; j < clusters_; ++j) {
            const double factor = factors[at(j)];
            if (factor == 0.0) continue;
            const double* const from = moment_of(j) + position;
            for (Index p = 0; p < last - first; ++p) to[p] += factor * from[p];
        }
    });
    mirror(total);
    return total;
}

ClusterMoments::Norms ClusterMoments::scatter_norms(int cluster, const Vector<double>& centroid, double mass) const {
    Norms norms;
    const double* const moment = moment_of(cluster);
    float64_.for_each_row([&](Index i, Index first, Index last, Index position) {
        const double scale = mass * centroid[i];
        const auto scatter = [&](Index j) { return moment[position + j - first] - scale * centroid[j]; };
        Index j = first;
        if (i == first) {
            norms.trace += scatter(j);
            norms.squared_frobenius += scatter(j) * scatter(j);
            ++j;
        }
        double squares[4] = {0.0, 0.0, 0.0, 0.0};
        for (; j + 4 <= last; j += 4)
            for (Index lane = 0; lane < 4; ++lane) squares[lane] += scatter(j + lane) * scatter(j + lane);
        for (; j < last; ++j) squares[0] += scatter(j) * scatter(j);
        norms.squared_frobenius += 2.0 * ((squares[0] + squares[1]) + (squares[2] + squares[3]));
    });
    return norms;
}

void ClusterMoments::store(Archive* archive, Communicator& communicator) const {
    CacheLineVector<double> all = moments_;
    add_up_exact(communicator, all);
    if (archive != nullptr) archive->set_vector("moments", all);
}

void ClusterMoments::load(const Archive& archive, Communicator& communicator) {
    const std::vector<double> all = archive.vector("moments", static_cast<Index>(moments_.size()));
    std::fill(moments_.begin(), moments_.end(), 0.0);
    if (communicator.rank() == 0) std::copy(all.begin(), all.end(), moments_.begin());
}

}  // namespace coterie::subspace::internal
