// In one matrix, the words of the support come first and the other words follow. Leaving out a sentence only removes
// its tags, so all comparisons use the same matrix.

#include "coterie/ner/adapt.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "coterie/base/checks.hpp"
#include "coterie/base/text.hpp"
#include "coterie/entropy/soft_targets.hpp"
#include "coterie/entropy/training.hpp"
#include "coterie/linalg/row_products.hpp"
#include "coterie/linalg/scatter.hpp"
#include "coterie/ner/adapting.hpp"
#include "coterie/ner/internal/calibration.hpp"
#include "coterie/ner/readers.hpp"
#include "coterie/pipeline/pipeline.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::ner {
namespace {

using coterie::internal::at;
using coterie::internal::filled;

constexpr int outside_prototypes = 10;
constexpr std::int64_t rounds = 3;
constexpr Index compared_words = 10'000;
constexpr Index mentions_for_estimate = 5;
constexpr std::array<std::string_view, 7> names = {"auto",     "k-means",    "support-space", "discriminant",
                                                   "logistic", "prototypes", "nearest-word"};

using Share = std::optional<std::pair<double, double>>;

// Rows of words and their tags. Some tags in 0..L-1 may have no words.
struct Task {
    const Matrix<float>* vectors = nullptr;  // n x d, words with a tag first
    Labels tags;                             // n, -1: not known
    Index count = 0;                         // L

    std::vector<Index> words_of_tags() const {
        std::vector<Index> out(at(count), 0);
        for (const std::int32_t tag : tags)
            if (tag >= 0) ++out[at(tag)];
        return out;
    }
};

// The labels as the methods of the library need them: only tags that occur, with new numbers.
struct Labelling {
    std::vector<std::int32_t> tag_of;  // by new number
    Labels labels;                     // n
    std::vector<std::string> label_names;

