// ner-transfer: few-shot named entities in a new domain. All table rows use the vectors of one encoder and the
// published supports. Some also use words of the development and training parts without their tags. F1 is measured on
// the test part.

#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "common.hpp"
#include "coterie/base/parallel/parallel.hpp"
#include "coterie/base/text.hpp"
#include "coterie/data/catalogue.hpp"
#include "coterie/ner/adapting.hpp"
#include "coterie/ner/contrast.hpp"
#include "coterie/ner/encoder.hpp"
#include "coterie/ner/scoring.hpp"
#include "coterie/ner/source.hpp"
#include "reproduce.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

using internal::filled;

using ner::Adaptation;

struct Domain {
    const char* name;
    const char* title;
    const char* folder;
    const char* train;
    const char* dev;
    const char* test;
    const char* supports;  // folder name without "1shot" or "5shot"
    std::array<double, 2> shares;
};
constexpr std::array<Domain, 2> domains = {
    {{"conll", "CoNLL-2003", "conll2003-en", "eng.train", "eng.testa", "eng.testb", "samples-conll-", {0.80, 0.85}},
     {"wnut17",
      "WNUT17",
      "wnut17",
      "wnut17train.conll",
      "emerging.dev.conll",
      "emerging.test.annotated",
      "samples-wnut-",
      {0.90, 0.95}}}};
constexpr std::array<int, 2> shots = {1, 5};

enum class ShareOfO { none, low, high, estimated };
enum class Words { support, dev, all };  // the parts whose words a row uses; all: support, dev and train

struct Row {
    const char* title;
    Adaptation method;
    ner::Decoding decoding = ner::Decoding::nearest;
    Assignment assignment = Assignment::hard;
    ShareOfO share = ShareOfO::none;
    Words words = Words::support;
    bool subspace = true;
    bool quick = true;
    // Published: CoNLL-2003 1-shot, WNUT17 1-shot, CoNLL-2003 5-shot, WNUT17 5-shot; with BERT trained on OntoNotes 5.
    const char* published = "";
    bool on_support = false;  // the encoder is trained further on each support
};

