// Checks that all methods share. They also ensure that no part of a problem is silently ignored.

#include "coterie/model/method.hpp"

#include <string>

#include "coterie/base/load_rows.hpp"
#include "coterie/base/memory.hpp"
#include "coterie/base/parallel/same_work.hpp"
#include "coterie/base/sparse_points.hpp"
#include "coterie/base/text.hpp"

namespace coterie {

std::string_view name(LabelRule rule) {
    switch (rule) {
        case LabelRule::other: return "other";
        case LabelRule::nearest_centroid: return "nearest-centroid";
        case LabelRule::nearest_direction: return "nearest-direction";
        case LabelRule::nearest_projected: return "nearest-projected";
        case LabelRule::nearest_in_subspace: return "nearest-in-subspace";
        case LabelRule::softmax: return "softmax";
    }
    return "other";
}

}  // namespace coterie

namespace coterie::internal {
namespace {

void admit_sparse(std::string_view method, const Takes& takes, const SparsePoints& points, const Run& run) {
    if (!takes.sparse)
        throw BadArgument(Code::not_supported, filled("method {} does not support sparse matrices", method),
                          "Use a dense matrix (" + memory_text(PointsView(points).bytes()) + "), or kmeans",
                          {.option = "points"});
    if (run.communicator().size() > 1)
        throw BadArgument(Code::not_supported,
                          filled("method {} supports sparse matrices in one process only; there are {} processes",
                                 method, run.communicator().size()),
                          "Use one process or a dense matrix", {.option = "points"});
}

}  // namespace

void require_same_fit(std::string_view method, const OptionValues& options, const Problem& problem, const Run& run) {
    if (run.communicator().size() == 1) return;
    Work work(filled("fit {}", method));
    work.add(run).add(options);
    if (problem.graph) work.add("graph", "given");
    for (const auto& [what, count] : {std::pair("weights", problem.weights.size()),
                                      {"partial labels", problem.partial_labels.size()},
                                      {"shares", problem.label_shares.size()},
                                      {"initial centroids", static_cast<std::size_t>(problem.initial_centroids.rows())},
                                      {"pairs", problem.must_links.size() + problem.cannot_links.size()}})
        if (count > 0) work.add(what, std::to_string(count));
    require_same_work(work.add(problem.points), run.communicator());
}

void admit(std::string_view method, const Takes& takes, const Run& run) {
    if (run.device != "cpu" && !takes.device)
        throw BadArgument(Code::not_supported, filled("method {} runs on the CPU only", method), "Use `device=cpu`",
                          {.option = "device", .value = run.device, .accepted = "cpu"});
    if (!run.checkpoint.empty() && !takes.checkpoint)
        throw BadArgument(Code::not_supported, filled("method {} does not support checkpoints", method), "",
                          {.option = "checkpoint", .value = run.checkpoint});
}

Problem in_memory(std::string_view method, const Problem& problem, const Run& run) {
    Problem out = problem;
    out.points = load(problem.points, filled("method {} needs all rows in memory, which", method), run);
    return out;
}

void admit(std::string_view method, const Takes& takes, const Problem& problem, const Run& run) {
    admit(method, takes, run);
    const auto refuse = [&](const char* field, std::string_view what) {
        throw BadArgument(Code::not_supported, filled("method {} does not support {}", method, what), "",
                          {.option = field});
    };
    if (const SparsePoints* sparse = as_sparse(problem.points)) admit_sparse(method, takes, *sparse, run);
    if (problem.graph && !takes.graph) refuse("graph", "graphs of affinities");
    if (!problem.weights.empty() && !takes.weights) refuse("weights", "weights");
    if (!problem.initial_centroids.empty() && !takes.initial_centroids)
        refuse("initial_centroids", "initial centroids");
    if (!problem.initial_centroids.resident())
        throw BadArgument(Code::not_supported, "the centroids are read in blocks",
                          "Load them into memory first (coterie::load)", {.option = "initial_centroids"});
    if (!problem.partial_labels.empty() && !takes.labels) refuse("partial_labels", "partial labels");
    if (!problem.clusters_per_label.empty() && !takes.labels) refuse("clusters_per_label", "clusters per label");
    if (!problem.label_shares.empty() && takes.shares == Shares::none) refuse("label_share", "label shares");
    if (problem.sizes && !takes.sizes) refuse("sizes", "size bounds");
    if (!problem.must_links.empty() && !takes.pairs) refuse("must_links", "must-links");
    if (!problem.cannot_links.empty() && !takes.pairs) refuse("cannot_links", "cannot-links");
    if (problem.graph && problem.points.rows() > 0)
        throw BadArgument(Code::conflict, "rows and a graph of affinities were both given", "Leave one out",
                          {.option = "graph"});
    if (run.communicator().size() > 1 && !takes.blocks)
        throw BadArgument(Code::not_supported, filled("method {} works in one process only; there are {} processes",
                                                      method, run.communicator().size()));
}

}  // namespace coterie::internal
