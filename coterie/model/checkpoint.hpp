#pragma once
// Internal: the state of a fit in a file, from which the same fit goes on.

#include <optional>
#include <string>

#include "coterie/base/function_ref.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/parallel/communicator.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/model/archive.hpp"
#include "coterie/model/fit_report.hpp"

namespace coterie::internal {

/// What tells the points of a fit from others: shape, type, and SHA-256 of their bytes. Each process reads its own
/// rows, all get the answer.
std::string fingerprint_of(PointsView points, const Run& run);
/// The same, and of what a problem has beside points: weights, centroids, labels, shares and sizes. Empty where
/// run.checkpoint is.
std::string fingerprint_of(const Problem& problem, const Run& run);

/// A label per row in a checkpoint, of which each process gives those of its own rows. To be called on every process;
/// `archive` is there on the first alone.
void store_labels(Archive* archive, const std::string& name, const Labels& own, Communicator& communicator);
/// Those of `own` rows of n.
Labels own_labels(const Archive& archive, const std::string& name, Index rows, Range own);

/// The state of a fit at one moment; restored, the fit goes on as if it had not been cut off. The first process writes
/// and reads the file.
class Checkpoint {
public:
    /// Of run.checkpoint; the run must outlive this. `points`: fingerprint_of() the points and whatever lies beside
    /// them. An empty path: none is written, none is found. ResourceError where no file can be written there.
    Checkpoint(const Run& run, std::string method, const OptionValues& options, std::string points);

    /// What the file holds, where there is one, on every process. BadData when it is of another fit.
    std::optional<Archive> found() const;
    /// Whether this process writes the file.
    bool wanted() const;
    /// Whether it is time to write: at first, then when five seconds have passed, or longer where writing takes long.
    bool due() const;
    Archive begin() const;
    /// What stands in the way (a full disk) does not end the fit: it is kept for warn().
    void write(const Archive& archive);
    /// The same of a state of which every process has a part: where it is time, or `now`, calls store(archive) on every
    /// process, with nullptr on all but the first, and writes. To be called on every process; returns whether it wrote.
    bool write_parts(bool now, FunctionRef<void(Archive* archive)> store);
    void warn(FitReport& report) const;
    /// How the message of who was stopped before there was a result ends: whether its state was kept, and where.
    std::string what_is_left() const;

private:
    Archive read() const;

    Communicator& communicator_;
    std::string path_, method_, points_;
    OptionValues options_;
    std::uint64_t seed_;
    std::string trouble_;
    Stopwatch since_;
    double pause_ = 0;  // seconds until the next is due
};

}  // namespace coterie::internal
