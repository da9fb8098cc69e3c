#include "coterie/model/model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "coterie/base/parallel.hpp"
#include "coterie/io/reader.hpp"

namespace coterie {
namespace {

// Beyond these, sums of weighted squares could overflow or vanish.
constexpr double least_weight = 1e-30;
constexpr double largest_weight = 1e30;

// Returns the largest magnitude.
template <class Scalar>
double require_moderate(const Rows<Scalar>& rows, std::string_view what, int threads) {
    // Sums of d squares, of differences up to twice as large, must stay finite in the scalar type; in double so must
    // their sums over all points, weighted.
    const double limit = std::min(1e100, std::sqrt(static_cast<double>(std::numeric_limits<Scalar>::max()) /
                                                   (16.0 * static_cast<double>(rows.columns))));
    const RowBlocks blocks{rows.rows, 4096};
    std::vector<Index> first(static_cast<std::size_t>(blocks.count()), -1);
    std::vector<double> largest_of(first.size(), 0.0);
    for_each_block(blocks.count(), threads, [&](Index block, int) {
        for (Index i = blocks.begin(block); i < blocks.end(block); ++i) {
            const Scalar* row = rows.row(i);
            Scalar largest = 0;
            for (Index j = 0; j < rows.columns; ++j) largest = std::max(largest, std::abs(row[j]));
            auto& largest_here = largest_of[static_cast<std::size_t>(block)];
            largest_here = std::max(largest_here, static_cast<double>(largest));
            if (static_cast<double>(largest) > limit) {
                first[static_cast<std::size_t>(block)] = i;
                return;
            }
        }
    });
    for (const Index i : first) {
        if (i < 0) continue;
        Index column = 0;
        while (static_cast<double>(std::abs(rows.row(i)[column])) <= limit) ++column;
        throw BadData(std::string(what) + ": row " + std::to_string(i + 1) + ", column " + std::to_string(column + 1) +
                          ": " + to_text(OptionValue(static_cast<double>(rows.row(i)[column]))) +
                          " is so large that squared distances overflow " +
                          std::string(name(scalar_type_of<Scalar>())) + "; magnitudes up to " +
                          to_text(OptionValue(limit)) + " are accepted. Rescale the column" +
                          (scalar_type_of<Scalar>() == ScalarType::float32 ? " or read the data as float64" : ""),
                      {.value = to_text(static_cast<double>(rows.row(i)[column])),
                       .accepted = "magnitudes up to " + to_text(limit),
                       .row = i + 1,
                       .column = std::to_string(column + 1)});
    }
    return *std::max_element(largest_of.begin(), largest_of.end());
}

}  // namespace

double check_points(PointsView points, std::string_view what, int threads) {
    if (points.rows() < 1 || points.columns() < 1)
        throw BadData(std::string(what) + ": " + std::to_string(points.rows()) + " rows of " +
                      std::to_string(points.columns()) + " columns; at least one row and one column are needed");
    require_finite(points, what, threads);
    return points.visit([&](auto rows) { return require_moderate(rows, what, threads); });
}

void check_weights(std::span<const double> weights, Index rows) {
    if (static_cast<Index>(weights.size()) != rows)
        throw BadArgument(
            "weights: " + std::to_string(weights.size()) + " given for " + std::to_string(rows) + " points",
            {.option = "weights", .accepted = std::to_string(rows) + " weights"});
    bool any = false;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (!(weights[i] == 0 || (weights[i] >= least_weight && weights[i] <= largest_weight)))
            throw BadArgument("weights: row " + std::to_string(i + 1) + ": " + to_text(OptionValue(weights[i])) +
                                  " is not accepted; a weight is 0 or from 1e-30 to 1e30 (only their ratios matter)",
                              {.option = "weights",
                               .value = to_text(weights[i]),
                               .accepted = "0, or from 1e-30 to 1e30",
                               .row = static_cast<std::int64_t>(i) + 1});
        any = any || weights[i] > 0;
    }
    if (!any) throw BadArgument("weights: all are 0; at least one point must weigh more", {.option = "weights"});
}

bool Model::accept(std::string_view what, PointsView points, const Run& run) const {
    if (points.columns() != dimensions())
        throw BadArgument(std::string(what) + ": the points have " + std::to_string(points.columns()) +
                          " columns, the model was fitted on " + std::to_string(dimensions()));
    if (points.empty()) return false;
    check_points(points, what, run.threads);
    return true;
}

Labels Model::predict(PointsView points, const Run& run) const {
    if (!accept("predict", points, run)) return {};
    return predict_checked(points, run);
}

