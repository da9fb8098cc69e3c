// Messages in Python: the spelling of names, from the tables of coterie/_names.py, and the class _core.Message.

#include <charconv>

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>

#include "core.hpp"

#include "coterie/base/message.hpp"

namespace coterie::python {
namespace {

using Names = std::map<std::string, std::string>;

// Whether Python writes the value without quotes.
bool is_bare(std::string_view value) {
    double number = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = read.ec == std::errc() && read.ptr == value.data() + value.size();
    return is_number || value == "True" || value == "False" || value == "None";
}

class PythonSpelling : public Spelling {
public:
    PythonSpelling(Names parameters, Names remedies)
        : parameters_(std::move(parameters)), remedies_(std::move(remedies)) {}
    std::string option(std::string_view name) const override {
        if (name == "auto") return "None";
        const auto remedy = remedies_.find(std::string(name));
        if (remedy != remedies_.end()) return remedy->second;
        const auto found = parameters_.find(std::string(name));
        return found == parameters_.end() ? std::string(name) : found->second;
    }
    std::string setting(std::string_view name, std::string_view value) const override {
        for (const std::string& key : {std::string(name) + "=" + std::string(value), std::string(name)})
            if (const auto remedy = remedies_.find(key); remedy != remedies_.end()) return remedy->second;
        const std::string word = value == "true" ? "True" : value == "false" ? "False" : std::string(value);
        const bool automatic = value == "auto" && name != "clusters";
        return option(name) + "=" + (automatic ? "None" : is_bare(word) ? word : "'" + word + "'");
    }
    std::string row(std::string_view row) const override { return "row " + std::string(row) + " (counted from 1)"; }

private:
    Names parameters_, remedies_;
};

std::string in_python(const std::string& text) { return Spelling::current()(text); }

}  // namespace

void add_messages(nb::module_& module) {
    module.def("spell", [](Names parameters, Names remedies) {
        // Never deleted, because a Spelling must stay alive.
        Spelling::use(*new PythonSpelling(std::move(parameters), std::move(remedies)));
    });
    module.def("in_python", in_python);
    nb::class_<Message>(module, "Message")
        .def_prop_ro("code", [](const Message& m) { return std::string(name(m.code)); })
        .def_prop_ro("text", &Message::text)
        .def_prop_ro("option", [](const Message& m) { return m.option.empty() ? "" : in_python("`" + m.option + "`"); })
        .def_ro("value", &Message::value)
        .def_prop_ro("accepted", [](const Message& m) { return in_python(m.accepted); })
        .def_prop_ro("remedy", [](const Message& m) { return in_python(m.remedy); })
        .def_ro("file", &Message::file)
        .def_ro("line", &Message::line)
        .def_ro("row", &Message::row)
        .def_ro("context", &Message::context)
        .def_rw("column", &Message::column)
        .def_ro("column_number", &Message::column_number)
        .def("__getstate__", [](const Message& m) { return bytes_of(m.packed()); })
        .def("__setstate__", [](Message& m, const nb::bytes& bytes) {
            new (&m) Message(Message::unpacked({bytes.c_str(), bytes.size()}).value());
        });
}

}  // namespace coterie::python