    explicit Labelling(const Task& task) : labels(task.tags) {
        const std::vector<Index> words = task.words_of_tags();
        std::vector<std::int32_t> number(words.size(), -1);
        for (std::size_t t = 0; t < words.size(); ++t) {
            if (words[t] == 0) continue;
            number[t] = static_cast<std::int32_t>(tag_of.size());
            tag_of.push_back(static_cast<std::int32_t>(t));
            label_names.push_back(t == 0 ? "O" : filled("type-{}", t));
        }
        for (std::int32_t& label : labels)
            if (label >= 0) label = number[at(label)];
    }
};

struct KnownRows {
    Matrix<float> vectors;
    Labels tags;
};

// The rows with a tag, and their tags.
KnownRows known_rows(const Task& task) {
    std::vector<Index> rows;
    KnownRows out;
    for (std::size_t i = 0; i < task.tags.size(); ++i)
        if (task.tags[i] >= 0) {
            rows.push_back(static_cast<Index>(i));
            out.tags.push_back(task.tags[i]);
        }
    out.vectors = (*task.vectors)(rows, Eigen::all);
    return out;
}

Vector<double> mean_of_rows(const Matrix<double>& rows) { return rows.colwise().mean().transpose(); }

// Maps each row x to U (x - m).
Matrix<double> projected(const Matrix<double>& rows, const Vector<double>& origin, const Matrix<double>& directions) {
    Matrix<double> centred = rows;
    centred.rowwise() -= origin.transpose();
    if (directions.size() == 0) return centred;
    return centred * directions.transpose();
}

// Fits the subspace method and turns the result into a tagger.
Tagger subspace_tagger(const Task& task, const OptionValues& options, int prototypes_of_outside, const Share& share,
                       const Run& run) {
    const Labelling labelling(task);
    Problem problem;
    problem.points = Points::borrow(PointsView(*task.vectors));
    problem.partial_labels = labelling.labels;
    problem.label_names = labelling.label_names;
    if (labelling.tag_of.front() == 0) {
        const auto most = static_cast<int>(std::min<Index>(prototypes_of_outside, task.words_of_tags()[0]));
        problem.clusters_per_label = {{"O", most}};
        if (share) problem.label_shares = {{"O", share->first, share->second}};
    }
    const Pipeline fitted = Pipeline::fit(problem, {"subspace", options}, {}, run.within());
    const auto& model = dynamic_cast<const SubspaceModel&>(fitted.model());
    Tagger out;
    out.origin = mean_of_rows(model.prototypes());
    out.directions = model.directions();
    out.prototypes = projected(model.prototypes(), out.origin, out.directions);
    for (const std::int32_t label : model.cluster_labels().label_of) out.tag_of.push_back(labelling.tag_of[at(label)]);
    return out;
}

Tagger discriminant(const Task& task, const Run& run) {
    const KnownRows known = known_rows(task);
    const Task support{&known.vectors, known.tags, task.count};
    return subspace_tagger(support, {{"max_iterations", 1}}, 1, {}, run);
}

Tagger in_support_space(const Task& task, const OptionValues& options, const Share& share, const Run& run) {
    const Tagger space = discriminant(task, run);
    const Matrix<float> seen =
        projected(task.vectors->cast<double>(), space.origin, space.directions).template cast<float>();
    Tagger out = subspace_tagger({&seen, task.tags, task.count}, options, outside_prototypes, share, run);
    // U2 (U1 (x - m1) - m2) = U2 U1 (x - m1) - U2 m2. U2 m2 is already subtracted from the prototypes.
    const Vector<double> shift = out.directions * out.origin;
    out.prototypes.rowwise() += shift.transpose();
    out.directions = Matrix<double>(out.directions * space.directions);
    out.origin = space.origin;
    return out;
}

Tagger logistic(const Task& task, const Run& run) {
    const KnownRows known = known_rows(task);
    const Labelling labelling({nullptr, known.tags, task.count});
    SoftTargetOptions options;
    options.cross_entropy = CrossEntropy::forward;
    options.optimizer = Optimizer::lbfgs;
    options.epochs = 3;  // 100 iterations each
    const Matrix<double> vectors = known.vectors.cast<double>();
    // C = 1: the penalty is 1/2 ||V||^2, divided by the number of words because training uses the mean loss. V are
    // weights of the unscaled vectors, but training divides the vectors by `unit`.
    const double unit =
        coterie::internal::training_unit(column_moments(vectors, Run(0, 1)), static_cast<int>(labelling.tag_of.size()));
    options.gamma = 0.5 / static_cast<double>(known.tags.size()) / (unit * unit);
    const auto fit = fit_soft_targets(
        PointsView(vectors).as<double>(),
        smoothed_targets(labelling.labels, static_cast<Index>(labelling.tag_of.size()), 0), options, run.within());
    Tagger out;
    out.linear = true;
    out.origin = Vector<double>::Zero(task.vectors->cols());
    out.prototypes = fit.linear.weights;
    out.bias = fit.linear.bias;
    out.tag_of = labelling.tag_of;
    return out;
}

Tagger nearest_word(const Task& task) {
    const KnownRows known = known_rows(task);
    Tagger out;
    out.factor = 1;
    out.origin = mean_of_rows(known.vectors.cast<double>());
    out.prototypes = projected(known.vectors.cast<double>(), out.origin, {});
    out.tag_of.assign(known.tags.begin(), known.tags.end());
    return out;
}

Tagger nearest_mean(const Task& task) {
    const Tagger words = nearest_word(task);
    Tagger out;
    out.origin = words.origin;
    const std::vector<Index> counts = task.words_of_tags();
    for (std::size_t t = 0; t < counts.size(); ++t)
        if (counts[t] > 0) out.tag_of.push_back(static_cast<std::int32_t>(t));
    out.prototypes = Matrix<double>::Zero(static_cast<Index>(out.tag_of.size()), task.vectors->cols());
    for (Index j = 0; j < out.prototypes.rows(); ++j) {
        for (Index i = 0; i < words.prototypes.rows(); ++i)
            if (words.tag_of[at(i)] == out.tag_of[at(j)]) out.prototypes.row(j) += words.prototypes.row(i);
        out.prototypes.row(j) /= static_cast<double>(counts[at(out.tag_of[at(j)])]);
    }
    return out;
}

// The words of the support, whose tags are known, and then the other words.
Matrix<float> vectors_of(PointsView support, PointsView other) {
    Matrix<float> out(support.rows() + other.rows(), support.columns());
    out.topRows(support.rows()) = to_matrix<float>(support);
    if (other.rows() > 0) out.bottomRows(other.rows()) = to_matrix<float>(other);
    return out;
}
Task task_of(const Corpus& support, const Matrix<float>& vectors) {
    Task task{&vectors, support.tags(), static_cast<Index>(support.types.size()) + 1};
    task.tags.resize(at(vectors.rows()), -1);
    return task;
}

// `subspace`: for k-means; false: in the space of the vectors.
Tagger adapted_by(Adaptation method, const Task& task, const Share& share, Assignment assignment, const Run& run,
                  bool subspace = true) {
    OptionValues values = {{"max_iterations", rounds},
                           {"assignment", std::string(assignment == Assignment::hard ? "hard" : "soft")}};
    if (method == Adaptation::kmeans && !subspace) values["projection"] = std::string("none");
    switch (method) {
        case Adaptation::kmeans: return subspace_tagger(task, values, outside_prototypes, share, run);
        case Adaptation::support_space: return in_support_space(task, values, share, run);
        case Adaptation::discriminant: return discriminant(task, run);
        case Adaptation::logistic: return logistic(task, run);
        case Adaptation::prototypes: return nearest_mean(task);
        case Adaptation::nearest_word: return nearest_word(task);
        case Adaptation::automatic: break;
    }
    throw InternalError("a way of adapting was not chosen");
}

void check_support(const Corpus& support, PointsView vectors, PointsView other) {
    internal::require_annotated(support, "the sentence is not annotated", "Annotate every sentence of the support");
    const std::vector<Index> mentions = support.mentions_of_types();
    const Labels tags = support.tags();
    const auto refuse = [&](std::string problem, std::string remedy, std::string value = {}) {
        throw BadData(Code::empty, std::move(problem), std::move(remedy),
                      {.value = std::move(value), .file = support.source});
    };
    if (support.types.empty()) refuse("the support has no mentions", "Annotate at least one mention");
    for (std::size_t t = 0; t < mentions.size(); ++t)
        if (mentions[t] == 0)
            refuse(filled("type {} has no mention in the support", support.types[t]),
                   "Add a sentence with such a mention", support.types[t]);
    if (std::find(tags.begin(), tags.end(), 0) == tags.end())
        refuse("the support has no word outside mentions", "Add a sentence with such words");
    internal::require_row_per_word(vectors, support);
    if (other.rows() > 0 && other.columns() != vectors.columns())
        throw BadData(Code::wrong_shape,
                      filled("{} for the support, but {} for the other words", counted(vectors.columns(), "column"),
                             other.columns()),
                      "Use the same source of vectors for both", {.option = "vectors"});
}

// The interval that the option gives; empty for "auto" and "none". Throws BadArgument.
Share share_as_given(const std::string& text) {
    if (text == "auto" || text == "none") return {};
    const auto refuse = [&] {
        throw refused_option("outside_share", text,
                             "auto, none, a number from 0 to 1, or an interval such as 0.9:0.97");
    };
    const auto number = [&](std::string_view digits) {
        double value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (error != std::errc() || end != digits.data() + digits.size() || !(value >= 0 && value <= 1)) refuse();
        return value;
    };
    const std::size_t colon = text.find(':');
    const double low = number(std::string_view(text).substr(0, colon));
    const double high = colon == std::string::npos ? low : number(std::string_view(text).substr(colon + 1));
    if (low > high) refuse();
    return std::pair(low, high);
}

// The smallest and the largest share of O that the known tags allow.
std::pair<double, double> possible_share(const Task& task) {
    const auto n = static_cast<double>(task.tags.size());
    const auto outside = static_cast<double>(std::count(task.tags.begin(), task.tags.end(), 0));
    const auto unknown = static_cast<double>(std::count(task.tags.begin(), task.tags.end(), -1));
    return {outside / n, (outside + unknown) / n};
}

Share clamped(const Share& share, const Task& task) {
    if (!share) return {};
    const auto [least, most] = possible_share(task);
    return std::pair(std::clamp(share->first, least, most), std::clamp(share->second, least, most));
}

double estimated_share(const Task& task, const Run& run) {
    Tagger tagger = logistic(task, run);
    tagger.types.resize(at(task.count - 1));
    const Matrix<double> scores = tagger.scores(PointsView(*task.vectors), run);
    const Labels best = internal::best_tags(scores);
    double outside = 0;
    for (std::size_t i = 0; i < best.size(); ++i) outside += (task.tags[i] >= 0 ? task.tags[i] : best[i]) == 0;
    return outside / static_cast<double>(scores.rows());
}

struct Compared {
    Adaptation method = Adaptation::kmeans;
    std::vector<MentionCounts> folds;
    std::vector<double> scores;  // of the words left out, one row of scores per word
    Labels tags;

