#pragma once
// Several output files: one that fails does not stop the others.

#include <vector>

#include "coterie/base/error.hpp"

namespace coterie {

/// Collects outputs that could not be written, so that the other outputs are still written.
class WriteFailures {
public:
    /// Runs write(). Returns false where it threw ResourceError (a full disk, no reader, no permission).
    template <class Write>
    bool attempt(Write&& write) {
        try {
            write();
            return true;
        } catch (const ResourceError& error) {
            messages_.push_back(error.fields());
            return false;
        }
    }
    /// Throws one ResourceError for all failures, if there are any. A program calls this last.
    void rethrow() const;

private:
    std::vector<Message> messages_;
};

}  // namespace coterie