const std::vector<Row>& table_rows() {
    using enum ShareOfO;
    constexpr auto hard = Assignment::hard;
    constexpr auto soft = Assignment::soft;
    constexpr auto nearest = ner::Decoding::nearest;
    constexpr auto kmeans = Adaptation::kmeans;
    static const std::vector<Row> rows = {
        {"Proto", Adaptation::prototypes, nearest, hard, none, Words::support, true, true, "49.9 17.4 61.3 22.8"},
        {"NNShot", Adaptation::nearest_word, nearest, hard, none, Words::support, true, true, "61.2 22.7 74.1 27.3"},
        {"StructShot", Adaptation::nearest_word, ner::Decoding::viterbi, hard, none, Words::support, true, true,
         "62.4 24.2 74.8 30.4"},
        {"CONTaiNER", Adaptation::nearest_word, nearest, hard, none, Words::support, true, true, "57.8 24.2 72.8 27.7",
         true},
        {"CONTaiNER, Viterbi", Adaptation::nearest_word, ner::Decoding::viterbi, hard, none, Words::support, true, true,
         "61.2 27.5 75.8 32.5", true},
        {"logistic regression", Adaptation::logistic},
        {"discriminant analysis", Adaptation::discriminant},
        {"k-means, hard, support alone", kmeans, nearest, hard, none, Words::support, true, true,
         "63.8 21.0 73.5 32.3"},
        {"k-means, hard, no share, dev", kmeans, nearest, hard, none, Words::dev, true, true, "65.6 22.3 75.1 28.6"},
        {"k-means, hard, share .80 / .90, dev", kmeans, nearest, hard, low, Words::dev, true, true,
         "63.1 20.9 71.2 26.6"},
        {"k-means, hard, share .85 / .95, dev", kmeans, nearest, hard, high, Words::dev, true, true,
         "65.9 28.1 75.7 38.4"},
        {"k-means, hard, share estimated, dev", kmeans, nearest, hard, estimated, Words::dev},
        {"no subspace, hard, no share, dev", kmeans, nearest, hard, none, Words::dev, false},
        {"no subspace, hard, share .85 / .95, dev", kmeans, nearest, hard, high, Words::dev, false},
        {"no subspace, hard, share estimated, dev", kmeans, nearest, hard, estimated, Words::dev, false},
        {"in the support's space, share .85 / .95, dev", Adaptation::support_space, nearest, hard, high, Words::dev},
        {"k-means, soft, no share, dev", kmeans, nearest, soft, none, Words::dev, true, false, "65.5 22.2 75.1 28.5"},
        {"k-means, soft, share .85 / .95, dev", kmeans, nearest, soft, high, Words::dev, true, false,
         "66.3 25.5 75.1 36.0"},
        {"k-means, hard, no share, train and dev", kmeans, nearest, hard, none, Words::all, true, false,
         "65.4 20.9 75.7 26.5"},
        {"k-means, hard, share .80 / .90, train and dev", kmeans, nearest, hard, low, Words::all, true, false,
         "62.6 23.6 71.9 29.3"},
        {"k-means, hard, share .85 / .95, train and dev", kmeans, nearest, hard, high, Words::all, true, false,
         "66.4 28.9 75.8 39.0"},
        {"k-means, hard, share estimated, train and dev", kmeans, nearest, hard, estimated, Words::all, true, false},
        {"no subspace, hard, no share, train and dev", kmeans, nearest, hard, none, Words::all, false, false,
         "64.0 21.7 72.9 22.1"},
        {"no subspace, hard, share .85 / .95, train and dev", kmeans, nearest, hard, high, Words::all, false, false,
         "65.2 28.2 72.5 38.3"},
        {"k-means, soft, no share, train and dev", kmeans, nearest, soft, none, Words::all, true, false,
         "65.4 20.8 75.7 26.5"},
        {"k-means, soft, share .85 / .95, train and dev", kmeans, nearest, soft, high, Words::all, true, false,
         "65.6 26.8 75.4 35.8"}};
    return rows;
}

struct TransferRequest {
    std::string encoder;
    std::string layer = "auto";
    std::string sets = "conll,wnut17";
    int supports = 10;
    bool quick = false;
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();

    static const OptionSet& described() {
        static const OptionSet set =
            OptionSetFor<TransferRequest>()
                .text("layer", &TransferRequest::layer, "the encoder's layer: last, middle, a number, or auto")
                .text("sets", &TransferRequest::sets, "domains, separated by commas: conll, wnut17")
                .integer("supports", &TransferRequest::supports, between(2, 10),
                         "number of supports: the first of the ten published ones")
                .flag("quick", &TransferRequest::quick,
                      "leave out the slowest rows: soft assignments, and words of the training part");
        return set;
    }
};

// The path of a file in a data folder. Throws BadData if no data folder has it.
std::string located(const std::string& file) {
    for (const auto& folder : data_folders())
        if (std::filesystem::exists(folder / file)) return (folder / file).string();
    throw BadData(Code::not_found, "the file is in none of the data folders",
                  "Set COTERIE_DATA to the folder that contains it", {.file = file});
}

struct Part {
    ner::Corpus corpus;
    Matrix<float> vectors;
};

class Encoding {
public:
    Encoding(const std::string& folder, const std::string& layer)
        : encoder_(folder), layer_(encoder_.layer_of(layer)) {}

    int layer() const { return layer_; }
    Index dimensions() const { return encoder_.dimensions(); }
    Part operator()(const std::string& file, const Run& run) const {
        Part out{ner::read_corpus(located(file), {.format = ner::CorpusFormat::conll}), {}};
        out.vectors = vectors(out.corpus, run);
        return out;
    }
    Matrix<float> vectors(const ner::Corpus& corpus, const Run& run) const {
        return encoder_.encode(corpus, layer_, run);
    }

private:
    ner::Encoder encoder_;
    int layer_;
};

