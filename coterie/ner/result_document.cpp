// Text and JSON of a result come from the same struct, so that the terminal and programs agree. Scores are counts of
// mentions with precision, recall and F1, one row per type.

#include "coterie/ner/result_document.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "coterie/base/text.hpp"
#include "coterie/base/text_format.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/model_document.hpp"

namespace coterie::ner {

using namespace coterie::internal;

namespace {

using FactRows = std::vector<std::pair<std::string, std::string>>;

std::string counts_text(const CorpusSummary& corpus) {
    return filled("{}: {} sentences, {} words, read as {}", corpus.source, count_text(corpus.sentences),
                  count_text(corpus.words), name(corpus.format));
}

std::string mentions_text(const CorpusSummary& corpus) {
    std::vector<std::string> out;
    for (const auto& [type, count] : corpus.mentions) out.push_back(type + " " + count_text(count));
    return out.empty() ? "none" : join(out);
}

std::string vectors_text(const std::string& source, const std::string& layer) {
    return source + (layer.empty() ? "" : ", layer " + layer);
}

std::string speed_text(double words_per_second) {
    return count_text(static_cast<Index>(words_per_second)) + " words per second";
}

double words_per_second(Index words, double seconds) { return static_cast<double>(words) / std::max(seconds, 1e-9); }

void add_written(FactRows& rows, const NerResult& result) {
    if (!result.written.empty()) rows.emplace_back("written", result.written);
    if (!result.page.empty()) rows.emplace_back("report", result.page);
}

std::string counts_table(const char* first, const std::vector<std::pair<std::string, MentionCounts>>& counts) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, each] : counts)
        rows.push_back({name, count_text(each.marked), count_text(each.found), count_text(each.right),
                        share_text(each.precision()), share_text(each.recall()), share_text(each.f1())});
    return table({first, "marked", "found", "right", "precision", "recall", "F1"}, rows, {1, 2, 3, 4, 5, 6});
}

std::string scores_table(const MentionScores& scores) {
    auto counts = scores.types;
    counts.emplace_back("all", scores.micro);
    return counts_table("type", counts);
}

Json begun() {
    Json out;
    out["schema"] = json_schema;
    return out;
}

void add_mentions(Json& out, const CorpusSummary& corpus) {
    for (const auto& [type, count] : corpus.mentions) out["mentions"][type] = count;
}

void add_notes_and_written(Json& out, const NerResult& result) {
    out["notes"] = result.notes;
    if (!result.written.empty()) out["written"] = result.written;
    if (!result.page.empty()) out["report"] = result.page;
}

Json json_of_shares(const std::optional<std::pair<double, double>>& shares) {
    return shares ? Json::array({shares->first, shares->second}) : Json(nullptr);
}

Json json_of_counts(const MentionCounts& counts) {
    return {{"marked", counts.marked},         {"found", counts.found},     {"right", counts.right},
            {"precision", counts.precision()}, {"recall", counts.recall()}, {"f1", counts.f1()}};
}

Json json_of_scores(const MentionScores& scores) {
    Json out;
    out["micro"] = json_of_counts(scores.micro);
    out["types"] = Json::object();
    for (const auto& [type, counts] : scores.types) out["types"][type] = json_of_counts(counts);
    return out;
}

std::string sentence_text(const Corpus& corpus, const Sentence& sentence) {
    std::string out = corpus.text_of(sentence, Mention{0, sentence.words.size(), 0, 0});
    std::replace_if(
        out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return out;
}

// Shown next to the share of the support's own words, so that readers see the difference.
std::string share_of_outside(const AdaptResult& result) {
    const Tagger& tagger = result.tagger;
    return filled("{}{}; {} in the support", tagger.outside_share ? share_text(*tagger.outside_share) + ", " : "",
                  result.report.share_origin, share_text(tagger.support_outside_share));
}

}  // namespace

CorpusSummary CorpusSummary::of(const Corpus& corpus) {
    CorpusSummary out{corpus.source, static_cast<Index>(corpus.sentences.size()), corpus.words(), corpus.format, {}};
    for (const std::string& type : corpus.types) out.mentions.emplace_back(type, 0);
    for (const Sentence& sentence : corpus.sentences)
        for (const Mention& mention : sentence.mentions) ++out.mentions[static_cast<std::size_t>(mention.type)].second;
    return out;
}

