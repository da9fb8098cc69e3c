// Text and JSON of a result are made together, so that both have the same figures.

#include "coterie/ner/result_document.hpp"

#include <algorithm>

#include "coterie/base/text.hpp"
#include "coterie/report/model_document.hpp"

namespace coterie::ner {

using namespace coterie::internal;

namespace {

std::string counts_text(const Corpus& corpus) {
    return filled("{}: {} sentences, {} words, read as {}", corpus.source,
                  count_text(static_cast<Index>(corpus.sentences.size())), count_text(corpus.words()),
                  name(corpus.format));
}

std::string vectors_text(const std::string& source, const std::string& layer) {
    return source + (layer.empty() ? "" : ", layer " + layer);
}

// Adds the mentions of each type under `fact`.
void add_mentions(NerDocument& out, const char* fact, const Corpus& corpus) {
    std::vector<std::string> text;
    const std::vector<Index> counts = corpus.mentions_of_types();
    for (std::size_t t = 0; t < counts.size(); ++t) {
        text.push_back(corpus.types[t] + " " + count_text(counts[t]));
        out.json["mentions"][corpus.types[t]] = counts[t];
    }
    out.facts.emplace_back(fact, text.empty() ? "none" : join(text));
}

void add_speed(NerDocument& out, Index words, double seconds) {
    const double speed = static_cast<double>(words) / std::max(seconds, 1e-9);
    out.facts.emplace_back("speed", count_text(static_cast<Index>(speed)) + " words per second");
    out.json["words_per_second"] = speed;
}

void add_outputs(NerDocument& out, const NerOutputs& outputs) {
    out.json["notes"] = outputs.notes;
    const auto add = [&](const char* name, const std::string& path) {
        if (path.empty()) return;
        out.facts.emplace_back(name, path);
        out.json[name] = path;
    };
    add("written", outputs.written);
    add("report", outputs.page);
}

std::string counts_table(const char* first, const std::vector<std::pair<std::string, MentionCounts>>& counts) {
    TextRows rows;
    for (const auto& [name, each] : counts)
        rows.push_back({name, count_text(each.marked), count_text(each.found), count_text(each.right),
                        share_text(each.precision()), share_text(each.recall()), share_text(each.f1())});
    return table({first, "marked", "found", "right", "precision", "recall", "F1"}, rows, {1, 2, 3, 4, 5, 6});
}

Json json_of_counts(const MentionCounts& counts) {
    return {{"marked", counts.marked},         {"found", counts.found},     {"right", counts.right},
            {"precision", counts.precision()}, {"recall", counts.recall()}, {"f1", counts.f1()}};
}

std::string scores_table(const MentionScores& scores) {
    auto counts = scores.types;
    counts.emplace_back("all", scores.micro);
    return counts_table("type", counts);
}

Json json_of_scores(const MentionScores& scores) {
    Json out = {{"micro", json_of_counts(scores.micro)}, {"types", Json::object()}};
    for (const auto& [type, counts] : scores.types) out["types"][type] = json_of_counts(counts);
    return out;
}

Json json_of_shares(const std::optional<std::pair<double, double>>& shares) {
    return shares ? Json::array({shares->first, shares->second}) : Json();
}

}  // namespace

std::string text_document(const NerDocument& document) {
    return facts(document.facts) + (document.facts.empty() || document.table.empty() ? "" : "\n") + document.table;
}

std::string json_document(const NerDocument& document) { return coterie::internal::document(document.json); }

NerDocument encoding_document(const NerOutputs& outputs, const std::string& path, const Corpus& corpus,
                              const std::string& source, const WordVectors& words, double seconds) {
    const Index dimensions = words.vectors.columns();
    NerDocument out;
    out.facts = {
        {"corpus", counts_text(corpus)},
        {"vectors", filled("{}: {} numbers per word", vectors_text(source, words.layer), count_text(dimensions))}};
    out.json["corpus"] = path;
    out.json["words"] = corpus.words();
    out.json["dimensions"] = dimensions;
    out.json["layer"] = words.layer;
    add_speed(out, corpus.words(), seconds);
    add_outputs(out, outputs);
    return out;
}

NerDocument training_document(const NerOutputs& outputs, const std::string& encoder,
                              const std::vector<std::string>& paths, const std::vector<Corpus>& corpora,
                              const SourceOptions& options, const SourceReport& report) {
    NerDocument out;
    out.facts = {{"encoder", encoder}};
    for (const Corpus& corpus : corpora) out.facts.emplace_back("source", counts_text(corpus));
    if (!report.distance.empty()) out.facts.emplace_back("distance", report.distance);
    std::vector<std::string> losses;
    for (const double loss : report.loss_per_epoch) losses.push_back(share_text(loss));
    out.facts.emplace_back(
        "loss", losses.empty() ? "no epoch was completed" : join(losses) + " (mean over the words of an epoch)");
    out.json["encoder"] = encoder;
    out.json["corpora"] = paths;
    out.json["options"] = json_of_options(options);
    out.json["words"] = report.words;
    out.json["words_trained"] = report.words_trained;
    out.json["loss_per_epoch"] = report.loss_per_epoch;
    if (!report.distance.empty()) out.json["distance"] = report.distance;
    out.json["seconds"] = report.seconds;
    add_speed(out, report.words_trained, report.seconds);
    out.json["interrupted"] = report.interrupted;
    out.json["warnings"] = report.warnings;
    add_outputs(out, outputs);
    return out;
}

NerDocument sampling_document(const NerOutputs& outputs, const std::string& path, const Corpus& corpus, int shots,
                              const std::vector<std::size_t>& chosen, const Corpus& support) {
    NerDocument out;
    out.facts = {{"corpus", counts_text(corpus)}, {"support", counts_text(support)}};
    out.json["corpus"] = path;
    out.json["shots"] = shots;
    out.json["sentences"] = Json::array();
    for (const std::size_t s : chosen)
        out.json["sentences"].push_back({{"number", s + 1}, {"line", corpus.sentences[s].line}});
    add_mentions(out, "mentions", support);
    if (!outputs.written.empty()) out.facts.emplace_back("written", outputs.written);
    return out;
}

NerDocument adapting_document(const NerOutputs& outputs, const std::string& path, const Corpus& support,
                              const std::optional<Corpus>& other, const Tagger& tagger, const AdaptReport& report,
                              const Seconds& seconds) {
    NerDocument out;
    out.facts = {{"support", counts_text(support)}};
    out.json["support"] = path;
    add_mentions(out, "mentions", support);
    if (other) out.facts.emplace_back("other", counts_text(*other));
    out.facts.emplace_back("vectors", vectors_text(tagger.encoder, tagger.layer));
    out.facts.emplace_back("method", tagger.method + ": " + report.chosen_because);
    // Shown next to the share of the support's own words, so that readers see the difference.
    out.facts.emplace_back("share of O", filled("{}{}; {} in the support",
                                                tagger.outside_share ? share_text(*tagger.outside_share) + ", " : "",
                                                report.share_origin, share_text(tagger.support_outside_share)));
    out.facts.emplace_back("probabilities", report.calibrated_on > 0
                                                ? filled("calibrated on {} words of the support, each with its "
                                                         "sentence left out",
                                                         report.calibrated_on)
                                                : "none: no sentence of the support can be left out");
    out.json["vectors"] = tagger.encoder;
    out.json["layer"] = tagger.layer;
    out.json["method"] = tagger.method;
    out.json["chosen_because"] = report.chosen_because;
    out.json["compared"] = Json::object();
    std::vector<std::pair<std::string, MentionCounts>> compared;
    for (const auto& [method, counts] : report.compared) {
        out.json["compared"][std::string(name(method))] = json_of_counts(counts);
        compared.emplace_back(name(method), counts);
    }
    if (!compared.empty()) out.table = counts_table("leave-one-out", compared);
    out.json["outside_share"] = json_of_shares(report.outside_share);
    out.json["share_origin"] = report.share_origin;
    out.json["support_outside_share"] = tagger.support_outside_share;
    out.json["calibrated_on"] = report.calibrated_on;
    out.json["warnings"] = report.warnings;
    out.json["notes"] = outputs.notes;
    out.json["seconds"] = json_of(seconds);
    add_outputs(out, outputs);
    return out;
}

NerDocument tagging_document(const NerOutputs& outputs, const std::string& model, const std::string& path,
                             const Tagger& tagger, const Corpus& found, const std::optional<MentionScores>& scores) {
    NerDocument out;
    out.facts = {{"corpus", counts_text(found)}, {"tagger", model + ", " + tagger.method}};
    out.json["model"] = model;
    out.json["corpus"] = path;
    out.json["method"] = tagger.method;
    add_mentions(out, "found", found);
    if (scores) {
        out.json["scores"] = json_of_scores(*scores);
        out.table = scores_table(*scores);
    }
    add_outputs(out, outputs);
    return out;
}

NerDocument suggesting_document(const NerOutputs& outputs, const std::vector<Suggestion>& suggested,
                                const Corpus& corpus, const Tagger& tagger) {
    NerDocument out;
    TextRows rows;
    out.json["sentences"] = Json::array();
    for (const Suggestion& one : suggested) {
        const Sentence& sentence = corpus.sentences[one.sentence];
        const std::string& type = tagger.types[at(one.type)];
        std::string text = corpus.text_of(sentence, Mention{0, sentence.words.size(), 0, 0});
        std::replace_if(
            text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
        rows.push_back({std::to_string(sentence.line), type, share_text(one.value), text});
        out.json["sentences"].push_back({{"number", one.sentence + 1},
                                         {"line", sentence.line},
                                         {"type", type},
                                         {"value", one.value},
                                         {"text", text}});
    }
    out.table = table({"line", "type", "value", "sentence"}, rows, {0, 2});
    add_outputs(out, outputs);
    out.facts.clear();  // the text is only the table
    return out;
}

NerDocument scoring_document(const NerOutputs& outputs, const std::string& found, const std::string& gold,
                             const MentionScores& scores) {
    NerDocument out;
    out.table = scores_table(scores);
    out.json["found"] = found;
    out.json["gold"] = gold;
    out.json.update(json_of_scores(scores));
    add_outputs(out, outputs);
    return out;
}

std::string text_document(const std::string&, const Tagger& tagger, const Archive& archive) {
    return facts({{"method", "tagger of named entities, adapted by " + tagger.method},
                  {"types", join(tagger.types)},
                  {"dimensions", count_text(tagger.dimensions())},
                  {"vectors", vectors_text(tagger.encoder, tagger.layer)},
                  {"probabilities", tagger.sharpness > 0 ? "calibrated" : "none"},
                  {"share of O", (tagger.outside_share ? share_text(*tagger.outside_share) : "not known") + "; " +
                                     share_text(tagger.support_outside_share) + " in the support"}}) +
           "\n" + tensors_text(archive, [](const std::string&) { return std::string(); });
}

std::string json_document(const std::string& source, const Tagger& tagger, const Archive& archive) {
    Json out = new_document();
    out["model"] = source;
    out["method"] = archive.method();
    out["adapted_by"] = tagger.method;
    out["types"] = tagger.types;
    out["dimensions"] = tagger.dimensions();
    out["prototypes"] = tagger.prototypes.rows();
    out["encoder"] = tagger.encoder;
    out["layer"] = tagger.layer;
    out["sharpness"] = tagger.sharpness;
    out["outside_share"] = json_of_shares(tagger.outside_share);
    out["support_outside_share"] = tagger.support_outside_share;
    return document(out);
}

}  // namespace coterie::ner
