// The page holds the numbers as JSON, and charts.js draws them. The dendrogram is an SVG picture whose cut charts.js
// moves.

#include "coterie/report/internal/charts.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"
#include "coterie/report/drawing.hpp"
#include "coterie/report/internal/page_assets.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::report::internal {
namespace {

const std::vector<double>* numbers_of(const FitReport& report, std::string_view name) {
    for (const auto& [known, detail] : report.details)
        if (known == name) return std::get_if<std::vector<double>>(&detail);
    return nullptr;
}

Json& add_chart(Json& all, const std::string& title, const std::string& across, const std::string& up, const char* kind,
                int first) {
    all.push_back({{"title", title}, {"across", across}, {"up", up}, {"kind", kind}, {"first", first}});
    return all.back();
}

void add_curves(Json& all, const std::vector<Curve>& curves) {
    for (const Curve& curve : curves) {
        Json& one = add_chart(all, curve.name + " by k", "k", curve.name, "line", curve.clusters.front());
        one["values"] = curve.values;
        one["across_values"] = curve.clusters;
        if (curve.chosen) one["mark"] = *curve.chosen;
    }
}

std::string charts_section(const std::string& id, const std::string& heading, const Json& all) {
    if (all.empty()) return {};
    return "<section id=\"" + id + "\" class=\"charts\" hidden>\n<h2>" + heading + "</h2>\n<div id=\"" + id +
           "-drawn\"></div>\n<script type=\"application/json\" id=\"" + id + "-about\">" +
           script_text(all.dump(-1, ' ', false, Json::error_handler_t::replace)) + "</script>\n</section>\n";
}

// The last merges of a hierarchical clustering: leaves 0..leaves-1, then one node per merge.
struct Tree {
    const std::vector<double>& sizes;  // of each leaf
    const std::vector<double>& left;   // children of each merge
    const std::vector<double>& right;
    const std::vector<double>& heights;
    std::size_t leaves = sizes.size();
    std::size_t nodes = leaves + heights.size();

