// wmc-cifar: the grids of the paper on features that the user supplies, because coterie does not have those of the
// paper. Each representation serves all 15 affinities. As in the paper, the true labels choose the parameters; the
// output says so.

#include <algorithm>
#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/text.hpp"
#include "coterie/manifold/affinity.hpp"
#include "coterie/manifold/representation.hpp"
#include "coterie/manifold/smce.hpp"
#include "coterie/spectral/affinity_clusters.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

enum class CifarSet { cifar_10, cifar_20, cifar_100 };
const std::vector<std::string> set_names = {"cifar-10", "cifar-20", "cifar-100"};

// Table 1 of the paper, in per cent, with the parameters that its methods used (Tables 2 to 4).
struct Published {
    const char* method;
    std::array<double, 3> accuracy;
    std::array<double, 3> nmi;
    std::array<const char*, 3> chosen;
};
constexpr std::array<Published, 7> published = {{
    {"L-WMC",
     {96.07, 63.97, 69.2},
     {90.54, 69.55, 76.49},
     {"lambda 50, eta 20, N", "lambda 50, eta 400, SNK", "lambda 50, eta 20, N"}},
    {"E-WMC",
     {94.34, 64.1, 69.83},
     {88.79, 69.58, 76.63},
     {"lambda 20, eta 400, NK", "lambda 20, eta 400, SNK", "lambda 50, eta 400, N"}},
    {"SMCE",
     {86.86, 63.1, 68.56},
     {90.66, 70.53, 77.17},
     {"gamma 10, K 20, S", "gamma 50, K 20, SNK", "gamma 20, K 20, NS"}},
    {"EnSC", {85.8, 61.6, 66.6}, {89.2, 69.3, 77.1}, {"", "", ""}},
    {"SSC", {85.4, 60.9, 64.6}, {84.6, 65.3, 72.8}, {"", "", ""}},
    {"TEMI", {96.9, 61.8, 73.7}, {92.6, 64.5, 79.9}, {"fine-tuned", "fine-tuned", "fine-tuned"}},
    {"CPP", {97.4, 64.2, 74.0}, {93.6, 72.5, 81.8}, {"fine-tuned", "fine-tuned", "fine-tuned"}},
}};
constexpr std::size_t measured_methods = 3;  // the paper states grids for the first three only

struct WmcCifarRequest {
    CifarSet set = CifarSet::cifar_10;
    int keep = 20;
    int restarts = 10;
    bool published = false;
    std::string features;
    std::string truth;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<WmcCifarRequest>()
                .choice("set", &WmcCifarRequest::set, set_names, "data set of the published figures")
                .integer("keep", &WmcCifarRequest::keep, at_least(1),
                         "entries of each row that K keeps (the paper does not state it)")
                .integer("restarts", &WmcCifarRequest::restarts, at_least(1), "starts of k-means on the eigenvectors")
                .flag("published", &WmcCifarRequest::published, "only print the published figures");
        return set;
    }
};

struct Cell {
    std::string chosen;
    Scores scores;
    std::int64_t components = 0;
};

struct Measured {
    const char* method = "";
    std::vector<Cell> cells;
    double kkt_residual = 0;
    double seconds = 0;

    const Cell& best() const {
        return *std::max_element(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
            return a.scores.acc < b.scores.acc || (a.scores.acc == b.scores.acc && a.scores.nmi < b.scores.nmi);
        });
    }
};

// Adds the cells of all 15 affinities of a representation.
void add_cells(const SparseMatrix& coefficients, const std::string& parameters, const WmcCifarRequest& request,
               const Labels& truth, int clusters, const Run& run, Measured& out) {
    for (std::size_t s = 0; s < affinity_strategies().size(); ++s) {
        const SymmetricAffinity affinity = affinity_of(coefficients, static_cast<AffinityStrategy>(s), request.keep);
        const AffinityClusters found =
            cluster_affinity(affinity.matrix, {.clusters = clusters, .restarts = request.restarts}, run);
        out.cells.push_back(
            {parameters + ", " + affinity_strategies()[s], score(found.labels, truth), found.components});
    }
}

std::vector<Measured> measure(PointsView points, const Labels& truth, int clusters, const WmcCifarRequest& request,
                              const Run& run) {
    std::vector<Measured> out;
    for (const auto weights : {RepresentationWeights::linear, RepresentationWeights::exponential}) {
        Measured one;
        one.method = weights == RepresentationWeights::linear ? published[0].method : published[1].method;
        Stopwatch watch;
        for (const double lambda : {20.0, 50.0})
            for (const double eta : {1.0, 20.0, 100.0, 400.0}) {
                RepresentationOptions options;
                options.weights = weights;
                options.multiple = lambda;
                options.eta = eta;
                const Representation found = represent(points, options, run);
                one.kkt_residual = std::max(one.kkt_residual, found.worst_violation);
                add_cells(found.coefficients, filled("lambda {}, eta {}", number_text(lambda), number_text(eta)),
                          request, truth, clusters, run, one);
            }
        one.seconds = watch.seconds();
        out.push_back(std::move(one));
    }
    Measured smce;
    smce.method = published[2].method;
    Stopwatch watch;
    for (const double gamma : {10.0, 20.0, 50.0})
        for (const Index neighbors : {10, 20, 50, 100}) {
            if (neighbors >= points.rows()) continue;
            const SmceRepresentation found = smce_represent(points, gamma, neighbors, run);
            smce.kkt_residual = std::max(smce.kkt_residual, found.worst_violation);
            add_cells(found.coefficients, filled("gamma {}, K {}", number_text(gamma), neighbors), request, truth,
                      clusters, run, smce);
        }
    smce.seconds = watch.seconds();
    if (!smce.cells.empty()) out.push_back(std::move(smce));
    return out;
}

