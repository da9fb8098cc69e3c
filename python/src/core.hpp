#pragma once
// The extension coterie._core: the library's pipeline, method descriptions, readers and scores, as functions and two
// classes that the Python sources of the package dress up. Nothing below coterie/pipeline and coterie/methods.hpp is
// used. Names here are the library's; Python's (n_clusters, max_iter) are given in python/coterie/_names.py.
//
// What holds: arrays of float and double are borrowed for the call, never copied; the interpreter's lock is released
// while the library works; a signal or an exception of a callback ends the work and comes out as what it was.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
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

namespace coterie::python {

namespace nb = nanobind;

using Rows2 = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Labels1 = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Of each column the words of its categories.
using Words = std::vector<std::vector<std::string>>;

/// Points that were read from files, or stay in them, with what came beside them.
struct Table {
    Points points;
    std::vector<std::string> column_names;
    std::vector<ColumnKind> kinds;
    Words categories;
    Labels labels;  // empty: none
    std::vector<std::string> label_names;
    std::vector<Message> notes;
};

/// The rows of a NumPy array, of a Table, or of sparse points as a tuple (rows, columns, starts, columns of the
/// entries, their values); borrowed.
Points points_of(nb::handle points);
PointsView view_of(const Rows2& array);
inline std::span<const std::int32_t> span_of(const Labels1& array) { return {array.data(), array.size()}; }

/// All rows, as a new NumPy array.
nb::object array_of_points(PointsView points);

/// What is known beside the points, from the keywords that Python gives.
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
/// BadArgument on what the option does not take.
OptionValue option_value(const Option& option, nb::handle value);
OptionValues option_values(const OptionSet& set, const nb::dict& values);

/// A NumPy array that owns what was moved into it.
template <class Scalar>
nb::object owned_array(std::vector<Scalar> values, std::vector<std::size_t> shape) {
    auto* const held = new std::vector<Scalar>(std::move(values));
    const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<Scalar>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, Scalar>(held->data(), shape.size(), shape.data(), owner));
}
template <class Scalar>
nb::object owned_array(std::vector<Scalar> values) {
    const std::size_t size = values.size();
    return owned_array(std::move(values), {size});
}
nb::object owned_array(Matrix<double> matrix);

/// What Python says while the library works: signals (in the main thread), and the callback with the progress. Made and
/// destroyed with the interpreter's lock; the Run must not outlive it.
class Host {
public:
    /// `notify`: called with (stage, fraction, objective, iteration), true ends the work; None: nothing.
    explicit Host(nb::object notify = nb::none()) : notify_(std::move(notify)), caller_(std::this_thread::get_id()) {}
    void attach(Run& run);
    /// What f() gives, worked out without the interpreter's lock.
    template <class F>
    auto work(F&& f) {
        try {
            auto result = [&] {
                const nb::gil_scoped_release released;
                return f();
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
    /// An interrupt that reached Python's code behind the library, which could only say that it failed.
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