    // The sum over all folds except `without`; -1: over all folds.
    MentionCounts sum(std::ptrdiff_t without = -1) const {
        MentionCounts out;
        for (std::size_t f = 0; f < folds.size(); ++f) {
            if (static_cast<std::ptrdiff_t>(f) == without) continue;
            out.marked += folds[f].marked;
            out.found += folds[f].found;
            out.right += folds[f].right;
        }
        return out;
    }
};

// The standard error of the difference of the two F1, by the jackknife over the folds.
double standard_error(const Compared& a, const Compared& b) {
    const std::size_t n = a.folds.size();
    std::vector<double> differences;
    double mean = 0;
    for (std::size_t f = 0; f < n; ++f) {
        const auto without = static_cast<std::ptrdiff_t>(f);
        differences.push_back(a.sum(without).f1() - b.sum(without).f1());
        mean += differences.back() / static_cast<double>(n);
    }
    double sum = 0;
    for (const double each : differences) sum += (each - mean) * (each - mean);
    return std::sqrt(sum * static_cast<double>(n - 1) / static_cast<double>(n));
}

// Leaves out each sentence of the support in turn.
std::vector<Compared> compare(const std::vector<Adaptation>& methods, const Corpus& support, const Task& all,
                              const std::vector<Index>& first, const Share& share, const AdaptOptions& options,
                              const Run& run) {
    const Index words = first.back();
    Matrix<float> kept;
    Task task = all;
    if (all.vectors->rows() > words + compared_words) {
        RandomStream random = run.random("ner.compare");
        const std::vector<Index> rows = sample_rows(all.vectors->rows() - words, compared_words, random);
        kept.resize(words + compared_words, all.vectors->cols());
        kept.topRows(words) = all.vectors->topRows(words);
        for (std::size_t i = 0; i < rows.size(); ++i)
            kept.row(words + static_cast<Index>(i)) = all.vectors->row(words + rows[i]);
        task.vectors = &kept;
        task.tags.resize(at(kept.rows()));
    }
    std::vector<Compared> out;
    for (const Adaptation method : methods) out.push_back({method, {}, {}, {}});
    for (std::size_t s = 0; s < support.sentences.size(); ++s) {
        run.throw_if_stopped("comparing ways of adapting");
        Task fold = task;
        std::fill(fold.tags.begin() + first[s], fold.tags.begin() + first[s + 1], -1);
        const std::vector<Index> left = fold.words_of_tags();
        if (left[0] == 0 || std::count(left.begin() + 1, left.end(), 0) == static_cast<Index>(left.size()) - 1)
            continue;
        const std::size_t one[] = {s};
        Corpus gold = support.subset(one);
        std::erase_if(gold.sentences[0].mentions, [&](const Mention& m) { return left[at(m.type) + 1] == 0; });
        const Matrix<float> vectors = task.vectors->middleRows(first[s], first[s + 1] - first[s]);
        for (auto& [method, folds, scores, tags] : out) {
            Tagger tagger = adapted_by(method, fold, clamped(share, fold), options.assignment, run);
            tagger.types = support.types;
            Corpus found = gold;
            tagger.tag(found, PointsView(vectors), {}, run.within());
            folds.push_back(score_mentions(gold, found).micro);
            const Matrix<double> seen = tagger.scores(PointsView(vectors), run.within());
            for (Index i = 0; i < seen.rows(); ++i) {
                const std::int32_t tag = all.tags[at(first[s] + i)];
                if (left[at(tag)] == 0) continue;  // a type that occurs only in this sentence
                scores.insert(scores.end(), seen.row(i).data(), seen.row(i).data() + seen.cols());
                tags.push_back(tag);
            }
        }
        run.report({"comparing", static_cast<double>(s + 1) / static_cast<double>(support.sentences.size()),
                    std::numeric_limits<double>::quiet_NaN(), static_cast<int>(s)});
    }
    return out;
}

std::string percent(double share) {
    std::array<char, 16> out{};
    const auto end = std::to_chars(out.data(), out.data() + out.size(), std::round(1000 * share) / 10).ptr;
    return std::string(out.data(), end) + " %";
}

// Clusters of rare types may drift towards words that are not annotated.
void warn_of_drift(const Tagger& tagger, const Task& task, Index annotated, const Run& run, AdaptReport& report) {
    const Index others = task.vectors->rows() - annotated;
    if (others == 0) return;
    const Labels best = internal::best_tags(tagger.scores(PointsView(*task.vectors), run.within()));
    std::vector<double> found(at(task.count), 0);
    for (std::size_t i = at(annotated); i < best.size(); ++i) found[at(best[i])] += 1 / static_cast<double>(others);
    const std::vector<Index> known = task.words_of_tags();
    for (std::size_t t = 1; t < found.size(); ++t) {
        const double share = static_cast<double>(known[t]) / static_cast<double>(annotated);
        if (found[t] > 2 * share)
            report.warnings.push_back(
                {.code = Code::note,
                 .problem =
                     filled("type {} gets {} of the words without annotation, but {} of the support's words: some of "
                            "its mentions may be wrong",
                            tagger.types[t - 1], percent(found[t]), percent(share)),
                 .remedy = "Annotate more sentences with and without this type, or set `outside_share`",
                 .value = tagger.types[t - 1]});
    }
}

}  // namespace

