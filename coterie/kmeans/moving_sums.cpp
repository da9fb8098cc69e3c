// Only the rows that change their cluster update the sums. Such a row costs two additions, so the sums are computed
// from scratch if more than half of the rows change. Blocks without a change are not read. A cluster that loses its
// last row is set to 0, because subtraction would leave rounding errors.

#include "coterie/kmeans/moving_sums.hpp"

#include <algorithm>
#include <optional>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/linalg/kernels.hpp"
#include "coterie/model/checkpoint.hpp"

namespace coterie::internal {

MovingSums::MovingSums(PointsView points, int clusters, std::span<const double> weights, const Run& run)
    : points_(points), weights_(weights), run_(run.unstopped()), k_(clusters) {}

Index MovingSums::assign(const Labels& labels) {
    const Index d = points_.columns();
    Index changed = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) changed += labels[i] != labels_[i] ? 1 : 0;
    changed = add_up(run_.communicator(), {changed}).front();
    if (2 * changed > points_.rows()) {
        std::fill(labels_.begin(), labels_.end(), -1);
        sums_.setZero();
        std::fill(mass_.begin(), mass_.end(), 0.0);
        std::fill(counts_.begin(), counts_.end(), 0.0);
    }
    const Stage stage{.name = "sums", .operations = 4.0 * static_cast<double>(changed * d)};
    const std::span<const double> total = points_.with_scalar([&]<class T>() {
        const Kernels<T>& kernel = kernels<T>();
        BlockReader reader(points_, run_);
        return changes_(grid_, run_, stage, [&](Index number, int worker, double* sums) {
            std::optional<RowBlock<T>> block;  // read at the first change
            for (Index i = grid_.begin(number); i < grid_.end(number); ++i) {
                const std::int32_t now = labels[at(i - own_.begin)];
                const std::int32_t before = labels_[at(i - own_.begin)];
                const double w = weights_.empty() ? 1.0 : weights_[at(i)];
                if (now == before || !(w > 0)) continue;
                if (!block) block.emplace(reader.block<T>(number, worker));
                const auto move = [&](std::int32_t j, double sign) {
                    kernel.add_scaled(layout_.touch(sums, j), block->rows.row(i - block->first), sign * w, d);
                    layout_.weight(sums, j) += sign * w;
                    layout_.extra(sums)[j] += sign;
                };
                move(now, 1);
                if (before >= 0) move(before, -1);
            }
        });
    });
    for (Index j = 0; j < k_; ++j) {
        if (!layout_.touched(total.data(), j)) continue;
        for (Index p = 0; p < d; ++p) sums_(j, p) += layout_.sum(total.data(), j)[p];
        mass_[at(j)] += layout_.weight(total.data(), j);
        counts_[at(j)] += layout_.extra(total.data())[j];
        if (counts_[at(j)] > 0) continue;
        sums_.row(j).setZero();  // removes rounding errors
        mass_[at(j)] = 0;
    }
    labels_ = labels;
    return changed;
}

Matrix<double> MovingSums::means(const Matrix<double>& before) const {
    Matrix<double> out = before;
    for (Index j = 0; j < out.rows(); ++j)
        if (mass_[at(j)] > 0) out.row(j) = sums_.row(j) / mass_[at(j)];
    return out;
}

void MovingSums::store(Archive* archive) const {
    store_labels(archive, "sums_labels", labels_, run_.communicator());
    if (archive == nullptr) return;
    archive->set_points("sums", sums_);
    archive->set_vector("sums_mass", mass_);
    archive->set_vector("sums_counts", counts_);
}

void MovingSums::load(const Archive& archive) {
    labels_ = own_labels(archive, "sums_labels", points_.rows(), own_);
    sums_ = to_matrix<double>(archive.points("sums", k_, points_.columns()));
    mass_ = archive.vector("sums_mass", k_);
    counts_ = archive.vector("sums_counts", k_);
}

}  // namespace coterie::internal
