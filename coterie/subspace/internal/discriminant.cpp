// The total scatter never changes, so it is whitened once. A round then solves an ordinary eigenproblem in whitened
// columns, of order k if possible. Changes of A update the clusters' moments, so these need not be computed from
// scratch. Thresholds for zero depend on the rounding of the points.

#include "coterie/subspace/internal/discriminant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/linalg/eigen.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/subspace/internal/shrinkage.hpp"

namespace coterie::subspace::internal {
namespace {
constexpr double kThresholdMargin = 4.0;  // allows rho_j and tr(S_w) to change between rounds
constexpr double kFirstShare = 1e-3;      // fraction of the allowed error, before any rho_j is known
// Eigenvalues of S_b below this fraction of the largest come from rounding.
constexpr double kBetweenRank = 1e-12;
// Within-shares tie if their relative difference is below this value.
constexpr double kTie = 1e-10;

// Allowed error of S_w, relative to its trace, from entries of A that are not updated. For float points it equals their
// rounding.
double within_error(ScalarType type) { return type == ScalarType::float32 ? 1e-7 : 1e-9; }

double epsilon_of(ScalarType type) {
    return type == ScalarType::float32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                       : std::numeric_limits<double>::epsilon();
}
}  // namespace

Discriminant::Discriminant(PointsView points, int clusters, int dimensions, Normalization normalization,
                           Shrinkage shrinkage, bool soft, const Run& run)
    : points_(points),
      clusters_(clusters),
      dimensions_(dimensions),
      normalization_(normalization),
      shrinkage_(shrinkage),
      soft_(soft),
      run_(run) {
    const Index n = points.rows(), d = points.columns();
    together(run.communicator(), [&] {
        require_memory(6.0 * sizeof(double) * static_cast<double>(d) * static_cast<double>(d),
                       filled("the search for a subspace of {} columns", d));
    });

    const ColumnMoments columns = column_moments(points, run);
    mean_ = columns.mean;
    total_ = total_scatter(points, columns, run);
    total_ /= static_cast<double>(n);
    total_trace_ = total_.trace();
    const double mean_variance = total_trace_ / static_cast<double>(d);
    if (shrinkage.kind == Shrinkage::Kind::oas)
        total_shrinkage_ = oas_shrinkage(total_trace_, total_.squaredNorm(), static_cast<double>(n), d);
    else if (shrinkage.kind == Shrinkage::Kind::fixed)
        total_shrinkage_ = shrinkage.value;
    run.throw_if_stopped("subspace");
    Matrix<double> shrunk = total_;
    shrunk *= 1.0 - total_shrinkage_;
    shrunk.diagonal().array() += total_shrinkage_ * mean_variance;
    if (shrinkage.kind != Shrinkage::Kind::oas) total_.resize(0, 0);
    whiten(std::move(shrunk), epsilon_of(points.scalar()));
    if (shrinkage.kind == Shrinkage::Kind::fixed) whitening_gram_ = rows_by_rows(whitening_, whitening_, run_.threads);
    if (shrinkage.kind != Shrinkage::Kind::oas) return;

    together(run.communicator(), [&] {
        moments_.emplace(clusters, mean_, Vector<double>(columns.variance * static_cast<double>(n)));
        if (!soft) {
            labels_.assign(at(own_.count()), -1);
            return;
        }
        thresholds_.assign(at(clusters), kFirstShare * within_error(points.scalar()));
        require_memory(
            2.0 * static_cast<double>(own_.count()) * clusters * static_cast<double>(size_of(points.scalar())),
            "the table of assignments");
        points.with_scalar([&]<class Scalar>() {
            shares_ = Shares<Scalar>{Matrix<Scalar>::Zero(own_.count(), clusters),
                                     Matrix<Scalar>::Zero(own_.count(), clusters)};
        });
    });
}

// Columns are scaled to variance 1 first, so that their units do not decide what counts as zero. `precision` is that of
// the points: a variance below its square times the squared size of the numbers is rounding.
void Discriminant::whiten(Matrix<double> total, double precision) {
    const Index d = total.rows();
    Vector<double> scale = Vector<double>::Zero(d);
    double noise = 0.0;
    for (Index p = 0; p < d; ++p) {
        const double variance = total(p, p);
        const double rounding = precision * precision * (mean_[p] * mean_[p] + variance);
        if (!(variance > rounding)) continue;
        scale[p] = 1.0 / std::sqrt(variance);
        noise = std::max(noise, rounding / variance);
    }
    for (Index i = 0; i < d; ++i)
        for (Index j = 0; j < d; ++j) total(i, j) *= scale[i] * scale[j];
    const EigenPairs pairs = symmetric_eigen(total);
    total.resize(0, 0);
    const double smallest =
        std::max(0.0, pairs.values[d - 1]) *
        std::max(static_cast<double>(std::max(points_.rows(), d)) * std::numeric_limits<double>::epsilon(), noise);
    Index rank = 0;
    while (rank < d && pairs.values[d - 1 - rank] > smallest) ++rank;
    whitening_.resize(rank, d);
    for (Index i = 0; i < rank; ++i)
        whitening_.row(i) =
            (pairs.vectors.col(d - 1 - i).array() * scale.array()).transpose() / std::sqrt(pairs.values[d - 1 - i]);
}

const ClusterMoments& Discriminant::moments() {
    if (run_.communicator().size() == 1) return *moments_;
    all_moments_ = moments_;
    all_moments_->add_up(run_.communicator());
    return *all_moments_;
}

void Discriminant::assign(const Labels& labels) {
    if (shrinkage_.kind != Shrinkage::Kind::oas) return;

    // If a cluster has fewer points than changes, its sums are computed from scratch. This is cheaper and removes old
    // rounding errors.
    std::vector<Index> changes(at(clusters_), 0);
    std::vector<Index> sizes(at(clusters_), 0);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        ++sizes[at(labels[i])];
        if (labels[i] == labels_[i]) continue;
        ++changes[at(labels[i])];
        if (labels_[i] >= 0) ++changes[at(labels_[i])];
    }
    changes = add_up(run_.communicator(), changes);
    sizes = add_up(run_.communicator(), sizes);
    std::vector<bool> anew(at(clusters_));
    Index count = 0;
    for (std::size_t j = 0; j < anew.size(); ++j) {
        anew[j] = changes[j] > sizes[j];
        if (anew[j]) moments_->clear(static_cast<int>(j));
        count += anew[j] ? sizes[j] : changes[j];
    }
    moments_->add_changes(
        points_, count,
        [&](Index begin, Index end, FunctionRef<void(const ClusterMoments::Entry&)> change) {
            for (Index i = begin; i < end; ++i) {
                const std::int32_t now = labels[at(i - own_.begin)];
                const std::int32_t before = labels_[at(i - own_.begin)];
                if (anew[at(now)] || now != before) change({now, i, 1.0});
                if (now != before && before >= 0 && !anew[at(before)]) change({before, i, -1.0});
            }
        },
        run_);
    labels_ = labels;
}

