#pragma once
// Results of the commands for named entities, as text for people and as JSON for programs.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "coterie/ner/adapt.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/scoring.hpp"
#include "coterie/ner/source.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/tagger.hpp"
#include "coterie/report/document.hpp"

namespace coterie::ner {

/// A corpus as results show it.
struct CorpusSummary {
    std::string source;
    Index sentences = 0;
    Index words = 0;
    CorpusFormat format = CorpusFormat::conll;
    std::vector<std::pair<std::string, Index>> mentions;  // number of mentions of each type

    static CorpusSummary of(const Corpus& corpus);
};

/// What all results have. Empty paths: nothing was written.
struct NerResult {
    std::vector<Message> notes;
    std::string written;
    std::string page;
};

/// Vectors of the words of a corpus.
struct EncodeResult : NerResult {
    std::string path;  // of the corpus
    CorpusSummary corpus;
    std::string vectors;  // source of the vectors
    std::string layer;
    Index dimensions = 0;
    double seconds = 0;
};

/// An encoder trained on other domains.
struct TrainResult : NerResult {
    std::string encoder;
    std::vector<std::string> paths;  // of the corpora
    std::vector<CorpusSummary> corpora;
    SourceOptions options;
    SourceReport report;
};

/// A support drawn from a corpus.
struct SampleResult : NerResult {
    std::string path;
    CorpusSummary corpus;
    CorpusSummary support;
    int shots = 0;
    std::vector<std::pair<std::size_t, Index>> sentences;  // number in the corpus, from 1, and line
};

/// A tagger made from a support.
struct AdaptResult : NerResult {
    std::string path;  // of the support
    CorpusSummary support;
    std::optional<CorpusSummary> other;
    Tagger tagger;
    AdaptReport report;
    Seconds seconds;
};

/// A corpus with the mentions that a tagger found.
struct TagResult : NerResult {
    std::string model;
    std::string path;  // of the corpus
    CorpusSummary found;
    std::string method;
    std::optional<MentionScores> scores;
};

/// Sentences to annotate next.
struct SuggestResult : NerResult {
    struct Row {
        std::size_t number = 0;  // from 1
        Index line = 0;
        std::string type;
        double value = 0;
        std::string text;
    };
    std::vector<Row> rows;

    void set_rows(const std::vector<Suggestion>& suggested, const Corpus& corpus, const Tagger& tagger);
};

/// Mentions compared with a gold corpus.
struct EvaluateResult : NerResult {
    std::string found;
    std::string gold;
    MentionScores scores;
};

/// The contents of a tagger's file.
struct TaggerFile {
    std::string source;
    Tagger tagger;  // made from the archive
    Archive archive;
};

std::string text_document(const EncodeResult& result);
std::string json_document(const EncodeResult& result);
std::string text_document(const TrainResult& result);
std::string json_document(const TrainResult& result);
std::string text_document(const SampleResult& result);
std::string json_document(const SampleResult& result);
std::string text_document(const AdaptResult& result);
std::string json_document(const AdaptResult& result);
std::string text_document(const TagResult& result);
std::string json_document(const TagResult& result);
std::string text_document(const SuggestResult& result);
std::string json_document(const SuggestResult& result);
std::string text_document(const EvaluateResult& result);
std::string json_document(const EvaluateResult& result);
std::string text_document(const TaggerFile& file);
std::string json_document(const TaggerFile& file);

}  // namespace coterie::ner
