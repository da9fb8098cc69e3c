// coterie ner: named entities from a few annotated sentences. A thin layer on coterie/ner/: each subcommand reads
// corpora, gets their word vectors, calls one function, and prints the result.

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "common.hpp"
#include "coterie/io/output_file.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/ner/adapt.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/page.hpp"
#include "coterie/ner/scoring.hpp"
#include "coterie/ner/source.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/tagger.hpp"
#include "coterie/ner/vectors.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace coterie::cli {
namespace {

struct NerRequest {
    std::string corpus;  // the corpus, the support, or the gold corpus
    std::string model;
    std::string found;
    std::string other;
    std::string vectors;
    std::string encoder;
    std::vector<std::string> corpora;
    std::string out;
    std::string report;
    std::shared_ptr<ner::CorpusOptions> reading = std::make_shared<ner::CorpusOptions>();
    std::shared_ptr<ner::VectorOptions> encoding = std::make_shared<ner::VectorOptions>();
    std::shared_ptr<ner::SourceOptions> training = std::make_shared<ner::SourceOptions>();
    std::shared_ptr<ner::SampleOptions> sampling = std::make_shared<ner::SampleOptions>();
    std::shared_ptr<ner::SuggestOptions> suggesting = std::make_shared<ner::SuggestOptions>();
    std::shared_ptr<ner::AdaptOptions> adapting = std::make_shared<ner::AdaptOptions>();
    std::shared_ptr<ner::TagOptions> tagging = std::make_shared<ner::TagOptions>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
};

// Notes, shown on standard error or under "notes" in the document.
class Notes {
public:
    explicit Notes(const NerRequest& request) : quiet_(request.running->quiet) {}
    void add(const std::vector<Message>& notes) {
        for (const Message& note : notes) {
            if (!quiet_) print_note(note);
            all_.push_back(note);
        }
    }
    const std::vector<Message>& all() const { return all_; }

private:
    bool quiet_;
    std::vector<Message> all_;
};

ner::Corpus read(const std::string& path, const NerRequest& request, Notes& notes,
                 ner::TagReading tags = ner::TagReading::checked) {
    ner::CorpusOptions options = *request.reading;
    options.tags = tags;
    ner::Corpus out = ner::read_corpus(path, options);
    notes.add(out.notes);
    return out;
}

std::string counts_of(const ner::Corpus& corpus) {
    return corpus.source + ": " + count_text(static_cast<Index>(corpus.sentences.size())) + " sentences, " +
           count_text(corpus.words()) + " words, read as " + std::string(ner::name(corpus.format));
}

std::vector<std::pair<std::string, Index>> mentions_of(const ner::Corpus& corpus) {
    std::vector<std::pair<std::string, Index>> out;
    for (const std::string& type : corpus.types) out.emplace_back(type, 0);
    for (const ner::Sentence& sentence : corpus.sentences)
        for (const ner::Mention& mention : sentence.mentions) ++out[static_cast<std::size_t>(mention.type)].second;
    return out;
}

std::string mentions_text(const ner::Corpus& corpus) {
    std::vector<std::string> out;
    for (const auto& [type, count] : mentions_of(corpus)) out.push_back(type + " " + count_text(count));
    return out.empty() ? "none" : join(out);
}

Json json_of_counts(const ner::MentionCounts& counts) {
    return {{"marked", counts.marked},         {"found", counts.found},     {"right", counts.right},
            {"precision", counts.precision()}, {"recall", counts.recall()}, {"f1", counts.f1()}};
}

std::vector<std::string> row_of_counts(const std::string& name, const ner::MentionCounts& counts) {
    return {name,
            count_text(counts.marked),
            count_text(counts.found),
            count_text(counts.right),
            share_text(counts.precision()),
            share_text(counts.recall()),
            share_text(counts.f1())};
}

std::string scores_table(const ner::MentionScores& scores) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [type, counts] : scores.types) rows.push_back(row_of_counts(type, counts));
    rows.push_back(row_of_counts("all", scores.micro));
    return table({"type", "marked", "found", "right", "precision", "recall", "F1"}, rows, {1, 2, 3, 4, 5, 6});
}

Json json_of_scores(const ner::MentionScores& scores) {
    Json out;
    out["micro"] = json_of_counts(scores.micro);
    out["types"] = Json::object();
    for (const auto& [type, counts] : scores.types) out["types"][type] = json_of_counts(counts);
    return out;
}