void Discriminant::assign(Index begin, const Matrix<double>& rows) {
    if (shrinkage_.kind != Shrinkage::Kind::oas) return;
    std::visit(
        [&]<class Scalar>(Shares<Scalar>& shares) {
            for (Index i = 0; i < rows.rows(); ++i)
                for (Index j = 0; j < clusters_; ++j)
                    shares.given(begin - own_.begin + i, j) = static_cast<Scalar>(rows(i, j));
        },
        shares_);
}

template <class Scalar>
bool Discriminant::is_change(Scalar now, Scalar before, Index cluster) const {
    const double change = std::abs(static_cast<double>(now) - static_cast<double>(before));
    return change > 0.0 && change >= thresholds_[at(cluster)];
}

void Discriminant::update_moments() {
    std::visit(
        [&]<class Scalar>(Shares<Scalar>& shares) {
            Index count = 0;
            for (Index i = 0; i < own_.count(); ++i)
                for (Index j = 0; j < clusters_; ++j)
                    count += is_change(shares.given(i, j), shares.added(i, j), j) ? 1 : 0;
            moments_->add_changes(
                points_, add_up(run_.communicator(), {count}).front(),
                [&](Index begin, Index end, FunctionRef<void(const ClusterMoments::Entry&)> change) {
                    for (Index i = begin; i < end; ++i)
                        for (std::int32_t j = 0; j < clusters_; ++j) {
                            const Scalar now = shares.given(i - own_.begin, j);
                            Scalar& added = shares.added(i - own_.begin, j);
                            if (!is_change(now, added, j)) continue;
                            change({j, i, static_cast<double>(now) - static_cast<double>(added)});
                            added = now;
                        }
                },
                run_);
        },
        shares_);
}

