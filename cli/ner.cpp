// coterie ner: each function describes one subcommand; ner_actions.cpp has what they do.

#include "ner.hpp"

#include "commands.hpp"

namespace coterie::cli {
namespace {

using Request = std::shared_ptr<NerRequest>;

const std::string of_corpora =
    "Formats of a corpus: CoNLL columns (one word per line, its tag last, in BIO, IOB1, IO or BIOES), JSON lines "
    "with marked spans (doccano, spaCy, Prodigy), brat's FILE.ann next to FILE.txt, plain text.";
const std::string of_vectors =
    "Word vectors come from an encoder (a folder in Hugging Face's format: BERT, DistilBERT, MPNet), a file of "
    "static vectors (lines WORD NUMBERS), or FILE.npy (one row per word of the corpus).";
constexpr const char* vectors_meaning = "source of the word vectors: an encoder's folder, static vectors, or FILE.npy";
constexpr const char* vectors_as_adapted = "source of the word vectors; default: the source that adapt used";

std::vector<Flag> vector_flags(const Request& request, const char* meaning) {
    return FlagList(request)
        .file("--vectors", "WHERE", meaning, "Vectors", request->vectors)
        .options("Vectors", request->encoding);
}

Operand corpus_operand(const Request& request, const char* meaning, const char* name = "CORPUS") {
    return text_operand(name, meaning, request->corpus, request);
}

Operand model_operand(const Request& request) {
    return text_operand("MODEL", "a file written by coterie ner adapt --model-out", request->model, request);
}

Command encode_command(const Request& request) {
    Command command = command_of(request, "encode", "write a vector for every word of a corpus",
                                 "adapt, tag and suggest can then reuse the vectors. " + of_vectors, encode_words);
    command.operands = {corpus_operand(request, "sentences, annotated or not"),
                        text_operand("WHERE", vectors_meaning, request->vectors, request)};
    command.flags =
        FlagList(request)
            .options("Reading", request->reading)
            .options("Vectors", request->encoding)
            .file("--out", "FILE", "write the vectors as npy or csv, one row per word", "Writing", request->out)
            .running(request->running, {"--threads", "--quiet", "--json"});
    command.examples = {
        {"coterie ner encode news.conll all-MiniLM-L6-v2 --out news.npy", "the middle layer of a BERT encoder"}};
    return command;
}

Command train_command(const Request& request) {
    Command command = command_of(
        request, "train-source", "train an encoder on annotated corpora of other domains",
        "Training brings the vectors of words of the same type closer together, also for new types. It uses a "
        "prototype for each tag of each corpus; with --objective contrastive, it moves words of the same tag together "
        "and words of different tags apart. The corpora may have different types. The result is an encoder's folder, "
        "of which encode and adapt use the last layer. "
        "With --objective contrastive, the folder also holds a projection; --objective support uses it to train "
        "further on the support of a tagger. Needs LibTorch. " +
            of_corpora,
        train_encoder);
    Operand sources = corpus_operand(request, "annotated sentences; you may give several corpora");
    sources.repeats = true;
    sources.take = [request](const std::string& path) { request->corpora.push_back(path); };
    command.operands = {
        text_operand("ENCODER", "an encoder's folder in Hugging Face's format", request->encoder, request), sources};
    command.flags = FlagList(request)
                        .options("Training", request->training)
                        .options("Reading", request->reading)
                        .file("--out", "DIR", "write the trained encoder as a folder, which must not exist yet",
                              "Writing", request->out)
                        .running(request->running, {"--seed", "--threads", "--checkpoint", "--quiet", "--json"});
    flag_named(command.flags, "--threads").meaning =
        "number of threads; the result is the same, bit for bit, only with the same number";
    command.examples = {{"coterie ner train-source all-MiniLM-L6-v2 news.conll music.conll --out trained",
                         "two corpora, each with its own types"},
                        {"coterie ner adapt support.conll --other letters.txt --vectors trained",
                         "adapt uses the last layer of the trained encoder"},
                        {"coterie ner train-source contrasted support.conll --objective support --out tuned",
                         "train an encoder of --objective contrastive further, on a support"}};
    return command;
}

Command sample_command(const Request& request) {
    Command command = command_of(
        request, "sample", "draw a support, a few sentences, from an annotated corpus",
        "Uses the usual greedy rule: takes the types from rare to frequent; while a type has fewer than SHOTS mentions "
        "in the support, draws a sentence that contains it. " +
            of_corpora,
        draw_support);
    command.operands = {corpus_operand(request, "annotated sentences")};
    command.flags =
        FlagList(request)
            .options("Drawing", request->sampling)
            .options("Reading", request->reading)
            .file("--out", "FILE", "write the support in the format of the corpus; - writes to standard output",
                  "Writing", request->out)
            .running(request->running, {"--seed", "--quiet", "--json"});
    command.examples = {
        {"coterie ner sample train.conll --shots 5 --out support.conll", "at least five mentions of each type"}};
    return command;
}

Command adapt_command(const Request& request) {
    Command command = command_of(
        request, "adapt", "make a tagger from a few annotated sentences",
        "Learns from the words of the support (the annotated sentences) and of other sentences. Compares several "
        "methods by leaving out each sentence of the support in turn, uses the best one and reports it. Also reports "
        "which share of words outside mentions (O) it used, and where this share comes from. " +
            of_corpora + " " + of_vectors +
            " With FILE.npy, the rows are the words of --other, which must contain the support's sentences.",
        adapt_tagger);
    command.operands = {corpus_operand(request, "annotated sentences", "SUPPORT")};
    command.flags = FlagList(request)
                        .options("Adapting", request->adapting)
                        .file("--other", "CORPUS", "other sentences of the same domain; their annotations are not used",
                              "Adapting", request->other)
                        .add(vector_flags(request, vectors_meaning))
                        .options("Reading", request->reading)
                        .file("--model-out", "FILE", "write the tagger", "Writing", request->model)
                        .running(request->running, {"--seed", "--threads", "--quiet", "--json"});
    command.examples = {
        {"coterie ner adapt support.conll --other news.txt --vectors all-MiniLM-L6-v2 --model-out tagger.coterie",
         "compare methods, report the best one, save the tagger"}};
    return command;
}

Command tag_command(const Request& request) {
    Command command = command_of(
        request, "tag", "find mentions in a corpus",
        "Writes CoNLL columns as columns and all other formats as JSON lines. JSON lines have offsets in code points "
        "and, for each mention, its probability and its margin: how much better its type fits than the next best tag. "
        "If the corpus is annotated, also prints scores. " +
            of_corpora,
        tag_corpus);
    command.operands = {model_operand(request), corpus_operand(request, "sentences")};
    command.flags = FlagList(request)
                        .options("Tagging", request->tagging)
                        .add(vector_flags(request, vectors_as_adapted))
                        .options("Reading", request->reading)
                        .file("--out", "FILE", "write the corpus with the mentions found; - writes to standard output",
                              "Writing", request->out)
                        .report(request->report,
                                "write a self-contained page: the text with its mentions, which you can correct "
                                "and download as a support; it begins with five sentences worth annotating")
                        .running(request->running, {"--threads", "--quiet", "--json"});
    command.examples = {
        {"coterie ner tag tagger.coterie letters.txt --out -", "mentions of a plain text, as JSON"},
        {"coterie ner tag tagger.coterie letters.txt --report page.html", "a page to read and correct"}};
    return command;
}

Command suggest_command(const Request& request) {
    Command command = command_of(
        request, "suggest", "list the sentences to annotate next",
        "Lists sentences with words that nearly have another tag; takes the types in turn. Annotated sentences are "
        "left out. Also annotate a few random sentences, to keep the support similar to the corpus. " +
            of_corpora,
        suggest_sentences);
    command.operands = {model_operand(request), corpus_operand(request, "sentences")};
    command.flags = FlagList(request)
                        .options("Suggesting", request->suggesting)
                        .add(vector_flags(request, vectors_as_adapted))
                        .options("Reading", request->reading)
                        .file("--out", "FILE", "write the sentences as a corpus to annotate", "Writing", request->out)
                        .report(request->report,
                                "write a self-contained page: these sentences, then the others, with the mentions that "
                                "the tagger finds; you can correct the mentions and download a support")
                        .running(request->running, {"--threads", "--quiet", "--json"});
    command.examples = {{"coterie ner suggest tagger.coterie news.txt --count 10", "ten sentences worth annotating"}};
    return command;
}

Command evaluate_mentions_command(const Request& request) {
    Command command = command_of(
        request, "evaluate", "score mentions against a gold corpus",
        "Prints precision, recall and F1 for each type and for all types, as conlleval does: a mention is correct if "
        "both its span and its type are correct. Tags of FOUND need not be well-formed. " +
            of_corpora,
        evaluate_mentions);
    command.operands = {text_operand("FOUND", "a corpus with the mentions found", request->found, request),
                        corpus_operand(request, "the same text with the correct mentions", "GOLD")};
    command.flags =
        FlagList(request).options("Reading", request->reading).running(request->running, {"--quiet", "--json"});
    command.examples = {{"coterie ner evaluate found.conll test.conll", "the scores of each type"}};
    return command;
}

}  // namespace

Command ner_command() {
    const auto request = std::make_shared<NerRequest>();
    return {
        .name = "ner",
        .summary = "find named entities from a few annotated sentences",
        .details =
            "You annotate a few sentences of a text, the support. encode gives every word a vector, adapt makes a "
            "tagger, tag finds mentions, evaluate scores them, and suggest lists the sentences to annotate next. "
            "train-source trains the encoder on other domains first; sample draws a support for experiments.",
        .commands_are = "COMMAND",
        .commands = {encode_command(request), train_command(request), sample_command(request), adapt_command(request),
                     tag_command(request), suggest_command(request), evaluate_mentions_command(request)}};
}

}  // namespace coterie::cli