    std::size_t left_of(std::size_t merge) const { return static_cast<std::size_t>(left[merge]); }
    std::size_t right_of(std::size_t merge) const { return static_cast<std::size_t>(right[merge]); }
};

constexpr double tree_width = 900, tree_height = 420, tree_bottom = 370, tree_top = 20;

// Where the nodes are drawn.
struct Places {
    double highest, scale;  // the largest height of the axis; pixels per unit of height
    std::vector<double> x, y;
};

// Leaves keep the order of the tree from left to right. A node is in the middle of its children.
Places places_of(const Tree& tree) {
    std::vector<std::size_t> order, todo = {tree.nodes - 1};
    while (!todo.empty()) {
        const std::size_t node = todo.back();
        todo.pop_back();
        if (node < tree.leaves) {
            order.push_back(node);
            continue;
        }
        todo.push_back(tree.right_of(node - tree.leaves));
        todo.push_back(tree.left_of(node - tree.leaves));
    }
    const double highest = tree.heights.back() > 0 ? 1.05 * tree.heights.back() : 1;
    const double scale = (tree_bottom - tree_top) / highest;
    const double step = (tree_width - 90) / static_cast<double>(tree.leaves);
    std::vector<double> x(tree.nodes), y(tree.nodes, tree_bottom);
    for (std::size_t place = 0; place < tree.leaves; ++place)
        x[order[place]] = 70 + (static_cast<double>(place) + 0.5) * step;
    for (std::size_t t = 0; t < tree.heights.size(); ++t) {
        x[tree.leaves + t] = (x[tree.left_of(t)] + x[tree.right_of(t)]) / 2;
        y[tree.leaves + t] = tree_bottom - tree.heights[t] * scale;
    }
    return {highest, scale, std::move(x), std::move(y)};
}

// The cluster of each node below the cut, after `carried_out` merges. Clusters are numbered by their lowest row, like
// leaves.
std::vector<std::size_t> clusters_below(const Tree& tree, std::size_t carried_out) {
    const std::size_t leaves = tree.leaves, nodes = tree.nodes;
    std::vector<std::size_t> lowest(nodes);
    for (std::size_t node = 0; node < nodes; ++node)
        lowest[node] =
            node < leaves ? node : std::min(lowest[tree.left_of(node - leaves)], lowest[tree.right_of(node - leaves)]);
    std::vector<std::size_t> parent(nodes, nodes);
    for (std::size_t t = 0; t < carried_out; ++t) parent[tree.left_of(t)] = parent[tree.right_of(t)] = leaves + t;
    std::vector<std::size_t> roots;
    for (std::size_t node = 0; node < leaves + carried_out; ++node)
        if (parent[node] == nodes) roots.push_back(node);
    std::sort(roots.begin(), roots.end(), [&](auto a, auto b) { return lowest[a] < lowest[b]; });
    std::vector<std::size_t> cluster(nodes, roots.size());
    for (std::size_t r = 0; r < roots.size(); ++r) cluster[roots[r]] = r;
    for (std::size_t node = leaves + carried_out; node-- > 0;)
        if (parent[node] != nodes) cluster[node] = cluster[parent[node]];
    return cluster;
}

// Branches below the cut, in the colour of their cluster.
std::string branches(const Tree& tree, const Places& places, std::size_t carried_out) {
    const std::vector<std::size_t> cluster = clusters_below(tree, carried_out);
    const std::vector<double>&x = places.x, &y = places.y;
    std::string out;
    for (std::size_t t = 0; t < tree.heights.size(); ++t) {
        const std::size_t a = tree.left_of(t), b = tree.right_of(t), node = tree.leaves + t;
        out += filled("<path fill=\"none\" stroke-width=\"1.6\" stroke=\"{}\" d=\"M{} {}V{}H{}V{}\"/>\n",
                      t < carried_out ? cluster_colour(cluster[node]) : "#6B7280", pixels(x[a]), pixels(y[a]),
                      pixels(y[node]), pixels(x[b]), pixels(y[b]));
    }
    return out;
}

// The picture with the cut into `clusters`.
std::string tree_picture(const Tree& tree, const Places& places, std::size_t clusters) {
    const std::size_t carried_out = tree.leaves - std::min(tree.leaves, clusters);
    const double highest = places.highest;
    Frame frame{
        70, tree_top, tree_width - 20, tree_bottom, {0, static_cast<double>(tree.leaves), {}}, axis_over(0, highest)};
    frame.vertical.low = 0;
    frame.vertical.high = highest;
    std::erase_if(frame.vertical.ticks, [&](double tick) { return tick < 0 || tick > highest; });
    std::string out = svg_start(tree_width, tree_height, "Dendrogram of the last merges");
    out += frame_lines(frame, true);
    out += branches(tree, places, carried_out);
    const double cut = clusters > 1 && clusters <= tree.heights.size()
                           ? (tree.heights[carried_out] + (carried_out > 0 ? tree.heights[carried_out - 1] : 0)) / 2
                           : highest / 1.02;
    const std::string line = pixels(tree_bottom - cut * places.scale);
    out += "<line id=\"dendrogram-cut\" x1=\"70\" x2=\"" + formatted("%.0f", tree_width - 20) + "\" y1=\"" + line +
           "\" y2=\"" + line + "\" stroke=\"#D55E00\" stroke-width=\"1.6\" stroke-dasharray=\"6 4\"/>\n";
    out += "<g font-size=\"10\" fill=\"#4B5563\">\n";
    for (std::size_t leaf = 0; leaf < tree.leaves; ++leaf)
        out += text_at(places.x[leaf], tree_bottom + 12,
                       "text-anchor=\"end\" transform=\"rotate(-60 " + formatted("%.1f ", places.x[leaf]) +
                           formatted("%.1f", tree_bottom + 8) + ")\"",
                       count_text(static_cast<long long>(tree.sizes[leaf])));
    out += filled("</g>\n<g font-size=\"12\" fill=\"#111827\">\n{}</g>\n</svg>\n",
                  text_upwards(16, (tree_top + tree_bottom) / 2, "height of the merge"));
    return out;
}

}  // namespace

