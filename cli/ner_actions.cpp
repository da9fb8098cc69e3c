// What the subcommands of coterie ner do. Each reads its inputs, calls functions of coterie/ner/, writes the files that
// were asked for, and prints its result.

#include <algorithm>

#include "coterie/io/output_file.hpp"
#include "coterie/io/reader.hpp"
#include "coterie/ner/page.hpp"
#include "coterie/ner/result_document.hpp"
#include "coterie/ner/support_vectors.hpp"
#include "ner.hpp"
#include "program.hpp"

namespace coterie::cli {
namespace {

void take_notes(const NerRequest& request, const std::vector<Message>& notes, ner::NerOutputs& written) {
    print_notes(notes, request.running);
    written.notes.insert(written.notes.end(), notes.begin(), notes.end());
}

ner::Corpus read(const std::string& path, const NerRequest& request, ner::NerOutputs& written,
                 ner::TagReading tags = ner::TagReading::checked) {
    ner::CorpusOptions options = request.reading;
    options.tags = tags;
    ner::Corpus out = ner::read_corpus(path, options);
    take_notes(request, out.notes, written);
    return out;
}

// Checks the inputs and outputs before any work.
OutputPaths outputs_of(const NerRequest& request, const std::vector<std::string>& inputs, const char* option,
                       const std::string& file, const std::vector<std::string>& kinds = {}) {
    return check_outputs(request.running, inputs, {{option, file, kinds}, {"report", request.report, page_extensions}});
}

// Calls act(run) with a progress bar. Ctrl-C stops it.
template <class Act>
void interruptible(const NerRequest& request, Act&& act) {
    Run run = request.running.run();
    ProgressBar bar(run, request.running.quiet);
    const InterruptGuard guard(run);
    act(run);
}

ner::WordVectors vectors_like(const ner::Tagger& tagger, const NerRequest& request, const ner::Corpus& corpus,
                              const Run& run) {
    const std::string source = request.vectors.empty() ? tagger.encoder : request.vectors;
    require_given(!request.vectors.empty() || !source.ends_with(".npy"), "vectors",
                  "the tagger was adapted with " + source + ", the vectors of another corpus",
                  "Use --vectors FILE.npy with the vectors of this corpus");
    ner::VectorOptions options = request.encoding;
    if (options.layer == "auto" && !tagger.layer.empty() && !source.ends_with(".npy")) options.layer = tagger.layer;
    return ner::word_vectors(source, corpus, options, run);
}

// Calls act(vectors of the words of the corpus, run).
template <class Act>
void on_words(const ner::Tagger& tagger, const NerRequest& request, const ner::Corpus& corpus, ner::NerOutputs& written,
              Act&& act) {
    interruptible(request, [&](const Run& run) {
        const ner::WordVectors words = vectors_like(tagger, request, corpus, run);
        take_notes(request, words.notes, written);
        act(words.vectors, run);
    });
}

std::string page_of(const NerRequest& request, const ner::Tagger& tagger, const ner::Corpus& found, PointsView words,
                    const std::vector<ner::Suggestion>& suggested, const Run& run) {
    return ner::mentions_page(tagger, found, words, suggested, {request.model, command_text(), date_text()}, run);
}

// Writes the corpus and the page after all work is done. If one fails, the other is still written.
WriteFailures write_mentions(const NerRequest& request, const ner::Corpus& corpus, const std::string& page,
                             ner::NerOutputs& written) {
    WriteFailures failures;
    if (!request.out.empty() && failures.attempt([&] { ner::write_corpus(request.out, corpus); }))
        written.written = request.out;
    if (!request.report.empty() && failures.attempt([&] { write_file(request.report, page); }))
        written.page = request.report;
    return failures;
}

}  // namespace

int encode_words(const NerRequest& request) {
    const OutputPaths outputs =
        outputs_of(request, {request.corpus, request.vectors}, "out", request.out, {".npy", ".csv"});
    require_given(!request.out.empty(), "out", "the output file is missing",
                  "Use --out FILE to name the file for the vectors");
    ner::NerOutputs written;
    const ner::Corpus corpus = read(request.corpus, request, written);
    Stopwatch watch;
    ner::WordVectors vectors;
    interruptible(request,
                  [&](const Run& run) { vectors = ner::word_vectors(request.vectors, corpus, request.encoding, run); });
    const double seconds = watch.seconds();
    take_notes(request, vectors.notes, written);
    write_points(request.out, vectors.vectors);
    written.written = request.out;
    return print_document(request.running, outputs,
                          ner::encoding_document(written, request.corpus, corpus, request.vectors, vectors, seconds));
}

int train_encoder(const NerRequest& request) {
    require_given(!request.out.empty(), "out", "the output folder is missing",
                  "Use --out DIR to name the folder for the trained encoder");
    ner::NerOutputs written{.written = request.out};
    std::vector<ner::Corpus> corpora;
    for (const std::string& path : request.corpora) corpora.push_back(read(path, request, written));
    ner::SourceReport report;
    interruptible(request, [&](const Run& run) {
        report = ner::train_source(request.encoder, corpora, request.out, request.training, run);
    });
    print_warnings(report.warnings, request.running);
    print_document(
        request.running, {},
        ner::training_document(written, request.encoder, request.corpora, corpora, request.training, report));
    if (!report.interrupted) return Exit::done;
    print_error("interrupted after " + count_text(report.words_trained) +
                " words; the folder has the encoder as trained so far");
    return Exit::interrupted;
}

int draw_support(const NerRequest& request) {
    const OutputPaths outputs = outputs_of(request, {request.corpus}, "out", request.out);
    const Run run = request.running.run();
    ner::NerOutputs written{.written = request.out};
    const ner::Corpus corpus = read(request.corpus, request, written);
    const std::vector<std::size_t> chosen = ner::sample_support(corpus, request.sampling, run);
    const ner::Corpus support = corpus.subset(chosen);
    if (!request.out.empty()) ner::write_corpus(request.out, support);
    return print_document(
        request.running, outputs,
        ner::sampling_document(written, request.corpus, corpus, request.sampling.shots, chosen, support));
}

int adapt_tagger(const NerRequest& request) {
    require_given(!request.vectors.empty(), "vectors", "the source of the word vectors is missing",
                  "Use --vectors with an encoder's folder, static vectors, or FILE.npy");
    const OutputPaths outputs =
        outputs_of(request, {request.corpus, request.other, request.vectors}, "model_out", request.model);
    ner::NerOutputs written{.written = request.model};
    const ner::Corpus support = read(request.corpus, request, written);
    std::optional<ner::Corpus> other;
    if (!request.other.empty()) other = read(request.other, request, written);
    ner::Tagger tagger;
    ner::AdaptReport report;
    Seconds seconds;
    Stopwatch watch;
    interruptible(request, [&](const Run& run) {
        const ner::SupportVectors vectors =
            ner::support_vectors(request.vectors, support, other ? &*other : nullptr, request.encoding, run,
                                 [&](const std::vector<Message>& notes) { take_notes(request, notes, written); });
        seconds.emplace_back("vectors", watch.restart());
        tagger = ner::adapt(support, vectors.support, vectors.other, request.adapting, run, &report);
        tagger.encoder = request.vectors;
        tagger.layer = vectors.layer;
        seconds.emplace_back("adapt", watch.restart());
    });
    print_warnings(report.warnings, request.running);
    if (!request.model.empty()) tagger.save(request.model);
    return print_document(request.running, outputs,
                          ner::adapting_document(written, request.corpus, support, other, tagger, report, seconds));
}

int tag_corpus(const NerRequest& request) {
    const OutputPaths outputs =
        outputs_of(request, {request.model, request.corpus, request.vectors}, "out", request.out);
    ner::NerOutputs written;
    const ner::Tagger tagger = ner::Tagger::load(request.model);
    const ner::Corpus gold = read(request.corpus, request, written);
    ner::Corpus corpus = gold;
    std::string page;
    on_words(tagger, request, corpus, written, [&](PointsView words, const Run& run) {
        tagger.tag(corpus, words, request.tagging, run);
        if (!request.report.empty())
            page = page_of(request, tagger, corpus, words,
                           ner::suggest_sentences(tagger, gold, words, request.suggesting, run), run);
    });
    const WriteFailures failures = write_mentions(request, corpus, page, written);
    std::optional<ner::MentionScores> scores;
    if (std::all_of(gold.sentences.begin(), gold.sentences.end(), [](const auto& s) { return s.annotated; }))
        scores = ner::score_mentions(gold, corpus);
    print_document(request.running, outputs,
                   ner::tagging_document(written, request.model, request.corpus, tagger, corpus, scores));
    failures.rethrow();
    return Exit::done;
}

int suggest_sentences(const NerRequest& request) {
    const OutputPaths outputs =
        outputs_of(request, {request.model, request.corpus, request.vectors}, "out", request.out);
    ner::NerOutputs written;
    const ner::Tagger tagger = ner::Tagger::load(request.model);
    const ner::Corpus corpus = read(request.corpus, request, written);
    std::vector<ner::Suggestion> suggested;
    std::string page;
    on_words(tagger, request, corpus, written, [&](PointsView words, const Run& run) {
        suggested = ner::suggest_sentences(tagger, corpus, words, request.suggesting, run);
        if (suggested.empty())
            throw BadData(Code::empty, "every sentence is annotated, so no sentence is left to suggest", "",
                          {.file = corpus.source});
        if (request.report.empty()) return;
        ner::Corpus found = corpus;
        tagger.tag(found, words, request.tagging, run);
        page = page_of(request, tagger, found, words, suggested, run);
    });
    std::vector<std::size_t> numbers;
    for (const ner::Suggestion& one : suggested) numbers.push_back(one.sentence);
    const WriteFailures failures = write_mentions(request, corpus.subset(numbers), page, written);
    print_document(request.running, outputs, ner::suggesting_document(written, suggested, corpus, tagger));
    failures.rethrow();
    return Exit::done;
}

int evaluate_mentions(const NerRequest& request) {
    ner::NerOutputs notes;
    const ner::Corpus found = read(request.found, request, notes, ner::TagReading::lenient);
    const ner::Corpus gold = read(request.corpus, request, notes);
    return print_document(
        request.running, {},
        ner::scoring_document(notes, request.found, request.corpus, ner::score_mentions(gold, found)));
}

}  // namespace coterie::cli
