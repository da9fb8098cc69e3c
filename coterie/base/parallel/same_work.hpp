#pragma once
// Internal: what all processes of a fit must have in common before they exchange anything else.

#include <string>
#include <utility>
#include <vector>

#include "coterie/base/export.hpp"
#include "coterie/base/options.hpp"
#include "coterie/base/run.hpp"

namespace coterie::internal {

/// What one process is about to do, as pairs of a name and its value.
class Work {
public:
    /// With the version of coterie.
    COTERIE_API explicit Work(std::string what);
    COTERIE_API Work& add(std::string name, std::string value);
    /// The seed and the device.
    COTERIE_API Work& add(const Run& run);
    COTERIE_API Work& add(const OptionValues& options);
    /// Rows, columns and type of the numbers.
    COTERIE_API Work& add(PointsView points);
    const std::vector<std::pair<std::string, std::string>>& facts() const { return facts_; }

private:
    std::vector<std::pair<std::string, std::string>> facts_;
};

/// Throws on every process the same BadData, which says what differs and on which processes, unless all have the same
/// work. It exchanges 8 bytes per process where they have.
COTERIE_API void require_same_work(const Work& own, Communicator& communicator);

}  // namespace coterie::internal