std::vector<Curve> curves_of(const ClusterChoice& choice) {
    std::vector<Curve> out;
    for (const CriterionCurve& curve : choice.curves)
        if (curve.left_out.empty())
            out.push_back({std::string(name(curve.criterion)), choice.clusters, curve.values, curve.chosen});
    return out;
}

std::string curve_charts(const std::vector<Curve>& curves) {
    Json all = Json::array();
    add_curves(all, curves);
    return charts_section("curves", "Over numbers of clusters", all);
}

std::string charts(const ClusteringResult& result, const FitReport* report, const ClusterChoice* choice) {
    Json all = Json::array();
    std::vector<std::string> names;
    if (result.description)
        for (const ClusterProfile& cluster : result.description->clusters) names.push_back(cluster.name);
    if (result.sizes.size() > 1) {
        Json& sizes = add_chart(all, "Rows per cluster", "cluster", "rows", "bars", 0);
        sizes["values"] = result.sizes;
        if (names.size() == result.sizes.size()) sizes["names"] = names;
    }
    if (result.description && result.description->silhouette) {
        Json& silhouettes = add_chart(all, "Silhouette per cluster", "cluster", "silhouette", "bars", 0);
        silhouettes["values"] = Json::array();
        for (const ClusterProfile& cluster : result.description->clusters)
            silhouettes["values"].push_back(or_null(cluster.silhouette));
        silhouettes["names"] = names;
    }
    if (report != nullptr && report->objective_per_iteration.size() > 1)
        add_chart(all, "Objective per iteration", "iteration", "objective", "line", 1)["values"] =
            report->objective_per_iteration;
    if (choice != nullptr) add_curves(all, curves_of(*choice));
    return charts_section("charts", "Charts", all);
}

std::string dendrogram(const FitReport& report) {
    const auto* const sizes = numbers_of(report, "tree_sizes");
    const auto* const left = numbers_of(report, "tree_left");
    const auto* const right = numbers_of(report, "tree_right");
    const auto* const heights = numbers_of(report, "tree_heights");
    if (sizes == nullptr || left == nullptr || right == nullptr || heights == nullptr || heights->empty()) return {};
    const Tree tree{*sizes, *left, *right, *heights};
    const Places places = places_of(tree);
    const auto clusters = static_cast<std::size_t>(std::max(report.clusters_found, 1));
    const Json about = {{"sizes", *sizes},     {"left", *left},         {"right", *right},
                        {"heights", *heights}, {"bottom", tree_bottom}, {"scale", places.scale}};
    return filled(
        "<section id=\"dendrogram\">\n<h2>Dendrogram</h2>\n<p>The last {} merges. Below each branch is its number "
        "of rows. The dashed line is the requested cut into {}.</p>\n<div id=\"dendrogram-controls\" "
        "class=\"controls\" hidden><label>clusters <input type=\"range\" id=\"dendrogram-clusters\" min=\"1\" "
        "max=\"{}\" value=\"{}\"></label><output id=\"dendrogram-said\" "
        "for=\"dendrogram-clusters\"></output></div>\n{}<script type=\"application/json\" "
        "id=\"dendrogram-about\">{}</script>\n</section>\n",
        count_text(static_cast<long long>(heights->size())), counted(static_cast<Index>(clusters), "cluster"),
        tree.leaves, clusters, tree_picture(tree, places, clusters), script_text(about.dump()));
}

std::string chart_scripts() {
    return filled("<style>{}</style>\n<script id=\"uplot\">{}</script>\n<script id=\"charts-script\">{}</script>\n",
                  page_charts_style, page_charts_library, page_charts_script);
}

}  // namespace coterie::report::internal
