// Concatenates arrays, compresses them with zlib and encodes them in base64. Browsers decompress them without a library
// (DecompressionStream), and map.js draws them. 16 bits are enough to display coordinates.

#include "coterie/report/map.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "coterie/base/load_rows.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/metrics/metrics.hpp"
#include "coterie/pipeline/left_out.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/internal/page_assets.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/picture.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie {

using namespace internal;
using namespace report::internal;

namespace {

constexpr Index most_rows_of_map = 1000000;
constexpr Index most_numbers_of_columns = 4000000;
constexpr Index most_dimensions_for_all_rows = 1000;  // with more, the axes come from a sample
constexpr Index rows_of_sample = 1000;
constexpr std::size_t most_matched = 100;        // limit for matching clusters: there are only eight colours
constexpr std::size_t most_text_columns = 12;    // shown next to the numbers
constexpr std::size_t most_text = 16 * 1000000;  // bytes of one text column

class Packed {
public:
    void add_rounded(Json about, const std::vector<double>& values) {
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        const double width = *high > *low ? *high - *low : 1;
        std::vector<std::uint16_t> rounded;
        for (const double value : values)
            rounded.push_back(static_cast<std::uint16_t>(std::lround(65535 * ((value - *low) / width))));
        about["low"] = *low;
        about["high"] = *low + width;
        add(std::move(about), "u16", rounded);
    }
    void add_column(Json about, const std::vector<float>& values) { add(std::move(about), "f32", values); }
    /// Lines, one per row. A line break within a text would start another row.
    void add_text(Json about, const std::string& lines) {
        about["bytes"] = lines.size();
        add(std::move(about), "text", std::vector<char>(lines.begin(), lines.end()));
    }
    void add_labels(Json about, const Labels& labels) { add(std::move(about), "i32", labels); }

    const Json& arrays() const { return arrays_; }
    std::string deflated() const {
        uLongf size = compressBound(static_cast<uLong>(bytes_.size()));
        std::string out(size, '\0');
        if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes_.data()),
                      static_cast<uLong>(bytes_.size()), 4) != Z_OK)
            throw InternalError("zlib does not compress the page's numbers");
        out.resize(size);
        return out;
    }

private:
    template <class Number>
    void add(Json about, const char* type, const std::vector<Number>& values) {
        about["type"] = type;
        arrays_.push_back(std::move(about));
        const auto* const bytes = reinterpret_cast<const char*>(values.data());
        bytes_.append(bytes, values.size() * sizeof(Number));
        bytes_.resize((bytes_.size() + 3) / 4 * 4, '\0');  // aligns the next array
    }

    Json arrays_ = Json::array();
    std::string bytes_;
};

std::string base64(const std::string& bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t three = 0;
        for (std::size_t b = 0; b < 3; ++b)
            three = three << 8 | (b < here ? static_cast<unsigned char>(bytes[i + b]) : 0U);
        for (std::size_t b = 0; b < 4; ++b) out += b <= here ? digits[three >> (18 - 6 * b) & 63] : '=';
    }
    return out;
}

// The first two axes of some points: the columns if there are at most two, otherwise principal axes.
void add_axes(Packed& packed, PointsView points, const std::string& of, const Run& run) {
    const auto add = [&](const Matrix<double>& placed, const char* kind) {
        for (Index a = 0; a < std::min<Index>(2, placed.cols()); ++a) {
            std::vector<double> values(at(placed.rows()));
            for (Index i = 0; i < placed.rows(); ++i) values[at(i)] = placed(i, a);
            const std::string name = filled("{}, {} {}", of, kind, a + 1);
            packed.add_rounded({{"name", name}, {"axis", true}}, values);
        }
    };
    if (points.columns() <= 2) return add(to_matrix<double>(points), "axis");
    Points sample = Points::borrow(points);
    if (points.columns() > most_dimensions_for_all_rows && points.rows() > rows_of_sample) {
        std::vector<Index> drawn;
        const Index step = (points.rows() + rows_of_sample - 1) / rows_of_sample;
        for (Index i = 0; i < points.rows(); i += step) drawn.push_back(i);
        sample = rows_of(points, drawn);
    }
    add(project(points, principal_axes(sample, 2, run), run), "principal axis");
}

// First the columns that set clusters apart, one cluster after the other in turn; then the others.
std::vector<Index> columns_in_order(const Description& description, Index columns) {
    std::vector<Index> out;
    std::vector<bool> taken(at(columns), false);
    const auto take = [&](Index column) {
        if (!taken[at(column)]) out.push_back(column);
        taken[at(column)] = true;
    };
    for (std::size_t turn = 0, left = 1; left > 0; ++turn) {
        left = 0;
        for (const ClusterProfile& cluster : description.clusters) {
            if (turn >= cluster.columns.size()) continue;
            ++left;
            take(cluster.columns[turn].column);
        }
    }
    for (Index p = 0; p < columns; ++p) take(p);
    return out;
}

