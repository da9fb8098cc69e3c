// The module, and the conversions that its parts share: errors and arrays between C++ and Python.

#include "core.hpp"

#include "coterie/base/error.hpp"
#include "coterie/deep/network.hpp"

namespace coterie::python {
namespace {

const char* name_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::bad_argument: return "BadArgument";
        case ErrorKind::bad_data: return "BadData";
        case ErrorKind::resource: return "ResourceError";
        case ErrorKind::cancelled: return "Cancelled";
        case ErrorKind::internal: return "InternalError";
    }
    return "InternalError";
}

void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Error& error) {
        // A Python function makes the exception.
        const nb::object python = nb::module_::import_("coterie._errors").attr("error_of");
        const nb::object made = python(name_of(error.kind()), error.fields());
        PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
}

}  // namespace

void add_errors(nb::module_&) { nb::register_exception_translator(translate); }

PointsView view_of(const Rows2& array) {
    const auto rows = static_cast<Index>(array.shape(0));
    const auto columns = static_cast<Index>(array.shape(1));
    if (rows == 0) return PointsView(static_cast<const float*>(nullptr), 0, columns);
    if (columns > 1 && array.stride(1) != 1)
        throw BadArgument(Code::not_supported, "the rows of the array are not contiguous",
                          "Use numpy.ascontiguousarray(X)", {.option = "points"});
    const Index stride = rows > 1 ? static_cast<Index>(array.stride(0)) : columns;
    if (array.dtype() == nb::dtype<float>())
        return PointsView(static_cast<const float*>(array.data()), rows, columns, stride);
    if (array.dtype() == nb::dtype<double>())
        return PointsView(static_cast<const double*>(array.data()), rows, columns, stride);
    throw BadArgument(Code::wrong_type, "the array is not of float32 or float64", "Convert it", {.option = "points"});
}

namespace {

using Array1 = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Array1& array) {
    return {static_cast<const T*>(array.data()), array.size()};
}

// Borrows (rows, columns, starts, columns of the entries, values of the entries).
Points sparse_points_of(const nb::tuple& parts) {
    const auto rows = nb::cast<Index>(parts[0]);
    const auto columns = nb::cast<Index>(parts[1]);
    const auto starts = nb::cast<Array1>(parts[2], false);
    const auto columns_of = nb::cast<Array1>(parts[3], false);
    const auto values = nb::cast<Array1>(parts[4], false);
    const auto with = [&]<class Number, class Scalar>(Number, Scalar) {
        return Points(std::make_shared<const SparsePoints>(
            rows, columns, span_of<Number>(starts), span_of<Number>(columns_of), span_of<Scalar>(values), nullptr));
    };
    const auto with_number = [&]<class Number>(Number number) {
        if (starts.dtype() != nb::dtype<Number>() || columns_of.dtype() != nb::dtype<Number>())
            throw BadArgument(Code::wrong_type,
                              "the starts and columns of a sparse matrix must have the same type, int32 or "
                              "int64",
                              "", {.option = "points"});
        if (values.dtype() == nb::dtype<float>()) return with(number, float());
        if (values.dtype() == nb::dtype<double>()) return with(number, double());
        throw BadArgument(Code::wrong_type, "the values of the sparse matrix are not of float32 or float64", "",
                          {.option = "points"});
    };
    return starts.dtype() == nb::dtype<std::int32_t>() ? with_number(std::int32_t()) : with_number(std::int64_t());
}

}  // namespace

Points points_of(nb::handle points) {
    if (nb::isinstance<Table>(points)) return nb::cast<const Table&>(points).points;
    if (nb::isinstance<nb::tuple>(points)) return sparse_points_of(nb::cast<nb::tuple>(points));
    return Points::borrow(view_of(nb::cast<Rows2>(points, false)));
}

std::optional<Truth> truth_of(const std::optional<Labels1>& labels, const std::vector<std::string>& names) {
    if (!labels) return std::nullopt;
    return Truth{{vector_of(*labels), names}, "y_true"};
}

nb::dict dict_with(std::initializer_list<Entry> entries) {
    nb::dict out;
    for (const Entry& entry : entries) out[entry.key] = entry.value;
    return out;
}

Host::Host(std::uint64_t seed, int threads, const std::string& device, nb::object notify)
    : run(seed, threads), notify_(std::move(notify)), caller_(std::this_thread::get_id()) {
    run.device = device;
    run.should_stop = [this] { return should_stop(); };
    if (!notify_.is_none()) run.on_progress = [this](const Progress& progress) { tell(progress); };
}

static std::atomic<bool> interrupted = false;

void Host::throw_if_interrupted() {
    if (!interrupted.exchange(false)) return;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
}

void Host::keep_error() {
    error_ = std::current_exception();
    stop_ = true;
}

// Worker threads also call this. Only the caller's thread may run Python's signal handlers, at most every 20 ms.
bool Host::should_stop() {
    if (stop_ || std::this_thread::get_id() != caller_) return stop_;
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(20)) return stop_;
    asked_ = now;
    const nb::gil_scoped_acquire held;
    try {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (...) {
        keep_error();
    }
    return stop_;
}

void Host::tell(const Progress& progress) {
    if (stop_) return;
    const nb::gil_scoped_acquire held;
    try {
        const nb::object stop = notify_(nb::str(progress.stage.data(), progress.stage.size()), progress.fraction,
                                        progress.objective, progress.iteration);
        if (nb::cast<bool>(stop)) stop_ = true;
    } catch (...) {
        keep_error();
    }
}

// The functions of coterie/_networks.py, which imports torch.
static const coterie_network_api* networks_of_torch(std::int32_t abi) {
    const nb::gil_scoped_acquire held;
    try {
        const auto place = nb::cast<std::uintptr_t>(nb::module_::import_("coterie._networks").attr("functions")(abi));
        return reinterpret_cast<const coterie_network_api*>(place);
    } catch (const nb::python_error& error) {
        if (error.matches(PyExc_KeyboardInterrupt)) interrupted = true;  // throw_if_interrupted raises it
        throw std::runtime_error("torch cannot be imported (" + std::string(nb::str(error.value()).c_str()) + ")");
    }
}

}  // namespace coterie::python

NB_MODULE(_core, module) {
    using namespace coterie::python;
    module.doc() = "The compiled part of coterie. Use the names of the package coterie instead.";
    module.attr("version") = COTERIE_VERSION;
    add_messages(module);
    add_errors(module);
    add_descriptions(module);
    add_reading(module);
    add_fitting(module);
    add_ner(module);
    add_scores(module);
    add_tuning(module);
    module.def("interrupt", [] { interrupted = true; });
    coterie::internal::provide_networks(&networks_of_torch);
}