void SuggestResult::set_rows(const std::vector<Suggestion>& suggested, const Corpus& corpus, const Tagger& tagger) {
    for (const Suggestion& one : suggested) {
        const Sentence& sentence = corpus.sentences[one.sentence];
        rows.push_back({one.sentence + 1, sentence.line, tagger.types[static_cast<std::size_t>(one.type)], one.value,
                        sentence_text(corpus, sentence)});
    }
}

std::string text_document(const EncodeResult& result) {
    return facts({{"corpus", counts_text(result.corpus)},
                  {"vectors", filled("{}: {} numbers per word", vectors_text(result.vectors, result.layer),
                                     count_text(result.dimensions))},
                  {"speed", speed_text(words_per_second(result.corpus.words, result.seconds))},
                  {"written", result.written}});
}

std::string json_document(const EncodeResult& result) {
    Json out = begun();
    out["corpus"] = result.path;
    out["words"] = result.corpus.words;
    out["dimensions"] = result.dimensions;
    out["layer"] = result.layer;
    out["words_per_second"] = words_per_second(result.corpus.words, result.seconds);
    add_notes_and_written(out, result);
    return document(out);
}

std::string text_document(const TrainResult& result) {
    const SourceReport& report = result.report;
    FactRows rows = {{"encoder", result.encoder}};
    for (const CorpusSummary& corpus : result.corpora) rows.emplace_back("source", counts_text(corpus));
    if (!report.distance.empty()) rows.emplace_back("distance", report.distance);
    std::vector<std::string> losses;
    for (const double loss : report.loss_per_epoch) losses.push_back(share_text(loss));
    rows.emplace_back("loss",
                      losses.empty() ? "no epoch was completed" : join(losses) + " (mean over the words of an epoch)");
    rows.emplace_back("speed", speed_text(words_per_second(report.words_trained, report.seconds)));
    add_written(rows, result);
    return facts(rows);
}

std::string json_document(const TrainResult& result) {
    const SourceReport& report = result.report;
    Json out = begun();
    out["encoder"] = result.encoder;
    out["corpora"] = result.paths;
    out["options"] = json_of(SourceOptions::described(), SourceOptions::described().values(&result.options));
    out["words"] = report.words;
    out["words_trained"] = report.words_trained;
    out["loss_per_epoch"] = report.loss_per_epoch;
    if (!report.distance.empty()) out["distance"] = report.distance;
    out["seconds"] = report.seconds;
    out["words_per_second"] = words_per_second(report.words_trained, report.seconds);
    out["interrupted"] = report.interrupted;
    out["warnings"] = report.warnings;
    add_notes_and_written(out, result);
    return document(out);
}

std::string text_document(const SampleResult& result) {
    FactRows rows = {{"corpus", counts_text(result.corpus)},
                     {"support", counts_text(result.support)},
                     {"mentions", mentions_text(result.support)}};
    add_written(rows, result);
    return facts(rows);
}

std::string json_document(const SampleResult& result) {
    Json out = begun();
    out["corpus"] = result.path;
    out["shots"] = result.shots;
    out["sentences"] = Json::array();
    for (const auto& [number, line] : result.sentences)
        out["sentences"].push_back({{"number", number}, {"line", line}});
    add_mentions(out, result.support);
    return document(out);
}

std::string text_document(const AdaptResult& result) {
    const AdaptReport& report = result.report;
    FactRows rows = {{"support", counts_text(result.support)}, {"mentions", mentions_text(result.support)}};
    if (result.other) rows.emplace_back("other", counts_text(*result.other));
    rows.emplace_back("vectors", vectors_text(result.tagger.encoder, result.tagger.layer));
    rows.emplace_back("method", result.tagger.method + ": " + report.chosen_because);
    rows.emplace_back("share of O", share_of_outside(result));
    rows.emplace_back("probabilities", report.calibrated_on > 0
                                           ? "calibrated on " + std::to_string(report.calibrated_on) +
                                                 " words of the support, each with its sentence left out"
                                           : "none: no sentence of the support can be left out");
    add_written(rows, result);
    if (report.compared.empty()) return facts(rows);
    std::vector<std::pair<std::string, MentionCounts>> compared;
    for (const auto& [method, counts] : report.compared) compared.emplace_back(name(method), counts);
    return facts(rows) + "\n" + counts_table("leave-one-out", compared);
}

