// Labels are sent and written a million at a time. Rank 0 holds its own labels and one piece. Each other process keeps
// its labels until earlier processes' labels are written, so that no computation waits.

#include "coterie/report/labels_file.hpp"

#include <algorithm>

#include "coterie/base/parallel/collective.hpp"
#include "coterie/pipeline/evaluation.hpp"

namespace coterie {
namespace {

constexpr std::string_view process_mark = "{rank}";
constexpr std::size_t piece = std::size_t{1} << 20;

// Calls act(piece) for the pieces of `all`.
template <class T, class Act>
void in_pieces(std::span<T> all, Act act) {
    for (std::size_t begin = 0; begin < all.size(); begin += piece)
        act(all.subspan(begin, std::min(piece, all.size() - begin)));
}

}  // namespace

bool is_in_parts(const std::string& path) { return path.find(process_mark) != std::string::npos; }

std::string part_of(const std::string& path, const Communicator& communicator) {
    std::string out = path;
    const std::string rank = std::to_string(communicator.rank());
    for (std::size_t at = 0; (at = out.find(process_mark, at)) != std::string::npos; at += rank.size())
        out.replace(at, process_mark.size(), rank);
    return out;
}

LabelsFile::LabelsFile(const std::string& path, Index rows, const ClusterLabels& of_clusters, const TableRows* ids)
    : of_clusters_(of_clusters), writer_(path, rows, merged_by_label({}, of_clusters).names, ids) {}

void LabelsFile::write(std::span<const std::int32_t> clusters) {
    if (of_clusters_.empty()) return writer_.write(clusters);
    in_pieces(clusters, [&](std::span<const std::int32_t> some) {
        writer_.write(merged_by_label(Labels(some.begin(), some.end()), of_clusters_).labels);
    });
}

void take_from_others(Communicator& communicator, std::span<const std::int32_t> own,
                      const std::function<void(std::span<const std::int32_t>)>& take) {
    if (communicator.rank() > 0) {
        internal::send_value(communicator, own.size(), 0);
        in_pieces(own, [&](std::span<const std::int32_t> some) { communicator.send(std::as_bytes(some), 0); });
        return;
    }
    Labels received;
    for (int process = 1; process < communicator.size(); ++process) {
        const auto count = internal::receive_value<std::size_t>(communicator, process);
        received.resize(std::min(count, piece));
        for (std::size_t left = count; left > 0;) {
            const auto some = std::span(received).first(std::min(left, piece));
            communicator.receive(std::as_writable_bytes(some), process);
            take(some);
            left -= some.size();
        }
    }
}

}  // namespace coterie
