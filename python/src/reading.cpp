// Files and the catalogue of data sets, with the library's readers.

#include <limits>

#include "core.hpp"

#include "coterie/data/catalogue.hpp"
#include "coterie/data/read.hpp"
#include "coterie/io/read_request.hpp"
#include "coterie/io/row_files.hpp"
#include "coterie/io/text_header.hpp"
#include "coterie/pipeline/column_coding.hpp"

namespace coterie::python {
namespace {

// One path: any file that the command can read. Several paths: .npy or idx files that are read in blocks.
Table read(const std::vector<std::string>& paths, const nb::dict& columns) {
    const auto column_options = options_of<ColumnOptions>(columns);
    return Host().work([&](const Run& run) {
        Table out;
        if (paths.size() != 1) {
            out.points = open_rows(paths);
            return out;
        }
        ReadOptions options = ReadRequest().options();
        column_options.read_by(options);
        PointsFile file = read_points(paths.front(), options, run);
        out.points = std::move(file.points);
        out.column_names = std::move(file.column_names);
        out.kinds = std::move(file.kinds);
        out.categories = std::move(file.categories);
        out.notes = std::move(file.notes);
        if (file.reading) out.notes.push_back(*file.reading);
        if (file.labels) {
            out.labels = std::move(file.labels->labels);
            out.label_names = std::move(file.labels->names);
        }
        return out;
    });
}

// Days since 1970-01-01 for each word, as in text files; NaN for an empty word. Returns None if a word is not a date,
// or if all words are empty.
nb::object days_of(const std::vector<std::string>& words) {
    std::vector<double> days(words.size(), std::numeric_limits<double>::quiet_NaN());
    bool any = false;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].empty()) continue;
        const auto day = formats::days_of_date(words[i]);
        if (!day) return nb::none();
        days[i] = *day;
        any = true;
    }
    return any ? owned_array(std::move(days)) : nb::none();
}

nb::list entries() {
    return list_of(catalogue(), [](const CatalogueEntry& entry) {
        return dict_with({{"name", entry.name},
                          {"title", entry.title},
                          {"licence", entry.licence},
                          {"citation", entry.citation},
                          {"shipped", entry.shipped}});
    });
}

}  // namespace

nb::object array_of_points(PointsView view) {
    const std::vector<std::size_t> shape = {static_cast<std::size_t>(view.rows()),
                                            static_cast<std::size_t>(view.columns())};
    return view.with_scalar([&]<class Scalar>() {
        std::vector<Scalar> values(shape[0] * shape[1]);
        const Index step = 4096;
        RowBuffer buffer;
        Scalar* to = values.data();
        for (Index begin = 0; begin < view.rows(); begin += step) {
            const Index end = std::min(begin + step, view.rows());
            const Rows<Scalar> rows = view.block(begin, end, buffer).as<Scalar>();
            for (Index i = 0; i < rows.rows; ++i) to = std::copy_n(rows.row(i), rows.columns, to);
        }
        return owned_array(std::move(values), shape);
    });
}

void add_reading(nb::module_& module) {
    using namespace nb::literals;
    nb::class_<Table>(module, "Table", "Rows from files, in memory or read in blocks.")
        .def_prop_ro("shape", [](const Table& t) { return nb::make_tuple(t.points.rows(), t.points.columns()); })
        .def_prop_ro("column_names", [](const Table& t) { return t.column_names; })
        .def_prop_ro("categories", [](const Table& t) { return t.categories; })
        .def_prop_ro("kinds", [](const Table& t) { return numbers_of(t.kinds); })
        .def_prop_ro("labels", [](const Table& t) { return owned_array(Labels(t.labels)); })
        .def_prop_ro("label_names", [](const Table& t) { return t.label_names; })
        .def_prop_ro("notes", [](const Table& t) { return t.notes; })
        .def("array", [](const Table& t) { return array_of_points(t.points); });
    nb::class_<ScratchWriter>(module, "Scratch", "Writes rows once, to a temporary file without a name.")
        .def(nb::init<const std::string&>(), "folder"_a)
        .def("write",
             [](ScratchWriter& writer, nb::handle rows) {
                 const Points points = points_of(rows);
                 const nb::gil_scoped_release released;
                 writer.write(points);
             })
        // The rows that were written, as points that are read in blocks.
        .def("table", [](ScratchWriter& writer) {
            Table out;
            out.points = writer.points();
            return out;
        });
    module.def("read", &read, "paths"_a, "columns"_a = nb::dict());
    module.def("days_of", &days_of);
    module.def("catalogue", &entries);
}

}  // namespace coterie::python
