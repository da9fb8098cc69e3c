#pragma once
// Files of labels for all rows, from one or several processes.

#include "coterie/base/parallel/communicator.hpp"
#include "coterie/io/writer.hpp"
#include "coterie/model/model.hpp"

namespace coterie {

/// Whether each process writes its rows to a separate file: the path contains {rank}, which stands for the process's
/// number.
bool is_in_parts(const std::string& path);
/// The name of this process's file.
std::string part_of(const std::string& path, const Communicator& communicator);

/// Writes clusters as labels: the clusters of a label become one, by name (merged_by_label).
class LabelsFile {
public:
    LabelsFile(const std::string& path, Index rows, const ClusterLabels& of_clusters, const TableRows* ids = nullptr);
    void write(std::span<const std::int32_t> clusters);
    void commit() { writer_.commit(); }

private:
    const ClusterLabels& of_clusters_;
    LabelsWriter writer_;
};

/// On rank 0: calls take(labels) with the labels of the other processes, in order, a part at a time. Other ranks send
/// `own`.
void take_from_others(Communicator& communicator, std::span<const std::int32_t> own,
                      const std::function<void(std::span<const std::int32_t>)>& take);

}  // namespace coterie
