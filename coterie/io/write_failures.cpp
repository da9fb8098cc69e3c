// Makes one message of all failures: the first failure with its place and remedy, then the other failures, then the
// text that all other output was written.

#include "coterie/io/write_failures.hpp"

#include <string>
#include <utility>

namespace coterie {

void WriteFailures::rethrow() const {
    if (messages_.empty()) return;
    Message all = messages_.front();
    for (std::size_t i = 1; i < messages_.size(); ++i) {
        Message more = messages_[i];
        more.remedy.clear();
        all.problem += "; " + more.marked();
    }
    all.remedy += (all.remedy.empty() ? "" : ". ") + std::string("All other output was written");
    throw ResourceError(std::move(all));
}

}  // namespace coterie
