#pragma once
// Internal: saves the state of a fit to a file, so that an interrupted fit can continue.

#include <optional>
#include <string>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/model/fit_report.hpp"

namespace coterie::internal {

/// Identifies the points of a fit: shape, type, and SHA-256 of their bytes. All processes get the same result.
std::string fingerprint_of(PointsView points, const Run& run);
/// Identifies a whole problem: points, weights, centroids, labels, shares and sizes. Empty if run.checkpoint is empty.
std::string fingerprint_of(const Problem& problem, const Run& run);

/// Stores one label per row; each process gives the labels of its rows. Call it on every process. `archive` is
/// nullptr on all processes but rank 0.
void store_labels(Archive* archive, const std::string& name, const Labels& own, Communicator& communicator);
/// The labels of the rows `own`, out of `rows` rows.
Labels own_labels(const Archive& archive, const std::string& name, Index rows, Range own);

/// Stores the state of a fit. A restored fit continues as if it had not stopped. Rank 0 writes and reads the file.
class Checkpoint {
public:
    /// Uses run.checkpoint; the run must outlive this object. `points`: fingerprint_of() the points and the other data.
    /// With an empty path, nothing is written or found. Throws ResourceError if no file can be written to the path.
    Checkpoint(const Run& run, std::string method, const OptionValues& options, std::string points);

    /// The content of the file, on every process; nullopt if there is no file. Throws BadData if another fit wrote it.
    std::optional<Archive> found() const;
    /// Whether this process writes the file.
    bool wanted() const;
    /// Whether it is time to write: at the start, then after five seconds, or later if writing is slow.
    bool due() const;
    Archive begin() const;
    /// If this fails (a full disk), the fit goes on, and warn() reports the failure.
    void write(const Archive& archive);
    /// For a state that is spread over the processes; call it on every process. If due() or `now`, calls store(archive)
    /// on every process (archive is nullptr on all but rank 0) and writes. Returns whether it wrote.
    bool write_parts(bool now, FunctionRef<void(Archive* archive)> store);
    void warn(FitReport& report) const;
    /// For a fit that was stopped before it had a result: the end of its message, which says where its state was saved.
    std::string what_is_left() const;

private:
    Archive read() const;

    Communicator& communicator_;
    std::string path_, method_, points_;
    OptionValues options_;
    std::uint64_t seed_;
    std::optional<Message> trouble_;  // why the last write failed
    Stopwatch since_;
    double pause_ = 0;  // seconds until the next write
};

}  // namespace coterie::internal