// Returns S_w; sets rho_j and the thresholds of the next assignments.
Matrix<double> Discriminant::oas_within(const Matrix<double>& deviations, const Vector<double>& mass,
                                        Subspace& result) {
    const Index d = points_.columns();
    const auto n = static_cast<double>(points_.rows());
    const double precision = 4.0 * epsilon_of(points_.scalar());
    if (soft_) update_moments();
    const ClusterMoments& all = moments();
    std::vector<ClusterMoments::Norms> all_norms(at(clusters_));  // of W_j a_j
    for_each_block(clusters_, run_.threads, [&](Index j, int) {
        if (mass[j] > 0.0)
            all_norms[at(j)] = all.scatter_norms(static_cast<int>(j), deviations.row(j).transpose(), mass[j]);
    });
    std::vector<double> mean_variances(at(clusters_), 0.0);
    std::vector<double> factors(at(clusters_), 0.0);
    for (Index cluster = 0; cluster < clusters_; ++cluster) {
        const auto j = at(cluster);
        if (!(mass[cluster] > 0.0)) continue;
        const ClusterMoments::Norms& norms = all_norms[j];
        const double between = mass[cluster] * deviations.row(cluster).squaredNorm();
        double shrinkage = 1.0;
        if (norms.trace > precision * (norms.trace + between)) {
            mean_variances[j] = norms.trace / mass[cluster] / static_cast<double>(d);
            // Up to a mass of 1 the rule always gives 1; below, rounding could give any value.
            if (mass[cluster] > 1.0)
                shrinkage = oas_shrinkage(norms.trace / mass[cluster],
                                          norms.squared_frobenius / mass[cluster] / mass[cluster], mass[cluster], d);
        }
        result.shrinkages[j] = shrinkage;
        factors[j] = -shrinkage / n;
    }
    Matrix<double> within = all.sum(factors);
    within += total_;
    Matrix<double> scaled(clusters_, d);
    double identity = 0.0;
    for (Index j = 0; j < clusters_; ++j) {
        const auto cluster = at(j);
        const double share = mass[j] / n;
        scaled.row(j) = std::sqrt(share * (1.0 - result.shrinkages[cluster])) * deviations.row(j);
        identity += share * result.shrinkages[cluster] * mean_variances[cluster];
    }
    add_transposed_by(-scaled, scaled, within, run_.threads);
    within.diagonal().array() += identity;

    if (soft_) {
        const double allowed =
            within_error(points_.scalar()) * std::max(0.0, within.trace()) / std::max(total_trace_, 1e-300);
        for (std::size_t j = 0; j < thresholds_.size(); ++j) {
            const double shrinkage = mass[static_cast<Index>(j)] > 0.0 ? result.shrinkages[j] : 1.0;
            // The factor 4 covers the effect of W_j on rho_j.
            thresholds_[j] = allowed / (4.0 * clusters_ * std::min(1.0, kThresholdMargin * shrinkage));
        }
    }
    return within;
}