bool wholly_annotated(const ner::Corpus& corpus) {
    return std::all_of(corpus.sentences.begin(), corpus.sentences.end(), [](const auto& s) { return s.annotated; });
}

std::string vectors_text(const std::string& source, const ner::WordVectors& vectors) {
    return source + (vectors.layer.empty() ? "" : ", layer " + vectors.layer);
}

// Checks the inputs and outputs before any work.
Outputs outputs_of(const NerRequest& request, const std::vector<std::string>& inputs, const char* flag,
                   const std::string& file, const std::vector<std::string>& kinds = {}) {
    Outputs out;
    for (const std::string& input : inputs) out.keep(input);
    out.add(flag, file, kinds);
    out.add("--report", request.report, {".html", ".htm"});
    out.check(request.running->json);
    return out;
}

// Calls act(run) with a progress bar. Ctrl-C stops it.
template <class Act>
void interruptible(const NerRequest& request, Act&& act) {
    Run run = request.running->run();
    ProgressBar bar(run, request.running->quiet);
    const InterruptGuard guard;
    run.should_stop = InterruptGuard::interrupted;
    act(run);
}

// ---- encode ---------------------------------------------------------------------------------------------------------

int encode(const NerRequest& request) {
    const Outputs outputs =
        outputs_of(request, {request.corpus, request.vectors}, "--out", request.out, {".npy", ".csv"});
    if (request.out.empty())
        throw BadArgument(Code::missing_argument, "the output file is missing",
                          "Use --out FILE to name the file for the vectors", {.option = "out"});
    Notes notes(request);
    const ner::Corpus corpus = read(request.corpus, request, notes);
    Stopwatch watch;
    ner::WordVectors vectors;
    interruptible(
        request, [&](const Run& run) { vectors = ner::word_vectors(request.vectors, corpus, *request.encoding, run); });
    const double seconds = watch.seconds();
    notes.add(vectors.notes);
    write_points(request.out, vectors.vectors);
    const double speed = static_cast<double>(corpus.words()) / std::max(seconds, 1e-9);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["corpus"] = request.corpus;
        out["words"] = corpus.words();
        out["dimensions"] = vectors.vectors.columns();
        out["layer"] = vectors.layer;
        out["words_per_second"] = speed;
        out["notes"] = notes.all();
        out["written"] = request.out;
        print(document(out));
        return Exit::done;
    }
    print_result(facts({{"corpus", counts_of(corpus)},
                        {"vectors", vectors_text(request.vectors, vectors) + ": " +
                                        count_text(vectors.vectors.columns()) + " numbers per word"},
                        {"speed", count_text(static_cast<Index>(speed)) + " words per second"},
                        {"written", request.out}}),
                 outputs);
    return Exit::done;
}

// ---- train-source ---------------------------------------------------------------------------------------------------

int train_source(const NerRequest& request) {
    if (request.out.empty())
        throw BadArgument(Code::missing_argument, "the output folder is missing",
                          "Use --out DIR to name the folder for the trained encoder", {.option = "out"});
    Notes notes(request);
    std::vector<ner::Corpus> corpora;
    for (const std::string& path : request.corpora) corpora.push_back(read(path, request, notes));
    ner::SourceReport report;
    interruptible(request, [&](const Run& run) {
        report = ner::train_source(request.encoder, corpora, request.out, *request.training, run);
    });
    if (!request.running->quiet)
        for (const Message& warning : report.warnings) print_warning(warning);
    const double speed = static_cast<double>(report.words_trained) / std::max(report.seconds, 1e-9);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["encoder"] = request.encoder;
        out["corpora"] = request.corpora;
        out["options"] =
            json_of(ner::SourceOptions::described(), ner::SourceOptions::described().values(request.training.get()));
        out["words"] = report.words;
        out["words_trained"] = report.words_trained;
        out["loss_per_epoch"] = report.loss_per_epoch;
        if (!report.distance.empty()) out["distance"] = report.distance;
        out["seconds"] = report.seconds;
        out["words_per_second"] = speed;
        out["interrupted"] = report.interrupted;
        out["warnings"] = report.warnings;
        out["notes"] = notes.all();
        out["written"] = request.out;
        print(document(out));
    } else {
        std::vector<std::pair<std::string, std::string>> rows = {{"encoder", request.encoder}};
        for (const ner::Corpus& corpus : corpora) rows.emplace_back("source", counts_of(corpus));
        if (!report.distance.empty()) rows.emplace_back("distance", report.distance);
        std::string losses;
        for (const double loss : report.loss_per_epoch) losses += (losses.empty() ? "" : ", ") + share_text(loss);
        rows.emplace_back("loss",
                          losses.empty() ? "no epoch was completed" : losses + " (mean over the words of an epoch)");
        rows.emplace_back("speed", count_text(static_cast<Index>(speed)) + " words per second");
        rows.emplace_back("written", request.out);
        print(facts(rows));
    }
    if (!report.interrupted) return Exit::done;
    print_error("interrupted after " + count_text(report.words_trained) +
                " words; the folder has the encoder as trained so far");
    return Exit::interrupted;
}

