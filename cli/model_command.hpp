#pragma once
// What the subcommands share that apply a saved model to points.

#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "common.hpp"
#include "table.hpp"
#include "terminal.hpp"

namespace coterie::cli {

/// MODEL and POINTS, into the request's members of these names.
template <class Request>
std::vector<Operand> model_operands(const std::shared_ptr<Request>& request) {
    return {{"MODEL",
             "a file written by coterie fit --model-out",
             true,
             Completion::file,
             {},
             [request](const std::string& word) { request->model = word; }},
            {"POINTS", points_meaning, true, Completion::points, {}, [request](const std::string& word) {
                 request->points = word;
             }}};
}

/// How points for a model are read: the model's columns by name, unless --columns says which.
inline ReadOptions reading_for(const Pipeline& pipeline, const ReadRequest& reading) {
    ReadOptions out = reading.options();
    out.wanted_columns = pipeline.column_names();
    return out;
}

/// What f() gives; of data that it refuses the message begins with `source`.
template <class F>
auto naming_source(const std::string& source, F&& f) {
    try {
        return f();
    } catch (const BadData& error) {
        throw BadData((source == "-" ? "standard input" : source) + ": " + error.message(), error.fields());
    }
}

/// Which model on which points, and the facts: to standard output unless an output is written there.
template <class Request>
void print_applied(const Request& request, const Model& model, Index points,
                   const std::vector<std::pair<std::string, std::string>>& rows, const Outputs& outputs) {
    const std::string text = std::string(model.method()) + " of " + request.model + " on " + request.points + ": " +
                             count_text(points) + (points == 1 ? " point\n" : " points\n") + facts(rows);
    if (outputs.uses_standard_output())
        print_aside(text);
    else
        print(text);
}

}  // namespace coterie::cli
