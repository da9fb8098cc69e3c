#pragma once
// Internal: options that would change nothing are refused, as who gives one expects something of it.

#include <string>

#include "coterie/base/error.hpp"

namespace coterie::internal {

/// BadArgument where an option is given (its value is not the default) and nothing reads it: "alpha", or one of its
/// values as in "labels_per=batch". `needs`: what would read it, marked, "`loss=renyi`".
inline void refuse_idle(bool given, bool used, const std::string& option, const std::string& needs) {
    if (given && !used)
        throw BadArgument("option `" + option + "` changes nothing without " + needs,
                          {.option = option.substr(0, option.find('='))});
}

}  // namespace coterie::internal
