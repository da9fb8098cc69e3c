#pragma once
// Internal: a fit that fails in a search is recorded and does not end the search.

#include <exception>
#include <string>

#include "coterie/base/error.hpp"

namespace coterie::selection::internal {

using namespace coterie::internal;

/// Calls act(). Returns its error if points, options or resources are unsuitable; nullptr if it succeeds. Other errors
/// (cancelled, internal errors) pass through.
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

/// The message of a recorded error.
inline std::string message_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return error.message();
    }
}

}  // namespace coterie::selection::internal