std::string json_document(const AdaptResult& result) {
    const AdaptReport& report = result.report;
    Json out = begun();
    out["support"] = result.path;
    add_mentions(out, result.support);
    out["vectors"] = result.tagger.encoder;
    out["layer"] = result.tagger.layer;
    out["method"] = result.tagger.method;
    out["chosen_because"] = report.chosen_because;
    out["compared"] = Json::object();
    for (const auto& [method, counts] : report.compared)
        out["compared"][std::string(name(method))] = json_of_counts(counts);
    out["outside_share"] =
        report.outside_share ? Json::array({report.outside_share->first, report.outside_share->second}) : Json(nullptr);
    out["share_origin"] = report.share_origin;
    out["support_outside_share"] = result.tagger.support_outside_share;
    out["calibrated_on"] = report.calibrated_on;
    out["warnings"] = report.warnings;
    out["notes"] = result.notes;
    out["seconds"] = json_of(result.seconds);
    if (!result.written.empty()) out["written"] = result.written;
    return document(out);
}

std::string text_document(const TagResult& result) {
    FactRows rows = {{"corpus", counts_text(result.found)},
                     {"tagger", result.model + ", " + result.method},
                     {"found", mentions_text(result.found)}};
    add_written(rows, result);
    return facts(rows) + (result.scores ? "\n" + scores_table(*result.scores) : "");
}

std::string json_document(const TagResult& result) {
    Json out = begun();
    out["model"] = result.model;
    out["corpus"] = result.path;
    out["method"] = result.method;
    add_mentions(out, result.found);
    if (result.scores) out["scores"] = json_of_scores(*result.scores);
    add_notes_and_written(out, result);
    return document(out);
}

std::string text_document(const SuggestResult& result) {
    std::vector<std::vector<std::string>> rows;
    for (const SuggestResult::Row& one : result.rows)
        rows.push_back({std::to_string(one.line), one.type, share_text(one.value), one.text});
    return table({"line", "type", "value", "sentence"}, rows, {0, 2});
}

std::string json_document(const SuggestResult& result) {
    Json out = begun();
    out["sentences"] = Json::array();
    for (const SuggestResult::Row& one : result.rows)
        out["sentences"].push_back(
            {{"number", one.number}, {"line", one.line}, {"type", one.type}, {"value", one.value}, {"text", one.text}});
    add_notes_and_written(out, result);
    return document(out);
}

std::string text_document(const EvaluateResult& result) { return scores_table(result.scores); }

std::string json_document(const EvaluateResult& result) {
    Json out = begun();
    out["found"] = result.found;
    out["gold"] = result.gold;
    out.update(json_of_scores(result.scores));
    add_notes_and_written(out, result);
    return document(out);
}

std::string text_document(const TaggerFile& file) {
    const Tagger& tagger = file.tagger;
    const FactRows rows = {{"method", "tagger of named entities, adapted by " + tagger.method},
                           {"types", join(tagger.types)},
                           {"dimensions", count_text(tagger.dimensions())},
                           {"vectors", vectors_text(tagger.encoder, tagger.layer)},
                           {"probabilities", tagger.sharpness > 0 ? "calibrated" : "none"},
                           {"share of O", (tagger.outside_share ? share_text(*tagger.outside_share) : "not known") +
                                              "; " + share_text(tagger.support_outside_share) + " in the support"}};
    return facts(rows) + "\n" + tensors_text(file.archive, [](const std::string&) { return std::string(); });
}

std::string json_document(const TaggerFile& file) {
    const Tagger& tagger = file.tagger;
    Json out = begun();
    out["model"] = file.source;
    out["method"] = file.archive.method();
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
