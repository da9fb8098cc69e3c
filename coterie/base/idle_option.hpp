#pragma once
// Internal: an option without effect is an error, because the user expects an effect.

#include <string>

#include "coterie/base/error.hpp"

namespace coterie::internal {

/// Throws BadArgument if an option is given (its value is not the default) but not used. `option` is a name such as
/// "alpha", or a name with a value such as "labels_per=batch". `needs` says, in backquotes, what would use the option:
/// "`loss=renyi`".
inline void refuse_idle(bool given, bool used, const std::string& option, const std::string& needs) {
    if (given && !used)
        throw BadArgument(Code::without_effect, "`" + option + "` changes nothing without " + needs, "",
                          {.option = option.substr(0, option.find('='))});
}

}  // namespace coterie::internal
