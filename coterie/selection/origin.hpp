#pragma once
// Where a document or a page comes from.

#include <string>
#include <utility>
#include <vector>

namespace coterie {

/// How a document or page came about: the caller's to fill.
struct Origin {
    std::string command;                                       // how it was asked for
    std::string date;                                          // when
    std::vector<std::pair<std::string, std::string>> written;  // what, path
};

}  // namespace coterie
