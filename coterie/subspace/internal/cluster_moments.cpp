// Upper triangles in the tiles of outer_products.hpp, one cluster behind the other. Norms and weighted sums are made
// from the tiles as they lie: a whole matrix only where one is asked for.
//
// Which rows are added together decides on the last bits, so changes come in batches that follow from the points' shape
// alone. A batch is large enough that a few hundred rows of a cluster usually meet, as the products want it. Where a
// batch spans processes its rows travel: at most one batch per process.

#include "coterie/subspace/internal/cluster_moments.hpp"

#include <algorithm>
#include <string>

#include "coterie/base/internal/blocks.hpp"
#include "coterie/base/memory.hpp"

namespace coterie::internal {
namespace {
constexpr Index kBatch = Index{1} << 22;                // numbers of a batch's rows
constexpr std::size_t kPending = std::size_t{1} << 16;  // most changes of a batch kept back, to be added by cluster

template <class T>
void send_all(Communicator& communicator, const std::vector<T>& values, int to) {
    const std::size_t count = values.size();
    communicator.send(std::as_bytes(std::span(&count, 1)), to);
    if (count > 0) communicator.send(std::as_bytes(std::span(values)), to);
}
template <class T>
void receive_all(Communicator& communicator, std::vector<T>& values, int from) {
    std::size_t count = 0;
    communicator.receive(std::as_writable_bytes(std::span(&count, 1)), from);
    values.resize(count);
    if (count > 0) communicator.receive(std::as_writable_bytes(std::span(values)), from);
}
}  // namespace

ClusterMoments::ClusterMoments(int clusters, Vector<double> origin, const Vector<double>& squares)
    : clusters_(clusters), origin_(std::move(origin)), float64_(squares), float32_(squares) {
    if (squares.size() != origin_.size())
        throw BadArgument("cluster moments: " + std::to_string(squares.size()) +
                          " sums of squares given, the origin has " + std::to_string(origin_.size()) + " columns");
    if (clusters < 1) throw BadArgument("cluster moments: there must be at least 1 cluster");
    const double numbers = static_cast<double>(clusters) * static_cast<double>(float64_.numbers());
    require_memory(sizeof(double) * numbers, "the second moments of " + std::to_string(clusters) + " clusters of " +
                                                 std::to_string(origin_.size()) + " dimensions");
    moments_.assign(static_cast<std::size_t>(clusters * float64_.numbers()), 0.0);
}

void ClusterMoments::add(PointsView points, std::span<const Entry> entries, int threads) {
    if (points.columns() != origin_.size())
        throw BadArgument("cluster moments: points have " + std::to_string(points.columns()) +
                          " columns, the origin has " + std::to_string(origin_.size()));
    for (std::size_t e = 0; e < entries.size(); ++e)
        if (entries[e].cluster < (e == 0 ? 0 : entries[e - 1].cluster) || entries[e].cluster >= clusters_ ||
            entries[e].row < 0 || entries[e].row >= points.rows())
            throw BadArgument(
                "cluster moments: entries must be sorted by cluster and name clusters and rows that "
                "exist, number " +
                std::to_string(e) + " does not");
    const auto count = static_cast<Index>(entries.size());
    const auto sum = [&](Index cluster) { return moment_of(cluster); };
    const auto add_rows = [&](const auto& rows, const auto& products) {
        using Scalar = std::remove_cvref_t<decltype(*rows.data)>;
        products.template add<Scalar>(
            count,
            [&](Index e) {
                const Entry& entry = entries[static_cast<std::size_t>(e)];
                return OuterProduct<Scalar>{rows.row(entry.row), origin_.data(), entry.weight, entry.cluster};
            },
            sum, threads);
    };
    if (points.scalar() == ScalarType::float32)
        add_rows(points.as<float>(), float32_);
    else
        add_rows(points.as<double>(), float64_);
}

std::vector<ClusterMoments::Entry> ClusterMoments::by_cluster(const std::vector<Entry>& entries) const {
    std::vector<std::size_t> next(static_cast<std::size_t>(clusters_) + 1, 0);
    for (const Entry& entry : entries) ++next[static_cast<std::size_t>(entry.cluster) + 1];
    for (std::size_t j = 1; j < next.size(); ++j) next[j] += next[j - 1];
    std::vector<Entry> sorted(entries.size());
    for (const Entry& entry : entries) sorted[next[static_cast<std::size_t>(entry.cluster)]++] = entry;
    return sorted;
}

void ClusterMoments::add_changes(PointsView points, ChangesOf changes_of, const Run& run) {
    Communicator& communicator = run.communicator();
    const RowBlocks grid = grid_of(points);
    const RowBlocks batches{points.rows(), grid.size * std::max<Index>(1, kBatch / (grid.size * points.columns()))};
    const Range own = own_rows(grid, communicator);
    const auto process_of_row = [&](Index row) { return process_of(row / grid.size, grid, communicator); };
    const Index first = own.begin / batches.size;
    const Index last = own.count() > 0 ? (own.end - 1) / batches.size : first - 1;
    const int lender_to = own.count() > 0 ? process_of_row(batches.begin(first)) : communicator.rank();
    const bool lends = lender_to != communicator.rank();

    Loan lent;
    together(communicator, [&] {
        if (!lends) return;
        const Index end = std::min(own.end, batches.end(first));
        lent.first = own.begin - batches.begin(first);
        changes_of(own.begin, end, [&](Entry entry) {
            entry.row -= batches.begin(first);
            lent.changes.push_back(entry);
        });
        if (lent.changes.empty()) return;
        RowBuffer buffer;
        const PointsView rows = points.block(own.begin, end, buffer);
        points.with_scalar([&]<class T>() {
            const Matrix<T> copy = rows.as<T>().matrix();
            const auto bytes = std::as_bytes(std::span(copy.data(), static_cast<std::size_t>(copy.size())));
            lent.rows.assign(bytes.begin(), bytes.end());
        });
    });
    if (lends) {
        send_all(communicator, lent.changes, lender_to);
        communicator.send(std::as_bytes(std::span(&lent.first, 1)), lender_to);
        send_all(communicator, lent.rows, lender_to);
    }
    std::vector<Loan> loans;
    if (first + (lends ? 1 : 0) <= last)
        for (Index row = own.end; row < batches.end(last);) {
            const int lender = process_of_row(row);
            Loan& loan = loans.emplace_back();
            receive_all(communicator, loan.changes, lender);
            communicator.receive(std::as_writable_bytes(std::span(&loan.first, 1)), lender);
            receive_all(communicator, loan.rows, lender);
            while (row < batches.end(last) && process_of_row(row) == lender) row += grid.size;
        }
    together(communicator, [&] {
        for (Index batch = first + (lends ? 1 : 0); batch <= last; ++batch) {
            if (!points.resident() && batch < last)
                points.source()->expect(batches.begin(batch + 1), std::min(own.end, batches.end(batch + 1)));
            add_batch(points, batches.begin(batch), std::min(own.end, batches.end(batch)), changes_of,
                      batch == last ? loans : std::vector<Loan>{}, run.threads);
        }
    });
}

void ClusterMoments::add_batch(PointsView points, Index begin, Index end, ChangesOf changes_of,
                               const std::vector<Loan>& loans, int threads) {
    RowBuffer buffer;
    Points joined;
    PointsView rows;  // read when the first changes are added
    const auto load_rows = [&] {
        rows = points.block(begin, end, buffer);
        Index count = end - begin;
        points.with_scalar([&]<class T>() {
            const auto rows_of = [&](const Loan& loan) {
                return static_cast<Index>(loan.rows.size() / sizeof(T)) / points.columns();
            };
            for (const Loan& loan : loans)
                if (!loan.rows.empty()) count = loan.first + rows_of(loan);
            if (count == end - begin) return;
            Matrix<T> all = Matrix<T>::Zero(count, points.columns());
            all.topRows(end - begin) = rows.as<T>().matrix();
            for (const Loan& loan : loans)
                std::copy_n(loan.rows.data(), loan.rows.size(),
                            reinterpret_cast<std::byte*>(all.data() + loan.first * points.columns()));
            joined = Points(std::move(all));
            rows = joined.view();
        });
    };
    std::vector<Entry> pending;
    const auto flush = [&] {
        if (pending.empty()) return;
        if (rows.empty()) load_rows();
        add(rows, by_cluster(pending), threads);
        pending.clear();
    };
    const auto change = [&](const Entry& entry) {
        if (pending.size() == kPending) flush();
        pending.push_back(entry);
    };
    changes_of(begin, end, [&](Entry entry) {
        entry.row -= begin;
        change(entry);
    });
    for (const Loan& loan : loans)
        for (const Entry& entry : loan.changes) change(entry);
    flush();
}

void ClusterMoments::clear(int cluster) { std::fill_n(moment_of(cluster), float64_.numbers(), 0.0); }

Matrix<double> ClusterMoments::moment(int cluster) const { return float64_.matrix(moment_of(cluster)); }

Matrix<double> ClusterMoments::sum(std::span<const double> factors) const {
    if (static_cast<int>(factors.size()) != clusters_)
        throw BadArgument("cluster moments: there must be one factor per cluster");
    const Index d = origin_.size();
    Matrix<double> total = Matrix<double>::Zero(d, d);
    float64_.for_each_row([&](Index i, Index first, Index last, Index position) {
        double* const to = total.data() + i * d + first;
        for (int j = 0; j < clusters_; ++j) {
            const double factor = factors[static_cast<std::size_t>(j)];
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

}  // namespace coterie::internal
