#pragma once
// What the subcommands of coterie ner need, and what each of them does.

#include <memory>
#include <string>
#include <vector>

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
    std::shared_ptr<ner::CorpusOptions> reading = std::make_shared<ner::CorpusOptions>();
    std::shared_ptr<ner::VectorOptions> encoding = std::make_shared<ner::VectorOptions>();
    std::shared_ptr<ner::SourceOptions> training = std::make_shared<ner::SourceOptions>();
    std::shared_ptr<ner::SampleOptions> sampling = std::make_shared<ner::SampleOptions>();
    std::shared_ptr<ner::SuggestOptions> suggesting = std::make_shared<ner::SuggestOptions>();
    std::shared_ptr<ner::AdaptOptions> adapting = std::make_shared<ner::AdaptOptions>();
    std::shared_ptr<ner::TagOptions> tagging = std::make_shared<ner::TagOptions>();
    std::shared_ptr<RunRequest> running = std::make_shared<RunRequest>();
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
