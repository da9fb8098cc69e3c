#pragma once
// Errors. Every exception that the library throws derives from coterie::Error *and* from a standard exception, so a
// caller may catch either. Its fields say what it is about; its text says it in a sentence.
//
// Texts (of errors, warnings and option meanings) write the name of an option between backquotes, because each
// interface spells options differently. Examples are `max_iterations` and, with a value, `loss=renyi`. The command
// shows --max-iterations and --loss renyi; Python shows max_iterations= and loss='renyi'. Only names of described
// options (base/options.hpp) and the named_fields below may stand between backquotes.

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "coterie/base/export.hpp"

namespace coterie {

enum class ErrorKind {
    bad_argument,  // an option, an index or a combination of inputs that the callee does not accept
    bad_data,      // a file or an array whose content cannot be used
    resource,      // memory, disk or network was not available
    cancelled,     // the caller's cancel callback stopped the work before there was a result to return
    internal       // the library broke its own promise: please report it
};

/// Fields of a Problem, a Run, a ReadOptions or an option search that texts name in the same way as options.
inline constexpr std::array<std::string_view, 24> named_fields = {"weights",        "initial_centroids",
                                                                  "partial_labels", "clusters_per_label",
                                                                  "label_share",    "sizes",
                                                                  "graph",          "seed",
                                                                  "threads",        "columns",
                                                                  "label_column",   "separator",
                                                                  "precision",      "grid",
                                                                  "runs",           "device",
                                                                  "checkpoint",     "header",
                                                                  "decimal",        "exclude",
                                                                  "id_column",      "must_links",
                                                                  "cannot_links",   "methods"};

/// What an error is about. Fields that are unknown or do not apply are empty.
struct COTERIE_API ErrorFields {
    std::string option = {};               // its name without backquotes: "max_iterations"
    std::string value = {};                // as given
    std::string accepted = {};             // in words
    std::string file = {};                 // its path
    std::optional<std::int64_t> row = {};  // counted from 1; for a text file the line
    std::string column = {};               // its name, or its number counted from 1
};

class COTERIE_API Error {
public:
    virtual ~Error() = default;
    virtual ErrorKind kind() const noexcept = 0;
    /// One sentence or more: what was given, where, and what is accepted.
    virtual const char* message() const noexcept = 0;
    const ErrorFields& fields() const noexcept { return *fields_; }
    /// For callers that catch an error, add what they know (for example the file) and rethrow it.
    ErrorFields& fields() noexcept { return *fields_; }

protected:
    explicit Error(ErrorFields fields) : fields_(std::make_shared<ErrorFields>(std::move(fields))) {}

private:
    std::shared_ptr<ErrorFields> fields_;  // shared: copies of an exception must not throw
};

namespace detail {
template <class Standard, ErrorKind Kind>
class COTERIE_API ErrorOf : public Standard, public Error {
public:
    explicit ErrorOf(const std::string& text, ErrorFields fields = {}) : Standard(text), Error(std::move(fields)) {}
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
/// Another process of the same fit failed; the text says which one and why. kind() is the kind of that process's error.
struct COTERIE_API PeerFailed : ResourceError {
    explicit PeerFailed(const std::string& text, ErrorKind kind = ErrorKind::resource)
        : ResourceError(text), kind_(kind) {}
    ErrorKind kind() const noexcept override { return kind_; }

private:
    ErrorKind kind_;
};
struct COTERIE_API Cancelled : detail::ErrorOf<std::runtime_error, ErrorKind::cancelled> {
    using ErrorOf::ErrorOf;
};
struct COTERIE_API InternalError : detail::ErrorOf<std::logic_error, ErrorKind::internal> {
    using ErrorOf::ErrorOf;
};

}  // namespace coterie
