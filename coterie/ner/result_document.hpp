#pragma once
// Results of the commands for named entities, as text for people and as JSON for programs.

#include "coterie/ner/adapt.hpp"
#include "coterie/ner/source.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/vectors.hpp"
#include "coterie/report/json.hpp"
#include "coterie/report/result_text.hpp"

namespace coterie::ner {

/// What all results have. Empty paths: nothing was written.
struct NerOutputs {
    std::vector<Message> notes = {};
    std::string written = {};
    std::string page = {};
};

/// A result in both forms.
struct NerDocument {
    coterie::internal::Facts facts;
    std::string table;  // below the facts
    coterie::internal::Json json = coterie::internal::new_document();
};
std::string text_document(const NerDocument& document);
std::string json_document(const NerDocument& document);

/// Vectors of the words of a corpus. `path`: of the corpus. `source`: of the vectors.
NerDocument encoding_document(const NerOutputs& outputs, const std::string& path, const Corpus& corpus,
                              const std::string& source, const WordVectors& words, double seconds);
/// An encoder trained on the corpora in `paths`.
NerDocument training_document(const NerOutputs& outputs, const std::string& encoder,
                              const std::vector<std::string>& paths, const std::vector<Corpus>& corpora,
                              const SourceOptions& options, const SourceReport& report);
/// A support: the sentences `chosen` from a corpus.
NerDocument sampling_document(const NerOutputs& outputs, const std::string& path, const Corpus& corpus, int shots,
                              const std::vector<std::size_t>& chosen, const Corpus& support);
/// A tagger made from a support.
NerDocument adapting_document(const NerOutputs& outputs, const std::string& path, const Corpus& support,
                              const std::optional<Corpus>& other, const Tagger& tagger, const AdaptReport& report,
                              const Seconds& seconds);
/// A corpus with the mentions that a tagger found. `model`: the file of the tagger.
NerDocument tagging_document(const NerOutputs& outputs, const std::string& model, const std::string& path,
                             const Tagger& tagger, const Corpus& found, const std::optional<MentionScores>& scores);
/// Sentences to annotate next.
NerDocument suggesting_document(const NerOutputs& outputs, const std::vector<Suggestion>& suggested,
                                const Corpus& corpus, const Tagger& tagger);
/// Mentions compared with a gold corpus.
NerDocument scoring_document(const NerOutputs& outputs, const std::string& found, const std::string& gold,
                             const MentionScores& scores);

/// The contents of a tagger's file. `tagger`: made from the archive.
std::string text_document(const std::string& source, const Tagger& tagger, const Archive& archive);
std::string json_document(const std::string& source, const Tagger& tagger, const Archive& archive);

}  // namespace coterie::ner
