#pragma once
// Internal: fits of a search that are refused go on record and do not end it.

#include <exception>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie::internal {

/// What act() throws where points or options are refused; nothing where it goes well. Other errors (cancelled, a broken
/// promise) go on.
template <class Act>
std::exception_ptr recorded(Act&& act) {
    try {
        act();
    } catch (const BadArgument&) {
        return std::current_exception();
    } catch (const BadData&) {
        return std::current_exception();
    } catch (const ResourceError&) {
        return std::current_exception();
    }
    return nullptr;
}

/// Of one that is on record.
inline std::string message_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return error.message();
    }
}

}  // namespace coterie::internal