bool has_projection(const std::string& encoder) {
    return std::filesystem::exists(std::filesystem::path(encoder) / ner::internal::Projection::file);
}

double f1_of(const ner::Tagger& tagger, const Part& test, ner::Decoding decoding, const Run& run) {
    ner::Corpus found = test.corpus;
    tagger.tag(found, PointsView(test.vectors), {decoding}, run);
    return 100 * ner::score_mentions(test.corpus, found).micro.f1();
}

// The words of the support and of the test part, encoded by the encoder after further training on the support.
std::pair<Part, Part> on_support(const Part& support, const Part& test, const TransferRequest& request,
                                 const Run& run) {
    const WorkFolder place("");
    const std::string tuned = place / "tuned";
    ner::train_source(request.encoder, {support.corpus}, tuned, {.objective = ner::SourceObjective::support}, run);
    const Encoding encoding(tuned, request.layer);
    return {{support.corpus, encoding.vectors(support.corpus, run)}, {test.corpus, encoding.vectors(test.corpus, run)}};
}

// F1 in per cent, for each row and support.
using Column = std::vector<std::vector<double>>;

Column measured(const Domain& domain, int shot, const std::vector<const Row*>& rows, const Part& test,
                const std::array<Matrix<float>, 3>& words, const Encoding& encoding, const TransferRequest& request,
                const Run& run) {
    std::vector<Part> supports;
    for (int s = 0; s < request.supports; ++s)
        supports.push_back(encoding(filled("container-support-sets/{}{}shot/{}.txt", domain.supports, shot, s), run));
    Column out(rows.size(), std::vector<double>(supports.size()));
    const auto count = static_cast<Index>(supports.size());
    for_each_block(static_cast<Index>(rows.size()) * count, run, {domain.title}, [&](Index block, int) {
        const auto r = static_cast<std::size_t>(block / count);
        const auto s = static_cast<std::size_t>(block % count);
        const Row& row = *rows[r];
        if (row.on_support) return;
        ner::internal::Way way{row.method, row.assignment, row.subspace, {}, row.share == ShareOfO::estimated};
        if (row.share == ShareOfO::low) way.share = domain.shares[0];
        if (row.share == ShareOfO::high) way.share = domain.shares[1];
        const Run alone(run.seed, 1);
        const ner::Tagger tagger = ner::internal::adapted_once(supports[s].corpus, supports[s].vectors,
                                                               words[static_cast<std::size_t>(row.words)], way, alone);
        out[r][s] = f1_of(tagger, test, row.decoding, alone);
    });
    if (!has_projection(request.encoder)) return out;
    for (std::size_t s = 0; s < supports.size(); ++s) {
        const auto [support, seen] = on_support(supports[s], test, request, run);
        for (std::size_t r = 0; r < rows.size(); ++r) {
            if (!rows[r]->on_support) continue;
            const ner::Tagger tagger =
                ner::internal::adapted_once(support.corpus, support.vectors, Matrix<float>(0, support.vectors.cols()),
                                            {.method = rows[r]->method}, run);
            out[r][s] = f1_of(tagger, seen, rows[r]->decoding, run);
        }
    }
    return out;
}

