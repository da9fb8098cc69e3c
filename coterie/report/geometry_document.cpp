// Lists of names and functions define the quantities of a row, so a new quantity is one line. A quantity that is
// undefined for a row is blank, and is left out of the least, median and largest value.

#include "coterie/report/geometry_document.hpp"

#include <algorithm>
#include <set>

#include "coterie/base/text.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;

namespace {

// A quantity that can be summarised: its name, and its value if it is defined.
struct Quantity {
    const char* name;
    std::optional<double> (*of)(const PointGeometry&);
};
constexpr std::optional<double> when(bool defined, double value) {
    return defined ? std::optional<double>(value) : std::nullopt;
}
constexpr std::optional<double> in_curvature_interval(const PointGeometry& p, double LambdaInterval::*end) {
    return p.curvature_interval ? std::optional<double>((*p.curvature_interval).*end) : std::nullopt;
}
constexpr Quantity quantities[] = {
    {"radius", [](const PointGeometry& p) { return when(true, p.radius); }},
    {"r_W", [](const PointGeometry& p) { return when(true, p.inradius); }},
    {"norm", [](const PointGeometry& p) { return when(true, p.norm); }},
    {"dist", [](const PointGeometry& p) { return when(true, p.distance); }},
    {"gamma_W", [](const PointGeometry& p) { return when(p.solved, p.separation); }},
    {"mu", [](const PointGeometry& p) { return when(p.solved, p.coherence); }},
    {"lambda_0", [](const PointGeometry& p) { return when(true, p.lambda_0); }},
    {"lambda_l", [](const PointGeometry& p) { return when(true, p.interval.lower); }},
    {"lambda", [](const PointGeometry& p) { return when(true, p.lambda); }},
    {"lambda_u", [](const PointGeometry& p) { return when(p.solved, p.interval.upper); }},
    {"own_reach", [](const PointGeometry& p) { return when(p.solved, p.own_reach); }},
    {"foreign_reach", [](const PointGeometry& p) { return when(p.solved, p.foreign_reach); }},
    {"foreign_share", [](const PointGeometry& p) { return when(p.solved, p.foreign_share); }},
    {"violation", [](const PointGeometry& p) { return when(p.solved, p.violation); }},
    {"dist_bound", [](const PointGeometry& p) { return p.distance_bound; }},
    {"lambda_l_curvature", [](const PointGeometry& p) { return in_curvature_interval(p, &LambdaInterval::lower); }},
    {"lambda_u_curvature", [](const PointGeometry& p) { return in_curvature_interval(p, &LambdaInterval::upper); }},
};
constexpr std::string_view quantities_of_the_table[] = {"r_W", "dist", "gamma_W", "lambda_l", "lambda", "lambda_u"};

struct Property {
    const char* name;
    const char* meaning;
    bool (*of)(const PointGeometry&);
};
constexpr Property properties[] = {
    {"separated", "gamma_W above 0 (2.8)", [](const PointGeometry& p) { return p.separated; }},
    {"near", "dist below its bound (2.9)", [](const PointGeometry& p) { return p.near; }},
    {"empty_interval", "interval of lambda is empty",
     [](const PointGeometry& p) { return !p.solved || p.interval.empty(); }},
    {"inside", "lambda inside its interval", [](const PointGeometry& p) { return p.inside(); }},
    {"own_condition", "the condition that Lemma 1 omits", [](const PointGeometry& p) { return p.own_condition(); }},
    {"guaranteed", "guaranteed: the two above hold", [](const PointGeometry& p) { return p.guaranteed(); }},
    {"preserving", "representation manifold preserving",
     [](const PointGeometry& p) { return p.solved && p.preserving; }},
    {"nonzero", "representation not zero", [](const PointGeometry& p) { return p.nonzero; }},
    {"full_rank", "neighbours independent (Assumption 2)", [](const PointGeometry& p) { return p.full_rank; }},
};

struct Spread {
    std::string name;
    double least, median, largest;
};
std::vector<Spread> spreads_of(const std::vector<PointGeometry>& all) {
    std::vector<Spread> out;
    for (const auto& quantity : quantities) {
        std::vector<double> values;
        for (const auto& point : all)
            if (const auto value = quantity.of(point)) values.push_back(*value);
        if (values.empty()) continue;
        std::sort(values.begin(), values.end());
        // The lower of the two middle values. Their mean may not exist if values are infinite.
        out.push_back({quantity.name, values.front(), values[(values.size() - 1) / 2], values.back()});
    }
    return out;
}

double share_of(const std::vector<PointGeometry>& all, const Property& property) {
    return static_cast<double>(std::count_if(all.begin(), all.end(), property.of)) / static_cast<double>(all.size());
}

// A field of a csv file, quoted where necessary.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

Json rows_json(const GeometryResult& result) {
    Json out = Json::array();
    for (std::size_t i = 0; i < result.geometry.size(); ++i) {
        const std::size_t row = at(result.rows[i]);
        const PointGeometry& point = result.geometry[i];
        Json one;
        one["row"] = result.file_rows[row] + 1;
        one["label"] = result.label_text(result.labels.labels[row]);
        for (const Index j : point.neighbors) one["neighbors"].push_back(result.file_rows[at(j)] + 1);
        one["others_in_ball"] = point.others_in_ball;
        one["rank"] = point.rank;
        one["solved"] = point.solved;
        for (const auto& quantity : quantities)
            if (const auto value = quantity.of(point)) one[quantity.name] = *value;
        for (const auto& property : properties) one[property.name] = property.of(point);
        out.push_back(std::move(one));
    }
    return out;
}

std::size_t classes_of(const GeometryResult& result) {
    return std::set<std::int32_t>(result.labels.labels.begin(), result.labels.labels.end()).size();
}

}  // namespace

