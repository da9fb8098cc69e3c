#pragma once
// The origin of a document or a page.

#include <string>
#include <utility>
#include <vector>

namespace coterie {

/// How a document or page was made. The caller sets it.
struct Origin {
    std::string command;                                       // the command that was run
    std::string date;                                          // when it was run
    std::vector<std::pair<std::string, std::string>> written;  // kind of output, path
};

}  // namespace coterie