std::string fixed(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f", value);
    return text;
}

std::string table_text(const std::vector<Measured>& measured, std::size_t set) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t m = 0; m < published.size(); ++m) {
        const Published& printed = published[m];
        std::vector<std::string> row = {printed.method, "", "", ""};
        for (const Measured& one : measured) {
            if (m >= measured_methods || std::string(one.method) != printed.method) continue;
            const Cell& best = one.best();
            row = {printed.method, fixed(100 * best.scores.acc), fixed(100 * best.scores.nmi), best.chosen};
        }
        row.push_back(fixed(printed.accuracy[set]));
        row.push_back(fixed(printed.nmi[set]));
        row.emplace_back(printed.chosen[set]);
        if (measured.empty()) row.erase(row.begin() + 1, row.begin() + 4);
        rows.push_back(std::move(row));
    }
    if (measured.empty()) return table({set_names[set], "ACC", "NMI", "chosen"}, rows, {1, 2});
    return table({set_names[set] + ", per cent", "ACC", "NMI", "chosen", "published ACC", "NMI", "chosen"}, rows,
                 {1, 2, 4, 5});
}

int reproduce(const WmcCifarRequest& request) {
    const auto set = static_cast<std::size_t>(request.set);
    if (request.published) {
        print(table_text({}, set));
        return Exit::done;
    }
    if (request.features.empty() || request.truth.empty())
        throw BadArgument(Code::missing_argument,
                          filled("--features and --truth are missing: the features of the training images of {} by the "
                                 "CLIP encoder ViT-L/14, which coterie does not have",
                                 set_names[set]),
                          "Use --published to print the published figures");
    Run run = request.running->run();
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    const PointsFile file = points_from(request.features, {}, run);
    const Truth truth = read_truth(request.truth, {}, run);
    require_rows(truth.column.labels, "labels", file.points.rows(), request.truth);
    const auto clusters = static_cast<int>(truth.column.names.size());
    const std::vector<Measured> measured = measure(file.points, truth.column.labels, clusters, request, run);
    if (!request.running->json) {
        std::string text = table_text(measured, set);
        text += filled(
            "\n{} rows, {} columns, {} clusters; the true labels chose parameters and affinity, as in the paper\n",
            count_text(file.points.rows()), file.points.columns(), clusters);
        for (const Measured& one : measured)
            text += filled("{}: {} cells in {} s, worst optimality residual {}\n", one.method, one.cells.size(),
                           seconds_text(one.seconds), number_text(one.kkt_residual));
        print(text);
        return Exit::done;
    }
    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "wmc-cifar";
    out["options"] = json_of(WmcCifarRequest::described(), WmcCifarRequest::described().values(&request));
    out["seed"] = request.running->seed;
    out["n"] = file.points.rows();
    out["d"] = file.points.columns();
    out["clusters"] = clusters;
    for (const Published& printed : published) {
        Json one = {{"name", printed.method},
                    {"published", {{"acc", printed.accuracy[set] / 100}, {"nmi", printed.nmi[set] / 100}}}};
        for (const Measured& method : measured) {
            if (std::string(method.method) != printed.method) continue;
            one["best"] = {{"chosen", method.best().chosen}, {"scores", json_of(method.best().scores)}};
            one["kkt_residual"] = method.kkt_residual;
            one["seconds"] = method.seconds;
            for (const Cell& cell : method.cells)
                one["cells"].push_back({{"chosen", cell.chosen},
                                        {"acc", cell.scores.acc},
                                        {"nmi", cell.scores.nmi},
                                        {"components", cell.components}});
        }
        out["methods"].push_back(std::move(one));
    }
    print(document(out));
    return Exit::done;
}

}  // namespace

Command reproduce_wmc_cifar_command() {
    const auto request = std::make_shared<WmcCifarRequest>();
    Command command;
    command.name = "wmc-cifar";
    command.summary = "weighted manifold clustering of CLIP features: Table 1, on a file of features";
    command.details =
        "Runs the grid of the paper on your features. L-WMC and E-WMC: lambda 20 and 50 times lambda_0, eta 1, 20, 100 "
        "and 400. SMCE: gamma 10, 20 and 50, and 10, 20, 50 and 100 neighbours. Each with all 15 affinities. Prints "
        "the best cell of each method next to the published figures; the true labels choose it, as in the paper. "
        "coterie does not have the features of the paper; any array with labels works.";
    command.flags = {
        text_flag("--features", "FILE", "features, one image per row", "Data", request->features, request,
                  Completion::file),
        text_flag("--truth", "FILE", "classes of the images", "Data", request->truth, request, Completion::file)};
    for (auto& flag : flags_of(WmcCifarRequest::described(), "Protocol", std::static_pointer_cast<void>(request)))
        command.flags.push_back(std::move(flag));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--json"}));
    command.examples = {{"coterie-reproduce wmc-cifar --published", "the figures of the paper"},
                        {"coterie-reproduce wmc-cifar --features clip.npy --truth classes.npy", "the table"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
