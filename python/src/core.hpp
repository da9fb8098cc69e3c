#pragma once
// The extension coterie._core: the library's pipeline, method descriptions, readers and scores, as functions and
// classes that the package's Python sources wrap. Names are those of the library; python/coterie/_names.py has Python's
// (n_clusters, max_iter).
//
// Invariants:
// - Arrays of float and double are borrowed for the call, never copied.
// - The interpreter's lock is released while the library works.
// - A signal or an exception of a callback ends the work, and is raised as it is.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "coterie/base/options.hpp"
#include "coterie/base/points.hpp"
#include "coterie/base/problem.hpp"
#include "coterie/base/run.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/evaluation.hpp"
#include "coterie/pipeline/prepared_problem.hpp"

namespace coterie::python {

namespace nb = nanobind;

using Rows2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels1 = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// The words of each column's categories.
using Words = std::vector<std::vector<std::string>>;

/// Rows of files, in memory or read in blocks, with their columns and labels.
struct Table {
    Points points;
    std::vector<std::string> column_names;
    std::vector<ColumnKind> kinds;
    Words categories;
    Labels labels;  // empty: none
    std::vector<std::string> label_names;
    std::vector<Message> notes;
};

/// Borrows the rows of a NumPy array or a Table. Sparse points are a tuple (rows, columns, starts, columns of the
/// entries, values of the entries).
Points points_of(nb::handle points);
PointsView view_of(const Rows2& array);
inline std::span<const std::int32_t> span_of(const Labels1& array) { return {array.data(), array.size()}; }
template <class Array>
auto vector_of(const Array& array) {
    return std::vector(array.data(), array.data() + array.size());
}
/// labels: indices into `names`, or none.
std::optional<Truth> truth_of(const std::optional<Labels1>& labels, const std::vector<std::string>& names);

inline nb::bytes bytes_of(const std::string& text) { return nb::bytes(text.data(), text.size()); }
inline std::span<const std::byte> span_of(const nb::bytes& bytes) {
    return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

/// A list of f(item) of each item of the range.
template <class Range, class F>
nb::list list_of(const Range& range, F&& f) {
    nb::list out;
    for (const auto& item : range) out.append(std::invoke(f, item));
    return out;
}
struct Entry {
    template <class T>
    Entry(const char* name, T&& held) : key(name), value(nb::cast(std::forward<T>(held))) {}
    const char* key;
    nb::object value;
};
/// A dictionary with these entries, in their order.
nb::dict dict_with(std::initializer_list<Entry> entries);

/// Copies all rows to a new NumPy array.
nb::object array_of_points(PointsView points);

/// The problem: the points, and the constraints and other facts in `side`, by name.
Problem problem_of(nb::handle points, const nb::dict& side);
nb::dict dict_of(const Scores& scores);

/// Kinds of columns as numbers.
inline std::vector<int> numbers_of(const std::vector<ColumnKind>& kinds) {
    std::vector<int> out;
    for (const ColumnKind kind : kinds) out.push_back(static_cast<int>(kind));
    return out;
}

nb::object to_python(const OptionValue& value);
nb::dict dict_of(const OptionValues& values);
/// Throws BadArgument if the option does not accept the type of the value.
OptionValue option_value(const Option& option, nb::handle value);
OptionValues option_values(const OptionSet& set, const nb::dict& values);
template <class Options>
Options options_of(const nb::dict& values) {
    Options out;
    Options::described().assign(&out, option_values(Options::described(), values));
    return out;
}
/// How rows are prepared, sampled and labelled as noise.
Settings settings_of(const nb::dict& preparation, const nb::dict& columns, const nb::dict& more = {});

/// A NumPy array that owns the values, a std::vector or a Matrix.
template <class Values>
nb::object owned_array(Values values, const std::vector<std::size_t>& shape) {
    auto* const held = new Values(std::move(values));
    const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Values*>(p); });
    using Scalar = std::remove_pointer_t<decltype(held->data())>;
    return nb::cast(nb::ndarray<nb::numpy, Scalar>(held->data(), shape.size(), shape.data(), owner));
}
template <class Scalar>
nb::object owned_array(std::vector<Scalar> values) {
    const std::size_t size = values.size();
    return owned_array(std::move(values), {size});
}
template <class Scalar>
nb::object owned_array(Matrix<Scalar> matrix) {
    const auto rows = static_cast<std::size_t>(matrix.rows()), columns = static_cast<std::size_t>(matrix.cols());
    return owned_array(std::move(matrix), {rows, columns});
}

/// Python's side of a computation, and its Run: handles signals (in the main thread) and calls the callback with the
/// progress. It must be made and destroyed by a thread that holds the interpreter's lock.
class Host {
public:
    /// `notify`: called with (stage, fraction, objective, iteration); if it returns true, the work ends. May be None.
    explicit Host(std::uint64_t seed = 0, int threads = 0, const std::string& device = "cpu",
                  nb::object notify = nb::none());

    Run run;

    /// Returns f(run), computed without the interpreter's lock.
    template <class F>
    auto work(F&& f) {
        try {
            auto result = [&] {
                const nb::gil_scoped_release released;
                return f(run);
            }();
            if (error_) std::rethrow_exception(error_);
            return result;
        } catch (...) {
            if (error_) std::rethrow_exception(error_);
            throw_if_interrupted();
            throw;
        }
    }

private:
    bool should_stop();
    /// Throws KeyboardInterrupt if an interrupt arrived in Python code that the library called.
    static void throw_if_interrupted();
    void tell(const Progress& progress);
    void keep_error();

    nb::object notify_;
    std::thread::id caller_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
    std::atomic<bool> stop_ = false;
    std::exception_ptr error_;
};

void add_errors(nb::module_& module);
void add_messages(nb::module_& module);
void add_descriptions(nb::module_& module);
void add_fitting(nb::module_& module);
void add_ner(nb::module_& module);
void add_reading(nb::module_& module);
void add_scores(nb::module_& module);
void add_tuning(nb::module_& module);

}  // namespace coterie::python