std::string_view name(Adaptation method) { return names[static_cast<std::size_t>(method)]; }

const OptionSet& AdaptOptions::described() {
    static const OptionSet set =
        OptionSetFor<AdaptOptions>()
            .choice("method", &AdaptOptions::method, {names.begin(), names.end()},
                    "method of adaptation; auto compares k-means, support-space, discriminant and logistic by "
                    "leaving out each sentence of the support in turn")
            .text("outside_share", &AdaptOptions::outside_share,
                  "share of all words that are outside mentions: a number, an interval LOW:HIGH or none; auto: "
                  "estimated if every type has at least 5 mentions, else none")
            .choice(
                "assignment", &AdaptOptions::assignment, {"hard", "soft"},
                "k-means: each word belongs to one prototype (hard), or to every prototype with a probability (soft)");
    return set;
}

Tagger adapt(const Corpus& support, PointsView support_vectors, PointsView other, const AdaptOptions& options,
             const Run& run, AdaptReport* report_out) {
    check_options(options);
    Share share = share_as_given(options.outside_share);
    check_support(support, support_vectors, other);
    check_points(support_vectors, {.option = "vectors"}, run);
    if (other.rows() > 0) check_points(other, {.option = "vectors"}, run);

    const Index annotated = support_vectors.rows();
    const Matrix<float> vectors = vectors_of(support_vectors, other);
    const Task task = task_of(support, vectors);

    AdaptReport report;
    if (share) {
        const auto [least, most] = possible_share(task);
        if (share->first > most || share->second < least)
            throw refused_option(
                "outside_share", options.outside_share,
                filled("a share from {} to {}, because the support's tags allow no other share among all {} words",
                       std::to_string(least), std::to_string(most), vectors.rows()));
        const Share given = share;
        share = clamped(share, task);
        report.share_origin = "as given";
        if (share != given) {
            const auto text = [](double value) { return coterie::internal::formatted("%.4g", value); };
            report.share_origin +=
                filled(", but the support's tags allow only {} to {}", text(share->first), text(share->second));
        }
    } else if (options.outside_share == "none") {
        report.share_origin = "none, as requested";
    } else {
        const std::vector<Index> mentions = support.mentions_of_types();
        const auto fewest = std::min_element(mentions.begin(), mentions.end());
        if (other.rows() == 0) {
            report.share_origin = "none: every word is annotated";
        } else if (*fewest < mentions_for_estimate) {
            report.share_origin = filled("none: {} has {}, and each type needs {}",
                                         support.types[static_cast<std::size_t>(fewest - mentions.begin())],
                                         counted(*fewest, "mention"), mentions_for_estimate);
        } else {
            const double estimate = estimated_share(task, run);
            share = clamped(std::pair(estimate, estimate), task);
            report.share_origin = "estimated by logistic regression on the support";
        }
    }
    report.outside_share = share;

    report.method = options.method;
    std::vector<Adaptation> methods{options.method};
    if (options.method == Adaptation::automatic)
        methods = {Adaptation::kmeans, Adaptation::support_space, Adaptation::discriminant, Adaptation::logistic};
    const std::vector<Compared> compared = compare(methods, support, task, support.first_words(), share, options, run);
    if (options.method != Adaptation::automatic) {
        report.chosen_because = "as requested";
    } else {
        const std::size_t folds = compared.front().folds.size();
        if (folds == 0) {
            report.method = Adaptation::kmeans;
            report.chosen_because = "nothing could be compared: no sentence of the support can be left out";
        } else {
            for (const Compared& each : compared) report.compared.emplace_back(each.method, each.sum());
            const Compared* best = &compared.front();
            for (const Compared& each : compared)
                if (each.sum().f1() > best->sum().f1()) best = &each;
            const Compared* taken = &compared.front();
            while (best->sum().f1() - taken->sum().f1() > standard_error(*best, *taken)) ++taken;
            report.method = taken->method;
            report.chosen_because =
                filled("{} when leaving out each of {} sentences of the support in turn",
                       taken == best ? "largest F1" : "F1 within a standard error of the largest", folds);
        }
    }
    Tagger out = adapted_by(report.method, task, share, options.assignment, run);
    out.method = name(report.method);
    for (const Compared& each : compared) {
        if (each.method != report.method) continue;
        report.calibrated_on = static_cast<Index>(each.tags.size());
        out.sharpness = internal::sharpness_of(
            Eigen::Map<const eigen::Matrix<double>>(each.scores.data(), report.calibrated_on, task.count), each.tags);
        if (share) out.outside_shift = internal::shift_of(each.tags, (share->first + share->second) / 2);
    }
    out.types = support.types;
    out.transitions = Transitions::of(support);
    out.outside_share = share;
    out.support_outside_share =
        static_cast<double>(std::count(task.tags.begin(), task.tags.end(), 0)) / static_cast<double>(annotated);
    warn_of_drift(out, task, annotated, run, report);
    const bool uses_share = report.method == Adaptation::kmeans || report.method == Adaptation::support_space;
    if (!uses_share && report.outside_share) {
        report.outside_share.reset();
        report.share_origin += filled("; {} uses it only for probabilities", name(report.method));
    }
    if (report_out != nullptr) *report_out = std::move(report);
    return out;
}

namespace internal {

Tagger adapted_once(const Corpus& support, const Matrix<float>& support_vectors, const Matrix<float>& other,
                    const Way& way, const Run& run) {
    const Matrix<float> vectors = vectors_of(support_vectors, other);
    const Task task = task_of(support, vectors);
    Share share;
    if (way.share) share = std::pair(*way.share, *way.share);
    if (way.estimated) {
        const double estimate = estimated_share(task, run);
        share = std::pair(estimate, estimate);
    }
    share = clamped(share, task);
    Tagger out = adapted_by(way.method, task, share, way.assignment, run, way.subspace);
    out.method = name(way.method);
    out.types = support.types;
    out.transitions = Transitions::of(support);
    return out;
}

}  // namespace internal

}  // namespace coterie::ner