// The table's columns that are not among the map's numbers, as written in the table. The column of ids comes first.
// Rows that are left out are skipped.
void add_table(Packed& packed, const TableRows& table, const std::vector<std::string>& numbers,
               const std::vector<Index>& left_out, Index kept) {
    const std::vector<std::string>& names = table.names();
    std::vector<std::size_t> columns;
    if (table.id_column() >= 0) columns.push_back(static_cast<std::size_t>(table.id_column()));
    for (std::size_t j = 0; j < names.size(); ++j)
        if (columns.size() < most_text_columns && static_cast<std::ptrdiff_t>(j) != table.id_column() &&
            std::find(numbers.begin(), numbers.end(), names[j]) == numbers.end())
            columns.push_back(j);
    std::vector<std::string> texts(columns.size());
    const auto rows = table.from_start();
    std::vector<std::string> fields;
    std::size_t next = 0;
    for (Index row = 0; row < kept + static_cast<Index>(left_out.size()); ++row) {
        if (!rows->next(fields)) throw InternalError("the page's map: there are more points than rows");
        if (next < left_out.size() && left_out[next] == row) {
            ++next;
            continue;
        }
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (texts[c].size() > most_text) continue;
            if (columns[c] < fields.size())
                for (const char letter : fields[columns[c]]) texts[c] += letter == '\n' ? ' ' : letter;
            texts[c] += '\n';
        }
    }
    for (std::size_t c = 0; c < columns.size(); ++c) {
        if (texts[c].size() > most_text) continue;
        const bool id = static_cast<std::ptrdiff_t>(columns[c]) == table.id_column();
        packed.add_text({{"name", id ? "id" : filled("text {}", columns[c] + 1)}, {"title", names[columns[c]]}},
                        texts[c]);
    }
}

constexpr const char* controls = R"html(<div class="controls">
<label>across <select id="map-x"></select></label>
<label>up <select id="map-y"></select></label>
<label>colour <select id="map-colour"></select></label>
<label>show <select id="map-filter"></select></label>
<label>find <input id="map-search" size="14" placeholder="row or name"></label>
<button id="map-lasso" aria-pressed="false">Lasso</button>
<button id="map-whole">Whole</button>
</div>
<div class="canvas"><canvas id="map-canvas" tabindex="0" role="img" aria-label="map of the points; arrows move it, plus and minus zoom"></canvas><canvas id="map-moving" aria-hidden="true"></canvas><div id="map-tip" hidden></div></div>
<div id="map-key" class="key"></div>
<p id="map-said" role="status"></p>
<div class="controls">
<label>label <input id="map-label" size="14"></label>
<button id="map-give">Give it to the selected points</button>
<button id="map-download">Download known.csv</button>
<span>for <code>--partial-labels known.csv</code></span>
</div>
)html";

// The first columns, as many as fit; then the rows as written in their table.
void add_columns(Packed& packed, const Points& coded, std::vector<Index> columns,
                 const std::vector<std::string>& column_names, const std::vector<Index>& left_out, const Run& run,
                 const TableRows* table) {
    const Index n = coded.rows();
    const Index most = std::clamp<Index>(most_numbers_of_columns / n, 2, 40);
    const Points rows = load(coded, "the columns of the page's map", run);
    if (static_cast<Index>(columns.size()) > most) columns.resize(at(most));
    for (const Index p : columns) {
        std::vector<float> values(at(n));
        rows.view().visit([&](const auto& all) {
            for (Index i = 0; i < n; ++i) values[at(i)] = static_cast<float>(all.row(i)[p]);
        });
        const std::string title =
            column_names.empty() || column_names[at(p)].empty() ? filled("column {}", p + 1) : column_names[at(p)];
        packed.add_column({{"name", filled("column {}", p + 1)}, {"title", title}, {"column", true}}, values);
    }
    if (table == nullptr) return;
    std::vector<std::string> shown;
    for (const Index p : columns)
        if (!column_names.empty()) shown.push_back(column_names[at(p)]);
    add_table(packed, *table, shown, left_out, n);
}

// A number per cluster of a method; it gives the cluster's colour. If a cluster matches one of the first method, it
// gets that cluster's number, so colours stay where two methods agree. The others get free numbers.
std::vector<std::int32_t> places_beside(const ComparedMethod& method, const ComparedMethod& first) {
    std::vector<std::int32_t> out(method.sizes.size(), -1);
    Labels own, others;
    for (std::size_t i = 0; i < method.labels.size(); ++i)
        if (method.labels[i] >= 0 && first.labels[i] >= 0) {
            own.push_back(method.labels[i]);
            others.push_back(first.labels[i]);
        }
    std::vector<bool> taken(std::max(method.sizes.size(), first.sizes.size()) + 1, false);
    if (!own.empty() && taken.size() <= most_matched) {
        const Alignment match = align(own, others);
        for (std::size_t u = 0; u < match.clusters.size(); ++u)
            if (match.matched[u]) taken[at(out[at(match.clusters[u])] = match.matched_class[u])] = true;
    }
    std::int32_t free = 0;
    for (std::int32_t& place : out) {
        if (place >= 0) continue;
        while (taken[at(free)]) ++free;
        place = free++;
    }
    return out;
}

Labels labels_of_kept(Labels labels, const std::vector<Index>& left_out) {
    erase_rows(labels, left_out);
    return labels;
}

