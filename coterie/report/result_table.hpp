#pragma once
// Tables with one line per row: the user's own columns with the results of a fit or a model, as csv or Arrow, and the
// labels of a consensus.

#include "coterie/io/writer.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/selection/consensus.hpp"

namespace coterie {

/// All columns of the points' file as written (for binary formats: the points' numbers), then label and, if the model
/// has them, confidence (the largest membership), distance (to the row's own centroid) and outlier_score. For rows that
/// were left out, these fields are empty. For noise rows, all of them but outlier_score are empty.
class ResultTable {
public:
    /// Writes the columns of `rows`; without rows, those of `points`, named `names`. The pipeline must outlive this
    /// object.
    ResultTable(const std::string& path, const TableRows* rows, const Points& points,
                const std::vector<std::string>& names, const Pipeline& pipeline);
    /// The outputs that write() needs, in addition to clusters.
    const std::vector<Output>& wanted() const { return wanted_; }
    /// Writes the next rows: one cluster per row, and the outputs of wanted().
    void write(std::span<const std::int32_t> clusters, std::span<const Matrix<double>> outputs);
    void commit() { writer_->commit(); }

private:
    std::vector<std::string> next_row();

    std::unique_ptr<TableRows> rows_;
    Points points_;
    const ClusterLabels& of_clusters_;
    std::vector<std::string> names_of_labels_;
    std::vector<Output> wanted_;
    std::vector<FieldType> types_;  // of the columns; empty for csv
    std::unique_ptr<TableWriter> writer_;
    Index at_ = 0;
    RowBuffer buffer_;
    PointsView block_;
    Index block_begin_ = 0;
    std::size_t columns_ = 0;
};

/// Writes a whole table for the rows of a fit. The labels are those of the fit, which may differ from the model's
/// prediction; the outputs are the model's.
void write_result_table(const std::string& path, const TableRows* rows, const Points& points,
                        const std::vector<std::string>& names, const Pipeline& pipeline, const Run& run);

/// Writes the number, label and confidence of each row as csv.
void write_rows(const std::string& path, const Consensus& consensus);

}  // namespace coterie
