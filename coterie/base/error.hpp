#pragma once
// Errors. Every exception that the library throws derives from coterie::Error *and* from a standard exception, so a
// caller may catch either. Each error holds a Message (base/message.hpp): a code, fields, and the text made from them.

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "coterie/base/export.hpp"
#include "coterie/base/message.hpp"

namespace coterie {

enum class ErrorKind {
    bad_argument,  // an option, an index or a combination of inputs that the callee does not accept
    bad_data,      // a file or an array whose content cannot be used
    resource,      // memory, disk, network or a library is not available
    cancelled,     // the caller's cancel callback stopped the work before there was a result to return
    internal       // a fault of the library itself: please report it
};

class COTERIE_API Error {
public:
    virtual ~Error() = default;
    virtual ErrorKind kind() const noexcept = 0;
    /// The text. Names of options are spelled as the interface spells them (Spelling in base/message.hpp).
    const char* message() const noexcept { return state_->text.c_str(); }
    const Message& fields() const noexcept { return state_->fields; }
    /// For callers that catch an error, add a field (for example the file) and rethrow the error.
    template <class Change>
    void amend(Change&& change) {
        change(state_->fields);
        state_->text = state_->fields.text();
    }

protected:
    explicit Error(Message fields) : state_(std::make_shared<State>(std::move(fields))) {}

private:
    struct State {
        explicit State(Message given) : fields(std::move(given)), text(fields.text()) {}
        Message fields;
        std::string text;
    };
    std::shared_ptr<State> state_;  // shared: copies of an exception must not throw
};

namespace detail {
template <class Standard, ErrorKind Kind>
class COTERIE_API ErrorOf : public Standard, public Error {
public:
    explicit ErrorOf(Message message) : Standard(std::string()), Error(std::move(message)) {}
    /// `fields`: the other fields of the message.
    ErrorOf(Code code, std::string problem, std::string remedy = {}, Message fields = {})
        : ErrorOf(filled(code, std::move(problem), std::move(remedy), std::move(fields))) {}
    ErrorKind kind() const noexcept override { return Kind; }
    const char* what() const noexcept override { return Error::message(); }

private:
    static Message filled(Code code, std::string problem, std::string remedy, Message fields) {
        fields.code = code;
        fields.problem = std::move(problem);
        fields.remedy = std::move(remedy);
        return fields;
    }
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
    explicit PeerFailed(Message message, ErrorKind kind = ErrorKind::resource)
        : ResourceError(std::move(message)), kind_(kind) {}
    ErrorKind kind() const noexcept override { return kind_; }

private:
    ErrorKind kind_;
};
struct COTERIE_API Cancelled : detail::ErrorOf<std::runtime_error, ErrorKind::cancelled> {
    using ErrorOf::ErrorOf;
    /// "interrupted during STAGE, before there was a result".
    static Cancelled during(std::string_view stage) {
        return Cancelled(Code::cancelled, "interrupted during " + std::string(stage) + ", before there was a result");
    }
};
struct COTERIE_API InternalError : detail::ErrorOf<std::logic_error, ErrorKind::internal> {
    explicit InternalError(std::string problem) : ErrorOf({.code = Code::internal, .problem = std::move(problem)}) {}
};

}  // namespace coterie
