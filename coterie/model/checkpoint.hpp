#pragma once
// Internal: saves the state of a fit in a file, so that the same fit can continue from it.

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

/// Identifies the points of a fit: shape, type, and SHA-256 of their bytes. Each process reads its own rows; all get
/// the result.
std::string fingerprint_of(PointsView points, const Run& run);
/// The same for the points and the rest of a problem: weights, centroids, labels, shares and sizes. Empty where
/// run.checkpoint is.
std::string fingerprint_of(const Problem& problem, const Run& run);

/// Stores one label per row; each process gives the labels of its rows. Call it on every process. `archive` is
/// nullptr on all processes but rank 0.
void store_labels(Archive* archive, const std::string& name, const Labels& own, Communicator& communicator);
/// The labels of the rows `own`, out of `rows` rows.
Labels own_labels(const Archive& archive, const std::string& name, Index rows, Range own);

/// The state of a fit at one moment. A restored fit continues as if it had not stopped. Rank 0 writes and reads the
/// file.
class Checkpoint {
public:
    /// Uses run.checkpoint; the run must outlive this object. `points`: fingerprint_of() the points and the other data.
    /// With an empty path nothing is written and nothing is found. Throws ResourceError where no file can be written
    /// there.
    Checkpoint(const Run& run, std::string method, const OptionValues& options, std::string points);

    /// What the file holds, on every process; nullopt without a file. Throws BadData when the checkpoint is
    /// from another fit.
    std::optional<Archive> found() const;
    /// Whether this process writes the file.
    bool wanted() const;
    /// Whether it is time to write: at first, then after five seconds, or later where writing is slow.
    bool due() const;
    Archive begin() const;
    /// A failure (a full disk) does not end the fit: warn() reports it.
    void write(const Archive& archive);
    /// The same for a state that is spread over the processes. Where it is time, or with `now`, calls store(archive) on
    /// every process, with nullptr on all but rank 0, and writes. Call it on every process. Returns whether it wrote.
    bool write_parts(bool now, FunctionRef<void(Archive* archive)> store);
    void warn(FitReport& report) const;
    /// The end of the message of a fit that was stopped before it had a result: whether its state was saved, and where.
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
