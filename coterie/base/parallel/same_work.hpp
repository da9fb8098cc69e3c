#pragma once
// Internal: checks that all processes of a fit do the same work, before they exchange anything else.

#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// Describes the work of a process as pairs of a name and a value.
class Work {
public:
    /// Adds the version of coterie.
    COTERIE_API explicit Work(std::string what);
    COTERIE_API Work& add(std::string name, std::string value);
    /// Adds the seed and the device.
    COTERIE_API Work& add(const Run& run);
    COTERIE_API Work& add(const OptionValues& options);
    /// Adds rows, columns and the type of the numbers.
    COTERIE_API Work& add(PointsView points);
    const std::vector<std::pair<std::string, std::string>>& facts() const { return facts_; }

private:
    std::vector<std::pair<std::string, std::string>> facts_;
};

/// Throws the same BadData on every process unless all have the same work. The message says what differs on which
/// processes. If nothing differs, 8 bytes per process are exchanged.
COTERIE_API void require_same_work(const Work& own, Communicator& communicator);

}  // namespace coterie::internal
