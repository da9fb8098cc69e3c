#pragma once
// The labels of all rows of one or several processes as files: --labels-out, and other outputs by row.

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "coterie/base/parallel/communicator.hpp"
#include "coterie/io/writer.hpp"
#include "coterie/model/model.hpp"

namespace coterie::cli {

/// Whether each process writes a file of its own rows: {rank} in the name stands for its number.
bool is_in_parts(const std::string& path);
/// The name of this process' file.
std::string part_of(const std::string& path, const Communicator& communicator);

/// Clusters as labels are written: those of a label are one, by name (merged_by_label).
class LabelsFile {
public:
    LabelsFile(const std::string& path, Index rows, const ClusterLabels& of_clusters, const TableRows* ids = nullptr);
    void write(std::span<const std::int32_t> clusters);
    void commit() { writer_.commit(); }

private:
    const ClusterLabels& of_clusters_;
    LabelsWriter writer_;
};

/// On the first process: calls take(labels) with those of the other processes, in their order, some at a time. The
/// others hand over their `own`.
void take_from_others(Communicator& communicator, std::span<const std::int32_t> own,
                      const std::function<void(std::span<const std::int32_t>)>& take);

}  // namespace coterie::cli