// ---- sample ---------------------------------------------------------------------------------------------------------

int sample(const NerRequest& request) {
    const Outputs outputs = outputs_of(request, {request.corpus}, "--out", request.out);
    const Run run = request.running->run();
    Notes notes(request);
    const ner::Corpus corpus = read(request.corpus, request, notes);
    const std::vector<std::size_t> chosen = ner::sample_support(corpus, *request.sampling, run);
    const ner::Corpus support = corpus.subset(chosen);
    if (!request.out.empty()) ner::write_corpus(request.out, support);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["corpus"] = request.corpus;
        out["shots"] = request.sampling->shots;
        out["sentences"] = Json::array();
        for (const std::size_t s : chosen)
            out["sentences"].push_back({{"number", s + 1}, {"line", corpus.sentences[s].line}});
        for (const auto& [type, count] : mentions_of(support)) out["mentions"][type] = count;
        print(document(out));
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {
        {"corpus", counts_of(corpus)}, {"support", counts_of(support)}, {"mentions", mentions_text(support)}};
    if (!request.out.empty()) rows.emplace_back("written", request.out);
    print_result(facts(rows), outputs);
    return Exit::done;
}

// ---- adapt ----------------------------------------------------------------------------------------------------------

struct SupportVectors {
    Points support;
    Points other;  // may be empty
    std::string text;
    std::string layer;
};

// With an encoder or a table, each corpus gets its own vectors. The rows of a file are the words of the other corpus,
// and the support's sentences are looked up there.
SupportVectors vectors_for(const NerRequest& request, const ner::Corpus& support, const ner::Corpus* other,
                           Notes& notes, const Run& run) {
    if (other != nullptr && request.vectors.ends_with(".npy")) {
        const ner::WordVectors all = ner::word_vectors(request.vectors, *other, *request.encoding, run);
        const std::vector<std::size_t> places = ner::find_sentences(support, *other);
        const std::set<std::size_t> taken(places.begin(), places.end());
        const std::vector<Index> first = other->first_words();
        std::vector<Index> of_support;
        std::vector<Index> of_others;
        const auto add = [&](std::size_t s, std::vector<Index>& to) {
            for (Index i = first[s]; i < first[s + 1]; ++i) to.push_back(i);
        };
        for (const std::size_t s : places) add(s, of_support);
        for (std::size_t s = 0; s < other->sentences.size(); ++s)
            if (!taken.contains(s)) add(s, of_others);
        return {rows_of(all.vectors, of_support), rows_of(all.vectors, of_others), request.vectors, {}};
    }
    const ner::WordVectors own = ner::word_vectors(request.vectors, support, *request.encoding, run);
    SupportVectors out{own.vectors, {}, vectors_text(request.vectors, own), own.layer};
    notes.add(own.notes);
    if (other != nullptr) {
        const ner::WordVectors others = ner::word_vectors(request.vectors, *other, *request.encoding, run);
        if (own.layer.empty()) notes.add(others.notes);  // an encoder's notes would appear twice
        out.other = others.vectors;
    }
    return out;
}

// Shown next to the share of the support's own words, so that readers see the difference.
std::string share_of_outside(const ner::AdaptReport& report, const ner::Tagger& tagger) {
    return (tagger.outside_share ? share_text(*tagger.outside_share) + ", " : "") + report.share_origin + "; " +
           share_text(tagger.support_outside_share) + " in the support";
}