Discriminant::Whitened Discriminant::leading_of_between(const Matrix<double>& between) const {
    // Uses the smaller of B B' and B'B; B is r x k.
    const Index rank = between.rows();
    const bool by_clusters = between.cols() < rank;
    const Matrix<double> factor = by_clusters ? Matrix<double>(between.transpose()) : between;
    const Matrix<double> gram = rows_by_rows(factor, factor, run_.threads);
    const EigenPairs pairs = symmetric_eigen(gram);
    const Index order = gram.rows();
    Whitened found{Matrix<double>::Zero(dimensions_, rank), Vector<double>::Ones(dimensions_)};
    const double smallest = order == 0 ? 0.0 : kBetweenRank * std::max(0.0, pairs.values[order - 1]);
    // As long as the rows do not span the space, at least one unit vector keeps more than this part of its length.
    const double least = 0.5 / std::sqrt(static_cast<double>(std::max<Index>(rank, 1)));
    Index count = 0;
    while (count < std::min<Index>(dimensions_, std::min(rank, order)) && pairs.values[order - 1 - count] > smallest) {
        const auto vector = pairs.vectors.col(order - 1 - count);
        if (by_clusters)
            found.directions.row(count) = (between * vector).transpose() / std::sqrt(pairs.values[order - 1 - count]);
        else
            found.directions.row(count) = vector.transpose();
        if (!orthonormalize(found.directions, count, least)) break;
        found.within_shares[count] = std::max(0.0, 1.0 - pairs.values[order - 1 - count]);
        ++count;
    }
    Index unit = 0;
    for (; count < std::min<Index>(dimensions_, rank); ++count) {
        do {
            found.directions.row(count).setZero();
            found.directions(count, unit++) = 1.0;
        } while (!orthonormalize(found.directions, count, least));
    }
    return found;
}

Discriminant::Whitened Discriminant::smallest_of(const Matrix<double>& within, const Matrix<double>& between) const {
    const Index rank = within.rows();
    const Index count = std::min<Index>(dimensions_, rank);
    EigenPairs pairs = smallest_symmetric_eigen(within, std::min<Index>(count + 1, rank));
    Whitened found{Matrix<double>::Zero(dimensions_, rank), Vector<double>::Ones(dimensions_)};
    const auto tied = [&](Index i) {
        return std::abs(pairs.values[i] - pairs.values[count - 1]) <= kTie * std::abs(pairs.values[count - 1]);
    };
    // A tie between the last direction and an omitted one would leave the choice to rounding. It occurs especially if
    // every covariance is shrunk to a multiple of the identity. Of the tied directions, those with the largest
    // between-scatter are used.
    found.tied = count > 0 && count < rank && tied(count);
    if (found.tied) {
        pairs = symmetric_eigen(within);
        Index first = count - 1;
        while (first > 0 && tied(first - 1)) --first;
        Index last = count;
        while (last + 1 < rank && tied(last + 1)) ++last;
        const Matrix<double> group = pairs.vectors.middleCols(first, last + 1 - first);
        const Matrix<double> seen = group.transpose() * between;
        const EigenPairs by_between = symmetric_eigen(Matrix<double>(seen * seen.transpose()));
        pairs.vectors.middleCols(first, last + 1 - first) = group * by_between.vectors.rowwise().reverse();
    }
    for (Index j = 0; j < count; ++j) {
        found.directions.row(j) = pairs.vectors.col(j).transpose();
        found.within_shares[j] = std::max(0.0, pairs.values[j]);
    }
    return found;
}

