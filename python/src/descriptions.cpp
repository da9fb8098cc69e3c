// Methods and options for Python, from the same descriptions as the command's help.

#include <cmath>

#include "core.hpp"

#include "coterie/base/error.hpp"
#include "coterie/io/read_request.hpp"
#include "coterie/methods.hpp"
#include "coterie/model/model.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie::python {
namespace {

nb::dict dict_of(const Option& option) {
    static const char* const kinds[] = {"flag", "integer", "real", "choice", "text", "integers", "reals"};
    nb::dict out;
    out["name"] = option.name;
    out["kind"] = kinds[static_cast<int>(option.kind)];
    out["meaning"] = option.meaning;
    out["automatic"] = option.automatic;
    out["accepted"] = option.accepted();
    out["default"] = to_python(option.default_value);
    out["choices"] = option.choices;
    return out;
}

nb::list list_of(const OptionSet& set) {
    nb::list out;
    for (const Option& option : set.options()) out.append(dict_of(option));
    return out;
}

nb::list described_methods() {
    static const char* const shares[] = {"none", "number", "interval"};
    nb::list out;
    for (const Method& method : methods()) {
        nb::dict takes;
        takes["blocks"] = method.takes.blocks;
        takes["sparse"] = method.takes.sparse;
        takes["graph"] = method.takes.graph;
        takes["weights"] = method.takes.weights;
        takes["initial_centroids"] = method.takes.initial_centroids;
        takes["labels"] = method.takes.labels;
        takes["shares"] = shares[static_cast<int>(method.takes.shares)];
        takes["sizes"] = method.takes.sizes;
        takes["pairs"] = method.takes.pairs;
        takes["device"] = method.takes.device;
        takes["checkpoint"] = method.takes.checkpoint;
        nb::dict each;
        each["name"] = method.name;
        each["summary"] = method.summary;
        each["takes"] = takes;
        each["label_rule"] = std::string(name(method.about.rule));
        each["class"] = std::string(method.about.python);
        each["objective"] = std::string(method.about.objective);
        each["baseline"] = method.about.baseline;
        each["options"] = list_of(*method.options);
        out.append(each);
    }
    return out;
}

nb::list described_outputs() {
    nb::list out;
    for (int i = 0; i < output_count; ++i) {
        const auto output = static_cast<Output>(i);
        out.append(nb::make_tuple(std::string(name(output)), std::string(meaning(output))));
    }
    return out;
}

[[noreturn]] void refuse(const Option& option, nb::handle value) {
    const std::string text = nb::cast<std::string>(nb::repr(value));
    throw BadArgument(Code::not_accepted, text + " is not accepted", "Use " + option.accepted(),
                      {.option = option.name, .value = text, .accepted = option.accepted()});
}

// Accepts Python's and NumPy's bool. Uses attributes, because the stable ABI hides a type's tp_name.
bool flag_of(const Option& option, nb::handle value) {
    const nb::handle type = value.type();
    const std::string name =
        nb::cast<std::string>(type.attr("__module__")) + "." + nb::cast<std::string>(type.attr("__name__"));
    if (name != "builtins.bool" && name != "numpy.bool" && name != "numpy.bool_") refuse(option, value);
    return PyObject_IsTrue(value.ptr()) == 1;
}

// Accepts Python's and NumPy's integers, but not a bool.
std::int64_t integer_of(const Option& option, nb::handle value) {
    if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) refuse(option, value);
    const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
    if (!number.is_valid()) throw nb::python_error();
    int overflow = 0;
    const long long out = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow != 0) refuse(option, value);
    return out;
}

double real_of(const Option& option, nb::handle value) {
    if (PyBool_Check(value.ptr()) || PyUnicode_Check(value.ptr()) || !PyNumber_Check(value.ptr()))
        refuse(option, value);
    const nb::object number = nb::steal(PyNumber_Float(value.ptr()));
    if (!number.is_valid()) {
        PyErr_Clear();
        refuse(option, value);
    }
    return PyFloat_AsDouble(number.ptr());
}

std::string text_of(const Option& option, nb::handle value) {
    std::string out;
    if (!nb::try_cast(value, out, false)) refuse(option, value);
    return out;
}

template <class Item, class F>
std::vector<Item> list_value(const Option& option, nb::handle value, F&& item_of) {
    if (PyUnicode_Check(value.ptr()) || !nb::hasattr(value, "__iter__")) refuse(option, value);
    std::vector<Item> out;
    for (const nb::handle item : value) out.push_back(item_of(option, item));
    return out;
}

}  // namespace

nb::object to_python(const OptionValue& value) {
    return std::visit(
        []<class T>(const T& held) -> nb::object {
            if constexpr (std::is_same_v<T, Automatic>)
                return nb::none();
            else
                return nb::cast(held);
        },
        value);
}

nb::dict dict_of(const OptionValues& values) {
    nb::dict out;
    for (const auto& [name, value] : values) out[nb::cast(name)] = to_python(value);
    return out;
}

OptionValue option_value(const Option& option, nb::handle value) {
    if (value.is_none()) {
        if (option.automatic.empty()) refuse(option, value);
        return Automatic();
    }
    switch (option.kind) {
        case OptionKind::flag: return flag_of(option, value);
        case OptionKind::integer: return integer_of(option, value);
        case OptionKind::real: return real_of(option, value);
        case OptionKind::choice:
        case OptionKind::text: return text_of(option, value);
        case OptionKind::integers: return list_value<std::int64_t>(option, value, integer_of);
        case OptionKind::reals: return list_value<double>(option, value, real_of);
    }
    refuse(option, value);
}

OptionValues option_values(const OptionSet& set, const nb::dict& values) {
    OptionValues out;
    for (const auto [key, value] : values) {
        const Option& option = set.at(nb::cast<std::string>(key));
        OptionValue checked = option_value(option, value);
        option.check(checked);
        out.emplace(option.name, std::move(checked));
    }
    return out;
}

Settings settings_of(const nb::dict& preparation, const nb::dict& columns, const nb::dict& more) {
    Settings out;
    PreparationOptions::described().assign(&out.preparation,
                                           option_values(PreparationOptions::described(), preparation));
    ColumnOptions::described().assign(&out.columns, option_values(ColumnOptions::described(), columns));
    Settings::described().assign(&out, option_values(Settings::described(), more));
    return out;
}

void add_descriptions(nb::module_& module) {
    module.def("methods", &described_methods, "Every method: name, summary, accepted input, options.");
    module.def("preparation_options", [] { return list_of(PreparationOptions::described()); });
    module.def("column_options", [] { return list_of(ColumnOptions::described()); });
    module.def("read_options", [] { return list_of(ReadRequest::described()); });
    module.def("fit_options", [] { return list_of(Settings::described()); });
    module.def("outputs", &described_outputs, "(name, meaning) of the outputs of models other than labels.");
}

}  // namespace coterie::python
