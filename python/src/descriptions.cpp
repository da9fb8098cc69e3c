// Methods and options for Python, from the same descriptions as the command's help.

#include <cmath>

#include "core.hpp"

#include "coterie/base/error.hpp"
#include "coterie/methods.hpp"
#include "coterie/pipeline/column_coding.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/pipeline/preparation.hpp"

namespace coterie::python {
namespace {

nb::dict dict_of(const Option& option) {
    static const char* const kinds[] = {"flag", "integer", "real", "choice", "text", "integers", "reals"};
    return dict_with({{"name", option.name},
                      {"kind", kinds[static_cast<int>(option.kind)]},
                      {"meaning", option.meaning},
                      {"automatic", option.automatic},
                      {"accepted", option.accepted()},
                      {"default", to_python(option.default_value)},
                      {"choices", option.choices}});
}

nb::list described(const OptionSet& set) {
    return list_of(set.options(), [](const Option& option) { return dict_of(option); });
}

nb::list described_methods() {
    static const char* const shares[] = {"none", "number", "interval"};
    return list_of(methods(), [](const Method& method) {
        const Takes& takes = method.takes;
        return dict_with({{"name", method.name},
                          {"summary", method.summary},
                          {"takes", dict_with({{"blocks", takes.blocks},
                                               {"sparse", takes.sparse},
                                               {"graph", takes.graph},
                                               {"weights", takes.weights},
                                               {"initial_centroids", takes.initial_centroids},
                                               {"labels", takes.labels},
                                               {"shares", shares[static_cast<int>(takes.shares)]},
                                               {"sizes", takes.sizes},
                                               {"pairs", takes.pairs},
                                               {"device", takes.device},
                                               {"checkpoint", takes.checkpoint}})},
                          {"label_rule", std::string(name(method.about.rule))},
                          {"class", std::string(method.about.python)},
                          {"objective", std::string(method.about.objective)},
                          {"options", described(*method.options)}});
    });
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
    out.preparation = options_of<PreparationOptions>(preparation);
    out.columns = options_of<ColumnOptions>(columns);
    Settings::described().assign(&out, option_values(Settings::described(), more));
    return out;
}

void add_descriptions(nb::module_& module) {
    module.def("methods", &described_methods, "Every method: name, summary, accepted input, options.");
    module.def("preparation_options", [] { return described(PreparationOptions::described()); });
    module.def("column_options", [] { return described(ColumnOptions::described()); });
    module.def("fit_options", [] { return described(Settings::described()); });
}

}  // namespace coterie::python