Subspace Discriminant::solve(const Matrix<double>& centroids, const Vector<double>& mass) {
    const Index d = points_.columns();
    const auto n = static_cast<double>(points_.rows());
    Subspace result;
    result.total_rank = whitening_.rows();
    result.total_shrinkage = total_shrinkage_;
    result.shrinkages.assign(at(clusters_), 0.0);

    Matrix<double> deviations = Matrix<double>::Zero(clusters_, d);  // c_j - m
    for (Index j = 0; j < clusters_; ++j)
        if (mass[j] > 0.0) deviations.row(j) = centroids.row(j) - mean_.transpose();

    // S_b = scatter' scatter, in whitened columns.
    Matrix<double> scatter(clusters_, d);
    for (Index j = 0; j < clusters_; ++j) scatter.row(j) = std::sqrt(mass[j] / n) * deviations.row(j);
    scatter = rows_by_rows(whitening_, scatter, run_.threads);

    Whitened found;
    if (shrinkage_.kind == Shrinkage::Kind::oas) {
        Matrix<double> within = oas_within(deviations, mass, result);
        within = rows_by_rows(whitening_, within, run_.threads);
        found = smallest_of(rows_by_rows(within, whitening_, run_.threads, true), scatter);
    } else {
        const double fixed = total_shrinkage_;
        for (Index j = 0; j < clusters_; ++j)
            if (mass[j] > 0.0) result.shrinkages[at(j)] = fixed;
        const Matrix<double> between = std::sqrt(1.0 - fixed) * scatter;
        if (shrinkage_.kind == Shrinkage::Kind::none || fixed == 0.0) {
            found = leading_of_between(between);
        } else {
            // S_w = S_t - (1 - x) S_b - x (mu_t - mu_w) I, whitened; mu_t - mu_w is the mean variance of S_b.
            double between_trace = 0.0;
            for (Index j = 0; j < clusters_; ++j) between_trace += mass[j] / n * deviations.row(j).squaredNorm();
            Matrix<double> within = -rows_by_rows(between, between, run_.threads);
            within -= fixed * between_trace / static_cast<double>(d) * whitening_gram_;
            within.diagonal().array() += 1.0;
            found = smallest_of(within, scatter);
        }
    }

    result.directions = Matrix<double>::Zero(dimensions_, d);
    add_transposed_by(found.directions.transpose(), whitening_, result.directions, run_.threads);
    result.within_shares = found.within_shares;
    result.tied = found.tied;
    for (Index j = 0; j < dimensions_; ++j) {
        if (j >= result.total_rank) break;
        const double share = result.within_shares[j];
        if (share < least_within_share) ++result.floored;
        if (normalization_ == Normalization::within)
            result.directions.row(j) /= std::sqrt(std::max(share, least_within_share));
    }
    make_largest_positive(result.directions);
    return result;
}

void Discriminant::store(Archive* archive) const {
    if (shrinkage_.kind != Shrinkage::Kind::oas) return;
    Communicator& communicator = run_.communicator();
    moments_->store(archive, communicator);
    if (!soft_) return;
    std::visit(
        [&]<class Scalar>(const Shares<Scalar>& shares) {
            const Scalar* const own = shares.added.data();
            const std::vector<Scalar> all =
                gather_at_first(communicator, std::vector<Scalar>(own, own + shares.added.size()));
            if (archive == nullptr) return;
            archive->set_points("added", PointsView(all.data(), points_.rows(), clusters_));
        },
        shares_);
    if (archive != nullptr) archive->set_vector("thresholds", thresholds_);
}

void Discriminant::load(const Archive& archive, const Labels& labels) {
    if (shrinkage_.kind != Shrinkage::Kind::oas) return;
    moments_->load(archive, run_.communicator());
    labels_ = labels;
    if (!soft_) return;
    const Points all = archive.points("added", points_.rows(), clusters_);
    std::visit(
        [&]<class Scalar>(Shares<Scalar>& shares) {
            const Rows<Scalar> rows = all.view().template as<Scalar>();
            std::copy_n(rows.row(own_.begin), shares.added.size(), shares.added.data());
        },
        shares_);
    thresholds_ = archive.vector("thresholds", clusters_);
}

}  // namespace coterie::subspace::internal
