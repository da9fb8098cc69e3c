#pragma once
// Centring and scaling, learned from the training data and applied unchanged to new points. They are stored in the
// model's file, so predict sees new points as the fit saw the training data.

#include <span>
#include <string>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"

namespace coterie {

enum class Scale {
    none,
    minmax,  // each column to [0, 1]; with center: to a range of 1 about its mean
    zscore,  // each column to mean 0 and variance 1
    unit     // each row to Euclidean norm 1, after centring if requested
};

struct COTERIE_API PreparationOptions {
    bool center = false;
    Scale scale = Scale::none;

    static const OptionSet& described();
};

class COTERIE_API Preparation {
public:
    /// Leaves points unchanged.
    Preparation() = default;

    /// Learns x -> (x - offset) * factor for each column, in double and in fixed blocks: the same bits at any number of
    /// threads. A constant column is only centred (factor 1) and named in warnings(). A row of weight 0 counts as
    /// absent, a row of weight w as w copies. Columns that stand for words (`indicators`, ColumnCoding) are centred but
    /// not scaled. Throws BadArgument on weights that do not fit, BadData when a column's range overflows.
    static Preparation fit(PointsView points, const PreparationOptions& options, const Run& run,
                           std::span<const double> weights = {}, const std::vector<bool>& indicators = {});

    bool identity() const { return !options_.center && options_.scale == Scale::none; }
    const PreparationOptions& options() const { return options_; }
    const std::vector<Message>& warnings() const { return warnings_; }
    const std::vector<double>& offset() const { return offset_; }
    const std::vector<double>& factor() const { return factor_; }

    /// The problem with prepared points and initial centroids. A graph stays unchanged.
    Problem apply(const Problem& problem, const Run& run, Index* zero_rows = nullptr) const;
    /// The points in their own scalar type. Shares their storage when identity(). Points that are not resident are
    /// prepared when they are read. Rows of norm 0 stay 0 under `unit` and are counted in `zero_rows`. Throws
    /// BadArgument on a wrong number of columns.
    Points apply(const Points& points, const Run& run, Index* zero_rows = nullptr) const;

    /// The warning about the `zero_rows` rows that `unit` left unchanged.
    static Message zero_rows_warning(Index zero_rows);

    /// "center, scale zscore"; "none".
    std::string text() const;

    /// Stores the tensors preprocess.offset and preprocess.factor, and the text "preprocess". Stores nothing when
    /// identity().
    void store(Archive& archive) const;
    /// identity() when the archive holds none. Throws BadData when it holds an invalid one.
    static Preparation from(const Archive& archive);

private:
    // Returns false if the row is all 0 and cannot be scaled to norm 1. `in` may be `to`.
    template <class Scalar>
    bool prepare_row(const Scalar* in, Scalar* to, Index columns) const;

    PreparationOptions options_;
    std::vector<double> offset_;  // d
    std::vector<double> factor_;  // d
    std::vector<Message> warnings_;
};

}  // namespace coterie