std::string ClusterLabels::name_of(int cluster) const {
    const std::int32_t label = label_of.at(static_cast<std::size_t>(cluster));
    return label < 0 ? "cluster-" + std::to_string(cluster) : names.at(static_cast<std::size_t>(label));
}

std::vector<std::int32_t> ClusterLabels::numbers() const {
    std::vector<std::int32_t> out = label_of;
    auto next = static_cast<std::int32_t>(names.size());
    for (auto& number : out)
        if (number < 0) number = next++;
    return out;
}

namespace {
struct OutputWords {
    std::string_view name;
    std::string_view meaning;
};
constexpr OutputWords output_words[output_count] = {
    {"embedding", "the points in the space in which the method sees them"},
    {"memberships", "the probability of each cluster; rows sum to 1"},
    {"label_scores", "how well each label of the partial labels fits, larger is better"},
    {"distances", "the Euclidean distance to each centroid, in the space in which the method compares them"}};
}  // namespace

std::string_view name(Output output) { return output_words[static_cast<std::size_t>(output)].name; }
std::string_view meaning(Output output) { return output_words[static_cast<std::size_t>(output)].meaning; }

Matrix<double> Model::output(Output which, PointsView points, const Run& run) const {
    if (!outputs().has(which)) {
        std::string there;
        for (int o = 0; o < output_count; ++o)
            if (outputs().has(static_cast<Output>(o)))
                there += (there.empty() ? "; it has " : ", ") + std::string(name(static_cast<Output>(o)));
        throw BadArgument(
            "a model of method " + std::string(method()) + " has no " + std::string(name(which)) +
            (which == Output::label_scores && cluster_labels_.empty() ? ": it was fitted without partial labels" : "") +
            there);
    }
    if (accept(name(which), points, run)) {
        Matrix<double> out = output_checked(which, points, run);
        for (Index i = 0; i < out.rows(); ++i)
            if (!out.row(i).allFinite())
                throw BadData(std::string(name(which)) + " of row " + std::to_string(i + 1) +
                              " is not finite: its values, or the model's, are too large");
        return out;
    }
    // How wide an output is, one row of zeros tells as well as any: none depends on the values.
    const Matrix<double> row = Matrix<double>::Zero(1, points.columns());
    return Matrix<double>(0, output_checked(which, row, run).cols());
}

Matrix<double> Model::output_checked(Output which, PointsView, const Run&) const {
    throw InternalError("method " + std::string(method()) + " names the output " + std::string(name(which)) +
                        " and does not compute it");
}

void Model::store(Archive& archive) const {
    archive.set_options(option_values());
    Parts writing(&archive);
    writing.bind('k', clusters());
    const_cast<Model*>(this)->parts(writing);  // which only reads what it writes
    if (cluster_labels_.empty()) return;
    archive.set_labels("label_of_cluster", cluster_labels_.label_of);
    archive.set_text(
        "label_names",
        nlohmann::json(cluster_labels_.names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::vector<PartDescription> Model::part_descriptions() const {
    Parts listing;
    listing.bind('k', clusters());
    const_cast<Model*>(this)->parts(listing);
    return listing.descriptions();
}

void Model::require_sound() const {
    Parts checking = Parts::checking();
    checking.bind('k', clusters());
    try {
        const_cast<Model*>(this)->parts(checking);
    } catch (const BadData& error) {
        throw BadArgument(std::string(method()) + ": the fit left the range of numbers (" + error.message() +
                          "): an option or the scale of the points is too extreme");
    }
}

void Model::load(const Archive& archive, std::optional<int> found) {
    if (!found || *found < 1) throw BadData("model: no clusters");
    const int clusters = *found;
    Parts reading(&archive);
    reading.bind('k', clusters);
    parts(reading);
    cluster_labels_ = {};
    if (!archive.has("label_of_cluster")) return;
    cluster_labels_.label_of = archive.labels("label_of_cluster", clusters);
    const auto names = nlohmann::json::parse(archive.text("label_names"), nullptr, false);
    if (!names.is_array()) throw BadData("model: label_names is no list of names");
    for (const auto& name : names) {
        if (!name.is_string()) throw BadData("model: label_names is no list of names");
        cluster_labels_.names.push_back(name.get<std::string>());
    }
    const auto count = static_cast<std::int32_t>(cluster_labels_.names.size());
    for (const std::int32_t label : cluster_labels_.label_of)
        if (label < -1 || label >= count)
            throw BadData("model: label_of_cluster holds " + std::to_string(label) + ", there are " +
                          std::to_string(count) + " labels");
}

}  // namespace coterie
