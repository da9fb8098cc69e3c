// One way from raw rows to labels. Every face (the command, Python, the page) goes through here, so that names,
// preparation and model cannot come apart: what a fit learned of the columns lies in the same file as what it learned
// of the clusters.

#include "coterie/pipeline/pipeline.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "coterie/base/internal/derived_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/residence.hpp"

namespace coterie {
namespace {

constexpr const char* names_key = "column_names";

std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t most = 12;
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < most; ++i) out += (i == 0 ? "" : ", ") + names[i];
    return names.size() > most ? out + ", ... (" + std::to_string(names.size()) + ")" : out;
}

bool all_different(const std::vector<std::string>& names) {
    return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

// Positions of the model's columns among those given. BadData names what is missing.
std::vector<Index> positions_of(const std::vector<std::string>& wanted, const std::vector<std::string>& given) {
    std::vector<Index> out;
    std::vector<std::string> missing;
    for (const auto& name : wanted) {
        const auto found = std::find(given.begin(), given.end(), name);
        if (found == given.end()) missing.push_back(name);
        out.push_back(found - given.begin());
    }
    if (!missing.empty())
        throw BadData((missing.size() == 1 ? "column " : "columns ") + listed(missing) +
                          (missing.size() == 1 ? " is" : " are") + " missing; the model takes " + listed(wanted) +
                          ", the points have " + listed(given),
                      {.accepted = listed(wanted), .column = missing.front()});
    return out;
}

Points columns_of(const Points& points, const std::vector<Index>& which) {
    if (!points.resident())
        return internal::derived_rows(
            points, static_cast<Index>(which.size()), [which](PointsView rows, Index, void* to) {
                rows.visit([&]<class Scalar>(const Rows<Scalar>& from) {
                    auto* out = static_cast<Scalar*>(to);
                    std::vector<Scalar> row(
                        which.size());  // of as many columns, but in another order, it is the same place
                    for (Index i = 0; i < from.rows; ++i) {
                        for (std::size_t j = 0; j < which.size(); ++j) row[j] = from.row(i)[which[j]];
                        out = std::copy(row.begin(), row.end(), out);
                    }
                });
            });
    require_memory(static_cast<double>(points.rows()) * static_cast<double>(which.size()) *
                       static_cast<double>(size_of(points.scalar())),
                   "a copy of the points with the model's columns");
    return points.view().visit([&]<class Scalar>(const Rows<Scalar>& rows) {
        Matrix<Scalar> out(rows.rows, static_cast<Index>(which.size()));
        for (Index i = 0; i < rows.rows; ++i)
            for (std::size_t j = 0; j < which.size(); ++j) out(i, static_cast<Index>(j)) = rows.row(i)[which[j]];
        return Points(std::move(out));
    });
}

}  // namespace

Pipeline Pipeline::fit(const Method& method, const OptionValues& options, const Problem& problem,
                       const PreparationOptions& preparation, const Run& run) {
    if (!problem.column_names.empty() && static_cast<Index>(problem.column_names.size()) != problem.columns())
        throw BadArgument("column names: " + std::to_string(problem.column_names.size()) + " given for " +
                          std::to_string(problem.columns()) + " columns");
    Pipeline out;
    out.column_names_ = problem.column_names;
    Stopwatch watch;
    if (!problem.graph) out.preparation_ = Preparation::fit(problem.points, preparation, run, problem.weights);
    out.warnings_ = out.preparation_.warnings();
    Index zero_rows = 0;
    Problem prepared = out.preparation_.apply(problem, run, &zero_rows);
    if (!prepared.graph) prepared.points = hold_own_rows(prepared.points, run);
    if (zero_rows > 0) out.warnings_.push_back(Preparation::zero_rows_warning(zero_rows));
    out.prepared_ = prepared.points;
    out.preparation_seconds_ = watch.restart();
    out.model_ = method.fit(prepared, options, run);
    out.fit_seconds_ = watch.seconds();
    out.model_->require_sound();
    const double objective = out.model_->fit_report().objective;
    if (!std::isfinite(objective))
        out.warnings_.push_back("the objective is " + to_text(objective) +
                                ": with these options and points it leaves the range of numbers and measures nothing");
    return out;
}

