#pragma once
// Errors. Every exception the library throws derives from coterie::Error *and* from a standard exception, so a caller
// may catch either.

#include <new>
#include <stdexcept>
#include <string>

#include "coterie/base/export.hpp"

namespace coterie {

enum class ErrorKind {
    bad_argument,  // an option, an index or a combination of inputs that the callee does not accept
    bad_data,      // a file or an array whose content cannot be used
    resource,      // memory, disk or network that could not be had
    cancelled,     // the caller's cancel callback said stop before there was any result to return
    internal       // a broken promise of the library itself: please report
};

class COTERIE_API Error {
public:
    virtual ~Error() = default;
    virtual ErrorKind kind() const noexcept = 0;
    /// One sentence or more: what was given, where, and what is accepted.
    virtual const char* message() const noexcept = 0;
};

namespace detail {
template <class Standard, ErrorKind Kind>
class COTERIE_API ErrorOf : public Standard, public Error {
public:
    explicit ErrorOf(const std::string& text) : Standard(text) {}
    ErrorKind kind() const noexcept override { return Kind; }
    const char* message() const noexcept override { return Standard::what(); }
};
}  // namespace detail

struct COTERIE_API BadArgument : detail::ErrorOf<std::invalid_argument, ErrorKind::bad_argument> {
    using ErrorOf::ErrorOf;
};
struct COTERIE_API BadData : detail::ErrorOf<std::runtime_error, ErrorKind::bad_data> {
    using ErrorOf::ErrorOf;
};
struct COTERIE_API ResourceError : detail::ErrorOf<std::runtime_error, ErrorKind::resource> {
    using ErrorOf::ErrorOf;
};
struct COTERIE_API Cancelled : detail::ErrorOf<std::runtime_error, ErrorKind::cancelled> {
    using ErrorOf::ErrorOf;
};
struct COTERIE_API InternalError : detail::ErrorOf<std::logic_error, ErrorKind::internal> {
    using ErrorOf::ErrorOf;
};

}  // namespace coterie
