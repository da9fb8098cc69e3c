// trefoil-lambda, trefoil-n: where Lemma 1 holds on two knots. Options set what the paper does not state. Each
// embedding is a task; large ones come first. Each point of the first knot is examined in exactly one embedding.

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/linalg/dense.hpp"
#include "coterie/manifold/geometry.hpp"
#include "panels.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

constexpr Index ambient = 100;

enum class Sampling { even, random };
enum class Subspaces { shared, own };

// Settings that the paper does not state, and how much is measured.
struct TrefoilRequest {
    int embeddings = 50;
    double shift = 0;
    Sampling sampling = Sampling::even;
    Subspaces subspaces = Subspaces::shared;
    std::string figure;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

template <class Request>
OptionSetFor<Request> protocol() {
    OptionSetFor<Request> set;
    set.template integer<int>("embeddings", &Request::embeddings, between(1, 10000), "random embeddings in R^100")
        .real("shift", &Request::shift, between(-100, 100),
              "distance by which the second knot is moved along the first coordinate")
        .template choice<Sampling>("sampling", &Request::sampling, {"even", "random"},
                                   "points of a knot: at equal steps of its parameter, or drawn for each embedding")
        .template choice<Subspaces>("subspaces", &Request::subspaces, {"shared", "own"},
                                    "one basis embeds both knots, or each has its own");
    return set;
}

// The default shifts come nearest to the figures of the paper (docs/results/geometry.md).
struct LambdaRequest : TrefoilRequest {
    LambdaRequest() { shift = 4.02; }
    static const OptionSet& described() {
        static const OptionSet set = protocol<LambdaRequest>();
        return set;
    }
};
struct SizesRequest : TrefoilRequest {
    int step = 30;
    int most = 1200;
    SizesRequest() { shift = 4.4; }
    static const OptionSet& described() {
        static const OptionSet set =
            protocol<SizesRequest>()
                .integer("step", &SizesRequest::step, between(10, 1000), "step between the measured N; even")
                .integer("most", &SizesRequest::most, between(60, 20000), "the largest N");
        return set;
    }
};

Eigen::RowVector3d on_knot(double t) {
    const double ring = 2 + std::cos(3 * t);
    return {ring * std::cos(2 * t), ring * std::sin(2 * t), std::sin(3 * t)};
}

// Three orthonormal rows.
Matrix<double> random_basis(RandomStream& random) {
    Matrix<double> out(3, ambient);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal();
    out.row(0).normalize();
    for (Index j = 1; j < 3; ++j) internal::orthonormalize(out, j, 0);
    return out;
}

struct Knots {
    Matrix<double> points;
    Labels labels;
};

Knots embedded_knots(Index n1, Index n2, const TrefoilRequest& request, std::uint64_t seed) {
    RandomStream random(seed, "reproduce.trefoil", static_cast<std::uint64_t>(100000 * n1 + n2));
    Knots out{Matrix<double>(n1 + n2, ambient), Labels(static_cast<std::size_t>(n1 + n2), 0)};
    const auto place = [&](Index begin, Index count, double shift, const Matrix<double>& basis) {
        for (Index i = 0; i < count; ++i) {
            const double share = request.sampling == Sampling::even
                                     ? static_cast<double>(i) / static_cast<double>(count)
                                     : random.uniform();
            out.points.row(begin + i) =
                (on_knot(2 * std::numbers::pi * share) + Eigen::RowVector3d(shift, 0, 0)) * basis;
        }
    };
    const Matrix<double> basis = random_basis(random);
    place(0, n1, 0, basis);
    place(n1, n2, request.shift, request.subspaces == Subspaces::own ? random_basis(random) : basis);
    std::fill(out.labels.begin() + n1, out.labels.end(), 1);
    return out;
}

struct Moments {
    double mean = 0;
    double deviation = 0;
};

// Means and shares over all examined points, for one lambda or one multiple of lambda_l.
struct Curve {
    Moments lower, upper, separation;
    double lambda = 0;                                                // mean
    double nonempty = 0, inside = 0, guaranteed = 0, preserving = 0;  // shares of the points
};

Curve curve_of(const std::vector<PointGeometry>& all) {
    Curve out;
    const auto count = static_cast<double>(all.size());
    const auto moments = [&](auto&& value) {
        Moments found;
        for (const auto& point : all) found.mean += value(point) / count;
        for (const auto& point : all) found.deviation += std::pow(value(point) - found.mean, 2) / count;
        found.deviation = std::sqrt(found.deviation);
        return found;
    };
    out.lower = moments([](const PointGeometry& point) { return point.interval.lower; });
    out.upper = moments([](const PointGeometry& point) { return point.interval.upper; });
    out.separation = moments([](const PointGeometry& point) { return point.separation; });
    const auto share = [&](auto&& holds) {
        return static_cast<double>(std::count_if(all.begin(), all.end(), holds)) / count;
    };
    out.lambda = moments([](const PointGeometry& point) { return point.lambda; }).mean;
    out.nonempty = share([](const PointGeometry& point) { return !point.interval.empty(); });
    out.inside = share([](const PointGeometry& point) { return point.inside(); });
    out.guaranteed = share([](const PointGeometry& point) { return point.guaranteed(); });
    out.preserving = share([](const PointGeometry& point) { return point.preserving && point.nonzero; });
    return out;
}

struct Setting {
    Index n1, n2;
};

// One curve for each setting and value; `set` puts the value into the options. Embedding e examines the points e, e +
// embeddings, e + 2 embeddings ... of the first knot, so all embeddings together examine each point once. The random
// numbers do not depend on the values.
template <class Set>
std::vector<std::vector<Curve>> measure(const std::vector<Setting>& settings, const std::vector<double>& values,
                                        const TrefoilRequest& request, const Run& run, Set&& set) {
    const Index embeddings = request.embeddings;
    std::vector<std::vector<std::vector<PointGeometry>>> found(settings.size() * static_cast<std::size_t>(embeddings));
    for_each_block(static_cast<Index>(found.size()), run.threads, [&](Index cell, int) {
        // The large embeddings come first, so that no thread still works on one at the end.
        const Setting& setting = settings[settings.size() - 1 - static_cast<std::size_t>(cell / embeddings)];
        const Index embedding = cell % embeddings;
        const Knots knots =
            embedded_knots(setting.n1, setting.n2, request, run.seed + static_cast<std::uint64_t>(embedding));
        std::vector<Index> rows;
        for (Index i = embedding; i < setting.n1; i += embeddings) rows.push_back(i);
        for (const double value : values) {
            GeometryOptions options;
            set(options, value);
            found[static_cast<std::size_t>(cell)].push_back(
                geometry(knots.points, knots.labels, rows, options, Run(0, 1)));
        }
    });
    std::vector<std::vector<Curve>> out(settings.size());
    for (std::size_t s = 0; s < settings.size(); ++s)
        for (std::size_t v = 0; v < values.size(); ++v) {
            std::vector<PointGeometry> all;
            for (std::size_t e = 0; e < static_cast<std::size_t>(embeddings); ++e) {
                const auto& cell = found[(settings.size() - 1 - s) * static_cast<std::size_t>(embeddings) + e][v];
                all.insert(all.end(), cell.begin(), cell.end());
            }
            out[s].push_back(curve_of(all));
        }
    return out;
}

// These use the means of a curve, because the paper draws the means.
bool nonempty(const Curve& curve) { return curve.lower.mean < curve.upper.mean; }
bool inside(const Curve& curve) { return curve.lower.mean < curve.lambda && curve.lambda < curve.upper.mean; }

Json moments_json(const Moments& moments) { return {{"mean", moments.mean}, {"deviation", moments.deviation}}; }
Json curve_json(const Curve& curve) {
    return {{"lambda", curve.lambda},
            {"lambda_l", moments_json(curve.lower)},
            {"lambda_u", moments_json(curve.upper)},
            {"gamma_W", moments_json(curve.separation)},
            {"interval_nonempty", nonempty(curve)},
            {"lambda_inside", inside(curve)},
            {"share_nonempty", curve.nonempty},
            {"share_inside", curve.inside},
            {"share_guaranteed", curve.guaranteed},
            {"share_preserving_and_nonzero", curve.preserving}};
}

std::string text_of(const Moments& moments) {
    char text[64];
    std::snprintf(text, sizeof text, "%.5f (%.5f)", moments.mean, moments.deviation);
    return text;
}
std::string lambda_text(double lambda) {
    char text[32];
    std::snprintf(text, sizeof text, "%.5f", lambda);
    return text;
}

struct Started {
    Run run;
    Json out;
};
template <class Request>
Started start(const Request& request, const char* name) {
    check_outputs(*request.running, {}, {{"figure", request.figure, {".svg"}}});
    const OptionSet& set = Request::described();
    Started started{request.running->run(), {}};
    started.out["schema"] = internal::json_schema;
    started.out["name"] = name;
    started.out["options"] = json_of(set, set.values(&request));
    started.out["seed"] = request.running->seed;
    return started;
}

// ---------------------------------------------------------------- Figure 2

struct PublishedLambda {
    Setting setting;
    const char* nonempty;
    const char* inside;
};
constexpr std::array<PublishedLambda, 4> published_lambda = {{{{120, 40}, "never", "never"},
                                                              {{150, 40}, "above 0.0012", "never"},
                                                              {{160, 40}, "somewhere", "somewhere"},
                                                              {{200, 40}, "somewhere", "somewhere"}}};

// The first and the last lambda for which `holds` is true: "never", "0.00058 to 0.00208".
std::string where(const std::vector<double>& lambdas, const std::vector<Curve>& curves, bool (*holds)(const Curve&)) {
    std::string first;
    std::string last;
    for (std::size_t i = 0; i < lambdas.size(); ++i)
        if (holds(curves[i])) {
            last = lambda_text(lambdas[i]);
            if (first.empty()) first = last;
        }
    return first.empty() ? "never" : first == last ? "at " + first : first + " to " + last;
}

int reproduce(const LambdaRequest& request) {
    Started started = start(request, "trefoil-lambda");
    std::vector<double> lambdas;
    for (int i = 0; i <= 16; ++i) lambdas.push_back((4.8 + i) * 1e-4);
    std::vector<Setting> settings;
    for (const auto& each : published_lambda) settings.push_back(each.setting);
    const auto curves = measure(settings, lambdas, request, started.run,
                                [](GeometryOptions& options, double lambda) { options.lambda = lambda; });
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> pictures;
    for (std::size_t s = 0; s < settings.size(); ++s) {
        const auto& published = published_lambda[s];
        double guaranteed = 0;
        PictureLine lower{"lambda_l", {}, {}};
        PictureLine upper{"lambda_u", {}, {}};
        PictureLine own{"lambda", {}, {}};
        Json one = {{"n1", settings[s].n1},
                    {"n2", settings[s].n2},
                    {"published", {{"interval_nonempty", published.nonempty}, {"lambda_inside", published.inside}}}};
        for (std::size_t i = 0; i < lambdas.size(); ++i) {
            const Curve& curve = curves[s][i];
            one["lambdas"].push_back(curve_json(curve));
            guaranteed = std::max(guaranteed, curve.guaranteed);
            for (auto& [line, value] : {std::pair<PictureLine&, double>{lower, curve.lower.mean},
                                        {upper, curve.upper.mean},
                                        {own, lambdas[i]}}) {
                line.x.push_back(1e4 * lambdas[i]);
                line.y.push_back(value);
            }
        }
        started.out["sets"].push_back(std::move(one));
        const std::string size = std::to_string(settings[s].n1);
        rows.push_back({size, text_of(curves[s].front().lower), text_of(curves[s].front().upper),
                        text_of(curves[s].back().upper), where(lambdas, curves[s], nonempty), published.nonempty,
                        where(lambdas, curves[s], inside), published.inside, share_text(guaranteed),
                        share_text(curves[s].back().preserving)});
        pictures.push_back(lines_picture({lower, upper, own}, filled("10000 lambda, N1 = {}, N2 = 40", size),
                                         "lambda_l, lambda_u, lambda"));
    }
    if (!request.figure.empty())
        write_file(request.figure, stacked_pictures(pictures, "Two trefoil knots: lambda_l and lambda_u for lambda"));
    if (request.running->json) {
        print(document(started.out));
        return Exit::done;
    }
    print(table({"N1", "lambda_l, mean (sd)", "lambda_u at 0.00048", "lambda_u at 0.00208", "interval not empty",
                 "paper", "lambda inside", "paper", "share proved, at best", "share preserving at 0.00208"},
                rows, {0, 8, 9}));
    return Exit::done;
}

// ---------------------------------------------------------------- Figure 3

struct PublishedMultiple {
    double multiple;
    Index nonempty_from;
    Index inside_from;  // 0: the paper does not say
};
constexpr std::array<PublishedMultiple, 3> published_multiple = {{{2, 890, 0}, {5, 300, 330}, {50, 300, 510}}};

// The smallest N from which `holds` is true for all measured N; 0 if it is false for the largest N.
Index holds_from(const std::vector<Setting>& settings, const std::vector<std::vector<Curve>>& curves, std::size_t value,
                 bool (*holds)(const Curve&)) {
    Index from = 0;
    for (std::size_t s = settings.size(); s > 0 && holds(curves[s - 1][value]); --s)
        from = settings[s - 1].n1 + settings[s - 1].n2;
    return from;
}
std::string from_text(Index from, const char* none) { return from == 0 ? none : std::to_string(from); }
Json from_json(Index from) { return from == 0 ? Json(nullptr) : Json(from); }

int reproduce(const SizesRequest& request) {
    if (request.step % 2 != 0)
        throw BadArgument(Code::not_accepted, filled("{} is odd, but N1 and N2 are half of N each", request.step),
                          "Use an even number", {.option = "step"});
    Started started = start(request, "trefoil-n");
    std::vector<Setting> settings;
    for (Index n = request.step; n <= request.most; n += request.step)
        if (n >= 60) settings.push_back({n / 2, n / 2});
    if (settings.empty())
        throw BadArgument(Code::not_accepted,
                          filled("no multiple of {} is between 60 and {}", request.step, request.most), "",
                          {.option = "step"});
    std::vector<double> multiples;
    for (const auto& each : published_multiple) multiples.push_back(each.multiple);
    const auto curves =
        measure(settings, multiples, request, started.run, [](GeometryOptions& options, double multiple) {
            options.unit = LambdaUnit::lambda_l;
            options.multiple = multiple;
        });
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> pictures;
    for (std::size_t m = 0; m < multiples.size(); ++m) {
        const auto& published = published_multiple[m];
        const Index nonempty_from = holds_from(settings, curves, m, nonempty);
        const Index inside_from = holds_from(settings, curves, m, inside);
        PictureLine lower{"lambda_l", {}, {}};
        PictureLine upper{"lambda_u", {}, {}};
        PictureLine own{"lambda", {}, {}};
        Json one = {{"multiple", published.multiple},
                    {"nonempty_from", from_json(nonempty_from)},
                    {"inside_from", from_json(inside_from)},
                    {"published",
                     {{"nonempty_from", from_json(published.nonempty_from)},
                      {"inside_from", from_json(published.inside_from)}}}};
        for (std::size_t s = 0; s < settings.size(); ++s) {
            const Curve& curve = curves[s][m];
            const Index n = settings[s].n1 + settings[s].n2;
            one["sizes"].push_back(curve_json(curve));
            one["sizes"].back()["n"] = n;
            for (auto& [line, value] : {std::pair<PictureLine&, double>{lower, curve.lower.mean},
                                        {upper, curve.upper.mean},
                                        {own, curve.lambda}}) {
                line.x.push_back(static_cast<double>(n));
                line.y.push_back(value);
            }
        }
        started.out["multiples"].push_back(std::move(one));
        const Curve& first = curves.front()[m];
        const Curve& last = curves.back()[m];
        rows.push_back({number_text(published.multiple), from_text(nonempty_from, "never"),
                        from_text(published.nonempty_from, "not stated"), from_text(inside_from, "never"),
                        from_text(published.inside_from, "not stated"), text_of(first.upper), text_of(last.upper),
                        text_of(last.separation), share_text(last.guaranteed), share_text(last.preserving)});
        pictures.push_back(lines_picture({lower, upper, own},
                                         filled("N, lambda = {} lambda_l", number_text(published.multiple)),
                                         "lambda_l, lambda_u, lambda"));
    }
    if (!request.figure.empty())
        write_file(request.figure, stacked_pictures(pictures, "Two trefoil knots: lambda_l and lambda_u for N"));
    if (request.running->json) {
        print(document(started.out));
        return Exit::done;
    }
    const auto size = [&](const Setting& setting) { return std::to_string(setting.n1 + setting.n2); };
    print(table({"lambda / lambda_l", "interval not empty from N", "paper", "lambda inside from N", "paper",
                 "lambda_u at " + size(settings.front()), "lambda_u at " + size(settings.back()),
                 "gamma_W at " + size(settings.back()), "share proved there", "share preserving"},
                rows, {0, 1, 2, 3, 4, 8, 9}));
    return Exit::done;
}

template <class Request>
Command trefoil_command(const char* name, const char* figure, std::string details) {
    const auto request = std::make_shared<Request>();
    Command command;
    command.name = name;
    command.details =
        std::move(details) +
        " The paper states neither the positions of the knots nor the examined points. Here the knots are those of "
        "sparse manifold clustering (Elhamifar and Vidal 2011), without noise. The second one is moved along the "
        "first coordinate. Means and deviations are over the points of the first knot, divided among the embeddings. "
        "Weights are linear, eta is 1.";
    command.flags = flags_of(Request::described(), "Protocol", std::static_pointer_cast<void>(request));
    command.flags.push_back(text_flag("--figure", "FILE.svg", filled("draw {} from the measured values", figure),
                                      "Writing", request->figure, request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--json"}));
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace

Command reproduce_trefoil_lambda_command() {
    Command command = trefoil_command<LambdaRequest>(
        "trefoil-lambda", "Figure 2",
        "Takes N1 = 120, 150, 160 and 200 points of a trefoil knot in R^100 and 40 of another. Prints for which lambda "
        "the interval (lambda_l, lambda_u) of Lemma 1 is not empty, and contains lambda.");
    command.summary = "where Lemma 1 on manifolds holds as lambda grows: Figure 2";
    command.examples = {
        {"coterie-reproduce trefoil-lambda --shift 3.8", "the distance of the knots in an earlier paper"}};
    return command;
}

Command reproduce_trefoil_n_command() {
    Command command = trefoil_command<SizesRequest>(
        "trefoil-n", "Figure 3",
        "Takes N / 2 points of each of two trefoil knots in R^100, and lambda = 2, 5 and 50 lambda_l. Prints the "
        "N from which the interval (lambda_l, lambda_u) of Lemma 1 is not empty, and contains lambda.");
    command.summary = "where Lemma 1 on manifolds holds as n grows: Figure 3";
    command.examples = {{"coterie-reproduce trefoil-n --shift 5 --figure trefoil-n.svg", "another distance"}};
    return command;
}

}  // namespace coterie::cli