int reproduce(const TransferRequest& request) {
    std::vector<std::string> names;
    for (const Domain& domain : domains) names.emplace_back(domain.name);
    const std::vector<std::size_t> chosen = positions_of("--sets", request.sets, names);
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    const Encoding encoding(request.encoder, request.layer);
    std::vector<const Row*> rows;
    for (const Row& row : table_rows())
        if ((row.quick || !request.quick) && (!row.on_support || has_projection(request.encoder))) rows.push_back(&row);

    std::vector<std::string> header = {"F1, per cent"};
    std::vector<std::vector<std::string>> text;
    for (const Row* row : rows) text.push_back({row->title});
    Json out;
    out["schema"] = internal::json_schema;
    out["name"] = "ner-transfer";
    out["encoder"] = request.encoder;
    out["layer"] = encoding.layer();
    out["options"] = json_of(TransferRequest::described(), TransferRequest::described().values(&request));
    for (const std::size_t d : chosen) {
        const Domain& domain = domains[d];
        const std::string folder = std::string(domain.folder) + "/";
        const Part test = encoding(folder + domain.test, run);
        std::array<Matrix<float>, 3> words = {
            Matrix<float>(0, encoding.dimensions()), encoding(folder + domain.dev, run).vectors, {}};
        if (!request.quick) {
            const Matrix<float> train = encoding(folder + domain.train, run).vectors;
            words[2].resize(train.rows() + words[1].rows(), train.cols());
            words[2] << train, words[1];
        }
        for (std::size_t s = 0; s < shots.size(); ++s) {
            const Column column = measured(domain, shots[s], rows, test, words, encoding, request, run);
            header.push_back(filled("{} {}-shot", domain.title, shots[s]));
            header.emplace_back("paper");
            Json one = {{"set", domain.name}, {"shots", shots[s]}};
            for (std::size_t r = 0; r < rows.size(); ++r) {
                const SampleSummary sample = summary_of(column[r]);
                std::vector<std::string> published;
                for (std::string_view rest = rows[r]->published; !rest.empty();) {
                    published.emplace_back(rest.substr(0, rest.find(' ')));
                    rest = rest.find(' ') == rest.npos ? std::string_view() : rest.substr(rest.find(' ') + 1);
                }
                text[r].push_back(fixed_text(sample.mean, 1) + " ± " + fixed_text(sample.deviation, 1));
                text[r].push_back(published.empty() ? "" : published[2 * s + d]);
                Json row = summary_json(sample);
                row["row"] = rows[r]->title;
                for (const double f1 : column[r]) row["f1"].push_back(f1 / 100);
                one["rows"].push_back(std::move(row));
            }
            out["columns"].push_back(std::move(one));
        }
    }
    bar.clear();
    if (request.running->json)
        print(document(out));
    else
        print(table(header, text, {1, 2, 3, 4, 5, 6, 7, 8}) +
              filled("Encoder {}, layer {}. The paper used BERT trained on OntoNotes 5, so its figures are not "
                     "comparable.\n",
                     request.encoder, encoding.layer()));
    return Exit::done;
}

}  // namespace

Command reproduce_ner_transfer_command() {
    const auto request = std::make_shared<TransferRequest>();
    Command command;
    command.name = "ner-transfer";
    command.summary = "few-shot named entities in a new domain: the tables of domain transfer";
    command.details =
        "Compares constrained k-means with baselines on CoNLL-2003 and WNUT17, with the ten published supports of one"
        " and of five mentions per type. k-means runs with and without subspace, soft assignment and share of O. It "
        "uses only the support, or also the words of the development and training parts without tags. F1 is measured "
        "on the test part. Shares are for CoNLL-2003 / WNUT17. The CONTaiNER rows need an ENCODER from train-source "
        "--objective contrastive, and train it further on each support. COTERIE_DATA names the folder with "
        "conll2003-en, wnut17 and container-support-sets.";
    command.operands = {text_operand("ENCODER",
                                     "folder of an encoder; auto takes the last layer if train-source wrote it",
                                     request->encoder, request)};
    command.flags = flags_of(TransferRequest::described(), "Protocol", std::static_pointer_cast<void>(request));
    append(command.flags, run_flags(request->running, {"--seed", "--threads", "--quiet", "--json"}));
    command.examples = {
        {"coterie-reproduce ner-transfer all-MiniLM-L6-v2 --layer 3 --quick", "an encoder without further training"},
        {"coterie-reproduce ner-transfer trained --sets wnut17", "an encoder from train-source"}};
    command.act = [request] { return reproduce(*request); };
    return command;
}

}  // namespace coterie::cli
