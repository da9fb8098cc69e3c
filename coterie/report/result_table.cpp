// Reads the rows again from their source, so that the table shows them as written. Only one row is in memory at a time.

#include "coterie/report/result_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "coterie/pipeline/evaluation.hpp"

namespace coterie {
namespace {

// The shortest text that reads back as the same number.
template <class Scalar>
std::string shortest_text(Scalar value) {
    char text[32];
    return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace

ResultTable::ResultTable(const std::string& path, const TableRows* rows, const Points& points,
                         const std::vector<std::string>& names, const Pipeline& pipeline)
    : rows_(rows != nullptr ? rows->from_start() : nullptr),
      points_(points),
      of_clusters_(pipeline.model().cluster_labels()),
      names_of_labels_(merged_by_label({}, of_clusters_).names) {
    std::vector<std::string> header = rows != nullptr ? rows->names() : names;
    for (auto j = static_cast<Index>(header.size()); rows == nullptr && j < points.columns(); ++j)
        header.push_back("column-" + std::to_string(j + 1));
    columns_ = header.size();
    const auto add = [&](const std::string& name) {
        const bool taken = std::find(header.begin(), header.end(), name) != header.end();
        header.push_back(taken ? "coterie_" + name : name);
    };
    add("label");
    for (const auto& [output, name] : {std::pair(Output::memberships, "confidence"),
                                       {Output::distances, "distance"},
                                       {Output::outlier_score, "outlier_score"}}) {
        if (!pipeline.has(output)) continue;
        wanted_.push_back(output);
        add(name);
    }
    if (is_arrow_name(path)) {
        types_ = rows != nullptr ? field_types(*rows) : std::vector<FieldType>(columns_, FieldType::number);
        types_.push_back(names_of_labels_.empty() ? FieldType::whole : FieldType::words);
        types_.resize(header.size(), FieldType::number);
    }
    writer_ = std::make_unique<TableWriter>(path, header, types_);
}

std::vector<std::string> ResultTable::next_row() {
    std::vector<std::string> fields;
    if (rows_ != nullptr) {
        if (!rows_->next(fields)) throw InternalError("table: there are more labels than rows");
        fields.resize(columns_);
        for (std::size_t j = 0; j < columns_ && !types_.empty() && rows_->decimal() == ','; ++j)
            if (types_[j] == FieldType::number) std::replace(fields[j].begin(), fields[j].end(), ',', '.');
        return fields;
    }
    if (at_ >= block_begin_ + block_.rows()) {
        constexpr Index some = 4096;
        block_begin_ = at_;
        block_ = points_.view().block(at_, std::min(at_ + some, points_.rows()), buffer_);
    }
    block_.visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        for (Index j = 0; j < rows.columns; ++j) {
            const Scalar value = rows.row(at_ - block_begin_)[j];
            fields.push_back(std::isnan(value) ? std::string() : shortest_text(value));
        }
    });
    return fields;
}

void ResultTable::write(std::span<const std::int32_t> clusters, std::span<const Matrix<double>> outputs) {
    const LabelColumn labels = merged_by_label(Labels(clusters.begin(), clusters.end()), of_clusters_);
    for (std::size_t i = 0; i < clusters.size(); ++i, ++at_) {
        std::vector<std::string> fields = next_row();
        const std::int32_t label = labels.labels[i];
        fields.push_back(label < 0                  ? ""
                         : names_of_labels_.empty() ? std::to_string(label)
                                                    : names_of_labels_[static_cast<std::size_t>(label)]);
        for (std::size_t o = 0; o < wanted_.size(); ++o) {
            const auto row = outputs[o].row(static_cast<Index>(i));
            const double value = wanted_[o] == Output::outlier_score ? row[0]
                                 : label < 0                         ? std::nan("")
                                 : wanted_[o] == Output::memberships ? row.maxCoeff()
                                                                     : row[clusters[i]];
            fields.push_back(std::isnan(value) ? "" : shortest_text(value));
        }
        writer_->write(fields);
    }
}

void write_result_table(const std::string& path, const TableRows* rows, const Points& points,
                        const std::vector<std::string>& names, const Pipeline& pipeline, const Run& run) {
    ResultTable table(path, rows, points, names, pipeline);
    const Labels& labels = pipeline.labels();
    if (table.wanted().empty()) {
        table.write(labels, {});
        return table.commit();
    }
    PreparedRows prepared{pipeline.prepared(), {}, pipeline.left_out()};
    std::size_t first = 0;
    pipeline.apply(prepared, {.labels = false, .outputs = table.wanted()}, run, [&](const RowResults& results) {
        const std::size_t count = internal::at(results.outputs.front().rows());
        table.write(std::span(labels).subspan(first, count), results.outputs);
        first += count;
    });
    table.commit();
}

void write_rows(const std::string& path, const Consensus& consensus) {
    TableWriter writer(path, {"row", "label", "confidence"});
    for (std::size_t i = 0; i < consensus.labels.size(); ++i) {
        const bool known = consensus.labels[i] >= 0;
        writer.write(std::vector<std::string>{std::to_string(i + 1), known ? std::to_string(consensus.labels[i]) : "",
                                              known ? shortest_text(consensus.confidence[i]) : ""});
    }
    writer.commit();
}

}  // namespace coterie
