#pragma once
// What the subcommands of coterie ner need, and what each of them does.

#include "common.hpp"
#include "coterie/ner/adapt.hpp"
#include "coterie/ner/corpus.hpp"
#include "coterie/ner/source.hpp"
#include "coterie/ner/support.hpp"
#include "coterie/ner/tagger.hpp"
#include "coterie/ner/vectors.hpp"

namespace coterie::cli {

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
    ner::CorpusOptions reading;
    ner::VectorOptions encoding;
    ner::SourceOptions training;
    ner::SampleOptions sampling;
    ner::SuggestOptions suggesting;
    ner::AdaptOptions adapting;
    ner::TagOptions tagging;
    RunRequest running;
};

/// Each returns the exit code.
int encode_words(const NerRequest& request);
int train_encoder(const NerRequest& request);
int draw_support(const NerRequest& request);
int adapt_tagger(const NerRequest& request);
int tag_corpus(const NerRequest& request);
int suggest_sentences(const NerRequest& request);
int evaluate_mentions(const NerRequest& request);

}  // namespace coterie::cli