int adapt(const NerRequest& request) {
    const Outputs outputs =
        outputs_of(request, {request.corpus, request.other, request.vectors}, "--model-out", request.model);
    Notes notes(request);
    const ner::Corpus support = read(request.corpus, request, notes);
    std::optional<ner::Corpus> other;
    if (!request.other.empty()) other = read(request.other, request, notes);
    Stopwatch watch;
    ner::AdaptReport report;
    ner::Tagger tagger;
    std::string vectors_are;
    Seconds seconds;
    interruptible(request, [&](const Run& run) {
        const SupportVectors vectors = vectors_for(request, support, other ? &*other : nullptr, notes, run);
        seconds.emplace_back("vectors", watch.restart());
        tagger = ner::adapt(support, vectors.support, vectors.other, *request.adapting, run, &report);
        tagger.encoder = request.vectors;
        tagger.layer = vectors.layer;
        vectors_are = vectors.text;
        seconds.emplace_back("adapt", watch.restart());
    });
    if (!request.running->quiet)
        for (const Message& warning : report.warnings) print_warning(warning);
    if (!request.model.empty()) tagger.save(request.model);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["support"] = request.corpus;
        for (const auto& [type, count] : mentions_of(support)) out["mentions"][type] = count;
        out["vectors"] = request.vectors;
        out["layer"] = tagger.layer;
        out["method"] = tagger.method;
        out["chosen_because"] = report.chosen_because;
        out["compared"] = Json::object();
        for (const auto& [method, counts] : report.compared)
            out["compared"][std::string(ner::name(method))] = json_of_counts(counts);
        out["outside_share"] = report.outside_share
                                   ? Json::array({report.outside_share->first, report.outside_share->second})
                                   : Json(nullptr);
        out["share_origin"] = report.share_origin;
        out["support_outside_share"] = tagger.support_outside_share;
        out["calibrated_on"] = report.calibrated_on;
        out["warnings"] = report.warnings;
        out["notes"] = notes.all();
        out["seconds"] = json_of(seconds);
        if (!request.model.empty()) out["written"] = request.model;
        print(document(out));
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {{"support", counts_of(support)},
                                                             {"mentions", mentions_text(support)}};
    if (other) rows.emplace_back("other", counts_of(*other));
    rows.emplace_back("vectors", vectors_are);
    rows.emplace_back("method", tagger.method + ": " + report.chosen_because);
    rows.emplace_back("share of O", share_of_outside(report, tagger));
    rows.emplace_back("probabilities", report.calibrated_on > 0
                                           ? "calibrated on " + std::to_string(report.calibrated_on) +
                                                 " words of the support, each with its sentence left out"
                                           : "none: no sentence of the support can be left out");
    if (!request.model.empty()) rows.emplace_back("written", request.model);
    std::string text = facts(rows);
    if (!report.compared.empty()) {
        std::vector<std::vector<std::string>> compared;
        for (const auto& [method, counts] : report.compared)
            compared.push_back(row_of_counts(std::string(ner::name(method)), counts));
        text += "\n" + table({"leave-one-out", "marked", "found", "right", "precision", "recall", "F1"}, compared,
                             {1, 2, 3, 4, 5, 6});
    }
    print_result(text, outputs);
    return Exit::done;
}

// ---- tag, suggest ---------------------------------------------------------------------------------------------------

ner::WordVectors vectors_like(const ner::Tagger& tagger, const NerRequest& request, const ner::Corpus& corpus,
                              Notes& notes, Run& run) {
    const std::string source = request.vectors.empty() ? tagger.encoder : request.vectors;
    if (request.vectors.empty() && source.ends_with(".npy"))
        throw BadArgument(Code::missing_argument,
                          "the tagger was adapted with " + source + ", the vectors of another corpus",
                          "Use --vectors FILE.npy with the vectors of this corpus", {.option = "vectors"});
    ner::VectorOptions options = *request.encoding;
    if (options.layer == "auto" && !tagger.layer.empty() && !source.ends_with(".npy")) options.layer = tagger.layer;
    ner::WordVectors out = ner::word_vectors(source, corpus, options, run);
    notes.add(out.notes);
    return out;
}

// Calls act(vectors of the words of the corpus, run).
template <class Act>
void on_words(const ner::Tagger& tagger, const NerRequest& request, const ner::Corpus& corpus, Notes& notes,
              Act&& act) {
    interruptible(request, [&](Run& run) { act(vectors_like(tagger, request, corpus, notes, run), run); });
}

