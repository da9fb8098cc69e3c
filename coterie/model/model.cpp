// What all models share: checks of new points, labels and outputs block by block, storing and loading. The label of a
// row depends on no other row, so labels from blocks equal the labels of all rows at once.

#include "coterie/model/model.hpp"

#include <algorithm>

#include "coterie/base/checks.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/blocks.hpp"
#include "coterie/base/parallel/collective.hpp"
#include "coterie/base/parallel/same_work.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/json_text.hpp"

namespace coterie {
namespace {

using internal::at;
using internal::filled;

// Runs work on rows that begin at row `first` of a larger set. Its errors then count rows from the start of the set.
template <class Work>
void counting_from(Index first, Work&& work) {
    try {
        work();
    } catch (BadData& error) {
        error.amend([&](Message& message) {
            if (message.row) *message.row += first;
        });
        throw;
    }
}
}  // namespace

void Model::in_parts(std::string_view what, PointsView points, const Run& run,
                     FunctionRef<void(PointsView rows, Index first, const Run& reading)> part) const {
    if (run.communicator().size() > 1)
        internal::require_same_work(internal::Work(filled("{} with a model of {}", what, method()))
                                        .add("clusters", std::to_string(clusters()))
                                        .add("dimensions", std::to_string(dimensions()))
                                        .add(points),
                                    run.communicator());
    if (points.columns() != dimensions())
        throw BadArgument(Code::model_mismatch,
                          filled("{}; the model was fitted on {}", counted(points.columns(), "column"), dimensions()),
                          "Give the columns of the training data", {.option = "points"});
    if (points.empty()) return;
    Run reading = run.alone();
    if ((points.resident() || (takes_sparse() && as_sparse(points) != nullptr)) && run.communicator().size() == 1) {
        check_points(points, given_points(), run);
        return part(points, 0, reading);
    }
    // Blocks one after another; all threads work on the same block.
    reading.on_progress = nullptr;
    const RowBlocks grid = internal::grid_of(points);
    const internal::Range own = internal::own_blocks(grid, run.communicator());
    internal::BlockReader reader(points, run);
    internal::together(run.communicator(), [&] {
        for (Index number = own.begin; number < own.end; ++number) {
            reading.throw_if_stopped(what);
            const PointsView rows = reader.rows(number, 0);
            check_points(rows, given_points(), reading, grid.begin(number));
            counting_from(grid.begin(number), [&] { part(rows, grid.begin(number), reading); });
            run.report({.stage = what,
                        .fraction = static_cast<double>(number + 1 - own.begin) / static_cast<double>(own.count())});
        }
    });
}

Labels Model::predict(PointsView points, const Run& run) const {
    Labels out;
    in_parts("predict", points, run, [&](PointsView rows, Index, const Run& reading) {
        Labels found = predict_checked(rows, reading);
        if (out.empty())
            out = std::move(found);
        else
            out.insert(out.end(), found.begin(), found.end());
    });
    return out;
}

std::string ClusterLabels::name_of(int cluster) const {
    const std::int32_t label = label_of.at(at(cluster));
    return label < 0 ? filled("cluster-{}", cluster) : names.at(at(label));
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
    {"embedding", "the coordinates in the space in which the method compares rows"},
    {"memberships", "the probability of each cluster; they sum to 1, or to less if the row may be noise"},
    {"label_scores", "how well each label of the partial labels fits; larger is better"},
    {"distances", "the Euclidean distance to each centroid, in the space in which the method compares rows"},
    {"outlier_score", "how poorly the row fits any cluster; larger is more of an outlier"}};
}  // namespace

std::string_view name(Output output) { return output_words[static_cast<std::size_t>(output)].name; }
std::string_view meaning(Output output) { return output_words[static_cast<std::size_t>(output)].meaning; }

void Model::require_output(Output which) const {
    if (outputs().has(which)) return;
    std::string there;
    for (int o = 0; o < output_count; ++o)
        if (outputs().has(static_cast<Output>(o)))
            there += (there.empty() ? "" : ", ") + std::string(name(static_cast<Output>(o)));
    const bool needs_labels = which == Output::label_scores && cluster_labels_.empty();
    throw BadArgument(Code::not_supported,
                      filled("a model of method {} has no {}{}{}", method(), name(which),
                             needs_labels ? ", because it was fitted without partial labels" : "",
                             there.empty() ? "" : "; it has " + there),
                      "", {.value = std::string(name(which)), .accepted = there});
}

