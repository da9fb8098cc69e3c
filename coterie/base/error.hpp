#pragma once
// Errors. Every exception the library throws derives from coterie::Error *and* from a standard exception, so a caller
// may catch either. It carries what it is about in fields, and a text in the library's own words.
//
// A text (of an error, a warning, an option's meaning) is shown by faces that spell options differently, so that names
// of options stand in it between backquotes: `max_iterations`, and with a value `loss=renyi`. The command shows
// --max-iterations and --loss renyi, Python max_iterations= and loss='renyi'. Such a name is that of a described option
// (base/options.hpp) or one of named_fields below; nothing else stands between backquotes.

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
    resource,      // memory, disk or network that could not be had
    cancelled,     // the caller's cancel callback said stop before there was any result to return
    internal       // a broken promise of the library itself: please report
};

/// Fields of a Problem, a Run, a ReadOptions or a search over options that texts name as they name options.
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

/// What an error is about; what is not known, or does not apply, is empty.
struct COTERIE_API ErrorFields {
    std::string option = {};               // its name, without a mark: "max_iterations"
    std::string value = {};                // as given
    std::string accepted = {};             // in words
    std::string file = {};                 // its path
    std::optional<std::int64_t> row = {};  // counted from 1; of a text file the line
    std::string column = {};               // its name, or its number counted from 1
};

class COTERIE_API Error {
public:
    virtual ~Error() = default;
    virtual ErrorKind kind() const noexcept = 0;
    /// One sentence or more: what was given, where, and what is accepted.
    virtual const char* message() const noexcept = 0;
    const ErrorFields& fields() const noexcept { return *fields_; }
    /// For who catches an error, knows more (which file it was, say), and throws it on.
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
/// Of the processes that work on one fit, another one failed; the text says which and why. Its kind is that of the
/// other process' error.
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