std::string page_of(const NerRequest& request, const ner::Tagger& tagger, const ner::Corpus& found,
                    const ner::WordVectors& words, const std::vector<ner::Suggestion>& suggested, const Run& run) {
    return ner::mentions_page(tagger, found, words.vectors, suggested, {request.model, command_text(), date_text()},
                              run);
}

// Writes the corpus and the page after all work is done. If one fails, the other is still written.
struct WrittenMentions {
    WrittenMentions(const NerRequest& request, const std::string& page, const ner::Corpus& corpus) {
        if (!request.out.empty()) out = failures.attempt([&] { ner::write_corpus(request.out, corpus); });
        if (!request.report.empty()) report = failures.attempt([&] { write_file(request.report, page); });
    }
    Failures failures;
    bool out = false;
    bool report = false;
};

int tag(const NerRequest& request) {
    const Outputs outputs = outputs_of(request, {request.model, request.corpus, request.vectors}, "--out", request.out);
    Notes notes(request);
    const ner::Tagger tagger = ner::Tagger::load(request.model);
    const ner::Corpus gold = read(request.corpus, request, notes);
    ner::Corpus corpus = gold;
    std::string page;
    on_words(tagger, request, corpus, notes, [&](const ner::WordVectors& words, const Run& run) {
        tagger.tag(corpus, words.vectors, *request.tagging, run);
        if (!request.report.empty())
            page = page_of(request, tagger, corpus, words,
                           ner::suggest_sentences(tagger, gold, words.vectors, *request.suggesting, run), run);
    });
    const WrittenMentions written(request, page, corpus);
    std::optional<ner::MentionScores> scores;
    if (wholly_annotated(gold)) scores = ner::score_mentions(gold, corpus);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["model"] = request.model;
        out["corpus"] = request.corpus;
        out["method"] = tagger.method;
        for (const auto& [type, count] : mentions_of(corpus)) out["mentions"][type] = count;
        if (scores) out["scores"] = json_of_scores(*scores);
        out["notes"] = notes.all();
        if (written.out) out["written"] = request.out;
        if (written.report) out["report"] = request.report;
        print(document(out));
        written.failures.rethrow();
        return Exit::done;
    }
    std::vector<std::pair<std::string, std::string>> rows = {{"corpus", counts_of(corpus)},
                                                             {"tagger", request.model + ", " + tagger.method},
                                                             {"found", mentions_text(corpus)}};
    if (written.out) rows.emplace_back("written", request.out);
    if (written.report) rows.emplace_back("report", request.report);
    print_result(facts(rows) + (scores ? "\n" + scores_table(*scores) : ""), outputs);
    written.failures.rethrow();
    return Exit::done;
}

std::string sentence_text(const ner::Corpus& corpus, const ner::Sentence& sentence) {
    std::string out = corpus.text_of(sentence, ner::Mention{0, sentence.words.size(), 0, 0});
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return out;
}

int suggest(const NerRequest& request) {
    const Outputs outputs = outputs_of(request, {request.model, request.corpus, request.vectors}, "--out", request.out);
    Notes notes(request);
    const ner::Tagger tagger = ner::Tagger::load(request.model);
    const ner::Corpus corpus = read(request.corpus, request, notes);
    std::vector<ner::Suggestion> suggested;
    std::string page;
    on_words(tagger, request, corpus, notes, [&](const ner::WordVectors& words, const Run& run) {
        suggested = ner::suggest_sentences(tagger, corpus, words.vectors, *request.suggesting, run);
        if (suggested.empty())
            throw BadData(Code::empty, "every sentence is annotated, so there is none to suggest", "",
                          {.file = corpus.source});
        if (request.report.empty()) return;
        ner::Corpus found = corpus;
        tagger.tag(found, words.vectors, *request.tagging, run);
        page = page_of(request, tagger, found, words, suggested, run);
    });
    std::vector<std::size_t> numbers;
    for (const ner::Suggestion& one : suggested) numbers.push_back(one.sentence);
    const WrittenMentions written(request, page, corpus.subset(numbers));
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["sentences"] = Json::array();
        for (const ner::Suggestion& one : suggested)
            out["sentences"].push_back({{"number", one.sentence + 1},
                                        {"line", corpus.sentences[one.sentence].line},
                                        {"type", tagger.types[static_cast<std::size_t>(one.type)]},
                                        {"value", one.value},
                                        {"text", sentence_text(corpus, corpus.sentences[one.sentence])}});
        out["notes"] = notes.all();
        if (written.out) out["written"] = request.out;
        if (written.report) out["report"] = request.report;
        print(document(out));
        written.failures.rethrow();
        return Exit::done;
    }
    std::vector<std::vector<std::string>> rows;
    for (const ner::Suggestion& one : suggested)
        rows.push_back({std::to_string(corpus.sentences[one.sentence].line),
                        tagger.types[static_cast<std::size_t>(one.type)], share_text(one.value),
                        sentence_text(corpus, corpus.sentences[one.sentence])});
    print_result(table({"line", "type", "value", "sentence"}, rows, {0, 2}), outputs);
    written.failures.rethrow();
    return Exit::done;
}

