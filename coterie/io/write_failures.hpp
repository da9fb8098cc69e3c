#pragma once
// Writes several output files; if one fails, the others are still written.

#include <vector>

#include "coterie/base/error.hpp"

namespace coterie {

/// Collects the errors of outputs that could not be written.
class WriteFailures {
public:
    /// Runs write(). Returns false if it throws ResourceError (a full disk, no reader, no permission).
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