std::string GeometryResult::label_text(std::int32_t label) const {
    const auto position = static_cast<std::size_t>(label);
    return position < labels.names.size() ? labels.names[position] : std::to_string(label);
}

std::optional<Message> inexact_rows_warning(const std::vector<PointGeometry>& geometry) {
    const auto inexact = std::count_if(geometry.begin(), geometry.end(),
                                       [](const PointGeometry& p) { return p.solved && !(p.violation <= 1e-6); });
    if (inexact == 0) return {};
    return Message{.code = Code::ill_conditioned,
                   .problem = "in " + count_text(inexact) + " of " + count_text(static_cast<Index>(geometry.size())) +
                              " rows, rounding violates the optimality conditions by more than 1e-6, so it is "
                              "uncertain whether their representations are preserving or zero",
                   .remedy = "Lower `lambda`"};
}

std::string text_document(const GeometryResult& result) {
    const std::size_t classes = classes_of(result);
    TextRows shares;
    for (const auto& property : properties)
        shares.push_back({property.meaning, share_text(share_of(result.geometry, property))});
    TextRows rows;
    for (const auto& spread : spreads_of(result.geometry))
        if (std::ranges::find(quantities_of_the_table, spread.name) != std::end(quantities_of_the_table))
            rows.push_back(
                {spread.name, number_text(spread.least), number_text(spread.median), number_text(spread.largest)});
    return filled("{} of {} rows of {}, {} columns, {}{} of dimension {}\n\n{}\n{}",
                  count_text(static_cast<long long>(result.geometry.size())),
                  count_text(static_cast<long long>(result.labels.labels.size())), result.source,
                  count_text(result.dimensions), classes, classes == 1 ? " class" : " classes", result.options.dim,
                  table({"", "share"}, shares, {1}), table({"", "least", "median", "largest"}, rows, {1, 2, 3}));
}

std::string json_document(const GeometryResult& result) {
    Json out = new_document();
    out["points"] = result.source;
    out["labels"] = result.labels_source;
    out["warnings"] = result.warnings;
    out["options"] = json_of_options(result.options);
    out["preprocessing"] = result.preprocessing;
    out["n"] = result.labels.labels.size();
    out["d"] = result.dimensions;
    out["classes"] = classes_of(result);
    out["looked_at"] = result.geometry.size();
    for (const auto& property : properties) out["shares"][property.name] = share_of(result.geometry, property);
    for (const auto& spread : spreads_of(result.geometry))
        out["quantities"][spread.name] = {
            {"least", spread.least}, {"median", spread.median}, {"largest", spread.largest}};
    out["rows"] = rows_json(result);
    out["seconds"] = json_of(result.seconds);
    out["threads"] = result.threads;
    return document(out);
}

std::string rows_csv(const GeometryResult& result) {
    std::string out = "row,label,neighbors,others_in_ball,rank";
    for (const auto& quantity : quantities) out += filled(",{}", quantity.name);
    for (const auto& property : properties) out += filled(",{}", property.name);
    out += "\n";
    for (std::size_t i = 0; i < result.geometry.size(); ++i) {
        const std::size_t row = at(result.rows[i]);
        const PointGeometry& point = result.geometry[i];
        out += filled("{},{},{},{},{}", result.file_rows[row] + 1, quoted(result.label_text(result.labels.labels[row])),
                      point.neighbors.size(), point.others_in_ball, point.rank);
        for (const auto& quantity : quantities) {
            out += ",";
            if (const auto value = quantity.of(point))
                out += formatted("%.17g", *value);  // with all digits, so that programs read back the same value
        }
        for (const auto& property : properties) out += property.of(point) ? ",1" : ",0";
        out += "\n";
    }
    return out;
}

}  // namespace coterie