// ---- evaluate -------------------------------------------------------------------------------------------------------

int evaluate_mentions(const NerRequest& request) {
    Notes notes(request);
    const ner::Corpus found = read(request.found, request, notes, ner::TagReading::lenient);
    const ner::Corpus gold = read(request.corpus, request, notes);
    const ner::MentionScores scores = ner::score_mentions(gold, found);
    if (request.running->json) {
        Json out;
        out["schema"] = json_schema;
        out["found"] = request.found;
        out["gold"] = request.corpus;
        out.update(json_of_scores(scores));
        out["notes"] = notes.all();
        print(document(out));
        return Exit::done;
    }
    print(scores_table(scores));
    return Exit::done;
}

}  // namespace

Command ner_command() {
    const auto request = std::make_shared<NerRequest>();
    const auto corpus = [&](const std::string& name, const std::string& meaning, std::string& target) {
        return text_operand(name, meaning, target, request);
    };
    const auto text = [&](const char* name, const char* value, const char* meaning, const char* group,
                          std::string& target) {
        return text_flag(name, value, meaning, group, target, request, Completion::file);
    };
    const auto options = [&](const OptionSet& set, const char* group, const std::shared_ptr<void>& target) {
        return flags_of(set, group, target);
    };
    const std::string of_corpora =
        "Formats of a corpus: CoNLL columns (one word per line, its tag last, in BIO, IOB1, IO or BIOES), JSON lines "
        "with marked spans (doccano, spaCy, Prodigy), brat's FILE.ann next to FILE.txt, plain text.";
    const std::string of_vectors =
        "Word vectors come from an encoder (a folder in Hugging Face's format: BERT, DistilBERT, MPNet), a file of "
        "static vectors (lines WORD NUMBERS), or FILE.npy (one row per word of the corpus).";
    const char* const where = "source of the word vectors: an encoder's folder, static vectors, or FILE.npy";
    const auto reading = [&] { return options(ner::CorpusOptions::described(), "Reading", request->reading); };
    const auto vectors = [&](const char* meaning) {
        std::vector<Flag> out = {text("--vectors", "WHERE", meaning, "Vectors", request->vectors)};
        append(out, options(ner::VectorOptions::described(), "Vectors", request->encoding));
        return out;
    };

    Command encode_command;
    encode_command.name = "encode";
    encode_command.summary = "write a vector for every word of a corpus";
    encode_command.details = "adapt, tag and suggest can use the written vectors again and again. " + of_vectors;
    encode_command.operands = {corpus("CORPUS", "sentences, annotated or not", request->corpus),
                               corpus("WHERE", where, request->vectors)};
    encode_command.flags = reading();
    append(encode_command.flags, options(ner::VectorOptions::described(), "Vectors", request->encoding));
    encode_command.flags.push_back(
        text("--out", "FILE", "write the vectors as npy or csv, one row per word", "Writing", request->out));
    append(encode_command.flags, run_flags(request->running, {"--threads", "--quiet", "--json"}));
    encode_command.examples = {
        {"coterie ner encode news.conll all-MiniLM-L6-v2 --out news.npy", "the middle layer of a BERT encoder"}};
    encode_command.act = [request] { return encode(*request); };

    Command train_command;
    train_command.name = "train-source";
    train_command.summary = "train an encoder on annotated corpora of other domains";
    train_command.details =
        "Training brings words of one type closer together, for any type. It uses a prototype for each tag of each "
        "corpus; with --objective contrastive, it moves words of one tag together and all others apart. The corpora "
        "may have different types. The result is an encoder's folder, of which encode and adapt use the last layer. "
        "With --objective contrastive, the folder also holds a projection; --objective support uses it to train "
        "further on the support of a tagger. Needs LibTorch. " +
        of_corpora;
    Operand sources = corpus("CORPUS", "annotated sentences; you may give several corpora", request->corpus);
    sources.repeats = true;
    sources.take = [request](const std::string& path) { request->corpora.push_back(path); };
    train_command.operands = {corpus("ENCODER", "an encoder's folder in Hugging Face's format", request->encoder),
                              sources};
    train_command.flags = options(ner::SourceOptions::described(), "Training", request->training);
    append(train_command.flags, reading());
    train_command.flags.push_back(text(
        "--out", "DIR", "write the trained encoder as a folder, which must not exist yet", "Writing", request->out));
    append(train_command.flags,
           run_flags(request->running, {"--seed", "--threads", "--checkpoint", "--quiet", "--json"}));
    flag_named(train_command.flags, "--threads").meaning =
        "number of threads; the result is the same, bit for bit, only with the same number";
    train_command.examples = {{"coterie ner train-source all-MiniLM-L6-v2 news.conll music.conll --out trained",
                               "two corpora, each with its own types"},
                              {"coterie ner adapt support.conll --other letters.txt --vectors trained",
                               "adapt uses the last layer of the trained encoder"},
                              {"coterie ner train-source contrasted support.conll --objective support --out tuned",
                               "train an encoder of --objective contrastive further, on a support"}};
    train_command.act = [request] { return train_source(*request); };

    Command sample_command;
    sample_command.name = "sample";
    sample_command.summary = "draw a support, a few sentences, from an annotated corpus";
    sample_command.details =
        "Uses the usual greedy rule: takes the types from rare to frequent; while a type has fewer than SHOTS mentions "
        "in the support, draws a sentence that has this type. " +
        of_corpora;
    sample_command.operands = {corpus("CORPUS", "annotated sentences", request->corpus)};
    sample_command.flags = options(ner::SampleOptions::described(), "Drawing", request->sampling);
    append(sample_command.flags, reading());
    sample_command.flags.push_back(text("--out", "FILE",
                                        "write the support in the format of the corpus; - writes to standard output",
                                        "Writing", request->out));
    append(sample_command.flags, run_flags(request->running, {"--seed", "--quiet", "--json"}));
    sample_command.examples = {
        {"coterie ner sample train.conll --shots 5 --out support.conll", "at least five mentions of each type"}};
    sample_command.act = [request] { return sample(*request); };

    Command adapt_command;
    adapt_command.name = "adapt";
    adapt_command.summary = "make a tagger from a few annotated sentences";
    adapt_command.details =
        "Learns from the words of the support (the annotated sentences) and of other sentences. Compares several "
        "methods by leaving out each sentence of the support in turn, uses the best one and reports it. Also reports "
        "which share of words outside mentions (O) it used, and where this share comes from. " +
        of_corpora + " " + of_vectors +
        " With FILE.npy, the rows are the words of --other, in which adapt finds the support's sentences.";
    adapt_command.operands = {corpus("SUPPORT", "annotated sentences", request->corpus)};
    adapt_command.flags = options(ner::AdaptOptions::described(), "Adapting", request->adapting);
    adapt_command.flags.push_back(text("--other", "CORPUS",
                                       "other sentences of the same domain; their annotations are not used", "Adapting",
                                       request->other));
    append(adapt_command.flags, vectors(where));
    append(adapt_command.flags, reading());
    adapt_command.flags.push_back(text("--model-out", "FILE", "write the tagger", "Writing", request->model));
    append(adapt_command.flags, run_flags(request->running, {"--seed", "--threads", "--quiet", "--json"}));
    adapt_command.examples = {
        {"coterie ner adapt support.conll --other news.txt --vectors all-MiniLM-L6-v2 --model-out tagger.coterie",
         "compare methods, report the best one, save the tagger"}};
    adapt_command.act = [request] {
        if (request->vectors.empty())
            throw BadArgument(Code::missing_argument, "the source of the word vectors is missing",
                              "Use --vectors with an encoder's folder, static vectors, or FILE.npy",
                              {.option = "vectors"});
        return adapt(*request);
    };

    const char* const as_adapted = "source of the word vectors; default: the source that adapt used";
    Command tag_command;
    tag_command.name = "tag";
    tag_command.summary = "find mentions in a corpus";
    tag_command.details =
        "Writes CoNLL columns as columns and all other formats as JSON lines. JSON lines have offsets in code points "
        "and, for each mention, its probability and its margin: how much better its type fits than the next best tag. "
        "If the corpus is annotated, also prints scores. " +
        of_corpora;
    tag_command.operands = {corpus("MODEL", "a file written by coterie ner adapt --model-out", request->model),
                            corpus("CORPUS", "sentences", request->corpus)};
    tag_command.flags = options(ner::TagOptions::described(), "Tagging", request->tagging);
    append(tag_command.flags, vectors(as_adapted));
    append(tag_command.flags, reading());
    tag_command.flags.push_back(text("--out", "FILE",
                                     "write the corpus with the mentions found; - writes to standard output", "Writing",
                                     request->out));
    tag_command.flags.push_back(text("--report", "FILE.html",
                                     "write a self-contained page: the text with its mentions, which you can correct "
                                     "and download as a support; it begins with five sentences worth annotating",
                                     "Writing", request->report));
    append(tag_command.flags, run_flags(request->running, {"--threads", "--quiet", "--json"}));
    tag_command.examples = {
        {"coterie ner tag tagger.coterie letters.txt --out -", "mentions of a plain text, as JSON"},
        {"coterie ner tag tagger.coterie letters.txt --report page.html", "a page to read and correct"}};
    tag_command.act = [request] { return tag(*request); };

    Command suggest_command;
    suggest_command.name = "suggest";
    suggest_command.summary = "list the sentences to annotate next";
    suggest_command.details =
        "Lists sentences with words near the border of a type, each type in turn. Also annotate a few random "
        "sentences, to keep the support similar to the corpus. Sentences that are annotated are left out. " +
        of_corpora;
    suggest_command.operands = tag_command.operands;
    suggest_command.flags = options(ner::SuggestOptions::described(), "Suggesting", request->suggesting);
    append(suggest_command.flags, vectors(as_adapted));
    append(suggest_command.flags, reading());
    suggest_command.flags.push_back(
        text("--out", "FILE", "write the sentences as a corpus to annotate", "Writing", request->out));
    suggest_command.flags.push_back(
        text("--report", "FILE.html",
             "write a self-contained page: these sentences, then the others, with the mentions that the tagger finds, "
             "which you can correct and download as a support",
             "Writing", request->report));
    append(suggest_command.flags, run_flags(request->running, {"--threads", "--quiet", "--json"}));
    suggest_command.examples = {
        {"coterie ner suggest tagger.coterie news.txt --count 10", "ten sentences worth annotating"}};
    suggest_command.act = [request] { return suggest(*request); };

    Command evaluate_command;
    evaluate_command.name = "evaluate";
    evaluate_command.summary = "score mentions against a gold corpus";
    evaluate_command.details =
        "Prints precision, recall and F1 for each type and for all types, counted as in conlleval: a mention is right "
        "if its span and its type are right. Tags of FOUND need not be well-formed. " +
        of_corpora;
    evaluate_command.operands = {corpus("FOUND", "a corpus with the mentions found", request->found),
                                 corpus("GOLD", "the same text with the right mentions", request->corpus)};
    evaluate_command.flags = reading();
    append(evaluate_command.flags, run_flags(request->running, {"--quiet", "--json"}));
    evaluate_command.examples = {{"coterie ner evaluate found.conll test.conll", "the scores of each type"}};
    evaluate_command.act = [request] { return evaluate_mentions(*request); };

    Command command;
    command.name = "ner";
    command.summary = "find named entities from a few annotated sentences";
    command.details =
        "You annotate a few sentences of a text, the support. encode gives every word a vector, adapt makes a tagger, "
        "tag finds mentions, evaluate scores them, and suggest lists the sentences to annotate next. train-source "
        "trains the encoder on other domains first; sample draws a support for experiments.";
    command.commands_are = "COMMAND";
    command.commands = {encode_command, train_command,   sample_command,  adapt_command,
                        tag_command,    suggest_command, evaluate_command};
    return command;
}

}  // namespace coterie::cli