PreparedRows Pipeline::prepare(const Points& rows, const std::vector<std::string>& column_names, const Run& run) const {
    PreparedRows out{rows, {}};
    // Names that are not one per column say nothing; the readers give none then.
    const bool by_name = !column_names_.empty() && static_cast<Index>(column_names.size()) == rows.columns() &&
                         !column_names.empty() && all_different(column_names);
    if (by_name) {
        if (column_names != column_names_) out.points = columns_of(rows, positions_of(column_names_, column_names));
    } else {
        if (rows.columns() != model_->dimensions())
            throw BadData(std::to_string(rows.columns()) + (rows.columns() == 1 ? " column" : " columns") +
                          ", the model was fitted on " + std::to_string(model_->dimensions()) +
                          (column_names_.empty() ? "" : ": " + listed(column_names_)));
        if (!column_names_.empty())
            out.warnings.push_back("the points have no column names; their columns are taken in order as the model's " +
                                   listed(column_names_));
    }
    Index zero_rows = 0;
    out.points = preparation_.apply(out.points, run, &zero_rows);
    if (zero_rows > 0) out.warnings.push_back(Preparation::zero_rows_warning(zero_rows));
    return out;
}

void Pipeline::admit(const Run& run) const {
    internal::admit(model_->method(), find_method(model_->method()).takes, run.alone());
}

Labels Pipeline::predict(const PreparedRows& rows, const Run& run) const {
    admit(run);
    return model_->predict(rows.points, run);
}

Matrix<double> Pipeline::output(Output which, const PreparedRows& rows, const Run& run) const {
    admit(run);
    return model_->output(which, rows.points, run);
}

void Pipeline::apply(const PreparedRows& rows, const Wanted& wanted, const Run& run,
                     FunctionRef<void(const RowResults&)> take) const {
    admit(run);
    model_->apply(rows.points, wanted, run, take);
}

Archive Pipeline::archive() const {
    Archive out{std::string(model_->method())};
    model_->store(out);
    preparation_.store(out);
    if (!column_names_.empty())
        out.set_text(names_key,
                     nlohmann::json(column_names_).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    // How it came about, for who finds the file later.
    const FitReport& report = model_->fit_report();
    if (report.points > 0) {
        out.set_text("points", std::to_string(report.points));
        out.set_text("seed", std::to_string(report.seed));
        out.set_text("iterations", std::to_string(report.iterations));
        out.set_text("stopped", std::string(name(report.stopped)));
        out.set_text("objective", to_text(report.objective));
    }
    return out;
}

void Pipeline::save(const std::string& path) const { archive().save(path); }

Pipeline Pipeline::from(const Archive& archive, const std::string& source) try {
    Pipeline out;
    out.model_ = model_of(archive);
    out.preparation_ = Preparation::from(archive);
    const auto stored = archive.texts().find(names_key);
    if (stored == archive.texts().end()) return out;
    const auto names = nlohmann::json::parse(stored->second, nullptr, false);
    if (!names.is_array() || static_cast<Index>(names.size()) != out.model_->dimensions() ||
        !std::all_of(names.begin(), names.end(), [](const auto& name) { return name.is_string(); }))
        throw BadData("model: column_names is no list of " + std::to_string(out.model_->dimensions()) + " names");
    for (const auto& name : names) out.column_names_.push_back(name.template get<std::string>());
    return out;
} catch (const BadData& error) {  // its message may not know the file
    const std::string text = error.message();
    ErrorFields fields = error.fields();
    fields.file = source;
    throw BadData(text.find(source) == std::string::npos ? source + ": " + text : text, fields);
}

Pipeline Pipeline::load(const std::string& path) { return from(Archive::load(path), path); }

}  // namespace coterie