// The map, its data and its scripts.
std::string section_of(const Packed& packed, Index rows, const std::vector<Index>& left_out) {
    const Json about = {{"rows", rows}, {"left_out", left_out}, {"colours", colours}, {"arrays", packed.arrays()}};
    std::string out = filled(
        "<section id=\"map\" hidden>\n<h2>Map</h2>\n{}</section>\n<p id=\"map-missing\"></p>\n"
        "<script type=\"application/json\" id=\"map-about\">{}</script>\n"
        "<script type=\"text/plain\" id=\"map-data\">{}</script>\n",
        controls, script_text(about.dump(-1, ' ', false, Json::error_handler_t::replace)), base64(packed.deflated()));
    for (const std::string_view script : page_scripts) out += filled("<script>{}</script>\n", script);
    return filled("{}<script>{}</script>\n", out, page_map_script);
}

}  // namespace

std::string page_map(const Pipeline& pipeline, const ClusteringResult& result, const PreparedRows& prepared,
                     const std::optional<Truth>& truth, const Run& run, const TableRows* table) {
    const Index n = prepared.points.rows();
    if (!result.description || result.description->row_silhouettes.empty() || n > most_rows_of_map || n < 2) return {};
    const Description& description = *result.description;
    Packed packed;
    if (pipeline.model().outputs().has(Output::embedding)) {
        PreparedRows kept = prepared;
        kept.left_out.clear();
        const Matrix<double> own = pipeline.output(Output::embedding, kept, run);
        add_axes(packed, own, "the method's own space", run);
    }
    add_axes(packed, prepared.points, "the points", run);

    std::vector<std::string> names;
    for (const ClusterProfile& cluster : description.clusters) names.push_back(cluster.name);
    packed.add_labels({{"name", "cluster"}, {"names", names}}, description.row_labels);
    const auto kept = [&](const Labels& labels) { return labels_of_kept(labels, prepared.left_out); };
    if (truth) packed.add_labels({{"name", "truth"}, {"names", truth->column.names}}, kept(truth->column.labels));
    if (result.comparison) {
        const ModelComparison& other = *result.comparison;
        packed.add_labels({{"name", "other model"}, {"title", "cluster of the other model"}, {"names", other.names}},
                          kept(other.labels));
        packed.add_labels({{"name", "moved"}, {"names", {"stayed", "moved"}}},
                          kept(Labels(other.has_moved.begin(), other.has_moved.end())));
    }
    packed.add_rounded({{"name", "confidence"}, {"title", "confidence (silhouette)"}}, description.row_silhouettes);
    if (!description.row_outlier_scores.empty())
        packed.add_rounded({{"name", "outlier"}, {"title", "outlier score"}}, description.row_outlier_scores);
    add_columns(packed, prepared.coded, columns_in_order(description, prepared.coded.columns()),
                pipeline.prepared_names(), prepared.left_out, run, table);
    return section_of(packed, n, prepared.left_out);
}

ComparisonDrawings comparison_drawings(const Comparison& comparison, const PreparedProblem& prepared,
                                       const std::string& source, const std::optional<Truth>& truth, const Run& run,
                                       const TableRows* table) {
    std::vector<const ComparedMethod*> done;
    for (const ComparedMethod& method : comparison.methods)
        if (method.error.empty()) done.push_back(&method);
    const Points& points = prepared.problem.points;
    const std::vector<std::string>& names_of_columns = prepared.problem.column_names;
    const Index n = points.rows();
    if (done.empty() || as_sparse(points) != nullptr || !points.resident() || n > most_rows_of_map || n < 2) return {};
    const auto kept = [&](const Labels& labels) { return labels_of_kept(labels, prepared.left_out); };
    Packed packed;
    add_axes(packed, points, "the points", run);
    for (const ComparedMethod* method : done) {
        const std::vector<std::int32_t> place = places_beside(*method, *done.front());
        std::vector<std::string> names;
        for (std::size_t j = 0; j < place.size(); ++j) {
            names.resize(std::max(names.size(), at(place[j]) + 1));
            names[at(place[j])] = std::to_string(j);
        }
        Labels labels = kept(method->labels);
        for (std::int32_t& label : labels)
            if (label >= 0) label = place[at(label)];
        // The map filters by the first column of labels.
        const std::string name = method == done.front() ? "cluster" : "cluster of " + method->method;
        packed.add_labels({{"name", name}, {"title", method->method}, {"names", names}}, labels);
    }
    if (truth) packed.add_labels({{"name", "truth"}, {"names", truth->column.names}}, kept(truth->column.labels));
    std::vector<Index> columns(at(prepared.coded.columns()));
    std::iota(columns.begin(), columns.end(), Index{0});
    add_columns(packed, prepared.coded, std::move(columns), names_of_columns, prepared.left_out, run, table);
    const ComparedMethod& first = *done.front();
    return {scatter_picture(points, kept(first.labels), first.sizes,
                            {first.method + " on " + source, "the first of the methods that were compared"},
                            names_of_columns, run),
            section_of(packed, n, prepared.left_out)};
}

}  // namespace coterie