Matrix<double> Model::finite_output(Output which, PointsView rows, const Run& run) const {
    Matrix<double> out = output_checked(which, rows, run);
    for (Index i = 0; i < out.rows(); ++i)
        if (!out.row(i).allFinite())
            throw BadData(Code::overflow,
                          filled("{} overflowed: values of the row, or of the model, are too large", name(which)), "",
                          {.option = "points", .row = i + 1});
    return out;
}

Matrix<double> Model::output(Output which, PointsView points, const Run& run) const {
    require_output(which);
    std::vector<Matrix<double>> parts;
    in_parts(name(which), points, run,
             [&](PointsView rows, Index, const Run& reading) { parts.push_back(finite_output(which, rows, reading)); });
    if (parts.size() == 1) return std::move(parts.front());
    if (parts.empty()) return Matrix<double>(0, output_columns(which));
    Index rows = 0;
    for (const auto& part : parts) rows += part.rows();
    require_memory(8.0 * static_cast<double>(rows) * static_cast<double>(parts.front().cols()),
                   std::string(name(which)));
    Matrix<double> out(rows, parts.front().cols());
    Index first = 0;
    for (const auto& part : parts) {
        std::copy_n(part.data(), part.size(), out.data() + first * out.cols());
        first += part.rows();
    }
    return out;
}

Index Model::output_columns(Output which) const {
    require_output(which);
    // The width does not depend on the values. The row is not 0, because spherical models need a direction.
    const Matrix<double> row = Matrix<double>::Ones(1, dimensions());
    return output_checked(which, row, Run(0, 1)).cols();
}

void Model::apply(PointsView points, const Wanted& wanted, const Run& run,
                  FunctionRef<void(const RowResults&)> take) const {
    Index width = 0;
    for (const Output which : wanted.outputs) width += output_columns(which);
    // An output may be much wider than a row.
    constexpr Index numbers = Index{1} << 22;
    const Index most = width == 0 ? std::numeric_limits<Index>::max() : std::max<Index>(numbers / width, 256);
    in_parts(wanted.labels || wanted.outputs.empty() ? "predict" : name(wanted.outputs.front()), points, run,
             [&](PointsView rows, Index first, const Run& reading) {
                 RowBuffer unused;  // the rows are in memory
                 const SparsePoints* const sparse = as_sparse(rows);
                 for (Index begin = 0; begin < rows.rows();) {
                     const Index end = begin + std::min(most, rows.rows() - begin);
                     std::optional<SparsePoints> part;
                     if (sparse != nullptr) part = sparse->slice(begin, end);
                     const PointsView some = part ? PointsView(*part) : rows.block(begin, end, unused);
                     RowResults results{.first = first + begin, .labels = {}, .outputs = {}};
                     counting_from(begin, [&] {
                         if (wanted.labels) results.labels = predict_checked(some, reading);
                         for (const Output which : wanted.outputs)
                             results.outputs.push_back(finite_output(which, some, reading));
                     });
                     take(results);
                     begin = end;
                 }
             });
}

Matrix<double> Model::output_checked(Output which, PointsView, const Run&) const {
    throw InternalError(filled("method {} lists the output {}, but does not compute it", method(), name(which)));
}

void Model::store(Archive& archive) const {
    archive.set_options(option_values());
    Parts writing(&archive);
    writing.bind('k', clusters());
    const_cast<Model*>(this)->parts(writing);  // parts() only reads the model when it writes an archive
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
        throw BadArgument(Code::overflow,
                          filled("the fit of method {} overflowed: {}", method(), error.fields().problem),
                          "Rescale the columns or use less extreme options");
    }
}

void Model::load(const Archive& archive, std::optional<int> found) {
    const auto refuse = [&](std::string problem) {
        throw BadData(Code::malformed, std::move(problem), "", {.file = archive.source()});
    };
    if (!found || *found < 0) refuse("the model has no clusters");
    const int clusters = *found;
    Parts reading(&archive);
    reading.bind('k', clusters);
    parts(reading);
    cluster_labels_ = {};
    if (!archive.has("label_of_cluster")) return;
    cluster_labels_.label_of = archive.labels("label_of_cluster", clusters);
    const auto names = formats::parse_json(archive.text("label_names"),
                                           [&](const std::string& reason) { refuse("text 'label_names' " + reason); });
    if (!names.is_array()) refuse("text 'label_names' is not a list of names");
    for (const auto& name : names) {
        if (!name.is_string()) refuse("text 'label_names' is not a list of names");
        cluster_labels_.names.push_back(name.get<std::string>());
    }
    const auto count = static_cast<std::int32_t>(cluster_labels_.names.size());
    for (const std::int32_t label : cluster_labels_.label_of)
        if (label < -1 || label >= count)
            refuse(filled("tensor 'label_of_cluster' holds {}; there are {} labels", label, count));
}

}  // namespace coterie
